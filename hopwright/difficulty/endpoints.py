"""Voters behind a server: any endpoint that `hopwright.llm` can ask, a vLLM that the stage started included."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from hopwright.difficulty.prompting import (
    OPEN_PROMPT,
    PROMPTS,
    Answering,
    fold_system,
    read_open_answer,
    read_reasoning,
    word_choice,
    word_question,
)
from hopwright.difficulty.voters import ChosenOption, MissingVote, VoterAnswer, VoterQuestion
from hopwright.llm.config import Endpoint, LimitSettings, LlmSettings, RetrySettings
from hopwright.llm.prompts import load_prompts
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef, Outcome, Request, Response, Sampling, TokenUsage
from hopwright.records import LABELS

R = TypeVar("R")
T = TypeVar("T")
_TOP_LOGPROBS = 20
_RETRY_TEMPERATURE = 0.7
"""The temperature of a second try at a text that could not be read: the first one's would write the same again."""
_NO_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}


@dataclass(frozen=True, slots=True)
class RequestStyle:
    """How a server is asked.

    logprobs: it tells the probabilities of tokens. native: it is vLLM, whose own parameters may be used: thinking is
    switched off by the template where there is such a switch. retries: further tries at a row that got no vote.
    """

    answering: Answering = "letter"
    logprobs: bool = True
    native: bool = False
    retries: int = 1


def describe_server(name: str, url: str, concurrency: int) -> LlmSettings:
    """The settings to ask a vLLM server that was started here: no budget, and little patience, for it is watched."""
    endpoint = Endpoint(
        name=name,
        kind="compatible",
        base_url=f"{url}/v1",
        dialect="vllm",
        free=True,
        limits=LimitSettings(max_concurrency=concurrency, start_concurrency=concurrency),
    )
    return LlmSettings(endpoints=(endpoint,), retry=RetrySettings(max_attempts=3, base_s=0.2, cap_s=2.0))


class EndpointVoter:
    """A model at an endpoint. `usage` and `cost_usd` add up over all that it was asked."""

    def __init__(self, name: str, target: ModelRef, session: Session, manner: RequestStyle) -> None:
        self.name = name
        self.usage = TokenUsage()
        self.cost_usd = 0.0
        self._target = target
        self._session = session
        self._manner = manner

    def choose(self, choices: Sequence[VoterQuestion]) -> list[VoterAnswer]:
        """One answer for every question. Raises what ends a run: ServiceError, BudgetError."""
        answers = self._try(choices, 0)
        for attempt in range(1, self._manner.retries + 1):
            failed = [place for place, answer in enumerate(answers) if self._may_be_cured(answer)]
            again = self._try([choices[place] for place in failed], attempt) if failed else []
            for place, answer in zip(failed, again, strict=True):
                answers[place] = answer
        return answers

    def answer(self, questions: Sequence[tuple[str, str]]) -> list[str | MissingVote]:
        """The open answers to (key, question) pairs."""
        return self._ask(
            questions, lambda one: list_open_request(*one, self._target, self._manner), _of_text(read_open_answer)
        )

    def _try(self, choices: Sequence[VoterQuestion], attempt: int) -> list[VoterAnswer]:
        read = read_letter if self._manner.answering == "letter" else _of_text(read_reasoning)
        return self._ask(choices, lambda choice: list_request(choice, self._target, self._manner, attempt), read)

    def _may_be_cured(self, answer: VoterAnswer) -> bool:
        """Whether another try makes sense: not where the server will not take the request at all.

        A letter is asked for by the same request again, which helps only where the model has not answered.
        """
        if not isinstance(answer, MissingVote) or answer.kind == "rejected":
            return False
        return self._manner.answering != "letter" or answer.kind == "unavailable"

    def _ask(self, rows: Sequence[R], word: Callable[[R], Request], read: Callable[[Outcome], T]) -> list[T]:
        """What is read from the answers, in the order of the rows.

        Both the wording and the reading are done while the server works on other rows.
        """
        found: dict[int, tuple[Outcome, T]] = {}
        for place, outcome in self._session.stream(_Requests(rows, word)):
            found[place] = outcome, read(outcome)
        answers: list[T] = []
        # In the rows' order: a sum of floating-point numbers depends on it, too.
        for place in range(len(rows)):
            outcome, answer = found[place]
            self.usage += outcome.usage
            self.cost_usd += outcome.cost_usd
            answers.append(answer)
        return answers


class _Requests(Generic[R]):
    """One request a row, made when it is drawn."""

    def __init__(self, rows: Sequence[R], word: Callable[[R], Request]) -> None:
        self._rows, self._word = rows, word

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Request]:
        return map(self._word, self._rows)


def list_request(choice: VoterQuestion, target: ModelRef, manner: RequestStyle, attempt: int = 0) -> Request:
    """The request that asks for a vote; `attempt` counts the tries at it."""
    messages = word_choice(choice, manner.answering)
    letter = manner.answering == "letter"
    front = load_prompts()[PROMPTS[manner.answering]].front
    # A second try at a text is another draw; the letters' probabilities would be the same again.
    again = attempt and not letter
    return Request(
        messages=fold_system(messages) if manner.native else messages,
        provider=target.provider,
        model=target.model,
        choices=LABELS if letter else (),
        item=choice.key,
        prompt=front.name,
        prompt_version=str(front.version),
        sampling=Sampling(
            max_tokens=front.max_tokens,
            temperature=_RETRY_TEMPERATURE if again else front.temperature,
            seed=attempt if again else None,
            top_logprobs=_TOP_LOGPROBS if letter and manner.logprobs else None,
            extra=_NO_THINKING if manner.native else {},
        ),
    )


def list_open_request(key: str, question: str, target: ModelRef, manner: RequestStyle) -> Request:
    """The request that asks for an open answer."""
    front = load_prompts()[OPEN_PROMPT].front
    messages = word_question(question)
    return Request(
        messages=fold_system(messages) if manner.native else messages,
        provider=target.provider,
        model=target.model,
        item=key,
        prompt=front.name,
        prompt_version=str(front.version),
        sampling=Sampling(
            max_tokens=front.max_tokens,
            temperature=front.temperature,
            # An answer is one line; a model that goes on after it is not cut off for that.
            stop=("\n",),
            extra=_NO_THINKING if manner.native else {},
        ),
    )


def read_letter(outcome: Outcome) -> VoterAnswer:
    """The probabilities of A–D in an answer that was held to one letter, renormalised to sum to 1.

    Where an answer is wrapped (`{"choice": "B"}`) the token that decides is the first whose likeliest text is a letter.
    """
    if not isinstance(outcome, Response):
        return MissingVote(outcome.kind, outcome.reason)
    for position in _list_positions(outcome):
        return position
    label = outcome.text.strip()
    places = [index for index, known in enumerate(LABELS) if known == label]
    return ChosenOption(places[0]) if places else MissingVote("invalid", f"{label[:60]!r} is no letter")


def _list_positions(outcome: Response) -> Iterator[tuple[float, ...]]:
    for tops in outcome.logprobs:
        if not tops or _strip_token(max(tops, key=lambda top: top[1])[0]) not in LABELS:
            continue
        found = dict.fromkeys(LABELS, 0.0)
        for token, logprob in tops:
            letter = next((known for known in LABELS if known == _strip_token(token)), None)
            if letter is not None:
                found[letter] += math.exp(logprob)
        total = sum(found.values())
        if total > 0:
            yield tuple(found[label] / total for label in LABELS)


def _strip_token(token: str) -> str:
    return token.strip(" \"'\n▁Ġ")


def _of_text(read: Callable[[str], T]) -> Callable[[Outcome], T | MissingVote]:
    """Reads an answer by its text; a failure stays one."""

    def read_outcome(outcome: Outcome) -> T | MissingVote:
        if not isinstance(outcome, Response):
            return MissingVote(outcome.kind, outcome.reason)
        return read(outcome.text)

    return read_outcome
