"""Evidence passages: which facts each of them tells, drawn from the graph, and how rules put them into words.

CofCA (section 3.1) asks its questions of passages, so that reading takes the place of remembering. Every hop that
rests on facts gets one passage per subject of these facts, with some more about the same subject; beside them stand
passages about other subjects of the same kind that answer nothing. A plan of passages is drawn from graph, item and
seed alone, so the same passages can be worded again in another world.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hopwright.counterfactual.renamed_entities import find_gender
from hopwright.counterfactual.surrogate_names import Gender
from hopwright.counterfactual.twin_wording import strip_proper
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import FactGraph
from hopwright.planning.plan import named_entities
from hopwright.planning.traversals import Edge, GraphTraversals
from hopwright.records import Evidence, Hop, Item, LiteralFact, Lookup, Passage, Triplet
from hopwright.records.values import render
from hopwright.text.articles import article
from hopwright.text.phrases import sentence as capitalise
from hopwright.wording.rules.rules_writer import EntityNaming

_VAGUE = frozenset({"", "thing", "class", "work", "event", "place", "natural feature", "transport link", "other"})
_PRONOUNS: dict[Gender, str] = {"female": "She", "male": "He"}
_CONTEXT = 2
_TRIES = 8


@dataclass(frozen=True, slots=True)
class PassagePlan:
    """What one passage tells: facts about one subject, those that a hop rests on first.

    triplets are the item's own where `supporting`, followed by those that only give context.
    """

    subject: str
    subject_label: str
    gender: Gender
    triplets: tuple[Triplet, ...]
    literals: tuple[LiteralFact, ...]
    supporting: bool

    @property
    def evidence(self) -> Evidence:
        """The facts as evidence."""
        return Evidence.of(triplets=self.triplets, literals=self.literals)


HopPassages = tuple[tuple[PassagePlan, ...], ...]
"""Plans of passages by hop, in the hops' order."""


class PassagePlanner:
    """Draws plans of passages. seed: the run's. distractors: passages per hop that answer nothing."""

    def __init__(self, traversals: GraphTraversals, *, seed: int, distractors: int = 1) -> None:
        self._moves = traversals
        self._graph = traversals.graph
        self._seed = seed
        self._distractors = distractors

    def plan(self, item: Item) -> HopPassages:
        """Plans for every hop of a factual item; a hop that rests on no fact of its own (a sum) has none."""
        scene = _PassageNameScope(item, self._graph)
        rng = random.Random(f"{self._seed}:passages:{item.id}")
        supporting = [tuple(self._support(hop, scene, rng)) for hop in item.hops]
        return tuple(
            (*plans, *(self._distract(hop, scene, rng) if plans else ()))
            for hop, plans in zip(item.hops, supporting, strict=True)
        )

    def _support(self, hop: Hop, scene: _PassageNameScope, rng: random.Random) -> Iterator[PassagePlan]:
        subjects = [triplet.subject for triplet in hop.evidence.triplets]
        subjects += [literal.subject for literal in hop.evidence.literals]
        for subject in dict.fromkeys(subjects):
            own = [triplet for triplet in hop.evidence.triplets if triplet.subject == subject]
            literals = [literal for literal in hop.evidence.literals if literal.subject == subject]
            known = {(triplet.property, triplet.object) for triplet in own}
            told = {literal.property for literal in literals}
            edges = [
                edge
                for edge in self._moves.lookups_from(subject)
                if (edge.property, edge.object) not in known and scene.admits(edge.object)
            ]
            context = self._draw_context(subject, edges, told, rng)
            for triplet in context.triplets:
                scene.take(triplet.object, triplet.object_label)
            yield self._make(subject, (*own, *context.triplets), (*literals, *context.literals), supporting=True)

    def _distract(self, hop: Hop, scene: _PassageNameScope, rng: random.Random) -> Iterator[PassagePlan]:
        """Passages with the hop's own property, of other subjects: those with a wrong option as their value first."""
        derivation = hop.derivation
        property = derivation.property if isinstance(derivation, Lookup) else ""
        found = 0
        wrong = [distractor.id for distractor in hop.distractors if distractor.id]
        rng.shuffle(wrong)
        for object in wrong if property else ():
            if found == self._distractors:
                return
            edges = [edge for edge in self._moves.lookups_to(object) if edge.property == property]
            rng.shuffle(edges)
            for edge in edges[:_TRIES]:
                if scene.admits(edge.subject) and scene.admits(edge.object):
                    found += 1
                    yield self._tell_of(edge, scene, rng)
                    break
        # What has no such neighbour is passed over with a passage about the wrong option itself.
        for subject in wrong:
            if found == self._distractors:
                return
            edges = [one for one in self._moves.lookups_from(subject) if scene.admits(one.object)]
            if edges and scene.admits(subject):
                found += 1
                yield self._tell_of(rng.choice(edges), scene, rng)
        yield from self._distract_by_number(hop, scene, rng, self._distractors - found)

    def _distract_by_number(
        self, hop: Hop, scene: _PassageNameScope, rng: random.Random, wanted: int
    ) -> Iterator[PassagePlan]:
        """Of a hop that asks for a number or a date: the same of another subject of its sort."""
        literals = hop.evidence.literals
        if not literals or wanted <= 0 or hop.answer_type == "entity":
            return
        property, subject = literals[0].property, literals[0].subject
        pool = self._moves.measured(property, self._moves.kinds.sort(subject))
        for _ in range(_TRIES if pool else 0):
            other = pool[rng.randrange(len(pool))]
            if wanted and scene.admits(other):
                held = self._graph.literals(other, property)
                scene.take(other, self._graph.label(other))
                wanted -= 1
                yield self._make(other, (), held, supporting=False)

    def _tell_of(self, edge: Edge, scene: _PassageNameScope, rng: random.Random) -> PassagePlan:
        others = [one for one in self._moves.lookups_from(edge.subject) if one != edge and scene.admits(one.object)]
        context = self._draw_context(edge.subject, others, set(), rng)
        triplets = (self._triplet(edge), *context.triplets)
        for triplet in triplets:
            scene.take(triplet.subject, triplet.subject_label)
            scene.take(triplet.object, triplet.object_label)
        return self._make(edge.subject, triplets, context.literals, supporting=False)

    def _draw_context(self, subject: str, edges: list[Edge], told: set[str], rng: random.Random) -> Evidence:
        """A fact or two more about a subject, so that the one that counts has to be found."""
        chosen = [self._triplet(edge) for edge in rng.sample(edges, min(len(edges), _CONTEXT))]
        measures = [one for one in self._moves.measures(subject) if one.property not in told and one.entry.stable]
        literals: tuple[LiteralFact, ...] = ()
        if measures and len(chosen) < _CONTEXT:
            property = rng.choice(measures).property
            literals = self._graph.literals(subject, property)
        return Evidence.of(triplets=tuple(chosen), literals=literals)

    def _make(
        self, subject: str, triplets: Sequence[Triplet], literals: Sequence[LiteralFact], *, supporting: bool
    ) -> PassagePlan:
        label = self._graph.label(subject)
        gender = find_gender(subject, self._graph)
        return PassagePlan(subject, label, gender, tuple(triplets), tuple(literals), supporting)

    def _triplet(self, edge: Edge) -> Triplet:
        return Triplet(
            subject=edge.subject,
            property=edge.property,
            object=edge.object,
            subject_label=self._graph.label(edge.subject),
            property_label=self._graph.property_label(edge.property),
            object_label=self._graph.label(edge.object),
        )


class PassageWriter:
    """Words plans of passages by rule, from the property table's predicates and noun phrases."""

    def __init__(self, table: PropertyTable) -> None:
        self._table = table

    def word(self, plan: PassagePlan, names: EntityNaming, label: str | None = None) -> Passage:
        """One passage; `names` and `label` are those of the world that it tells of.

        Each fact is one sentence: first what the subject is, then the facts that the hop rests on, then the others.
        """
        phrase = names.phrase(plan.subject)
        # Without what ties it to the real world, so that both variants tell the same.
        noun = strip_proper(names.noun(plan.subject))
        sentences = [f"{phrase} is {article(noun)} {noun}."] if noun not in _VAGUE and noun.islower() else []
        pronoun = "It" if names.kind(plan.subject) not in ("person", "fiction") else _PRONOUNS.get(plan.gender, "")
        sentences += [self._tell_triplet(triplet, phrase, names) for triplet in plan.triplets]
        told = (self._tell_literal(literal, phrase, names) for literal in plan.literals)
        sentences += [sentence for sentence in told if sentence]
        text = " ".join(
            capitalise(_refer(sentence, phrase, pronoun) if place else sentence)
            for place, sentence in enumerate(sentences)
        )
        return Passage(title=label or plan.subject_label, text=text, supporting=plan.supporting)

    def _tell_triplet(self, triplet: Triplet, phrase: str, names: EntityNaming) -> str:
        entry = self._table.entity[triplet.property]
        worded = entry.worded(names.kind(triplet.subject), names.kind(triplet.object))
        object = names.phrase(triplet.object)
        if worded.predicate:
            return f"{phrase} {worded.predicate[0].format(o=object)}."
        return f"{worded.np[0].format(s=phrase)} is {object}."

    def _tell_literal(self, literal: LiteralFact, phrase: str, names: EntityNaming) -> str:
        """The sentence of a literal; empty for one that cannot be read (it counts nowhere else either)."""
        value = self._table.normalise(literal.property, literal.value, literal.datatype)
        if value is None:
            return ""
        entry = self._table.literal[literal.property].worded(names.kind(literal.subject))
        if not isinstance(value, dt.date):
            return f"{entry.np[0].format(s=phrase)} is {render(value)}."
        predicate = entry.year_predicate[0]
        exact = entry.value == "date" and (value.month, value.day) != (1, 1)
        if exact and predicate.endswith(" in {y}"):
            return f"{phrase} {predicate.removesuffix(' in {y}')} on {render(value)}."
        return f"{phrase} {predicate.format(y=value.year)}."


def attach_passages(item: Item, passages: Sequence[Sequence[Passage]]) -> Item:
    """The item with these passages by hop in its evidence."""
    hops = tuple(
        hop.model_copy(update={"evidence": hop.evidence.replace(passages=own)})
        for hop, own in zip(item.hops, passages, strict=True)
    )
    return item.model_copy(update={"hops": hops})


def collect_extra_evidence(item: Item, plans: HopPassages) -> Evidence:
    """The facts that the passages tell beside those that the item rests on, each once."""
    triplets = {_key(one) for hop in item.hops for one in hop.evidence.triplets}
    literals = {one for hop in item.hops for one in hop.evidence.literals}
    extra_triplets = {
        _key(one): one for hop in plans for plan in hop for one in plan.triplets if _key(one) not in triplets
    }
    extra_literals = {one: None for hop in plans for plan in hop for one in plan.literals if one not in literals}
    return Evidence.of(triplets=tuple(extra_triplets.values()), literals=tuple(extra_literals))


class _PassageNameScope:
    """The entities and labels of an item and of what its passages tell so far: one label stands for one entity."""

    def __init__(self, item: Item, graph: FactGraph) -> None:
        self._graph = graph
        self._label_of: dict[str, str] = {}
        self._taken: set[str] = set()
        for hop in item.hops:
            self._take_all(_list_entities(hop.evidence))
            self._take_all((id, self._graph.label(id)) for id in _words(hop) if id in graph)
            if hop.answer_id:
                self.take(hop.answer_id, hop.answer)
        for hop in item.hops:
            for distractor in hop.distractors:
                self._label_of.setdefault(distractor.text.casefold(), distractor.id or distractor.text)
        self._texts = " ".join([item.question, *(hop.question for hop in item.hops)])

    def admits(self, id: str) -> bool:
        """Whether an entity may be told of: it is not part of the item, and its label stands for nothing else."""
        label = self._graph.label(id)
        if not label or id in self._taken or label in self._texts:
            return False
        return self._label_of.get(label.casefold(), id) == id

    def take(self, id: str, label: str) -> None:
        """Note that an entity is told of."""
        self._taken.add(id)
        self._label_of.setdefault(label.casefold(), id)

    def _take_all(self, pairs: Iterable[tuple[str, str]]) -> None:
        for id, label in pairs:
            self.take(id, label)


def _list_entities(evidence: Evidence) -> Iterator[tuple[str, str]]:
    for triplet in evidence.triplets:
        yield triplet.subject, triplet.subject_label
        yield triplet.object, triplet.object_label
    for literal in evidence.literals:
        yield literal.subject, literal.subject_label


def _words(hop: Hop) -> list[str]:
    return list(named_entities(hop.derivation))


def _key(triplet: Triplet) -> tuple[str, str, str]:
    return triplet.subject, triplet.property, triplet.object


def _refer(sentence: str, phrase: str, pronoun: str) -> str:
    """The sentence with the subject that opens it as a pronoun, where there is one for it."""
    if pronoun and sentence.startswith(f"{phrase} "):
        return pronoun + sentence[len(phrase) :]
    return sentence
