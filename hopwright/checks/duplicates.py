"""Duplicates within a set of items, found in one pass with a few bytes an item."""

from __future__ import annotations

import hashlib

from hopwright.checks.case import CheckedItem, Finding
from hopwright.text.matching import fold


class DuplicateFinder:
    """Remembers ids, normalised questions and plans; each is told with where it was first seen."""

    name = "duplicates"
    description = "no two items share an id, a question or a plan"

    def __init__(self) -> None:
        self._seen: dict[bytes, int] = {}
        self._count = 0

    def add(self, case: CheckedItem, place: int | None = None) -> tuple[Finding, ...]:
        """Return what an earlier item has in common with this one, and remember it.

        `place` is where the item stands (a line number; by default, its number in order of addition).
        """
        self._count += 1
        place = self._count if place is None else place
        item = case.item
        keys = [("id", item.id), ("question", fold(item.question))]
        if case.planned:
            keys.append(("plan", item.plan_id))
        found: list[Finding] = []
        for what, text in keys:
            digest = hashlib.blake2b(f"{what}\0{text}".encode(), digest_size=12).digest()
            first = self._seen.setdefault(digest, place)
            if first != place:
                found.append((None, f"the {what} is that of item {first}"))
        return tuple(found)
