"""A corpus over HTTP: `POST /retrieve` as Search-R1's retrieval server speaks it, so that its environments find it.

    {"queries": ["…"], "topk": 3, "return_scores": true} → {"result": [[{"document": {"id", "contents"}, "score"}]]}

Without `return_scores` the documents stand in the lists themselves. A server of a part of an index (`remote`) answers
`GET /part`, `POST /part/count` and `POST /part/find` instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from hopwright.errors import ServiceError
from hopwright.foreign import BodyReader, TooLargeError, read_body_limit
from hopwright.knowledge.documents.index.remote import CountRequest, FindRequest, PartServer
from hopwright.knowledge.documents.index.retriever import Hit, Retriever

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_R = TypeVar("_R", bound=BaseModel)
_LONGEST_QUERY = 100_000
SEARCHES = 2 * (os.cpu_count() or 1)
"""Searches at once in a corpus that is here: more threads than that wait in turn for the interpreter's lock."""
_MOST_PASSAGES = 20_000
"""Passages in one answer; Search-R1 asks for three of each of some hundred queries."""


class RetrieveRequest(BaseModel):
    """The body of a request; fields that are not known are passed over."""

    queries: list[Annotated[str, StringConstraints(max_length=_LONGEST_QUERY)]] = Field(max_length=4096)
    topk: Annotated[int, Field(ge=1, le=1000)] | None = None
    return_scores: bool = False

    def refuse_flood(self, usual: int) -> None:
        """Raise ValueError where the answer would hold more passages than one does; `usual` for each query."""
        wanted = len(self.queries) * (self.topk or usual)
        if wanted > _MOST_PASSAGES:
            raise ValueError(f"{wanted:,} passages are asked for at once; at most {_MOST_PASSAGES:,} are given")


class Searcher(Protocol):
    """What is served: a corpus that is here, or one in parts on other machines."""

    passages: int

    def search(self, query: str, most: int) -> list[Hit]:
        """See Retriever."""
        ...


def make_app(searcher: Searcher, topk: int, at_once: int = SEARCHES) -> Starlette:
    """The web application: `topk` passages answer a query that does not say how many, and so many requests are
    searched for `at_once`."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    service = _Service(searcher, topk, at_once)
    routes = [Route("/retrieve", service.retrieve, methods=["POST"]), Route("/health", service.health)]
    return Starlette(routes=routes)


def make_part_app(retriever: Retriever) -> Starlette:
    """The web application of a part of an index."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    service = _PartService(PartServer(retriever))
    routes = [Route("/part", service.describe), Route("/part/count", service.count, methods=["POST"])]
    return Starlette(routes=[*routes, Route("/part/find", service.find, methods=["POST"])])


class _PartService:
    def __init__(self, part: PartServer) -> None:
        self._part = part
        self._threads = _Threads(SEARCHES)

    async def describe(self, _: Request) -> Response:
        """See PartServer."""
        from starlette.responses import JSONResponse

        return JSONResponse(self._part.describe())

    async def count(self, request: Request) -> Response:
        """See PartServer."""
        return await self._threads.answer(request, CountRequest, self._part.count)

    async def find(self, request: Request) -> Response:
        """See PartServer."""
        return await self._threads.answer(request, FindRequest, self._part.find)


class _Threads:
    """Work in threads, so much at once."""

    def __init__(self, at_once: int) -> None:
        from anyio import CapacityLimiter

        self._limiter = CapacityLimiter(at_once)

    async def answer(self, request: Request, model: type[_R], work: Callable[[_R], Any]) -> Response:
        """What some work makes of a request; 422 with the reason for a body that is none, as FastAPI does."""
        from anyio.to_thread import run_sync
        from starlette.responses import JSONResponse

        try:
            asked = model.model_validate_json(await _read_body(request))
            return JSONResponse(await run_sync(work, asked, limiter=self._limiter))
        except TooLargeError:
            return JSONResponse({"detail": "the request is longer than is read"}, status_code=413)
        except ServiceError as error:
            return JSONResponse({"detail": str(error)}, status_code=503)
        except ValidationError as error:
            return JSONResponse({"detail": error.errors(include_url=False, include_input=False)}, status_code=422)
        except ValueError as error:
            return JSONResponse({"detail": str(error)}, status_code=422)


class _Service:
    def __init__(self, searcher: Searcher, topk: int, at_once: int) -> None:
        self._searcher = searcher
        self._topk = topk
        self._threads = _Threads(at_once)

    async def retrieve(self, request: Request) -> Response:
        """Search for every query."""
        return await self._threads.answer(request, RetrieveRequest, self._search_all)

    async def health(self, _: Request) -> Response:
        """Say that the server is up, and of what."""
        from starlette.responses import JSONResponse

        return JSONResponse({"status": "ok", "passages": self._searcher.passages})

    def _search_all(self, asked: RetrieveRequest) -> dict[str, list[list[dict[str, Any]]]]:
        asked.refuse_flood(self._topk)
        most = asked.topk or self._topk
        found = (self._searcher.search(query, most) for query in asked.queries)
        return {"result": [[_show(hit, scored=asked.return_scores) for hit in hits] for hits in found]}


async def _read_body(request: Request) -> bytes:
    """The body of a request. Raises TooLargeError once it is longer than is read of one."""
    from starlette.requests import ClientDisconnect

    reader = BodyReader(read_body_limit())
    try:
        return b"".join([reader.feed(part) async for part in request.stream()])
    except ClientDisconnect:
        raise ValueError("the client hung up before the body ended") from None


def _show(hit: Hit, *, scored: bool) -> dict[str, Any]:
    document = {"id": hit.passage.id, "contents": hit.passage.contents}
    return {"document": document, "score": hit.score} if scored else document
