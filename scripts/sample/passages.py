"""Openings of Wikipedia's articles: dates and occupations."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from sample.days import DATE, MONTHS, Day, read_day
from sample.descriptions import find_class, find_occupation, list_classes
from sample.gathering import RULES, TAIL, Merge, Names

_UNSURE = re.compile(r"\b(?:c|ca|circa|fl|or|before|after|about|between|baptized|baptised|O\.? ?S|N\.? ?S)\b|[?/]")
_BORN = re.compile(
    rf"^\s*(?:[^;]{{0,90}}[;,])?\s*(?:born|b\.)(?: [A-Z][\w' .-]{{0,50}})?(?: on| in)?,? ?({DATE})"
    r"(?:,? in [^;]*)?\s*$"
)
_LIVED = re.compile(
    rf"^\s*(?:[^;0-9]{{0,90}}[;,]\s*){{0,3}}(?:born )?(?:[A-Z][^0-9;–-]{{0,40}}, )?({DATE})"
    r"(?:(?:,| in) [^0-9;–]{0,60}?)?"
    rf"\s*[–-]\s*(?:[A-Z][^0-9;–-]{{0,40}}, )?({DATE})(?:(?:,| in) [^0-9;–]{{0,60}})?\s*$"
)
_WHOLE = rf"(?:\d{{1,2}} (?:{'|'.join(MONTHS)}),? \d{{4}}|(?:{'|'.join(MONTHS)}) \d{{1,2}}, \d{{4}})"
_TOGETHER = re.compile(rf"({_WHOLE})\s*({_WHOLE})")
"""Two dates whose dash was lost: `21 March 192011 January 2010`."""
_DIED = re.compile(rf"^\s*(?:died|d\.)(?: on)? ({DATE})\s*$")
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
    for line in filter(None, (folder / "documents/passages.jsonl").read_text("utf-8").split("\n")):
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
            if id not in typed and says and (one := find_class(says[1], classes)):
                merge.add_edge(id, "P31", one, "passage")
                typed.add(id)
            _read_opening(merge, names, id, text, trusted=True)
        elif id := names.link(TAIL.sub("", title), ["person", "work"]):
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
        inside = _TOGETHER.sub(r"\1 – \2", inside.replace("—", "–"))
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
