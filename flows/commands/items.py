"""`hopwright show` and `hopwright explain`: items of runs."""

from typing import Annotated, Literal

import typer

from flows.commands.options import Json, Options, Store, takes
from hopwright.settings import SynthesizeRun

app = typer.Typer()
_NO_PREVIEW = (
    "workers", "cluster", "shard_size", "models.batch", "synthesize.drafts", "synthesize.items",
    "synthesize.claims", "synthesize.claim_share", "synthesize.embeddings", "synthesize.max_answer_share",
    "synthesize.targets", "synthesize.keep_rules",
)  # fmt: skip
"""What a few items without a run have no use for."""


@app.command()
def show(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN|ITEM_ID]", help="A run or the id of an item. Without it, the latest run is taken."
        ),
    ] = None,
    sample: Annotated[
        int, typer.Option("--sample", min=1, max=10_000, help="Number of items to draw, evenly over the topologies.")
    ] = 5,
    seed: Annotated[int, typer.Option(help="Another seed draws another sample.")] = 0,
    named: Annotated[
        str | None, typer.Option("--run", help="Name of the run. With an ITEM_ID, look for the item in this run only.")
    ] = None,
    stage: Annotated[
        Literal["synthesize", "filter", "rewrite"], typer.Option(help="The stage whose items are drawn.")
    ] = "filter",
    as_json: Json = False,
) -> None:
    """Print items of a run, drawn at random, with their sub-questions; or explain one item."""
    from flows.console.show import is_item_id, show_sample

    if run is not None and is_item_id(run):
        explain(run, named, as_json=as_json)
    elif run is not None and named is not None:
        raise typer.BadParameter(f"two runs are named, {run!r} and {named!r}", param_hint="'--run'")
    else:
        show_sample(run or named, stage, sample, seed, as_json=as_json)


@app.command()
@takes(SynthesizeRun, leaving_out=_NO_PREVIEW)
def preview(
    *,
    number: Annotated[int, typer.Option("--number", "-n", min=1, max=100, help="Number of items to make.")] = 5,
    options: Options,
    store: Store = None,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to the printed price, and ask the model.")] = False,
    as_json: Json = False,
) -> None:
    """Make a few items at once and print them; no run begins."""
    from flows.console.preview import preview as make_preview

    make_preview(number, store, options, agreed=yes, as_json=as_json)


@app.command()
def explain(
    item: Annotated[str, typer.Argument(metavar="ITEM_ID", help="An item's id, as `hopwright show` prints it.")],
    run: Annotated[
        str | None, typer.Option("--run", help="Look in this run only. Without it, all runs are searched.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show where an item comes from, and everything that a model was asked for it."""
    from flows.console.explain import explain_item

    explain_item(item, run, as_json=as_json)
