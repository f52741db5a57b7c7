"""One index in parts on several machines, with exactly the answer of one that has all shards.

Every machine has the files of the corpus and serves a part of the shards (`hopwright corpus serve --part 1/2`). For a
query all of them first count how many of their passages have its terms. The sums weigh the terms, and with these
weights each finds its own best passages: the best of all are among them, under the scores that one index gives.
A machine that does not answer fails the search; no answer is without its shards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, TypeVar

import httpx
from pydantic import BaseModel, Field, StringConstraints, TypeAdapter, ValidationError

from hopwright.errors import InputError, ServiceError
from hopwright.foreign import ENCODINGS, BodyError, BodyReader, read_body_limit
from hopwright.knowledge.documents.index.analysis import make_analyzer, require_tantivy
from hopwright.knowledge.documents.index.retriever import Hit, Retriever
from hopwright.knowledge.documents.index.searching import weigh_query
from hopwright.knowledge.documents.store import CorpusText

_TIMEOUT_S = 60.0
_MOST_TERMS = 100_000
Term = Annotated[str, StringConstraints(max_length=200)]
_A = TypeVar("_A")


class PartState(BaseModel):
    """What a server has of which index."""

    corpus: str
    language: str
    shards: int
    number: int
    of: int
    passages: int
    terms: int


class CountRequest(BaseModel):
    """Asks how many passages have each term."""

    terms: list[Term] = Field(max_length=_MOST_TERMS)


class FindRequest(BaseModel):
    """Asks for the best passages by weights that hold for the whole corpus."""

    weights: dict[Term, float] = Field(max_length=_MOST_TERMS)
    average: float = Field(gt=0)
    most: int = Field(ge=1, le=20_000)


class FoundPassage(BaseModel):
    """A passage with its score, as a server of a part gives it."""

    id: str
    row: int
    title: str
    text: str
    document: str
    start: int
    end: int
    score: float


_COUNTS = TypeAdapter(list[int])
_FOUND = TypeAdapter(list[FoundPassage])


class PartServer:
    """What a server of a part answers."""

    def __init__(self, retriever: Retriever) -> None:
        self._store, self._words = retriever.store, retriever.words

    def describe(self) -> dict[str, Any]:
        """See PartState."""
        words = self._words
        manifest = words.manifest
        return PartState(
            corpus=manifest.corpus,
            language=manifest.language,
            shards=len(manifest.shards),
            number=words.part.number,
            of=words.part.of,
            passages=words.passages,
            terms=words.terms,
        ).model_dump()

    def count(self, asked: CountRequest) -> list[int]:
        """See CountedPart."""
        return self._words.count(asked.terms)

    def find(self, asked: FindRequest) -> list[dict[str, Any]]:
        """See Bm25Index; with the passages, since who asks does not have them."""
        found = self._words.find(asked.weights, asked.average, asked.most)
        passages = self._store.passages([row for row, _ in found])
        return [
            {name: getattr(one, name) for name in FoundPassage.model_fields if name != "score"} | {"score": score}
            for one, (_, score) in zip(passages, found, strict=True)
        ]


class RemotePart:
    """A part of an index behind an address; several threads may ask at once."""

    def __init__(self, url: str, transport: httpx.BaseTransport | None = None) -> None:
        """Raises ServiceError where nothing that serves a part of an index answers."""
        self.url = url.rstrip("/")
        self._client = httpx.Client(timeout=_TIMEOUT_S, headers={"Accept-Encoding": ENCODINGS}, transport=transport)
        self.state = self._ask("GET", "/part", None, PartState.model_validate_json)
        self.passages, self.terms = self.state.passages, self.state.terms

    def count(self, terms: Sequence[str]) -> list[int]:
        """See CountedPart. Raises ServiceError."""
        counts = self._ask("POST", "/part/count", {"terms": list(terms)}, _COUNTS.validate_json)
        if len(counts) != len(terms):
            raise ServiceError(f"{self.url}: {len(terms)} terms were asked for, {len(counts)} counts came")
        return counts

    def find(self, weights: Mapping[str, float], average: float, most: int) -> list[Hit]:
        """See Bm25Index, but with the passages. Raises ServiceError."""
        body = {"weights": dict(weights), "average": average, "most": most}
        found = self._ask("POST", "/part/find", body, _FOUND.validate_json)
        return [Hit(CorpusText(**one.model_dump(exclude={"score"})), one.score) for one in found]

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None, read: Callable[[bytes], _A]) -> _A:
        try:
            with self._client.stream(method, f"{self.url}{path}", json=body) as answer:
                answer.raise_for_status()
                reader = BodyReader(read_body_limit(), answer.headers.get("content-encoding"))
                return read(b"".join(map(reader.feed, answer.iter_raw())))
        except httpx.HTTPStatusError as error:
            raise ServiceError(f"{self.url}{path} answers {error.response.status_code}") from None
        except httpx.HTTPError as error:
            raise ServiceError(f"{self.url} cannot be reached ({str(error) or type(error).__name__})") from None
        except (BodyError, ValidationError) as error:
            reason = str(error).splitlines()[0]
            raise ServiceError(f"{self.url}{path}: no answer of a server of passages ({reason})") from None


class RemoteRetriever:
    """Searches an index whose parts are served by other machines, by words."""

    def __init__(self, parts: Sequence[RemotePart]) -> None:
        """Raises InputError where the parts do not make up one index."""
        require_tantivy()
        _check_whole([part.state for part in parts], [part.url for part in parts])
        self._parts = parts
        self._analyze = make_analyzer(parts[0].state.language).analyze
        self._threads = ThreadPoolExecutor(max_workers=16 * len(parts))
        self.passages = sum(part.passages for part in parts)

    def search(self, query: str, most: int) -> list[Hit]:
        """The best passages, at most `most`, as `Retriever.search` finds them by words. Raises ServiceError."""
        terms = list(dict.fromkeys(self._analyze(query)))
        if not terms or most < 1:
            return []
        counted = list(self._threads.map(lambda part: part.count(terms), self._parts))
        known = [
            _CountedPart(part, dict(zip(terms, counts, strict=True)))
            for part, counts in zip(self._parts, counted, strict=True)
        ]
        weights, average = weigh_query(self._analyze(query), known)
        if not weights:
            return []
        found = self._threads.map(lambda part: part.find(weights, average, most), self._parts)
        return sorted((hit for hits in found for hit in hits), key=lambda hit: (-hit.score, hit.passage.row))[:most]


class _CountedPart:
    """A part whose counts for one query are known."""

    def __init__(self, part: RemotePart, counts: Mapping[str, int]) -> None:
        self.passages, self.terms = part.passages, part.terms
        self._counts = counts

    def count(self, terms: Sequence[str]) -> list[int]:
        """See CountedPart."""
        return [self._counts[term] for term in terms]


def _check_whole(states: Sequence[PartState], urls: Sequence[str]) -> None:
    first = states[0]
    for state, url in zip(states, urls, strict=True):
        for name in ("corpus", "language", "shards", "of"):
            if getattr(state, name) != getattr(first, name):
                raise InputError(f"{url} serves another index than {urls[0]}: its {name} is {getattr(state, name)}")
    numbers = sorted(state.number for state in states)
    if numbers != list(range(1, first.of + 1)):
        held = ", ".join(f"{number}/{first.of}" for number in numbers)
        last = f"{first.of}/{first.of}"
        raise InputError(f"the servers have the parts {held}: name one for each from 1/{first.of} to {last}")
