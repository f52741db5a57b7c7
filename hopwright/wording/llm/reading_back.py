"""Reading a question back: a model that sees the bare question says its steps, then answers it from the plan's facts.

Neither request shows the plan. What the reader takes the question to ask is compared with what was planned, so a
wording that all checks of words let through is still caught where it asks something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from hopwright.knowledge.properties import PropertyTable
from hopwright.llm.answers import AnsweredBack, ReadQuestion, ReadStep
from hopwright.llm.prompts import Prompt
from hopwright.llm.types import ModelRef, Request, Sampling
from hopwright.planning.computation_forms import Combinations, GroupSize
from hopwright.records import Hop, Item, Lookup
from hopwright.scoring.answers import normalise
from hopwright.text.matching import fold, read_number
from hopwright.text.number_words import find_written_out
from hopwright.wording.llm.plan_brief import list_facts
from hopwright.wording.llm.relation_words import read_hop_form
from hopwright.wording.llm.text_constraints import TextConstraints, find_digits

READ_PROMPT, ANSWER_PROMPT = "read-question", "answer-back"
_DIRECTIONS = {
    "greater": "larger", "smaller": "smaller", "later": "after", "earlier": "before", "first": "first", "last": "last",
}  # fmt: skip
_OPPOSITES = {
    "larger": "smaller", "smaller": "larger", "after": "before", "before": "after", "first": "last", "last": "first",
}  # fmt: skip
_THINGS = frozenset({"person", "place", "work", "organization", "other"})
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
        return next(_find_differences(item, read, subs, whole, self.table.roles.birth), "")

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
    item: Item, read: ReadQuestion, subs: Sequence[TextConstraints], whole: TextConstraints, birth: str
) -> Iterator[str]:
    steps = {step.number: step for step in read.steps}
    if negated := [step for step in read.steps if step.negated]:
        yield f"a reader takes it to ask for what does not hold: {negated[0].relation}"
    labels = {fold(name.label): name.id for name in whole.required}
    rests = {number: _close(steps, number, labels, frozenset()) for number in steps}
    wanted: dict[int, frozenset[str]] = {}
    asked = {name.id for name in whole.required}
    for hop, place in zip(item.hops, subs, strict=True):
        own = {name.id for name in place.required} & asked
        wanted[hop.index] = frozenset(own).union(*(wanted[one] for one in hop.depends_on))
    for hop in item.hops:
        if _goes_without_saying(hop, birth):
            continue
        kinds = _list_kinds(hop)
        if not any(step.gives in kinds and rests[number] == wanted[hop.index] for number, step in steps.items()):
            names = sorted(name.label for name in whole.required if name.id in wanted[hop.index])
            about = " and ".join(map(repr, names)) or "no name"
            yield f"a reader finds no step that does what hop {hop.index} does, resting on {about}: {_retell(read)}"
    said = {step.direction for step in read.steps}
    planned = {_DIRECTIONS[side] for place in subs for side in place.sides}
    for place in subs:
        for side in sorted(place.sides):
            direction = _DIRECTIONS[side]
            if _OPPOSITES[direction] in planned:
                continue  # which of them a step means cannot be told by its direction
            if direction not in said and _OPPOSITES[direction] in said:
                yield f"a reader takes the {_OPPOSITES[direction]}, where the plan takes the {direction}"
    told = frozenset[Decimal]().union(
        *(find_digits(text) | find_written_out(text) for step in read.steps for text in (*step.numbers, *step.names))
    )
    for number in sorted((whole.numbers | whole.constants) - told):
        yield f"a reader makes no use of {number:f}"


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
    return isinstance(read_hop_form(hop), GroupSize | Combinations)


def _list_kinds(hop: Hop) -> frozenset[str]:
    if hop.answer_type == "entity":
        return _THINGS
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
