"""How time and memory grow with the size of an offline build.

    python bench/scale.py [--drafts 1000 3000] [--copies 1] [--shard-size 250] [--workers 0] [--keep FOLDER]

Each size is one `hopwright build` with a Prefect server of its own. Memory is looked at twice a second: the resident
size of the biggest process, and of all together (what they share, such as the mapped graph, is counted once where the
kernel tells), with the stage in which each was highest, and how it grew from the first tenth of a stage to its end; and
the processor time of all processes, which what else the machine does changes less than the clock. A straight line is
fitted to both. Within a stage, a shard takes the same time first and last where half of the shards are there after half
of the time. The shipped sample holds some 20,000 plans: a larger build wants `--copies`, the sample so many times over.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from multiplied import multiply

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "data" / "sample"
MIB = 2**20
LOOK_S = 0.5


@dataclass
class Peak:
    """The most that was seen, and when."""

    bytes: int = 0
    stage: str = ""

    def see(self, bytes: int, stage: str) -> None:
        """Another look."""
        if bytes > self.bytes:
            self.bytes, self.stage = bytes, stage


@dataclass
class Measured:
    """One build."""

    drafts: int
    seconds: float = 0.0
    cpu: float = 0.0
    items: int = 0
    biggest: Peak = field(default_factory=Peak)
    all: Peak = field(default_factory=Peak)
    looks: dict[str, list[int]] = field(default_factory=dict)
    """Stage → the biggest process at every look, in bytes."""
    stages: dict[str, float] = field(default_factory=dict)
    halfway: dict[str, float] = field(default_factory=dict)
    """Stage → the share of its time after which half of its shards were there."""


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drafts", type=int, nargs="+", default=[1_000, 3_000])
    parser.add_argument("--copies", type=int, default=1, help="how many times over the sample is the corpus")
    parser.add_argument("--shard-size", type=int, default=250)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="make the homes in this folder and leave them there")
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as name:
        corpus = multiply_sample(Path(name) / "corpus", options.copies) if options.copies > 1 else None
        for drafts in options.drafts:
            with tempfile.TemporaryDirectory() as folder:
                found.append(one := measure((options.keep or Path(folder)) / str(drafts), drafts, corpus, options))
            describe(one)
    if len(found) > 1:
        sizes = np.array([one.drafts for one in found], float)
        for name, times in (("clock", [one.seconds for one in found]), ("processor", [one.cpu for one in found])):
            slope, start = np.polyfit(sizes, times, 1)
            left = np.abs(np.array(times) - slope * sizes - start).max()
            print(f"{name}: {start:.1f} s + {1000 * slope:.2f} ms a draft, off that line by {left:.1f} s at most")


def multiply_sample(folder: Path, copies: int) -> Path:
    """A corpus in which more plans can be drawn."""
    triplets = multiply(SAMPLE, folder, copies)
    print(f"corpus: the sample {copies} times over, {triplets:,} triplets")
    return folder


def describe(one: Measured) -> None:
    """The lines about one build."""
    print(
        f"{one.drafts:>8,} drafts: {one.items:,} items in {one.seconds:.1f} s, "
        f"{1000 * one.seconds / one.drafts:.2f} ms a draft; {one.cpu:.1f} s of processor time; biggest process "
        f"{one.biggest.bytes / MIB:.0f} MiB ({one.biggest.stage}), all {one.all.bytes / MIB:.0f} MiB ({one.all.stage})",
        flush=True,
    )
    for stage, seconds in one.stages.items():
        looks = one.looks.get(stage, [0])
        early, late = (max(some) / MIB for some in (looks[: len(looks) // 10 + 1], looks[len(looks) * 9 // 10 :]))
        half = f"  half of the shards after {one.halfway[stage]:.0%}" if stage in one.halfway else ""
        print(f"  {stage:18} {seconds:8.1f} s  {1000 * seconds / one.drafts:7.3f} ms a draft  "
              f"biggest process {early:5.0f} → {late:5.0f} MiB{half}", flush=True)  # fmt: skip


def measure(home: Path, drafts: int, corpus: Path | None, options: argparse.Namespace) -> Measured:
    """One build, looked at while it runs."""
    one = Measured(drafts)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    command = [
        sys.executable, "-m", "flows.cli", "build", "--json", "--drafts", str(drafts),
        "--shard-size", str(options.shard_size), "--workers", str(options.workers),
        *(["--corpus", str(corpus), "--anchors", str(SAMPLE / "anchors.jsonl")] if corpus else []),
    ]  # fmt: skip
    spent = sum(os.times()[2:4])  # of children that have ended
    began = time.monotonic()
    child = subprocess.Popen(
        command, cwd=ROOT, env={**kept, "HOPWRIGHT_HOME": str(home)}, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    look, stage = 0, ""
    while child.poll() is None:
        if look % 8 == 0:
            # Walking all mappings and the run folder costs the processes time: not at every look.
            stage = find_stage(home)
            one.all.see(sum(read_share(pid) for pid in list_family(child.pid)), stage)
        biggest = max((read_resident(pid) for pid in list_family(child.pid)), default=0)
        one.biggest.see(biggest, stage)
        one.looks.setdefault(stage, []).append(biggest)
        look += 1
        time.sleep(LOOK_S)
    one.seconds = time.monotonic() - began
    one.cpu = sum(os.times()[2:4]) - spent
    if child.returncode:
        sys.exit(f"the build of {drafts} drafts ended with code {child.returncode}")
    assert child.stdout is not None
    summary: dict[str, Any] = json.loads(child.stdout.read())
    one.items = summary["accepted"]
    run = home / "runs" / "sample"
    one.stages = json.loads((run / "manifest.json").read_text("utf-8"))["seconds"]
    one.halfway = {name: share for name in one.stages if (share := find_half(run / name)) is not None}
    return one


def find_half(stage: Path) -> float | None:
    """The share of a stage's time, from its first part to its last, after which half of the parts were there."""
    times = sorted(part.stat().st_mtime for part in stage.glob("part-*.parquet"))
    if len(times) < 20:
        return None
    return (times[len(times) // 2] - times[0]) / (times[-1] - times[0])


def find_stage(home: Path) -> str:
    """The stage that is being made: the last whose manifest was begun and is not finished."""
    root = home / "runs" / "sample"
    begun = []
    for path in (*root.glob("*/manifest.json"), *root.glob("*/*/manifest.json")):
        if "hopwright-" in path.parent.name:
            continue
        try:
            if json.loads(path.read_text("utf-8"))["status"] == "running":
                begun.append((path.stat().st_mtime_ns, str(path.parent.relative_to(root))))
        except (OSError, ValueError, KeyError):
            continue
    return max(begun)[1] if begun else "between stages"


def list_family(pid: int) -> list[int]:
    """A process and all below it."""
    found = [pid]
    for one in found:
        try:
            tasks = Path(f"/proc/{one}/task").iterdir()
            found += [int(child) for task in tasks for child in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


def read_resident(pid: int) -> int:
    """Resident bytes of a process; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):
        return 0


def read_share(pid: int) -> int:
    """Bytes of a process, what it shares with others divided among them; 0 when it is gone."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


if __name__ == "__main__":
    main()
