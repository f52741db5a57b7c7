"""BM25 over the shards of an index, with exactly the answer of a single one.

A shard of tantivy weighs terms by its own counts. A boost corrects how rare a term is there, so that only the shard's
average length of a passage is left, which changes a score by no more than the quotient of the averages. A shard is
therefore asked for its best passages until none of those that it has not told could come into the answer; all that were
told are scored again with the counts of the whole corpus (as the threshold algorithm of Fagin, Lotem and Naor, 2003).
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from hopwright.errors import StoreError
from hopwright.knowledge.documents.format import name_command
from hopwright.knowledge.documents.index.analysis import (
    FIELD,
    K1,
    ROW,
    make_analyzer,
    register,
    require_tantivy,
    score_term,
    weigh_term,
)
from hopwright.knowledge.documents.index.format import (
    FOLDER,
    INDEX_VERSION,
    MANIFEST,
    SHARD_MANIFEST,
    WHOLE,
    IndexManifest,
    ShardManifest,
    ShardPart,
    tell_rebuild,
    verify_shard,
)
from hopwright.knowledge.documents.store import CorpusStore

_ROUNDING = 1e-4
"""Far more than the relative error of tantivy's scores, which are of 32 bits."""
_WEIGHT_ERROR = 2.0**-23
"""How far a term's weight may be off there: that of a term that all passages have is next to nothing, and lost."""
_SPARE = 6
"""Passages beyond those wanted that a shard is asked for at first."""


class CountedPart(Protocol):
    """Some shards of an index, here or on another machine (`remote`)."""

    passages: int
    terms: int

    def count(self, terms: Sequence[str]) -> list[int]:
        """How many of its passages have each term."""
        ...


def weigh_query(terms: Iterable[str], parts: Sequence[CountedPart]) -> tuple[dict[str, float], float]:
    """The weights of a query's terms by the counts of all parts, without those that nothing has; the mean length."""
    asked = Counter(terms)
    passages, length = (sum(getattr(part, name) for part in parts) for name in ("passages", "terms"))
    bearers = map(sum, zip(*(part.count(list(asked)) for part in parts), strict=True))
    weights = {
        term: count * weigh_term(number, passages)
        for (term, count), number in zip(asked.items(), bearers, strict=True)
        if number
    }
    return weights, length / passages if length else 1.0


class Bm25Index:
    """An index, or a part of its shards, that is open for searching; several threads may search at once."""

    def __init__(self, store: CorpusStore, folder: Path, manifest: IndexManifest, part: ShardPart = WHOLE) -> None:
        self._store = store
        self.manifest = manifest
        self.part = part
        self._shards = [_Shard(folder / manifest.shards[number]) for number in part.choose(len(manifest.shards))]
        self._analyze = make_analyzer(manifest.language).analyze
        self.shards = len(self._shards)
        self.passages, self.terms = (sum(getattr(one, name) for one in self._shards) for name in ("passages", "terms"))

    @classmethod
    def open(cls, store: CorpusStore, part: ShardPart = WHOLE, *, verify: bool = False) -> Bm25Index:
        """Open the index of a corpus, or a part of it; `verify` holds every file against its hash first.

        Raises StoreError when there is none, when it is damaged, or when the corpus has changed since it was made;
        InputError where the extra is not installed.
        """
        require_tantivy()
        folder = store.folder / FOLDER
        if not (folder / MANIFEST).is_file():
            raise StoreError(f"{store.folder} has no index: {name_command(store.folder, 'index')} makes one")
        manifest = IndexManifest.read(folder / MANIFEST)
        if manifest.version != INDEX_VERSION:
            raise StoreError(f"{folder}: of version {manifest.version}, not {INDEX_VERSION}; {tell_rebuild(folder)}")
        if manifest.corpus != store.manifest.content:
            raise StoreError(f"{store.folder} has changed since it was indexed; {tell_rebuild(folder)}")
        wanted = part.choose(len(manifest.shards))
        held = [number for number in wanted if (folder / manifest.shards[number] / SHARD_MANIFEST).is_file()]
        if held and len(held) < len(wanted):
            raise StoreError(
                f"{folder}: only {len(held)} of {len(wanted)} shards are here; name the --part that this machine has, "
                f"if it has one; else {tell_rebuild(folder)}"
            )
        if verify:
            for number in wanted:
                verify_shard(folder / manifest.shards[number])
        return cls(store, folder, manifest, part)

    def search(self, query: str, most: int) -> list[tuple[int, float]]:
        """The rows of the best passages with their scores, best first, equal ones in the corpus's order.

        At most `most`, and only such as have a term of the query.
        """
        weights, average = weigh_query(self._analyze(query), [self])
        return self.find(weights, average, most)

    def count(self, terms: Sequence[str]) -> list[int]:
        """See CountedPart."""
        return [sum(shard.count_bearers(term) for shard in self._shards) for term in terms]

    def find(self, weights: Mapping[str, float], average: float, most: int) -> list[tuple[int, float]]:
        """The rows of the best passages with their scores, best first, equal ones in the corpus's order.

        `weights` are those of the terms and `average` the mean length in terms, both in the whole corpus.
        """
        if not weights or most < 1:
            return []
        limits = dict.fromkeys(range(len(self._shards)), most + _SPARE)
        scores: dict[int, float] = {}
        bounds: dict[int, float] = {}
        while limits:
            ends = {}
            for number, limit in limits.items():
                told, ends[number] = self._shards[number].ask(weights, limit, average)
                bounds |= told
            least = self._score_promising(bounds, scores, weights, average, most)
            limits = {
                number: 4 * limit
                for number, limit in limits.items()
                if ends[number] >= least and not math.isinf(ends[number])
            }
        return sorted(scores.items(), key=lambda found: (-found[1], found[0]))[:most]

    def _score_promising(
        self,
        bounds: Mapping[int, float],
        scores: dict[int, float],
        weights: Mapping[str, float],
        average: float,
        most: int,
    ) -> float:
        """Score the rows that may be among the best, by the most that they can have; returns the last one's score.

        Minus infinity while there are fewer than `most`. A row whose bound equals that score is scored, too: it may
        come before in the corpus.
        """
        waiting = sorted((row for row in bounds if row not in scores), key=lambda row: -bounds[row])
        while True:
            best = heapq.nlargest(most, scores.values())
            least = best[-1] if len(best) == most else -math.inf
            step = [row for row in waiting[:most] if bounds[row] >= least]
            if not step:
                return least
            scores |= self._score(step, weights, average)
            del waiting[:most]

    def _score(self, rows: list[int], weights: Mapping[str, float], average: float) -> dict[int, float]:
        """The passages' scores by the counts of the whole corpus."""
        scores = {}
        for passage in self._store.passages(rows):
            terms = self._analyze(passage.contents)
            counts = Counter(term for term in terms if term in weights)
            scores[passage.row] = math.fsum(
                weights[term] * score_term(count, len(terms), average) for term, count in counts.items()
            )
        return scores


class _Shard:
    """One tantivy index."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        manifest = ShardManifest.read(folder / SHARD_MANIFEST)
        self.passages, self.terms = manifest.passages, manifest.terms
        try:
            self._index = tantivy.Index.open(str(folder))
        except ValueError as error:
            raise StoreError(f"{folder} is damaged ({str(error).splitlines()[0]}); {tell_rebuild(folder)}") from None
        register(self._index)
        self._searcher: Any = self._index.searcher()
        self._schema = self._index.schema

    def count_bearers(self, term: str) -> int:
        """How many passages have a term."""
        return int(self._searcher.doc_freq(FIELD, term))

    def ask(self, weights: Mapping[str, float], limit: int, average: float) -> tuple[dict[int, float], float]:
        """The rows of the shard's best passages, each with a score that it does not exceed, and one that no other
        passage of it exceeds: minus infinity when all that have a term are told.

        `average` is the mean length in the whole corpus.
        """
        import tantivy

        clauses = []
        slack = 0.0
        for term, weight in weights.items():
            if bearers := self.count_bearers(term):
                query = tantivy.Query.term_query(self._schema, FIELD, term, index_option="freq")
                boost = weight / weigh_term(bearers, self.passages)
                clauses.append((tantivy.Occur.Should, tantivy.Query.boost_query(query, boost)))
                slack += boost * _WEIGHT_ERROR * (K1 + 1)
        if not clauses:
            return {}, -math.inf
        limit = min(limit, self.passages)
        hits = self._searcher.search(tantivy.Query.boolean_query(clauses), limit, count=False).hits
        rows = self._searcher.fast_field_values(ROW, [address for _, address in hits])
        # A passage's score rises with the average length by at most the quotient of the two averages.
        longest = max(1.0, average * self.passages / self.terms) * (1 + _ROUNDING)
        told = {row: (score + slack) * longest for row, (score, _) in zip(rows, hits, strict=True)}
        whole = len(hits) < limit or limit == self.passages
        return told, -math.inf if whole else (hits[-1][0] + slack) * longest
