"""`hopwright show` and `hopwright explain`: items of runs."""

from typing import Annotated, Literal

import typer

from flows.commands.options import Json

app = typer.Typer()


@app.command()
def show(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN|ITEM_ID]", help="A run, or one item; the latest run otherwise.")
    ] = None,
    sample: Annotated[int, typer.Option("--sample", min=1, max=10_000, help="How many items of each topology.")] = 5,
    seed: Annotated[int, typer.Option(help="Another seed, another sample.")] = 0,
    stage: Annotated[
        Literal["synthesize", "filter", "rewrite"], typer.Option(help="The stage whose items are shown.")
    ] = "filter",
    as_json: Json = False,
) -> None:
    """Print items of a run, drawn at random, with their sub-questions."""
    from flows.console.show import is_item_id, show_sample

    if is_item_id(run):
        explain(run, as_json=as_json)
    else:
        show_sample(run, stage, sample, seed, as_json=as_json)


@app.command()
def explain(
    item: Annotated[str, typer.Argument(metavar="ITEM_ID", help="An item's id, as `hopwright show` prints it.")],
    run: Annotated[str | None, typer.Option("--run", help="Look in this run only; in all of them otherwise.")] = None,
    as_json: Json = False,
) -> None:
    """Say where an item came from, and show everything that a model was asked for it."""
    from flows.console.explain import explain_item

    explain_item(item, run, as_json=as_json)
