"""The figures of a whole run: printed at its end, kept in its manifest, shown in the Prefect UI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prefect.artifacts import create_markdown_artifact

from hopwright.reporting.run_summary import render_summary
from hopwright.runs import RunFolder, Stage
from hopwright.stages.registry import list_steps
from hopwright.stages.release import read_figures, release_folder
from hopwright.stages.synthesize import read_yield
from hopwright.stages.workers import current_pool
from tasks.models import sum_models

_YIELD = (
    "writer", "model", "asked_for", "accepted", "missing", "requests", "requests_per_item", "tokens_per_item",
    "cost_usd", "usd_per_item", "worded_by_model", "kept_in_rules_words", "rejected",
)  # fmt: skip


def summarise(run: RunFolder) -> dict[str, Any]:
    """Gather the figures of a finished run from its manifests and its release; it may have no tasks for reviewers."""
    reviewing = Stage(run, "review").find_finished()
    names = [*(step.name for step in list_steps("rewrite")), *(["review"] if reviewing else []), "release"]
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
        "largest_answer": {**figures["largest_answer"], "share": _round(figures["largest_answer"]["share"])},
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
        "review_items": reviewing.counts.out if reviewing else 0,
        "review_tasks": sum(reviewing.notes["tasks"].values()) if reviewing else 0,
        "counts": {name: manifest.counts.model_dump(by_alias=True) for name, manifest in manifests.items()},
        "seconds_by_stage": {name: manifest.seconds for name, manifest in manifests.items()},
        "skipped": {name: manifest.skipped for name, manifest in manifests.items() if manifest.skipped},
        "audit": manifests["release"].notes.get("audit"),
        "scorecard_missed": manifests["release"].notes.get("missed", []),
        "release": str(folder),
        "folder": str(run.path),
    }


def renew_summary(run: RunFolder) -> None:
    """Keep the figures of a run whose stages were made anew one by one, once its release is there again."""
    steps = [step.name for step in list_steps("rewrite")]
    if all(Stage(run, name).find_finished() for name in (*steps, "release")):
        run.record_summary(summarise(run))


def publish_summary(summary: Mapping[str, Any], links: Sequence[tuple[str, str]] = ()) -> None:
    """Show the summary in the Prefect UI; `links` are (text, address) pairs of where to look further."""
    create_markdown_artifact(
        key="run-summary", markdown=render_summary(summary, links), description="The figures of the whole run"
    )


def _round(value: float) -> float:
    # Shown as percent with one digit; four digits would be rounded twice.
    return round(value, 6)
