"""Country codes and the names that go with them, from `world-countries`: what a picture's code may be called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hopwright.errors import InputError
from hopwright.foreign import JsonError, load_json, show_misfit


@dataclass(frozen=True, slots=True)
class CountryCodes:
    """A country or territory: its ISO 3166-1 codes, and its names, the common one first."""

    alpha2: str
    numeric: str
    names: tuple[str, ...]
    independent: bool


def read_country_codes(files: Mapping[str, bytes]) -> tuple[CountryCodes, ...]:
    """All countries of the package `world-countries`, in its order. Raises InputError for another layout."""
    try:
        rows = load_json(files["countries.json"])
        return tuple(
            CountryCodes(
                alpha2=row["cca2"].lower(),
                numeric=row["ccn3"],
                names=tuple(dict.fromkeys((row["name"]["common"], row["name"]["official"], *row["altSpellings"]))),
                independent=row["independent"] is True,
            )
            for row in rows
        )
    except (JsonError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"world-countries: not the layout that is read ({show_misfit(error)})") from None
