"""`hopwright corpus …`: documents, and finding passages in them."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.commands.options import DryRun, Json, Options, Replace, Store, takes
from hopwright.settings import (
    CorpusAddParameters,
    CorpusIndexParameters,
    CorpusName,
    CorpusQuestionsParameters,
    CorpusReadParameters,
    CorpusRetainParameters,
    CorpusServeParameters,
    DocumentBuildParameters,
)

app = typer.Typer(
    no_args_is_help=True, help="Documents that questions rest on, and finding passages in them.", rich_markup_mode=None
)


@app.command("add")
@takes(CorpusAddParameters)
def add_documents(
    *,
    source: Annotated[Path, typer.Argument(help="A file, an archive, or a folder with all that is below it.")],
    options: Options,
    as_json: Json = False,
) -> None:
    """Add documents to a corpus; those that it holds already, exactly or nearly, are left out."""
    from flows.console.corpus import add

    add(source, options, as_json=as_json)


@app.command("index")
@takes(CorpusIndexParameters)
def index_corpus(*, options: Options, as_json: Json = False) -> None:
    """Index a corpus for searching; killed, it continues with the shards that are missing."""
    from flows.console.corpus import index

    index(options, as_json=as_json)


@app.command("info")
@takes(CorpusName)
def show_corpus_info(
    *,
    options: Options,
    verify: Annotated[bool, typer.Option("--verify", help="Check every file against its hash first.")] = False,
    as_json: Json = False,
) -> None:
    """Say what a corpus holds, where it comes from, and whether its index is up to date."""
    from flows.console.corpus import show_info

    show_info(options, verify=verify, as_json=as_json)


@app.command("search")
@takes(CorpusName)
def search_corpus(
    *,
    query: Annotated[str, typer.Argument(help="What to look for, in plain words.")],
    options: Options,
    most: Annotated[int, typer.Option("--most", min=1, max=1000, help="Passages to show.")] = 5,
    mode: Annotated[
        Literal["auto", "bm25", "dense", "hybrid"],
        typer.Option(help="By words, by meaning or both; auto takes both where there are vectors."),
    ] = "auto",
    as_json: Json = False,
) -> None:
    """Show the passages that a query finds."""
    from flows.console.corpus import search

    search(query, most, mode, options, as_json=as_json)


@app.command("show")
@takes(CorpusName)
def show_document(
    *,
    id: Annotated[str, typer.Argument(help="A document's or passage's id, or what its source calls it.")],
    options: Options,
    as_json: Json = False,
) -> None:
    """Show a document or a passage, with its source, revision and licence."""
    from flows.console.corpus import show

    show(id, options, as_json=as_json)


@app.command("serve")
@takes(CorpusServeParameters)
def serve_corpus(*, options: Options) -> None:
    """Answer searches over HTTP, as Search-R1's retrieval server does (POST /retrieve)."""
    from flows.console.corpus import serve

    serve(options)


@app.command("mcp")
@takes(CorpusName)
def serve_corpus_tools(*, options: Options) -> None:
    """Give a client of the Model Context Protocol the tools search and read, over standard input and output."""
    from flows.console.corpus import serve_tools

    serve_tools(options)


@app.command("read")
@takes(CorpusReadParameters, leaving_out=("access.batch",))
def read_questions(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder to write: a new or an empty one.")],
    options: Options,
    replace: Replace = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Have a model ask in the paper's way: atomic questions of passages, merged and verified; nothing is proven."""
    from flows.console.corpus_reading import make

    make(folder, options, dry_run=dry_run, replace=replace, as_json=as_json)


@app.command("questions")
@takes(CorpusQuestionsParameters, leaving_out=("access.batch",))
def make_questions(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder to write: a new or an empty one.")],
    options: Options,
    store: Store = None,
    replace: Replace = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Make multi-hop questions whose every hop is proven by passages of a corpus."""
    from flows.console.corpus_questions import make

    make(folder, store, options, dry_run=dry_run, replace=replace, as_json=as_json)


@app.command("tasks")
@takes(CorpusName)
def write_tasks(
    *,
    folder: Annotated[Path, typer.Argument(help="A folder that `hopwright corpus questions`, build or read wrote.")],
    target: Annotated[Path, typer.Argument(help="Folder for interface.xml and tasks.json.")],
    options: Options,
    most: Annotated[int, typer.Option("--most", min=1, help="Tasks to write, drawn evenly over the set.")] = 100,
    as_json: Json = False,
) -> None:
    """Write a Label Studio interface that shows the passages of each hop, and tasks to import."""
    from flows.console.corpus_questions import write_tasks

    write_tasks(folder, target, most, options, as_json=as_json)


@app.command("retain")
@takes(CorpusRetainParameters)
def retain_questions(
    *,
    folder: Annotated[Path, typer.Argument(help="The folder that the reviewed questions are from.")],
    export: Annotated[Path, typer.Argument(help="What Label Studio exports of the tasks' project as JSON.")],
    target: Annotated[Path, typer.Argument(help="Folder to write: a new or an empty one.")],
    options: Options,
    replace: Replace = False,
    as_json: Json = False,
) -> None:
    """Keep the questions that reviewers retain, and say how far they agree."""
    from flows.console.corpus_questions import retain

    retain(folder, export, target, options, replace=replace, as_json=as_json)


@app.command("build")
@takes(DocumentBuildParameters, leaving_out=("folder", "replace"))
def build_questions(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder to write: a new or an empty one.")],
    options: Options,
    replace: Replace = False,
    as_json: Json = False,
) -> None:
    """Do it all: read documents into a corpus, index it, make its questions; called again, it goes on."""
    from flows.console.corpus_build import build

    build(folder, options, replace=replace, as_json=as_json)
