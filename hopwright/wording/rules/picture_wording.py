"""The wording of questions about pictures, by rule.

In the whole question what a picture shows is said by its place ("the country in the first image") or by what the
picture is ("the country with this flag"), by frames of its own (`picture_frames`); in a sub-question by its name, as
the rules writer words it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from hopwright.errors import ExpressionError
from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.computation_forms import (
    AgeAt,
    Difference,
    Extreme,
    GroupSize,
    Rate,
    YearDistance,
    read_computation,
    read_form,
)
from hopwright.planning.expressions import read_hop
from hopwright.planning.picture_plans import PicturePlan
from hopwright.planning.plan import PlanStep
from hopwright.records import Compute, Constraint, Lookup, ReverseLookup
from hopwright.records.values import EntityKind
from hopwright.text.phrases import ORDINALS, sentence, superlative
from hopwright.wording.rules import picture_frames as frames
from hopwright.wording.rules.rules_writer import EntityNaming, RulesWriter, Wording

_NUMBERS = {2: "two", 3: "three"}
_SHOWN: Mapping[str, str] = {
    "flag": "the {noun} whose flag is shown",
    "outline": "the {noun} whose outline is shown",
    "mark": "the {noun} whose logo is shown",
    "arms": "the {noun} whose coat of arms is shown",
    "photo": "the {noun} in the image",
}
_ASKED: Mapping[str, tuple[str, ...]] = {
    "flag": ("Which {noun}'s flag is shown in the image?", "Which {noun} has the flag in the image?"),
    "outline": (
        "Which {noun} has the outline shown in the image?",
        "The outline of which {noun} is shown in the image?",
    ),
    "mark": ("Which {noun}'s logo is shown in the image?",),
    "arms": ("Which {noun}'s coat of arms is shown in the image?",),
    "photo": ("Which {noun} is shown in the image?",),
}

_TOLD = 0.6
"""How often what a picture shows is told in a sentence before the question."""
_Option = TypeVar("_Option")
_PRONOUNS = {"male": ("he", "his"), "female": ("she", "her")}
_OFFICE = re.compile(r"the (.+) in office when ")


class PictureNaming:
    """Names of which some are replaced by what is said of a picture."""

    def __init__(self, names: EntityNaming, said: Mapping[str, str]) -> None:
        self._names = names
        self._said = said

    def phrase(self, entity: str) -> str:
        """See EntityNaming."""
        return self._said.get(entity) or self._names.phrase(entity)

    def noun(self, entity: str) -> str:
        """See EntityNaming."""
        return self._names.noun(entity)

    def kind(self, entity: str) -> EntityKind:
        """See EntityNaming."""
        return self._names.kind(entity)


class PictureWriter:
    """Words plans over pictures. The same key makes the same choices."""

    def __init__(
        self, table: PropertyTable, names: EntityNaming, find_gender: Callable[[str], str] = lambda _: ""
    ) -> None:
        self._table = table
        self._names = names
        self._find_gender = find_gender
        self._writer = RulesWriter(table)

    def word(self, plan: PicturePlan, kinds: Sequence[str], key: str) -> Wording:
        """The question of each hop, pictures first, and the whole question; none of them holds the pictures themselves.

        `kinds` says of each picture what it is. Raises ExpressionError for a plan that it has no words for.
        """
        rng = random.Random(f"pictures:{key}")
        asked = tuple(self.ask_picture(kind, entity, rng) for kind, entity in zip(kinds, plan.pictures, strict=True))
        whole = self._ask_comparison(plan, rng) if len(plan.pictures) > 1 else self._ask_chain(plan, kinds[0], key, rng)
        return Wording((*asked, *self._ask_steps(plan, key)), sentence(whole))

    def ask_picture(self, kind: str, entity: str, rng: random.Random) -> str:
        """The question of a picture's own hop."""
        templates = _ASKED[kind]
        return templates[rng.randrange(len(templates))].format(noun=self._name_noun(entity))

    def _ask_steps(self, plan: PicturePlan, key: str) -> tuple[str, ...]:
        if plan.form == "more-neighbours":
            a, b = map(self._names.phrase, plan.pictures)
            return (frames.MORE_NEIGHBOURS[0].format(a=a, b=b),)
        asked = self._writer.word(_name_pictures(plan), self._names, key).hop_questions
        values = [*plan.pictures, *(str(step.value) for step in plan.steps)]
        return tuple(self._ask_where(step, values) or said for step, said in zip(plan.steps, asked, strict=True))

    def _ask_where(self, step: PlanStep, values: Sequence[str]) -> str:
        """`Where was X born?`: which kind of place it is, or where it lies, the whole question does not tell."""
        derivation, roles = step.derivation, self._table.roles
        if not isinstance(derivation, Lookup):
            return ""
        index = read_hop(derivation.subject)
        who = self._names.phrase(values[index - 1] if index else derivation.subject)
        if derivation.property == roles.event_places.get(roles.birth):
            return f"Where was {who} born?"
        return f"Where did {who} die?" if derivation.property == roles.event_places.get(roles.death) else ""

    # ------------------------------------------------------------ one picture

    def _ask_chain(self, plan: PicturePlan, kind: str, key: str, rng: random.Random) -> str:
        (entity,) = plan.pictures
        steps = list(plan.steps)
        if kind not in frames.SHOWN or self._names.kind(entity) != "country":
            said = {entity: _SHOWN[kind].format(noun=self._name_noun(entity))}
            return self._writer.word(_name_pictures(plan), PictureNaming(self._names, said), key).question
        told = rng.random() < _TOLD
        before, country = (_pick(frames.TOLD[kind], rng), "it") if told else ("", _pick(frames.SHOWN[kind], rng))
        if (form := _read_extreme(steps[0])) is not None:
            if len(steps) == 1:
                return self._ask_last(steps, before, country, rng)
            steps = steps[1:]
            # `how many countries border the largest country that borders it` would be hard to follow.
            plain = self._name_asked(steps[0]) in ("neighbours", "best")
            country = self._describe_best(form, country, rng, plain=plain)
        return self._ask_last(steps, before, country, rng)

    def _describe_best(self, form: Extreme, country: str, rng: random.Random, *, plain: bool) -> str:
        """`its largest neighbour by area`; `plain`: without a clause of what borders what."""
        label = self._table.literal[form.property].label
        best = frames.CHOSEN.get((label, form.largest))
        if best is None:
            raise ExpressionError(f"no words for a choice by {form.property}")
        phrases: tuple[str, ...] = frames.BEST_TOLD if country == "it" else frames.BEST
        phrases = tuple(one for one in phrases if not plain or "border" not in one)
        return _pick(phrases, rng).format(best=best, by=frames.BY.get(label, ""), x=country)

    def _ask_last(self, steps: Sequence[PlanStep], before: str, country: str, rng: random.Random) -> str:
        """What is asked about a country at last: of itself, or of who was in office when it became independent."""
        first = self._name_asked(steps[0])
        if first == "year" and len(steps) > 1:
            return self._ask_holder(steps[1:], before, country, rng)
        form = _read_extreme(steps[0])
        did = "" if form is None else superlative(self._say_extreme(form, rng))
        return f"{before} {_pick(_fit(frames.ASK[first], country), rng).format(n=country, did=did)}".strip()

    def _ask_holder(self, steps: Sequence[PlanStep], before: str, country: str, rng: random.Random) -> str:
        holder = steps[0].derivation
        entry = self._table.literal.get(holder.property) if isinstance(holder, ReverseLookup) else None
        if entry is None or not (match := _OFFICE.match(entry.holder_when)):
            raise ExpressionError("no words for who held something then")
        office = match[1]
        if len(steps) == 1:
            asked = _pick(_fit(frames.ASK["holder"], country), rng)
            return f"{before} {asked.format(n=country, office=office)}".strip()
        told = _pick(frames.HOLDER_TOLD, rng).format(n=country, office=office)
        he, his = self._find_pronouns(str(steps[0].value), entry.holder_noun)
        asked = _pick(frames.ASK_HOLDER[self._name_asked(steps[1])], rng).format(he=he, his=his)
        return f"{before} {told} {sentence(asked)}".strip()

    def _find_pronouns(self, person: str, noun: str) -> tuple[str, str]:
        gender = self._find_gender(person)
        return _PRONOUNS.get(gender) or (f"that {noun}", f"that {noun}'s")

    # ------------------------------------------------------------ several pictures

    def _ask_comparison(self, plan: PicturePlan, rng: random.Random) -> str:
        place = _pick(frames.AMONG_TWO, rng)
        a, b = (place.format(ordinal) for ordinal in ORDINALS[:2])
        first, more = plan.steps[0], plan.steps[1:]
        number = _NUMBERS[len(plan.pictures)]
        if isinstance(first.derivation, ReverseLookup):
            if not more:
                return _pick(frames.COMMON, rng).format(a=a, b=b)
            before, country = _pick(frames.COMMON_TOLD, rng)
            return self._ask_last(more, before, country, rng)
        if plan.form == "more-neighbours":
            return _pick(frames.MORE_NEIGHBOURS, rng).format(a=a, b=b)
        form = read_computation(first.derivation)
        if isinstance(form, YearDistance):
            return _pick(frames.YEARS_BETWEEN, rng).format(a=a, b=b)
        if isinstance(form, Difference | Rate):
            asks = (frames.RATIO if isinstance(form, Rate) else frames.DIFFERENCE).get(
                self._table.literal[form.property].label, ()
            )
            if not asks:
                raise ExpressionError(f"no words for {plan.form}")
            return _pick(asks, rng).format(a=a, b=b)
        if not isinstance(form, Extreme):
            raise ExpressionError(f"no words for {plan.form}")
        did = self._say_extreme(form, rng)
        did = did if len(plan.pictures) == 2 else superlative(did)
        if not more:
            return _pick(frames.WHICH, rng).format(number=number, did=did)
        that = frames.WITH.get((self._table.literal[form.property].label, form.largest))
        if that is None:
            raise ExpressionError(f"no words for a choice by {form.property}")
        before, country = _pick(frames.WINNER_TOLD, rng)
        before = before.format(number=number, Number=sentence(number))
        return self._ask_last(more, before, country.format(that=that[len(plan.pictures) - 2]), rng)

    def _say_extreme(self, form: Extreme, rng: random.Random) -> str:
        """`has the larger population`."""
        worded = self._table.literal[form.property].worded("country")
        predicates = worded.more if form.largest else worded.less
        if not predicates and worded.value == "number":  # only the winner has words of its own
            phrase = _pick(worded.last if form.largest else worded.first, rng)
            predicates = (phrase.removeprefix("the one with").join(("has", "")),) if "the one with" in phrase else ()
        if not predicates:
            raise ExpressionError(f"no words for a choice by {form.property}")
        return _pick(predicates, rng)

    def _name_asked(self, step: PlanStep) -> str:
        """Under which name the frames have a step. Raises ExpressionError where they have none."""
        derivation, roles = step.derivation, self._table.roles
        if isinstance(derivation, Lookup):
            names = {
                roles.birth: "birth", roles.death: "death", roles.event_places.get(roles.birth): "birthplace",
                roles.event_places.get(roles.death): "deathplace",
            }  # fmt: skip
            if derivation.property in names:
                return names[derivation.property]
            label = self._table.label(derivation.property)
            name = "year" if step.unit == "year" else label
            if name in frames.ASK:
                return name
        if isinstance(derivation, Compute):
            form = read_form(derivation.expression)
            if isinstance(form, GroupSize):
                return "neighbours"
            if isinstance(form, Extreme):
                return "best"
            if isinstance(form, AgeAt):
                return "age"
        raise ExpressionError(f"no words for {derivation}")

    def _name_noun(self, entity: str) -> str:
        """`country`; what else the graph calls it would give it away."""
        kind = self._names.kind(entity)
        return {"country": "country", "organization": "company", "person": "person"}.get(kind, self._names.noun(entity))


def _name_pictures(plan: PicturePlan) -> list[PlanStep]:
    """The steps with the entities of the pictures named outright, as a plan without pictures has them."""
    first = len(plan.pictures)
    names = {f"hop{place}": entity for place, entity in enumerate(plan.pictures, start=1)}
    names |= {f"hop{place}": f"hop{place - first}" for place in range(first + 1, plan.depth + 1)}
    return [_rename(step, names) for step in plan.steps]


def _rename(step: PlanStep, names: Mapping[str, str]) -> PlanStep:
    """The step with other references; no reference is part of another one, hops being of one digit."""
    derivation = step.derivation
    if isinstance(derivation, Lookup):
        renamed: Lookup | ReverseLookup | Compute = Lookup(
            subject=names.get(derivation.subject, derivation.subject), property=derivation.property
        )
    elif isinstance(derivation, ReverseLookup):
        constraints = tuple(
            Constraint(property=one.property, value=names.get(one.value, one.value)) for one in derivation.constraints
        )
        value = names.get(derivation.value, derivation.value)
        renamed = ReverseLookup(property=derivation.property, value=value, constraints=constraints)
    else:
        expression = derivation.expression
        marked = expression.replace("hop", "\x00")
        for reference, name in names.items():
            marked = marked.replace(f"\x00{reference[3:]}", name)
        renamed = Compute(expression=marked.replace("\x00", "hop"), kind=derivation.kind)
    return PlanStep(renamed, step.value, step.answer_type, step.unit, step.claims)


def _pick(options: Sequence[_Option], rng: random.Random) -> _Option:
    return options[rng.randrange(len(options))]


def _read_extreme(step: PlanStep) -> Extreme | None:
    form = read_computation(step.derivation)
    return form if isinstance(form, Extreme) else None


def _fit(asks: Sequence[str], country: str) -> list[str]:
    """The questions that go with what a country is called: nobody is told `take it`, or `take that country`, and nobody
    is asked for the neighbours of a neighbour in these words."""
    said = "neighbour" in country
    return [
        ask for ask in asks
        if ("{n}." not in ask or country.startswith(("the ", "its "))) and not (said and "neighbour" in ask)
    ]  # fmt: skip
