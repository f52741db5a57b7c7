"""Planning, wording, distractors and checks: items a second on one core, the share of each step, and the memory.

    python bench/synthesis.py [--items 10000] [--runs 3] [--json]

Floor: writing the same items as JSON lines, the least that any pipeline must do with them. Memory is the resident size
after a tenth, a half and all of the items; nothing is kept between shards, so it should stay level.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from hopwright.knowledge.wikidata.anchors import link_anchors, read_anchor_questions
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Rejected
from hopwright.stages.drafting import Synthesizer
from tests.builders import write_jsonl

SAMPLE = Path(__file__).resolve().parents[1] / "data" / "sample"
SHARD = 250
STEPS = {
    "plan": ("_drawer", "draw"),
    "word": ("_writer", "word"),
    "distractors": ("distractors", "make"),
}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print the figures of every run as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        ingest(SAMPLE, store)
        graph = GraphStore.open(store)
        questions = [one for one in read_anchor_questions(SAMPLE / "anchors.jsonl") if not isinstance(one, Rejected)]
        anchors, _ = link_anchors(questions, graph)
        runs = [measure(graph, anchors, options.items, seed, Path(folder)) for seed in range(options.runs)]
    if options.json:
        print(json.dumps(runs))
        return
    rates = [run["items_per_s"] for run in runs]
    print(f"median of {options.runs}: {statistics.median(rates):.0f} items/s on one core")


def measure(graph: GraphStore, anchors, wanted: int, seed: int, folder: Path) -> dict[str, float]:
    """One run: draft until `wanted` items are there. Rates are per second of CPU time."""
    synthesizer = Synthesizer(graph, default_table(), seed=seed)
    spent: Counter[str] = Counter()
    for step, (part, method) in STEPS.items():
        clock(getattr(synthesizer, part), method, spent, step)
    start = time.process_time()
    items = slots = 0
    memory: dict[int, float] = {}
    writing = 0.0
    marks = [wanted // 10, wanted // 2, wanted]
    while items < wanted:
        drafted, _ = synthesizer.draft(anchors, slots, SHARD)
        slots += SHARD
        items += len(drafted)
        before = time.process_time()
        write_jsonl(drafted, folder / "items.jsonl")
        writing += time.process_time() - before
        while marks and items >= marks[0]:
            memory[marks.pop(0)] = resident()
    seconds = time.process_time() - start - writing
    shares = ", ".join(f"{step} {spent[step] / seconds:.0%}" for step in STEPS)
    levels = ", ".join(f"{mebibytes:.0f} MiB at {count:,}" for count, mebibytes in memory.items())
    print(
        f"seed {seed}: {items:,} items of {slots:,} slots in {seconds:.1f} s of CPU = {items / seconds:.0f} items/s; "
        f"planned and worded alone {items / (spent['plan'] + spent['word']):.0f}/s, "
        f"with the checks {items / (seconds - spent['distractors']):.0f}/s; "
        f"{shares}, checks and the rest {1 - sum(spent.values()) / seconds:.0%}; "
        f"{seconds / writing:.0f} times the floor (JSON lines: {items / writing:.0f} items/s); {levels}",
        file=sys.stderr,
    )
    return {
        "items": items,
        "slots": slots,
        "items_per_s": items / seconds,
        "planned_and_worded_per_s": items / (spent["plan"] + spent["word"]),
        "with_checks_per_s": items / (seconds - spent["distractors"]),
        "memory_mib": max(memory.values()),
    }


def clock(owner: object, method: str, spent: Counter[str], step: str) -> None:
    """Wrap a method so that its CPU seconds are added up."""
    inner = getattr(owner, method)

    def timed(*args, **kwargs):
        before = time.process_time()
        try:
            return inner(*args, **kwargs)
        finally:
            spent[step] += time.process_time() - before

    setattr(owner, method, timed)


def resident() -> float:
    """Resident memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    main()
