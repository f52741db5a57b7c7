"""The words that tell names apart, read once from `names.toml`."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Gender = Literal["male", "female", ""]


@dataclass(frozen=True, slots=True)
class NameWords:
    """Sets of words as they are capitalised in a text; titles without their full stop."""

    male_titles: frozenset[str]
    female_titles: frozenset[str]
    either_titles: frozenset[str]
    married: frozenset[str]
    unmarried: frozenset[str]
    male: frozenset[str]
    female: frozenset[str]
    short: dict[str, str]
    places: frozenset[str]
    endings: frozenset[str]
    beginnings: frozenset[str]
    """Words that make a place of the name behind them, as Castle does."""
    shires: tuple[str, ...]
    harmless: frozenset[str]
    """Capitalised words that are no names, or of days and peoples."""

    @property
    def titles(self) -> frozenset[str]:
        """Every title."""
        return self.male_titles | self.female_titles | self.either_titles

    def gender_of_title(self, title: str) -> Gender:
        """What a title says of its bearer."""
        return "male" if title in self.male_titles else "female" if title in self.female_titles else ""

    def gender_of_given(self, name: str) -> Gender:
        """What a given name says of its bearer."""
        full = self.short.get(name, name)
        for one in (name, full):
            if one in self.male:
                return "male"
            if one in self.female:
                return "female"
        return ""


@functools.cache
def load_name_words() -> NameWords:
    """The shipped lists."""
    path = Path(__file__).with_name("names.toml")
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    titles, given, nobody = table["titles"], table["given"], table["nobody"]
    words = frozenset(word for line in nobody.values() for word in line.split())
    return NameWords(
        male_titles=frozenset(titles["male"].split()),
        female_titles=frozenset(titles["female"].split()),
        either_titles=frozenset(titles["either"].split()),
        married=frozenset(titles["married"].split()),
        unmarried=frozenset(titles["unmarried"].split()),
        male=frozenset(given["male"].split()),
        female=frozenset(given["female"].split()),
        short=dict(table["short"]),
        places=frozenset(table["places"]["known"].split()),
        endings=frozenset(table["places"]["endings"].split()),
        beginnings=frozenset(table["places"]["beginnings"].split()),
        shires=tuple(table["places"]["shire"].split()),
        harmless=words,
    )
