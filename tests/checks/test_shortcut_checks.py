"""Checks of shortcuts, comparisons, lists and dates on small worlds: each rule's yes and no side by side."""

from __future__ import annotations

import pytest

from hopwright.checks import CHECKS, CheckContext, CheckedItem
from hopwright.checks.grammar import find_grammar_problems
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import Compute, Constraint, Item, ReverseLookup
from tests.builders import all_items, bridge_item, chain_item, converging_item
from tests.worlds import DictGraph

TABLE = default_table()
CONTEXT = CheckContext(TABLE, graph=DictGraph())
BY_NAME = {check.name: check for check in CHECKS}


def find(name: str, item: Item, context: CheckContext = CONTEXT) -> list[str]:
    return [message for _, message in BY_NAME[name].run(CheckedItem(item), context)]


def with_hop(item: Item, index: int, **changes: object) -> Item:
    hops = [hop.model_copy(update=changes) if hop.index == index else hop for hop in item.hops]
    return item.model_copy(update={"hops": tuple(hops)})


def asking(question: str, item: Item | None = None) -> Item:
    return (item or chain_item()).model_copy(update={"question": question})


class TestHopsNeeded:
    def test_a_last_hop_that_its_own_conditions_settle_needs_no_other(self):
        alone = ReverseLookup(property="P27", value="hop3", constraints=(Constraint(property="P19", value="Q910"),))
        assert find("last-hop-alone", with_hop(chain_item(), 4, derivation=alone))
        open_ = ReverseLookup(property="P27", value="hop3", constraints=(Constraint(property="P31", value="Q5"),))
        assert not find("last-hop-alone", with_hop(chain_item(), 4, derivation=open_))
        root = ReverseLookup(property="P19", value="Q910")
        assert not find("last-hop-alone", with_hop(chain_item(), 4, derivation=root))

    def test_a_number_that_changes_nothing_is_not_needed(self):
        idle = Compute(expression="130 + hop2 - hop2", kind="arithmetic")
        assert "hop 4 gives '130'" in " ".join(find("every-hop-needed", with_hop(bridge_item(), 4, derivation=idle)))
        assert not find("every-hop-needed", bridge_item())

    def test_a_comparison_whose_losers_lead_to_the_same_answer_is_idle(self):
        same = [("Q903", "P36", "Q904"), ("Q909", "P36", "Q904"), ("Q902", "P27", "Q903"), ("Q907", "P27", "Q909")]
        context = CheckContext(TABLE, graph=DictGraph(triplets=same))
        assert any("whoever is chosen" in one for one in find("every-hop-needed", converging_item(), context))
        assert not find("every-hop-needed", converging_item())

    def test_a_fact_that_leads_past_a_hop_is_a_shortcut(self):
        graph = DictGraph(triplets=[*DictGraph()._triplets, ("Q902", "P551", "Q904")])
        (reason,) = find("every-hop-needed", converging_item(), CheckContext(TABLE, graph=graph))
        assert "a direct fact" in reason and "Ada Lindqvist" in reason


class TestComparisons:
    def test_years_are_not_set_against_square_kilometres(self):
        item = with_hop(bridge_item(), 2, unit="square kilometres")
        assert find("comparison", item) == ["sets square kilometres against year"]
        assert not any(find("comparison", one) for one in all_items())

    def test_a_person_is_not_compared_with_a_country(self):
        item = with_hop(converging_item(), 3, derivation=Compute(expression="argmax(P2046, hop1, Q902)",
                                                                  kind="comparison"))  # fmt: skip
        assert find("comparison", item) == ["compares a country with a person"]

    @pytest.mark.parametrize(
        ("expression", "fits"),
        [
            ("hop2 - hop3", True), ("hop2 + hop3", False), ("hop2 + 30", True), ("max(hop2, hop3) - 10", True),
            ("abs(hop2 - year(value(P571, Q909)))", True), ("hop2 - value(P2046, Q909)", False),
        ],
    )  # fmt: skip
    def test_units_of_expressions(self, expression, fits):
        item = with_hop(bridge_item(), 4, derivation=Compute(expression=expression, kind="arithmetic"))
        assert (not find("comparison", item)) is fits


class TestNamesAndStrings:
    def test_an_entity_named_twice(self):
        assert find("named-twice", asking("Who was born in the city that Night Harbour shows, in Night Harbour?"))
        assert not any(find("named-twice", one) for one in all_items())

    def test_a_name_inside_a_longer_one_is_no_second_mention(self):
        item = chain_item()
        triplet = item.hops[0].evidence.triplets[0].model_copy(update={"object_label": "Night"})
        evidence = item.hops[0].evidence.replace(triplets=(triplet,))
        item = with_hop(item, 1, evidence=evidence)
        assert not find("named-twice", asking("When did Night Harbour open?", item))

    @pytest.mark.parametrize(
        "question",
        [
            "Who directed Night Harbour, and of which country is Ada Lindqvist a citizen?",
            "In what year was Vestmark founded, and how many years before 2000 is 1905?",
        ],
    )
    def test_strung_together(self, question):
        assert find("concatenation", asking(question))

    def test_a_relative_clause_is_no_second_question(self):
        assert not any(find("concatenation", one) for one in all_items())

    @pytest.mark.parametrize(
        "question",
        [
            "First, find the film, and then say: who directed it?", "(1) Find the film. (2) Who directed it?",
            "Find the film; find the director; who is it?", "Step 1: the film. Who directed it?",
            "Who directed Vestmark and Iria, respectively?",
        ],
    )  # fmt: skip
    def test_a_list_of_steps(self, question):
        assert find("list", asking(question))
        assert not any(find("list", one) for one in all_items())


class TestGrammar:
    @pytest.mark.parametrize(
        "question",
        [
            "Who directed the a film?", "What is the city which who founded?", "Is that that the film?",
            "What is the capital in of Vestmark?", "Which film did The director of Iria make?",
            "Who directed the film and?", "How many people is in it?", "A film was made. who directed it?",
        ],
    )  # fmt: skip
    def test_bad_ones(self, question):
        assert list(find_grammar_problems(question, CheckedItem(chain_item())))

    @pytest.mark.parametrize(
        "question",
        [
            "Who directed the film that was shot in the country to which Night Harbour belongs?",
            "Which of the two is the one whose capital is Port Sabel?",
            "What is the place in which the director was born?",
        ],
    )
    def test_good_ones(self, question):
        assert list(find_grammar_problems(question, CheckedItem(chain_item()))) == []

    def test_a_name_with_an_article_is_no_stray_capital(self):
        item = with_hop(chain_item(), 2, answer="The Bahamas")
        assert list(find_grammar_problems("Who directed a film in The Bahamas in 1990?", CheckedItem(item))) == []


class TestDates:
    @pytest.mark.parametrize(
        "end", ["today", "as of this writing", "at the moment", "this year", "under the incumbent", "so far"]
    )
    def test_as_of_today(self, end):
        assert find("time-dependence", asking(f"Who governs the city where it was shot {end}?"))

    def test_a_population_needs_a_date(self):
        hop = chain_item().hops[2]
        population = hop.derivation.model_copy(update={"property": "P1082"})
        item = with_hop(chain_item(), 3, derivation=population, question="How many people live in Vestmark?")
        assert find("undated", item)
        dated = with_hop(item, 3, question="How many people lived in Vestmark in 1990?")
        assert not find("undated", dated) and not find("undated", chain_item())

    def test_populations_far_apart_may_be_compared(self):
        margin = TABLE.literal["P1082"].margin
        for share, found in ((float(margin) / 2, True), (float(margin) * 2, False)):
            facts = converging_item().hops[2].evidence.literals
            held = [
                fact.model_copy(update={"property": "P1082", "value": value, "datatype": "decimal"})
                for fact, value in zip(facts, ("+1000000", f"+{round(1_000_000 * (1 - share))}"), strict=True)
            ]
            evidence = converging_item().hops[2].evidence.replace(literals=held)
            compare = Compute(expression="argmax(P1082, hop1, hop2)", kind="comparison")
            item = with_hop(converging_item(), 3, derivation=compare, evidence=evidence)
            assert bool(find("undated", item)) is found


def test_options_that_the_question_states():
    item = with_hop(bridge_item(), 4, distractors=tuple(
        one.model_copy(update={"text": text}) for one, text in
        zip(bridge_item().hops[3].distractors, ("131", "1,951", "140"), strict=True)
    ))  # fmt: skip
    assert find("distractors-shown", item) == ["distractor '1,951' stands in the question"]
    assert not any(find("distractors-shown", one) for one in all_items())
