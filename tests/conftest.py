"""Fixtures over the shipped sample: ingested once a test process."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopwright.graph.ingest import ingest
from hopwright.graph.store import GraphStore

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "data" / "sample"


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory) -> GraphStore:
    """The graph of the shipped sample."""
    folder = tmp_path_factory.mktemp("store") / "sample"
    ingest(SAMPLE, folder)
    return GraphStore.open(folder)
