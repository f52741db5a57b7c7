"""A chain's facts held against the live graph, which has moved on since the corpus was made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.sparql.client import SparqlClient
from hopwright.knowledge.wikidata.sparql.dialects import Statement, keep_best, read_object, write_object_query
from hopwright.knowledge.wikidata.sparql.literals import DAY, LATITUDE, LONGITUDE, FetchedLiteral, LiteralSource
from hopwright.knowledge.wikidata.sparql.terms import (
    entity_values,
    is_entity,
    is_property,
    local_id,
    number_of,
    prologue,
)
from hopwright.knowledge.wikidata.sparql.units import name_unit, normalise
from hopwright.records import Hop, Item, LiteralFact, ReverseLookup

Status = Literal["confirmed", "different", "unknown"]
DAY_S = 86_400.0
"""How old a cached answer may be that counts as the live graph's: a broken-off verification goes on within a day."""
_SHOWN = 5
_SUBJECTS = 11


@dataclass(frozen=True, slots=True)
class FactCheck:
    """One fact to verify. `expected` is a Q-id or a stored literal; `alone`: it must be the only value."""

    subject: str
    property: str
    expected: str | LiteralFact
    alone: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the live graph says of one fact.

    `confirmed`: it has this value (and no other, where that matters); `different`: it has others, given in `values`
    as ids or as `value unit`; `unknown`: it has none that can be compared, and `note` says why.
    """

    subject: str
    property: str
    expected: str
    status: Status
    values: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        """One line for a reader: what was expected, what is there."""
        found = " and ".join(self.values) or "nothing"
        note = f" ({self.note})" if self.note else ""
        return f"{self.status}: {self.property} of {self.subject} is {found}; expected {self.expected}{note}"


@dataclass(frozen=True, slots=True)
class HopVerdict:
    """The verdicts on one hop's evidence; its status is the worst of them, `unknown` when there are none."""

    index: int
    verdicts: tuple[Verdict, ...]

    @property
    def status(self) -> Status:
        """`different` if any fact is, else `unknown` if any is, else `confirmed`."""
        return _worst(verdict.status for verdict in self.verdicts)


@dataclass(frozen=True, slots=True)
class ItemVerdict:
    """The verdicts on one item. A counterfactual item is `skipped`: its facts are made up.

    Hops that look nothing up (they compute on earlier answers only) are not in `hops`.
    """

    item: str
    hops: tuple[HopVerdict, ...]
    skipped: bool = False

    @property
    def status(self) -> Status | Literal["skipped"]:
        """As for a hop, over all hops."""
        return "skipped" if self.skipped else _worst(hop.status for hop in self.hops)


def verify_lookup(
    client: SparqlClient, subject: str, property: str, expected: str | LiteralFact, *, max_age_s: float = DAY_S
) -> Verdict:
    """Ask the live graph for one look-up. Raises ServiceError when the endpoint fails."""
    check = FactCheck(subject, property, expected)
    return verify_facts(client, [check], max_age_s=max_age_s)[check]


def verify_facts(
    client: SparqlClient, checks: Iterable[FactCheck], *, max_age_s: float = DAY_S
) -> dict[FactCheck, Verdict]:
    """Verify many facts in batched queries. Malformed ids are `unknown`. Raises ServiceError."""
    wanted = list(dict.fromkeys(checks))
    sound = [check for check in wanted if _is_sound(check)]
    renamed = _read_redirects(client, sound, max_age_s)
    objects = _read_objects(client, [c for c in sound if isinstance(c.expected, str)], renamed, max_age_s)
    literals = _read_literals(client, [c for c in sound if not isinstance(c.expected, str)], renamed, max_age_s)
    verdicts = {}
    for check in wanted:
        if not _is_sound(check):
            verdicts[check] = _judge(check, "unknown", note="no ids of Wikidata")
            continue
        place = (renamed.get(check.subject, check.subject), check.property)
        if isinstance(check.expected, str):
            expected = renamed.get(check.expected, check.expected)
            verdicts[check] = _judge_object(check, expected, objects.get(place, ()))
        else:
            verdicts[check] = _judge_literal(check, check.expected, literals.get(place, ()))
    return verdicts


def verify_items(client: SparqlClient, items: Sequence[Item], *, max_age_s: float = DAY_S) -> list[ItemVerdict]:
    """Verify the evidence of every hop, and of a reverse look-up also that its subject is the only one.

    Raises ServiceError when the endpoint fails; the cache keeps what was asked.
    """
    real = [item for item in items if item.variant == "factual"]
    checks = {(item.id, hop.index): _list_checks(hop) for item in real for hop in item.hops}
    verdicts = verify_facts(client, (check for group in checks.values() for check in group), max_age_s=max_age_s)
    found = []
    for item in items:
        if item.variant != "factual":
            found.append(ItemVerdict(item.id, (), skipped=True))
            continue
        hops = []
        for hop in item.hops:
            group = [verdicts[check] for check in checks[item.id, hop.index]]
            if isinstance(hop.derivation, ReverseLookup):
                group.append(verify_reverse(client, hop, max_age_s=max_age_s))
            if group or hop.derivation.op != "compute":
                hops.append(HopVerdict(hop.index, tuple(group)))
        found.append(ItemVerdict(item.id, tuple(hops)))
    return found


def verify_reverse(client: SparqlClient, hop: Hop, *, max_age_s: float = DAY_S) -> Verdict:
    """Whether a reverse look-up's answer is the only entity of the live graph that meets its conditions.

    The conditions' values are taken from the hop's evidence; of a literal only the year can be asked for.
    """
    answer = hop.answer_id or ""
    patterns, what, left_out = [], [], []
    if any(_is_own_list(literal.property) for literal in hop.evidence.literals):
        return Verdict(
            answer, hop.evidence.literals[0].property, answer, "unknown", note="a timeline is not Wikidata's"
        )
    for triplet in hop.evidence.triplets:
        if not (is_property(triplet.property) and is_entity(triplet.object)):
            return Verdict(answer, triplet.property, answer, "unknown", note="no ids of Wikidata")
        what.append(triplet.property)
        patterns.append(f"  ?s wdt:{triplet.property} wd:{triplet.object} .\n")
    for number, literal in enumerate(hop.evidence.literals):
        year = literal.value[:4]
        if literal.datatype == "dateTime" and year.isdigit() and is_property(literal.property):
            what.append(literal.property)
            patterns.append(f"  ?s wdt:{literal.property} ?v{number} . FILTER(YEAR(?v{number}) = {int(year)})\n")
        else:
            left_out.append(literal.property)
    name = " and ".join(what)
    if not patterns or not is_entity(answer):
        return Verdict(answer, name, answer, "unknown", note="the hop has no evidence to ask by")
    query = f"{prologue('wd', 'wdt')}SELECT DISTINCT ?s WHERE {{\n{''.join(patterns)}}} LIMIT {_SUBJECTS}"
    rows = client.select(query, max_age_s=max_age_s)
    subjects = tuple(sorted((id for row in rows if (id := local_id(row["s"].value))), key=number_of))
    note = f"without the condition on {', '.join(left_out)}" if left_out else ""
    if subjects == (answer,):
        return Verdict(answer, name, answer, "confirmed", subjects, note)
    if not subjects or left_out:
        return Verdict(answer, name, answer, "unknown", subjects[:_SHOWN], note or "nothing meets the conditions")
    return Verdict(answer, name, answer, "different", subjects[:_SHOWN], "other entities meet the conditions")


def _list_checks(hop: Hop) -> list[FactCheck]:
    # Where one lists by a property (the cast of a film), a value is right beside others.
    alone = hop.derivation.op == "lookup"
    checks = [FactCheck(t.subject, t.property, t.object, alone) for t in hop.evidence.triplets]
    literals = (literal for literal in hop.evidence.literals if not _is_coordinate(literal))
    checks += [FactCheck(literal.subject, literal.property, literal, alone) for literal in literals]
    return checks


def _is_coordinate(literal: LiteralFact) -> bool:
    return literal.unit in (LATITUDE, LONGITUDE)


def _is_own_list(property: str) -> bool:
    """Whether a property is a timeline, or the place in a series: Wikidata has neither."""
    return default_table().is_timeline(property) or default_table().is_series(property)


def _is_sound(check: FactCheck) -> bool:
    return (
        is_entity(check.subject)
        and is_property(check.property)
        and not _is_own_list(check.property)
        and (not isinstance(check.expected, str) or is_entity(check.expected))
    )


def _read_redirects(client: SparqlClient, checks: Sequence[FactCheck], max_age_s: float) -> dict[str, str]:
    """Entities that were merged into others since: old id → new id."""
    ids = {check.subject for check in checks}
    ids |= {check.expected for check in checks if isinstance(check.expected, str)}
    found = {}
    for batch in _batches(ids, client.settings.batch_size):
        query = (
            prologue("wd", "owl") + f"SELECT ?s ?o WHERE {{\n  {entity_values('s', batch)}\n  ?s owl:sameAs ?o .\n}}"
        )
        for row in client.select(query, max_age_s=max_age_s):
            old, new = local_id(row["s"].value), local_id(row["o"].value)
            if is_entity(old) and is_entity(new):
                found[old] = new
    return found


def _read_objects(
    client: SparqlClient, checks: Sequence[FactCheck], renamed: Mapping[str, str], max_age_s: float
) -> dict[tuple[str, str], list[Statement]]:
    found: dict[tuple[str, str], list[Statement]] = {}
    statements = client.has_statements() if checks else False
    for subjects, properties in _plan(client, checks, renamed):
        query = write_object_query(subjects, properties, statements=statements)
        rows = client.select(query, max_age_s=max_age_s)
        for one in keep_best(one for row in rows if (one := read_object(row)) is not None):
            found.setdefault((one.subject, one.property), []).append(one)
    return found


def _read_literals(
    client: SparqlClient, checks: Sequence[FactCheck], renamed: Mapping[str, str], max_age_s: float
) -> dict[tuple[str, str], list[FetchedLiteral]]:
    found: dict[tuple[str, str], list[FetchedLiteral]] = {}
    source = LiteralSource(client, max_age_s=max_age_s)
    for subjects, properties in _plan(client, checks, renamed):
        for batch in source.batches(subjects, properties):
            for literal in batch.literals:
                found.setdefault((literal.fact.subject, literal.fact.property), []).append(literal)
    return found


def _plan(
    client: SparqlClient, checks: Sequence[FactCheck], renamed: Mapping[str, str]
) -> Iterable[tuple[list[str], list[str]]]:
    """Batches of subjects, each with the properties that any of them is asked for."""
    by_subject: dict[str, set[str]] = {}
    for check in checks:
        by_subject.setdefault(renamed.get(check.subject, check.subject), set()).add(check.property)
    for subjects in _batches(by_subject, client.settings.batch_size):
        yield subjects, sorted(set().union(*(by_subject[subject] for subject in subjects)))


def _batches(ids: Iterable[str], size: int) -> Iterable[list[str]]:
    ordered = sorted(ids, key=number_of)
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


def _judge_object(check: FactCheck, expected: str, statements: Sequence[Statement]) -> Verdict:
    values = tuple(sorted({one.value for one in statements if one.kind == "entity"}, key=number_of))
    if not values:
        return _judge(check, "unknown", note="the live graph has no value")
    note = "" if expected == check.expected else f"{check.expected} is {expected} now"
    if expected not in values:
        return _judge(check, "different", values[:_SHOWN], note)
    if check.alone and len(values) > 1:
        return _judge(check, "different", values[:_SHOWN], f"one of {len(values)} values")
    return _judge(check, "confirmed", values[:_SHOWN], note)


def _judge_literal(check: FactCheck, expected: LiteralFact, literals: Sequence[FetchedLiteral]) -> Verdict:
    same_kind = [one for one in literals if one.fact.datatype == expected.datatype]
    usable = [one for one in same_kind if not one.apart]
    shown = tuple(dict.fromkeys(_show(one.fact.value, one.fact.unit) for one in same_kind))[:_SHOWN]
    if not usable:
        note = same_kind[0].apart if same_kind else "the live graph has no value"
        return _judge(check, "unknown", shown, note)
    agreeing = [one for one in usable if _agrees(expected, one)]
    if not agreeing:
        return _judge(check, "different", shown)
    if check.alone and len(agreeing) < len(usable):
        return _judge(check, "different", shown, f"one of {len(shown)} values")
    exact = expected.datatype != "dateTime" or any(one.fact.value[:10] == expected.value[:10] for one in agreeing)
    return _judge(check, "confirmed", shown, "" if exact else "to the year")


def _agrees(expected: LiteralFact, live: FetchedLiteral) -> bool:
    """Equal numbers in equal units, or the same day; the same year where either date is known to the year only."""
    if expected.datatype == "dateTime":
        mine, other = expected.value, live.fact.value
        if mine[:10] == other[:10]:
            return True
        bare = mine[4:10] == "-01-01" or (live.precision is not None and live.precision < DAY)
        return bare and mine[:4] == other[:4]
    if expected.datatype == "decimal":
        known = normalise(expected.value, expected.unit)
        held = normalise(live.fact.value, live.fact.unit)
        return (
            known is not None
            and held is not None
            and known.unit == held.unit
            and abs(known.value - held.value) * 10**9 <= max(abs(known.value), abs(held.value))
        )
    return expected.value == live.fact.value


def _judge(check: FactCheck, status: Status, values: tuple[str, ...] = (), note: str = "") -> Verdict:
    expected = check.expected
    text = expected if isinstance(expected, str) else _show(expected.value, expected.unit)
    return Verdict(check.subject, check.property, text, status, values, note)


def _show(value: str, unit: str) -> str:
    return f"{value} {name_unit(unit)}" if unit else value


def _worst(statuses: Iterable[Status]) -> Status:
    found = set(statuses)
    if "different" in found:
        return "different"
    return "confirmed" if found == {"confirmed"} else "unknown"
