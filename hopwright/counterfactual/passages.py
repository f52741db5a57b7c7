"""Evidence passages: which facts each of them tells, drawn from the graph.

CofCA (section 3.1) asks its questions of passages, so that reading takes the place of remembering. Every hop that
rests on facts gets one passage per subject of these facts, with some more about the same subject; beside them stand
passages about other subjects of the same kind that answer nothing. A plan of passages is drawn from graph, item and
seed alone, so the same passages can be worded again in another world.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from hopwright.counterfactual.passage_frames import list_properties
from hopwright.counterfactual.passage_phrases import (
    find_calling,
    find_owner_calling,
    has_inverse,
    list_alternatives,
    list_role,
)
from hopwright.counterfactual.renamed_entities import find_gender
from hopwright.counterfactual.surrogate_names import Gender
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import FactGraph
from hopwright.knowledge.wikidata.confusions import add_alike
from hopwright.planning.evidence import name_triplet
from hopwright.planning.plan import named_entities
from hopwright.planning.traversals import Edge, GraphTraversals, spread
from hopwright.records import Compute, Evidence, Hop, Item, LiteralFact, Lookup, Passage, ReverseLookup, Triplet

RIVALS = 2
"""So many others at least meet the open conditions of a reverse look-up in its passages, where the graph has them."""
# A passage tells so many facts where the graph has them, so many of them dates and numbers that nobody asked for.
_FACTS = 7
_CONTEXT = 2
# So many of a film's crew are told where no hop needs more.
MOST_CREW = 3
_POOL = 40
_TRIES = 8
_NEAR = 40
"""Of so many others with a number, the nearest is told of."""
_SETTLED = frozenset(
    "city town village municipality commune capital settlement state province county island region".split()
)
_SENSELESS = {"country": "not_of_countries", "transport": "not_of_transport", "work": "not_of_works"}
"""Kinds of subjects of which some properties say nothing that makes sense."""
_ENTITY = re.compile(r"^Q[0-9A-Za-z_]+$")
_WHOLE_LIST = re.compile(r"\ball\((P\d+), ")
_HOP = re.compile(r"^hop([1-8])$")


@dataclass(frozen=True, slots=True)
class PassagePlan:
    """What one passage tells: facts about one subject, those that a hop rests on first.

    triplets are the item's own where `supporting`, followed by those that only give context. calling: what the item
    says that somebody is, empty where it says nothing.
    """

    subject: str
    subject_label: str
    gender: Gender
    triplets: tuple[Triplet, ...]
    literals: tuple[LiteralFact, ...]
    supporting: bool
    calling: str = ""

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
        self._table = traversals.table
        self._seed = seed
        self._distractors = distractors

    def plan(self, item: Item) -> HopPassages:
        """Plans for every hop of a factual item; a hop that rests on no fact of its own (a sum) has none."""
        scope = _PassageNameScope(item, self._graph, self._table)
        rng = random.Random(f"{self._seed}:passages:{item.id}")
        asked = list_asked_properties(item)
        told = self._support(item, scope, asked, rng)
        supporting = [tuple(told[subject] for subject in _list_subjects(hop)) for hop in item.hops]
        return tuple(
            (*plans, *(self._distract(item, hop, scope, asked, rng) if plans and self._distractors else ()))
            for hop, plans in zip(item.hops, supporting, strict=True)
        )

    def _support(
        self, item: Item, scope: _PassageNameScope, asked: Set[str], rng: random.Random
    ) -> dict[str, PassagePlan]:
        """A passage on each subject of facts, by subject: one of all that the hops rest on."""
        triplets: dict[str, dict[tuple[str, str, str], Triplet]] = {}
        literals: dict[str, dict[LiteralFact, None]] = {}
        for hop in item.hops:
            for triplet in hop.evidence.triplets:
                triplets.setdefault(triplet.subject, {})[_key(triplet)] = triplet
            for literal in hop.evidence.literals:
                literals.setdefault(literal.subject, {})[literal] = None
        rivals = list_rivals(item)
        told: dict[str, PassagePlan] = {}
        for subject in dict.fromkeys(subject for hop in item.hops for subject in _list_subjects(hop)):
            own = triplets.get(subject, {})
            for one in self._list_rival_facts(subject, rivals.get(subject, ()), scope):
                own.setdefault(_key(one), one)
            told[subject] = self._fill(
                subject, [*own.values()], [*literals.get(subject, ())], scope, asked, rng, supporting=True
            )
        return told

    def _list_rival_facts(
        self, subject: str, rivals: Iterable[RivalFact], scope: _PassageNameScope
    ) -> Iterator[Triplet]:
        """What a later hop asks of the one that was chosen from a list, told of another of the list as well.

        Were the chosen one the only one of which it is told, nobody would have to choose.
        """
        for one in rivals:
            for object in self._graph.objects(subject, one.property)[:1]:
                if scope.admits(object):
                    scope.take(object, self._graph.label(object))
                    yield name_triplet(self._graph, subject, one.property, object)

    def _distract(
        self, item: Item, hop: Hop, scope: _PassageNameScope, asked: Set[str], rng: random.Random
    ) -> Iterator[PassagePlan]:
        """Passages that answer nothing: rivals of what is looked for, subjects of the same property otherwise."""
        if isinstance(hop.derivation, ReverseLookup):
            yield from self._rival(item, hop, scope, asked, rng)
            return
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
                if scope.admits(edge.subject) and scope.admits(edge.object):
                    found += 1
                    yield self._fill(edge.subject, [self._tell(edge)], (), scope, asked, rng)
                    break
        # What has no such neighbour is passed over with a passage about the wrong option itself.
        for subject in wrong:
            if found == self._distractors:
                return
            edges = [one for one in self._moves.lookups_from(subject) if scope.admits(one.object)]
            if edges and scope.admits(subject):
                found += 1
                yield self._fill(subject, [self._tell(rng.choice(edges))], (), scope, asked, rng)
        yield from self._distract_by_number(hop, scope, asked, rng, self._distractors - found)

    def _rival(
        self, item: Item, hop: Hop, scope: _PassageNameScope, asked: Set[str], rng: random.Random
    ) -> Iterator[PassagePlan]:
        """Others that meet the conditions that name an entity, and differ in the rest: wrong options, then any."""
        named, measured = list_conditions(item, hop)
        if not named:
            return
        pool = [distractor.id for distractor in hop.distractors if distractor.id]
        property, value = named[0]
        others = list(self._graph.subjects(property, value))
        rng.shuffle(others)
        found = 0
        for subject in dict.fromkeys((*pool, *others[:_POOL])):
            if (found >= RIVALS and subject not in pool) or not scope.admits(subject):
                continue
            met = [one for one in named if one[1] in self._graph.objects(subject, one[0])]
            # Without a condition on a number, whoever meets all of them is the answer.
            if not met or (measured and len(met) < len(named)) or (not measured and len(met) == len(named)):
                continue
            literals = [one for property in measured for one in self._graph.literals(subject, property)]
            if measured and not literals:
                continue
            found += 1
            triplets = [name_triplet(self._graph, subject, property, value) for property, value in met]
            yield self._fill(subject, triplets, literals, scope, asked, rng)

    def _distract_by_number(
        self, hop: Hop, scope: _PassageNameScope, asked: Set[str], rng: random.Random, wanted: int
    ) -> Iterator[PassagePlan]:
        """Of a hop that asks for a number or a date: the same of another subject of its sort."""
        literals = hop.evidence.literals
        if not literals or wanted <= 0 or hop.answer_type == "entity":
            return
        property, subject = literals[0].property, literals[0].subject
        pool = self._moves.measured(property, self._moves.kinds.sort(subject))
        drawn = [pool[rng.randrange(len(pool))] for _ in range(_NEAR if pool else 0)]
        # Somebody who died two centuries before is no rival of whoever died last year.
        near = self._read_number(literals[0])
        drawn.sort(key=lambda other: abs(self._read_number(self._graph.literals(other, property)[0]) - near))
        for other in dict.fromkeys(drawn):
            if wanted and scope.admits(other):
                wanted -= 1
                yield self._fill(other, (), self._graph.literals(other, property), scope, asked, rng)

    def _read_number(self, literal: LiteralFact) -> float:
        """A literal as a number, a date as its year."""
        value = self._table.read(literal)
        return float(value.year if isinstance(value, dt.date) else value or 0)

    def _fill(
        self,
        subject: str,
        triplets: Sequence[Triplet],
        literals: Sequence[LiteralFact],
        scope: _PassageNameScope,
        asked: Set[str],
        rng: random.Random,
        *,
        supporting: bool = False,
    ) -> PassagePlan:
        """A plan with these facts and further ones about its subject, so that what counts has to be found."""
        told = {one.property for one in triplets} | {one.property for one in literals}
        wanted = max(_FACTS - len(triplets) - len(literals), 1)
        found: dict[str, list[tuple[str, str, str]]] = {}
        barred = add_alike(told) | asked | {*list_role("dull")} | find_redundant(told | asked)
        crew, settings = {*list_role("crew")}, {*list_role("settings")}
        free = MOST_CREW - len(told & crew)
        kind = self._moves.kinds.kind(subject)
        if kind in _SENSELESS:
            barred |= {*list_role(_SENSELESS[kind])}
        for property, object in spread(self._graph.out_edges(subject), _POOL):
            if property in self._table.entity and property not in barred and object != subject:
                found.setdefault(property, []).append((subject, property, object))
        for property, other in self._graph.in_edges_spread(subject, _POOL):
            if property in self._table.entity and has_inverse(property) and property not in asked:
                found.setdefault(f"{property} inverse", []).append((other, property, subject))
        # A death that no hop rests on moves by itself, and might come before the day on which an age is asked for.
        untold = told | ({self._table.roles.death} if subject in scope.aged else set())
        measures = [one for one in self._moves.measures(subject) if one.property not in untold and one.entry.stable]
        # A place in a list interests nobody whom no hop asks for it.
        measures = [one for one in measures if not one.entry.series]
        more = [one for measure in measures for one in self._graph.literals(subject, measure.property)][:_CONTEXT]
        scope.take(subject, self._graph.label(subject))
        for one in triplets:
            scope.take(one.object, one.object_label)
        context: list[Triplet] = []
        wanted = max(wanted - len(more), 1)
        said: Set[str] = frozenset()
        # Where all that somebody made is listed, the rest of a life is told as a whole, if at all.
        listed = any(one.property in self._table.lists and one.subject == subject for one in triplets)
        for name in () if listed else self._order_context(found, scope, rng):
            if wanted <= 0:
                break
            if name in said or (name in crew and free <= 0):  # a birthplace is told once
                continue
            most = rng.choice((1, 1, 2))
            for first, property, second in found[name]:
                other = second if first == subject else first
                if name in settings and not self._is_settled(other):
                    continue
                if most and scope.admits(other, again=self._is_column(name)):
                    most -= 1
                    scope.take(other, self._graph.label(other))
                    context.append(name_triplet(self._graph, first, property, second))
                    said |= add_alike({property}) | find_redundant({property})
                    free -= name in crew and first == subject
                    most = 0 if name in settings else most
            wanted -= bool(context) and context[-1].property == name.partition(" ")[0]
        told_facts = (*triplets, *context)
        calling = scope.callings.get(subject, "")
        if kind == "person" and not calling and self._moves.kinds.noun(subject) == "person":
            into = self._graph.in_edges_spread(subject, _POOL)
            calling = next(filter(None, (find_calling(property) for property, _ in into)), "")
        gender = find_gender(subject, self._graph)
        label = self._graph.label(subject)
        return PassagePlan(subject, label, gender, told_facts, (*literals, *more), supporting, calling)

    def _is_settled(self, id: str) -> bool:
        """Whether a place is a town, a state or the like."""
        return self._moves.kinds.kind(id) == "country" or self._moves.kinds.noun(id).split()[-1] in _SETTLED

    def _is_column(self, name: str) -> bool:
        entry = self._table.entity.get(name)
        return entry is not None and bool(entry.series)

    def _order_context(
        self, found: Mapping[str, Sequence[object]], scope: _PassageNameScope, rng: random.Random
    ) -> list[str]:
        """The columns of a series first, and in one order for all of its members: each is told the same of."""
        columns = [name for name in sorted(found) if self._is_column(name)]
        random.Random(scope.key).shuffle(columns)
        return [*columns, *(name for name in rng.sample(sorted(found), len(found)) if name not in set(columns))]

    def _tell(self, edge: Edge) -> Triplet:
        return name_triplet(self._graph, edge.subject, edge.property, edge.object)


def list_asked_properties(item: Item) -> Set[str]:
    """The properties that the plan of an item rests on, and those by which a text would say the same of others."""
    asked = {one.property for hop in item.hops for one in hop.evidence.triplets}
    asked |= {one.property for hop in item.hops for one in hop.evidence.literals}
    return add_alike(asked)


def find_redundant(told: Set[str]) -> Set[str]:
    """What would only blur what is told already: another university beside that of the first degree, a second place."""
    found: set[str] = set()
    degrees = {*list_properties("undergraduate"), *list_properties("doctorate")}
    if told & degrees:
        found |= {*list_properties("school")}
    found = found.union(*(group for group in list_alternatives() if told & group))
    return found - told


def list_callings(item: Item) -> dict[str, str]:
    """Person → what the item says that she or he is: whoever directed a film in it is no cinematographer there."""
    found: dict[str, str] = {}
    told = [one for hop in item.hops for one in hop.evidence.triplets]
    for one in told:
        if calling := find_owner_calling(one.property):
            found.setdefault(one.subject, calling)
    for one in told:
        if calling := find_calling(one.property):
            found.setdefault(one.object, calling)
    return found


@dataclass(frozen=True, slots=True)
class RivalFact:
    """A property that a later hop asks of what was chosen from a list, and its value there."""

    property: str
    object: str


def list_rivals(item: Item) -> dict[str, list[RivalFact]]:
    """What was not chosen from a list → what a later hop asks of the one that was: of entities alone."""
    found: dict[str, list[RivalFact]] = {}
    for hop in item.hops:
        derivation = hop.derivation
        taken = _HOP.match(derivation.subject) if isinstance(derivation, Lookup) else None
        if taken is None or not isinstance(derivation, Lookup) or not hop.answer_id:
            continue
        chosen = item.hops[int(taken[1]) - 1]
        if isinstance(chosen.derivation, Compute):
            dated = [one.subject for one in chosen.evidence.literals]
            # Were the asked told of what two made alone, nobody would have to find out what that is.
            whole = _WHOLE_LIST.search(chosen.derivation.expression)
            listed = [one.object for one in chosen.evidence.triplets if whole and one.property == whole[1]]
            for subject in dict.fromkeys((*dated, *listed)):
                if subject != chosen.answer_id:
                    found.setdefault(subject, []).append(RivalFact(derivation.property, hop.answer_id))
    return found


def list_conditions(item: Item, hop: Hop) -> tuple[list[tuple[str, str]], list[str]]:
    """The conditions of a reverse look-up: (property, entity) of those that name one, properties of the others.

    An earlier answer that a condition takes stands for its entity.
    """
    derivation = hop.derivation
    if not isinstance(derivation, ReverseLookup):
        return [], []
    named: list[tuple[str, str]] = []
    measured: list[str] = []
    for property, value in (
        (derivation.property, derivation.value),
        *((constraint.property, constraint.value) for constraint in derivation.constraints),
    ):
        taken = _HOP.match(value)
        entity = item.hops[int(taken[1]) - 1].answer_id if taken else value
        if entity and _ENTITY.match(entity):
            named.append((property, entity))
        else:
            measured.append(property)
    return named, measured


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

    def __init__(self, item: Item, graph: FactGraph, table: PropertyTable) -> None:
        self._graph = graph
        roles = table.roles
        computed = [one for hop in item.hops if isinstance(hop.derivation, Compute) for one in hop.evidence.literals]
        dead = {one.subject for hop in item.hops for one in hop.evidence.literals if one.property == roles.death}
        self.aged = {one.subject for one in computed if one.property == roles.birth} - dead
        """Whose birth a computation reads while nothing in the item tells of their death."""
        self.key = item.id
        self.callings = list_callings(item)
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
        self._own = frozenset(self._taken)
        self._texts = " ".join([item.question, *(hop.question for hop in item.hops)])

    def admits(self, id: str, *, again: bool = False) -> bool:
        """Whether an entity may be told of: it is not part of the item, and its label stands for nothing else.

        again: even where a passage tells of it already, as of somebody who won a race twice.
        """
        label = self._graph.label(id)
        if not label or id in (self._own if again else self._taken) or label in self._texts:
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


def _list_subjects(hop: Hop) -> dict[str, None]:
    """The subjects of a hop's facts, each once."""
    told = [one.subject for one in hop.evidence.triplets]
    return dict.fromkeys([*told, *(one.subject for one in hop.evidence.literals)])


def _words(hop: Hop) -> list[str]:
    return list(named_entities(hop.derivation))


def _key(triplet: Triplet) -> tuple[str, str, str]:
    return triplet.subject, triplet.property, triplet.object
