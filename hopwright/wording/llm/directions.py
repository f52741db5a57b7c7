"""Which way a text points, and which way its plan takes: larger or smaller, later or earlier, first or last."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hopwright.wording.llm.computed import Age
from hopwright.wording.llm.vocabulary import side_of

_TOKEN = re.compile(r"[^\W_][\w'’.&-]*")
_NO_SIDE = re.compile(
    r"\b(?:named|called) after\b|\bafter (?:whom|which|whose)\b|\b(?:first|last) names?\b|\bat least\b"
)
_OPPOSITE = {
    "greater": "smaller", "smaller": "greater",
    "later": "earlier", "earlier": "later",
    "first": "last", "last": "first",
}  # fmt: skip
_ORDER = frozenset({"later", "earlier"})
_PLACES = {"first": "earlier", "last": "later"}
"""The first of several is the earliest of them."""
_WEAK = frozenset({"first", "last", "next"})
"""Words that say the place in an order only where there is one: a first award is a name."""
_AGE = re.compile(r"\b(?:how old|age|aged|birthdays?|years (?:of age|old))\b", re.IGNORECASE)
_REACHED = re.compile(
    r"\b(?:turn(?:ed|s|ing)?|reach(?:ed|es|ing)?|birthdays?|attain(?:ed|s)?|(?:end|close) of)\b", re.IGNORECASE
)
_DIFFERENCE = re.compile(r"\b(?:minus|subtract(?:ed|ing)?|between|separate[sd]?|difference|apart)\b", re.IGNORECASE)


def find_sides(text: str) -> frozenset[str]:
    """The sides that the words of a text say."""
    words = [word.rstrip(".'’").removesuffix("'s") for word in _TOKEN.findall(_NO_SIDE.sub(" ", text.lower()))]
    return frozenset(side for word in words if (side := side_of(word)))


def find_wrong_side(wanted: frozenset[str], allowed: frozenset[str], moment: bool, text: str) -> Iterator[str]:
    """What a text says of directions that its plan does not: each as the end of `the question must …`.

    `allowed`: sides that it may say besides; `moment`: the wanted place in the order is one after, or before, a moment.
    """
    said = find_sides(text)
    ordered = wanted & (_ORDER | _PLACES.keys())
    if not ordered:
        said = find_sides(" ".join(word for word in text.split() if word.lower().strip('?,.;:"') not in _WEAK))
    if not moment:
        wanted, allowed, said = (_merge(one) for one in (wanted, allowed, said))
    for side in sorted(wanted):
        other = _OPPOSITE[side]
        if other in wanted:
            continue
        if other in said:
            yield f"ask for the {side} side, not the {other} one"
        elif side not in said and (moment or not said):
            yield f"say which side is meant: {side}"
    if not ordered and (added := sorted((_merge(said) & _ORDER) - _merge(allowed))):
        yield f"not say what came {added[0]}, which the plan does not say"


def find_wrong_age(age: Age, text: str) -> str:
    """What a text says wrongly of an age, as the end of `the question must …`; empty where it is right."""
    if age == "in a year" and _AGE.search(text) and not _REACHED.search(text):
        return "ask for the age reached in that year (`turn`, `reach`, `at the end of the year`), not on a day of it"
    if age == "on a day" and (_REACHED.search(text) or _DIFFERENCE.search(text)):
        return "ask for the age on that very day, not for the age reached in its year"
    return ""


def _merge(sides: frozenset[str]) -> frozenset[str]:
    return frozenset(_PLACES.get(side, side) for side in sides)
