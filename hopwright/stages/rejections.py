"""Examples of what a stage rejected, for the page that shows them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from hopwright.records import Rejected
from hopwright.records.migration import parse_item

_MOST_PARTS = 40
"""A check that rejected little may have none in so many parts: its examples are fewer then, or none."""


def find_examples(folder: Path, rejected: Mapping[str, int], each: int = 3) -> dict[str, list[Rejected]]:
    """Up to `each` rows that each check rejected, from the first parts of a stage's `rejected` folder.

    `rejected` maps checks to the rows that they rejected in all. What cannot be read is left out.
    """
    found: dict[str, list[Rejected]] = {check: [] for check in rejected}
    for path in sorted(folder.glob("part-*.parquet"))[:_MOST_PARTS]:
        wanted = {check for check, rows in found.items() if len(rows) < min(each, rejected[check])}
        if not wanted:
            break
        try:
            # Read as a data set, a file would have pandas imported with it.
            with pq.ParquetFile(path) as file:
                table = file.read()
        except (OSError, pa.ArrowInvalid):
            continue
        for index, check in enumerate(table.column("check").to_pylist()):
            if check in wanted and len(found[check]) < each:
                found[check].append(Rejected.model_validate(table.slice(index, 1).to_pylist()[0]))
    return found


def describe_row(rejected: Rejected) -> str:
    """The question and the answer of a rejected item; empty where the stage kept only the reason."""
    try:
        item = parse_item(rejected.row)
    except ValidationError:
        return ""
    return f"{item.question} → {item.answer}"
