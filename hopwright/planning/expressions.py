"""The small language of computing hops: parsed with `ast`, evaluated over a whitelist, never with `eval`.

comb(7, 3)                                  a number
1968 - hop3                                 arithmetic on earlier answers
abs(year(hop2) - hop1)                      years apart
argmax(P1082, hop1, hop2)                   whichever of the entities has the largest literal
value(P571, Q27)                            an entity's literal (one value, else an error)
object(P57, Q104814)                        an entity's object of a property (one, else an error)
age(value(P569, hop1), hop2)                whole years from one date to another
among(P57, Q104814, Q1, Q2, Q3)             of several entities those that have the object
listed(P161, Q104814, Q1, Q2, Q3)           of several entities those that are objects of the first
all(P47, hop1)                              all objects of an entity
having(P86, hop2, all(…))                   of a set those that have the object
after(P577, hop2, among(…))                 of a set those dated after a year (or a date); likewise `before`
argmin(P577, among(…))                      the extreme of a set
first_with(P991040, P991041, hop1)          the first of a series that has the object; likewise `last_with`
size(among(…))                              how many a set holds
count(object(P57, Q104814) == hop1, …)      how many of the conditions hold
round(mean(value(P2048, hop1), …), 1)       a mean, or a quotient a / b, rounded half up as readers do
hop3 + claim("cl-…")                        with a number of a claim that travels with the hop
"""

from __future__ import annotations

import ast
import datetime as dt
import functools
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal

from hopwright.errors import ExpressionError
from hopwright.knowledge.facts import Facts
from hopwright.records import Claim
from hopwright.records.values import Scalar, Value

_HOP = re.compile(r"^hop([1-8])$")
_ID = re.compile(r"^[PQ][0-9A-Za-z_]+$")
_LIMIT = 10**15
_MOST_MEMBERS = 60
_MOST_LEVELS = 40
_Number = int | Decimal
_NUMBERS = (int, Decimal)

_ARITHMETIC: dict[type[ast.operator], Callable[[_Number, _Number], _Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_COMPARE: dict[type[ast.cmpop], Callable[[_Number, _Number], bool]] = {
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
    ast.LtE: operator.le,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}
_WHOLE: dict[str, tuple[int, Callable[..., int]]] = {
    "comb": (2, math.comb),
    "perm": (2, math.perm),
    "factorial": (1, math.factorial),
}


def read_hop(reference: str) -> int | None:
    """The hop that `hopN` refers to; None for anything else."""
    match = _HOP.match(reference)
    return int(match[1]) if match else None


@functools.lru_cache(maxsize=4_096)
def hops_in(expression: str) -> tuple[int, ...]:
    """The hops that an expression refers to, in ascending order. Raises ExpressionError on a syntax error."""
    if match := _HOP.match(expression):
        return (int(match[1]),)
    if _ID.match(expression):
        return ()
    names = {node.id for node in ast.walk(parse_expression(expression)) if isinstance(node, ast.Name)}
    return tuple(sorted(int(match[1]) for name in names if (match := _HOP.match(name))))


@functools.lru_cache(maxsize=4_096)
def claims_in(expression: str) -> tuple[str, ...]:
    """The ids of the claims that an expression rests on, in order. Raises ExpressionError on a syntax error."""
    if "claim" not in expression:
        return ()
    calls = [node for node in ast.walk(parse_expression(expression)) if isinstance(node, ast.Call)]
    return tuple(dict.fromkeys(id for call in calls if (id := read_claim(call))))


def read_claim(node: ast.expr) -> str:
    """The id in `claim("cl-…")`; empty for anything else."""
    match node:
        case ast.Call(func=ast.Name(id="claim"), args=[ast.Constant(value=str() as id)], keywords=[]):
            return id
    return ""


def evaluate(expression: str, answers: Mapping[int, Value], facts: Facts, claims: Sequence[Claim] = ()) -> Value:
    """Evaluate an expression; `answers` maps hop indices to values (an entity is its Q-id).

    `claims` are those that travel with the hop. Returns a number, a date or a Q-id. Raises ExpressionError on anything
    outside the whitelist, on a missing or ambiguous fact, on a claim that is missing or was changed, on a tie of
    `argmax` or `argmin`, and on numbers past 10^15.
    """
    value = _Evaluator(answers, facts, claims).run(parse_expression(expression))
    if isinstance(value, Decimal) and not expression.startswith("round("):
        return int(value) if value == value.to_integral_value() else value.normalize()
    return value


@functools.lru_cache(maxsize=2_048)
def count_full_years(born: dt.date, then: dt.date) -> int:
    """Somebody's age on a day."""
    return then.year - born.year - ((then.month, then.day) < (born.month, born.day))


def is_later(date: dt.date, moment: Scalar) -> bool | None:
    """Whether a date lies after a date or a year; None where that cannot be told, or both are one day.

    A first of January may stand for a bare year.
    """
    if not isinstance(moment, dt.date):
        return None if date.year == moment else date.year > moment
    if date.year != moment.year:
        return date.year > moment.year
    known = all((one.month, one.day) != (1, 1) for one in (date, moment))
    return date > moment if known and date != moment else None


@functools.lru_cache(maxsize=4_096)
def parse_expression(expression: str) -> ast.expr:
    """The expression's tree, of at most 40 levels. Raises ExpressionError."""
    if len(expression) > 500:
        raise ExpressionError("expression longer than 500 characters")
    try:
        tree = ast.parse(expression, mode="eval").body
        _check_depth(tree)
        return tree
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"not an expression: {expression!r}") from None


def _check_depth(tree: ast.expr) -> None:
    """Raise RecursionError for more levels than any computation has: what runs and writes expressions recurses."""
    level: list[ast.AST] = [tree]
    for _ in range(_MOST_LEVELS):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    raise RecursionError


class _Evaluator:
    def __init__(self, answers: Mapping[int, Value], facts: Facts, claims: Sequence[Claim]) -> None:
        self._answers = answers
        self._facts = facts
        self._claims = claims

    def run(self, node: ast.expr) -> Value:
        match node:  # the commonest first: this runs thousands of times for an item
            case ast.Name(id=name):
                return self._name(name)
            case ast.Call(func=ast.Name(id=function), args=args, keywords=[]):
                return self._call(function, args)
            case ast.Constant(value=bool()):
                raise ExpressionError("truth values are not allowed")
            case ast.Constant(value=int() as number):
                return _bounded(number)
            case ast.Constant(value=float() as number):
                return _bounded(Decimal(str(number)))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._number(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return _bounded(_ARITHMETIC[type(op)](self._number(left), self._number(right)))
        raise ExpressionError(f"not allowed in an expression: {ast.unparse(node)}")

    def _name(self, name: str) -> Value:
        if _ID.match(name):
            return name
        if hop := _HOP.match(name):
            try:
                return self._answers[int(hop[1])]
            except KeyError:
                raise ExpressionError(f"{name} has no answer yet") from None
        raise ExpressionError(f"unknown name {name!r}")

    def _call(self, function: str, args: list[ast.expr]) -> Value:
        if function == "value" and len(args) == 2:
            return self._literal(self._id(args[0]), self._id(args[1]))
        if function == "object" and len(args) == 2:
            return self._object(self._id(args[0]), self._id(args[1]))
        if function in _WHOLE:
            arity, implementation = _WHOLE[function]
            if len(args) != arity:
                raise ExpressionError(f"{function} takes {arity} numbers")
            numbers = [self._number(arg) for arg in args]
            if any(not isinstance(number, int) or not 0 <= number <= 1000 for number in numbers):
                raise ExpressionError(f"{function} takes whole numbers from 0 to 1000")
            return _bounded(implementation(*numbers))
        if function in ("min", "max") and len(args) >= 2:
            bounds = sorted((self._number(arg) for arg in args), key=Decimal)
            return bounds[0] if function == "min" else bounds[-1]
        if function == "abs" and len(args) == 1:
            number = self._number(args[0])
            return -number if number < 0 else number
        if function == "year" and len(args) == 1:
            date = self.run(args[0])
            if not isinstance(date, dt.date):
                raise ExpressionError(f"year of something that is no date: {date!r}")
            return date.year
        if function == "round" and len(args) == 2:
            return self._rounded(args[0], args[1])
        if function in ("argmax", "argmin") and len(args) == 2:
            return self._extreme(function, self._id(args[0]), self._set(args[1]))
        if function in ("argmax", "argmin") and len(args) >= 3:
            return self._extreme(function, self._id(args[0]), [self._id(arg) for arg in args[1:]])
        if function == "size" and len(args) == 1:
            return len(self._set(args[0]))
        if function == "age" and len(args) == 2:
            return self._age(self.run(args[0]), self.run(args[1]))
        if function in ("first_with", "last_with") and len(args) == 3:
            return self._end_of_series(function == "last_with", *map(self._id, args))
        if function == "claim" and len(args) == 1:
            return self._claimed(args[0])
        if function == "count" and args:
            return sum(self._condition(arg) for arg in args)
        raise ExpressionError(f"unknown function, or wrong number of arguments: {function}")

    def _number(self, node: ast.expr) -> _Number:
        value = self.run(node)
        if not isinstance(value, _NUMBERS):
            raise ExpressionError(f"not a number: {ast.unparse(node)} = {value}")
        return value

    def _id(self, node: ast.expr) -> str:
        if type(node) is ast.Name and _ID.match(node.id):
            return node.id
        value = self.run(node)
        if not isinstance(value, str) or not _ID.match(value):
            raise ExpressionError(f"not an entity or property: {ast.unparse(node)}")
        return value

    def _literal(self, property: str, entity: str) -> Scalar:
        values = self._facts.scalars(entity, property)
        if len(values) != 1:
            raise ExpressionError(f"{entity} has {len(values)} values of {property}, not one")
        return values[0]

    def _object(self, property: str, entity: str) -> str:
        objects = self._facts.objects(entity, property)
        if len(objects) != 1:
            raise ExpressionError(f"{entity} has {len(objects)} objects of {property}, not one")
        return objects[0]

    def _end_of_series(self, last: bool, series: str, column: str, object: str) -> str:
        """The first member of a series, or the last, of those that have an object of one of its columns."""
        members = self._facts.subjects(column, object)
        if len(members) < 2:
            raise ExpressionError(f"{len(members)} have {object} for {column}, not two or more")
        for one in members:
            self._facts.objects(one, column)  # what was read is evidence
        return self._extreme("argmax" if last else "argmin", series, list(members))

    def _claimed(self, node: ast.expr) -> _Number:
        id = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        found = [claim for claim in self._claims if claim.id == id]
        if len(found) != 1:
            raise ExpressionError(f"{len(found)} claims {ast.unparse(node)} travel with the hop, not one")
        if not found[0].sealed:
            raise ExpressionError(f"the claim {id} was changed: its id is not that of its content")
        return found[0].number

    def _rounded(self, quotient: ast.expr, digits: ast.expr) -> _Number:
        """A mean, a quotient or any number to so many decimal places; halves are rounded up."""
        places = self._number(digits)
        if not isinstance(places, int) or not 0 <= places <= 6:
            raise ExpressionError("round takes 0 to 6 decimal places")
        if isinstance(quotient, ast.Call) and isinstance(quotient.func, ast.Name) and quotient.func.id == "mean":
            numbers = [Decimal(self._number(arg)) for arg in quotient.args]
            if len(numbers) < 2:
                raise ExpressionError("mean takes at least two numbers")
            number = sum(numbers, Decimal(0)) / len(numbers)
        elif isinstance(quotient, ast.BinOp) and isinstance(quotient.op, ast.Div):
            divisor = Decimal(self._number(quotient.right))
            if not divisor:
                raise ExpressionError("division by nought")
            number = Decimal(_bounded(Decimal(self._number(quotient.left)) / divisor))
        else:
            number = Decimal(self._number(quotient))
        rounded = number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
        # A number to one decimal place has one, a nought too: the reader is asked for it.
        return rounded if places else int(rounded)

    def _age(self, born: Value, then: Value) -> int:
        if not isinstance(born, dt.date) or not isinstance(then, dt.date):
            raise ExpressionError("age takes two dates")
        if then < born:
            raise ExpressionError("an age before birth")
        return count_full_years(born, then)

    def _set(self, node: ast.expr) -> list[str]:
        """The entities of a set function, in the order stated; of at most so many."""
        match node:
            case ast.Call(func=ast.Name(id="among" | "listed" as function), args=args, keywords=[]) if len(args) >= 4:
                property, shared, *members = [self._id(arg) for arg in args]
                if len(set(members)) != len(members):
                    raise ExpressionError(f"{function} of the same entity twice")
                if function == "among":
                    return [one for one in members if shared in self._facts.objects(one, property)]
                held = set(self._facts.objects(shared, property))
                return [one for one in members if one in held]
            case ast.Call(func=ast.Name(id="all"), args=[property_node, entity_node], keywords=[]):
                found = self._facts.objects(self._id(entity_node), self._id(property_node))
                if not 2 <= len(found) <= _MOST_MEMBERS:
                    raise ExpressionError(f"all of {len(found)}, not of two to {_MOST_MEMBERS}")
                return list(found)
            case ast.Call(func=ast.Name(id="having"), args=[property_node, object_node, inner], keywords=[]):
                property, held_object = self._id(property_node), self._id(object_node)
                return [one for one in self._set(inner) if held_object in self._facts.objects(one, property)]
            case ast.Call(func=ast.Name(id="after" | "before" as function), args=[property_node, moment_node, inner]):
                property, moment = self._id(property_node), self.run(moment_node)
                if isinstance(moment, str):
                    raise ExpressionError(f"{function} takes a year or a date, not {moment}")
                later, own = function == "after", self._find_owner(moment_node)
                others = [one for one in self._set(inner) if one != own]
                return [one for one in others if self._is_later(one, property, moment) is later]
        raise ExpressionError(f"not a set: {ast.unparse(node)}")

    def _find_owner(self, moment: ast.expr) -> str:
        """Whose date a moment is; empty for another moment."""
        match moment:
            case ast.Call(func=ast.Name(id="value"), args=[_, entity]):
                return self._id(entity)
        return ""

    def _is_later(self, entity: str, property: str, moment: Scalar) -> bool | None:
        """Whether an entity's date lies after a moment; None where it is the very day, and that is no bare year."""
        date = self._literal(property, entity)
        if not isinstance(date, dt.date):
            raise ExpressionError(f"{property} of {entity} is no date")
        later = is_later(date, moment)
        if later is None and (date != moment or (date.month, date.day) == (1, 1)):
            raise ExpressionError(f"whether {property} of {entity} came before or after {moment} is not known")
        return later

    def _extreme(self, function: str, property: str, entities: list[str]) -> str:
        if not entities:
            raise ExpressionError(f"{function} of nothing")
        if len(set(entities)) != len(entities):
            raise ExpressionError(f"{function} of the same entity twice")
        values = {entity: _order(self._literal(property, entity)) for entity in entities}
        best = max(values.values()) if function == "argmax" else min(values.values())
        winners = [entity for entity in entities if values[entity] == best]
        if len(winners) != 1:
            raise ExpressionError(f"{function} of {property} is a tie between {', '.join(winners)}")
        return winners[0]

    def _condition(self, node: ast.expr) -> bool:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                one, other = self.run(left), self.run(right)
                if isinstance(one, str) and isinstance(other, str) and isinstance(op, ast.Eq):
                    return one == other
                if (
                    isinstance(one, str)
                    or isinstance(other, str)
                    or isinstance(one, dt.date) != isinstance(other, dt.date)
                ):
                    raise ExpressionError(f"comparison of unlike things: {ast.unparse(node)}")
                return _COMPARE[type(op)](_order(one), _order(other))
        raise ExpressionError(f"not a comparison: {ast.unparse(node)}")


def _order(value: Scalar) -> _Number:
    """A number that orders dates by day and numbers by size."""
    return value.toordinal() if isinstance(value, dt.date) else value


def _bounded(number: _Number) -> _Number:
    if not -_LIMIT <= number <= _LIMIT:
        raise ExpressionError("number past 10^15")
    return number
