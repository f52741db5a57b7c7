"""CofCA's per-passage mode (section 3.1): of one passage a 2-, a 3- and a 4-hop question, with sub-questions and
answers.

Where the graph's facts that a passage states form a chain, the planner plans it and the rules word it. Where they do
not, a model is asked, and its question is held to the same checks. Then passage and questions move into a world of
their own.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from hopwright.counterfactual.back_translation import RewordingBounds, reword, split_text
from hopwright.counterfactual.failures import TwinError
from hopwright.counterfactual.passage_rewriting import PassageRewriter, RewrittenPassage, move_years
from hopwright.counterfactual.translating import BackTranslator
from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.documents.passage_graph import PassageGraph, PassageSource
from hopwright.knowledge.source import FactSource
from hopwright.llm.asking import QueryResult, RequestCosts, ask_in_rounds
from hopwright.llm.prompts import Prompt
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef, Request
from hopwright.planning.execution import execute, same
from hopwright.planning.plan import Plan, PlanStep
from hopwright.planning.planner import NoPlanError, Planner
from hopwright.planning.target_distribution import SamplingPreferences
from hopwright.records import Lookup, Surrogate
from hopwright.records.values import Value, render
from hopwright.text.demonyms import find_country
from hopwright.text.mentions import find_mentions, replace_names
from hopwright.topologies import TOPOLOGIES
from hopwright.wording.rules.rules_writer import EntityNaming, RulesWriter

HOPS = (2, 3, 4)
_CHAINS = {2: "chain-2", 3: "chain-3", 4: "chain"}
_OTHERS = {2: ("chain-2",), 3: ("chain-3", "converging-3"), 4: ("chain", "bridge", "converging")}
_MOST_CHAINS = 60


class _PassageRecord(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SubQuestion(_PassageRecord):
    """A single-step question and its answer, as the passage writes it."""

    question: str
    answer: str


class MultiHopPassageQuestion(_PassageRecord):
    """A question of several steps about a passage. by: `rules`, or the model that wrote it."""

    hops: int
    question: str
    answer: str
    sub_questions: tuple[SubQuestion, ...]
    by: str


class PassageQuestionSet(_PassageRecord):
    """A passage with its questions, in one variant. missing: number of hops → why there is no such question.

    back_translation: who reworded the passage, or why nobody did.
    """

    title: str
    text: str
    variant: Literal["factual", "counterfactual"]
    questions: tuple[MultiHopPassageQuestion, ...]
    missing: dict[str, str] = {}
    world: tuple[Surrogate, ...] = ()
    back_translation: str = ""


@dataclass(frozen=True, slots=True)
class ModelQuestionWriter:
    """A model that asks questions of passages."""

    session: Session
    prompt: Prompt
    target: ModelRef
    tries: int = 3

    def ask(self, passages: Sequence[tuple[str, str, int]]) -> list[QueryResult[MultiHopPassageQuestion]]:
        """One question per (title, text, hops), or why there is none."""
        return ask_in_rounds(self.session, passages, self._request, self._judge, tries=self.tries)

    def _request(self, asked: tuple[str, str, int], attempt: int) -> Request:
        inputs = {"title": asked[0], "text": asked[1], "hops": str(asked[2])}
        return self.prompt.request(inputs, self.target, seed=attempt)

    def _judge(self, asked: tuple[str, str, int], answer: Any) -> tuple[MultiHopPassageQuestion | None, str]:
        subs = tuple(SubQuestion(question=one.question, answer=one.answer) for one in answer.sub_questions)
        made = MultiHopPassageQuestion(
            hops=asked[2], question=answer.question, answer=subs[-1].answer, sub_questions=subs, by=str(self.target)
        )
        fault = find_fault(made, asked[0], asked[1])
        return (None, fault) if fault else (made, "")


@dataclass(slots=True)
class PassageQuestionGenerator:
    """Makes sets of questions. questioner: asked for what the facts do not give; None leaves that missing."""

    rewriter: PassageRewriter
    source: FactSource
    names: EntityNaming
    seed: int
    questioner: ModelQuestionWriter | None = None
    translators: Sequence[BackTranslator] = ()
    gates: RewordingBounds = field(default_factory=RewordingBounds)
    spent: RequestCosts = field(default_factory=RequestCosts)

    def ask(self, passages: Sequence[tuple[str, str]]) -> list[tuple[PassageQuestionSet, PassageQuestionSet | None]]:
        """The factual and the counterfactual set of each (title, text); no twin where a name could not be had."""
        planned = [self._plan(title, text) for title, text in passages]
        self._ask_model(passages, planned)
        pairs: list[tuple[PassageQuestionSet, PassageQuestionSet | None]] = []
        for (title, text), (found, missing) in zip(passages, planned, strict=True):
            factual = PassageQuestionSet(
                title=title, text=text, variant="factual",
                questions=tuple(found[hops] for hops in HOPS if hops in found), missing=missing,
            )  # fmt: skip
            pairs.append((factual, self._move(factual)))
        return self._reword(pairs)

    def _plan(self, title: str, text: str) -> tuple[dict[int, MultiHopPassageQuestion], dict[str, str]]:
        # "An American film" names no country that could be an answer.
        mentions = [one for one in self.rewriter.recogniser.find(f"{title}\n{text}") if not find_country(one.text)]
        graph = PassageGraph(self.source.graph, self.source.table, title, text, mentions)
        planner = _PassagePlanner(PassageSource(self.source, graph), min_domains=0)
        forms = {mention.entity: mention.text for mention in reversed(mentions)}
        found: dict[int, MultiHopPassageQuestion] = {}
        missing: dict[str, str] = {}
        for hops in HOPS:
            try:
                plan = planner.draw_any(graph, hops, f"{self.seed}:{title}:{hops}")
                question = self._word(plan, forms, hops)
            except (NoPlanError, ExpressionError) as error:
                missing[str(hops)] = f"no chain of stated facts: {error}" if str(error) else "no chain of stated facts"
                continue
            if fault := find_fault(question, title, text):
                missing[str(hops)] = f"rules: {fault}"
            else:
                found[hops] = question
        return found, missing

    def _word(self, plan: Plan, forms: dict[str, str], hops: int) -> MultiHopPassageQuestion:
        wording = RulesWriter(self.source.table).word(plan.steps, self.names, plan.id)
        answers = [
            forms.get(step.value, self.source.graph.label(step.value))
            if isinstance(step.value, str)
            else render(step.value, year=step.unit == "year")
            for step in plan.steps
        ]
        subs = tuple(
            SubQuestion(question=question, answer=answer)
            for question, answer in zip(wording.hop_questions, answers, strict=True)
        )
        return MultiHopPassageQuestion(
            hops=hops, question=wording.question, answer=answers[-1], sub_questions=subs, by="rules"
        )

    def _ask_model(
        self,
        passages: Sequence[tuple[str, str]],
        planned: Sequence[tuple[dict[int, MultiHopPassageQuestion], dict[str, str]]],
    ) -> None:
        if self.questioner is None:
            return
        wanted = [(row, hops) for row, (_, missing) in enumerate(planned) for hops in HOPS if str(hops) in missing]
        answers = self.questioner.ask([(*passages[row], hops) for row, hops in wanted])
        for (row, hops), answer in zip(wanted, answers, strict=True):
            self.spent = self.spent + answer.spent
            found, missing = planned[row]
            if answer.value is None:
                missing[str(hops)] += f"; {self.questioner.target}: {answer.problem}"
            else:
                found[hops] = answer.value
                del missing[str(hops)]

    def _move(self, factual: PassageQuestionSet) -> PassageQuestionSet | None:
        """The set in a world of its own; questions that do not hold there are missing, with the reason."""
        try:
            moved = self.rewriter.rewrite(factual.title, factual.text, key=f"passage:{factual.title}")
        except (TwinError, InputError):
            return None
        missing = dict(factual.missing)
        questions = []
        for question in factual.questions:
            new = _move_question(question, moved)
            if fault := find_fault(new, moved.title, moved.text):
                missing[str(question.hops)] = f"in the new world: {fault}"
            else:
                questions.append(new)
        return PassageQuestionSet(
            title=moved.title, text=moved.text, variant="counterfactual", questions=tuple(questions),
            missing=missing, world=moved.world,
        )  # fmt: skip

    def _reword(
        self, pairs: list[tuple[PassageQuestionSet, PassageQuestionSet | None]]
    ) -> list[tuple[PassageQuestionSet, PassageQuestionSet | None]]:
        """The twins' passages through the round trip; one that loses an answer stays as it was, and says so."""
        if not self.translators:
            return pairs
        twins = [twin for _, twin in pairs if twin is not None]
        pieces = [(twin, piece) for twin in twins for piece in split_text(twin.text)]
        rounds = reword(
            [piece for _, piece in pieces],
            [[one.surrogate for one in twin.world] for twin, _ in pieces],
            self.translators,
            self.gates,
        )
        if isinstance(rounds, str):
            return [
                (one, None if two is None else two.model_copy(update={"back_translation": f"skipped: {rounds}"}))
                for one, two in pairs
            ]
        results = iter(rounds)
        out: list[tuple[PassageQuestionSet, PassageQuestionSet | None]] = []
        for factual, twin in pairs:
            if twin is None:
                out.append((factual, None))
                continue
            own = [next(results) for _ in split_text(twin.text)]
            for _, paid in own:
                self.spent = self.spent + paid
            text = " ".join(one.result.text for one, _ in own)
            by = ", ".join(dict.fromkeys(one.by for one, _ in own if one.by))
            lost = next((fault for question in twin.questions if (fault := find_fault(question, twin.title, text))), "")
            if lost:
                note = {"back_translation": f"kept: {lost}"}
            elif by:
                note = {"back_translation": by, "text": text}
            else:
                note = {"back_translation": f"kept: {own[0][0].result.reason}"}
            out.append((factual, twin.model_copy(update=note)))
        return out


def find_fault(question: MultiHopPassageQuestion, title: str, text: str) -> str:
    """What is wrong with a question about a passage; empty when nothing is.

    All answers stand in the passage and differ; the question holds none of them; every single-step question but the
    first kind names an earlier answer, and every answer but the last is used.
    """
    subs = question.sub_questions
    if len(subs) != question.hops:
        return f"{len(subs)} steps, not {question.hops}"
    if not question.question.endswith("?") or not all(one.question.endswith("?") for one in subs):
        return "a question without a question mark"
    answers = [one.answer for one in subs]
    if len({answer.casefold() for answer in answers}) != len(answers):
        return "an answer repeats"
    whole = f"{title}\n{text}"
    for answer in answers:
        if not _mentions(whole, answer):
            return f"{answer!r} is not in the passage"
        if _mentions(question.question, answer):
            return f"the question holds {answer!r}"
    for place, sub in enumerate(subs):
        if _mentions(sub.question, sub.answer):
            return f"step {place + 1} holds its own answer"
        if place and not any(_mentions(sub.question, answer) for answer in answers[:place]):
            return f"step {place + 1} uses no earlier answer"
    for place, answer in enumerate(answers[:-1]):
        if not any(_mentions(sub.question, answer) for sub in subs[place + 1 :]):
            return f"no later step uses {answer!r}"
    return ""


def summarise(sets: Iterable[tuple[PassageQuestionSet, PassageQuestionSet | None]]) -> dict[str, Any]:
    """Figures over sets: passages, twins, questions by hops and by whom."""
    figures = Counter[str]()
    for factual, twin in sets:
        figures["passages"] += 1
        figures["twins"] += twin is not None
        for question in factual.questions:
            figures[f"{question.hops}-hop questions by {'rules' if question.by == 'rules' else 'a model'}"] += 1
        for question in twin.questions if twin is not None else ():
            figures[f"{question.hops}-hop questions in twins"] += 1
    return dict(sorted(figures.items()))


class _PassagePlanner(Planner):
    """The planner inside one passage: nothing is planned but what the passage states."""

    def draw_any(self, graph: PassageGraph, hops: int, key: str) -> Plan:
        """A proven plan of so many hops, around any of the passage's entities: a chain of look-ups, else any other.

        Raises NoPlanError.
        """
        anchors = [entity for entity in graph.mentioned if graph.degree(entity)]
        for anchor in anchors:
            for steps in self._find_chains(anchor, hops):
                plan = Plan(_CHAINS[hops], steps)
                if self._holds(plan):
                    return plan
        reasons: Counter[str] = Counter()
        # Too few facts for a chain are too few for anything that computes, too.
        for anchor in anchors if len(graph.properties()) >= hops else ():
            for name in _OTHERS[hops]:
                try:
                    return self.draw(
                        TOPOLOGIES[name],
                        anchor,
                        f"{key}:{anchor}:{name}",
                        preferences=SamplingPreferences(min_domains=0),
                    )
                except NoPlanError as error:
                    reasons.update(error.reasons)
        raise NoPlanError(reasons)

    def _find_chains(self, entity: str, hops: int) -> Iterator[tuple[PlanStep, ...]]:
        """All chains of so many look-ups from an entity, the last of an entity or of a year; nobody occurs twice."""
        open_ends: list[tuple[tuple[PlanStep, ...], str, frozenset[str]]] = [((), entity, frozenset({entity}))]
        for place in range(hops):
            longer = []
            for steps, at, seen in open_ends:
                reference = f"hop{place}" if place else at
                for edge in self.traversals.lookups_from(at):
                    if edge.object not in seen:
                        step = PlanStep(Lookup(subject=reference, property=edge.property), edge.object, "entity")
                        longer.append(((*steps, step), edge.object, seen | {edge.object}))
                for measure in self.traversals.measures(at) if place == hops - 1 else ():
                    if measure.entry.year_ask and isinstance(measure.value, dt.date):
                        lookup = Lookup(subject=reference, property=measure.property)
                        longer.append(((*steps, PlanStep(lookup, measure.value.year, "number", "year")), at, seen))
            open_ends = longer[:_MOST_CHAINS]
        for steps, _, _ in open_ends:
            yield steps

    def _holds(self, plan: Plan) -> bool:
        """Whether every step, run on the passage's facts, gives its value and no other."""
        answers: dict[int, Value] = {}
        for index, step in enumerate(plan.steps, start=1):
            try:
                answers[index] = execute(step.derivation, step.answer_type, answers, self.traversals.facts, self.table)
            except ExpressionError:
                return False
            if not same(answers[index], step.value):
                return False
        return True


def _move_question(question: MultiHopPassageQuestion, moved: RewrittenPassage) -> MultiHopPassageQuestion:
    texts = [question.question, question.answer]
    texts += [text for one in question.sub_questions for text in (one.question, one.answer)]
    forms = {move_years(form, moved.base): becomes for form, becomes in moved.forms.items()}
    new = replace_names([move_years(text, moved.base) for text in texts], forms)
    subs = tuple(SubQuestion(question=one, answer=other) for one, other in zip(new[2::2], new[3::2], strict=True))
    return question.model_copy(update={"question": new[0], "answer": new[1], "sub_questions": subs})


def _mentions(text: str, name: str) -> bool:
    return next(find_mentions(text.casefold(), re.sub(r"\s+", " ", name).casefold()), None) is not None
