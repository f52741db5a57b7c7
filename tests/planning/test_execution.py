import pytest

from hopwright.errors import ExpressionError
from hopwright.knowledge.facts import EvidenceFacts
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.planning.execution import execute, hops_used, run_plan, same, stated_value
from hopwright.records import Constraint, Item, Lookup, ReverseLookup
from hopwright.topologies import TOPOLOGIES
from tests.builders import all_items, chain_item

TABLE = default_table()


@pytest.mark.parametrize("item", all_items(), ids=lambda item: item.topology)
def test_a_plan_gives_every_gold_answer(item: Item) -> None:
    answers = run_plan(item.hops, EvidenceFacts(item.hops, TABLE), TABLE)
    assert all(same(answers[hop.index], stated_value(hop)) for hop in item.hops)


def test_a_date_asked_as_a_number_is_its_year() -> None:
    facts = EvidenceFacts(all_items()[2].hops, TABLE)
    born = Lookup(subject="Q902", property="P569")
    assert execute(born, "number", {}, facts, TABLE) == 1951
    assert str(execute(born, "date", {}, facts, TABLE)) == "1951-04-12"


def test_no_answer_and_two_answers_are_errors() -> None:
    facts = EvidenceFacts(chain_item().hops, TABLE)
    with pytest.raises(ExpressionError, match="0 answers"):
        execute(Lookup(subject="Q1", property="P57"), "entity", {}, facts, TABLE)
    born_1951 = ReverseLookup(property="P571", value="1905", constraints=(Constraint(property="P27", value="Q903"),))
    with pytest.raises(ExpressionError, match="0 answers"):
        execute(born_1951, "entity", {}, facts, TABLE)


def test_reverse_look_ups_meet_every_constraint_and_compute_their_year() -> None:
    facts = EvidenceFacts(chain_item().hops, TABLE)
    founded = ReverseLookup(property="P571", value="2000 - hop1")
    assert execute(founded, "entity", {1: 95}, facts, TABLE) == "Q903"
    assert hops_used(founded) == (1,)


@pytest.mark.parametrize("topology", TOPOLOGIES.values(), ids=lambda topology: topology.name)
def test_topologies_are_acyclic_and_every_hop_is_used(topology) -> None:  # type: ignore[no-untyped-def]
    used = set()
    for index, needs in enumerate(topology.depends_on, start=1):
        assert all(1 <= need < index for need in needs)
        used.update(needs)
    assert used == set(range(1, len(topology)))
