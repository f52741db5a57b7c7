"""A computing hop worked out on paper: the formula, then with numbers, then step by step to the stated answer.

The last line always ends in the answer that the item states: whether it is right is what a reviewer checks.
"""

from __future__ import annotations

import ast
import datetime as dt
import math
import re
from collections.abc import Callable, Iterator, Sequence

from annotation.fact_labels import join_names, label_literal, label_property, name_group
from hopwright.errors import ExpressionError, HopwrightError
from hopwright.knowledge.external.notes import write_value
from hopwright.knowledge.facts import EvidenceFacts, write_scalar
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.planning.execution import stated_value
from hopwright.planning.expressions import evaluate, parse_expression, read_claim
from hopwright.records import Compute, Hop, Item
from hopwright.records.values import Value, render

_HOP = re.compile(r"^hop([1-8])$")
_SELECTION = re.compile(r"^(comb|perm|factorial)\((\d+)(?:, ?(\d+))?\)$")
_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "−", ast.Mult: "×", ast.Div: "/",
    ast.Lt: "<", ast.Gt: ">", ast.LtE: "≤", ast.GtE: "≥", ast.Eq: "=",
}  # fmt: skip
_LOOSE = (ast.Add, ast.Sub)
_MOST_FACTORS = 8
_ID = re.compile(r"[PQ][0-9A-Za-z_]*\d[0-9A-Za-z_]*")
_UNKNOWN = "a computation"
"""What stands for a part that no version of this module knows: nobody is shown code."""
_SETS = ("all", "among", "listed", "having", "after", "before")
_LIKE_YEARS = range(1000, 2200)
_LeafNamer = Callable[[ast.expr], str]


def write_worked_steps(hop: Hop, item: Item) -> tuple[str, ...]:
    """The lines of a computing hop's working; empty for a look-up.

    A part that cannot be worked out (a name without a fact) stays in words: no line shows a function or an id.
    """
    if not isinstance(hop.derivation, Compute):
        return ()
    expression = hop.derivation.expression
    try:
        tree = parse_expression(expression)
    except ExpressionError:
        return (f"{_UNKNOWN} = {hop.answer}",)
    paper = _ComputationWriter(hop, item)
    match tree:
        case ast.Call(func=ast.Name(id="argmax" | "argmin" as function), args=[property, *contenders]):
            compared = [*paper.compare(property, contenders)]
            return (*compared, f"{paper.name_extreme(function, property, len(compared))}: {hop.answer}")
        case ast.Call(
            func=ast.Name(id="size"),
            args=[ast.Call(func=ast.Name(id="after" | "before"), args=[dated, *_]) as parted],
        ):
            return (*paper.compare(dated, [parted]), f"how many: {hop.answer}")
        case ast.Call(func=ast.Name(id="count"), args=conditions):
            return (*paper.judge(conditions), f"how many: {hop.answer}")
    # What is counted is not the hop's answer itself, so that "hop 2" would say less than its name.
    first_named = paper.name_value if "size(" in expression else paper.name_symbol
    steps = [paper.write(tree, first_named), *paper.reduce(tree)]
    if factors := spell_factors(expression):
        steps[1:] = [factors]
    first, *rest = dict.fromkeys(steps)
    return (first, *(f"= {step}" for step in rest), f"= {state(hop)}")


def lay_out(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Lines of a working as the rows of a table: what is worked out, and what it comes to."""
    rows: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith("= "):
            if rows and not rows[-1][1]:
                rows[-1] = (rows[-1][0], line)
            else:
                rows.append(("", line))
            continue
        for mark in (" = ", ": "):
            left, found, right = line.rpartition(mark)
            if found:
                rows.append((left, right))
                break
        else:
            rows.append((line, ""))
    return rows


def state(hop: Hop) -> str:
    """The answer with its unit, as it stands in the item."""
    return hop.answer if hop.unit in ("", "year") else f"{hop.answer} {hop.unit}"


def spell_factors(expression: str) -> str:
    """A number of selections written out: `comb(7, 4)` is `(7 × 6 × 5 × 4) / (4 × 3 × 2 × 1) = 840 / 24`.

    Empty for anything else, and for more factors than a reader would follow.
    """
    match = _SELECTION.match(expression)
    if match is None:
        return ""
    whole = int(match[2])
    chosen = int(match[3]) if match[3] else whole
    if not 0 < chosen <= min(whole, _MOST_FACTORS):
        return ""
    top = " × ".join(str(whole - index) for index in range(chosen))
    if match[1] != "comb" or chosen == 1:
        return top
    bottom = " × ".join(str(chosen - index) for index in range(chosen))
    return f"({top}) / ({bottom}) = {math.perm(whole, chosen):,} / {math.factorial(chosen):,}"


class _ComputationWriter:
    """Writes expressions with the answers and the evidence of one item."""

    def __init__(self, hop: Hop, item: Item) -> None:
        self._table = default_table()
        self._facts = EvidenceFacts(item.hops, self._table)
        self._answers = {one.index: one.answer for one in item.hops}
        self._values: dict[int, Value] = {}
        self._claims = {claim.id: claim for claim in hop.evidence.claims}
        self._labels: dict[str, str] = {}
        for one in item.hops:
            if one.index in hop.depends_on:
                try:
                    self._values[one.index] = stated_value(one)
                except HopwrightError:
                    continue
        for one in item.hops:
            for triplet in one.evidence.triplets:
                self._labels |= {triplet.subject: triplet.subject_label, triplet.object: triplet.object_label}
            for literal in one.evidence.literals:
                self._labels[literal.subject] = literal.subject_label
            if one.answer_id:
                self._labels.setdefault(one.answer_id, one.answer)

    def reduce(self, node: ast.expr) -> Iterator[str]:
        """With numbers, then with every innermost part worked out in turn; the last value is left to the item."""
        for level in range(1, _measure(node)):
            yield self.write(node, self.name_value, level)

    def write(self, node: ast.expr, name: _LeafNamer, level: int = 0) -> str:
        """The expression in signs and words; what lies at most `level` steps above the leaves is worked out."""
        height = _measure(node)
        if height <= 1:
            return name(node)
        if height <= level and (value := self._evaluate(node)) is not None:
            return self._show(value, _find_property(node))
        match node:
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
                sides = [self._enclose(one, op, name, level) for one in (left, right)]
                return f"{sides[0]} {_SIGNS[type(op)]} {sides[1]}"
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return f"−{self.write(operand, name, level)}"
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _SIGNS:
                return f"{self.write(left, name, level)} {_SIGNS[type(op)]} {self.write(right, name, level)}"
            case ast.Call(func=ast.Name(id=function), args=args):
                return self._write_call(function, args, name, level)
        return self.name_value(node)

    def compare(self, property: ast.expr, contenders: Sequence[ast.expr]) -> Iterator[str]:
        """What each contender has, each member of a set in turn."""
        id = ast.unparse(property)
        for contender in contenders:
            match contender:
                case ast.Call(func=ast.Name(id="all"), args=[belonging, owner]):
                    yield from self.compare(property, self._list_all(belonging, owner))
                    continue
                case ast.Call(
                    func=ast.Name(id="having"),
                    args=[credit, partner, ast.Call(func=ast.Name(id="all"), args=[belonging, owner])],
                ):
                    who, part = self._find_entity(partner), ast.unparse(credit)
                    listed = self._list_all(belonging, owner)
                    theirs = [one for one in listed if who in self._facts.objects(one.id, part)]
                    yield from self.compare(property, theirs)
                    yield f"only those with {self.name_value(partner)} as {label_property(part)}"
                    continue
                case ast.Call(func=ast.Name(id="after" | "before" as side), args=[_, moment, whole]):
                    yield from self.compare(property, [whole])
                    yield f"only those {side} {self.write(moment, self.name_value)}"
                    continue
            held = self._facts.scalars(self._find_entity(contender), id)
            value = self._show(held[0], id) if len(held) == 1 else "not known"
            yield f"{label_literal(id, self._find_entity(contender))} of {self.name_value(contender)} = {value}"

    def _list_all(self, belonging: ast.expr, owner: ast.expr) -> list[ast.Name]:
        members = self._facts.objects(self._find_entity(owner), ast.unparse(belonging))
        return [ast.Name(id=one) for one in members]

    def judge(self, conditions: list[ast.expr]) -> Iterator[str]:
        """Each condition in words and with numbers, and whether it holds."""
        for condition in conditions:
            try:
                holds = evaluate(f"count({ast.unparse(condition)})", self._values, self._facts) == 1
            except HopwrightError:
                holds = None
            verdict = "not known" if holds is None else "yes" if holds else "no"
            match condition:
                case ast.Compare(left=ast.Call(func=ast.Name(id="object")) as left, ops=[ast.Eq()]) if (
                    holds is not None
                ):
                    held = self.write(left, self.name_value, _measure(left))
                    yield f"{self.write(left, self.name_value)} = {held}: {verdict}"
                    continue
            words = self.write(condition, self.name_value)
            numbers = self._drop_units(self.write(condition, self.name_value, _measure(condition) - 1))
            shown = words if words == numbers else f"{words}: {numbers}"
            yield f"{shown}: {verdict}"

    def name_extreme(self, function: str, property: ast.expr, compared: int) -> str:
        """`larger` and `smaller`, or in time `later` and `earlier`; of more than two, `largest` and so on."""
        kind = self._table.literal.get(ast.unparse(property))
        in_time = kind is not None and kind.value in ("date", "year")
        large, small = ("lat", "earli") if in_time else ("larg", "small")
        word = large if function == "argmax" else small
        return word + ("est" if compared > 2 else "er")

    def name_symbol(self, node: ast.expr) -> str:
        """A leaf before numbers are put in: `hop 3`."""
        match node:
            case ast.Name(id=name) if hop := _HOP.match(name):
                return f"hop {hop[1]}"
        claim = self._claims.get(read_claim(node))
        return claim.phrase if claim is not None else self.name_value(node)

    def name_value(self, node: ast.expr) -> str:
        """A leaf as a reader knows it: a hop's answer, an entity's label, a number."""
        match node:
            case ast.Name(id=name):
                if hop := _HOP.match(name):
                    return self._answers.get(int(hop[1]), f"hop {hop[1]}")
                return self._labels.get(name) or ("something unnamed" if _ID.fullmatch(name) else name)
        if (claim := self._claims.get(read_claim(node))) is not None:
            return write_value(claim)
        if read_claim(node):
            return "a claimed number"
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return f"{number}"
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return f"−{number}"
        return _UNKNOWN

    def _write_call(self, function: str, args: list[ast.expr], name: _LeafNamer, level: int) -> str:
        if function in ("value", "object") and len(args) == 2:
            property, subject = ast.unparse(args[0]), self._find_entity(args[1])
            label = label_literal(property, subject) if function == "value" else label_property(property)
            return f"{label} of {self.write(args[1], name, level)}"
        if function in _SETS:
            return self._write_set(function, args, name, level)
        if function in ("argmax", "argmin") and len(args) > 1:
            label, rest = label_property(ast.unparse(args[0])), [self.write(one, name, level) for one in args[1:]]
            return f"whichever of {join_names(rest)} has the {self.name_extreme(function, args[0], 3)} {label}"
        inner = [self.write(one, name, level) for one in args]
        match function, inner:
            case "abs", [one]:
                return f"|{one}|"
            case "year", [one]:
                return one if one.isdecimal() else f"year of {one}"
            case "round", [one, places]:
                return f"{one}, to {places} decimal place{'s' if places != '1' else ''}"
            case "mean", [_, _, *_]:
                return f"({' + '.join(inner)}) / {len(inner)}"
            case "factorial", [one]:
                return f"{one}!"
            case "comb", [whole, chosen]:
                return f"{whole} choose {chosen}"
            case "perm", [whole, chosen]:
                return f"ordered choices of {chosen} out of {whole}"
            case (("min" | "max"), _):
                return f"the {'smallest' if function == 'min' else 'largest'} of {', '.join(inner)}"
            case "size", [one]:
                return f"number of {one}"
            case "age", [born, then]:
                return f"full years from {born} to {then}"
            case "count", [_, *_]:
                return f"how many of these hold: {'; '.join(inner)}"
        return _UNKNOWN

    def _write_set(self, function: str, args: list[ast.expr], name: _LeafNamer, level: int) -> str:
        match function, args:
            case "all", [property, owner]:
                return name_group(ast.unparse(property), self.write(owner, name, level))
            case ("among" | "listed"), [property, shared, _, *_]:
                members, label = [name(one) for one in args[2:]], label_property(ast.unparse(property))
                whole = self.write(shared, name, level)
                if function == "among":
                    return f"those of {join_names(members)} with {whole} as {label}"
                return f"those of {join_names(members)} that {whole} has as {label}"
            case "having", [credit, partner, inner]:
                label = label_property(ast.unparse(credit))
                return f"{self.write(inner, name, level)} with {self.write(partner, name, level)} as {label}"
            case ("after" | "before"), [_, moment, inner]:
                return f"{self.write(inner, name, level)} {function} {self.write(moment, name, level)}"
        return _UNKNOWN

    def _enclose(self, side: ast.expr, op: ast.operator, name: _LeafNamer, level: int) -> str:
        text = self.write(side, name, level)
        loose = isinstance(side, ast.BinOp) and isinstance(side.op, _LOOSE) and not isinstance(op, ast.Add)
        return f"({text})" if loose and " " in text else text

    def _drop_units(self, text: str) -> str:
        """A comparison says its unit in words already."""
        units = {kind.unit for kind in self._table.literal.values() if kind.unit}
        for unit in sorted(units, key=lambda one: (-len(one), one)):  # "square kilometres" before "kilometres"
            text = text.replace(f" {unit}", "")
        return text

    def _show(self, value: Value, property: str) -> str:
        """A value as answers are written; a literal in its property's unit."""
        if isinstance(value, str):
            return self._labels.get(value, value)
        kind = self._table.literal.get(property)
        if isinstance(value, dt.date):
            return write_scalar(value, kind)
        if kind is not None and kind.value == "year":
            return str(value)
        unit = kind.unit if kind is not None else ""
        bare = isinstance(value, int) and value in _LIKE_YEARS and not unit
        return f"{render(value, year=bare)} {unit}".rstrip().replace("-", "−")

    def _find_entity(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name) if hop := _HOP.match(name):
                return str(self._values.get(int(hop[1]), name))
            case ast.Call(func=ast.Name(id="object")) if isinstance(found := self._evaluate(node), str):
                return found
        return ast.unparse(node)

    def _evaluate(self, node: ast.expr) -> Value | None:
        try:
            return evaluate(ast.unparse(node), self._values, self._facts, tuple(self._claims.values()))
        except HopwrightError:
            return None


def _measure(node: ast.expr) -> int:
    """How high a formula is above its leaves: 1 for a name or a number."""
    if read_claim(node):
        return 1
    match node:
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return 1 + max(_measure(left), _measure(right))
        case ast.UnaryOp(operand=operand):
            return _measure(operand) if isinstance(operand, ast.Constant) else 1 + _measure(operand)
        case ast.Call(args=args):
            return 1 + max((_measure(one) for one in args), default=0)
    return 1


def _find_property(node: ast.expr) -> str:
    """The property whose literal a part is."""
    match node:
        case ast.Call(func=ast.Name(id="value"), args=[ast.Name(id=property), _]):
            return property
    return ""
