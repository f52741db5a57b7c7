"""`hopwright cache …`: what models answered."""

from typing import Annotated

import typer

from flows.commands.options import Json

app = typer.Typer(no_args_is_help=True, help="The cache of models' answers.", rich_markup_mode=None)


@app.command("stats")
def show_cache(as_json: Json = False) -> None:
    """Say what the cache of models' answers holds."""
    from flows.console.cache import show_stats

    show_stats(as_json=as_json)


@app.command("prune")
def prune_cache(
    older_than_days: Annotated[float | None, typer.Option(min=0, help="Only answers older than so many days.")] = None,
    provider: Annotated[str, typer.Option(help="Only answers of this provider.")] = "",
    model: Annotated[str, typer.Option(help="Only answers of this model.")] = "",
    failed: Annotated[
        bool, typer.Option("--failed", help="Only requests that got no answer of use, so that their run asks again.")
    ] = False,
) -> None:
    """Drop answers from the cache; what is dropped is paid again when it is asked again."""
    from flows.console.cache import prune

    prune(older_than_days, provider, model, failed=failed)
