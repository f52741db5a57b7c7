"""A tiny corpus on disk, in Wikidata5M's layout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.store import GraphStore
from tests.builders import ALIAS, LABEL, LITERALS, PROPERTY, TRIPLETS

SAMPLE = Path(__file__).resolve().parents[3] / "data" / "sample"
SHARED = Path(__file__).resolve().parents[3] / "../shared/data"

Names = Mapping[str, Sequence[str]]


def write_corpus(
    folder: Path,
    triplets: Iterable[tuple[str, str, str]] = TRIPLETS,
    names: Names | None = None,
    relations: Names | None = None,
    literals: Iterable[tuple[str, str, str, str, str, str]] | None = None,
    texts: Mapping[str, str] | None = None,
) -> Path:
    """Write the corpus files; by default those of the world of `tests.builders`."""
    folder.mkdir(parents=True, exist_ok=True)
    if names is None:
        names = {id: (label, *ALIAS.get(id, ())) for id, label in LABEL.items()}
    if relations is None:
        relations = {id: (label,) for id, label in PROPERTY.items()}
    if literals is None:
        literals = [(s, p, PROPERTY[p], "Q712226" if p == "P2046" else "", v, t) for s, p, v, t in LITERALS]
    write_lines(folder / "wikidata5m_all_triplet.txt", triplets)
    write_lines(folder / "wikidata5m_entity.txt", ((id, *all_names) for id, all_names in names.items()))
    write_lines(folder / "wikidata5m_relation.txt", ((id, *all_names) for id, all_names in relations.items()))
    if literals:
        write_lines(folder / "attribute_literals.tsv", literals)
    if texts is not None:
        write_lines(folder / "wikidata5m_text.txt", texts.items())
    return folder


def write_lines(path: Path, rows: Iterable[Sequence[str]]) -> None:
    """Write rows as tab-separated lines."""
    path.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8", newline="\n")


def make_store(folder: Path, **parts: object) -> GraphStore:
    """Write a corpus, ingest it, open the store."""
    write_corpus(folder / "raw", **parts)  # type: ignore[arg-type]
    ingest(folder / "raw", folder / "store", max_malformed=0)
    return GraphStore.open(folder / "store")
