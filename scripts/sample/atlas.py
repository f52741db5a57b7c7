"""The atlas: tables of well-known facts, compiled by this project's authors; `atlas.toml` says what each column is.

An entity that the other sources have under the same name and of the same kind is that one; any other gets an id of our
own, far above Wikidata's, that follows from its kind and its name.
"""

from __future__ import annotations

import csv
import hashlib
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hopwright.knowledge.wikidata.series import Series, load_series
from hopwright.settings import LATEST_YEAR
from sample.days import GREGORIAN, Day
from sample.gathering import COUNTRY, HUMAN, PROFESSION, RULES, Merge, Names, containers, contains

SOURCE = "atlas"
OWN = 3_000_000_000
"""Ids from here on are our own."""
_RANGE = 1_000_000_000
_NO_UNIT = "Q199"
"""Wikidata's unit of what is counted."""
_KINDS = {HUMAN: "person", COUNTRY: "country"}
_LONG_AGO = LATEST_YEAR - 75
_YEAR_OF_NAMESAKE = re.compile(r" \[\d{4}\]$")
"""What tells a work of the tables from another of its name: `Hamlet [1969]`."""
_DATE = re.compile(r"(\d{3,4})(?:-(\d\d)-(\d\d))?")


def read_atlas(folder: Path, merge: Merge, names: Names) -> None:
    """Take the facts of all tables, those about entities that no table and no other source knows left out."""
    rules = tomllib.loads((folder / "atlas.toml").read_text("utf-8"))
    reader = _Reader(merge, names, rules)
    tables = {name: list(_read_rows(folder / f"{name}.tsv")) for name in rules["tables"]}
    for name, rows in tables.items():
        for row in rows:
            reader.enter(name, row)
    series = [(one, list(_read_rows(folder.parent / "series" / f"{one.name}.tsv"))) for one in load_series()]
    for one, rows in series:
        reader.enter_series(one, rows)
    people = list(_read_rows(folder / "people_of_series.tsv"))
    reader.enter_people(people)
    for name, rows in tables.items():
        for row in rows:
            reader.take(name, row)
    for one, rows in series:
        reader.take_series(one, rows)
    reader.take_people(people)
    for name, spec in rules["relations"].items():
        reader.take_relations(spec, list(_read_rows(folder / f"{name}.tsv")))
    for name, spec in rules["wholes"].items():
        reader.take_wholes(spec, list(_read_rows(folder / f"{name}.tsv")))
    for name, spec in rules["lists"].items():
        reader.take_list(spec, list(_read_rows(folder / f"{name}.tsv")))
    for name, spec in rules["reigns"].items():
        reader.take_reigns(spec, list(_read_rows(folder / f"{name}.tsv")))


def _read_rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield {key: (value or "").strip() for key, value in row.items() if key}


def _read_cell(text: str) -> list[str]:
    """The names in a cell of a series; `-` stands for none, and `*` for one that stands nowhere else in the column."""
    return [one.strip() for one in text.split("|") if one.strip() not in ("", "-", "*")]


class _Reader:
    """Who is who in the tables, and what their rows say."""

    def __init__(self, merge: Merge, names: Names, rules: Mapping[str, Any]) -> None:
        self._merge = merge
        self._names = names
        self._rules = rules
        self._known: dict[tuple[str, str], str] = {}
        self._of_series: set[str] = set()
        self._inside = containers(merge)
        self._rows: dict[tuple[str, str], int] = defaultdict(int)
        self._classed = {s for s, p, _ in (*merge.base, *merge.edges) if p == "P31"}
        self._directed = {edge for edge in (*merge.base, *merge.edges) if edge[1] == "P57"}
        self._stated = {(s, p) for s, p, _ in (*merge.base, *merge.edges) if p in rules["single"]}
        for property, label in rules["labels"].items():
            merge.labels.setdefault(property, label)
            merge.relations.setdefault(property, [label])

    def enter(self, table: str, row: Mapping[str, str]) -> None:
        """Note the entity of a row: an old one, or a new one with its class."""
        spec = self._rules["tables"][table]
        kind, name = spec["kind"], row[spec["name"]]
        self._rows[table, name] += 1
        if not name or (kind, name) in self._known:
            return
        found = self._link(kind, name, row)
        if not found and kind in self._rules["shared"] and self._alike(kind, name):
            self._merge.refused[f"{SOURCE}: several {kind} entities of that name"] += 1
            return
        if not found:
            found = _make_id(kind, name)
            label = _YEAR_OF_NAMESAKE.sub("", name)
            self._merge.names[found] = [label]
            self._names.learn(found, [label])
            self._names.added[found] = kind
            for id, label in self._classes(spec, row):
                self._merge.names.setdefault(id, [label])
                self._merge.add_edge(found, "P31", id, SOURCE)
        self._known[kind, name] = found

    def enter_series(self, series: Series, rows: list[dict[str, str]]) -> None:
        """Note the members of a series, and what its cells name: what no other source has is new."""
        labels = {property: column.label for property, column in series.columns.items()}
        for property, label in {series.property: series.place.label, **labels}.items():
            self._merge.labels.setdefault(property, label)
            self._merge.relations.setdefault(property, [label])
        for id, (_, noun) in series.classes.items():
            self._merge.names.setdefault(id, [noun])
        for row in rows:
            for column, (_, kind, sort) in series.cells.items():
                for value in _read_cell(row[column]):
                    self._enter_named(kind, value, sort)
                    self._of_series.add(self._known[kind, value])

    def take_series(self, series: Series, rows: list[dict[str, str]]) -> None:
        """Take the places of the members of a series, and what is known of each.

        Raises ValueError where somebody is not told apart: a series has no gap, and neither has a whole column.
        """
        for place, row in enumerate(rows, start=1):
            member = self._find(series.kind, row["name"])
            if not member:
                raise ValueError(f"series {series.name}: several may be meant by {row['name']}")
            self._merge.numbers[member, series.property] = (_NO_UNIT, str(place), "", SOURCE)
            for column, (property, kind, _) in series.cells.items():
                for value in _read_cell(row[column]) if column != "name" else ():
                    if not (found := self._find(kind, value)):
                        raise ValueError(f"series {series.name}, {column}: several may be meant by {value}")
                    self._merge.add_edge(member, property, found, SOURCE)
                if not row[column] and property in series.columns and series.columns[property].reverse == "alone":
                    raise ValueError(f"series {series.name}, {column}: nothing is known of {row['name']}")

    def enter_people(self, rows: list[dict[str, str]]) -> None:
        """Note where the people of the series were born, studied and lie; they themselves are noted already."""
        for column, (_, kind, noun) in self._rules["people_of_series"].items():
            sort = self._rules["classes"].get(noun) or _make_id("class", noun)
            self._merge.names.setdefault(sort, [noun])
            for row in rows:
                if row[column] and not self._alike(kind, row[column]):
                    self._enter_named(kind, row[column], sort)

    def take_people(self, rows: list[dict[str, str]]) -> None:
        """Take what is known of the people of the series; who may be another of that name is left out.

        What another table or source states is not said again, for it may name a place more narrowly.
        """
        stated = {(subject, property) for subject, property, _ in (*self._merge.base, *self._merge.edges)}
        for row in rows:
            entity = self._find("person", row["name"])
            if entity not in self._of_series:
                self._merge.refused[f"{SOURCE}: another, or several people of that name"] += 1
                continue
            for column, (property, kind, _) in self._rules["people_of_series"].items():
                if (entity, property) not in stated:
                    self._take_edge(entity, property, kind, row[column])

    def _enter_named(self, kind: str, name: str, sort: str) -> None:
        """Note what a series names, if no table has: an entity of another source, or a new one of a class (`sort`).

        `Ben-Hur=Q180098` says which one is meant.
        """
        if (kind, name) in self._known:
            return
        label, _, meant = name.partition("=")
        found = meant or self._link(kind, label, {})
        if not found:
            found = _make_id(kind, name)
            self._merge.names[found] = [name]
            self._names.learn(found, [name])
            self._names.added[found] = kind
            if kind == "person":
                self._merge.names.setdefault(HUMAN, ["human"])
            self._merge.add_edge(found, "P31", HUMAN if kind == "person" else sort, SOURCE)
        elif sort and kind != "person" and found not in self._classed:
            # Else it is of another sort than its neighbours, and never offered beside them.
            self._merge.add_edge(found, "P31", sort, SOURCE)
        self._known[kind, name] = found
        self._known.setdefault((kind, label), found)

    def take(self, table: str, row: Mapping[str, str]) -> None:
        """Take what a row says of its entity; a name that heads several rows means nobody."""
        spec = self._rules["tables"][table]
        name = row[spec["name"]]
        entity = self._known.get((spec["kind"], name))
        if entity is None or self._rows[table, name] > 1:
            self._merge.refused[f"{SOURCE}: several rows of one name"] += self._rows[table, name] > 1
            return
        for column, targets in spec.get("edges", {}).items():
            if (better := spec.get("instead", {}).get(column)) and self._is_known(spec["edges"][better], row[better]):
                continue
            for property, kind in targets:
                self._take_edge(entity, property, kind, row[column])
        for column, property in spec.get("years", {}).items():
            self._take_day(entity, property, row[column])
        for column, (property, unit, factor) in spec.get("numbers", {}).items():
            known = (entity, property) in self._merge.literals or (entity, property) in self._merge.numbers
            if row[column].isdigit() and not known:
                self._merge.numbers[entity, property] = (unit, str(int(row[column]) * factor), "", SOURCE)
        if (column := spec.get("occupation")) and row[column]:
            self._take_occupation(entity, row[column])

    def take_relations(self, spec: Mapping[str, Any], rows: list[dict[str, str]]) -> None:
        """Take the rows that say what one is to another.

        A relation said of one to several is left out, but for those of which several are credited; of these all are
        taken or, where one of them is not known, none: who is left would stand there as if alone.
        """
        subject, relation = spec["subject"], spec["relation"]
        said: dict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
        for row in rows:
            said[row.get("kind", "person"), row[subject], row[relation]].append(row)
        for (kind, name, relation_name), told in said.items():
            property, entity = spec["properties"].get(relation_name), self._find(kind, name)
            people = [row[spec["object"]] for row in told]
            if property is None or not entity or (len(people) > 1 and property not in self._rules["several"]):
                self._merge.refused[f"{SOURCE}: relation not known, or several of one kind"] += len(people)
            elif property in self._rules["living"] and any(self._is_of_another_time(entity, one) for one in people):
                self._merge.refused[f"{SOURCE}: a namesake who was dead, or not yet born"] += len(people)
            elif len(people) > 1 and not all(self._find("person", one) for one in people):
                self._merge.refused[f"{SOURCE}: one of several is not known"] += len(people)
            else:
                for one in people:
                    self._take_edge(entity, property, "person", one)
                    self._take_gender(one, relation_name)

    def _take_gender(self, name: str, relation: str) -> None:
        """Take what a word such as `mother` says of somebody."""
        person = self._find("person", name)
        for gender, words in self._rules["genders"].items():
            if person and relation.split()[-1] in words:
                self._merge.names.setdefault(gender, [words[0]])
                self._merge.add_edge(person, "P21", gender, SOURCE)

    def _is_of_another_time(self, work: str, name: str) -> bool:
        """Whether somebody of a name was dead when a work came out, or not yet born: then it is somebody else."""
        person = self._find("person", name)
        came_out = [day for one in self._rules["coming_out"] for day in self._list_years(work, one)]
        born, died = (self._list_years(person, one) for one in ("P569", "P570"))
        return any((died and year > max(died) + 1) or (born and year < min(born)) for year in came_out)

    def _list_years(self, entity: str, property: str) -> list[int]:
        """The years that any source states of a date."""
        literals = [value[:4] for _, value, _ in self._merge.literals.get((entity, property), [])]
        days = [day for held in self._merge.days.get((entity, property), {}).values() for day in held]
        return [int(year) for year in literals if year.isdigit()] + [day.year for day in days]

    def take_wholes(self, spec: Mapping[str, Any], rows: list[dict[str, str]]) -> None:
        """Take lists that are whole; one with a member or an owner that is not known is left out."""
        listed: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for row in rows:
            kind = row[spec["owner_kind"]] or "person"
            members = listed[kind, row[spec["owner"]], row[spec["list"]]]
            members.append(self._find(row[spec["kind"]], row[spec["member"]]))
        for (kind, name, label), members in listed.items():
            owner, property = self._find(kind, name), spec["properties"].get(label)
            if not owner or property is None or "" in members or len(set(members)) < len(members):
                self._merge.refused[f"{SOURCE}: a list with a gap, or of an unknown kind"] += 1
                continue
            for member in members:
                self._merge.add_edge(owner, property, member, SOURCE)

    def take_list(self, spec: Mapping[str, Any], rows: list[dict[str, str]]) -> None:
        """Take the holders of the years of lists; a year with several holders, or an unknown one, is left out."""
        for name, (timeline, kind) in spec["timelines"].items():
            held: dict[str, set[str]] = defaultdict(set)
            for row in rows:
                if row[spec["list"]] == name and row[spec["year"]].isdigit():
                    held[row[spec["year"]]].add(row[spec["holder"]])
            for year, holders in held.items():
                entities = {self._find(kind, one) for one in holders}
                if len(entities) == 1 and "" not in entities:
                    self._merge.timelines.add((min(entities), timeline, year))
                else:
                    self._merge.refused[f"{SOURCE}: a year of which not all holders are known"] += 1

    def take_reigns(self, spec: Mapping[str, Any], rows: list[dict[str, str]]) -> None:
        """Take who ruled in each year that no reign or term of the same realm or office begins or ends in."""
        for realm, timeline in spec["timelines"].items():
            for row in rows:
                start, end = row[spec["start"]][:4], row[spec["end"]][:4]
                if row[spec["of"]] == realm and start.isdigit() and (holder := self._find("person", row["name"])):
                    # Without an end it is still going on, or its end is disputed.
                    last = int(end) if end.isdigit() else LATEST_YEAR if int(start) > _LONG_AGO else 0
                    self._merge.timelines.update((holder, timeline, str(y)) for y in range(int(start) + 1, last))

    def _is_known(self, targets: list[tuple[str, str]], text: str) -> bool:
        return bool(text) and any(self._find(kind, text) for _, kind in targets)

    def _take_edge(self, entity: str, property: str, kind: str, text: str) -> None:
        if not text or "|" in text:
            return
        if property in self._rules["single"] and (entity, property) in self._stated:
            self._merge.refused[f"{SOURCE}: another source says it"] += 1
        elif found := self._find(kind, text):
            self._merge.add_edge(entity, property, found, SOURCE)
        else:
            self._merge.refused[f"{SOURCE}: {kind} not known"] += 1

    def _take_day(self, entity: str, property: str, text: str) -> None:
        match = _DATE.fullmatch(text)
        if match is None:
            self._merge.refused[f"{SOURCE}: unreadable date"] += bool(text)
            return
        year, month, day = int(match[1]), int(match[2] or 0), int(match[3] or 0)
        exact = year >= GREGORIAN and (month, day) != (1, 1)
        self._merge.add_day(entity, property, Day(year, month, day) if exact else Day(year), SOURCE)

    def _take_occupation(self, entity: str, text: str) -> None:
        known = RULES["occupations"].get(text) or self._rules["occupations"].get(text)
        if known is None:
            self._merge.refused[f"{SOURCE}: occupation not known"] += 1
            return
        id, label = known
        self._merge.names.setdefault(id, [label])
        self._merge.add_edge(id, "P31", PROFESSION, SOURCE)
        self._merge.add_edge(entity, "P106", id, SOURCE)

    def _find(self, kind: str, name: str) -> str:
        """The entity of one of the kinds that a column may hold, `a|b` in turn."""
        for one in kind.split("|"):
            if found := self._known.get((one, name)) or self._link(one, name, {}):
                return found
        return ""

    def _link(self, kind: str, name: str, row: Mapping[str, str]) -> str:
        """An entity of another source with that name.

        A person of another birth year is somebody else, a work of another class or year something else.
        """
        if name in (pinned := self._rules["pinned"].get(kind, {})):
            return str(pinned[name])
        if kind == "person":
            return self._link_person(name, row.get("born", "")[:4])
        kinds = self._rules["linked"].get(kind, (kind,))
        nouns = self._rules["nouns"].get(kind)
        if row.get("director") and (found := self._link_film(kind, name, row)):
            return found
        found = self._names.link(name, kinds, labels=True) or (self._link_within(name) if kind == "city" else "")
        if not found:
            # Something of another kind has the name too, or it is the alias of several.
            alike = self._alike(kind, name)
            found = alike[0] if len(alike) == 1 else ""
        if not found or nouns is None:
            return found
        year = row.get("year", "")[:4]
        stated = self._years(found, "P577") if year else set()
        if self._names.noun(found) not in nouns or (stated and year not in stated):
            self._merge.refused[f"{SOURCE}: another work of that name"] += 1
            return ""
        return found

    def _link_film(self, kind: str, name: str, row: Mapping[str, str]) -> str:
        """The only film of another source of that name, that director and that year, if any source states its year."""
        year, director = row["year"][:4], self._find("person", row["director"])
        alike = self._alike(kind, _YEAR_OF_NAMESAKE.sub("", name))
        by_director = [one for one in alike if (one, "P57", director) in self._directed]
        meant = [one for one in by_director if year in (self._years(one, "P577") or {year})]
        return meant[0] if len(meant) == 1 else ""

    def _link_within(self, name: str) -> str:
        """The only place of another source that lies where its name says: `Logan, Utah`; else an empty string."""
        own, _, around = name.partition(", ")
        outer = set(self._names.labelled(around)) if around else set()
        within = [
            one
            for one in self._names.labelled(own)
            if self._kind(one) == "place" and any(contains(self._inside, one, other) for other in outer)
        ]
        return within[0] if len(within) == 1 else ""

    def _alike(self, kind: str, name: str) -> list[str]:
        """The entities of other sources that may be what a row means, by their label."""
        kinds, nouns = self._rules["linked"].get(kind, (kind,)), self._rules["nouns"].get(kind)
        alike = [one for one in self._names.labelled(name) if self._kind(one) in kinds]
        return [one for one in alike if nouns is None or self._names.noun(one) in nouns]

    def _kind(self, one: str) -> str:
        """What an entity is; the classes of some are stated by other sources than Wikidata's files."""
        known = self._names.kind(one)
        return next((kind for id, kind in _KINDS.items() if (one, "P31", id) in self._merge.edges), known)

    def _link_person(self, name: str, born: str) -> str:
        found = self._names.link(name, ("person",))
        alike = self._alike("person", name)
        if not found and len(alike) == 1 and not self._years(alike[0], "P569"):
            return alike[0]
        if not born:
            return found
        if found and (stated := self._years(found, "P569")) and not any(abs(int(born) - int(y)) < 2 for y in stated):
            self._merge.refused[f"{SOURCE}: a namesake born in another year"] += 1
            return ""
        meant = [one for one in self._names.bearers(name) if self._kind(one) == "person"]
        meant = [one for one in meant if born in self._years(one, "P569")]
        return found or (meant[0] if len(meant) == 1 else "")

    def _years(self, entity: str, property: str) -> set[str]:
        """The years that other sources state of a date."""
        stated = {value[:4] for _, value, _ in self._merge.literals.get((entity, property), [])}
        days = self._merge.days.get((entity, property), {})
        return stated | {str(day.year) for source, held in days.items() if source != SOURCE for day in held}

    def _classes(self, spec: Mapping[str, Any], row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        if spec["kind"] == "person":
            yield HUMAN, "human"
            return
        noun = row[spec["class"]] if spec.get("class") else spec["noun"]
        id = self._rules["classes"].get(noun) or _make_id("class", noun)
        yield id, noun


def _make_id(kind: str, name: str) -> str:
    number = int.from_bytes(hashlib.sha256(f"{kind}:{name}".encode()).digest()[:8], "big")
    return f"Q{OWN + number % _RANGE}"
