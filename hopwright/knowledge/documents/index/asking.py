"""Asks another machine over HTTP, and has the whole answer by a deadline or none.

httpx's time-outs start anew with each byte, so that an answer of one byte a second would never end. Here the requests
run in the event loop of a thread, where a deadline holds for connection, headers and body together.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import weakref
from collections.abc import AsyncGenerator, Mapping
from typing import Any, cast

import httpx

from hopwright.foreign import ENCODINGS, BodyReader, read_body_limit

_GRACE_S = 5.0


class Asker:
    """Asks one server; several threads may ask at once."""

    def __init__(
        self,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`timeout_s` is for one whole answer."""
        self._timeout_s = timeout_s
        self._client = httpx.AsyncClient(
            timeout=None, headers={"Accept-Encoding": ENCODINGS, **(headers or {})}, transport=transport
        )
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="asker", daemon=True).start()
        weakref.finalize(self, self._loop.call_soon_threadsafe, self._loop.stop)

    def ask(self, method: str, url: str, body: Any = None) -> bytes:
        """The body of the answer; `body` is sent as JSON.

        Raises httpx.HTTPStatusError for another answer than a good one, other httpx.HTTPErrors where none comes in
        time, httpx.InvalidURL, and BodyError for one that is longer than is read, packed or unpacked.
        """
        asked = asyncio.run_coroutine_threadsafe(self._ask(method, url, body), self._loop)
        try:
            return asked.result(self._timeout_s + _GRACE_S)
        except TimeoutError:
            raise httpx.ReadTimeout(f"no whole answer within {self._timeout_s:g} s") from None
        finally:
            asked.cancel()

    async def _ask(self, method: str, url: str, body: Any) -> bytes:
        async with asyncio.timeout(self._timeout_s), self._client.stream(method, url, json=body) as answer:
            answer.raise_for_status()
            reader = BodyReader(read_body_limit(), answer.headers.get("content-encoding"))
            raw = cast("AsyncGenerator[bytes, None]", answer.aiter_raw())
            async with contextlib.aclosing(raw):
                return b"".join([reader.feed(part) async for part in raw])
