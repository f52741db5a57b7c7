"""The files of questions over documents that both ways of making them write: items, ranks, BEIR's and TREC's layout."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopwright.errors import InputError
from hopwright.evaluation.items import QRELS, RECORDS
from hopwright.knowledge.documents.format import CorpusManifest, SourceEntry
from hopwright.knowledge.documents.index import Retriever
from hopwright.knowledge.documents.index.analysis import K1, B
from hopwright.knowledge.documents.index.format import IndexManifest
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.records import Item
from hopwright.records.json_lines import read_json_lines, validate_row
from hopwright.release.own_folder import write_own_folder
from hopwright.runs.files import write_file, write_json_lines


@dataclass(slots=True)
class DocumentSet:
    """What is written of the questions over one corpus, gathered item by item."""

    retriever: Retriever
    items: list[dict[str, Any]] = field(default_factory=list)
    retrievability: list[dict[str, Any]] = field(default_factory=list)
    queries: list[dict[str, Any]] = field(default_factory=list)
    golden: list[tuple[str, str]] = field(default_factory=list)
    """Pairs of an item's id and the id of a passage that is gold for it."""

    def add(self, item: Item, ranks: Sequence[int | None], golden: Iterable[str]) -> None:
        """Take in an item with the ranks of its hops' passages and the ids of its gold passages."""
        self.items.append(item.model_dump(mode="json"))
        self.retrievability.append({"id": item.id, "ranks": ranks})
        self.queries.append({"_id": item.id, "text": item.question, "metadata": {"answer": item.answer}})
        self.golden += [(item.id, passage) for passage in golden]

    def write(
        self, folder: Path, writer: str, counts: Mapping[str, Any], card: str, *, replace: bool,
        more: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    ) -> None:  # fmt: skip
        """Write the whole folder, or with `replace` an earlier one of this writer anew; `more`: other files of lines.

        Raises InputError where the folder holds other things.
        """
        store = self.retriever.store
        passages = store.passages(range(len(store)))
        lines = {
            "items": self.items,
            "retrievability": self.retrievability,
            "queries": self.queries,
            "corpus": [{"_id": one.id, "title": one.title, "text": one.text, "metadata": {}} for one in passages],
            **(more or {}),
        }
        with write_own_folder(folder, writer, replace=replace) as aside:
            for name, rows in lines.items():
                write_file(aside / f"{name}.jsonl", write_json_lines(rows))
            (aside / "qrels").mkdir()
            beir = ["query-id\tcorpus-id\tscore", *(f"{query}\t{passage}\t1" for query, passage in self.golden)]
            write_file(aside / "qrels" / "test.tsv", ("\n".join(beir) + "\n").encode())
            trec = "".join(f"{query} 0 {passage} 1\n" for query, passage in self.golden)
            write_file(aside / QRELS, trec.encode())
            recipe = make_recipe(store.manifest, store.folder.name, self.retriever.words.manifest)
            write_file(aside / "recipe.json", (json.dumps(recipe, indent=1) + "\n").encode())
            write_file(aside / "counts.json", (json.dumps(counts, indent=1) + "\n").encode())
            write_file(aside / "README.md", card.encode())


def read_set(folder: Path) -> list[Item]:
    """The items of a set. Raises InputError where there is none, and names the line that is wrong."""
    path = folder / RECORDS
    if not path.is_file() or not (folder / QRELS).is_file():
        raise InputError(f"{folder}: no set of questions over documents; `hopwright corpus questions` writes one")
    items = [validate_row(Item, row, place) for row, place in read_json_lines(path, "hopwright corpus questions")]
    if not items:
        raise InputError(f"{path}: no items in it")
    return items


def make_recipe(corpus: CorpusManifest, name: str, index: IndexManifest) -> dict[str, Any]:
    """What the corpus and its index were made of, and the commands that make them again from the same files.

    The hash of the corpus tells whether they did. Files are named without their folders.
    """
    commands = [
        shlex.join(["hopwright", "corpus", "add", Path(source.name).name, "--corpus", name, *_list_options(source)])
        for source in corpus.sources
    ]
    shards = str(len(index.shards))
    indexing = ["--corpus", name, "--language", index.language, "--shards", shards]
    return {
        "corpus": {
            "sha256": corpus.content,
            "documents": corpus.documents,
            "passages": corpus.passages,
            "sources": [
                {
                    "files": {Path(path).name: sha256 for path, sha256 in sorted(source.files.items())},
                    "settings": source.settings,
                    "counts": source.counts.model_dump(),
                }
                for source in corpus.sources
            ],
        },
        "index": {"version": index.version, "language": index.language, "shards": index.shards, "k1": K1, "b": B},
        "commands": [*commands, shlex.join(["hopwright", "corpus", "index", *indexing])],
    }


def _list_options(source: SourceEntry) -> list[str]:
    given = ((f"--{name.replace('_', '-')}", str(value)) for name, value in source.settings.items() if value != "")
    return [part for option in given for part in option]


def list_licences(store: CorpusStore) -> list[str]:
    """A card's table of the licences of a corpus's documents."""
    licences = Counter((one.source, one.licence) for one in store.documents())
    return [
        "| source | licence | documents |",
        "|---|---|---|",
        *(f"| {source} | {licence} | {count:,} |" for (source, licence), count in sorted(licences.items())),
    ]
