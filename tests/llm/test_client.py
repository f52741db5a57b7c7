"""What a request ends as, over each provider's path and each fault that the wire server knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hopwright.errors import InputError, ServiceError
from hopwright.llm.config import LimitSettings
from hopwright.llm.types import Failure, ModelRef, Response, Sampling
from tests.llm.builders import KEY, Answer, ask_all, request, rows, run, settings
from tests.llm.wire_answers import right_answer
from tests.llm.wire_server import Faults, WireServer

KINDS = ["compatible", "openai", "anthropic"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_path_answers_with_an_object_usage_and_model_version(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with WireServer(Faults(key=KEY)) as server:
            outcomes, client = await ask_all(tmp_path, settings(server, kind=kind), rows(20))
            for number, outcome in enumerate(outcomes):
                assert isinstance(outcome, Response)
                assert isinstance(outcome.parsed, Answer)
                assert outcome.parsed.answer == right_answer(f"row {number}")
                assert outcome.model_version == "tiny-v1"
                assert outcome.finish == "stop"
                assert outcome.request_id
                assert outcome.usage.input > outcome.usage.cached > 0
                assert outcome.usage.output > outcome.usage.reasoning == 1
                assert outcome.latency_s > 0
            assert server.counts["answered"] == client.progress.counts["sent"] == 20

    run(check())


def test_anthropic_counts_cached_and_written_tokens_as_input(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer() as server:
            (outcome,), _ = await ask_all(tmp_path, settings(server, kind="anthropic"), [request("a")])
            assert outcome.usage.cached == 5
            assert outcome.usage.cache_written == 7
            assert outcome.usage.input > 12
            assert server.bodies[0]["system"][0]["cache_control"] == {"type": "ephemeral"}

    run(check())


@pytest.mark.parametrize("mechanism", ["json_schema", "tool"])
def test_anthropic_structure_comes_by_either_mechanism(tmp_path: Path, mechanism: str) -> None:
    async def check() -> None:
        async with WireServer() as server:
            (outcome,), _ = await ask_all(
                tmp_path, settings(server, kind="anthropic", mechanism=mechanism), [request("a")]
            )
            assert isinstance(outcome, Response)
            assert isinstance(outcome.parsed, Answer)
            assert ("tools" in server.bodies[0]) == (mechanism == "tool")

    run(check())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", ["malformed", "wrong_shape"])
def test_an_invalid_answer_goes_back_with_its_error_and_is_repaired(tmp_path: Path, kind: str, fault: str) -> None:
    async def check() -> None:
        async with WireServer(Faults(**{fault: 1.0})) as server:
            (outcome,), client = await ask_all(tmp_path, settings(server, kind=kind), [request("a")])
            assert isinstance(outcome, Response)
            assert [attempt.kind for attempt in outcome.attempts] == ["invalid"]
            assert client.progress.counts["repairs"] == 1
            turns = server.bodies[1]["messages"]
            assert [turn["role"] for turn in turns][-2:] == ["assistant", "user"]
            assert outcome.attempts[0].detail in str(turns[-1]["content"])
            single = server.bodies[0]["messages"]
            assert outcome.usage.output > 1
            assert len(turns) == len(single) + 2

    run(check())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("fault", "expected", "calls"),
    [("malformed", "invalid", 3), ("refusal", "refusal", 1), ("empty", "empty", 3), ("truncated", "truncated", 1)],
)
def test_an_unusable_answer_is_a_failure_of_its_own_kind_and_never_cached(
    tmp_path: Path, kind: str, fault: str, expected: str, calls: int
) -> None:
    async def check() -> None:
        async with WireServer(Faults(**{fault: 1.0}, repeat=True)) as server:
            (outcome,), client = await ask_all(tmp_path, settings(server, kind=kind), [request("a")])
            assert isinstance(outcome, Failure)
            assert outcome.kind == expected
            assert outcome.reason
            assert len(outcome.attempts) == calls
            assert client.progress.counts["sent"] == calls
            (again,), client = await ask_all(tmp_path, settings(server, kind=kind), [request("a")])
            assert again == outcome
            assert (client.progress.counts["sent"], server.seen["a"]) == (0, calls), "paid for in this run"
            await ask_all(tmp_path, settings(server, kind=kind), [request("a")], run="another")
            assert server.seen["a"] == 2 * calls, "another run may try its luck"

    run(check())


def test_choices_are_answered_by_one_of_them_on_every_dialect(tmp_path: Path) -> None:
    async def check(kind: str, dialect: str, folder: Path) -> None:
        async with WireServer() as server:
            asked = request("a", choices=("A", "B", "C", "D"), sampling=Sampling(max_tokens=8, top_logprobs=4))
            (outcome,), _ = await ask_all(folder, settings(server, kind=kind, dialect=dialect), [asked])
            assert isinstance(outcome, Response)
            assert outcome.text in ("A", "B", "C", "D")
            if dialect == "vllm":
                assert server.bodies[0]["structured_outputs"] == {"choice": ["A", "B", "C", "D"]}
                assert [token for token, _ in outcome.logprobs[0]] == ["A", "B", "C", "D"]
            again, _ = await ask_all(folder, settings(server, kind=kind, dialect=dialect), [asked])
            assert isinstance(again[0], Response)
            assert (again[0].text, again[0].logprobs, again[0].cached) == (outcome.text, outcome.logprobs, True)

    for number, (kind, dialect) in enumerate(
        [("compatible", "vllm"), ("compatible", "compatible"), ("openai", "openai"), ("anthropic", "compatible")]
    ):
        run(check(kind, dialect, tmp_path / str(number)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", ["status_500", "cut", "stall"])
def test_a_call_lost_on_the_way_is_tried_again(tmp_path: Path, kind: str, fault: str) -> None:
    async def check() -> None:
        async with WireServer(Faults(**{fault: 1.0}, stall_s=5)) as server:
            (outcome,), client = await ask_all(
                tmp_path, settings(server, kind=kind, retry={"timeout_s": 0.3}), [request("a")]
            )
            assert isinstance(outcome, Response)
            assert client.progress.counts["retries"] == 1
            expected = {"status_500": "server", "cut": "connection", "stall": "timeout"}[fault]
            assert [attempt.kind for attempt in outcome.attempts] == [expected]

    run(check())


def test_many_calls_in_flight_that_stumble_once_are_all_tried_again(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(Faults(status_500=1.0, latency_s=0.05)) as server:
            asked = [request(f"row {number}") for number in range(24)]
            limits = LimitSettings(max_concurrency=64)  # half of it is in flight at the start
            outcomes, client = await ask_all(tmp_path, settings(server, limits=limits), asked)
            assert all(isinstance(one, Response) for one in outcomes)
            assert client.progress.counts["retries"] == 24

    run(check())


def test_a_row_whose_calls_all_fail_ends_as_unavailable_with_every_try_kept(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(Faults(status_500=1.0, repeat=True)) as server:
            (outcome,), _ = await ask_all(tmp_path, settings(server, retry={"max_attempts": 3}), [request("a")])
            assert isinstance(outcome, Failure)
            assert outcome.kind == "unavailable"
            assert [attempt.kind for attempt in outcome.attempts] == ["server"] * 3

    run(check())


def test_a_request_that_the_provider_will_not_take_is_rejected_without_a_retry(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(Faults(status=400, body='{"error": {"message": "prompt too long"}}')) as server:
            (outcome,), _ = await ask_all(tmp_path, settings(server), [request("a")])
            assert isinstance(outcome, Failure)
            assert outcome.kind == "rejected"
            assert "prompt too long" in outcome.reason
            assert server.counts["400"] == 1

    run(check())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (401, '{"error": {"message": "bad key"}}', "HOPWRIGHT_TEST_KEY"),
        (404, '{"error": {"message": "no such model"}}', "model's name"),
        (429, '{"error": {"message": "pay first", "code": "insufficient_quota"}}', "credit"),
    ],
)
def test_what_every_request_would_meet_stops_the_run_at_once_with_one_line(
    tmp_path: Path, kind: str, status: int, body: str, says: str
) -> None:
    async def check() -> None:
        async with WireServer(Faults(status=status, body=body)) as server:
            with pytest.raises(ServiceError, match=says) as caught:
                await ask_all(tmp_path, settings(server, kind=kind), rows(200))
            assert "\n" not in str(caught.value)
            assert sum(server.seen.values()) <= 32

    run(check())


def test_a_model_that_is_down_hands_over_to_the_next_and_that_is_recorded(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(Faults(status=503, body="{}")) as down, WireServer() as up:
            chain = settings(down, up, retry={"max_attempts": 2})
            asked = rows(40, fallbacks=(ModelRef("local2", "other"),))
            outcomes, client = await ask_all(tmp_path, chain, asked)
            assert all(isinstance(outcome, Response) for outcome in outcomes)
            assert {outcome.model for outcome in outcomes} == {"other"}
            assert all(outcome.fallback_for == ("local/tiny",) for outcome in outcomes if outcome.ok)
            assert client.progress.counts["fallbacks"] == 40
            tried = sum(down.seen.values())
            again, _ = await ask_all(tmp_path, chain, asked)
            assert all(isinstance(outcome, Response) and outcome.cached for outcome in again)
            assert sum(down.seen.values()) == tried
            assert sum(up.seen.values()) == 40

    run(check())


def test_a_server_that_nobody_listens_on_stops_the_run_with_one_line(tmp_path: Path) -> None:
    async def check() -> None:
        said = r"local/tiny at http://127\.0\.0\.1:9 is down: .*check that the server runs and that base_url"
        with pytest.raises(ServiceError, match=said):
            await ask_all(tmp_path, settings("http://127.0.0.1:9"), rows(60))

    run(check())


def test_a_run_whose_rows_all_fail_is_stopped_before_it_has_asked_everything(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(Faults(refusal=1.0, repeat=True)) as server:
            with pytest.raises(ServiceError, match=r"of the last .* ended without an answer .*refusal"):
                await ask_all(tmp_path, settings(server), rows(1000))
            assert sum(server.seen.values()) < 100

    run(check())


def test_identical_requests_in_flight_are_sent_once(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(Faults(latency_s=0.05)) as server:
            outcomes, _ = await ask_all(tmp_path, settings(server), [request("same", item=str(n)) for n in range(30)])
            assert all(outcome.ok for outcome in outcomes)
            assert server.seen["same"] == 1

    run(check())


def test_a_missing_key_and_an_unknown_endpoint_are_told_apart(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("HOPWRIGHT_TEST_KEY")

    async def check() -> None:
        async with WireServer() as server:
            with pytest.raises(InputError, match="set the environment variable HOPWRIGHT_TEST_KEY"):
                await ask_all(tmp_path, settings(server), [request("a")])
            with pytest.raises(InputError, match="no model endpoint is called 'nowhere'"):
                await ask_all(tmp_path, settings(server), [request("a", provider="nowhere")])

    run(check())
