"""How many distinct plans the shipped sample offers, each proven against the graph, and what they compute.

    python bench/plans.py [--plans 20000]

Every nameable entity is an anchor in turn, for each topology, until so many different plans are drawn.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from hopwright.graph.ingest import ingest
from hopwright.graph.store import GraphStore
from hopwright.records import Compute
from hopwright.synthesis.kinds import KindIndex
from hopwright.synthesis.planner import NoPlanError, Planner
from hopwright.synthesis.properties import default_table
from hopwright.synthesis.topologies import TOPOLOGIES

SAMPLE = Path(__file__).resolve().parents[1] / "data" / "sample"
NAMES = ("chain", "converging", "bridge")


def main() -> None:
    """Draw and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=20, help="passes over the entities, at most")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        ingest(SAMPLE, store)
        graph = GraphStore.open(store)
        planner = Planner(graph, default_table(), KindIndex(graph))
        moves = planner.moves
        anchors = [e for e in graph.entities() if moves.nameable(e) and (moves.lookups_from(e) or moves.measures(e))]
        random.Random(0).shuffle(anchors)
        seen: set[str] = set()
        topologies: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        answers: set[str] = set()
        draws = 0
        start = time.process_time()
        for number in range(options.rounds * len(anchors)):
            anchor = anchors[number % len(anchors)]
            for name in NAMES:
                draws += 1
                try:
                    plan = planner.draw(TOPOLOGIES[name], anchor, f"bench:{number}:{name}")
                except NoPlanError:
                    continue
                if plan.id not in seen:
                    seen.add(plan.id)
                    topologies[name] += 1
                    answers.add(str(plan.steps[-1].value))
                    kinds.update(s.derivation.kind for s in plan.steps if isinstance(s.derivation, Compute))
            if len(seen) >= options.plans:
                break
        seconds = time.process_time() - start
    print(f"{len(seen):,} distinct proven plans from {draws:,} draws, {len(answers):,} distinct final answers")
    print(f"{seconds:.0f} s of CPU, {len(seen) / seconds:.0f} plans/s; {len(anchors):,} anchors")
    print("topologies: " + ", ".join(f"{name} {count / len(seen):.1%}" for name, count in topologies.most_common()))
    print("computing hops: " + ", ".join(f"{kind} {count / kinds.total():.1%}" for kind, count in kinds.most_common()))


if __name__ == "__main__":
    main()
