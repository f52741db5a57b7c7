"""`hopwright novels …`: books, and multi-hop questions through long windows of them."""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands.options import DryRun, Json, Options, Replace, takes
from hopwright.settings import (
    NovelAskParameters,
    NovelQuestionsParameters,
    NovelsAddParameters,
    NovelsEvaluateParameters,
    NovelsExportParameters,
    NovelsName,
    NovelStarParameters,
)

app = typer.Typer(
    no_args_is_help=True, help="Novels, and multi-hop questions through long windows of them.", rich_markup_mode=None
)

Folder = Annotated[Path, typer.Argument(help="A folder that `hopwright novels questions` wrote.")]


@app.command("add")
@takes(NovelsAddParameters)
def add_books(
    *,
    files: Annotated[list[Path], typer.Argument(help="Books: Project Gutenberg's texts, EPUB, plain text.")],
    options: Options,
    as_json: Json = False,
) -> None:
    """Put books on the shelf."""
    from flows.console.novels import add

    add(files, options, as_json=as_json)


@app.command("info")
@takes(NovelsName)
def show_books(
    *,
    options: Options,
    book: Annotated[str, typer.Argument(help="Beginning of a book's id, to list who is in it.")] = "",
    as_json: Json = False,
) -> None:
    """Say which books there are; of one book, who and which places are in it, and under which names."""
    from flows.console.novels import show_info

    show_info(book, options, as_json=as_json)


@app.command("questions")
@takes(NovelQuestionsParameters, leaving_out=("access.batch",))
def make_questions(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder to write: a new or an empty one.")],
    options: Options,
    replace: Replace = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Make proven questions about windows of the books, as a data set."""
    from flows.console.novels import make

    make(folder, options, dry_run=dry_run, replace=replace, as_json=as_json)


@app.command("ask")
@takes(NovelAskParameters, leaving_out=("access.batch",))
def ask_chains(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder to write: a new or an empty one.")],
    options: Options,
    replace: Replace = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Have a model word and answer chains, hop by hop within one paragraph; its words are held against the text."""
    from flows.console.novels import ask

    ask(folder, options, dry_run=dry_run, replace=replace, as_json=as_json)


@app.command("star")
@takes(NovelStarParameters, leaving_out=("access.batch",))
def ask_star(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder to write: a new or an empty one.")],
    options: Options,
    replace: Replace = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Have a model ask questions in the paper's way, over paragraphs around one keyword; nothing is proven of them."""
    from flows.console.novels import make_star

    make_star(folder, options, dry_run=dry_run, replace=replace, as_json=as_json)


@app.command("audit")
@takes(NovelsName)
def audit_questions(*, folder: Folder, options: Options, as_json: Json = False) -> None:
    """Prove a folder of questions again, by a count over the text of every window."""
    from flows.console.novels import audit

    audit(folder, options, as_json=as_json)


@app.command("evaluate")
@takes(NovelsEvaluateParameters, leaving_out=("access.batch",))
def evaluate_models(
    *,
    folder: Folder,
    options: Options,
    report: Annotated[
        Path | None, typer.Option("--report", help="Folder for report.md, grid.png and answers.jsonl.")
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Ask models that read the windows, the golden paragraphs, chunks that a search finds, or nothing."""
    from flows.console.novels import evaluate

    evaluate(folder, options, report, dry_run=dry_run, as_json=as_json)


@app.command("export")
@takes(NovelsExportParameters)
def export_questions(
    *,
    folder: Folder,
    target: Annotated[Path, typer.Argument(help="Folder to write, with one below it for each program.")],
    options: Options,
    as_json: Json = False,
) -> None:
    """Write the questions with their windows for lm-evaluation-harness and Inspect."""
    from flows.console.novels import export

    export(folder, target, options, as_json=as_json)


@app.command("tasks")
@takes(NovelsName)
def write_tasks(
    *,
    folder: Folder,
    target: Annotated[Path, typer.Argument(help="Folder for interface.xml and tasks.json.")],
    options: Options,
    most: Annotated[int, typer.Option("--most", min=1, help="Tasks to write, drawn evenly over the set.")] = 100,
    as_json: Json = False,
) -> None:
    """Write a Label Studio interface that shows the paragraphs of each hop, and tasks to import."""
    from flows.console.novels import write_tasks

    write_tasks(folder, target, most, options, as_json=as_json)
