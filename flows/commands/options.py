"""Options that several verbs share, and what they do alike."""

from pathlib import Path
from typing import Annotated, Any, Literal

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
Workers = Annotated[int | None, typer.Option(help="Worker processes; 0 takes one per processor.")]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Dask cluster for the shards: local, or tcp://HOST:8786."),
]
ParameterFile = Annotated[
    Path | None, typer.Option("--parameters", metavar="FILE", help="JSON file of parameters; options go before it.")
]
MaxRight = Annotated[int | None, typer.Option(help="Right votes allowed before an item is too easy.")]
Voters = Annotated[
    list[str] | None,
    typer.Option(
        "--voter",
        metavar="VOTER",
        help="Who judges difficulty: shortcuts, vllm:MODEL, transformers:MODEL or ENDPOINT/MODEL; several times.",
    ),
]
Twins = Annotated[bool | None, typer.Option("--twins/--no-twins", help="Whether to make counterfactual twins.")]
Translation = Annotated[
    Literal["auto", "apertium", "llm", "marian", "off"] | None,
    typer.Option(help="Back-translation of the twins' wording."),
]
Batch = Annotated[
    bool | None, typer.Option("--batch/--no-batch", help="Ask by batch interfaces: half the price, up to a day.")
]
Name = Annotated[str | None, typer.Option("--name", help="Name of the dataset.")]
Version = Annotated[str | None, typer.Option("--version", help="Semantic version of the dataset.")]


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
