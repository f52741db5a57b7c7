"""Births and deaths of the days that BSD's `calendar` files remember (Debian's package `calendar`)."""

from __future__ import annotations

import re
from pathlib import Path

from sample.days import Day
from sample.descriptions import find_occupation
from sample.gathering import Merge, Names

SOURCE = "calendar"
_FILES = ("calendar.birthday", "calendar.computer", "calendar.music")
_LINE = re.compile(r"\d\d/\d\d\s+(?P<name>.+?),?\s+(?:(?:is|was)\s+)?(?P<what>born|dies|died)\b(?P<rest>.*)$")
_YEAR = re.compile(r"\b(\d{4})\b(?!\?)")


def read_calendars(folder: Path, merge: Merge, names: Names) -> None:
    """Years of birth and death of people of whom the line says something else that is known of them.

    That is: a year known already, the place of birth or death, an occupation, or the other end of the same life.
    The days are not taken: some of them are those of a funeral or of a baptism.
    """
    said: dict[str, list[tuple[str, int, str]]] = {}
    for file in _FILES:
        for line in (folder / file).read_text("utf-8", errors="replace").splitlines():
            match = _LINE.match(line)
            years = _YEAR.findall(match["rest"]) if match else []
            if match is None or len(years) != 1:
                continue
            name = re.sub(r"\s*\([^()]*\)", "", match["name"]).strip()
            property = "P569" if match["what"] == "born" else "P570"
            if " " in name and (id := names.link(name, ["person"])):
                said.setdefault(id, []).append((property, int(years[0]), match["name"] + match["rest"]))
            else:
                merge.refused[f"{SOURCE}: name not linked"] += 1
    for id, lines in sorted(said.items()):
        known = _list_years(merge, id)
        whole = {property for property, _, _ in lines} == {"P569", "P570"}
        agrees = any(_agrees(merge, names, id, year, text, known) for _, year, text in lines)
        if not (agrees or (whole and not known)):
            merge.refused[f"{SOURCE}: name alone does not tell who it is"] += 1
            continue
        for property, year, _ in lines:
            merge.add_day(id, property, Day(year), SOURCE)


def _list_years(merge: Merge, id: str) -> set[int]:
    found: set[int] = set()
    for property in ("P569", "P570"):
        found |= {day.year for days in merge.days.get((id, property), {}).values() for day in days}
        found |= {int(value[:4]) for _, value, _ in merge.literals.get((id, property), [])}
    return found


def _agrees(merge: Merge, names: Names, id: str, year: int, text: str, known: set[int]) -> bool:
    if known:
        return year in known
    places = [o for s, p, o in (*merge.base, *merge.edges) if s == id and p in ("P19", "P20")]
    if any(re.search(rf"\b{re.escape(merge.names[one][0])}\b", text) for one in places if one in merge.names):
        return True
    occupation = find_occupation(text.rpartition(",")[2].strip()) or find_occupation(text)
    return bool(occupation) and occupation == find_occupation(names.texts.get(id, ""))
