"""What a claim must be like to be used at all, whatever a graph says about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from hopwright.records import Claim
from hopwright.text.matching import find_numbers, find_time, fold, holds, pad
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
    """Whether a text states a claim's number, in digits or (below a thousand) in words."""
    number = claim.number
    if any(one == number for one, _ in find_numbers(text)):
        return True
    if not isinstance(number, int) or number >= 1000:
        return False
    hundreds, rest = divmod(number, 100)
    if not hundreds:
        return holds(pad(text), _spell(number))
    heads = [f"{_spell(hundreds)} hundred", *(["a hundred"] if hundreds == 1 else [])]
    if rest:
        return any(holds(pad(text), f"{head} and {_spell(rest)}") for head in heads)
    # `one hundred and five` is not a hundred.
    return any(holds(pad(text), head) and not holds(pad(text), f"{head} and") for head in heads)


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


def _spell(number: int) -> str:
    if number < len(SMALL_NUMBERS):
        return SMALL_NUMBERS[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f" {SMALL_NUMBERS[ones]}" if ones else "")
