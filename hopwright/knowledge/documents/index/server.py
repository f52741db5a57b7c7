"""A corpus over HTTP: `POST /retrieve` as Search-R1's retrieval server speaks it, so that its environments find it.

    {"queries": ["…"], "topk": 3, "return_scores": true} → {"result": [[{"document": {"id", "contents"}, "score"}]]}

Without `return_scores` the documents stand in the lists themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from hopwright.foreign import BodyReader, TooLargeError, read_body_limit
from hopwright.knowledge.documents.index.retriever import Hit, Retriever

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_LONGEST_QUERY = 100_000
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


def make_app(retriever: Retriever, topk: int) -> Starlette:
    """The web application; `topk` passages answer a query that does not say how many."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    service = _Service(retriever, topk)
    routes = [Route("/retrieve", service.retrieve, methods=["POST"]), Route("/health", service.health)]
    return Starlette(routes=routes)


class _Service:
    def __init__(self, retriever: Retriever, topk: int) -> None:
        self._retriever = retriever
        self._topk = topk

    async def retrieve(self, request: Request) -> Response:
        """Answer 422 with the reason for a body that is no request, as FastAPI does."""
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import JSONResponse

        try:
            asked = RetrieveRequest.model_validate_json(await _read_body(request))
            asked.refuse_flood(self._topk)
        except TooLargeError:
            return JSONResponse({"detail": "the request is longer than is read"}, status_code=413)
        except ValidationError as error:
            return JSONResponse({"detail": error.errors(include_url=False, include_input=False)}, status_code=422)
        except ValueError as error:
            return JSONResponse({"detail": str(error)}, status_code=422)
        result = await run_in_threadpool(self._search_all, asked)
        return JSONResponse({"result": result})

    async def health(self, _: Request) -> Response:
        """Say that the server is up, and of what."""
        from starlette.responses import JSONResponse

        return JSONResponse({"status": "ok", "passages": len(self._retriever.store)})

    def _search_all(self, asked: RetrieveRequest) -> list[list[dict[str, Any]]]:
        most = asked.topk or self._topk
        return [
            [_show(hit, scored=asked.return_scores) for hit in self._retriever.search(query, most)]
            for query in asked.queries
        ]


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
