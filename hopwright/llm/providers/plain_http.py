"""The lean path to servers of OpenAI's format: one aiohttp session, nothing between it and the wire.

For endpoints given by base URL (vLLM, SGLang, llama.cpp, Ollama, OpenRouter). It sends what the SDK would send and
classifies errors the same way, at a quarter of the SDK's CPU per request; what the SDK gives beyond that (Azure,
streaming, file uploads) these endpoints do not need here.
"""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from hopwright.foreign import ENCODINGS, BodyError, BodyReader, read_body_limit
from hopwright.llm.config import Endpoint
from hopwright.llm.providers import openai_wire
from hopwright.llm.providers.base import Call, CallError, Reply, describe_cause, read_json, wrap_status


class PlainHttpProvider:
    """Any server of OpenAI's chat-completions format, by base URL."""

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        self.endpoint = endpoint
        self.native_choices = endpoint.dialect == "vllm"
        self._url = endpoint.base_url.rstrip("/") + "/chat/completions"
        self._limit = read_body_limit()
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": ENCODINGS, **endpoint.headers}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        # aiohttp would look for a proxy and a netrc file anew, in a thread, for every request.
        self._proxy = _find_proxy(self._url)
        self._session: aiohttp.ClientSession | None = None

    async def send(self, call: Call, timeout_s: float) -> Reply:
        """The answer. Raises CallError."""
        if self._session is None:
            # The gate decides how many are in flight; a second limit here would only hide it.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0), cookie_jar=aiohttp.DummyCookieJar(), proxy=self._proxy,
                timeout=aiohttp.ClientTimeout(total=None), auto_decompress=False,
            )  # fmt: skip
        body = json.dumps(openai_wire.build_body(call, self.endpoint.dialect, self.endpoint.omit), ensure_ascii=False)
        try:
            async with (
                asyncio.timeout(timeout_s),
                self._session.post(
                    self._url, data=body.encode("utf-8", "replace"), headers=self._headers, allow_redirects=False
                ) as response,
            ):
                try:
                    body_reader = BodyReader(self._limit, response.headers.get("Content-Encoding"))
                    content = b"".join([body_reader.feed(part) async for part in response.content.iter_any()])
                except BodyError as error:
                    # The connection is not given back: what is left of the answer would be read as the next one.
                    response.close()
                    raise CallError("garbled", str(error)) from None
                status, headers = response.status, response.headers
        except TimeoutError:
            raise CallError("timeout", f"no answer within {timeout_s:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise CallError("connection", f"connection failed: {describe_cause(error)}") from None
        if status != 200:
            raise wrap_status(status, content, headers)
        return openai_wire.read_reply(read_json(content), headers, calling=bool(call.tools))

    async def close(self) -> None:
        """Give the connections back."""
        if self._session is not None:
            await self._session.close()


def _find_proxy(url: str) -> str | None:
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    return getproxies().get(parts.scheme)
