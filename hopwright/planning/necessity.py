"""Whether every hop is needed: proofs on a plan and the graph, made when it is planned and again by every audit.

MuSiQue (section 3) asks that no hop can be skipped. Here that is: no fact joins, past the hop between them, something
that the question names (or an earlier answer) with a later answer; no shorter path ends in the same relation and the
same answer; no literal is asked of what that literal singled out; and the relation of a hop has more than one answer
while its input is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hopwright.errors import ExpressionError
from hopwright.knowledge.facts import Facts
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import FactGraph
from hopwright.planning.execution import hops_used
from hopwright.planning.plan import named_entities
from hopwright.records import Compute, Constraint, Derivation, Lookup, ReverseLookup
from hopwright.records.values import Value

_HOP = re.compile(r"hop([1-8])")
_VALUE = re.compile(r"value\((P\d+), (hop[1-8])\)")
# Of an entity with more facts than this, only so many are followed when a shorter path is looked for.
_FOLLOWED = 60


class Shortcut(NamedTuple):
    """Why a hop is not needed: the hop that is reached too easily, the kind of shortcut, and the facts in words."""

    hop: int
    kind: str
    detail: str


def find_shortcut(
    derivations: Sequence[Derivation],
    answers: Mapping[int, Value],
    graph: FactGraph,
    table: PropertyTable,
    facts: Facts | None = None,
) -> Shortcut | None:
    """The first shortcut of a plan, or None. `facts`: to count who shares a stated number; else that is not asked."""
    return next(iter_shortcuts(derivations, answers, graph, table, facts), None)


def iter_shortcuts(
    derivations: Sequence[Derivation],
    answers: Mapping[int, Value],
    graph: FactGraph,
    table: PropertyTable,
    facts: Facts | None = None,
) -> Iterator[Shortcut]:
    """All shortcuts of a plan; hops count from 1."""
    above = _list_ancestors(derivations)
    for index, derivation in enumerate(derivations, start=1):
        yield from _find_given(index, derivation, derivations, table)
        if isinstance(derivation, Compute):
            continue
        value = answers.get(index)
        if isinstance(value, str) and value.startswith("Q"):
            yield from _find_direct(index, value, derivations, answers, above, graph, table)
            yield from _find_shorter(index, value, derivation, derivations, above, graph, table)
        yield from _find_lone(index, derivation, graph, table, facts)


def _list_inputs(derivation: Derivation) -> tuple[int, ...]:
    try:
        return hops_used(derivation)
    except ExpressionError:
        return ()


def _list_ancestors(derivations: Sequence[Derivation]) -> list[frozenset[int]]:
    """For each hop, the hops that it rests on, directly or not."""
    found: list[frozenset[int]] = []
    for derivation in derivations:
        direct = [hop for hop in _list_inputs(derivation) if hop <= len(found)]
        found.append(frozenset(direct).union(*(found[hop - 1] for hop in direct)))
    return found


def _find_given(
    index: int, derivation: Derivation, derivations: Sequence[Derivation], table: PropertyTable
) -> Iterator[Shortcut]:
    """A literal asked of what that very literal singled out: the question says it already."""
    read = [(derivation.subject, derivation.property)] if isinstance(derivation, Lookup) else []
    if isinstance(derivation, Compute):
        read = [(reference, property) for property, reference in _VALUE.findall(derivation.expression)]
    for reference, property in read:
        match = _HOP.fullmatch(reference)
        if match is None or int(match[1]) >= index or property not in table.literal:
            continue
        source = derivations[int(match[1]) - 1]
        if isinstance(source, ReverseLookup) and property in (
            source.property,
            *(c.property for c in source.constraints),
        ):
            yield Shortcut(
                index, "a value that is given", f"{table.literal[property].label} singles out hop {match[1]}"
            )


def _find_direct(
    index: int,
    value: str,
    derivations: Sequence[Derivation],
    answers: Mapping[int, Value],
    above: Sequence[frozenset[int]],
    graph: FactGraph,
    table: PropertyTable,
) -> Iterator[Shortcut]:
    """Facts that join an answer with what lies before the hop that asks for it."""
    own = {str(answers.get(hop, "")) for hop in _list_inputs(derivations[index - 1])}
    own.update(named_entities(derivations[index - 1]))
    before: dict[str, None] = {}
    for hop in sorted(above[index - 1]):
        if isinstance(derivations[hop - 1], Compute):
            continue
        before |= dict.fromkeys(named_entities(derivations[hop - 1]))
        if isinstance(answers.get(hop), str):
            before[str(answers[hop])] = None
    far = [one for one in before if one not in own and one != value]
    if not far:
        return
    idle = table.roles.uninformative
    around = {other: property for property, other in graph.out_edges(value) if property not in idle}
    for one in far:
        property = around.get(one) or next(
            (property for property, other in graph.out_edges(one) if other == value and property not in idle), ""
        )
        if property:
            detail = f"{graph.label(one)} and {graph.label(value)} are joined by {graph.property_label(property)}"
            yield Shortcut(index, "a direct fact", detail)


def _find_shorter(
    index: int,
    value: str,
    derivation: Derivation,
    derivations: Sequence[Derivation],
    above: Sequence[frozenset[int]],
    graph: FactGraph,
    table: PropertyTable,
) -> Iterator[Shortcut]:
    """Two facts that lead from a named entity to the answer by the hop's own relation, where the plan takes three."""
    if not isinstance(derivation, Lookup):
        return
    idle = table.roles.uninformative
    for hop in sorted(above[index - 1]):
        between = [one for one in above[index - 1] if hop in above[one - 1]]
        root = derivations[hop - 1]
        if not between or not isinstance(root, Lookup) or not root.subject.startswith("Q"):
            continue
        by_property: dict[str, list[str]] = {}
        for property, other in graph.out_edges(root.subject)[:_FOLLOWED]:
            by_property.setdefault(property, []).append(other)
        for property, others in by_property.items():
            if len(others) != 1 or property in idle or property == root.property:
                continue
            if graph.objects(others[0], derivation.property) == (value,):
                detail = f"by way of {graph.label(others[0])}, {graph.property_label(property)} of "
                yield Shortcut(index, "a shorter path", detail + graph.label(root.subject))
                return


def _find_lone(
    index: int,
    derivation: Derivation,
    graph: FactGraph,
    table: PropertyTable,
    facts: Facts | None,
) -> Iterator[Shortcut]:
    """A relation with one answer, whatever its input."""
    if isinstance(derivation, Lookup):
        reads = derivation.subject.startswith("hop") and derivation.property not in table.literal
        if reads and len(graph.sample_objects(derivation.property, 200)) < 2:
            yield Shortcut(index, "one answer without its input", graph.property_label(derivation.property))
        return
    if not isinstance(derivation, ReverseLookup):
        return  # it reads a document or a picture, and so has no input
    conditions = (Constraint(property=derivation.property, value=derivation.value), *derivation.constraints)
    known = [condition for condition in conditions if not _HOP.search(condition.value)]
    if len(known) == len(conditions):
        return  # a root: it has no input
    for condition in known:
        if condition.value.startswith("Q"):
            count = len(graph.subjects(condition.property, condition.value))
        elif facts is not None and condition.value.isdigit():
            count = len(facts.subjects_of_scalar(condition.property, int(condition.value)))
        else:
            continue
        if count < 2:
            yield Shortcut(index, "one answer without its input", f"{condition.property} is {condition.value}")
