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
from annotation.agreement import Agreement
from annotation.annotators import Profile
from annotation.plots import draw_plots
from annotation.schema import TITLES
from annotation.templating import load_template
from hopwright.records import Review
from hopwright.runs import write_file
from hopwright.scoring.intervals import IntervalEstimate

_NOTHING = "–"
_KINDS = {"single_hop": "single-hop", "multi_hop": "multi-hop", "twin": "twin"}


@dataclass(frozen=True, slots=True)
class ReviewReport:
    """What is reported. `scores` and `decided` are empty where only agreement was asked for."""

    run: str
    reviews: Sequence[Review]
    agreement: Sequence[Agreement]
    profiles: Sequence[Profile]
    stale: int = 0
    refused: int = 0
    decided: Sequence[Decided] = ()
    scores: Sequence[ScoreRow] = ()


def write_report(report: ReviewReport, folder: Path) -> Path:
    """Write `report.md`, `report.html`, `report.json` and `plots/*.png`; returns the Markdown's path.

    The same reviews give the same bytes.
    """
    plots = draw_plots(report.agreement, report.profiles, report.reviews, folder / "plots")
    text = render_markdown(report, plots)
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    page = load_template("report.html.j2").render(title=f"Review of run {report.run}", body=body)
    write_file(folder / "report.html", page.encode())
    write_file(folder / "report.json", json.dumps(to_json(report), indent=1, ensure_ascii=False).encode() + b"\n")
    write_file(folder / "report.md", text.encode())
    return folder / "report.md"


def render_markdown(report: ReviewReport, plots: Sequence[tuple[str, str]] = ()) -> str:
    """The report in Markdown; `plots` are (caption, path) pairs."""
    people = len({review.annotator for review in report.reviews})
    items = len({review.item_id for review in report.reviews})
    lines = [
        f"# Review of run {report.run}",
        "",
        f"{len(report.reviews):,} reviews of {items:,} items by {people} annotators.",
    ]
    if report.stale:
        lines.append(f"Left out, because the text has changed since: {_plural(report.stale, 'review')}.")
    if report.refused:
        lines.append(f"Left out, because they do not fit the interface: {_plural(report.refused, 'annotation')}.")
    if report.decided:
        lines += ["", "## Decisions", "", *_decision_table(report.decided)]
    if report.scores:
        lines += [
            "",
            "## Scores of the accepted items",
            "",
            "Mean and standard deviation over items; an item's score is the mean over its reviewers and its hops.",
            "",
            *_score_table(report.scores),
        ]
    lines += [
        "",
        "## Agreement",
        "",
        "Krippendorff's alpha (ordinal for scores, nominal for verdicts; missing ratings allowed) and Fleiss' kappa "
        "(where all units have equally many raters), each with its 95 % interval from 1,000 resamples of items. "
        "“Same” is the share of pairs of ratings that are equal, “near” of those at most one point apart.",
        "",
        *_agreement_table([line for line in report.agreement if line.scope == "all"], named=False),
        "",
        "### By reasoning graph",
        "",
        *_agreement_table([line for line in report.agreement if line.scope == "topology"], named=True),
    ]
    pairs = [line for line in report.agreement if line.scope == "pair"]
    if pairs:
        lines += ["", "### By pair of annotators", "", *_agreement_table(pairs, named=True)]
    lines += [
        "",
        "## Annotators",
        "",
        "“Gold” is the share of planted faults that were found. “Machine” is Cohen's kappa between objections (a "
        "verdict other than Retain) and those of the checks, warnings included. “Bias” is the mean of scores less "
        "those of the others on the same unit, “drift” how much it moved from the first review to the last.",
        "",
        *_profile_table(report.profiles),
    ]
    concerns = [f"- {one.name}: {'; '.join(one.concerns)}." for one in report.profiles if one.concerns]
    lines += ["", "Worth a closer look:" if concerns else "Nobody stands out.", "", *concerns]
    for caption, path in plots:
        lines += ["", f"![{caption}]({path})"]
    return "\n".join(lines).rstrip() + "\n"


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
        "profiles": [asdict(profile) for profile in report.profiles],
    }


def count_decisions(decided: Sequence[Decided]) -> dict[str, int]:
    """Outcome (`accepted`, else the check) → items."""
    counts = Counter(one.decision.check or one.decision.state for one in decided)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def show_number(value: float | None, digits: int = 2) -> str:
    """A number, or a dash where there is none."""
    return _NOTHING if value is None else f"{value:.{digits}f}"


def show_estimate(estimate: IntervalEstimate) -> str:
    """A value with its interval."""
    if estimate.value is None:
        return _NOTHING
    if estimate.low is None or estimate.high is None:
        return show_number(estimate.value)
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"


def _decision_table(decided: Sequence[Decided]) -> list[str]:
    total = len(decided)
    rows = [[name.replace("_", " "), f"{n:,}", f"{n / total:.1%}"] for name, n in count_decisions(decided).items()]
    return _table(["outcome", "items", "share"], rows)


def _score_table(scores: Sequence[ScoreRow]) -> list[str]:
    rows = [
        [_KINDS[row.kind], TITLES[row.criterion], f"{row.items:,}", f"{row.mean:.2f}", f"{row.deviation:.2f}"]
        for row in scores
    ]
    return _table(["kind", "criterion", "items", "mean", "deviation"], rows)


def _agreement_table(lines: Sequence[Agreement], *, named: bool) -> list[str]:
    rows = [
        [
            _KINDS[line.kind],
            TITLES.get(line.criterion, line.criterion),
            *([line.name] if named else []),
            f"{line.reliability.units:,}",
            show_estimate(line.reliability.alpha),
            show_estimate(line.reliability.fleiss),
            show_estimate(line.reliability.percent),
            show_number(line.reliability.within_one),
        ]
        for line in lines
    ]
    if not rows:
        return ["Nothing was rated twice."]
    head = ["kind", "criterion", *(["of"] if named else []), "units", "alpha", "Fleiss' kappa", "same", "near"]
    return _table(head, rows)


def _profile_table(profiles: Sequence[Profile]) -> list[str]:
    rows = [
        [
            one.name,
            f"{one.reviews:,}",
            f"{one.skipped:,}",
            f"{show_estimate(one.gold)} of {one.gold_seen}" if one.gold_seen else _NOTHING,
            show_number(one.machine),
            show_number(one.median_seconds, 0),
            f"{show_number(one.tenth_seconds, 0)} to {show_number(one.ninetieth_seconds, 0)}",
            show_number(one.bias),
            show_number(one.noise),
            show_number(one.trend),
        ]
        for one in profiles
    ]
    if not rows:
        return ["Nobody has reviewed anything yet."]
    head = ["annotator", "reviews", "skipped", "gold", "machine", "seconds", "most", "bias", "noise", "drift"]
    return _table(head, rows)


def _plural(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
