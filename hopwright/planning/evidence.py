"""The facts that a step rests on, as records with labels, so that an item can be verified by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import FactGraph
from hopwright.planning.plan import PlanStep
from hopwright.records import Compute, Evidence, LiteralFact, Lookup, ReverseLookup, Triplet
from hopwright.records.values import Value

_VALUE = re.compile(r"value\((P\d+), (\w+)\)")
_OBJECT = re.compile(r"object\((P\d+), (\w+)\)")
_EXTREME = re.compile(r"^arg(?:max|min)\((P\d+), ([^()]*)\)$")


def evidence_for(step: PlanStep, answers: Mapping[int, Value], graph: FactGraph, table: PropertyTable) -> Evidence:
    """Collect the triplets and literals behind a step; `answers` are those of the earlier hops."""
    derivation = step.derivation
    if isinstance(derivation, Lookup):
        subject = _resolve(derivation.subject, answers)
        if derivation.property in table.literal:
            literals = _literals(graph, subject, derivation.property)
            return Evidence.of(literals=literals, wikipedia_url=graph.page_url(subject))
        triplet = _triplet(graph, subject, derivation.property, str(step.value))
        return Evidence.of(triplets=(triplet,), wikipedia_url=graph.page_url(subject))
    if isinstance(derivation, ReverseLookup):
        return _reverse_evidence(derivation, str(step.value), answers, graph, table)
    return Evidence.of(
        triplets=_compared_by(derivation, answers, graph),
        literals=_computed_from(derivation, answers, graph),
        claims=step.claims,
    )


def _reverse_evidence(
    derivation: ReverseLookup, found: str, answers: Mapping[int, Value], graph: FactGraph, table: PropertyTable
) -> Evidence:
    triplets: list[Triplet] = []
    literals: list[LiteralFact] = []
    conditions = ((derivation.property, derivation.value), *((c.property, c.value) for c in derivation.constraints))
    for property, value in conditions:
        if property in table.literal:
            literals.extend(_literals(graph, found, property))
        else:
            triplets.append(_triplet(graph, found, property, _resolve(value, answers)))
    return Evidence.of(triplets=tuple(triplets), literals=tuple(literals), wikipedia_url=graph.page_url(found))


def _computed_from(derivation: Compute, answers: Mapping[int, Value], graph: FactGraph) -> tuple[LiteralFact, ...]:
    pairs = _VALUE.findall(derivation.expression)
    if match := _EXTREME.match(derivation.expression):
        pairs = [(match[1], entity.strip()) for entity in match[2].split(",")]
    facts = (fact for property, entity in pairs for fact in _literals(graph, _resolve(entity, answers), property))
    return tuple(dict.fromkeys(facts))


def _compared_by(derivation: Compute, answers: Mapping[int, Value], graph: FactGraph) -> tuple[Triplet, ...]:
    """The facts behind `object(…)`: whom each of the counted ones has."""
    found = []
    for property, entity in _OBJECT.findall(derivation.expression):
        subject = _resolve(entity, answers)
        found += [_triplet(graph, subject, property, object) for object in graph.objects(subject, property)]
    return tuple(dict.fromkeys(found))


def _resolve(reference: str, answers: Mapping[int, Value]) -> str:
    return str(answers[int(reference[3:])]) if reference.startswith("hop") else reference


def _literals(graph: FactGraph, subject: str, property: str) -> tuple[LiteralFact, ...]:
    return graph.literals(subject, property)


def _triplet(graph: FactGraph, subject: str, property: str, object: str) -> Triplet:
    return Triplet(
        subject=subject,
        property=property,
        object=object,
        subject_label=graph.label(subject),
        property_label=graph.property_label(property),
        object_label=graph.label(object),
    )
