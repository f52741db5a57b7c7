"""The writers that ask a model: one request per draft as a rule, what is wrong goes back, three rounds at most."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hopwright.llm.answers import AnsweredBack, ReadQuestion, WordedItem
from hopwright.llm.asking import RequestSender, ask_until_accepted, send_back
from hopwright.llm.prompts import Prompt
from hopwright.llm.types import Attempt, Failure, ModelRef, Outcome, Request, Response, Sampling
from hopwright.records import Item, Rejected
from hopwright.wording.base import QuestionWriter, WordingResult
from hopwright.wording.llm.editing import FORGIVEN, Editor, EditResult
from hopwright.wording.llm.plan_brief import PlanBriefWriter
from hopwright.wording.llm.problems import WordingProblem
from hopwright.wording.llm.reading_back import QuestionReader

PROMPT = "word-item"
_MOST_PROBLEMS = 12
_ANSWERS = {"invalid": "broken_json", "empty": "empty", "refusal": "refusal", "truncated": "truncated"}
"""Kinds of attempts in which the model did answer, and what the report calls them."""


@dataclass(frozen=True, slots=True)
class ModelWriterSettings:
    """How a model is asked. `rounds` are answers per draft at most, repairs of broken JSON included."""

    target: ModelRef
    fallbacks: tuple[ModelRef, ...] = ()
    temperature: float = 0.7
    rounds: int = 3


@dataclass(slots=True)
class _RepairSession:
    """What has been said about one draft."""

    draft: Item
    request: Request
    requests: int = 0
    hinted: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    keys: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    result: WordingResult | None = None
    worded: tuple[EditResult, Response] | None = None
    """What passed the checks and is being read back."""


class ModelWriter:
    """Words drafts with a model behind `asker`; without one it can only say what it would ask.

    `instead` words those for which no answer was fit; None rejects them.

    Safe to run again after a kill: the requests are the same, so answers that were paid for are found again.
    """

    def __init__(
        self,
        asker: RequestSender | None,
        prompt: Prompt,
        terms: ModelWriterSettings,
        editor: Editor,
        briefs: PlanBriefWriter,
        instead: QuestionWriter | None = None,
        reader: QuestionReader | None = None,
    ) -> None:
        self._asker = asker
        self._prompt = prompt
        self._terms = terms
        self._editor = editor
        self._briefs = briefs
        self._instead = instead
        self._reader = reader

    def word(self, drafts: Sequence[Item]) -> list[WordingResult]:
        """See QuestionWriter. All drafts are asked for at once; the client limits the requests in flight."""
        assert self._asker is not None
        sessions = [_RepairSession(draft, self.first_request(draft)) for draft in drafts]
        ask_until_accepted(
            self._asker, [(one.request, functools.partial(self._handle_response, one)) for one in sessions]
        )
        return [one.result for one in sessions if one.result is not None]

    def first_request(self, draft: Item) -> Request:
        """What is asked first about a draft; in the usual case the only request."""
        inputs = self._briefs.write(draft, self._editor.places.lay_out(draft))
        sampling = Sampling(max_tokens=self._prompt.front.max_tokens, temperature=self._terms.temperature)
        request = self._prompt.request(
            inputs, self._terms.target, item=draft.id, fallbacks=self._terms.fallbacks, sampling=sampling
        )
        return replace(request, repairs=self._terms.rounds - 1)

    def _handle_response(self, session: _RepairSession, outcome: Outcome) -> Request | None:
        """Take an outcome in; the next request, None when the draft has its result."""
        session.keys.append(outcome.key)
        session.input_tokens += outcome.usage.input
        session.output_tokens += outcome.usage.output
        session.cost_usd += outcome.cost_usd
        if session.worded is not None:
            return self._take_reading(session, session.worded, outcome)
        _count_attempts(session, outcome.attempts)
        if isinstance(outcome, Failure):
            check = _ANSWERS.get(outcome.kind, outcome.kind)
            session.result = self._give_up(session, check, outcome.reason, "")
            return None
        session.requests += 1
        assert isinstance(outcome.parsed, WordedItem)
        if outcome.parsed.objection:
            reason = outcome.parsed.objection_reason.strip() or "no reason given"
            row = session.draft.model_dump_json()
            rejected = Rejected(
                key=session.draft.id, check=f"objection_{outcome.parsed.objection}", reason=reason, row=row
            )
            session.counts["objections"] += 1
            session.result = _close(session, rejected)
            return None
        edited = self._editor.edit(session.draft, outcome.parsed)
        session.faults.update(edited.remarks)
        # Words that are not known are asked about once; they are nothing that refuses a wording.
        told = session.hinted or session.requests >= self._terms.rounds
        if not edited.fault or (told and edited.only_hints):
            if self._reader is None:
                session.result = self._accept(session, edited, outcome)
                return None
            session.worded = (edited, outcome)
            return self._reader.ask_steps(edited.item)
        session.faults[edited.fault] += 1
        if session.requests >= self._terms.rounds:
            wrong = [problem.text for problem in edited.problems if problem.kind not in FORGIVEN]
            reason = f"answer {session.requests} of {self._terms.rounds}: {'; '.join(wrong[:3])}"
            row = edited.item.model_copy(update={"checks": ()}).model_dump_json()
            session.result = self._give_up(session, edited.fault, reason, row)
            return None
        session.counts["sent_back"] += 1
        session.hinted = session.hinted or any(problem.hint for problem in edited.problems)
        session.request = self._ask_again(session, outcome, edited.problems)
        return session.request

    def _take_reading(
        self, session: _RepairSession, worded: tuple[EditResult, Response], outcome: Outcome
    ) -> Request | None:
        """Take in what a reader made of a wording: its steps first, then its answer from the facts."""
        assert self._reader is not None
        edited, wording = worded
        what = "answer"
        if isinstance(outcome, Failure):
            problem, what = f"the reader gave no answer that can be used: {outcome.reason}", "unreadable"
        elif isinstance(outcome.parsed, ReadQuestion):
            what = "steps"
            problem = self._reader.compare(edited.item, outcome.parsed, self._editor.places.lay_out(session.draft))
        else:
            assert isinstance(outcome.parsed, AnsweredBack)
            problem = self._reader.judge(edited.item, outcome.parsed)
        session.counts[f"reading.{what}_{'differ' if problem else 'agree'}"] += 1
        if not problem:
            if what == "steps":
                return self._reader.ask_answer(edited.item)
            session.result = self._accept(session, edited, wording)
            return None
        session.worded = None
        session.faults["reading"] += 1
        if what == "unreadable" or session.requests >= self._terms.rounds:
            row = edited.item.model_copy(update={"checks": ()}).model_dump_json()
            session.result = self._give_up(session, "reading", problem, row)
            return None
        session.counts["sent_back"] += 1
        text = f"the one question does not say the plan to somebody who sees nothing else: {problem}"
        session.request = self._ask_again(session, wording, [WordingProblem("reading", text)])
        return session.request

    def _ask_again(self, session: _RepairSession, outcome: Response, problems: Sequence[WordingProblem]) -> Request:
        """The next request: the answer as it was, and what is wrong with it."""
        texts = list(dict.fromkeys(problem.text for problem in problems))
        more = [f"… and {len(texts) - _MOST_PROBLEMS} more of the kind"] if len(texts) > _MOST_PROBLEMS else []
        lines = "\n".join(f"- {text}" for text in [*texts[:_MOST_PROBLEMS], *more])
        kept = (
            " Where only a clearer word is asked for, and yours says the same, keep yours."
            if any(problem.hint for problem in problems)
            else ""
        )
        said = (
            f"This does not fit the plan yet:\n{lines}\n\nGive the whole JSON object again. Put right what is listed, "
            f"and keep what was good.{kept}"
        )
        return send_back(session.request, outcome.text, said, repairs=self._terms.rounds - session.requests - 1)

    def _accept(self, session: _RepairSession, edited: EditResult, outcome: Response) -> WordingResult:
        provenance = session.draft.provenance.model_copy(
            update={
                "generator": "model",
                "model": f"{outcome.provider}/{outcome.model}",
                "model_version": outcome.model_version,
                "prompt": self._prompt.front.name,
                "prompt_version": self._prompt.version,
                "request_keys": tuple(session.keys),
                "input_tokens": session.input_tokens,
                "output_tokens": session.output_tokens,
                "cost_usd": session.cost_usd,
            }
        )
        session.counts[f"accepted_after.{session.requests}"] += 1
        session.counts["kept_in_unknown_words"] += bool(edited.fault)
        session.counts.update(edited.counts)
        return _close(session, edited.item.model_copy(update={"provenance": provenance}))

    def _give_up(self, session: _RepairSession, check: str, reason: str, row: str) -> WordingResult:
        if self._instead is not None:
            (kept,) = self._instead.word([session.draft])
            session.counts[f"kept_in_rules_words.{check}"] += 1
            return _close(session, kept.result)
        row = row or session.draft.model_dump_json()
        return _close(session, Rejected(key=session.draft.id, check=check, reason=reason, row=row))


def _count_attempts(session: _RepairSession, attempts: Sequence[Attempt]) -> None:
    for attempt in attempts:
        if attempt.kind in _ANSWERS:
            session.requests += 1
            session.faults[_ANSWERS[attempt.kind]] += 1
        else:
            session.counts["lost_on_the_way"] += 1


def _close(session: _RepairSession, result: Item | Rejected) -> WordingResult:
    return WordingResult(
        result,
        session.requests,
        session.input_tokens,
        session.output_tokens,
        session.cost_usd,
        session.faults,
        session.counts,
    )
