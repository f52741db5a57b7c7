"""The report: the same bytes for the same reviews, and nothing left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotation.accepted import Decided, ScoreRow
from annotation.agreement import BlindAnswers, measure_agreement
from annotation.annotators import profile_annotators
from annotation.decisions import ItemDecision
from annotation.report import ReviewReport, count_decisions, render_markdown, show_estimate, write_report
from annotation.schema import CRITERIA, TITLES, ReviewTaskKind
from hopwright.scoring.intervals import IntervalEstimate, find_share
from tests.annotation.simulated import TEN, simulate
from tests.builders import all_items

ITEMS = [f"hw-{number:016x}" for number in range(60)]


@pytest.fixture(scope="module")
def report() -> ReviewReport:
    reviews = simulate([(item, ReviewTaskKind.TWIN, None) for item in ITEMS], TEN[:4])
    decided = [
        Decided(item, ItemDecision(item.id, state, check))  # type: ignore[arg-type]
        for item, (state, check) in zip(
            all_items(), [("accepted", ""), ("rejected", "discarded"), ("open", "in_adjudication")], strict=True
        )
    ]
    return ReviewReport(
        run="small",
        reviews=reviews,
        agreement=measure_agreement(reviews, dict.fromkeys(ITEMS, "chain")),
        profiles=profile_annotators(reviews, {}),
        blind=[
            BlindAnswers("twin", 40, find_share(30, 40), find_share(27, 30), find_share(4, 10)),
        ],
        stale=2,
        refused=1,
        decided=decided,
        scores=[ScoreRow("twin", "grammar", 40, 4.5, 0.25)],
    )


def test_the_same_reviews_give_the_same_bytes(report: ReviewReport, tmp_path: Path):
    files = []
    for name in ("one", "two"):
        write_report(report, tmp_path / name)
        files.append({path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.*")})
    assert files[0] == files[1]
    assert {str(path) for path in files[0]} == {
        "report.md", "report.html", "report.json", "plots/agreement.png", "plots/scores.png", "plots/time.png",
        "plots/drift.png",
    }  # fmt: skip  # no gold, no plot of it


def test_everything_is_said(report: ReviewReport):
    text = render_markdown(report)
    assert "120 reviews of 60 items by 4 annotators." in text
    assert "the text has changed since: 2 reviews." in text
    assert "do not fit the interface: 1 annotation." in text
    assert "| in adjudication | 1 | 33.3% |" in text
    assert "| twin | Grammar | 40 | 4.50 | 0.25 |" in text
    assert "| twin | 40 | 0.75 (0.60 to 0.86) | 0.90 (" in text
    for name in CRITERIA[ReviewTaskKind.TWIN]:
        assert text.count(f"| twin | {TITLES[name]} |") >= 3
    for one in report.profiles:
        assert f"| {one.name} | {one.reviews} |" in text


def test_programs_read_the_same(report: ReviewReport, tmp_path: Path):
    write_report(report, tmp_path)
    found = json.loads((tmp_path / "report.json").read_text())
    assert (
        found["decisions"] == {"accepted": 1, "discarded": 1, "in_adjudication": 1} == count_decisions(report.decided)
    )
    assert (found["reviews"], found["items"], found["annotators"]) == (120, 60, 4)
    assert len(found["agreement"]) == len(report.agreement)
    assert found["blind"][0]["answers"] == 40


def test_a_page_of_nothing_is_a_page(tmp_path: Path):
    write_report(ReviewReport("empty", (), (), ()), tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "Nothing was rated twice." in text
    assert "Nobody has reviewed anything yet." in text


def test_an_estimate_without_an_interval():
    assert show_estimate(IntervalEstimate(None)) == "–"
    assert show_estimate(IntervalEstimate(0.5)) == "0.50"
    assert show_estimate(IntervalEstimate(0.5, 0.25, 0.75)) == "0.50 (0.25 to 0.75)"
