"""A difficulty report in Markdown: for the Prefect UI, for a file, and for a release's card."""

from __future__ import annotations

from hopwright.difficulty.report import DifficultyReport, VoteAccuracy
from hopwright.reporting.rendering import Markdown, load_template, percent, show_table

_DIMENSIONS = {"topology": "reasoning graph", "domain": "domain", "computation": "kind of computation"}
_CHECKS = {"too_easy": "Too easy", "held_back": "Held back: too few votes to decide"}
_KINDS = ("solved", "guessed", "missing reasoning", "missing knowledge")


def render_report(report: DifficultyReport, *, level: int = 2) -> str:
    """The report; `level` is that of its headings."""
    tables = {"Agreement": _table_pairs(report), "Right votes": _table_right_votes(report)}
    tables |= {f"Accuracy by {named}": _table_scores(report, dimension) for dimension, named in _DIMENSIONS.items()}
    tables |= {
        "Calibration": _table_bins(report),
        "Letters and orders": _table_letters(report),
        "Without options, and hop by hop": _table_closed_book(report),
    }
    template = load_template("hopwright.difficulty", "report.md.j2")
    text = template.render(report=report, head="#" * level, voters=_table_voters(report), tables=tables, checks=_CHECKS)
    return text.rstrip() + "\n"


def _table_voters(report: DifficultyReport) -> str:
    rows = [
        {
            "voter": name,
            "votes": voter.overall.votes,
            "right": voter.overall.right,
            "accuracy": voter.overall.accuracy,
            "no answer": voter.unanswered,
            "mean confidence": voter.confidence,
            "calibration error": voter.calibration_error,
        }
        for name, voter in report.voters.items()
    ]
    return show_table(rows, {"calibration error": ".3f"})


def _table_pairs(report: DifficultyReport) -> str:
    rows = [
        {
            "voters": f"{pair.one} and {pair.other}",
            "items": pair.items,
            "same option": pair.agreement,
            "Cohen's kappa": pair.kappa,
        }
        for pair in report.pairs
    ]
    return show_table(rows, {"Cohen's kappa": ".3f"})


def _table_right_votes(report: DifficultyReport) -> str:
    counts = report.right_votes.items()
    return show_table(
        [{"right votes": str(number), "items": count, "share": count / report.items} for number, count in counts]
    )


def _table_scores(report: DifficultyReport, dimension: str) -> str:
    values = sorted(report.by.get(dimension, {}).items())
    return show_table(
        [
            {_DIMENSIONS[dimension]: value, **{name: _say_score(scores.get(name)) for name in report.voters}}
            for value, scores in values
        ]
    )


def _table_bins(report: DifficultyReport) -> str:
    return show_table(
        [
            {
                "voter": name,
                "confidence": f"{one.low:.1f}–{one.high:.1f}",
                "votes": one.votes,
                "mean confidence": one.confidence,
                "accuracy": one.accuracy,
            }
            for name, voter in report.voters.items()
            for one in voter.bins
        ]
    )


def _table_letters(report: DifficultyReport) -> str:
    rows = []
    for name, voter in report.voters.items():
        total = sum(voter.letters.values()) or 1
        shares = {f"chose {label}": count / total for label, count in voter.letters.items()}
        moved = {"choice depends on the order": voter.order_sensitivity, "verdict does": voter.order_flips}
        rows += [{"voter": name, **shares, **moved}] if shares else []
    return show_table(rows)


def _table_closed_book(report: DifficultyReport) -> str:
    return show_table(
        [
            {
                "voter": name,
                "items": book.items,
                "question: exact / F1": Markdown(f"{percent(book.exact)} / {book.f1:.3f}"),
                "looking-up hops: exact / F1": Markdown(f"{percent(book.hop_exact)} / {book.hop_f1:.3f}"),
                **{kind: book.difficulty.get(kind, 0) for kind in _KINDS},
            }
            for name, book in report.closed_book.items()
        ]
    )


def _say_score(score: VoteAccuracy | None) -> Markdown | None:
    return None if score is None else Markdown(f"{percent(score.accuracy)} of {score.votes:,}")
