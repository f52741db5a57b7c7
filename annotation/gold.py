"""Attention checks: good items with one fault planted, which a careful reviewer cannot miss.

A gold task looks like any other: what was planted where is known on our side only. The checks that it shows are
those of the item that it was made from.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from annotation.schema import GoldItem, ReviewTaskKind
from hopwright.errors import InputError
from hopwright.records import LABELS, Compute, Distractor, Hop, Item
from hopwright.runs import write_file
from hopwright.text.matching import fold

Fault = Literal["wrong_answer", "leaked_answer", "wrong_computation", "true_distractor"]
_TAGS: dict[Fault, dict[ReviewTaskKind, tuple[str, ...]]] = {
    "wrong_answer": {
        ReviewTaskKind.SINGLE_HOP: ("Wrong answer", "Outdated fact"),
        ReviewTaskKind.MULTI_HOP: ("Wrong answer", "Broken chain"),
        ReviewTaskKind.TWIN: ("Wrong answer", "Not in the passages", "World contradicts itself"),
    },
    "leaked_answer": {
        ReviewTaskKind.SINGLE_HOP: ("Answer leaks",),
        ReviewTaskKind.MULTI_HOP: ("Answer leaks",),
        ReviewTaskKind.TWIN: ("Answer leaks",),
    },
    "wrong_computation": {
        ReviewTaskKind.SINGLE_HOP: ("Wrong computation", "Wrong answer"),
        ReviewTaskKind.MULTI_HOP: ("Wrong computation", "Wrong answer", "Broken chain"),
        ReviewTaskKind.TWIN: ("Wrong computation", "Wrong answer", "World contradicts itself"),
    },
    "true_distractor": {
        ReviewTaskKind.SINGLE_HOP: ("True distractor", "Second answer possible", "Bad distractor"),
        ReviewTaskKind.MULTI_HOP: ("True distractor", "Second answer possible", "Bad distractor"),
        ReviewTaskKind.TWIN: ("True distractor",),
    },
}
_CRITERIA: dict[Fault, dict[ReviewTaskKind, tuple[str, ...]]] = {
    "wrong_answer": {
        ReviewTaskKind.SINGLE_HOP: ("factuality",),
        ReviewTaskKind.MULTI_HOP: ("logical_integrity", "contextual_consistency"),
        ReviewTaskKind.TWIN: ("answerability",),
    },
    "leaked_answer": {
        ReviewTaskKind.SINGLE_HOP: ("fluency",),
        ReviewTaskKind.MULTI_HOP: ("obscurity",),
        ReviewTaskKind.TWIN: ("answerability",),
    },
    "wrong_computation": {
        ReviewTaskKind.SINGLE_HOP: ("factuality",),
        ReviewTaskKind.MULTI_HOP: ("logical_integrity", "contextual_consistency"),
        ReviewTaskKind.TWIN: ("answerability",),
    },
    "true_distractor": {
        ReviewTaskKind.SINGLE_HOP: ("distractor_quality",),
        ReviewTaskKind.MULTI_HOP: ("obscurity", "logical_integrity"),
        ReviewTaskKind.TWIN: ("answerability",),
    },
}


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """A faulty copy of an item, and the key to it."""

    item: Item
    gold: GoldItem


def plant_gold(items: Iterable[Item], kind: ReviewTaskKind, seed: int) -> Iterator[PlantedFault]:
    """One faulty copy of each item that has a place for a fault; the kinds of faults take turns.

    The same items and seed give the same faults, whatever the other items are.
    """
    for item in items:
        rng = random.Random(f"{seed}:gold:{kind}:{item.id}")
        faults = list(_PLANTERS)
        rng.shuffle(faults)
        for fault in faults:
            planted = plant_fault(item, kind, fault, seed)
            if planted is not None:
                yield planted
                break


def plant_fault(item: Item, kind: ReviewTaskKind, fault: Fault, seed: int = 0) -> PlantedFault | None:
    """A copy of an item with that fault; None when it has no place for it. A single-hop task gets it in one hop."""
    rng = random.Random(f"{seed}:{fault}:{kind}:{item.id}")
    last = item.hops[-1]
    hops = [hop for hop in item.hops if kind is ReviewTaskKind.SINGLE_HOP or hop is last]
    rng.shuffle(hops)
    for hop in hops:
        faulty = _PLANTERS[fault](hop, item, rng)
        if faulty is None:
            continue
        digest = hashlib.blake2b(f"{seed}:{kind}:{fault}:{item.id}".encode(), digest_size=8).hexdigest()
        id = f"hw-{digest}"
        gold = GoldItem(
            item_id=id,
            source=item.id,
            kind=kind,
            hop=hop.index if kind is ReviewTaskKind.SINGLE_HOP else None,
            fault=fault,
            tags=_TAGS[fault][kind],
            criteria=_CRITERIA[fault][kind],
        )
        return PlantedFault(_replace_hop(item, hop, faulty, kind).model_copy(update={"id": id}), gold)
    return None


def write_gold(gold: Iterable[GoldItem], path: Path) -> None:
    """Write the keys, one a line, sorted; whole or not at all."""
    lines = (one.model_dump_json() for one in sorted(gold, key=lambda one: (one.kind, one.key)))
    write_file(path, "".join(f"{line}\n" for line in lines).encode())


def read_gold(path: Path) -> dict[str, GoldItem]:
    """Task key → what was planted there; empty where no gold was made. Raises InputError for a damaged file."""
    if not path.exists():
        return {}
    try:
        keys = [GoldItem.model_validate_json(line) for line in path.read_text("utf-8").split("\n") if line]
    except (OSError, UnicodeDecodeError, ValidationError):
        raise InputError(f"{path}: not a list of gold items; export the review again") from None
    return {one.key: one for one in keys}


def _answer_wrongly(hop: Hop, item: Item, rng: random.Random) -> Hop | None:
    """Another option is called right; only where a fact on the page says otherwise."""
    return None if isinstance(hop.derivation, Compute) else _move_answer(hop, rng)


def _compute_wrongly(hop: Hop, item: Item, rng: random.Random) -> Hop | None:
    return _move_answer(hop, rng) if isinstance(hop.derivation, Compute) else None


def _leak_answer(hop: Hop, item: Item, rng: random.Random) -> Hop | None:
    question = _say(hop.question, hop.answer)
    return hop.model_copy(update={"question": question}) if fold(hop.answer) not in fold(hop.question) else None


def _make_distractor_true(hop: Hop, item: Item, rng: random.Random) -> Hop | None:
    """An option becomes another way to write the right answer."""
    others = [label for label in LABELS if label in hop.options and label != hop.label]
    taken = {fold(text) for text in hop.options.values()}
    if hop.answer_type == "number" and hop.answer.replace(",", "").isdecimal():
        same = f"exactly {hop.answer}"
    else:
        same = next((alias for alias in hop.answer_aliases if len(alias) > 3 and fold(alias) not in taken), "")
    if not same or not others:
        return None
    label = rng.choice(others)
    old = hop.options[label]
    options = {letter: same if letter == label else text for letter, text in hop.options.items()}
    distractors = tuple(Distractor(text=same, kind=one.kind) if one.text == old else one for one in hop.distractors)
    return hop.model_copy(update={"options": options, "distractors": distractors})


def _move_answer(hop: Hop, rng: random.Random) -> Hop | None:
    others = [label for label in LABELS if label in hop.options and label != hop.label]
    if hop.label is None or not others:
        return None
    label = rng.choice(others)
    return hop.model_copy(update={"label": label, "answer": hop.options[label], "answer_id": None})


def _say(question: str, answer: str) -> str:
    return f"{question.removesuffix('?').rstrip()}, in other words {answer}?"


def _replace_hop(item: Item, old: Hop, new: Hop, kind: ReviewTaskKind) -> Item:
    """The item with another hop; where the fault is in the last one, the whole question carries it too."""
    changes: dict[str, object] = {"hops": tuple(new if hop is old else hop for hop in item.hops)}
    if kind is not ReviewTaskKind.SINGLE_HOP:
        changes |= {"answer": new.answer, "options": new.options, "label": new.label}
        if new.question != old.question:  # the leak is planted in what is reviewed, and nowhere else
            changes |= {"question": _say(item.question, old.answer), "marked": "", "hops": item.hops}
    return item.model_copy(update=changes)


_PLANTERS: dict[Fault, Callable[[Hop, Item, random.Random], Hop | None]] = {
    "wrong_answer": _answer_wrongly,
    "leaked_answer": _leak_answer,
    "wrong_computation": _compute_wrongly,
    "true_distractor": _make_distractor_true,
}
