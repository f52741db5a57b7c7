"""How sources that contradict each other are settled."""

from __future__ import annotations

import re
from collections import defaultdict

from sample.days import Day
from sample.gathering import RULES, Merge, containers, contains


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
        nested = any(contains(inside, a, b) for a in every for b in every if a != b)
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
