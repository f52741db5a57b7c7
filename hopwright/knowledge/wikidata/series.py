"""Series: lists in a fixed order, such as the FIFA World Cups, and what is known of each member.

A file of `series/` is one series. Its members' places are a property of their own, and so is each column; the ids are
Hopwright's own, from P991000 on: ten for a series, the first for the places. The facts stand in
`scripts/sample/series`.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hopwright.errors import InputError
from hopwright.foreign import explain_invalid
from hopwright.knowledge.properties import EntityProperty, LiteralProperty
from hopwright.records import Domain
from hopwright.records.values import EntityKind
from hopwright.text.phrases import find_plain_noun

KINDS: dict[str, tuple[EntityKind, ...]] = {
    "person": ("person",), "film": ("work",), "book": ("work",), "music": ("work",), "song": ("work",),
    "album": ("work",), "artwork": ("work",), "building": ("place", "transport"), "company": ("organization",),
    "event": ("event",), "final": ("event",), "mission": ("transport", "event"), "state": ("place",),
    "country": ("country",), "city": ("place",), "mountain": ("nature",), "river": ("nature",),
    "island": ("nature", "place"), "body": ("nature", "other"), "element": ("other", "nature"),
    "team": ("team", "organization"), "document": ("work", "event"), "thing": ("other",),
}  # fmt: skip
"""What the rows and the cells of the sample's tables may be → the kinds of entities that these are."""


class _Column(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    property: str
    kind: str
    noun: str
    class_: str = Field(default="", alias="class")
    label: str
    domain: Domain | None = None
    ask: tuple[str, ...]
    np: tuple[str, ...]
    reverse_ask: tuple[str, ...]
    reverse_np: tuple[str, ...]
    reverse_told: str
    scene: str = ""
    closes: bool = True
    whole: bool = True
    """Whether the value of every member is known: only then a value says which member is meant."""
    ends: Literal["", "first", "last", "both"] = "both"
    """Which of the members with one value may be asked for: not the first where one before the series has it too."""
    avoid: tuple[str, ...] = ()
    """Of whom neither is asked for: some count another member for them."""


class _Series(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    property: str
    noun: str
    short: str = ""
    """What a member is called where a sentence has told of it; empty for the noun, or the end of it: `final`."""
    class_: str = Field(default="", alias="class")
    """The id of the class of members that no other source has; people have none of their own."""
    title: str
    domain: Domain
    kind: str
    article: bool = False
    """Whether `the` goes before the name of a member."""
    columns: dict[str, _Column]


@dataclass(frozen=True, slots=True)
class Series:
    """One series: the property of its members' places, and the properties of what is known of them."""

    name: str
    title: str
    kind: str
    article: bool
    """Whether `the` stands before the name of a member."""
    property: str
    place: LiteralProperty
    columns: Mapping[str, EntityProperty]
    """By property id."""
    cells: Mapping[str, tuple[str, str, str]]
    """Column of the table → its property, the kind of its cells and the class of new ones; `name` is the member."""
    classes: Mapping[str, tuple[EntityKind, str]]
    """The classes of what no other source has → the kind and the noun of what is of them."""


@functools.cache
def load_series() -> tuple[Series, ...]:
    """Load all series, by name. Raises InputError naming the file and the field that is wrong."""
    folder = resources.files(__package__).joinpath("series")
    files = sorted((one for one in folder.iterdir() if one.name.endswith(".toml")), key=lambda one: one.name)
    return tuple(_read(one.name, one.read_text("utf-8")) for one in files)


def _read(name: str, text: str) -> Series:
    try:
        raw = _Series.model_validate(tomllib.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"series/{name}, {where}: {explain_invalid(first)}") from None
    named = [(raw.class_, raw.kind, raw.noun), *((one.class_, one.kind, one.noun) for one in raw.columns.values())]
    return Series(
        name.removesuffix(".toml"),
        raw.title,
        raw.kind,
        raw.article,
        raw.property,
        LiteralProperty(
            label=f"place among the {raw.title}", domain=raw.domain, value="number", subject=KINDS[raw.kind],
            series=raw.noun, series_short=raw.short or find_plain_noun(raw.noun) or raw.noun,
        ),
        {one.property: _make_column(one, raw) for one in raw.columns.values()},
        {column: (one.property, one.kind, one.class_) for column, one in raw.columns.items()}
        | {"name": (raw.property, raw.kind, raw.class_)},
        {id: (KINDS[kind][0], noun) for id, kind, noun in named if id},
    )  # fmt: skip


def _make_column(column: _Column, series: _Series) -> EntityProperty:
    return EntityProperty(
        label=column.label,
        domain=column.domain or series.domain,
        subject=KINDS[series.kind],
        object=KINDS[column.kind],
        reverse="alone" if column.whole else "no",
        ask=column.ask,
        np=column.np,
        reverse_ask=column.reverse_ask,
        reverse_np=column.reverse_np,
        reverse_told=column.reverse_told,
        scene=column.scene,
        closes=column.closes,
        ends=column.ends if column.whole else "",
        avoid=column.avoid,
        series=series.property,
        role=column.noun,
    )
