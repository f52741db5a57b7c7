"""What plans a graph offers: how many a second, how varied, and how near to the targets they come.

    python bench/plans.py [--slots 2000] [--seed 0] [--store FOLDER] [--copies 110]

Without a store the shipped sample is ingested; its anchors are used, and with another store none. `--copies 110` makes
a graph of Wikidata5M's size of it (some GB of disk, and minutes). Printed are the time to open the planner and to
calibrate it, plans a second, memory, the shares of properties, themes, entities and answers, the domains, and every
target with the share that was reached and where planning failed.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from multiplied import multiply

from hopwright.knowledge.wikidata.anchors import link_anchors, read_anchor_questions
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.plan import properties_of
from hopwright.planning.plan_sampler import PlanSampler
from hopwright.planning.planner import NoPlanError, Planner
from hopwright.planning.target_counter import TargetCounter, read_targets
from hopwright.planning.target_distribution import TargetDistribution
from hopwright.records import Anchor, Rejected

SAMPLE = Path(__file__).resolve().parents[1] / "data" / "sample"
MIX = TargetDistribution({"chain": 1.0, "converging": 1.0, "bridge": 1.0})


def main() -> None:
    """Draw and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--copies", type=int, default=1, help="the sample so many times over")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = options.store
        if store is None:
            store = Path(folder) / "store"
            corpus = SAMPLE
            if options.copies > 1:
                corpus = Path(folder) / "corpus"
                print(f"{multiply(SAMPLE, corpus, options.copies):,} triplets in {options.copies} copies of the sample")
            ingest(corpus, store)
        graph = GraphStore.open(store)
        anchors: list[Anchor] = []
        if options.store is None:
            questions = read_anchor_questions(SAMPLE / "anchors.jsonl")
            anchors, _ = link_anchors([one for one in questions if not isinstance(one, Rejected)], graph)
        draw_all(graph, anchors, options.slots, options.seed)


def draw_all(graph: GraphStore, anchors: list[Anchor], slots: int, seed: int) -> None:
    """Fill the slots and print what came of it."""
    table = default_table()
    start = time.process_time()
    planner = Planner(WikidataSource(graph, table))
    drawer = PlanSampler(planner, MIX, seed, graph)
    opened = time.process_time() - start
    start = time.process_time()
    seen: set[str] = set()
    figures: dict[str, Counter[str]] = {
        name: Counter() for name in ("property", "theme", "answer", "domain", "domains")
    }
    ledger = TargetCounter(drawer)
    calibrated = 0.0
    for slot in range(slots):
        try:
            drawn = drawer.draw(anchors, slot)
        except NoPlanError as error:
            ledger.note_failure(error)
            continue
        finally:
            if not slot:
                calibrated, start = time.process_time() - start, time.process_time()
        ledger.note(drawn)
        seen.add(drawn.plan.id)
        rulings = planner.domains.of_steps(drawn.plan.steps)
        figures["property"].update(f"{name} {table.label(name)}" for name in properties_of(drawn.plan))
        figures["theme"].update(drawer.themes(drawn.plan))
        figures["answer"][str(drawn.plan.steps[-1].value)] += 1
        figures["domain"].update(ruling.domain.value for ruling in rulings)
        figures["domains"][str(len({ruling.domain for ruling in rulings}))] += 1
    seconds = time.process_time() - start
    print(f"opened in {opened:.1f} s, calibrated in {calibrated:.1f} s; {read_private():.0f} MiB of memory of its own")
    print(f"{len(seen):,} distinct proven plans of {slots:,} slots: {len(seen) / seconds:.0f} plans/s of CPU")
    for name in ("property", "theme", "answer"):
        top = ", ".join(f"{one} {count / max(len(seen), 1):.1%}" for one, count in figures[name].most_common(8))
        print(f"{name}: {len(figures[name]):,} different; most often {top}")
    hops = figures["domain"].total() or 1
    print("domains of hops: " + ", ".join(f"{name} {n / hops:.1%}" for name, n in figures["domain"].most_common()))
    mean = sum(int(number) * count for number, count in figures["domains"].items()) / max(len(seen), 1)
    print(f"domains per plan: {mean:.2f}; {dict(sorted(figures['domains'].items()))}")
    for target in read_targets(ledger.take(), MIX):
        print(f"  {target}")


def read_private() -> float:
    """Memory of this process that is no file's, in MiB."""
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("RssAnon"))) / 1024


if __name__ == "__main__":
    main()
