"""Options that several verbs share, and what they do alike."""

from pathlib import Path
from typing import Annotated, Any

import typer

Run = Annotated[str | None, typer.Option("--run", help="Name of the run's folder.")]
Seed = Annotated[int | None, typer.Option(help="The same seed gives the same bytes.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start over instead of continuing.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Store = Annotated[Path | None, typer.Option("--store", help="Folder of a graph store; the newest one otherwise.")]
Endpoints = Annotated[
    str | None, typer.Option("--endpoints", metavar="FILE", help="TOML file that describes where models answer.")
]
Budget = Annotated[
    float | None, typer.Option("--budget", metavar="USD", help="Stop before this many dollars are exceeded.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what models would be asked and what it would cost, and do nothing.")
]


def group_models(endpoints: str | None, budget: float | None, batch: bool | None) -> dict[str, Any]:
    """The parameters that every verb has which asks models."""
    return {"endpoints": endpoints, "budget_usd": budget, "batch": batch}


def run_stage(
    stage: str, run: str | None, options: dict[str, Any], fresh: bool, as_json: bool, *, dry_run: bool = False
) -> None:
    """Run a stage of a run, or say what it would cost."""
    if dry_run:
        from flows.console.estimate import estimate_one_stage

        estimate_one_stage(stage, run, options, as_json=as_json)
        return
    from flows.console.stage import run_one_stage

    run_one_stage(stage, run, options, fresh=fresh, as_json=as_json)
