"""`hopwright cache …`: what models answered."""

from typing import Annotated

import typer

from flows.commands.options import Json

app = typer.Typer(no_args_is_help=True, help="The cache of models' answers.", rich_markup_mode=None)


@app.command("stats")
def show_cache(as_json: Json = False) -> None:
    """Show what the cache of models' answers holds."""
    from flows.console.cache import show_stats

    show_stats(as_json=as_json)


@app.command("prune")
def prune_cache(
    older_than_days: Annotated[
        float | None, typer.Option(min=0, help="Drop only answers that are older than this many days.")
    ] = None,
    provider: Annotated[str, typer.Option(help="Drop only answers of this provider.")] = "",
    model: Annotated[str, typer.Option(help="Drop only answers of this model.")] = "",
    failed: Annotated[
        bool,
        typer.Option(
            "--failed", help="Drop only requests without a usable answer, so that their run sends them again."
        ),
    ] = False,
) -> None:
    """Drop answers from the cache. A dropped answer is paid for again when its request is sent again."""
    from flows.console.cache import prune

    prune(older_than_days, provider, model, failed=failed)
