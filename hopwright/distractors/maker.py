"""Wrong options for a hop, three of them: of the answer's type and form, false, and each what a slip would yield.

All meet what the question states openly (see `open_conditions`), and at least two come from a named slip: the plan
run with one hop's wrong answer, the loser of a comparison, what meets every condition but the computed one, a property
taken for another, the same fact of a similar thing, and for numbers slips of computation. Where no such three exist,
the reason is given instead. A hop that compares two, or three, offers these and nothing else.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import itertools
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import Literal, NamedTuple

from hopwright.checks.choices import find_odd_trait, meets
from hopwright.checks.guessing import overlap
from hopwright.checks.open_conditions import (
    FEWEST_COMPARED,
    OpenCondition,
    is_choice_of_hops,
    is_hidden_choice,
    is_met,
    list_compared,
    list_conditions,
    read_open_conditions,
    resolve_value,
)
from hopwright.distractors.computation_slips import list_slips
from hopwright.distractors.list_slips import ListSlips, draw_earlier, draw_number, spread_sides
from hopwright.distractors.numeric_distractors import (
    NumericSlip,
    choose_count_distractors,
    choose_date_distractors,
    choose_number_distractors,
)
from hopwright.distractors.own_world import OTHER_CALLING, OwnWorld, count_quarters
from hopwright.distractors.proposers import propose
from hopwright.distractors.ranking import MOST_CANDIDATES, OptionCandidate, choose_three
from hopwright.distractors.series_slips import Beside, SeriesSlips
from hopwright.distractors.shared_credits import SharedCredits
from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.facts import Facts, GraphFacts
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.confusions import (
    BESIDE_IN_PLACE,
    CONFUSED_DATES,
    CONFUSED_ROLES,
    OF_A_LINE,
    PLAYED,
    SAME_CALLING,
)
from hopwright.knowledge.wikidata.nearby_values import NearbyValues
from hopwright.knowledge.wikidata.roles import ROLES
from hopwright.knowledge.wikidata.similar_entities import EntityKindSource, Side, SimilarEntities
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import (
    AgeAt,
    AgeInYear,
    Extreme,
    GroupSize,
    NextOfList,
    YearDistance,
    read_computation,
    read_form,
)
from hopwright.planning.execution import execute, hops_used, stated_value
from hopwright.planning.expressions import evaluate
from hopwright.records import (
    AnswerType,
    Claim,
    Compute,
    Constraint,
    Derivation,
    Distractor,
    DistractorKind,
    Hop,
    Lookup,
    ReverseLookup,
)
from hopwright.records.values import BROUGHT_OUT, Scalar, Value, parse, render
from hopwright.text.matching import find_numbers, fold, pad

_IDS = re.compile(r"\bQ[0-9A-Za-z_]+\b")
_EXTREME = re.compile(r"^arg(?:max|min)\((P\d+),")
_NAME = re.compile(r"^[^\W_].{1,78}$")
_MOST_FACTS = 2_000
_MOST_RIVALS = 60
_MOST_HOLDERS = 20
_FEWEST_SIMILAR = 6
_DRAWN = 2.0
"""What makes up for being far better, or less, known than the answer, in points of closeness."""
_WEIGHTS = (1.5, 1.5, 2.0, 3.5, 0.7, 3.0, 1.5)
"""Of words shared with the question, capitals, length, popularity, alphabet, what comes next, and what is compared."""
_LIKENESS_WEIGHTS = (1.5, 2.5, 1.5, 4.0)
"""Of form, names, facts and time (see `choose_three`)."""
_NEXT_IN_LIST = 5
"""Of a whole list that a moment parts, so many that come next to the answer are offered."""
_SHARED = 0
"""Place of the trait that counts the words that an option shares with the question."""
_MOST_YEARS: Mapping[str, int] = {"person": 30, "work": 30, "animal": 30, "event": 40}
"""Kind → how many years the entities of one era lie apart at most."""
_MOST_YEARS_HELD = 15
"""The same of the years that two holders of a timeline hold."""
_MOST_YEARS_OFF = 15
"""How far a wrong year on the way lies from the right one."""
_MOST_OF_A_LIFE = 12
"""The same of a birth, an age or a number of years: further off, the rest of the chain speaks against it."""
_OF_ONE_GENERATION = 20
"""How many years apart people are born of whom one may be taken for another."""
_OLDEST, _GROWN_UP, _YOUNGEST = 99, 18, 15
_AT_WORK = 22
"""From this age on, what somebody did at it is nothing that a schoolchild does."""
"""No wrong age is above the first, nor, where the right one is that of a grown-up, below the last."""
_FEWEST_CARRIED = 2
"""So many other counts that wrong answers lead to leave no need for mere miscounts."""
_FEWEST_CHOICES = 3
"""The least number of ways to choose that a reader would compute."""
_LIFE = frozenset([ROLES.birth, ROLES.death])
_OWNERS = 12
_MOST_ALIKE = 0.34
"""The share of the owners of a set for which the same may be chosen as for the plan's."""
_ACTIVE = 5
"""Years by which what somebody made lies apart at most from what is asked about."""
_BESIDE_IN_TIME = 10
"""Years within which two entities are contemporaries."""
_WELL_SUPPLIED = 6
_HOLDERS = 16
"""Holders of neighbouring years of a timeline that are rivals of the right one."""
_OFFERED = 4
"""So many wrong answers of the compared hops leave no need for others."""
_MOST_SIBLINGS = 1
"""Options that no slip yields, but that are merely of the same sort."""
_MOST_GATHERED = 48
"""Entities that are looked at before those nearest to the answer's own world are kept."""
_STRANGE = 12.0
"""What each point of foreignness costs, in points of closeness."""
_FEWEST_NEAR = 6
"""So many candidates leave a choice by which nothing of their form shows."""
_FOREIGN, _MOST_STRANGERS = 1.5, 1
"""Points from which on somebody is dropped on sight, and how many such stand beside an answer on the way."""
_NATIVE = 0.75
"""Points of foreignness up to which a candidate counts as of the answer's own world."""
_LED_TO = 1.5
"""Points of foreignness that are forgiven at the end of a plan to what a wrong option on the way leads to."""
_LINKED = 1.0
"""Points of foreignness that are forgiven to whoever did the same for a work that shares a person with the one asked
about.
"""
_UNTRIED = 3.0
"""Points for somebody of the answer's country and calling who never was to anything what is asked for."""
_NEAR_TERMS = 6
"""Years by which the terms of two holders lie apart at most and are taken for neighbouring."""
_MOST_OFF = 0.75
"""Points that a date counts at most which the next hop gives: no British novelist wrote what Visconti filmed, whenever
he died.
"""
_MOST_FAMOUS, _KNOWN = 3, 8
"""So many times the facts that the source has of the right one, or of one with so many, has a wrong one at most."""
_DRAWN_WIDELY, _KEPT_OF_DRAWN = 24, 3

Likeness = Callable[[str, str], float]
"""How alike two names are, 0–1."""


class Reader(NamedTuple):
    """The computation or look-up that reads a hop's answer, and what it gives; `others`: the answers of all hops."""

    derivation: Derivation
    answer_type: AnswerType
    value: Value
    claims: Sequence[Claim] = ()
    others: Mapping[int, Value] = MappingProxyType({})


def find_reader(index: int, later: Iterable[Reader]) -> Reader | None:
    """The first of the later hops that reads the answer of a hop; None for the last."""
    return next((one for one in later if index in hops_used(one.derivation)), None)


ShortageReason = Literal[
    "comparison", "losers", "conditions", "slips", "numbers", "counts", "dates", "series", "form", "value"
]


class OptionShortage(NamedTuple):
    """Why a hop gets no three wrong options.

    `comparison`: fewer than four things are compared at the end of a plan. `losers`: what was not chosen on the way
    gives too few other answers, so that choosing would not matter. `conditions`: fewer than three others meet what the
    question states. `slips`: too few of them are what a slip yields. `numbers`, `counts`, `dates`: too few
    others of the same form. `series`: too few stand near the answer in its series. `form`: the right one would stand
    out. `value`: the answer is nothing that has rivals.
    """

    reason: ShortageReason
    detail: str


class DistractorMaker:
    """Makes distractors over one graph. The same seed, hop and likeness give the same three."""

    def __init__(
        self,
        graph: GraphStore,
        table: PropertyTable,
        kinds: EntityKindSource,
        seed: int,
        *,
        facts: Facts | None = None,
        likeness: Likeness = overlap,
    ) -> None:
        self._graph = graph
        self._table = table
        self._seed = seed
        self._facts = facts if facts is not None else GraphFacts(graph, table)
        self._siblings = SimilarEntities(graph, kinds)
        self._values = NearbyValues(graph, self._facts, self._siblings)
        self._world = OwnWorld(graph, self._siblings)
        makers = (table.roles.made | table.roles.makers) - set(table.credits)
        self._credits = SharedCredits(graph, self._facts, self._siblings, makers)
        self._series = SeriesSlips(self._facts, table)
        self._lists = ListSlips(self._facts, table, lambda one: self._siblings.card(one).label)
        self._likeness = likeness
        self._compare_names = functools.lru_cache(200_000)(self._like_by_name)
        self._compare_facts = functools.lru_cache(200_000)(self._siblings.kinship)
        self._around = functools.lru_cache(50_000)(self._list_around)
        self._list_subjects = functools.lru_cache(20_000)(self._read_subjects)
        self._read_life_then = functools.lru_cache(50_000)(self._find_life_then)
        self._find_similar = functools.lru_cache(20_000)(self._list_similar)

    def make(
        self,
        hop: Hop,
        answers: Mapping[int, Value],
        earlier: Sequence[Hop],
        asked: str = "",
        proposed: Sequence[Value] = (),
        key: str = "",
        reader: Reader | None = None,
    ) -> tuple[Distractor, ...] | OptionShortage:
        """Make three distractors for a hop, or say why there are none.

        `answers` holds the values of the earlier hops, `earlier` those hops with their distractors; `asked` is the
        multi-hop question where the hop is its last. `proposed` are further candidates, ids or numbers; they are chosen
        by the same rules as all others. `key`: the item's id, so that the same hop in another item gets others.
        `reader`: what comes next; where that can be, each wrong option leads on to something else there.
        """
        proposed = [*proposed, *propose(hop, answers)]
        made = self._make(hop, answers, earlier, asked, proposed, key, reader)
        if reader is not None and isinstance(made, OptionShortage):
            made = self._make(hop, answers, earlier, asked, proposed, key, reader, loosely=True)
        if not isinstance(made, OptionShortage) and len(made) >= FEWEST_COMPARED - 1:
            odd = find_odd_trait(hop.answer, [one.text for one in made])
            return OptionShortage("form", f"the right option alone {odd}") if odd else made
        return made

    def _make(
        self,
        hop: Hop,
        answers: Mapping[int, Value],
        earlier: Sequence[Hop],
        asked: str,
        proposed: Sequence[Value],
        key: str,
        reader: Reader | None,
        *,
        loosely: bool = False,
    ) -> tuple[Distractor, ...] | OptionShortage:
        """`loosely`: wrong options need not lead on, as long as none leads to the right one at the next hop."""
        way = "|".join(one.question for one in earlier)
        rng = random.Random(f"{self._seed}:{key}|{way}|{hop.question}|{hop.answer}")
        try:
            value = stated_value(hop)
        except InputError as error:
            return OptionShortage("value", str(error))
        task = _Task(hop, answers, earlier, asked, rng, reader, loosely=loosely)
        if isinstance(value, dt.date):
            return self._make_dates(task, value)
        if isinstance(value, str):
            if hop.answer_type != "entity" or hop.answer_id is None:
                return OptionShortage("value", f"{hop.answer!r} is no entity")
            return self._make_entities(task, hop.answer_id, [one for one in proposed if isinstance(one, str)])
        return self._make_numbers(task, value, [one for one in proposed if isinstance(one, int | Decimal)])

    def _leads_on(self, task: _Task, candidate: Value) -> bool:
        """Whether a wrong answer leads to something at the next hop, and to something wrong, as far as is known yet.

        A choice between two falls on either of them whatever the other one is.
        """
        reader = task.reader
        if reader is None or not task.can_read:
            return True
        following = reader.derivation
        if isinstance(following, Lookup) and isinstance(candidate, str) and isinstance(reader.value, str):
            held = self._facts.objects(candidate, following.property)
            if reader.value in held:  # with somebody else, it may be: then none of the two alone is the answer
                return False
        # Of what comes after a film, another later one is nearer than an earlier one of which more is known.
        if task.loosely or isinstance(read_computation(task.hop.derivation), NextOfList):
            return True
        if isinstance(candidate, str) and self._lists.is_of_list(reader.derivation):
            return True  # what is offered beside a work of a list is of the same list
        given = self._read_on(task, candidate)
        return given is not None and (given != reader.value or is_choice_of_hops(reader.derivation))

    def _read_on(self, task: _Task, candidate: Value) -> Value | None:
        """What the next hop gives for an answer of this one; None where it gives nothing, or rests on others yet."""
        reader = task.reader
        if reader is None or not task.can_read:
            return None
        inputs = {**reader.others, **task.answers, task.hop.index: candidate}
        try:
            return execute(
                reader.derivation, reader.answer_type, inputs, self._facts, self._table, tuple(reader.claims)
            )
        except (ExpressionError, InputError, ArithmeticError):
            return None

    # ---------------------------------------------------------------- numbers and dates

    def _make_numbers(
        self, task: _Task, value: int | Decimal, proposed: Sequence[int | Decimal]
    ) -> tuple[Distractor, ...] | OptionShortage:
        hop, rng = task.hop, task.rng
        year = hop.unit == "year"
        derivation = hop.derivation
        carried = [one for one in self._propagate_wrong_answers(task) if isinstance(one, int | Decimal)]
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
            return _join(Distractor(text=render(number), kind=kind) for number, kind in counts)
        spanned = isinstance(form, YearDistance)  # full years may be one less than calendar years
        choosing = isinstance(derivation, Compute) and derivation.kind == "combinatorics"
        held = self._require_of_losers(task)
        if isinstance(held, OptionShortage):
            return held
        required = [one.year if isinstance(one, dt.date) else one for one in held]
        required += self._miss_birthday(task, value)
        aged = self._is_age(task)
        youngest = 0 if not aged or value < _GROWN_UP else _YOUNGEST if value < _AT_WORK else _GROWN_UP + 2
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
            allowed=lambda one: self._leads_on(task, one) and not (spanned and one == value - 1),
        )
        if chosen is None:
            return OptionShortage("numbers", "fewer than three slips or similar things give a number of its form")
        return _join(Distractor(text=render(number, year=year), kind=kind) for number, kind in chosen)

    def _list_wrong_numbers(
        self, task: _Task, carried: Sequence[int | Decimal], *, year: bool
    ) -> Iterator[NumericSlip]:
        """Wrong numbers, the likeliest first: those that wrong answers on the way lead to (`carried`), then others."""
        hop, derivation = task.hop, task.hop.derivation
        yield from ((missed, "near_miss") for missed in carried)
        if isinstance(derivation, Compute) and derivation.kind == "counting":
            return
        if isinstance(derivation, Compute):
            yield from self._propagate_similar_values(task)
            # A year is no wrong count: of the numbers on the way, those of the same unit.
            alike = {stated_value(one) for one in task.earlier if one.answer_type == "number" and one.unit == hop.unit}
            alike |= {claim.number for claim in hop.evidence.claims if claim.unit == hop.unit}
            for wrong, kind in list_slips(
                derivation, task.answers, self._facts, hop.evidence.claims, task.on_the_way, self._find_similar
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

    def _list_wrong_values(self, task: _Task) -> Iterator[tuple[int | Decimal | dt.date, DistractorKind]]:
        """Of a looked-up number or date: another event's, that of what could have been looked up, of similar things."""
        derivation = task.hop.derivation
        if not isinstance(derivation, Lookup) or derivation.property not in self._table.literal:
            return
        subject = _resolve(derivation.subject, task.answers)
        kinds: list[tuple[DistractorKind, str, str]] = [
            ("slip", subject, other)
            for other in CONFUSED_DATES.get(derivation.property, ())
            if {derivation.property, other} != _LIFE  # nobody dies on the day of their birth
        ]
        kinds += [("near_miss", rival, derivation.property) for rival in self._list_rivals(task.find_source(), task)]
        kinds += [("operand", one, derivation.property) for one in task.on_the_way if one != subject]
        kinds += [("operand", one, derivation.property) for one in task.list_offered()]
        similar = list(self._find_similar(subject, derivation.property))
        task.rng.shuffle(similar)
        kinds += [("neighbour", one, derivation.property) for one in similar]
        for kind, entity, property in kinds:
            if kind == "operand" and self._siblings.kind(entity) != self._siblings.kind(subject):
                continue
            held = self._facts.scalars(entity, property)
            if len(held) == 1:
                yield held[0], kind

    def _miss_birthday(self, task: _Task, value: int | Decimal) -> list[int]:
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

    def _find_most_off(self, task: _Task) -> int | None:
        """How many years a wrong year, age or number of years may lie from the right one; None for other numbers."""
        if task.hop.unit == "years" or (task.hop.unit == "year" and _asks_birth(task.hop)):
            return _MOST_OF_A_LIFE
        return _MOST_YEARS_OFF if task.hop.unit == "year" else None

    def _is_age(self, task: _Task) -> bool:
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
        births = {f"hop{one.index}" for one in task.earlier if _asks_birth(one)}
        return any(one in births if isinstance(one, str) else one[0] == ROLES.birth for one in moments)

    def _require_of_losers(self, task: _Task) -> list[Scalar] | OptionShortage:
        """The numbers or dates of what lost the comparison that the end of a plan rests on: they must be offered."""
        derivation = task.hop.derivation
        losers = self._list_losers(task)
        if losers is None or not isinstance(derivation, Lookup):
            return []
        values = [held for one in losers for held in self._facts.scalars(one, derivation.property)[:1]]
        if _asks_birth(task.hop):  # who was born in another generation is dropped on sight
            own = stated_value(task.hop)
            values = [one for one in values if _count_years_apart(one, own) <= _OF_ONE_GENERATION]
        if len(values) < _count_needed(losers):
            return OptionShortage("losers", f"{len(values)} of those that were not chosen have a value of their own")
        return values[:3]

    def _list_losers(self, task: _Task) -> list[str] | None:
        """What would be asked about at the end of a plan if the other of two had won, or another of several.

        None where nothing was chosen on the way.
        """
        if not task.asked or not any(_EXTREME.match(expression) for expression in task.computed):
            return None
        return self._list_others(task.find_source(), task)

    def _list_others(self, source: Hop | None, task: _Task) -> list[str]:
        """What else a hop might have found."""
        return [one for one in self._list_rivals(source, task) if source is None or one != source.answer_id]

    def _make_dates(self, task: _Task, value: dt.date) -> tuple[Distractor, ...] | OptionShortage:
        wrong: list[tuple[dt.date, DistractorKind]] = [
            (one, "near_miss") for one in self._propagate_wrong_answers(task) if isinstance(one, dt.date)
        ]
        wrong += [(one, kind) for one, kind in self._list_wrong_values(task) if isinstance(one, dt.date)]
        wrong = [(one, kind) for one, kind in wrong if self._leads_on(task, one)]
        if (value.month, value.day) != (1, 1):  # the first of January stands for a bare year
            wrong = [(one, kind) for one, kind in wrong if (one.month, one.day) not in ((1, 1), (12, 31))]
        # The day of a death stands out among days of birth.
        most_off = _MOST_OF_A_LIFE if _asks_birth(task.hop) else _MOST_YEARS["person"]
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
        return _join(Distractor(text=render(date), kind=kind) for date, kind in chosen)

    def _list_held(self, sources: Sequence[str], property: str, answer: str) -> list[str]:
        """What entities alone have for a property, each once, the answer aside: of several nobody is the answer."""
        leading = self._list_sources(sources, property, answer)
        return list(dict.fromkeys(self._facts.objects(one, property)[0] for one in leading))

    def _order_sources(self, task: _Task, chosen: Hop, sources: Sequence[str], property: str, answer: str) -> list[str]:
        """What else stands in the list that a hop chose from, in the order in which it is taken for the chosen work.

        What was offered beside that work leads to what is offered here. Of what two made together some lies beyond,
        and some does not: else the earliest of four writers' films is the first without a look at who made it. Empty
        where one of these is missing.
        """
        used, offered = task.list_used(), {one.id for one in chosen.distractors}
        found = {str(one) for one in task.answers.values()}
        assert isinstance(chosen.derivation, Compute)
        form = read_computation(chosen.derivation)
        if isinstance(form, NextOfList):  # whoever does not go on answers of what the two made last
            last = str(task.answers[int(form.reference.removeprefix("hop"))])
            ordered = [last, *(one for one in self._lists.order(chosen, sources, used) if one != last)]
        else:
            ordered = sorted(self._lists.order(chosen, sources, used), key=lambda one: one not in offered)
        named = used.difference(found)
        told = {value for one in named for value in self._facts.objects(one, property)}
        ordered = [one for one in ordered if told.isdisjoint(self._facts.objects(one, property))]
        # Whoever scored the film that is named is no likely answer, but stands in for a third; its novelist is none.
        fits = not self._table.entity[property].told_role
        own = list(self._list_sources(sorted(named), property, answer)) if fits else []
        if not isinstance(form, Extreme) or form.members is None or not form.members.credit:
            return [*ordered, *own]
        beyond = [one for one in ordered if self._lists.is_beyond(chosen, one)]
        within = [one for one in ordered if one not in beyond]
        leading = [next(iter(self._list_sources(side, property, answer)), "") for side in (beyond, within)]
        rest = [one for one in ordered if one not in leading]
        return [*leading, *rest, *own] if all(leading) else []

    def _list_sources(self, sources: Sequence[str], property: str, answer: str) -> Iterator[str]:
        """Those of which one alone has a property, and another than the answer."""
        return (one for one in sources if len(held := self._facts.objects(one, property)) == 1 and held[0] != answer)

    def _list_similar(self, entity: str, property: str) -> Sequence[str]:
        """Entities of the same sort whose value of a property comes next to the entity's."""
        held = self._facts.scalars(entity, property)
        if not held:
            return ()
        near = self._values.similar(property, held[0], self._siblings.sort(entity))
        if len(near) < _FEWEST_SIMILAR:
            near = [*near, *self._values.similar(property, held[0], self._siblings.kind(entity))]
        if len(near) < _FEWEST_SIMILAR and isinstance(held[0], dt.date):
            near = [*near, *self._values.similar(property, held[0])]
        return [one for one in dict.fromkeys(near) if one != entity]

    # ---------------------------------------------------------------- entities

    def _make_entities(
        self, task: _Task, answer: str, proposed: Sequence[str]
    ) -> tuple[Distractor, ...] | OptionShortage:
        hop, rng, derivation = task.hop, task.rng, task.hop.derivation
        if (beside := self._series.list_beside(hop, task.earlier)) is not None:
            return self._offer_beside(task, answer, beside)
        compared = ""
        fixed = 0
        choice: tuple[str, ...] = ()
        slips: list[str] = []
        outsiders: list[str] = []
        if isinstance(derivation, Compute):
            others = list_compared(derivation, task.answers, self._facts)
            choice = tuple(one for one in others if self._may_replace(one, answer))
            if len(choice) < FEWEST_COMPARED - 1 and task.asked:
                return OptionShortage("comparison", f"a choice of {1 + len(choice)}, not of four or more")
            outsiders = self._list_outsiders(task, hop) if task.asked else []
            if task.asked and is_hidden_choice(derivation) and not outsiders:
                return OptionShortage("form", "nothing that would beat the answer can be offered beside it")
            if 1 < len(others) < FEWEST_COMPARED:
                if len(choice) < len(others) - 1:
                    return OptionShortage("comparison", "what is compared with the answer cannot be told from it")
                # Who is not compared is nobody's answer: of two, the other one is the only wrong option.
                return tuple(Distractor(text=self._siblings.card(one).label, kind="operand", id=one) for one in choice)
            match = _EXTREME.match(derivation.expression)
            compared = match[1] if match else ""
            fixed = min(1, len(outsiders))
            if self._lists.is_of_list(hop.derivation):
                slips = self._lists.list_unnamed(hop, others, task.list_used())
                if task.hides_following(answer):
                    choice = tuple(one for one in choice if one != task.following)
                first = self._lists.list_beside_theirs(hop, task.earlier, others)
                choice = self._lists.order(hop, choice, task.list_used(), first)
                if task.asked and not self._lists.is_between(hop, choice[: FEWEST_COMPARED - 1]):
                    return OptionShortage("comparison", "nothing on either side of the answer can be offered")
                choice = choice[:_NEXT_IN_LIST]
                if len(choice) < FEWEST_COMPARED - 1:
                    return OptionShortage("conditions", f"{len(choice)} others of its list came out near it, not three")
                # So many of what the two made and of what lies beyond, or earlier and later ones, as were drawn.
                fixed = min(3, len(choice))
            if outsiders and choice:
                choice = self._order_by_value(choice, compared, answer)
                fixed = 2  # the runner-up is who or what is taken for the answer
        losers: list[str] = []
        listed = False
        chosen = task.find_source()
        # Laureates come from everywhere, and whoever is a year off arrives at the next of them.
        worldwide = chosen is not None and bool(self._find_timeline(chosen.derivation))
        sources: list[str] | None = None
        if isinstance(derivation, Lookup):
            sources = self._list_others(chosen, task) if task.asked and worldwide else self._list_losers(task)
        if isinstance(derivation, Lookup) and sources is not None:
            listed = chosen is not None and (worldwide or self._lists.is_of_list(chosen.derivation))
            if chosen is not None and listed and not worldwide:
                sources = self._order_sources(task, chosen, sources, derivation.property, answer)
                if not sources:
                    return OptionShortage("losers", "what two made and what lies beyond do not both lead to others")
            losers = self._list_held(sources, derivation.property, answer)
            # Several works of one list often had the same librettist.
            fixed = min(3, max(1, len(losers))) if listed else _count_needed(sources)
            if listed and task.asked and not worldwide and len(losers) < FEWEST_COMPARED - 1:
                return OptionShortage("losers", "fewer than three of the rest of the list lead to another answer")
            if chosen is not None and is_hidden_choice(chosen.derivation) and not listed:
                winners = self._list_outsiders(task, chosen)
                outsiders = [one for winner in winners for one in self._facts.objects(winner, derivation.property)[:1]]
                if not outsiders:
                    return OptionShortage("form", "nothing that would beat the answer can be offered beside it")
            if len(losers) < fixed:
                return OptionShortage("losers", f"{len(losers)} of those that were not chosen lead to another answer")
        asked_for = pad(f"{hop.question} {task.asked}")
        conditions = read_open_conditions(hop, task.earlier, task.answers, self._facts, final=bool(task.asked))
        rejected = task.list_used() - set(choice)
        if isinstance(derivation, Lookup):
            rejected |= set(self._facts.objects(_resolve(derivation.subject, task.answers), derivation.property))
            subject = _resolve(derivation.subject, task.answers)
            confused = {one for other in CONFUSED_ROLES.get(derivation.property, ()) for one in
                        self._facts.objects(subject, other)}  # fmt: skip
            # Whatever else the graph ties to the subject may, in reality, be true of it as well.
            rejected |= {object for _, object in self._graph.out_edges(subject)} - confused
        # Whoever did the same for the work beside the right one needs no other likeness to be taken for the answer.
        led_to = frozenset(losers if listed and self._siblings.kind(answer) == "person" and not worldwide else ())
        noun = self._siblings.noun(answer)
        stated = noun if noun and f" {fold(noun)} " in asked_for else ""
        found: dict[str, OptionCandidate] = {}
        strange: dict[str, float] = {}
        names: set[str] = set()
        streams = self._list_streams(task, answer, choice, proposed)
        if len(sources or ()) >= FEWEST_COMPARED - 1:
            # What else might have been chosen leads to answers enough, and nothing else is as near.
            streams, fixed = iter([("near_miss", losers, MOST_CANDIDATES)]), fixed if listed else 0
        if outsiders:
            streams, fixed = itertools.chain([("near_miss", outsiders, 1)], streams), 1
        elif losers:
            streams = itertools.chain([("near_miss", losers, 3)], streams)
        for kind, entities, most in streams:
            for one in entities:
                if most == 0 or len(found) == _MOST_GATHERED:
                    break
                name = self._siblings.card(one).folded
                shown = one in rejected or f" {name} " in asked_for
                if one in found or one == answer or name in names or (shown and one not in choice):
                    continue
                if not self._may_replace(one, answer) or not self._is_wrong(one, derivation, task.answers, compared):
                    continue
                if one not in choice and not (
                    self._could_play(one, answer, derivation)
                    if one in led_to
                    else self._suits(
                        one, answer, stated, derivation, task.answers, final=bool(task.asked), worldwide=worldwide
                    )
                ):
                    continue
                if not all(is_met(condition, one, self._facts) for condition in conditions):
                    continue
                if not self._leads_on(task, one):
                    continue
                names.add(name)
                bonus = _DRAWN * (kind == "sibling" and one not in proposed)
                known = one in choice or one in led_to
                strange[one] = 0.0 if known else self._measure_strangeness(task, one, answer, kind)
                bonus -= _STRANGE * strange[one]
                found[one] = self._weigh(task, one, answer, kind, compared, asked_for, bonus=bonus)
                most -= 1
        if outsiders and next(iter(found), "") not in outsiders:
            return OptionShortage("form", "nothing that would beat the answer can be offered beside it")
        if losers and sum(one in found for one in losers) < (1 if listed else fixed):
            return OptionShortage("losers", "what was not chosen on the way gives too few answers that can be offered")
        first = [*found][:fixed]
        nearest = list(dict.fromkeys([*first, *sorted(found, key=strange.__getitem__)]))
        if isinstance(derivation, Lookup) and not task.asked:
            # Who did the same for a film of that director, or of that crew, is nearer than anybody else of the time.
            linked = self._credits.find_linked(_resolve(derivation.subject, task.answers), derivation.property)
            kindred = [one for one in nearest if one in linked and strange[one] <= _NATIVE]
            if len(kindred) >= FEWEST_COMPARED - 1:
                nearest = [*first, *(one for one in kindred if one not in first)]
        if not task.asked and self._siblings.kind(answer) == "person":
            # Whoever everybody knows is dropped on sight beside somebody whom few know.
            most = _MOST_FAMOUS * max(self._graph.degree(answer), _KNOWN)
            likely = [one for one in nearest if one in first or self._graph.degree(one) <= most]
            nearest = likely if len(likely) >= FEWEST_COMPARED - 1 else nearest
            if isinstance(derivation, Lookup):
                work, part = _resolve(derivation.subject, task.answers), derivation.property
                peers = [one for one in nearest if one in first or self._credits.are_peers(one, answer, work, part)]
                native = sum(strange[one] <= _NATIVE for one in peers)
                nearest = peers if native >= FEWEST_COMPARED - 1 else nearest
        nearest = self._drop_strangers(nearest, [found[one].kind == "sibling" for one in nearest], strange)
        own = self._weigh(task, answer, answer, "sibling", compared, asked_for)
        made = self._choose_entities(own, [found[one] for one in nearest], fixed, rng)
        if isinstance(made, OptionShortage):
            return made
        if slips and not any(one.id in slips for one in made):
            return OptionShortage("losers", "nothing else that the two made can be offered")
        if not task.asked:
            strangers = sum(strange[one.id or ""] >= _FOREIGN for one in made)
            if strangers > _MOST_STRANGERS:
                return OptionShortage("conditions", f"{strangers} of its rivals do not belong to its country and time")
        return made

    def _offer_beside(self, task: _Task, answer: str, beside: Beside) -> tuple[Distractor, ...] | OptionShortage:
        """Three of what stands beside an answer in a series, or is known of what does; not what the question names."""
        said = pad(f"{task.hop.question} {task.asked}")
        kind, noun = self._siblings.kind, self._siblings.noun(answer)
        stated = noun if " " in noun and f" {fold(noun)} " in said else ""

        def suits(one: str) -> bool:
            label = fold(self._siblings.card(one).label)
            same = kind(one) == kind(answer) and self._siblings.is_distinct(one, answer)
            if stated and self._siblings.noun(one) != stated:  # asked for a city in New York, nobody takes Denver
                return False
            if kind(answer) == "place":  # asked for a prefecture, nobody takes a city
                same = same and self._siblings.sort(one) == self._siblings.sort(answer)
            return same and f" {label} " not in said

        if self._series.takes_step(task.hop, task.earlier) and not suits(beside.short):
            return OptionShortage("series", "the other end of it is nothing that can be offered")
        chosen = [one for one in (beside.short, *beside.others) if one and suits(one)][: FEWEST_COMPARED - 1]
        if len(chosen) < FEWEST_COMPARED - 1:
            needed = f"of {FEWEST_COMPARED - 1} neighbours in its series that are needed"
            return OptionShortage("series", f"{needed}, {len(chosen)} can be offered")
        return _join(Distractor(text=self._siblings.card(one).label, kind="near_miss", id=one) for one in chosen)

    def _drop_strangers(
        self, ordered: Sequence[str], merely: Sequence[bool], strange: Mapping[str, float]
    ) -> list[str]:
        """The candidates without those that are stranger than needed to have a few to choose from.

        `ordered`: the least strange first; `merely`: which of them only a like sort speaks for.
        """
        kept: list[str] = []
        slips = 0
        for one, sibling in zip(ordered, merely, strict=True):
            enough = len(kept) >= _FEWEST_NEAR and slips >= 3 - _MOST_SIBLINGS
            if enough and strange[one] > max(_NATIVE, strange[kept[-1]]):
                break
            kept.append(one)
            slips += not sibling
        return kept

    def _measure_strangeness(self, task: _Task, candidate: str, answer: str, kind: DistractorKind) -> float:
        """Points for all by which a well-read person sees that a candidate does not belong to the answer's world.

        To its country, calling and decades come the years in which both held an office or had such works, and what the
        next hop reads: a director born in another century leads to years that fit nothing else.
        """
        derivation = task.hop.derivation
        made = isinstance(derivation, Lookup) and derivation.property in self._table.roles.makers
        work = _resolve(derivation.subject, task.answers) if isinstance(derivation, Lookup) and made else ""
        points = self._world.measure_foreignness(candidate, answer, work)
        if timeline := self._find_timeline(derivation):
            apart = self._count_years_held_apart(candidate, answer, timeline)
            points = points / 2 + max(0, apart - _NEAR_TERMS) / _NEAR_TERMS
        elif isinstance(derivation, Lookup) and self._siblings.kind(answer) == "person":
            subject = _resolve(derivation.subject, task.answers)
            subjects = self._facts.subjects(derivation.property, candidate)[:_MOST_HOLDERS]
            years = [self._siblings.years_apart(subject, one) for one in subjects]
            points += 2 * count_quarters(min((one for one in years if one is not None), default=0), _ACTIVE)
            if not subjects:
                points += _UNTRIED
            elif self._world.differ_in_calling(candidate, answer):
                points -= OTHER_CALLING / 2  # some who direct are known as writers, and yet have directed
            points -= _LINKED * (candidate in self._credits.find_linked(subject, derivation.property))
        if task.asked:
            return max(0.0, points - _LED_TO * (kind == "near_miss"))
        given, right = self._read_on(task, candidate), task.reader.value if task.reader is not None else None
        if isinstance(given, dt.date) and isinstance(right, dt.date):
            points += min(_MOST_OFF, count_quarters(abs(given.year - right.year), _MOST_YEARS_OFF))
        return points

    def _order_by_value(self, entities: Sequence[str], property: str, answer: str) -> tuple[str, ...]:
        """Entities, those first whose value of a property comes next to the answer's."""
        (own,) = self._facts.scalars(answer, property)[:1] or (0,)
        apart = {one: abs(_to_number((self._facts.scalars(one, property) or (own,))[0]) - _to_number(own))
                 for one in entities}  # fmt: skip
        return tuple(sorted(entities, key=lambda one: (apart[one], one)))

    def _choose_entities(
        self, own: OptionCandidate, candidates: list[OptionCandidate], fixed: int, rng: random.Random
    ) -> tuple[Distractor, ...] | OptionShortage:
        if len(candidates) < 3:
            needed = "of 3 wrong options that are needed"
            return OptionShortage("conditions", f"{needed}, {len(candidates)} meet what the question states")
        if sum(one.kind != "sibling" for one in candidates) < 3 - _MOST_SIBLINGS:
            return OptionShortage("slips", "fewer than two of its rivals are what a slip yields")
        weights = (*_WEIGHTS[: len(own.traits)], *_LIKENESS_WEIGHTS)
        likenesses = (self._compare_names, self._compare_facts, self._like_by_era)
        if own.traits[_SHARED] and not fixed:
            candidates.sort(key=lambda one: not one.traits[_SHARED])  # one that shares a word, too, is always taken
            fixed = 1
        places = choose_three(
            own, candidates, likenesses, rng, fixed=fixed, weights=weights, most_siblings=_MOST_SIBLINGS
        )
        if places is None:
            return OptionShortage("slips", "fewer than two of its rivals are what a slip yields")
        chosen = [candidates[place] for place in places]
        if own.traits[_SHARED] and not any(one.traits[_SHARED] for one in chosen):
            return OptionShortage("form", "a word of the question stands in the right option only")
        return _join(Distractor(text=one.text, kind=one.kind, id=one.key) for one in chosen)

    def _list_streams(
        self, task: _Task, answer: str, choice: Sequence[str], proposed: Sequence[str]
    ) -> Iterator[tuple[DistractorKind, Iterable[str], int]]:
        """Where wrong options come from, the best first: a kind, entities, and how many of them at most."""
        hop, rng, derivation = task.hop, task.rng, task.hop.derivation
        yield "operand", choice, MOST_CANDIDATES
        if len(choice) >= FEWEST_COMPARED - 1:
            return
        wrong = [one for one in self._propagate_wrong_answers(task) if isinstance(one, str)]
        yield "near_miss", wrong, 4
        if isinstance(derivation, Compute):
            slips = list_slips(derivation, task.answers, self._facts, hop.evidence.claims, task.on_the_way)
            yield "slip", [one for one, kind in slips if isinstance(one, str)], 2
            # What the earlier hops offered is of the compared things' own role and time; outsiders are not.
            offered = task.list_offered()
            yield "near_miss", offered, 6
            if len(offered) >= _OFFERED:
                return
            match = _EXTREME.match(derivation.expression)
            if match is not None:
                yield "neighbour", self._find_similar(answer, match[1]), 4
        rivals = self._siblings.rank(answer, self._list_rivals(hop, task), rng)
        yield "near_miss", rivals, 8
        if task.asked and isinstance(derivation, Lookup) and len({*wrong, *rivals} - {answer}) >= _WELL_SUPPLIED:
            return  # what a wrong turn leads to is nearer than anything merely of the same sort
        if isinstance(derivation, Lookup):
            subject = _resolve(derivation.subject, task.answers)
            confused = CONFUSED_ROLES.get(derivation.property, ())
            yield "slip", [one for other in confused for one in self._facts.objects(subject, other)], 2
            yield "sibling", proposed, len(proposed)
            if self._siblings.kind(answer) == "country":
                yield "neighbour", self._siblings.beside(answer, rng), 5
                return  # one from the other end of the world is dropped on sight
            yield "neighbour", self._credits.find_linked(subject, derivation.property), 12
            similar = self._siblings.near(subject, [(derivation.property, "subject")], rng)
            held = [one for other in similar for one in self._facts.objects(other, derivation.property)[:1]]
            yield "neighbour", self._siblings.rank(answer, list(dict.fromkeys(held)), rng), 8
            sort = self._siblings.sort(subject)
            fellows = self._world.list_fellows(answer, derivation.property)
            # Of so many people born in a city, those that come first need not include one of the subject's calling.
            everywhere = self._siblings.kind(answer) == "place"
            able = (one for one in fellows if everywhere or self._holds_for_sort(one, derivation.property, sort))
            yield "neighbour", able, 12
            yield "neighbour", self._list_next(answer, self._world.list_colleagues(answer)), 6
            drawn = self._siblings.draw(answer, derivation.property, "object", rng, _DRAWN_WIDELY)
            drawn.sort(key=lambda one: self._world.measure_foreignness(one, answer))
            alike = [one for one in drawn if self._holds_for_sort(one, derivation.property, sort)]
            yield "neighbour", alike, _KEPT_OF_DRAWN
            yield "sibling", drawn, _KEPT_OF_DRAWN
            pools: list[tuple[str, Side]] = [(derivation.property, "object")]
        elif isinstance(derivation, ReverseLookup):
            yield "sibling", proposed, len(proposed)
            yield "neighbour", self._list_beside(derivation, answer), 3
            pools = [(derivation.property, "literal" if derivation.property in self._table.literal else "subject")]
        else:
            match = _EXTREME.match(derivation.expression) if isinstance(derivation, Compute) else None
            pools = [(match[1], "literal")] if match else []
        siblings = self._siblings.near(answer, pools, rng)
        yield "neighbour", self._list_next(answer, siblings), 4
        yield "sibling", self._spread(answer, siblings), MOST_CANDIDATES

    def _holds_for_sort(self, entity: str, property: str, sort: str) -> bool:
        """Whether an entity is the value of a property of anything of a sort."""
        subjects = self._facts.subjects(property, entity)
        return any(self._siblings.sort(one) == sort for one in subjects[:_MOST_HOLDERS])

    def _list_rivals(self, hop: Hop | None, task: _Task) -> list[str]:
        """What meets every open condition of a hop's question; nothing where only facts to be looked up say more."""
        if hop is None or hop.answer_type != "entity" or hop.answer_id is None:
            return []
        derivation = hop.derivation
        if isinstance(derivation, Compute):
            compared = list_compared(derivation, task.answers, self._facts)
            if not self._lists.is_of_list(hop.derivation):
                return list(compared)
            return list(self._lists.order(hop, [one for one in compared if one != hop.answer_id], task.list_used()))
        found: list[str]
        if isinstance(derivation, Lookup):
            rivals = self._list_rivals(task.find_source(derivation.subject), task)
            found = [held for one in rivals for held in self._facts.objects(one, derivation.property)]
        elif not isinstance(derivation, ReverseLookup):
            return []
        elif self._table.is_timeline(derivation.property):
            year = resolve_value(derivation.value, task.answers, self._facts)
            found = self._list_holders(derivation.property, hop.answer_id, year)
        else:
            conditions = read_open_conditions(hop, task.earlier, task.answers, self._facts, final=True)
            found = self._find_meeting(derivation, conditions, hop.answer_id, task.rng)
        found = list(dict.fromkeys(one for one in found if one != hop.answer_id))
        if len(found) <= _MOST_RIVALS or any(self._lists.is_of_list(one.derivation) for one in task.earlier):
            return found[:_MOST_RIVALS]  # what is nearest in a list comes first
        return sorted(task.rng.sample(found, _MOST_RIVALS))

    def _list_holders(self, timeline: str, entity: str, year: Value | None) -> list[str]:
        """Holders of the years around the one of an entity's own that lies next to a year."""
        held = [one for one in self._facts.scalars(entity, timeline) if isinstance(one, dt.date)]
        if not held:
            return []
        own = min(held, key=lambda one: abs(one.year - year)) if isinstance(year, int) else held[0]
        found = [one for one in self._values.holders(timeline, own, most=_HOLDERS) if one != entity]
        first = {one: min(self._facts.scalars(one, timeline), key=str) for one in found}
        return list(spread_sides(found, lambda one: str(first[one]) < str(own), draw_earlier(f"{entity}:{timeline}")))

    def _find_meeting(
        self, derivation: ReverseLookup, conditions: Sequence[OpenCondition], answer: str, rng: random.Random
    ) -> list[str]:
        """Entities of the answer's sort with all stated values, those next to it in what is computed first."""
        sets = [self._list_subjects(one.property, one.value) for one in conditions if one.kind == "object"]
        if not sets:
            return []
        smallest = min(sets, key=len)
        near: list[str] = []
        for condition in list_conditions(derivation):
            if condition.property in self._table.literal:
                for held in self._facts.scalars(answer, condition.property)[:1]:
                    near += [one for one in self._values.holders(condition.property, held, most=60) if one in smallest]
        rest = sorted(smallest)
        if len(rest) > _MOST_RIVALS:
            rest = rng.sample(rest, _MOST_RIVALS)
        sort = self._siblings.sort(answer)
        return [
            one
            for one in dict.fromkeys([*near, *rest])
            if all(one in held for held in sets) and self._siblings.sort(one) == sort
        ]

    def _read_subjects(self, property: str, value: str) -> frozenset[str]:
        return frozenset(self._facts.subjects(property, value))

    def _propagate_wrong_answers(self, task: _Task) -> list[Value]:
        """What the hop gives for wrong answers of the hops that it rests on.

        Wrong answers are the distractors of those hops, so that one wrong turn leads from option to option.
        """
        hop = task.hop
        used = hops_used(hop.derivation)
        found: dict[Value, None] = {}
        for source in task.earlier:
            for wrong in self._list_wrong(source, task) if source.index in used else ():
                inputs = {**task.answers, source.index: wrong}
                try:
                    value = execute(
                        hop.derivation, hop.answer_type, inputs, self._facts, self._table, hop.evidence.claims
                    )
                except (ExpressionError, InputError, ArithmeticError):
                    continue
                found[value] = None
        found.pop(stated_value(hop), None)
        return list(found)

    def _propagate_similar_values(self, task: _Task) -> Iterator[NumericSlip]:
        """What a computation gives for the numbers and dates of things similar to those that were looked up."""
        hop = task.hop
        for source in task.earlier:
            looked_up = source.derivation
            if source.index not in hops_used(hop.derivation) or not isinstance(looked_up, Lookup):
                continue
            for other in self._find_similar(_resolve(looked_up.subject, task.answers), looked_up.property):
                (held, *more) = self._facts.scalars(other, looked_up.property)
                wrong = held.year if isinstance(held, dt.date) and source.answer_type == "number" else held
                try:
                    value = execute(
                        hop.derivation,
                        hop.answer_type,
                        {**task.answers, source.index: wrong},
                        self._facts,
                        self._table,
                        hop.evidence.claims,
                    )
                except (ExpressionError, InputError, ArithmeticError):
                    continue
                if not more and isinstance(value, int | Decimal):
                    yield value, "neighbour"

    def _list_wrong(self, source: Hop, task: _Task) -> Iterator[Value]:
        """Wrong answers of an earlier hop as values; of entities, those with few enough facts to go through.

        They are its wrong options, and for a comparison also what it gives where one of the compared is found wrongly.
        """
        if isinstance(source.derivation, Compute) and len(source.distractors) < FEWEST_COMPARED - 1:
            yield from self._compare_wrongly(source, task)
        for one in source.distractors:
            if one.id is None:
                if source.answer_type != "entity":
                    yield parse(one.text, source.answer_type)
            elif self._graph.degree(one.id) <= _MOST_FACTS:
                yield one.id

    def _compare_wrongly(self, source: Hop, task: _Task) -> Iterator[str]:
        """Wrong options of the compared hops that win the comparison."""
        used = hops_used(source.derivation)
        for compared in task.earlier:
            for one in compared.distractors if compared.index in used else ():
                if one.id is None or self._graph.degree(one.id) > _MOST_FACTS:
                    continue
                with contextlib.suppress(ExpressionError, InputError, ArithmeticError):
                    inputs = {**task.answers, compared.index: one.id}
                    chosen = execute(source.derivation, source.answer_type, inputs, self._facts, self._table)
                    if chosen == one.id:
                        yield one.id

    def _list_outsiders(self, task: _Task, source: Hop) -> list[str]:
        """What would be chosen from the set of another owner than the plan's, and beats what is chosen from its own.

        Without one of these the largest option in sight is the answer, whoever owns the set.
        """
        derivation = source.derivation
        if not is_hidden_choice(derivation) or source.answer_id is None:
            return []
        assert isinstance(derivation, Compute)
        form = read_form(derivation.expression)
        assert isinstance(form, Extreme) and form.members is not None
        owner = task.find_source(form.members.shared)
        if owner is None or owner.answer_id is None:
            return []
        members = list_compared(derivation, task.answers, self._facts)
        wrong = [one.id for one in owner.distractors if one.id]
        found: dict[str, None] = {}
        alike, tried = 0, 0
        for other in dict.fromkeys([*wrong, *self._siblings.beside(owner.answer_id, task.rng, _OWNERS)]):
            with contextlib.suppress(ExpressionError, InputError, ArithmeticError):
                inputs = {**task.answers, owner.index: other}
                winner = execute(derivation, source.answer_type, inputs, self._facts, self._table)
                tried += 1
                alike += winner == source.answer_id
                if winner in members or not isinstance(winner, str) or winner in task.list_used():
                    continue
                (its, *_), (best, *_) = (self._facts.scalars(one, form.property) for one in (winner, source.answer_id))
                if isinstance(its, int | Decimal) and isinstance(best, int | Decimal) and (its > best) == form.largest:
                    found[winner] = None
        # What is chosen for whatever country one guesses needs no finding out of the right one.
        return list(found) if alike <= _MOST_ALIKE * tried else []

    def _list_beside(self, derivation: ReverseLookup, answer: str) -> list[str]:
        """Entities whose dates or numbers come next to those that the look-up asks for."""
        found: list[str] = []
        for condition in list_conditions(derivation):
            if condition.property in self._table.literal:
                for held in self._facts.scalars(answer, condition.property)[:1]:
                    found += self._values.holders(condition.property, held)
        return found

    def _spread(self, answer: str, siblings: Sequence[str]) -> list[str]:
        """The likeliest siblings, then some with longer and shorter, better and less known, earlier and later names.

        So that whatever the answer looks like, there are threes among which it is not the longest or the best known.
        """
        spread = dict.fromkeys(siblings[:2])
        own = self._look(answer)
        looks = [(one, self._look(one)) for one in siblings]
        for place in range(len(own)):
            for above in (True, False):
                beyond = (
                    one
                    for one, look in looks
                    if one not in spread and look[place] != own[place] and (look[place] > own[place]) == above  # type: ignore[operator]
                )
                spread |= dict.fromkeys(itertools.islice(beyond, 1))
        return list(spread | dict.fromkeys(siblings))

    def _look(self, entity: str) -> tuple[float | str, ...]:
        """What a guesser may go by: capitals and length of the name, how well known it is, its place by alphabet."""
        card = self._siblings.card(entity)
        return card.capitals, len(card.label), card.degree, card.folded

    def _list_next(self, answer: str, siblings: Sequence[str]) -> list[str]:
        """Siblings next to the answer in time (contemporaries, nearest first) or in place (common border, district)."""
        apart = [(self._siblings.years_apart(answer, one), one) for one in siblings]
        found = [one for years, one in sorted((y, one) for y, one in apart if y is not None and y <= _BESIDE_IN_TIME)]
        around = self._around(answer)
        for one in siblings if around else ():
            places = self._around(one)
            if one in around or answer in places or around & places:
                found.append(one)
        return list(dict.fromkeys(found))

    def _list_around(self, entity: str) -> frozenset[str]:
        """What an entity borders on or lies in."""
        return frozenset(place for property, place in self._graph.out_edges(entity) if property in BESIDE_IN_PLACE)

    def _is_wrong(self, candidate: str, derivation: Derivation, answers: Mapping[int, Value], compared: str) -> bool:
        """Whether a candidate can be offered: comparable where there is a comparison, else not true in the graph."""
        if isinstance(derivation, ReverseLookup):
            return self._is_false(candidate, derivation, answers)
        return not compared or len(self._facts.scalars(candidate, compared)) == 1

    def _is_false(self, candidate: str, derivation: ReverseLookup, answers: Mapping[int, Value]) -> bool:
        """Whether the graph speaks against a candidate: for some condition it knows another value, not merely none."""
        for condition in list_conditions(derivation):
            known = (
                self._facts.scalars(candidate, condition.property)
                if condition.property in self._table.literal
                else self._facts.objects(candidate, condition.property)
            )
            try:
                if known and not meets(candidate, _fill(condition, answers), answers, self._facts):
                    return True
            except ExpressionError:
                return False
        return False

    def _may_replace(self, candidate: str, answer: str) -> bool:
        """Whether a candidate has a usable name and the answer's kind, and is neither part of it nor its namesake."""
        return (
            candidate != answer
            and bool(_NAME.match(self._siblings.card(candidate).label))
            and self._siblings.kind(candidate) == self._siblings.kind(answer)
            and self._siblings.is_distinct(candidate, answer)
        )

    def _suits(
        self,
        candidate: str,
        answer: str,
        noun: str,
        derivation: Derivation,
        answers: Mapping[int, Value],
        *,
        final: bool,
        worldwide: bool,
    ) -> bool:
        """Whether a candidate is of the answer's class, role and era; `noun`: what the question calls the answer.

        `worldwide`: a place may lie in any part of the world.
        """
        if timeline := self._find_timeline(derivation):
            return self._hold_alike(candidate, answer, timeline)
        kind = self._siblings.kind(answer)
        close = kind == "country" or (kind == "place" and final and not worldwide)
        if close and self._siblings.lie_apart(candidate, answer):
            return False  # one from the other end of the world is dropped on sight
        if kind not in ("person", "country") and self._siblings.sort(candidate) != self._siblings.sort(answer):
            return False
        plays = _asks_player(derivation)
        entry = self._table.entity.get(derivation.property) if isinstance(derivation, Lookup) else None
        made = entry is not None and set(entry.subject) <= BROUGHT_OUT and not plays
        if kind == "person" and not made and not self._are_of_one_gender(candidate, answer, strictly=plays):
            return False  # no actress is taken for whoever played Émile Zola; a film is written by either
        role = derivation.property if isinstance(derivation, Lookup) and kind != "country" else ""
        if role in OF_A_LINE and not self._share_line(candidate, answer):
            return False  # no sultan succeeds a British king
        subject = _resolve(derivation.subject, answers) if isinstance(derivation, Lookup) else ""
        if kind == "person" and subject and not self._lived_then(candidate, answer, subject):
            return False  # whoever died before a flight did not command it
        compatriot = kind == "person" and not final and self._world.is_colleague(candidate, answer)
        if role and not compatriot and not self._has_had(role, candidate, subject):
            return False  # whoever is asked for as a director has directed something, and in those years
        if noun and self._siblings.noun(candidate) != noun and not self._siblings.noun(candidate).endswith(f" {noun}"):
            return False  # asked for a Spanish city, nobody takes a Swiss one; asked for a city, either will do
        if role in SAME_CALLING and self._siblings.noun(candidate) != self._siblings.noun(answer):
            return False  # no biologist is taken for the teacher of a physicist
        years = self._siblings.years_apart(candidate, answer)
        if kind not in _MOST_YEARS or years is None:
            return kind != "person" or not self._siblings.has_era(answer)  # one whose time nobody can tell may be any
        return years <= _MOST_YEARS[kind]

    def _could_play(self, candidate: str, answer: str, derivation: Derivation) -> bool:
        """Whether nobody sees by a name that a part was another's: no woman is taken for the first Manrico."""
        return not _asks_player(derivation) or self._are_of_one_gender(candidate, answer, strictly=True)

    def _lived_then(self, candidate: str, answer: str, subject: str) -> bool:
        """Whether somebody lived, and was grown up, in the year of a work or an event, as far as the answer did."""
        year = None if self._siblings.kind(subject) == "person" else self._siblings.year(subject)
        if year is None:
            return True
        theirs, own = (self._read_life_then(one, year) for one in (candidate, answer))
        return all(one or not other for one, other in zip(theirs, own, strict=True))

    def _find_life_then(self, person: str, year: int) -> tuple[bool, bool]:
        """Whether somebody may have been grown up by a year, and whether they may have lived in the year before it."""
        born, died = (
            [one.year for one in self._facts.scalars(person, property) if isinstance(one, dt.date)]
            for property in (self._table.roles.birth, self._table.roles.death)
        )
        return not born or min(born) + _GROWN_UP <= year, not died or max(died) >= year - 1

    def _are_of_one_gender(self, one: str, other: str, *, strictly: bool = False) -> bool:
        """Whether nothing says that of two people one was a man and the other a woman; `strictly`: both are known."""
        genders = [set(self._graph.objects(entity, self._table.roles.gender)) for entity in (one, other)]
        return (not strictly and not all(genders)) or not genders[0].isdisjoint(genders[1])

    def _share_line(self, one: str, other: str) -> bool:
        """Whether two held years of the same timeline of those who ruled or led, or neither of them did."""
        led = [name for name, entry in self._table.literal.items() if entry.holder_when]
        lines = [{name for name in led if self._facts.scalars(entity, name)} for entity in (one, other)]
        return bool(lines[0] & lines[1]) or not (lines[0] or lines[1])

    def _has_had(self, role: str, candidate: str, subject: str) -> bool:
        """Whether a candidate is to something what is asked for: to works, where it is a work, of the same years."""
        subjects = self._facts.subjects(role, candidate)
        if self._siblings.kind(subject) in BROUGHT_OUT:  # whoever wrote novels alone did not write a play
            subjects = tuple(one for one in subjects if self._siblings.sort(one) == self._siblings.sort(subject))
        made = self._siblings.kind(candidate) == "person" and self._siblings.kind(subject) != "person"
        if not made or not self._siblings.has_era(subject):
            return bool(subjects)
        most = _BESIDE_IN_TIME if self._siblings.kind(subject) in BROUGHT_OUT else _MOST_YEARS["work"]
        years = (self._siblings.years_apart(subject, one) for one in subjects[:_MOST_HOLDERS])
        return any(one is not None and one <= most for one in years)

    def _find_timeline(self, derivation: Derivation) -> str:
        """The timeline that a hop asks for a holder of; empty for another hop."""
        if isinstance(derivation, ReverseLookup) and self._table.is_timeline(derivation.property):
            return derivation.property
        return ""

    def _hold_alike(self, one: str, other: str, timeline: str) -> bool:
        """Whether two hold years of a timeline that lie near each other, whatever their classes."""
        return self._count_years_held_apart(one, other, timeline) <= _MOST_YEARS_HELD

    def _count_years_held_apart(self, one: str, other: str, timeline: str) -> int:
        """The least number of years between those that two hold; more than any where one holds none."""
        years = [[held.year for held in self._facts.scalars(entity, timeline) if isinstance(held, dt.date)]
                 for entity in (one, other)]  # fmt: skip
        return min((abs(a - b) for a, b in itertools.product(*years)), default=_MOST_YEARS_HELD + 1)

    def _weigh(
        self,
        task: _Task,
        entity: str,
        answer: str,
        kind: DistractorKind,
        compared: str,
        asked_for: str,
        bonus: float = 0.0,
    ) -> OptionCandidate:
        """An entity as an option: how near to the answer, how long its name, how well known, how it compares."""
        card = self._siblings.card(entity)
        words = [] if compared else card.folded.split()  # a comparison names its candidates
        shared = sum(f" {word} " in asked_for for word in words if len(word) > 3)
        # What it leads to: the options of the next hop have the right one in their middle no more often than here.
        given = self._read_on(task, entity)
        led_to = 0.0 if given is None or isinstance(given, str) else _to_number(given)
        traits = [shared, *self._look(entity), led_to]
        if compared:
            (value,) = self._facts.scalars(entity, compared)
            traits.append(float(value.toordinal() if isinstance(value, dt.date) else value))
        closeness = (
            0.0 if entity == answer else self._siblings.closeness(answer, entity) + 1.5 * task.rng.random() + bonus
        )
        return OptionCandidate(card.label, entity, kind, closeness, tuple(traits))

    def _like_by_era(self, one: str, other: str) -> float:
        """Nearness in time: options of neighbouring decades have one in their middle, which shall be any of them."""
        return -float((self._siblings.years_apart(one, other) or 0) ** 2)

    def _like_by_name(self, one: str, other: str) -> float:
        return self._likeness(self._siblings.card(one).label, self._siblings.card(other).label)


class _Task:
    """One hop that options are made for, and what stands before it in the plan."""

    def __init__(
        self,
        hop: Hop,
        answers: Mapping[int, Value],
        earlier: Sequence[Hop],
        asked: str,
        rng: random.Random,
        reader: Reader | None = None,
        *,
        loosely: bool = False,
    ) -> None:
        self.hop = hop
        self.reader = reader
        self.loosely = loosely
        self.answers = answers
        self.earlier = earlier
        self.asked = asked
        self.rng = rng

    @functools.cached_property
    def can_read(self) -> bool:
        """Whether all that the next hop rests on is known once this one's answer is."""
        if self.reader is None:
            return False
        return {*self.reader.others, *self.answers, self.hop.index} >= {*hops_used(self.reader.derivation)}

    @functools.cached_property
    def on_the_way(self) -> tuple[str, ...]:
        """The entities that the plan names or finds before and in this hop, in the order in which they come."""
        found = [one for hop in (*self.earlier, self.hop) for one in _IDS.findall(_written(hop))]
        return tuple(dict.fromkeys((*(one for one in self.answers.values() if isinstance(one, str)), *found)))

    @functools.cached_property
    def computed(self) -> tuple[str, ...]:
        """The expressions of the computing hops before this one."""
        return tuple(one.derivation.expression for one in self.earlier if isinstance(one.derivation, Compute))

    @property
    def following(self) -> Value | None:
        """What the next hop leads to."""
        return self.reader.value if self.reader is not None else None

    def hides_following(self, answer: str) -> bool:
        """Whether what the next hop leads to shall not be offered here, drawn by the answer.

        What comes after the last that two made is taken for it. Were it always offered, the final answer would be
        what stands among the options of the hop before.
        """
        return draw_number(f"{answer}:{self.following}", 3) > 0

    def list_offered(self) -> list[str]:
        """The entities that stand beside the right answers of the earlier hops."""
        return [one.id for other in self.earlier for one in other.distractors if one.id]

    def list_used(self) -> set[str]:
        """The entities that the plan names or passes through: on the way to the answer, not beside it."""
        return set(self.on_the_way)

    def find_source(self, reference: str = "") -> Hop | None:
        """The earlier hop that a look-up starts from, where it starts from one."""
        derivation = self.hop.derivation
        name = reference or (derivation.subject if isinstance(derivation, Lookup) else "")
        return next((one for one in self.earlier if f"hop{one.index}" == name), None)


def _asks_birth(hop: Hop) -> bool:
    """Whether a hop asks when somebody was born."""
    return isinstance(hop.derivation, Lookup) and hop.derivation.property == ROLES.birth


def _asks_player(derivation: Derivation) -> bool:
    """Whether a look-up asks who played or sang a part."""
    return isinstance(derivation, Lookup) and derivation.property in PLAYED


def _fill(condition: Constraint, answers: Mapping[int, Value]) -> Constraint:
    value = _resolve(condition.value, answers)
    return condition if value == condition.value else Constraint(property=condition.property, value=value)


def _resolve(reference: str, answers: Mapping[int, Value]) -> str:
    """The Q-id behind `hopN`; anything else as it is."""
    if re.fullmatch(r"hop\d", reference) and isinstance(value := answers.get(int(reference[3:])), str):
        return value
    return reference


def _to_number(value: Value) -> float:
    """A date by its day, a number as it is."""
    return float(value.toordinal()) if isinstance(value, dt.date) else float(value)


def _written(hop: Hop) -> str:
    return " ".join(hop.derivation.references())


def _join(distractors: Iterable[Distractor]) -> tuple[Distractor, ...]:
    one, two, three = distractors
    return one, two, three


def _count_years_apart(one: Value, other: Value) -> int:
    """Between two dates or years."""
    first, second = (held.year if isinstance(held, dt.date) else int(str(held)) for held in (one, other))
    return abs(first - second)


def _count_needed(losers: Sequence[str]) -> int:
    """How many answers of losers must be offered: that of the only one, those of two of several."""
    return min(2, max(1, len(losers)))


def _find_most(derivation: Compute) -> int | None:
    """The most that a count of stated conditions can come to; None where the expression does not say."""
    conditions = len(re.findall(r"[<>]|==", derivation.expression))
    return conditions or None
