"""From a name in a text to an entity of the graph, or to a reason why not.

Candidates are all entities that bear the name. Each is described by a few numbers: whether the name is its
label, how well connected it is, whether it is of the kind that the question or the text asks for, how often
it and its like are values of the relation asked for, what the name's brackets say, and how much of the text
agrees with what the graph says of it. A logistic choice model (`link_model`) turns these into probabilities of
the candidates and of the outcome that the graph does not hold whoever is meant; when the best candidate is not
probable enough, nothing is linked.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hopwright.knowledge.wikidata.context import NameContext
from hopwright.knowledge.wikidata.entity_kinds import (
    FAMILIES,
    ExpectedAnswerKind,
    LinkingKind,
    class_nouns,
    describe_kind,
    expect,
    kinds_of,
    kinds_of_noun,
    widen,
)
from hopwright.knowledge.wikidata.link_model import find_chances, weigh
from hopwright.knowledge.wikidata.name_description import (
    NameDescription,
    compare_alias,
    describe_name,
    find_years,
    strip_brackets,
)
from hopwright.knowledge.wikidata.store import GraphStore, NameMatch
from hopwright.text.folding import fold
from hopwright.text.stems import content_stems

PROBABLE = 0.72
"""A candidate is linked from this probability on."""
_FAMILIES = dict(zip(("person", "place", "group", "work"), (frozenset({"person"}), *FAMILIES), strict=True))
_MOST = 64
_FEW = 5
_NEIGHBOURS = 400
_SECOND = 40
_WITHIN = frozenset({"P131", "P17", "P27", "P30"})


@dataclass(frozen=True, slots=True)
class EntityLink:
    """A linked name: the entity, and how probable it is that the name means it and nobody else, in the graph or not."""

    entity: str
    probability: float


@dataclass(frozen=True, slots=True)
class Abstention:
    """Why a name was not linked."""

    reason: str


@dataclass(frozen=True, slots=True)
class ScoredCandidate:
    """A candidate, its features by name, and whether anything but its name and rank speaks for it."""

    id: str
    match: NameMatch
    features: dict[str, float]
    score: float


class Linker:
    """Links names over one store; keeps what it learned about properties and entities."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._relations = _index_relations(store)

    def link(
        self, name: str, *, aliases: Sequence[str] = (), question: str = "", context: str = ""
    ) -> EntityLink | Abstention:
        """Link a name to one entity.

        `aliases` are other ways to write the name, tried in order when the graph does not know it as it
        stands. `question` is the single-hop question that the name answers, in words or as `X >> relation`;
        `context` any text around it (questions, other answers, supporting paragraphs). Both may be empty.
        """
        if expect(question).literal:
            return Abstention("the question asks for a date or a number, not for an entity")
        matches, used = self._candidates(name, aliases)
        if not matches:
            return Abstention(f"no entity is named {name!r}")
        scored = self.score(matches, used, question, context)
        if not scored:
            found = self._show(self._store.id_of(matches[0].entity))
            return Abstention(f"{len(matches)} candidates, none of the kind asked for (such as {found})")
        told = bool(describe_kind(context, used).noun)
        chances = find_chances([one.score for one in scored], describe_alone(used, question, len(scored)), told=told)
        best, chance = scored[0], chances.candidates[0]
        letters = sum(char.isalpha() for char in used)
        weak = (not best.match.by_label and letters < 4) or not letters
        if weak and not _has_support(best.features):
            return Abstention(f"{used!r} is too weak a name for {self._show(best.id)} without further evidence")
        if chance < PROBABLE:
            if len(scored) == 1 or chances.absent > max(chances.candidates[1], 1.0 - PROBABLE):
                return Abstention(f"{used!r} may well mean none that the graph holds (nearest: {self._show(best.id)})")
            pair = f"{self._show(best.id)} and {self._show(scored[1].id)}"
            return Abstention(f"{len(scored)} candidates, two stay close: {pair}")
        return EntityLink(best.id, round(chance, 6))

    def score(self, matches: Sequence[NameMatch], name: str, question: str, context: str) -> list[ScoredCandidate]:
        """The candidates that are of the kind asked for, the best first."""
        asked = expect(question)
        relation, subject = self._read_relation(question)
        if relation:
            asked = ExpectedAnswerKind(asked.kinds | self._kinds_of_relation(relation), asked.noun)
        told = describe_kind(context, name)
        text = NameContext(f"{question} {context}", name)
        said = describe_name(name, context)
        rivals: list[tuple[str, NameMatch, dict[str, float]]] = []
        for match in matches:
            id = self._store.id_of(match.entity)
            features = self._fit(id, asked, "asked")
            if relation and subject and self._has_fact(id, relation, subject):
                features["fact"] = 1.0
            elif "misfit_asked" in features:
                continue
            features.pop("misfit_asked", None)
            features |= self._fit(id, told, "told")
            features |= self._compare_name(id, match, name, said)
            features |= self._compare_relation(id, match, relation, subject)
            if "alias_unlike" in features or "alias_part" in features:
                features["alias_untypical"] = max(-1.0 - features.get("typical", 0.0), 0.0)
            features["label"] = float(match.by_label)
            features["degree"] = math.log10(1 + match.degree)
            if text.stems and told.noun:
                features["degree_in_text"] = features["degree"]
            if text.stems:
                features |= self._read_evidence(id, text)
            rivals.append((id, match, features))
        self._compare_words(rivals, text)
        scored = [
            ScoredCandidate(id, match, features, weigh(features, told=bool(told.noun)))
            for id, match, features in rivals
        ]
        return sorted(scored, key=_by_score)

    def _candidates(self, name: str, aliases: Sequence[str]) -> tuple[list[NameMatch], str]:
        for one in (name, *(alias for alias in aliases if _is_variant(alias, name))):
            if matches := self._store.matches(one):
                return matches[:_MOST], one
        return [], name

    def _fit(self, id: str, wanted: ExpectedAnswerKind, how: str) -> dict[str, float]:
        if not wanted.kinds and not wanted.noun:
            return {}
        if wanted.noun and wanted.noun in class_nouns(self._store, id):
            return {f"noun_{how}": 1.0}
        kinds = self._kinds(id)
        if how == "told" and not class_nouns(self._store, id):
            return {"unclassed_told": 1.0}
        if not kinds or not wanted.kinds:
            return {}
        if kinds & wanted.kinds:
            return {f"kind_{how}": 1.0}
        return {f"other_{how}" if kinds & widen(wanted.kinds) else f"misfit_{how}": 1.0}

    def _read_evidence(self, id: str, text: NameContext) -> dict[str, float]:
        mentions = sum(worth for label, worth in self._neighbours(id) if text.mentions(label))
        words = content_stems(self._store.stored_description(id)) - text.name_stems
        nouns = {noun[:5] for noun in class_nouns(self._store, id)}
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

    def _compare_words(self, rivals: list[tuple[str, NameMatch, dict[str, float]]], text: NameContext) -> None:
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

    @functools.lru_cache(maxsize=50_000)  # noqa: B019 — a linker lives as long as its store
    def _kinds(self, id: str) -> frozenset[LinkingKind]:
        return kinds_of(self._store, id)

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

    def _compare_name(self, id: str, match: NameMatch, name: str, said: NameDescription) -> dict[str, float]:
        """How the name fits the candidate's label, and what its brackets say the candidate's classes and years."""
        kinds = self._kinds(id)
        features = {"found": 1.0} | {f"is_{name}": 1.0 for name, family in _FAMILIES.items() if kinds & family}
        if not match.by_label:
            features[f"alias_{compare_alias(name, self._store.label(id))}"] = 1.0
        if match.rank:
            features["loose" if match.rank == 1 else "stripped"] = 1.0
        for noun in said.nouns[:1]:
            features |= self._fit(id, ExpectedAnswerKind(kinds_of_noun(noun), noun), "said")
        if said.stems:
            known = {stem for stem, _ in self._profile(id)} | {noun[:5] for noun in class_nouns(self._store, id)}
            features["words_said"] = len(said.stems & known) / len(said.stems)
        if said.years and (years := self._all_years(id)):
            features["year_said" if said.years & years else "other_year_said"] = 1.0
        return features

    def _compare_relation(self, id: str, match: NameMatch, relation: str, subject: str) -> dict[str, float]:
        """How common the candidate and its classes are as values of the relation asked for; whether others are told."""
        if not relation:
            return {}
        common = self._store.count_subjects(relation, id)
        features = {"values": math.log10(1 + common), "degree_asked": math.log10(1 + match.degree)}
        if nouns := self._nouns_of_relation(relation):
            shares = [nouns.get(one, 0.0) for one in class_nouns(self._store, id)]
            features["typical"] = math.log10(max(shares, default=0.0) + 0.003)
        subjects = [self._store.id_of(one.entity) for one in self._store.matches(subject)[:_FEW]]
        values = {value for one in subjects for value in self._store.objects(one, relation)}
        if values and id not in values:
            features["other_fact"] = 1.0
        return features

    @functools.lru_cache(maxsize=2_000)  # noqa: B019
    def _nouns_of_relation(self, property: str) -> dict[str, float]:
        """Share of the property's values that each noun of a class names; empty where too few have a class."""
        nouns = [class_nouns(self._store, one) for one in self._store.sample_objects(property, 300)]
        counts = Counter(noun for one in nouns for noun in one)
        classed = sum(map(bool, nouns))
        return {noun: count / classed for noun, count in counts.items()} if classed >= 5 else {}

    def _all_years(self, id: str) -> frozenset[int]:
        return find_years(f"{self._store.stored_description(id)} {' '.join(self._years(id))}")

    def _has_fact(self, id: str, relation: str, subject: str) -> bool:
        folded = fold(subject)
        return any(
            fold(self._store.label(one)) == folded or folded in map(fold, self._store.aliases(one))
            for one in self._store.subjects(relation, id)[:_NEIGHBOURS]
        )

    def _read_relation(self, question: str) -> tuple[str, str]:
        """Property and subject of a question of the form `X >> relation`; empty where there is none."""
        subject, arrow, relation = question.rpartition(">>")
        return (self._relations.get(fold(relation), ""), subject.strip()) if arrow else ("", "")

    @functools.lru_cache(maxsize=2_000)  # noqa: B019
    def _kinds_of_relation(self, property: str) -> frozenset[LinkingKind]:
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

    def _show(self, id: str) -> str:
        about = self._store.description(id)
        return f"{id} ({about})" if about else id


def _is_variant(alias: str, name: str) -> bool:
    """Whether an alternative answer names the same thing: one word more or less, or the initials.

    Published lists of alternative answers also hold parts of the answer and other things altogether.
    """
    words = [word for word in fold(name).replace("-", " ").split() if word]
    others = [word for word in fold(alias).replace("-", " ").split() if word]
    common = len(set(words) & set(others))
    whole = {*words, *others}
    if 2 * common > len(whole) and len(whole) - common <= 1:
        return True
    initials = "".join(word[0] for word in words if word not in ("of", "the", "and", "for"))
    return len(initials) > 2 and fold(alias).replace(".", "") == initials


def describe_alone(name: str, question: str, candidates: int) -> dict[str, float]:
    """What is known of the name without any candidate, for the outcome that none of them is meant."""
    words = len(strip_brackets(name).split())
    return {
        "always": 1.0,
        "one_word": float(words == 1),
        "many_words": float(words > 2),
        "several": math.log10(candidates),
        "asked": float(bool(question)),
    }


def _has_support(features: dict[str, float]) -> bool:
    speaking = (
        "noun_asked",
        "kind_asked",
        "noun_told",
        "kind_told",
        "noun_said",
        "kind_said",
        "year_said",
        "fact",
        "mentions",
        "description",
        "years",
    )
    return any(features.get(key, 0.0) > 0 for key in speaking)


def _index_relations(store: GraphStore) -> dict[str, str]:
    names: dict[str, str] = {}
    for property in store.properties():
        for alias in store.property_aliases(property):
            names.setdefault(fold(alias), property)
    for property in reversed(store.properties()):
        if label := store.property_label(property):
            names[fold(label)] = property
    return names


def _by_score(one: ScoredCandidate) -> tuple[float, int]:
    return -one.score, one.match.entity
