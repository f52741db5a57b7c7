"""The arithmetic of the limits: no window over its limit, one cut per burst, growth that is slow."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hopwright.llm.headers import read_headroom, read_retry_after
from hopwright.llm.limits import WINDOW_S, AdaptiveLimit, Headroom, Meter


def send_all(limit: AdaptiveLimit) -> list[int]:
    epochs = []
    while limit.free:
        epochs.append(limit.send())
    return epochs


def test_a_burst_of_refusals_cuts_once_to_what_the_server_bore() -> None:
    limit = AdaptiveLimit(start=128, ceiling=256)
    epochs = send_all(limit)
    firsts = 0
    for epoch in epochs[:64]:
        firsts += limit.refuse(epoch, now=1.0)
        limit.finish()
    assert firsts == 1
    assert limit.limit == 64
    assert limit.in_flight == 64
    assert not limit.free


def test_a_burst_never_cuts_below_a_quarter() -> None:
    limit = AdaptiveLimit(start=128, ceiling=256)
    for epoch in send_all(limit):
        limit.refuse(epoch, now=1.0)
        limit.finish()
    assert limit.limit == 32


def test_growth_doubles_per_round_trip_at_first_and_then_adds_one() -> None:
    limit = AdaptiveLimit(start=8, ceiling=64, hold_s=10.0)
    for _ in range(2):
        for epoch in send_all(limit):
            limit.answer(epoch, now=0.0)
            limit.finish()
    assert 12 <= limit.limit <= 32
    limit.refuse(send_all(limit)[0], now=1.0)
    limit.finish()
    after = limit.limit
    for now in (2.0, 5.0):
        for epoch in [*send_all(limit)]:
            limit.answer(epoch, now)
            limit.finish()
    assert limit.limit == after, "the refused level is left alone for a while"
    while limit.in_flight:
        limit.finish()
    for epoch in send_all(limit):
        limit.answer(epoch, now=30.0)
        limit.finish()
    assert after < limit.limit <= after + 1.5


@given(st.lists(st.tuples(st.sampled_from(["send", "answer", "refuse"]), st.floats(0, 5)), max_size=200))
def test_the_limit_stays_between_one_and_the_ceiling(steps: list[tuple[str, float]]) -> None:
    limit, epochs, now = AdaptiveLimit(start=4, ceiling=16), list[int](), 0.0
    for step, wait in steps:
        now += wait
        if step == "send" and limit.free:
            epochs.append(limit.send())
        elif step != "send" and epochs:
            epoch = epochs.pop(0)
            if step == "answer":
                limit.answer(epoch, now)
            else:
                limit.refuse(epoch, now)
            limit.finish()
        assert 1 <= limit.limit <= 16
        assert limit.in_flight == len(epochs) <= 16


@settings(deadline=None)
@given(
    st.floats(1, 50),
    st.lists(st.tuples(st.floats(0, 30), st.floats(0.1, 20), st.floats(0, 1)), min_size=1, max_size=60),
)
def test_no_window_of_a_minute_holds_more_than_the_limit(limit: float, steps: list[tuple[float, float, float]]) -> None:
    meter, now, sent = Meter(limit), 0.0, list[tuple[float, float]]()
    for wait, amount, used in steps:
        now += wait
        for _ in range(1000):
            delay = meter.delay(amount, now)
            if delay == 0:
                break
            now += delay
        else:
            raise AssertionError("never allowed")
        entry = meter.take(amount, now)
        meter.settle(entry, amount, amount * used)
        sent.append((now, amount * used))
        window = [part for moment, part in sent if moment > now - WINDOW_S]
        assert sum(window) <= limit + 1e-6 or len(window) == 1 or sum(window[:-1]) <= 1e-9


@given(st.floats(1, 1000), st.floats(0, 1), st.floats(0.1, 120), st.lists(st.floats(0.1, 50), max_size=40))
def test_what_the_headers_leave_is_never_oversent_at_once(
    limit: float, share: float, reset_s: float, amounts: list[float]
) -> None:
    meter, sent = Meter(), 0.0
    remaining = limit * share
    meter.learn(Headroom(limit, remaining, reset_s), now=0.0)
    for amount in amounts:
        if meter.delay(amount, now=0.0) == 0:
            meter.take(amount, now=0.0)
            sent += amount
    assert sent <= remaining + 1e-6


@given(st.floats(1, 1000), st.floats(0, 1), st.floats(0.1, 120), st.floats(0.1, 50))
@example(2.0, 0.99999, 2.0, 2.0)
def test_a_meter_never_waits_forever(limit: float, share: float, reset_s: float, amount: float) -> None:
    meter, now = Meter(limit), 0.0
    meter.learn(Headroom(limit, limit * share, reset_s), now)
    for _ in range(500):
        delay = meter.delay(amount, now)
        if delay == 0:
            return
        now += delay
    raise AssertionError(f"still waiting after {now} s")


def test_headers_of_both_providers_are_read() -> None:
    openai = {
        "x-ratelimit-limit-requests": "500", "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms", "x-ratelimit-limit-tokens": "30000",
        "x-ratelimit-remaining-tokens": "29000", "x-ratelimit-reset-tokens": "6m1.5s",
    }  # fmt: skip
    room = read_headroom(openai)
    assert room["requests"] == Headroom(500, 499, 0.12)
    assert room["tokens"] == Headroom(30000, 29000, 361.5)
    anthropic = {
        "anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2099-01-01T00:00:00Z",
        "anthropic-ratelimit-output-tokens-limit": "8000", "anthropic-ratelimit-output-tokens-remaining": "8000",
        "anthropic-ratelimit-output-tokens-reset": "2001-01-01T00:00:00Z",
    }  # fmt: skip
    room = read_headroom(anthropic)
    assert room["requests"].remaining == 0
    assert room["requests"].reset_s > 1e9
    assert room["output"].reset_s == 0
    assert read_headroom({"content-type": "application/json"}) == {}
    assert read_headroom({"x-ratelimit-limit-requests": "many"}) == {}


def test_retry_after_is_read_in_each_of_its_forms() -> None:
    assert read_retry_after({"retry-after": "7"}) == 7
    assert read_retry_after({"retry-after": "0.5"}) == 0.5
    assert read_retry_after({"retry-after": "7", "retry-after-ms": "250"}) == 0.25
    date = read_retry_after({"retry-after": "Thu, 01 Jan 2099 00:00:00 GMT"})
    assert date is not None
    assert date > 1e9
    assert read_retry_after({"retry-after": "Thu, 01 Jan 1998 00:00:00 GMT"}) == 0
    assert read_retry_after({"retry-after": "soon"}) is None
    assert read_retry_after({}) is None
