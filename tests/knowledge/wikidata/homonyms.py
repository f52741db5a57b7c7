"""A labelled set for linking: names that several entities bear, each with a context that tells which.

Made from the graph by code. A context states facts of the one entity that no other bearer of the name
shares, alone (hard: one fact, or one fact among sentences about something else) or with its class (easy).
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.text.folding import fold


@dataclass(frozen=True)
class Case:
    name: str
    entity: str
    kind: Literal["class and facts", "one fact", "fact in noise", "question", "description"]
    question: str = ""
    context: str = ""


def find_homonyms(store: GraphStore) -> dict[str, dict[str, str]]:
    """Folded name → entity → the name as that entity writes it; names of two or more entities only."""
    names: dict[str, dict[str, str]] = defaultdict(dict)
    for entity in store.entities():
        for name in (store.label(entity), *store.aliases(entity)):
            names[fold(name)].setdefault(entity, name)
    return {name: bearers for name, bearers in sorted(names.items()) if len(bearers) > 1}


def make_cases(store: GraphStore, seed: int = 1) -> list[Case]:
    """One case of each kind for every bearer of a name that its facts can tell apart."""
    cases: list[Case] = []
    for bearers in find_homonyms(store).values():
        if len(next(iter(bearers.values()))) < 4:  # two-letter codes are shared by everything within a state
            continue
        facts = {entity: own_facts(store, entity) for entity in bearers}
        for entity, name in sorted(bearers.items()):
            taken = {label for other, held in facts.items() if other != entity for _, label in held}
            telling = sorted(fact for fact in facts[entity] if fact[1] not in taken and fold(name) not in fold(fact[1]))
            draw = random.Random(f"{seed}:{entity}:{name}")
            if telling:
                cases += word(store, entity, name, telling, draw)
    return cases


def own_facts(store: GraphStore, entity: str) -> set[tuple[str, str]]:
    """(property label, label of the other end) of the entity's facts, but for its classes and for hubs."""
    out = [(p, o) for p, o in store.recorded_out_edges(entity) if p != "P31"]
    into = store.recorded_in_edges(entity, 60)
    return {
        (store.property_label(p), store.label(other))
        for p, other in (*out, *into)
        if other != entity and store.degree(other) < 1000
    }


def word(store: GraphStore, entity: str, name: str, telling: list[tuple[str, str]], draw: random.Random) -> list[Case]:
    fact = draw.choice(telling)
    classes = [store.label(one) for one in store.objects(entity, "P31")]
    cases = [Case(name, entity, "one fact", context=f"{name}. {fact[0]}: {fact[1]}.")]
    if classes and len(telling) > 1:
        some = "; ".join(f"{p}: {o}" for p, o in draw.sample(telling, 2))
        cases.append(Case(name, entity, "class and facts", context=f"{name} is a {classes[0]}. {some}."))
    noise = " ".join(f"{p} of that year was {o}." for p, o in draw.sample(NOISE, 3))
    cases.append(Case(name, entity, "fact in noise", context=f"{noise} {name} ({fact[0]} {fact[1]}). {noise}"))
    into = [(p, s) for p, s in store.in_edges_spread(entity, 30) if fold(store.label(s)) not in ("", fold(name))]
    if into:
        property, subject = draw.choice(into)
        question = f"{store.label(subject)} >> {store.property_label(property)}"
        cases.append(Case(name, entity, "question", question=question))
    return cases


NOISE = [
    ("The weather", "mild"), ("The mood", "festive"), ("A letter", "unanswered"), ("The harvest", "poor"),
    ("The road", "closed for repairs"), ("A visitor", "announced twice"), ("The bill", "never paid"),
]  # fmt: skip
