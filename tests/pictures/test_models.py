"""Models that see the pictures: a writer whose words are checked, voters that drop what is easy, agents with tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hopwright.errors import InputError
from hopwright.knowledge.images.searching import ImageSearcher
from hopwright.knowledge.images.store import PictureStore
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef
from hopwright.pictures.audit import audit_pictures
from hopwright.pictures.dataset import PictureSet, read_picture_set, save_picture_set
from hopwright.pictures.drafting import PictureDrafter
from hopwright.pictures.drawing import PictureCounts
from hopwright.pictures.episodes import PictureWorld, evaluate_agents
from hopwright.pictures.filtering import filter_pictures
from hopwright.pictures.rewording import find_wording_problem, reword_pictures
from hopwright.pictures.rows import list_media, read_text
from hopwright.records import Item
from hopwright.settings import PicturesEvaluateParameters, PicturesFilterParameters
from tests.e2e.serving import serving
from tests.llm.builders import settings
from tests.llm.conftest import planted_key as planted_key
from tests.pictures.test_evaluation import Looker
from tests.pictures.vision_server import VisionServer

KINDS = ["compatible", "openai", "anthropic"]
MODEL = ModelRef("local", "tiny")


@contextmanager
def ask(server: VisionServer, folder: Path, kind: str = "compatible") -> Iterator[tuple[VisionServer, Session]]:
    """A server and a session that asks it."""
    with serving(server), Session(settings(server, kind=kind), folder / "llm.sqlite") as session:
        yield server, session


class HalfBlind:
    """Knows what goes with some pictures, and of the others only what is wrong."""

    def __init__(self, looker: Looker, seen: set[tuple[str, ...]]) -> None:
        self._looker = looker
        self._seen = seen

    def __call__(self, text: str, pictures: tuple[str, ...]) -> str:
        right = self._looker(text, pictures)
        if pictures in self._seen:
            return right
        return ("B" if right == "A" else "A") if "\nB. " in text else "nothing of the kind"


class Scribe:
    """Words every question it sees anew; of some it gives the answer away, of a few again and again."""

    def __init__(self, found: PictureSet) -> None:
        self.items = {(read_text(item.question_parts), list_media(item)): item for item, _ in found.items}
        self.numbers = {key: number for number, key in enumerate(sorted(self.items))}

    def __call__(self, text: str, pictures: tuple[str, ...]) -> str:
        question = text.split("The question: ")[1].split("\n")[0].strip()
        item = self.items[question, pictures]
        worded = f"Look closely. {question}"
        number = self.numbers[question, pictures]
        if number % 5 == 0 or (number % 3 == 0 and "was refused" not in text):
            worded = f"It shows {item.hops[0].answer}. {question}"
        return json.dumps({"question": worded})


@pytest.mark.parametrize("kind", KINDS)
def test_a_writer_sees_the_pictures_and_its_words_are_checked(
    tmp_path: Path, small_set: PictureSet, store: PictureStore, drafter: PictureDrafter, kind: str
) -> None:
    scribe = Scribe(small_set)
    with ask(VisionServer(scribe), tmp_path, kind) as (server, session):
        made = reword_pictures(small_set, MODEL, session)
    assert set(server.looked) == {list_media(item) for item, _ in small_set.items}
    worded = [item for item in made.items if item.provenance.generator == "model"]
    fewest = sum(number % 5 != 0 for number in scribe.numbers.values())
    assert len(worded) == made.counts["worded"] == fewest
    assert all(read_text(item.question_parts).startswith("Look closely. ") for item in worded)
    assert all(item.provenance.prompt == "word-picture" and item.provenance.request_keys for item in worded)
    refused = sum(number for name, number in made.counts.items() if name.startswith("kept: it names "))
    assert refused == len(made.items) - len(worded)
    # Twins have the words of their originals, and the set still holds.
    save_picture_set(
        tmp_path / "set", store, made.items, {item.id: split for item, split in small_set.items}, made.twins,
        PictureCounts(),
    )  # fmt: skip
    assert audit_pictures(read_picture_set(tmp_path / "set"), drafter, lambda _: None).violations == ()


def _find(found: PictureSet, words: str) -> Item:
    return next(item for item, _ in found.items if words in read_text(item.question_parts))


def test_what_a_wording_gets_wrong_is_said(small_set: PictureSet) -> None:
    item = _find(small_set, "most populous")
    question = read_text(item.question_parts)
    assert find_wording_problem(question, item) == ""
    wrong = {
        question.replace("most populous", "least populous"): "its direction",
        question.replace("most populous", "largest"): "its subject",
        f"{question} Is it?": "it is not one question",
        question.rstrip("?"): "it is not one question",
        f"It is {item.hops[0].answer}. {question}": "it names",
        f"Think of Xanadu, or of Xanadu. {question}": "it names Xanadu",
        f"{question[:-1]}, in 1960?": "it states a number",
        " ".join(["Look."] * 40) + f" {question}": "it has more than 40 words",
    }
    for text, said in wrong.items():
        assert find_wording_problem(text, item).startswith(said), text


@pytest.mark.parametrize("kind", KINDS)
def test_voters_see_the_pictures_and_what_is_easy_is_dropped(tmp_path: Path, small_set: PictureSet, kind: str) -> None:
    parameters = PicturesFilterParameters(voters=["local/tiny", "local/other"], max_right=1)
    with ask(VisionServer(Looker(small_set)), tmp_path, kind) as (server, session):
        lenient = parameters.model_copy(update={"max_right": 2})
        with pytest.raises(InputError, match="max_right"):
            filter_pictures(small_set, lenient, session.complete_all, lambda _: None)
        made = filter_pictures(small_set, parameters, session.complete_all, lambda _: None)
    # Whoever looks knows everything: all of it is too easy.
    assert made.counts == {"in": len(small_set.items), "kept": 0, "dropped": len(small_set.items), "held": 0}
    assert set(made.rights.values()) == {1.0}
    assert set(server.looked) == {list_media(item) for item, _ in small_set.items}


def test_what_voters_get_wrong_is_kept_with_their_votes(tmp_path: Path, small_set: PictureSet) -> None:
    half = {list_media(item) for item, _ in small_set.items[::2]}
    with ask(VisionServer(HalfBlind(Looker(small_set), half)), tmp_path) as (_, session):
        parameters = PicturesFilterParameters(voters=["local/tiny"], max_right=0)
        made = filter_pictures(small_set, parameters, session.complete_all, lambda _: None)
    assert made.counts["in"] == made.counts["kept"] + made.counts["dropped"] + made.counts["held"]
    assert made.counts["dropped"] == sum(list_media(item) in half for item, _ in small_set.items)
    assert all(list_media(item) not in half for item in made.items)
    assert all(item.votes and not item.votes[0].right for item in made.items if item.options)
    assert set(made.splits) == {item.id for item in made.items}
    assert {twin.twin for twin in made.twins} <= set(made.splits)


def test_agents_are_asked_with_their_tools(tmp_path: Path, small_set: PictureSet, store: PictureStore) -> None:
    looker = Looker(small_set)
    world = PictureWorld(small_set, ImageSearcher(store))
    parameters = PicturesEvaluateParameters(models=["local/tiny"], split="test", tools=True)
    agent = VisionServer(lambda text, pictures: f"FINAL ANSWER: {looker(text, pictures)}")
    with ask(agent, tmp_path) as (server, session):
        report = evaluate_agents(world, small_set, parameters, session, lambda _: None)
    (row,) = report["rows"]
    assert row["accuracy"] == 1.0
    assert row["hops_found"] == 0.0, "it answered at once: nothing was looked up"
    assert server.bodies[-1]["tools"][0]["function"]["name"] == "image_search"
