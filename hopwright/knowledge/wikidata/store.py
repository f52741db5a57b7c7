"""The graph store: facts, names and literals on memory-mapped arrays, asked one entity at a time.

`hopwright.knowledge.wikidata.ingest` makes it.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from hopwright.knowledge.wikidata.format import ArrayFile
from hopwright.knowledge.wikidata.layout import OTHER
from hopwright.knowledge.wikidata.own_ids import is_own_id
from hopwright.records import LiteralFact
from hopwright.text.folding import fold, hash_key, loose_key, match_rank

_TYPES: tuple[Literal["decimal", "dateTime", "double", "string"], ...] = (
    "decimal", "dateTime", "double", "string",
)  # fmt: skip
_ARTICLE = "https://www.wikidata.org/wiki/Special:GoToLinkedPage/enwiki/"
# What a description is made of where the corpus gives none: class, occupation, then a place.
_CLASSES = ("P31", "P279", "P106")
_PLACES = ("P17", "P27", "P495", "P131")


@dataclass(frozen=True, slots=True)
class EntityCandidate:
    """An entity that a name may mean."""

    id: str
    label: str
    description: str
    degree: int
    by_label: bool


@dataclass(frozen=True, slots=True)
class NameMatch:
    """An entity with a name that agrees with a query; `rank` as in `folding.match_rank`, 0 the strictest."""

    entity: int
    rank: int
    by_label: bool
    degree: int


class GraphStore:
    """Read-only store. Entity ids are `Q…`, property ids `P…`. Unknown ids give empty results.

    A fact that follows from another, as that of a symmetric or an inverse property, is found like one that was
    recorded. Results are sorted by id number, edges by property and then entity. Any number of processes may have it
    open.
    """

    def __init__(self, file: ArrayFile) -> None:
        self._file = file
        self.about: dict[str, Any] = file.about
        self.bytes = file.bytes
        view = file.view
        self._entity_id, self._property_id = view("entity_id"), view("property_id")
        self._out_start, self._out_edge = view("out_start"), view("out_edge")
        self._in_start, self._in_edge = view("in_start"), view("in_edge")
        self._out_derived, self._in_derived = view("out_derived"), view("in_derived")
        self._degree = view("degree")
        self._property_start, self._property_edge = view("property_start"), view("property_edge")
        self._name_first, self._name_count = view("name_first"), view("name_count")
        self._name_start, self._name_blob = view("name_start"), view("name_blob")
        self._name_entity, self._name_index = view("name_entity"), view("name_index")
        self._row_bits = int(self.about["row_bits"])
        self._property_number = {f"P{id}": number for number, id in enumerate(self._property_id)}
        self._property_names = tuple(self._property_number)
        self._has_literals = bool(self.about["has_literals"])
        self._has_texts = bool(self.about["has_descriptions"])
        if self._has_literals:
            self._literal_start, self._literal_property = view("literal_start"), view("literal_property")
            self._literal_type, self._literal_unit = view("literal_type"), view("literal_unit")
            self._value_start, self._value_blob = view("literal_value_start"), view("literal_value_blob")
            self._units = _read_texts(view("unit_start"), view("unit_blob"))
        if self._has_texts:
            self._text_row = view("text_row")
            self._text_start, self._text_blob = view("text_start"), view("text_blob")
        self._property_labels = self._read_property_labels()
        self.number = functools.lru_cache(1 << 16)(self._find_number)
        # Planning and the search for wrong options ask the same of the same few thousand entities.
        self.objects = functools.lru_cache(1 << 16)(self._find_objects)
        self.subjects = functools.lru_cache(1 << 15)(self._find_subjects)
        self.out_edges = functools.lru_cache(1 << 14)(self._read_out_edges)
        self._literals = functools.lru_cache(1 << 11)(self._read_literals)

    @classmethod
    def open(cls, folder: Path) -> GraphStore:
        """Open the store in a folder. Raises StoreError when it is missing, of another version, or damaged.

        A large store is checked by its sizes and its footer only; `verify` reads it whole.
        """
        return cls(ArrayFile(Path(folder)))

    def verify(self) -> None:
        """Check every array against its hash. Raises StoreError naming the damaged one."""
        self._file.verify()

    def array(self, name: str) -> NDArray[Any]:
        """One of the store's arrays, read-only, for bulk work."""
        return self._file.array(name)

    def _find_number(self, id: str) -> int:
        """The dense number of an entity, from 0 in the order of ids; -1 when it is unknown."""
        if id[:1] != "Q":
            return -1
        try:
            wanted = int(id[1:])
        except ValueError:
            return -1
        place = bisect_left(self._entity_id, wanted)
        if place < len(self._entity_id) and self._entity_id[place] == wanted:
            return place
        return -1

    def id_of(self, number: int) -> str:
        """The id of a dense number."""
        return f"Q{self._entity_id[number]}"

    def __contains__(self, id: str) -> bool:
        return self.number(id) >= 0

    def label(self, id: str) -> str:
        """The entity's label, the newest where it was renamed; empty when it has none."""
        number = self.number(id)
        return self._newest_at(number, id) if number >= 0 else ""

    def aliases(self, id: str) -> tuple[str, ...]:
        """The entity's other names, in the corpus's order."""
        number = self.number(id)
        if number < 0:
            return ()
        names = self._names_at(number)
        newest = self._newest_at(number, id)
        return names[1:] if names[:1] == (newest,) else tuple(one for one in names if one != newest)

    def description(self, id: str) -> str:
        """The corpus's description; where it gives none, one made from the entity's class, occupation and
        country.
        """
        number = self.number(id)
        if number < 0:
            return ""
        return self.stored_description(id) or self._describe(number)

    def stored_description(self, id: str) -> str:
        """The corpus's own description (its first 300 bytes), or empty."""
        number = self.number(id)
        row = self._text_row[number] if self._has_texts and number >= 0 else 0
        if not row:
            return ""
        start, stop = self._text_start[row - 1], self._text_start[row]
        return str(self._text_blob[start:stop], "utf-8")

    def page_url(self, id: str) -> str:
        """A link that leads to the entity's English Wikipedia article by its Wikidata id; empty for our own ids."""
        return "" if is_own_id(id) else _ARTICLE + id

    def property_label(self, property: str) -> str:
        """The property's label; empty when it has none."""
        number = self._property_number.get(property)
        return "" if number is None else self._property_labels[number]

    def property_aliases(self, property: str) -> tuple[str, ...]:
        """The property's other names."""
        number = self._property_number.get(property)
        if number is None:
            return ()
        first = self._file.view("property_name_first")[number]
        return tuple(self._property_texts[first + 1 : first + self._file.view("property_name_count")[number]])

    def entities(self) -> Iterator[str]:
        """All entity ids, by number."""
        for id in self._entity_id:
            yield f"Q{id}"

    def properties(self) -> tuple[str, ...]:
        """All property ids, of triplets and of literals, by number."""
        return self._property_names

    def _find_objects(self, subject: str, property: str) -> tuple[str, ...]:
        """All objects of (subject, property, ·)."""
        return self._ends(subject, property, self._out_start, self._out_edge)

    def _find_subjects(self, property: str, object: str) -> tuple[str, ...]:
        """All subjects of (·, property, object)."""
        return self._ends(object, property, self._in_start, self._in_edge)

    def count_subjects(self, property: str, object: str) -> int:
        """How many subjects (·, property, object) has, without reading them."""
        wanted, number = self._property_number.get(property), self.number(object)
        if wanted is None or number < 0:
            return 0
        stop = self._in_start[number + 1]
        first = bisect_left(self._in_edge, wanted << 32, self._in_start[number], stop)
        return bisect_left(self._in_edge, (wanted + 1) << 32, first, stop) - first

    def _read_out_edges(self, subject: str) -> tuple[tuple[str, str], ...]:
        """(property, object) of every triplet that the entity is subject of."""
        return self._row(subject, self._out_start, self._out_edge)

    def in_edges(self, object: str, limit: int | None = None) -> tuple[tuple[str, str], ...]:
        """(property, subject) of every triplet that the entity is object of, or of the first `limit` of
        them.
        """
        return self._row(object, self._in_start, self._in_edge, limit)

    def recorded_out_edges(self, subject: str, limit: int | None = None) -> tuple[tuple[str, str], ...]:
        """As `out_edges`, of what the corpus holds itself and does not follow from other facts; the first `limit`."""
        return self._row(subject, self._out_start, self._out_edge, limit, self._out_derived)

    def recorded_in_edges(self, object: str, limit: int | None = None) -> tuple[tuple[str, str], ...]:
        """As `in_edges`, of what the corpus holds itself and does not follow from other facts; the first `limit`."""
        return self._row(object, self._in_start, self._in_edge, limit, self._in_derived)

    def in_properties(self, object: str) -> list[str]:
        """The distinct properties that the entity is object of, found without reading a hub's every edge."""
        number = self.number(object)
        found: list[str] = []
        if number < 0:
            return found
        place, stop = self._in_start[number], self._in_start[number + 1]
        while place < stop:
            property = self._in_edge[place] >> 32
            found.append(self._property_names[property])
            place = bisect_left(self._in_edge, (property + 1) << 32, place, stop)
        return found

    def out_edges_spread(self, subject: str, most: int) -> tuple[tuple[str, str], ...]:
        """At most so many of `out_edges`, shared evenly among the properties."""
        return self._spread(subject, most, self._out_start, self._out_edge)

    def in_edges_spread(self, object: str, most: int) -> tuple[tuple[str, str], ...]:
        """At most so many of `in_edges`, shared evenly among the properties: a hub's rare facts are there."""
        return self._spread(object, most, self._in_start, self._in_edge)

    def edges(self, property: str) -> tuple[tuple[str, str], ...]:
        """(subject, object) of every triplet of the property as it was recorded, without what follows from others."""
        number = self._property_number.get(property)
        if number is None:
            return ()
        places = self.array("property_edge")[self._property_start[number] : self._property_start[number + 1]]
        return self._edges_at(places[self.array("out_derived")[places] == 0])

    def sample_edges(self, property: str, most: int) -> tuple[tuple[str, str], ...]:
        """At most so many (subject, object) of the property, evenly spread over its triplets."""
        number = self._property_number.get(property)
        if number is None:
            return ()
        start, stop = self._property_start[number], self._property_start[number + 1]
        places = self.array("property_edge")[start : stop : max(-(-(stop - start) // most), 1)]
        return self._edges_at(places)

    def sample_objects(self, property: str, most: int) -> tuple[str, ...]:
        """At most so many distinct objects of the property, evenly spread over its triplets."""
        number = self._property_number.get(property)
        if number is None:
            return ()
        start, stop = self._property_start[number], self._property_start[number + 1]
        step = max((stop - start) // most, 1)
        words = (self._out_edge[self._property_edge[place]] for place in range(start, stop, step))
        return tuple(dict.fromkeys(f"Q{self._entity_id[word & OTHER]}" for word in words))

    def degree(self, id: str) -> int:
        """Number of recorded triplets that the entity is subject of, plus those that it is object of."""
        number = self.number(id)
        return self._degree_at(number) if number >= 0 else 0

    def literals(self, subject: str, property: str = "") -> tuple[LiteralFact, ...]:
        """The entity's literals, by property and then value, as the corpus writes them; of one property if named."""
        found = self._literals(subject)
        return tuple([one for one in found if one.property == property]) if property else found

    def _read_literals(self, subject: str) -> tuple[LiteralFact, ...]:
        number = self.number(subject)
        if number < 0 or not self._has_literals:
            return ()
        start, stop = self._literal_start[number], self._literal_start[number + 1]
        label = self._label_at(number) if start < stop else ""
        return tuple([self._literal_at(row, subject, label) for row in range(start, stop)])

    def literal_subjects(self, property: str) -> tuple[str, ...]:
        """The entities that have a literal of the property."""
        number = self._property_number.get(property)
        if number is None or not self._has_literals:
            return ()
        bounds = self._file.view("literal_property_start")
        rows = self.array("literal_by_property")[bounds[number] : bounds[number + 1]]
        subjects = self.array("literal_start").searchsorted(rows, side="right") - 1
        ids = self.array("entity_id")[subjects].tolist()
        return tuple(f"Q{id}" for id in dict.fromkeys(ids))

    def find(self, name: str) -> tuple[EntityCandidate, ...]:
        """The entities that a name may mean: those named so by label before those by alias, then the better
        connected.

        Case and Unicode variants always match. Only when nothing matches so are diacritics and punctuation
        ignored, and only when that gives nothing either, a leading English article and a bracketed
        disambiguator.
        """
        return tuple(
            EntityCandidate(
                id := self.id_of(match.entity),
                self._label_at(match.entity),
                self.description(id),
                match.degree,
                match.by_label,
            )
            for match in self.matches(name)
        )

    def matches(self, name: str) -> list[NameMatch]:
        """As `find`, without reading labels and descriptions; every match has the same, best rank."""
        found = self._lookup(name)
        if not found:
            return []
        best = min(rank for rank, _ in found.values())
        matches = [
            NameMatch(entity, rank, by_label, self._degree_at(entity))
            for entity, (rank, by_label) in found.items()
            if rank == best
        ]
        return sorted(matches, key=_order)

    def bearers(self, name: str, *, by_label: bool = False) -> tuple[str, ...]:
        """The ids of `matches`, in order; with `by_label`, of those whose label the name is."""
        return tuple(self.id_of(match.entity) for match in self.matches(name) if match.by_label or not by_label)

    def knows_name(self, name: str) -> bool:
        """Whether any entity has that label or alias, case and Unicode variants aside."""
        folded = fold(name)
        return any(fold(self.name_at(row)) == folded for row in self._rows_of(name))

    def _lookup(self, name: str) -> dict[int, tuple[int, bool]]:
        """Entity → best rank, and whether a label has that rank."""
        found: dict[int, tuple[int, bool]] = {}
        for row in self._rows_of(name):
            rank = match_rank(name, self.name_at(row))
            if rank == 3:
                continue
            entity = self._name_entity[row]
            by_label = row == self._name_first[entity]
            old = found.get(entity)
            if old is None or rank < old[0]:
                found[entity] = (rank, by_label)
            elif rank == old[0] and by_label:
                found[entity] = (rank, True)
        return found

    def _rows_of(self, name: str) -> Iterator[int]:
        key = loose_key(name)
        if not key:
            return
        bits = self._row_bits
        high = hash_key(key) >> bits
        index = self._name_index
        for place in range(bisect_left(index, high << bits), len(index)):
            word = index[place]
            if word >> bits != high:
                return
            yield word & ((1 << bits) - 1)

    def name_at(self, row: int) -> str:
        """The name in a row of the table of names, where an entity's label goes before its aliases."""
        return str(self._name_blob[self._name_start[row] : self._name_start[row + 1] - 1], "utf-8")

    def _names_at(self, number: int) -> tuple[str, ...]:
        first = self._name_first[number]
        return tuple(self.name_at(row) for row in range(first, first + self._name_count[number]))

    def _newest_at(self, number: int, id: str) -> str:
        """The label, or the name that the entity bears since it was renamed, where the corpus has that name, too."""
        newest = read_renamed().get(id)
        return newest if newest and newest in self._names_at(number) else self._label_at(number)

    def _label_at(self, number: int) -> str:
        return self.name_at(self._name_first[number]) if self._name_count[number] else ""

    def _degree_at(self, number: int) -> int:
        return int(self._degree[number])

    def _edges_at(self, places: NDArray[Any]) -> tuple[tuple[str, str], ...]:
        if not len(places):
            return ()
        ids = self.array("entity_id")
        subjects = ids[self.array("out_start").searchsorted(places, side="right") - 1].tolist()
        objects = ids[self.array("out_edge")[places] & OTHER].tolist()
        return tuple((f"Q{s}", f"Q{o}") for s, o in zip(subjects, objects, strict=True))

    def _ends(self, id: str, property: str, starts: memoryview[int], edges: memoryview[int]) -> tuple[str, ...]:
        wanted = self._property_number.get(property)
        number = self.number(id)
        if wanted is None or number < 0:
            return ()
        stop = starts[number + 1]
        first = bisect_left(edges, wanted << 32, starts[number], stop)
        last = bisect_left(edges, (wanted + 1) << 32, first, stop)
        ids = self._entity_id
        return tuple([f"Q{ids[word & OTHER]}" for word in edges[first:last].tolist()])

    def _row(
        self,
        id: str,
        starts: memoryview[int],
        edges: memoryview[int],
        limit: int | None = None,
        left_out: memoryview[int] | None = None,
    ) -> tuple[tuple[str, str], ...]:
        number = self.number(id)
        if number < 0:
            return ()
        ids, names = self._entity_id, self._property_names
        start, stop = starts[number], starts[number + 1]
        if left_out is not None and any(left_out[start:stop]):
            kept = [edges[place] for place in range(start, stop) if not left_out[place]][:limit]
            return tuple([(names[word >> 32], f"Q{ids[word & OTHER]}") for word in kept])
        words = edges[start : stop if limit is None else min(stop, start + limit)].tolist()
        return tuple([(names[word >> 32], f"Q{ids[word & OTHER]}") for word in words])

    def _spread(
        self, id: str, most: int, starts: memoryview[int], edges: memoryview[int]
    ) -> tuple[tuple[str, str], ...]:
        number = self.number(id)
        if number < 0 or most <= 0:
            return ()
        rows: list[list[int]] = []
        place, stop = starts[number], starts[number + 1]
        while place < stop:
            property = edges[place] >> 32
            following = bisect_left(edges, (property + 1) << 32, place, stop)
            rows.append(edges[place : min(following, place + most)].tolist())
            place = following
        left = most
        chosen: list[int] = []
        for index, row in enumerate(sorted(rows, key=len)):  # what short rows leave over, longer ones get
            share = -(-left // (len(rows) - index))
            chosen += row[:share]
            left -= min(share, len(row))
        names = self._property_names
        return tuple((names[word >> 32], self.id_of(word & OTHER)) for word in sorted(chosen))

    def _literal_at(self, row: int, subject: str, label: str) -> LiteralFact:
        property = self._literal_property[row]
        return LiteralFact(
            subject=subject,
            property=self._property_names[property],
            value=str(self._value_blob[self._value_start[row] : self._value_start[row + 1]], "utf-8"),
            unit=self._units[self._literal_unit[row]],
            datatype=_TYPES[self._literal_type[row]],
            subject_label=label,
            property_label=self._property_labels[property],
        )

    @functools.lru_cache(maxsize=4096)  # noqa: B019 — a store lives as long as its process
    def _describe(self, number: int) -> str:
        id = self.id_of(number)
        classes = [self.label(one) for property in _CLASSES for one in self.objects(id, property)]
        if "human" in classes and len(classes) > 1:
            classes.remove("human")
        place = next((self.label(one) for property in _PLACES for one in self.objects(id, property) if one != id), "")
        what = ", ".join(dict.fromkeys(name for name in classes[:3] if name))
        return f"{what} ({place})" if what and place else what or place

    @functools.cached_property
    def _property_texts(self) -> list[str]:
        return _read_texts(self._file.view("property_name_start"), self._file.view("property_name_blob"), 1)

    def _read_property_labels(self) -> list[str]:
        view = self._file.view
        names = self._property_texts
        first, count = view("property_name_first"), view("property_name_count")
        labels = [names[first[i]] if count[i] else "" for i in range(len(self._property_id))]
        if self._has_literals:
            spare = _read_texts(view("literal_label_start"), view("literal_label_blob"))
            labels = [label or other for label, other in zip(labels, spare, strict=True)]
        return labels


def _order(match: NameMatch) -> tuple[bool, int, int]:
    return not match.by_label, -match.degree, match.entity


def _read_texts(start: memoryview[int], blob: memoryview[int], ending: int = 0) -> list[str]:
    whole = bytes(blob)
    return [whole[start[i] : start[i + 1] - ending].decode() for i in range(len(start) - 1)]


@functools.cache
def read_renamed() -> dict[str, str]:
    """Entity → its newest name, of those that were renamed since the corpora that are ingested were made."""
    lines = resources.files(__package__).joinpath("renamed.tsv").read_text("utf-8").splitlines()
    return {entity: name for entity, name, _ in (line.split("\t") for line in lines if not line.startswith("#"))}
