"""Makes data/sample from the sources it is gathered from: `python scripts/make_sample.py SOURCES data/sample`.

SOURCES holds `wikidata/` (Wikidata5M's layout, with descriptions and literals), `documents/` (2WikiMultihopQA's
evidences, Re-DocRED, Wikipedia passages, the CIA World Factbook) and `passages/`. What is written holds facts only:
ids, labels, triplets, numbers and dates, never a sentence. Sources that contradict each other are settled by what two
of them share, else the fact is left out; each such case is a line of `disagreements.tsv`. What the sources other than
Wikidata's files gave is listed, fact by fact, in `provenance.tsv.gz`. The same sources give the same bytes.
"""

from __future__ import annotations

import datetime as dt
import gzip
import html
import json
import re
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore

RULES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
DATES = {
    "P569": "date of birth", "P570": "date of death", "P571": "inception", "P577": "publication date",
    "P576": "dissolved, abolished or demolished date", "P580": "start time", "P582": "end time",
}  # fmt: skip
MONTHS = ("January February March April May June July August September October November December").split()
HUMAN, COUNTRY, PROFESSION = "Q5", "Q6256", "Q28640"
_MONTH = "|".join(MONTHS)
_DATE = rf"(?:\d{{1,2}} (?:{_MONTH}),? \d{{4}}|(?:{_MONTH}) \d{{1,2}} ?, ?\d{{4}}|\d{{4}})"
_DAY_FIRST = re.compile(rf"(\d{{1,2}}) ({_MONTH}),? (\d{{4}})")
_MONTH_FIRST = re.compile(rf"({_MONTH}) (\d{{1,2}}) ?, ?(\d{{4}})")
_TAIL = re.compile(r"\s*\([^()]*\)$")
_UNSURE = re.compile(r"\b(?:c|ca|circa|fl|or|before|after|about|between|baptized|baptised|O\.? ?S|N\.? ?S)\b|[?/]")
GREGORIAN = 1753
"""Dates before it may be Julian, and which they are is not said: only their years are taken."""


class Day(NamedTuple):
    """A date, or a year where month and day are 0."""

    year: int
    month: int = 0
    day: int = 0

    def fits(self, other: Day) -> bool:
        """Whether both can be said of one event."""
        return self.year == other.year and (not self.month or not other.month or self == other)

    @property
    def value(self) -> str:
        """As the literals have it: a bare year is its first of January."""
        return f"{self.year:04d}-{self.month or 1:02d}-{self.day or 1:02d}T00:00:00Z"


def read_day(text: str) -> Day | None:
    """Read `4 May 1900`, `May 4, 1900` or `1900`; None for anything else, and for what no calendar has."""
    text = text.strip()
    if match := _DAY_FIRST.fullmatch(text):
        year, month, day = int(match[3]), MONTHS.index(match[2]) + 1, int(match[1])
    elif match := _MONTH_FIRST.fullmatch(text):
        year, month, day = int(match[3]), MONTHS.index(match[1]) + 1, int(match[2])
    else:
        return Day(int(text)) if re.fullmatch(r"[12]\d{3}|[5-9]\d{2}", text) else None
    try:
        dt.date(year, month, day)
    except ValueError:
        return None
    # A first of January cannot be told from a bare year in this layout: it is kept as the year.
    return Day(year) if year < GREGORIAN or (month, day) == (1, 1) else Day(year, month, day)


@dataclass(slots=True)
class Merge:
    """What is gathered: names, triplets and claims about literals, each with the sources that make it."""

    names: dict[str, list[str]]
    relations: dict[str, list[str]]
    base: set[tuple[str, str, str]]
    literals: dict[tuple[str, str], list[tuple[str, str, str]]]
    """(subject, property): [(unit, value, type)], of Wikidata's file."""
    labels: dict[str, str]
    edges: dict[tuple[str, str, str], set[str]] = field(default_factory=dict)
    days: dict[tuple[str, str], dict[str, set[Day]]] = field(default_factory=dict)
    numbers: dict[tuple[str, str], tuple[str, str, str, str]] = field(default_factory=dict)
    """(subject, property): (unit, value, year, source), where Wikidata's file has none or an undated one."""
    disagreements: list[tuple[str, str, str, str]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    taken: Counter[str] = field(default_factory=Counter)
    drop: set[tuple[str, str]] = field(default_factory=set)

    def add_edge(self, subject: str, property: str, object: str, source: str) -> None:
        """Note a triplet; one that is there already, or a loop, says nothing."""
        if subject == object:
            self.refused[f"{source}: a loop"] += 1
        elif (subject, property, object) in self.base:
            self.refused[f"{source}: known"] += 1
        else:
            self.edges.setdefault((subject, property, object), set()).add(source)

    def add_day(self, subject: str, property: str, day: Day | None, source: str) -> None:
        """Note a date that a source states."""
        if day is None:
            self.refused[f"{source}: unreadable date"] += 1
        else:
            self.days.setdefault((subject, property), {}).setdefault(source, set()).add(day)


class Names:
    """Entities by their names, with what is known of what they are."""

    def __init__(self, merge: Merge, kinds: KindIndex, texts: Mapping[str, str]) -> None:
        self._kinds = kinds
        self.texts = texts
        self._labels: dict[str, set[str]] = defaultdict(set)
        self._any: dict[str, set[str]] = defaultdict(set)
        self.added: dict[str, str] = {}
        """Kinds of entities that Wikidata's files do not have."""
        for id, names in merge.names.items():
            self.learn(id, names)

    def learn(self, id: str, names: Iterable[str]) -> None:
        """Note an entity's names, its label first."""
        for number, name in enumerate(names):
            self._any[name].add(id)
            if not number:
                self._labels[name].add(id)

    def kind(self, id: str) -> str:
        """What an entity is, coarsely."""
        return self.added.get(id) or (self._kinds.kind(id) if id in self._kinds.graph else "other")

    def sort(self, id: str) -> str:
        """What an entity is, in a word."""
        return self._kinds.sort(id) if id in self._kinds.graph else ""

    def link(self, name: str, kinds: Iterable[str], *, labels: bool = False) -> str:
        """The only entity of one of these kinds with this name, or an empty string. Very short names say nothing.

        With `labels`, an alias is not enough.
        """
        name = re.sub(r"\s+", " ", name).strip()
        if len(name) < 4:
            return ""
        wanted = frozenset(kinds)
        found = self._any.get(name, set())
        fitting = [id for id in found if self.kind(id) in wanted]
        # A name that something of another kind has too is no sure sign, unless it is that one's alias only.
        others = [id for id in self._labels.get(name, set()) if id not in fitting]
        if len(fitting) != 1 or others or (labels and fitting[0] not in self._labels.get(name, ())):
            return ""
        return fitting[0]

    def labelled(self, name: str) -> list[str]:
        """All entities with this label."""
        return sorted(self._labels.get(name, ()))


# ---------------------------------------------------------------- reading


def read_rows(path: Path) -> Iterator[list[str]]:
    """The tab-separated lines of a file."""
    for line in path.read_text("utf-8").split("\n"):
        if line:
            yield line.split("\t")


def read_wikidata(folder: Path) -> Merge:
    """Wikidata's own files."""
    literals: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    labels = dict(DATES)
    for subject, property, label, unit, value, kind in read_rows(folder / "attribute_literals.tsv"):
        literals[subject, property].append((unit, value, kind))
        labels.setdefault(property, label)
    return Merge(
        names={row[0]: row[1:] for row in read_rows(folder / "wikidata5m_entity.txt")},
        relations={row[0]: row[1:] for row in read_rows(folder / "wikidata5m_relation.txt")},
        base={(s, p, o) for s, p, o in read_rows(folder / "wikidata5m_all_triplet.txt")},
        literals=dict(literals),
        labels=labels,
    )


# ---------------------------------------------------------------- descriptions

_LIFE = re.compile(r"\((?:born )?(\d{4})\s?[–-]\s?(\d{4})\)|\((?:born|b\.|\*)\s?(\d{4})\)|\((\d{4})[–-]\s?\)")
_HEAD = re.compile(
    r"\b(?:of|for|by|from|who|in|to|with|known|best|son|daughter|wife|husband|mother|father|brother|sister|at)\b|[(.;]"
)
_PUBLISHED = re.compile(
    r"(\d{4}) (?:[\w' ,/-]{0,60}?)\b(?:film|movie|short|part-talkie|miniseries|video game|single|album|song)\b",
    re.IGNORECASE,
)
_BEGUN = re.compile(r"(\d{4}) (?:[\w' ,/-]{0,60}?)\b(?:television series|TV series)\b")
_MADE_BY = re.compile(
    r"\b(?P<what>film|movie|novel|painting|book|album|single|song|fictional character|television series|sitcom)\b"
    r"(?: directed| written| created)? by (?P<name>[A-Z][^,()]*?)(?: starring .*)?$"
)
_AFTER = re.compile(r"based on (?:the|a) (?:[\w ]+ )?(?:novel|book)(?: of the same name)? by (?P<name>[A-Z][\w. ]+)$")
_MAKER = {
    "film": "P57", "movie": "P57", "novel": "P50", "book": "P50", "painting": "P170", "album": "P175", "single": "P175",
    "song": "P175", "fictional character": "P170", "television series": "P170", "sitcom": "P170",
}  # fmt: skip
_EPISODE = re.compile(r"(?:\d{4} )?episode of (.+?)(?: \(S\d+ E\d+\))?(?: directed by .*)?$")
_FOUNDED = re.compile(r"\b(?:founded|established) in (\d{4})\b")
_SPAN = re.compile(r"\((\d{4})[–-](\d{4})\)$")
_TRIBUTARY = re.compile(r"\btributary of (?:the )?([A-Z][\w' -]+?)(?: [Rr]iver)?(?: in .*)?$")
_END = r"(?=$|[,;(]| and | in | for | from | with | founded | every | through | of [A-Z])"
_SEATED = re.compile(
    r".*\b(?:university|college|school|museum|gallery|airport|library|bridge|stadium|arena|theat(?:er|re)|cathedral|church|palace|"
    r"castle|cemetery|observatory|hospital|institute|academy|building|skyscraper|monument|park|station|racetrack|zoo|abbey)"
    r" in (?P<town>[A-Z][\w' .-]+?), (?P<where>[A-Z][\w' .,-]+)$"
)
_TIES = tuple(
    (re.compile(rf"\b(?:{words}) (?:the )?(?:city of )?(?P<name>[A-Z][^,;()]*?){_END}"), property, kinds)
    for words, property, kinds in (
        ("(?:headquartered|based) in", "P159", ("place",)),
        ("(?:awarded|given|presented|bestowed|conferred) by", "P1027", ("organization",)),
        ("owned by", "P127", ("organization",)),
        ("(?:subsidiary|division|imprint|label) of", "P749", ("organization",)),
        ("operated by", "P137", ("organization", "transport")),
        ("named after", "P138", ("person", "nature")),
    )
)
"""What an organisation, a prize or a line has to do with another: words, property, kinds of the other."""
_OCCUPATIONS = re.compile(
    r"\b(" + "|".join(map(re.escape, sorted(RULES["occupations"], key=lambda one: (-len(one), one)))) + r")\b"
)


def find_occupation(text: str) -> str:
    """The occupation that a description names first, as `Q…`, or an empty string."""
    head = _HEAD.split(text, maxsplit=1)[0]
    match = _OCCUPATIONS.search(head if head[:1].isupper() and head[1:2].isupper() else head[:1].lower() + head[1:])
    return str(RULES["occupations"][match[1]][0]) if match else ""


def read_descriptions(merge: Merge, names: Names) -> None:
    """Occupations, years of life, of publication and of founding, and makers, from Wikidata's one-line descriptions."""
    source = "description"
    inside = containers(merge)
    uses = Counter(object for _, property, object in merge.base if property == "P31")
    classes = list_classes(merge)
    typed = {subject for subject, property, _ in merge.base if property == "P31"}
    for id, text in sorted(names.texts.items()):
        kind = names.kind(id)
        if id not in typed and not uses[id]:
            if kind == "person" and find_occupation(text):
                merge.add_edge(id, "P31", HUMAN, source)
            elif kind != "person" and (one := _find_class(text, classes)):
                merge.add_edge(id, "P31", one, source)
        if match := _SEATED.match(text):
            _add_seat(merge, names, inside, id, match)
        if kind == "person":
            _read_person(merge, id, text, source)
        elif kind == "work":
            if match := _PUBLISHED.match(text):
                merge.add_day(id, "P577", Day(int(match[1])), source)
            elif match := _BEGUN.match(text):
                merge.add_day(id, "P580", Day(int(match[1])), source)
            elif (match := _SPAN.search(text)) and re.search(r"series|sitcom|program|show", text):
                merge.add_day(id, "P580", Day(int(match[1])), source)
                merge.add_day(id, "P582", Day(int(match[2])), source)
            if (match := _EPISODE.match(text)) and (series := names.link(match[1], ["work"])):
                merge.add_edge(id, "P179", series, source)
        elif kind in ("organization", "team", "competition", "award"):
            if match := _FOUNDED.search(text):
                merge.add_day(id, "P571", Day(int(match[1])), source)
            elif (match := _SPAN.search(text)) and re.search(r"club|team|company|airline|party|league|label", text):
                merge.add_day(id, "P571", Day(int(match[1])), source)
                merge.add_day(id, "P576", Day(int(match[2]) if len(match[2]) == 4 else 0), source)
        elif kind == "nature" and (match := _TRIBUTARY.search(text)):
            if mouth := names.link(match[1], ["nature"]) or names.link(match[1] + " River", ["nature"]):
                merge.add_edge(id, "P403", mouth, source)
            else:
                merge.refused[f"{source}: name not linked"] += 1
        if kind in ("organization", "team", "award", "transport", "place"):
            _add_ties(merge, names, inside, id, text)
        if kind in ("work", "fiction") and (match := _MADE_BY.search(text)):
            _add_maker(merge, names, id, match)


def list_classes(merge: Merge) -> dict[str, str]:
    """The classes that entities have here, by their labels."""
    uses = Counter(object for _, property, object in merge.base if property == "P31")
    fitting = ((label[0], id) for id, label in sorted(merge.names.items()) if uses[id] > 2 and id != HUMAN)
    return {label: id for label, id in fitting if len(label) > 3}


def _find_class(text: str, classes: Mapping[str, str]) -> str:
    """The class that a description's head noun names, the longest one first; an empty string where there is none."""
    words = re.split(r" (?:in|of|for|by|from|that|which|who|on|at|and|or|with|to)\b|[,(;]", text, maxsplit=1)[0].split()
    for first in range(len(words)):
        head = " ".join(words[first:])
        if id := classes.get(head) or classes.get(head[:1].lower() + head[1:]):
            return id
    return ""


def _add_seat(merge: Merge, names: Names, inside: Mapping[str, set[str]], id: str, match: re.Match[str]) -> None:
    """Where a museum, a university or the like is: the town of that name that lies in the region named after it."""
    if any((id, property, place) in merge.base for property in ("P131", "P276") for place in inside.get(id, ())):
        return
    around = {"USA": "United States of America", "United States": "United States of America", "UK": "United Kingdom"}
    wide = [around.get(part.strip(), part.strip()) for part in match["where"].split(",")]
    fitting = [
        town
        for town in names.labelled(match["town"])
        if names.kind(town) == "place"
        and any(_contains(inside, town, region) for name in wide for region in names.labelled(name))
    ]
    if len(fitting) == 1:
        merge.add_edge(id, "P131", fitting[0], "description")
    else:
        merge.refused["description: town not linked"] += 1


def _add_ties(merge: Merge, names: Names, inside: Mapping[str, set[str]], id: str, text: str) -> None:
    for pattern, property, kinds in _TIES:
        match = pattern.search(text)
        if match is None or (property == "P159" and names.kind(id) not in ("organization", "team")):
            continue
        if property == "P1027" and names.kind(id) != "award":
            continue
        name = match["name"].strip()
        found = [
            one
            for one in names.labelled(name)
            if names.kind(one) in kinds and (property != "P159" or names.sort(one) == "settlement")
        ]
        if property == "P159":
            # Of towns of one name, the one in the region that the description names next.
            after = [part.strip() for part in text[match.end() :].strip(", ").split(",")]
            regions = {region for part in after for region in names.labelled(part)}
            found = [one for one in found if any(_contains(inside, one, region) for region in regions)] or found
        if len(found) == 1:
            merge.add_edge(id, property, found[0], "description")
        else:
            merge.refused["description: name not linked"] += 1


def containers(merge: Merge) -> dict[str, set[str]]:
    """What every entity lies in, one step up."""
    inside: dict[str, set[str]] = defaultdict(set)
    for subject, property, object in merge.base:
        if property in ("P131", "P17", "P361", "P276"):
            inside[subject].add(object)
    return inside


def _read_person(merge: Merge, id: str, text: str, source: str) -> None:
    if occupation := find_occupation(text):
        merge.add_edge(id, "P106", occupation, source)
    if re.search(r"[\d ]c\.|circa|\bfl\b|\?", text):
        merge.refused[f"{source}: vague years"] += 1
    elif match := _LIFE.search(text):
        born = match[1] or match[3] or match[4]
        if match[2] and not 0 <= int(match[2]) - int(born) <= 110:
            merge.refused[f"{source}: no lifetime"] += 1
            return
        merge.add_day(id, "P569", Day(int(born)), source)
        if match[2]:
            merge.add_day(id, "P570", Day(int(match[2])), source)


def _add_maker(merge: Merge, names: Names, id: str, match: re.Match[str] | None) -> None:
    assert match is not None
    text = names.texts[id]
    property = _MAKER[match["what"]]
    if property == "P50" and re.search(r"film|movie|series|drama", text):
        # The film of a book: who wrote the book is not who made the film.
        property = "P1877"
        match = _AFTER.search(text)
    if match is None or " and " in match["name"] or " & " in match["name"]:
        return
    if maker := names.link(match["name"], ["person", "organization"] if property == "P175" else ["person"]):
        merge.add_edge(id, property, maker, "description")
    else:
        merge.refused["description: name not linked"] += 1


# ---------------------------------------------------------------- 2WikiMultihopQA

_OF_HUMANS = frozenset("P22 P25 P26 P40 P3373 P19 P20 P119 P69 P108 P27 P569 P570".split())
_OF_WORKS = frozenset("P57 P86 P162 P175 P577 P571 P123 P495".split())
_TO_HUMANS = frozenset("P22 P25 P26 P40 P3373 P57 P86".split())


def read_wiki2(path: Path, merge: Merge, names: Names, states: Mapping[str, str]) -> dict[str, str]:
    """Evidences of 2WikiMultihopQA; returns the ids of the titles that its questions use.

    `states`: today's countries by their names and by the adjectives that 2WikiMultihopQA uses for them at times.

    Where a record gives no ids with its evidences, its list of entities is in the order of the evidences' subjects;
    that holds for every record that gives both.
    """
    titles: dict[str, set[str]] = defaultdict(set)
    lands: set[str] = set()
    called: dict[str, Counter[str]] = defaultdict(Counter)
    classes: dict[str, set[str]] = defaultdict(set)
    humans: set[str] = set()
    source = "2wiki"
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        subjects = list(dict.fromkeys(name for name, _, _ in record["evidences"]))
        ids = record["entity_ids"].split("_")
        pages = list(dict.fromkeys(title for title, _ in record["supporting_facts"]))
        if len(pages) == len(ids) == len(subjects):
            for title, id in zip(pages, ids, strict=True):
                titles[title].add(id)
        facts = record["evidences_id"]
        if not facts:
            if len(subjects) != len(ids):
                merge.refused[f"{source}: record without ids"] += 1
                continue
            of = dict(zip(subjects, ids, strict=True))
            facts = [[of[s], p, of.get(o, "")] for s, p, o in record["evidences"]]
        elif len(facts) != len(record["evidences"]):
            merge.refused[f"{source}: evidences and ids differ in number"] += 1
            continue
        question = record["question"]
        hint = next((one for word, one in RULES["classes"].items() if re.search(rf"\b{word}s?\b", question)), "")
        for (subject, label, object), (name, _, value) in zip(facts, record["evidences"], strict=True):
            property = RULES["wiki2"].get(label)
            if property is None:
                merge.refused[f"{source}: {label} is not taken"] += 1
                continue
            called[subject][name] += 1
            if property in DATES:
                merge.add_day(subject, property, read_day(value), source)
            elif re.fullmatch(r"Q\d+", object):
                called[object][value] += 1
                merge.add_edge(subject, property, object, source)
            else:
                merge.refused[f"{source}: object without id"] += 1
                continue
            if property in _OF_HUMANS:
                humans.add(subject)
            if property in _TO_HUMANS:
                humans.add(object)
            if property in _OF_WORKS and hint:
                classes[subject].add(hint)
            if property in ("P17", "P27", "P495"):
                lands.add(object)
    for id in sorted(called):
        if id in merge.names:
            continue
        known = [name for name, _ in sorted(called[id].items(), key=lambda one: (-one[1], one[0]))]
        # An adjective is no name: "Swedish", where a question said of what nationality somebody was.
        found = [states.get(name, name) if id in lands else _TAIL.sub("", name) for name in known]
        merge.names[id] = list(dict.fromkeys(found))
        names.learn(id, merge.names[id])
        if id in lands and merge.names[id][0] in states.values():
            merge.add_edge(id, "P31", COUNTRY, source)
            names.added[id] = "country"
        elif id in humans:
            merge.add_edge(id, "P31", HUMAN, source)
            names.added[id] = "person"
        elif len(classes[id]) == 1:
            (one,) = classes[id]
            merge.add_edge(id, "P31", one, source)
            names.added[id] = "organization" if one == "Q41298" else "work"
    return {title: next(iter(ids)) for title, ids in titles.items() if len(ids) == 1}


# ---------------------------------------------------------------- passages

_BORN = re.compile(
    rf"^\s*(?:[^;]{{0,90}}[;,])?\s*(?:born|b\.)(?: [A-Z][\w' .-]{{0,50}})?(?: on| in)?,? ?({_DATE})"
    r"(?:,? in [^;]*)?\s*$"
)
_LIVED = re.compile(
    rf"^\s*(?:[^;0-9]{{0,90}}[;,])?\s*(?:born )?(?:[A-Z][^0-9;–-]{{0,40}}, )?({_DATE})(?:(?:,| in) [^0-9;–]{{0,60}}?)?"
    rf"\s*[–-]\s*(?:[A-Z][^0-9;–-]{{0,40}}, )?({_DATE})(?:(?:,| in) [^0-9;–]{{0,60}})?\s*$"
)
_DIED = re.compile(rf"^\s*(?:died|d\.)(?: on)? ({_DATE})\s*$")
_RELEASED = re.compile(
    r"^[^.]{0,160}?\b(?:is|was) an? (?:[a-z]+ )?(\d{4}) [^.]{0,70}?\b(?:film|song|album|novel|single|video game|play)\b"
)
_ESTABLISHED = re.compile(r"\b(?:founded|established|launched) in (?:\w+ )?(\d{4})\b")
_IS_A = re.compile(r"\b(?:is|was) (?:an? |the )(?:former |retired |late )?([^.]{3,160})")


def read_passages(folder: Path, merge: Merge, names: Names, titles: Mapping[str, str]) -> None:
    """Dates and occupations from the openings of Wikipedia passages whose title leads to one entity.

    Where only the name leads there, what the passage says must agree with what is known: an occupation, or a year.
    """
    rows: list[tuple[str, str, str]] = []
    for line in (folder / "documents/passages.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        rows.append((one["title"], one["text"], one["wikidata_id"] or ""))
    more = json.loads((folder / "passages/wikipedia_passages.json").read_text("utf-8"))
    rows += [(one["title"], one["text"], "") for one in more]
    sure = {title: id for title, _, id in rows if id} | dict(titles)
    classes, typed = list_classes(merge), {s for s, p, _ in (*merge.base, *merge.edges) if p == "P31"}
    for title, text, _ in dict.fromkeys(rows):
        id = sure.get(title, "")
        if id and id not in merge.names:
            merge.refused["passage: entity has no other fact"] += 1
        elif id:
            says = _IS_A.search(re.sub(r"\([^()]*\)", "", text[:600]))
            if id not in typed and says and (one := _find_class(says[1], classes)):
                merge.add_edge(id, "P31", one, "passage")
                typed.add(id)
            _read_opening(merge, names, id, text, trusted=True)
        elif id := names.link(_TAIL.sub("", title), ["person", "work"]):
            _read_opening(merge, names, id, text, trusted=False)
        else:
            merge.refused["passage: title not linked"] += 1


def _read_opening(merge: Merge, names: Names, id: str, text: str, *, trusted: bool) -> None:
    source, kind = "passage", names.kind(id)
    opening = text[:600]
    if kind == "person":
        found: list[tuple[str, Day | None]] = []
        bracket = re.search(r"\(((?:[^()]|\([^()]*\))*)\)", opening[:220])
        inside = re.sub(r"\([^()]*\)", "", bracket[1]).replace("- ", "-") if bracket else ""
        inside = inside.replace("—", "–")
        if inside and not _UNSURE.search(inside):
            if match := _BORN.match(inside):
                found = [("P569", read_day(match[1]))]
            elif match := _LIVED.match(inside):
                found = [("P569", read_day(match[1])), ("P570", read_day(match[2]))]
            elif match := _DIED.match(inside):
                found = [("P570", read_day(match[1]))]
        says = _IS_A.search(re.sub(r"\([^()]*\)", "", opening))
        occupation = find_occupation(says[1]) if says else ""
        if not trusted:
            known = find_occupation(names.texts.get(id, ""))
            claims = [merge.days.get((id, property), {}) for property in ("P569", "P570")]
            years = {day.year for one in claims for days in one.values() for day in days}
            same = any(day is not None and day.year in years for _, day in found)
            if not same and not (occupation and occupation == known and not years):
                merge.refused["passage: name alone does not tell who it is"] += 1
                return
        elif occupation and not any((id, "P106", other[0]) in merge.edges for other in RULES["occupations"].values()):
            merge.add_edge(id, "P106", occupation, source)
        for property, day in found:
            merge.add_day(id, property, day, source)
        merge.taken[f"passages with a use: {'id' if trusted else 'name'}"] += bool(found)
    elif kind == "work" and (match := _RELEASED.match(opening)):
        day = Day(int(match[1]))
        known_years = {d.year for days in merge.days.get((id, "P577"), {}).values() for d in days}
        if trusted or day.year in known_years:
            merge.add_day(id, "P577", day, source)
        else:
            merge.refused["passage: name alone does not tell which work it is"] += 1
    elif trusted and kind in ("organization", "team") and len(years := set(_ESTABLISHED.findall(opening))) == 1:
        merge.add_day(id, "P571", Day(int(years.pop())), source)


# ---------------------------------------------------------------- Re-DocRED

_TYPES = {
    "PER": ("person",),
    "LOC": ("country", "place", "nature", "transport"),
    "ORG": ("organization", "team", "competition", "country", "place"),
    "MISC": ("work", "event", "award", "competition", "fiction", "transport", "other"),
}


def read_redocred(path: Path, merge: Merge, names: Names) -> None:
    """Relations of Re-DocRED between mentions whose names are the label of one entity each.

    A subject's facts are taken where the document also says something of it that Wikidata's files have: so it is the
    same thing, and not a namesake (a book and its film).
    """
    source, taken, table = "redocred", frozenset(RULES["redocred"]["take"]), default_table()
    for document in json.loads(path.read_text("utf-8")):
        linked = [_link_mention(names, cluster) for cluster in document["vertexSet"]]
        facts = [(linked[one["h"]], one["r"], linked[one["t"]]) for one in document["labels"]]
        confirmed = {s for s, p, o in facts if o and ((s, p, o) in merge.base or (s, p, o) in merge.edges)}
        for fact, (subject, property, object) in zip(document["labels"], facts, strict=True):
            entry = table.entity.get(property)
            if property not in taken:
                merge.refused[f"{source}: property is not taken"] += 1
            elif not fact["evidence"]:
                merge.refused[f"{source}: no sentence bears it out"] += 1
            elif not subject or (property not in DATES and not object):
                merge.refused[f"{source}: name not linked"] += 1
            elif subject not in confirmed:
                merge.refused[f"{source}: nothing known confirms who or what it is"] += 1
            elif property in DATES:
                times = [mention["name"].replace(" ,", ",") for mention in document["vertexSet"][fact["t"]]]
                merge.add_day(subject, property, read_day(times[0]), source)
            elif entry and not (names.kind(subject) in entry.subject and names.kind(object) in entry.object):
                merge.refused[f"{source}: its ends do not fit"] += 1
            else:
                merge.add_edge(subject, property, object, source)


def _link_mention(names: Names, cluster: list[dict[str, Any]]) -> str:
    kinds = {mention["type"] for mention in cluster}
    found: set[str] = set()
    spoken = {re.sub(r" (['’.,])", r"\1", mention["name"]) for mention in cluster}
    for name in sorted(spoken, key=lambda one: (-len(one), one)):
        # A person's bare first or last name is shared by too many.
        if "PER" in kinds and " " not in name:
            continue
        if id := names.link(name, {kind for one in kinds for kind in _TYPES.get(one, ())}, labels=True):
            found.add(id)
    return found.pop() if len(found) == 1 else ""


# ---------------------------------------------------------------- the Factbook

_FIGURE = re.compile(r"^\$?(-?[\d,]+(?:\.\d+)?)\s?(trillion|billion|million)?\s?(.*)$")
_AS_OF = re.compile(r"\((\d{4})(?: est\.?)?\)")
_SCALE = {"trillion": Decimal(10) ** 12, "billion": Decimal(10) ** 9, "million": Decimal(10) ** 6, None: Decimal(1)}


def read_factbook(path: Path, merge: Merge, names: Names) -> list[tuple[str, str, str, str, str, str]]:
    """Figures, highest points, rivers and lakes; returns the dated figures, like literals with a year."""
    dated: list[tuple[str, str, str, str, str, str]] = []
    rivers: dict[str, set[Decimal]] = defaultdict(set)
    lakes: dict[str, set[Decimal]] = defaultdict(set)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    for record in sorted(records, key=lambda one: str(one["path"])):
        name = _dig(record, ["Government", "Country name", "conventional short form"])
        long = _dig(record, ["Government", "Country name", "conventional long form"])
        country = _link_country(names, name) or _link_country(names, long)
        if not country:
            merge.refused["factbook: country not linked"] += 1
            continue
        for rule in RULES["factbook"]:
            rows = _read_figures(record, rule)
            of = (country, rule["property"], rule["label"], rule["unit"])
            dated += [(*of, value, year) for value, year in rows if year]
            if rows:
                _settle_figure(merge, country, rule, *rows[0])
        for other in _list_neighbours(names, record):
            merge.add_edge(country, "P47", other, "factbook")
        government = re.sub(r"<[^>]*>", "", _dig(record, ["Government", "Government type"])).strip()
        if form := RULES["governments"].get(government):
            merge.add_edge(country, "P122", form, "factbook")
        _read_summit(merge, names, country, _dig(record, ["Geography", "Elevation", "highest point"]))
        for text, found, unit in (
            (_dig(record, ["Geography", "Major rivers (by length in km)"]), rivers, "km"),
            (_dig(record, ["Geography", "Major lakes (area sq km)", "fresh water lake(s)"]), lakes, "sq km"),
            (_dig(record, ["Geography", "Major lakes (area sq km)", "salt water lake(s)"]), lakes, "sq km"),
        ):
            for part in re.split(r";", re.sub(r"<br>.*|<strong>.*", "", re.sub(r"</?p>", "", text))):
                match = re.match(r"\s*(.+?) (?:\((?P<other>[^()]*)\) )?.*?- ([\d,]+) " + unit + r"\s*$", part)
                head = re.match(r"\s*([^(]+?)(?: river source| river mouth| \(|\s+-\s)", part)
                if match and head:
                    ids = {_link_water(names, one) for one in (head[1].strip(), match["other"] or "") if one} - {""}
                    if len(ids) == 1:
                        found[ids.pop()].add(Decimal(match[3].replace(",", "")))
                    else:
                        merge.refused["factbook: river or lake not linked"] += 1
    for property, label, found, unit, factor in (
        ("P2043", "length", rivers, "Q11573", 1000), ("P2046", "area", lakes, "Q25343", 1_000_000),
    ):  # fmt: skip
        for id, values in sorted(found.items()):
            if len(values) == 1 and (id, property) not in merge.literals:
                merge.numbers[id, property] = (unit, str(values.pop() * factor), "", "factbook")
                merge.labels.setdefault(property, label)
            elif len(values) > 1:
                shown = ", ".join(map(str, sorted(values)))
                merge.disagreements.append((id, property, f"factbook: {shown}", "neither"))
    return dated


def list_states(path: Path) -> dict[str, str]:
    """Today's independent countries by their names and adjectives; what two of them share is left out."""
    found: dict[str, set[str]] = defaultdict(set)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            name = _dig(record, ["Government", "Country name", "conventional short form"])
            free = _dig(record, ["Government", "Independence"])
            if name in ("", "none") or not free or free.startswith("none"):
                continue
            for other in (name, _dig(record, ["People and Society", "Nationality", "adjective"])):
                found[other.removeprefix("the ")].add(name.removeprefix("the "))
    return {name: next(iter(one)) for name, one in found.items() if len(one) == 1 and name}


def _dig(record: Any, path: Iterable[str]) -> str:
    for key in path:
        record = record.get(key, {}) if isinstance(record, dict) else {}
    text = record.get("text", "") if isinstance(record, dict) else ""
    return html.unescape(str(text)).replace("\xa0", " ").strip()


def _link_country(names: Names, name: str) -> str:
    if name in ("", "none"):
        return ""
    turned = re.sub(r"^(.*), The$", r"\1", name).removeprefix("the ")
    # The Factbook speaks of countries: that a film is called Canada too does not matter.
    for form in (turned, "The " + turned):
        found = [id for id in names.labelled(form) if names.kind(id) == "country"]
        if len(found) == 1:
            return found[0]
    return names.link(turned, ["country"])


def _list_neighbours(names: Names, record: Any) -> list[str]:
    """The countries with which this one shares a land border."""
    text = re.sub(r"<.*", "", _dig(record, ["Geography", "Land boundaries", "border countries"]))
    found = (re.match(r"\s*([^\d(]+?) (?:\([^)]*\) )?[\d,.]+ km", part) for part in text.split(";"))
    return [id for match in found if match and (id := _link_country(names, match[1]))]


def _link_water(names: Names, name: str) -> str:
    for form in (name, name + " River", "Lake " + name):
        if id := names.link(form, ["nature"]):
            return id
    return ""


def _read_figures(record: Any, rule: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Values in the literals' unit with their years, the latest first."""
    node: Any = record
    for key in rule["path"]:
        node = node.get(key, {}) if isinstance(node, dict) else {}
    nodes = [node] if "text" in node else list(node.values())
    texts = [one["text"] for one in nodes if isinstance(one, dict) and "text" in one]
    found: list[tuple[str, str]] = []
    for text in texts:
        plain = html.unescape(str(text)).strip()
        year = match[1] if (match := _AS_OF.search(plain)) else ""
        figure = _FIGURE.match(re.sub(r"\s*\(.*$", "", plain))
        if figure and figure[3].strip() == rule["suffix"]:
            value = Decimal(figure[1].replace(",", "")) * _SCALE[figure[2]] * Decimal(rule["factor"])
            if value != 0:
                found.append((f"{value.normalize():f}", year))
    return sorted(found, key=lambda one: one[1], reverse=True)


def _settle_figure(merge: Merge, country: str, rule: Mapping[str, Any], value: str, year: str) -> None:
    key = (country, rule["property"])
    merge.labels.setdefault(rule["property"], rule["label"])
    old = [Decimal(one) for _, one, kind in merge.literals.get(key, []) if kind == "decimal"]
    new = Decimal(value)
    if not old:
        merge.numbers[key] = (rule["unit"], value, year, "factbook")
        return
    apart = min(abs(new - one) / max(abs(one), Decimal("0.000001")) for one in old)
    if apart > Decimal(str(rule["tolerance"])):
        shown = ", ".join(f"{one.normalize():f}" for one in old)
        said = f"wikidata: {shown}; factbook ({year}): {value}"
        merge.disagreements.append((country, rule["property"], said, "neither"))
        merge.drop.add(key)
    elif rule.get("replaces"):
        merge.drop.add(key)
        merge.numbers[key] = (rule["unit"], value, year, "factbook")
    else:
        merge.taken["literals that the factbook confirms"] += 1


def _read_summit(merge: Merge, names: Names, country: str, text: str) -> None:
    match = re.fullmatch(r"([A-Z][^0-9(;]+?)(?: \([^)]*\))? ([\d,]+) m", text)
    if not match:
        return
    if not (summit := names.link(match[1], ["nature"]) or names.link("Mount " + match[1], ["nature"])):
        merge.refused["factbook: highest point not linked"] += 1
        return
    merge.add_edge(country, "P610", summit, "factbook")
    if (summit, "P2044") not in merge.literals:
        key = (summit, "P2044")
        value = match[2].replace(",", "")
        if key in merge.numbers and merge.numbers[key][1] != value:
            merge.disagreements.append((summit, "P2044", f"factbook: {merge.numbers[key][1]}, {value}", "neither"))
            merge.drop.add(key)
        merge.numbers[key] = ("Q11573", value, "", "factbook")
        merge.labels.setdefault("P2044", "elevation above sea level")


# ---------------------------------------------------------------- settling


def settle_days(merge: Merge) -> dict[tuple[str, str], tuple[Day, set[str]]]:
    """One date for every subject and property on which its sources agree, or which two of them share."""
    settled: dict[tuple[str, str], tuple[Day, set[str]]] = {}
    for key, claims in sorted(merge.days.items()):
        subject, property = key
        own: list[Day] = []
        for _, value, kind in merge.literals.get(key, []):
            if kind == "dateTime" and re.match(r"\d{4}-", value):
                stated = Day(*map(int, value[:10].split("-")))
                own.append(Day(stated.year) if stated[1:] == (1, 1) else stated)
        if len(own) > 1:
            merge.refused["dates: Wikidata has several"] += 1
            continue
        said = [(day, source) for source, days in sorted(claims.items()) for day in sorted(days)]
        said += [(day, "wikidata") for day in own]
        # Groups of what fits together, each around its most exact member.
        groups: list[tuple[Day, set[str]]] = []
        for day, source in sorted(said, key=lambda one: (one[0].month == 0, one[0], one[1])):
            fitting = [group for group in groups if group[0].fits(day)]
            if not fitting:
                groups.append((day, {source}))
            for group in fitting:
                group[1].add(source)
        if len(groups) == 1:
            best = groups[0]
        else:
            ranked = sorted(groups, key=lambda one: (-len(one[1]), one[0]))
            clear = len(ranked[0][1]) > 1 and len(ranked[1][1]) < len(ranked[0][1])
            shown = "; ".join(f"{'+'.join(sorted(sources))}: {_show(day)}" for day, sources in groups)
            merge.disagreements.append((subject, property, shown, _show(ranked[0][0]) if clear else "neither"))
            merge.drop.add(key)
            if not clear:
                continue
            best = ranked[0]
        if own and best[0] == own[0]:
            merge.drop.discard(key)
            merge.taken["dates that another source confirms"] += 1
        else:
            merge.drop.add(key)
            settled[key] = best
    for (subject, property), (died, _) in sorted(settled.items()):
        born = settled.get((subject, "P569"))
        if property == "P570" and born and not 0 <= died.year - born[0].year <= 115:
            said_of = f"{_show(born[0])} to {_show(died)} is no lifetime"
            merge.disagreements.append((subject, property, said_of, "neither"))
            del settled[subject, "P569"], settled[subject, "P570"]
    return settled


def _show(day: Day) -> str:
    return f"{day.year}-{day.month:02d}-{day.day:02d}" if day.month else str(day.year)


def settle_edges(merge: Merge) -> set[tuple[str, str, str]]:
    """All triplets, less those in which sources contradict each other where one value is all there is."""
    inside = containers(merge)
    base_of: dict[tuple[str, str], set[str]] = defaultdict(set)
    for subject, property, object in merge.base:
        base_of[subject, property].add(object)
    new_of: dict[tuple[str, str], set[str]] = defaultdict(set)
    for subject, property, object in merge.edges:
        new_of[subject, property].add(object)
    gone: set[tuple[str, str, str]] = set()
    for (subject, property), objects in sorted(new_of.items()):
        if property not in RULES["single"]["entity"]:
            continue
        old = base_of[subject, property]
        every = old | objects
        if len(every) < 2:
            continue
        nested = any(_contains(inside, a, b) for a in every for b in every if a != b)
        shared = [one for one in every if len(_sources(merge, subject, property, one)) > 1]
        keep = old if nested and old else ({shared[0]} if len(shared) == 1 else set())
        gone |= {(subject, property, one) for one in every - keep}
        if not nested:
            shown = "; ".join(
                f"{'+'.join(sorted(_sources(merge, subject, property, one)))}: {one} {merge.names[one][0]}"
                for one in sorted(every)
            )
            merge.disagreements.append((subject, property, shown, " ".join(sorted(keep)) or "neither"))
    # The maker of a work, the owner of a firm: a second value would make the first one a list. Wikidata's own stands.
    for (subject, property), objects in sorted(new_of.items()):
        if property in RULES["single"]["first"] and base_of[subject, property]:
            for one in objects:
                gone.add((subject, property, one))
                merge.refused[f"{property}: another value stands"] += 1
    return (merge.base | set(merge.edges)) - gone


def _sources(merge: Merge, subject: str, property: str, object: str) -> set[str]:
    found = set(merge.edges.get((subject, property, object), set()))
    return found | ({"wikidata"} if (subject, property, object) in merge.base else set())


def _contains(inside: Mapping[str, set[str]], inner: str, outer: str) -> bool:
    seen, todo = {inner}, [inner]
    while todo:
        for one in inside.get(todo.pop(), ()):
            if one == outer:
                return True
            if one not in seen:
                seen.add(one)
                todo.append(one)
    return False


# ---------------------------------------------------------------- writing


def write_packed(path: Path, lines: Iterable[str]) -> None:
    """Write lines, packed so that the same lines give the same bytes."""
    data = "".join(line + "\n" for line in lines).encode()
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(data)


def _by_number(id: str) -> int:
    return int(id[1:])


def write_sample(merge: Merge, dated: list[tuple[str, str, str, str, str, str]], out: Path) -> None:
    """Settle what is gathered and write the sample's files."""
    days = settle_days(merge)
    triplets = settle_edges(merge)
    known = {id for s, _, o in triplets for id in (s, o)}
    for id, label in RULES["occupations"].values():
        if id in known:
            merge.names.setdefault(id, [label])
            triplets.add((id, "P31", PROFESSION))
            known.add(PROFESSION)
    for id, label in RULES["labels"].items():
        if id in known:
            merge.names.setdefault(id, [label])
    merge.relations.setdefault("P106", ["occupation", "profession", "job"])
    for property in sorted({p for _, p, _ in triplets} - set(merge.relations)):
        merge.relations[property] = [RULES["properties"][property]]
    rows: list[tuple[str, str, str, str, str, str]] = []
    provenance: list[tuple[str, str, str, str]] = []
    for key, values in merge.literals.items():
        if key not in merge.drop:
            rows += [(*key, merge.labels[key[1]], unit, value, kind) for unit, value, kind in values]
    for key, (unit, value, year, source) in merge.numbers.items():
        if key not in merge.drop or key in merge.literals:
            rows.append((*key, merge.labels[key[1]], unit, value, "decimal"))
            provenance.append((*key, value, f"{source} {year}".strip()))
    for key, (day, sources) in days.items():
        rows.append((*key, merge.labels[key[1]], "", day.value, "dateTime"))
        provenance.append((*key, day.value, "+".join(sorted(sources))))
    provenance += [(s, p, o, "+".join(sorted(of))) for (s, p, o), of in merge.edges.items() if (s, p, o) in triplets]
    ordered = sorted(triplets, key=lambda one: tuple(map(_by_number, one)))
    names = {id: merge.names[id] for id in known | {row[0] for row in rows} | set(merge.names) if id in merge.names}
    write_packed(out / "wikidata5m_all_triplet.txt.gz", ("\t".join(one) for one in ordered))
    write_packed(
        out / "wikidata5m_entity.txt.gz", ("\t".join([id, *names[id]]) for id in sorted(names, key=_by_number))
    )
    write_packed(
        out / "wikidata5m_relation.txt.gz",
        ("\t".join([id, *merge.relations[id]]) for id in sorted(merge.relations, key=_by_number)),
    )

    def place(row: tuple[str, ...]) -> tuple[Any, ...]:
        return (_by_number(row[0]), _by_number(row[1]), *row[2:])

    write_packed(out / "attribute_literals.tsv.gz", ("\t".join(row) for row in sorted(set(rows), key=place)))
    write_packed(out / "dated_literals.tsv.gz", ("\t".join(row) for row in sorted(set(dated), key=place)))
    write_packed(out / "provenance.tsv.gz", ("\t".join(row) for row in sorted(provenance, key=place)))
    lines = ["subject\tlabel\tproperty\tclaims\tkept"]
    for subject, property, claims, kept in sorted(merge.disagreements):
        lines.append("\t".join([subject, merge.names.get(subject, [""])[0], property, claims, kept]))
    (out / "disagreements.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    _tell(merge, triplets, names, rows, provenance)


def _tell(
    merge: Merge,
    triplets: set[tuple[str, str, str]],
    names: Mapping[str, list[str]],
    rows: list[tuple[str, str, str, str, str, str]],
    provenance: list[tuple[str, str, str, str]],
) -> None:
    say = sys.stdout.write
    old = sum(map(len, merge.literals.values()))
    say(f"triplets {len(merge.base)} -> {len(triplets)}, entities {len(names)}, literals {old} -> {len(set(rows))}\n")
    by_source = Counter((source.split()[0], property) for _, property, _, source in provenance)
    for source in sorted({one for one, _ in by_source}):
        counts = Counter({property: n for (one, property), n in by_source.items() if one == source})
        say(f"{source}: {counts.total()} facts: {', '.join(f'{p} {n}' for p, n in counts.most_common(60))}\n")
    for title, counter in (("confirmed or used", merge.taken), ("refused", merge.refused)):
        say(f"{title}:\n" + "".join(f"  {n:7d} {why}\n" for why, n in counter.most_common()))
    kept = Counter((property, kept != "neither") for _, property, _, kept in merge.disagreements)
    say("disagreements (property, settled, count):\n")
    say("".join(f"  {property} {'settled' if one else 'neither'} {n}\n" for (property, one), n in kept.most_common()))


def main(sources: Path, out: Path) -> None:
    """Make the sample."""
    merge = read_wikidata(sources / "wikidata")
    texts = {row[0]: row[1] for row in read_rows(sources / "wikidata/wikidata5m_text.txt") if len(row) > 1}
    with tempfile.TemporaryDirectory() as folder:
        ingest(sources / "wikidata", Path(folder) / "store")
        names = Names(merge, KindIndex(GraphStore.open(Path(folder) / "store")), texts)
        read_descriptions(merge, names)
        states = list_states(sources / "documents/factbook.jsonl.gz")
        titles = read_wiki2(sources / "documents/2wiki_dev_half.jsonl", merge, names, states)
        read_passages(sources, merge, names, titles)
        read_redocred(sources / "documents/redocred_dev.json", merge, names)
        dated = read_factbook(sources / "documents/factbook.jsonl.gz", merge, names)
        write_sample(merge, dated, out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
