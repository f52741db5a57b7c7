"""Facts that only a twin's world has: rivals of what is looked for, and more about what its passages tell of.

A world that exists nowhere may hold more than its original. With rivals, no single condition of a question finds the
answer; with further facts, every passage is long enough that what counts has to be found in it.
"""

from __future__ import annotations

import functools
import math
import random
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import resources
from typing import Any, TypeVar

from hopwright.counterfactual.option_passages import UntoldOption
from hopwright.counterfactual.passage_clauses import VAGUE_NOUNS
from hopwright.counterfactual.passage_frames import find_role, list_properties
from hopwright.counterfactual.passage_phrases import list_role
from hopwright.counterfactual.passages import (
    MOST_CREW,
    HopPassages,
    PassagePlan,
    RivalFact,
    find_redundant,
    list_conditions,
)
from hopwright.counterfactual.real_names import list_series
from hopwright.counterfactual.renamed_entities import AliasSource, NameRules, find_gender
from hopwright.counterfactual.shifts import LAST_YEAR, DateShift, read_year, set_number, shift_date, shift_number
from hopwright.counterfactual.surrogate_names import Gender, SurrogateNameGenerator
from hopwright.counterfactual.twin_wording import strip_proper
from hopwright.knowledge import wikidata
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.confusions import add_alike
from hopwright.records import Hop, Item, LiteralFact, Surrogate, Triplet
from hopwright.records.values import BROUGHT_OUT, EntityKind
from hopwright.text.articles import definite
from hopwright.text.phrases import plain_noun, sentence
from hopwright.wording.rules.rules_writer import EntityNaming

# About so many facts make a passage of at least sixty words; those of works take more words each.
_FACTS = 12
_FACTS_OF_WORKS = (7, 9)
_FACTS_OF_ANIMALS = 11
# A long text counts as so many; so many letters make one.
_LONG = 3
_SENTENCE = 100
_FILM = "film"
_OF_FILMS = frozenset({"director", "writer", "photographer", "editor", "composer", "costumes", "designer", "cast"})
_FIRST_FILMS = 1920
_STORIES = frozenset({"films", "operas"})
# So many are added even where a long list of works stands in a life, and a work has credits enough.
_LEAST = 3
_MODERN = 1850
# What is told of the kind fits all nouns of these, too.
_EXTENDED = frozenset({"organization", "team", "transport"})
_REGNAL = re.compile(r"\b[IVX]+\b")
_DATED = BROUGHT_OUT | {"event", "competition", "transport"}
_PRONOUNS = {
    "he": {"he": "he", "him": "him", "his": "his", "himself": "himself"},
    "she": {"he": "she", "him": "her", "his": "her", "himself": "herself"},
}
_YEAR = re.compile(r"(?<!\d)(?:1[0-9]{3}|20[0-9]{2})(?!\d)")
_SETTLED = frozenset({"municipality", "commune", "settlement", "suburb", "neighbourhood"})
_BUILDINGS = frozenset(
    {
        "museum",
        "theatre",
        "stadium",
        "church",
        "castle",
        "palace",
        "bridge",
        "tower",
        "library",
        "arena",
        "house",
        "site",
    }
)
_REGIONS = frozenset({"province", "prefecture", "county", "region", "department", "district"})


class RivalMaker:
    """Plans passages about the wrong options of reverse look-ups, so that each of them meets the open conditions."""

    def __init__(self, graph: AliasSource, table: PropertyTable, seed: int) -> None:
        self._graph = graph
        self._table = table
        self._seed = seed

    def make(self, item: Item, planned: HopPassages) -> HopPassages:
        """The rivals that no passage tells of yet, by hop, with the original's ids; their facts are invented."""
        rng = random.Random(f"{self._seed}:rivals:{item.id}")
        told = [one for hop in item.hops for one in hop.evidence.literals]
        told += [one for hop in planned for plan in hop for one in plan.literals]
        held = {(one.subject, one.property): one for one in told}
        return tuple(
            tuple(self._complete(item, hop, plans, held, rng)) for hop, plans in zip(item.hops, planned, strict=True)
        )

    def _complete(
        self,
        item: Item,
        hop: Hop,
        planned: Sequence[PassagePlan],
        held: dict[tuple[str, str], LiteralFact],
        rng: random.Random,
    ) -> Iterator[PassagePlan]:
        named, measured = list_conditions(item, hop)
        if not named or not hop.answer_id or (len(named) == 1 and not measured):
            return
        # With a condition on a number, a rival differs in it; without one, it fails one of the others.
        groups = [named] if measured else [[one] for one in named]
        taken = {plan.subject for plan in planned} | {hop.answer_id, *(value for _, value in named)}
        pool = [distractor.id for distractor in hop.distractors if distractor.id and distractor.id not in taken]
        for place, subject in enumerate(pool):
            literals = [one for property in measured for one in self._measure(hop, subject, property, held, rng)]
            held.update({(one.subject, one.property): one for one in literals})
            triplets = tuple(self._state(subject, property, value) for property, value in groups[place % len(groups)])
            label, gender = self._graph.label(subject), find_gender(subject, self._graph)
            yield PassagePlan(subject, label, gender, triplets, tuple(literals), supporting=False)

    def _measure(
        self,
        hop: Hop,
        subject: str,
        property: str,
        held: Mapping[tuple[str, str], LiteralFact],
        rng: random.Random,
    ) -> Iterator[LiteralFact]:
        """A value of the rival, near that of the answer; the one that it has where it is told already."""
        if known := held.get((subject, property)):
            yield known
            return
        like = next(
            (one for one in hop.evidence.literals if (one.subject, one.property) == (hop.answer_id, property)), None
        )
        if like is None:
            return
        if like.datatype == "dateTime":
            year = read_year(like.value) or 1
            steps = [step for step in range(-34, 35) if abs(step) > 2 and 1 <= year + step <= LAST_YEAR]
            value = shift_date(like.value, DateShift(rng.choice(steps), 7))
        else:
            value = shift_number(rng, like.value, gentle=False)
        yield like.model_copy(update={"subject": subject, "subject_label": self._graph.label(subject), "value": value})

    def _state(self, subject: str, property: str, object: str) -> Triplet:
        return Triplet(
            subject=subject,
            property=property,
            object=object,
            subject_label=self._graph.label(subject),
            property_label=self._table.label(property),
            object_label=self._graph.label(object),
        )


_Fact = TypeVar("_Fact", Triplet, LiteralFact)


@dataclass(frozen=True, slots=True)
class _Story:
    """What a work is about in a few words, and what happens in it in two sentences."""

    premise: str
    plot: str


@dataclass(frozen=True, slots=True)
class _Invented:
    name: str
    kind: EntityKind
    noun: str


class FactInventor:
    """Adds invented facts to the plans of one twin's passages; a subject has the same facts in all of them.

    asked: properties that the plan rests on, which are left alone. plans: all that the passages tell already, so that
    nothing contradicts it. names: those of the twin's world; the inventor's own `names` know the invented entities,
    too. genders: of persons whose originals have none in the graph. rivals: what a hop asks of one of a list, told of
    the others as well (`list_rivals`), in the ids of the twin's world.
    """

    def __init__(
        self,
        key: str,
        asked: Set[str],
        plans: Sequence[PassagePlan],
        names: EntityNaming,
        namer: SurrogateNameGenerator,
        rules: NameRules,
        table: PropertyTable,
        ids: Iterator[str],
        genders: Mapping[str, Gender],
        rivals: Mapping[str, Sequence[RivalFact]],
    ) -> None:
        self._key = key
        self._rivals = rivals
        self._shared: dict[str, tuple[Triplet, ...]] = {}
        self._asked = asked
        self._namer = namer
        self._rules = rules
        self._table = table
        self._ids = ids
        self._genders = genders
        self._invented: dict[str, _Invented] = {}
        self._facts: dict[str, list[Triplet | LiteralFact]] = {}
        self._common: dict[tuple[str, str], str] = {}
        self._years: dict[str, list[int]] = {}
        self._told: dict[str, set[str]] = {}
        self._listed: dict[str, Triplet] = {}
        self._decks: dict[str, list[list[str]]] = {}
        self._stories: dict[str, _Story] = {}
        self._heroes: Counter[str] = Counter()
        self._directors: dict[str, str] = {}
        self._callings = {plan.subject: plan.calling for plan in plans if plan.calling}
        for plan in plans:
            for triplet in plan.triplets:
                if triplet.property in table.lists:
                    self._listed[triplet.object] = triplet
                self._told.setdefault(triplet.subject, set()).add(triplet.property)
            for one in plan.literals:
                self._told.setdefault(one.subject, set()).add(one.property)
                if one.datatype == "dateTime" and (year := read_year(one.value)):
                    self._years.setdefault(one.subject, []).append(year)
        self.names: EntityNaming = _WorldNames(names, self._invented)
        self._linked = self._link_years(plans)

    @property
    def world(self) -> tuple[Surrogate, ...]:
        """The invented entities; they stand for nothing in the original."""
        return tuple(Surrogate(original="", surrogate=one.name, id=id) for id, one in self._invented.items())

    def add_facts(self, plan: PassagePlan) -> PassagePlan:
        """The plan with facts of its subject until there are enough."""
        gender = plan.gender or self._genders.get(plan.subject, "")
        calling = plan.calling or self._callings.get(plan.subject, "")
        person = self.names.kind(plan.subject) == "person"
        if person and not calling and strip_proper(self.names.noun(plan.subject)) in VAGUE_NOUNS:
            calling = self._draw_words("callings", random.Random(f"{self._key}:{plan.subject}:calling"))
            self._callings[plan.subject] = calling
        kept = [one for one in plan.triplets if self._suits(one, plan.subject)]
        triplets = [*self._leave_out_death(plan, kept), *self._credit_maker(plan), *self._share(plan)]
        literals = [*self._leave_out_death(plan, plan.literals)]
        if plan.subject not in self._listed and strip_proper(self.names.noun(plan.subject)) == _FILM:
            told = {one.property for one in triplets} | {one.property for one in literals}
            triplets += [self._credit_stranger(plan.subject)] if told.isdisjoint(list_properties("director")) else []
            literals += [self._date(plan.subject)] if told.isdisjoint(list_properties("released")) else []
        wanted = _FACTS
        if self.names.kind(plan.subject) in BROUGHT_OUT:
            wanted = random.Random(f"{self._key}:{plan.subject}:length").randint(*_FACTS_OF_WORKS)
        if self.names.kind(plan.subject) == "animal":
            wanted = _FACTS_OF_ANIMALS
        least = _LEAST if person or self.names.kind(plan.subject) in BROUGHT_OUT else 0
        missing = max(wanted - len(triplets) - len(literals), least)
        for fact in self._invent(plan):
            if missing <= 0:
                break
            if isinstance(fact, Triplet):
                triplets.append(fact)
            else:
                literals.append(fact)
            missing -= _LONG if isinstance(fact, LiteralFact) and len(fact.value) > _SENTENCE else 1
        return replace(plan, gender=gender, calling=calling, triplets=tuple(triplets), literals=tuple(literals))

    def _leave_out_death(self, plan: PassagePlan, facts: Sequence[_Fact]) -> Iterator[_Fact]:
        """The facts without a death that no hop rests on, where a work that the passages date came out later, say."""
        deaths = {*list_role("death")} - self._asked
        died = [read_year(one.value) or LAST_YEAR for one in plan.literals if one.property in deaths]
        until = max(self._list_years(plan), default=0)
        # Of a death in the present year nobody has read.
        known = all(until <= year < LAST_YEAR for year in died)
        yield from (one for one in facts if known or one.property not in deaths)

    def tell_of(self, option: UntoldOption) -> PassagePlan:
        """A plan about somebody or something made up of which a wrong option is true."""
        kind, noun = self.names.kind(option.like), self.names.noun(option.like)
        subject = self._name(kind, noun, option.option, f"{option.property} of")
        self._told[subject] = {option.property}
        triplet = self._state(subject, option.property, option.option)
        gender: Gender = random.Random(f"{self._key}:{subject}").choice(("female", "male")) if kind == "person" else ""
        name, calling = self._invented[subject].name, self._callings.get(option.like, "")
        return PassagePlan(subject, name, gender, (triplet,), (), supporting=False, calling=calling)

    def settle(self, untold: Sequence[UntoldOption]) -> tuple[UntoldOption, ...]:
        """Make the wrong options of a hop the answers for others of its list; return those for which there is no other.

        Where only the right option had to do with the list, nobody would have to look for what is first in it.
        """
        left = []
        free = {subject: self._list_open(subject) for subject in self._rivals}
        for option in untold:
            able = sorted(one for one, rivals in free.items() if any(it.property == option.property for it in rivals))
            if not able:
                left.append(option)
                continue
            subject = random.Random(f"{self._key}:{option.option}").choice(able)
            self._shared[subject] = tuple(
                self._state(subject, one.property, option.option)
                if one.property == option.property
                else self._state_alike(subject, one)
                for one in free.pop(subject)
            )
        return tuple(left)

    def _credit_maker(self, plan: PassagePlan) -> Iterator[Triplet]:
        """Who made a work of a list that a passage tells: of all of them, or the one that tells it would stand out."""
        if (listed := self._listed.get(plan.subject)) is None:
            return
        maker = _load()["list_makers"].get(listed.property, "")
        if maker and all(one.property != maker for one in plan.triplets):
            yield self._state(plan.subject, maker, listed.subject)

    def _suits(self, one: Triplet, subject: str) -> bool:
        """Whether a fact of the original belongs in an article: what no hop asks for is told of a film where articles
        on films have a place for it, and so of a person who is its subject.
        """
        if one.property in self._asked or one.property in self._table.lists:
            return True
        if self.names.kind(subject) == "person":
            return one.subject == subject and bool(find_role(one.property))
        film = strip_proper(self.names.noun(subject)) == _FILM
        return not film or (one.subject == subject and find_role(one.property) in _OF_FILMS)

    def _credit_stranger(self, subject: str) -> Triplet:
        """Who directed a film of nobody's list: no article leaves that out, and it tells nothing of the others."""
        if subject not in self._directors:
            self._directors[subject] = self._name("person", "film director", subject, "director")
        return self._state(subject, list_properties("director")[0], self._directors[subject])

    def _date(self, subject: str) -> LiteralFact:
        """When a film of nobody's list came out: in a year that another film has, or near it."""
        rng = random.Random(f"{self._key}:{subject}:released")
        years = sorted({year for held in self._years.values() for year in held if year > _FIRST_FILMS}) or [1970]
        year = min(rng.choice(years) + rng.randint(-2, 2), LAST_YEAR - 2)
        entry = self._table.literal[self._table.roles.release]
        value = {"value": f"{year:04d}-01-01T00:00:00Z", "datatype": "dateTime", "subject_label": ""}
        return LiteralFact.model_validate(
            {**value, "subject": subject, "property": self._table.roles.release, "property_label": entry.label}
        )

    def _share(self, plan: PassagePlan) -> tuple[Triplet, ...]:
        """What a hop asks of one of a list, for another of it that has no such fact of its own."""
        subject = plan.subject
        if subject not in self._shared:
            self._shared[subject] = tuple(self._state_alike(subject, one) for one in self._list_open(subject))
        return self._shared[subject]

    def _list_open(self, subject: str) -> list[RivalFact]:
        """What hops ask of others of its list, and is not told of one; what is based on a play is based on no novel."""
        told = self._told.get(subject, set())
        if not self._table.sources.isdisjoint(told):
            told = told | self._table.sources
        return [one for one in self._rivals.get(subject, ()) if one.property not in told]

    def _state_alike(self, subject: str, like: RivalFact) -> Triplet:
        """A fact of a subject that is like another's, about something new."""
        kind, noun = self.names.kind(like.object), self.names.noun(like.object)
        return self._state(subject, like.property, self._name(kind, noun, subject, like.property))

    def _state(self, subject: str, property: str, object: str) -> Triplet:
        """A fact without the names of its ends, which the world has."""
        label = self._table.label(property) if property in self._table.entity else property
        return Triplet(
            subject=subject,
            property=property,
            object=object,
            subject_label="",
            property_label=label,
            object_label="",
        )

    def _invent(self, plan: PassagePlan) -> Iterator[Triplet | LiteralFact]:
        """The invented facts of a subject, those drawn already first."""
        subject = plan.subject
        facts = self._facts.setdefault(subject, [])
        rng = random.Random(f"{self._key}:{subject}")
        told = self._told.get(subject, set())
        series = list_series(told, self._table)
        offers = list(_find_sorted_offers(series | told))
        noun = plan.calling or self._callings.get(subject, "") or strip_proper(self.names.noun(subject))
        offers = offers or list(_find_offers(self.names.kind(subject), noun))
        offers = _order(offers, rng)
        sizes = {*list_role("sizes")}
        barred = self._asked | add_alike(told) | (sizes if told & sizes else set())
        barred |= find_redundant(told | self._asked)
        if subject in self._listed:  # whoever has a work on the list made it
            barred = {*barred, *list_role("makers")}
        if series:
            unmarried = _load()["series"]["unmarried"]
            barred = {*barred, *_load()["series"]["barred"], *(id for one in series for id in unmarried.get(one, ()))}
        if series or subject in self._years or _REGNAL.search(self.names.phrase(subject)):
            # A drawn year could contradict a date that is told already, the times of kings, or the others of a series.
            offers = [offer for offer in offers if "birth" not in offer and "founding" not in offer]
        year = self._find_year(subject)
        offers = [one for one in offers if one["property"] not in barred and one.get("unless") not in told]
        offers = [one for one in offers if one.get("since", year) <= year]
        # How somebody photographed a film is told where it is told who did.
        offers = [one for one in offers if "beside" not in one or told & {*list_properties(one["beside"])}]
        offers = self._thin_crew(subject, list(_drop_clashing(offers)))
        sized = next((offer for offer in offers if offer["property"] in sizes), None)
        offers = [offer for offer in offers if offer is sized or offer["property"] not in sizes]
        for place, offer in enumerate(offers):
            if place == len(facts):
                facts.append(self._draw(plan, offer, random.Random(f"{self._key}:{subject}:{place}")))
            yield facts[place]

    def _thin_crew(self, subject: str, offers: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The offers with few of a film's crew beside those that are told already."""
        crew = {*list_role("crew")}
        told = self._told.get(subject, set()) | {one.property for one in self._shared.get(subject, ())}
        free = MOST_CREW + random.Random(f"{self._key}:{subject}:crew").choice((-1, 0, 1)) - len(told & crew)
        kept = []
        for offer in offers:
            free -= offer["property"] in crew
            if free >= 0 or offer["property"] not in crew:
                kept.append(offer)
        return kept

    def _draw_words(self, name: str, rng: random.Random) -> str:
        """Something in words, as few times the same in one world as can be."""
        parts = _load()["words"][name]
        decks = self._decks.setdefault(name, [[] for _ in parts])
        return " ".join(_deal(deck, part, rng) for deck, part in zip(decks, parts, strict=True))

    def _draw_story(self, kind: str, rng: random.Random) -> _Story:
        """What a work is about, and what happens in it, as few times the same in one world as can be."""
        stories: Mapping[str, Sequence[Mapping[str, Any]]] = _load_stories()[kind]
        (situations,) = self._decks.setdefault(kind, [[]])
        situation = _deal(situations, [*stories], rng)
        (plots,) = self._decks.setdefault(f"{kind} {situation}", [[]])
        number = int(_deal(plots, [str(place) for place in range(len(stories[situation]))], rng))
        story = stories[situation][number]
        fewest = min(self._heroes[one] for one in story["heroes"])
        hero = rng.choice([one for one in story["heroes"] if self._heroes[one] == fewest])
        self._heroes[hero] += 1
        called = _load_stories()["protagonists"][hero]
        return _Story(f"{hero} {situation}", _tell_of(called["short"], rng.choice(called["pronouns"]), story["plot"]))

    def _find_year(self, subject: str) -> int:
        """When an event took place, by its dates or its name; now for what has neither."""
        years = [*self._years.get(subject, ()), *map(int, _YEAR.findall(self.names.phrase(subject)))]
        return min(years, default=LAST_YEAR)

    def _draw(self, plan: PassagePlan, offer: Mapping[str, Any], rng: random.Random) -> Triplet | LiteralFact:
        subject = plan.subject
        property = offer["property"]
        if "kind" in offer:
            if "shared" in offer:
                return self._state(subject, property, self._share_name(offer))
            gender = self._find_other_gender(plan, property)
            return self._state(subject, property, self._name(offer["kind"], offer["noun"], subject, property, gender))
        if property not in self._table.literal:  # it stands in passages alone
            words = offer.get("words", "")
            if "after" in offer:
                drawn = self._stories[subject].plot
            elif words in _STORIES:
                drawn = self._stories.setdefault(subject, self._draw_story(words, rng)).premise
            elif words:
                drawn = self._draw_words(words, rng)
            else:
                drawn = str(_draw_number(rng, offer["low"], offer["high"]))
            facts = {"subject": subject, "property": property, "value": drawn}
            facts["datatype"] = "decimal" if "low" in offer else "string"
            return LiteralFact.model_validate({**facts, "subject_label": "", "property_label": property})
        entry = self._table.literal[property]
        value, datatype = "", "decimal"
        if "birth" in offer:
            first = min(self._list_years(plan), default=1998)
            year = min(first - rng.randint(20, 36), 2001)
            value, datatype = f"{year:04d}-{rng.randint(1, 12):02d}-{rng.randint(2, 28):02d}T00:00:00Z", "dateTime"
        elif "founding" in offer:
            first = min(self._list_years(plan), default=1975)
            value, datatype = f"{first - rng.randint(9, 70):04d}-01-01T00:00:00Z", "dateTime"
        else:
            value = set_number("0", entry.scale, Decimal(_draw_number(rng, offer["low"], offer["high"])))
        return LiteralFact.model_validate(
            {
                "subject": subject,
                "property": property,
                "value": value,
                "datatype": datatype,
                "subject_label": "",
                "property_label": entry.label,
            }
        )

    def _link_years(self, plans: Sequence[PassagePlan]) -> dict[str, list[int]]:
        """The years of the works and events that anything is told of, in their names and where their dates are told."""
        linked: dict[str, list[int]] = {}
        for triplet in (one for plan in plans for one in plan.triplets):
            for id, other in ((triplet.subject, triplet.object), (triplet.object, triplet.subject)):
                if self.names.kind(other) in _DATED:
                    years = [year for year in self._years.get(other, ()) if year > _MODERN]
                    years += map(int, _YEAR.findall(self.names.phrase(other)))
                    linked.setdefault(id, []).extend(years)
        return linked

    def _list_years(self, plan: PassagePlan) -> list[int]:
        """The years of the works and events that any passage tells of the subject of a plan."""
        return self._linked.get(plan.subject, [])

    def _share_name(self, offer: Mapping[str, Any]) -> str:
        """What is the same for all members of a series: its organiser, the city in which every race ends."""
        key = (offer["property"], offer["noun"])
        if key not in self._common:
            self._common[key] = self._name(offer["kind"], offer["noun"], "all", offer["property"])
        return self._common[key]

    def _find_other_gender(self, plan: PassagePlan, property: str) -> Gender:
        """The gender of an invented spouse; empty for anybody else, and where nobody knows."""
        others: Mapping[str, Gender] = (
            {"female": "male", "male": "female"} if property == self._table.roles.spouse else {}
        )
        return others.get(plan.gender or self._genders.get(plan.subject, ""), "")

    def _name(self, kind: EntityKind, noun: str, subject: str, property: str, gender: Gender = "") -> str:
        id, key = next(self._ids), f"{self._key}:{subject}:{property}"
        name = self._namer.name(key, "", kind, noun=noun, gender=gender, refuse=self._rules.refuse)
        assert name is not None
        self._rules.use(name)
        self._invented[id] = _Invented(name, kind, noun)
        return id


class _WorldNames:
    """The names of a twin's world with those of invented entities."""

    def __init__(self, names: EntityNaming, invented: Mapping[str, _Invented]) -> None:
        self._names = names
        self._invented = invented

    def phrase(self, entity: str) -> str:
        """See EntityNaming."""
        one = self._invented.get(entity)
        return definite(one.name, one.kind, one.noun) if one else self._names.phrase(entity)

    def noun(self, entity: str) -> str:
        """See EntityNaming."""
        one = self._invented.get(entity)
        return one.noun if one else self._names.noun(entity)

    def kind(self, entity: str) -> EntityKind:
        """See EntityNaming."""
        one = self._invented.get(entity)
        return one.kind if one else self._names.kind(entity)


def _draw_number(rng: random.Random, low: int, high: int) -> int:
    """A number in a range, by its order of magnitude where the range is wide; large ones end in zeros at times."""
    if high < 20 * low:
        return rng.randint(low, high)
    number = round(low * math.pow(high / low, rng.random()))
    return number - number % 10 if number > 10_000 and rng.random() < 0.5 else number


def _find_sorted_offers(known: Set[str]) -> Sequence[Mapping[str, Any]]:
    """What may be told of the members of a series of one sort, by the series or by what is told of them, if any."""
    inventory = _load()
    sorts = (sort for sort, ids in inventory["series"]["sorts"].items() if known & set(ids))
    return next((inventory["sorts"][sort] for sort in sorts), ())


@functools.lru_cache(maxsize=4096)
def _find_offers(kind: EntityKind, noun: str) -> tuple[Mapping[str, Any], ...]:
    inventory = _load()
    words = plain_noun(noun).lower().split()
    last = words[-1] if words else ""
    names = [" ".join(words[start:]) for start in range(len(words))]
    names += ["town"] * (last in _SETTLED) + ["state"] * (last in _REGIONS) + ["building"] * (last in _BUILDINGS)
    found: list[Mapping[str, Any]] = next(
        (inventory["nouns"][name] for name in names if name in inventory["nouns"]), []
    )
    if not found or kind in _EXTENDED:
        known = {offer["property"] for offer in found}
        found = [*found, *(one for one in inventory["kinds"].get(kind, ()) if one["property"] not in known)]
    return tuple(found)


def _drop_clashing(offers: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The offers without those beside which another stands that would say something else of the same."""
    kept: set[str] = set()
    for one in offers:
        if kept.isdisjoint(one.get("apart", ())):
            kept.add(one["property"])
            yield one


def _order(offers: Sequence[Mapping[str, Any]], rng: random.Random) -> list[Mapping[str, Any]]:
    """Offers in a drawn order, each that goes with another right `after` it."""
    ordered = sorted(
        (one for one in offers if "after" not in one), key=lambda offer: rng.random() / offer.get("weight", 1)
    )
    for one in offers:
        if "after" in one:
            (place,) = (place for place, other in enumerate(ordered) if other["property"] == one["after"])
            ordered.insert(place + 1, one)
    return ordered


def _deal(deck: list[str], part: Sequence[str], rng: random.Random) -> str:
    """One of a part that has been dealt as few times as the others of it."""
    if not deck:
        deck.extend(rng.sample(part, len(part)))
    return deck.pop()


def _tell_of(hero: str, pronoun: str, plot: str) -> str:
    """A plot with its protagonist put in for {hero}, {he} and the like; with a capital where the place has one."""
    forms = {"hero": hero, **_PRONOUNS[pronoun]}
    return plot.format(**forms, **{name.capitalize(): sentence(form) for name, form in forms.items()})


@functools.cache
def _load() -> dict[str, Any]:
    found = tomllib.loads(resources.files(wikidata).joinpath("invented_facts.toml").read_text("utf-8"))
    found["words"] |= {name: [told] for name, told in _load_stories()["words"].items()}
    return found


@functools.cache
def _load_stories() -> dict[str, Any]:
    return tomllib.loads(resources.files("hopwright.counterfactual").joinpath("stories.toml").read_text("utf-8"))
