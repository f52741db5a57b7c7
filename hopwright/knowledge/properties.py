"""What is known about each property of a source: how it is worded, what it joins, how its literals are read.

The table of a source is data in the source's own folder. All phrases are templates:
`{s}` stands for the noun phrase of the subject, `{o}` for that of the object, `{y}` for a year. The base phrases are
neutral, so that they are right whatever the kinds; `worded` gives the phrases that fit the kinds at hand.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from hopwright.records import Domain, LiteralFact
from hopwright.records.values import EntityKind, Scalar

Reverse = Literal["no", "alone", "joined"]
CHANGING_MARGIN = Decimal("0.2")
"""Values that change are compared only where they lie at least so far apart."""


@dataclass(frozen=True, slots=True)
class PropertyRoles:
    """The part that single properties of a source play, by property id; a role that no property has stays empty.

    Code outside a source's folder never spells an id: it asks for the role.
    """

    instance_of: str = ""
    """From an entity to its classes."""
    gender: str = ""
    """From a person to his or her gender."""
    genders: Mapping[str, Literal["female", "male"]] = field(default_factory=dict)
    """Entities that are genders → how a person of it is spoken of."""
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
    closed_dates: Mapping[str, frozenset[EntityKind]] = field(default_factory=dict)
    """Dates that single out a member of a kind which reference works list in full, by property."""
    rosters: Mapping[EntityKind, frozenset[str]] = field(default_factory=dict)
    """By kind, the conditions that hold of a complete roster of members: no other may single out one of them."""
    containment: frozenset[str] = frozenset()
    """From a part to its whole, where what is in the part is in the whole."""
    holders: frozenset[str] = frozenset()
    """Who holds an office, leads, coaches or owns: the answer is whoever does at the time of asking."""
    neighbours: frozenset[str] = frozenset()
    """From a place to those beside it or around it: shares a border with, lies in, is located at, lies on."""
    loose: frozenset[str] = frozenset()
    """Properties of which a preposition says enough, once the value is named: `the league in the United Kingdom`."""
    relation_words: Mapping[str, str] = field(default_factory=dict)
    """Words by which a wording may say a property, beside its label and its phrases."""
    cues: Mapping[str, str] = field(default_factory=dict)
    """Words that say a relation and are in none of its names, by property; empty where it needs no words."""
    latest_years: Mapping[str, int] = field(default_factory=dict)
    """Dates that cannot be later than a year in a world of adults and finished careers, by property."""
    earliest_years: Mapping[str, int] = field(default_factory=dict)
    """Dates that cannot be earlier than a year, by property: nobody flew into space before there were rockets."""
    release: str = ""
    """The date on which a work was published or released."""
    ties: frozenset[str] = frozenset()
    """From one of several that belong together to what they share: its director, its series, its family."""
    spouse: str = ""
    """From a person to whom he or she married."""
    named_as: Mapping[str, str] = field(default_factory=dict)
    """The noun that says what the object of a property is, or, of a title role's property, the work that has it."""
    lists: frozenset[str] = frozenset()
    """From a whole to each of several that belong together: the cast of a film, the crew of a flight."""
    kinship: frozenset[str] = frozenset()
    """Between two that are closely related: spouses, siblings, teacher and student, a work and its sequel."""
    family: frozenset[str] = frozenset()
    """Of these, between parents, spouses, children, partners and siblings."""
    adapters: frozenset[str] = frozenset()
    """From a film to who made it out of a book: its director, its screenwriters."""
    doubtful: frozenset[str] = frozenset()
    """Dates and numbers on which sources differ: never asked for."""
    doubtful_of: Mapping[str, frozenset[EntityKind]] = field(default_factory=dict)
    """Dates on which sources differ for certain kinds of subject, by property."""
    adapted: frozenset[str] = frozenset()
    """From a work to whose work it goes back to."""
    exact: frozenset[str] = frozenset()
    """Numbers that are the same everywhere and for ever, and may be subtracted from one another."""
    made: frozenset[str] = frozenset()
    """From a work to the only one who made it, as one source lists it."""
    makers: frozenset[str] = frozenset()
    """From a work or a body to others who had a hand in it, whose lives are set beside it."""
    citizenship: str = ""
    """From a person to the countries that he or she is a citizen of."""
    homes: tuple[str, ...] = ()
    """From a person to the places that say of which country he or she was."""
    renown: str = ""
    """How well known something is, rated from 1 (hardly anybody has heard of it) to 5 (nearly all know who made it)."""
    trivial: frozenset[str] = frozenset()
    """Look-ups that anybody can do who knows the subject: a plan that chose nothing just before does not end in one."""
    event_places: Mapping[str, str] = field(default_factory=dict)
    """The date of an event → the property of where it was."""
    seldom: frozenset[str] = frozenset()
    """Properties that say little, or whose values are nested or several: asked for seldom."""
    last_resort: frozenset[str] = frozenset()
    """Look-ups with which a question ends only where nothing that readers would rather know can be asked."""
    crew: frozenset[str] = frozenset()
    """Who worked on a film under its director: they lead to other films, but no question that finds one ends there."""


class PropertyTrust(BaseModel):
    """How far a property's facts may be trusted, and how they hang together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dated: bool
    """The value changes with time: a question about it needs a date, or a distance that no change reverses."""
    symmetric: bool = False
    """A fact stands both ways."""
    inverse: tuple[str, ...] = ()
    """The properties that state the same the other way round."""


@dataclass(frozen=True, slots=True)
class DomainRules:
    """How a hop's knowledge domain follows from its property and its subject.

    The properties of `by_subject` are about whatever their subject is about: the last word of the subject's noun that
    `by_noun` lists decides, then its kind by `by_kind`; every other property has a domain of its own.
    """

    by_subject: frozenset[str] = frozenset()
    by_noun: Mapping[str, Domain] = field(default_factory=dict)
    by_kind: Mapping[str, Domain] = field(default_factory=dict)


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str
    domain: Domain

    def __hash__(self) -> int:
        # Entries are keys of the caches below; hashing every field at each look-up would cost more than it saves.
        return hash(self.label)


class EntityWording(BaseModel):
    """Phrases of an entity property for certain kinds of its ends; a list left empty keeps the base phrases."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: tuple[EntityKind, ...] = ()
    """The kinds it is for; empty for any."""
    object: tuple[EntityKind, ...] = ()
    ask: tuple[str, ...] = ()
    np: tuple[str, ...] = ()
    predicate: tuple[str, ...] = ()
    reverse_np: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    ask_typed: tuple[str, ...] = ()
    np_typed: tuple[str, ...] = ()


class EntityProperty(_Entry):
    """A property whose values are entities.

    `lookup`: with one value in the graph, there is one value in reality (so it may be asked of a subject).
    `reverse`: whether its subject may be asked for: `alone` (a value has one subject in reality, such as a capital),
    `joined` (only together with a second condition), or `no`.
    """

    subject: tuple[EntityKind, ...]
    object: tuple[EntityKind, ...]
    lookup: bool = True
    lookup_of: tuple[EntityKind, ...] = ()
    """The kinds of subject of which it may be asked; empty for all."""
    reverse: Reverse = "no"
    object_class: dict[EntityKind, str] = {}
    """By kind of subject, the class that the object must have: the capital of a country is a capital today."""
    avoid: tuple[str, ...] = ()
    """Subjects whose fact in Wikidata is true only with the qualifiers that triplets lose, and objects that are not to
    be a condition beside a year."""
    avoid_nouns: tuple[str, ...] = ()
    """Words of the nouns of subjects of which it is not asked: a county has a seat, no capital."""
    ask: tuple[str, ...] = ()
    """Full questions for the object: `Who directed {s}?`"""
    np: tuple[str, ...] = ()
    """Noun phrases for the object, good to be nested: `the director of {s}`, `the country where {s} was born`."""
    reverse_np: tuple[str, ...] = ()
    """Noun phrases for the subject, where only this is known of it: `the country whose capital is {o}`."""
    reverse_ask: tuple[str, ...] = ()
    """Full questions for it: `At which FIFA World Cup was {o} the top scorer?`"""
    reverse_told: str = ""
    """The same as a sentence, before what is asked of its neighbour: `{o} was the top scorer at one FIFA World Cup`."""
    scene: str = ""
    """What the object {p} did to the member {s}, as a sentence: `{p} made {s} a cardinal`; of `[A|B]`, B stands where a
    sentence has told of {s}."""
    closes: bool = True
    """Whether a question may end with it, or go on by it from the first or the last of several: who won another event
    of those championships has nothing to do with whom the question is about."""
    series: str = ""
    """Of what is known of the members of a series (`LiteralProperty.series`), the property of their places in it."""
    role: str = ""
    """What the object is to the subject, as a noun: `director`."""
    title: str = ""
    """The same before the object's name, where that is shorter: `the director X` is a work's original director."""
    circles: tuple[str, ...] = ()
    """The circles of a life to which the object belongs: somebody's mother and brother are set beside each other, but
    not their wife and their teacher. Empty for who had a part in a work: all of these go together."""
    both: dict[str, str] = {}
    """What this object and that of another role are together, by that role: `mother` → `the parents of {s}`."""
    told: tuple[str, ...] = ()
    """The fact as a sentence that does not name the object, for what is asked about it: `{s} is based on {n}`."""
    told_role: str = ""
    """What the object is called after that sentence, where this says who it is: `novelist`; empty where it does not."""
    group: tuple[str, ...] = ()
    """What several objects are to their subject, to follow `all`: `in the cast of {s}`."""
    count_ask: tuple[str, ...] = ()
    """Full questions for how many objects a subject has, where all are known: `How many countries border {s}?`"""
    ordered_by: tuple[str, ...] = ()
    """Of a list that holds all that its subject has, such as the operas of a composer, the dates that order it."""
    ends: Literal["", "first", "last", "both"] = ""
    """Whether `the first` and `the last` of it say enough: of novels they do, a first opera may have lain unheard, and
    of those who work still only the first is known."""
    debut: str = ""
    """What the first of it is called: `feature debut`; empty for no such word."""
    partial: bool = False
    """Whether it holds what came in some years only, though of these all: nothing is counted then."""
    member: str = ""
    """One of such a list, to follow `the first`: `opera by {s}`; `group` says the same of several."""
    finale: str = ""
    """What the last of it is called, where that says more than its name: `last feature film as a director`."""
    brings: tuple[str, ...] = ()
    """How its subject brings one of them out, `make` and `made`; empty where nobody asks what came next in it: operas
    are often written long before they are performed.
    """
    collaboration: str = "one"
    """What one of those that two made together was to them, to follow `his last`."""
    together: str = ""
    """One of those that its subject made with a certain partner: `opera that {s} wrote with {o}`; `{part}` stands for
    what the credit says of the partner's part.
    """
    together_told: str = ""
    """The same as a sentence, before a question about the first or the last: `{s} wrote several operas with {o}`."""
    part: str = ""
    """Of a credit, the part that a partner had in what somebody made: `and ridden by {o}`."""
    part_told: str = ""
    """The same after several of them: `that {o} rode`."""
    together_count: str = ""
    """The same as a question for how many there are: `How many operas did {s} write with {o}?`; empty for none."""
    maker: str = ""
    """The property by which a member of such a list has its owner: `director` of feature films."""
    besides: str = ""
    """The property that tells with whom its subject made what is not on the list, such as a part of a film."""
    credit: bool = False
    """Whether its object is a partner in the works of a list: the librettist of a composer's operas."""
    found_by: tuple[str, ...] = ()
    """Other properties by which a plan may find such a partner: who piloted one flight has commanded others."""
    did: str = ""
    """What such a partner did with a work, as a verb: `photographed`; empty where none says it."""
    did_once: str = ""
    """The same of one work, where it is said otherwise: `wrote the screenplay of`."""
    joint: bool = True
    """Whether somebody with this credit is said to have made the work together with its maker."""
    preposition: str = "with"
    """What joins such a partner to what was done together: a team wins `under` its manager."""
    predicate: tuple[str, ...] = ()
    """Finite predicates of the subject: `was directed by {o}`, to follow `Which film …` and `the film that …`."""
    ask_typed: tuple[str, ...] = ()
    """Like `ask`, sharper by the answer's common noun {n}: `In which {n} does {s} lie?`"""
    np_typed: tuple[str, ...] = ()
    called: dict[str, str] = {}
    """Nouns that take another form in these: people are born in a `town or city`, whatever a source calls a city."""
    variants: tuple[EntityWording, ...] = ()
    """Tried in order; the first whose kinds fit replaces the base phrases."""

    def goes_with(self, other: EntityProperty) -> bool:
        """Whether the objects of two properties of one subject belong together."""
        return (not self.circles and not other.circles) or not set(self.circles).isdisjoint(other.circles)

    def worded(self, subject: EntityKind, object: EntityKind, noun: str = "") -> EntityProperty:
        """Return this property with the phrases that fit the kinds of a fact's subject and object.

        With `noun`, the common noun of the object ("Italian province"), the typed phrases take the place of `ask` and
        `np`: one value among nested ones (municipality, province, region) is only the right one with its noun.
        The result's phrases hold `{s}` and `{o}` only.
        """
        return _word_entity(self, subject, object, noun)


class LiteralWording(BaseModel):
    """Phrases of a literal property for certain kinds of subject; a list left empty keeps the base phrases."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    subject: tuple[EntityKind, ...]
    ask: tuple[str, ...] = ()
    np: tuple[str, ...] = ()
    year_ask: tuple[str, ...] = ()
    year_np: tuple[str, ...] = ()
    event: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    less: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    year_predicate: tuple[str, ...] = ()


class LiteralProperty(_Entry):
    """A property whose values are dates or numbers.

    Numbers are normalised as `raw × scale`, rounded to `decimals`. `stable`: the value does not change over the years,
    so it may be an answer; an unstable one (a population) may only be compared, for the kinds of subject that have
    `first` and `last` phrases, and only when the two values differ by at least `margin` (relative).
    """

    value: Literal["date", "year", "number"]
    subject: tuple[EntityKind, ...]
    unit: str = ""
    scale: Decimal = Decimal(1)
    decimals: int = Field(default=0, ge=0, le=3)
    stable: bool = True
    avoid: tuple[str, ...] = ()
    """See EntityProperty."""
    margin: Decimal = Decimal(0)
    distance: Decimal = Decimal(0)
    """How far apart, in the property's unit, two numbers lie that may be compared, whatever their size; of dates of
    which only the year is known, in years."""
    axis: str = ""
    """Of a value that is stored in several rows (a coordinate), the unit of the row that is read: `Latitude`."""
    ask: tuple[str, ...] = ()
    """Full questions for the value (for a date: the full date), the unit named in them."""
    np: tuple[str, ...] = ()
    """Noun phrases for a number: `the number of participants in {s}`."""
    year_ask: tuple[str, ...] = ()
    """For dates and years: `In what year was {s} founded?`"""
    year_np: tuple[str, ...] = ()
    """`the year in which {s} was founded`"""
    event: tuple[str, ...] = ()
    """`the founding of {s}`, to follow `How many years passed between …`."""
    differ: tuple[str, ...] = ()
    """Full questions for the difference of two subjects' numbers, {a} and {b}."""
    ratio: tuple[str, ...] = ()
    """Full questions for the larger number {a} as a multiple of the smaller one {b}, to one decimal place."""
    per: str = ""
    """The property by which this one is divided to make a rate (goals by matches)."""
    rate: tuple[str, ...] = ()
    """Full questions for that rate of {s}, to two decimal places."""
    more: tuple[str, ...] = ()
    """Finite predicates of whichever subject has the larger or later value: `was born later`."""
    less: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    """Noun phrases for the one of two that has the smaller or earlier value: `the older`."""
    last: tuple[str, ...] = ()
    by: str = ""
    """What the superlative of these leaves open: `area`, for `the smallest by area`."""
    to: str = ""
    """The infinitive of the event: `be born`, to follow `the first to`."""
    brought: str = ""
    """What the maker of a thing did then, in the past: `released`; empty for what nobody brings about."""
    year_predicate: tuple[str, ...] = ()
    """Finite predicates for a year: `was founded in {y}`, where {y} is a noun phrase of a year or a number."""
    timeline: str = ""
    """The name of the list by years that the property stands for; empty for all others."""
    holder_ask: tuple[str, ...] = ()
    """Of a timeline, full questions for who or what holds a year {y}: `Which city hosted the Summer Olympics in {y}?`

    A timeline is a list that works of reference give in full: whoever holds a year is the only one who does.
    """
    holder_np: tuple[str, ...] = ()
    """The same as a noun phrase: `the city that hosted the Summer Olympics in {y}`."""
    holders_np: tuple[str, ...] = ()
    """The same of several: `the cities that hosted the Summer Olympics in {y}`."""
    holder_when: str = ""
    """Who holds the year of an event {e} (`X was born`), where nobody would say the year."""
    holder_told: str = ""
    """The same as a sentence before the question: `X was born during the reign of a French monarch`."""
    realm: str = ""
    """Of a timeline of those who ruled or led a country, that country: only its own people and works lead to it."""
    holder_noun: str = ""
    """What a person who holds a year is called when meant again: `president`."""
    share: str = ""
    """Of a timeline, what is given in it, where several things are given together: `Best Actor`."""
    together_np: tuple[str, ...] = ()
    """Those who got several such things {a} in a year {y}: `the winners of {a} at the ceremony held in {y}`."""
    series: str = ""
    """Of the place in a series, such as the FIFA World Cups, what one member of it is called; empty for all others.

    A series is in an order that nobody disputes, and without a gap: each member but the last has one that follows.
    """
    series_short: str = ""
    """What a member is called where a sentence has told of it: `that final`."""
    variants: tuple[LiteralWording, ...] = ()

    def worded(self, subject: EntityKind) -> LiteralProperty:
        """Return this property with the phrases that fit the kind of its subject."""
        return _word_literal(self, subject)

    def is_comparable(self, subject: EntityKind) -> bool:
        """Whether subjects of a kind may be compared by it; a number that changes needs `first` and `last` for them."""
        worded = self.worded(subject)
        return bool(worded.more and worded.less and (self.stable or (worded.first and worded.last)))


# Nouns that say too little to stand in a typed phrase.
_VAGUE = frozenset({"thing", "class", "natural feature", "transport link", "event", "work", "place", "organisation"})


@functools.lru_cache(maxsize=16_384)
def _word_entity(entry: EntityProperty, subject: EntityKind, object: EntityKind, noun: str) -> EntityProperty:
    chosen: dict[str, tuple[str, ...]] = {}
    for variant in entry.variants:
        if (not variant.subject or subject in variant.subject) and (not variant.object or object in variant.object):
            chosen = _phrases(variant)
            break
    if noun and noun not in _VAGUE:
        # Nobody is asked for the Polish city in which somebody was born: it is the only Polish one among the options.
        noun = entry.called.get(noun) or entry.called.get(noun.rpartition(" ")[2]) or noun
        for plain, typed in (("ask", "ask_typed"), ("np", "np_typed")):
            # A variant's own plain phrases are nearer to the fact than the typed phrases of the base.
            templates = chosen.get(typed) or (() if plain in chosen else getattr(entry, typed))
            if templates:
                chosen[plain] = tuple(template.replace("{n}", noun) for template in templates)
    return entry.model_copy(update={**chosen, "ask_typed": (), "np_typed": (), "variants": ()})


@functools.lru_cache(maxsize=1024)
def _word_literal(entry: LiteralProperty, subject: EntityKind) -> LiteralProperty:
    for variant in entry.variants:
        if subject in variant.subject:
            return entry.model_copy(update={**_phrases(variant), "variants": ()})
    return entry


def _phrases(variant: EntityWording | LiteralWording) -> dict[str, tuple[str, ...]]:
    return {
        name: value
        for name in type(variant).model_fields
        if name not in ("subject", "object") and (value := getattr(variant, name))
    }


class PropertyTable:
    """All properties of a source that Hopwright can word, and the roles that they play."""

    def __init__(
        self,
        entity: dict[str, EntityProperty],
        literal: dict[str, LiteralProperty],
        misleading: frozenset[tuple[str, str, str]] = frozenset(),
        roles: PropertyRoles | None = None,
        domains: DomainRules | None = None,
        trust: Mapping[str, PropertyTrust] | None = None,
        settled: Mapping[tuple[str, EntityKind], frozenset[str]] | None = None,
        closed: Mapping[str, Mapping[str, frozenset[str]]] | None = None,
        disputed: Mapping[str, Mapping[str, str]] | None = None,
        continents: Mapping[str, str] | None = None,
        unlisted: Mapping[str, frozenset[int]] | None = None,
    ) -> None:
        self.entity = entity
        self.literal = literal
        self.roles = roles or PropertyRoles()
        self.domains = domains or DomainRules()
        self.trust = trust or {}
        self._settled = settled or {}
        self.closed = closed or {}
        """Property → entity → all that it has of the property, as a work of reference lists it in full."""
        self.disputed = disputed or {}
        """Property → entity → why no one value of it would be accepted by all."""
        self.continents = continents or {}
        """State → its continent, for states that have one."""
        self.unlisted = unlisted or {}
        """Owner of a list → the years of what some would put on it, such as a documentary on a list of films."""
        self.misleading = misleading
        """(subject, property, object) of facts that are never asked for."""
        self.lists = tuple(sorted(name for name, entry in entity.items() if entry.ordered_by))
        """The properties that are whole lists by date (see `EntityProperty.ordered_by`)."""
        self.sources = frozenset(name for name, entry in entity.items() if entry.told_role)
        """What says on whose work something is based: on one of them, and on no other."""
        self.credits = tuple(sorted(name for name, entry in entity.items() if entry.credit))
        """The properties whose objects are partners in the works of such lists (see `EntityProperty.credit`)."""

    def label(self, property: str) -> str:
        """English label, or the id itself for a property that is not in the table."""
        entry = self.entity.get(property) or self.literal.get(property)
        return entry.label if entry is not None else property

    def is_ordered_by(self, listed: str, measure: str) -> bool:
        """Whether a property is a whole list, and a date one of those that order it."""
        entry = self.entity.get(listed)
        return entry is not None and measure in entry.ordered_by

    def is_timeline(self, property: str) -> bool:
        """Whether a property is a list by years of Hopwright's own (see `LiteralProperty.timeline`)."""
        entry = self.literal.get(property)
        return entry is not None and bool(entry.timeline)

    def is_series(self, property: str) -> bool:
        """Whether a property is the place in a series of Hopwright's own (see `LiteralProperty.series`)."""
        entry = self.literal.get(property)
        return entry is not None and bool(entry.series)

    def is_settled(self, property: str, entity: str, kind: EntityKind) -> bool:
        """Whether all sources agree on a date of an entity, as far as the kind of date needs that."""
        known = self._settled.get((property, kind))
        return known is None or entity in known

    def margin(self, property: str) -> Decimal:
        """How far apart, relative to the larger, two numbers lie so that no year and no source reverses them."""
        entry, trust = self.literal[property], self.trust.get(property)
        changes = not entry.stable if trust is None else trust.dated
        return max(entry.margin, CHANGING_MARGIN) if changes else entry.margin

    def differ(self, property: str, one: Decimal, other: Decimal) -> bool:
        """Whether two numbers lie so far apart, by the property's margins, that a comparison of them stays true."""
        apart = abs(one - other)
        least = self.margin(property) * max(abs(one), abs(other))
        return apart > 0 and apart >= max(least, self.literal[property].distance)

    def read(self, literal: LiteralFact) -> Scalar | None:
        """See `normalise`."""
        return self.normalise(literal.property, literal.value, literal.datatype, literal.unit)

    def normalise(self, property: str, value: str, datatype: str, unit: str = "") -> Scalar | None:
        """Read a stored literal as a date or as a number in the property's own unit; None when it cannot be used.

        Dates before year 1 give None, as do a row of a coordinate that is not the property's axis and every property
        that is not in the table.
        """
        entry = self.literal.get(property)
        if entry is None:
            return None
        if entry.value in ("date", "year"):
            if datatype != "dateTime":
                return None
            try:
                return dt.date.fromisoformat(value[:10])
            except ValueError:
                return None
        if datatype != "decimal" and not (entry.axis and datatype == "double"):
            return None
        if entry.axis and unit != entry.axis:
            return None
        try:
            number = round(Decimal(value) * entry.scale, entry.decimals)
        except InvalidOperation:
            return None
        return int(number) if number == number.to_integral_value() else number.normalize()
