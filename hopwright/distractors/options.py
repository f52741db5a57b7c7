"""Putting an answer and its distractors under the letters A–D, or as many of them as there are options."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from hopwright.errors import InputError
from hopwright.records import LABELS, Distractor, Label


def assign_options(
    answer: str, distractors: Sequence[Distractor | str], seed_key: str
) -> tuple[dict[Label, str], Label]:
    """Shuffle two to four options by a keyed hash: the right letter is uniform, and so is every order.

    The same key gives the same order. Raises InputError unless there are one to three distractors, all different from
    each other and from the answer.
    """
    pool = [one if isinstance(one, str) else one.text for one in distractors]
    if not 1 <= len(pool) < len(LABELS) or len({answer, *pool}) != len(pool) + 1:
        raise InputError(f"options need an answer and one to three other texts, not {answer!r} and {pool!r}")
    digest = int.from_bytes(hashlib.blake2b(seed_key.encode(), digest_size=8).digest(), "big")
    order, right = divmod(digest, len(pool) + 1)
    shuffled = []
    for left in range(len(pool), 0, -1):
        order, place = divmod(order, left)
        shuffled.append(pool.pop(place))
    shuffled.insert(right, answer)
    return dict(zip(LABELS, shuffled, strict=False)), LABELS[right]
