"""What an entity is in plain English: its coarse kind, its common noun, and the sort of things it compares with.

The knowledge is data (`kinds.toml`): what the frequent classes mean, rules over the labels of all others, and what
descriptions and properties say about the entities that have no class.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, cast

from hopwright.knowledge.wikidata.roles import INSTANCE_OF, LEAGUE, MEMBER_OF_TEAM, OCCUPATION, PARTICIPANT_IN
from hopwright.knowledge.wikidata.series import load_series
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records.values import EntityKind
from hopwright.text.articles import article, definite
from hopwright.text.years import name_states_year

__all__ = ["KindIndex", "article", "definite"]

_RULE_RANK = 40
_SERIES_RANK = 62
_SETTLEMENT = re.compile(r"\b(town|municipality|commune|settlement)$")
_TOURNAMENT = re.compile(r"\b(Cup|Championships?|EuroBasket|Euro|Trophy|Olympics)\b")
_OF = re.compile(r"^(?P<head>[\w/’' -]+?) (of|in) (?P<where>(the )?[A-Z].*)$")


@dataclass(frozen=True, slots=True)
class Sense:
    """What one class, description or property makes of an entity."""

    kind: EntityKind
    noun: str
    sort: str
    """Empty in a rule: the head of the matched text."""
    rank: int


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None
    sense: Sense
    keep: bool
    """Whether the text's own words make the noun."""


@dataclass(frozen=True, slots=True)
class _Signature:
    subject: frozenset[str]
    object: frozenset[str]
    sense: Sense


@dataclass(frozen=True, slots=True)
class _Lexicon:
    classes: Mapping[str, Sense]
    former: frozenset[str]
    big: frozenset[str]
    label_rules: tuple[_Rule, ...]
    text_rules: tuple[_Rule, ...]
    name_rules: tuple[_Rule, ...]
    roles: tuple[_Signature, ...]
    team_sport: Mapping[str, str]
    league_sport: Mapping[str, str]
    participant: Mapping[str, str]
    signatures: tuple[_Signature, ...]
    demonym: Mapping[str, str]
    person: Mapping[str, tuple[str, str]]
    occupation: re.Pattern[str]
    definite: frozenset[str]
    """The nouns of series before whose members' names `the` stands."""


class KindIndex:
    """Kinds, nouns and sorts of a graph's entities. Results are cached, for the graph does not change."""

    def __init__(self, graph: GraphStore) -> None:
        self.graph = graph
        self._lexicon = _load()
        self._sense = functools.lru_cache(400_000)(self._find)
        self.kind = functools.lru_cache(400_000)(self._find_kind)
        """The coarse kind; `other` where nothing is known."""
        self.sort = functools.lru_cache(400_000)(self._find_sort)
        """The finer class that siblings and comparable entities share: `settlement`, `county`, `footballer`."""
        self._class_sense = functools.lru_cache(20_000)(self._read_class)

    def _find_kind(self, id: str) -> EntityKind:
        return self._sense(id).kind

    def _find_sort(self, id: str) -> str:
        return self._sense(id).sort

    def noun(self, id: str) -> str:
        """The nearest common noun, singular, without an article: `film`, `Italian municipality`, `cyclist`."""
        return self._sense(id).noun

    def phrase(self, id: str) -> str:
        """The label as it stands in running text, with its article or quotation marks (see `definite`)."""
        sense = self._sense(id)
        if sense.noun in self._lexicon.definite:
            return f"the {self.graph.label(id)}"
        return definite(self.graph.label(id), sense.kind, sense.noun)

    def _find(self, id: str) -> Sense:
        classes = self.graph.objects(id, INSTANCE_OF)
        senses = [self._class_sense(one) for one in classes]
        known = [sense for sense in senses if sense is not None and sense.rank > 0]
        if not known:
            return self._guess(id)
        best = max(known, key=lambda sense: sense.rank)
        if best.kind == "country" and self._lexicon.former.intersection(classes):
            return Sense("country", "former country", "former country", best.rank)
        if best.kind == "person" and best.sort == "person":
            return self._read_person(id, best)
        if best.sort == "settlement" and self._lexicon.big.intersection(classes):
            return Sense(best.kind, _SETTLEMENT.sub("city", best.noun), best.sort, best.rank)
        if best.noun == "sports season" and _TOURNAMENT.search(self.graph.label(id)):
            return Sense(best.kind, "tournament", "tournament", best.rank)
        if best.sort == "edition":
            return self._by_text(id) or best
        return best

    def _read_class(self, id: str) -> Sense | None:
        if id in self._lexicon.classes:
            return self._lexicon.classes[id]
        label = self.graph.label(id)
        return _match(self._lexicon.label_rules, label, self._lexicon.demonym) if label else None

    def _read_person(self, id: str, plain: Sense) -> Sense:
        """A person's occupation: as stated, as described, by the team, or by what the person is to works and races."""
        stated = [self.graph.label(one) for one in self.graph.objects(id, OCCUPATION)]
        for text in (*stated, self.graph.stored_description(id)[:200]):
            if match := self._lexicon.occupation.search(text.lower()):
                noun, sort = self._lexicon.person[match[0]]
                return Sense("person", noun, sort, plain.rank)
        if sport := self._read_sport(id):
            return Sense("person", sport, sport, plain.rank)
        out = [property for property, _ in self.graph.recorded_out_edges(id)]
        into = [property for property, _ in self.graph.recorded_in_edges(id)]
        counts = [
            sum(p in role.subject for p in out) + sum(p in role.object for p in into) for role in self._lexicon.roles
        ]
        if max(counts, default=0) == 0:
            return plain
        noun = self._lexicon.roles[counts.index(max(counts))].sense.noun
        _, sort = self._lexicon.person.get(noun, (noun, noun))
        return Sense("person", noun, sort, plain.rank)

    def _read_sport(self, id: str) -> str:
        """What a sportsperson plays, by teams, league and competitions; empty for others."""
        sorts = [self.sort(team) for team in self.graph.objects(id, MEMBER_OF_TEAM)]
        leagues = " ".join(self.graph.label(league) for league in self.graph.objects(id, LEAGUE))
        sorts += [noun for word, noun in self._lexicon.league_sport.items() if word in leagues]
        for sort in sorts:
            if sort in self._lexicon.team_sport:
                return self._lexicon.team_sport[sort]
        for event in self.graph.objects(id, PARTICIPANT_IN)[:4]:
            if self.sort(event) == "cycling race":
                return "cyclist"
            label = self.graph.label(event)
            for word, sport in self._lexicon.participant.items():
                if word in label:
                    return sport
        return ""

    def _read_team(self, id: str, plain: Sense) -> Sense:
        """A team's sport, by the leagues of its first players."""
        players = (*self.graph.subjects("P647", id)[:5], *self.graph.subjects(MEMBER_OF_TEAM, id)[:5])
        leagues = {league for one in (id, *players) for league in self.graph.objects(one, LEAGUE)}
        words = " ".join(sorted(self.graph.label(league) for league in leagues))
        for word, noun in self._lexicon.league_sport.items():
            if word in words:
                return Sense("team", noun, noun, plain.rank)
        return plain

    def _guess(self, id: str) -> Sense:
        """Of an entity with no telling class: by its description, its name, then its properties."""
        if self.graph.subjects(INSTANCE_OF, id):
            return Sense("other", "class", "class", 0)
        name = self.graph.label(id)
        if sense := self._by_text(id) or _match(self._lexicon.name_rules, name, self._lexicon.demonym):
            return sense
        out = {property for property, _ in self.graph.recorded_out_edges(id)}
        out.update(literal.property for literal in self.graph.literals(id))
        into = {property for property, _ in self.graph.recorded_in_edges(id)}
        for signature in self._lexicon.signatures:
            if signature.subject & out or signature.object & into:
                return self._sharpen(id, signature.sense)
        return Sense("other", "thing", "other", 0)

    def _by_text(self, id: str) -> Sense | None:
        text = self.graph.stored_description(id)[:120]
        sense = _match(self._lexicon.text_rules, text, self._lexicon.demonym) if text else None
        return self._sharpen(id, sense) if sense else None

    def _sharpen(self, id: str, sense: Sense) -> Sense:
        if sense.kind == "person":
            return self._read_person(id, sense)
        if sense.noun == "sports team":
            return self._read_team(id, sense)
        if sense.sort == "cycling race" and not name_states_year(self.graph.label(id)):
            return Sense("competition", sense.noun, sense.sort, sense.rank)
        return sense


def _match(rules: Iterable[_Rule], text: str, demonym: Mapping[str, str]) -> Sense | None:
    for rule in rules:
        match = rule.pattern.search(text)
        if match is None or (rule.unless is not None and rule.unless.search(text)):
            continue
        sense = rule.sense
        if not rule.keep:
            return sense
        own = match.groupdict().get("noun") or text
        noun = _naturalise(own, demonym)
        sort = sense.sort or _OF.sub(r"\g<head>", own).split()[-1]
        return Sense(sense.kind, noun or sense.noun, sort, sense.rank)
    return None


def _naturalise(label: str, demonym: Mapping[str, str]) -> str:
    """Turn a class label into a noun for running text (`municipality of Belgium` → `Belgian municipality`), or ''."""
    label = re.sub(r"\s*\(.*?\)", "", label).replace("administrative territorial entity", "administrative division")
    if match := _OF.match(label):
        head, where = match["head"], match["where"]
        if where in demonym:
            before = "former " if head.startswith("former ") else ""
            return f"{before}{demonym[where]} {head.removeprefix('former ')}"
        label = f"{head} in {where}"
    # Only a short noun with at most a place after it reads well after "which".
    return label if len(label) <= 42 and not re.search(r"[/,&:]| and | or ", label) else ""


@functools.cache
def _load() -> _Lexicon:
    raw = tomllib.loads(resources.files(__package__).joinpath("nouns.toml").read_text("utf-8"))
    person = {phrase: (noun, sort) for phrase, (noun, sort) in raw["person"].items()}
    of_series = {
        id: Sense(kind, noun, noun, _SERIES_RANK) for one in load_series() for id, (kind, noun) in one.classes.items()
    }
    longest_first = sorted(person, key=lambda phrase: (-len(phrase), phrase))
    return _Lexicon(
        classes=of_series
        | {
            id: Sense(cast(EntityKind, kind), noun, sort, rank)
            for id, (kind, noun, sort, rank) in raw["classes"].items()
        },
        former=frozenset(raw["former"]),
        big=frozenset(raw["big"]),
        label_rules=tuple(_read_rule(rule) for rule in raw["label"]),
        text_rules=tuple(_read_rule(rule) for rule in raw["text"]),
        name_rules=tuple(_read_rule(rule) for rule in raw["name"]),
        roles=tuple(_read_signature({"kind": "person", **one}) for one in raw["role"]),
        team_sport=raw["team_sport"],
        league_sport=raw["league_sport"],
        participant=raw["participant"],
        signatures=tuple(_read_signature(one) for one in raw["signature"]),
        demonym=raw["demonym"],
        person=person,
        definite=frozenset(one.place.series for one in load_series() if one.article),
        occupation=re.compile(r"\b(" + "|".join(map(re.escape, longest_first)) + r")\b"),
    )


def _read_rule(raw: dict[str, Any]) -> _Rule:
    unless = raw.get("not")
    return _Rule(
        re.compile(raw["pattern"]), re.compile(unless) if unless else None, _read_sense(raw), raw.get("keep", False)
    )


def _read_signature(raw: dict[str, Any]) -> _Signature:
    return _Signature(frozenset(raw.get("subject", ())), frozenset(raw.get("object", ())), _read_sense(raw))


def _read_sense(raw: dict[str, Any]) -> Sense:
    sort = raw.get("sort", "" if raw.get("keep") else raw["noun"])
    return Sense(raw["kind"], raw["noun"], sort, _RULE_RANK)
