"""Checks of claims: what a claim must be like to be used at all, and how an item that rests on one must show it."""

from __future__ import annotations

from collections.abc import Iterator

from hopwright.checks.case import Check, CheckContext, CheckedItem, Finding
from hopwright.errors import ExpressionError
from hopwright.knowledge.external.notes import write_note
from hopwright.knowledge.external.rules import find_faults
from hopwright.planning.computation_forms import ClaimComputation, read_computation
from hopwright.planning.expressions import claims_in
from hopwright.records import Claim, Compute, Hop
from hopwright.text.matching import find_numbers, fold, holds, mentions_number


def rests_on_claims(case: CheckedItem) -> bool:
    """Whether a hop carries a claim, or its derivation names one."""
    return case.planned and any(hop.evidence.claims or _list_used(hop) for hop in case.item.hops)


def check_claims(case: CheckedItem, context: CheckContext) -> Iterator[Finding]:
    """A claim travels whole with the hop that rests on it, is asked for by its phrase, and is marked for the expert."""
    for hop, padded in zip(case.item.hops, case.padded_hops, strict=True):
        used = _list_used(hop)
        held = {claim.id: claim for claim in hop.evidence.claims}
        for id in used:
            if id not in held:
                yield hop.index, f"rests on the claim {id}, which does not travel with it"
        for id, claim in held.items():
            if id not in used:
                yield hop.index, f"carries the claim {id}, which its derivation does not use"
            yield from ((hop.index, f"claim {id}: {fault}") for fault in find_faults(claim))
            if not holds(padded, claim.phrase):
                yield hop.index, f"does not say {claim.phrase!r}"
            if not holds(case.padded, claim.phrase):
                yield hop.index, f"the multi-hop question does not say {claim.phrase!r}"
            yield from _find_given_away(hop, claim, case)
            yield from ((hop.index, reason) for reason in _find_mentioned(claim, case, context))
            if write_note(claim) not in hop.verify:
                yield hop.index, f"does not ask the expert to look up {claim.statement!r} in its source"
        if held and (reason := _find_unlike(hop, held, case)):
            yield hop.index, reason


CLAIMS = (
    Check(
        "claims",
        "a claim has a source, travels with its hop and is marked for the expert",
        check_claims,
        concerns=rests_on_claims,
    ),
)


def _list_used(hop: Hop) -> tuple[str, ...]:
    if not isinstance(hop.derivation, Compute):
        return ()
    try:
        return claims_in(hop.derivation.expression)
    except ExpressionError:
        return ()  # recomputation reports it


def _find_given_away(hop: Hop, claim: Claim, case: CheckedItem) -> Iterator[Finding]:
    """The number must be known, not read; a part of a name (`Apollo 6`) does not state it."""
    long = len(claim.value) >= 3
    for index, text in ((None, case.item.question), (hop.index, hop.question)):
        stated = any(one == claim.number and (alone or long) for one, alone in find_numbers(text))
        if stated or (0 <= claim.number <= 12 and not find_numbers(text) and mentions_number(text, claim.number)):  # type: ignore[arg-type]
            yield index, f"states {claim.value}, the number that the claim {claim.id} is about"


def _find_mentioned(claim: Claim, case: CheckedItem, context: CheckContext) -> Iterator[str]:
    """Whatever a claim mentions is nothing that the plan names or passes through."""
    names = {fold(name) for name in claim.names}
    ids = {one.id for name in claim.names for one in context.graph.find(name)} if context.graph is not None else set()
    for id, label in case.labels.items():
        if id in ids or fold(label) in names:
            yield f"the claim {claim.id} mentions {label!r}, which another hop is about"


def _find_unlike(hop: Hop, held: dict[str, Claim], case: CheckedItem) -> str:
    """Why the units of a computation with a claim do not go together; empty where they do."""
    form = read_computation(hop.derivation)
    if not isinstance(form, ClaimComputation) or form.claim not in held:
        return ""
    unit = held[form.claim].unit
    source = next((one for one in case.item.hops if f"hop{one.index}" == form.reference), None)
    other = source.unit if source is not None else ""
    if form.how in ("product", "size", "pool", "group"):
        return f"counts with a claim in {unit}" if unit else ""
    if other == "year":
        return "" if unit in ("", "years") else f"adds {unit} to a year"
    return "" if unit == other else f"adds {unit or 'a bare number'} to {other or 'a bare number'}"
