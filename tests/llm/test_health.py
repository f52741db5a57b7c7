"""When an answer is overdue, a model is down, a run is hopeless."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hopwright.llm.config import BreakerSettings, RetrySettings
from hopwright.llm.health import Latencies, ModelHealth, RunHealth

SETTINGS = BreakerSettings(window=20, minimum=10, calls_failing=0.8, rows_failing=0.5, down_s=60, failing_for_s=5)


def test_the_full_time_out_holds_until_enough_answers_are_known() -> None:
    latencies = Latencies(RetrySettings(timeout_s=600, stall_floor_s=2))
    for _ in range(99):
        latencies.add(0.1)
    assert latencies.timeout(0) == 600
    latencies.add(0.5)
    assert latencies.timeout(0) == 5.0
    assert latencies.timeout(1) == 600, "a second try may take its time"


@given(st.lists(st.floats(0.001, 300), min_size=100, max_size=300), st.floats(1, 50), st.floats(1, 900))
def test_an_overdue_answer_is_never_called_so_before_the_floor_or_after_the_time_out(
    seen: list[float], floor: float, timeout: float
) -> None:
    latencies = Latencies(RetrySettings(timeout_s=timeout, stall_floor_s=floor))
    for latency in seen:
        latencies.add(latency)
    assert min(floor, timeout) <= latencies.timeout(0) <= timeout


def test_a_model_is_down_once_most_of_its_calls_fail_and_up_again_after_one_answer() -> None:
    health = ModelHealth(SETTINGS)
    for number in range(9):
        health.count(False, float(number), "boom")
    assert not health.is_down(9.0)
    health.count(False, 9.0, "boom")
    assert health.is_down(10.0)
    assert health.last_error == "boom"
    assert not health.is_down(70.0)
    health.count(True, 70.0)
    health.count(False, 71.0, "boom")
    assert not health.is_down(71.5), "one failure among answers is no outage"


def test_many_calls_that_fail_in_one_moment_leave_a_model_up_until_failing_lasts() -> None:
    health = ModelHealth(SETTINGS)
    for _ in range(24):
        health.count(False, 0.0, "503")
    assert not health.is_down(0.1)
    health.count(False, 4.9, "503")
    assert not health.is_down(4.9)
    health.count(False, 5.0, "503")
    assert health.is_down(5.1)


def test_failures_with_a_long_silence_between_them_do_not_last() -> None:
    health = ModelHealth(SETTINGS)
    health.count(False, 0.0, "503")
    for _ in range(24):
        health.count(False, 100.0, "503")
    assert not health.is_down(100.1)


def test_after_a_pause_the_first_call_decides() -> None:
    health = ModelHealth(SETTINGS)
    health.put_down(0.0, "boom")
    assert not health.is_down(61.0)
    health.count(False, 61.0, "boom again")
    assert health.is_down(62.0)
    assert not health.is_down(122.0)


def test_a_few_failures_among_many_answers_leave_a_model_up() -> None:
    health = ModelHealth(SETTINGS)
    for number in range(500):
        health.count(number % 2 == 0, float(number), "boom")
        assert not health.is_down(float(number))


@given(st.lists(st.booleans(), max_size=120))
def test_a_run_is_hopeless_exactly_when_its_last_rows_say_so(rows: list[bool]) -> None:
    health = RunHealth(SETTINGS)
    for number, failed in enumerate(rows, start=1):
        reason = health.count("invalid" if failed else "")
        recent = rows[max(0, number - SETTINGS.window) : number]
        hopeless = failed and len(recent) >= SETTINGS.minimum and sum(recent) >= SETTINGS.rows_failing * len(recent)
        assert (reason is not None) == hopeless
