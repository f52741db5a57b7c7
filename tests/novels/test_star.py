"""The paper's way, with a model that is a server: keywords, spans, restarts and the golden-context filter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from hopwright.errors import InputError
from hopwright.llm.session import Session
from hopwright.llm.types import Outcome, Request
from hopwright.novels.audit import audit_novels
from hopwright.novels.dataset import BookTexts, NovelSet, read_novel_set, write_star_set
from hopwright.novels.shelf import open_books, read_novel
from hopwright.novels.star import StarDrafter
from hopwright.settings import NovelStarParameters
from tests.llm.builders import run, settings
from tests.llm.wire_server import WireServer
from tests.novels.story import PEOPLE, PLACES

PARAMETERS: dict[str, Any] = {"model": "local/tiny", "items": 4, "length": "8k", "least": 20}


class Asker(WireServer):
    """Names somebody or some place of the paragraphs, and asks for another one; as a filter it knows the answers of
    questions whose number is not `missed`."""

    def __init__(self, missed: str = "", keyword: str = "") -> None:
        super().__init__()
        self._missed = missed
        self._keyword = keyword
        self._answers: dict[str, str] = {}
        self.named = 0

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        first, last = body["messages"][0]["content"], body["messages"][-1]["content"]
        answer = reply({**body, "tools": None}, prompt, "")
        answer["choices"][0]["message"] = {"role": "assistant", "content": self._say(first, last)}
        return web.json_response(answer)

    def _say(self, first: str, last: str) -> str:
        if "name one\nfurther keyword" in first or "further keyword" in first:
            self.named += 1
            taken = re.findall('"([^"]+)"', last.split("must differ from")[1])
            found = [one for one in (*PEOPLE, *PLACES) if one in last.split("The keyword must")[0] and one not in taken]
            return json.dumps({"keyword": self._keyword or (found[0] if found else "nothing")})
        if "The excerpt:" in first:
            question = last.partition("Question: ")[2].strip()
            return "nobody" if self._missed and self._missed in question else self._answers[question]
        paragraphs = re.split(r"Paragraph \d+, found by", last.split("The question over")[0].split("Write the")[0])[1:]
        shown = paragraphs[-1].split(":\n", 1)[1]
        answer = [one for one in (*PEOPLE, *PLACES) if one in shown][-1]
        question = f"Who or what goes with all of this, number {len(self._answers)}?"
        self._answers[question] = answer
        return json.dumps({"question": question, "answer": answer})


def make(
    folder: Path, shelf: Path, server: Asker, name: str = "set", **fields: Any
) -> tuple[NovelSet, dict[str, Any]]:
    parameters = NovelStarParameters.model_validate({**PARAMETERS, **fields})

    async def check() -> tuple[NovelSet, dict[str, Any]]:
        import asyncio

        async with server:
            with Session(settings(server), folder / "llm.sqlite") as session:
                counts = await asyncio.to_thread(
                    write_star_set, open_books(shelf, ["ledger"]), folder / name, parameters, session.complete_all,
                    lambda _: None,
                )  # fmt: skip
        return read_novel_set(folder / name), {id: one.to_dict() for id, one in counts.items()}

    return run(check())


def test_paragraphs_share_the_keyword_and_are_used_once(tmp_path: Path, shelf: Path) -> None:
    found, counts = make(tmp_path, shelf, Asker())
    (held,) = counts.values()
    assert held["drawn"] == 16
    assert held["drawn"] == len(found.items) + sum(held["left_out"].values())
    assert {len(item.hops) for item in found.items} == {1, 2, 3, 4}
    report = audit_novels(found, BookTexts(found, shelf), lambda _: None)
    assert report.violations == ()
    texts = BookTexts(found, shelf)
    used = [one.start for item in found.items for hop in item.hops for one in hop.paragraphs]
    assert len(used) == len(set(used))
    for item in found.items:
        assert item.provenance.generator == "model"
        assert len(item.provenance.request_keys) >= 2 * len(item.hops) - 1
        for hop in item.hops:
            shown = texts.show(item.window.book, hop.paragraphs[0].start, hop.paragraphs[0].end)
            assert item.hops[0].keyword in shown
            assert hop.keyword in shown
        assert any("no filter model" in check.reason for check in item.checks)


def test_a_filter_leaves_out_what_it_misses(tmp_path: Path, shelf: Path) -> None:
    whole, _ = make(tmp_path, shelf, Asker(), hops=["1"])
    found, counts = make(tmp_path / "f", shelf, Asker(missed="number 1"), hops=["1"], filters=["local/reader"])
    (held,) = counts.values()
    assert held["left_out"] == {"golden context: missed by local/reader": 1}
    assert len(found.items) == len(whole.items) - 1
    assert all(any(check.name == "golden context" and check.outcome == "pass" for check in item.checks)
               for item in found.items)  # fmt: skip


def test_a_chain_without_a_further_paragraph_is_given_up_after_so_many_tries(tmp_path: Path, shelf: Path) -> None:
    server = Asker(keyword="a word that no paragraph has")
    with pytest.raises(InputError, match="no further paragraph in 3 tries"):
        make(tmp_path, shelf, server, hops=["2"], tries=3)
    assert server.named == 4 * 3


def test_the_audit_finds_a_paragraph_without_its_keyword(tmp_path: Path, shelf: Path) -> None:
    found, _ = make(tmp_path, shelf, Asker(), hops=["2"])
    item = found.items[0]
    hop = item.hops[1].model_copy(update={"keyword": "Nobody"})
    broken = item.model_copy(update={"hops": (item.hops[0], hop)})
    report = audit_novels(replace(found, items=(broken,)), BookTexts(found, shelf), lambda _: None)
    assert {one.check for one in report.violations} == {"proofs"}


def test_a_book_without_frequent_names_says_so(tmp_path: Path, shelf: Path) -> None:
    with pytest.raises(InputError, match="no keyword that is frequent enough"):
        make(tmp_path, shelf, Asker(), least=1000)


def test_what_is_listed_for_an_estimate_is_what_is_sent_first(shelf: Path) -> None:
    def refuse(_: Iterable[Request]) -> list[Outcome]:
        raise AssertionError("an estimate sends nothing")

    (book,) = open_books(shelf, ["ledger"])
    parameters = NovelStarParameters.model_validate(PARAMETERS)
    drafter = StarDrafter(read_novel(book, "words"), parameters, refuse)
    assert len(drafter.list_requests()) == 16
    assert drafter.list_requests() == drafter.list_requests()
