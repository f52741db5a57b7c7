"""Both official SDKs, as Hopwright uses them: over an aiohttp transport, without retries, errors classified.

The SDKs give authentication, headers, error classes and base URLs. Requests go through their `post` with the raw
response as its result: building and parsing their response models takes more time than everything else together
(1.3 ms against 0.7 ms of CPU a request), and what they would hold is read here by `openai_wire` and
`anthropic_wire`. Their default transport does not hold at hundreds of requests in flight, so each gets its SDK's
aiohttp client.
"""

from __future__ import annotations

import asyncio

import httpx2

from hopwright.llm.config import Endpoint
from hopwright.llm.providers import anthropic_wire, openai_wire
from hopwright.llm.providers.base import Call, CallError, Reply, describe_cause, read_json, wrap_status

_CONNECTIONS = 4096


class OpenAISdkProvider:
    """OpenAI, and any server of its format, through the `openai` package."""

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        import openai

        self._sdk = openai
        self.endpoint = endpoint
        self.native_choices = endpoint.dialect == "vllm"
        self.client = openai.AsyncOpenAI(
            api_key=key, base_url=endpoint.base_url or None, max_retries=0, default_headers=dict(endpoint.headers),
            http_client=openai.DefaultAioHttpClient(limits=httpx2.Limits(max_connections=_CONNECTIONS)),
        )  # fmt: skip

    async def send(self, call: Call, timeout_s: float) -> Reply:
        """The answer. Raises CallError."""
        body = openai_wire.build_body(call, self.endpoint.dialect, self.endpoint.omit)
        try:
            async with asyncio.timeout(timeout_s):
                response = await self.client.post(
                    "/chat/completions", cast_to=httpx2.Response, body=body, options={"timeout": timeout_s}
                )
        except self._sdk.APIStatusError as error:
            raise wrap_status(error.status_code, error.response.content, error.response.headers) from None
        except (self._sdk.APITimeoutError, TimeoutError) as error:
            raise wrap_silence(error, timeout_s) from None
        except UnicodeError as error:
            raise CallError("bad_request", f"the prompt cannot be encoded: {error}") from None
        except (self._sdk.OpenAIError, httpx2.HTTPError, OSError) as error:
            raise CallError("connection", f"connection failed: {describe_cause(error)}") from None
        return openai_wire.read_reply(read_json(response.content), response.headers)

    async def close(self) -> None:
        """Give the connections back."""
        await self.client.close()


class AnthropicSdkProvider:
    """Anthropic, and any server of its format, through the `anthropic` package."""

    native_choices = False

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        import anthropic

        self._sdk = anthropic
        self.endpoint = endpoint
        self.client = anthropic.AsyncAnthropic(
            api_key=key, base_url=endpoint.base_url or None, max_retries=0, default_headers=dict(endpoint.headers),
            http_client=anthropic.DefaultAioHttpClient(limits=httpx2.Limits(max_connections=_CONNECTIONS)),
        )  # fmt: skip

    async def send(self, call: Call, timeout_s: float) -> Reply:
        """The answer. Raises CallError."""
        body = anthropic_wire.build_body(
            call, self.endpoint.mechanism, self.endpoint.omit, bounds=self.endpoint.dialect == "vllm"
        )
        try:
            async with asyncio.timeout(timeout_s):
                response = await self.client.post(
                    "/v1/messages", cast_to=httpx2.Response, body=body, options={"timeout": timeout_s}
                )
        except self._sdk.APIStatusError as error:
            raise wrap_status(error.status_code, error.response.content, error.response.headers) from None
        except (self._sdk.APITimeoutError, TimeoutError) as error:
            raise wrap_silence(error, timeout_s) from None
        except UnicodeError as error:
            raise CallError("bad_request", f"the prompt cannot be encoded: {error}") from None
        except (self._sdk.AnthropicError, httpx2.HTTPError, OSError) as error:
            raise CallError("connection", f"connection failed: {describe_cause(error)}") from None
        return anthropic_wire.read_reply(read_json(response.content), response.headers)

    async def close(self) -> None:
        """Give the connections back."""
        await self.client.close()


def wrap_silence(error: BaseException, timeout_s: float) -> CallError:
    """A time-out, or what the transport reports as one though the connection was cut."""
    cause = f"{describe_cause(error)}".lower()
    if "disconnected" in cause or "reset" in cause or "refused" in cause or "connect call failed" in cause:
        return CallError("connection", f"connection failed: {describe_cause(error)}")
    return CallError("timeout", f"no answer within {timeout_s:g} s")
