"""The report of a review: agreement, annotators, decisions and the table of scores, as Markdown, HTML and JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from annotation.accepted import Decided, ScoreRow
from annotation.agreement import Agreement, BlindAnswers
from annotation.annotators import Profile
from annotation.plots import draw_plots
from annotation.schema import TITLES
from hopwright.records import Review
from hopwright.reporting.rendering import NOTHING, Markdown, load_template, show_table
from hopwright.runs import write_file
from hopwright.scoring.intervals import IntervalEstimate

_KINDS = {"single_hop": "single-hop", "multi_hop": "multi-hop", "twin": "twin"}


@dataclass(frozen=True, slots=True)
class ReviewReport:
    """What is reported. `scores` and `decided` are empty where only agreement was asked for."""

    run: str
    reviews: Sequence[Review]
    agreement: Sequence[Agreement]
    profiles: Sequence[Profile]
    blind: Sequence[BlindAnswers] = ()
    stale: int = 0
    refused: int = 0
    decided: Sequence[Decided] = ()
    scores: Sequence[ScoreRow] = ()
    what: str = "run"


def write_report(report: ReviewReport, folder: Path) -> Path:
    """Write `report.md`, `report.html`, `report.json` and `plots/*.png`; returns the Markdown's path.

    The same reviews give the same bytes.
    """
    plots = draw_plots(report.agreement, report.profiles, report.reviews, folder / "plots")
    text = render_markdown(report, plots)
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    title = f"Review of {report.what} {report.run}"
    page = load_template("annotation", "report.html.j2").render(title=title, body=body)
    write_file(folder / "report.html", page.encode())
    write_file(folder / "report.json", json.dumps(to_json(report), indent=1, ensure_ascii=False).encode() + b"\n")
    write_file(folder / "report.md", text.encode())
    return folder / "report.md"


def render_markdown(report: ReviewReport, plots: Sequence[tuple[str, str]] = ()) -> str:
    """The report in Markdown; `plots` are (caption, path) pairs."""
    agreement = {
        scope: show_table(
            [_list_agreement(line, named=scope != "all") for line in report.agreement if line.scope == scope]
        )
        for scope in ("all", "topology", "pair")
    }
    text = load_template("annotation", "report.md.j2").render(
        report=report,
        decisions=_table_decisions(report.decided),
        scores=_table_scores(report.scores),
        agreement=agreement,
        blind=show_table([_list_blind(one) for one in report.blind]),
        profiles=show_table([_list_profile(one) for one in report.profiles]),
        concerns=[(one.name, "; ".join(one.concerns)) for one in report.profiles if one.concerns],
        plots=plots,
    )
    return text.rstrip() + "\n"


def to_json(report: ReviewReport) -> dict[str, Any]:
    """The report for programs."""
    return {
        "run": report.run,
        "reviews": len(report.reviews),
        "items": len({review.item_id for review in report.reviews}),
        "annotators": len({review.annotator for review in report.reviews}),
        "stale": report.stale,
        "left_out": report.refused,
        "decisions": count_decisions(report.decided),
        "scores": [asdict(row) for row in report.scores],
        "agreement": [asdict(line) for line in report.agreement],
        "blind": [asdict(one) for one in report.blind],
        "profiles": [asdict(profile) for profile in report.profiles],
    }


def count_decisions(decided: Sequence[Decided]) -> dict[str, int]:
    """Outcome (`accepted`, else the check) → items."""
    counts = Counter(one.decision.check or one.decision.state for one in decided)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def show_number(value: float | None, digits: int = 2) -> str:
    """A number, or a dash where there is none."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def show_estimate(estimate: IntervalEstimate) -> str:
    """A value with its interval."""
    if estimate.value is None:
        return NOTHING
    if estimate.low is None or estimate.high is None:
        return show_number(estimate.value)
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def _table_decisions(decided: Sequence[Decided]) -> str:
    rows = [
        {"outcome": name.replace("_", " "), "items": count, "share": count / len(decided)}
        for name, count in count_decisions(decided).items()
    ]
    return show_table(rows, {"share": ".1%"})


def _table_scores(scores: Sequence[ScoreRow]) -> str:
    rows = [
        {
            "kind": _KINDS[row.kind],
            "criterion": TITLES[row.criterion],
            "items": row.items,
            "mean": row.mean,
            "deviation": row.deviation,
        }
        for row in scores
    ]
    return show_table(rows, {"mean": ".2f", "deviation": ".2f"})


def _list_agreement(line: Agreement, *, named: bool) -> dict[str, Any]:
    found = line.reliability
    return {
        "kind": _KINDS[line.kind],
        "criterion": TITLES.get(line.criterion, line.criterion),
        **({"of": line.name} if named else {}),
        "units": found.units,
        "alpha": Markdown(show_estimate(found.alpha)),
        "Fleiss' kappa": Markdown(show_estimate(found.fleiss)),
        "same": Markdown(show_estimate(found.percent)),
        "near": Markdown(show_number(found.within_one)),
    }


def _list_blind(one: BlindAnswers) -> dict[str, Any]:
    return {
        "kind": _KINDS[one.kind],
        "answers": one.answers,
        "right": Markdown(show_estimate(one.right)),
        "retained where right": Markdown(show_estimate(one.kept_right)),
        "retained where not": Markdown(show_estimate(one.kept_wrong)),
    }


def _list_profile(one: Profile) -> dict[str, Any]:
    return {
        "annotator": one.name,
        "reviews": one.reviews,
        "skipped": one.skipped,
        "gold": f"{show_estimate(one.gold)} of {one.gold_seen}" if one.gold_seen else None,
        "machine": Markdown(show_number(one.machine)),
        "seconds": Markdown(show_number(one.median_seconds, 0)),
        "most": Markdown(f"{show_number(one.tenth_seconds, 0)} to {show_number(one.ninetieth_seconds, 0)}"),
        "bias": Markdown(show_number(one.bias)),
        "noise": Markdown(show_number(one.noise)),
        "drift": Markdown(show_number(one.trend)),
    }
