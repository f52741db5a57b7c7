"""The batch endpoints of the wire server: OpenAI's files and batches, Anthropic's message batches."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.llm.wire_answers import draw

if TYPE_CHECKING:
    from tests.llm.wire_server import WireServer


@dataclass(slots=True)
class BatchFaults:
    """What goes wrong in batches. `polls` is for how many looks, alone or in a list, a batch stays in progress."""

    polls: int = 1
    errored: float = 0.0
    expired: float = 0.0
    expire_first: int = 0
    """So many batches, from the first, expire with whatever `expired` left unanswered."""
    fail_first: int = 0
    """So many OpenAI batches, from the first, end as `failed`."""
    drop_create: int = 0
    """So many creations are carried out, but their answer is cut off."""


class BatchRoutes:
    """Batches and files, in memory."""

    def __init__(self, server: WireServer, faults: BatchFaults) -> None:
        self.server = server
        self.faults = faults
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.results: dict[str, list[dict[str, Any]]] = {}
        self.polls: dict[str, int] = {}
        self.rows: dict[str, list[dict[str, Any]]] = {}

    def add_to(self, app: web.Application) -> None:
        """Register the routes."""
        router = app.router
        router.add_post("/v1/files", self._upload)
        router.add_get("/v1/files", self._list_files)
        router.add_get("/v1/files/{id}/content", self._content)
        router.add_post("/v1/batches", self._create_openai)
        router.add_get("/v1/batches", self._list_openai)
        router.add_get("/v1/batches/{id}", self._get_openai)
        router.add_post("/v1/messages/batches", self._create_anthropic)
        router.add_get("/v1/messages/batches", self._list_anthropic)
        router.add_get("/v1/messages/batches/{id}", self._get_anthropic)
        router.add_get("/v1/messages/batches/{id}/results", self._results_anthropic)

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        field = form["file"]
        assert isinstance(field, web.FileField)
        id = f"file-{len(self.files) + 1}"
        self.files[id] = (field.filename, field.file.read())
        return web.json_response(self._file(id))

    async def _list_files(self, _: web.Request) -> web.Response:
        rows = [self._file(id) for id in reversed(self.files)]
        return web.json_response({"object": "list", "data": rows, "has_more": False})

    async def _content(self, request: web.Request) -> web.Response:
        return web.Response(body=self.files[request.match_info["id"]][1], content_type="application/octet-stream")

    async def _create_openai(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        rows = [json.loads(line) for line in self.files[body["input_file_id"]][1].decode().splitlines()]
        id = f"batch_{len(self.batches) + 1}"
        now = int(time.time())
        self.rows[id], self.polls[id] = rows, 0
        self.batches[id] = {
            "id": id, "object": "batch", "endpoint": body["endpoint"], "input_file_id": body["input_file_id"],
            "completion_window": body["completion_window"], "status": "validating", "created_at": now,
            "metadata": body.get("metadata"),
            "request_counts": {"total": len(rows), "completed": 0, "failed": 0},
        }  # fmt: skip
        self.server.counts["batches"] += 1
        return self._created(request, self.batches[id])

    async def _list_openai(self, _: web.Request) -> web.Response:
        rows = [await self.look(id) for id in reversed(self.batches)]
        return web.json_response({"object": "list", "data": rows, "has_more": False})

    async def _get_openai(self, request: web.Request) -> web.Response:
        return web.json_response(await self.look(request.match_info["id"]))

    async def look(self, id: str) -> dict[str, Any]:
        """One poll of a batch: it ends after as many as `BatchFaults.polls`."""
        return self._look_anthropic(id) if id.startswith("msg") else self._look_openai(id)

    def _look_openai(self, id: str) -> dict[str, Any]:
        from tests.llm.wire_server import openai_reply

        batch = self.batches[id]
        self.polls[id] += 1
        if self.polls[id] <= self.faults.polls:
            batch["status"] = "in_progress"
        elif batch["status"] in ("validating", "in_progress"):
            number = list(self.batches).index(id)
            if number < self.faults.fail_first:
                batch["status"] = "failed"
                batch["errors"] = {"object": "list", "data": [{"code": "token_limit_exceeded", "message": "Too many"}]}
                return batch
            outcomes = self._outcomes(id, number)
            good, bad = [], []
            for row, outcome in zip(self.rows[id], outcomes, strict=True):
                entry: dict[str, Any] = {"id": f"req_{row['custom_id']}", "custom_id": row["custom_id"], "error": None}
                if outcome == "succeeded":
                    fault = self._fault(row["body"])
                    reply = openai_reply(row["body"], self._prompt(row["body"]), fault)
                    entry["response"] = {"status_code": 200, "request_id": "req_1", "body": reply}
                    good.append(entry)
                elif outcome == "errored":
                    error = {"error": {"message": "server error", "type": "api_error"}}
                    bad.append({**entry, "response": {"status_code": 500, "request_id": "req_1", "body": error}})
                else:
                    error = {"code": "batch_expired", "message": "This request could not be executed in time"}
                    bad.append({**entry, "response": None, "error": error})
            batch["status"] = "expired" if "expired" in outcomes else "completed"
            batch["output_file_id"] = self._store("output.jsonl", good)
            batch["error_file_id"] = self._store("errors.jsonl", bad)
            batch["request_counts"] = {"total": len(outcomes), "completed": len(good), "failed": len(bad)}
        return batch

    async def _create_anthropic(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        id = f"msgbatch_{len(self.batches) + 1}"
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.rows[id], self.polls[id] = body["requests"], 0
        self.batches[id] = {
            "id": id, "type": "message_batch", "processing_status": "in_progress", "created_at": now, "expires_at": now,
            "ended_at": None, "archived_at": None, "cancel_initiated_at": None, "results_url": None,
            "request_counts": {
                "processing": len(body["requests"]), "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0,
            },
        }  # fmt: skip
        self.server.counts["batches"] += 1
        return self._created(request, self.batches[id])

    async def _list_anthropic(self, _: web.Request) -> web.Response:
        rows = [await self.look(id) for id in reversed(self.batches)]
        return web.json_response({"data": rows, "has_more": False, "first_id": None, "last_id": None})

    async def _get_anthropic(self, request: web.Request) -> web.Response:
        return web.json_response(await self.look(request.match_info["id"]))

    def _look_anthropic(self, id: str) -> dict[str, Any]:
        batch = self.batches[id]
        self.polls[id] += 1
        if self.polls[id] > self.faults.polls and batch["processing_status"] == "in_progress":
            outcomes = self._outcomes(id, list(self.batches).index(id))
            counts = {name: outcomes.count(name) for name in ("succeeded", "errored", "canceled", "expired")}
            batch["processing_status"], batch["request_counts"] = "ended", {"processing": 0, **counts}
            batch["results_url"] = f"{self.server.url}/v1/messages/batches/{id}/results"
            batch["ended_at"] = batch["created_at"]
        return batch

    async def _results_anthropic(self, request: web.Request) -> web.Response:
        from tests.llm.wire_server import anthropic_reply

        id = request.match_info["id"]
        lines = []
        outcomes = self._outcomes(id, list(self.batches).index(id))
        for row, outcome in reversed(list(zip(self.rows[id], outcomes, strict=True))):
            result: dict[str, Any] = {"type": outcome}
            if outcome == "succeeded":
                body = row["params"]
                result["message"] = anthropic_reply(body, self._prompt(body), self._fault(body))
            elif outcome == "errored":
                error = {"type": "api_error", "message": "server error"}
                result["error"] = {"type": "error", "error": error, "request_id": None}
            lines.append(json.dumps({"custom_id": row["custom_id"], "result": result}))
        return web.Response(text="\n".join(lines) + "\n", content_type="application/x-jsonl")

    def _created(self, request: web.Request, batch: dict[str, Any]) -> web.StreamResponse:
        if self.faults.drop_create > 0:
            self.faults.drop_create -= 1
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(batch)

    def _outcomes(self, id: str, number: int) -> list[str]:
        outcomes = []
        for row in self.rows[id]:
            prompt = self._prompt(row.get("body") or row["params"])
            point = draw(prompt, f"batch {number}")
            expires = self.faults.expired if number < self.faults.expire_first else 0.0
            errs = self.faults.errored if number == 0 else 0.0
            outcomes.append("expired" if point < expires else "errored" if point < expires + errs else "succeeded")
        return outcomes

    def _fault(self, body: dict[str, Any]) -> str:
        prompt = self._prompt(body)
        self.server.seen[prompt] += 1
        return self.server.draw_fault(prompt)

    def _prompt(self, body: dict[str, Any]) -> str:
        from tests.llm.wire_server import prompt_of

        return prompt_of(body)

    def _store(self, name: str, rows: list[dict[str, Any]]) -> str | None:
        if not rows:
            return None
        id = f"file-{len(self.files) + 1}"
        self.files[id] = (name, "".join(json.dumps(row) + "\n" for row in rows).encode())
        return id

    def _file(self, id: str) -> dict[str, Any]:
        name, content = self.files[id]
        return {
            "id": id, "object": "file", "bytes": len(content), "created_at": 1, "filename": name, "purpose": "batch",
            "status": "processed",
        }  # fmt: skip
