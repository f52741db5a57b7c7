"""Twins of what is chosen from a list by a moment: all that stands in it moves through time together."""

from __future__ import annotations

import pytest

from hopwright.counterfactual.passages import PassagePlanner, list_rivals
from hopwright.counterfactual.twins import TwinMaker
from hopwright.knowledge.wikidata.names import GraphNames
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import Extreme, read_computation
from hopwright.planning.traversals import GraphTraversals
from hopwright.records import Hop, Item
from tests.drafts import draft_items

TABLE = default_table()


def read_list_hop(item: Item) -> Hop | None:
    """The hop that chooses from a list by a moment, or of what two made; finals, whose names have years, move apart."""
    for hop in item.hops:
        form = read_computation(hop.derivation)
        if isinstance(form, Extreme) and form.members is not None and (form.moment or form.members.partner):
            return hop
    return None


def list_years(item: Item, place: int) -> list[int]:
    """The years of a hop's dates and of those that it depends on, in the order of the evidence."""
    hop = item.hops[place]
    held = [hop, *(item.hops[index - 1] for index in hop.depends_on)]
    return [int(one.value[:4]) for one in (one for hop in held for one in hop.evidence.literals)]


@pytest.fixture(scope="module")
def listed(sample: GraphStore) -> list[tuple[Item, Item]]:
    """Items that choose from a list, each with its twin."""
    maker = TwinMaker(sample, GraphNames(KindIndex(sample)), TABLE, seed=1)
    chosen = [item for item in draft_items(sample) if read_list_hop(item) is not None][:24]
    twins = [(item, maker.make_twin(item)) for item in chosen]
    made = [(item, twin) for item, twin in twins if isinstance(twin, Item)]
    assert len(made) >= 12
    return made


def test_a_list_and_what_parts_it_keep_their_distances(listed: list[tuple[Item, Item]]) -> None:
    moved = 0
    for item, twin in listed:
        hop = read_list_hop(item)
        assert hop is not None
        old, new = list_years(item, hop.index - 1), list_years(twin, hop.index - 1)
        assert len(old) == len(new)
        steps = {after - before for before, after in zip(old, new, strict=True)}
        assert len(steps) == 1, item.question
        moved += steps != {0}
    assert moved == len(listed)


def test_of_what_was_not_chosen_the_passages_say_what_is_asked_of_the_chosen(
    listed: list[tuple[Item, Item]], sample: GraphStore
) -> None:
    planner = PassagePlanner(GraphTraversals(WikidataSource(sample, TABLE)), seed=1)
    told = known = 0
    for item, _ in listed:
        rivals = list_rivals(item)
        plans = {plan.subject: plan for hop in planner.plan(item) for plan in hop if plan.supporting}
        for subject, asked in rivals.items():
            for one in asked:
                if sample.objects(subject, one.property) and subject in plans:
                    known += 1
                    told += any(fact.property == one.property for fact in plans[subject].triplets)
    assert known >= 5 and told >= 0.6 * known


def test_a_subject_is_told_of_in_the_same_words_in_every_hop(
    listed: list[tuple[Item, Item]], sample: GraphStore
) -> None:
    planner = PassagePlanner(GraphTraversals(WikidataSource(sample, TABLE)), seed=1)
    shared = 0
    for item, _ in listed:
        plans: dict[str, set[object]] = {}
        for plan in (plan for hop in planner.plan(item) for plan in hop if plan.supporting):
            plans.setdefault(plan.subject, set()).add(plan)
        assert all(len(held) == 1 for held in plans.values()), item.question
        shared += len(plans)
    assert shared
