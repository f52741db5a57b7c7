"""Checks of claims: what a claim must be like to be used at all, and how an item that rests on one must show it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from hopwright.checks.case import Case, Check, CheckContext, Finding
from hopwright.checks.dates import find_time
from hopwright.errors import ExpressionError
from hopwright.knowledge.external.notes import write_note
from hopwright.planning.expressions import claims_in
from hopwright.planning.forms import Claimed, read_form
from hopwright.records import Claim, Compute, Hop
from hopwright.text.matching import find_numbers, fold, holds, mentions_number, pad
from hopwright.text.phrases import SMALL_NUMBERS

_AS_OF = re.compile(r"\b(?:as of|to this day|until now|ongoing|so far|to date|current\w*|living)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![\w'’-])[A-Z][\w'’.&-]*")
_OPENING = re.compile(r"^the [a-z]")
_ENDING = re.compile(r"[.?!;:,]$")
_LEAST = 3
_TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def find_faults(claim: Claim) -> Iterator[str]:
    """Why a claim cannot be used, whatever the graph says; nothing where it can."""
    if not claim.sealed:
        yield "its id is not that of its content: it was changed"
    if claim.number < _LEAST:
        yield f"a value below {_LEAST} hides in the grammar of any question"
    if claim.unit == "year":
        yield "a calendar year is no number to compute with"
    if not _OPENING.match(claim.phrase) or _ENDING.search(claim.phrase):
        yield f"the phrase is no noun phrase such as 'the number of …': {claim.phrase!r}"
    if states(claim.phrase, claim):
        yield f"the phrase gives away the number: {claim.phrase!r}"
    if not states(claim.statement, claim):
        yield f"the statement does not state the value {claim.value}"
    for text in (claim.statement, claim.phrase):
        if found := find_time(text) or ((match := _AS_OF.search(text)) and match[0]):
            yield f"depends on the time of reading: {found!r}"
            break
    yield from _find_unnamed(claim)
    if not urlsplit(claim.source_url).path.strip("/") and not urlsplit(claim.source_url).query:
        yield f"the source {claim.source_url} is a site, not a page that says so"
    if {bool(claim.model), bool(claim.request_key)} != {claim.author == "model"}:
        yield "it names a model and the request that it came from exactly when a model made it"


def states(text: str, claim: Claim) -> bool:
    """Whether a text states a claim's number, in digits or (below a hundred) in words."""
    number = claim.number
    if any(one == number for one, _ in find_numbers(text)):
        return True
    return isinstance(number, int) and number < 100 and holds(pad(text), _spell(number))


def rests_on_claims(case: Case) -> bool:
    """Whether a hop carries a claim, or its derivation names one."""
    return case.planned and any(hop.evidence.claims or _list_used(hop) for hop in case.item.hops)


def check_claims(case: Case, context: CheckContext) -> Iterator[Finding]:
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


def _find_unnamed(claim: Claim) -> Iterator[str]:
    """A name in the phrase that `names` lacks could be another hop's answer, and nobody would see it."""
    words = {word for name in claim.names for word in fold(name).split()}
    for found in _NAME.findall(claim.phrase):
        if not words.issuperset(fold(found.removesuffix("'s").removesuffix("’s")).split()):
            yield f"the phrase names {found!r}, and `names` does not"
    said = pad(f"{claim.statement} {claim.phrase}")
    for name in claim.names:
        if not holds(said, name):
            yield f"`names` has {name!r}, which neither statement nor phrase mentions"


def _find_given_away(hop: Hop, claim: Claim, case: Case) -> Iterator[Finding]:
    """The number must be known, not read; a part of a name (`Apollo 6`) does not state it."""
    long = len(claim.value) >= 3
    for index, text in ((None, case.item.question), (hop.index, hop.question)):
        stated = any(one == claim.number and (alone or long) for one, alone in find_numbers(text))
        if stated or (0 <= claim.number <= 12 and not find_numbers(text) and mentions_number(text, claim.number)):  # type: ignore[arg-type]
            yield index, f"states {claim.value}, the number that the claim {claim.id} is about"


def _find_mentioned(claim: Claim, case: Case, context: CheckContext) -> Iterator[str]:
    """Whatever a claim mentions is nothing that the plan names or passes through."""
    names = {fold(name) for name in claim.names}
    ids = {one.id for name in claim.names for one in context.graph.find(name)} if context.graph is not None else set()
    for id, label in case.labels.items():
        if id in ids or fold(label) in names:
            yield f"the claim {claim.id} mentions {label!r}, which another hop is about"


def _find_unlike(hop: Hop, held: dict[str, Claim], case: Case) -> str:
    """Why the units of a computation with a claim do not go together; empty where they do."""
    form = read_form(hop.derivation.expression) if isinstance(hop.derivation, Compute) else None
    if not isinstance(form, Claimed) or form.claim not in held:
        return ""
    unit = held[form.claim].unit
    source = next((one for one in case.item.hops if f"hop{one.index}" == form.reference), None)
    other = source.unit if source is not None else ""
    if form.how in ("product", "size", "pool", "group"):
        return f"counts with a claim in {unit}" if unit else ""
    if other == "year":
        return "" if unit in ("", "years") else f"adds {unit} to a year"
    return "" if unit == other else f"adds {unit or 'a bare number'} to {other or 'a bare number'}"


def _spell(number: int) -> str:
    if number < len(SMALL_NUMBERS):
        return SMALL_NUMBERS[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f" {SMALL_NUMBERS[ones]}" if ones else "")
