"""The CIA World Factbook's statements about countries, as facts about entities: capitals, summits, borders, and more.

`find_facts` is a pure function of the Factbook's records and of what is known. It takes what the text says without a
second reading: a capital where it names one, a date of independence where it gives one. The rest is refused by reason.
"""

from __future__ import annotations

import gzip
import html
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sample.days import Day, read_day
from sample.factbook_links import CAPITAL, FORMER, Linker, World
from sample.gathering import RULES, Merge, Names

_TAGS = re.compile(r"<[^>]*>")
_HEIGHT = re.compile(r"(-?[\d,]+(?:\.\d+)?) ?m\b")
_BORDER = re.compile(r"\s*(?:the )?([^\d(]+?) (?:\([^)]*\) )?[\d,.]+ (?:km|m)")
_BORDER_ENDS = re.compile(r";|(?<=km),")
_SEAT = re.compile(r"\(([^()]*)\)")
_NAME = re.compile(r"[A-Z][\w'-]*(?: (?:de|[A-Z][\w'-]*))*")
METRE, LANGUAGE, CURRENCY = "Q11573", "Q34770", "Q8142"
SOURCE = "factbook"


@dataclass(slots=True)
class Findings:
    """What the Factbook adds, takes back and contradicts.

    `gone` holds triplets that it shows to be of another time; `disagreements` are (subject, property, claims, kept).
    """

    edges: list[tuple[str, str, str]] = field(default_factory=list)
    days: list[tuple[str, str, Day]] = field(default_factory=list)
    numbers: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """(subject, property): (unit, value)."""
    years: dict[tuple[str, str], str] = field(default_factory=dict)
    """(subject, property): the year that is kept of several that Wikidata has."""
    gone: set[tuple[str, str, str]] = field(default_factory=set)
    borders: dict[str, list[str]] = field(default_factory=dict)
    """Country: all that border it on land, where each is known here and names it in turn, and none is contested."""
    disagreements: list[tuple[str, str, str, str]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    taken: Counter[str] = field(default_factory=Counter)


def take_facts(path: Path, merge: Merge, names: Names) -> dict[str, list[str]]:
    """Add what the Factbook states to what is gathered, and take back what it shows to be of another time.

    Returns the land borders that are known to the last, by country.
    """
    facts: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for subject, property, object in (*merge.base, *merge.edges):
        facts[subject][property].add(object)
    numbers: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, values in merge.literals.items():
        numbers[key] += [value for _, value, _ in values]
    for key, said in merge.days.items():
        numbers[key] += sorted({day.value for days in said.values() for day in days})
    world = World(merge.names, facts, numbers, names.texts, names.kind, names.sort)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        found = find_facts([json.loads(line) for line in lines], world, RULES)
    known = {id: label for group in ("languages", "currencies") for id, label in RULES[group].values()}
    for id in sorted({object for _, _, object in found.edges} & known.keys()):
        merge.names.setdefault(id, [known[id]])
    merge.base -= found.gone
    for one in found.gone:
        merge.edges.pop(one, None)
    for edge in found.edges:
        merge.add_edge(*edge, SOURCE)
    for key, (unit, value) in found.numbers.items():
        merge.numbers[key] = (unit, value, "", SOURCE)
        merge.labels.setdefault(key[1], RULES["properties"].get(key[1], key[1]))
    for subject, property, day in found.days:
        merge.add_day(subject, property, day, SOURCE)
    for key, year in found.years.items():
        merge.literals[key] = [one for one in merge.literals[key] if one[1].startswith(year)]
    merge.disagreements += found.disagreements
    merge.refused.update({f"{SOURCE}: {why}": count for why, count in found.refused.items()})
    merge.taken.update({f"{SOURCE}: {what}": count for what, count in found.taken.items()})
    return found.borders


def write_borders(borders: Mapping[str, Sequence[str]], merge: Merge, path: Path) -> None:
    """Write the land borders that are known to the last: `Qid⇥label⇥Qid…`."""
    lines = [
        "# The countries that border a country on land, as the CIA World Factbook (public domain) lists them: entity,",
        "# name, neighbours. Left out: countries of which one neighbour is unknown here, does not name them in turn,",
        "# or is counted by some works of reference only.",
        *(
            "\t".join([country, merge.names[country][0], *sorted(others, key=_number)])
            for country, others in sorted(borders.items(), key=lambda one: _number(one[0]))
        ),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _number(entity: str) -> int:
    return int(entity[1:])


def find_facts(records: Iterable[Mapping[str, Any]], world: World, rules: Mapping[str, Any]) -> Findings:
    """Read all records; `rules` holds ids by the Factbook's words (`languages`, `currencies`) and `states`."""
    findings = Findings()
    linker = Linker(world)
    countries: dict[str, Mapping[str, Any]] = {}
    for record in sorted(records, key=lambda one: str(one["path"])):
        country = linker.link_country(
            re.sub(r" \(.*", "", dig(record, "Government", "Country name", f"conventional {form} form"))
            for form in ("short", "long")
        )
        if country and country not in countries:
            countries[country] = record
        else:
            findings.refused["country: not linked"] += 1
    for country, record in countries.items():
        _read_capital(findings, linker, world, country, record, rules)
        _read_summit(findings, linker, world, country, record)
        _read_lowest(findings, linker, world, country, record)
        _read_independence(findings, world, country, record)
        _read_language(findings, world, country, record, rules["languages"])
        _read_currency(findings, world, country, record, rules["currencies"])
        _read_anthem(findings, linker, world, country, record)
    _compare_borders(findings, linker, world, countries, frozenset(rules["contested_borders"]))
    return findings


def dig(record: Mapping[str, Any], *path: str) -> str:
    """The text at a path of a record, without tags and entities; an empty string where there is none."""
    node: Any = record
    for key in path:
        node = node.get(key, {}) if isinstance(node, dict) else {}
    text = node.get("text", "") if isinstance(node, dict) else node
    return re.sub(r"\s+", " ", html.unescape(_TAGS.sub("", str(text)))).strip()


def read_capital(text: str) -> list[str]:
    """The names of the one capital that a text states, the usual one first; none where it names several seats."""
    plain = re.split(r";? note ?-", text)[0].strip()
    aside = " ".join(_SEAT.findall(plain))
    if not plain or ";" in plain or "capital" in aside or re.match(r"none|no |administered", plain):
        return []
    main = re.split(r" in [A-Z]", _SEAT.sub("", plain))[0].strip()
    if ", " in main and not main.endswith(", D.C."):
        return []
    others = re.split(r"[,/]", aside) if aside[:1].isupper() else []
    return [main, *(one.strip() for one in others if _NAME.fullmatch(one.strip()))]


def read_point(text: str) -> tuple[list[str], str]:
    """The names of a highest or lowest point and its height in metres, as digits; ([], "") where it has no name."""
    head = re.split(r";", text)[0]
    height = _HEIGHT.search(re.sub(r"\([^)]*\)", "", head))
    plain = re.split(r",? -?[\d,.]+ ?m\b", re.sub(r"\([^)]*\)", "", head))[0].strip(" ,")
    if not height or not re.match(r"[A-Z]", plain) or re.search(r"\d|\bkm\b", plain):
        return [], ""
    aside = [one.strip() for one in _SEAT.findall(head) if re.fullmatch(r"[A-Z][\w' .-]*", one.strip())]
    # "Margherita Peak on Mount Stanley": the peak, not the massif, is the highest point.
    names = [re.sub(r"\s+", " ", plain), re.split(r" on ", plain)[0], *plain.split("/"), *aside]
    return list(dict.fromkeys(names)), height[1].replace(",", "")


def read_independence(text: str) -> Day | None:
    """The only date that a text gives, with at most its cause in brackets; None for anything else."""
    match = re.fullmatch(r"(\d{1,2} [A-Z][a-z]+ \d{4})(?: \((?:from|following) [^()\d]*\))?", text)
    return read_day(match[1]) if match else None


def read_language(text: str) -> str:
    """The name of the only language marked as official, or an empty string."""
    found = re.findall(r"(?:^|[,;] )([A-Z][A-Za-z' -]*?) \(([^()]*\bofficial\b[^()]*)", text)
    if text.count("official") != 1 or len(found) != 1 or not re.match(r"official\b(?! regional)", found[0][1]):
        return ""
    return str(found[0][0])


def list_neighbours(record: Mapping[str, Any]) -> list[str]:
    """The names of the countries that a record lists with a length of border."""
    text = dig(record, "Geography", "Land boundaries", "border countries")
    found = (
        re.match(r"\s*(?:the )?([^\d(]+?) (?:\([^)]*\) )?[\d,.]+ (?:km|m)", part) for part in _BORDER_ENDS.split(text)
    )
    return [match[1] for match in found if match]


def _read_capital(
    findings: Findings,
    linker: Linker,
    world: World,
    country: str,
    record: Mapping[str, Any],
    rules: Mapping[str, Any],
) -> None:
    text = dig(record, "Government", "Capital", "name")
    if not text:
        return
    names = read_capital(text)
    city = linker.link_city(names, country)
    seats = {(country, "P36", one) for one in world.objects(country, "P36")}
    seats |= {(one, "P1376", country) for one, own in world.facts.items() if country in own.get("P1376", ())}
    # Both directions are kept to today's capital: what a country was ruled from before would make it one of several.
    wrong = {one for one in seats if city not in (one[0], one[2])}
    if names and not city:
        wrong = {one for one in wrong if not _is_called(world, one[2] if one[1] == "P36" else one[0], names)}
    if wrong:
        recorded = sorted({one[2] if one[1] == "P36" else one[0] for one in seats})
        told = f"wikidata: {_show(world, recorded)}; factbook: {city or re.split(' note|;', text)[0]}"
        findings.disagreements.append((country, "P36", told, city or "neither"))
        findings.gone |= wrong
    if not city:
        findings.refused["P36: " + ("capital not linked" if names else "no capital, or several")] += 1
        return
    findings.edges.append((country, "P36", city))
    findings.taken["P36"] += 1
    if CAPITAL not in world.objects(city, "P31"):
        findings.edges.append((city, "P31", CAPITAL))
    if not world.objects(city, "P17") and is_sovereign(record) and country not in rules["states"]["contested"]:
        findings.edges.append((city, "P17", country))


def is_sovereign(record: Mapping[str, Any]) -> bool:
    """Whether the Factbook gives the country an independence of its own."""
    text = dig(record, "Government", "Independence")
    return bool(text) and not text.startswith("none")


def _read_summit(findings: Findings, linker: Linker, world: World, country: str, record: Mapping[str, Any]) -> None:
    text = dig(record, "Geography", "Elevation", "highest point")
    names, height = read_point(text)
    summit = linker.link_feature(names, country, height)
    recorded = world.objects(country, "P610")
    if not summit:
        findings.refused["P610: " + ("summit not linked" if names else "no named summit")] += 1
        if names and recorded and not any(_is_called(world, one, names) for one in recorded):
            findings.disagreements.append(
                (country, "P610", f"wikidata: {_show(world, recorded)}; factbook: {names[0]}", "wikidata")
            )
        return
    findings.edges.append((country, "P610", summit))
    _note_number(findings, world, summit, "P2044", METRE, height)


def _read_lowest(findings: Findings, linker: Linker, world: World, country: str, record: Mapping[str, Any]) -> None:
    names, height = read_point(dig(record, "Geography", "Elevation", "lowest point"))
    recorded = world.objects(country, "P1589")
    if height == "0":
        # Every coast of a country is at 0 m: which sea is named is a choice.
        findings.refused["P1589: at sea level"] += 1
        return
    place = linker.link_feature(names[:1], country, water=True)
    if not place:
        findings.refused["P1589: " + ("place not linked" if names else "no named place")] += 1
    elif recorded - {place}:
        told = f"wikidata: {_show(world, recorded)}; factbook: {_show(world, [place])}"
        findings.disagreements.append((country, "P1589", told, "neither"))
        findings.gone |= {(country, "P1589", one) for one in recorded}
    else:
        findings.edges.append((country, "P1589", place))


def _read_independence(findings: Findings, world: World, country: str, record: Mapping[str, Any]) -> None:
    text = dig(record, "Government", "Independence")
    if not text or text.startswith("none"):
        return
    day = read_independence(text)
    if day is None:
        findings.refused["P571: no independence, or several dates"] += 1
        return
    own = {one[:4] for one in world.numbers.get((country, "P571"), ())}
    if not own:
        findings.days.append((country, "P571", day))
    elif own == {f"{day.year:04d}"}:
        findings.taken["P571 confirmed"] += 1
    elif f"{day.year:04d}" in own:
        told = f"wikidata: {', '.join(sorted(own))}; factbook, independence: {day.year}"
        findings.disagreements.append((country, "P571", told, str(day.year)))
        findings.years[country, "P571"] = f"{day.year:04d}"
    else:
        findings.disagreements.append(
            (country, "P571", f"wikidata: {', '.join(sorted(own))}; factbook, independence: {day.year}", "wikidata")
        )


def _read_language(
    findings: Findings, world: World, country: str, record: Mapping[str, Any], known: Mapping[str, Sequence[str]]
) -> None:
    text = dig(record, "People and Society", "Languages", "Languages")
    if not text:
        return
    name = read_language(text)
    if not name:
        findings.refused["P37: no official language, or several"] += 1
    elif name not in known:
        findings.refused["P37: language not linked"] += 1
    elif not world.objects(country, "P37") - {known[name][0]}:
        findings.edges += [(country, "P37", known[name][0]), (known[name][0], "P31", LANGUAGE)]


def _read_currency(
    findings: Findings, world: World, country: str, record: Mapping[str, Any], known: Mapping[str, Sequence[str]]
) -> None:
    match = re.search(r"\(([A-Z]{3})\) per US dollar", dig(record, "Economy", "Exchange rates", "Currency"))
    if not match:
        findings.refused["P38: no currency with a code"] += 1
    elif match[1] not in known:
        findings.refused["P38: currency not linked"] += 1
    elif not world.objects(country, "P38") - {known[match[1]][0]}:
        findings.edges += [(country, "P38", known[match[1]][0]), (known[match[1]][0], "P31", CURRENCY)]


def _read_anthem(findings: Findings, linker: Linker, world: World, country: str, record: Mapping[str, Any]) -> None:
    node = record.get("Government", {}).get("National anthem(s)", {})
    title = dig(node, "title") if isinstance(node, dict) else ""
    names = re.findall(r'["“]([^"”]+)["”]', title)
    # A territory's anthem is the mother country's, and a second one may be in use beside it.
    if len(names) != 1 or not is_sovereign(record):
        findings.refused["P85: no anthem, or several"] += 1
        return
    found = linker.link_work(names[0], country)
    if not found:
        findings.refused["P85: anthem not linked"] += 1
    elif not world.objects(country, "P85") - {found}:
        findings.edges.append((country, "P85", found))


def _compare_borders(
    findings: Findings,
    linker: Linker,
    world: World,
    countries: Mapping[str, Mapping[str, Any]],
    contested: frozenset[str],
) -> None:
    land = {
        country: {id for name in list_neighbours(record) if (id := linker.link_country([name]))}
        for country, record in countries.items()
    }
    for country, others in land.items():
        for other in sorted(others):
            if other in land and country not in land[other]:
                findings.refused["P47: only one of the two names the other"] += 1
            elif other != country:
                findings.edges.append((country, "P47", other))
        named = list_neighbours(countries[country])
        known = len(others) == len(named) and all(country in land.get(other, ()) for other in others)
        if named and known and country not in contested:
            findings.borders[country] = sorted(others)
        for other in sorted(world.objects(country, "P47")):
            if world.sort(other) == FORMER:
                findings.gone |= {(country, "P47", other), (other, "P47", country)}
            elif other in land and country < other and other not in others and country not in land[other]:
                said = f"wikidata: borders {_show(world, [other])}; factbook: no land border"
                findings.disagreements.append((country, "P47", said, "factbook: borders are those on land"))
                findings.gone |= {(country, "P47", other), (other, "P47", country)}


def _note_number(findings: Findings, world: World, id: str, property: str, unit: str, value: str) -> None:
    own = world.numbers.get((id, property), ())
    if not own:
        findings.numbers[id, property] = (unit, value)
    elif min(abs(float(one) - float(value)) for one in own) > 0.02 * abs(float(value)):
        said = f"wikidata: {', '.join(own)}; factbook: {value}"
        findings.disagreements.append((id, property, said, "wikidata"))
    else:
        findings.taken[f"{property} confirmed"] += 1


def _is_called(world: World, id: str, names: Sequence[str]) -> bool:
    return bool({one.casefold() for one in names} & {one.casefold() for one in world.names.get(id, ())})


def _show(world: World, ids: Iterable[str]) -> str:
    return ", ".join(f"{id} {world.names.get(id, ('?',))[0]}" for id in ids)
