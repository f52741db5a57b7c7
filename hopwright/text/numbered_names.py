"""Names that only count on: `35th Academy Awards` and `36th Academy Awards`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_NUMBER = re.compile(r"\d+(?:st|nd|rd|th|[A-Z]\b)?|\b[IVXLC]+\b")
_DIGITS = re.compile(r"\d+")
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_REGULAR = 0.5
"""The share of a list's steps that must be alike for anybody to count on by them."""


def find_counted_on(names: Sequence[str]) -> list[int]:
    """The places, from 0, whose name gives the next one away: the same but for one number that goes on as usual.

    What is usual is the commonest difference, where at least half of the names go on by it, and 1 elsewhere.
    """
    steps = {place: step for place in range(len(names) - 1) if (step := _find_step(names[place], names[place + 1]))}
    usual, times = Counter(steps.values()).most_common(1)[0] if steps else (1, 0)
    if times < _REGULAR * (len(names) - 1):
        usual = 1  # an election comes when it is called, and yet the fourth follows the third
    return [place for place, step in steps.items() if step == usual]


def _find_step(earlier: str, later: str) -> int:
    """By how much the one number in which two names differ goes on; 0 where they differ in more, or in nothing."""
    if _NUMBER.sub("#", earlier) != _NUMBER.sub("#", later):
        return 0
    pairs = zip(_NUMBER.findall(earlier), _NUMBER.findall(later), strict=True)
    found = [step for one, other in pairs if (step := _read(other) - _read(one))]
    return found[0] if len(found) == 1 else 0


def _read(number: str) -> int:
    if digits := _DIGITS.match(number):
        return int(digits.group())
    values = [_ROMAN[one] for one in number]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))
