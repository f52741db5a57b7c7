"""Checks against shortcuts: hops that may be left out, comparisons of unlike things, sub-questions strung together."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from hopwright.checks.case import Check, CheckContext, CheckedItem, Finding
from hopwright.checks.units import measure, unit_of
from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.facts import Facts
from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.computation_forms import Extreme, GroupSize, read_form
from hopwright.planning.execution import execute, same
from hopwright.planning.expressions import parse_expression
from hopwright.planning.necessity import iter_shortcuts
from hopwright.records import Compute, Constraint, Hop, ReverseLookup
from hopwright.records.values import Value
from hopwright.text.matching import fold, is_distinctive_name

_ASKING = re.compile(
    r"^(?:(?:in|of|for|on|at|by|to|from|after|with|under) )?(?:who|whom|whose|which|what|where|when|how)\b"
)
# A relative clause ("the person who directed it") is no second question: that stands at the start of a clause.
_CLAUSES = re.compile(r"[.?!;:,]\s+(?:and |then |or )?|\s(?:and|then)\s(?=(?:in |of |for )?(?:wh|how))")
_OPENING = 4
_FAR = 997


def check_last_hop_alone(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """What the last hop states by itself, its inputs unknown, leaves more than one answer."""
    hop, facts = case.last, context.facts
    assert facts is not None
    if not isinstance(hop.derivation, ReverseLookup):
        return
    known = [one for one in _conditions(hop.derivation) if not _rests_on(one)]
    if known and len(known) < 1 + len(hop.derivation.constraints) and _count_matches(known, facts, context.table) == 1:
        yield hop.index, "its own conditions have one answer, so that no earlier hop is needed"


def check_every_hop_needed(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """With any one hop left out, the answer is open.

    No fact or shorter path of the graph leads past a hop (see `necessity`; MuSiQue, section 3). A look-up's inputs
    matter unless its other conditions settle it; a computation's unless it comes to the same for any input; and a
    comparison unless its losers lead to the same final answer.
    """
    graph, facts = context.graph, context.facts
    assert graph is not None and facts is not None
    derivations = [hop.derivation for hop in case.item.hops]
    for shortcut in iter_shortcuts(derivations, case.stated, graph, context.table, facts):
        yield shortcut.hop, f"{shortcut.kind}: {shortcut.detail}"
    for hop in case.item.hops:
        derivation = hop.derivation
        if isinstance(derivation, ReverseLookup):
            if hop is not case.last:
                yield from _find_spare_condition(hop, derivation, facts, context.table)
        elif isinstance(derivation, Compute):
            form = read_form(derivation.expression)
            if isinstance(form, Extreme):
                if hop is not case.last:
                    yield from _find_idle_comparison(hop, form.entities, case, facts, context.table)
            else:
                yield from _find_idle_inputs(hop, derivation, case, facts, context.table)


def check_named_twice(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """The question names no entity twice: what several hops start from is named once and then referred to.

    Beside a list of its like, `the film` would not say which: what two hops refer to may be named twice then, as in the
    last opera by the composer of an opera to be premiered before the librettist of that opera died.
    """
    text = case.padded
    names = {fold(label): id for id, label in case.labels.items() if not label.islower()}  # classes are common nouns
    for name in sorted(names, key=lambda name: (-len(name), name)):
        if len(name) > 2 and is_distinctive_name(name) and f" {name} " in text:
            again = _has_list(case) and _count_references(case, names[name]) > 1
            if text.count(f" {name} ") > 1 + (again and context.kind_of(names[name]) != "person"):
                yield None, f"names {name!r} {'too often' if again else 'twice'}"
            text = text.replace(f" {name} ", " ")  # a shorter name inside a longer one is no second mention


def _has_list(case: CheckedItem) -> bool:
    """Whether a hop chooses or counts among several that it names, or that a moment parts."""
    forms = [read_form(hop.derivation.expression) for hop in case.item.hops if isinstance(hop.derivation, Compute)]
    chosen = [form for form in forms if isinstance(form, Extreme | GroupSize) and form.members]
    return any(form.moment or (form.members and form.members.entities) for form in chosen)


def _count_references(case: CheckedItem, id: str) -> int:
    texts = [text for hop in case.item.hops for text in hop.derivation.references()]
    return sum(len(re.findall(rf"\b{id}\b", text)) for text in texts)


def check_comparison(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """What is compared, added or subtracted is of one sort: years with years, square kilometres with their like."""
    units = {hop.index: unit_of(hop) for hop in case.item.hops}
    for hop in case.item.hops:
        if not isinstance(hop.derivation, Compute):
            continue
        try:
            tree = parse_expression(hop.derivation.expression)
        except ExpressionError:
            continue  # recomputation reports it
        for one, other in _find_unlike(tree, units, context.table):
            yield hop.index, f"sets {one} against {other}"
        form = read_form(hop.derivation.expression)
        if context.graph is not None and isinstance(form, Extreme) and case.factual:
            yield from _find_unlike_entities(hop, form.entities, case, context)


def check_concatenation(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """The multi-hop question is one question, not its sub-questions one after the other."""
    # Clauses, and the question from its start: a sub-question may hold commas itself.
    clauses = [fold(clause) + " " for clause in (*_CLAUSES.split(case.item.question), case.item.question)]
    asked: dict[str, int] = {}
    for hop, padded in zip(case.item.hops, case.padded_hops, strict=True):
        text = padded.strip()
        if hop is not case.last and any(clause.startswith(f"{text} ") for clause in clauses):
            yield hop.index, "the multi-hop question repeats the sub-question word for word"
        opening = " ".join(text.split()[:_OPENING])
        if _ASKING.match(opening) and any(clause.startswith(f"{opening} ") for clause in clauses):
            asked.setdefault(opening, hop.index)
    if len(asked) > 1:
        places = " and ".join(f"hop {index}" for index in sorted(asked.values()))
        yield None, f"asks the sub-questions of {places} one after the other"


SHORTCUTS = (
    Check("last-hop-alone", "the last hop by itself has more than one answer", check_last_hop_alone,
          needs=("plan", "factual", "graph")),
    Check("every-hop-needed", "no hop can be left out", check_every_hop_needed, needs=("plan", "factual", "graph")),
    Check("named-twice", "no entity is named twice, but for one that two hops refer to beside a list of its like",
          check_named_twice),
    Check("comparison", "like is compared with like", check_comparison),
    Check("concatenation", "the question is more than a string of sub-questions", check_concatenation, needs=()),
)  # fmt: skip


def _conditions(derivation: ReverseLookup) -> tuple[Constraint, ...]:
    return Constraint(property=derivation.property, value=derivation.value), *derivation.constraints


def _rests_on(condition: Constraint) -> bool:
    return "hop" in condition.value


def _count_matches(conditions: list[Constraint], facts: Facts, table: PropertyTable) -> int:
    alone = ReverseLookup(property=conditions[0].property, value=conditions[0].value, constraints=tuple(conditions[1:]))
    try:
        execute(alone, "entity", {}, facts, table)
    except ExpressionError:
        return 2  # none, or several
    return 1


def _find_spare_condition(hop: Hop, derivation: ReverseLookup, facts: Facts, table: PropertyTable) -> Iterator[Finding]:
    """A look-up that is settled without the conditions that rest on earlier hops."""
    conditions = _conditions(derivation)
    known = [one for one in conditions if not _rests_on(one)]
    if known and len(known) < len(conditions) and _count_matches(known, facts, table) == 1:
        yield hop.index, "its answer is settled without the hops that it rests on"


def _find_idle_comparison(
    hop: Hop, operands: Sequence[str], case: CheckedItem, facts: Facts, table: PropertyTable
) -> Iterator[Finding]:
    """A comparison whose losers lead to the same final answer."""
    final = case.stated.get(case.last.index)
    winner = case.stated.get(hop.index)
    losers = [one for one in (case.resolve(operand) for operand in operands) if one != winner]
    reached = [_run_on(case, hop.index, loser, facts, table) for loser in losers]
    if final is not None and reached and all(one is not None and same(one, final) for one in reached):
        yield hop.index, f"whoever is chosen, the answer is {case.item.answer!r}"


def _find_idle_inputs(
    hop: Hop, derivation: Compute, case: CheckedItem, facts: Facts, table: PropertyTable
) -> Iterator[Finding]:
    """A number that a computation takes in, and whose value changes nothing."""
    result = case.stated.get(hop.index)
    for index in case.used[hop.index]:
        value = case.stated.get(index)
        if result is None or not isinstance(value, int | Decimal):
            continue
        outcomes = []
        steps: tuple[Value, ...] = (value + 1, value + 2, value + _FAR, max(value - _FAR, _FAR - value))
        for moved in steps:
            inputs: dict[int, Value] = {**case.stated, index: moved}
            try:
                outcomes.append(execute(derivation, hop.answer_type, inputs, facts, table, hop.evidence.claims))
            except (ExpressionError, ArithmeticError):
                continue
        if outcomes and all(same(one, result) for one in outcomes):
            yield index, f"whatever its answer is, hop {hop.index} gives {hop.answer!r}"


def _run_on(case: CheckedItem, changed: int, wrong: Value, facts: Facts, table: PropertyTable) -> Value | None:
    """The final answer with one hop answered otherwise; None where the plan then comes to nothing."""
    answers: dict[int, Value] = dict(case.stated)
    answers[changed] = wrong
    moved = {changed}
    for hop in case.item.hops[changed:]:
        if not moved.intersection(case.used[hop.index]):
            continue
        inputs: Mapping[int, Value] = {index: value for index, value in answers.items() if index < hop.index}
        try:
            answers[hop.index] = execute(hop.derivation, hop.answer_type, inputs, facts, table, hop.evidence.claims)
        except (ExpressionError, InputError, ArithmeticError, TypeError):
            return None
        moved.add(hop.index)
    return answers.get(case.last.index) if case.last.index in moved else None


def _find_unlike(tree: ast.expr, units: Mapping[int, str], table: PropertyTable) -> Iterator[tuple[str, str]]:
    """Pairs of units that an expression adds, subtracts or compares though they differ."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            pair = measure(node.left, units, table), measure(node.right, units, table)
            if not _go_together(*pair, adding=isinstance(node.op, ast.Add)):
                yield pair
        elif isinstance(node, ast.Compare):
            pair = measure(node.left, units, table), measure(node.comparators[0], units, table)
            if "" not in pair and pair[0] != pair[1]:
                yield pair
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
            measured = [one for one in (measure(arg, units, table) for arg in node.args) if one]
            if len(set(measured)) > 1:
                yield measured[0], next(one for one in measured if one != measured[0])


def _go_together(one: str, other: str, *, adding: bool) -> bool:
    if "" in (one, other):
        return True
    if {one, other} == {"year", "years"}:
        return adding or one == "year"
    return one == other and not (adding and one == "year")


def _find_unlike_entities(
    hop: Hop, operands: Sequence[str], case: CheckedItem, context: CheckContext
) -> Iterator[Finding]:
    """Entities of no common class: a river and a country have lengths and areas, and nobody compares them."""
    graph = context.graph
    assert graph is not None
    classes = []
    for operand in operands:
        id = case.resolve(operand)
        classes.append((id, context.kind_of(id)))
    kinds = {kind for _, kind in classes if kind not in ("", "other")}
    if len(kinds) > 1:
        yield hop.index, f"compares a {' with a '.join(sorted(kinds))}"
