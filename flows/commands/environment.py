"""`hopwright environment …`: agents that search, for trainers."""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands.options import Json, Options, takes
from hopwright.settings import EnvironmentServeParameters

app = typer.Typer(
    no_args_is_help=True, help="Environments in which agents learn to search a corpus.", rich_markup_mode=None
)


@app.command("serve")
@takes(EnvironmentServeParameters)
def serve_environment(
    *,
    tasks: Annotated[
        Path,
        typer.Argument(
            help="The folder `environment` of `hopwright export --to` or of `hopwright images export --form`."
        ),
    ],
    options: Options,
) -> None:
    """Play thousands of episodes at once over HTTP (POST /reset, /step, /score); killed, it goes on with them."""
    from flows.console.environment import serve

    serve(tasks, options)


@app.command("report")
def report_episodes(
    journal: Annotated[Path, typer.Argument(help="The folder of a server's journal.")],
    tasks: Annotated[Path, typer.Argument(help="The folder of tasks that were served.")],
    as_json: Json = False,
) -> None:
    """Say what the episodes of a server came to, and how far twins fall behind their originals."""
    from flows.console.environment import report

    report(journal, tasks, as_json=as_json)
