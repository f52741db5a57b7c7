"""Parts of a set of picture questions, 7 : 1 : 2, stratified by kind and number of hops (MMhops, Dataset Splits)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Literal, get_args

from hopwright.pictures.rows import name_kind
from hopwright.records import Item

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
_SHARES = {"train": 7, "validation": 1, "test": 2}


def split_items(items: Sequence[Item], seed: int = 0) -> dict[str, Split]:
    """Item id → part. Questions with the same facts, one asked about a flag and one about an outline, stay together.

    Within each kind and number of hops the parts are as near to 7 : 1 : 2 as such groups allow.
    """
    strata: dict[tuple[str, int], dict[str, list[str]]] = {}
    for item in items:
        stratum = strata.setdefault((name_kind(item), len(item.hops)), {})
        stratum.setdefault(name_facts(item), []).append(item.id)
    chosen: dict[str, Split] = {}
    for groups in strata.values():
        total = sum(map(len, groups.values()))
        filled = dict.fromkeys(SPLITS, 0)
        for facts in sorted(groups, key=lambda one: _mix(seed, one)):
            # To the part that lacks most of its share.
            part = max(SPLITS, key=lambda one: (_SHARES[one] * total / 10 - filled[one], _SHARES[one]))
            filled[part] += len(groups[facts])
            chosen |= dict.fromkeys(groups[facts], part)
    return chosen


def name_facts(item: Item) -> str:
    """What a question rests on, whichever pictures show it."""
    steps = [hop.derivation.model_dump_json() for hop in item.hops if not hop.question_parts]
    return json.dumps([sorted(hop.answer_id or "" for hop in item.hops if hop.question_parts), steps])


def _mix(seed: int, text: str) -> bytes:
    return hashlib.blake2b(f"{seed}:{text}".encode(), digest_size=8).digest()
