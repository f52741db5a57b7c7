"""Asking a model until its answer passes our own checks, in rounds, so that each round goes out at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from hopwright.llm.session import Session
from hopwright.llm.types import Outcome, Request

_Q = TypeVar("_Q")
_T = TypeVar("_T")


class RequestSender(Protocol):
    """Whoever passes requests on to models; a `Session` does."""

    def submit(self, request: Request) -> Future[Outcome]:
        """The outcome, when it comes. The future raises what ends a whole run."""
        ...


@dataclass(frozen=True, slots=True)
class RequestCosts:
    """What was asked and paid for. keys: of the requests whose answers are used or were judged."""

    keys: tuple[str, ...] = ()
    model_version: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: RequestCosts) -> RequestCosts:
        return RequestCosts(
            (*self.keys, *other.keys),
            other.model_version or self.model_version,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_usd + other.cost_usd,
        )


NO_COSTS = RequestCosts()


@dataclass(frozen=True, slots=True)
class QueryResult(Generic[_T]):
    """What came of one question: a value, or the last round's problem."""

    value: _T | None
    problem: str = ""
    tries: int = 0
    spent: RequestCosts = field(default_factory=RequestCosts)


def ask_in_rounds(
    session: Session,
    rows: Sequence[_Q],
    request: Callable[[_Q, int], Request],
    judge: Callable[[_Q, Any], tuple[_T | None, str]],
    *,
    tries: int,
) -> list[QueryResult[_T]]:
    """Ask a question for every row; those whose answer is refused again, as another attempt, up to `tries` rounds.

    request: from a row and an attempt, from 0. judge: from a row and its parsed answer to a value, or None and what is
    wrong. What is paid counts in every round; a request that was answered before is not sent again.
    """
    done: list[QueryResult[_T]] = [QueryResult(None, "not asked")] * len(rows)
    open_places = list(range(len(rows)))
    for attempt in range(tries):
        outcomes = session.complete_all([request(rows[place], attempt) for place in open_places])
        for place, outcome in zip(open_places, outcomes, strict=True):
            usage = outcome.usage
            version = outcome.model_version if outcome.ok else ""
            keys = (outcome.key,) if outcome.ok else ()
            spent = done[place].spent + RequestCosts(keys, version, usage.input, usage.output, outcome.cost_usd)
            if outcome.ok:
                value, problem = judge(rows[place], outcome.parsed if outcome.parsed is not None else outcome.text)
            else:
                value, problem = None, f"{outcome.kind}: {outcome.reason}"
            done[place] = QueryResult(value, problem, attempt + 1, spent)
        open_places = [place for place in open_places if done[place].value is None]
        if not open_places:
            break
    return done
