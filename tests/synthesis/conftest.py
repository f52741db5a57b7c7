"""The project's own sample as a graph store, made once a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopwright.graph.ingest import ingest
from hopwright.graph.store import GraphStore
from hopwright.synthesis.kinds import KindIndex

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> GraphStore:
    if not SAMPLE.is_dir():
        pytest.skip("the sample is not in data/sample")
    store = tmp_path_factory.mktemp("sample-store")
    ingest(SAMPLE, store)
    return GraphStore.open(store)


@pytest.fixture(scope="session")
def sample_kinds(sample: GraphStore) -> KindIndex:
    return KindIndex(sample)
