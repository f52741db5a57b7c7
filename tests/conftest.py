"""Fixtures over the shipped sample: ingested once a test process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning import plan_sampler

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "data" / "sample"

# How long one example takes says more about the machine than about the code.
settings.register_profile("hopwright", deadline=None)
settings.load_profile("hopwright")


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the graph of the shipped sample lies."""
    folder = tmp_path_factory.mktemp("store") / "sample"
    ingest(SAMPLE, folder)
    return folder


@pytest.fixture(scope="session")
def sample(sample_folder: Path) -> GraphStore:
    """The graph of the shipped sample."""
    return GraphStore.open(sample_folder)


@pytest.fixture(scope="module", autouse=True)
def few_pilots(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hardly any pilot plans: drawing them takes a planner seconds, and only shares of whole sets rest on them.

    A module that is about those shares says `DRAWS_PILOTS = True`.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not getattr(request.module, "DRAWS_PILOTS", False):
            patch.setattr(plan_sampler, "_PILOTS", 6)
        yield


@pytest.fixture(scope="session")
def sample_kinds(sample: GraphStore) -> KindIndex:
    """What the entities of the sample are in plain English."""
    return KindIndex(sample)
