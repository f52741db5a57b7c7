"""A difficulty report in Markdown: for the Prefect UI, for a file, and for a release's card."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hopwright.difficulty.report import Calls, ClosedBook, DifficultyReport, DroppedExample, VoteAccuracy

_DIMENSIONS = {"topology": "reasoning graph", "domain": "domain", "computation": "kind of computation"}
_CHECKS = {"too_easy": "Too easy", "held_back": "Held back: too few votes to decide"}
_KINDS = ("solved", "guessed", "missing reasoning", "missing knowledge")


def render_report(report: DifficultyReport, *, level: int = 2) -> str:
    """The report; `level` is that of its headings."""
    head = "#" * level
    lost = sum(report.dropped.values())
    lines = [f"{report.items:,} items: {report.kept:,} kept, {lost:,} dropped{_list_dropped(report)}.", ""]
    if report.calls is not None:
        lines += [_say_calls(report.calls, report.order), ""]
    lines += [*_table_voters(report), ""]
    lines += [f"{head} Agreement", "", *_table_pairs(report), ""]
    lines += [f"{head} Right votes", "", *_table_right_votes(report), ""]
    for dimension, named in _DIMENSIONS.items():
        if values := report.by.get(dimension):
            lines += [f"{head} Accuracy by {named}", "", *_table_scores(report, dimension, values), ""]
    if any(voter.bins for voter in report.voters.values()):
        lines += [f"{head} Calibration", "", *_table_bins(report), ""]
    if any(voter.letters for voter in report.voters.values()):
        lines += [f"{head} Letters and orders", "", *_table_letters(report), ""]
    if report.closed_book:
        lines += [f"{head} Without options, and hop by hop", "", *_table_closed_book(report.closed_book), ""]
    for check, examples in report.examples.items():
        lines += [f"{head} {_CHECKS[check]}: {len(examples)} of {report.dropped[check]:,}", ""]
        lines += [*map(_show_example, examples), ""]
    return "\n".join(lines).rstrip() + "\n"


def escape(text: str) -> str:
    """A text inside a table's cell or a line: no markup, no line break."""
    return re.sub(r"([\\`*_{}\[\]<>#|~$&])", r"\\\1", " ".join(text.split()))


def _list_dropped(report: DifficultyReport) -> str:
    named = ", ".join(f"{count:,} {check.replace('_', ' ')}" for check, count in report.dropped.items())
    return f" ({named})" if named else ""


def _say_calls(calls: Calls, order: tuple[str, ...]) -> str:
    if calls.asked >= calls.everyone:
        return f"Everybody was asked about everything: {calls.asked:,} votes."
    asked = f"{calls.asked:,} votes asked for instead of {calls.everyone:,}: {percent(calls.saved)} saved"
    bound = f"; no way of asking could save more than {percent(calls.most_savable)} with these verdicts"
    asking = f" Asked in this order: {', '.join(map(escape, order))}." if order else ""
    return f"{asked}{bound}.{asking}"


def _table_voters(report: DifficultyReport) -> list[str]:
    rows = [
        [
            escape(name),
            f"{voter.overall.votes:,}",
            f"{voter.overall.right:,}",
            percent(voter.overall.accuracy),
            f"{voter.unanswered:,}",
            "–" if voter.confidence is None else percent(voter.confidence),
            "–" if voter.calibration_error is None else f"{voter.calibration_error:.3f}",
        ]
        for name, voter in report.voters.items()
    ]
    return _tabulate(["voter", "votes", "right", "accuracy", "no answer", "mean confidence", "calibration error"], rows)


def _table_pairs(report: DifficultyReport) -> list[str]:
    rows = [
        [
            f"{escape(pair.one)} and {escape(pair.other)}",
            f"{pair.items:,}",
            percent(pair.agreement),
            "–" if pair.kappa is None else f"{pair.kappa:.3f}",
        ]
        for pair in report.pairs
    ]
    kappa = "not defined" if report.fleiss_kappa is None else f"{report.fleiss_kappa:.3f}"
    last = f"Fleiss' kappa {kappa}, over the {report.fleiss_items:,} items on which all voted."
    return [*_tabulate(["voters", "items", "same option", "Cohen's kappa"], rows), "", last]


def _table_right_votes(report: DifficultyReport) -> list[str]:
    rows = [[str(number), f"{count:,}", percent(count / report.items)] for number, count in report.right_votes.items()]
    return _tabulate(["right votes", "items", "share"], rows)


def _table_scores(
    report: DifficultyReport, dimension: str, values: Mapping[str, Mapping[str, VoteAccuracy]]
) -> list[str]:
    names = list(report.voters)
    rows = [
        [escape(value), *(_say_score(scores.get(name)) for name in names)] for value, scores in sorted(values.items())
    ]
    return _tabulate([_DIMENSIONS[dimension], *map(escape, names)], rows)


def _table_bins(report: DifficultyReport) -> list[str]:
    rows = [
        [
            escape(name),
            f"{one.low:.1f}–{one.high:.1f}",
            f"{one.votes:,}",
            percent(one.confidence),
            percent(one.accuracy),
        ]
        for name, voter in report.voters.items()
        for one in voter.bins
    ]
    return _tabulate(["voter", "confidence", "votes", "mean confidence", "accuracy"], rows)


def _table_letters(report: DifficultyReport) -> list[str]:
    rows: list[list[str]] = []
    for name, voter in report.voters.items():
        if not voter.letters:
            continue
        total = sum(voter.letters.values()) or 1
        moved = "–" if voter.order_sensitivity is None else percent(voter.order_sensitivity)
        flipped = "–" if voter.order_flips is None else percent(voter.order_flips)
        rows.append([escape(name), *(percent(count / total) for count in voter.letters.values()), moved, flipped])
    return _tabulate(["voter", "chose A", "B", "C", "D", "choice depends on the order", "verdict does"], rows)


def _table_closed_book(books: Mapping[str, ClosedBook]) -> list[str]:
    rows = [
        [
            escape(name),
            f"{book.items:,}",
            f"{percent(book.exact)} / {book.f1:.3f}",
            f"{percent(book.hop_exact)} / {book.hop_f1:.3f}",
            *(f"{book.difficulty.get(kind, 0):,}" for kind in _KINDS),
        ]
        for name, book in books.items()
    ]
    return _tabulate(["voter", "items", "question: exact / F1", "looking-up hops: exact / F1", *_KINDS], rows)


def _show_example(example: DroppedExample) -> str:
    options = " · ".join(
        f"**{label} {escape(text)}**" if label == example.label else f"{label} {escape(text)}"
        for label, text in example.options.items()
    )
    votes = ", ".join(f"{escape(voter)} {option}" for voter, option in example.votes.items()) or "none"
    return f"- {example.id}: {escape(example.question)} {options}. Votes: {votes}."


def _say_score(score: VoteAccuracy | None) -> str:
    return "–" if score is None else f"{percent(score.accuracy)} of {score.votes:,}"


def _tabulate(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]


def percent(share: float) -> str:
    """A share with one digit after the point; one that is not nothing never reads as nothing."""
    return "< 0.1 %" if 0 < share < 0.0005 else f"{share * 100:.1f} %"
