"""Rows on their way into a release: kept on disk as they come, read in the order of their ids."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Self

from hopwright.errors import InputError
from hopwright.records import Item
from hopwright.records.model import Variant
from hopwright.release.format import from_release, to_release


class RowSpool:
    """Rows of one variant on disk in the order in which they came, to be read in the order of their ids."""

    def __init__(self, path: Path, variant: Variant) -> None:
        self.variant = variant
        self.ids: list[str] = []
        self._starts = array("q")
        self._path = path
        self._file: BinaryIO = path.open("w+b")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)

    def take(self, items: Iterable[Item]) -> Iterator[Item]:
        """Write every item, and pass it on. Raises InputError for the wrong variant or an id seen before."""
        for item in items:
            if item.variant != self.variant:
                raise InputError(f"{item.id} is {item.variant}, but stands among the {self.variant} items")
            self.ids.append(item.id)
            self._starts.append(self._file.tell())
            self._file.write(json.dumps(to_release(item), ensure_ascii=False).encode() + b"\n")
            yield item
        if len(set(self.ids)) != len(self.ids):
            seen: set[str] = set()
            twice = next(id for id in self.ids if id in seen or seen.add(id))  # type: ignore[func-returns-value]
            raise InputError(f"{twice} occurs twice among the {self.variant} items")

    def read_sorted(self) -> Iterator[bytes]:
        """Every row as a line of JSON, by id."""
        for position in sorted(range(len(self.ids)), key=self.ids.__getitem__):
            self._file.seek(self._starts[position])
            yield self._file.readline()

    def read_first(self) -> Item | None:
        """The item that comes first by id."""
        line = next(self.read_sorted(), None)
        return None if line is None else from_release(json.loads(line))


def gather_links(twins: Iterable[Item], links: dict[str, str]) -> Iterator[Item]:
    """Pass twins on, noting original → twin. Raises InputError for a twin without an original, or a second one."""
    for twin in twins:
        if twin.twin is None:
            raise InputError(f"twin {twin.id} does not name the item that it belongs to")
        if twin.twin in links:
            raise InputError(f"{twin.twin} has two twins: {links[twin.twin]} and {twin.id}")
        links[twin.twin] = twin.id
        yield twin


def apply_links(items: Iterable[Item], links: dict[str, str]) -> Iterator[Item]:
    """Pass items on, linked to their twins; every link that was used is taken out of `links`.

    Raises InputError for an item that names a twin which is not there.
    """
    for item in items:
        twin = links.pop(item.id, None)
        if item.twin is not None and item.twin != twin:
            raise InputError(f"{item.id} names the twin {item.twin}, which is not among the twins or names another")
        yield item if item.twin == twin else item.model_copy(update={"twin": twin})
