"""Numbers that a text writes out: `forty`, `seventy-five`, and the ordinals of birthdays, `fortieth`."""

from __future__ import annotations

import re
from decimal import Decimal

from hopwright.text.phrases import ORDINALS, SMALL_NUMBERS

_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
NUMBER_WORDS = (
    {word: number for number, word in enumerate(SMALL_NUMBERS)}
    | _TENS
    | {f"{word.removesuffix('y')}ieth": number for word, number in _TENS.items()}
    | {"hundred": 100, "thousand": 1000, "dozen": 12, "twice": 2, "thrice": 3}
)
"""Words that say a number by themselves; `first` and `third` say a place, and are none."""
_UNITS = {
    word: number for names in (SMALL_NUMBERS[1:10], ORDINALS[:9]) for number, word in enumerate(names, start=1)
}
_WRITTEN_OUT = re.compile(rf"[A-Za-z]+(?:(?<=ty)[- ](?:{'|'.join(_UNITS)})\b)?", re.IGNORECASE)
"""A word, or the two of `seventy-five` and `seventy-fifth`."""


def find_written_out(text: str) -> frozenset[Decimal]:
    """The numbers that a text writes in words."""
    return frozenset(Decimal(number) for found in _WRITTEN_OUT.findall(text) for number in _read(found.lower()))


def _read(text: str) -> list[int]:
    first, _, second = text.replace("-", " ").partition(" ")
    if first in _TENS and second:
        return [_TENS[first] + _UNITS[second]]
    return [NUMBER_WORDS[word] for word in (first, second) if word in NUMBER_WORDS]
