"""Both official SDKs, as Hopwright uses them: over an aiohttp transport, without retries, errors classified.

The SDKs give authentication, headers, error classes and base URLs. Requests go through their `post` with the raw
response as its result: building and parsing their response models takes more time than everything else together
(1.3 ms against 0.7 ms of CPU a request), and what they would hold is read here by `openai_wire` and
`anthropic_wire`. Their default transport does not hold at hundreds of requests in flight, so each gets its SDK's
aiohttp client.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import httpx2

from hopwright.foreign import ENCODINGS, BodyError, BodyReader, read_body_limit
from hopwright.llm.config import Endpoint
from hopwright.llm.providers import anthropic_wire, openai_wire
from hopwright.llm.providers.base import Call, CallError, Reply, describe_cause, find_cause, read_json, wrap_status

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI

_Client = TypeVar("_Client", "AsyncOpenAI", "AsyncAnthropic")
_CONNECTIONS = 4096
_BATCH_ANSWERS = 64
"""How many longest answers the results of a batch may take: most are a thousandth of one."""


class UnreadableBodyError(Exception):
    """A response whose body is too long, or packed in a way that is not known."""


class _BoundedStream(httpx2.AsyncByteStream):
    """A response's body, unpacked here and no longer than allowed: the client's own decoders know no limit."""

    def __init__(self, stream: httpx2.AsyncByteStream, reader: BodyReader) -> None:
        self._stream = stream
        self._reader = reader

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            try:
                yield self._reader.feed(part)
            except BodyError as error:
                raise UnreadableBodyError(str(error)) from None

    async def aclose(self) -> None:
        """Give the connection back."""
        await self._stream.aclose()


async def bound_body(response: httpx2.Response) -> None:
    """Hold a response's body to the limit, before anything of it is read; a hook of the client."""
    path = response.request.url.path
    limit = read_body_limit() * (_BATCH_ANSWERS if path.endswith(("/content", "/results")) else 1)
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    try:
        reader = BodyReader(limit, response.headers.pop("content-encoding", ""))
    except BodyError as error:
        raise UnreadableBodyError(str(error)) from None
    response.stream = _BoundedStream(response.stream, reader)


class _SdkProvider(Generic[_Client]):
    """What both SDKs have in common: they are generated alike, down to the names of their errors."""

    def __init__(
        self, sdk: Any, client: Callable[..., _Client], base_error: type[Exception], endpoint: Endpoint, key: str
    ) -> None:
        self.endpoint = endpoint
        self.client: _Client = client(
            api_key=key, base_url=endpoint.base_url or None, max_retries=0, default_headers=dict(endpoint.headers),
            http_client=sdk.DefaultAioHttpClient(
                limits=httpx2.Limits(max_connections=_CONNECTIONS), headers={"Accept-Encoding": ENCODINGS},
                # A redirect would send the prompt to whoever it names.
                follow_redirects=False, event_hooks={"response": [bound_body]},
            ),
        )  # fmt: skip
        self._sdk = sdk
        self._base_error = base_error

    async def close(self) -> None:
        """Give the connections back."""
        await self.client.close()

    async def _post(self, path: str, body: dict[str, Any], timeout_s: float) -> tuple[dict[str, Any], dict[str, str]]:
        """The answer as JSON, and its headers. Raises CallError."""
        import aiohttp

        try:
            async with asyncio.timeout(timeout_s):
                response = await self.client.post(
                    path, cast_to=httpx2.Response, body=body, options={"timeout": timeout_s}
                )
        except self._sdk.APIStatusError as error:
            raise wrap_status(error.status_code, error.response.content, read_headers(error.response.headers)) from None
        except (self._sdk.APITimeoutError, TimeoutError) as error:
            raise wrap_silence(error, timeout_s) from None
        except UnicodeError as error:
            raise CallError("bad_request", f"the prompt cannot be encoded: {error}") from None
        except (self._base_error, httpx2.HTTPError, aiohttp.ClientError, OSError, UnreadableBodyError) as error:
            if isinstance(cause := find_cause(error), UnreadableBodyError):
                raise CallError("garbled", str(cause)) from None
            raise CallError("connection", f"connection failed: {describe_cause(error)}") from None
        return read_json(response.content), read_headers(response.headers)


class OpenAISdkProvider(_SdkProvider["AsyncOpenAI"]):
    """OpenAI, and any server of its format, through the `openai` package."""

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        import openai

        super().__init__(openai, openai.AsyncOpenAI, openai.OpenAIError, endpoint, key)
        self.native_choices = endpoint.dialect == "vllm"

    async def send(self, call: Call, timeout_s: float) -> Reply:
        """The answer. Raises CallError."""
        body = openai_wire.build_body(call, self.endpoint.dialect, self.endpoint.omit)
        return openai_wire.read_reply(*await self._post("/chat/completions", body, timeout_s), calling=bool(call.tools))


class AnthropicSdkProvider(_SdkProvider["AsyncAnthropic"]):
    """Anthropic, and any server of its format, through the `anthropic` package."""

    native_choices = False

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        import anthropic

        super().__init__(anthropic, anthropic.AsyncAnthropic, anthropic.AnthropicError, endpoint, key)

    async def send(self, call: Call, timeout_s: float) -> Reply:
        """The answer. Raises CallError."""
        body = anthropic_wire.build_body(
            call, self.endpoint.mechanism, self.endpoint.omit, bounds=self.endpoint.dialect == "vllm"
        )
        return anthropic_wire.read_reply(*await self._post("/v1/messages", body, timeout_s), calling=bool(call.tools))


def read_headers(headers: httpx2.Headers) -> dict[str, str]:
    """Plain headers: every look-up in the SDKs' own costs as much as this."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers.raw}


def wrap_silence(error: BaseException, timeout_s: float) -> CallError:
    """A time-out, or what the transport reports as one though the connection was cut."""
    cause = f"{describe_cause(error)}".lower()
    if "disconnected" in cause or "reset" in cause or "refused" in cause or "connect call failed" in cause:
        return CallError("connection", f"connection failed: {describe_cause(error)}")
    return CallError("timeout", f"no answer within {timeout_s:g} s")
