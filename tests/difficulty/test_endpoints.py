"""Voters behind a server, over the wire: what is sent, what is read, what becomes of failures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopwright.difficulty.ballots import cast
from hopwright.difficulty.endpoints import EndpointVoter, RequestStyle, list_open_request, list_request, read_letter
from hopwright.difficulty.prompting import fold_system, read_open_answer, read_reasoning, word_choice
from hopwright.difficulty.voters import ChosenOption, MissingVote, view
from hopwright.errors import ServiceError
from hopwright.llm.config import BreakerSettings, Endpoint, LimitSettings, LlmSettings, RetrySettings
from hopwright.llm.session import Session
from hopwright.llm.types import Failure, Message, ModelRef, Response, TokenUsage
from hopwright.records import LABELS
from tests.builders import chain_item
from tests.difficulty.voting_server import VotingServer, is_right, make_items

TARGET = ModelRef("local", "v-0.5-0")


@pytest.fixture(scope="module")
def server() -> Iterator[VotingServer]:
    with VotingServer() as running:
        yield running


@pytest.fixture
def session(server: VotingServer, tmp_path: Path) -> Iterator[Session]:
    with open_session_with(server.url, tmp_path / "llm.sqlite") as opened:
        yield opened


def open_session_with(url: str, store: Path, concurrency: int = 16) -> Session:
    endpoint = Endpoint(
        name="local", base_url=f"{url}/v1", dialect="vllm", free=True, limits=LimitSettings(max_concurrency=concurrency)
    )
    retry = RetrySettings(base_s=0.01, cap_s=0.02, max_attempts=2)
    # A voter that refuses every tenth item is no reason to stop.
    return Session(LlmSettings(endpoints=(endpoint,), retry=retry, breaker=BreakerSettings(rows_failing=1)), store)


def make_response(text: str, *positions: dict[str, float]) -> Response:
    return Response(
        key="k", provider="p", model="m", model_version="m", text=text, finish="stop", usage=TokenUsage(), cost_usd=0.0,
        logprobs=tuple(tuple((token, math.log(share)) for token, share in one.items()) for one in positions),
    )  # fmt: skip


def test_votes_are_those_of_the_model_with_its_probabilities(session: Session) -> None:
    items = make_items(60)
    voter = EndpointVoter("v", TARGET, session, RequestStyle(native=True))
    ballots, unanswered = cast(voter, items, seed=0)
    assert unanswered == []
    for ballot, item in zip(ballots, items, strict=True):
        assert ballot.right == is_right(TARGET.model, f"[item {int(item.id[3:])}]")
        assert sum(ballot.probabilities) == pytest.approx(1, abs=1e-5)
        assert ballot.probabilities["ABCD".index(ballot.option)] == max(ballot.probabilities) > 0.3 - 1e-6
    assert voter.usage.output == 120
    assert voter.cost_usd == 0


@pytest.mark.parametrize("concurrency", [1, 3, 64])
def test_concurrency_and_the_size_of_batches_change_nothing(
    server: VotingServer, tmp_path: Path, concurrency: int
) -> None:
    items = make_items(40)
    with open_session_with(server.url, tmp_path / "a.sqlite", concurrency) as session:
        voter = EndpointVoter("v", TARGET, session, RequestStyle(native=True))
        whole = cast(voter, items, seed=0)[0]
    with open_session_with(server.url, tmp_path / "b.sqlite", 8) as session:
        voter = EndpointVoter("v", TARGET, session, RequestStyle(native=True))
        parts = [cast(voter, items[start : start + 7], seed=0)[0] for start in range(0, 40, 7)]
    assert whole == [ballot for part in parts for ballot in part]


def test_asked_again_after_a_kill_it_sends_nothing(server: VotingServer, tmp_path: Path) -> None:
    items = make_items(30, start=500)
    for _ in range(2):
        with open_session_with(server.url, tmp_path / "llm.sqlite") as session:
            before = server.asked["v-0.4-0"]
            voter = EndpointVoter("v", ModelRef("local", "v-0.4-0"), session, RequestStyle(native=True))
            cast(voter, items, seed=0)
    assert server.asked["v-0.4-0"] == before


def test_what_a_model_refuses_is_no_vote_and_named(session: Session) -> None:
    model = "v-0.5-0-f0.3"
    items = make_items(50)
    ballots, unanswered = cast(
        EndpointVoter("v", ModelRef("local", model), session, RequestStyle(native=True)), items, seed=0
    )
    refused = {item.id for item in items if is_right(model, f"[item {int(item.id[3:])}]") is None}
    assert 5 < len(refused) < 30
    assert {row.key for row in unanswered} == refused
    assert {row.check for row in unanswered} == {"rejected"}
    assert len(ballots) + len(unanswered) == 50


def test_reasoning_is_read_strictly_and_asked_again_where_it_ends_nowhere(session: Session) -> None:
    items = make_items(60)
    manner = RequestStyle(answering="reasoning", native=True, retries=0)
    _, lost = cast(EndpointVoter("v", TARGET, session, manner), items, seed=0)
    assert 0 < len(lost) < 20
    assert {row.check for row in lost} == {"unparsable"}
    patient = RequestStyle(answering="reasoning", native=True, retries=5)
    ballots, lost = cast(EndpointVoter("v", TARGET, session, patient), items, seed=0)
    assert lost == []
    assert all(ballot.probabilities == () for ballot in ballots)
    assert all(
        ballot.right == is_right(TARGET.model, f"[item {int(item.id[3:])}]")
        for ballot, item in zip(ballots, items, strict=True)
    )


def test_a_server_that_is_gone_ends_the_run_with_one_line(tmp_path: Path) -> None:
    with (
        open_session_with("http://127.0.0.1:9", tmp_path / "llm.sqlite") as session,
        pytest.raises(ServiceError) as caught,
    ):
        cast(EndpointVoter("v", TARGET, session, RequestStyle(native=True)), make_items(60), seed=0)
    assert "\n" not in str(caught.value)


def test_vllm_is_asked_without_a_system_turn_and_without_thinking() -> None:
    asked = list_request(view(chain_item()), TARGET, RequestStyle(native=True))
    assert [message.role for message in asked.messages] == ["user"]
    assert "letter of the right option" in asked.messages[0].content
    assert "A. " in asked.messages[0].content
    assert asked.choices == LABELS
    assert asked.sampling.extra == {"chat_template_kwargs": {"enable_thinking": False}}
    assert asked.sampling.top_logprobs == 20
    assert asked.sampling.temperature == 0
    other = list_request(view(chain_item()), TARGET, RequestStyle(logprobs=False))
    assert [message.role for message in other.messages] == ["system", "user"]
    assert other.sampling.extra == {}
    assert other.sampling.top_logprobs is None
    opened = list_open_request("k", "Who?", TARGET, RequestStyle(native=True))
    assert opened.choices == ()
    assert "Who?" in opened.messages[0].content


def test_a_prompt_never_tells_the_right_option() -> None:
    item = chain_item()
    for label in LABELS:
        lied = item.model_copy(update={"label": label, "answer": item.options[label]})
        assert word_choice(view(lied), "letter") == word_choice(view(item), "letter")


def test_a_wrapped_letter_is_found_behind_its_wrapping() -> None:
    wrapped = make_response(
        "B",
        {'{"': 0.99, "A": 0.01},
        {"choice": 1.0},
        {'":"': 1.0},
        {"B": 0.6, " C": 0.2, "x": 0.1, "A": 0.1},
        {'"}': 1.0},
    )
    assert read_letter(wrapped) == pytest.approx((1 / 9, 6 / 9, 2 / 9, 0))
    assert read_letter(make_response("C")) == ChosenOption(2)
    assert isinstance(read_letter(make_response("E")), MissingVote)
    assert read_letter(Failure("k", "p", "m", "refusal", "no")) == MissingVote("refusal", "no")


def test_folding_keeps_every_word() -> None:
    turns = (Message("system", "Be brief.", stable=True), Message("user", "Who?"))
    assert [(one.role, one.content) for one in fold_system(turns)] == [("user", "Be brief.\n\nWho?")]
    assert fold_system(turns[1:]) == turns[1:]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("First, it is 1905.\nAnswer: B", 1),
        ("answer: d.", 3),
        ("So the last one.\n\n**Answer: C**\n", 2),
        ("Answer: A\nAnswer: A", 0),
        ("It is B", None),
        ("", None),
        ("Answer: A\nNo, rather not.", None),
        ("Answer: A\nNo.\nAnswer: B", None),
        ("Answer: A or B", None),
        ("Answer: E", None),
        ("Answer: Berlin", None),
    ],
)
def test_only_a_text_that_ends_on_one_letter_is_a_vote(text: str, expected: int | None) -> None:
    read = read_reasoning(text)
    assert (read == ChosenOption(expected)) if expected is not None else isinstance(read, MissingVote)


def test_an_open_answer_is_its_first_line() -> None:
    assert read_open_answer('  "Vestmark"\nbecause of') == "Vestmark"
    assert read_open_answer("Answer: 1905") == "1905"
    assert read_open_answer(" \n") == ""
