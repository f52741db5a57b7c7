"""The summary on Prefect's page: a table of which nothing is cut off, and every word of it on the page."""

from __future__ import annotations

from typing import Any

from hopwright.reporting.run_summary import render_summary, summary_lines

WIDEST = 62
LARGEST = {"value": "Paris", "count": 3, "share": 0.01045, "ties": 5}


def make_summary() -> dict[str, Any]:
    return {
        "run": "r", "accepted": 77, "topologies": {"Chain": 0.5, "Bridge": 0.5},
        "domains": {"Film, Music and Media": 0.6, "History and Literature": 0.25, "Geography and Environment": 0.15},
        "domains_per_item": {"2": 70, "3": 7}, "mean_domains": 2.1, "computations": {"comparison": 51},
        "items_with_computation": 51, "distinct_answers": 77, "largest_answer": LARGEST,
        "failed_checks": 0, "wording": {"writer": "rules"},
        "targets_missed": [f"topology {name}: 30.2% of 33.3% wanted" for name in "abcdefgh"],
        "models": None, "letters": {"A": 20, "B": 19, "C": 19, "D": 19}, "letters_p": 0.9, "too_easy": 3, "twins": 77,
        "back_translation": "", "back_translation_skipped": "", "review_items": 77, "review_tasks": 390, "audit": None,
        "scorecard_missed": ["commonest opening of a question: 12.0%, at most 5.0%"],
        "release": "/a/very/long/path/" + "x" * 100, "folder": "/home/runs/r",
    }  # fmt: skip


def test_limits_that_are_not_met_are_in_the_summary() -> None:
    summary = make_summary()
    assert dict(summary_lines(summary))["scorecard"].startswith("not met: commonest opening of a question: 12.0%")
    assert dict(summary_lines({**summary, "scorecard_missed": []}))["scorecard"] == "every limit is met"


def test_every_figure_says_of_what_it_is() -> None:
    lines = dict(summary_lines(make_summary()))
    assert "(shares of the plans drawn, before any was dropped:" in lines["targets missed"]
    assert lines["released items"] == "77"
    assert lines["items for review"] == "77, in 390 tasks"
    assert lines["final answers"] == "77 distinct; Paris is the commonest (3, 1.0%, 4 more as often)"


def test_no_row_is_wider_than_the_page_and_no_word_is_lost() -> None:
    summary = make_summary()
    text = render_summary(summary, [("the release", "http://127.0.0.1/x")])
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[0] == "| figure | value |"
    assert max(len(row.split("|")[2].strip()) for row in rows) <= WIDEST
    seen = "".join(text.replace("|", "").split()).replace("-", "")
    for name, value in summary_lines(summary):
        assert name in text or name.capitalize() in text
        for part in value.split("; "):
            assert "".join(part.split()).replace("-", "") in seen, part
    assert "| targets missed | listed below |" in text
    assert text.count("\n- topology ") == 6 and "2 more" in text
    assert "- [the release](http://127.0.0.1/x)" in text
