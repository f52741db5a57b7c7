from __future__ import annotations

from pathlib import Path

import pytest

from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.store import GraphStore
from tests.knowledge.wikidata.builders import SAMPLE, make_store


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> GraphStore:
    return make_store(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    ingest(SAMPLE, folder)
    return folder


@pytest.fixture(scope="session")
def sample(sample_folder: Path) -> GraphStore:
    return GraphStore.open(sample_folder)
