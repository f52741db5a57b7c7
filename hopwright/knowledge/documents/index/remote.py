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
from pydantic import BaseModel, Field, StringConstraints, TypeAdapter, ValidationError, model_validator

from hopwright.errors import InputError, ServiceError
from hopwright.foreign import BodyError, show, show_invalid
from hopwright.knowledge.documents.index.analysis import make_analyzer, require_tantivy
from hopwright.knowledge.documents.index.asking import Asker
from hopwright.knowledge.documents.index.retriever import Hit, Retriever
from hopwright.knowledge.documents.index.searching import weigh_query
from hopwright.knowledge.documents.store import CorpusText
from hopwright.settings.corpus import StemmingLanguage

_TIMEOUT_S = 60.0
"""For one whole answer."""
_MOST_TERMS = 100_000
_MOST_FOUND = 20_000
_MOST_PARTS = 256
Number = Annotated[int, Field(ge=0, le=2**53)]
Part = Annotated[int, Field(ge=1, le=_MOST_PARTS)]
Term = Annotated[str, StringConstraints(max_length=200)]
_A = TypeVar("_A")


class PartState(BaseModel):
    """What a server has of which index."""

    corpus: Annotated[str, StringConstraints(max_length=200)]
    language: StemmingLanguage
    shards: Part
    number: Part
    of: Part
    passages: Number
    terms: Number

    @model_validator(mode="after")
    def _check(self) -> PartState:
        if self.terms and not self.passages:
            raise ValueError("it has terms and no passages")
        return self


class CountRequest(BaseModel):
    """Asks how many passages have each term."""

    terms: list[Term] = Field(max_length=_MOST_TERMS)


class FindRequest(BaseModel):
    """Asks for the best passages by weights that hold for the whole corpus."""

    weights: dict[Term, float] = Field(max_length=_MOST_TERMS)
    average: float = Field(gt=0)
    most: int = Field(ge=1, le=_MOST_FOUND)


class FoundPassage(BaseModel):
    """A passage with its score, as a server of a part gives it."""

    id: str
    row: Number
    title: str
    text: str
    document: str
    start: Number
    end: Number
    score: float = Field(allow_inf_nan=False)


_COUNTS = TypeAdapter(Annotated[list[Number], Field(max_length=_MOST_TERMS)])
_FOUND = TypeAdapter(Annotated[list[FoundPassage], Field(max_length=_MOST_FOUND)])


class PartServer:
    """What a server of a part answers."""

    def __init__(self, retriever: Retriever) -> None:
        self._store, self._words = retriever.store, retriever.words

    def describe(self) -> dict[str, Any]:
        """See PartState."""
        words = self._words
        manifest = words.manifest
        return {
            "corpus": manifest.corpus,
            "language": manifest.language,
            "shards": len(manifest.shards),
            "number": words.part.number,
            "of": words.part.of,
            "passages": words.passages,
            "terms": words.terms,
        }

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

    def __init__(self, url: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        """Raises ServiceError where nothing that serves a part of an index answers."""
        self.url = url.rstrip("/")
        self._asker = Asker(_TIMEOUT_S, transport=transport)
        self.state = self._ask("GET", "/part", None, PartState.model_validate_json)
        self.passages, self.terms = self.state.passages, self.state.terms

    def count(self, terms: Sequence[str]) -> list[int]:
        """See CountedPart. Raises ServiceError."""
        counts = self._ask("POST", "/part/count", {"terms": list(terms)}, _COUNTS.validate_json)
        if len(counts) != len(terms):
            raise ServiceError(f"{self.url}: {len(terms)} terms were asked for, {len(counts)} counts came")
        if max(counts, default=0) > self.passages:
            raise ServiceError(f"{self.url}: a term is in more passages than there are")
        return counts

    def find(self, weights: Mapping[str, float], average: float, most: int) -> list[Hit]:
        """See Bm25Index, but with the passages. Raises ServiceError."""
        body = {"weights": dict(weights), "average": average, "most": most}
        found = self._ask("POST", "/part/find", body, _FOUND.validate_json)
        if len(found) > most:
            raise ServiceError(f"{self.url}: {most:,} passages were asked for, {len(found):,} came")
        return [Hit(CorpusText(**one.model_dump(exclude={"score"})), one.score) for one in found]

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None, read: Callable[[bytes], _A]) -> _A:
        try:
            return read(self._asker.ask(method, f"{self.url}{path}", body))
        except httpx.HTTPStatusError as error:
            raise ServiceError(f"{self.url}{path} answers {error.response.status_code}") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = show(error) or type(error).__name__
            raise ServiceError(f"{self.url} cannot be reached ({reason})") from None
        except (BodyError, ValidationError) as error:
            reason = show_invalid(error) if isinstance(error, ValidationError) else str(error)
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
        asked = self._analyze(query)
        terms = list(dict.fromkeys(asked))
        if not terms or most < 1:
            return []
        counted = list(self._threads.map(lambda part: part.count(terms), self._parts))
        known = [
            _CountedPart(part, dict(zip(terms, counts, strict=True)))
            for part, counts in zip(self._parts, counted, strict=True)
        ]
        weights, average = weigh_query(asked, known)
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
                raise InputError(
                    f"{url} serves another index than {urls[0]}: its {name} is {show(getattr(state, name))}"
                )
    numbers = sorted(state.number for state in states)
    if numbers != list(range(1, len(numbers) + 1)) or len(numbers) != first.of:
        held = ", ".join(f"{number}/{first.of}" for number in numbers)
        last = f"{first.of}/{first.of}"
        raise InputError(f"the servers have the parts {held}: name one for each from 1/{first.of} to {last}")
