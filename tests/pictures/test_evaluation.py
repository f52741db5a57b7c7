"""Models that see pictures, over both official SDKs: right, without and with wrong pictures; what is sent is kept."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from hopwright.llm.client import Client
from hopwright.llm.store import Store
from hopwright.llm.transcripts import find_exchanges, render_transcript
from hopwright.llm.types import ImageData, Message, Outcome, Request, Sampling, key_of
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.evaluation import choose_media, evaluate_pictures, list_queries
from hopwright.pictures.rows import list_media, read_text
from hopwright.settings import PicturesEvaluateParameters
from tests.llm.builders import ask_all, run, settings
from tests.llm.conftest import planted_key as planted_key
from tests.pictures.vision_server import VisionServer

KINDS = ["compatible", "openai", "anthropic"]


class Looker:
    """Knows every question of a set by its words and its pictures; without them it says one thing."""

    def __init__(self, found: PictureSet) -> None:
        self._answers = {}
        for item in (*(item for item, _ in found.items), *found.twins):
            self._answers[read_text(item.question_parts), list_media(item)] = item
            for hop in item.hops:
                key = (read_text(hop.question_parts) or hop.question, list_media(item)[hop.index - 1 : hop.index])
                self._answers[key[0], key[1] if hop.question_parts else ()] = hop

    def __call__(self, text: str, pictures: tuple[str, ...]) -> str:
        question = text.split("Question: ")[1].split("\n")[0].strip()
        known = self._answers.get((question, pictures))
        if known is None:
            return "A" if "\nB. " in text else "I cannot tell"
        # The same hop stands in several items, each with its options in another order.
        return next((line[0] for line in text.splitlines() if line[1:] == f". {known.answer}"), known.answer)


def evaluate(folder: Path, found: PictureSet, kind: str, **fields: object) -> tuple[dict[str, object], VisionServer]:
    """What evaluating gives over one wire format."""
    parameters = PicturesEvaluateParameters.model_validate({"models": ["local/tiny"], "split": "all", **fields})

    async def check() -> tuple[dict[str, object], VisionServer]:
        async with VisionServer(Looker(found)) as server:
            with Store(folder / "llm.sqlite") as store:
                async with Client(settings(server, kind=kind), store) as client:
                    queries = list(list_queries(found, found.of_split("all"), parameters))
                    outcomes = await client.complete_all([query.request for query in queries])
                    report = evaluate_pictures(found, parameters, _give(outcomes), lambda _: None)
                    return report, server

    return run(check())


def _give(outcomes: list[Outcome]):  # type: ignore[no-untyped-def]
    def complete(requests: Iterable[Request]) -> list[Outcome]:
        assert len(list(requests)) == len(outcomes)
        return outcomes

    return complete


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_decide_over_both_formats(tmp_path: Path, small_set: PictureSet, kind: str) -> None:
    report, server = evaluate(tmp_path, small_set, kind)
    shares = {(row["shown"], row["questions"]): row for row in report["rows"]}  # type: ignore[attr-defined]
    assert shares["right", "all"]["accuracy"] == 1.0
    assert shares["none", "all"]["accuracy"] == 0.0
    assert shares["wrong", "all"]["accuracy"] < 0.1
    assert shares["right", "bridging"]["asked"] + shares["right", "comparison"]["asked"] == len(small_set.items)
    sent = {pictures for pictures in server.looked if pictures}
    assert {list_media(item) for item, _ in small_set.items} <= sent


def test_steps_and_options_are_asked_with_their_own_pictures(tmp_path: Path, small_set: PictureSet) -> None:
    report, _ = evaluate(tmp_path, small_set, "compatible", options=True, steps=True, shown=["right", "none"])
    shares = {(row["shown"], row["questions"]): row for row in report["rows"]}  # type: ignore[attr-defined]
    assert shares["right", "all"]["accuracy"] == 1.0
    # A hop that asks what a picture shows cannot be answered without it; the later hops name what they ask about.
    assert shares["right", "hop 1"]["accuracy"] == 1.0
    assert shares["none", "hop 1"]["accuracy"] < 0.5
    assert ("none", "hop 3") not in shares


def test_wrong_pictures_show_other_things_of_the_same_kind(small_set: PictureSet) -> None:
    for item, _ in small_set.items:
        right, wrong = list_media(item), choose_media(item, "wrong", small_set)
        assert len(right) == len(wrong)
        assert choose_media(item, "wrong", small_set) == wrong
        kinds = [[small_set.pictures[media]["kind"] for media in group] for group in (right, wrong)]
        assert kinds[0] == kinds[1]
        entities = [{small_set.pictures[media]["entity"] for media in group} for group in (right, wrong)]
        assert not entities[0] & entities[1]


def test_a_picture_is_part_of_the_key_and_of_the_transcript(tmp_path: Path) -> None:
    one, other = ImageData(b"\x89PNG one"), ImageData(b"\x89PNG other")
    asked = [
        Request((Message("user", "Question: what?", images=images),), "local", "tiny", sampling=Sampling(), item="i")
        for images in ((one,), (other,), (), (one, other), (other, one))
    ]
    assert len({key_of(request) for request in asked}) == len(asked)

    async def check() -> str:
        async with VisionServer(lambda text, pictures: f"{len(pictures)} seen") as server:
            outcomes, _ = await ask_all(tmp_path, settings(server), asked)
            assert [outcome.text for outcome in outcomes if outcome.ok] == [
                "1 seen",
                "1 seen",
                "0 seen",
                "2 seen",
                "2 seen",
            ]
            again, client = await ask_all(tmp_path, settings(server), asked)
            assert client.progress.counts["sent"] == 0
            assert [one.text for one in again if one.ok] == [one.text for one in outcomes if one.ok]
        with Store(tmp_path / "llm.sqlite") as store:
            return render_transcript(find_exchanges(store, "i"))

    assert f"[image {one.digest}]" in run(check())
