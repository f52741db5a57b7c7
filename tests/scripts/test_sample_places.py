"""Towns, craters and calendars of the sample's sources: what is linked, and what is left out."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from sample.calendars import read_calendars
from sample.craters import read_craters
from sample.days import Day
from sample.gathering import Merge
from sample.geonames import Town, measure, read_geonames

COMMUNE = "Q484170"


class Known:
    """What the readers ask of names: kinds, descriptions, and who bears a name."""

    def __init__(self, merge: Merge, kind: str, texts: Mapping[str, str]) -> None:
        self._merge = merge
        self._kind = kind
        self.texts = texts

    def kind(self, id: str) -> str:
        return self._kind if id != COMMUNE else "other"

    def link(self, name: str, kinds: list[str]) -> str:
        found = [id for id, names in self._merge.names.items() if name in names and self._kind in kinds]
        return found[0] if len(found) == 1 else ""


def gather(names: dict[str, list[str]], base: set[tuple[str, str, str]]) -> Merge:
    return Merge(names, {}, base, {}, {})


def town(name: str, latitude: float, longitude: float, country: str = "FR") -> dict[str, Any]:
    return {
        "name": name, "latitude": latitude, "longitude": longitude, "countrycode": country, "admin1code": "01",
        "population": 900, "alternatenames": [],
    }  # fmt: skip


def link_towns(
    folder: Path, names: dict[str, str], borders: set[tuple[str, str]], towns: list[dict[str, Any]]
) -> Merge:
    """What is linked of French communes with these labels and borders."""
    france = {"name": "France", "capital": "Paris"}
    (folder / "countries.json").write_text(json.dumps({"FR": france}), "utf-8")
    (folder / "us_states.json").write_text("{}", "utf-8")
    (folder / "cities500.json").write_text(json.dumps(dict(enumerate(towns))), "utf-8")
    base = {(id, "P31", COMMUNE) for id in names} | {(one, "P47", other) for one, other in borders}
    merge = gather({COMMUNE: ["commune of France"]} | {id: [name] for id, name in names.items()}, base)
    read_geonames(folder, merge, Known(merge, "place", {}))  # type: ignore[arg-type]
    return merge


def test_a_neighbour_that_lies_near_confirms_a_town(tmp_path: Path) -> None:
    towns = [town("Alpha", 45.111, 3.0), town("Beta", 45.2, 3.1)]
    merge = link_towns(tmp_path, {"Q1": "Alpha", "Q2": "Beta"}, {("Q1", "Q2")}, towns)
    assert merge.points == {"Q1": ("45.11", "3.00", "geonames"), "Q2": ("45.20", "3.10", "geonames")}


def test_a_name_alone_links_nothing(tmp_path: Path) -> None:
    merge = link_towns(tmp_path, {"Q1": "Alpha"}, set(), [town("Alpha", 45.1, 3.0)])
    assert not merge.points


def test_a_neighbour_far_away_tells_that_one_of_them_is_a_namesake(tmp_path: Path) -> None:
    towns = [town("Alpha", 45.1, 3.0), town("Beta", 49.2, 3.1)]
    assert not link_towns(tmp_path, {"Q1": "Alpha", "Q2": "Beta"}, {("Q1", "Q2")}, towns).points


def test_of_two_namesakes_the_one_beside_its_neighbour_is_meant(tmp_path: Path) -> None:
    towns = [town("Alpha", 45.1, 3.0), town("Alpha", 48.1, 3.0), town("Beta", 45.2, 3.1)]
    merge = link_towns(tmp_path, {"Q1": "Alpha", "Q2": "Beta"}, {("Q1", "Q2")}, towns)
    assert merge.points["Q1"][0] == "45.10"


def test_another_country_has_no_say(tmp_path: Path) -> None:
    towns = [town("Alpha", 45.1, 3.0, "IT"), town("Beta", 45.2, 3.1)]
    assert "Q1" not in link_towns(tmp_path, {"Q1": "Alpha", "Q2": "Beta"}, {("Q1", "Q2")}, towns).points


DEGREES = st.floats(-89, 89)


@given(DEGREES, DEGREES, DEGREES, DEGREES)
def test_distances_are_the_same_both_ways_and_at_most_half_the_globe(a: float, b: float, c: float, d: float) -> None:
    one, other = Town(a, b, "", "", 0), Town(c, d, "", "", 0)
    assert measure(one, other) == pytest.approx(measure(other, one), abs=1e-6)
    assert 0 <= measure(one, other) <= 20_016
    assert measure(one, one) == pytest.approx(0)


@pytest.mark.parametrize(
    ("text", "taken"),
    [("Austrian biologist", True), ("Austrian actor", False), ("biologist", True), ("", False)],
)
def test_a_crater_gives_its_years_to_whom_name_and_occupation_fit(tmp_path: Path, text: str, taken: bool) -> None:
    lines = '# TRANSLATORS: (Mars); Gregor J.; Austrian biologist (1822-1884).\nMars\t1\t_("Mendel","crater")\tAA\n'
    (tmp_path / "names.dat").write_bytes(gzip.compress(lines.encode()))
    merge = gather({"Q1": ["Gregor Mendel"]}, set())
    read_craters(tmp_path / "names.dat", merge, Known(merge, "person", {"Q1": text}))  # type: ignore[arg-type]
    days = {("Q1", "P569"): {"gazetteer": {Day(1822)}}, ("Q1", "P570"): {"gazetteer": {Day(1884)}}}
    assert merge.days == (days if taken else {})


def test_a_calendar_gives_years_only_where_something_else_agrees(tmp_path: Path) -> None:
    for file in ("calendar.birthday", "calendar.computer", "calendar.music"):
        (tmp_path / file).write_text("", "utf-8")
    (tmp_path / "calendar.birthday").write_text(
        "01/05\tAda Example born in Sometown, 1859\n"
        "01/06\tBob Example born, 1860\n"
        "01/07\tCarl Example born in Sometown, 1861?\n",
        "utf-8",
    )
    names = {"Q1": ["Ada Example"], "Q2": ["Bob Example"], "Q3": ["Carl Example"], "Q9": ["Sometown"]}
    merge = gather(names, {(one, "P19", "Q9") for one in ("Q1", "Q2", "Q3")})
    read_calendars(tmp_path, merge, Known(merge, "person", {}))  # type: ignore[arg-type]
    assert merge.days == {("Q1", "P569"): {"calendar": {Day(1859)}}}
