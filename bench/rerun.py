"""What a build takes that finds nothing to do: the command again, against the least that any command takes.

    python bench/rerun.py [--drafts 150] [--repeats 5] [--home FOLDER] [--json]

again   `hopwright build` on a run that is complete: parameters read, code, inputs and every file of the run hashed
help    `hopwright build --help`: Python, and what the command line imports
hashes  the run's files hashed with SHA-256 in this process: what no comparison of bytes is faster than

The three are timed in turn. `--home` takes a home whose run `sample` is complete instead of building one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUN = "sample"


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drafts", type=int, default=150)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = arguments.home or Path(folder)
        options = [] if arguments.home else ["--drafts", str(arguments.drafts), "--shard-size", "50"]
        call(home, "build", "--run", RUN, *options)
        ways: dict[str, Callable[[], object]] = {
            "again": lambda: call(home, "build", "--run", RUN, *options),
            "help": lambda: call(home, "build", "--help"),
            "hashes": lambda: hash_files(home / "runs" / RUN),
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(arguments.repeats):
            for name, way in ways.items():
                began = time.perf_counter()
                way()
                seconds[name].append(time.perf_counter() - began)
        size = sum(path.stat().st_size for path in (home / "runs" / RUN).rglob("*") if path.is_file())
    if arguments.json:
        print(json.dumps({f"{name}_s": statistics.median(taken) for name, taken in seconds.items()}))
        return
    floor = statistics.median(seconds["help"])
    sys.stdout.write(f"median of {arguments.repeats}, a run of {size / 2**20:.1f} MiB\n")
    for name, taken in seconds.items():
        median = statistics.median(taken)
        sys.stdout.write(
            f"{name:8} {median:6.2f} s  {median / floor:5.2f} × help  ({min(taken):.2f}–{max(taken):.2f})\n"
        )


def call(home: Path, *arguments: str) -> None:
    """Run the command in a home, and say what it said where it fails."""
    environment = {**os.environ, "HOPWRIGHT_HOME": str(home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "flows.cli", *arguments]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)


def hash_files(folder: Path) -> None:
    """Hash every file below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                hashlib.file_digest(file, "sha256")


if __name__ == "__main__":
    main()
