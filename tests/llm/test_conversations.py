"""Answers of no use are paid for as well: whatever stops a run, none of them is asked for twice."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopwright.errors import BudgetError
from hopwright.llm.batch import BatchRunner
from hopwright.llm.budget import read_spending
from hopwright.llm.client import Client
from hopwright.llm.config import BreakerSettings, Endpoint, LlmSettings, RetrySettings
from hopwright.llm.prices import Price, PriceTable
from hopwright.llm.providers.base import Call, CallError, Reply
from hopwright.llm.store import Store
from hopwright.llm.types import Failure, ModelRef, Outcome, Request, Response, TokenUsage
from tests.llm import builders
from tests.llm.builders import request, run
from tests.llm.wire_server import Faults, WireServer

PRICES = PriceTable(
    {"tiny": Price(input=1000, output=1000), "other": Price(input=1000, output=1000)}, "2026-01-01", 0.5
)
GOOD = '{"answer": "yes", "number": 1}'
SAID = {"good": GOOD, "invalid": '{"answer": ', "empty": "", "refusal": "I would rather not.", "truncated": '{"ans'}
COST = 15 * 1000 / 1e6
SETTINGS = LlmSettings(
    endpoints=(
        Endpoint(name="local", base_url="http://x/v1", key_env="HOPWRIGHT_TEST_KEY"),
        Endpoint(name="local2", base_url="http://x/v1", key_env="HOPWRIGHT_TEST_KEY"),
    ),
    retry=RetrySettings(base_s=0.001, cap_s=0.001, max_attempts=2),
    breaker=BreakerSettings(rows_failing=1.0, minimum=10_000),
)


class Killed(BaseException):
    """Stands for a process that ends right there."""


@dataclass
class Script:
    """A provider whose model says to each prompt what it was told to, in that order, and then always the last.

    `calls` are those that it takes before the process is killed; None: all. `heard` has the conversations that it has
    answered, and `down` names the models that do not answer.
    """

    lines: dict[str, Sequence[str]]
    calls: int | None = None
    heard: list[tuple[str, ...]] = field(default_factory=list)
    down: tuple[str, ...] = ()
    native_choices: bool = False

    async def send(self, call: Call, timeout_s: float) -> Reply:
        if call.model in self.down:
            raise CallError("server", "busy")
        await asyncio.sleep(0)
        if self.calls is not None:
            if not self.calls:
                raise Killed
            self.calls -= 1
        said = tuple(message.content for message in call.messages)
        prompt = said[1]
        before = sum(1 for one in self.heard if one[1] == prompt)
        self.heard.append(said)
        kind = self.lines[prompt][min(before, len(self.lines[prompt]) - 1)]
        finish = "refusal" if kind == "refusal" else "length" if kind == "truncated" else "stop"
        return Reply(SAID[kind], finish, TokenUsage(input=10, output=5), "tiny-1", "r")  # type: ignore[arg-type]

    async def close(self) -> None:
        return None


async def ask(
    folder: Path, script: Script, requests: Sequence[Request], budget: float | None = 1e6, name: str = "r"
) -> list[Outcome]:
    with Store(folder / "llm.sqlite", gather_s=0) as store:
        client = Client(
            SETTINGS, store, run=name, budget_usd=budget, prices=PRICES, provider_factory=lambda endpoint: script
        )
        try:
            return await client.complete_all(requests)
        finally:
            await client.close()


def strip(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Without what differs from run to run."""
    return [replace(one, latency_s=0.0, cached=False) if isinstance(one, Response) else one for one in outcomes]


def spend(folder: Path) -> float:
    with Store(folder / "llm.sqlite") as store:
        return read_spending(store, "r").spent


kinds = st.sampled_from(sorted(SAID))
stops = st.one_of(st.integers(0, 6), st.floats(0.7, 1.3))


@settings(max_examples=60, deadline=None)
@given(
    told=st.lists(st.lists(kinds, min_size=1, max_size=3), min_size=1, max_size=5), stops=st.lists(stops, max_size=4)
)
def test_kills_and_budgets_anywhere_change_neither_what_is_paid_nor_what_comes_of_it(
    told: list[list[str]], stops: list[int | float]
) -> None:
    lines = {f"row {number}": kinds for number, kinds in enumerate(told)}
    requests = [request(prompt, item=prompt) for prompt in lines]

    async def check(quiet: Path, stormy: Path) -> None:
        undisturbed = Script(lines)
        expected = await ask(quiet, undisturbed, requests)
        script = Script(lines)
        for stop in stops:
            script.calls = stop if isinstance(stop, int) else None
            try:
                await ask(stormy, script, requests, stop if isinstance(stop, float) else 1e6)
            except (Killed, BudgetError):
                continue
        script.calls = None
        outcomes = await ask(stormy, script, requests)
        assert strip(outcomes) == strip(expected)
        assert sorted(script.heard) == sorted(undisturbed.heard), "the same conversations, none besides"
        assert spend(stormy) == pytest.approx(spend(quiet)) == pytest.approx(COST * len(script.heard))

    with tempfile.TemporaryDirectory() as quiet, tempfile.TemporaryDirectory() as stormy:
        run(check(Path(quiet), Path(stormy)))


def test_a_budget_that_ends_before_the_repair_does_not_lose_the_answer(tmp_path: Path) -> None:
    script = Script({"a": ("invalid", "good")})

    async def check() -> None:
        # Enough for the request at its worst, not for the longer one with the answer and what is wrong with it.
        with pytest.raises(BudgetError):
            await ask(tmp_path, script, [request("a")], 0.9)
        assert len(script.heard) == 1
        (outcome,) = await ask(tmp_path, script, [request("a")])
        assert isinstance(outcome, Response)
        assert len(script.heard) == 2
        assert script.heard[1][2] == SAID["invalid"], "the answer went back with what is wrong with it"
        assert ([one.kind for one in outcome.attempts], outcome.usage) == (["invalid"], TokenUsage(input=20, output=10))
        assert outcome.cost_usd == pytest.approx(2 * COST) == pytest.approx(spend(tmp_path))
        with Store(tmp_path / "llm.sqlite") as store:
            assert store.read("SELECT count(*) FROM conversations") == [(0,)], "the answer holds all of it"

    run(check())


def test_what_a_run_was_refused_another_run_may_ask_and_more_repairs_go_on(tmp_path: Path) -> None:
    async def check() -> None:
        script = Script({"a": ("refusal", "good"), "b": ("invalid", "invalid", "good")})
        asked = [request("a"), replace(request("b"), repairs=0)]
        first = await ask(tmp_path, script, asked)
        assert [one.kind for one in first if isinstance(one, Failure)] == ["refusal", "invalid"]
        assert await ask(tmp_path, script, asked) == first
        assert len(script.heard) == 2
        (more,) = await ask(tmp_path, script, [replace(asked[1], repairs=2)])
        assert isinstance(more, Response)
        assert (len(more.attempts), len(script.heard)) == (2, 4), "only the two repairs were asked for"
        (other,) = await ask(tmp_path, script, asked[:1], name="another")
        assert other.ok

    run(check())


def test_what_one_model_said_is_kept_when_the_next_one_answers_for_it(tmp_path: Path) -> None:
    async def check() -> None:
        script = Script({"a": ("invalid", "good")})
        asked = request("a", fallbacks=(ModelRef("local2", "other"),))
        with pytest.raises(BudgetError):
            await ask(tmp_path, script, [asked], 0.9)
        script.down = ("tiny",)
        (outcome,) = await ask(tmp_path, script, [asked])
        assert isinstance(outcome, Response)
        assert (outcome.model, outcome.fallback_for) == ("other", ("local/tiny",))
        assert [one.kind for one in outcome.attempts] == ["invalid", "server", "server"]
        assert len(script.heard[1]) == 2, "the other model hears the question alone"
        assert outcome.cost_usd == pytest.approx(2 * COST)

    run(check())


def test_failures_of_an_earlier_start_do_not_end_the_run(tmp_path: Path) -> None:
    async def check() -> None:
        breaker = {"rows_failing": 0.5, "minimum": 20}
        async with WireServer(Faults(refusal=1.0, repeat=True)) as refusing, WireServer() as server:
            many = builders.rows(40)
            first, _ = await builders.ask_all(tmp_path, builders.settings(refusing), many[:19], run="r")
            assert {one.ok for one in first} == {False}
            again, client = await builders.ask_all(tmp_path, builders.settings(server, breaker=breaker), many, run="r")
            assert [one.ok for one in again] == [False] * 19 + [True] * 21
            assert client.progress.failures == {"refusal": 19}

    run(check())


async def batch(
    folder: Path, server: WireServer, requests: Sequence[Request], kind: str, rounds: int = 3, name: str = "r"
) -> list[Outcome]:
    with Store(folder / "llm.sqlite") as store:
        async with Client(builders.settings(server, kind=kind), store, run=name, prices=PRICES) as client:
            return await BatchRunner(client, poll_s=0.01, settle_s=0.0, rounds=rounds).complete_all(requests)


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_what_a_batch_was_refused_is_asked_again_neither_in_a_batch_nor_directly(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with WireServer(Faults(refusal=1.0, repeat=True)) as server:
            refused = await batch(tmp_path, server, builders.rows(5), kind)
            assert {one.kind for one in refused if isinstance(one, Failure)} == {"refusal"}
            assert await batch(tmp_path, server, builders.rows(5), kind) == refused
            directly, _ = await builders.ask_all(
                tmp_path, builders.settings(server, kind=kind), builders.rows(5), run="r"
            )
            assert directly == refused
            assert (server.counts["batches"], sum(server.seen.values())) == (1, 5)
            await batch(tmp_path, server, builders.rows(5), kind, name="another")
            assert server.counts["batches"] == 2

    run(check())


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_conversation_goes_from_a_batch_to_a_request_and_back(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with WireServer(Faults(malformed=1.0, repeat=True)) as server:
            one = builders.rows(1)
            (tried,) = await batch(tmp_path, server, [replace(one[0], repairs=0)], kind)
            (asked,), _ = await builders.ask_all(
                tmp_path, builders.settings(server, kind=kind), [replace(one[0], repairs=1)], run="r"
            )
            (last,) = await batch(tmp_path, server, one, kind)
            assert [len(outcome.attempts) for outcome in (tried, asked, last)] == [1, 2, 3]
            assert last.usage.output == 3 * tried.usage.output
            body = list(server.batches.rows.values())[1][0]
            turns = (body.get("body") or body["params"])["messages"]
            assert [turn["role"] for turn in turns][-2:] == ["assistant", "user"]
            assert sum(server.seen.values()) == 3

    run(check())


def test_a_store_of_before_gets_a_place_for_them(tmp_path: Path) -> None:
    Store(tmp_path / "llm.sqlite").close()
    connection = sqlite3.connect(tmp_path / "llm.sqlite")
    connection.executescript("DROP TABLE conversations; PRAGMA user_version = 2;")
    connection.close()
    script = Script({"a": ("invalid", "good")})
    (outcome,) = run(ask(tmp_path, script, [request("a")]))
    assert outcome.ok
