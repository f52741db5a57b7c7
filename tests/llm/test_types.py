"""The cache key, and responses as they are stored."""

from __future__ import annotations

import dataclasses

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from hopwright.llm.types import (
    Attempt,
    Message,
    ModelRef,
    Request,
    Response,
    Sampling,
    TokenUsage,
    key_of,
    read_response,
)
from tests.llm.builders import Answer, request


class Other(BaseModel):
    answer: str


def test_the_key_ignores_labels_and_cache_marks() -> None:
    plain = request("a")
    labelled = dataclasses.replace(
        plain, item="x", prompt="p", prompt_version="3", fallbacks=(ModelRef("b", "c"),),
        messages=tuple(dataclasses.replace(message, stable=not message.stable) for message in plain.messages),
    )  # fmt: skip
    assert key_of(plain) == key_of(labelled)


def test_the_key_knows_everything_that_changes_an_answer() -> None:
    plain = request("a")
    others = [
        request("b"), request("a", provider="elsewhere"), request("a", model="large"), request("a", schema=Other),
        request("a", schema=None), request("a", choices=("A", "B")), request("a", choices=("B", "A")),
        *(
            dataclasses.replace(plain, sampling=dataclasses.replace(plain.sampling, **{name: value}))
            for name, value in {
                "max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "seed": 3, "stop": ("x",), "reasoning_effort": "low",
                "top_logprobs": 5, "extra": {"top_k": 3},
            }.items()
        ),
    ]  # fmt: skip
    keys = {key_of(other) for other in others} | {key_of(plain)}
    assert len(keys) == len(others) + 1


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), st.text()), max_size=4))
def test_turns_are_not_confused_by_what_they_hold(turns: list[tuple[str, str]]) -> None:
    messages = tuple(Message(role, content) for role, content in turns)  # type: ignore[arg-type]
    one = Request(messages, "p", "m")
    merged = Request((Message("user", "".join(content for _, content in turns)),), "p", "m")
    assert len(key_of(one)) == 32
    assert (key_of(one) == key_of(merged)) == (one.messages == merged.messages)


@given(st.text(), st.text(), st.floats(0, 1e3), st.integers(0, 10**9))
def test_a_response_comes_back_from_its_json_as_it_was(text: str, detail: str, cost: float, tokens: int) -> None:
    response = Response(
        "00" * 16, "p", "m", "m-1", text, "stop", TokenUsage(tokens, 1, 2, 3, 4), cost, "req", 0.5,
        (Attempt("p/m", "invalid", detail, text),), ((("A", -0.1), ("B", -2.0)),), ("p/down",),
    )  # fmt: skip
    again = read_response(response.to_json())
    assert again == dataclasses.replace(response, cached=True)


def test_the_request_says_which_models_it_asks_in_turn() -> None:
    asked = request("a", fallbacks=(ModelRef("x", "y"),))
    assert [str(target) for target in asked.models] == ["local/tiny", "x/y"]
    assert key_of(asked, ModelRef("x", "y")) == key_of(dataclasses.replace(asked, provider="x", model="y"))
    assert Answer.model_json_schema()
    assert Sampling() == Sampling(extra={})
