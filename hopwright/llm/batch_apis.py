"""The two providers' batch interfaces behind one: submit, find again, poll, read the results.

Both SDKs are asked through their own clients. What a lost answer to a submission leaves open is settled by
`find`: OpenAI carries our token in the batch's metadata; Anthropic has no metadata, so there a batch is
recognised by the token in the ids of its results, and until those are there, by its size and its time.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from hopwright.foreign import JsonError, load_json
from hopwright.llm.config import Endpoint
from hopwright.llm.providers import anthropic_wire, openai_wire
from hopwright.llm.providers.base import Call, CallError, Reply, describe_cause, find_cause, wrap_status
from hopwright.llm.providers.sdk import AnthropicSdkProvider, OpenAISdkProvider, UnreadableBodyError

_SKEW_S = 600.0
"""How far the provider's clock may be from ours."""
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})


@dataclass(frozen=True, slots=True)
class BatchRow:
    """One request of a batch."""

    custom_id: str
    call: Call


@dataclass(frozen=True, slots=True)
class RowResult:
    """What became of a row: a reply, or why there is none. `again` says whether another round may help."""

    custom_id: str
    reply: Reply | None = None
    error: str = ""
    again: bool = True


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """Where a batch stands; `problem` says why a whole batch was refused."""

    ended: bool
    done: int
    total: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class BatchSearchResult:
    """What a search for a batch of ours gave: `unsure` means that one in progress may be it."""

    remote: str = ""
    unsure: bool = False


class BatchApi(Protocol):
    """One provider's batches. Everything raises CallError."""

    native_choices: bool
    most_rows: int
    most_bytes: int

    async def submit(self, token: str, rows: Sequence[BatchRow]) -> str:
        """Hand the rows in under our token; returns the provider's id."""
        ...

    async def find(self, token: str, created: float, count: int, known: Collection[str]) -> BatchSearchResult:
        """A batch handed in under this token, though the answer to that was lost."""
        ...

    async def poll(self, remote: str) -> BatchStatus:
        """Where it stands."""
        ...

    def results(self, remote: str) -> AsyncIterator[RowResult]:
        """Every row's result that there is, in any order."""
        ...

    def size(self, row: BatchRow) -> int:
        """Bytes that a row takes in the upload."""
        ...


class OpenAIBatches:
    """OpenAI's Batch API: a file of requests in, a file of results and a file of errors out."""

    most_rows = 50_000
    most_bytes = 190 * 2**20

    def __init__(self, provider: OpenAISdkProvider) -> None:
        self._client = provider.client
        self._endpoint = provider.endpoint
        self.native_choices = provider.native_choices

    def size(self, row: BatchRow) -> int:
        """Bytes that a row takes in the upload."""
        return len(self._line(row))

    async def submit(self, token: str, rows: Sequence[BatchRow]) -> str:
        """Hand the rows in under our token; returns the provider's id."""
        name = f"hopwright-{token}.jsonl"
        try:
            file = await self._find_file(name)
            if not file:
                content = b"".join(self._line(row) for row in rows)
                file = (await self._client.files.create(file=(name, content), purpose="batch")).id
            batch = await self._client.batches.create(
                input_file_id=file, endpoint="/v1/chat/completions", completion_window="24h",
                metadata={"hopwright": token},
            )  # fmt: skip
        except Exception as error:
            raise _wrap(error) from None
        return batch.id

    async def find(self, token: str, created: float, count: int, known: Collection[str]) -> BatchSearchResult:
        """A batch handed in under this token, though the answer to that was lost."""
        try:
            async for batch in self._client.batches.list(limit=100):
                if (batch.metadata or {}).get("hopwright") == token:
                    return BatchSearchResult(batch.id)
                if batch.created_at < created - _SKEW_S:
                    break
        except Exception as error:
            raise _wrap(error) from None
        return BatchSearchResult()

    async def poll(self, remote: str) -> BatchStatus:
        """Where it stands."""
        try:
            batch = await self._client.batches.retrieve(remote)
        except Exception as error:
            raise _wrap(error) from None
        counts = batch.request_counts
        problem = ""
        if batch.status == "failed":
            errors = (batch.errors.data if batch.errors else None) or []
            problem = "; ".join(str(error.message) for error in errors[:3]) or "the provider gave no reason"
        done = counts.completed + counts.failed if counts else 0
        return BatchStatus(batch.status in ENDED, done, counts.total if counts else 0, problem)

    async def results(self, remote: str) -> AsyncIterator[RowResult]:
        """Every row's result that there is, in any order."""
        try:
            batch = await self._client.batches.retrieve(remote)
            contents = [
                (await self._client.files.content(file)).content
                for file in (batch.output_file_id, batch.error_file_id)
                if file
            ]
        except Exception as error:
            raise _wrap(error) from None
        for content in contents:
            for line in content.splitlines():
                if line.strip() and (row := _read_openai_line(line)) is not None:
                    yield row

    async def _find_file(self, name: str) -> str:
        async for file in self._client.files.list(purpose="batch", limit=100):
            if file.filename == name:
                return file.id
        return ""

    def _line(self, row: BatchRow) -> bytes:
        body = openai_wire.build_body(row.call, self._endpoint.dialect, self._endpoint.omit)
        line = {"custom_id": row.custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}
        return json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


class AnthropicBatches:
    """Anthropic's Message Batches."""

    most_rows = 100_000
    most_bytes = 240 * 2**20
    native_choices = False

    def __init__(self, provider: AnthropicSdkProvider) -> None:
        self._client = provider.client
        self._endpoint = provider.endpoint

    def size(self, row: BatchRow) -> int:
        """Bytes that a row takes in the upload."""
        return len(json.dumps(self._params(row)))

    async def submit(self, token: str, rows: Sequence[BatchRow]) -> str:
        """Hand the rows in under our token; returns the provider's id."""
        requests: Any = [{"custom_id": row.custom_id, "params": self._params(row)} for row in rows]
        try:
            return (await self._client.messages.batches.create(requests=requests)).id
        except Exception as error:
            raise _wrap(error) from None

    async def find(self, token: str, created: float, count: int, known: Collection[str]) -> BatchSearchResult:
        """A batch handed in under this token, though the answer to that was lost."""
        unsure = False
        try:
            async for batch in self._client.messages.batches.list(limit=100):
                if batch.created_at.timestamp() < created - _SKEW_S:
                    break
                if batch.id in known or sum(batch.request_counts.to_dict().values()) != count:  # type: ignore[arg-type]
                    continue
                if batch.processing_status != "ended":
                    unsure = True
                    continue
                if batch.results_url is None:
                    continue
                async for entry in await self._client.messages.batches.results(batch.id):
                    if entry.custom_id.startswith(token):
                        return BatchSearchResult(batch.id)
                    break
        except Exception as error:
            raise _wrap(error) from None
        return BatchSearchResult(unsure=unsure)

    async def poll(self, remote: str) -> BatchStatus:
        """Where it stands."""
        try:
            batch = await self._client.messages.batches.retrieve(remote)
        except Exception as error:
            raise _wrap(error) from None
        counts = batch.request_counts
        done = counts.succeeded + counts.errored + counts.canceled + counts.expired
        return BatchStatus(batch.processing_status == "ended", done, done + counts.processing)

    async def results(self, remote: str) -> AsyncIterator[RowResult]:
        """Every row's result that there is, in any order."""
        try:
            async for entry in await self._client.messages.batches.results(remote):
                if (row := _read_anthropic_row(entry.to_dict())) is not None:
                    yield row
        except CallError:
            raise
        except Exception as error:
            raise _wrap(error) from None

    def _params(self, row: BatchRow) -> dict[str, Any]:
        return anthropic_wire.build_body(row.call, self._endpoint.mechanism, self._endpoint.omit)


def make_batch_api(endpoint: Endpoint, provider: object) -> BatchApi | None:
    """The batch interface of an endpoint, or None where it has none."""
    if isinstance(provider, OpenAISdkProvider):
        return OpenAIBatches(provider)
    if isinstance(provider, AnthropicSdkProvider):
        return AnthropicBatches(provider)
    return None


def _read_openai_line(line: bytes) -> RowResult | None:
    """A line of results; None for one that names no request of ours, which then counts as not answered."""
    try:
        row = load_json(line)
        return _read_openai_row(str(row["custom_id"]), row)
    except (JsonError, KeyError, TypeError, AttributeError):
        return None


def _read_openai_row(id: str, row: Mapping[str, Any]) -> RowResult:
    response, error = row.get("response") or {}, row.get("error")
    status = response.get("status_code", 0)
    if status == 200:
        try:
            headers = {"x-request-id": str(response.get("request_id") or "")}
            return RowResult(id, openai_wire.read_reply(response.get("body") or {}, headers))
        except CallError as garbled:
            return RowResult(id, error=str(garbled))
    if error:
        return RowResult(id, error=f"{error.get('code')}: {error.get('message')}")
    failed = wrap_status(status, json.dumps(response.get("body")).encode(), {})
    return RowResult(id, error=str(failed), again=failed.kind != "bad_request")


def _read_anthropic_row(entry: Mapping[str, Any]) -> RowResult | None:
    try:
        return _read_anthropic_result(str(entry["custom_id"]), entry["result"])
    except (KeyError, TypeError, AttributeError):
        return None


def _read_anthropic_result(id: str, result: Mapping[str, Any]) -> RowResult:
    kind: Literal["succeeded", "errored", "canceled", "expired"] = result["type"]
    if kind == "succeeded":
        try:
            return RowResult(id, anthropic_wire.read_reply(result["message"], {}))
        except CallError as garbled:
            return RowResult(id, error=str(garbled))
    if kind == "errored":
        error = result["error"].get("error") or {}
        # An invalid request stays invalid; anything else is the provider's own trouble.
        return RowResult(
            id, error=f"{error.get('type')}: {error.get('message')}", again=error.get("type") != "invalid_request_error"
        )
    return RowResult(id, error=f"the batch {kind} before this request was processed")


def _wrap(error: Exception) -> Exception:
    """What crosses from an SDK, classified; anything else is our own mistake and stays what it is."""
    cause = find_cause(error)
    if isinstance(cause, UnreadableBodyError):
        return CallError("garbled", str(cause))
    package = type(error).__module__.partition(".")[0]
    if package not in ("openai", "anthropic", "httpx2", "aiohttp") and not isinstance(error, OSError):
        return error
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", 0)
    if response is not None and status:
        return wrap_status(status, response.content, response.headers)
    return CallError("connection", f"connection failed: {describe_cause(error)}")
