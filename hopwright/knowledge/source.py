"""What planning, wording and checks may ask of a source of facts, whatever it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hopwright.records.values import EntityKind


@dataclass(frozen=True, slots=True)
class PropertyRoles:
    """The part that single properties of a source play, by property id; a role that no property has stays empty.

    Code outside a source's folder never spells an id: it asks for the role.
    """

    instance_of: str = ""
    """From an entity to its classes."""
    country: str = ""
    """From a place, club or body to its country."""
    birth: str = ""
    """The date of a person's birth."""
    death: str = ""
    """The date of a person's death."""
    uninformative: frozenset[str] = frozenset()
    """Facts that lead nowhere: classes, sources, and notes about the database itself."""
    class_like: frozenset[str] = frozenset()
    """Properties whose value says what an entity is, and is worded as a noun (`the film that …`)."""
    series: tuple[str, ...] = ()
    """From an event or a club to the series, the league or the organiser that it belongs to."""
    within: frozenset[str] = frozenset()
    """From a part to the place or the whole that it lies in."""
    ended_with_state: frozenset[str] = frozenset()
    """Ties to a state that its people lose when it ends, and replace by others that the source may not know."""
    repeatable: frozenset[str] = frozenset()
    """Properties of which two values together may single out a subject."""
    lasting: frozenset[str] = frozenset()
    """Numbers that change so slowly that they may be compared where no stable number is known."""
    not_counted: frozenset[str] = frozenset()
    """Relations by which nobody counts: main subject, namesake, and the like."""
    closed_dates: Mapping[str, frozenset[EntityKind]] = field(default_factory=dict)
    """Dates that single out a member of a kind which reference works list in full, by property."""
    rosters: Mapping[EntityKind, frozenset[str]] = field(default_factory=dict)
    """By kind, the conditions that hold of a complete roster of members."""
    holders: frozenset[str] = frozenset()
    """Who holds an office, leads, coaches or owns: the answer is whoever does at the time of asking."""
    neighbours: frozenset[str] = frozenset()
    """From a place to those beside it or around it: shares a border with, lies in, is located at, lies on."""
    latest_years: Mapping[str, int] = field(default_factory=dict)
    """Dates that cannot be later than a year in a world of adults and finished careers, by property."""
    release: str = ""
    """The date on which a work was published or released."""
    ties: frozenset[str] = frozenset()
    """From one of several that belong together to what they share: its director, its series, its family."""
    lists: frozenset[str] = frozenset()
    """From a whole to each of several that belong together: the cast of a film, the crew of a flight."""
    kinship: frozenset[str] = frozenset()
    """Between two that are closely related: spouses, siblings, teacher and student, a work and its sequel."""
    doubtful: frozenset[str] = frozenset()
    """Dates and numbers on which sources differ: never asked for."""
    seldom: frozenset[str] = frozenset()
    """Properties that say little, or whose values are nested or several: asked for seldom."""
