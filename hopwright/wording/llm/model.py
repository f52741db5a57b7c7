"""The writers that ask a model: one request per draft as a rule, what is wrong goes back, three rounds at most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from queue import SimpleQueue

from hopwright.llm.answers import WordedItem
from hopwright.llm.asking import Asker
from hopwright.llm.prompts import Prompt
from hopwright.llm.types import Attempt, Failure, Message, ModelRef, Outcome, Request, Response, Sampling
from hopwright.records import Item, Rejected
from hopwright.wording.base import Worded, Writer
from hopwright.wording.llm.brief import Briefs
from hopwright.wording.llm.editing import FORGIVEN, Edited, Editor
from hopwright.wording.llm.reading import Problem

PROMPT = "word-item"
_MOST_PROBLEMS = 12
_ANSWERS = {"invalid": "broken_json", "empty": "empty", "refusal": "refusal", "truncated": "truncated"}
"""Kinds of attempts in which the model did answer, and what the report calls them."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How a model is asked. `rounds` are answers per draft at most, repairs of broken JSON included."""

    target: ModelRef
    fallbacks: tuple[ModelRef, ...] = ()
    temperature: float = 0.7
    rounds: int = 3


@dataclass(slots=True)
class _Talk:
    """What has been said about one draft."""

    draft: Item
    request: Request
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    keys: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)


class ModelWriter:
    """Words drafts with a model behind `asker`; without one it can only say what it would ask.

    `instead` words those for which no answer was fit; None rejects them.

    Safe to run again after a kill: the requests are the same, so answers that were paid for are found again.
    """

    def __init__(
        self,
        asker: Asker | None,
        prompt: Prompt,
        terms: Terms,
        editor: Editor,
        briefs: Briefs,
        instead: Writer | None = None,
    ) -> None:
        self._asker = asker
        self._prompt = prompt
        self._terms = terms
        self._editor = editor
        self._briefs = briefs
        self._instead = instead

    def word(self, drafts: Sequence[Item]) -> list[Worded]:
        """See Writer. All drafts are asked for at once; how many requests are in flight is the client's affair."""
        arrived: SimpleQueue[tuple[int, Future[Outcome]]] = SimpleQueue()
        talks = [_Talk(draft, self.first_request(draft)) for draft in drafts]
        done: dict[int, Worded] = {}
        open_talks, error = 0, None
        for place, talk in enumerate(talks):
            self._send(place, talk, arrived)
            open_talks += 1
        while open_talks:
            place, future = arrived.get()
            open_talks -= 1
            try:
                outcome = future.result()
            except Exception as caught:
                # The run ends; what is in flight is still waited for, since it is paid for and stored.
                error = error or caught
                continue
            worded = self._hear(talks[place], outcome)
            if worded is not None:
                done[place] = worded
            elif error is None:
                self._send(place, talks[place], arrived)
                open_talks += 1
        if error is not None:
            raise error
        return [done[place] for place in range(len(talks))]

    def first_request(self, draft: Item) -> Request:
        """What is asked first about a draft; in the usual case the only request."""
        inputs = self._briefs.write(draft, self._editor.places.lay_out(draft))
        sampling = Sampling(max_tokens=self._prompt.front.max_tokens, temperature=self._terms.temperature)
        request = self._prompt.request(
            inputs, self._terms.target, item=draft.id, fallbacks=self._terms.fallbacks, sampling=sampling
        )
        return replace(request, repairs=self._terms.rounds - 1)

    def _send(self, place: int, talk: _Talk, arrived: SimpleQueue[tuple[int, Future[Outcome]]]) -> None:
        assert self._asker is not None
        self._asker.submit(talk.request).add_done_callback(_Deliver(place, arrived))

    def _hear(self, talk: _Talk, outcome: Outcome) -> Worded | None:
        """Take an outcome in; None when there is more to be asked."""
        talk.keys.append(outcome.key)
        talk.input_tokens += outcome.usage.input
        talk.output_tokens += outcome.usage.output
        talk.cost_usd += outcome.cost_usd
        _count_attempts(talk, outcome.attempts)
        if isinstance(outcome, Failure):
            check = _ANSWERS.get(outcome.kind, outcome.kind)
            return self._give_up(talk, check, outcome.reason, "")
        talk.requests += 1
        assert isinstance(outcome.parsed, WordedItem)
        edited = self._editor.edit(talk.draft, outcome.parsed)
        talk.faults.update(edited.remarks)
        if not edited.fault:
            return self._accept(talk, edited, outcome)
        talk.faults[edited.fault] += 1
        if talk.requests >= self._terms.rounds:
            wrong = [problem.text for problem in edited.problems if problem.kind not in FORGIVEN]
            reason = f"answer {talk.requests} of {self._terms.rounds}: {'; '.join(wrong[:3])}"
            row = edited.item.model_copy(update={"checks": ()}).model_dump_json()
            return self._give_up(talk, edited.fault, reason, row)
        talk.counts["sent_back"] += 1
        talk.request = self._ask_again(talk, outcome, edited.problems)
        return None

    def _ask_again(self, talk: _Talk, outcome: Response, problems: Sequence[Problem]) -> Request:
        """The next request: the answer as it was, and what is wrong with it."""
        texts = list(dict.fromkeys(problem.text for problem in problems))
        more = [f"… and {len(texts) - _MOST_PROBLEMS} more of the kind"] if len(texts) > _MOST_PROBLEMS else []
        lines = "\n".join(f"- {text}" for text in [*texts[:_MOST_PROBLEMS], *more])
        said = (
            f"This does not fit the plan yet:\n{lines}\n\nGive the whole JSON object again. Put right what is listed, "
            f"and keep what was good."
        )
        messages = (*talk.request.messages, Message("assistant", outcome.text), Message("user", said))
        return replace(talk.request, messages=messages, repairs=self._terms.rounds - talk.requests - 1)

    def _accept(self, talk: _Talk, edited: Edited, outcome: Response) -> Worded:
        provenance = talk.draft.provenance.model_copy(
            update={
                "generator": "model",
                "model": f"{outcome.provider}/{outcome.model}",
                "model_version": outcome.model_version,
                "prompt": self._prompt.front.name,
                "prompt_version": self._prompt.version,
                "request_keys": tuple(talk.keys),
                "input_tokens": talk.input_tokens,
                "output_tokens": talk.output_tokens,
                "cost_usd": talk.cost_usd,
            }
        )
        talk.counts[f"accepted_after.{talk.requests}"] += 1
        talk.counts.update(edited.counts)
        return _close(talk, edited.item.model_copy(update={"provenance": provenance}))

    def _give_up(self, talk: _Talk, check: str, reason: str, row: str) -> Worded:
        if self._instead is not None:
            (kept,) = self._instead.word([talk.draft])
            talk.counts[f"kept_in_rules_words.{check}"] += 1
            return _close(talk, kept.result)
        row = row or talk.draft.model_dump_json()
        return _close(talk, Rejected(key=talk.draft.id, check=check, reason=reason, row=row))


class _Deliver:
    """Puts a future that is done where its writer waits."""

    def __init__(self, place: int, arrived: SimpleQueue[tuple[int, Future[Outcome]]]) -> None:
        self._place = place
        self._arrived = arrived

    def __call__(self, future: Future[Outcome]) -> None:
        self._arrived.put((self._place, future))


def _count_attempts(talk: _Talk, attempts: Sequence[Attempt]) -> None:
    for attempt in attempts:
        if attempt.kind in _ANSWERS:
            talk.requests += 1
            talk.faults[_ANSWERS[attempt.kind]] += 1
        else:
            talk.counts["lost_on_the_way"] += 1


def _close(talk: _Talk, result: Item | Rejected) -> Worded:
    return Worded(result, talk.requests, talk.input_tokens, talk.output_tokens, talk.cost_usd, talk.faults, talk.counts)
