"""Where an item is: the runs and stages that hold it, and the checks that it failed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import ValidationError

from hopwright.records import Item, Rejected
from hopwright.records.arrow import ITEM_SCHEMA, REJECTED_SCHEMA, read_parquet, table_to_items, table_to_rejected
from hopwright.records.migration import parse_item
from hopwright.runs.folder import RunFolder

STAGES = ("synthesize/drafts", "synthesize/worded", "synthesize", "filter", "rewrite", "review/accepted", "release")
"""The stages that write items, or leave some out, in the order of the line of work."""
_ROUND = re.compile(r"-(\d+)$")


@dataclass(frozen=True, slots=True)
class ItemSighting:
    """An item as a stage of a run left it. `rejected` says by which check it went no further there.

    `item` is None where the stage kept only the reason.
    """

    run: str
    stage: str
    item: Item | None
    rejected: Rejected | None = None


def find_item(run: RunFolder, id: str) -> list[ItemSighting]:
    """What the stages of a run, finished or not, hold of an item, in the order of the line of work."""
    found = []
    for stage in _list_stages(run):
        folder = run.path / stage
        found += [ItemSighting(run.name, stage, item) for item in _find_accepted(folder, id)]
        found += [ItemSighting(run.name, stage, _read_row(row), row) for row in _find_rejected(folder / "rejected", id)]
    return found


def list_ids(run: RunFolder, beginning: str) -> set[str]:
    """The ids of items of a run, taken or rejected, that begin so."""
    found: set[str] = set()
    for stage in _list_stages(run):
        for folder, column in ((run.path / stage, "id"), (run.path / stage / "rejected", "key")):
            for path in sorted(folder.glob("part-*.parquet")):
                try:
                    names = pq.read_table(path, columns=[column]).column(column)
                except (OSError, ValueError):
                    continue  # as in `_holds`
                found.update(names.filter(pc.starts_with(names, beginning)).to_pylist())
    return found


def _list_stages(run: RunFolder) -> Iterator[str]:
    """The stages, those of several rounds (`synthesize/drafts-2`) one after the other."""
    for stage in STAGES:
        place = run.path / stage
        rounds = [one for one in place.parent.glob(f"{place.name}-*") if _ROUND.search(one.name)]
        yield stage
        for one in sorted(rounds, key=lambda one: int(one.name.rpartition("-")[2])):
            yield one.relative_to(run.path).as_posix()


def _find_accepted(folder: Path, id: str) -> Iterator[Item]:
    for path in sorted(folder.glob("part-*.parquet")):
        if _holds(path, "id", id):
            table = read_parquet(path, ITEM_SCHEMA)
            yield from table_to_items(table.filter(pc.equal(table["id"], id)))


def _find_rejected(folder: Path, id: str) -> Iterator[Rejected]:
    for path in sorted(folder.glob("part-*.parquet")):
        if _holds(path, "key", id):
            table = read_parquet(path, REJECTED_SCHEMA)
            yield from table_to_rejected(table.filter(pc.equal(table["key"], id)))


def _holds(path: Path, column: str, value: str) -> bool:
    """Whether a part has that value, by reading the one column only."""
    try:
        names = pq.read_table(path, columns=[column]).column(column)
    except (OSError, ValueError):
        # A part that is just being written, or damaged: the stage itself will say so.
        return False
    return bool(pc.any(pc.equal(names, value)).as_py())


def _read_row(row: Rejected) -> Item | None:
    """The item that a rejection kept, where it kept one."""
    try:
        return parse_item(row.row)
    except ValidationError:
        return None
