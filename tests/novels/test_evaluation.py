"""Readers whose failings are known, over both wire formats: the grid shows them, and twins defeat the memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from hopwright.errors import InputError
from hopwright.llm.client import Client
from hopwright.llm.store import Store
from hopwright.llm.types import Outcome, Request
from hopwright.novels.contexts import ContextMaker, cut_chunks
from hopwright.novels.dataset import BookTexts, NovelSet
from hopwright.novels.evaluation import count_shared, evaluate_novels, list_queries, pick_items
from hopwright.novels.report import write_report
from hopwright.settings import NovelsEvaluateParameters
from tests.llm.builders import run, settings
from tests.novels.readers import PerfectWithin, Reader, ReaderServer, Rememberer, match_keywords


def evaluate(
    folder: Path, found: NovelSet, texts: BookTexts, reader: Reader, kind: str = "compatible", **fields: object
) -> tuple[dict[str, Any], ReaderServer]:
    """What evaluating gives over one wire format."""
    parameters = NovelsEvaluateParameters.model_validate({"models": ["local/tiny"], **fields})
    contexts = ContextMaker(found, texts, folder / "cache", parameters.chunk, parameters.chunks)
    queries = list(list_queries(pick_items(found, parameters), contexts, parameters))

    async def check() -> tuple[dict[str, Any], ReaderServer]:
        async with ReaderServer(reader) as server:
            with Store(folder / "llm.sqlite") as store:
                async with Client(settings(server, kind=kind), store) as client:
                    outcomes = await client.complete_all([query.request for query in queries])
            report, verdicts = evaluate_novels(queries, parameters, _give(outcomes), lambda _: None)
            write_report(report, verdicts, folder / "report", "set")
            return report, server

    return run(check())


def _give(outcomes: list[Outcome]):  # type: ignore[no-untyped-def]
    def complete(requests: Iterable[Request]) -> list[Outcome]:
        assert len(list(requests)) == len(outcomes)
        return outcomes

    return complete


def shares(report: dict[str, Any]) -> dict[tuple[str, str, str], float]:
    return {(row["mode"], row["variant"], row["questions"]): row["accuracy"] for row in report["rows"]}


@pytest.mark.parametrize("kind", ["compatible", "openai", "anthropic"])
def test_who_sees_all_is_right_everywhere(tmp_path: Path, small_set: NovelSet, texts: BookTexts, kind: str) -> None:
    reader = PerfectWithin(small_set, texts, 1_000_000)
    report, server = evaluate(tmp_path, small_set, texts, reader, kind, modes=["window", "gold", "none"], limit=1)
    found = shares(report)
    for mode, share in (("window", 1.0), ("gold", 1.0), ("none", 0.0)):
        assert found[mode, "factual", "all"] == found[mode, "counterfactual", "all"] == share
    if kind == "anthropic":
        assert server.marked > 0
    assert {row["gap"] for row in report["gaps"]} == {0.0}
    assert (tmp_path / "report" / "grid.png").read_bytes().startswith(b"\x89PNG")
    assert "Right answers by hops and length" in (tmp_path / "report" / "report.md").read_text()
    assert (tmp_path / "report" / "places.png").read_bytes().startswith(b"\x89PNG")


def test_who_sees_the_end_alone_loses_by_hops_and_length(
    tmp_path: Path, small_set: NovelSet, texts: BookTexts
) -> None:
    report, _ = evaluate(tmp_path, small_set, texts, PerfectWithin(small_set, texts, 2500), twins=False)
    cells = {(row["hops"], row["length"]): row for row in report["grid"]}
    right = {length: sum(row["right"] for (_, held), row in cells.items() if held == length) for length in (4096, 8192)}
    asked = {length: sum(row["asked"] for (_, held), row in cells.items() if held == length) for length in (4096, 8192)}
    assert right[4096] / asked[4096] > right[8192] / asked[8192]
    by_hops = shares(report)
    assert by_hops["window", "factual", "1 hop"] > by_hops["window", "factual", "4 hops"]
    assert {row["hops"] for row in report["grid"]} == {1, 2, 3, 4}
    places = {
        fifth: [row for row in report["places"] if row["fifth"] == fifth] for fifth in (1, 5)
    }  # fmt: skip
    first, last = (sum(row["right"] for row in held) / sum(row["asked"] for row in held) for held in places.values())
    assert first < last
    assert sum(row["asked"] for row in report["places"]) == sum(row["asked"] for row in report["grid"])


def test_who_matches_words_finds_little(tmp_path: Path, small_set: NovelSet, texts: BookTexts) -> None:
    report, _ = evaluate(tmp_path, small_set, texts, match_keywords, modes=["window", "gold"])
    found = shares(report)
    assert found["window", "factual", "all"] < 0.5
    assert found["gold", "factual", "1 hop"] > found["window", "factual", "all"]


def test_twins_defeat_who_remembers_the_book(tmp_path: Path, small_set: NovelSet, texts: BookTexts) -> None:
    report, _ = evaluate(tmp_path, small_set, texts, Rememberer(small_set), modes=["window", "none"])
    found = shares(report)
    for mode in ("window", "none"):
        # Some questions are asked of several windows, with an answer in each.
        assert found[mode, "factual", "all"] > 0.9
        assert found[mode, "counterfactual", "all"] == 0.0
    assert all(row["gap"] > 0.9 for row in report["gaps"])
    assert sum(row["pairs"] for row in report["gaps"]) == 2 * len(small_set.twins)


def test_questions_about_one_window_follow_each_other(tmp_path: Path, small_set: NovelSet, texts: BookTexts) -> None:
    parameters = NovelsEvaluateParameters.model_validate({"models": ["local/tiny"], "twins": False})
    contexts = ContextMaker(small_set, texts, tmp_path, 350, 7)
    queries = list(list_queries(pick_items(small_set, parameters), contexts, parameters))
    firsts = [query.request.messages[0] for query in queries]
    changes = sum(one is not other for one, other in itertools.pairwise(firsts))
    assert changes + 1 == len({item.window.sha256 for item in small_set.items})
    assert all(first.stable for first in firsts)
    assert count_shared(queries) > 0


def test_a_search_gives_chunks_in_the_order_of_the_text(
    tmp_path: Path, small_set: NovelSet, texts: BookTexts
) -> None:
    pytest.importorskip("tantivy")
    contexts = ContextMaker(small_set, texts, tmp_path, 100, 4)
    for item in small_set.items[:6]:
        window = texts.cut(item.window)
        chunks = contexts.make(item, "rag")
        assert chunks == contexts.make(item, "rag")
        rest, taken = chunks, 0
        for chunk in cut_chunks(window, 100):
            if rest.startswith(chunk):
                rest, taken = rest[len(chunk) :].lstrip("\n"), taken + 1
        assert (rest, taken) == ("", 4)


def test_irrelevant_paragraphs_are_of_another_book(tmp_path: Path, small_set: NovelSet, texts: BookTexts) -> None:
    contexts = ContextMaker(small_set, texts, tmp_path, 350, 7)
    for item in small_set.everything[::9]:
        shown = contexts.make(item, "irrelevant")
        assert shown
        assert all(one not in texts.cut(item.window) for one in shown.split("\n\n"))
    one_book = [item for item in small_set.items if item.window.book.startswith("tide")]
    alone = ContextMaker(
        NovelSet(small_set.folder, tuple(one_book), (), small_set.books, {}, {}), texts, tmp_path, 350, 7
    )
    with pytest.raises(InputError, match="another book"):
        alone.make(one_book[0], "irrelevant")


def test_a_limit_takes_the_same_of_every_cell(small_set: NovelSet) -> None:
    parameters = NovelsEvaluateParameters.model_validate({"models": ["local/tiny"], "limit": 2})
    items = pick_items(small_set, parameters)
    cells: dict[tuple[int, int], int] = {}
    for item in items:
        if item.variant == "factual":
            cells[len(item.hops), item.window.length] = cells.get((len(item.hops), item.window.length), 0) + 1
    assert set(cells.values()) == {2}
    assert all(item.twin in {one.id for one in items} for item in items if item.variant == "counterfactual")
