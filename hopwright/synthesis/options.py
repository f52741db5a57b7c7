"""Putting an answer and its distractors under the letters A–D."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from hopwright.errors import InputError
from hopwright.records import LABELS, Label


def assign_options(answer: str, distractors: Sequence[str], seed_key: str) -> tuple[dict[Label, str], Label]:
    """Shuffle four options by a keyed hash: the right letter is uniform over A–D, and so is every order.

    The same key gives the same order. Raises InputError unless there are exactly three distractors, all different
    from each other and from the answer.
    """
    if len(distractors) != 3 or len({answer, *distractors}) != 4:
        raise InputError(f"options need an answer and three other texts, not {answer!r} and {list(distractors)!r}")
    digest = int.from_bytes(hashlib.blake2b(seed_key.encode(), digest_size=8).digest(), "big")
    right, order = digest % 4, digest // 4 % 6
    pool = list(distractors)
    shuffled = [pool.pop(order % 3), pool.pop(order // 3), pool.pop()]
    shuffled.insert(right, answer)
    return dict(zip(LABELS, shuffled, strict=True)), LABELS[right]
