"""What a maintainer sees of a whole run in the Prefect UI: the funnel, the pictures, and where to look further."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from prefect.artifacts import (
    create_link_artifact,
    create_markdown_artifact,
)
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    ArtifactFilter,
    ArtifactFilterFlowRunId,
    ArtifactFilterKey,
    FlowRunFilter,
    FlowRunFilterParentFlowRunId,
)
from prefect.client.schemas.sorting import ArtifactSort
from prefect.context import FlowRunContext
from prefect.settings import get_current_settings

from hopwright.runs import RunFolder
from hopwright.stages.funnel import FunnelStage, draw_funnel, list_steps
from hopwright.stages.workers import current_pool
from tasks.flow_context import in_flow
from tasks.live import LiveArtifact
from tasks.review import PUSHED

_MOST_BYTES = 400_000
"""A picture that is larger is not put into an artifact."""
_PICTURES = ("topologies", "domains", "domains_per_item", "computation_kinds", "answer_types", "rejections")
_PAGES = {
    "run-funnel-picture": "the funnel as a picture",
    "run-funnel": "the funnel in numbers",
    "run-plots": "plots of the release",
    "synthesize-drafts-rejected": "what was rejected when plans were drawn, with examples",
    "synthesize-rejected": "what was rejected when drafts were selected",
    "synthesize-yield": "what an accepted item took",
    "filter-rejected": "what was too easy, with examples",
    "filter-report": "how difficult the items are",
    "rewrite-report": "twins: proof, wording, memory",
}
"""The artifacts that a summary leads to, in its order."""


class Funnel:
    """The stages of a run that are finished so far: one table, brought up to date as the run goes on."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._table = LiveArtifact("run-funnel", f"Run {run.name}: from stage to stage")

    def show(self, *, picture: bool = False) -> None:
        """Publish what is there, where a flow is running; `picture`, at the end of a run, draws it too."""
        steps = list_steps(self._run)
        if not in_flow() or not steps:
            return
        self._table.show(tabulate_steps(steps))
        drawn = [step for step in steps if step.stage != "retrieve"]
        if picture and drawn:
            image = encode_picture(current_pool().run(draw_funnel, drawn))
            create_markdown_artifact(
                key="run-funnel-picture",
                markdown=f"# Run {self._run.name}\n\n![from stage to stage]({image})",
                description=f"Run {self._run.name}: the funnel",
            )


def tabulate_steps(steps: Sequence[FunnelStage]) -> list[dict[str, str]]:
    """One row per stage, with the three checks that rejected most."""
    return [
        {
            "stage": step.stage,
            "rows": step.what,
            "in": f"{step.taken:,}",
            "out": f"{step.out:,}",
            "share": f"{step.share:.1%}",
            "rejected most": ", ".join(f"{check} {rows:,}" for check, rows in list(step.lost.items())[:3]) or "–",
        }
        for step in steps
    ]


def publish_release(run: RunFolder, release: Path) -> None:
    """The plots of a release, and the links: to the run's other pages and to Label Studio's projects."""
    if not in_flow():
        return
    pictures = list(_list_pictures(release))
    if pictures:
        lines = [f"# Plots of run {run.name}", *(f"## {name}\n\n![{name}]({url})" for name, url in pictures)]
        create_markdown_artifact(key="run-plots", markdown="\n\n".join(lines), description="What the release holds")
    for title, url in list_projects(run):
        create_link_artifact(key="review-project", link=url, link_text=title, description=title)


def list_links(run: RunFolder) -> list[tuple[str, str]]:
    """What can be looked at, and its address: this flow run's pages in the UI, and the projects in Label Studio."""
    return [*_list_pages(), *list_projects(run)]


def list_projects(run: RunFolder) -> list[tuple[str, str]]:
    """The Label Studio projects that the run's tasks were pushed to, with their addresses."""
    path = run.path / "review" / PUSHED
    if not path.is_file():
        return []
    return [(str(one["title"]), str(one["url"])) for one in json.loads(path.read_text("utf-8"))]


def encode_picture(png: bytes) -> str:
    """An address that holds the picture itself: the page shows it without asking anybody."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _list_pages() -> list[tuple[str, str]]:
    """The artifacts of this flow run and of its stages that the summary leads to; none where there is no UI."""
    context = FlowRunContext.get()
    base = (get_current_settings().ui_url or "").rstrip("/")
    if context is None or context.flow_run is None or not base:
        return []
    client = get_client(sync_client=True)
    own = context.flow_run.id
    stages = client.read_flow_runs(
        flow_run_filter=FlowRunFilter(parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=[own]))
    )
    runs = [own, *(stage.id for stage in stages)]
    wanted = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=runs), key=ArtifactFilterKey(any_=list(_PAGES)))
    found = client.read_artifacts(artifact_filter=wanted, sort=ArtifactSort.UPDATED_DESC)
    latest = {str(one.key): one.id for one in reversed(found)}
    return [(text, f"{base}/artifacts/artifact/{latest[key]}") for key, text in _PAGES.items() if key in latest]


def _list_pictures(release: Path) -> Iterator[tuple[str, str]]:
    for name in _PICTURES:
        path = release / "plots" / f"{name}.png"
        if path.is_file() and path.stat().st_size <= _MOST_BYTES:
            yield name.replace("_", " "), encode_picture(path.read_bytes())
