"""One shard's output on disk: the rejected rows first, the part last; the part's presence means done."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hopwright.errors import InputError
from hopwright.records import Rejected
from hopwright.records.arrow import REJECTED_SCHEMA, encode_parquet, read_parquet, rejected_to_table
from hopwright.runs.files import write_file
from hopwright.runs.manifest import Counts, ResourceUsage

_KEY = "hopwright"


@dataclass(frozen=True, slots=True)
class ShardOutput:
    """What a stage made of one shard.

    `taken` is the number of rows (or slots) that went in; `skipped` counts what could not run, by reason;
    `figures` are sums that the stage reports. All of it is kept in the part, so it must be the same in every run.
    """

    rows: pa.Table
    rejected: Sequence[Rejected]
    taken: int
    usage: ResourceUsage = field(default_factory=ResourceUsage)
    skipped: Mapping[str, int] = field(default_factory=dict)
    figures: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ShardReport:
    """The counts of one finished shard."""

    index: int
    counts: Counts
    usage: ResourceUsage
    skipped: dict[str, int]
    figures: dict[str, int]
    examples: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Check → the key of one row that it rejected; only of a shard that was just written."""


def part_path(folder: Path, index: int) -> Path:
    """Where the accepted rows of a shard lie."""
    return folder / f"part-{index:05d}.parquet"


def rejected_path(folder: Path, index: int) -> Path:
    """Where the rejected rows of a shard lie."""
    return folder / "rejected" / f"part-{index:05d}.parquet"


def write_shard(folder: Path, index: int, output: ShardOutput) -> ShardReport:
    """Write one shard whole; safe against a kill at any moment, and from any process.

    Raises RunError when in ≠ out + rejected, or when the folder cannot be written.
    """
    counts = Counts(
        taken=output.taken,
        out=output.rows.num_rows,
        rejected=dict(sorted(Counter(row.check for row in output.rejected).items())),
    )
    counts.verify(f"{folder.name}, shard {index}")
    report = ShardReport(
        index,
        counts,
        output.usage,
        dict(sorted(output.skipped.items())),
        dict(sorted(output.figures.items())),
        {row.check: row.key for row in reversed(output.rejected)},
    )
    write_file(rejected_path(folder, index), encode_parquet(rejected_to_table(output.rejected)))
    write_file(part_path(folder, index), encode_parquet(output.rows, {_KEY: _pack(report)}))
    return report


def read_report(folder: Path, index: int) -> ShardReport:
    """Counts of a finished shard. Raises InputError when its files are missing or damaged."""
    path = part_path(folder, index)
    try:
        file = pq.ParquetFile(path)
        packed = json.loads(file.schema_arrow.metadata[_KEY.encode()])
    except (OSError, pa.ArrowInvalid, TypeError, KeyError, ValueError):
        raise InputError(f"{path}: not a finished part of a run; delete it and run the same command again") from None
    checks = read_parquet(rejected_path(folder, index), REJECTED_SCHEMA, ["check"]).column("check").to_pylist()
    counts = Counts(taken=packed["in"], out=file.metadata.num_rows, rejected=dict(sorted(Counter(checks).items())))
    counts.verify(str(path))
    return ShardReport(index, counts, ResourceUsage(**packed["usage"]), packed["skipped"], packed["figures"])


def _pack(report: ShardReport) -> str:
    packed: dict[str, Any] = {
        "in": report.counts.taken,
        "usage": report.usage.model_dump(),
        "skipped": report.skipped,
        "figures": report.figures,
    }
    return json.dumps(packed, sort_keys=True, separators=(",", ":"))
