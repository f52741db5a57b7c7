from __future__ import annotations

import time

import pytest

from hopwright.knowledge.images.store import PictureStore
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.pictures.dataset import PictureSet, read_picture_set, write_picture_set
from hopwright.pictures.drafting import PictureDrafter
from hopwright.settings import PictureQuestionsParameters
from tests.pictures.painted import build_painted_store, open_drafter


@pytest.fixture(scope="session")
def source(sample: GraphStore, sample_kinds: KindIndex) -> WikidataSource:
    return WikidataSource(sample, kinds=sample_kinds)


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory, source: WikidataSource) -> PictureStore:
    return build_painted_store(tmp_path_factory.mktemp("pictures"), source)


@pytest.fixture(scope="session")
def drafter(store: PictureStore, source: WikidataSource) -> PictureDrafter:
    return open_drafter(store, source)


@pytest.fixture(scope="session")
def small_set(tmp_path_factory: pytest.TempPathFactory, drafter: PictureDrafter) -> PictureSet:
    """Sixty questions with their twins."""
    folder = tmp_path_factory.mktemp("sets") / "small"
    write_picture_set(drafter, folder, PictureQuestionsParameters(items=60), lambda _: None)
    return read_picture_set(folder)


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory, drafter: PictureDrafter) -> tuple[PictureSet, float]:
    """Five hundred questions, and the seconds of one core that they took."""
    begun = time.process_time()
    folder = tmp_path_factory.mktemp("large") / "set"
    write_picture_set(drafter, folder, PictureQuestionsParameters(preset="offline"), lambda _: None)
    return read_picture_set(folder), time.process_time() - begun
