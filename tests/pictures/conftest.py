from __future__ import annotations

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
