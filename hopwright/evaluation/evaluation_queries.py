"""The questions that an evaluation asks about an item, and the rows that come of the answers.

Four protocols (Omanic, section 3.3):

- `question`: the whole multi-hop question;
- `alone`: every sub-question by itself, with the gold answers that it names;
- `independent`: every sub-question after the gold sub-questions and answers that it rests on;
- `chain`: the same, but what the model itself answered stands in the place of the gold answers.

A hop that rests on no other is the same request in all three, and asked once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import pyarrow as pa

from hopwright.evaluation import extraction
from hopwright.evaluation.extraction import Extracted, extract
from hopwright.evaluation.items import (
    UNKNOWN,
    EvalHop,
    EvalItem,
    draw_irrelevant_passages,
    kind_of,
    substitute_given_answers,
)
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.prompts import Prompt
from hopwright.llm.types import Failure, ModelRef, Outcome, Request, key_of
from hopwright.records import Passage
from hopwright.scoring.answers import is_close, score_text

Form = Literal["mcq", "open"]
Prompting = Literal["direct", "cot"]
Passages = Literal["none", "own", "irrelevant"]
Protocol = Literal["question", "alone", "independent", "chain"]
Ask = Callable[[list[Request]], Sequence[Outcome]]

ANSWER_SCHEMA = pa.schema(
    [
        ("model", pa.string()),
        ("item", pa.string()),
        ("pair", pa.string()),
        ("variant", pa.string()),
        ("topology", pa.string()),
        ("protocol", pa.string()),
        ("hop", pa.int8()),
        ("depends", pa.bool_()),
        ("domain", pa.string()),
        ("kind", pa.string()),
        ("form", pa.string()),
        ("prompting", pa.string()),
        ("passages", pa.string()),
        ("sub_questions", pa.bool_()),
        ("prompt", pa.string()),
        ("prompt_version", pa.string()),
        ("model_version", pa.string()),
        ("key", pa.string()),
        ("outcome", pa.string()),
        ("reason", pa.string()),
        ("given", pa.string()),
        ("gold", pa.string()),
        ("right", pa.bool_()),
        ("em", pa.float64()),
        ("precision", pa.float64()),
        ("recall", pa.float64()),
        ("f1", pa.float64()),
        ("close", pa.bool_()),
        ("judged", pa.bool_()),
        ("input_tokens", pa.int64()),
        ("output_tokens", pa.int64()),
        ("cost_usd", pa.float64()),
    ]
)


_FAILURES: dict[str, extraction.Outcome] = {"refusal": "refusal", "empty": "empty", "truncated": "truncated"}


@dataclass(frozen=True, slots=True)
class PromptSetting:
    """One way to ask everything."""

    form: Form
    prompting: Prompting
    passages: Passages = "none"
    sub_questions: bool = False

    @property
    def prompt(self) -> str:
        """The name of its prompt file."""
        return f"answer-{self.form}-{self.prompting}"


@dataclass(frozen=True, slots=True)
class EvaluationQuery:
    """One question about one item: the whole (`hop` 0) or one of its hops, in one setting."""

    item: EvalItem
    protocol: Protocol
    hop: int
    setting: PromptSetting

    @property
    def part(self) -> EvalItem | EvalHop:
        """What is asked: the item or the hop."""
        return self.item.hop(self.hop) if self.hop else self.item


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """One scored answer: a row of ANSWER_SCHEMA. `right`: the right option, or exact match, or close enough."""

    model: str
    item: str
    pair: str
    variant: str
    topology: str
    protocol: str
    hop: int
    depends: bool
    domain: str
    kind: str
    form: str
    prompting: str
    passages: str
    sub_questions: bool
    prompt: str
    prompt_version: str
    model_version: str
    key: str
    outcome: str
    reason: str
    given: str
    gold: str
    right: bool
    em: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    close: bool | None
    judged: bool | None
    input_tokens: int
    output_tokens: int
    cost_usd: float


class EvaluationRunner:
    """Asks one model about items. `context` is what irrelevant passages are drawn from."""

    def __init__(
        self,
        model: ModelRef,
        prompts: dict[str, Prompt],
        settings: Sequence[PromptSetting],
        protocols: Sequence[Protocol],
        *,
        context: Sequence[EvalItem] = (),
        seed: int = 0,
        max_tokens: int = 0,
    ) -> None:
        self._model = model
        self._prompts = prompts
        self._settings = tuple(settings)
        self._protocols = tuple(protocols)
        self._context = context
        self._seed = seed
        self._max_tokens = max_tokens

    def ask(self, items: Sequence[EvalItem], complete: Ask) -> list[ScoredAnswer]:
        """Ask everything about these items; the answers in the order of `list_probes`."""
        answers: dict[EvaluationQuery, ScoredAnswer] = {}
        for probes in self._plan_rounds(items):
            requests = [self._request(probe, answers) for probe in probes]
            outcomes = ask_once(requests, complete)
            for probe, request in zip(probes, requests, strict=True):
                answers[probe] = self._score(probe, request, outcomes[key_of(request)])
        return [answers[probe] for probe in self.list_probes(items)]

    def list_probes(self, items: Iterable[EvalItem]) -> Iterator[EvaluationQuery]:
        """Everything that is asked, item by item."""
        for item in items:
            for setting in self._settings:
                for protocol in self._protocols:
                    if protocol == "question":
                        yield EvaluationQuery(item, protocol, 0, setting)
                    else:
                        plain = replace(setting, sub_questions=False)
                        for hop in item.hops:
                            yield EvaluationQuery(item, protocol, hop.index, plain)

    def list_requests(self, items: Iterable[EvalItem]) -> Iterator[Request | ApproximateRequest]:
        """The requests before anything is asked; later hops of a chain as if the earlier answers were right."""
        for probe in self.list_probes(items):
            request = self._request(probe, None)
            open_ended = probe.protocol == "chain" and probe.item.hop(probe.hop).depends_on
            yield ApproximateRequest(request) if open_ended else request

    def _plan_rounds(self, items: Sequence[EvalItem]) -> Iterator[list[EvaluationQuery]]:
        """A chain's hops need the ones before: they go level by level, and the other probes fill the rounds."""
        probes = list(dict.fromkeys(self.list_probes(items)))
        chained: dict[int, list[EvaluationQuery]] = {}
        others: list[EvaluationQuery] = []
        for probe in probes:
            if probe.protocol == "chain":
                chained.setdefault(_find_level(probe.item, probe.hop), []).append(probe)
            else:
                others.append(probe)
        rounds = max(len(chained), 1)
        share = -(-len(others) // rounds)
        for number in range(rounds):
            yield chained.get(number, []) + others[number * share : (number + 1) * share]

    def _request(self, probe: EvaluationQuery, answers: dict[EvaluationQuery, ScoredAnswer] | None) -> Request:
        setting, item = probe.setting, probe.item
        prompt = self._prompts[setting.prompt]
        question, steps = self._word(probe, answers)
        inputs: dict[str, Any] = {
            "question": question,
            "passages": [passage.model_dump() for passage in self._passages(item, setting.passages)],
            "steps": steps,
            "sub_questions": list_sub_questions(item) if setting.sub_questions and not probe.hop else [],
        }
        if setting.form == "mcq":
            inputs["options"] = probe.part.options
        request = prompt.request(inputs, self._model, item=item.id)
        if self._max_tokens:
            request = replace(request, sampling=replace(request.sampling, max_tokens=self._max_tokens))
        return request

    def _word(
        self, probe: EvaluationQuery, answers: dict[EvaluationQuery, ScoredAnswer] | None
    ) -> tuple[str, list[dict[str, str]]]:
        """The question, and the steps that are told before it."""
        if not probe.hop or probe.protocol == "alone":
            return probe.part.question, []
        item, hop = probe.item, probe.item.hop(probe.hop)
        steps: list[dict[str, str]] = []
        given: dict[int, str] = {}
        for index in _list_ancestors(item, hop.index):
            earlier = replace(probe, hop=index)
            gold = item.hop(index).answer
            if probe.protocol == "chain" and answers is not None:
                # A right answer stands as the gold one is written: the same question is then not paid for twice.
                given[index] = gold if answers[earlier].right else _show(answers[earlier], item.hop(index))
            else:
                given[index] = gold
            question, _ = substitute_given_answers(item.hop(index), item, given)
            steps.append({"question": question, "answer": given[index]})
        return substitute_given_answers(hop, item, given)[0], steps

    def _passages(self, item: EvalItem, passages: Passages) -> tuple[Passage, ...]:
        if passages == "own":
            return item.passages
        return draw_irrelevant_passages(item, self._context, self._seed) if passages == "irrelevant" else ()

    def _score(self, probe: EvaluationQuery, request: Request, outcome: Outcome) -> ScoredAnswer:
        part, item, setting = probe.part, probe.item, probe.setting
        hop = item.hop(probe.hop) if probe.hop else item.hops[-1]
        if isinstance(outcome, Failure):
            read, reason = Extracted("", _FAILURES.get(outcome.kind, "failed")), f"{outcome.kind}: {outcome.reason}"
        else:
            read, reason = extract(outcome.text, setting.form, setting.prompting, part.options), ""
        scores = None
        close = None
        if setting.form == "open":
            golds = (part.answer, *part.aliases)
            scores = score_text(read.value, golds)
            close = any(is_close(read.value, gold, kind_of(part.answer, part.answer_type)) for gold in golds)
            right = read.outcome == "answered" and (scores.em == 1.0 or close)
        else:
            right = read.outcome == "answered" and read.value == part.label
        return ScoredAnswer(
            model=str(self._model),
            item=item.id,
            pair=item.pair,
            variant=item.variant,
            topology=item.topology,
            protocol=probe.protocol,
            hop=probe.hop,
            depends=bool(probe.hop and hop.depends_on),
            domain=hop.domain,
            kind=hop.kind if probe.hop else "+".join(item.computations),
            form=setting.form,
            prompting=setting.prompting,
            passages=setting.passages,
            sub_questions=setting.sub_questions,
            prompt=request.prompt,
            prompt_version=request.prompt_version,
            model_version="" if isinstance(outcome, Failure) else outcome.model_version,
            key=outcome.key,
            outcome=read.outcome,
            reason=reason,
            given=read.value,
            gold=part.label if setting.form == "mcq" else part.answer,
            right=right,
            em=scores.em if scores else None,
            precision=scores.precision if scores else None,
            recall=scores.recall if scores else None,
            f1=scores.f1 if scores else None,
            close=close,
            judged=None,
            input_tokens=outcome.usage.input,
            output_tokens=outcome.usage.output,
            cost_usd=outcome.cost_usd,
        )


def ask_once(requests: Iterable[Request], complete: Ask) -> dict[str, Outcome]:
    """The outcomes of requests, by their keys; of equal requests one is asked."""
    unique = {key_of(request): request for request in requests}
    return dict(zip(unique, complete(list(unique.values())), strict=True)) if unique else {}


def judge_answers(
    answers: Sequence[ScoredAnswer], items: Sequence[EvalItem], judge: ModelRef, prompt: Prompt, complete: Ask
) -> list[ScoredAnswer]:
    """Let a model say whether open answers that are not right by the letter mean the gold one (CofCA: partial match).

    Right ones count as the same without being asked; an answer that the judge failed on keeps `judged` empty.
    """
    by_id = {item.id: item for item in items}
    wanted: dict[int, Request] = {}
    judged: list[ScoredAnswer] = []
    for number, answer in enumerate(answers):
        judged.append(replace(answer, judged=answer.right) if answer.form == "open" else answer)
        if answer.form == "open" and not answer.right and answer.outcome == "answered":
            item = by_id[answer.item]
            part = item.hop(answer.hop) if answer.hop else item
            gold = "; ".join((part.answer, *part.aliases))
            inputs = {"question": part.question, "gold": gold, "given": answer.given}
            wanted[number] = prompt.request(inputs, judge, item=answer.item)
    outcomes = ask_once(wanted.values(), complete)
    for number, request in wanted.items():
        outcome = outcomes[key_of(request)]
        verdict = None if isinstance(outcome, Failure) else bool(getattr(outcome.parsed, "same", False))
        judged[number] = replace(judged[number], judged=verdict)
    return judged


def to_table(answers: Iterable[ScoredAnswer]) -> pa.Table:
    """The answers as a table of ANSWER_SCHEMA."""
    return pa.Table.from_pylist([asdict(answer) for answer in answers], schema=ANSWER_SCHEMA)


def _show(answer: ScoredAnswer, hop: EvalHop) -> str:
    """What stands in later questions for a wrong answer."""
    if answer.outcome != "answered":
        return UNKNOWN
    return hop.options.get(answer.given, UNKNOWN) if answer.form == "mcq" else answer.given


def list_sub_questions(item: EvalItem) -> list[str]:
    """The sub-questions with `#1` in the place of the first answer, and so on."""
    opened = [
        substitute_given_answers(hop, item, {index: f"#{index}" for index in hop.depends_on})[0] for hop in item.hops
    ]
    return [question.replace("the #", "#") for question in opened]


def _list_ancestors(item: EvalItem, index: int) -> list[int]:
    """The hops that a hop rests on, directly or not, in order."""
    found: set[int] = set()
    waiting = list(item.hop(index).depends_on)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += item.hop(one).depends_on
    return sorted(found)


def _find_level(item: EvalItem, index: int) -> int:
    depends_on = item.hop(index).depends_on
    return 1 + max(_find_level(item, one) for one in depends_on) if depends_on else 0
