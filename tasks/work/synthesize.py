"""Filling draft slots, and the selection over all drafts."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from hopwright.records import Rejected
from hopwright.records.arrow import ITEM_SCHEMA, items_to_table, read_parquet
from hopwright.runs import ShardOutput
from hopwright.synthesis.pipeline import DraftKey, Synthesizer, select
from hopwright.synthesis.properties import default_table
from tasks.work.resources import SOURCES, load_anchors, open_graph


@dataclass(frozen=True, slots=True)
class DraftSlots:
    """Some draft slots, and all that filling them depends on."""

    store: Path
    anchors: tuple[Path, ...]
    seed: int
    topologies: tuple[str, ...]
    min_domains: int
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class Selection:
    """One part of drafts, and which of its rows are dropped: row → (check, reason)."""

    part: Path
    dropped: dict[int, tuple[str, str]]


def draft_slots(slots: DraftSlots) -> ShardOutput:
    """Fill one shard of draft slots."""
    synthesizer = _open_synthesizer(slots.store, slots.seed, slots.topologies, slots.min_domains)
    items, rejected = synthesizer.draft(load_anchors(slots.anchors), slots.start, slots.count)
    return ShardOutput(items_to_table(items), rejected, taken=slots.count)


def select_drafts(parts: list[Path], max_answer_share: float) -> list[Selection]:
    """Look over all drafts at once, four columns of them, and decide what is dropped from which part."""
    keys, counts = _read_keys(parts)
    dropped = select(keys, max_answer_share=max_answer_share)
    starts = itertools.accumulate(counts, initial=0)
    return [
        Selection(part, {row: dropped[start + row] for row in range(count) if start + row in dropped})
        for part, start, count in zip(parts, starts, counts, strict=False)
    ]


def keep_selected(selection: Selection) -> ShardOutput:
    """Copy one part without the dropped rows."""
    table = read_parquet(selection.part, ITEM_SCHEMA)
    ids = table.column("id").to_pylist()
    rejected = [
        Rejected(key=ids[row], check=check, reason=reason) for row, (check, reason) in sorted(selection.dropped.items())
    ]
    kept = [row for row in range(table.num_rows) if row not in selection.dropped]
    return ShardOutput(table.take(pa.array(kept, pa.int64())), rejected, taken=table.num_rows)


def _read_keys(parts: list[Path]) -> tuple[list[DraftKey], list[int]]:
    keys: list[DraftKey] = []
    counts: list[int] = []
    for part in parts:
        table = read_parquet(part, ITEM_SCHEMA).select(["id", "topology", "answer", "question"])
        counts.append(table.num_rows)
        columns = zip(*(column.to_pylist() for column in table.columns), strict=True)
        keys += [DraftKey(slot, *row) for slot, row in enumerate(columns, start=len(keys))]
    return keys, counts


@functools.lru_cache(maxsize=1)
def _open_synthesizer(store: Path, seed: int, topologies: tuple[str, ...], min_domains: int) -> Synthesizer:
    return Synthesizer(
        open_graph(store),
        default_table(),
        seed=seed,
        topologies=topologies,
        min_domains=min_domains,
        sources=SOURCES,
    )
