from __future__ import annotations

import pytest

from hopwright.knowledge.wikidata.store import GraphStore
from tests.knowledge.wikidata.builders import make_store


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> GraphStore:
    return make_store(tmp_path_factory.mktemp("world"))
