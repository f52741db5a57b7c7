"""Wrong options for a hop that a number, a year or a date answers."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from hopwright.distractors.computation_slips import list_slips
from hopwright.distractors.hop_task import (
    HopTask,
    OptionShortage,
    asks_birth,
    count_needed,
    join_three,
)
from hopwright.distractors.numeric_distractors import (
    NumericSlip,
    choose_count_distractors,
    choose_date_distractors,
    choose_number_distractors,
)
from hopwright.distractors.suitability import GROWN_UP, MOST_YEARS
from hopwright.distractors.wrong_turns import WrongTurns
from hopwright.knowledge.facts import Facts
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.confusions import CONFUSED_DATES
from hopwright.knowledge.wikidata.roles import ROLES
from hopwright.knowledge.wikidata.similar_entities import SimilarEntities
from hopwright.planning.computation_forms import AgeAt, AgeInYear, GroupSize, YearDistance, read_computation
from hopwright.planning.execution import resolve_given, stated_value
from hopwright.planning.expressions import evaluate
from hopwright.records import Compute, Distractor, DistractorKind, Lookup
from hopwright.records.values import Scalar, Value, render
from hopwright.text.matching import find_numbers

MOST_YEARS_OFF = 15
"""How far a wrong year on the way lies from the right one."""
_MOST_OF_A_LIFE = 12
"""The same of a birth, an age or a number of years: further off, the rest of the chain speaks against it."""
_OF_ONE_GENERATION = 20
"""How many years apart people are born of whom one may be taken for another."""
_OLDEST, _YOUNGEST = 99, 15
"""No wrong age is above the first, nor, where the right one is that of a grown-up, below the last."""
_AT_WORK = 22
"""From this age on, what somebody did at it is nothing that a schoolchild does."""
_FEWEST_CARRIED = 2
"""So many other counts that wrong answers lead to leave no need for mere miscounts."""
_FEWEST_CHOICES = 3
"""The least number of ways to choose that a reader would compute."""
_LIFE = frozenset([ROLES.birth, ROLES.death])


class NumberOptions:
    """Makes three wrong numbers or dates."""

    def __init__(self, table: PropertyTable, facts: Facts, siblings: SimilarEntities, turns: WrongTurns) -> None:
        self._table = table
        self._facts = facts
        self._siblings = siblings
        self._turns = turns

    def make(
        self, task: HopTask, value: int | Decimal, proposed: Sequence[int | Decimal]
    ) -> tuple[Distractor, ...] | OptionShortage:
        hop, rng = task.hop, task.rng
        year = hop.unit == "year"
        derivation = hop.derivation
        carried = [one for one in self._turns.propagate_wrong_answers(task) if isinstance(one, int | Decimal)]
        counting = isinstance(derivation, Compute) and derivation.kind == "counting"
        form = read_computation(derivation)
        parted = isinstance(form, GroupSize) and bool(form.moment)  # who knows the list at all is not far off
        if counting and (parted or len({*carried}) < _FEWEST_CARRIED):
            assert isinstance(derivation, Compute)
            counts = choose_count_distractors(
                int(value), lowest=min(1, int(value)), highest=_find_most(derivation), rng=rng
            )
            if counts is None:
                return OptionShortage("counts", f"nothing but {hop.answer} can be counted")
            return join_three(Distractor(text=render(number), kind=kind) for number, kind in counts)
        spanned = isinstance(form, YearDistance)  # full years may be one less than calendar years
        choosing = isinstance(derivation, Compute) and derivation.kind == "combinatorics"
        held = self._require_of_losers(task)
        if isinstance(held, OptionShortage):
            return held
        required = [one.year if isinstance(one, dt.date) else one for one in held]
        required += self._miss_birthday(task, value)
        aged = self._is_age(task)
        youngest = 0 if not aged or value < GROWN_UP else _YOUNGEST if value < _AT_WORK else GROWN_UP + 2
        texts = (hop.question, task.asked, *([derivation.expression] if isinstance(derivation, Compute) else ()))
        shown = {number for text in texts for number, _ in find_numbers(text)}
        chosen = choose_number_distractors(
            value,
            [*self._list_wrong_numbers(task, carried, year=year), *((one, "neighbour") for one in proposed)],
            year=year,
            lowest=_FEWEST_CHOICES if choosing else youngest or (1 if value == int(value) else 0),
            rng=rng,
            stepped=year or (isinstance(derivation, Compute) and not choosing),
            loose=choosing,
            strict=bool(task.asked),
            apart=self._find_most_off(task),
            highest=max(_OLDEST, value) if aged else None,
            shown=shown,
            required=required,
            carried=carried,
            allowed=lambda one: self._turns.leads_on(task, one) and not (spanned and one == value - 1),
        )
        if chosen is None:
            return OptionShortage("numbers", "fewer than three slips or similar things give a number of its form")
        return join_three(Distractor(text=render(number, year=year), kind=kind) for number, kind in chosen)

    def _list_wrong_numbers(
        self, task: HopTask, carried: Sequence[int | Decimal], *, year: bool
    ) -> Iterator[NumericSlip]:
        """Wrong numbers, the likeliest first: those that wrong answers on the way lead to (`carried`), then others."""
        hop, derivation = task.hop, task.hop.derivation
        yield from ((missed, "near_miss") for missed in carried)
        if isinstance(derivation, Compute) and derivation.kind == "counting":
            return
        if isinstance(derivation, Compute):
            yield from self._turns.propagate_similar_values(task)
            # A year is no wrong count: of the numbers on the way, those of the same unit.
            alike = {stated_value(one) for one in task.earlier if one.answer_type == "number" and one.unit == hop.unit}
            alike |= {claim.number for claim in hop.evidence.claims if claim.unit == hop.unit}
            for wrong, kind in list_slips(
                derivation, task.answers, self._facts, hop.evidence.claims, task.on_the_way, self._turns.find_similar
            ):
                copied = kind == "operand" and wrong in task.answers.values()
                if isinstance(wrong, int | Decimal) and (not copied or wrong in alike):
                    yield wrong, kind
            return
        for held, kind in self._list_wrong_values(task):
            if isinstance(held, dt.date):
                yield held.year, kind
            elif not year:
                yield held, kind

    def _list_wrong_values(self, task: HopTask) -> Iterator[tuple[int | Decimal | dt.date, DistractorKind]]:
        """Of a looked-up number or date: another event's, that of what could have been looked up, of similar things."""
        derivation = task.hop.derivation
        if not isinstance(derivation, Lookup) or derivation.property not in self._table.literal:
            return
        subject = resolve_given(derivation.subject, task.answers)
        kinds: list[tuple[DistractorKind, str, str]] = [
            ("slip", subject, other)
            for other in CONFUSED_DATES.get(derivation.property, ())
            if {derivation.property, other} != _LIFE  # nobody dies on the day of their birth
        ]
        rivals = self._turns.list_rivals(task.find_source(), task)
        kinds += [("near_miss", rival, derivation.property) for rival in rivals]
        kinds += [("operand", one, derivation.property) for one in task.on_the_way if one != subject]
        kinds += [("operand", one, derivation.property) for one in task.list_offered()]
        similar = list(self._turns.find_similar(subject, derivation.property))
        task.rng.shuffle(similar)
        kinds += [("neighbour", one, derivation.property) for one in similar]
        for kind, entity, property in kinds:
            if kind == "operand" and self._siblings.kind(entity) != self._siblings.kind(subject):
                continue
            held = self._facts.scalars(entity, property)
            if len(held) == 1:
                yield held[0], kind

    def _miss_birthday(self, task: HopTask, value: int | Decimal) -> list[int]:
        """The age that somebody arrives at who takes one year from the other, or whose birthday slips by."""
        derivation = task.hop.derivation
        form = read_computation(derivation)
        if not isinstance(form, AgeAt):
            return []
        born, then = (
            moment if isinstance(moment, str) else f"value({moment[0]}, {moment[1]})"
            for moment in (form.birth, form.then)
        )
        years = evaluate(f"year({then}) - year({born})", task.answers, self._facts)
        return [int(years) if isinstance(years, int) and years != value else int(value) - 1]

    def _find_most_off(self, task: HopTask) -> int | None:
        """How many years a wrong year, age or number of years may lie from the right one; None for other numbers."""
        if task.hop.unit == "years" or (task.hop.unit == "year" and asks_birth(task.hop)):
            return _MOST_OF_A_LIFE
        return MOST_YEARS_OFF if task.hop.unit == "year" else None

    def _is_age(self, task: HopTask) -> bool:
        """Whether a number is somebody's age: the years from a birth to something."""
        derivation = task.hop.derivation
        form = read_computation(derivation)
        if isinstance(form, AgeInYear):
            return form.property == ROLES.birth
        if isinstance(form, AgeAt):
            moments: tuple[str | tuple[str, str], ...] = (form.birth,)
        elif isinstance(form, YearDistance):
            moments = form.moments
        else:
            return False
        births = {f"hop{one.index}" for one in task.earlier if asks_birth(one)}
        return any(one in births if isinstance(one, str) else one[0] == ROLES.birth for one in moments)

    def _require_of_losers(self, task: HopTask) -> list[Scalar] | OptionShortage:
        """The numbers or dates of what lost the comparison that the end of a plan rests on: they must be offered."""
        derivation = task.hop.derivation
        losers = self._turns.list_losers(task)
        if losers is None or not isinstance(derivation, Lookup):
            return []
        values = [held for one in losers for held in self._facts.scalars(one, derivation.property)[:1]]
        if asks_birth(task.hop):  # who was born in another generation is dropped on sight
            own = stated_value(task.hop)
            values = [one for one in values if _count_years_apart(one, own) <= _OF_ONE_GENERATION]
        if len(values) < count_needed(losers):
            return OptionShortage("losers", f"{len(values)} of those that were not chosen have a value of their own")
        return values[:3]

    def make_dates(self, task: HopTask, value: dt.date) -> tuple[Distractor, ...] | OptionShortage:
        wrong: list[tuple[dt.date, DistractorKind]] = [
            (one, "near_miss") for one in self._turns.propagate_wrong_answers(task) if isinstance(one, dt.date)
        ]
        wrong += [(one, kind) for one, kind in self._list_wrong_values(task) if isinstance(one, dt.date)]
        wrong = [(one, kind) for one, kind in wrong if self._turns.leads_on(task, one)]
        if (value.month, value.day) != (1, 1):  # the first of January stands for a bare year
            wrong = [(one, kind) for one, kind in wrong if (one.month, one.day) not in ((1, 1), (12, 31))]
        # The day of a death stands out among days of birth.
        most_off = _MOST_OF_A_LIFE if asks_birth(task.hop) else MOST_YEARS["person"]
        wrong = [(one, kind) for one, kind in wrong if abs(one.year - value.year) <= most_off]
        required = self._require_of_losers(task)
        if isinstance(required, OptionShortage):
            return required
        if any(isinstance(one, dt.date) and (one.month, one.day) == (1, 1) for one in required):
            return OptionShortage("losers", "of one that was not chosen only the year is known")
        chosen = choose_date_distractors(
            value, wrong, task.rng, [one for one in required if isinstance(one, dt.date) and one != value]
        )
        if chosen is None:
            return OptionShortage("dates", "fewer than three similar things have a date")
        return join_three(Distractor(text=render(date), kind=kind) for date, kind in chosen)


def _count_years_apart(one: Value, other: Value) -> int:
    """Between two dates or years."""
    first, second = (held.year if isinstance(held, dt.date) else int(str(held)) for held in (one, other))
    return abs(first - second)


def _find_most(derivation: Compute) -> int | None:
    """The most that a count of stated conditions can come to; None where the expression does not say."""
    conditions = len(re.findall(r"[<>]|==", derivation.expression))
    return conditions or None
