"""Exact search: a picture is found again, however it was resized and encoded, and vectors of others are taken."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFilter

from hopwright.errors import InputError
from hopwright.knowledge.images.rendering import decode_png
from hopwright.knowledge.images.searching import ImageSearcher, describe_found
from hopwright.knowledge.images.store import PictureStore
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from tests.pictures.painted import build_painted_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, sample: GraphStore, sample_kinds: KindIndex) -> PictureStore:
    return build_painted_store(tmp_path_factory.mktemp("searched"), WikidataSource(sample, kinds=sample_kinds))


@pytest.fixture(scope="module")
def searcher(store: PictureStore) -> ImageSearcher:
    return ImageSearcher(store)


@settings(max_examples=40)
@given(
    place=st.integers(min_value=0),
    width=st.integers(min_value=48, max_value=400),
    quality=st.integers(min_value=50, max_value=95),
    blur=st.floats(min_value=0, max_value=1),
)
def test_a_picture_is_found_again(
    store: PictureStore, searcher: ImageSearcher, place: int, width: int, quality: int, blur: float
) -> None:
    picture = store.usable[place % len(store.usable)]
    image = (
        decode_png(store.read_png(picture.media)).resize((width, width * 2 // 3)).filter(ImageFilter.GaussianBlur(blur))
    )
    held = io.BytesIO()
    image.save(held, "JPEG", quality=quality)
    found = searcher.search(held.getvalue(), most=3)
    assert found[0].picture.media == picture.media
    assert [one.distance for one in found] == sorted(one.distance for one in found)
    assert picture.label in describe_found(found[:1])


def test_what_is_like_nothing_is_said_to_be_so(searcher: ImageSearcher) -> None:
    held = io.BytesIO()
    Image.new("RGB", (60, 40), "#808080").save(held, "PNG")
    assert not searcher.search(held.getvalue())[0].sure
    with pytest.raises(InputError, match="not a picture"):
        searcher.search(b"nothing")


def test_vectors_of_a_model_are_searched_exactly(store: PictureStore, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(len(store.usable), 32)).astype(np.float32)
    np.save(tmp_path / "vectors.npy", table)
    (tmp_path / "media.txt").write_text("\n".join(one.media for one in store.usable))
    searcher = ImageSearcher(store, tmp_path)
    query = rng.normal(size=32)
    cosines = [float(row @ query / np.linalg.norm(row) / np.linalg.norm(query)) for row in table]
    best = sorted(range(len(cosines)), key=lambda place: -cosines[place])[:5]
    found = searcher.search_by_vector(list(query), most=5)
    assert [one.picture.media for one in found] == [store.usable[place].media for place in best]
    with pytest.raises(InputError, match="32 finite numbers"):
        searcher.search_by_vector([1.0, 2.0])
    (tmp_path / "media.txt").write_text("\n".join(one.media for one in store.usable[1:]))
    with pytest.raises(InputError, match="one row"):
        ImageSearcher(store, tmp_path)
