"""What a maintainer sees of a whole run in the Prefect UI: the funnel, the pictures, and where to look further."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from prefect.artifacts import (
    create_image_artifact,
    create_link_artifact,
    create_markdown_artifact,
    create_table_artifact,
)
from prefect.settings import get_current_settings

from hopwright.runs import RunFolder
from tasks.pool import current_pool
from tasks.review import PUSHED
from tasks.steps import in_flow
from tasks.work.funnel import Step, draw_funnel, list_steps

_MOST_BYTES = 400_000
"""A picture that is larger is not put into an artifact."""
_PICTURES = ("topologies", "domains", "domains_per_item", "computation_kinds", "answer_types", "rejections")
_PAGES = (
    ("synthesize-yield", "synthesize", "what an accepted item took"),
    ("filter-report", "filter", "how difficult the items are"),
    ("rewrite-report", "rewrite", "counterfactual twins: proof, wording, memory"),
    ("review-report", "review/accepted", "what the experts said"),
)


def publish_funnel(run: RunFolder, *, picture: bool = False) -> None:
    """The stages that are finished so far: a table, and a picture at the end of a run."""
    if not in_flow():
        return
    steps = list_steps(run)
    if not steps:
        return
    create_table_artifact(
        key="run-funnel", table=tabulate_steps(steps), description=f"Run {run.name}: from stage to stage"
    )
    if picture:
        image = encode_picture(current_pool().run(draw_funnel, steps))
        create_image_artifact(key="run-funnel-picture", image_url=image, description=f"Run {run.name}: the funnel")


def tabulate_steps(steps: Sequence[Step]) -> list[dict[str, str]]:
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
    """What can be looked at, and its address: pages of this server, and projects in Label Studio."""
    base = (get_current_settings().ui_url or "").rstrip("/")
    made = {step.stage for step in list_steps(run)}
    pages = [(what, f"{base}/artifacts/key/{key}") for key, stage, what in _PAGES if stage in made]
    pages.insert(0, ("the funnel of this run", f"{base}/artifacts/key/run-funnel"))
    return [*pages, *list_projects(run)]


def list_projects(run: RunFolder) -> list[tuple[str, str]]:
    """The Label Studio projects that the run's tasks were pushed to, with their addresses."""
    path = run.path / "review" / PUSHED
    if not path.is_file():
        return []
    return [(str(one["title"]), str(one["url"])) for one in json.loads(path.read_text("utf-8"))]


def encode_picture(png: bytes) -> str:
    """An address that holds the picture itself: the page shows it without asking anybody."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _list_pictures(release: Path) -> Iterator[tuple[str, str]]:
    for name in _PICTURES:
        path = release / "plots" / f"{name}.png"
        if path.is_file() and path.stat().st_size <= _MOST_BYTES:
            yield name.replace("_", " "), encode_picture(path.read_bytes())
