"""Searching a corpus: by words, by meaning, or by both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hopwright.errors import InputError
from hopwright.knowledge.documents.format import name_command
from hopwright.knowledge.documents.index.embedding import open_embedder
from hopwright.knowledge.documents.index.format import FOLDER, MANIFEST, WHOLE, ShardPart
from hopwright.knowledge.documents.index.searching import Bm25Index
from hopwright.knowledge.documents.index.vectors import DENSE, DenseIndex
from hopwright.knowledge.documents.store import CorpusStore, CorpusText

SearchMode = Literal["auto", "bm25", "dense", "hybrid"]
_DAMPING = 10
"""The constant of reciprocal rank fusion. Cormack, Clarke and Büttcher (2009) took 60 for long lists of many systems;
of two lists, from which few passages are read, the first places tell more (`bench/retrieval.py`)."""
_DEPTH = 100
"""How far down a list the fusion looks, at least."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found. Scores compare hits of one query and one mode, nothing else."""

    passage: CorpusText
    score: float


class Retriever:
    """A corpus with its indexes, open for searching."""

    def __init__(self, store: CorpusStore, words: Bm25Index, dense: DenseIndex | None) -> None:
        self.store = store
        self.words = words
        self.passages = len(store)
        self._dense = dense

    @classmethod
    def open(cls, corpus: Path, part: ShardPart = WHOLE, *, verify: bool = False) -> Retriever:
        """Open a corpus with its index, and its vectors if it has any; `verify` holds all files against their hashes.

        A part of the index has no vectors, and finds only what is in it.

        Raises StoreError where something is missing, damaged or out of date, and says how it is made again.
        """
        store = CorpusStore.open(corpus, verify=verify)
        words = Bm25Index.open(store, part, verify=verify)
        dense = None
        if part == WHOLE and (corpus / FOLDER / DENSE / MANIFEST).is_file():
            dense = DenseIndex.open(store, open_embedder, verify=verify)
        return cls(store, words, dense)

    @property
    def has_vectors(self) -> bool:
        """Whether it searches by meaning, too."""
        return self._dense is not None

    def describe(self) -> str:
        """What it searches with, in some words."""
        shards = f"{self.words.shards} shard" + ("s" if self.words.shards > 1 else "")
        return shards + (f", vectors by {self._dense.embedder}" if self._dense is not None else ", no vectors")

    def search(self, query: str, most: int, mode: SearchMode = "auto") -> list[Hit]:
        """The best passages, at most `most`; `auto` is hybrid where there are vectors, else bm25.

        Raises InputError for a mode that needs vectors where there are none.
        """
        if mode == "auto":
            mode = "hybrid" if self._dense is not None else "bm25"
        if mode == "bm25":
            found = self.words.search(query, most)
        elif self._dense is None:
            folder = self.store.folder
            raise InputError(f"{folder} has no vectors: {name_command(folder, 'index --dense local')} makes them")
        elif mode == "dense":
            found = self._dense.search(query, most)
        else:
            depth = max(_DEPTH, most)
            lists = [self.words.search(query, depth), self._dense.search(query, depth)]
            found = fuse([[row for row, _ in one] for one in lists])[:most]
        passages = self.store.passages([row for row, _ in found])
        return [Hit(passage, score) for passage, (_, score) in zip(passages, found, strict=True)]


def fuse(lists: Sequence[Sequence[int]]) -> list[tuple[int, float]]:
    """Reciprocal rank fusion of lists of rows: each adds 1 / (10 + rank); best first, equal ones by row."""
    scores: dict[int, float] = {}
    for rows in lists:
        for rank, row in enumerate(rows, start=1):
            scores[row] = scores.get(row, 0.0) + 1 / (_DAMPING + rank)
    return sorted(scores.items(), key=lambda found: (-found[1], found[0]))
