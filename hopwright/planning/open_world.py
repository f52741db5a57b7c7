"""What a source may not know: whether an answer that is unique in it is unique in the world, too.

A year singles out a member of a closed kind (states, clubs, seasons) among those that meet a condition only where the
list behind the condition is whole, where everybody on it has a date, and where nobody of that year may be on it
without the source's knowledge. Two open conditions single out nobody. A place counts with all that lies in it.
"""

from __future__ import annotations

import ast
import datetime as dt
import functools
from collections.abc import Iterator, Mapping, Sequence

from hopwright.errors import ExpressionError
from hopwright.knowledge.containment import Containment
from hopwright.knowledge.facts import Facts
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import EntityKinds, FactGraph
from hopwright.planning.computation_forms import EndMember, read_form
from hopwright.planning.execution import resolve_given
from hopwright.planning.expressions import evaluate
from hopwright.records import Compute, Constraint, Derivation, Lookup, ReverseLookup
from hopwright.records.values import Value

_DATED = ("value", "argmax", "argmin", "after", "before")


class OpenWorld:
    """Doubts about answers of one source. Results are cached: a source does not change."""

    def __init__(self, graph: FactGraph, table: PropertyTable, kinds: EntityKinds, facts: Facts) -> None:
        self._graph = graph
        self._table = table
        self._kinds = kinds
        self._facts = facts
        self.containment = Containment(graph, table.roles.containment)
        self.find_rival = functools.lru_cache(100_000)(self._find_rival)
        self._doubt_expression = functools.lru_cache(20_000)(self._find_in_expression)

    def find_doubt(self, derivation: Derivation, answers: Mapping[int, Value], value: Value) -> str:
        """Why a hop's answer may not be the only one in the world; empty when nothing speaks against it.

        `answers` are those of the earlier hops, `value` is the hop's own.
        """
        if isinstance(derivation, Lookup):
            if derivation.property not in self._table.literal:
                return ""
            return self._doubt_literal(derivation.property, resolve_given(derivation.subject, answers))
        if isinstance(derivation, Compute):
            form = read_form(derivation.expression)
            if isinstance(form, EndMember) and not self._table.entity[form.column].ends:
                return f"{self._table.label(form.column)} is not known of every member"
            named = {f"hop{index}": one for index, one in answers.items() if isinstance(one, str)}
            return self._doubt_expression(derivation.expression, tuple(sorted(named.items())))
        if not isinstance(derivation, ReverseLookup):
            return ""
        conditions = derivation.conditions()
        dated = [one for one in conditions if one.property in self._table.literal]
        if len(conditions) == len(dated) == 1 and self._table.is_timeline(dated[0].property):
            return ""
        joined = [one for one in conditions if one.property not in self._table.literal]
        if not dated:
            if len(joined) == 1 or all(self._is_listed(one, answers) for one in joined):
                return ""
            return "two open conditions single out nobody"
        try:
            year = evaluate(dated[0].value, answers, self._facts)
        except ExpressionError:
            return ""
        whole = int(year) if not isinstance(year, str | dt.date) else year.year if isinstance(year, dt.date) else 0
        for one in joined:
            doubt = self.find_rival(
                str(value), dated[0].property, whole, one.property, resolve_given(one.value, answers)
            )
            if doubt:
                return doubt
        return "" if joined else "a year alone singles out nobody"

    def _is_listed(self, condition: Constraint, answers: Mapping[int, Value]) -> bool:
        """Whether a work of reference lists all that meet a condition, such as a country's neighbours."""
        return resolve_given(condition.value, answers) in self._table.closed.get(condition.property, {})

    def is_settled(self, property: str, entity: str) -> bool:
        """Whether a date of an entity is one that all sources agree on, where the kind of date needs that."""
        return self._table.is_settled(property, entity, self._kinds.kind(entity))

    def _doubt_literal(self, property: str, entity: str) -> str:
        return "" if self.is_settled(property, entity) else f"{self._graph.label(entity)} has no undisputed year"

    def _find_rival(self, entity: str, property: str, year: int, condition: str, object: str) -> str:
        """Who else may be what a year and a condition single out; empty when nobody may."""
        kind, sort = self._kinds.kind(entity), self._kinds.sort(entity)
        if condition not in self._table.roles.rosters.get(kind, frozenset()):
            return f"the list behind {self._table.label(condition)} is not whole"
        for one in self._graph.subjects(condition, object):
            if one == entity or self._kinds.kind(one) != kind:
                continue
            years = self._years(property, one)
            if not years or not self.is_settled(property, one):
                return f"the year of {self._graph.label(one)} is not known"
            if year in years:
                return f"{self._graph.label(one)} is of that year, too"
        for one in self._facts.subjects_of_scalar(property, year):
            if one != entity and self._kinds.sort(one) == sort and not self._graph.objects(one, condition):
                return f"whether {self._graph.label(one)} meets the condition is not known"
        return self._doubt_literal(property, entity)

    def _years(self, property: str, entity: str) -> set[int]:
        return {one.year for one in self._facts.scalars(entity, property) if isinstance(one, dt.date)}

    def _find_in_expression(self, expression: str, named: tuple[tuple[str, str], ...]) -> str:
        """Disputed dates that a computation reads, or places that it compares while one lies in the other."""
        known = dict(named)
        try:
            tree = ast.parse(expression, mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ""
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                doubt = self._doubt_call(node.func.id, node, known)
            elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Call):
                property, *subjects = _names(node.left, known) or [""]
                objects = _names(node.comparators[0], known)
                doubt = self._doubt_places(property, subjects, objects)
            else:
                continue
            if doubt:
                return doubt
        return ""

    def _doubt_call(self, function: str, call: ast.Call, known: Mapping[str, str]) -> str:
        property, *_ = _names(call, known) or [""]
        if function in _DATED and property in self._table.literal:
            read = call.args[2:] if function in ("after", "before") else call.args[1:]
            for one in (name for argument in read for name in _list_dated(argument)):
                if doubt := self._doubt_literal(property, known.get(one.id, one.id)):
                    return doubt
        return ""

    def _doubt_places(self, property: str, subjects: Sequence[str], objects: Sequence[str]) -> str:
        """Both of two answers may be defended where one of them lies in the other."""
        for subject in subjects:
            for held in self._graph.objects(subject, property):
                for object in objects:
                    if self.containment.overlap(held, object):
                        return f"{self._graph.label(held)} and {self._graph.label(object)} lie one in the other"
        return ""


def _list_dated(node: ast.expr) -> Iterator[ast.Name]:
    """Of what a date is read for: an entity, or the members of a set, not what they share nor a year."""
    match node:
        case ast.Name():
            yield node
        case ast.Call(func=ast.Name(id="among" | "listed"), args=[_, _, *members]):
            yield from (one for one in members if isinstance(one, ast.Name))
        case ast.Call(func=ast.Name(id="after" | "before" | "having"), args=[_, _, within]):
            yield from _list_dated(within)


def _names(node: ast.expr, known: Mapping[str, str]) -> list[str]:
    """The properties and entities that a part of an expression names, in the order in which they stand."""
    found = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    if isinstance(node, ast.Call):
        found.remove(node.func)  # type: ignore[arg-type]
    return [known.get(one.id, one.id) for one in sorted(found, key=lambda one: (one.lineno, one.col_offset))]
