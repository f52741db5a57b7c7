"""A toy stage of several shards, run as a child process by the kill tests: `python -m tests.runs.toy HOME`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from hopwright.records import Rejected
from hopwright.records.arrow import rejected_to_table
from hopwright.runs import RunFolder, ShardOutput, Stage, StageManifest
from tests.stage_runs import run_stage

SHARDS = 12
ROWS = 50


def process(shard: int) -> ShardOutput:
    """Keep the rows whose number is not divisible by 7."""
    rows = [
        Rejected(key=f"{shard}-{row}", check="toy", reason=f"row {row}", row="x" * row)
        for row in range(shard * ROWS, (shard + 1) * ROWS)
    ]
    kept = [row for number, row in enumerate(rows) if number % 7]
    lost = [row for number, row in enumerate(rows) if not number % 7]
    return ShardOutput(rejected_to_table(kept), lost, taken=ROWS, figures={"kept": len(kept)})


def process_slowly(shard: int) -> ShardOutput:
    """As `process`, with time to be killed in."""
    time.sleep(0.01)
    return process(shard)


def run_toy(home: Path, *, slow: bool = False, seed: int = 1, storage: str = "", fresh: bool = False) -> StageManifest:
    """Run the toy stage in a run of its own."""
    run = RunFolder(home, "toy", storage)
    with run.hold():
        run.begin({"seed": seed}, fresh=fresh)
        return run_stage(
            Stage(run, "toy"),
            range(SHARDS),
            process_slowly if slow else process,
            parameters={"seed": seed},
            inputs={"numbers": "0" * 64},
        )


def read_bytes(home: Path) -> dict[str, bytes]:
    """Every Parquet file below the run, by its path; `home` may be a storage's folder too."""
    root = home / "runs" / "toy"
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.parquet"))}


if __name__ == "__main__":
    run_toy(Path(sys.argv[1]), slow=True, storage=sys.argv[2] if len(sys.argv) > 2 else "")
