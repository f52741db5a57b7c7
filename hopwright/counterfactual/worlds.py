"""The counterfactual world of an item: its facts with other ids and other numbers, and its plan run in it.

CofCA (section 3.1) replaces what a passage names and counts by hand and by model; here every number that follows
from others is computed again, so that the twin's gold answers are as certain as the original's.
"""

from __future__ import annotations

import datetime as dt
import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from hopwright.counterfactual.constants import is_year, list_constants, move_constants
from hopwright.counterfactual.date_owners import DateOwners, find_owners
from hopwright.counterfactual.failures import TwinError
from hopwright.counterfactual.passage_phrases import list_role
from hopwright.counterfactual.renamed_entities import RenamedEntity
from hopwright.counterfactual.shifts import (
    LAST_YEAR,
    DateShift,
    draw_base,
    draw_date_shift,
    find_room,
    latest_year,
    moves_gently,
    read_year,
    set_date,
    set_number,
    shift_date,
    shift_number,
)
from hopwright.errors import ExpressionError
from hopwright.knowledge.facts import EvidenceFacts, matches
from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.execution import execute, render_answer, run_plan, same, stated_value
from hopwright.planning.expressions import evaluate
from hopwright.planning.plan import named_entities
from hopwright.records import Compute, Derivation, Hop, Item, LiteralFact, Lookup, ReverseLookup, Triplet
from hopwright.records.values import Scalar, Value
from hopwright.text.mentions import replace_number

_ID = re.compile(r"\bQ[0-9A-Za-z_]+\b")
_ENTITY = re.compile(r"^Q[0-9A-Za-z_]+$")
_GROWN = 16
"""The least number of years from a birth to whatever else is dated of somebody."""
_STRETCH = (2, 9)
"""By how many years such a span becomes longer or shorter, at least and at most."""
_SIZE = re.compile(r"^size\(all\((P\d+), (\w+)\)\)$")
"""How many objects one entity has."""
_FEWEST = 2
"""So many of what is counted are left, at least."""
_YEAR = re.compile(r"(?<!\d)(?:1[0-9]{3}|20[0-9]{2})(?!\d)")
_ATTEMPTS = 48
_STRICT = 44
# By so many years the dates of what is counted move apart.
_LOOSE = 25
# (attempt from which on, largest and smallest move of all dates together, spread between their owners)
_SCALES = ((0, 45, 8, 4), (16, 20, 4, 2), (32, 8, 1, 1))

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class SolvedWorld:
    """What a solved world holds.

    hops: the item's hops with surrogate ids in derivations and evidence, literals moved; labels and texts are
    still the original's. values: what the plan gives in it, by hop. years: by how many years the dates of each
    owner moved (the owner of a dated name is its stem), and base by how many the world did on the whole. literals: old
    and new literal, as normalised, with the original subject; moved: the same as stored. objects: triplet → its other
    object, both with the original ids, where a count asked for another world of facts; "" where the fact is left out.
    """

    hops: tuple[Hop, ...]
    values: dict[int, Value]
    years: dict[str, int]
    literals: tuple[tuple[str, str, Scalar, Scalar], ...]
    moved: dict[_Key, str]
    base: int
    objects: dict[_Key, str]


def solve_world(
    item: Item,
    cast: Sequence[RenamedEntity],
    ids: Mapping[str, str],
    table: PropertyTable,
    seed: int,
    *,
    constants: bool = True,
) -> SolvedWorld:
    """Move the item's literals, constants and counted facts until the plan, run on them, gives answers that make sense.

    ids: surrogate id of each member of the cast that has one. constants: whether the plan's own numbers move, too.
    Every number and date among the answers changes, the last one in any case. Raises TwinError ("twin_underivable")
    with the last attempt's reason when 48 attempts fail.
    """
    for hop in item.hops:
        if isinstance(hop.derivation, ReverseLookup) and hop.derivation.asks_same_of_two():
            # Either condition alone would find the answer there: few others meet it in the passages.
            raise TwinError("twin_underivable", f"hop {hop.index} asks for the same of two things")
    owners = find_owners(item, cast, table)
    renamed: dict[tuple[str, str, str, str], Triplet] = {}
    reason = "no attempt was made"
    for attempt in range(_ATTEMPTS):
        try:
            return _WorldAttempt(item, ids, table, seed, attempt, owners, constants, renamed).solve()
        except (_ImplausibleWorldError, ExpressionError, ValueError, ArithmeticError) as error:
            reason = str(error)
    raise TwinError("twin_underivable", f"no shifted numbers fit the plan; at last: {reason}")


def rename_ids(derivation: Derivation, ids: Mapping[str, str]) -> Derivation:
    """The derivation with every replaced entity's id exchanged, inside expressions too."""
    if isinstance(derivation, Lookup):
        return derivation.model_copy(update={"subject": _rename(derivation.subject, ids)})
    if isinstance(derivation, Compute):
        return derivation.model_copy(update={"expression": _rename(derivation.expression, ids)})
    if not isinstance(derivation, ReverseLookup):
        return derivation
    constraints = tuple(
        constraint.model_copy(update={"value": _rename(constraint.value, ids)}) for constraint in derivation.constraints
    )
    return derivation.model_copy(update={"value": _rename(derivation.value, ids), "constraints": constraints})


class _ImplausibleWorldError(Exception):
    """An attempt whose numbers make no sense."""


class _WorldAttempt:
    """One seeded choice of moves, and the plan run in the world that they make."""

    def __init__(
        self,
        item: Item,
        ids: Mapping[str, str],
        table: PropertyTable,
        seed: int,
        attempt: int,
        owners: DateOwners,
        constants: bool,
        renamed: dict[tuple[str, str, str, str], Triplet],
    ) -> None:
        self._item = item
        self._ids = ids
        self._table = table
        self._key = f"{seed}:{item.id}:{attempt}"
        self._owners = owners
        self._strict = attempt < _STRICT
        self._pinned: dict[_Key, str] = {}
        self._moves: dict[str, DateShift] = {}
        _, largest, smallest, self._jitter = next(scale for scale in reversed(_SCALES) if attempt >= scale[0])
        rng = random.Random(self._key)
        room = find_room(year for years in owners.years.values() for year in years)
        self._base = draw_base(rng, largest, smallest, room)
        self._derivations = tuple(
            move_constants(hop.derivation, rng, self._base) if constants else hop.derivation for hop in item.hops
        )
        self._moves_constants = constants
        self._renamed = renamed  # Shared between attempts, which differ in few objects.
        self._objects, self._swapped, self._loose = _stir_counts(item, rng, owners.of)
        self._stretches = {one: rng.choice((-1, 1)) * rng.randint(*_STRETCH) for one in sorted(owners.ends)}

    def solve(self) -> SolvedWorld:
        hops = self._build()
        answers: dict[int, Value] = {}
        facts = EvidenceFacts(hops, self._table)
        for hop in hops:
            if isinstance(hop.derivation, ReverseLookup) and self._pin(hop, answers, facts):
                hops = self._build()
                facts = EvidenceFacts(hops, self._table)
                hop = hops[hop.index - 1]
            answers[hop.index] = execute(hop.derivation, hop.answer_type, answers, facts, self._table)
        if self._pinned and run_plan(hops, facts, self._table) != answers:
            raise _ImplausibleWorldError("a number that a later hop asks for was used by an earlier one")
        self._check_answers(answers)
        self._check_margins(hops)
        self._check_era(hops)
        self._check_years()
        years = {owner: self._move(owner).years for owner in dict.fromkeys(self._owners.of.values())}
        return SolvedWorld(
            hops, answers, years, tuple(self._list_changes()), self._list_moved(), self._base, self._objects
        )

    def _build(self) -> tuple[Hop, ...]:
        hops: list[Hop] = []
        for hop, moved in zip(self._item.hops, self._derivations, strict=True):
            held = (one for one in hop.evidence.triplets if self._objects.get(_key(one)) != "")
            triplets = tuple(map(self._rename_triplet, held))
            literals = tuple(
                literal.model_copy(update={"subject": self._ids.get(literal.subject, literal.subject), "value": value})
                for literal in hop.evidence.literals
                if (value := self._value(literal)) is not None
            )
            evidence = hop.evidence.replace(triplets=triplets, literals=literals, wikipedia_url="")
            derivation = rename_ids(moved, self._ids)
            hops.append(hop.model_copy(update={"derivation": derivation, "evidence": evidence}))
        return tuple(hops)

    def _rename_triplet(self, triplet: Triplet) -> Triplet:
        object = self._objects.get(_key(triplet), triplet.object)
        known = triplet.subject, triplet.property, triplet.object, object
        if known not in self._renamed:
            update = {
                "subject": self._ids.get(triplet.subject, triplet.subject),
                "object": self._ids.get(object, object),
            }
            self._renamed[known] = triplet.model_copy(update=update)
        return self._renamed[known]

    def _value(self, literal: LiteralFact) -> str | None:
        """The literal's new stored value; None for what no derivation can read (it could not be moved either)."""
        key = (literal.subject, literal.property, literal.value)
        if (pinned := self._pinned.get(key)) is not None:
            return pinned
        if self._table.read(literal) is None:
            return None
        if literal.datatype == "dateTime":
            move = self._move(self._owners.of.get(literal.subject, literal.subject))
            if self._owners.ends.get(literal.subject) == literal.property:
                move = self._stretch(literal, move)
            return shift_date(literal.value, move)
        if self._table.is_series(literal.property):
            return literal.value  # The members keep their order and the numbers in their names.
        if literal.property in list_role("counted") and self._owners.of.get(literal.subject, "").startswith("series:"):
            step = random.Random(f"{self._key}:{literal.property}").choice((3, 4, 5, 6, 7))
            return str(int(Decimal(literal.value)) + step)
        rng = random.Random(f"{self._key}:{':'.join(key)}")
        gentle = literal.subject in self._owners.people or moves_gently(literal.property)
        return shift_number(rng, self._swapped.get(key, literal.value), gentle=gentle)

    def _stretch(self, literal: LiteralFact, move: DateShift) -> DateShift:
        """The move of the later date of a span, which stays after everything else that is dated of its entity."""
        old, longer = read_year(literal.value), self._stretches[literal.subject]
        assert old is not None
        dated = [
            year
            for hop in self._item.hops
            for one in hop.evidence.literals
            if one.subject == literal.subject and one.property != literal.property and one.datatype == "dateTime"
            if (year := read_year(one.value)) is not None
        ]
        before, after = [year for year in dated if year < old], [year for year in dated if year > old]
        if after and old + longer > min(after) - _GROWN:
            raise _ImplausibleWorldError(f"no room for a birth that is {longer} years later")
        if old + longer <= max(before, default=0) or old + move.years + longer > latest_year(literal.property, old):
            raise _ImplausibleWorldError(f"no room for a life that is {longer} years longer")
        return DateShift(move.years + longer, move.days)

    def _move(self, owner: str) -> DateShift:
        if owner not in self._moves:
            rng = random.Random(f"{self._key}:{owner}")
            leader = self._owners.follows.get(owner)
            if leader:
                return self._move(leader)
            jitter = 0 if leader == "" else _LOOSE if owner in self._loose else self._jitter
            self._moves[owner] = draw_date_shift(rng, self._base, jitter, self._owners.years.get(owner, ()))
        return self._moves[owner]

    def _pin(self, hop: Hop, answers: Mapping[int, Value], facts: EvidenceFacts) -> bool:
        """Give the hop's answer the literal that the plan asks for ("founded 35 years before 1968")."""
        original = self._item.hops[hop.index - 1]
        derivation = hop.derivation
        assert isinstance(derivation, ReverseLookup)
        pinned = False
        for property, expression in (
            (derivation.property, derivation.value),
            *((constraint.property, constraint.value) for constraint in derivation.constraints),
        ):
            entry = self._table.literal.get(property)
            if entry is None or _ENTITY.match(expression):
                continue
            wanted = evaluate(expression, answers, facts)
            if isinstance(wanted, str):
                raise _ImplausibleWorldError(f"{property} is asked for with {wanted}, which is no number")
            for held in (literal for one in self._item.hops for literal in one.evidence.literals):
                if (held.subject, held.property) != (original.answer_id, property):
                    continue
                value = self._value(held)
                scalar = None if value is None else self._table.normalise(property, value, held.datatype, held.unit)
                if scalar is None or matches(wanted, scalar):
                    continue
                self._pin_literal(held, wanted, entry.scale)
                pinned = True
        return pinned

    def _pin_literal(self, held: LiteralFact, wanted: Scalar, scale: Decimal) -> None:
        key = (held.subject, held.property, held.value)
        if key in self._pinned:
            raise _ImplausibleWorldError(f"two hops ask for different values of {held.property}")
        if held.datatype != "dateTime":
            if isinstance(wanted, dt.date):
                raise _ImplausibleWorldError(f"{held.property} is asked for with a date")
            self._pinned[key] = set_number(held.value, scale, wanted)
            return
        if isinstance(wanted, Decimal):
            raise _ImplausibleWorldError(f"{held.property} is asked for with {wanted}")
        old = read_year(held.value)
        new = wanted.year if isinstance(wanted, dt.date) else wanted
        if old is None or not 1 <= new <= LAST_YEAR:
            raise _ImplausibleWorldError(f"no plausible year: {new}")
        self._pinned[key] = set_date(held.value, wanted)
        # All dates of one owner move together, so that nobody dies before being born.
        owner = self._owners.of.get(held.subject, held.subject)
        if not all(1 <= year + new - old <= latest for year, latest in self._owners.years.get(owner, ())):
            raise _ImplausibleWorldError(f"a move of {new - old} years leaves no plausible year")
        self._moves[owner] = DateShift(new - old)

    def _check_answers(self, answers: Mapping[int, Value]) -> None:
        originals = self._item.hops
        moving = self._find_moving()
        stated = self._list_stated_years()
        said = {str(n) for one in self._derivations for n in list_constants(one)} if self._moves_constants else set()
        named = {entity for hop in originals for entity in named_entities(hop.derivation)}
        for hop in originals:
            old, new = stated_value(hop), answers[hop.index]
            if isinstance(old, str):
                if old not in named and new in {self._ids.get(entity, entity) for entity in named}:
                    raise _ImplausibleWorldError(f"the question names what is now the answer to hop {hop.index}")
                needed = any(hop.index in later.depends_on for later in originals)
                if needed and new != self._ids.get(old, old):
                    raise _ImplausibleWorldError(f"another answer to hop {hop.index}, on which a later one rests")
                continue
            if isinstance(new, str) or isinstance(old, dt.date) != isinstance(new, dt.date):
                raise _ImplausibleWorldError(f"another kind of answer to hop {hop.index}")
            if isinstance(old, int | Decimal) and isinstance(new, int | Decimal):
                if (old > 0, old < 0) != (new > 0, new < 0) or (isinstance(old, int) and not isinstance(new, int)):
                    raise _ImplausibleWorldError(f"hop {hop.index} gives {new}, which is not like {old}")
                if hop.unit == "year" and not 1 <= new <= LAST_YEAR:
                    raise _ImplausibleWorldError(f"no plausible year: {new}")
            if same(old, new) and (hop is originals[-1] or (self._strict and hop.index in moving)):
                raise _ImplausibleWorldError(f"hop {hop.index} still gives {new}")
            text = render_answer(new, hop.unit)
            dates = [held for index in hop.depends_on if isinstance(held := answers[index], dt.date)]
            if text in {str(part) for date in dates for part in (date.day, date.year)}:
                raise _ImplausibleWorldError(f"hop {hop.index} gives {text}, which stands in a date that it asks about")
            if text in said:
                raise _ImplausibleWorldError(f"hop {hop.index} gives {text}, which the plan brings with it")
            if text != hop.answer and (text in stated or replace_number(self._item.question, text, "")[1]):
                raise _ImplausibleWorldError(f"the question mentions {text}, which is now an answer")

    def _check_era(self, hops: tuple[Hop, ...]) -> None:
        """Nothing happens before it could."""
        for one in (literal for hop in hops for literal in hop.evidence.literals):
            earliest = self._table.roles.earliest_years.get(one.property, 0)
            if earliest and (read_year(one.value) or earliest) < earliest:
                raise _ImplausibleWorldError(f"{one.property} in {one.value[:4]}")

    def _check_years(self) -> None:
        """No year of the original's question is in the twin's."""
        old = {int(year) for year in _YEAR.findall(self._item.question)}
        old |= {year for years in self._owners.stated.values() for year in years}
        new = {int(year) for year in self._list_stated_years()}
        if self._moves_constants:
            new |= {number for one in self._derivations for number in list_constants(one) if is_year(number)}
        if kept := old & new:
            raise _ImplausibleWorldError(f"the question would still mention {min(kept)}")

    def _list_stated_years(self) -> set[str]:
        """The years in the question's new names."""
        return {str(year + self._move(owner).years) for owner, years in self._owners.stated.items() for year in years}

    def _find_moving(self) -> set[int]:
        """Hops whose number should change: it rests on a literal, or on a number that does."""
        moving: set[int] = set()
        for hop in self._item.hops:
            rests = any(literal.subject in self._ids for literal in hop.evidence.literals) or _is_count(hop)
            if hop.answer_type in ("number", "date") and (rests or moving & {*hop.depends_on}):
                moving.add(hop.index)
        return moving

    def _check_margins(self, hops: tuple[Hop, ...]) -> None:
        """Values that were told apart by a margin still are, whichever is now the larger."""
        for old, new in zip(self._item.hops, hops, strict=True):
            if not isinstance(old.derivation, Compute):
                continue
            before, after = self._list_numbers(old), self._list_numbers(new)
            for property, values in before.items():
                if self._are_apart(property, values) and not self._are_apart(property, after.get(property, [])):
                    raise _ImplausibleWorldError(f"values of {property} come too close to each other")

    def _are_apart(self, property: str, values: list[Decimal]) -> bool:
        """Whether the margins of the property, where it has any, tell each two of the values apart."""
        if not self._table.margin(property) and not self._table.literal[property].distance:
            return True
        return all(self._table.differ(property, one, other) for one, other in itertools.pairwise(sorted(values)))

    def _list_numbers(self, hop: Hop) -> dict[str, list[Decimal]]:
        found: dict[str, list[Decimal]] = {}
        for literal in hop.evidence.literals:
            value = self._table.read(literal)
            if isinstance(value, int | Decimal):
                found.setdefault(literal.property, []).append(Decimal(value))
        return found

    def _list_moved(self) -> dict[_Key, str]:
        keys = {(one.subject, one.property, one.value): one for hop in self._item.hops for one in hop.evidence.literals}
        return {key: value for key, one in keys.items() if (value := self._value(one)) is not None}

    def _list_changes(self) -> Iterator[tuple[str, str, Scalar, Scalar]]:
        seen: set[_Key] = set()
        for hop in self._item.hops:
            for literal in hop.evidence.literals:
                key = (literal.subject, literal.property, literal.value)
                value = self._value(literal)
                if key in seen or value is None:
                    continue
                seen.add(key)
                old = self._table.read(literal)
                new = self._table.normalise(literal.property, value, literal.datatype, literal.unit)
                if old is not None and new is not None and old != new:
                    yield literal.subject, literal.property, old, new


def _is_count(hop: Hop) -> bool:
    return isinstance(hop.derivation, Compute) and hop.derivation.kind == "counting"


def _key(triplet: Triplet) -> _Key:
    return triplet.subject, triplet.property, triplet.object


def _is_held_elsewhere(literal: LiteralFact, hop: Hop, item: Item) -> bool:
    return any(literal in other.evidence.literals for other in item.hops if other is not hop)


def _stir_counts(
    item: Item, rng: random.Random, owner_of: Mapping[str, str]
) -> tuple[dict[_Key, str], dict[_Key, str], set[str]]:
    """Other facts for what is counted, so that the count changes.

    Of the facts that no other hop rests on, a few triplets get the object of another or the entity that is counted
    for, and numbers change places. Where all objects of one entity are counted (the neighbours of a country), some are
    left out. Returns triplet → object ("" where it is left out), literal → the value whose place it takes, and the
    owners whose dates move by themselves.
    """
    objects: dict[_Key, str] = {}
    swapped: dict[_Key, str] = {}
    loose: set[str] = set()
    for hop in item.hops:
        if not _is_count(hop):
            continue
        named = set(named_entities(hop.derivation))
        elsewhere = {_key(one) for other in item.hops if other is not hop for one in other.evidence.triplets}
        own = [one for one in hop.evidence.triplets if one.subject in named and _key(one) not in elsewhere]
        answers = {item.hops[index - 1].answer_id for index in hop.depends_on}
        pool = sorted({one.object for one in own} | {id for id in answers if id})
        held = {(one.subject, one.property, one.object) for one in own}
        objects_of: dict[str, set[str]] = {}
        for one in hop.evidence.triplets:
            objects_of.setdefault(one.property, set()).add(one.object)
        for triplet in rng.sample(own, min(len(own), rng.choice((1, 1, 2)))):
            # An editor is no film, and stands in no list of films.
            others = [
                id
                for id in pool
                if id in objects_of[triplet.property]
                and (triplet.subject, triplet.property, id) not in held
                and id != triplet.subject
            ]
            if others:
                objects[_key(triplet)] = rng.choice(others)
        numbers: dict[str, list[_Key]] = {}
        for literal in hop.evidence.literals:
            if literal.subject not in named | answers or _is_held_elsewhere(literal, hop, item):
                continue
            if literal.datatype == "dateTime":
                loose.add(owner_of.get(literal.subject, literal.subject))
            else:
                numbers.setdefault(literal.property, []).append((literal.subject, literal.property, literal.value))
        for keys in numbers.values():
            values = [key[2] for key in keys]
            rng.shuffle(values)
            swapped.update(zip(keys, values, strict=True))
        objects.update((key, "") for key in _leave_out(item, hop, rng))
    return objects, swapped, loose


def _leave_out(item: Item, hop: Hop, rng: random.Random) -> list[_Key]:
    """Some of the triplets that a hop counts, where it counts all objects of one entity: a third at most.

    What another hop rests on stays, read in either direction, and so does whatever is an answer.
    """
    assert isinstance(hop.derivation, Compute)
    if not (match := _SIZE.match(hop.derivation.expression)):
        return []
    property, reference = match[1], match[2]
    owner = item.hops[int(reference[3:]) - 1].answer_id if reference.startswith("hop") else reference
    counted = [_key(one) for one in hop.evidence.triplets if (one.subject, one.property) == (owner, property)]
    others = {_key(one) for other in item.hops if other is not hop for one in other.evidence.triplets}
    answers = {one.answer_id for one in item.hops}
    free = [
        key
        for key in counted
        if key not in others and (key[2], property, key[0]) not in others and key[2] not in answers
    ]
    most = min(len(free), len(counted) - _FEWEST, max(1, len(counted) // 3))
    return rng.sample(free, rng.randint(1, most)) if most > 0 else []


def _rename(text: str, ids: Mapping[str, str]) -> str:
    return _ID.sub(lambda match: ids.get(match[0], match[0]), text)
