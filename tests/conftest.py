"""Fixtures over the shipped sample: ingested once for all test processes of a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning import plan_sampler
from tests.drafts import share_drafts
from tests.pilots import FEW
from tests.shared import locked, share_folder

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "data" / "sample"

# How long one example takes says more about the machine than about the code.
settings.register_profile("hopwright", deadline=None)
settings.load_profile("hopwright")


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the graph of the shipped sample lies. Not to be changed."""
    shared = share_folder(tmp_path_factory) / "store"
    shared.mkdir(exist_ok=True)
    with locked(shared / "lock"):
        if not (shared / "made").exists():
            ingest(SAMPLE, shared / "sample")
            (shared / "made").touch()
    return shared / "sample"


@pytest.fixture(scope="session")
def sample(sample_folder: Path) -> GraphStore:
    """The graph of the shipped sample."""
    graph = GraphStore.open(sample_folder)
    share_drafts(graph, sample_folder.parent)
    return graph


@pytest.fixture(scope="module", autouse=True)
def few_pilots(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hardly any pilot plans; a module that is about the shares that rest on them says `DRAWS_PILOTS = True`."""
    with pytest.MonkeyPatch.context() as patch:
        if not getattr(request.module, "DRAWS_PILOTS", False):
            patch.setattr(plan_sampler, "_PILOTS", FEW)
        yield


@pytest.fixture(scope="session")
def sample_kinds(sample: GraphStore) -> KindIndex:
    """What the entities of the sample are in plain English."""
    return KindIndex(sample)
