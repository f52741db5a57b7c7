"""What a maintainer sees of a stage in the Prefect UI: progress while it runs, then a table and a story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prefect.artifacts import create_markdown_artifact, create_table_artifact
from prefect.logging import get_run_logger

from hopwright.difficulty.report import DifficultyReport
from hopwright.records import Rejected
from hopwright.runs import RunFolder, Stage, StageManifest
from hopwright.runs.code import digest_code
from hopwright.runs.stage import CODE
from hopwright.stages.rejections import describe_row, find_examples
from tasks.flow_context import in_flow
from tasks.live import name_artifact

_WIDTH = 700
_NONE: Mapping[str, Sequence[Rejected]] = {}


def publish_stage(manifest: StageManifest, unit: str, folder: str) -> None:
    """The table (counts by reason) and the story of a finished stage, where a flow is running."""
    if not in_flow():
        return
    get_run_logger().info("%s", describe_stage_end(manifest, unit))
    examples = find_examples(Path(folder) / "rejected", manifest.counts.rejected)
    create_table_artifact(
        key=name_artifact(manifest.stage, "counts"),
        table=count_rows(manifest, examples),
        description=f"{manifest.stage}: {unit} by outcome",
    )
    if any(examples.values()):
        create_markdown_artifact(
            key=name_artifact(manifest.stage, "rejected"),
            markdown=show_rejected(manifest, examples),
            description=f"{manifest.stage}: what was rejected, with examples",
        )
    create_markdown_artifact(
        key=name_artifact(manifest.stage, "story"),
        markdown=describe_stage(manifest, unit, folder),
        description=f"{manifest.stage}: what came in, what came out, where it lies",
    )


def publish_difficulty(run: RunFolder) -> None:
    """What the votes say: a table of the voters, and the whole report, where a flow is running."""
    from hopwright.stages.filter import REPORT, read_difficulty  # a stage's modules take a second to import

    report, folder = read_difficulty(run), run.path / REPORT
    if not in_flow() or report is None:
        return
    create_table_artifact(
        key="filter-voters", table=list_voter_rows(report), description="filter: how the voters did, over all items"
    )
    plot = f"\n\nThe calibration plot is `{folder}/calibration.png`." if (folder / "calibration.png").is_file() else ""
    create_markdown_artifact(
        key="filter-report",
        # As the worker wrote it: made anew here it would have the flow's own process import what makes tables.
        markdown=f"{(folder / 'report.md').read_text('utf-8')}{plot}",
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


def publish_rewrite(run: RunFolder) -> None:
    """The report that proves the twins, where a flow is running."""
    from hopwright.stages.rewrite_report import REPORT

    if in_flow():
        create_markdown_artifact(
            key="rewrite-report",
            markdown=(run.path / REPORT / "report.md").read_text("utf-8"),
            description="Counterfactual twins: proof, wording, memory",
        )


def publish_yield(run: RunFolder) -> None:
    """The yield report of a synthesis, where a flow is running."""
    from hopwright.stages.synthesize import read_yield, yield_folder

    values = read_yield(run)
    if not in_flow() or not values:
        return
    create_table_artifact(
        key="synthesize-yield-rejected",
        table=[
            {"step": step, "check": check, "rows": rows}
            for step, checks in values["rejected"].items()
            for check, rows in checks.items()
        ],
        description="synthesize: rejected rows by step and check",
    )
    create_markdown_artifact(
        key="synthesize-yield",
        markdown=(yield_folder(Stage(run, "synthesize")) / "yield.md").read_text("utf-8"),
        description="synthesize: what an accepted item took, and what was rejected",
    )


def count_rows(manifest: StageManifest, examples: Mapping[str, Sequence[Rejected]] = _NONE) -> list[dict[str, Any]]:
    """One row per outcome: accepted, then rejected by check, most frequent first, with the ids of examples."""
    counts = manifest.counts
    rejected = sorted(counts.rejected.items(), key=lambda pair: (-pair[1], pair[0]))
    return [
        {
            "outcome": outcome,
            "check": check,
            "rows": rows,
            "share": f"{rows / counts.taken:.1%}" if counts.taken else "–",
            "examples": ", ".join(one.key for one in examples.get(check, ())),
        }
        for outcome, check, rows in (("accepted", "", counts.out), *(("rejected", *pair) for pair in rejected))
    ]


def show_rejected(manifest: StageManifest, examples: Mapping[str, Sequence[Rejected]]) -> str:
    """Examples of what each check rejected, in Markdown; what an item asks is quoted, never interpreted."""
    counts = manifest.counts
    lines = [
        f"# What {manifest.stage} rejected",
        "",
        "`hopwright show ID` prints an item with its sub-questions, and says which stage did what with it.",
    ]
    for check, rows in sorted(counts.rejected.items(), key=lambda pair: (-pair[1], pair[0])):
        share = f", {rows / counts.taken:.1%}" if counts.taken else ""
        lines += ["", f"## {check}: {rows:,}{share}", ""]
        for one in examples.get(check, ()):
            lines.append(f"- `{one.key}`: {_quote(one.reason)}")
            lines += [f"  {_quote(text)}" for text in [describe_row(one)] if text]
    return "\n".join(lines)


def describe_stage(manifest: StageManifest, unit: str, folder: str) -> str:
    """A stage in a few lines of Markdown."""
    counts = manifest.counts
    lost = sum(counts.rejected.values())
    lines = [
        f"# {manifest.stage}",
        "",
        f"{counts.taken:,} {unit} in, {counts.out:,} out, {lost:,} rejected "
        f"({counts.taken:,} = {counts.out:,} + {lost:,}), in {manifest.seconds:.1f} s.",
    ]
    if manifest.versions.get(CODE, "") not in ("", digest_code(manifest.stage)):
        lines.append(f"It was made by another version of the code ({manifest.versions[CODE]}) than is here now.")
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


def describe_stage_end(manifest: StageManifest, unit: str) -> str:
    """A finished stage in a line for the log."""
    counts = manifest.counts
    lost = sum(counts.rejected.values())
    took = "was finished before" if manifest.shards and manifest.shards_found == manifest.shards else "is finished"
    return f"{manifest.stage} {took}: {counts.taken:,} {unit} in, {counts.out:,} out, {lost:,} rejected"


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


def _quote(text: str) -> str:
    """Text of items in Markdown: it came from a graph or a model, and is code to the page."""
    return f"`{' '.join(text.replace('`', chr(39)).split())[:_WIDTH]}`" if text.strip() else "no reason kept"
