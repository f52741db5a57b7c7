"""2-hop questions in MuSiQue's layout, worded by rule from a graph: anchors for corpora that come without MuSiQue."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hopwright.knowledge.wikidata.names import GraphNames
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import PropertyTable
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.plan import Plan, Step
from hopwright.planning.planner import NoPlanError, Planner
from hopwright.planning.topologies import TOPOLOGIES
from hopwright.records import Constraint, Domain, Lookup, ReverseLookup
from hopwright.records.values import EntityKind
from hopwright.wording.rules.writer import RulesWriter

# Answers that no topology can grow from make poor anchors, and one answer should not anchor too many items.
_GROWN = ("chain", "converging", "bridge")
_MAX_PER_ANSWER = 3
# No kind of answer may take more than its share: left to themselves, countries would take nearly all.
_SHARES: dict[EntityKind, float] = {"country": 0.15, "person": 0.4, "place": 0.25, "organization": 0.15, "event": 0.2}
_OTHER_SHARE = 0.15
# The same by the domain of the second hop, so that the rare ones (art) find their place.
_DOMAIN_SHARE = 0.22


def write_anchor_questions(
    graph: GraphStore, table: PropertyTable, *, count: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield up to `count` records of MuSiQue's schema, without paragraphs.

    Each joins two look-ups, and 4-hop items can be planned around its answer in at least two of the three topologies.
    """
    kinds = KindIndex(graph)
    planner = Planner(graph, table, kinds)
    writer, names = RulesWriter(table), GraphNames(kinds)
    rng = random.Random(f"anchors:{seed}")
    entities = [entity for entity in graph.entities() if planner.moves.nameable(entity)]
    answers: Counter[str] = Counter()
    by_kind: Counter[EntityKind] = Counter()
    by_domain: Counter[Domain] = Counter()
    seen: set[str] = set()
    written = 0
    for _ in range(count * 200):
        steps = _draw(planner, rng.choice(entities), rng)
        if steps is None:
            continue
        plan, answer = Plan("chain-2", steps), str(steps[-1].value)
        kind = kinds.kind(answer)
        if plan.id in seen or answers[answer] >= _MAX_PER_ANSWER:
            continue
        domain = planner.domains.of_steps(steps)[-1].domain
        if by_kind[kind] >= _SHARES.get(kind, _OTHER_SHARE) * count or by_domain[domain] >= _DOMAIN_SHARE * count:
            continue
        if not _grows(planner, answer):
            continue
        seen.add(plan.id)
        by_kind[kind] += 1
        by_domain[domain] += 1
        answers[answer] += 1
        yield _record(plan, graph, writer, names)
        written += 1
        if written == count:
            return


def _draw(planner: Planner, root: str, rng: random.Random) -> tuple[Step, Step] | None:
    """Two look-ups, or a work found by two of its people and a look-up on it."""
    if planner.moves.is_hub(root):
        return None
    used = {root}
    if pair := planner.moves.identify(root, rng):
        one, other = pair
        used |= {one.object, other.object}
        condition = Constraint(property=other.property, value=other.object)
        first = Step(ReverseLookup(property=one.property, value=one.object, constraints=(condition,)), root, "entity")
    elif edges := planner.moves.lookups_from(root):
        edge = rng.choice(edges)
        used.add(edge.object)
        first = Step(Lookup(subject=root, property=edge.property), edge.object, "entity")
    else:
        return None
    second = [edge for edge in planner.moves.lookups_from(str(first.value)) if edge.object not in used]
    if not second:
        return None
    property = rng.choice(sorted({edge.property for edge in second}))
    edge = rng.choice([edge for edge in second if edge.property == property])
    return first, Step(Lookup(subject="hop1", property=edge.property), edge.object, "entity")


def _grows(planner: Planner, answer: str) -> bool:
    return sum(any(_draws(planner, answer, name, attempt) for attempt in range(3)) for name in _GROWN) >= 2


def _draws(planner: Planner, answer: str, name: str, attempt: int) -> bool:
    try:
        planner.draw(TOPOLOGIES[name], answer, f"grows:{answer}:{name}:{attempt}")
    except NoPlanError:
        return False
    return True


def _record(plan: Plan, graph: GraphStore, writer: RulesWriter, names: GraphNames) -> dict[str, Any]:
    parts = writer.decompose(plan.steps, names, plan.id)
    hops = [
        {
            "id": _number(step),
            "question": question,
            "answer": graph.label(str(step.value)),
            "paragraph_support_idx": None,
        }
        for step, question in zip(plan.steps, parts, strict=True)
    ]
    answer = str(plan.steps[-1].value)
    return {
        "id": f"2hop__{hops[0]['id']}_{hops[1]['id']}",
        "paragraphs": [],
        "question": writer.word(plan.steps, names, plan.id).question,
        "question_decomposition": hops,
        "answer": graph.label(answer),
        "answer_aliases": list(graph.aliases(answer)),
        "answerable": True,
    }


def _number(step: Step) -> int:
    """A stable number for a single hop, as MuSiQue numbers its own."""
    text = json.dumps([step.derivation.model_dump(mode="json"), str(step.value)], sort_keys=True)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest())
