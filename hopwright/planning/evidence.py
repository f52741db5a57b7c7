"""The facts that a step rests on, as records with labels, so that an item can be verified by itself."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping

from hopwright.knowledge.facts import Facts, GraphFacts
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import FactGraph
from hopwright.planning.computation_forms import EndMember, Extreme, Form, read_form
from hopwright.planning.execution import resolve
from hopwright.planning.expressions import evaluate
from hopwright.planning.plan import PlanStep, named_entities
from hopwright.records import Compute, Evidence, LiteralFact, Lookup, ReverseLookup, Triplet
from hopwright.records.values import Scalar, Value


def evidence_for(step: PlanStep, answers: Mapping[int, Value], graph: FactGraph, table: PropertyTable) -> Evidence:
    """Collect the triplets and literals behind a step; `answers` are those of the earlier hops."""
    derivation = step.derivation
    if isinstance(derivation, Lookup):
        subject = resolve(derivation.subject, answers)
        if derivation.property in table.literal:
            literals = _literals(graph, subject, derivation.property)
            return Evidence.of(literals=literals, wikipedia_url=graph.page_url(subject))
        triplet = name_triplet(graph, subject, derivation.property, str(step.value))
        return Evidence.of(triplets=(triplet,), wikipedia_url=graph.page_url(subject))
    if isinstance(derivation, ReverseLookup):
        return _reverse_evidence(derivation, str(step.value), answers, graph, table)
    return _computed_from(step, derivation, answers, graph, table)


def find_ties(step: PlanStep, others: Iterable[str], graph: FactGraph, table: PropertyTable) -> tuple[Triplet, ...]:
    """What joins somebody named, whose death a step looks up or from whose list it chooses, to what else a plan names
    or finds: the question may say that she was the mother of a director, that he edited a film, or directed it.
    """
    derivation = step.derivation
    named, joining = set[str](), frozenset[str]()
    if isinstance(derivation, Lookup) and derivation.property == table.roles.death:
        named, joining = {derivation.subject}, table.roles.kinship.union(table.credits)
    elif isinstance(derivation, Compute):
        named, joining = set(named_entities(derivation)), table.roles.made
    return tuple(
        name_triplet(graph, other, property, object)
        for other in others
        for property, object in graph.out_edges(other)
        if object in named and property in joining
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
            triplets.append(name_triplet(graph, found, property, resolve(value, answers)))
    return Evidence.of(triplets=tuple(triplets), literals=tuple(literals), wikipedia_url=graph.page_url(found))


class _ReadFacts:
    """Facts that remember what was asked of them, in order."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.asked: dict[tuple[str, str, bool], None] = {}

    def objects(self, subject: str, property: str) -> tuple[str, ...]:
        """See Facts."""
        self.asked[subject, property, True] = None
        return self._facts.objects(subject, property)

    def subjects(self, property: str, object: str) -> tuple[str, ...]:
        """See Facts."""
        return self._facts.subjects(property, object)

    def scalars(self, subject: str, property: str) -> tuple[Scalar, ...]:
        """See Facts."""
        self.asked[subject, property, False] = None
        return self._facts.scalars(subject, property)

    def subjects_of_scalar(self, property: str, value: Scalar) -> tuple[str, ...]:
        """See Facts."""
        return self._facts.subjects_of_scalar(property, value)


def _computed_from(
    step: PlanStep, derivation: Compute, answers: Mapping[int, Value], graph: FactGraph, table: PropertyTable
) -> Evidence:
    """What a computation reads: every fact that evaluating it asks for."""
    facts = _ReadFacts(GraphFacts(graph, table))
    evaluate(derivation.expression, answers, facts, step.claims)
    triplets: list[Triplet] = []
    literals: list[LiteralFact] = []
    form = read_form(derivation.expression)
    listed: tuple[str, ...] = ()
    if isinstance(form, Extreme) and form.members is not None and not form.members.outward:
        listed = form.entities
    credit = form.members.credit if isinstance(form, Extreme) and form.members is not None else ""
    for subject, property, of_entity in (*facts.asked, *_list_beyond(form, answers, graph, table)):
        if of_entity:
            objects = graph.objects(subject, property)
            if listed:  # of a whole cast, those that are named
                objects = tuple(one for one in objects if one in listed)
            triplets += [name_triplet(graph, subject, property, object) for object in objects]
            if isinstance(form, Extreme) and property == credit and not objects:
                # With whom it was made is not known: that it lies on the other side of what is chosen has to be.
                literals += _literals(graph, subject, form.property)
        else:
            literals += _literals(graph, subject, property)
    return Evidence.of(triplets=tuple(triplets), literals=tuple(literals), claims=step.claims)


def _list_beyond(
    form: Form | None, answers: Mapping[int, Value], graph: FactGraph, table: PropertyTable
) -> Iterator[tuple[str, str, bool]]:
    """The places of the members of a series beyond the first or the last of several, and what each has in the column
    that these share.
    """
    if not isinstance(form, EndMember):
        return
    places = _list_places(graph, table, form.series)
    sharing = [places[one] for one in graph.subjects(form.column, resolve(form.reference, answers)) if one in places]
    end = max(sharing) if form.last else min(sharing)
    for member, place in places.items():
        if place != end and (place > end) is form.last:
            yield member, form.column, True
            yield member, form.series, False


@functools.lru_cache(maxsize=256)
def _list_places(graph: FactGraph, table: PropertyTable, series: str) -> Mapping[str, int]:
    """The members of a series, in their order, and their places."""
    facts = GraphFacts(graph, table)
    found = {one: int(str(facts.scalars(one, series)[0])) for one in graph.literal_subjects(series)}
    return dict(sorted(found.items(), key=lambda one: one[1]))


def _literals(graph: FactGraph, subject: str, property: str) -> tuple[LiteralFact, ...]:
    return graph.literals(subject, property)


def name_triplet(graph: FactGraph, subject: str, property: str, object: str) -> Triplet:
    """A fact with the names that the graph has for its three parts."""
    return Triplet(
        subject=subject,
        property=property,
        object=object,
        subject_label=graph.label(subject),
        property_label=graph.property_label(property),
        object_label=graph.label(object),
    )
