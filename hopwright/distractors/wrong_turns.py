"""Where one wrong turn leads: what a hop gives for wrong answers of the hops before it, and what might have been found
in place of an answer.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import random
from collections.abc import Iterator, Sequence
from decimal import Decimal

from hopwright.checks.open_conditions import (
    FEWEST_COMPARED,
    OpenCondition,
    is_choice_of_hops,
    is_hidden_choice,
    list_compared,
    list_conditions,
    read_open_conditions,
    resolve_value,
)
from hopwright.distractors.hop_task import HopTask, find_compared
from hopwright.distractors.list_slips import ListSlips, draw_earlier, spread_sides
from hopwright.distractors.numeric_distractors import NumericSlip
from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.facts import Facts
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.nearby_values import NearbyValues
from hopwright.knowledge.wikidata.similar_entities import SimilarEntities
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import Extreme, NextOfList, read_computation, read_form
from hopwright.planning.execution import execute, hops_used, resolve_given, stated_value
from hopwright.records import Compute, Hop, Lookup, ReverseLookup
from hopwright.records.values import Value, parse

_MOST_FACTS = 2_000
_MOST_RIVALS = 60
_FEWEST_SIMILAR = 6
_OWNERS = 12
_MOST_ALIKE = 0.34
"""The share of the owners of a set for which the same may be chosen as for the plan's."""
_HOLDERS = 16
"""Holders of neighbouring years of a timeline that are rivals of the right one."""


class WrongTurns:
    """Follows wrong answers through a plan."""

    def __init__(
        self,
        graph: GraphStore,
        table: PropertyTable,
        facts: Facts,
        siblings: SimilarEntities,
        values: NearbyValues,
        lists: ListSlips,
    ) -> None:
        self._graph = graph
        self._table = table
        self._facts = facts
        self._siblings = siblings
        self._values = values
        self._lists = lists
        self._list_subjects = functools.lru_cache(20_000)(self._read_subjects)
        self.find_similar = functools.lru_cache(20_000)(self._list_similar)

    def leads_on(self, task: HopTask, candidate: Value) -> bool:
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
        given = self.read_on(task, candidate)
        return given is not None and (given != reader.value or is_choice_of_hops(reader.derivation))

    def read_on(self, task: HopTask, candidate: Value) -> Value | None:
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

    def list_losers(self, task: HopTask) -> list[str] | None:
        """What would be asked about at the end of a plan if the other of two had won, or another of several.

        None where nothing was chosen on the way.
        """
        if not task.asked or not any(find_compared(one.derivation) for one in task.earlier):
            return None
        return self.list_others(task.find_source(), task)

    def list_others(self, source: Hop | None, task: HopTask) -> list[str]:
        """What else a hop might have found."""
        return [one for one in self.list_rivals(source, task) if source is None or one != source.answer_id]

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

    def list_rivals(self, hop: Hop | None, task: HopTask) -> list[str]:
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
            rivals = self.list_rivals(task.find_source(derivation.subject), task)
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

    def propagate_wrong_answers(self, task: HopTask) -> list[Value]:
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

    def propagate_similar_values(self, task: HopTask) -> Iterator[NumericSlip]:
        """What a computation gives for the numbers and dates of things similar to those that were looked up."""
        hop = task.hop
        for source in task.earlier:
            looked_up = source.derivation
            if source.index not in hops_used(hop.derivation) or not isinstance(looked_up, Lookup):
                continue
            for other in self.find_similar(resolve_given(looked_up.subject, task.answers), looked_up.property):
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

    def _list_wrong(self, source: Hop, task: HopTask) -> Iterator[Value]:
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

    def _compare_wrongly(self, source: Hop, task: HopTask) -> Iterator[str]:
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

    def list_outsiders(self, task: HopTask, source: Hop) -> list[str]:
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
