"""The one loop in which models are asked until their answers pass: request, judge, the next request or none.

`ask_until_accepted` is that loop, for questions whose answers are judged by code of ours: drafts to be worded, texts to
be translated, claims to be proposed. What fits no schema never comes so far: the client sends it back itself, in the
same conversation (`hopwright.llm.client`), in the words of `send_back`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from hopwright.llm.types import Message, Outcome, Request

_Q = TypeVar("_Q")
_T = TypeVar("_T")


Judge = Callable[[Outcome], Request | None]
"""Takes the outcome of a question's last request in; returns what is asked next, None when there is no more to ask."""


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
    """What came of one question: a value, or the last round's problem; `refused` where an answer came and was none."""

    value: _T | None
    problem: str = ""
    tries: int = 0
    spent: RequestCosts = field(default_factory=RequestCosts)
    refused: bool = False


def ask_until_accepted(
    sender: RequestSender, questions: Sequence[tuple[Request, Judge]], *, in_rounds: bool = False
) -> None:
    """Ask every question, a first request and its judge, until its judge has no more to ask.

    All are asked at once; the sender limits the requests in flight. Outcomes are judged as they come, or, `in_rounds`,
    in the order of the questions when all of a round are there: for judges that look at one another's results. Raises
    what ends the whole run, after the outcomes of what was in flight are judged: those are paid for and stored.
    """
    waiting = [(place, sender.submit(request)) for place, (request, _) in enumerate(questions)]
    arrived: SimpleQueue[tuple[int, Future[Outcome]]] = SimpleQueue()
    error: Exception | None = None
    open_questions = 0
    while waiting or open_questions:
        if not in_rounds:
            for place, future in waiting:
                future.add_done_callback(_Delivery(place, arrived))
            open_questions += len(waiting)
            waiting = [arrived.get()]
            open_questions -= 1
        current, waiting = waiting, []
        for place, future in current:
            try:
                outcome = future.result()
            except Exception as caught:
                error = error or caught
                continue
            following = questions[place][1](outcome)
            if following is not None and error is None:
                waiting.append((place, sender.submit(following)))
    if error is not None:
        raise error


def ask_in_rounds(
    sender: RequestSender,
    rows: Sequence[_Q],
    request: Callable[[_Q, int], Request],
    judge: Callable[[_Q, Any], tuple[_T | None, str]],
    *,
    tries: int,
) -> list[QueryResult[_T]]:
    """Ask a question for every row; those whose answer is refused again, as another attempt, up to `tries` of them.

    request: from a row and an attempt, from 0. judge: from a row and its parsed answer to a value, or None and what is
    wrong. What is paid counts in every round; a request that was answered before is not sent again.
    """
    queries = [_Query(row, request, judge, tries) for row in rows]
    ask_until_accepted(sender, [(request(query.row, 0), query.take) for query in queries], in_rounds=True)
    return [query.result for query in queries]


def send_back(request: Request, answer: str, said: str, *, repairs: int | None = None) -> Request:
    """Return the request that goes on with an answer as it was and what is said about it; `repairs` as in Request."""
    messages = (*request.messages, Message("assistant", answer), Message("user", said))
    return replace(request, messages=messages, repairs=repairs)


class _Query(Generic[_Q, _T]):
    """One row on its way through its attempts."""

    def __init__(
        self,
        row: _Q,
        request: Callable[[_Q, int], Request],
        judge: Callable[[_Q, Any], tuple[_T | None, str]],
        tries: int,
    ) -> None:
        self.row = row
        self.result: QueryResult[_T] = QueryResult(None, "not asked")
        self._request, self._judge, self._tries = request, judge, tries

    def take(self, outcome: Outcome) -> Request | None:
        """Judge an outcome; the next attempt where it was refused and one is left."""
        usage = outcome.usage
        version = outcome.model_version if outcome.ok else ""
        keys = (outcome.key,) if outcome.ok else ()
        spent = self.result.spent + RequestCosts(keys, version, usage.input, usage.output, outcome.cost_usd)
        if outcome.ok:
            value, problem = self._judge(self.row, outcome.parsed if outcome.parsed is not None else outcome.text)
        else:
            value, problem = None, f"{outcome.kind}: {outcome.reason}"
        tried = self.result.tries + 1
        self.result = QueryResult(value, problem, tried, spent, refused=outcome.ok and value is None)
        return self._request(self.row, tried) if value is None and tried < self._tries else None


class _Delivery:
    """Puts a future that is done where the loop waits."""

    def __init__(self, place: int, arrived: SimpleQueue[tuple[int, Future[Outcome]]]) -> None:
        self._place = place
        self._arrived = arrived

    def __call__(self, future: Future[Outcome]) -> None:
        self._arrived.put((self._place, future))
