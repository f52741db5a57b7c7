"""Small words that turn a question into another one: not, all, twice, months, to the nearest ten.

A plan has no negation, and only the quantities that its computation has. The rules' wording of the same hop says which
of these words belong there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hopwright.planning.computation_forms import Extreme, GroupSize, ShiftedYear

_NEGATION = re.compile(
    r"\b(?:not|never|none|neither|nor|nobody|no one|nothing|without|except|excluding|cannot|\w+n['’]t"
    r"|other than|apart from|rather than|instead of|aside from|but for|failed to|unlike|no)\b",
    re.IGNORECASE,
)
_ALL = re.compile(r"\b(?:all|every|each|both|always)\b", re.IGNORECASE)
_SOME = re.compile(r"\b(?:some|any|only|most of|several|few|half of|at least|at most|a majority of)\b", re.IGNORECASE)
_FACTOR = re.compile(
    r"\b(?:twice|thrice|double[ds]?|doubling|half|halve[ds]?|halving|triple[ds]?|quadruple[ds]?|squared?|dozens?"
    r"|(?:times|fold) (?:as|the|more|that)|(?:a|one|two|three) (?:third|quarter|fifth|tenth)s?)\b",
    re.IGNORECASE,
)
_UNITS = re.compile(
    r"\b(months?|weeks?|days|hours?|minutes?|seconds|per second|decades?|centur(?:y|ies)|miles?|feet|foot|yards?"
    r"|acres?|hectares?|kilomet(?:er|re)s?|met(?:er|re)s?|pounds?|tonnes?|tons?|kilograms?|grams?|per ?cent"
    r"|millions?|thousands?)\b",
    re.IGNORECASE,
)
_RANKED = re.compile(
    r"\b(?:third|last|final)(?: and the second)? "
    r"(?:wi(?:fe|ves)|husbands?|conductors?|performances?|productions?|editions?)\b",
    re.IGNORECASE,
)
_DISTANCE = re.compile(r"\byears (?:before|after)\b", re.IGNORECASE)
_ROUNDING = re.compile(
    r"\b(?P<whole>(?:the )?nearest (?:whole|integer|unit|one)|whole numbers?|integer|no decimals?)"
    r"|\b(?P<decimals>an?|one|two|three|four|\d) (?:decimals?|decimal places?|digits? after)"
    r"|\bnearest (?P<other>[\w-]+)"
    r"|\b(?P<way>round(?:ed|ing)? (?:up|down))\b",
    re.IGNORECASE,
)
_SIZES = {"a": "1", "an": "1", "one": "1", "two": "2", "three": "3", "four": "4", "tenth": "1", "hundredth": "2"}


def find_shifts(text: str, rules: str, forms: Sequence[object], *, by_rules: bool = True) -> Iterator[str]:
    """What a text says of a hop that turns it into another one, as the end of `the span …`.

    `rules` is the rules' wording of the same hop, `forms` what it computes; names are masked in both. `by_rules` False:
    it is another's wording of that hop, which need not say how much of a set is meant, nor how a number is rounded.
    """
    yield from _find_added(_NEGATION, text, rules, "must not say {!r}: the plan leaves nothing out")
    if not any(isinstance(form, ShiftedYear) and form.times > 1 for form in forms):
        yield from _find_added(_FACTOR, text, rules, "must not say {!r}: the plan multiplies and divides nothing here")
    yield from _find_added(_UNITS, text, rules, "must keep the unit: it says {!r}")
    yield from _find_added(_RANKED, text, rules, "must keep which one is meant: it says {!r}")
    if _DISTANCE.search(rules):
        yield from _find_added(_DISTANCE, text, rules, "must keep which comes first: it says {!r}")
    if not by_rules:
        return
    sets = [form for form in forms if isinstance(form, Extreme | GroupSize) and form.members is not None]
    tested = any(_is_test(form) for form in sets)
    if tested or not sets:
        # `the two were each …` says nothing of a set.
        said = _lower(_ALL, text) - _lower(_ALL, rules) - (set() if tested else {"each", "both"})
        if said:
            yield f"must not say {min(said)!r}, as that is not said of all"
    if not tested:
        yield from _find_added(_SOME, text, rules, "must not say {!r}: the plan makes no such choice")
    if (wanted := read_rounding(rules)) != (found := read_rounding(text)) and (wanted or found):
        yield f"must round as the plan does ({_say_rounding(wanted)}), not otherwise"


def _is_test(form: Extreme | GroupSize) -> bool:
    """Whether only some of those that it names belong to its set."""
    members = form.members
    return members is not None and (bool(members.entities) if isinstance(form, GroupSize) else members.is_test())


def read_rounding(text: str) -> frozenset[str]:
    """How a text has a number rounded: digits after the point, or `ten`, `up` and the like."""
    found = set()
    for match in _ROUNDING.finditer(text.lower()):
        if match["whole"]:
            found.add("0")
        elif match["decimals"]:
            found.add(_SIZES.get(match["decimals"], match["decimals"]))
        elif match["other"]:
            found.add(_SIZES.get(match["other"], match["other"]))
        else:
            found.add(match["way"].rpartition(" ")[2])
    return frozenset(found)


def _say_rounding(found: frozenset[str]) -> str:
    if not found:
        return "not at all"
    return ", ".join("to a whole number" if one == "0" else f"decimals: {one}" for one in sorted(found))


def _find_added(pattern: re.Pattern[str], text: str, rules: str, said: str) -> Iterator[str]:
    """Words of a sort that a text has and the rules' wording has not."""
    known = _lower(pattern, rules)
    for word in dict.fromkeys(match[0] for match in pattern.finditer(text)):
        if _bare(word) not in known:
            yield said.format(word)


def _lower(pattern: re.Pattern[str], text: str) -> set[str]:
    return {_bare(match[0]) for match in pattern.finditer(text)}


def _bare(word: str) -> str:
    """A word without the ending of its plural, in small letters."""
    return word.lower().removesuffix("s")
