"""The summary of a whole run in words: for the terminal, and as a page."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

_WIDTH = 62
"""Letters that a cell of Prefect's page shows before it is cut off."""
_MOST_ROWS = 3
_MOST_TARGETS = 6


def summary_lines(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The summary as (name, text) lines."""
    letters = " ".join(f"{label} {count}" for label, count in summary["letters"].items())
    p = "–" if summary["letters_p"] is None else f"{summary['letters_p']:.3f}"
    translated = summary["back_translation"] or f"skipped: {summary['back_translation_skipped'] or 'not run'}"
    return [
        ("released items", f"{summary['accepted']:,}"),
        ("topologies", _shares(summary["topologies"])),
        ("domains of hops", _shares(summary["domains"])),
        (
            "domains per item",
            ", ".join(f"{number}: {count:,}" for number, count in summary["domains_per_item"].items())
            + f"; mean {summary['mean_domains']:.2f}",
        ),
        ("computing hops", ", ".join(f"{kind} {count:,}" for kind, count in summary["computations"].items())),
        ("items that compute", f"{summary['items_with_computation']:,}"),
        ("final answers", f"{summary['distinct_answers']:,} distinct; {describe_commonest(summary['largest_answer'])}"),
        ("failed checks", f"{summary['failed_checks']:,}"),
        ("wording", describe_wording(summary["wording"])),
        ("targets missed", describe_missed(summary["targets_missed"])),
        ("language models", describe_total_usage(summary["models"])),
        ("right letters", f"{letters}; chi-square p = {p}"),
        ("dropped as too easy", f"{summary['too_easy']:,}"),
        ("twins", f"{summary['twins']:,}"),
        ("back-translation", translated),
        ("items for review", f"{summary['review_items']:,}, in {summary['review_tasks']:,} tasks"),
        ("audit", describe_audit(summary["audit"])),
        ("scorecard", describe_scorecard(summary.get("scorecard_missed", []))),
        ("release", summary["release"]),
        ("run folder", summary["folder"]),
    ]


def describe_commonest(largest: Mapping[str, Any]) -> str:
    """The commonest final answer, and how many others are as common."""
    others = largest["ties"] - 1
    tied = f", {others:,} more as often" if others > 0 else ""
    return f"{largest['value']} is the commonest ({largest['count']:,}, {largest['share']:.1%}{tied})"


def describe_missed(lines: Sequence[str]) -> str:
    """The targets that fell short most, without the reasons, which the yield report gives."""
    if not lines:
        return "none"
    figures = [line.partition("; ")[0] for line in lines]
    rest = len(figures) - _MOST_TARGETS
    more = f"; {rest} more" if rest > 0 else ""
    shown = "; ".join(figures[:_MOST_TARGETS])
    return f"{shown}{more} (shares of the plans drawn, before any was dropped: synthesize/yield says why)"


def describe_scorecard(lines: Sequence[str]) -> str:
    """The limits of the release's scorecard that are not met, and the guessers that are right too often."""
    if not lines:
        return "every limit is met"
    rest = len(lines) - _MOST_TARGETS
    more = f"; {rest} more" if rest > 0 else ""
    return f"not met: {'; '.join(lines[:_MOST_TARGETS])}{more} (SCORECARD.md of the release shows all)"


def describe_wording(taken: Mapping[str, Any]) -> str:
    """Who worded the items, what that took, and how many of those asked for are missing, in words."""
    if taken.get("writer") in (None, "rules"):
        said = "by rules, no request"
    else:
        kept = sum(taken["kept_in_rules_words"].values())
        said = (
            f"by {taken['model']}: {taken['requests']:,} requests ({taken['requests_per_item']:.2f} per item), "
            f"{taken['tokens_per_item']:,.0f} tokens and {taken['usd_per_item']:.4f} dollars per item"
            f"{f'; {kept:,} kept in the rules’ words' if kept else ''}"
        )
    if taken.get("missing"):
        said += f"; {taken['missing']:,} of {taken['asked_for']:,} items are missing (synthesize/yield says why)"
    return said


def describe_audit(audit: Mapping[str, Any] | None) -> str:
    """What the audit of a release found, in words."""
    if audit is None:
        return "not run"
    return f"{audit['violations']:,} violations in {audit['items']:,} items"


def describe_total_usage(summed: Mapping[str, Any] | None) -> str:
    """The same in a line."""
    if summed is None:
        return "none was asked"
    budget = f" of {summed['budget_usd']:,.2f}" if summed["budget_usd"] else ""
    possible = f", at most {summed['possibly_spent_usd']:,.2f} more" if summed["possibly_spent_usd"] else ""
    return (
        f"{summed['requests']:,} requests, {summed['without_answer']:,} rows without an answer of use; "
        f"{summed['spent_usd']:,.2f}{budget} dollars spent{possible}"
    )


def render_summary(summary: Mapping[str, Any], links: Sequence[tuple[str, str]] = ()) -> str:
    """The summary as Markdown: a table of figures, and below it what is too long for a cell.

    A cell of Prefect's page neither wraps nor scrolls, so that a row is no wider than the page is beside its menu.
    """
    rows, below = [], []
    for name, text in summary_lines(summary):
        lines = textwrap.wrap(text, _WIDTH) or [""]
        if len(lines) > _MOST_ROWS:
            below += [f"## {name.capitalize()}", "", *(f"- {part}" for part in text.split("; ")), ""]
            lines = ["listed below"]
        names = (name, *[""] * (len(lines) - 1))
        rows += [f"| {first} | {line} |" for first, line in zip(names, lines, strict=True)]
    if links:
        below += ["## More", "", *(f"- [{text}]({url})" for text, url in links), ""]
    head = [f"# Run {summary['run']}", "", "| figure | value |", "|---|---|"]
    return "\n".join([*head, *rows, "", *below])


def _shares(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
