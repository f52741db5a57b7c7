"""Any item's transcript, and what a run would cost before it is paid."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hopwright.llm.config import LimitSettings
from hopwright.llm.estimate import ApproximateRequest, add_estimates, estimate_run, render_estimate
from hopwright.llm.prices import Price, PriceTable, read_prices
from hopwright.llm.progress import render_progress
from hopwright.llm.store import Store
from hopwright.llm.transcripts import find_exchanges, read_by_keys, render_transcript
from hopwright.llm.types import Response
from tests.llm.builders import ask_all, request, rows, run, settings
from tests.llm.wire_answers import right_answer
from tests.llm.wire_server import Faults, WireServer


def test_a_transcript_holds_what_was_asked_thrown_away_and_kept(tmp_path: Path) -> None:
    async def work() -> None:
        async with WireServer(Faults(malformed=1.0)) as server:
            outcomes, _ = await ask_all(tmp_path, settings(server), [request("first", item="hw-1")])
            await ask_all(tmp_path, settings(server), [request("second", item="hw-1"), request("third", item="hw-2")])
            assert isinstance(outcomes[0], Response)
            with Store(tmp_path / "llm.sqlite") as store:
                first, second = find_exchanges(store, "hw-1")
                assert first.messages[1] == ("user", "first")
                assert second.messages[1] == ("user", "second")
                assert [attempt["kind"] for attempt in first.attempts] == ["invalid"]
                assert right_answer("first") in first.answer
                assert [exchange.key for exchange in read_by_keys(store, [outcomes[0].key, "ff" * 16])] == [first.key]
                text = render_transcript([first, second])
                for part in ("You answer in JSON.", "first", "second", first.answer, first.attempts[0]["answer"]):
                    assert part in text

    run(work())


def test_a_cached_answer_has_a_transcript_under_its_new_item_too(tmp_path: Path) -> None:
    async def work() -> None:
        async with WireServer() as server:
            await ask_all(tmp_path, settings(server), [request("a", item="one")])
            await ask_all(tmp_path, settings(server), [request("a", item="two")])
            assert server.seen["a"] == 1

    run(work())
    with Store(tmp_path / "llm.sqlite") as store:
        assert [exchange.answer for exchange in find_exchanges(store, "two")] == [
            exchange.answer for exchange in find_exchanges(store, "one")
        ]


def test_a_failure_is_explained_until_a_later_run_answers(tmp_path: Path) -> None:
    async def work() -> None:
        async with WireServer(Faults(refusal=1.0)) as server:
            await ask_all(tmp_path, settings(server), [request("a", item="x")])
            with Store(tmp_path / "llm.sqlite") as store:
                (failed,) = find_exchanges(store, "x")
                assert failed.failure.startswith("refusal: ")
                assert failed.answer == ""
            await ask_all(tmp_path, settings(server), [request("a", item="x")], run="later")
            with Store(tmp_path / "llm.sqlite") as store:
                (answered,) = find_exchanges(store, "x")
                assert answered.failure == ""
                assert right_answer("a") in answered.answer

    run(work())


def test_an_item_without_requests_has_no_exchanges(tmp_path: Path) -> None:
    with Store(tmp_path / "llm.sqlite") as store:
        assert find_exchanges(store, "hw-0") == []


def test_an_estimate_counts_what_is_cached_repeated_and_still_to_send(tmp_path: Path) -> None:
    async def work() -> None:
        async with WireServer() as server:
            llm = settings(server, free=False, limits=LimitSettings(max_concurrency=4, requests_per_minute=10))
            await ask_all(tmp_path, llm, rows(10))
            table = PriceTable({"tiny": Price(input=1000, output=2000)}, "2026-01-01", 0.5)
            with Store(tmp_path / "llm.sqlite") as store:
                estimate = estimate_run([*rows(40), *rows(5), request("x", model="dear")], llm, store, table)
                assert (estimate.requests, estimate.cached, estimate.repeated) == (46, 10, 5)
                tiny, dear = estimate.models
                assert (tiny.requests, dear.requests) == (30, 1)
                assert tiny.usd == pytest.approx((tiny.input_tokens * 1000 + tiny.output_tokens * 2000) / 1e6)
                assert tiny.worst_usd is not None
                assert tiny.worst_usd > (tiny.usd or 0)
                assert tiny.minutes == pytest.approx(2.0)
                assert estimate.unpriced == ("local/dear",)
                half = estimate_run(rows(40), llm, store, table, batch=True)
                assert half.usd == pytest.approx(estimate.usd / 2)
                text = render_estimate(estimate)
                assert "31 to send" in text
                assert "At least " in text and "no price is known for local/dear" in text

    run(work())


def test_an_estimate_goes_by_answers_to_the_same_prompt_and_grows_from_a_sample(tmp_path: Path) -> None:
    async def work() -> None:
        async with WireServer() as server:
            llm = settings(server, free=False)
            table = PriceTable({"tiny": Price(input=1000, output=2000)}, "2026-01-01", 0.5)
            known = [replace(one, prompt="long") for one in rows(20)]
            outcomes, _ = await ask_all(tmp_path, llm, known)
            mean = sum(outcome.usage.output for outcome in outcomes) / len(outcomes)
            fresh = [request(f"other {n}", item=f"o-{n}") for n in range(10)]
            with Store(tmp_path / "llm.sqlite") as store:
                with_history = [replace(one, prompt="long") for one in fresh]
                one = estimate_run(with_history, llm, store, table)
                assert one.models[0].output_tokens == 10 * round(mean)
                grown = estimate_run(with_history, llm, store, table, growth=24.0, stage="filter")
                assert (grown.requests, grown.models[0].requests, grown.models[0].stage) == (240, 240, "filter")
                assert grown.usd == pytest.approx(24 * one.usd)
                assert grown.worst_usd == pytest.approx(24 * one.worst_usd)
                # Stand-ins all look alike, and like what was asked before; each counts.
                likely = estimate_run([ApproximateRequest(known[0])] * 5, llm, store, table)
                assert (likely.requests, likely.cached, likely.repeated) == (5, 0, 0)
                both = add_estimates([one, grown, add_estimates([])])
                assert both.requests == 250
                assert both.usd == pytest.approx(25 * one.usd)
                assert [part.stage for part in both.models] == ["", "filter"]
                assert "| filter | local/tiny | 240 |" in render_estimate(both)

    run(work())


def test_a_worst_case_estimate_bounds_what_is_then_spent(tmp_path: Path) -> None:
    async def work() -> None:
        async with WireServer() as server:
            llm = settings(server, free=False)
            table = read_prices()
            asked = rows(30, model="gpt-5-mini")
            with Store(tmp_path / "llm.sqlite") as store:
                estimate = estimate_run(asked, llm, store, table)
            _, client = await ask_all(tmp_path, llm, asked)
            assert 0 < client.budget.spent <= estimate.worst_usd
            assert estimate.usd == pytest.approx(client.budget.spent, rel=6)
            text = render_progress(client.snapshot())
            assert "30 of 30 (100 %)" in text
            assert f"{client.budget.spent:,.4f}" in text

    run(work())
