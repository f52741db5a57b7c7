"""Counterfactual twins of one part."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from hopwright.counterfactual.back_translation import ApertiumBackTranslator
from hopwright.counterfactual.rewriting import Rewriter
from hopwright.errors import InputError
from hopwright.records import Item
from hopwright.records.arrow import items_to_table, read_items
from hopwright.runs import ShardOutput
from hopwright.synthesis.kinds import KindIndex
from hopwright.synthesis.properties import default_table
from tasks.work.resources import open_graph

_CHECK = "back_translation"
_NAMES = {"pass": "questions reworded", "fail": "questions kept: the new wording failed a check"}


@dataclass(frozen=True, slots=True)
class RewritePart:
    """One part of items, to be given twins; `translate`: whether to send their wording through Apertium."""

    part: Path
    store: Path
    seed: int
    translate: bool


def find_translator(mode: str) -> tuple[str, str]:
    """The translator's name, or an empty one and why there is none. Raises InputError when `apertium` is a must."""
    if mode == "off":
        return "", "switched off"
    translator = ApertiumBackTranslator()
    obstacle = translator.find_obstacle()
    if obstacle and mode == "apertium":
        raise InputError(f"back-translation: {obstacle}")
    return ("", obstacle) if obstacle else (translator.name, "")


def twin_part(spec: RewritePart) -> ShardOutput:
    """Make the twins of one part."""
    items = read_items(spec.part)
    twins, rejected = _open_rewriter(spec.store, spec.seed, spec.translate).rewrite(items)
    outcomes = Counter(_translation_of(twin) for twin in twins)
    return ShardOutput(
        items_to_table(twins),
        rejected,
        taken=len(items),
        figures={name: outcomes[outcome] for outcome, name in _NAMES.items()} if spec.translate else {},
        skipped={"back-translation": outcomes["skip"]} if outcomes["skip"] else {},
    )


def _translation_of(twin: Item) -> str:
    return next((check.outcome for check in twin.checks if check.name == _CHECK), "skip")


@functools.lru_cache(maxsize=1)
def _open_rewriter(store: Path, seed: int, translate: bool) -> Rewriter:
    graph = open_graph(store)
    translator = ApertiumBackTranslator() if translate else None
    return Rewriter(graph, KindIndex(graph), default_table(), seed=seed, translator=translator)
