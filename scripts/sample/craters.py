"""Years of the people after whom craters are named: the IAU's Gazetteer of Planetary Nomenclature.

Stellarium ships it (Debian's `stellarium-data`, `nomenclature.dat`), each feature under a line such as
`(Mars); Gregor J.; Austrian biologist (1822-1884).` The feature's name is the person's surname.
"""

from __future__ import annotations

import gzip
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sample.days import Day
from sample.descriptions import find_occupation
from sample.gathering import RULES, Merge, Names

SOURCE = "gazetteer"
_SAYS = re.compile(
    r"^# TRANSLATORS: \(\w+\); (?:(?P<given>[^;()]+); )?(?P<says>[^;()]+?) \((?P<born>\d{4})-(?P<died>\d{4})\)\.?$"
)
_NAMED = re.compile(r'_\("(?P<name>[^"]+)","crater"\)')


class Namesake(NamedTuple):
    """A person of the gazetteer: given names (may be empty), the crater's name, what he or she was, years of life."""

    given: str
    name: str
    says: str
    born: int
    died: int


def read_craters(path: Path, merge: Merge, names: Names) -> None:
    """Years of birth and death of people with that surname of whom the rest agrees, too."""
    bearers: dict[str, set[str]] = defaultdict(set)
    for id, called in sorted(merge.names.items()):
        if names.kind(id) == "person":
            for name in called:
                bearers[name.rpartition(" ")[2]].add(id)
                bearers[name].add(id)
    jobs: dict[str, set[str]] = defaultdict(set)
    for subject, property, object in (*merge.base, *merge.edges):
        if property == "P106":
            jobs[subject].add(object)
    said: dict[str, set[Namesake]] = defaultdict(set)
    for one in _list_namesakes(path):
        fitting = [id for id in sorted(bearers.get(one.name, ())) if _agrees(merge, names, jobs, id, one)]
        if len(fitting) == 1:
            said[fitting[0]].add(one)
        elif fitting or one.name in bearers:
            merge.refused[f"{SOURCE}: several people fit, or too little agrees"] += 1
    for id, people in sorted(said.items()):
        for property, years in (("P569", {one.born for one in people}), ("P570", {one.died for one in people})):
            if len(years) == 1:
                merge.add_day(id, property, Day(years.pop()), SOURCE)


def _list_namesakes(path: Path) -> Iterator[Namesake]:
    lines = gzip.decompress(path.read_bytes()).decode("utf-8", "replace").splitlines()
    for above, line in itertools.pairwise(lines):
        match, named = _SAYS.match(above), _NAMED.search(line)
        if match and named and 10 < int(match["died"]) - int(match["born"]) < 105:
            given = (match["given"] or "").strip()
            yield Namesake(given, named["name"], match["says"], int(match["born"]), int(match["died"]))


def _agrees(merge: Merge, names: Names, jobs: dict[str, set[str]], id: str, one: Namesake) -> bool:
    """Whether the occupation, and the first name or the nationality, fit this person, and no known year is against it.

    Without a first name, the whole name, the occupation and the nationality have to agree.
    """
    if id in RULES["gazetteer"]["wrong"]:
        return False
    for property, year in (("P569", one.born), ("P570", one.died)):
        known = {day.year for days in merge.days.get((id, property), {}).values() for day in days}
        if known and all(abs(year - other) > 1 for other in known):
            return False
    text = names.texts.get(id, "")
    first = re.split(r"[ -]", one.given)[0]
    if "." in first and not merge.names[id][0].startswith(first[0]):
        return False
    whole = "." not in first and len(first) > 2
    named = whole and any(re.match(rf"{re.escape(first)}\b", name) for name in merge.names[id])
    if whole and not named:
        return False
    occupations = {str(RULES["occupations"][word][0]) for word in _list_words(one.says)}
    working = bool(occupations & jobs[id]) or (find_occupation(one.says) or "-") == find_occupation(text)
    national = one.says.split()[0] in text.split()
    alone = not one.given and one.name in merge.names[id]
    return working and (national and alone if not one.given else named or national)


def _list_words(text: str) -> list[str]:
    return [word for word in RULES["occupations"] if re.search(rf"\b{re.escape(word)}\b", text)]
