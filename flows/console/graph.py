"""`hopwright graph …`."""

from dataclasses import asdict
from pathlib import Path
from typing import Literal

from flows.console.output import err, out, print_json
from hopwright.errors import InputError
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.inspect import find, info, render_find, render_info, render_ingest, render_show, show
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.settings import home

_SUGGESTED = 5


def ingest_folder(
    source: Path,
    store: Path | None,
    split: Literal["all", "transductive", "inductive"],
    max_malformed: float,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Make a store and say what went into it."""
    folder = store or home() / "stores" / f"{source.resolve().name}-{split}"
    with err.status("reading") as status:
        report = ingest(source, folder, split=split, max_malformed=max_malformed, force=force, progress=status.update)
    if as_json:
        print_json({**asdict(report), "folder": str(report.folder), "listed": [str(one) for one in report.listed]})
    else:
        out.out(render_ingest(report))


def show_info(store: Path | None, *, verify: bool, as_json: bool) -> None:
    """What a store holds."""
    folder = find_store(store)
    about = info(GraphStore.open(folder), verify=verify)
    if as_json:
        print_json({"folder": str(folder), **about})
    else:
        out.out(f"{folder}\n{render_info(about)}")


def find_name(name: str, store: Path | None, *, as_json: bool) -> None:
    """The entities that a name may mean, likeliest first. Raises InputError when there is none."""
    found = find(GraphStore.open(find_store(store)), name)
    if as_json:
        print_json(found)
    elif found:
        out.out(render_find(name, found))
    else:
        raise InputError(f"no entity is called {name!r} in this store")


def show_facts(id: str, store: Path | None, most: int, *, as_json: bool) -> None:
    """What a store says about one entity, named by its id or by a name that it alone has.

    Raises InputError for what names none, or several, with those that may be meant.
    """
    graph = GraphStore.open(find_store(store))
    entity = show(graph, id if id in graph else _pick_entity(graph, id), most=most)
    if as_json:
        print_json(entity)
    else:
        out.out(render_show(entity))


def _pick_entity(graph: GraphStore, name: str) -> str:
    """The one entity that a name means."""
    found = find(graph, name, most=_SUGGESTED)
    exact = [one for one in found if not one["matched"].startswith("like ")]
    if len(exact) == 1:
        return str(exact[0]["id"])
    several = ", ".join(f"{one['id']} ({one['label']})" for one in found[:_SUGGESTED])
    if exact:
        raise InputError(f"{len(exact)} entities are called {name!r}: {several}; give the id of one")
    meant = f"; is one of these meant? {several}" if several else ""
    raise InputError(f"no entity has the id or the name {name!r} in this store{meant}")


def find_store(store: Path | None) -> Path:
    """The store that is named, else the newest in Hopwright's home. Raises InputError when there is none."""
    if store is not None:
        return store
    folders = [path for path in (home() / "stores").glob("*") if path.is_dir()]
    if not folders:
        raise InputError(f"no graph store in {home() / 'stores'}: `hopwright graph ingest FOLDER` makes one")
    return max(folders, key=lambda path: path.stat().st_mtime_ns)
