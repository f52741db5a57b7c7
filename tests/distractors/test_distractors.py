"""Distractors and options: false, alike in form, unguessable, and the same for the same seed."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hopwright.distractors.maker import DistractorMaker
from hopwright.distractors.numeric_distractors import (
    LATEST_YEAR,
    choose_date_distractors,
    choose_number_distractors,
    list_slips,
)
from hopwright.distractors.options import assign_options
from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.execution import execute, stated_value
from hopwright.records import LABELS, Compute, Constraint, Distractor, Domain, Hop, Item, Lookup, ReverseLookup
from hopwright.records.values import parse, render
from hopwright.text.matching import fold
from tests.builders import chain_item, converging_item
from tests.drafts import draft_items
from tests.worlds import DictGraph, DictKinds

TABLE = default_table()


def number_hop(answer: str, expression: str, *, unit: str = "", kind: str = "arithmetic") -> Hop:
    return Hop(
        index=3, question="How many?", answer=answer, answer_type="number", unit=unit, domain=Domain.SCIENCE,
        depends_on=(1, 2), derivation=Compute(expression=expression, kind=kind),  # type: ignore[arg-type]
    )  # fmt: skip


def city_world() -> DictGraph:
    """Thirty cities in three countries, each with a mayor; the mayor of city 3 leads two of them."""
    labels = {"Q515": "city", "Q5": "human", "Q6256": "country", "Q1": "Norland", "Q2": "Sudmark", "Q3": "Estria"}
    triplets = []
    for number in range(30):
        city, mayor = f"Q1{number:02d}", f"Q2{number:02d}"
        labels |= {city: f"City{'abcdefghijklmnopqrstuvwxyzABCD'[number]}ton", mayor: f"Mayor Surname{number}"}
        triplets += [(city, "P31", "Q515"), (mayor, "P31", "Q5"), (city, "P17", f"Q{number % 3 + 1}")]
        triplets += [(city, "P6", mayor), (mayor, "P27", f"Q{number % 3 + 1}"), (mayor, "P19", city)]
    return DictGraph(labels=labels, aliases={"Q206": ("Mayor Surname3",)}, triplets=triplets,
                     literals=[])  # fmt: skip


def lookup_hop(graph: DictGraph, subject: str, property: str) -> Hop:
    (found,) = graph.objects(subject, property)
    return Hop(
        index=1, question=f"{property} of {subject}?", answer=graph.label(found), answer_type="entity", answer_id=found,
        domain=Domain.POLITICS, depends_on=(), derivation=Lookup(subject=subject, property=property),
    )  # fmt: skip


class TestOptions:
    def test_letters_and_orders_are_uniform(self):
        wrong = [Distractor(text=text, kind="sibling") for text in "xyz"]
        drawn = [assign_options("right", wrong, f"key-{n}") for n in range(4800)]
        letters = Counter(label for _, label in drawn)
        orders = Counter("".join(options.values()) for options, _ in drawn)
        assert set(letters) == set(LABELS) and len(orders) == 24
        assert stats.chisquare(list(letters.values())).pvalue > 0.001
        assert stats.chisquare(list(orders.values())).pvalue > 0.001

    def test_the_letter_is_where_the_answer_is_and_the_key_decides(self):
        options, label = assign_options("a", ["b", "c", "d"], "k")
        assert options[label] == "a" and list(options) == list(LABELS)
        assert assign_options("a", ["b", "c", "d"], "k") == (options, label)

    @pytest.mark.parametrize("wrong", [["b", "c"], ["b", "c", "a"], ["b", "b", "c"]])
    def test_fewer_than_four_different_texts_are_refused(self, wrong):
        with pytest.raises(InputError, match="three other texts"):
            assign_options("a", wrong, "k")


class TestNumbers:
    @given(st.integers(1, 10**9), st.integers(0, 10**6))
    def test_three_wrong_numbers_of_the_same_form(self, value, seed):
        chosen = choose_number_distractors(value, [], [], year=False, lowest=1, rng=random.Random(seed))
        assert chosen is not None
        numbers = [number for number, _ in chosen]
        assert len({value, *numbers}) == 4 and min(numbers) >= 1
        for number in numbers:
            assert ("," in render(number)) == ("," in render(value))
            assert abs(len(str(number)) - len(str(value))) <= 1

    @given(st.integers(1000, LATEST_YEAR), st.integers(0, 10**6))
    def test_years_stay_years_and_in_the_past(self, year, seed):
        chosen = choose_number_distractors(year, [], [], year=True, lowest=1, rng=random.Random(seed))
        assert chosen is not None
        assert all(1000 <= number <= LATEST_YEAR and abs(number - year) <= 60 for number, _ in chosen)

    @given(st.decimals("0.1", "9999.9", places=1), st.integers(0, 10**6))
    def test_decimals_keep_their_precision(self, value, seed):
        if value == value.to_integral_value():
            return
        chosen = choose_number_distractors(value, [], [], year=False, lowest=0, rng=random.Random(seed))
        assert chosen is not None
        assert all(len(render(number).partition(".")[2]) == 1 for number, _ in chosen)

    def test_the_rank_of_the_right_number_is_uniform(self):
        ranks = Counter()
        for seed in range(2000):
            chosen = choose_number_distractors(
                437, [(440, "slip")], [431, 452], year=False, lowest=1, rng=random.Random(seed)
            )
            ranks[sum(number < 437 for number, _ in chosen)] += 1
        assert stats.chisquare([ranks[rank] for rank in range(4)]).pvalue > 0.001

    def test_a_round_number_has_round_company(self):
        chosen = choose_number_distractors(12_000, [], [], year=False, lowest=1, rng=random.Random(1))
        assert all(number % 1000 == 0 for number, _ in chosen)

    def test_slips_are_what_the_wrong_operation_or_operand_gives(self):
        graph = DictGraph()
        facts = GraphFacts(graph, TABLE)
        slips = set(list_slips(Compute(expression="hop1 - hop2", kind="arithmetic"), {1: 90, 2: 35}, facts))
        assert {(125, "slip"), (90, "operand"), (35, "operand")} <= slips
        slips = set(list_slips(Compute(expression="comb(7, 3)", kind="combinatorics"), {}, facts))
        assert {(210, "slip"), (21, "slip"), (20, "slip"), (56, "slip")} <= slips

    def test_a_computation_gets_the_result_of_a_wrong_operation_among_its_distractors(self):
        graph = DictGraph()
        texts = set()
        for seed in range(10):
            maker = DistractorMaker(graph, TABLE, DictKinds(graph), seed)
            made = maker.make(number_hop("40", "hop1 - hop2"), {1: Decimal(60), 2: 20}, ())
            texts |= {one.text for one in made if one.kind == "slip"}
        assert "80" in texts

    def test_a_number_that_the_question_states_or_of_another_unit_is_not_offered(self):
        earlier = chain_item().hops[2]
        hop = number_hop("1,890", "hop3 - 15").model_copy(update={"question": "What is 1,905 less 15?"})
        for seed in range(30):
            maker = DistractorMaker(DictGraph(), TABLE, DictKinds(DictGraph()), seed)
            made = maker.make(hop, {3: 1905}, (earlier,), "Is it 1,891 or 1,790?")
            assert not {one.text for one in made} & {"1,905", "1,891", "1,790"}

    def test_a_count_of_nought_has_three_wrong_numbers(self):
        maker = DistractorMaker(DictGraph(), TABLE, DictKinds(DictGraph()), 1)
        assert maker.make(number_hop("0", "count(hop1 > 5)", kind="counting"), {1: 3}, ()) is not None


class TestDates:
    @given(st.dates(dt.date(1000, 1, 1), dt.date(2026, 12, 31)), st.integers(0, 10**6))
    def test_dates_form_a_square_of_two_days_and_two_years(self, date, seed):
        corners = {date, *choose_date_distractors(date, random.Random(seed))}
        assert len(corners) == 4
        assert len({one.year for one in corners}) == 2
        assert len({(one.month, one.day) for one in corners}) == 2
        assert max(one.year for one in corners) <= max(LATEST_YEAR, date.year)
        assert max(abs(one.year - date.year) for one in corners) <= 12


class TestEntities:
    def test_siblings_have_the_answers_sort_and_are_wrong(self):
        graph = city_world()
        maker = DistractorMaker(graph, TABLE, DictKinds(graph), 1)
        for number in range(30):
            hop = lookup_hop(graph, f"Q1{number:02d}", "P6")
            made = maker.make(hop, {}, ())
            assert made is not None
            assert len({one.id for one in made} - {hop.answer_id}) == 3
            assert all(graph.objects(one.id, "P31") == ("Q5",) for one in made)

    def test_siblings_are_mostly_from_the_same_country(self):
        graph = city_world()
        maker = DistractorMaker(graph, TABLE, DictKinds(graph), 1)
        near = total = 0
        for number in range(30):
            hop = lookup_hop(graph, f"Q1{number:02d}", "P6")
            for one in maker.make(hop, {}, ()) or ():
                near += graph.objects(one.id, "P27") == graph.objects(hop.answer_id, "P27")
                total += 1
        assert near / total > 0.45  # a third would be chance

    def test_an_entity_that_is_also_called_as_the_answer_is_no_distractor(self):
        graph = city_world()
        for seed in range(40):
            maker = DistractorMaker(graph, TABLE, DictKinds(graph), seed)
            assert "Q206" not in {one.id for one in maker.make(lookup_hop(graph, "Q103", "P6"), {}, ()) or ()}

    def test_the_country_of_a_city_gets_no_third_sibling_where_there_is_none(self):
        graph = city_world()
        maker = DistractorMaker(graph, TABLE, DictKinds(graph), 1)
        assert maker.make(lookup_hop(graph, "Q103", "P17"), {}, ()) is None

    def test_answers_on_the_way_are_no_distractors(self):
        graph = city_world()
        earlier = lookup_hop(graph, "Q104", "P6")
        for seed in range(40):
            maker = DistractorMaker(graph, TABLE, DictKinds(graph), seed)
            made = maker.make(lookup_hop(graph, "Q103", "P6"), {1: earlier.answer_id}, (earlier,)) or ()
            assert earlier.answer_id not in {one.id for one in made}

    def test_the_loser_of_a_comparison_is_offered(self):
        graph = DictGraph()
        maker = DistractorMaker(graph, TABLE, DictKinds(graph), 1)
        hop = converging_item().hops[2]
        made = maker.make(hop, {1: "Q903", 2: "Q909"}, converging_item().hops[:2])
        # The world has three countries: one wins, one loses, and a third sibling is missing.
        assert made is None
        labels = {**graph._labels, "Q990": "Ostmark"}
        triplets = [*graph._triplets, ("Q990", "P31", "Q6256")]
        literals = [*graph._literals, ("Q990", "P2046", "+1000000000", "decimal")]
        richer = DictGraph(labels=labels, triplets=triplets, literals=literals)
        made = DistractorMaker(richer, TABLE, DictKinds(richer), 1).make(hop, {1: "Q903", 2: "Q909"}, ())
        assert (made[0].text, made[0].kind) == ("Iria", "operand")
        assert {one.text for one in made} == {"Iria", "Karelund", "Ostmark"}


@pytest.fixture(scope="module")
def items(sample: GraphStore) -> tuple[Item, ...]:
    return draft_items(sample)


class TestOnTheSample:
    def test_no_distractor_meets_the_derivation(self, items, sample):
        facts = GraphFacts(sample, TABLE)
        for item in items:
            answers = {}
            for hop in item.hops:
                for one in hop.distractors:
                    assert not holds_true(hop, one, answers, facts), (hop.question, one)
                answers[hop.index] = stated_value(hop)

    def test_neither_is_called_by_the_others_label(self, items, sample):
        for item in items:
            for hop in item.hops:
                if hop.answer_type == "entity":
                    names = {fold(name) for name in (hop.answer, *sample.aliases(hop.answer_id))}
                    for one in hop.distractors:
                        assert fold(one.text) not in names
                        assert fold(hop.answer) not in {fold(name) for name in sample.aliases(one.id)}

    def test_kinds_agree(self, items, sample):
        kinds = KindIndex(sample)
        for item in items:
            for hop in item.hops:
                if hop.answer_type == "entity":
                    assert {kinds.kind(one.id) for one in hop.distractors} == {kinds.kind(hop.answer_id)}

    def test_the_middle_and_the_medoid_are_no_better_than_chance(self, items):
        """Over all numbers: the rank is spread, and the number nearest to all others is seldom the right one."""
        ranks: Counter[int] = Counter()
        nearest = total = 0
        for item in items:
            for hop in item.hops:
                if hop.answer_type == "number":
                    values = sorted(float(text.replace(",", "")) for text in hop.options.values())
                    right = float(hop.answer.replace(",", ""))
                    ranks[values.index(right)] += 1
                    nearest += min(values, key=lambda one: sum(abs(one - other) for other in values)) == right
                    total += 1
        assert total > 100
        assert max(ranks.values()) / total < 0.36 and nearest / total < 0.36

    def test_the_right_option_is_seldom_the_longest(self, items):
        longest = total = 0
        for item in items:
            for hop in item.hops:
                if hop.answer_type == "entity":
                    longest += all(len(one.text) < len(hop.answer) for one in hop.distractors)
                    total += 1
        assert total > 100 and longest / total < 0.38

    def test_the_same_seed_makes_the_same_and_another_seed_others(self, items, sample):
        kinds = KindIndex(sample)
        same, other = (DistractorMaker(sample, TABLE, kinds, seed) for seed in (5, 6))
        changed = 0
        for item in items[:40]:
            answers = {}
            for hop in item.hops:
                earlier = item.hops[: hop.index - 1]
                asked = item.question if hop is item.hops[-1] else ""
                assert same.make(hop, answers, earlier, asked) == hop.distractors
                changed += other.make(hop, answers, earlier, asked) != hop.distractors
                answers[hop.index] = stated_value(hop)
        assert changed > 40


def holds_true(hop: Hop, distractor: Distractor, answers: dict, facts: GraphFacts) -> bool:
    """Whether the derivation would give the distractor as well: asked of the graph in the plainest way."""
    derivation = hop.derivation
    if isinstance(derivation, Lookup) and distractor.id:
        subject = str(answers.get(int(derivation.subject[3:]))) if "hop" in derivation.subject else derivation.subject
        return distractor.id in facts.objects(subject, derivation.property)
    if isinstance(derivation, ReverseLookup):
        conditions = [Constraint(property=derivation.property, value=derivation.value), *derivation.constraints]
        found = []
        for one in conditions:
            alone = ReverseLookup(property=one.property, value=one.value)
            try:
                found.append({execute(alone, "entity", answers, facts, TABLE)})
            except ExpressionError:
                if one.property not in TABLE.literal:
                    value = str(answers[int(one.value[3:])]) if "hop" in one.value else one.value
                    found.append(set(facts.subjects(one.property, value)))
        return bool(found) and all(distractor.id in matching for matching in found) and len(found) == len(conditions)
    return parse(distractor.text, hop.answer_type) == stated_value(hop)
