"""Putting an answer and its distractors under the letters A–D."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from hopwright.errors import InputError
from hopwright.records import LABELS, Distractor, Label


def assign_options(
    answer: str, distractors: Sequence[Distractor | str], seed_key: str
) -> tuple[dict[Label, str], Label]:
    """Shuffle four options by a keyed hash: the right letter is uniform over A–D, and so is every order.

    The same key gives the same order. Raises InputError unless there are exactly three distractors, all different
    from each other and from the answer.
    """
    pool = [one if isinstance(one, str) else one.text for one in distractors]
    if len(pool) != 3 or len({answer, *pool}) != 4:
        raise InputError(f"options need an answer and three other texts, not {answer!r} and {pool!r}")
    digest = int.from_bytes(hashlib.blake2b(seed_key.encode(), digest_size=8).digest(), "big")
    right, order = digest % 4, digest // 4 % 6
    shuffled = [pool.pop(order % 3), pool.pop(order // 3), pool.pop()]
    shuffled.insert(right, answer)
    return dict(zip(LABELS, shuffled, strict=True)), LABELS[right]
