"""Checks of an item's shape: fields, identity, dependencies, domains, units, votes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from hopwright.checks.case import Check, CheckContext, CheckedItem, Finding
from hopwright.checks.units import measure, unit_of
from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.properties import LiteralProperty
from hopwright.planning.execution import hops_used
from hopwright.planning.expressions import parse_expression
from hopwright.records import Compute, Hop, Lookup
from hopwright.records.values import parse
from hopwright.text.matching import fold
from hopwright.topologies import TOPOLOGIES

_ENTITY = re.compile(r"^Q[0-9A-Za-z_]+$")


def check_schema(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """Fields filled, hops numbered from 1, answers of the type that they state, the item's answer the last hop's."""
    item = case.item
    expected = TOPOLOGIES.get(item.topology)
    if expected is None:
        yield None, f"unknown topology {item.topology!r}"
    elif len(item.hops) != len(expected):
        yield None, f"{len(item.hops)} hops, but {item.topology} has {len(expected)}"
    for name, text in (("id", item.id), ("question", item.question), ("answer", item.answer)):
        if not text.strip():
            yield None, f"{name} is empty"
    for position, hop in enumerate(item.hops, start=1):
        if hop.index != position:
            yield position, f"numbered {hop.index}, but stands at place {position}"
        if not hop.question.strip():
            yield position, "question is empty"
        if not hop.answer.strip():
            yield position, "answer is empty"
        elif case.planned:
            yield from ((position, problem) for problem in _find_type_problems(hop))
    if item.answer != case.last.answer:
        yield None, f"answer {item.answer!r} is not the last hop's {case.last.answer!r}"


def check_identity(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """The id is the content hash of the plan, so that a changed plan shows."""
    item = case.item
    expected = item.plan_id
    if item.id.startswith("hw-") and item.id != expected:
        yield None, f"id {item.id} is not the hash of the plan ({expected})"
    if not case.factual and item.twin is None:
        yield None, "a counterfactual item that names no twin"


def check_dependencies(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """Dependencies are those of the topology and of the derivations; every hop but the last is used later."""
    expected = TOPOLOGIES[case.item.topology].depends_on if case.item.topology in TOPOLOGIES else ()
    last = len(case.item.hops)
    used: set[int] = set()
    for position, hop in enumerate(case.item.hops, start=1):
        wrong = [one for one in hop.depends_on if not 1 <= one < position]
        if wrong:
            yield position, f"depends on hop {wrong[0]}, which does not come before it"
        if position <= len(expected) and hop.depends_on != expected[position - 1]:
            yield (
                position,
                f"depends on {_list(hop.depends_on)}; {case.item.topology} says {_list(expected[position - 1])}",
            )
        try:
            needed = hops_used(hop.derivation)
        except ExpressionError as error:
            yield position, str(error)
            continue
        if needed != tuple(sorted(hop.depends_on)):
            yield position, f"its derivation uses {_list(needed)}, but it states {_list(hop.depends_on)}"
        used.update(needed)
    for position in range(1, last):
        if position not in used:
            yield position, "no later hop uses its answer"


def check_computing_hop(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """At least one hop computes, with inputs from other hops or output to them."""
    computing = [hop for hop in case.item.hops if isinstance(hop.derivation, Compute)]
    if not computing:
        yield None, "no hop computes"
    elif not any(hop.index in _used(case) or case.used[hop.index] for hop in computing):
        yield computing[0].index, "the computing hop is connected to no other hop"


def check_repetition(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """No entity is the answer of two hops, unless a later hop selects it among its inputs."""
    seen: dict[str, int] = {}
    for hop in case.item.hops:
        if hop.answer_type != "entity" or case.by_selection(hop):
            continue
        key = hop.answer_id or fold(hop.answer)
        if key in seen:
            yield hop.index, f"{hop.answer!r} is the answer of hop {seen[key]} too"
        seen.setdefault(key, hop.index)
        if isinstance(hop.derivation, Lookup) and hop.derivation.subject == hop.answer_id:
            yield hop.index, f"{hop.answer!r} is the answer to a question about itself"


def check_domains(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """The hops span several domains (Omanic, section 2)."""
    count = len(case.item.domains)
    if count < context.min_domains:
        yield None, f"{count} domain, fewer than {context.min_domains}"


def check_units(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """A number looked up carries its property's unit, and a duration says in what it is counted."""
    for hop in case.item.hops:
        if hop.answer_type != "number":
            continue
        if isinstance(hop.derivation, Lookup):
            entry = context.table.literal.get(hop.derivation.property)
            if entry is None:
                continue
            expected = entry.unit if entry.value == "number" else "year"
            if hop.unit != expected:
                yield hop.index, f"unit {hop.unit!r}, but {entry.label} is given in {expected!r}"
            elif _must_name(entry) and not _names_unit(hop.question, expected):
                yield hop.index, f"the question does not ask for {expected}"
        elif isinstance(hop.derivation, Compute) and hop.derivation.kind == "temporal" and not hop.unit:
            yield hop.index, "a temporal calculation without a unit"
        elif isinstance(hop.derivation, Compute) and hop.derivation.kind == "arithmetic" and not hop.unit:
            expected = _measure(hop.derivation.expression, case, context)
            if expected not in ("", "year"):
                yield hop.index, f"a result without the unit of its inputs ({expected})"


def check_votes(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """Each vote's verdict and probabilities agree with the options, and no voter votes twice."""
    voters: set[str] = set()
    for vote in case.item.votes:
        if vote.right != (vote.option == case.item.label):
            yield None, f"vote of {vote.model}: {vote.option} is marked {'right' if vote.right else 'wrong'}"
        if vote.model in voters:
            yield None, f"{vote.model} votes twice"
        voters.add(vote.model)
        if not vote.probabilities:
            continue
        valid = all(0 <= one <= 1 for one in vote.probabilities)
        if len(vote.probabilities) != 4 or not valid or not math.isclose(sum(vote.probabilities), 1, abs_tol=0.02):
            yield (
                None,
                f"vote of {vote.model}: {list(vote.probabilities)} are no probabilities of four options",
            )


STRUCTURE = (
    Check("schema", "fields filled, hops in order, answers of their type", check_schema, needs=()),
    Check("identity", "the id is the hash of the plan", check_identity),
    Check(
        "dependencies",
        "dependencies are the topology's and the derivations', none dangling",
        check_dependencies,
    ),
    Check("computing-hop", "a hop computes, connected to others", check_computing_hop),
    Check("repetition", "no entity answers two hops", check_repetition),
    Check("domains", "the hops span several domains", check_domains),
    Check("units", "numbers carry their units", check_units),
    Check("votes", "votes agree with the options", check_votes, needs=()),
)


def _find_type_problems(hop: Hop) -> Iterator[str]:
    if hop.answer_type == "entity":
        if hop.answer_id is None or not _ENTITY.match(hop.answer_id):
            yield f"an entity answer needs an answer_id of the form Q…, not {hop.answer_id!r}"
        return
    if hop.answer_id is not None:
        yield f"a {hop.answer_type} answer with the answer_id {hop.answer_id}"
    try:
        parse(hop.answer, hop.answer_type)
    except InputError as error:
        yield str(error)


def _measure(expression: str, case: CheckedItem, context: CheckContext) -> str:
    try:
        tree = parse_expression(expression)
    except ExpressionError:
        return ""  # recomputation reports it
    return measure(tree, {one.index: unit_of(one) for one in case.item.hops}, context.table)


def _used(case: CheckedItem) -> set[int]:
    return {one for hops in case.used.values() for one in hops}


def _must_name(entry: LiteralProperty) -> bool:
    """Whether a property's own questions all name the unit (kilometres do, spectators may go without saying)."""
    if entry.value != "number" or not entry.unit or not entry.ask:
        return False
    asked = (*entry.ask, *(question for variant in entry.variants for question in variant.ask))
    return all(_names_unit(question, entry.unit) for question in asked)


def _names_unit(question: str, unit: str) -> bool:
    """The unit's last word, in singular or plural, is in the question: `square kilometres`, `metre`."""
    stem = fold(unit).split()[-1].rstrip("s")
    return any(word.startswith(stem) for word in fold(question).split())


def _list(hops: tuple[int, ...]) -> str:
    return "hops " + ", ".join(str(hop) for hop in hops) if hops else "no hop"
