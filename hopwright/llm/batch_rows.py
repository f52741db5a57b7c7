"""The rows of batches: what became of each over the rounds, and what it will be asked next."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from hopwright.llm.batch_apis import RowResult
from hopwright.llm.client import Client, ask_again, judge, make_call
from hopwright.llm.lane import Lane
from hopwright.llm.providers.base import Call, Reply
from hopwright.llm.store import Statement, failure_statements, response_statements
from hopwright.llm.types import Attempt, Failure, FailureKind, Message, ModelRef, Outcome, Request, Response, Usage

_FINAL: frozenset[str] = frozenset({"refusal", "truncated", "rejected"})


class RowBook:
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
        cost = self._client.lane(target).price.cost(reply.usage, self._client.prices.batch_factor)
        _, notes, usage, before = self.history(key)
        usage, cost = usage + reply.usage, before + cost
        judged = judge(request, reply.text, reply.finish)
        if not isinstance(judged, tuple):
            response = Response(
                key=key, provider=target.provider, model=target.model, model_version=reply.model_version,
                text=judged.text, finish=reply.finish, usage=usage, cost_usd=cost, request_id=reply.request_id,
                attempts=tuple(notes), logprobs=reply.logprobs, parsed=judged.parsed,
            )  # fmt: skip
            done[key] = response
            return [
                *response_statements(request, response, self._client.run, key), _mark(token, key, "answered", ""),
            ]  # fmt: skip
        kind, problem = judged
        notes = [*notes, Attempt(str(target), kind, problem, reply.text)]
        if kind in _FINAL or round + 1 >= self._rounds:
            return self._give_up(key, request, token, kind, problem, notes, usage, cost, done)
        return [_mark(token, key, "again", _write_history(notes, usage, cost))]

    def fail(
        self, key: str, request: Request | None, token: str, round: int, error: str, again: bool,
        done: dict[str, Outcome],
    ) -> list[Statement]:  # fmt: skip
        """What is written for a row without a reply."""
        error = self._client.clean(error)
        _, notes, usage, cost = self.history(key)
        name = f"{request.provider}/{request.model}" if request else ""
        notes = [*notes, Attempt(name, "batch", error)]
        if request is None or (again and round + 1 < self._rounds):
            return [_mark(token, key, "again", _write_history(notes, usage, cost))]
        kind: FailureKind = "unavailable" if again else "rejected"
        return self._give_up(key, request, token, kind, error, notes, usage, cost, done)

    def _give_up(
        self, key: str, request: Request, token: str, kind: FailureKind, reason: str, notes: list[Attempt],
        usage: Usage, cost: float, done: dict[str, Outcome],
    ) -> list[Statement]:  # fmt: skip
        failure = Failure(
            key=key, provider=request.provider, model=request.model, kind=kind, reason=reason, attempts=tuple(notes),
            usage=usage, cost_usd=cost,
        )  # fmt: skip
        done[key] = failure
        return [*failure_statements(request, failure, self._client.run), _mark(token, key, "failed", "")]

    def history(self, key: str) -> tuple[int, list[Attempt], Usage, float]:
        """How many rounds a row has behind it since it last ended, and what came of them."""
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
        if not rounds:
            return 0, [], Usage(), 0.0
        record = json.loads(rows[0][1])
        notes = [Attempt(**attempt) for attempt in record["attempts"]]
        return rounds, notes, Usage(**record["usage"]), record["cost"]

    def make_call(self, lane: Lane, native_choices: bool, request: Request, key: str) -> Call:
        """The call of a row: its messages, and the invalid answer of the last round with what was wrong."""
        messages = request.messages
        _, notes, _, _ = self.history(key)
        if notes and notes[-1].kind == "invalid":
            answer, problem = notes[-1].answer, notes[-1].detail
            messages = (*messages, Message("assistant", answer), Message("user", ask_again(request, problem)))
        return make_call(request, lane.target, messages, native_choices)


def _mark(token: str, key: str, state: str, detail: str) -> Statement:
    return (
        "UPDATE batch_rows SET state = ?, detail = ? WHERE token = ? AND key = ?",
        (state, detail, token, bytes.fromhex(key)),
    )


def _write_history(notes: list[Attempt], usage: Usage, cost: float) -> str:
    record = {"attempts": [asdict(note) for note in notes], "usage": asdict(usage), "cost": cost}
    return json.dumps(record, ensure_ascii=False)


def _write_reply(reply: Reply) -> dict[str, Any]:
    return {
        "text": reply.text, "finish": reply.finish, "usage": asdict(reply.usage), "model_version": reply.model_version,
        "request_id": reply.request_id, "logprobs": reply.logprobs,
    }  # fmt: skip


def read_reply(detail: str) -> Reply:
    """The reply of a row in the state `raw`: it came before its request was known."""
    record = json.loads(detail)
    logprobs = tuple(tuple((token, value) for token, value in position) for position in record.pop("logprobs"))
    return Reply(**{**record, "usage": Usage(**record["usage"]), "logprobs": logprobs})
