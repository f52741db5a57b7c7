"""A budget is never exceeded, whatever the prices, sizes and concurrency, and however often the run is killed."""

from __future__ import annotations

import asyncio
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopwright.errors import BudgetError, InputError
from hopwright.llm.budget import Budget, read_spending
from hopwright.llm.client import Client
from hopwright.llm.config import Endpoint, LimitSettings, LlmSettings, RetrySettings
from hopwright.llm.prices import LongPrompt, Price, PriceTable, bound_tokens, read_prices
from hopwright.llm.providers.base import Call, CallError, Reply
from hopwright.llm.store import Store
from hopwright.llm.types import Message, Request, Sampling, TokenUsage
from tests.llm.builders import run


class Biller:
    """A provider that bills what it likes within what was asked for, loses answers, and keeps the accounts."""

    native_choices = False

    def __init__(self, price: Price, seed: int, lost: float, refused: float) -> None:
        self.price, self.draw, self.lost, self.refused = price, random.Random(seed), lost, refused
        self.billed = 0.0
        self.worst_moment = 0.0
        self.most = 0
        self._now = 0

    async def send(self, call: Call, timeout_s: float) -> Reply:
        size = sum(len(message.content.encode()) for message in call.messages)
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(self.draw.random() * 0.002)
        self._now -= 1
        point = self.draw.random()
        if point < self.refused:
            raise CallError("server", "busy")
        prompt = self.draw.randint(0, size)
        cached = self.draw.randint(0, prompt)
        usage = TokenUsage(
            input=prompt, cached=cached, cache_written=self.draw.randint(0, prompt - cached),
            output=self.draw.choice([0, call.sampling.max_tokens, self.draw.randint(0, call.sampling.max_tokens)]),
        )  # fmt: skip
        self.billed += self.price.cost(usage)
        if point < self.refused + self.lost:
            raise CallError("timeout", "lost")
        return Reply("fine", "stop", usage, "m-1", "r")

    async def close(self) -> None:
        return None


rates = st.floats(0, 1000, allow_nan=False)
prices = st.builds(
    Price, input=rates, output=rates, cached=st.none() | rates, cache_write=st.none() | rates,
    long_prompt=st.none() | st.builds(LongPrompt, input=rates, output=rates, over=st.integers(1, 500)),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    price=prices, limit=st.floats(0, 2), sizes=st.lists(st.integers(0, 400), min_size=1, max_size=40),
    output=st.integers(1, 500), concurrency=st.integers(1, 32), seed=st.integers(0, 10**6),
    lost=st.floats(0, 0.3), refused=st.floats(0, 0.3), runs=st.integers(1, 3),
)  # fmt: skip
def test_a_budget_is_never_exceeded(
    price: Price, limit: float, sizes: list[int], output: int, concurrency: int, seed: int, lost: float,
    refused: float, runs: int,
) -> None:  # fmt: skip
    biller = Biller(price, seed, lost, refused)
    table = PriceTable({"m": price}, "2026-01-01", 0.5)
    llm = LlmSettings(
        endpoints=(Endpoint(name="e", base_url="http://x/v1", limits=LimitSettings(max_concurrency=concurrency)),),
        retry=RetrySettings(base_s=0.001, cap_s=0.001, max_attempts=3),
    )
    asked = [
        Request((Message("user", f"{number} " + "x" * size),), "e", "m", sampling=Sampling(max_tokens=output))
        for number, size in enumerate(sizes)
    ]

    async def work(folder: str) -> None:
        with Store(Path(folder) / "s.sqlite", gather_s=0) as store:
            for number in range(runs):
                client = Client(
                    llm, store, run="r", budget_usd=limit, prices=table, provider_factory=lambda endpoint: biller
                )
                stopped = False
                try:
                    outcomes = await client.complete_all(asked)
                except BudgetError as error:
                    stopped = True
                    assert "\n" not in str(error)
                assert biller.billed <= limit + 1e-9
                spent = client.budget.spending()
                assert spent.spent + spent.possible <= limit + 1e-9
                assert biller.billed <= spent.spent + spent.possible + 1e-9
                assert stopped or len(outcomes) == len(asked)
                if number % 2 == 0:
                    # Every other run is "killed": its lease is never given back.
                    await client.close()
            total = read_spending(store, "r")
            assert total.spent + total.possible + total.reserved <= limit + 1e-9

    with tempfile.TemporaryDirectory() as folder:
        run(work(folder))
    assert biller.most <= concurrency


@settings(max_examples=200, deadline=None)
@given(price=prices, prompt=st.integers(0, 2000), output=st.integers(0, 2000), data=st.data())
def test_no_bill_exceeds_the_worst_case(price: Price, prompt: int, output: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(0, prompt))
    cached = data.draw(st.integers(0, size))
    written = data.draw(st.integers(0, size - cached))
    usage = TokenUsage(size, cached, written, data.draw(st.integers(0, output)))
    assert price.cost(usage) <= price.worst(prompt, output) + 1e-12


def test_a_run_stops_before_its_budget_and_goes_on_with_a_higher_one(tmp_path: Path) -> None:
    price = Price(input=0, output=1000)
    biller = Biller(price, 1, 0.0, 0.0)
    table = PriceTable({"m": price}, "2026-01-01", 0.5)
    llm = LlmSettings(endpoints=(Endpoint(name="e", base_url="http://x/v1"),))
    asked = [Request((Message("user", f"{n}"),), "e", "m", sampling=Sampling(max_tokens=100)) for n in range(400)]

    async def work() -> None:
        with Store(tmp_path / "s.sqlite") as store:
            async with Client(
                llm, store, run="r", budget_usd=2.0, prices=table, provider_factory=lambda endpoint: biller
            ) as client:
                with pytest.raises(BudgetError, match=r"budget of 2\.00 dollars"):
                    await client.complete_all(asked)
                kept = store.stats().answers
                # What is left is less than one more request may cost.
                assert 1.9 - 1e-9 <= client.budget.spent <= 2.0
            async with Client(
                llm, store, run="r", budget_usd=100.0, prices=table, provider_factory=lambda endpoint: biller
            ) as client:
                outcomes = await client.complete_all(asked)
                assert all(outcome.ok for outcome in outcomes)
                assert client.progress.counts["cached"] == kept
                assert client.snapshot().spent_usd == pytest.approx(biller.billed)

    run(work())


def test_two_processes_of_a_run_share_one_budget(tmp_path: Path) -> None:
    async def work() -> None:
        with Store(tmp_path / "s.sqlite") as store:
            one, other = Budget(1.0, store, "r"), Budget(1.0, store, "r")
            taken = 0
            for budget in [one, other] * 10:
                try:
                    await asyncio.wait_for(budget.reserve(0.09), 0.05)
                except (BudgetError, TimeoutError):
                    continue
                taken += 1
            assert taken == 11

    run(work())


def test_an_unpriced_model_cannot_be_budgeted(tmp_path: Path) -> None:
    async def work() -> None:
        llm = LlmSettings(endpoints=(Endpoint(name="e", base_url="http://x/v1"),))
        with Store(tmp_path / "s.sqlite") as store:
            async with Client(llm, store, budget_usd=1.0) as client:
                with pytest.raises(InputError, match="no price is known for e/unheard-of"):
                    await client.complete(Request((Message("user", "a"),), "e", "unheard-of"))

    run(work())


def test_listed_prices_are_found_offline_under_dated_and_prefixed_names() -> None:
    table = read_prices()
    assert table.dated.startswith("genai-prices ")
    assert table.batch_factor == 0.5
    plain = table.find("gpt-5-mini")
    assert plain is not None
    assert plain == table.find("gpt-5-mini-2025-08-07") == table.find("openai/gpt-5-mini")
    assert table.find("gpt-5-mini-turbo") is None
    assert table.find("claude-haiku-4-5-20251001") == table.find("claude-haiku-4-5")
    for name in ("claude-sonnet-5-5", "claude-opus-5", "claude-sonnet-4-5", "gpt-6-sol", "gpt-5.5", "gpt-5", "gpt-4o"):
        price = table.find(name)
        assert price is not None and price.output >= price.input > 0, name
        assert price.cached is not None and price.cached <= price.input, name


def test_a_long_prompt_is_billed_as_the_list_says() -> None:
    price = read_prices().find("claude-haiku-5-5")
    assert price is not None and price.long_prompt is not None
    short, long = (price.cost(TokenUsage(input=tokens, output=1000)) for tokens in (100_000, 100_001))
    assert long == pytest.approx(5 * short, rel=1e-4)
    assert price.worst(100_001, 1000) >= long


def test_own_prices_win_and_mistakes_in_them_are_named(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text('dated = "2027-01-01"\n[models."gpt-5"]\ninput = 7\noutput = 9.5\n')
    table = read_prices(own)
    assert table.find("gpt-5") == Price(input=7, output=9.5)
    assert table.find("gpt-5-mini") is not None
    own.write_text('dated = "2027-01-01"\n[models."gpt-5"]\ninput = "much"\noutput = 9.5\n')
    with pytest.raises(InputError, match="gpt-5: input"):
        read_prices(own)
    own.write_text('[models."gpt-5"]\ninput = 1\noutput = 9.5\n')
    with pytest.raises(InputError, match="say when"):
        read_prices(own)


@given(st.text(max_size=200))
def test_the_bound_on_tokens_is_at_least_the_bytes(text: str) -> None:
    assert bound_tokens([Message("user", text)]) >= len(text.encode("utf-8", "replace"))
