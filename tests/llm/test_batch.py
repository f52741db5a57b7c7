"""Batch mode against both published formats: half price, partial failures, and kills between submit and poll."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hopwright.errors import BudgetError, HopwrightError, InputError, ServiceError
from hopwright.llm import batch_apis
from hopwright.llm.batch import BatchProgress, BatchRunner
from hopwright.llm.batch_apis import AnthropicBatches, BatchRow, OpenAIBatches
from hopwright.llm.budget import read_spending
from hopwright.llm.client import Client
from hopwright.llm.config import LlmSettings
from hopwright.llm.prices import Price, PriceTable
from hopwright.llm.store import Store
from hopwright.llm.types import Failure, Outcome, Request, Response
from tests.llm.builders import Answer, request, rows, run, settings
from tests.llm.wire_answers import right_answer
from tests.llm.wire_batches import BatchFaults
from tests.llm.wire_server import Faults, WireServer

KINDS = ["openai", "anthropic"]
TABLE = PriceTable({"tiny": Price(input=1000, output=1000)}, "2026-01-01", 0.5)
APIS: dict[str, Any] = {"openai": OpenAIBatches, "anthropic": AnthropicBatches}


class Killed(BaseException):
    """Stands for a process that ends right there."""


async def batch_all(
    folder: Path, llm: LlmSettings, requests: Sequence[Request], budget_usd: float | None = None, poll_s: float = 0.01,
    reports: list[BatchProgress] | None = None, settle_s: float = 0.0, rounds: int = 3,
) -> list[Outcome]:  # fmt: skip
    with Store(folder / "llm.sqlite") as store:
        async with Client(llm, store, run="r", budget_usd=budget_usd, prices=TABLE) as client:
            runner = BatchRunner(
                client,
                poll_s=poll_s,
                settle_s=settle_s,
                rounds=rounds,
                report=reports.append if reports is not None else None,
            )
            return await runner.complete_all(requests)


def assert_right(outcomes: Sequence[Outcome]) -> None:
    for number, outcome in enumerate(outcomes):
        assert isinstance(outcome, Response)
        assert isinstance(outcome.parsed, Answer)
        assert outcome.parsed.answer == right_answer(f"row {number}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_answers_every_row_at_half_price_and_fills_the_cache(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with WireServer(batch=BatchFaults(polls=2)) as server:
            llm = settings(server, kind=kind, free=False)
            reports: list[BatchProgress] = []
            outcomes = await batch_all(tmp_path, llm, rows(30), reports=reports)
            assert_right(outcomes)
            for outcome in outcomes:
                assert outcome.cost_usd == pytest.approx(TABLE.models["tiny"].cost(outcome.usage, 0.5))
            assert server.counts["batches"] == 1
            assert server.counts["answered"] == 0, "nothing is asked one by one"
            assert reports[0].open == 1
            assert reports[-1].open == 0
            with Store(tmp_path / "llm.sqlite") as store:
                spent = read_spending(store, "r").spent
                assert spent == pytest.approx(sum(outcome.cost_usd for outcome in outcomes))
            again = await batch_all(tmp_path, llm, rows(30))
            assert all(isinstance(outcome, Response) and outcome.cached for outcome in again)
            online = settings(server, kind=kind)
            with Store(tmp_path / "llm.sqlite") as store:
                async with Client(online, store) as client:
                    assert_right(await client.complete_all(rows(30)))
            assert server.counts["batches"] == 1
            assert server.counts["answered"] == 0

    run(check())


@pytest.mark.parametrize("kind", KINDS)
def test_expired_and_errored_rows_are_handed_in_again_and_only_those(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with WireServer(batch=BatchFaults(errored=0.2, expired=0.3, expire_first=1)) as server:
            outcomes = await batch_all(tmp_path, settings(server, kind=kind), rows(60))
            assert_right(outcomes)
            sizes = [len(part) for part in server.batches.rows.values()]
            assert len(sizes) == 2
            assert sizes[0] == 60
            lost = [outcome for outcome in outcomes if outcome.attempts]
            assert 0 < sizes[1] == len(lost) < 60
            assert max(server.seen.values()) == 1, "no row was answered twice"
            assert {attempt.kind for outcome in lost for attempt in outcome.attempts} == {"batch"}

    run(check())


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_never_come_through_end_as_unavailable(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with WireServer(batch=BatchFaults(expired=1.0, expire_first=9)) as server:
            outcomes = await batch_all(tmp_path, settings(server, kind=kind), rows(5), rounds=2)
            for outcome in outcomes:
                assert isinstance(outcome, Failure)
                assert outcome.kind == "unavailable"
                assert len(outcome.attempts) == 2
            assert server.counts["batches"] == 2

    run(check())


def test_a_batch_that_openai_refuses_as_a_whole_is_handed_in_again(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(batch=BatchFaults(fail_first=1)) as server:
            outcomes = await batch_all(tmp_path, settings(server, kind="openai"), rows(5))
            assert_right(outcomes)
            assert server.counts["batches"] == 2
            assert outcomes[0].attempts[0].detail == "Too many"

    run(check())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", ["malformed", "empty"])
def test_an_invalid_answer_goes_back_in_the_next_batch(tmp_path: Path, kind: str, fault: str) -> None:
    async def check() -> None:
        async with WireServer(Faults(**{fault: 0.5})) as server:
            outcomes = await batch_all(tmp_path, settings(server, kind=kind), rows(20))
            assert_right(outcomes)
            first, second = server.batches.rows.values()
            assert 0 < len(second) < len(first) == 20
            body = second[0].get("body") or second[0]["params"]
            assert len(body["messages"]) == (1 if kind == "anthropic" else 2) + (2 if fault == "malformed" else 0)

    run(check())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", ["refusal", "truncated"])
def test_refusals_and_truncation_are_final_in_a_batch_too(tmp_path: Path, kind: str, fault: str) -> None:
    async def check() -> None:
        async with WireServer(Faults(**{fault: 1.0}, repeat=True)) as server:
            outcomes = await batch_all(tmp_path, settings(server, kind=kind), rows(5))
            assert {outcome.kind for outcome in outcomes if isinstance(outcome, Failure)} == {fault}
            assert server.counts["batches"] == 1

    run(check())


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_killed_while_its_batch_is_on_its_way_finds_it_again(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with WireServer(batch=BatchFaults(polls=10**6)) as server:
            task = asyncio.create_task(batch_all(tmp_path, settings(server, kind=kind), rows(10)))
            while not server.counts["batches"]:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            server.batches.faults.polls = 1
            assert_right(await batch_all(tmp_path, settings(server, kind=kind), rows(10)))
            assert server.counts["batches"] == 1

    run(check())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("ended", [False, True])
def test_a_run_killed_in_the_middle_of_handing_in_hands_in_exactly_once(
    tmp_path: Path, kind: str, moment: str, ended: bool, monkeypatch: Any
) -> None:
    original = APIS[kind].submit

    async def submit_and_die(self: Any, token: str, batch: Sequence[BatchRow]) -> str:
        if moment == "after":
            await original(self, token, batch)
        raise Killed

    async def check() -> None:
        async with WireServer(batch=BatchFaults(polls=0 if ended else 3)) as server:
            monkeypatch.setattr(APIS[kind], "submit", submit_and_die)
            with pytest.raises(Killed):
                await batch_all(tmp_path, settings(server, kind=kind), rows(10))
            monkeypatch.setattr(APIS[kind], "submit", original)
            # Anthropic's batch is only recognised once it has results; until then nothing may be sent.
            assert_right(await batch_all(tmp_path, settings(server, kind=kind), rows(10)))
            assert server.counts["batches"] == 1

    run(check())


@pytest.mark.parametrize("kind", KINDS)
def test_a_lost_answer_to_a_submission_does_not_submit_twice(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with WireServer(batch=BatchFaults(polls=0, drop_create=1)) as server:
            assert_right(await batch_all(tmp_path, settings(server, kind=kind), rows(10)))
            assert server.counts["batches"] == 1

    run(check())


def test_a_stranger_s_batch_of_the_same_size_is_not_taken_for_ours(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(batch=BatchFaults(polls=0)) as server:
            llm = settings(server, kind="anthropic")
            other = tmp_path / "other"
            await batch_all(other, llm, rows(10))

            async def die(self: Any, token: str, batch: Sequence[BatchRow]) -> str:
                raise Killed

            original, AnthropicBatches.submit = AnthropicBatches.submit, die  # type: ignore[method-assign]
            try:
                with pytest.raises(Killed):
                    await batch_all(tmp_path, llm, rows(10))
            finally:
                AnthropicBatches.submit = original  # type: ignore[method-assign]
            assert_right(await batch_all(tmp_path, llm, rows(10)))
            assert server.counts["batches"] == 2

    run(check())


@pytest.mark.parametrize("kind", KINDS)
def test_answers_to_rows_that_are_no_longer_asked_for_are_kept_for_later(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with WireServer(batch=BatchFaults(polls=10**6)) as server:
            task = asyncio.create_task(batch_all(tmp_path, settings(server, kind=kind), rows(10)))
            while not server.counts["batches"]:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            server.batches.faults.polls = 1
            edited = [request("edited"), *rows(10)[1:]]
            outcomes = await batch_all(tmp_path, settings(server, kind=kind), edited)
            assert all(outcome.ok for outcome in outcomes)
            assert server.counts["batches"] == 2
            assert_right(await batch_all(tmp_path, settings(server, kind=kind), rows(10)))
            assert server.counts["batches"] == 2, "row 0 was answered by the first batch"

    run(check())


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_keeps_the_budget_and_counts_while_it_is_on_its_way(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with WireServer(batch=BatchFaults(polls=10**6)) as server:
            llm = settings(server, kind=kind, free=False)
            with pytest.raises(BudgetError):
                await batch_all(tmp_path, llm, rows(10), budget_usd=0.001)
            assert server.counts["batches"] == 0
            task = asyncio.create_task(batch_all(tmp_path, llm, rows(10), budget_usd=12.0))
            while not server.counts["batches"]:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            with Store(tmp_path / "llm.sqlite") as store:
                held = read_spending(store, "r")
                assert held.spent == 0
                assert held.possible + held.reserved > 3
            # Twice the same rows would not fit; the batch on its way is counted once.
            server.batches.faults.polls = 1
            outcomes = await batch_all(tmp_path, llm, rows(10), budget_usd=12.0)
            assert_right(outcomes)
            with Store(tmp_path / "llm.sqlite") as store:
                final = read_spending(store, "r")
                assert final.spent == pytest.approx(sum(outcome.cost_usd for outcome in outcomes))
                assert final.possible + final.reserved == pytest.approx(0)

    run(check())


@pytest.mark.parametrize("kind", KINDS)
def test_a_budget_that_the_whole_batch_could_exceed_hands_in_what_fits_and_then_the_rest(
    tmp_path: Path, kind: str
) -> None:
    async def check() -> None:
        async with WireServer(batch=BatchFaults(polls=1)) as server:
            llm = settings(server, kind=kind, free=False)
            whole = await batch_all(tmp_path / "whole", llm, rows(10))
            cost = sum(outcome.cost_usd for outcome in whole)
            before = server.counts["batches"]
            # A row can cost 0.4 dollars at most, and costs a twentieth of that.
            outcomes = await batch_all(tmp_path, llm, rows(10), budget_usd=1.7)
            assert_right(outcomes)
            assert server.counts["batches"] - before > 1
            with Store(tmp_path / "llm.sqlite") as store:
                assert read_spending(store, "r").spent == pytest.approx(cost)

    run(check())


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_run_stops_before_its_budget_and_continues_with_more(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with WireServer(batch=BatchFaults(polls=1)) as server:
            llm = settings(server, kind=kind, free=False)
            whole = await batch_all(tmp_path / "whole", llm, rows(40))
            cost = sum(outcome.cost_usd for outcome in whole)
            with pytest.raises(BudgetError, match=r"stopped before the budget of 0\.90 dollars"):
                await batch_all(tmp_path, llm, rows(40), budget_usd=0.9)
            with Store(tmp_path / "llm.sqlite") as store:
                assert 0.3 < read_spending(store, "r").spent <= 0.9
            assert_right(await batch_all(tmp_path, llm, rows(40), budget_usd=90.0))
            with Store(tmp_path / "llm.sqlite") as store:
                assert read_spending(store, "r").spent == pytest.approx(cost), "nothing was paid twice"

    run(check())


def test_a_second_process_may_not_work_on_the_same_batches(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(batch=BatchFaults(polls=10**6)) as server:
            task = asyncio.create_task(batch_all(tmp_path, settings(server, kind="openai"), rows(3)))
            while not server.counts["batches"]:
                await asyncio.sleep(0.01)
            with pytest.raises(HopwrightError, match="another process is working on the batches"):
                await batch_all(tmp_path, settings(server, kind="openai"), rows(3))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    run(check())


def test_large_batches_are_cut_to_what_the_provider_takes(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(batch_apis.OpenAIBatches, "most_rows", 4)

    async def check() -> None:
        async with WireServer() as server:
            assert_right(await batch_all(tmp_path, settings(server, kind="openai"), rows(10)))
            assert sorted(len(part) for part in server.batches.rows.values()) == [2, 4, 4]

    run(check())


def test_an_endpoint_without_batches_and_one_that_refuses_are_told(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer() as server:
            with pytest.raises(InputError, match="no batch interface"):
                await batch_all(tmp_path, settings(server), rows(3))
            with pytest.raises(ServiceError, match="batch"):
                await batch_all(tmp_path, settings(server.url + "/nowhere", kind="openai"), rows(3))
        with pytest.raises(ServiceError, match=r"did not answer 20 looks .*; the batch is safe"):
            await batch_all(tmp_path / "gone", settings(server.url, kind="openai"), rows(3))

    run(check())
