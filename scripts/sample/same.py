"""People and works that two sources, or two tables, spell or date differently: one entity becomes the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sample.atlas import SOURCE
from sample.gathering import Merge


def join_same(path: Path, merge: Merge) -> int:
    """Give all that is known of the third column's entities to the first's, and say of how many.

    A line of the file is `Qid⇥name⇥Qid of the same⇥its name`; the first name is the one that stays. Dates of the tables
    go before those of other sources; otherwise what both have stays as the first has it. Raises ValueError where one
    of them is not there, so that no line outlives its reason.
    """
    same: dict[str, str] = {}
    for line in path.read_text("utf-8").splitlines()[1:]:
        kept, name, dropped, spelling = line.split("\t")
        if not {kept, dropped} <= merge.names.keys():
            raise ValueError(f"{path.name}: {name} ({kept}) or {spelling} ({dropped}) is not among the entities")
        same[dropped] = kept
        merge.names[kept] = list(dict.fromkeys([name, *merge.names[kept], *merge.names.pop(dropped)]))
    merge.base = {(same.get(s, s), property, same.get(o, o)) for s, property, o in merge.base}
    edges, merge.edges = merge.edges, {}
    for (subject, property, object), sources in edges.items():
        edge = same.get(subject, subject), property, same.get(object, object)
        if edge not in merge.base and edge[0] != edge[2]:
            merge.edges.setdefault(edge, set()).update(sources)
    _join_values(merge, same)
    merge.points = {same.get(id, id): point for id, point in merge.points.items()}
    merge.timelines = {(same.get(holder, holder), name, year) for holder, name, year in merge.timelines}
    return len(same)


def _join_values(merge: Merge, same: dict[str, str]) -> None:
    """Move what is known of dropped entities to those that stay, where nothing of the kind is known of these."""
    for key in [key for key in merge.days if key[0] in same]:
        there = same[key[0]], key[1]
        stated = merge.days.pop(key)
        if SOURCE not in merge.days.get(there, ()):
            merge.days[there] = stated
            merge.literals.pop(there, None)
            merge.literals.pop(key, None)
    known: tuple[dict[tuple[str, str], Any], ...] = (merge.days, merge.literals, merge.numbers)
    for values in known[1:]:
        for key in [key for key in values if key[0] in same]:
            there, held = (same[key[0]], key[1]), values.pop(key)
            if not any(there in one for one in known):
                values[there] = held
