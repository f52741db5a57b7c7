"""What a computation comes to when one thing in it goes wrong: an operation, an operand, an event, a count by one.

An expression is changed in one place at a time and evaluated again, so that computations need not be known by name.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal

from hopwright.errors import ExpressionError
from hopwright.knowledge.facts import Facts
from hopwright.knowledge.wikidata.confusions import CONFUSED_DATES
from hopwright.planning.expressions import evaluate
from hopwright.planning.operations.operation_inputs import tidy_number
from hopwright.records import Claim, Compute, DistractorKind
from hopwright.records.values import Value

Slip = tuple[Value, DistractorKind]
FindSimilar = Callable[[str, str], Sequence[str]]
"""(entity, property) → entities of its sort that have a value of the property, the likest first."""

_SWAPPED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
}  # fmt: skip
_OPPOSITE = {"argmax": "argmin", "argmin": "argmax", "max": "min", "min": "max"}
_MOST_SIMILAR = 8
_MISCOUNTS = (1, -1, 2, -2, 3, -3)


def list_slips(
    derivation: Compute,
    answers: Mapping[int, Value],
    facts: Facts,
    claims: Sequence[Claim] = (),
    on_the_way: Sequence[str] = (),
    similar: FindSimilar | None = None,
) -> Iterator[Slip]:
    """What a wrong operation, operand, event or entity gives, and what is off by one.

    `on_the_way`: the entities that the plan names or finds, whose values may be taken by mistake.
    """
    tree = ast.parse(derivation.expression, mode="eval").body
    references = [f"hop{index}" for index, one in answers.items() if isinstance(one, int | Decimal)]
    for kind in _mutate(tree, references, answers, on_the_way, similar):
        try:
            value = evaluate(ast.unparse(tree), answers, facts, claims)
        except (ExpressionError, ArithmeticError):
            continue
        if isinstance(value, int | Decimal):
            value = tidy_number(abs(Decimal(value)))
        yield value, kind
    for index, one in answers.items():
        if f"hop{index}" in derivation.expression and isinstance(one, int | Decimal):
            yield one, "operand"
    for claim in claims:
        yield claim.number, "operand"


def _mutate(
    tree: ast.expr,
    references: Sequence[str],
    answers: Mapping[int, Value],
    on_the_way: Sequence[str],
    similar: FindSimilar | None,
) -> Iterator[DistractorKind]:
    """Change `tree` in one place, say what kind of slip that is, and put it right again when resumed."""
    for node in list(ast.walk(tree)):
        match node:
            case ast.BinOp(op=op) if type(op) in _SWAPPED:
                node.op = _SWAPPED[type(op)]()
                yield "slip"
                node.op = op
            case ast.Name(id=name) if name in references:
                for other in references:
                    if other != name:
                        node.id = other
                        yield "operand"
                node.id = name
            case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=property), ast.Name(id=entity)]) if name == "value":
                yield from _mistake_value(node, property, entity, answers, on_the_way, similar)
            case ast.Call(func=ast.Name(id=name) as function) if name in _OPPOSITE:
                function.id = _OPPOSITE[name]
                yield "slip"
                function.id = name
            case ast.Call(func=ast.Name(id="comb" | "perm")):
                yield from _miscount(node)


def _mistake_value(
    call: ast.Call,
    property: str,
    entity: str,
    answers: Mapping[int, Value],
    on_the_way: Sequence[str],
    similar: FindSimilar | None,
) -> Iterator[DistractorKind]:
    """Another event of the same entity, the same of another one on the way, or of a similar one."""
    asked, subject = call.args
    assert isinstance(asked, ast.Name) and isinstance(subject, ast.Name)
    for other in CONFUSED_DATES.get(property, ()):
        asked.id = other
        yield "slip"
    asked.id = property
    meant = answers.get(int(entity[3:])) if entity.startswith("hop") else entity
    for one in on_the_way:
        if one != meant:
            subject.id = one
            yield "operand"
    if similar is not None and isinstance(meant, str):
        for one in itertools.islice(similar(meant, property), _MOST_SIMILAR):
            subject.id = one
            yield "neighbour"
    subject.id = entity


def _miscount(call: ast.Call) -> Iterator[DistractorKind]:
    """A few more or fewer in either place of `comb(n, k)`.

    What the question states is not miscounted where the other rests on an earlier hop: a reader would only have to look
    for the number of choices out of so many.
    """
    computed = [place for place in (0, 1) if "hop" in ast.unparse(call.args[place])] or [0, 1]
    for step, place in itertools.product(_MISCOUNTS, computed):
        held = call.args[place]
        call.args[place] = ast.BinOp(held, ast.Add(), ast.Constant(step))
        yield "slip"
        call.args[place] = held
