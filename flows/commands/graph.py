"""`hopwright graph …`: the graph store."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.commands.options import Json, Store

app = typer.Typer(no_args_is_help=True, help="Make a graph store, and look things up in it.", rich_markup_mode=None)

Endpoint = Annotated[str | None, typer.Option(help="Address of a SPARQL 1.1 service. Without it, Wikidata's is asked.")]
Contact = Annotated[str | None, typer.Option(help="E-mail or web address to state in the User-Agent.")]
BatchSize = Annotated[int | None, typer.Option(help="Number of entities in one query.")]


@app.command("ingest")
def ingest_graph(
    source: Annotated[Path, typer.Argument(help="Folder with Wikidata5M's files.")],
    store: Annotated[
        Path | None, typer.Option(help="Folder of the new store. Without it, the store is made in Hopwright's home.")
    ] = None,
    split: Annotated[
        Literal["all", "transductive", "inductive"], typer.Option(help="The triplet files of the corpus to read.")
    ] = "all",
    max_malformed: Annotated[float, typer.Option(help="Largest share of malformed lines that is tolerated.")] = 0.001,
    force: Annotated[bool, typer.Option("--force", help="Make the store again even if it is up to date.")] = False,
    as_json: Json = False,
) -> None:
    """Make a graph store from raw files."""
    from flows.console.graph import ingest_folder

    ingest_folder(source, store, split, max_malformed, force=force, as_json=as_json)


@app.command("info")
def show_graph_info(
    store: Store = None,
    verify: Annotated[bool, typer.Option("--verify", help="First check every array against its hash.")] = False,
    as_json: Json = False,
) -> None:
    """Show what a store holds."""
    from flows.console.graph import show_info

    show_info(store, verify=verify, as_json=as_json)


@app.command("find")
def find_entities(
    name: Annotated[str, typer.Argument(help="A label, an alias, the beginning of one, or an id such as Q27.")],
    store: Store = None,
    as_json: Json = False,
) -> None:
    """List the entities that a name may mean; suggest near names where there are none."""
    from flows.console.graph import find_name

    find_name(name, store, as_json=as_json)


@app.command("show")
def show_entity(
    id: Annotated[str, typer.Argument(help="An entity's id, such as Q27, or a name that it alone has.")],
    store: Store = None,
    most: Annotated[int, typer.Option(min=1, max=10_000, help="Number of facts to show in each direction.")] = 50,
    as_json: Json = False,
) -> None:
    """Show the facts about an entity."""
    from flows.console.graph import show_facts

    show_facts(id, store, most, as_json=as_json)


@app.command("literals")
def fetch_literals(
    out: Annotated[
        Path, typer.Option("--out", help="File to write, in the layout that ingest reads (.tsv or .tsv.gz).")
    ],
    store: Store = None,
    property: Annotated[
        list[str] | None,
        typer.Option(help="A property such as P569; repeat it for more. Without it, all known properties are fetched."),
    ] = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    batch_size: BatchSize = None,
    as_json: Json = False,
) -> None:
    """Fetch dates, numbers and coordinates of a store's entities by SPARQL."""
    from flows.console.sparql import fetch

    options = {"endpoint": endpoint, "contact": contact, "batch_size": batch_size}
    fetch(out, store, property or [], options, as_json=as_json)


@app.command("verify")
def verify_release(
    file: Annotated[Path, typer.Argument(help="A JSONL file in the release format.")],
    endpoint: Endpoint = None,
    contact: Contact = None,
    batch_size: BatchSize = None,
    as_json: Json = False,
) -> None:
    """Check the look-ups of a release against a live graph by SPARQL."""
    from flows.console.sparql import verify

    verify(file, {"endpoint": endpoint, "contact": contact, "batch_size": batch_size}, as_json=as_json)
