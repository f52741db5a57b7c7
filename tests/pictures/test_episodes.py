"""Agents that look pictures up: a scripted one finds every hop, over the tools and over both official SDKs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from hopwright.environments.picture_finder import PictureFinder
from hopwright.environments.tools import IMAGE_SEARCH, KINDS, PICTURE_TOOLS, TOOLS, carry_out
from hopwright.environments.verifier import verify
from hopwright.knowledge.images.rendering import encode_png
from hopwright.knowledge.images.searching import ImageSearcher
from hopwright.knowledge.images.store import PictureStore
from hopwright.llm.tool_calls import ToolCall
from hopwright.llm.types import ModelRef, Sampling
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.episodes import PictureWorld, make_picture_task, summarise_episodes
from hopwright.pictures.rows import list_media
from hopwright.records import Item
from tests.environments.worlds import LetterFinder
from tests.pictures.painted import paint


@pytest.fixture(scope="module")
def searcher(store: PictureStore) -> ImageSearcher:
    return ImageSearcher(store)


@pytest.fixture(scope="module")
def world(small_set: PictureSet, searcher: ImageSearcher) -> PictureWorld:
    return PictureWorld(small_set, searcher)


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall("c", name, json.dumps(arguments))


def look(world: PictureWorld, item: Item, *, pictures: bool = True):  # type: ignore[no-untyped-def]
    """An agent that looks every picture up, searches for every fact, and says what it finds."""
    episode, said = world.begin(item, max_steps=60), ""
    for number, hop in enumerate(item.hops, start=1):
        calls = []
        if hop.question_parts:
            calls = [call("image_search", image=number)] if pictures else [call("search", query="flag or outline")]
        for fact in (*hop.evidence.triplets, *hop.evidence.literals):
            calls.append(call("search", query=f"{fact.subject_label} {fact.property_label}", k=10))
        if calls:
            episode.take(said, calls)
            said = ""
        said += f" It is {hop.answer}."
    episode.take(f"{said}\nFINAL ANSWER: {item.answer}", [])
    assert episode.transcript is not None
    return episode.transcript


def test_every_hop_is_found_by_looking_pictures_up(world: PictureWorld, small_set: PictureSet) -> None:
    items = small_set.of_split("all")
    for item in items:
        judged = world.judge(item, "script", look(world, item), "infoseek")
        assert judged.right
        read = [hop for hop, of in zip(judged.verdict.hops, item.hops, strict=True) if of.question_parts]
        assert all(hop.found and hop.facts == 1 for hop in read)
    deepest = [verify(make_picture_task(item), look(world, item)).max_depth == len(item.hops) for item in items]
    assert sum(deepest) > 0.8 * len(items)


def test_whoever_does_not_look_finds_no_picture(world: PictureWorld, small_set: PictureSet) -> None:
    for item in small_set.of_split("all")[:12]:
        verdict = verify(make_picture_task(item), look(world, item, pictures=False))
        assert not any(hop.found for hop, of in zip(verdict.hops, item.hops, strict=True) if of.question_parts)
        assert verdict.max_depth == 0


def test_a_resized_picture_is_looked_up_and_a_strange_one_is_not(searcher: ImageSearcher, store: PictureStore) -> None:
    picture = store.usable[3]
    held = io.BytesIO()
    Image.open(io.BytesIO(store.read_png(picture.media))).resize((64, 48)).convert("RGB").save(held, "JPEG")
    grey = encode_png(Image.new("RGB", (40, 40), "white"))
    finder = PictureFinder(searcher, [held.getvalue(), grey], LetterFinder([]))
    first = carry_out(call("image_search", image=1), finder)
    assert first.passages[0].title == picture.label
    assert "the same picture" in first.text
    assert carry_out(call("image_search", image=2), finder).text == "No picture like it is known."
    beyond = carry_out(call("image_search", image=3), finder)
    assert "2 pictures" in beyond.problem


def test_agents_without_pictures_are_not_told_of_the_tool() -> None:
    assert IMAGE_SEARCH.name in KINDS
    assert IMAGE_SEARCH not in TOOLS
    assert PICTURE_TOOLS[0] is IMAGE_SEARCH
    refused = carry_out(call("image_search", image=1), LetterFinder(["one"]))
    assert refused.problem == "there is no tool 'image_search'; the tools are search, read"


def test_vectors_of_another_model_are_looked_up_exactly(store: PictureStore, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(len(store.usable), 12)).astype(np.float32)
    vectors[5] = vectors[9] * 2
    np.save(tmp_path / "vectors.npy", vectors)
    (tmp_path / "media.txt").write_text("\n".join(one.media for one in store.usable))
    finder = PictureFinder(ImageSearcher(store, tmp_path), [store.read_png(store.usable[5].media)], LetterFinder([]))
    assert {one.document for one in finder.look_up(1, 2)} == {store.usable[5].document, store.usable[9].document}
    # A picture without a vector is compared by its looks.
    strange = PictureFinder(ImageSearcher(store, tmp_path), [encode_png(paint("Q1", "flag"))], LetterFinder([]))
    assert len(strange.look_up(1, 3)) <= 3


def test_the_first_request_shows_the_pictures_and_the_tools(world: PictureWorld, small_set: PictureSet) -> None:
    item = small_set.of_split("all")[0]
    request = world.ask(item, ModelRef("local", "tiny"), Sampling(max_tokens=64, temperature=0))
    assert request.tools == PICTURE_TOOLS
    assert [one.data for one in request.messages[-1].images] == [small_set.read_png(one) for one in list_media(item)]
    assert item.answer not in request.messages[-1].content


def test_episodes_are_summed_up(world: PictureWorld, small_set: PictureSet) -> None:
    items = small_set.of_split("test")
    (row,) = summarise_episodes([world.judge(one, "script", look(world, one), "infoseek") for one in items])
    assert (row["episodes"], row["right"], row["accuracy"]) == (len(items), len(items), 1.0)
    assert row["calls"]["image_search"] == sum(len(list_media(one)) for one in items)
