"""Today's figures beside the last committed ones, as ratios, so that what got slower or larger is seen.

    python bench/compare.py                      what is committed, and when and where it was measured
    python bench/compare.py graph-1 synthesis    run these and compare
    python bench/compare.py --all --limit 1.2
    python bench/compare.py graph-100 --save     run, compare, and write the new figures to bench/figures.json

A ratio above 1 is worse, whether less of a figure is better (seconds, sizes) or more (items a second, shares). It exits
with 1 where a ratio is above the limit. Figures of another machine or load compare badly: both are told.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIGURES = Path(__file__).with_name("figures.json")
RUNS: dict[str, tuple[str, ...]] = {
    "graph-1": ("graph.py", "--scale", "0.01", "--runs", "3", "--json"),
    "graph-10": ("graph.py", "--scale", "0.1", "--runs", "3", "--json"),
    "graph-100": ("graph.py", "--scale", "1", "--runs", "3", "--json"),
    "synthesis": ("synthesis.py", "--items", "200", "--runs", "1", "--json"),
    "rerun": ("rerun.py", "--repeats", "3", "--json"),
}
"""Benchmarks that print their figures as JSON, and how they are called."""
_LESS = ("_s", "_gib", "_mib", "bytes")
_MORE = ("_per_s", "_ratio", "precision", "recall")
"""How the name of a figure ends of which less, or more, is better; any other is a size of the task."""
_YARDSTICKS = ("duckdb_", "floor_", "help_", "hashes_")
"""How figures of peers and of lower limits begin: their ratios tell of the machine, and are never called worse."""


def main() -> None:
    """Show what is committed, or run and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(RUNS))
    parser.add_argument("--all", action="store_true", help="run all of them")
    parser.add_argument("--limit", type=float, default=1.25, help="the largest ratio that is not called worse")
    parser.add_argument("--save", action="store_true", help="write today's figures to bench/figures.json")
    options = parser.parse_args()
    committed = read_committed()
    names = list(RUNS) if options.all else options.names
    if unknown := [name for name in names if name not in RUNS]:
        parser.error(f"no benchmark {unknown[0]!r}; there are {', '.join(RUNS)}")
    if not names:
        for name, held in committed.items():
            sys.stdout.write("\n".join([f"{name}: {tell_place(held)}", *list_figures(held["figures"])]) + "\n")
        return
    worse = False
    for name in names:
        today = measure(name)
        last = committed.get(name)
        places = f"today {tell_place(today)}" + (f"; committed {tell_place(last)}" if last else "")
        rows = compare(last["figures"] if last else {}, today["figures"], options.limit)
        sys.stdout.write("\n".join([f"{name}: {places}", *(row for row, _ in rows)]) + "\n")
        worse = worse or any(bad for _, bad in rows)
        if options.save:
            save(name, today)
    sys.exit(int(worse))


def read_committed() -> dict[str, dict[str, Any]]:
    """The figures of the last commit, not those that were saved since; empty outside a checkout."""
    done = subprocess.run(
        ["git", "show", "HEAD:./figures.json"], cwd=FIGURES.parent, capture_output=True, text=True, check=False
    )
    held: dict[str, dict[str, Any]] = json.loads(done.stdout) if done.returncode == 0 else {}
    return held


def measure(name: str) -> dict[str, Any]:
    """Run a benchmark; its numbers by dotted name, and what they were measured on."""
    script, *arguments = RUNS[name]
    load = os.getloadavg()[0]
    done = subprocess.run(
        [sys.executable, str(FIGURES.with_name(script)), *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True,
        check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{name}: {script} failed with {done.returncode}")
    figures = {key: float(f"{value:.4g}") for key, value in flatten(json.loads(done.stdout))}
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {read_processor()}",
        "load": round(load, 1),
        "figures": figures,
    }


def flatten(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of nested objects and lists, by names joined by dots; a list of one counts as what it holds."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flatten(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from flatten(inner, name if len(value) == 1 else f"{name}.{place}" if name else str(place))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, float(value)


def compare(old: Mapping[str, float], new: Mapping[str, float], limit: float) -> list[tuple[str, bool]]:
    """A line for every figure, and whether it got worse by more than the limit."""
    rows = []
    for name in [*new, *(one for one in old if one not in new)]:
        before, now = old.get(name), new.get(name)
        ratio = find_ratio(name, before, now)
        bad = ratio is not None and ratio > limit and not name.startswith(_YARDSTICKS)
        shown = "" if ratio is None else f"{ratio:8.2f}{'  worse' if bad else ''}"
        rows.append((f"  {name:<36}{show(before):>14}{show(now):>14}{shown}", bad))
    return rows


def find_ratio(name: str, before: float | None, now: float | None) -> float | None:
    """How many times worse a figure is than before; None for a size, and where one of the two is missing or 0."""
    if not before or not now:
        return None
    if name.endswith(_MORE):
        return before / now
    return now / before if name.endswith(_LESS) else None


def show(value: float | None) -> str:
    """A figure with four digits."""
    return "-" if value is None else f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"


def list_figures(figures: Mapping[str, float]) -> list[str]:
    """Lines of committed figures."""
    return [f"  {name:<36}{show(value):>14}" for name, value in figures.items()]


def tell_place(held: Mapping[str, Any]) -> str:
    """When and where figures were measured."""
    return f"{held['date']}, {held['machine']}, load {held['load']}"


def save(name: str, today: Mapping[str, Any]) -> None:
    """Put one benchmark's figures into the file, beside the others that it holds."""
    held = json.loads(FIGURES.read_text("utf-8")) if FIGURES.is_file() else {}
    held[name] = today
    FIGURES.write_text(json.dumps(dict(sorted(held.items())), indent=1) + "\n", "utf-8")


def read_processor() -> str:
    """The processor's name as Linux tells it, else the architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    main()
