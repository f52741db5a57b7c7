"""Workers of a run share one client across threads, and their limits across processes."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hopwright.errors import InputError, ServiceError
from hopwright.llm.client import Client
from hopwright.llm.config import LimitSettings
from hopwright.llm.limit_sharing import LimitSharing
from hopwright.llm.session import Session, close_session, open_session
from hopwright.llm.store import Store
from hopwright.llm.types import ModelRef, Response
from tests.e2e.serving import serving
from tests.llm.builders import request, rows, run, settings
from tests.llm.wire_answers import right_answer
from tests.llm.wire_batches import BatchFaults
from tests.llm.wire_server import Faults, WireServer

TARGET = ModelRef("local", "tiny")


def test_threads_of_a_run_share_one_limit_and_one_cache(tmp_path: Path) -> None:
    with serving(WireServer(Faults(latency_s=0.02))) as server:
        llm = settings(server, limits=LimitSettings(max_concurrency=6, start_concurrency=6))
        store = tmp_path / "llm.sqlite"
        with ThreadPoolExecutor(8) as pool:
            shards = [rows(100)[start : start + 25] for start in range(0, 100, 10)]
            results = list(pool.map(lambda part: open_session(llm, store, run="r").complete_all(part), shards))
        assert all(isinstance(outcome, Response) for shard in results for outcome in shard)
        assert server.max_in_flight == 6
        assert max(server.seen.values()) == 1
        snapshot = open_session(llm, store, run="r").snapshot()
        assert snapshot.sent == 100
        close_session(store, "r")


def test_a_stream_gives_outcomes_as_they_come_with_their_positions(tmp_path: Path) -> None:
    with serving(WireServer()) as server, Session(settings(server), tmp_path / "llm.sqlite") as session:
        got = dict(session.stream(request(f"row {n}") for n in range(50)))
        assert sorted(got) == list(range(50))
        for number, outcome in got.items():
            assert isinstance(outcome, Response)
            assert right_answer(f"row {number}") in outcome.text
        assert session.complete(request("row 1")).ok
        assert max(server.seen.values()) == 1


def test_a_stream_over_many_requests_draws_only_what_it_can_send(tmp_path: Path) -> None:
    drawn: list[int] = []

    def draw() -> Any:
        for number in range(100_000):
            drawn.append(number)
            yield request(f"row {number}")

    with (
        serving(WireServer(Faults(latency_s=0.02))) as server,
        Session(settings(server), tmp_path / "llm.sqlite") as session,
    ):
        stream = session.stream(draw())
        for _ in range(100):
            next(stream)
        stream.close()  # type: ignore[attr-defined]
        time.sleep(0.2)
        assert len(drawn) < 1000


def test_an_error_that_ends_the_run_is_raised_in_the_calling_thread(tmp_path: Path) -> None:
    with serving(WireServer(Faults(status=401, body="{}"))) as server:
        with Session(settings(server), tmp_path / "llm.sqlite") as session, pytest.raises(ServiceError):
            session.complete_all(rows(3))
        with Session(settings(server), tmp_path / "b.sqlite") as session, pytest.raises(ServiceError):
            list(session.stream(rows(3)))
        with Session(settings(server), tmp_path / "c.sqlite") as session, pytest.raises(InputError):
            session.complete(request("a", provider="nowhere"))


def test_a_session_can_use_batches(tmp_path: Path) -> None:
    with (
        serving(WireServer(Faults(), BatchFaults(polls=1))) as server,
        Session(settings(server, kind="openai"), tmp_path / "llm.sqlite") as session,
    ):
        outcomes = session.complete_batch(rows(5), poll_s=0.01)
        assert all(outcome.ok for outcome in outcomes)
        assert server.counts["batches"] == 1


def test_processes_divide_limits_and_take_over_from_those_that_left(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer() as server:
            llm = settings(server, limits=LimitSettings(max_concurrency=30, requests_per_minute=60))
            with Store(tmp_path / "llm.sqlite") as store, Store(tmp_path / "llm.sqlite") as other_store:
                async with Client(llm, store) as one, Client(llm, other_store) as other:
                    sharing, other_sharing = LimitSharing(one), LimitSharing(other)
                    await sharing.beat()
                    first, second = one.dispatcher(TARGET), other.dispatcher(TARGET)
                    await sharing.beat()
                    assert first.gate.limit.ceiling == 30
                    await other_sharing.beat()
                    await sharing.beat()
                    assert first.gate.limit.ceiling == second.gate.limit.ceiling == 15
                    assert first.gate.meters["requests"].limit == 30
                    await other_sharing.stop()
                    await sharing.beat()
                    assert first.gate.limit.ceiling == 30
                    assert first.gate.meters["requests"].limit == 60

    run(check())


def test_a_refusal_met_by_one_process_slows_and_pauses_the_other_once(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer() as server:
            llm = settings(server, limits=LimitSettings(max_concurrency=32, start_concurrency=32))
            with Store(tmp_path / "llm.sqlite") as store, Store(tmp_path / "llm.sqlite") as other_store:
                async with Client(llm, store) as one, Client(llm, other_store) as other:
                    sharing, other_sharing = LimitSharing(one), LimitSharing(other)
                    mine, theirs = one.dispatcher(TARGET), other.dispatcher(TARGET)
                    await sharing.beat()
                    await other_sharing.beat()
                    permit = await mine.gate.enter(_amounts())
                    mine.gate.refuse(permit, 60.0)
                    mine.gate.leave(permit, None)
                    await sharing.beat()
                    before = theirs.gate.limit.limit
                    await other_sharing.beat()
                    assert theirs.gate.limit.limit == before / 2
                    assert 36 < theirs.gate.paused_until - time.monotonic() <= 60
                    await other_sharing.beat()
                    assert theirs.gate.limit.limit == before / 2
                    cut = mine.gate.limit.cuts
                    await sharing.beat()
                    assert mine.gate.limit.cuts == cut

    run(check())


def test_a_clock_that_is_set_back_stops_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was told an hour ahead of now: a pause that must not last the hour, and a process that has died since."""

    async def check() -> None:
        async with WireServer() as server:
            llm = settings(server, limits=LimitSettings(max_concurrency=32, start_concurrency=32))
            with Store(tmp_path / "llm.sqlite") as store, Store(tmp_path / "llm.sqlite") as other_store:
                async with Client(llm, store) as one, Client(llm, other_store) as other:
                    sharing, other_sharing = LimitSharing(one), LimitSharing(other)
                    mine, theirs = one.dispatcher(TARGET), other.dispatcher(TARGET)
                    real = time.time
                    with monkeypatch.context() as ahead:
                        ahead.setattr(time, "time", lambda: real() + 3600)
                        await sharing.beat()
                        permit = await mine.gate.enter(_amounts())
                        mine.gate.refuse(permit, 5.0)
                        mine.gate.leave(permit, None)
                        await sharing.beat()
                    await other_sharing.beat()
                    assert 0 < theirs.gate.paused_until - time.monotonic() <= 5
                    assert theirs.gate.limit.ceiling == 32, "the one that told has not been heard of since"
                    permit = await theirs.gate.enter(_amounts())
                    theirs.gate.refuse(permit, 1.0)
                    theirs.gate.leave(permit, None)
                    await other_sharing.beat()
                    cuts = mine.gate.limit.cuts
                    await sharing.beat()
                    assert mine.gate.limit.cuts == cuts + 1, "a refusal after the clock was set back is heard"

    run(check())


def _amounts() -> Any:
    from hopwright.llm.rate_limiter import ExpectedTokens

    return ExpectedTokens(1, 1)
