"""`hopwright images …`: pictures, and multi-hop questions about them."""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands.options import DryRun, Json, Options, Replace, Store, takes
from hopwright.settings import (
    PictureQuestionsParameters,
    PicturesEvaluateParameters,
    PicturesExportParameters,
    PicturesFetchParameters,
    PicturesFilterParameters,
    PicturesName,
    PicturesRewordParameters,
)

app = typer.Typer(
    no_args_is_help=True, help="Pictures of entities, and multi-hop questions about them.", rich_markup_mode=None
)

Folder = Annotated[Path, typer.Argument(help="A folder that `hopwright images questions` wrote.")]


@app.command("fetch")
@takes(PicturesFetchParameters)
def fetch_pictures(
    *,
    options: Options,
    store: Store = None,
    folder: Annotated[
        list[Path] | None, typer.Option("--folder", help="A folder of your own pictures with a table, pictures.tsv.")
    ] = None,
    commons: Annotated[
        Path | None,
        typer.Option("--commons", help="A file of Wikidata ids, one a line, to ask Wikimedia Commons about."),
    ] = None,
    endpoint: Annotated[
        str | None, typer.Option("--endpoint", help="Address of a SPARQL service. Without it, Wikidata's is asked.")
    ] = None,
    api: Annotated[
        str | None, typer.Option("--api", help="Address of a MediaWiki API. Without it, Commons' is asked.")
    ] = None,
    contact: Annotated[str, typer.Option("--contact", help="E-mail or web address to state in the User-Agent.")] = "",
    as_json: Json = False,
) -> None:
    """Fetch pictures, draw them alike, link them to the graph, and find those that nobody could tell apart."""
    from flows.console.images import fetch

    fetch(store, folder or [], commons, endpoint, api, contact, options, as_json=as_json)


@app.command("info")
@takes(PicturesName)
def show_pictures(*, options: Options, as_json: Json = False) -> None:
    """Say how many pictures there are, of what and from where, and why some are not used."""
    from flows.console.images import show_info

    show_info(options, as_json=as_json)


@app.command("questions")
@takes(PictureQuestionsParameters)
def make_questions(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder to write: a new or an empty one.")],
    options: Options,
    store: Store = None,
    replace: Replace = False,
    as_json: Json = False,
) -> None:
    """Make proven questions about pictures, as a data set with the pictures in it."""
    from flows.console.images import make

    make(folder, store, options, replace=replace, as_json=as_json)


@app.command("audit")
@takes(PicturesName)
def audit_questions(*, folder: Folder, options: Options, store: Store = None, as_json: Json = False) -> None:
    """Prove a folder of picture questions again: answers, the need of every picture, options, files."""
    from flows.console.images import audit

    audit(folder, store, options, as_json=as_json)


@app.command("evaluate")
@takes(PicturesEvaluateParameters, leaving_out=("access.batch",))
def evaluate_models(*, folder: Folder, options: Options, dry_run: DryRun = False, as_json: Json = False) -> None:
    """Ask models that see pictures: with the right ones, without any, and with wrong ones."""
    from flows.console.images import evaluate

    evaluate(folder, options, dry_run=dry_run, as_json=as_json)


@app.command("filter")
@takes(PicturesFilterParameters, leaving_out=("access.batch", "vllm.deployment"))
def filter_questions(
    *,
    folder: Folder,
    target: Annotated[Path, typer.Argument(help="Folder to write: a new or an empty one.")],
    options: Options,
    replace: Replace = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Have models that see the pictures vote, and keep the questions that are hard enough."""
    from flows.console.images import filter_set

    filter_set(folder, target, options, replace=replace, dry_run=dry_run, as_json=as_json)


@app.command("reword")
@takes(PicturesRewordParameters, leaving_out=("access.batch",))
def reword_questions(
    *,
    folder: Folder,
    target: Annotated[Path, typer.Argument(help="Folder to write: a new or an empty one.")],
    options: Options,
    replace: Replace = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Have a model that sees the pictures word the questions anew; what changes the question is not taken."""
    from flows.console.images import reword_set

    reword_set(folder, target, options, replace=replace, dry_run=dry_run, as_json=as_json)


@app.command("export")
@takes(PicturesExportParameters)
def export_questions(
    *,
    folder: Folder,
    target: Annotated[Path, typer.Argument(help="Folder to write, with one below it for each form.")],
    options: Options,
    as_json: Json = False,
) -> None:
    """Write a folder for lm-evaluation-harness, Inspect or LLaMA-Factory, or tasks for agents that look pictures up."""
    from flows.console.images import export

    export(folder, target, options, as_json=as_json)


@app.command("tasks")
def write_tasks(
    folder: Folder,
    target: Annotated[Path, typer.Argument(help="Folder for interface.xml, instructions.html and tasks.json.")],
    most: Annotated[int, typer.Option("--most", min=1, help="Tasks to write, drawn evenly over the set.")] = 100,
    blind: Annotated[
        bool, typer.Option("--blind", help="Reviewers answer first; then the page shows the stated answer.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a Label Studio interface that shows the pictures, and tasks to import."""
    from flows.console.images import write_tasks

    write_tasks(folder, target, most, blind=blind, as_json=as_json)
