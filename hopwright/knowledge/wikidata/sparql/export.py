"""Fetched literals on disk, in the layout that `graph ingest` reads (`attribute_literals.tsv`)."""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from hopwright.errors import RunError
from hopwright.knowledge.wikidata.sparql.client import SparqlClient
from hopwright.knowledge.wikidata.sparql.literals import FetchedLiteral, LiteralSource
from hopwright.knowledge.wikidata.store import GraphStore


@dataclass(slots=True)
class LiteralReport:
    """What was written. `apart`: literals kept out of the file, by reason; they are listed in `apart_file`."""

    file: Path
    apart_file: Path
    entities: int = 0
    literals: int = 0
    by_origin: dict[str, int] = field(default_factory=dict)
    apart: dict[str, int] = field(default_factory=dict)
    unknown: int = 0
    requests: int = 0
    cached: int = 0
    note: str = ""


def write_literals(
    client: SparqlClient | None,
    ids: Iterable[str],
    properties: Sequence[str],
    file: Path,
    *,
    store: GraphStore | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> LiteralReport:
    """Fetch literals and write them to `file` (gzipped when it ends in `.gz`), whole or not at all.

    The same answers give the same bytes. What may not be compared goes to `<file>.apart.tsv` with the reason as a
    seventh column. With a store, its labels are used and its own literals stand in when the endpoint fails.
    Raises ServiceError, InputError, and RunError when a file cannot be written.
    """
    source = LiteralSource(client, store)
    name = file.name.removesuffix(".gz").removesuffix(".tsv")
    report = LiteralReport(file, file.with_name(f"{name}.apart.tsv"))
    origins: Counter[str] = Counter()
    apart: Counter[str] = Counter()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with _write_aside(report.apart_file) as left, _write_aside(file) as kept:
            for batch in source.batches(ids, properties, progress):
                report.entities += len(batch.entities)
                report.unknown += len(batch.unknown)
                for literal in batch.literals:
                    if literal.apart:
                        apart[literal.apart] += 1
                        left.write(f"{_line(literal)}\t{literal.apart}\n".encode())
                    else:
                        origins[literal.origin] += 1
                        kept.write(f"{_line(literal)}\n".encode())
    except OSError as error:
        raise RunError(f"{file} cannot be written: {error.strerror or error}; free the disk or name another") from None
    report.literals = origins.total()
    report.by_origin = dict(sorted(origins.items()))
    report.apart = dict(apart.most_common())
    report.note = source.note
    if client is not None:
        report.requests, report.cached = client.requests, client.hits
    return report


def _line(literal: FetchedLiteral) -> str:
    fact = literal.fact
    fields = (fact.subject, fact.property, fact.property_label, fact.unit, fact.value, fact.datatype)
    return "\t".join(" ".join(field.split()) for field in fields)


@contextlib.contextmanager
def _write_aside(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """A file that takes the path's place only when it is whole; what a killed process left is written over."""
    part = path.with_name(f".{path.name}.part")
    with part.open("ab") as raw:
        try:
            fcntl.flock(raw, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RunError(f"another process is writing {path}; wait for it to end, or name another file") from None
        raw.truncate(0)
        try:
            if path.name.endswith(".gz"):
                # No name and no time in the header: the same literals give the same bytes.
                with gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as packed:
                    yield packed
            else:
                yield raw
            raw.flush()
            os.fsync(raw.fileno())
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
