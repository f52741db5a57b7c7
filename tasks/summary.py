"""The figures of a whole run: printed at its end, kept in its manifest, shown in the Prefect UI."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from prefect.artifacts import create_markdown_artifact

from hopwright.runs import RunFolder, Stage
from hopwright.stages.registry import list_steps
from hopwright.stages.release import read_figures, release_folder
from hopwright.stages.synthesize import read_yield
from hopwright.stages.workers import current_pool
from tasks.models import describe_total_usage, sum_models

_WIDTH = 62
"""Letters that a cell of Prefect's page shows before it is cut off."""
_MOST_ROWS = 3
_YIELD = (
    "writer", "model", "asked_for", "accepted", "missing", "requests", "requests_per_item", "tokens_per_item",
    "cost_usd", "usd_per_item", "worded_by_model", "kept_in_rules_words", "rejected",
)  # fmt: skip


def summarise(run: RunFolder) -> dict[str, Any]:
    """Gather the figures of a finished run from its manifests and its release."""
    names = [*(step.name for step in list_steps("rewrite")), "review", "release"]
    manifests = {name: Stage(run, name).read() for name in names}
    folder = release_folder(run)
    figures = current_pool().run(read_figures, folder)
    rewrite = manifests["rewrite"]
    taken = read_yield(run)
    return {
        "run": run.name,
        "accepted": figures["items"],
        "topologies": {name: _round(share["share"]) for name, share in figures["topologies"].items()},
        "domains": {name: _round(share["share"]) for name, share in figures["domains"].items()},
        "domains_per_item": {number: share["count"] for number, share in figures["domains_per_item"].items()},
        "mean_domains": _round(figures["mean_domains"]),
        "computations": {name: share["count"] for name, share in figures["computations"].items()},
        "items_with_computation": figures["items_with_computation"]["count"],
        "distinct_answers": figures["distinct_answers"],
        "largest_answer": {
            "value": figures["largest_answer"]["value"],
            "share": _round(figures["largest_answer"]["share"]),
        },
        "failed_checks": figures["failed_checks"],
        "wording": {name: taken.get(name) for name in _YIELD},
        "targets": manifests["synthesize"].notes.get("targets", {}),
        "targets_missed": manifests["synthesize"].notes.get("targets_missed", []),
        "models": sum_models(run),
        "letters": dict(figures["letters"]),
        "letters_p": None if figures["letters_p"] is None else _round(figures["letters_p"]),
        "too_easy": manifests["filter"].counts.rejected.get("too_easy", 0),
        "twins": rewrite.counts.out,
        "back_translation": rewrite.notes.get("back_translation", ""),
        "back_translation_skipped": rewrite.notes.get("back_translation_skipped", ""),
        "review_tasks": manifests["review"].counts.out,
        "counts": {name: manifest.counts.model_dump(by_alias=True) for name, manifest in manifests.items()},
        "seconds_by_stage": {name: manifest.seconds for name, manifest in manifests.items()},
        "skipped": {name: manifest.skipped for name, manifest in manifests.items() if manifest.skipped},
        "audit": manifests["release"].notes.get("audit"),
        "release": str(folder),
        "folder": str(run.path),
    }


def summary_lines(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The summary as (name, text) lines."""
    letters = " ".join(f"{label} {count}" for label, count in summary["letters"].items())
    p = "–" if summary["letters_p"] is None else f"{summary['letters_p']:.3f}"
    largest = summary["largest_answer"]
    translated = summary["back_translation"] or f"skipped: {summary['back_translation_skipped'] or 'not run'}"
    return [
        ("accepted items", f"{summary['accepted']:,}"),
        ("topologies", _shares(summary["topologies"])),
        ("domains of hops", _shares(summary["domains"])),
        (
            "domains per item",
            ", ".join(f"{number}: {count:,}" for number, count in summary["domains_per_item"].items())
            + f"; mean {summary['mean_domains']:.2f}",
        ),
        ("computing hops", ", ".join(f"{kind} {count:,}" for kind, count in summary["computations"].items())),
        ("items that compute", f"{summary['items_with_computation']:,}"),
        (
            "final answers",
            f"{summary['distinct_answers']:,} distinct; {largest['value']} is the commonest ({largest['share']:.1%})",
        ),
        ("failed checks", f"{summary['failed_checks']:,}"),
        ("wording", describe_wording(summary["wording"])),
        ("targets missed", "; ".join(summary["targets_missed"]) or "none"),
        ("language models", describe_total_usage(summary["models"])),
        ("right letters", f"{letters}; chi-square p = {p}"),
        ("dropped as too easy", f"{summary['too_easy']:,}"),
        ("twins", f"{summary['twins']:,}"),
        ("back-translation", translated),
        ("tasks for review", f"{summary['review_tasks']:,}"),
        ("audit", describe_audit(summary["audit"])),
        ("release", summary["release"]),
        ("run folder", summary["folder"]),
    ]


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


def publish_summary(summary: Mapping[str, Any], links: Sequence[tuple[str, str]] = ()) -> None:
    """Show the summary in the Prefect UI; `links` are (text, address) pairs of where to look further."""
    create_markdown_artifact(
        key="run-summary", markdown=render_summary(summary, links), description="The figures of the whole run"
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


def _round(value: float) -> float:
    return round(value, 4)
