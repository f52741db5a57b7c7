"""Tools over both wire formats: what a model is told of, what it calls, and that nothing is paid for twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hopwright.llm.providers import anthropic_wire, openai_wire
from hopwright.llm.providers.anthropic_wire import build_body
from hopwright.llm.providers.base import Call, CallError
from hopwright.llm.store import Store
from hopwright.llm.tool_calls import ToolCall, ToolSpec, make_tool_call
from hopwright.llm.transcripts import find_exchanges
from hopwright.llm.types import Message, Request, Response, Sampling, key_of
from tests.llm.builders import ask_all, run, settings
from tests.llm.tool_server import Said, ToolServer, Turn

SEARCH = ToolSpec(
    "search", "Find passages.", {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
)
KINDS = ["compatible", "openai", "anthropic"]


def ask_with_tools(*messages: Message) -> Request:
    start = (Message("system", "You search.", stable=True), Message("user", "Where is Oslo?"))
    return Request((*start, *messages), "local", "tiny", sampling=Sampling(max_tokens=100), item="i", tools=(SEARCH,))


def search_twice(model: str, turns: list[Turn]) -> Said:
    if len(turns) == 1:
        return Said("Let me look.", [("search", {"query": "Oslo"}), ("search", {"query": "Norway"})])
    return Said(f"It said {' and '.join(turns[-1].results)}.")


@pytest.mark.parametrize("kind", KINDS)
def test_calls_and_their_results_travel_over_every_path(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with ToolServer(search_twice) as server:
            (first,), _ = await ask_all(tmp_path, settings(server, kind=kind), [ask_with_tools()])
            assert isinstance(first, Response)
            assert first.text == "Let me look."
            assert [(call.name, call.read_arguments()) for call in first.calls] == [
                ("search", {"query": "Oslo"}), ("search", {"query": "Norway"}),
            ]  # fmt: skip
            results = [Message("tool", f"r{place}", answers=call.id) for place, call in enumerate(first.calls)]
            following = ask_with_tools(Message("assistant", first.text, calls=first.calls), *results)
            (last,), client = await ask_all(tmp_path, settings(server, kind=kind), [following])
            assert isinstance(last, Response)
            assert (last.text, last.calls) == ("It said r0 and r1.", ())
            assert server.counts["400"] == 0
            # Asked again, both come from the store, with their calls.
            again, client = await ask_all(tmp_path, settings(server, kind=kind), [ask_with_tools(), following])
            assert [one.calls for one in again if isinstance(one, Response)] == [first.calls, ()]
            assert server.counts["answered"] == 2
            assert client.progress.counts["sent"] == 0

    run(check())
    with Store(tmp_path / "llm.sqlite") as store:
        first_exchange, second = sorted(find_exchanges(store, "i"), key=lambda one: len(one.messages))
        assert 'search({"query": "Norway"})' in first_exchange.answer
        assert 'search({"query": "Oslo"})' in second.messages[2][1]
        assert second.messages[3] == ("tool", "r0")


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_without_words_is_an_answer_and_an_empty_text_is_none(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        silent = {"calls": Said(calls=[("search", {"query": "x"})]), "nothing": Said()}
        async with ToolServer(lambda model, turns: silent[model]) as server:
            requests = [replace(ask_with_tools(), model=name) for name in silent]
            outcomes, _ = await ask_all(tmp_path, settings(server, kind=kind), requests)
            assert [one.ok for one in outcomes] == [True, False]
            assert isinstance(outcomes[0], Response)
            assert len(outcomes[0].calls) == 1

    run(check())


def test_arguments_that_are_no_json_reach_us_and_go_back_as_they_were(tmp_path: Path) -> None:
    async def check() -> None:
        async with ToolServer(lambda model, turns: Said(calls=[("search", '{"query": ')])) as server:
            (first,), _ = await ask_all(tmp_path, settings(server), [ask_with_tools()])
            assert isinstance(first, Response)
            (call,) = first.calls
            with pytest.raises(ValueError, match="not JSON"):
                call.read_arguments()
            turn = Message("assistant", "", calls=(call,))
            await ask_all(tmp_path, settings(server), [ask_with_tools(turn, Message("tool", "bad", answers=call.id))])
            assert server.bodies[-1]["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"query": '
            assert server.bodies[-1]["messages"][2]["content"] is None

    run(check())


def test_anthropic_is_sent_an_object_where_the_arguments_are_none() -> None:
    turn = Message("assistant", "", calls=(ToolCall("a", "search", "[1"),))
    call = Call("m", (Message("user", "q"), turn, Message("tool", "bad", answers="a")), Sampling(), tools=(SEARCH,))
    messages: list[dict[str, Any]] = build_body(call, "json_schema")["messages"]
    assert messages[1]["content"] == [{"type": "tool_use", "id": "a", "name": "search", "input": {}}]
    assert messages[2] == {
        "role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "bad"}],
    }  # fmt: skip


def test_tools_calls_and_the_calls_that_are_answered_enter_the_key_and_nothing_else_changes_it() -> None:
    call = ToolCall("a", "search", "{}")
    plain = ask_with_tools()
    keys = {
        key_of(one)
        for one in (
            plain,
            replace(plain, tools=()),
            replace(plain, tools=(ToolSpec("search", "Find other passages.", SEARCH.parameters),)),
            ask_with_tools(Message("assistant", "", calls=(call,)), Message("tool", "x", answers="a")),
            ask_with_tools(Message("assistant", "", calls=(call,)), Message("tool", "x", answers="b")),
            ask_with_tools(Message("assistant", "", calls=(replace(call, arguments="[]"),)), Message("tool", "x")),
        )
    }
    assert len(keys) == 6
    # The key of a request without tools is that of earlier versions: what was paid for then is found.
    old = Request((Message("system", "s"), Message("user", "u")), "local", "tiny")
    assert key_of(old) == OLD_KEY


OLD_KEY = "c921ded5281b53fc3a9f27867e4f0fe0"


def test_names_and_ids_of_calls_are_ones_that_every_provider_takes() -> None:
    assert make_tool_call("a b/é", "se arch\n", "{}", 0) == ToolCall("ab", "se_arch_", "{}")
    assert make_tool_call(None, None, "", 3) == ToolCall("call_3", "unnamed", "")
    assert len(make_tool_call("x" * 500, "y" * 500, "z" * 10**6, 0).name) == 64


@pytest.mark.parametrize("calls", [3, [3], [{}], [{"function": None}], [{"function": [1]}], {"a": 1}])
def test_tool_calls_of_another_shape_are_a_garbled_answer(calls: object) -> None:
    body = {"choices": [{"message": {"content": "x", "tool_calls": calls}, "finish_reason": "tool_calls"}]}
    with pytest.raises(CallError, match="not a chat completion"):
        openai_wire.read_reply(body, {}, calling=True)
    assert openai_wire.read_reply(body, {}).calls == ()


def test_arguments_that_come_as_an_object_are_read_and_those_of_anthropic_need_not_be_one() -> None:
    call = {"function": {"name": "search", "arguments": {"query": "\ud800"}}}
    body = {"choices": [{"message": {"content": None, "tool_calls": [call]}}]}
    (read,) = openai_wire.read_reply(body, {}, calling=True).calls
    assert (read.id, read.read_arguments()) == ("call_0", {"query": "\ufffd"})
    block = {"type": "tool_use", "id": "a", "name": "search", "input": [1]}
    (read,) = anthropic_wire.read_reply({"content": [block]}, {}, calling=True).calls
    with pytest.raises(ValueError, match="no JSON object"):
        read.read_arguments()
    with pytest.raises(CallError, match="not a message"):
        anthropic_wire.read_reply({"content": [{"type": "tool_use"}]}, {}, calling=True)
