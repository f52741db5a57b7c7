"""The moves that a planner can make from an entity, each of them checked against the graph when it is offered."""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple, TypeVar

from hopwright.knowledge.facts import GraphFacts, read_renown
from hopwright.knowledge.properties import EntityProperty, LiteralProperty
from hopwright.knowledge.source import FactSource
from hopwright.planning.expressions import is_later
from hopwright.planning.memory import Memory
from hopwright.planning.open_world import OpenWorld
from hopwright.records.values import BROUGHT_OUT, Scalar
from hopwright.text.matching import contains_alias, pad, telling_words
from hopwright.text.years import name_states_year

_T = TypeVar("_T")

# An entity that so many others point to is a hub: its name is a safe guess, and its neighbourhood says little.
HUB_DEGREE = 400
# Of a hub's incoming edges only so many are looked at; its properties get even shares of them.
MAX_EDGES = 300
# Of a property's facts, or its literals' subjects, at most so many serve as a pool; they are taken evenly over all.
MAX_POOL = 4000
MAX_FACTS = 6000
FEWEST_LISTED = 5
_TURN_OF_YEAR = dt.timedelta(days=90)
"""So long before and after it the year that a book bears is no proof of when it came out."""
_YEARS = re.compile(r"\b\d{4}\b")
FEWEST_JOINT = 2
"""A whole list from which something is chosen has so many members at least."""
FORMER_STATE = "former country"
"""The sort of states that are no more."""
_PLAIN_NAME = re.compile(r"^[^\W_][\w .,'’\-–&!?:/éÉ]*$")

_RECURRING = frozenset({"person", "organization", "team", "work"})
"""What several members of a series are known by. That two cups were won in a city is nothing that they share."""
_REALM = re.compile(r"(?<=[IVX]) of .*$|, .*$")
# Some labels of the sample are other people's notes: `West Africa BENIN Rep`.
_SHOUT = re.compile(r" [A-Z]{5,}\b")


class Edge(NamedTuple):
    """One usable fact: `subject` has exactly one `property`, and it is `object`."""

    subject: str
    property: str
    object: str


class UsableLiteral(NamedTuple):
    """One usable literal of an entity; `entry` is its line of the property table."""

    entity: str
    property: str
    value: Scalar
    entry: LiteralProperty


MOST_YEARS_APART = 14
"""What came out longer before the right one of a list, or after it, is dropped by its date alone."""
_APART = dt.timedelta(days=60)
"""What came out nearer to each other came out the other way round elsewhere, or was made the other way round."""


class WholeList(NamedTuple):
    """All that an entity has of a property, each with its date of `measure`, in the order of these dates."""

    property: str
    measure: str
    dates: tuple[tuple[dt.date, str], ...]

    def __hash__(self) -> int:
        """Of the little by which it is told from almost all others: lists are long, and asked for often."""
        return hash((self.measure, *self.dates[0]))

    def find_date(self, work: str) -> dt.date:
        """When one of it came out."""
        return next(date for date, one in self.dates if one == work)

    def list_near(self, work: str) -> list[tuple[dt.date, str]]:
        """What else of it is not told from one of it by its date alone."""
        own = self.find_date(work).year
        return [dated for dated in self.dates if dated[1] != work and abs(dated[0].year - own) <= MOST_YEARS_APART]


class Recurrence(NamedTuple):
    """The members of a series, in its order, that have the same in one of its columns: two of them at least.

    `first`, `last`: whether either may be asked for; the series has other members before them, or after them.
    """

    series: str
    column: str
    members: tuple[str, ...]
    first: bool
    last: bool


class JointWork(NamedTuple):
    """The first, or the last, of a whole list that its owner made with a partner, who is joined to it by `credit`."""

    owner: str
    whole: WholeList
    credit: str
    partner: str
    largest: bool
    work: str
    works: tuple[str, ...]
    """All that the two made, the earliest first."""

    @property
    def date(self) -> dt.date:
        """When it came out."""
        return self.whole.find_date(self.work)


class NextWork(NamedTuple):
    """What comes right after something, or right before it, in the whole list of its `maker` (a property)."""

    whole: WholeList
    maker: str
    owner: str
    later: bool
    date: dt.date
    work: str


class JointCount(NamedTuple):
    """All works of a whole list that its owner made with a partner."""

    owner: str
    whole: WholeList
    credit: str
    partner: str
    works: tuple[str, ...]


def _are_apart(one: dt.date, other: dt.date) -> bool:
    """Whether it is certain which of two came out first, wherever: two full dates lie some weeks apart."""
    full = all((date.month, date.day) != (1, 1) for date in (one, other))
    return is_later(one, other) is not None and (not full or abs(one - other) >= _APART)


class GraphTraversals:
    """Looks up what can be asked around an entity. Results are cached: a source does not change."""

    def __init__(self, source: FactSource) -> None:
        graph, table = source.graph, source.table
        self.graph = graph
        self.table = table
        self.kinds = source.kinds
        self.facts = GraphFacts(graph, table)
        self.classes = source.completeness
        self.open_world = OpenWorld(graph, table, source.kinds, self.facts)
        self.roles = table.roles
        self._alone = {
            name: (place, entry)
            for place, (name, entry) in enumerate(table.entity.items())
            if entry.reverse == "alone" and (entry.predicate or entry.reverse_np)
        }
        lived = [table.literal[name] for name in (self.roles.birth, self.roles.death) if name in table.literal]
        self.living = frozenset(kind for entry in lived for kind in entry.subject)
        """The kinds of entities that are born, or die."""
        self.makers = (self.roles.made | self.roles.makers) - set(table.credits)
        """What joins a work to those who made it, as an author or a director did."""
        self.needs: dict[str, Callable[[str], bool]] = {}
        """What operations need of the entity that they read (`operations.lookahead`)."""
        self.followed: dict[tuple[str, ...], Memory[str, bool]] = {}
        """What has been found out: whether operations can follow on an entity."""
        self.paired: dict[tuple[str, ...], Memory[tuple[str, str], bool]] = {}
        """What has been found out: whether operations can take two entities together."""
        self.entered: dict[tuple[str, ...], Memory[int, tuple[str, ...]]] = {}
        """What has been found out: the timelines with a holder in a year on whom operations can follow."""
        self.lookups_from = functools.lru_cache(100_000)(self._lookups_from)
        self.lookups_to = functools.lru_cache(20_000)(self._lookups_to)
        self.reverse_from = functools.lru_cache(50_000)(self._reverse_from)
        self.measures = functools.lru_cache(100_000)(self._measures)
        self.nameable = functools.lru_cache(200_000)(self._nameable)
        self.measured = functools.lru_cache(1_000)(self._measured)
        self.alike = functools.lru_cache(2_000)(self._alike)
        self._labels = functools.lru_cache(100_000)(self._read_label)
        self._names = functools.lru_cache(100_000)(self._names_of)
        self.degree = functools.lru_cache(200_000)(graph.degree)
        self.countries = functools.lru_cache(50_000)(self._list_countries)
        self.tokens = functools.lru_cache(200_000)(self._tokens)
        self.standing = Memory(self._find_standing, 200_000)
        self.owner_marks = Memory(self._mark_owner, 200_000)
        """A number for whoever has a work on a list, the same in every run; for anything else, one for itself."""
        """Entity → its degree and the telling words of its name: what decides whether a plan may take it."""
        self.renown = functools.lru_cache(200_000)(functools.partial(read_renown, graph, self.roles.renown))
        self.facts_of = functools.cache(self._sample_facts)
        self.part = functools.lru_cache(50_000)(self._part)
        self._sound = functools.lru_cache(200_000)(self._is_sound)
        self.whole_lists = functools.lru_cache(20_000)(self._list_whole)
        self.joint_works = functools.lru_cache(20_000)(self._list_joint_works)
        self.next_of_lists = functools.lru_cache(20_000)(self._list_next_of_lists)
        self.joint_counts = functools.lru_cache(20_000)(self._list_joint_counts)

    def is_hub(self, entity: str) -> bool:
        """Whether an entity is so connected that naming it gives little away and guessing it is easy."""
        return self.degree(entity) > HUB_DEGREE

    def is_place(self, entity: str) -> bool:
        """Whether an entity is a place, a state or a part of nature."""
        return self.kinds.kind(entity) in ("place", "country", "nature")

    def fits(self, entry: EntityProperty, *, subject: str = "", object: str = "") -> bool:
        """Whether the ends of a fact are of the kinds that its property joins; what is left empty is not asked."""
        return (not subject or self.kinds.kind(subject) in entry.subject) and (
            not object or self.kinds.kind(object) in entry.object
        )

    def is_askable(self, entry: EntityProperty, subject: str) -> bool:
        """Whether the property says one clear thing of subjects of that kind."""
        return not entry.lookup_of or self.kinds.kind(subject) in entry.lookup_of

    @functools.cached_property
    def askable(self) -> tuple[str, ...]:
        """The properties along which something is asked, and of which the graph has facts."""
        entries = self.table.entity.items()
        return tuple(sorted(name for name, entry in entries if entry.lookup and self.graph.sample_edges(name, 1)))

    @functools.cached_property
    def timelines(self) -> dict[str, dict[int, str]]:
        """Timeline → year → its only holder; years with several, or with one that cannot be named, are left out."""
        found: dict[str, dict[int, str]] = {}
        for property, entry in self.table.literal.items():
            if not entry.timeline:
                continue
            held: dict[int, set[str]] = {}
            for entity in self.graph.literal_subjects(property):
                for value in self.facts.scalars(entity, property):
                    if isinstance(value, dt.date):
                        held.setdefault(value.year, set()).add(entity)
            single = {year: min(holders) for year, holders in sorted(held.items()) if len(holders) == 1}
            found[property] = {year: one for year, one in single.items() if self.nameable(one)}
        return found

    @functools.cached_property
    def series(self) -> dict[str, tuple[str, ...]]:
        """The property of the places in a series → its members in order; a series with a gap is left out."""
        found: dict[str, tuple[str, ...]] = {}
        for property, entry in self.table.literal.items():
            if not entry.series:
                continue
            places = {
                place: entity
                for entity in self.graph.literal_subjects(property)
                for place in self.facts.scalars(entity, property)
            }
            if places and sorted(places, key=str) == sorted(range(1, len(places) + 1), key=str):
                found[property] = tuple(places[place] for place in range(1, len(places) + 1))
        return found

    @functools.cached_property
    def places(self) -> dict[str, dict[str, int]]:
        """Entity → the series that it is a member of, by the property of the places, and its place from 1 on."""
        found: dict[str, dict[str, int]] = {}
        for property, members in self.series.items():
            for place, member in enumerate(members, start=1):
                found.setdefault(member, {})[property] = place
        return found

    @functools.cached_property
    def series_columns(self) -> dict[str, dict[str, list[Edge]]]:
        """The property of the places in a series → its columns → the facts there by which one member alone is found."""
        found: dict[str, dict[str, list[Edge]]] = {}
        for series, members in self.series.items():
            for edge in itertools.chain.from_iterable(self._iter_ways_to(series, member) for member in members):
                found.setdefault(series, {}).setdefault(edge.property, []).append(edge)
        return found

    def _iter_ways_to(self, series: str, member: str) -> Iterator[Edge]:
        """The facts of a series by which one of its members, and no other, is found."""
        for column, value in sorted(self.graph.out_edges(member)):
            entry = self.table.entity.get(column)
            if entry is not None and entry.series == series and self.nameable(value):
                yield from (edge for edge in self.reverse_from(value) if edge.property == column)

    @functools.cached_property
    def recurrences(self) -> dict[str, tuple[Recurrence, ...]]:
        """What several members of a series have in a column of which every value is known → those members."""
        found: dict[str, list[Recurrence]] = {}
        for series, members in self.series.items():
            for column, entry in self.table.entity.items():
                if entry.series != series or not entry.ends or _RECURRING.isdisjoint(entry.object):
                    continue
                held = [self.graph.objects(member, column) for member in members]
                counts = Counter(one for objects in held for one in objects)
                for value in sorted(one for one, count in counts.items() if count > 1):
                    places = [place for place, objects in enumerate(held) if value in objects]
                    own = tuple(members[place] for place in places)
                    # Who is told of no winner of a year does not know that it was nobody's first title.
                    before, after = held[: places[0]], held[places[-1] + 1 :]
                    sides = (
                        entry.ends != "last" and bool(before) and all(before),
                        entry.ends != "first" and bool(after) and all(after),
                    )
                    if value not in entry.avoid and self.nameable(value) and all(map(self.nameable, own)):
                        found.setdefault(value, []).append(Recurrence(series, column, own, *sides))
        return {value: tuple(recurring) for value, recurring in found.items()}

    @functools.cached_property
    def list_owners(self) -> frozenset[str]:
        """The entities of which the source has a whole list (see `whole_lists`)."""
        owners = {subject for name in self.table.lists for subject, _ in self.graph.sample_edges(name, MAX_FACTS)}
        return frozenset(one for one in owners if self.whole_lists(one))

    def _part(self, whole: WholeList, when: Scalar) -> tuple[tuple[tuple[dt.date, str], ...], ...]:
        """What of a list lies before a moment and what after it; nothing where one side is empty or not certain."""
        later = [(is_later(one[0], when), one) for one in whole.dates]
        sides = {side: tuple(one for found, one in later if found is side) for side in (False, True)}
        same = [one for one in whole.dates if one[0] == when and isinstance(when, dt.date)]
        if not all(sides.values()) or len(whole.dates) != sum(map(len, sides.values())) + len(same):
            return ()  # of some it is not known whether they came before or after
        least = self.table.literal[whole.measure].distance
        if any((one.month, one.day) == (1, 1) and _is_near(one.year, when, least) for one, _ in whole.dates):
            return ()  # books that came out at the turn of a year are dated either way
        return sides[False], sides[True]

    def differ(self, property: str, one: Scalar, other: Scalar) -> bool:
        """Whether two values are apart by the property's margin, so that a comparison stays true."""
        if isinstance(one, dt.date) and isinstance(other, dt.date):
            # A date of 1 January may stand for a bare year, so only different years are comparable.
            return one.year != other.year
        if isinstance(one, dt.date) or isinstance(other, dt.date):
            return False
        return self.table.differ(property, Decimal(one), Decimal(other))

    def _reverse_from(self, entity: str) -> tuple[Edge, ...]:
        """Facts (x, property, entity) where x is the only subject, of properties whose reverse holds in reality."""
        found = []
        told = self._alone.keys() & self.graph.in_properties(entity)
        for property in sorted(told, key=self._alone.__getitem__) if len(told) > 1 else told:
            _, entry = self._alone[property]
            if not entry.series and not self.classes.allows_reverse(property):
                continue
            subjects = self.graph.subjects(property, entity)
            if len(subjects) != 1 or subjects[0] == entity or not self.nameable(subjects[0]):
                continue
            # A subject with several values (the former capitals of a country) is not meant by any one of them.
            if len(self.graph.objects(subjects[0], property)) == 1 and self._sound(property, subjects[0], entity):
                found.append(Edge(subjects[0], property, entity))
        return tuple(found)

    def _lookups_from(self, entity: str) -> tuple[Edge, ...]:
        by_property: dict[str, list[str]] = {}
        for property, object in self.graph.out_edges(entity):
            by_property.setdefault(property, []).append(object)
        found = []
        for property, objects in by_property.items():
            entry = self.table.entity.get(property)
            if entry is None or not entry.lookup or len(objects) != 1:
                continue
            object = objects[0]
            if self._sound(property, entity, object) and self.nameable(object):
                found.append(Edge(entity, property, object))
        return tuple(found)

    def _lookups_to(self, entity: str) -> tuple[Edge, ...]:
        incoming = self.graph.in_edges_spread(entity, MAX_EDGES)
        found = []
        for property, subject in incoming:
            entry = self.table.entity.get(property)
            if entry is None or not entry.lookup:
                continue
            if not self._sound(property, subject, entity) or not self.nameable(subject) or self.is_hub(subject):
                continue
            if len(self.graph.objects(subject, property)) == 1:
                found.append(Edge(subject, property, entity))
        return tuple(found)

    def _is_sound(self, property: str, subject: str, object: str) -> bool:
        """Whether a fact joins what its property joins, and is not one of those known to mislead."""
        entry = self.table.entity[property]
        if (subject, property, object) in self.table.misleading:
            return False
        if property in self.table.credits and any(
            other != property and end == object for other, end in self.graph.out_edges(subject)
        ):
            return False  # who directed what he wrote is not asked for as its writer
        if subject == object or subject in entry.avoid or not self.fits(entry, subject=subject, object=object):
            return False
        # A former state had capitals and heads; present tense and a single answer do not fit it.
        if self.kinds.sort(subject) == FORMER_STATE or (
            property in self.roles.ended_with_state | self.roles.within and self.kinds.sort(object) == FORMER_STATE
        ):
            return False
        if not self.is_askable(entry, subject):
            return False
        if entry.avoid_nouns and not set(self.kinds.noun(subject).split()).isdisjoint(entry.avoid_nouns):
            return False
        if self.gives_away(subject, object):
            return False
        if property in self.roles.adapted and self.gives_away(object, subject):
            return False  # the film "Ben-Hur" is based on "Ben-Hur: A Tale of the Christ"
        required = entry.object_class.get(self.kinds.kind(subject))
        return required is None or required in self.graph.objects(object, self.roles.instance_of)

    def _list_whole(self, entity: str) -> tuple[WholeList, ...]:
        """The whole lists of an entity of which every member has its date."""
        found = []
        told = {property for property, _ in self.graph.out_edges(entity)}
        for property in self.table.lists:
            if property not in told:
                continue
            members = self.graph.objects(entity, property)
            for measure in self.table.entity[property].ordered_by if len(members) >= FEWEST_LISTED else ():
                dates = [
                    (value, one)
                    for one in members
                    for value in self.facts.scalars(one, measure)[:2]
                    if isinstance(value, dt.date)
                ]
                if len(dates) == len(members):
                    found.append(WholeList(property, measure, tuple(sorted(dates))))
        return tuple(found)

    @functools.cached_property
    def joint_owners(self) -> dict[str, tuple[str, ...]]:
        """Partner → those with whom they made works of a whole list (see `joint_works`)."""
        found: dict[str, list[str]] = {}
        for owner in sorted(self.list_owners):
            for partner in sorted({joint.partner for joint in self.joint_works(owner)}):
                found.setdefault(partner, []).append(owner)
        return {partner: tuple(owners) for partner, owners in found.items()}

    def _list_joint_works(self, owner: str) -> tuple[JointWork, ...]:
        """What the owner of a whole list made first, or last, with each partner, where that is certain.

        Of all that came before it is known with whom it was made; something did, or the partner would not matter. No
        third had the same part in it.
        """
        return tuple(
            JointWork(owner, whole, credit, partner, largest, work, tuple(one for one in held if partner in held[one]))
            for whole, credit, partner, held in self._iter_partners(owner)
            for largest in ((False,) if self.table.entity[whole.property].ends == "first" else (False, True))
            if (work := _find_end(whole, held, partner, largest)) and len(held[work]) == 1
        )

    def _list_next_of_lists(self, work: str) -> tuple[NextWork, ...]:
        """What comes right after a work, and right before it, in the whole lists of whoever made it, where of all of a
        list it is certain on which side it lies.
        """
        found = []
        makers: dict[str, str] = {}
        for maker in sorted(self.makers):
            if len(owners := self.graph.objects(work, maker)) == 1:
                makers.setdefault(owners[0], maker)  # who wrote what he directed is its director
        for owner, maker in makers.items():
            for whole in self.whole_lists(owner):
                when = next((date for date, one in whole.dates if one == work), None)
                if when is None or not self.table.entity[whole.property].brings:
                    continue
                sides = {one: is_later(date, when) for date, one in whole.dates if one != work}
                if None in sides.values():
                    continue
                for later in (True, False):
                    beside = sorted((one for one in whole.dates if sides.get(one[1]) is later), reverse=not later)[:2]
                    days = [when, *(date for date, _ in beside)]
                    if beside and all(map(_are_apart, days, days[1:])):
                        found.append(NextWork(whole, maker, owner, later, *beside[0]))
        return tuple(found)

    def _list_joint_counts(self, owner: str) -> tuple[JointCount, ...]:
        """All that the owner of a whole list made with each partner, where of the whole list it is known with whom."""
        found = []
        for whole, credit, partner, held in self._iter_partners(owner):
            works = tuple(one for _, one in whole.dates if partner in held[one])
            entry = self.table.entity[whole.property]
            if entry.partial or not entry.together_count or not all(held.values()):
                continue
            if any(len(held[one]) > 1 for one in works):
                continue  # whether what a third had a part in counts is open
            if FEWEST_JOINT <= len(works) < len(whole.dates):
                found.append(JointCount(owner, whole, credit, partner, works))
        return tuple(found)

    def _iter_partners(self, owner: str) -> Iterator[tuple[WholeList, str, str, Mapping[str, Sequence[str]]]]:
        """The whole lists of an owner with whom works on them were made, and who had that part in each of the works."""
        for whole in self.whole_lists(owner):
            entry = self.table.entity[whole.property]
            if not entry.together or whole.measure != entry.ordered_by[0]:
                continue
            for credit in self.table.credits:
                if not self.table.entity[credit].joint:
                    continue
                held = {one: self.graph.objects(one, credit) for _, one in whole.dates}
                alone = {objects[0] for objects in held.values() if len(objects) == 1} - {owner}
                besides = self.graph.objects(owner, entry.besides) if entry.besides else ()
                for partner in sorted(alone.difference(besides)):
                    if self.nameable(partner):
                        yield whole, credit, partner, held

    def _list_countries(self, entity: str) -> frozenset[str]:
        """The countries that a person or a work belongs to: that of the birthplace, or of whoever made it."""
        graph, roles = self.graph, self.roles
        if self.kinds.kind(entity) not in BROUGHT_OUT | {"person"}:
            return frozenset()  # who reigned when a company was founded is nothing that anybody asks
        homes = [place for property in roles.homes for place in graph.objects(entity, property)]
        makers = [maker for property in roles.made for maker in graph.objects(entity, property)]
        homes += [place for maker in makers for property in roles.homes for place in graph.objects(maker, property)]
        countries = {country for place in homes for country in graph.objects(place, roles.country)}
        return frozenset(countries)

    def _mark_owner(self, entity: str) -> int:
        makers = (one for maker in sorted(self.makers) for one in self.graph.objects(entity, maker))
        return zlib.crc32(next((one for one in makers if one in self.list_owners), entity).encode())

    def gives_away(self, subject: str, object: str) -> bool:
        """Whether a name of the object stands in the subject's: `The Queen` gives Elizabeth II away."""
        label, padded = self._labels(subject)
        return any(piece in padded and contains_alias(label, padded, name) for name, piece in self._names(object))

    def _read_label(self, entity: str) -> tuple[str, str]:
        """An entity's label, as it is and padded."""
        label = self.graph.label(entity)
        return label, pad(label)

    def _names_of(self, entity: str) -> tuple[tuple[str, str], ...]:
        """The names of an entity, each with what a padded text that holds it has in it."""
        return tuple((name, pad(name)) for name in (self.graph.label(entity), *self.graph.aliases(entity)[:20]))

    def _measures(self, entity: str) -> tuple[UsableLiteral, ...]:
        kind = self.kinds.kind(entity)
        states_year = name_states_year(self.graph.label(entity))
        found = []
        for property in sorted({literal.property for literal in self.graph.literals(entity)}):
            entry = self.table.literal.get(property)
            if entry is None or kind not in entry.subject or entity in entry.avoid or property in self.roles.doubtful:
                continue
            if kind in self.roles.doubtful_of.get(property, ()) or not self.table.is_settled(property, entity, kind):
                continue
            values = self.facts.scalars(entity, property)
            if len(values) != 1 or (states_year and entry.value != "number"):
                continue
            found.append(UsableLiteral(entity, property, values[0], entry))
        return tuple(found)

    def _measured(self, property: str, sort: str) -> tuple[str, ...]:
        return tuple(
            entity
            for entity in self._measured_sorts(property).get(sort, ())
            if self.nameable(entity) and any(measure.property == property for measure in self.measures(entity))
        )

    @functools.cache  # noqa: B019 — the moves live as long as their process
    def _measured_sorts(self, property: str) -> dict[str, list[str]]:
        by_sort: dict[str, list[str]] = {}
        for entity in spread(self.graph.literal_subjects(property), MAX_POOL):
            by_sort.setdefault(self.kinds.sort(entity), []).append(entity)
        return by_sort

    def _alike(self, property: str, sort: str) -> tuple[Edge, ...]:
        return tuple(edge for edge in self.facts_of(property) if self.kinds.sort(edge.subject) == sort)

    def _sample_facts(self, property: str) -> tuple[Edge, ...]:
        """Facts of the property whose subject has no other, taken evenly over all of the graph's."""
        found = []
        for subject, object in self.graph.sample_edges(property, MAX_FACTS):
            if not self._sound(property, subject, object) or not self.nameable(subject) or self.is_hub(subject):
                continue
            if len(self.graph.objects(subject, property)) == 1:
                found.append(Edge(subject, property, object))
        return tuple(found)

    def _find_standing(self, entity: str) -> tuple[int, frozenset[str]]:
        return self.degree(entity), self.tokens(entity)

    def _tokens(self, entity: str) -> frozenset[str]:
        label = self.graph.label(entity)
        if entity in self.places:  # Apollo 14 is told from Apollo 15 by its number, and no question names either
            return telling_words(label) - self._words_of_series
        if self.kinds.kind(entity) == "event" and name_states_year(label):
            return frozenset(_YEARS.findall(label))  # of a series, one is told from another by its year
        # Nicholas I of Russia and Alexander I of Russia share their realm, not their name.
        return telling_words(_REALM.sub("", label) if self.kinds.kind(entity) == "person" else label)

    @functools.cached_property
    def _words_of_series(self) -> frozenset[str]:
        """The words that several members of one series have in their names."""
        words = (
            Counter(word for one in members for word in telling_words(self.graph.label(one)))
            for members in self.series.values()
        )
        return frozenset(word for counts in words for word, count in counts.items() if count > 1)

    def _nameable(self, entity: str) -> bool:
        """Whether a label can stand in a sentence and means one entity only."""
        label = self.graph.label(entity)
        if not 3 <= len(label) <= 60 or not _PLAIN_NAME.match(label) or label.isdigit() or _SHOUT.search(label):
            return False
        kind = self.kinds.kind
        others = [one for one in self.graph.bearers(label, by_label=True) if one != entity]
        # A country is meant rather than a town or a film of its name.
        if any(kind(entity) != "country" or kind(one) == "country" for one in others) and not (
            kind(entity) == "work" and all(self.kinds.noun(one) != self.kinds.noun(entity) for one in others)
        ):  # the opera "Otello" is not the film of that name
            return False
        # A person's name is taken by whoever is called so, not only by whom it is the main name of.
        return kind(entity) != "person" or all(
            one == entity or kind(one) != "person" for one in self.graph.bearers(label)
        )


def _is_near(year: int, when: Scalar, least: Decimal) -> bool:
    """Whether a work that is dated by its year alone may have come out on the other side of a moment.

    `least`: years from which on a date of a year tells; a day tells where it lies far enough from the turn of the year.
    """
    if not isinstance(when, dt.date) or (when.month, when.day) == (1, 1):
        return abs(year - read_year(when)) < least
    turn = _TURN_OF_YEAR if least > 1 else dt.timedelta()
    return dt.date(year, 1, 1) - turn <= when <= dt.date(year, 12, 31) + turn


def read_year(when: Scalar) -> int:
    """The year of a date, or that which a number is."""
    return when.year if isinstance(when, dt.date) else int(when)


def _find_end(whole: WholeList, held: Mapping[str, Sequence[str]], partner: str, largest: bool) -> str:
    """The first, or the last, of a list that a partner had a part in; empty where that is not certain, or idle, and
    where somebody else had the same part in it.
    """
    (date, work), *others = sorted((one for one in whole.dates if partner in held[one[1]]), reverse=largest)
    if not others or is_later(others[0][0], date) is not (not largest) or len(held[work]) > 1:
        return ""
    sides = {one: is_later(when, date) for when, one in whole.dates if one != work}
    if largest not in sides.values():
        return ""  # nothing came before it for certain
    return work if all(held[one] for one, later in sides.items() if later is not (not largest)) else ""


def spread(rows: Sequence[_T], limit: int) -> Sequence[_T]:
    """At most so many of the rows, taken evenly over all."""
    if len(rows) <= limit:
        return rows
    return [rows[index * len(rows) // limit] for index in range(limit)]
