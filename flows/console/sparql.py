"""`hopwright graph literals` and `hopwright graph verify`: what a SPARQL endpoint knows."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from flows.console.graph import find_store
from flows.console.output import err, out, print_json
from hopwright.errors import InputError
from hopwright.foreign import explain_invalid
from hopwright.knowledge.wikidata.sparql import (
    AnswerCache,
    SparqlClient,
    SparqlSettings,
    known_literal_properties,
    verify_items,
    write_literals,
)
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Item, Rejected
from hopwright.release.format import from_release, read_jsonl
from hopwright.settings import home

_CHUNK = 200


def fetch(file: Path, store: Path | None, properties: list[str], options: dict[str, Any], *, as_json: bool) -> None:
    """Write the literals of a store's entities, as the endpoint has them, in the layout that an ingest reads."""
    graph = GraphStore.open(find_store(store))
    with err.status("asking") as status:
        report = write_literals(
            _open_client(options),
            graph.entities(),
            properties or known_literal_properties(graph),
            file,
            store=graph,
            progress=lambda done, total: status.update(f"asking: {done:,} of {total:,} batches"),
        )
    if as_json:
        print_json({**asdict(report), "file": str(report.file), "apart_file": str(report.apart_file)})
        return
    out.out(f"{report.literals:,} literals of {report.entities:,} entities in {report.file}")
    out.out(f"requests {report.requests:,}, answers from the cache {report.cached:,}; origins {report.by_origin}")
    if report.apart:
        out.out(f"kept apart in {report.apart_file}: {report.apart}")
    if report.note:
        out.out(report.note)


def verify(file: Path, options: dict[str, Any], *, as_json: bool) -> None:
    """Hold the look-ups of a release against the live graph; differences are reported, not mended."""
    client = _open_client(options)
    counts: Counter[str] = Counter()
    verdicts = []
    items = _read_items(file)
    with err.status("asking") as status:
        while chunk := list(islice(items, _CHUNK)):
            for verdict in verify_items(client, chunk):
                counts[verdict.status] += 1
                verdicts.append(verdict)
            status.update(f"asking: {sum(counts.values()):,} items")
    if as_json:
        print_json({"counts": counts, "items": [asdict(verdict) for verdict in verdicts]})
        return
    for verdict in verdicts:
        for hop in verdict.hops:
            for one in hop.verdicts:
                if one.status != "confirmed":
                    out.out(f"{verdict.item}, hop {hop.index}: {one}")
    out.out(", ".join(f"{count:,} {status}" for status, count in sorted(counts.items())) or "no items")


def _open_client(options: dict[str, Any]) -> SparqlClient:
    try:
        settings = SparqlSettings(**{name: value for name, value in options.items() if value is not None})
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"--{'-'.join(map(str, first['loc']))}: {explain_invalid(first)}") from None
    home().mkdir(parents=True, exist_ok=True)
    return SparqlClient(settings, AnswerCache(home() / "sparql.db"))


def _read_items(file: Path) -> Iterator[Item]:
    for line, row in read_jsonl(file):
        if isinstance(row, Rejected):
            raise InputError(f"{file}, line {line}: {row.reason}")
        yield from_release(row)
