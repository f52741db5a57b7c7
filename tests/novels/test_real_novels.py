"""Readers whose failings are known, over the wire, on windows of two real novels."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopwright.knowledge.books.reading import BookNotes
from hopwright.novels.audit import audit_novels
from hopwright.novels.dataset import BookTexts, NovelSet, read_novel_set, write_novel_set
from hopwright.novels.shelf import add_book, open_books
from hopwright.settings import NovelQuestionsParameters
from tests.novels.readers import PerfectWithin, Rememberer, match_keywords
from tests.novels.test_evaluation import evaluate, shares

NOVELS = Path(__file__).resolve().parents[3] / "shared" / "data" / "novels"
K = 1024
pytestmark = pytest.mark.skipif(not NOVELS.is_dir(), reason="the novels are not beside the checkout")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[NovelSet, BookTexts]:
    folder = tmp_path_factory.mktemp("real")
    for name in ("pride_and_prejudice", "emma"):
        add_book(folder / "shelf", NOVELS / f"{name}.txt", BookNotes())
    parameters = NovelQuestionsParameters.model_validate({"items": 5, "lengths": ["64k", "128k"]})
    write_novel_set(open_books(folder / "shelf", []), folder / "set", parameters, lambda _: None)
    found = read_novel_set(folder / "set")
    return found, BookTexts(found, folder / "shelf")


def test_every_proof_and_twin_holds(asked: tuple[NovelSet, BookTexts]) -> None:
    report = audit_novels(*asked, lambda _: None)
    assert report.violations == ()
    assert report.skipped == {}
    assert report.twins > 30


def test_the_grid_shows_who_sees_the_end_alone(tmp_path: Path, asked: tuple[NovelSet, BookTexts]) -> None:
    found, texts = asked
    report, _ = evaluate(tmp_path, found, texts, PerfectWithin(found, texts, 48 * K), twins=False)
    share = {
        length: sum(row["right"] for row in held) / sum(row["asked"] for row in held)
        for length in (64 * K, 128 * K)
        if (held := [row for row in report["grid"] if row["length"] == length])
    }
    assert share[64 * K] > share[128 * K] + 0.1
    assert {row["hops"] for row in report["grid"]} == {1, 2, 3, 4}
    right = shares(report)
    assert right["window", "factual", "1 hop"] > right["window", "factual", "4 hops"]
    places = {fifth: [row for row in report["places"] if row["fifth"] == fifth] for fifth in (1, 5)}
    first, last = (sum(row["right"] for row in held) / sum(row["asked"] for row in held) for held in places.values())
    assert first == 0.0 < last


def test_the_grid_shows_who_matches_words(tmp_path: Path, asked: tuple[NovelSet, BookTexts]) -> None:
    found, texts = asked
    report, _ = evaluate(tmp_path, found, texts, match_keywords, modes=["window", "gold"], twins=False)
    right = shares(report)
    assert right["window", "factual", "all"] < 0.25
    assert right["gold", "factual", "1 hop"] > right["window", "factual", "all"]


def test_twins_defeat_who_remembers_the_novel(tmp_path: Path, asked: tuple[NovelSet, BookTexts]) -> None:
    found, texts = asked
    report, _ = evaluate(tmp_path, found, texts, Rememberer(found), modes=["none"])
    right = shares(report)
    assert right["none", "factual", "all"] > 0.9
    assert right["none", "counterfactual", "all"] == 0.0
    assert all(row["gap"] > 0.9 for row in report["gaps"])
