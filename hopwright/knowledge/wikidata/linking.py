"""From a name in a text to an entity of the graph, or to a reason why not.

Candidates are all entities that bear the name. Each is described by a few numbers: whether the name is its
label, how well connected it is, whether it is of the kind that the question or the text asks for, and how
much of the text agrees with what the graph says of it. A logistic choice model over the candidates turns
these into probabilities; when the best is not probable enough, nothing is linked.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from hopwright.knowledge.wikidata.context import NameContext
from hopwright.knowledge.wikidata.entity_kinds import (
    ExpectedAnswerKind,
    LinkingKind,
    class_nouns,
    describe_kind,
    expect,
    kinds_of,
    widen,
)
from hopwright.knowledge.wikidata.store import GraphStore, NameMatch
from hopwright.text.folding import fold
from hopwright.text.stems import content_stems

WEIGHTS: dict[str, float] = {
    "label": 1.0,
    "degree": 0.7,
    "degree_in_text": -0.5,
    "noun_asked": 2.0,
    "kind_asked": 1.0,
    "other_asked": -1.5,
    "fact": 5.0,
    "other_told": -4.9,
    "misfit_told": -1.3,
    "unclassed_told": -0.2,
    "mentions": 2.2,
    "own_words": 1.3,
    "only": 3.5,
    "lead": 1.25,
    "description": 2.1,
    "class_words": 0.7,
    "years": 1.5,
    "silent": -1.1,
    "size": -1.7,
}
"""Log-odds per unit of each feature. Those of the text are fitted on the homonyms of real facts (half of
the names; measured on the other half), with and without descriptions in the store; the rest are set by
hand."""
NEITHER = 3.4
"""Score of the choice that the text does not tell which of several entities is meant, fitted with the
weights.
"""
_POPULARITY = 1.8
"""Added weight of the degree where the text does not describe the name itself: then the better known is
meant.
"""
_PROBABLE = 0.5
_PROBABLE_UNTOLD = 0.9
_MOST = 64
_NEIGHBOURS = 400
_SECOND = 40
_WITHIN = frozenset({"P131", "P17", "P27", "P30"})


@dataclass(frozen=True, slots=True)
class EntityLink:
    """A linked name: the entity, and how probable it is among those that bear the name."""

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
        best = scored[0]
        told = bool(describe_kind(context, used).noun)
        chance = _find_chance(scored, told)
        if chance < (_PROBABLE if told else _PROBABLE_UNTOLD):
            pair = f"{self._show(best.id)} and {self._show(scored[1].id)}"
            return Abstention(f"{len(scored)} candidates, two stay close: {pair}")
        letters = sum(char.isalpha() for char in used)
        weak = best.match.rank == 2 or (not best.match.by_label and letters < 4) or not letters
        if weak and not _has_support(best.features):
            return Abstention(f"{used!r} is too weak a name for {self._show(best.id)} without further evidence")
        return EntityLink(best.id, round(chance, 6))

    def score(self, matches: Sequence[NameMatch], name: str, question: str, context: str) -> list[ScoredCandidate]:
        """The candidates that are of the kind asked for, the best first."""
        asked = expect(question)
        relation, subject = self._read_relation(question)
        if relation:
            asked = ExpectedAnswerKind(asked.kinds | self._kinds_of_relation(relation), asked.noun)
        told = describe_kind(context, name)
        text = NameContext(f"{question} {context}", name)
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
            features["label"] = float(match.by_label)
            features["degree"] = math.log10(1 + match.degree)
            if text.stems and told.noun:
                features["degree_in_text"] = features["degree"]
            if text.stems:
                features |= self._read_evidence(id, text)
            rivals.append((id, match, features))
        self._compare_words(rivals, text)
        scored = [
            ScoredCandidate(id, match, features, _weigh(features, bool(told.noun))) for id, match, features in rivals
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


def _weigh(features: dict[str, float], told: bool) -> float:
    score = sum(WEIGHTS.get(key, 0.0) * value for key, value in features.items())
    return score if told else score + _POPULARITY * features["degree"]


def _find_chance(scored: list[ScoredCandidate], told: bool) -> float:
    """Probability of the first; where a text describes one of several, it competes with `NEITHER` as well."""
    best = scored[0].score
    rest = [math.exp(one.score - best) for one in scored]
    if told and len(scored) > 1:
        rest.append(math.exp(min(NEITHER - best, 50.0)))
    return 1.0 / sum(rest)


def _has_support(features: dict[str, float]) -> bool:
    speaking = (
        "noun_asked",
        "kind_asked",
        "noun_told",
        "kind_told",
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
