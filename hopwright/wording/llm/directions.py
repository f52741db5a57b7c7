"""Which way a text points, and which way its plan takes: larger or smaller, later or earlier, first or last."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hopwright.wording.llm.computed import Age
from hopwright.wording.llm.vocabulary import side_of

_TOKEN = re.compile(r"[^\W_][\w'’.&-]*")
_NO_SIDE = re.compile(
    r"\b(?:named|called) after\b|\bafter (?:whom|which|whose)\b|\bthe following\b(?! year)"
    r"|\b(?:first|last) names?\b|\bat least\b|\bfirst became\b|\boutlived its\b|◦ +outlived +◦ *\."
    r"|\bfirst(?: and (?:the )?second)? "
    r"(?:wi(?:fe|ves)|husbands?|nights?|performances?|productions?|conductors?|english(?! classic)"
    # Of a book, not of the Games.
    r"|editions?(?! of the (?:world|summer|winter)| (?:at|in|on|for) which| won| held| to ))\b"
)
_OPPOSITE = {
    "greater": "smaller", "smaller": "greater",
    "later": "earlier", "earlier": "later",
    "first": "last", "last": "first",
}  # fmt: skip
_PERFORMED = re.compile(r"\b((?:first|last)(?: one| of (?:them|th[eo]se \w+))? was) first(?= \w+ed\b)")
"""`The last of them was first performed` in a city: the last is meant."""
_ONCE = re.compile(r"\bonce\s+(?=◦|(?:he|she|it|they)\b)")
_BY_THEN = re.compile(r"\bby the time\b|\bat the time of\b|\bhad (?:\w+ ){1,3}when\b")
"""`Once she had died` is after, `by the time she died` before."""
_FINAL = re.compile(
    r"\bfinal(?= (?:[\w’'-]+ ){0,3}(?:collaborations?|films?|plays?|musicals?|operas?|novels?|works?|success|one)\b)"
)
"""`His final collaboration` is the last; a cup final is none of several."""
_COMPASS = re.compile(
    r"\b(?:(?:more|most|further|farther|furthest|farthest) (?:to the )?|lies )(north|south)(?:erly|ern)?\b"
    r"|\b(north|south) of the other(?: one)?\b",
    re.IGNORECASE,
)
"""`the more southerly` is no more of anything: it is the southernmost."""
_ORDER = frozenset({"later", "earlier"})
_PLACES = {"first": "earlier", "last": "later"}
"""The first of several is the earliest of them."""
_WEAK = frozenset({"first", "last", "next"})
"""Words that say the place in an order only where there is one: a first award is a name."""
_AGE = re.compile(r"\b(?:how old|age|aged|birthdays?|years (?:of age|old))\b", re.IGNORECASE)
_REACHED = re.compile(
    r"\b(?:turn(?:ed|s|ing)?|reach(?:ed|es|ing)?|birthdays?|attain(?:ed|s)?"
    r"|(?:end|close) of|to (?:its|an|the) (?:end|close))\b"
    r"|\b(?:how old|what age) did\b[^?]*\bbecome\b",
    re.IGNORECASE,
)
_EVENT_ENDED = re.compile(r"\b(?:end|close) of (?:the )?◦", re.IGNORECASE)
"""The end of something that has a name, such as `the end of the 1977 Stanley Cup Finals`; names are masked here."""
_THEN = re.compile(r"\b(?:how old|(?:what|which) age) (?:was|were)\b|\bage (?:was|were)\b", re.IGNORECASE)
"""The age at a moment, whoever else turned an age in the same question."""
_ENDED = re.compile(r"\b(?:(?:end|close) of|to (?:its|an|the) (?:end|close)|birthdays?)\b", re.IGNORECASE)
_AGES = r"(?:\d+|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?|\w+(?:ieth|fth))"
_TURNED = re.compile(
    rf"\b(?:turn(?:ed|s|ing)?|attain(?:ed|s|ing)?|reach(?:ed|es|ing)?) (?:the age of )?{_AGES}\b"
    rf"|\b{_AGES}(?:st|nd|rd|th)? birthday\b"
    rf"|\b{_AGES} years (?:after|from|on from|since) [^?,;]*\b(?:birth|born)\b",
    re.IGNORECASE,
)
"""How somebody is said to have turned an age in a year."""
_DIFFERENCE = re.compile(
    r"\b(?:minus|subtract(?:ed|ing)?|(?-i:between)|separate[sd]?|difference|apart)\b", re.IGNORECASE
)
"""`Between A and B, who …?` sets two beside each other and subtracts nothing."""


def find_sides(text: str) -> frozenset[str]:
    """The sides that the words of a text say."""
    # `the later-born` is the later one to be born.
    plain = _PERFORMED.sub(r"\1", _NO_SIDE.sub(" ", _FINAL.sub("last", text.lower())))
    plain = _COMPASS.sub(lambda found: f" {found[1] or found[2]}ernmost ", plain)
    plain = _BY_THEN.sub("before", _ONCE.sub("after ", plain)).replace("-", " ")
    words = [word.rstrip(".'’").removesuffix("'s") for word in _TOKEN.findall(plain)]
    return frozenset(side for word in words if (side := side_of(word)))


def find_wrong_side(wanted: frozenset[str], allowed: frozenset[str], moment: bool, text: str) -> Iterator[str]:
    """What a text says of directions that its plan does not: each as the end of `the question must …`.

    `allowed`: sides that it may say besides; `moment`: the wanted place in the order is one after, or before, a moment.
    """
    text = _FINAL.sub("last", text)
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


def asks_age(text: str) -> bool:
    """Whether a text asks for an age in the words for it, which say its unit as well."""
    return _AGE.search(_TURNED.sub(" ", text)) is not None


def hide_turned(text: str) -> str:
    """The text without the years in which somebody turned an age: `40 years after the birth of …` orders nothing."""
    return _TURNED.sub(" ", text)


def find_wrong_age(ages: frozenset[Age], text: str) -> str:
    """What a text says wrongly of ages, as the end of `the question must …`; empty where it is right."""
    if "turned" in ages and not _TURNED.search(text):
        return "say that it is the year in which that age was turned (`turned`, `reached the age of`, `birthday`)"
    rest = _TURNED.sub(" ", text) if "turned" in ages else text
    if "in a year" in ages:
        on_day = _THEN.search(rest) and not _ENDED.search(rest)
        if on_day or (_AGE.search(rest) and not _REACHED.search(rest)):
            return (
                "ask for the age reached in that year (`turn`, `reach`, `at the end of the year`), not on a day of it"
            )
    if "on a day" in ages and (_REACHED.search(_EVENT_ENDED.sub(" ", rest)) or _DIFFERENCE.search(rest)):
        return "ask for the age on that very day, not for the age reached in its year"
    return ""


def _merge(sides: frozenset[str]) -> frozenset[str]:
    return frozenset(_PLACES.get(side, side) for side in sides)
