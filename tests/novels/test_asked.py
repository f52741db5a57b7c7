"""Chains that a model words and answers, with a model that is a server: spans, names, repairs, proofs, twins."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from hopwright.errors import InputError
from hopwright.knowledge.books.mentions import build_graph
from hopwright.knowledge.books.reading import BookNotes, parse_book
from hopwright.knowledge.books.windows import Window
from hopwright.llm.session import Session
from hopwright.novels import drafting
from hopwright.novels.audit import audit_novels
from hopwright.novels.book_names import describe_book
from hopwright.novels.counting import WindowCounter
from hopwright.novels.dataset import BookTexts, NovelSet, read_novel_set, write_asked_set
from hopwright.novels.drafting import ModelWords, NovelDrafter
from hopwright.novels.records import Stretch
from hopwright.novels.shelf import add_book, open_books, read_novel
from hopwright.planning.mention_chains import ProvenChain
from hopwright.records import Provenance
from hopwright.settings import NovelAskParameters
from hopwright.wording.rules.mention_wording import WordedChain
from tests.llm.builders import run, settings
from tests.llm.wire_server import WireServer
from tests.novels.story import PEOPLE, PLACES, tell_story

PARAMETERS: dict[str, Any] = {"model": "local/tiny", "items": 3, "lengths": ["4k", "8k"]}
_THINGS = ("the bridge", "the missing ledger", "the servants", "the window", "the orchard")


class ChainWriter(WireServer):
    """Writes questions that hold the names; `fault` says what it does wrong, and `stubborn` whether again."""

    def __init__(self, fault: str = "", *, stubborn: bool = False, missed: str = "") -> None:
        super().__init__()
        self._fault = fault
        self._stubborn = stubborn
        self._missed = missed
        self._answers: dict[str, str] = {}
        self.asked: list[str] = []

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        first, last = body["messages"][0]["content"], body["messages"][-1]["content"]
        answer = reply({**body, "tools": None}, prompt, "")
        said = self._read(last) if "The excerpt:" in first else self._write(last)
        answer["choices"][0]["message"] = {"role": "assistant", "content": said}
        return web.json_response(answer)

    def _read(self, turn: str) -> str:
        question = turn.partition("Question: ")[2].strip()
        return "nobody" if self._missed and self._missed in question else self._answers[question]

    def _write(self, turn: str) -> str:
        self.asked.append(turn)
        fault = self._fault if self._stubborn or "An attempt before was refused" not in turn else ""
        hops, clues = [], []
        for part in re.split(r"Paragraph \d+:\n", turn)[1:]:
            text, _, rest = part.partition("\n\nNames that question")
            names = rest.split(" holds: ", 1)[1].split("\n")[0].split("; ")
            before = re.search(r"over all paragraphs does not hold (.+), and describes", rest)
            clues += [name for name in names if before is None or name != before[1]]
            known = re.search(r"Answer \d+: (?!choose it)(.+?)(?:, here called .*)?\n", rest)
            answer = known[1] if known else self._choose(" ".join(text.split()), names)
            hops.append({"question": f"What of {' and '.join(names)} is it, then?", "answer": answer})
        question = f"What of {' and '.join(clues)} is it, in the end?"
        if len(hops) == 1:
            question = hops[0]["question"]
        if fault == "span":
            hops[-1]["answer"] = "a word that nobody wrote"
        elif fault == "answer":
            hops[0]["answer"] = "Somebody Else"
        elif fault == "leak":
            question = question.replace("?", f" {hops[-1]['answer']}?")
            hops[-1]["question"] = hops[-1]["question"].replace("?", f" {hops[-1]['answer']}?")
        elif fault == "name":
            stranger = next(one for one in PEOPLE if one not in turn)
            hops[0]["question"] = hops[0]["question"].replace("?", f" with {stranger}?")
        elif fault == "missing":
            hops[-1]["question"] = "What is it that is asked here?"
        elif fault == "few":
            hops = hops[:-1]
        elif fault == "objects":
            return json.dumps({"hops": [], "question": "", "objection": "nothing happens there"})
        self._answers[question] = hops[-1]["answer"] if hops else ""
        return json.dumps({"hops": hops, "question": question})

    def _choose(self, text: str, names: list[str]) -> str:
        free = [one for one in (*PEOPLE, *PLACES, *_THINGS) if re.search(rf"(?<!\w){one}(?!\w)", text)]
        return next(one for one in free if not any(one in name or name in one for name in names))


def make(
    folder: Path, shelf: Path, server: ChainWriter, **fields: Any
) -> tuple[NovelSet, dict[str, Any]]:
    parameters = NovelAskParameters.model_validate({**PARAMETERS, **fields})

    async def check() -> tuple[NovelSet, dict[str, Any]]:
        async with server:
            with Session(settings(server), folder / "llm.sqlite") as session:
                counts = await asyncio.to_thread(
                    write_asked_set, open_books(shelf, ["ledger"]), folder / "set", parameters, session, lambda _: None,
                    replace=True,
                )  # fmt: skip
        return read_novel_set(folder / "set"), {id: one.to_dict() for id, one in counts.items()}

    return run(check())


def test_a_model_words_chains_that_are_proven(tmp_path: Path, shelf: Path) -> None:
    server = ChainWriter()
    found, counts = make(tmp_path, shelf, server)
    (held,) = counts.values()
    assert [held["made"][f"{hops} hops, chains"] for hops in (1, 2, 3, 4)] == [3, 3, 3, 3]
    texts = BookTexts(found, shelf)
    assert audit_novels(found, texts, lambda _: None).violations == ()
    assert found.twins
    for item in found.everything:
        before = None
        for hop in item.hops:
            (place,) = hop.paragraphs
            shown = " ".join(texts.show(item.window.book, place.start, place.end).split())
            said = " ".join(texts.show(item.window.book, hop.derivation.start, hop.derivation.end).split())  # type: ignore[union-attr]
            assert said in shown
            assert said in (hop.answer, *hop.answer_aliases)
            # The answer before is a keyword of this hop, and stands in its paragraph.
            assert before is None or (before in hop.question and before in shown)
            before = hop.answer
        assert item.provenance.generator == "model"
        assert item.provenance.prompt == "ask-chain"
    for twin in found.twins:
        original = next(item for item in found.items if item.id == twin.twin)
        assert twin.answer != original.answer
        assert twin.question != original.question


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("span", "letter for letter"), ("answer", "answer 1 is not"), ("leak", "holds the answer"),
        ("name", "which is none of its names"), ("missing", "does not hold"), ("few", "one question for each"),
        ("objects", "no good question"),
    ],
)  # fmt: skip
def test_what_is_wrong_goes_back_once(tmp_path: Path, shelf: Path, fault: str, said: str) -> None:
    server = ChainWriter(fault)
    found, counts = make(tmp_path, shelf, server, hops=["2"], items=2, twins=False)
    (held,) = counts.values()
    assert held["made"]["2 hops, chains"] == 2
    assert len(server.asked) == 4
    assert sum(said in turn.partition("An attempt before was refused")[2] for turn in server.asked) == 2
    assert {len(item.provenance.request_keys) for item in found.items} == {2}


def test_what_stays_wrong_is_left_out_and_counted(tmp_path: Path, shelf: Path) -> None:
    with pytest.raises(InputError, match=r"letter for letter \(2\)"):
        make(tmp_path, shelf, ChainWriter("span", stubborn=True), hops=["3"], items=2)


def test_a_second_run_pays_nothing(tmp_path: Path, shelf: Path) -> None:
    first, _ = make(tmp_path, shelf, ChainWriter(), hops=["2"])
    again = ChainWriter()
    second, _ = make(tmp_path, shelf, again, hops=["2"])
    assert again.asked == []
    assert first.items == second.items


def test_a_filter_leaves_out_what_it_misses(tmp_path: Path, shelf: Path) -> None:
    whole, _ = make(tmp_path, shelf, ChainWriter(), hops=["1"], twins=False)
    missed = whole.items[0].question
    found, counts = make(
        tmp_path / "f", shelf, ChainWriter(missed=missed), hops=["1"], twins=False, filters=["local/reader"]
    )
    (held,) = counts.values()
    assert held["left_out"]["golden context: missed by local/reader"] == len(whole.items) - len(found.items) > 0
    assert missed not in {item.question for item in found.items}


@pytest.mark.parametrize("fault", ["name", "answer", "span", "paragraph", "clue"])
def test_the_audit_finds_what_is_planted_in_a_models_chain(tmp_path: Path, shelf: Path, fault: str) -> None:
    found, _ = make(tmp_path, shelf, ChainWriter(), hops=["2"], items=2, twins=False)
    item = found.items[0]
    first, last = item.hops
    if fault == "name":
        stranger = next(one for one in PEOPLE if all(one not in hop.question + hop.answer for hop in item.hops))
        broken = item.model_copy(update={"question": item.question.replace("?", f" with {stranger}?")})
    elif fault == "answer":
        broken = item.model_copy(update={"question": item.question.replace("?", f" {item.answer}?")})
    elif fault == "span":
        broken = item.model_copy(update={"answer": "nothing", "hops": (first, last.model_copy(
            update={"answer": "nothing", "answer_aliases": (), "entity": None})), "answer_aliases": ()})  # fmt: skip
    elif fault == "paragraph":
        broken = item.model_copy(update={"hops": (first.model_copy(update={"paragraphs": last.paragraphs}), last)})
    else:
        broken = item.model_copy(update={"hops": (first.model_copy(update={"clues": first.clues[:1]}), last)})
    report = audit_novels(replace(found, items=(broken,)), BookTexts(found, shelf), lambda _: None)
    assert {one.check for one in report.violations} & {"words", "spans", "proofs"}


def test_the_card_says_who_worded_and_what_is_not_proven(tmp_path: Path, shelf: Path) -> None:
    found, _ = make(tmp_path, shelf, ChainWriter(), hops=["1"], items=1, twins=False)
    card = (found.folder / "README.md").read_text("utf-8")
    assert "tiny worded the questions" in card
    assert "is the model's word" in card
    assert "Rules worded" not in card


def test_an_answer_is_published_as_its_paragraph_has_it(tmp_path: Path) -> None:
    class SpanWriter(ChainWriter):
        def _choose(self, text: str, names: list[str]) -> str:
            bare = re.search(r"(?<!Captain )Rusk\b", text) and not any("Rusk" in name for name in names)
            return "Rusk" if bare else super()._choose(text, names)

    parts = tell_story().split("Captain Rusk")
    forms = ["Rusk" if number % 3 else "Captain Rusk" for number in range(len(parts))]
    story = "".join(part + form for part, form in zip(parts, [*forms[1:], ""], strict=True))
    (tmp_path / "ledger.txt").write_text(story)
    add_book(tmp_path / "shelf", tmp_path / "ledger.txt", BookNotes(title="ledger"))
    found, _ = make(tmp_path, tmp_path / "shelf", SpanWriter(), hops=["1", "2"], items=12)
    bare = [item for item in found.items if item.answer == "Rusk"]
    assert bare
    assert all("Captain Rusk" in item.answer_aliases for item in bare)
    assert audit_novels(found, BookTexts(found, tmp_path / "shelf"), lambda _: None).violations == ()
    assert any(twin.twin in {item.id for item in bare} for twin in found.twins)


@pytest.fixture(scope="module")
def drawn(shelf: Path) -> tuple[NovelDrafter, list[ProvenChain]]:
    (book,) = open_books(shelf, ["ledger"])
    parameters = NovelAskParameters.model_validate({**PARAMETERS, "lengths": ["4k"], "hops": ["1"]})
    drafter = NovelDrafter(read_novel(book, "words"), parameters, by_model=True)
    return drafter, drafter.draw(lambda _: None)[1]


def test_words_are_tried_in_the_window_where_their_chain_was_drawn(
    drawn: tuple[NovelDrafter, list[ProvenChain]], monkeypatch: pytest.MonkeyPatch
) -> None:
    drafter, chains = drawn
    monkeypatch.setattr(drafting, "_WINDOWS_TRIED", 1)
    tried: list[int] = []

    def refuse(window: Window, *_: Any, **__: Any) -> str:
        tried.append(window.first)
        return "in another window: unique"

    monkeypatch.setattr(drafter, "make_placed", refuse)
    words = ModelWords(WordedChain("?", ("?",)), Stretch(start=0, end=1), Provenance(seed=0))
    for chain in chains:
        tried.clear()
        drafter.counts.left_out.clear()
        assert list(drafter.make_family(chain.steps, words)) == []
        assert drafter.drawn_in[chain.steps][4096].first in tried
        assert drafter.counts.left_out.total() == 1


def test_a_title_before_a_given_name_is_no_name_of_its_own() -> None:
    told = (
        "The King said no to King Louis and to Louis of France, as everybody knew. ",
        "The King and Louis walked out. ", "King Louis came in, and Louis sat down. ", "He saw Louis and Anne. ",
        "Queen Anne and King Alder were there, with Alder and Mr. Alder. ", "Then said Anne, “I saw Queen Anne.” ",
    )  # fmt: skip
    book = parse_book(("CHAPTER I\n\n" + "\n\n".join(one * 4 for one in told * 4)).encode(), "x.txt")
    names = describe_book(book, build_graph(book))
    assert names.forms["King"] == ()
    counter = WindowCounter(names, "", 0)
    assert counter.list_strange("Who met King Louis?", ["Louis"]) == []
    assert counter.list_strange("Who met the King with Louis?", ["Louis"]) == ["King"]
    assert counter.list_strange("Who met King Louis?", ["Anne"]) == ["King Louis"]
    other = names.model_copy(update={"forms": {**names.forms, "King Louis": names.forms["Anne"]}})
    assert WindowCounter(other, "", 0).list_strange("Who met King Louis?", ["Louis"]) == ["King"]
