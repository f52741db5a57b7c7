"""Entities whose names are like one that nothing has: names that begin so, and near spellings."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.text.folding import fold

_LIKE = 0.75
"""How alike a near spelling is at least, by difflib's ratio."""
_REST = rb"[^\t\n]*"
"""The rest of a name: an entity's names are parted by tabs, the entities by line ends."""
_MOST_COMPARED = 200_000
_START, _END = 2, 3
"""A near spelling shares so many of its first letters, or of its last."""


def suggest_entities(store: GraphStore, name: str, most: int = 10) -> list[tuple[str, str]]:
    """Ids of entities and their names that begin with `name`, else are spelt nearly so; the well-connected first.

    Reads all names of the store once: 0.01 s for the sample, about a second for Wikidata5M.
    """
    asked = fold(name)
    if not asked:
        return []
    found = _rank(store, _find_rows(store, re.escape(name.strip().encode()) + _REST), most)
    return found or _rank(store, _find_near(store, asked), most, like=asked)


def _find_near(store: GraphStore, asked: str) -> Iterator[int]:
    """Rows of names about as long that share their beginning or their end with the one asked for."""
    first, last = (re.escape(part.encode()) for part in (asked[:_START], asked[-_END:]))
    pattern = rb"(?:%s%s|%s%s(?=[\t\n]|\Z))" % (first, _REST, _REST, last)
    reach = max(1, len(asked) // 5)
    for count, row in enumerate(_find_rows(store, pattern)):
        if count >= _MOST_COMPARED:
            return
        if abs(len(store.name_at(row)) - len(asked)) <= reach:
            yield row


def _find_rows(store: GraphStore, pattern: bytes) -> Iterator[int]:
    """Rows of the names that match, from their first letter; upper and lower case of English letters are the same."""
    starts: Any = store.array("name_start")
    blob: Any = store.array("name_blob").data
    for match in re.finditer(rb"(?:\A|(?<=[\t\n]))" + pattern, blob, re.IGNORECASE):
        yield int(starts.searchsorted(match.start(), side="right")) - 1


def _rank(store: GraphStore, rows: Iterator[int], most: int, like: str = "") -> list[tuple[str, str]]:
    best: dict[str, tuple[float, int, str]] = {}
    entities = store.array("name_entity")
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(like)
    for row in rows:
        text = store.name_at(row)
        likeness = 1.0
        if like:
            matcher.set_seq1(fold(text))
            if matcher.real_quick_ratio() < _LIKE or matcher.quick_ratio() < _LIKE:
                continue
            likeness = matcher.ratio()
            if likeness < _LIKE:
                continue
        id = store.id_of(int(entities[row]))
        rank = (-round(likeness, 2), -store.degree(id), text)
        best[id] = min(rank, best.get(id, rank))
    ranked = sorted(best.items(), key=lambda pair: (pair[1], pair[0]))
    return [(id, text) for id, (_, _, text) in ranked[:most]]
