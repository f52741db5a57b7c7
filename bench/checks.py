"""The checks' own measure: planted faults found by kind, false alarms on untouched items, and what each check costs.

    python bench/checks.py [--items 400] [--faults 4]

Faults are planted by code (tests/faults) in items of the shipped sample, one at a time: at most so many of each kind
as `--faults` says per hundred items. A fault counts as found when a check that should find it does. The cost of a check
is its CPU time over all items, the best of three rounds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the faults are planted by the tests' own planters

from hopwright.checks import CHECKS, CheckContext, CheckedItem, examine  # noqa: E402
from hopwright.checks.near_duplicates import NearDuplicateFinder  # noqa: E402
from hopwright.checks.overlap import OverlapFinder  # noqa: E402
from hopwright.knowledge.wikidata.anchors import link_anchors, read_anchor_questions  # noqa: E402
from hopwright.knowledge.wikidata.ingest import ingest  # noqa: E402
from hopwright.knowledge.wikidata.properties import default_table  # noqa: E402
from hopwright.knowledge.wikidata.store import GraphStore  # noqa: E402
from hopwright.records import Item, Rejected  # noqa: E402
from hopwright.release.format import parse_row  # noqa: E402
from hopwright.stages.drafting import Synthesizer  # noqa: E402
from tests.builders import score  # noqa: E402
from tests.faults import Fault, kinds, plant_faults  # noqa: E402

SAMPLE = ROOT / "data" / "sample"
ROUNDS = 3


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--faults", type=int, default=4, help="of each kind, for every hundred items")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ingest(SAMPLE, Path(folder) / "store")
        graph = GraphStore.open(Path(folder) / "store")
        items = draw_items(graph, options.items)
        context = CheckContext(default_table(), graph=graph)
        measure_recall(items, context, graph, options.faults * options.items // 100)
        measure_cost(items, context)


def draw_items(graph: GraphStore, wanted: int) -> list[Item]:
    """So many items of the sample, worded by the rules writer; they passed the checks when they were made."""
    questions = [one for one in read_anchor_questions(SAMPLE / "anchors.jsonl") if not isinstance(one, Rejected)]
    anchors, _ = link_anchors(questions, graph)
    synthesizer = Synthesizer(graph, default_table(), seed=11)
    items: list[Item] = []
    for start in range(0, 100 * wanted, 100):
        items += synthesizer.draft(anchors, start, 100)[0]
        if len(items) >= wanted:
            break
    return items[:wanted]


def measure_recall(items: Sequence[Item], context: CheckContext, graph: GraphStore, most: int) -> None:
    """Faults found by kind, and what is said of untouched items."""
    alarms = Counter(name for item in items for name in find(CheckedItem(item), context))
    planted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    named: dict[str, Counter[str]] = {kind: Counter() for kind in kinds()}
    for item in items:
        for fault in plant_faults(item, graph):
            if planted[fault.kind] >= most:
                continue
            planted[fault.kind] += 1
            checks = find_fault(fault, context)
            found[fault.kind] += bool(checks & set(fault.checks))
            named[fault.kind].update(checks & set(fault.checks))
    share = found.total() / planted.total()
    print(f"{planted.total():,} faults of {len(planted)} kinds in {len(items):,} items; found {share:.2%}")
    print(f"false alarms on the untouched items: {alarms.total()}")
    if alarms:
        print(f"  alarms: {dict(alarms)}")
    print("\n| kind | planted | found | by |\n|---|---:|---:|---|")
    for kind in sorted(planted, key=lambda one: (found[one] / planted[one], one)):
        checks = ", ".join(name for name, _ in named[kind].most_common())
        print(f"| {kind.replace('_', ' ')} | {planted[kind]} | {found[kind] / planted[kind]:.1%} | {checks} |")
    never = [kind for kind in kinds() if kind not in planted]
    if never:
        print(f"\nnot planted, for no item has a place for them: {', '.join(never)}")


def measure_cost(items: Sequence[Item], context: CheckContext) -> None:
    """CPU time of each check, in microseconds an item."""
    cases = [CheckedItem(item) for item in items]
    for case in cases:
        examine(case, context)  # what several checks share is worked out once, and not any one's cost
    costs = {check.name: min(clock(check, cases, context) for _ in range(ROUNDS)) for check in CHECKS}
    fresh = min(clock_all(items, context) for _ in range(ROUNDS))
    print("\n| check | µs an item |\n|---|---:|")
    for name, cost in sorted(costs.items(), key=lambda pair: -pair[1]):
        print(f"| {name} | {cost:.1f} |")
    print(f"| all, with what they share | {fresh:.0f} |")
    print(f"| near-duplicates (over the set) | {clock_near(items):.0f} |")
    print(f"| overlap (adding an item, with its sub-questions) | {clock_overlap(items):.0f} |")
    print(f"| scorecard | {clock_score(items):.0f} |")


def find(case: CheckedItem, context: CheckContext) -> set[str]:
    """The checks that hold something against an item."""
    return {one.check.name for one in examine(case, context) if one.findings and one.check.severity == "error"}


def find_fault(fault: Fault, context: CheckContext) -> set[str]:
    """The checks that hold something against a faulty row."""
    parsed = parse_row(fault.row)
    checks = {"schema"} if parsed.problems else set()
    if parsed.item is not None:
        checks |= find(CheckedItem(parsed.item, planned=parsed.planned), context)
    return checks


def clock(check, cases: Sequence[CheckedItem], context: CheckContext) -> float:
    """Microseconds an item of one check."""
    start = time.process_time()
    for case in cases:
        examine(case, context, (check,))
    return (time.process_time() - start) / len(cases) * 1e6


def clock_all(items: Sequence[Item], context: CheckContext) -> float:
    """Microseconds an item of all checks together, as synthesis runs them."""
    start = time.process_time()
    for item in items:
        examine(CheckedItem(item), context)
    return (time.process_time() - start) / len(items) * 1e6


def clock_near(items: Sequence[Item]) -> float:
    """Microseconds an item of the search for near duplicates."""
    finder = NearDuplicateFinder()
    start = time.process_time()
    for item in items:
        finder.add(item.question, item.id)
    return (time.process_time() - start) / len(items) * 1e6


def clock_overlap(items: Sequence[Item]) -> float:
    """Microseconds an item of the index that published questions are held against."""
    finder = OverlapFinder()
    start = time.process_time()
    for item in items:
        finder.add_item(item.id, item)
    return (time.process_time() - start) / len(items) * 1e6


def clock_score(items: Sequence[Item]) -> float:
    """Microseconds an item of the scorecard."""
    start = time.process_time()
    score(items)
    return (time.process_time() - start) / len(items) * 1e6


if __name__ == "__main__":
    main()
