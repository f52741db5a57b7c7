"""`hopwright graph …`."""

import itertools
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from rich.table import Table

from flows.console.output import err, out, print_json
from hopwright.errors import InputError
from hopwright.graph.ingest import ingest
from hopwright.graph.store import GraphStore
from hopwright.settings import home


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
        return
    out.print(f"{report.folder}: {report.bytes / 2**20:,.1f} MiB{', was up to date' if report.reused else ''}")
    for name, count in report.counts.items():
        out.print(f"  {name}: {count:,}")
    for file, lines in report.malformed.items():
        err.print(f"  {file}: {lines:,} malformed lines left out")
    for one in itertools.islice(report.listed, 5):
        err.print(f"    {one}")


def show_info(store: Path | None, *, as_json: bool) -> None:
    """What a store holds."""
    folder = _find_store(store)
    info = GraphStore.open(folder).about
    if as_json:
        print_json({"folder": str(folder), **info})
        return
    out.print(str(folder))
    for name, value in info.items():
        out.print(f"  {name}: {value:,}" if isinstance(value, int) else f"  {name}: {value}")


def find_name(name: str, store: Path | None, *, as_json: bool) -> None:
    """The entities that a name may mean, best first."""
    found = GraphStore.open(_find_store(store)).find(name)
    if as_json:
        print_json([asdict(candidate) for candidate in found])
        return
    if not found:
        raise InputError(f"no entity is called {name!r} in this store")
    table = Table("id", "label", "description", "facts", "by")
    for one in found:
        table.add_row(one.id, one.label, one.description, f"{one.degree:,}", "label" if one.by_label else "alias")
    out.print(table)


def show_facts(id: str, store: Path | None, limit: int, *, as_json: bool) -> None:
    """All that a store says about one entity."""
    graph = GraphStore.open(_find_store(store))
    if not graph.label(id) and not graph.degree(id):
        raise InputError(f"{id} is not in this store: `hopwright graph find NAME` looks for it")
    facts: dict[str, Any] = {
        "id": id,
        "label": graph.label(id),
        "description": graph.description(id),
        "aliases": list(graph.aliases(id)),
        "out": [
            {"property": property, "object": other, "text": f"{graph.property_label(property)}: {graph.label(other)}"}
            for property, other in graph.out_edges(id)[:limit]
        ],
        "in": [
            {
                "property": property,
                "subject": other,
                "text": f"{graph.property_label(property)} of {graph.label(other)}",
            }
            for property, other in graph.in_edges(id)[:limit]
        ],
        "literals": [literal.model_dump() for literal in graph.literals(id)[:limit]],
    }
    if as_json:
        print_json(facts)
        return
    out.print(f"[bold]{facts['label']}[/bold] ({id}): {facts['description']}", markup=True)
    if facts["aliases"]:
        out.print(f"also: {', '.join(facts['aliases'][:limit])}", markup=False)
    for fact in facts["out"]:
        out.print(f"  → {fact['text']} ({fact['property']}, {fact['object']})", markup=False)
    for fact in facts["in"]:
        out.print(f"  ← {fact['text']} ({fact['property']}, {fact['subject']})", markup=False)
    for fact in facts["literals"]:
        out.print(f"  = {fact['property_label']}: {fact['value']} {fact['unit']} ({fact['property']})", markup=False)


def _find_store(store: Path | None) -> Path:
    if store is not None:
        return store
    folders = [path for path in (home() / "stores").glob("*") if path.is_dir()]
    if not folders:
        raise InputError(f"no graph store in {home() / 'stores'}: `hopwright graph ingest FOLDER` makes one")
    return max(folders, key=lambda path: path.stat().st_mtime_ns)
