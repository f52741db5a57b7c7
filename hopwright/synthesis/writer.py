"""The rules writer: words a proven plan from the property table's templates.

It sees steps and names only, so a plan can be worded again in another world (a counterfactual twin) by giving it other
names and values. The same key makes the same choices among the templates.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from hopwright.errors import ExpressionError
from hopwright.records import Compute, Constraint, Lookup, ReverseLookup
from hopwright.records.values import render
from hopwright.synthesis.plan import Step
from hopwright.synthesis.properties import Kind, PropertyTable

Say = Callable[[str], str]
"""Words a reference (`hopN` or a Q-id): in a sub-question by its answer, in the whole question by its description."""

_RELATIVE = re.compile(r" (?:where|who|whom|whose|that|which|as) ")
_NATIONALITY = re.compile(r"^(?:[A-Z][\w-]+ )+(?=[a-z])")
_PLACE_OF_NOUN = re.compile(r" (?:in|of) (?:the )?[A-Z].*$")
_SMALL = "zero one two three four five six seven eight nine ten eleven twelve".split()
_ARGS = r"\(([^()]*)\)"
_EXTREME = re.compile(rf"^(argmax|argmin){_ARGS}$")
_APART = re.compile(r"^abs\(hop(\d) - hop(\d)\)$")
_APART_NAMED = re.compile(r"^abs\((hop\d) - year\(value\((P\d+), (Q\w+)\)\)\)$")
_BETWEEN = re.compile(r"^abs\(year\(value\((P\d+), (\w+)\)\) - year\(value\(P\d+, (\w+)\)\)\)$")
_SPAN = re.compile(rf"^max{_ARGS} - min{_ARGS}$")
_SHIFT = re.compile(r"^(hop\d|\d+) ([+-]) (hop\d|\d+)$")
_COMMITTEES = re.compile(r"^comb\((\d+), (\d+)\)$")
_SELECTION = re.compile(r"^(comb\(hop(\d), 2\)|perm\(hop(\d), 3\))$")
_CONDITION = re.compile(r"value\((P\d+), (\w+)\) ([<>]) value\(P\d+, (\w+)\)")


class Names(Protocol):
    """How entities are called in running text."""

    def phrase(self, entity: str) -> str:
        """The name with its article or quotation marks."""
        ...

    def noun(self, entity: str) -> str:
        """A common noun for it, without an article: `film`."""
        ...

    def kind(self, entity: str) -> Kind:
        """Its coarse class; persons are asked for by `who`."""
        ...


@dataclass(frozen=True, slots=True)
class Wording:
    """The text of an item: one question per hop, and the whole question."""

    hop_questions: tuple[str, ...]
    question: str


class RulesWriter:
    """Words plans by rule. Stateless but for the table."""

    def __init__(self, table: PropertyTable) -> None:
        self._table = table

    def word(self, steps: Sequence[Step], names: Names, key: str) -> Wording:
        """Word all hops and the whole question. Raises ExpressionError for a plan that it has no words for."""
        text = _Text(self._table, steps, names, random.Random(f"words:{key}"))
        subs = tuple(_sentence(text.ask(index, text.stated)) for index in range(1, len(steps) + 1))
        whole = text.ask(len(steps), text.described)
        return Wording(subs, " ".join([*map(_sentence, text.preludes), _sentence(whole)]))

    def decompose(self, steps: Sequence[Step], names: Names, key: str) -> tuple[str, ...]:
        """The sub-questions as MuSiQue writes them, with `#1` for the answer of hop 1."""
        text = _Text(self._table, steps, names, random.Random(f"words:{key}"))
        return tuple(_sentence(text.ask(index, text.numbered)) for index in range(1, len(steps) + 1))


class _Text:
    """The wording of one plan. `preludes` gathers sentences that must come before the question."""

    def __init__(self, table: PropertyTable, steps: Sequence[Step], names: Names, rng: random.Random) -> None:
        self._table = table
        self._steps = steps
        self._names = names
        self._rng = rng
        self.preludes: list[str] = []

    def stated(self, reference: str) -> str:
        """A reference by its value."""
        if not reference.startswith("hop"):
            return self._names.phrase(reference) if reference.startswith("Q") else reference
        step = self._step(reference)
        if isinstance(step.value, str):
            return self._names.phrase(step.value)
        return render(step.value, year=step.unit == "year")

    def described(self, reference: str) -> str:
        """A reference by how it is arrived at."""
        if not reference.startswith("hop"):
            return self.stated(reference)
        return self.noun_phrase(int(reference[3:]))

    def numbered(self, reference: str) -> str:
        """A reference as `#N`."""
        return f"#{reference[3:]}" if reference.startswith("hop") else self.stated(reference)

    def ask(self, index: int, say: Say) -> str:
        """The question of one hop, its inputs worded by `say`."""
        step = self._steps[index - 1]
        derivation = step.derivation
        if isinstance(derivation, Lookup):
            return self._fill(
                self._templates(derivation, step, "ask", self._noun(step, say)), "s", say(derivation.subject)
            )
        if isinstance(derivation, ReverseLookup):
            entity = str(step.value)
            predicates = self._predicates(derivation, entity, say)
            subject = "Who" if self._names.kind(entity) == "person" else f"Which {self._noun(step, say)}"
            return f"{subject} {_joined(predicates)}?"
        return self._ask_computation(step, derivation, say)

    def noun_phrase(self, index: int) -> str:
        """A hop's answer described, inputs and all; for the whole question only."""
        step = self._steps[index - 1]
        derivation = step.derivation
        if isinstance(derivation, Lookup):
            return self._fill(
                self._templates(derivation, step, "np", self._noun(step, self.described)),
                "s",
                self.described(derivation.subject),
            )
        if isinstance(derivation, ReverseLookup):
            entity = str(step.value)
            if not derivation.constraints and (alone := self._reverse_phrases(derivation, entity)):
                return self._fill(alone, "o", self.described(derivation.value))
            predicates = self._predicates(derivation, entity, self.described)
            who = "person who" if self._names.kind(entity) == "person" else f"{self._noun(step, self.described)} that"
            return f"the {who} {_joined(predicates)}"
        if match := _EXTREME.match(derivation.expression):
            phrase, one, other = self._extreme(match, self.described)
            opening = self._pick(("Consider {a} and {b}.", "Take {a} and {b}.", "Compare {a} with {b}."))
            self.preludes.append(opening.format(a=one, b=other))
            return f"the one {'who' if self._names.kind(str(step.value)) == 'person' else 'that'} {phrase}"
        return self._computed_year(derivation.expression)

    def _templates(self, lookup: Lookup, step: Step, form: str, noun: str) -> tuple[str, ...]:
        literal = self._table.literal.get(lookup.property)
        kind = self._names.kind(self._entity(lookup.subject))
        templates: tuple[str, ...]
        if literal is not None:
            if step.unit == "year":
                form = f"year_{form}"
            templates = getattr(literal.worded(kind), form)
        else:
            object = str(step.value)
            entry = self._table.entity[lookup.property]
            templates = getattr(entry.worded(kind, self._names.kind(object), noun), form)
        if not templates:
            raise ExpressionError(f"no {form} for {lookup.property}")
        return templates

    def _reverse_phrases(self, derivation: ReverseLookup, found: str) -> tuple[str, ...]:
        entry = self._table.entity.get(derivation.property)
        if entry is None:
            return ()
        return entry.worded(self._names.kind(found), self._names.kind(self._entity(derivation.value))).reverse_np

    def _noun(self, step: Step, say: Say) -> str:
        """An entity answer's common noun; in the whole question without a nationality, which gives a later hop away."""
        if step.answer_type != "entity":
            return ""
        noun = self._names.noun(str(step.value))
        if say != self.described:
            return noun
        return _PLACE_OF_NOUN.sub("", _NATIONALITY.sub("", noun))

    def _predicates(self, derivation: ReverseLookup, found: str, say: Say) -> list[str]:
        conditions = [*derivation.constraints, Constraint(property=derivation.property, value=derivation.value)]
        return [self._predicate(condition, found, say) for condition in conditions]

    def _predicate(self, condition: Constraint, found: str, say: Say) -> str:
        kind = self._names.kind(found)
        literal = self._table.literal.get(condition.property)
        if literal is None:
            object = self._names.kind(self._entity(condition.value))
            predicates = self._table.entity[condition.property].worded(kind, object).predicate
            return self._fill(predicates, "o", say(condition.value))
        template = self._pick(literal.worded(kind).year_predicate)
        when = self._when(condition.value, say)
        if when.startswith("in "):
            return template.format(y=when[3:])
        if template.endswith(" in {y}"):
            return template.removesuffix(" in {y}") + f" {when}"
        return template.format(y=f"the year that came {when}")

    def _when(self, expression: str, say: Say) -> str:
        """A moment, as `in 1933`, `35 years before 1968`, or with the offset described."""
        if expression.isdigit():
            return f"in {expression}"
        if re.fullmatch(r"hop\d", expression):
            if say != self.described:
                return f"in {say(expression)}"
            derivation = self._step(expression).derivation
            if isinstance(derivation, Compute):
                return self._when(derivation.expression, say)
            return f"in {say(expression)}"
        match = _SHIFT.match(expression)
        if match is None:
            raise ExpressionError(f"no words for the year {expression}")
        base, sign, offset = match.groups()
        direction = "after" if sign == "+" else "before"
        if say != self.described:
            return f"{say(offset)} years {direction} {say(base)}"
        start = self._event(base) if base.startswith("hop") else base
        if not offset.startswith("hop"):
            return f"exactly {offset} years {direction} {start}"
        return f"exactly as many years {direction} {start} as {self._amount(offset)}"

    def _amount(self, reference: str) -> str:
        """A counted number as a clause to follow `as many … as`."""
        derivation = self._step(reference).derivation
        if isinstance(derivation, Compute):
            if match := _COMMITTEES.match(derivation.expression):
                return f"there are {_committees(match)}"
            if match := _two_moments(derivation.expression):
                one, other = self._both_events(match, self.described)
                return f"lie between {one} and {other}"
            if match := _SPAN.match(derivation.expression):
                events = [self._event(one) for one in match[1].split(", ")]
                return f"lie between the earliest and the latest of these: {_listed(events)}"
        raise ExpressionError(f"no words for the amount {reference}")

    def _event(self, reference: str) -> str:
        """The event behind a looked-up year: `the founding of …`."""
        derivation = self._step(reference).derivation
        if isinstance(derivation, Lookup):
            kind = self._names.kind(self._entity(derivation.subject))
            if events := self._table.literal[derivation.property].worded(kind).event:
                return self._fill(events, "s", self.described(derivation.subject))
        return self.described(reference)

    def _both_events(self, match: re.Match[str], say: Say) -> tuple[str, str]:
        if match.re is _BETWEEN:
            property, *both = match.groups()
            kind = self._names.kind(self._entity(both[0]))
            event = self._pick(self._table.literal[property].worded(kind).event)
            return event.format(s=say(both[0])), event.format(s=say(both[1]))
        if match.re is _APART_NAMED:
            reference, property, entity = match.groups()
            events = self._table.literal[property].worded(self._names.kind(entity)).event
            named = self._fill(events, "s", self._names.phrase(entity))
            return (say(reference) if say != self.described else self._event(reference)), named
        one, other = f"hop{match[1]}", f"hop{match[2]}"
        if say != self.described:
            return say(one), say(other)
        return self._event(one), self._event(other)

    def _extreme(self, match: re.Match[str], say: Say) -> tuple[str, str, str]:
        property, one, other = (part.strip() for part in match[2].split(","))
        entry = self._table.literal[property].worded(self._names.kind(self._entity(one)))
        return self._pick(entry.more if match[1] == "argmax" else entry.less), say(one), say(other)

    def _computed_year(self, expression: str) -> str:
        return f"the year that came {self._when(expression, self.described)}"

    def _ask_computation(self, step: Step, derivation: Compute, say: Say) -> str:
        expression = derivation.expression
        if match := _EXTREME.match(expression):
            phrase, one, other = self._extreme(match, say)
            which = "Who"
            if self._names.kind(str(step.value)) != "person":
                nouns = {self._names.noun(self._entity(part.strip())) for part in match[2].split(",")[1:]}
                which = f"Which {nouns.pop()}" if len(nouns) == 1 else "Which"
            return self._pick(
                (
                    f"{which} {phrase}: {one} or {other}?",
                    f"Of {one} and {other}, {which[:1].lower()}{which[1:]} {phrase}?",
                )
            )
        if step.unit == "years" and (match := _two_moments(expression)):
            one, other = self._both_events(match, say)
            return self._pick(
                (
                    f"How many years lie between {one} and {other}?",
                    f"How many years apart are {one} and {other}?",
                )
            )
        if match := _SPAN.match(expression):
            events = [say(one) if say != self.described else self._event(one) for one in match[1].split(", ")]
            return f"How many years lie between the earliest and the latest of these: {_listed(events)}?"
        if match := _COMMITTEES.match(expression):
            return f"How many {_committees(match).removeprefix('ways ')}?".replace(
                "committees that can", "committees can"
            )
        if match := _SELECTION.match(expression):
            return self._ask_selection(f"hop{match[2] or match[3]}", say, podium=match[3] is not None)
        if conditions := _CONDITION.findall(expression):
            return self._ask_tally(conditions, say)
        if say == self.described and (whole := self._ask_of_two(expression)):
            return whole
        if match := _SHIFT.match(expression):
            return self._ask_sum(step, match, say)
        if match := _APART.match(expression):
            one, other = say(f"hop{match[1]}"), say(f"hop{match[2]}")
            return _plain(f"What is the difference between {one} and {other}{_in_unit(step.unit, one)}?")
        raise ExpressionError(f"no words for {expression}")

    def _ask_of_two(self, expression: str) -> str:
        """The sum or difference of the same number of two subjects, in the property's own words; empty without them."""
        match = re.match(r"^(?:(hop\d) \+ (hop\d)|abs\((hop\d) - (hop\d)\))$", expression)
        if match is None:
            return ""
        steps = [self._step(reference).derivation for reference in match.groups() if reference]
        one, other = steps
        if not (isinstance(one, Lookup) and isinstance(other, Lookup) and one.property == other.property):
            return ""
        entry = self._table.literal.get(one.property)
        templates = () if entry is None else entry.combined if match[1] else entry.differ
        if not templates:
            return ""
        return self._pick(templates).format(a=self.described(one.subject), b=self.described(other.subject))

    def _ask_sum(self, step: Step, match: re.Match[str], say: Say) -> str:
        if step.unit == "year":
            return f"Which year came {self._when(match[0], say)}?"
        one, other = say(match[1]), say(match[3])
        if match[2] == "+":
            return _plain(f"What is the sum of {one} and {other}{_in_unit(step.unit, one)}?")
        return _plain(f"What remains when {other} is taken from {one}{_in_unit(step.unit, one)}?")

    def _ask_selection(self, reference: str, say: Say, *, podium: bool) -> str:
        derivation = self._step(reference).derivation
        if say != self.described or not isinstance(derivation, Lookup):
            whom = f"{say(reference)} participants"
        else:
            whom = f"all the participants in {say(derivation.subject)}"
        if podium:
            return f"In how many different ways can the first three places be shared out among {whom}?"
        return f"If each of {whom} shook hands exactly once with every other, how many handshakes would there be?"

    def _ask_tally(self, conditions: list[tuple[str, str, str, str]], say: Say) -> str:
        property, reference, sign, _ = conditions[0]
        others = [self._names.phrase(other) for *_, other in conditions]
        entry = self._table.literal[property].worded(self._names.kind(self._entity(reference)))
        phrase = self._pick(entry.more if sign == ">" else entry.less)
        count = _SMALL[len(others)]
        return (
            f"If {say(reference)} is compared in turn with {_listed(others)}, "
            f"in how many of these {count} comparisons is it the former that {phrase}?"
        )

    def _entity(self, reference: str) -> str:
        return str(self._step(reference).value) if reference.startswith("hop") else reference

    def _step(self, reference: str) -> Step:
        return self._steps[int(reference[3:]) - 1]

    def _fill(self, templates: Sequence[str], slot: str, phrase: str) -> str:
        """Choose a template and fill it; a phrase that holds a clause goes to the end, where it can be followed."""
        if _RELATIVE.search(phrase):
            templates = [one for one in templates if one.rstrip("?").endswith(f"{{{slot}}}")] or templates
        return self._pick(templates).format(**{slot: phrase})

    def _pick(self, options: Sequence[str]) -> str:
        return options[self._rng.randrange(len(options))]


def _joined(predicates: list[str]) -> str:
    """Join predicates of one subject; one that holds a clause of its own comes last, or a second would attach to it."""
    ordered = sorted(predicates, key=lambda predicate: _RELATIVE.search(predicate) is not None)
    comma = "," if len(ordered) > 1 and _RELATIVE.search(ordered[0]) else ""
    return f"{comma} and ".join(ordered)


def _two_moments(expression: str) -> re.Match[str] | None:
    return _APART.match(expression) or _APART_NAMED.match(expression) or _BETWEEN.match(expression)


def _committees(match: re.Match[str]) -> str:
    n, k = int(match[1]), int(match[2])
    return f"different {_SMALL[k]}-member committees that can be formed from {_SMALL[n]} candidates"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _in_unit(unit: str, phrase: str) -> str:
    return f", in {unit}" if unit and unit not in phrase else ""


def _plain(text: str) -> str:
    """Drop the comma that closes an inserted phrase right before the end."""
    return text.replace(",?", "?")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
