"""Reading a question back: a model that sees the bare question says its steps, then answers it from the plan's facts.

Neither request shows the plan. What the reader takes the question to ask is compared with what was planned, so a
wording that all checks of words let through is still caught where it asks something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from hopwright.knowledge.properties import PropertyTable
from hopwright.llm.answers import AnsweredBack, ReadQuestion, ReadStep
from hopwright.llm.prompts import Prompt
from hopwright.llm.types import ModelRef, Request, Sampling
from hopwright.planning.computation_forms import Combinations, GroupSize, read_computation
from hopwright.records import Hop, Item, Lookup
from hopwright.scoring.answers import normalise
from hopwright.text.matching import fold, read_number
from hopwright.text.number_words import find_written_out
from hopwright.text.phrases import listed
from hopwright.wording.llm.directions import find_sides
from hopwright.wording.llm.plan_brief import list_facts
from hopwright.wording.llm.relation_words import RelationWords, list_ties
from hopwright.wording.llm.text_constraints import TextConstraints, find_digits, mask_names
from hopwright.wording.llm.vocabulary import Vocabulary, find_rivals, stems

READ_PROMPT, ANSWER_PROMPT = "read-question", "answer-back"
_DIRECTIONS = {
    "greater": "larger", "smaller": "smaller", "later": "after", "earlier": "before", "first": "first", "last": "last",
}  # fmt: skip
_OPPOSITES = {
    "larger": "smaller", "smaller": "larger", "after": "before", "before": "after", "first": "last", "last": "first",
}  # fmt: skip
_TIMES_BESIDE = frozenset({"before", "after"})
"""Directions without which another year, or all years, are meant."""
_THINGS = frozenset({"person", "place", "work", "organization", "other"})
_INSIDE_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w'’-]+")
_WHO = re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)
_WHAT = re.compile(
    r"^(?:(?:in|on) )?(?:which|what)(?: (?:is|was)(?: the title of)?)?(?: the)?(?: first| last)?(?: [a-z]+| [A-Z]\w+)? "
    r"(?:film|opera|novel|play|city|town)\b",
    re.IGNORECASE,
)
_TIMES = frozenset({"year", "date"})
_AMOUNTS = frozenset({"age", "duration", "count", "number"})


@dataclass(frozen=True, slots=True)
class QuestionReader:
    """Asks a model to read questions back, and compares what it read with the plan."""

    model: ModelRef
    read_prompt: Prompt
    answer_prompt: Prompt
    table: PropertyTable

    def ask_steps(self, item: Item) -> Request:
        """The request that shows the bare question and nothing else."""
        return self._ask(self.read_prompt, item, {"question": item.question})

    def ask_answer(self, item: Item) -> Request:
        """The request that shows the question and the facts of its plan, in an order that tells nothing."""
        facts = dict.fromkeys(fact for hop in item.hops for fact in list_facts(hop, self.table))
        return self._ask(self.answer_prompt, item, {"question": item.question, "facts": sorted(facts)})

    def _ask(self, prompt: Prompt, item: Item, inputs: Mapping[str, object]) -> Request:
        sampling = Sampling(max_tokens=prompt.front.max_tokens, temperature=prompt.front.temperature)
        return prompt.request(inputs, self.model, item=item.id, sampling=sampling)

    def compare(self, item: Item, read: ReadQuestion, places: Sequence[TextConstraints]) -> str:
        """How a reader understands a question otherwise than it was planned; empty where both agree."""
        *subs, whole = places
        return next(_find_differences(item, read, subs, whole, Vocabulary(self.table)), "")

    def judge(self, item: Item, answered: AnsweredBack) -> str:
        """How an answer from the facts differs from the gold answer; empty where it is the same."""
        given = answered.answer.strip()
        if not given:
            return f"a reader who has the facts finds no answer: {answered.working or 'no reason given'}"
        if is_same_answer(given, item):
            return ""
        return f"a reader who has the facts arrives at {given!r}, not at the gold answer: {answered.working}"


def is_same_answer(given: str, item: Item) -> bool:
    """Whether a free answer is an item's gold answer, or one of its other names, or the same number."""
    last = item.hops[-1]
    if last.answer_type == "number":
        try:
            value = read_number(last.answer)
            return value is not None and value in {*find_digits(given), *find_written_out(given)}
        except InvalidOperation:
            return False
    golds = {normalise(text) for text in (item.answer, *item.answer_aliases, *last.answer_aliases)}
    return normalise(given) in golds


def _find_differences(
    item: Item, read: ReadQuestion, subs: Sequence[TextConstraints], whole: TextConstraints, vocabulary: Vocabulary
) -> Iterator[str]:
    if negated := [step for step in read.steps if step.negated]:
        yield f"a reader takes it to ask for what does not hold: {negated[0].relation}"
    asked = _AskedSteps(item, read, subs, whole, vocabulary)
    yield from asked.find_unmatched()
    yield from _find_wrong_ties(item, read, whole, vocabulary)
    said = {step.direction for step in read.steps}
    planned = {_DIRECTIONS[side] for place in subs for side in place.sides}
    sides = {_DIRECTIONS[side] for step in read.steps for side in find_sides(step.relation)}
    for direction in sorted(planned - said):
        other = _OPPOSITES[direction]
        if other in said and other not in planned:
            yield f"a reader takes the {other}, where the plan takes the {direction}"
        elif direction in _TIMES_BESIDE and other not in planned and direction not in sides:
            yield f"a reader finds nothing that says {direction}"
    told = [{*find_digits(text), *find_written_out(text)} for step in read.steps for text in step.numbers]
    named = [{*find_digits(text), *find_written_out(text)} for step in read.steps for text in step.names]
    numbers = whole.numbers | whole.constants
    for number in sorted(numbers - frozenset[Decimal]().union(*told, *named)):
        yield f"a reader makes no use of {number:f}"
    for number in sorted(frozenset[Decimal]().union(*told) - numbers - whole.listed - {Decimal(1)}):
        yield f"a reader reckons with {number:f}, which the plan does not"


class _AskedSteps:
    """The steps that a reader found, held against the hops of a plan.

    Each hop has to be a step of its own: one that gives what it gives, rests on its names, builds on the steps of the
    hops that it builds on, and is not said to be another relation.
    """

    def __init__(
        self, item: Item, read: ReadQuestion, subs: Sequence[TextConstraints], whole: TextConstraints, words: Vocabulary
    ) -> None:
        self._read = read
        self._steps = {step.number: step for step in read.steps}
        labels = {fold(name.label): name.id for name in whole.required}
        rests = {number: _close(self._steps, number, labels, frozenset()) for number in self._steps}
        asked = {name.id for name in whole.required}
        wanted: dict[int, frozenset[str]] = {}
        self._names: dict[int, str] = {}
        self._fit: dict[int, list[int]] = {}
        extra = stems(mask_names(whole.rules, whole.known)) - stems("novel play libretto")
        for hop, place in zip(item.hops, subs, strict=True):
            own = {name.id for name in place.required} & asked
            wanted[hop.index] = frozenset(own).union(*(wanted[one] for one in hop.depends_on))
            if _goes_without_saying(hop, words.table.roles.birth):
                continue
            labelled = sorted(name.label for name in whole.required if name.id in wanted[hop.index])
            self._names[hop.index] = " and ".join(map(repr, labelled)) or "no name"
            kinds = _list_kinds(hop)
            relation = RelationWords.of([hop], words, mask_names(place.rules, (*place.known, *place.answers)))
            self._fit[hop.index] = [
                number
                for number, step in self._steps.items()
                if step.gives in kinds
                # What is asked for in the end is what nothing else is made of.
                and (hop is not item.hops[-1] or not any(number in other.uses for other in read.steps))
                and rests[number] == wanted[hop.index]
                and not _says_other(relation, mask_names(step.relation, whole.known), extra)
            ]
        self._hops = {hop.index: hop for hop in item.hops}
        self._below = {number: self._list_below(number, frozenset()) for number in self._steps}

    def find_unmatched(self) -> Iterator[str]:
        """The first hop that no step does; nothing where all are done."""
        done: dict[int, int] = {}
        for index in self._fit:
            if not self._assign(index, done):
                yield (
                    f"a reader finds no step that does what hop {index} does, resting on {self._names[index]}: "
                    f"{_retell(self._read)}"
                )
                return

    def _assign(self, last: int, done: dict[int, int]) -> bool:
        """Whether the hops up to `last` can all be found among the steps, each in one that builds on the right ones."""
        done.clear()
        return self._try([index for index in self._fit if index <= last], done)

    def _try(self, hops: list[int], done: dict[int, int]) -> bool:
        if not hops:
            return True
        first, *others = hops
        for number in self._fit[first]:
            needs = [done[one] for one in self._list_needs(first) if one in done]
            if number not in done.values() and all(need in self._below[number] for need in needs):
                done[first] = number
                if self._try(others, done):
                    return True
                del done[first]
        return False

    def _list_needs(self, index: int) -> set[int]:
        """What a hop builds on, past the hops that go without saying."""
        found: set[int] = set()
        for one in self._hops[index].depends_on:
            found |= {one} if one in self._fit else self._list_needs(one)
        return found

    def _list_below(self, number: int, seen: frozenset[int]) -> frozenset[int]:
        if number in seen or number not in self._steps:
            return frozenset()
        uses = self._steps[number].uses
        return frozenset(uses).union(*(self._list_below(one, seen | {number}) for one in uses))


def _says_other(relation: RelationWords, text: str, extra: frozenset[str]) -> bool:
    """Whether a reader's words for a step say another relation than its hop's; beside it, `extra` stems may be said."""
    text = _INSIDE_NAME.sub(" ", text)  # no victor is meant by "Victor J. Kemper"
    more = extra if relation.is_said(text) else frozenset[str]()
    return bool(relation.find_wrong(text, more) or relation.find_making(text))


def _find_wrong_ties(item: Item, read: ReadQuestion, whole: TextConstraints, vocabulary: Vocabulary) -> Iterator[str]:
    """What a question tells of its names that the facts of the plan do not say."""
    ties = {property for hop in item.hops for property in list_ties(hop)}
    if not ties:
        return
    cues = frozenset[str]().union(*(vocabulary.cues(one) for one in ties))
    for tie in read.told:
        plain = mask_names(tie.relation, whole.known)
        if len(tie.names) > 1 and (word := next(iter(find_rivals(plain, cues, cues)), "")):
            yield f"a reader is told {tie.relation!r} of {listed(tie.names)}: {word!r} is not what ties them"


def _close(
    steps: Mapping[int, ReadStep], number: int, labels: Mapping[str, str], seen: frozenset[int]
) -> frozenset[str]:
    """The names that a step rests on, its own and those of all that it uses."""
    if number in seen or number not in steps:
        return frozenset()
    step = steps[number]
    own = {id for name in step.names for label, id in labels.items() if label and _is_named(fold(name), label)}
    return frozenset(own).union(*(_close(steps, one, labels, seen | {number}) for one in step.uses))


def _is_named(said: str, label: str) -> bool:
    return said == label or f" {label} " in f" {said} " or (len(said) > 3 and f" {said} " in f" {label} ")


def _goes_without_saying(hop: Hop, birth: str) -> bool:
    """Whether a reader may well take a hop together with the next: a birth with an age, a set with its pairs."""
    if isinstance(hop.derivation, Lookup) and hop.derivation.property == birth:
        return True
    return isinstance(read_computation(hop.derivation), GroupSize | Combinations)


def _list_kinds(hop: Hop) -> frozenset[str]:
    if hop.answer_type == "entity":
        # Somebody is no work, as far as the sub-question tells which of them is asked for.
        if _WHAT.search(hop.question):
            return _THINGS - {"person"}
        return _THINGS - {"work", "place"} if _WHO.search(hop.question) else _THINGS
    if hop.answer_type == "date" or hop.unit == "year":
        return _TIMES
    return _AMOUNTS


def _retell(read: ReadQuestion) -> str:
    """What was read, in a line."""
    told = []
    for step in read.steps:
        on = ", ".join([*map(repr, step.names), *(f"step {one}" for one in step.uses)])
        told.append(f"{step.number}. {step.gives}: {step.relation} ({on})")
    return "; ".join(told)[:600]
