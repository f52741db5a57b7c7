"""From a name in a text to an entity of the graph, or to a reason why not.

Candidates are all entities that bear the name. Each is described by a few numbers: whether the name is its
label, how well connected it is, whether it is of the kind that the question or the text asks for, how often
it and its like are values of the relation asked for, what the name's brackets say, and how much of the text
agrees with what the graph says of it. A logistic choice model (`link_model`) turns these into probabilities of
the candidates and of the outcome that the graph does not hold whoever is meant; when the best candidate is not
probable enough, nothing is linked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hopwright.knowledge.wikidata.candidate_features import CandidateReader
from hopwright.knowledge.wikidata.context import NameContext
from hopwright.knowledge.wikidata.entity_kinds import ExpectedAnswerKind, describe_kind, expect
from hopwright.knowledge.wikidata.link_model import find_chances, weigh
from hopwright.knowledge.wikidata.name_description import describe_name
from hopwright.knowledge.wikidata.store import GraphStore, NameMatch
from hopwright.text.folding import fold

PROBABLE = 0.72
"""A candidate is linked from this probability on."""
_MOST = 64


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
        self._reader = CandidateReader(store)
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
        chances = find_chances([one.score for one in scored], describe_alone(question, len(scored)), told=told)
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
        reader = self._reader
        asked = expect(question)
        relation, subject = self._read_relation(question)
        if relation:
            asked = ExpectedAnswerKind(asked.kinds | reader.kinds_of_relation(relation), asked.noun)
        told = describe_kind(context, name)
        text = NameContext(f"{question} {context}", name)
        said = describe_name(name, context)
        hidden = bool(context) and not question and not said.found
        rivals: list[tuple[str, NameMatch, dict[str, float]]] = []
        for match in matches:
            id = self._store.id_of(match.entity)
            features = reader.fit(id, asked, "asked")
            if relation and subject and reader.has_fact(id, relation, subject):
                features["fact"] = 1.0
            elif "misfit_asked" in features:
                continue
            features.pop("misfit_asked", None)
            features |= reader.fit(id, told, "told")
            features |= reader.compare_name(id, match, name, said, hidden=hidden)
            features |= reader.compare_relation(id, relation, subject)
            features["label"] = float(match.by_label)
            features["degree"] = math.log10(1 + match.degree)
            if text.stems and told.noun:
                features["degree_in_text"] = features["degree"]
            if text.stems:
                features |= reader.read_evidence(id, text)
            rivals.append((id, match, features))
        reader.compare_words(rivals, text)
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

    def _read_relation(self, question: str) -> tuple[str, str]:
        """Property and subject of a question of the form `X >> relation`; empty where there is none."""
        subject, arrow, relation = question.rpartition(">>")
        return (self._relations.get(fold(relation), ""), subject.strip()) if arrow else ("", "")

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


def describe_alone(question: str, candidates: int) -> dict[str, float]:
    """What is known without looking at any candidate, for the outcome that none of them is meant."""
    return {
        "always": 1.0,
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
