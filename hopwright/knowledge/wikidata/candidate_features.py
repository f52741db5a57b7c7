"""What speaks for an entity being meant by a name, and what against it, as numbers.

They come from the name itself and its brackets, the text around it, the kind and the relation that are asked for, and
what the graph says of the entity. `link_model` has a weight for each.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter

from hopwright.knowledge.wikidata.context import NameContext
from hopwright.knowledge.wikidata.entity_kinds import (
    FAMILIES,
    ExpectedAnswerKind,
    LinkingKind,
    class_nouns,
    head_noun,
    kinds_of,
    kinds_of_noun,
    widen,
)
from hopwright.knowledge.wikidata.name_description import (
    NameDescription,
    compare_alias,
    find_years,
    strip_brackets,
)
from hopwright.knowledge.wikidata.store import GraphStore, NameMatch
from hopwright.text import english
from hopwright.text.folding import fold
from hopwright.text.stems import content_stems

_FAMILIES = dict(zip(("person", "place", "group", "work"), (frozenset({"person"}), *FAMILIES), strict=True))
_GENERAL = frozenset(word for family in ("places", "groups", "works") for word in english.words("families", family))
"""Nouns that say the family alone: a place of birth is no census-designated place."""
_FEW = 5
_NEIGHBOURS = 400
_SECOND = 40
_WITHIN = frozenset({"P131", "P17", "P27", "P30"})
_FORMER = re.compile(r"\b(?:former|historical|ancient|defunct)\b", re.IGNORECASE)
_YEAR_FIRST = re.compile(r"^\W*\d{4}\W+")
_WORD = re.compile(r"\w+")


class CandidateReader:
    """Reads the features of candidates from one store; keeps what it learned about properties and entities."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store

    def fit(self, id: str, wanted: ExpectedAnswerKind, how: str) -> dict[str, float]:
        if not wanted.kinds and not wanted.noun:
            return {}
        if wanted.noun and wanted.noun not in _GENERAL and wanted.noun in class_nouns(self._store, id):
            return {f"noun_{how}": 1.0}
        kinds = self._kinds(id)
        if how == "told" and not class_nouns(self._store, id):
            return {"unclassed_told": 1.0}
        if not kinds or not wanted.kinds:
            return {}
        if kinds & wanted.kinds:
            return {f"kind_{how}": 1.0}
        return {f"other_{how}" if kinds & widen(wanted.kinds) else f"misfit_{how}": 1.0}

    def read_evidence(self, id: str, text: NameContext) -> dict[str, float]:
        mentions = sum(worth for label, worth in self._neighbours(id) if text.mentions(label))
        words = content_stems(self._store.stored_description(id)) - text.name_stems
        nouns = {noun[:5] for noun in class_nouns(self._store, id) if noun not in _GENERAL}
        profile = self._profile(id)
        known = sum(stem in text.stems for stem, _ in profile)
        return {
            "mentions": min(mentions, 4.0),
            "description": len(words & text.stems) / (3.0 + len(words)) if words else 0.0,
            "class_words": float(min(len(nouns & text.stems), 2)),
            "years": float(bool(text.years and self._years(id) & text.years)),
            "size": math.log10(1 + len(profile)),
            "silent": 0.0 if known else math.log10(1 + len(profile)),
        }

    def compare_words(self, rivals: list[tuple[str, NameMatch, dict[str, float]]], text: NameContext) -> None:
        """Add what the words of the text are worth that fit a candidate and few of its rivals."""
        if not text.stems or len(rivals) < 2:
            return
        fitting = [{stem: worth for stem, worth in self._profile(id) if stem in text.stems} for id, _, _ in rivals]
        shared: dict[str, int] = {}
        for stems in fitting:
            for stem in stems:
                shared[stem] = shared.get(stem, 0) + 1
        others = len(rivals) - 1
        for (_, _, features), stems in zip(rivals, fitting, strict=True):
            own = sum(worth * (1.0 - (shared[stem] - 1) / others) for stem, worth in stems.items())
            features["own_words"] = min(own, 3.0)
            features["only"] = float(min(sum(shared[stem] == 1 and worth > 0.045 for stem, worth in stems.items()), 4))
        counts = sorted((len(stems) for stems in fitting), reverse=True)
        for (_, _, features), stems in zip(rivals, fitting, strict=True):
            rest = counts[1] if len(stems) == counts[0] else counts[0]
            features["lead"] = max(min(len(stems) - rest, 3), -3)

    def compare_name(
        self, id: str, match: NameMatch, name: str, said: NameDescription, *, hidden: bool
    ) -> dict[str, float]:
        """How the name fits the candidate's names, and what is said of the name its kind and years.

        `hidden`: a text is given that does not hold the name, so that the name means what the text only refers to.
        """
        kinds = self._kinds(id)
        features = {"found": 1.0}
        for family in (one for one, some in _FAMILIES.items() if kinds & some):
            features |= self._compare_family(family, match, name, said, hidden=hidden)
        features |= self._compare_spelling(id, match, name)
        for noun in said.nouns[:1]:
            features |= self.fit(id, ExpectedAnswerKind(kinds_of_noun(noun), noun), "said")
        if said.stems:
            known = {stem for stem, _ in self._profile(id)} | {noun[:5] for noun in class_nouns(self._store, id)}
            features["words_said"] = len(said.stems & known) / len(said.stems)
            if not said.stems & known and self._store.stored_description(id):
                features["words_other"] = 1.0
        if said.years and (years := self._all_years(id)):
            if said.years & years:
                features["year_said"] = 1.0
            elif all(abs(one - other) > 1 for one in said.years for other in years):  # sources differ by one
                features["other_year_said"] = 1.0
        return features

    def _compare_family(
        self, family: str, match: NameMatch, name: str, said: NameDescription, *, hidden: bool
    ) -> dict[str, float]:
        """The same words and rank tell less of a person than of a place, so each family has its own weights."""
        features = {
            f"is_{family}": 1.0,
            f"words_{family}": min(len(strip_brackets(name).split()), 4) - 2.0,
            f"degree_{family}": math.log10(1 + match.degree),
        }
        if hidden:
            features[f"hidden_{family}"] = 1.0
        if family == "person" and said.longer:
            features["longer"] = 1.0
        if family == "person" and not match.by_label:  # short and full forms of common names are other people's names
            features["alias_person"] = 1.0
        return features

    def _compare_spelling(self, id: str, match: NameMatch, name: str) -> dict[str, float]:
        """Whether the name is the label, or like it, and what speaks against an alias being a name at all."""
        features: dict[str, float] = {}
        bare = fold(strip_brackets(name))
        if not match.by_label:
            features[f"alias_{compare_alias(name, self._store.label(id))}"] = 1.0
            about = self._store.stored_description(id)
            if f" {bare} " in f" {' '.join(_WORD.findall(fold(about)))} ":  # the country that a city is said to lie in
                features["alias_whole"] = 1.0
            if _FORMER.search(about):
                features["alias_former"] = 1.0
        if match.rank:
            features["loose" if match.rank == 1 else "stripped"] = 1.0
        if match.rank == 2:
            names = (self._store.label(id), *self._store.aliases(id))
            if all(fold(strip_brackets(one)) != bare for one in names):
                features["inexact"] = 1.0
        return features

    def compare_relation(self, id: str, relation: str, subject: str) -> dict[str, float]:
        """How common the candidate and its classes are as values of the relation asked for; whether others are told."""
        if not relation:
            return {}
        common = self._store.count_subjects(relation, id)
        features = {"values": math.log10(max(common, 1))}  # a single one tells nothing
        if nouns := self._nouns_of_relation(relation):
            own = class_nouns(self._store, id) or [self._read_noun(id)]
            shares = [nouns.get(one, 0.0) for one in own]
            features["typical"] = math.log10(max(shares, default=0.0) + 0.003)
        subjects = [self._store.id_of(one.entity) for one in self._store.matches(subject)[:_FEW]]
        told = {value for one in subjects for value in self._store.objects(one, relation)}
        if told and id not in told:
            features["other_fact"] = 1.0
        return features

    def has_fact(self, id: str, relation: str, subject: str) -> bool:
        folded = fold(subject)
        return any(
            fold(self._store.label(one)) == folded or folded in map(fold, self._store.aliases(one))
            for one in self._store.subjects(relation, id)[:_NEIGHBOURS]
        )

    @functools.lru_cache(maxsize=2_000)  # noqa: B019
    def kinds_of_relation(self, property: str) -> frozenset[LinkingKind]:
        """The kinds that a tenth or more of the property's values have, among those that tell."""
        counts: dict[LinkingKind, int] = {}
        telling = 0
        for one in self._store.sample_objects(property, 300):
            kinds = self._kinds(one)
            telling += bool(kinds)
            for kind in kinds:
                counts[kind] = counts.get(kind, 0) + 1
        if telling < 5:
            return frozenset()
        return frozenset(kind for kind, count in counts.items() if count * 10 >= telling)

    @functools.lru_cache(maxsize=50_000)  # noqa: B019 — a linker lives as long as its store
    def _kinds(self, id: str) -> frozenset[LinkingKind]:
        return kinds_of(self._store, id) or kinds_of_noun(self._read_noun(id))

    def _read_noun(self, id: str) -> str:
        """The head noun of the entity's description, for entities without a class."""
        return head_noun(_YEAR_FIRST.sub("", self._store.stored_description(id)))

    @functools.lru_cache(maxsize=2_000)  # noqa: B019
    def _nouns_of_relation(self, property: str) -> dict[str, float]:
        """Share of the property's values that each noun of a class names; empty where too few have a class."""
        nouns = [class_nouns(self._store, one) for one in self._store.sample_objects(property, 300)]
        counts = Counter(noun for one in nouns for noun in one)
        classed = sum(map(bool, nouns))
        return {noun: count / classed for noun, count in counts.items()} if classed >= 5 else {}

    def _all_years(self, id: str) -> frozenset[int]:
        return find_years(f"{self._store.stored_description(id)} {' '.join(self._years(id))}")

    @functools.lru_cache(maxsize=20_000)  # noqa: B019
    def _profile(self, id: str) -> tuple[tuple[str, float], ...]:
        """Stems of all that the graph says of an entity; the rarer what says it, the more a stem is worth."""
        found: dict[str, float] = {}
        for label, points in self._neighbours(id):
            for stem in content_stems(label):
                found[stem] = max(found.get(stem, 0.0), points**2)
        for one in self._store.objects(id, "P31"):
            worth = 1.0 / (1.0 + math.log10(1.0 + self._store.degree(one))) ** 2
            for stem in content_stems(self._store.label(one)):
                found[stem] = max(found.get(stem, 0.0), worth)
        for stem in content_stems(self._store.stored_description(id)):
            found[stem] = max(found.get(stem, 0.0), 0.5)
        return tuple(found.items())

    @functools.lru_cache(maxsize=20_000)  # noqa: B019
    def _neighbours(self, id: str) -> tuple[tuple[str, float], ...]:
        """Folded labels of the neighbours, and of the places that those lie in, with what a mention is
        worth.
        """
        found: dict[str, float] = {}
        edges = self._store.recorded_out_edges(id, _NEIGHBOURS)
        near = [one for property, one in edges if property != "P31" and one != id]
        near += [one for _, one in self._store.recorded_in_edges(id, _NEIGHBOURS) if one != id]
        for one in near:
            self._note(found, one, 1.0)
        for one in near[:_SECOND]:
            for property, two in self._store.recorded_out_edges(one, _NEIGHBOURS):
                if property in _WITHIN and two != id:
                    self._note(found, two, 0.5)
        return tuple(found.items())

    def _note(self, found: dict[str, float], one: str, points: float) -> None:
        label = fold(self._store.label(one))
        if len(label) > 2:
            points /= 1.0 + math.log10(1.0 + self._store.degree(one))
            found[label] = max(found.get(label, 0.0), points)

    def _years(self, id: str) -> set[str]:
        dates = (literal for literal in self._store.literals(id) if literal.datatype == "dateTime")
        return {literal.value[:4] for literal in dates}
