"""Rate limits against a server that has them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from hopwright.errors import ServiceError
from hopwright.llm.config import LimitSettings
from hopwright.llm.limits import AdaptiveLimit
from hopwright.llm.rate_limiter import ExpectedTokens, RateLimiter
from hopwright.llm.types import TokenUsage
from tests.llm.builders import ask_all, request, rows, run, settings, wait_until
from tests.llm.wire_server import Faults, WireServer

KINDS = ["compatible", "openai", "anthropic"]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_sent_before_retry_after_has_passed(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with WireServer(Faults(cap=8, latency_s=0.05, retry_after="2.5")) as server:
            limits = LimitSettings(max_concurrency=32)
            outcomes, client = await ask_all(tmp_path, settings(server, kind=kind, limits=limits), rows(60))
            assert all(outcome.ok for outcome in outcomes)
            assert server.refused_at
            last = max(moment for moment in server.refused_at if moment < server.refused_at[0] + 1)
            early = [moment for moment in server.times if last + 0.02 < moment < last + 2.49]
            assert early == []
            assert client.progress.counts["refusals"] == len(server.refused_at) < 60

    run(check())


def test_the_capacity_of_the_server_is_found_and_kept(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(Faults(cap=8, latency_s=0.02, retry_after="0.2")) as server:
            limits = LimitSettings(max_concurrency=32)
            outcomes, _ = await ask_all(tmp_path, settings(server, limits=limits), rows(300))
            assert all(outcome.ok for outcome in outcomes)
            assert server.max_in_flight == 8
            assert len(server.refused_at) <= 40

    run(check())


def test_a_429_without_retry_after_backs_off_and_comes_through(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(Faults(cap=4, latency_s=0.02, retry_after="")) as server:
            outcomes, _ = await ask_all(tmp_path, settings(server), rows(80))
            assert all(outcome.ok for outcome in outcomes)
            assert server.counts["429"] < 80

    run(check())


def test_configured_requests_per_minute_are_kept(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer() as server:
            limits = LimitSettings(max_concurrency=32, requests_per_minute=25)
            began = time.monotonic()
            task = asyncio.create_task(ask_all(tmp_path, settings(server, limits=limits), rows(40)))
            await wait_until(lambda: sum(server.seen.values()) >= 25)
            await asyncio.sleep(0.5)
            # What refills meanwhile: one request in 2.4 s.
            assert 25 <= sum(server.seen.values()) <= 25 + (time.monotonic() - began) / 2.4
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    run(check())


def test_headers_that_say_nothing_is_left_hold_requests_back(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(Faults(per_minute=20, announce=True, retry_after="30")) as server:
            limits = LimitSettings(max_concurrency=4)
            task = asyncio.create_task(ask_all(tmp_path, settings(server, limits=limits), rows(60)))
            await wait_until(lambda: server.counts["answered"] >= 15)
            await asyncio.sleep(0.5)
            # What refills meanwhile (20 a minute) meets a 429 once, and then a pause of 30 s.
            assert server.counts["429"] <= 1
            assert 15 <= server.counts["answered"] <= 21
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    run(check())


def test_a_pause_longer_than_allowed_counts_as_down(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(Faults(cap=1, latency_s=0.2, retry_after="5000")) as server:
            with pytest.raises(ServiceError, match="wants a pause of"):
                await ask_all(tmp_path, settings(server), rows(40))
            assert sum(server.seen.values()) <= 40

    run(check())


def test_a_pause_holds_everyone_and_an_end_releases_everyone() -> None:
    async def check() -> None:
        gate = RateLimiter(AdaptiveLimit(4, 4), {})
        gate.pause(time.monotonic() + 30)
        waiting = [asyncio.create_task(gate.enter(ExpectedTokens(1, 1))) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert gate.waiting == 3
        gate.abort(ServiceError("over"))
        assert all(isinstance(error, ServiceError) for error in await asyncio.gather(*waiting, return_exceptions=True))

    run(check())


def test_a_cancelled_waiter_takes_nothing_with_it() -> None:
    async def check() -> None:
        gate = RateLimiter(AdaptiveLimit(1, 1), {"tokens": 1000.0})
        first = await gate.enter(ExpectedTokens(1, 1))
        lost = asyncio.create_task(gate.enter(ExpectedTokens(1, 1)))
        kept = asyncio.create_task(gate.enter(ExpectedTokens(1, 1)))
        await asyncio.sleep(0)
        lost.cancel()
        await asyncio.gather(lost, return_exceptions=True)
        gate.leave(first, TokenUsage(input=1, output=1))
        gate.leave(first, None)
        permit = await kept
        assert gate.limit.in_flight == 1
        gate.leave(permit, None)
        assert gate.limit.in_flight == 0

    run(check())


def test_a_request_larger_than_the_limit_still_goes_alone(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer() as server:
            limits = LimitSettings(tokens_per_minute=10)
            outcomes, _ = await ask_all(tmp_path, settings(server, limits=limits), [request("a" * 400)])
            assert outcomes[0].ok

    run(check())
