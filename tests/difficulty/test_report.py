"""The figures of a report, against ones worked out by hand or by scikit-learn where it is there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from hopwright.difficulty.ballots import cast
from hopwright.difficulty.closed_book import (
    ClosedBookAnswer,
    ask_closed_book,
    classify,
    closed_book_answers_to_table,
    judge,
    read_closed_book_answers,
)
from hopwright.difficulty.filtering import collect_votes, decide
from hopwright.difficulty.plots import draw_calibration
from hopwright.difficulty.render import render_report
from hopwright.difficulty.report import DifficultyReport, ReportBuilder
from hopwright.difficulty.rule import DropRule
from hopwright.difficulty.voters import MissingVote
from hopwright.records import LABELS, Item
from hopwright.records.arrow import encode_parquet
from hopwright.scoring.answers import score_text
from tests.builders import all_items, bridge_item, chain_item
from tests.difficulty.test_rule import Scripted


def build_report(table: Sequence[Sequence[bool | None]], items: list[Item], rotations="one") -> DifficultyReport:  # type: ignore[no-untyped-def]
    names = [f"v{n}" for n in range(len(table[0]))]
    voters = [
        Scripted(name, {item.id: row[n] for item, row in zip(items, table, strict=True)}, items)
        for n, name in enumerate(names)
    ]
    given = {voter.name: cast(voter, items, seed=2, rotations=rotations) for voter in voters}
    rule = DropRule(len(names))
    kept, dropped = decide(items, collect_votes({b.item: b for b in bs} for bs, _ in given.values()), rule)
    builder = ReportBuilder(names)
    builder.add_items(kept, dropped)
    for name, (ballots, unanswered) in given.items():
        builder.add_ballots(ballots, unanswered, name)
    return builder.make(rule=rule, asked=sum(len(bs) + len(us) for bs, us in given.values()), order=names)


def many(count: int) -> list[Item]:
    return [chain_item().model_copy(update={"id": f"hw-{number:03d}"}) for number in range(count)]


def test_figures_of_a_small_table() -> None:
    table = [[True, True, False], [True, False, False], [False, False, False], [True, True, True], [None, False, True]]
    report = build_report(table, many(5))
    assert (report.items, report.kept, report.dropped) == (5, 2, {"held_back": 1, "too_easy": 2})
    assert report.right_votes == {0: 1, 1: 2, 2: 1, 3: 1}
    v0 = report.voters["v0"]
    assert (v0.overall.votes, v0.overall.right, v0.unanswered) == (4, 3, 1)
    assert v0.confidence == 0.7
    (only,) = v0.bins
    assert (only.low, only.votes, only.accuracy) == (0.7, 4, 0.75)
    assert v0.calibration_error == pytest.approx(0.05)
    assert report.by["topology"] == {
        "chain": {name: voter.overall for name, voter in report.voters.items()}
    } and report.by["computation"].keys() == {"temporal"}  # fmt: skip
    assert report.calls is not None
    assert (report.calls.asked, report.calls.everyone) == (15, 15)
    # Two right, or two wrong, prove a verdict of three voters; the last item has one of each and a silent voter.
    assert report.calls.least == 2 + 2 + 2 + 2 + 3
    assert report.fleiss_items == 4
    assert [example.id for example in report.examples["too_easy"]] == ["hw-000", "hw-003"]


def test_letters_and_orders_are_told_apart() -> None:
    report = build_report([[True, False]] * 8, many(8), "all")
    assert sum(report.voters["v0"].letters.values()) == 32
    assert report.voters["v0"].letters == dict.fromkeys(LABELS, 8)
    assert report.voters["v0"].order_flips == 0
    # The scripted wrong answer is the option after the right one, which is another text in one order of four: none.
    assert report.voters["v0"].order_sensitivity == 0


def test_ten_examples_at_most() -> None:
    report = build_report([[True, True]] * 30, many(30))
    assert len(report.examples["too_easy"]) == 10
    assert report.dropped == {"too_easy": 30}


def test_the_report_reads_well_and_comes_back_from_its_file() -> None:
    report = build_report([[True, False, None]] * 3, all_items())
    text = render_report(report)
    for part in ("3 items: ", "Fleiss' kappa", "Accuracy by reasoning graph", "bridge", "Calibration", "Cohen's kappa"):
        assert part in text
    assert DifficultyReport.model_validate_json(report.model_dump_json()) == report
    assert "held back" in text


def test_a_report_on_nothing_is_no_crash() -> None:
    assert "0 items" in render_report(ReportBuilder(["a", "b"]).make(rule=DropRule(2), asked=0))


def test_the_calibration_plot_has_the_same_bytes_for_the_same_figures(tmp_path: Path) -> None:
    report = build_report([[True, False]] * 5, many(5))
    for name in "ab":
        assert draw_calibration(report, tmp_path / f"{name}.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert not draw_calibration(ReportBuilder().make(), tmp_path / "c.png")
    assert not (tmp_path / "c.png").exists()


@pytest.mark.parametrize(
    ("answer", "gold", "exact", "f1"),
    [
        ("The Beatles", "beatles", True, 1.0),
        ("1,234", "1234", True, 1.0),
        ("Ada  Lindqvist.", "ada lindqvist", True, 1.0),
        ("Ada", "Ada Lindqvist", False, 2 / 3),
        ("in the year 1905", "1905", False, 0.5),
        ("", "1905", False, 0.0),
        ("the", "a", True, 1.0),
        ("north north", "north", False, 2 / 3),
    ],
)
def test_squads_normalisation_and_overlap(answer: str, gold: str, exact: bool, f1: float) -> None:
    score = score_text(answer, [gold])
    assert (score.em, score.f1) == (exact, pytest.approx(f1))


class Knows:
    """Answers what it was taught, and nothing else."""

    name = "knows"

    def __init__(self, taught: dict[str, str], silent: frozenset[str] = frozenset()) -> None:
        self._taught = taught
        self._silent = silent

    def answer(self, questions: Sequence[tuple[str, str]]) -> list[str | MissingVote]:
        return [
            MissingVote("truncated", "cut off") if question in self._silent else self._taught.get(question, "no idea")
            for _, question in questions
        ]


def probe(taught: dict[str, str], silent: frozenset[str] = frozenset()) -> str | None:
    item = bridge_item()
    probes, unanswered = ask_closed_book(Knows(taught, silent), [item])
    assert len(probes) + len(unanswered) == 1 + len(item.hops)
    return classify(probes, len(item.hops))


def test_difficulty_is_parted_into_knowledge_and_reasoning() -> None:
    item = bridge_item()
    facts = {hop.question: hop.answer for hop in item.hops if hop.derivation.op != "compute"}
    assert probe({}) == "missing knowledge"
    assert probe(facts) == "missing reasoning"
    assert probe({**facts, item.question: item.answer}) == "solved"
    assert probe({item.question: item.answer}) == "guessed"
    # A computation that fails alone is a lack of reasoning, not of knowledge.
    assert probe({**facts, item.hops[-1].question: item.answer}) == "missing reasoning"


def test_a_probe_that_was_not_answered_is_no_wrong_answer() -> None:
    item = bridge_item()
    for question in (item.question, *(hop.question for hop in item.hops)):
        assert probe({}, frozenset([question])) is None


def test_aliases_count_as_the_answer() -> None:
    item = bridge_item().model_copy(update={"answer": "Vestmark", "answer_aliases": ("Kingdom of Vestmark",)})
    assert judge(item, 0, "the kingdom of Vestmark", "v").exact
    assert judge(item, 0, "Vestmark", "v").f1 == 1


def test_probes_come_back_from_their_file(tmp_path: Path) -> None:
    probes = [
        ClosedBookAnswer("hw-1", "v", 0, False, "x", False, 0.5),
        ClosedBookAnswer("hw-1", "v", 4, True, "", True, 1.0),
    ]
    path = tmp_path / "probes.parquet"
    path.write_bytes(encode_parquet(closed_book_answers_to_table(probes)))
    assert read_closed_book_answers(path) == probes
