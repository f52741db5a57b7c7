"""Checks of truth: evidence, recomputation, uniqueness, counterfactual worlds."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

from hopwright.checks.case import Check, CheckContext, CheckedItem, Finding
from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.facts import EvidenceFacts, Facts
from hopwright.planning.execution import execute, render_answer, same
from hopwright.planning.necessity import iter_shortcuts
from hopwright.planning.open_world import OpenWorld
from hopwright.records import Compute, Hop, LiteralFact, Lookup, ReadRegion, ReadSpan, ReverseLookup
from hopwright.records.values import Value, parse
from hopwright.text.matching import contains_exact_name, fold, is_distinctive_name, read_number


def check_evidence(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """Every look-up's fact travels with its hop, and what travels is what the hop says.

    Facts inside computations are covered by recomputation, which has nothing else to run on.
    """
    for hop in case.item.hops:
        if not isinstance(hop.derivation, Compute) and not _is_covered(
            hop, EvidenceFacts((hop,), context.table), case, context
        ):
            yield hop.index, f"its evidence does not hold the {_what(hop)}"
        label = case.labels.get(hop.answer_id or "")
        if label is not None and fold(label) != fold(hop.answer):
            yield hop.index, f"answer {hop.answer!r}, but the evidence calls {hop.answer_id} {label!r}"


def check_evidence_in_graph(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """Every triplet and literal of the evidence is in the graph, under the graph's labels."""
    graph = context.graph
    assert graph is not None
    for hop in case.item.hops:
        for triplet in hop.evidence.triplets:
            if triplet.object not in graph.objects(triplet.subject, triplet.property):
                yield hop.index, f"not in the graph: {triplet.subject} {triplet.property} {triplet.object}"
        for literal in hop.evidence.literals:
            if not _is_in_graph(literal, context):
                yield hop.index, f"not in the graph: {literal.subject} {literal.property} {literal.value}"
        if hop.answer_id and (label := graph.label(hop.answer_id)) != hop.answer:
            yield hop.index, f"answer {hop.answer!r}, but {hop.answer_id} is {label!r} in the graph"
    for id, label in case.labels.items():
        if graph.label(id) != label:
            yield None, f"the evidence calls {id} {label!r}, the graph {graph.label(id)!r}"


def check_recomputation(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """Every stated answer follows from the evidence and the stated answers of the hops before it.

    Hop by hop on what is stated: if each holds, so does the whole plan, and a wrong one is blamed where it is wrong.
    """
    yield from _rerun(case, case.evidence(context.table), context)


def check_uniqueness(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """The whole graph, too, gives exactly one answer to each hop, the stated one."""
    assert context.facts is not None
    yield from _rerun(case, context.facts, context)


def check_open_world(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """What is unique in the graph is unique in the world, as far as the graph can know."""
    proof = _open_world(context)
    for hop in case.item.hops:
        value = case.stated.get(hop.index)
        if value is not None and (doubt := proof.find_doubt(hop.derivation, case.stated, value)):
            yield hop.index, doubt


def check_world(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """A counterfactual world is consistent: each original has one surrogate, and no original survives in the item."""
    world = case.item.world
    if case.factual:
        if world:
            yield None, "a factual item with a list of surrogates"
        return
    if not world:
        yield None, "a counterfactual item that lists no surrogates"
    pairs: dict[tuple[str, str], str] = {}
    for one in world:
        if pairs.setdefault((one.id, one.original), one.surrogate) != one.surrogate:
            yield None, f"{one.original!r} has two surrogates"
        if read_number(one.original) is not None or _is_date(one.original):
            continue
        if fold(one.original) == fold(one.surrogate):
            yield None, f"{one.original!r} stands for itself"
        elif is_distinctive_name(one.original):
            for index, text in _list_texts(case):
                if contains_exact_name(text, one.original):
                    yield index, f"the original {one.original!r} survives in {text!r:.80}"


def check_surrogates(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """No surrogate name, and no entity answer of a counterfactual item, is known to the graph."""
    graph = context.graph
    assert graph is not None
    if case.factual:
        return
    for hop in case.item.hops:
        if hop.answer_type == "entity" and graph.knows_name(hop.answer):
            yield hop.index, f"the surrogate {hop.answer!r} is a name that the graph knows"
    for one in case.item.world:
        name = one.surrogate
        if read_number(name) is None and not _is_date(name) and graph.knows_name(name):
            yield None, f"the surrogate {name!r} is a name that the graph knows"


def check_no_shortcut(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """No fact, and no shorter path, leads past a hop to its answer; see `hopwright.planning.necessity`."""
    assert context.graph is not None
    derivations = [hop.derivation for hop in case.item.hops]
    answers: dict[int, Value] = {hop.index: hop.answer_id or hop.answer for hop in case.item.hops}
    for one in iter_shortcuts(derivations, answers, context.graph, context.table):
        yield one.hop, f"{one.kind}: {one.detail}"


PROOF = (
    Check("evidence", "every fact used travels with the item", check_evidence),
    Check(
        "evidence-in-graph",
        "the evidence is what the graph holds",
        check_evidence_in_graph,
        needs=("plan", "factual", "graph"),
    ),
    Check("recomputation", "the derivations, run again, give the stated answers", check_recomputation),
    Check(
        "uniqueness",
        "the graph gives one answer to each hop",
        check_uniqueness,
        needs=("plan", "factual", "graph"),
    ),
    Check(
        "open-world",
        "what is unique in the graph is unique in the world",
        check_open_world,
        needs=("plan", "factual", "graph"),
    ),
    Check(
        "no-shortcut",
        "nothing joins what the question names with a later answer, past the hops between",
        check_no_shortcut,
        needs=("plan", "factual", "graph"),
    ),
    Check("world", "surrogates are consistent", check_world),
    Check("surrogates", "surrogates are unknown to the graph", check_surrogates, needs=("plan", "graph")),
)


def _rerun(case: CheckedItem, facts: Facts, context: CheckContext) -> Iterator[Finding]:
    stated = case.stated
    for hop in case.item.hops:
        if hop.index not in stated:
            yield hop.index, f"cannot read the answer {hop.answer!r} as a {hop.answer_type}"
            continue
        inputs: Mapping[int, Value] = {index: value for index, value in stated.items() if index < hop.index}
        try:
            value = execute(hop.derivation, hop.answer_type, inputs, facts, context.table, hop.evidence.claims)
        except (ExpressionError, InputError, ArithmeticError, TypeError) as error:
            yield hop.index, str(error)
            continue
        if not same(value, stated[hop.index]):
            yield hop.index, f"states {hop.answer!r}, but its derivation gives {_write(value, hop)!r}"
        elif hop.answer_type != "entity" and (written := _write(value, hop)) != hop.answer:
            yield hop.index, f"writes {hop.answer!r} where {written!r} is due (unit {hop.unit!r})"


def _write(value: Value, hop: Hop) -> str:
    return render_answer(value, hop.unit)


def _is_covered(hop: Hop, own: EvidenceFacts, case: CheckedItem, context: CheckContext) -> bool:
    derivation = hop.derivation
    if isinstance(derivation, Lookup):
        subject = derivation.subject
        if subject.startswith("hop"):
            subject = str(case.stated.get(case.used[hop.index][0] if case.used[hop.index] else 0, ""))
        if derivation.property in context.table.literal:
            return bool(own.scalars(subject, derivation.property))
        return (hop.answer_id or "") in own.objects(subject, derivation.property)
    if isinstance(derivation, ReadSpan):
        cited = [(one.document, one.start, one.end, one.text) for one in hop.evidence.spans]
        return (derivation.document, derivation.start, derivation.end, hop.answer) in cited
    if isinstance(derivation, ReadRegion):
        return any(
            all(getattr(one, name) == value for name, value in derivation.model_dump(exclude={"op"}).items())
            for one in hop.evidence.regions
        )
    assert isinstance(derivation, ReverseLookup)
    properties = {derivation.property, *(constraint.property for constraint in derivation.constraints)}
    answer = hop.answer_id or ""
    return all(
        own.scalars(answer, property) if property in context.table.literal else own.objects(answer, property)
        for property in properties
    )


def _what(hop: Hop) -> str:
    derivation = hop.derivation
    if isinstance(derivation, Lookup):
        return f"{derivation.property} of {derivation.subject}"
    if isinstance(derivation, ReadSpan | ReadRegion):
        return f"place in {derivation.document} that it reads"
    return f"facts of {hop.answer_id} that its look-up asks for"


def _is_in_graph(literal: LiteralFact, context: CheckContext) -> bool:
    value = context.table.read(literal)
    if value is not None:
        assert context.facts is not None
        return value in context.facts.scalars(literal.subject, literal.property)
    assert context.graph is not None
    return any(held.value == literal.value for held in context.graph.literals(literal.subject, literal.property))


def _list_texts(case: CheckedItem) -> Iterator[tuple[int | None, str]]:
    yield None, case.item.question
    for hop in case.item.hops:
        yield from ((hop.index, text) for text in (hop.question, hop.answer, *hop.options.values()))


def _is_date(text: str) -> bool:
    try:
        parse(text, "date")
    except InputError:
        return False
    return True


@functools.lru_cache(maxsize=4)
def _open_world(context: CheckContext) -> OpenWorld:
    assert context.graph is not None and context.kinds is not None and context.facts is not None
    return OpenWorld(context.graph, context.table, context.kinds, context.facts)
