"""The wording of questions about pictures, by rule.

In the whole question what a picture shows is said by its place ("the country in the first image") or by what the
picture is ("the country whose flag is shown"); in a sub-question by its name. What follows the pictures is worded by
the rules writer.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from hopwright.errors import ExpressionError
from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.computation_forms import Extreme, read_form
from hopwright.planning.picture_plans import PicturePlan
from hopwright.planning.plan import PlanStep
from hopwright.records import Compute, Constraint, Lookup, ReverseLookup
from hopwright.records.values import EntityKind
from hopwright.text.phrases import sentence, superlative
from hopwright.wording.rules.rules_writer import EntityNaming, RulesWriter, Wording

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
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
_WHICH = (
    "Which of the {number} countries shown in the images {did}?",
    "Of the {number} countries in the images, which one {did}?",
    "The images show {number} countries. Which of them {did}?",
)
_YEARS_BETWEEN = (
    "How many years lie between the independence of {a} and that of {b}?",
    "How many years separate the independence of {a} from that of {b}?",
)
_MORE_NEIGHBOURS = (
    "How many more countries border {a} than {b}?",
    "By how many does the number of countries that border {a} exceed the number of those that border {b}?",
)
_COMMON = (
    "Which country borders both {a} and {b}?",
    "Which country shares a border with both {a} and {b}?",
)


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

    def __init__(self, table: PropertyTable, names: EntityNaming) -> None:
        self._table = table
        self._names = names
        self._writer = RulesWriter(table)

    def word(self, plan: PicturePlan, kinds: Sequence[str], key: str) -> Wording:
        """The question of each hop, pictures first, and the whole question; none of them holds the pictures themselves.

        `kinds` says of each picture what it is. Raises ExpressionError for a plan that it has no words for.
        """
        rng = random.Random(f"pictures:{key}")
        asked = tuple(self.ask_picture(kind, entity, rng) for kind, entity in zip(kinds, plan.pictures, strict=True))
        whole = self._ask_comparison(plan, rng, key) if len(plan.pictures) > 1 else self._ask_chain(plan, kinds[0], key)
        return Wording((*asked, *self._ask_steps(plan, key)), whole)

    def ask_picture(self, kind: str, entity: str, rng: random.Random) -> str:
        """The question of a picture's own hop."""
        templates = _ASKED[kind]
        return templates[rng.randrange(len(templates))].format(noun=self._name_noun(entity))

    def _ask_chain(self, plan: PicturePlan, kind: str, key: str) -> str:
        (entity,) = plan.pictures
        said = {entity: _SHOWN[kind].format(noun=self._name_noun(entity))}
        return self._writer.word(_name_pictures(plan), PictureNaming(self._names, said), key).question

    def _ask_steps(self, plan: PicturePlan, key: str) -> tuple[str, ...]:
        if plan.form == "more-neighbours":
            a, b = map(self._names.phrase, plan.pictures)
            return (_MORE_NEIGHBOURS[0].format(a=a, b=b),)
        return self._writer.word(_name_pictures(plan), self._names, key).hop_questions

    def _ask_comparison(self, plan: PicturePlan, rng: random.Random, key: str) -> str:
        a, b = (f"the country in the {ORDINALS[place]} image" for place in (0, 1))
        first = plan.steps[0].derivation
        if len(plan.steps) == 2:
            said = {str(plan.steps[0].value): self._describe_winner(plan, a, b, rng)}
            last = _rename(plan.steps[1], {f"hop{len(plan.pictures) + 1}": str(plan.steps[0].value)})
            return self._writer.word([last], PictureNaming(self._names, said), key).question
        if isinstance(first, ReverseLookup):
            return _pick(_COMMON, rng).format(a=a, b=b)
        if plan.form == "more-neighbours":
            return _pick(_MORE_NEIGHBOURS, rng).format(a=a, b=b)
        if plan.form == "years-between":
            return sentence(_pick(_YEARS_BETWEEN, rng).format(a=a, b=b))
        if isinstance(first, Compute) and isinstance(form := read_form(first.expression), Extreme):
            return _pick(_WHICH, rng).format(
                number=_NUMBERS[len(plan.pictures)], did=self._say_extreme(form, len(plan.pictures), rng)
            )
        said = dict(zip(plan.pictures, (a, b), strict=True))
        return self._writer.word(_name_pictures(plan), PictureNaming(self._names, said), key).question

    def _describe_winner(self, plan: PicturePlan, a: str, b: str, rng: random.Random) -> str:
        first = plan.steps[0].derivation
        if isinstance(first, ReverseLookup):
            return f"the country that borders both {a} and {b}"
        form = read_form(first.expression) if isinstance(first, Compute) else None
        if not isinstance(form, Extreme):
            raise ExpressionError(f"no words for {plan.form}")
        number = len(plan.pictures)
        return f"whichever of the {_NUMBERS[number]} countries in the images {self._say_extreme(form, number, rng)}"

    def _say_extreme(self, form: Extreme, number: int, rng: random.Random) -> str:
        """`has the larger population`; of three, `has the largest population`."""
        worded = self._table.literal[form.property].worded("country")
        predicates = worded.more if form.largest else worded.less
        if not predicates and worded.value == "number":  # only the winner has words of its own
            phrase = _pick(worded.last if form.largest else worded.first, rng)
            predicates = (phrase.removeprefix("the one with").join(("has", "")),) if "the one with" in phrase else ()
        if not predicates:
            raise ExpressionError(f"no words for a choice by {form.property}")
        predicate = predicates[rng.randrange(len(predicates))]
        return predicate if number == 2 else superlative(predicate)

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


def _pick(options: Sequence[str], rng: random.Random) -> str:
    return options[rng.randrange(len(options))]
