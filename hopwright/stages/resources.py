"""What the shards of one worker process share: opened once, read-only, memory-mapped where it is large."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from hopwright.difficulty.shortcuts import shortcut_voters
from hopwright.difficulty.voters import Voter
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Anchor, Source
from hopwright.records.arrow import read_anchors
from hopwright.runs import RunFolder, Stage


@functools.lru_cache(maxsize=2)
def open_graph(store: Path) -> GraphStore:
    """The graph store of a run."""
    return GraphStore.open(store)


@functools.lru_cache(maxsize=1)
def open_solvers(store: Path, seed: int) -> tuple[Voter, ...]:
    """The shortcut solvers over a graph store."""
    return tuple(shortcut_voters(open_graph(store), default_table(), seed=seed))


@functools.lru_cache(maxsize=2)
def load_anchors(parts: tuple[Path, ...]) -> tuple[Anchor, ...]:
    """All anchors of a run, in order."""
    return tuple(anchor for part in parts for anchor in read_anchors(part))


def describe_source(graph: GraphStore) -> Source:
    """Where the facts of a store come from; the snapshot is a hash of the corpus files that it was made from."""
    hashes = ",".join(str(one["sha256"]) for one in graph.about["inputs"])
    return Source(name="Wikidata", licence="CC0-1.0", snapshot=hashlib.sha256(hashes.encode()).hexdigest()[:16])


def find_store(run: RunFolder) -> Path:
    """Where the graph store of a run lies, as its retrieve stage noted. Raises RunError before that stage ended."""
    return run.home / str(Stage(run, "retrieve").read().notes["store"])
