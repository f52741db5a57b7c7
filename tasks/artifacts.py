"""What a maintainer sees of a stage in the Prefect UI: progress while it runs, then a table and a story."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from hopwright.difficulty.render import render_report
from hopwright.difficulty.report import DifficultyReport
from hopwright.runs import StageManifest
from tasks.progress import tell
from tasks.steps import in_flow


class StageProgress:
    """The progress artifact of one stage."""

    def __init__(self, stage: str, total: int, done: int) -> None:
        self._stage = stage
        self._total = total
        self._done = done
        tell(stage, done, total)
        self._id: UUID | None = None
        if in_flow():
            # Prefect's functions are typed as both kinds; called from a synchronous flow they return the id itself.
            self._id = cast(
                UUID,
                create_progress_artifact(
                    progress=self._percent(), key=_key(stage, "progress"), description=f"Shards of {stage}"
                ),
            )

    def advance(self) -> None:
        """One more shard is done."""
        self._done += 1
        tell(self._stage, self._done, self._total)
        if self._id is not None:
            update_progress_artifact(self._id, progress=self._percent())

    def _percent(self) -> float:
        return 100.0 * self._done / self._total if self._total else 100.0


def publish_stage(manifest: StageManifest, unit: str, folder: str) -> None:
    """The table (counts by reason) and the story of a finished stage, where a flow is running."""
    if not in_flow():
        return
    create_table_artifact(
        key=_key(manifest.stage, "counts"),
        table=count_rows(manifest),
        description=f"{manifest.stage}: {unit} by outcome",
    )
    create_markdown_artifact(
        key=_key(manifest.stage, "story"),
        markdown=tell_story(manifest, unit, folder),
        description=f"{manifest.stage}: what came in, what came out, where it lies",
    )


def publish_difficulty(report: DifficultyReport, files: Mapping[str, str], folder: str) -> None:
    """What the votes say: a table of the voters, and the whole report, where a flow is running."""
    if not in_flow():
        return
    create_table_artifact(
        key="filter-voters", table=list_voter_rows(report), description="filter: how the voters did, over all items"
    )
    plot = f"\n\nThe calibration plot is `{folder}/calibration.png`." if "calibration.png" in files else ""
    create_markdown_artifact(
        key="filter-report",
        markdown=f"# How difficult the items are\n\n{render_report(report)}{plot}",
        description="filter: accuracy, agreement, calibration, what was dropped",
    )


def list_voter_rows(report: DifficultyReport) -> list[dict[str, Any]]:
    """One row per voter: accuracy in all and by reasoning graph."""
    graphs = report.by.get("topology", {})
    return [
        {
            "voter": name,
            "votes": voter.overall.votes,
            "accuracy": f"{voter.overall.accuracy:.1%}",
            "no answer": voter.unanswered,
            **{graph: f"{scores[name].accuracy:.1%}" if name in scores else "–" for graph, scores in graphs.items()},
        }
        for name, voter in report.voters.items()
    ]


def publish_text(key: str, markdown: str, description: str) -> None:
    """A text of a stage's own, where a flow is running."""
    if in_flow():
        create_markdown_artifact(key=key, markdown=markdown, description=description)


def count_rows(manifest: StageManifest) -> list[dict[str, Any]]:
    """One row per outcome: accepted, then rejected by check, most frequent first."""
    counts = manifest.counts
    rejected = sorted(counts.rejected.items(), key=lambda pair: (-pair[1], pair[0]))
    return [
        {
            "outcome": outcome,
            "check": check,
            "rows": rows,
            "share": f"{rows / counts.taken:.1%}" if counts.taken else "–",
        }
        for outcome, check, rows in (("accepted", "", counts.out), *(("rejected", *pair) for pair in rejected))
    ]


def tell_story(manifest: StageManifest, unit: str, folder: str) -> str:
    """A stage in a few lines of Markdown."""
    counts = manifest.counts
    lost = sum(counts.rejected.values())
    lines = [
        f"# {manifest.stage}",
        "",
        f"{counts.taken:,} {unit} in, {counts.out:,} out, {lost:,} rejected "
        f"({counts.taken:,} = {counts.out:,} + {lost:,}), in {manifest.seconds:.1f} s.",
    ]
    if manifest.shards_found:
        lines.append(f"{manifest.shards_found} of {manifest.shards} shards were there from an earlier start.")
    if counts.rejected:
        worst = max(counts.rejected, key=lambda check: (counts.rejected[check], check))
        lines.append(f"Most were rejected by `{worst}` ({counts.rejected[worst]:,}).")
    lines += [f"Skipped: {reason} ({rows:,})." for reason, rows in manifest.skipped.items()]
    if manifest.usage.cost_usd or manifest.usage.input_tokens:
        usage = manifest.usage
        lines.append(f"Tokens: {usage.input_tokens:,} in, {usage.output_tokens:,} out; {usage.cost_usd:.2f} USD.")
    lines += ["", _bullet_list(manifest.notes), "", f"Everything lies in `{folder}`."]
    return "\n".join(lines)


def _bullet_list(notes: Mapping[str, Any]) -> str:
    return "\n".join(f"- {name.replace('_', ' ')}: {_say(value)}" for name, value in notes.items() if value != "")


def _say(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_say(one)}" for name, one in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _key(stage: str, what: str) -> str:
    return f"{stage.replace('/', '-')}-{what}"
