"""Wikidata's one-line descriptions: occupations, years, makers, seats, classes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from sample.days import Day
from sample.gathering import HUMAN, RULES, Merge, Names, containers, contains

_LIFE = re.compile(r"\((?:born )?(\d{4})\s?[–-]\s?(\d{4})\)|\((?:born|b\.|\*)\s?(\d{4})\)|\((\d{4})[–-]\s?\)")
_BORN = re.compile(r"^born (?:in )?(\d{4})[;,]|\bborn (?:in )?(\d{4})$")
_LIVED = re.compile(r"(?:^|, ?)(\d{4})\s?[–-]\s?(\d{4})(?=$|[;,])")
_LASTED = re.compile(r"^(\d{4})\s?[–-]\s?(\d{4}) |\((\d{4})\s?[–-]\s?(\d{4})\)$|\bbetween (\d{4}) and (\d{4})\b")
_HAPPENED = re.compile(
    r"^(\d{4}) (?:[\w' ,/-]{0,60}?)\b"
    r"(?:spaceflight|battle|accident|crash|election|assassination|shooting|invasion|referendum|treaty)\b"
)
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
_DISSOLVES = re.compile(
    r"club|team|company|airline|party|league|label|university|college|school|conglomerate|subsidiary"
)
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
            elif kind != "person" and (one := find_class(text, classes)):
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
            elif (match := _SPAN.search(text)) and _DISSOLVES.search(text):
                merge.add_day(id, "P571", Day(int(match[1])), source)
                merge.add_day(id, "P576", Day(int(match[2]) if len(match[2]) == 4 else 0), source)
        elif kind == "event":
            _read_event(merge, id, text, source)
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


def find_class(text: str, classes: Mapping[str, str]) -> str:
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
        and any(contains(inside, town, region) for name in wide for region in names.labelled(name))
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
            found = [one for one in found if any(contains(inside, one, region) for region in regions)] or found
        if len(found) == 1:
            merge.add_edge(id, property, found[0], "description")
        else:
            merge.refused["description: name not linked"] += 1


def _read_person(merge: Merge, id: str, text: str, source: str) -> None:
    if occupation := find_occupation(text):
        merge.add_edge(id, "P106", occupation, source)
    if re.search(r"[\d ]c\.|circa|\bfl\b|\?", text):
        merge.refused[f"{source}: vague years"] += 1
    elif not _LIFE.search(text) and (match := _BORN.search(text)):
        merge.add_day(id, "P569", Day(int(match[1] or match[2])), source)
    elif not _LIFE.search(text) and find_occupation(text) and (match := _LIVED.search(text)):
        if 20 <= int(match[2]) - int(match[1]) <= 105:
            merge.add_day(id, "P569", Day(int(match[1])), source)
            merge.add_day(id, "P570", Day(int(match[2])), source)
    elif match := _LIFE.search(text):
        born = match[1] or match[3] or match[4]
        if match[2] and not 0 <= int(match[2]) - int(born) <= 110:
            merge.refused[f"{source}: no lifetime"] += 1
            return
        merge.add_day(id, "P569", Day(int(born)), source)
        if match[2]:
            merge.add_day(id, "P570", Day(int(match[2])), source)


def _read_event(merge: Merge, id: str, text: str, source: str) -> None:
    """When a war or a mission took place; a range of one year or of more than a lifetime says nothing."""
    if match := _LASTED.search(text):
        first, last = (int(one) for one in match.groups() if one)
        if 0 < last - first <= 100:
            merge.add_day(id, "P580", Day(first), source)
            merge.add_day(id, "P582", Day(last), source)
    elif match := _HAPPENED.search(text):
        merge.add_day(id, "P585", Day(int(match[1])), source)


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
