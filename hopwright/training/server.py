"""Episodes over HTTP, for trainers that are programs of their own.

    GET  /health   GET /tools, /tools?task=…   GET /tasks?split=train   GET /pictures/SHA-256
    POST /reset    {"count": 64, "seed": 0, "group": 8} or {"episodes": [{"episode": "a", "task": "…"}]}
    POST /step     {"steps": [{"episode": "a", "turn": 0, "text": "…", "calls": [{"id", "name", "arguments"}]}]}
    POST /close    {"episodes": ["a"]}
    POST /call     {"calls": [{"task": "…", "taken": 0, "name": "search", "arguments": "{…}"}]}
    POST /score    {"rollouts": [{"task": "…", "messages": [ … ]}]}

Requests that come at the same time are answered as one batch, which is written to the disk once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hopwright.environments.picture_finder import PictureLibrary
from hopwright.environments.tools import PassageFinder, to_function_specs
from hopwright.errors import InputError
from hopwright.foreign import BodyReader, JsonError, TooLargeError, load_json, show_invalid
from hopwright.training.episodes import EpisodePool, RefusedError
from hopwright.training.playing import WireCall, WireTurn, call_alone, find_for, list_tools, score_rollout
from hopwright.training.task_files import Form, Split

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_MOST_ROWS = 8_192
_LONGEST_BODY = 256 << 20
_LONGEST_ID = 200
_BATCH = 256
"""Requests that are answered as one batch at most."""


class _Asked(BaseModel):
    """What a field that is not known is refused in: a misspelt one would be left at its default."""

    model_config = ConfigDict(extra="forbid")


class NamedEpisode(_Asked):
    """An episode that is to begin with a task."""

    episode: str = Field(min_length=1, max_length=_LONGEST_ID)
    task: str = Field(max_length=_LONGEST_ID)


class ResetRequest(_Asked):
    """Which episodes are to begin: named ones, or so many that the seed draws."""

    episodes: list[NamedEpisode] = Field([], max_length=_MOST_ROWS)
    count: int = Field(0, ge=0, le=_MOST_ROWS)
    seed: int = 0
    group: int = Field(1, ge=1, le=_MOST_ROWS)
    split: Split = "train"
    easiest: float = Field(1.0, gt=0, le=1)
    form: Form = "tools"


class WireStep(WireTurn):
    """A turn of an episode."""

    episode: str = Field(max_length=_LONGEST_ID)
    turn: int = Field(ge=0)


class StepRequest(_Asked):
    """Turns of any episodes."""

    steps: list[WireStep] = Field(max_length=_MOST_ROWS)


class CloseRequest(_Asked):
    """Episodes that nobody goes on with."""

    episodes: list[str] = Field(max_length=_MOST_ROWS)


class LooseCall(WireCall):
    """A call of a loop that keeps its own turns; without a task it has no budget.

    `messages` is its chat so far, the turn of this call last.
    """

    task: str = Field("", max_length=_LONGEST_ID)
    taken: int = Field(0, ge=0)
    messages: list[dict[str, Any]] = Field([], max_length=1_000)


class CallRequest(_Asked):
    """Calls of any rollouts."""

    calls: list[LooseCall] = Field(max_length=_MOST_ROWS)


class Rollout(_Asked):
    """A rollout as chat messages in OpenAI's form, without its prompt or with it."""

    task: str = Field(max_length=_LONGEST_ID)
    messages: list[dict[str, Any]] = Field(max_length=1_000)
    form: Form = "tools"


class ScoreRequest(_Asked):
    """Rollouts that another loop played."""

    rollouts: list[Rollout] = Field(max_length=_MOST_ROWS)


Kind = Literal["reset", "step", "close", "call", "score"]
_MODELS: dict[Kind, type[BaseModel]] = {
    "reset": ResetRequest,
    "step": StepRequest,
    "close": CloseRequest,
    "call": CallRequest,
    "score": ScoreRequest,
}


class EpisodeService:
    """Answers requests over a pool, one batch after the other, in a thread."""

    def __init__(self, pool: EpisodePool, finder: PassageFinder) -> None:
        self.pool = pool
        self._finder = finder
        self._tasks = {id: line.to_task() for id, line in pool.lines.items()}
        self._waiting: list[tuple[Kind, Any, asyncio.Future[Any]]] = []
        self._woken: asyncio.Event | None = None

    async def ask(self, kind: Kind, asked: Any) -> Any:
        """The reply to one request, answered with all that wait beside it."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((kind, asked, future))
        assert self._woken is not None
        self._woken.set()
        return await future

    async def run(self) -> None:
        """Answer batches until this is cancelled."""
        self._woken = asyncio.Event()
        while True:
            await self._woken.wait()
            batch, self._waiting = self._waiting[:_BATCH], self._waiting[_BATCH:]
            if not self._waiting:
                self._woken.clear()
            if not batch:
                continue
            replies = await asyncio.to_thread(self.answer, [(kind, asked) for kind, asked, _ in batch])
            for (_, _, future), reply in zip(batch, replies, strict=True):
                if future.done():
                    continue
                if isinstance(reply, Exception):
                    future.set_exception(reply)
                else:
                    future.set_result(reply)

    def answer(self, batch: list[tuple[Kind, Any]]) -> list[Any]:
        """The replies to a batch, in order; an exception in the place of one that failed.

        All turns in it are taken in together, so that they are written down once.
        """
        replies: list[Any] = [None] * len(batch)
        steps: list[tuple[int, Any]] = []
        for place, (kind, asked) in enumerate(batch):
            if kind == "step":
                steps.append((place, asked))
                continue
            try:
                replies[place] = self._answer_one(kind, asked)
            except Exception as error:
                replies[place] = error
        if steps:
            try:
                rows = [
                    (one.episode, one.turn, WireTurn(text=one.text, calls=one.calls))
                    for _, asked in steps
                    for one in asked.steps
                ]
                results = iter(self.pool.step(rows))
                for place, asked in steps:
                    replies[place] = {"results": [next(results) for _ in asked.steps]}
            except Exception as error:
                for place, _ in steps:
                    replies[place] = error
        return replies

    def _answer_one(self, kind: Kind, asked: Any) -> Any:
        if kind == "reset":
            wanted = [(one.episode, one.task) for one in asked.episodes]
            if asked.count:
                wanted += self.pool.draw(asked.count, asked.seed, asked.split, asked.group, asked.easiest)
            return {"episodes": self.pool.begin(wanted, asked.form)}
        if kind == "close":
            return {"closed": self.pool.close(asked.episodes)}
        if kind == "call":
            return {"results": [self._call(one) for one in asked.calls]}
        results: list[dict[str, Any]] = []
        for rollout in asked.rollouts:
            task = self._tasks.get(rollout.task)
            if task is None:
                results.append({"error": f"there is no task {rollout.task!r}"})
                continue
            try:
                finder = self._find_for(rollout.task)
                results.append(score_rollout(task, rollout.form, rollout.messages, finder))
            except ValidationError as error:
                results.append({"error": show_invalid(error)})
        return {"results": results}

    def _call(self, one: LooseCall) -> dict[str, str]:
        try:
            return call_alone(self._tasks.get(one.task), one.taken, one, self._find_for(one.task), one.messages)
        except ValidationError as error:
            said = show_invalid(error)
            return {"text": said, "problem": said}

    def read_picture(self, media: str) -> bytes:
        """The PNG of a picture. Raises InputError for a SHA-256 of none."""
        if not isinstance(self._finder, PictureLibrary):
            raise InputError("no task of this server has pictures")
        return self._finder.read_png(media)

    def _find_for(self, task: str) -> PassageFinder:
        line = self.pool.lines.get(task)
        return self._finder if line is None else find_for(line, self._finder)


def make_app(service: EpisodeService) -> Starlette:
    """The web application over a service."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    handler = _Handler(service)
    posts: list[Kind] = list(_MODELS)
    routes = [
        Route("/health", handler.health),
        Route("/tools", handler.list_tools),
        Route("/tasks", handler.list_tasks),
        Route("/pictures/{media}", handler.show_picture),
        *(Route(f"/{kind}", handler.make_endpoint(kind), methods=["POST"]) for kind in posts),
    ]
    return Starlette(routes=routes, lifespan=handler.live)


class _Handler:
    def __init__(self, service: EpisodeService) -> None:
        self._service = service

    @contextlib.asynccontextmanager
    async def live(self, _: Starlette) -> AsyncIterator[None]:
        """Run the service while the application runs."""
        running = asyncio.create_task(self._service.run())
        try:
            yield
        finally:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running

    async def health(self, _: Request) -> Response:
        """Say that the server is up, and of what."""
        from starlette.responses import JSONResponse

        pool = self._service.pool
        return JSONResponse({"status": "ok", "tasks": len(pool.lines), "open": pool.open})

    async def list_tools(self, request: Request) -> Response:
        """The tools in OpenAI's form: those of the task that is named, or of any."""
        from starlette.responses import JSONResponse

        lines = self._service.pool.lines
        task = request.query_params.get("task")
        if task is not None and task not in lines:
            return JSONResponse({"detail": f"there is no task {task!r}"}, status_code=404)
        asked = lines.values() if task is None else [lines[task]]
        tools = max(map(list_tools, asked), key=len)
        return JSONResponse({"tools": [{"type": "function", "function": spec} for spec in to_function_specs(tools)]})

    async def show_picture(self, request: Request) -> Response:
        """A picture of a question, as PNG."""
        from starlette.responses import JSONResponse, Response

        try:
            return Response(self._service.read_picture(request.path_params["media"]), media_type="image/png")
        except InputError as error:
            return JSONResponse({"detail": str(error)}, status_code=404)

    async def list_tasks(self, request: Request) -> Response:
        """Ids of the tasks of a split, easy ones first."""
        from starlette.responses import JSONResponse

        split = request.query_params.get("split", "train")
        lines = sorted(self._service.pool.lines.values(), key=lambda line: (line.order, line.id))
        return JSONResponse({"tasks": [line.id for line in lines if line.split == split]})

    def make_endpoint(self, kind: Kind) -> Callable[[Request], Any]:
        """What answers the requests of a kind."""
        return _Endpoint(kind, self._service).answer


class _Endpoint:
    """Reads a body, asks the service, and says in one line what is wrong with a request."""

    def __init__(self, kind: Kind, service: EpisodeService) -> None:
        self._kind = kind
        self._service = service

    async def answer(self, request: Request) -> Response:
        """Answer 422 with the reason for a body that is no request."""
        from starlette.responses import JSONResponse

        try:
            body = await _read_body(request)
            asked = _MODELS[self._kind].model_validate(load_json(body))
            return JSONResponse(await self._service.ask(self._kind, asked))
        except ValidationError as error:
            return JSONResponse({"detail": error.errors(include_url=False, include_input=False)}, status_code=422)
        except (JsonError, RefusedError) as error:
            return JSONResponse({"detail": str(error)}, status_code=422)


async def _read_body(request: Request) -> bytes:
    """The body of a request. Raises JsonError for one that is too long."""
    from starlette.requests import ClientDisconnect

    reader = BodyReader(_LONGEST_BODY)
    try:
        return b"".join([reader.feed(part) async for part in request.stream()])
    except ClientDisconnect:
        raise JsonError("the client hung up before the body ended") from None
    except TooLargeError:
        raise JsonError(f"the body is longer than {_LONGEST_BODY >> 20} MiB: send fewer rows") from None
