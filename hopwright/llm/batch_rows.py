"""The rows of batches: what became of each over the rounds, and what it will be asked next."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any, cast

from hopwright.llm.batch_apis import RowResult
from hopwright.llm.client import Client
from hopwright.llm.conversations import (
    Conversation,
    conversation_statement,
    forget_statement,
    read_said,
    write_said,
)
from hopwright.llm.dispatcher import ModelDispatcher
from hopwright.llm.judging import continue_messages, judge, make_call
from hopwright.llm.providers.base import Call, Reply
from hopwright.llm.store import Statement, failure_statements, response_statements
from hopwright.llm.types import Attempt, Failure, FailureKind, ModelRef, Outcome, Request, Response, TokenUsage


class BatchRowTracker:
    """Judges results and remembers rounds. `rounds` is how often a row is handed in at most."""

    def __init__(self, client: Client, rounds: int) -> None:
        self._client = client
        self._store = client.store
        self._rounds = rounds

    def take(
        self, key: str, request: Request | None, result: RowResult, token: str, round: int, done: dict[str, Outcome]
    ) -> list[Statement]:
        """What is written for a row's result; `done` gets the outcome, if it is one."""
        if result.reply is None:
            return self.fail(key, request, token, round, result.error, result.again, done)
        if request is None:
            detail = json.dumps(_write_reply(result.reply), ensure_ascii=False)
            return [_mark(token, key, "raw", detail)]
        return self.judge(key, request, result.reply, token, done, round)

    def judge(
        self, key: str, request: Request, reply: Reply, token: str, done: dict[str, Outcome], round: int
    ) -> list[Statement]:
        """What is written for a reply: an answer, a final failure, or a row for the next round."""
        target = ModelRef(request.provider, request.model)
        cost = self._client.dispatcher(target).price.cost(reply.usage, self._client.prices.batch_factor)
        _, said = self.history(key, request)
        usage = said.usage + reply.usage
        judged = judge(request, reply.text, reply.finish)
        if not isinstance(judged, tuple):
            response = Response(
                key=key, provider=target.provider, model=target.model, model_version=reply.model_version,
                text=judged.text, finish=reply.finish, usage=usage, cost_usd=said.cost_usd + cost,
                request_id=reply.request_id, attempts=said.attempts, logprobs=reply.logprobs, parsed=judged.parsed,
            )  # fmt: skip
            done[key] = response
            return [
                *response_statements(request, response, self._client.run, key), _mark(token, key, "answered", ""),
                *([forget_statement(key)] if said.attempts else []),
            ]  # fmt: skip
        kind, problem = judged
        attempts = (*said.attempts, Attempt(str(target), kind, problem, reply.text))
        said = said.add(self._client.run, attempts, reply.usage, cost)
        kept = conversation_statement(key, target, said)
        if said.is_over(self._client.count_answers(request)) or round + 1 >= self._rounds:
            return [kept, *self._give_up(key, request, token, kind, problem, said, done)]
        return [kept, _mark(token, key, "again", write_said(said))]

    def fail(
        self, key: str, request: Request | None, token: str, round: int, error: str, again: bool,
        done: dict[str, Outcome],
    ) -> list[Statement]:  # fmt: skip
        """What is written for a row without a reply."""
        error = self._client.clean_error(error)
        _, said = self.history(key, request)
        name = f"{request.provider}/{request.model}" if request else ""
        said = replace(said, attempts=(*said.attempts, Attempt(name, "batch", error)))
        if request is None or (again and round + 1 < self._rounds):
            return [_mark(token, key, "again", write_said(said))]
        kind: FailureKind = "unavailable" if again else "rejected"
        return self._give_up(key, request, token, kind, error, said, done)

    def remember(self, key: str, request: Request) -> Failure | None:
        """The failure that the request ended in earlier in this run, where it is not to be asked again."""
        said = self._client.recall(request, key)
        if said.last is None or not said.is_over(self._client.count_answers(request)):
            return None
        return _fail(key, request, cast(FailureKind, said.last.kind), said.last.detail, said)

    def _give_up(
        self, key: str, request: Request, token: str, kind: FailureKind, reason: str, said: Conversation,
        done: dict[str, Outcome],
    ) -> list[Statement]:  # fmt: skip
        done[key] = failure = _fail(key, request, kind, reason, said)
        return [*failure_statements(request, failure, self._client.run), _mark(token, key, "failed", "")]

    def history(self, key: str, request: Request | None) -> tuple[int, Conversation]:
        """How many rounds a row has behind it since it last ended, and what has been said, outside batches too."""
        rows = self._store.read(
            "SELECT batch_rows.state, batch_rows.detail FROM batch_rows JOIN batches USING (token) WHERE key = ? "
            "AND batch_rows.state IN ('again', 'failed', 'answered') ORDER BY batches.created DESC, batches.round DESC",
            (bytes.fromhex(key),),
        )
        rounds = 0
        for state, _ in rows:
            if state != "again":
                break
            rounds += 1
        said = read_said(self._client.run, rows[0][1]) if rounds else Conversation()
        outside = self._client.recall(request, key) if request is not None else Conversation()
        return rounds, outside if outside.answers > said.answers else said

    def make_call(self, dispatcher: ModelDispatcher, native_choices: bool, request: Request, key: str) -> Call:
        """The call of a row: its messages, and the invalid answer of the last round with what was wrong."""
        _, said = self.history(key, request)
        return make_call(request, dispatcher.target, continue_messages(request, said.last), native_choices)


def _fail(key: str, request: Request, kind: FailureKind, reason: str, said: Conversation) -> Failure:
    return Failure(
        key=key, provider=request.provider, model=request.model, kind=kind, reason=reason, attempts=said.attempts,
        usage=said.usage, cost_usd=said.cost_usd,
    )  # fmt: skip


def _mark(token: str, key: str, state: str, detail: str) -> Statement:
    return (
        "UPDATE batch_rows SET state = ?, detail = ? WHERE token = ? AND key = ?",
        (state, detail, token, bytes.fromhex(key)),
    )


def _write_reply(reply: Reply) -> dict[str, Any]:
    return {
        "text": reply.text, "finish": reply.finish, "usage": asdict(reply.usage), "model_version": reply.model_version,
        "request_id": reply.request_id, "logprobs": reply.logprobs,
    }  # fmt: skip


def read_reply(detail: str) -> Reply:
    """The reply of a row in the state `raw`: it came before its request was known."""
    record = json.loads(detail)
    logprobs = tuple(tuple((token, value) for token, value in position) for position in record.pop("logprobs"))
    return Reply(**{**record, "usage": TokenUsage(**record["usage"]), "logprobs": logprobs})
