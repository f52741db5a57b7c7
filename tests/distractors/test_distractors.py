"""Distractors and options: false, alike in form, unguessable, and the same for the same seed."""

from __future__ import annotations

import datetime as dt
import functools
import math
import random
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hopwright.checks.guessing import count_digit_edits
from hopwright.checks.open_conditions import list_compared
from hopwright.distractors.computation_slips import list_slips
from hopwright.distractors.hop_task import OptionShortage, Reader, find_reader
from hopwright.distractors.maker import DistractorMaker
from hopwright.distractors.numeric_distractors import (
    LATEST_YEAR,
    choose_count_distractors,
    choose_date_distractors,
    choose_number_distractors,
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
from tests.drafts import SEED, draft_items, draft_numbers
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

    @pytest.mark.parametrize("wrong", [["b"], ["b", "c"]])
    def test_of_fewer_options_the_right_letter_is_uniform_too(self, wrong):
        drawn = Counter(assign_options("a", wrong, f"key-{n}")[1] for n in range(1200))
        assert sorted(drawn) == list(LABELS[: len(wrong) + 1])
        assert stats.chisquare(list(drawn.values())).pvalue > 0.001

    @pytest.mark.parametrize("wrong", [[], ["b", "c", "a"], ["b", "b", "c"], ["b", "c", "d", "e"]])
    def test_texts_that_are_not_different_or_too_many_are_refused(self, wrong):
        with pytest.raises(InputError, match="one to three other texts"):
            assign_options("a", wrong, "k")


def slips_around(value: int | Decimal, rng: random.Random, count: int = 14) -> list[tuple[int | Decimal, str]]:
    """Wrong numbers on both sides, none further away than half of the value."""
    reach = max(8, int(value) // 2)
    return [(max(1, int(value) + rng.randint(-reach, reach)), "near_miss") for _ in range(count)]


class TestNumbers:
    @given(st.integers(20, 10**9), st.integers(0, 10**6))
    def test_three_wrong_numbers_of_the_same_form(self, value, seed):
        rng = random.Random(seed)
        chosen = choose_number_distractors(value, slips_around(value, rng, 60), year=False, lowest=1, rng=rng)
        if chosen is None:
            return
        numbers = [number for number, _ in chosen]
        assert len({value, *numbers}) == 4 and min(numbers) >= 1
        for number in numbers:
            assert ("," in render(number)) == ("," in render(value))
            assert abs(len(str(number)) - len(str(value))) <= 1
            assert not count_digit_edits((render(number), render(value)))

    @given(st.integers(1000, LATEST_YEAR), st.integers(0, 10**6))
    def test_years_stay_years_and_in_the_past(self, year, seed):
        chosen = choose_number_distractors(year, [], year=True, lowest=1, stepped=True, rng=random.Random(seed))
        assert chosen is not None
        assert all(1000 <= number <= LATEST_YEAR and abs(number - year) <= 40 for number, _ in chosen)

    @given(st.decimals("0.1", "9999.9", places=1), st.integers(0, 10**6))
    def test_decimals_keep_their_precision(self, value, seed):
        if value == value.to_integral_value():
            return
        slips = [(value + Decimal(step) / 10, "slip") for step in (-4, -3, -2, 2, 3, 4, 10)]
        chosen = choose_number_distractors(value, slips, year=False, lowest=0, rng=random.Random(seed))
        for number, _ in chosen or ():
            assert len(render(number).partition(".")[2]) == 1

    @pytest.mark.parametrize(("value", "year"), [(437, False), (1931, True), (61, False)])
    def test_the_rank_of_the_right_number_is_uniform(self, value, year):
        ranks = Counter()
        for seed in range(2000):
            rng = random.Random(seed)
            slips = [(value + step, "near_miss") for step in rng.sample([*range(-20, 0), *range(1, 21)], 20)]
            chosen = choose_number_distractors(value, slips, year=year, lowest=1, rng=rng)
            ranks[sum(number < value for number, _ in chosen)] += 1
        assert stats.chisquare([ranks[rank] for rank in range(4)]).pvalue > 0.001

    def test_no_step_fills_up_a_large_number(self):
        assert choose_number_distractors(12_000, [], year=False, lowest=1, stepped=True, rng=random.Random(1)) is None

    def test_a_round_number_has_round_company(self):
        slips = [(number, "near_miss") for number in (11_347, 12_911, 13_000, 9_000, 15_000, 12_377)]
        chosen = choose_number_distractors(12_000, slips, year=False, lowest=1, rng=random.Random(1))
        assert all(number % 1000 == 0 for number, _ in chosen)

    @given(st.integers(1, 30), st.integers(0, 10), st.integers(0, 10**6))
    def test_counts_stand_in_a_window_of_adjacent_numbers(self, value, above, seed):
        highest = value + above
        chosen = choose_count_distractors(value, lowest=1, highest=highest, rng=random.Random(seed))
        assert (chosen is None) == (highest < 4)
        if chosen is not None:
            window = sorted([value, *(number for number, _ in chosen)])
            assert window == list(range(window[0], window[0] + 4))
            assert window[0] >= 1 and window[3] <= highest
            assert {kind for number, kind in chosen if abs(number - value) == 1} == {"slip"}

    def test_slips_are_what_the_wrong_operation_or_operand_gives(self):
        graph = DictGraph()
        facts = GraphFacts(graph, TABLE)
        slips = set(list_slips(Compute(expression="hop1 - hop2", kind="arithmetic"), {1: 90, 2: 35}, facts))
        assert {(125, "slip"), (90, "operand"), (35, "operand")} <= slips
        slips = set(list_slips(Compute(expression="comb(7, 3)", kind="combinatorics"), {}, facts))
        assert {(21, "slip"), (20, "slip"), (56, "slip")} <= slips

    def test_of_a_choice_only_what_rests_on_a_hop_is_miscounted(self):
        facts = GraphFacts(DictGraph(), TABLE)
        slips = {
            value
            for value, kind in list_slips(Compute(expression="comb(9, hop1)", kind="combinatorics"), {1: 4}, facts)
            if kind == "slip"
        }
        assert slips <= {math.comb(9, k) for k in range(1, 8)}

    def test_a_value_is_taken_of_another_event_another_entity_or_a_similar_one(self):
        dates = [("Q1", "P569", 1900), ("Q1", "P570", 1960), ("Q2", "P569", 1913), ("Q3", "P569", 1921)]
        literals = [(entity, property, f"{year}-01-01T00:00:00Z", "dateTime") for entity, property, year in dates]
        facts = GraphFacts(DictGraph(labels={}, triplets=[], literals=literals), TABLE)
        derivation = Compute(expression="hop1 - year(value(P569, Q1))", kind="temporal")
        slips = set(list_slips(derivation, {1: 1950}, facts, (), ("Q2",), lambda entity, property: ("Q3",)))
        assert {(10, "slip"), (37, "operand"), (29, "neighbour")} <= slips

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
        hop = number_hop("190", "hop3 - 15").model_copy(update={"question": "What is 205 less 15?"})
        for seed in range(30):
            maker = DistractorMaker(DictGraph(), TABLE, DictKinds(DictGraph()), seed)
            made = maker.make(hop, {3: 205}, (earlier,), "Is it 191 or 220?")
            assert not isinstance(made, OptionShortage)
            assert not {one.text for one in made} & {"205", "191", "220"}

    def test_a_count_of_nought_has_three_wrong_numbers(self):
        maker = DistractorMaker(DictGraph(), TABLE, DictKinds(DictGraph()), 1)
        made = maker.make(number_hop("0", "count(hop1 > 5, hop1 > 6, hop1 > 7)", kind="counting"), {1: 3}, ())
        assert {one.text for one in made} == {"1", "2", "3"}


class TestDates:
    @given(st.dates(dt.date(1000, 1, 1), dt.date(2020, 12, 31)), st.integers(0, 10**6))
    def test_other_dates_are_given_ones_on_both_sides(self, date, seed):
        rng = random.Random(seed)
        given_dates = [date + dt.timedelta(days=rng.choice((-1, 1)) * rng.randint(30, 2000)) for _ in range(8)]
        chosen = choose_date_distractors(date, [(one, "neighbour") for one in given_dates], rng)
        assert chosen is not None and len({date, *(one for one, _ in chosen)}) == 4
        assert {one for one, _ in chosen} <= set(given_dates)

    def test_the_rank_in_time_is_uniform(self):
        date = dt.date(1950, 6, 1)
        others = [(date + dt.timedelta(days=100 * step), "neighbour") for step in (-4, -3, -2, -1, 1, 2, 3, 4)]
        ranks = Counter()
        for seed in range(1000):
            ranks[sum(one < date for one, _ in choose_date_distractors(date, others, random.Random(seed)))] += 1
        assert stats.chisquare([ranks[rank] for rank in range(4)]).pvalue > 0.001


class TestEntities:
    def test_siblings_have_the_answers_sort_and_are_wrong(self):
        graph = city_world()
        maker = DistractorMaker(graph, TABLE, DictKinds(graph), 1)
        for number in range(30):
            hop = lookup_hop(graph, f"Q1{number:02d}", "P6")
            made = maker.make(hop, {}, ())
            assert not isinstance(made, OptionShortage)
            assert len({one.id for one in made} - {hop.answer_id}) == 3
            assert all(graph.objects(one.id, "P31") == ("Q5",) for one in made)

    def test_siblings_are_mostly_from_the_same_country(self):
        graph = city_world()
        maker = DistractorMaker(graph, TABLE, DictKinds(graph), 1)
        near = total = 0
        for number in range(30):
            hop = lookup_hop(graph, f"Q1{number:02d}", "P6")
            made = maker.make(hop, {}, ())
            assert not isinstance(made, OptionShortage)
            for one in made:
                near += graph.objects(one.id, "P27") == graph.objects(hop.answer_id, "P27")
                total += 1
        assert near / total > 0.45  # a third would be chance

    def test_an_entity_that_is_also_called_as_the_answer_is_no_distractor(self):
        graph = city_world()
        for seed in range(40):
            maker = DistractorMaker(graph, TABLE, DictKinds(graph), seed)
            made = maker.make(lookup_hop(graph, "Q103", "P6"), {}, ())
            assert not isinstance(made, OptionShortage)
            assert "Q206" not in {one.id for one in made}

    def test_the_country_of_a_city_gets_no_third_sibling_where_there_is_none(self):
        graph = city_world()
        maker = DistractorMaker(graph, TABLE, DictKinds(graph), 1)
        made = maker.make(lookup_hop(graph, "Q103", "P17"), {}, ())
        assert isinstance(made, OptionShortage) and made.reason == "conditions"

    def test_answers_on_the_way_are_no_distractors(self):
        graph = city_world()
        earlier = lookup_hop(graph, "Q104", "P6")
        for seed in range(40):
            maker = DistractorMaker(graph, TABLE, DictKinds(graph), seed)
            made = maker.make(lookup_hop(graph, "Q103", "P6"), {1: earlier.answer_id}, (earlier,))
            assert not isinstance(made, OptionShortage)
            assert earlier.answer_id not in {one.id for one in made}

    def test_a_comparison_of_two_offers_the_loser_alone(self):
        hop = converging_item().hops[2]
        for graph in (DictGraph(), measured_world()):
            made = DistractorMaker(graph, TABLE, DictKinds(graph), 1).make(hop, {1: "Q903", 2: "Q909"}, ())
            assert [(one.text, one.kind) for one in made] == [("Iria", "operand")]

    def test_no_plan_ends_in_a_comparison_of_fewer_than_four(self):
        graph = measured_world()
        hop = converging_item().hops[2]
        made = DistractorMaker(graph, TABLE, DictKinds(graph), 1).make(hop, {1: "Q903", 2: "Q909"}, (), "Which one?")
        assert isinstance(made, OptionShortage) and made.reason == "comparison"

    def test_a_choice_of_four_has_no_option_beside_what_is_compared(self):
        graph = measured_world()
        compared = graph.literal_subjects("P2046")
        named = [one for one in compared if graph.objects(one, "P31") == ("Q6256",)]
        assert len(named) == 4
        facts = GraphFacts(graph, TABLE)
        derivation = Compute(expression=f"argmax(P2046, {', '.join(named)})", kind="comparison")
        winner = str(execute(derivation, "entity", {}, facts, TABLE))
        hop = (
            converging_item()
            .hops[2]
            .model_copy(update={"derivation": derivation, "answer": graph.label(winner), "answer_id": winner})
        )
        made = DistractorMaker(graph, TABLE, DictKinds(graph), 1).make(hop, {}, (), "Which is largest?")
        assert {winner, *(one.id for one in made)} == set(named)
        assert {one.kind for one in made} == {"operand"}

    def test_what_lies_on_another_sea_is_no_rival(self):
        graph = border_world()
        hop = Hop(
            index=2, question="Which country borders Mid and dates from 1950?", answer="Land0", answer_type="entity",
            answer_id="Q10", domain=Domain.GEOGRAPHY, depends_on=(1,),
            derivation=ReverseLookup(property="P571", value="hop1",
                                     constraints=(Constraint(property="P47", value="Q9"),)),
        )  # fmt: skip
        for seed in range(20):
            made = DistractorMaker(graph, TABLE, DictKinds(graph), seed).make(hop, {1: 1950}, (), "Which country?")
            assert not isinstance(made, OptionShortage)
            assert {one.id for one in made} <= {"Q11", "Q12", "Q13", "Q14"}
            assert {one.kind for one in made} == {"near_miss"}

    def test_too_few_that_meet_the_stated_condition_are_a_reason(self):
        graph = border_world(beside=3)
        hop = Hop(
            index=2, question="Which country borders Mid and dates from 1950?", answer="Land0", answer_type="entity",
            answer_id="Q10", domain=Domain.GEOGRAPHY, depends_on=(1,),
            derivation=ReverseLookup(property="P571", value="hop1",
                                     constraints=(Constraint(property="P47", value="Q9"),)),
        )  # fmt: skip
        made = DistractorMaker(graph, TABLE, DictKinds(graph), 1).make(hop, {1: 1950}, (), "Which country?")
        assert isinstance(made, OptionShortage) and made.reason == "conditions"


def measured_world() -> DictGraph:
    """The small world with a fourth country of known area."""
    graph = DictGraph()
    labels = {**graph._labels, "Q990": "Ostmark"}
    triplets = [*graph._triplets, ("Q990", "P31", "Q6256")]
    literals = [*graph._literals, ("Q990", "P2046", "+1000000000", "decimal")]
    return DictGraph(labels=labels, triplets=triplets, literals=literals)


def border_world(beside: int = 5) -> DictGraph:
    """Ten countries founded ten years apart, some of which border on Q9."""
    labels = {"Q6256": "country", "Q9": "Mid"} | {f"Q1{number}": f"Land{number}" for number in range(10)}
    triplets = [(id, "P31", "Q6256") for id in labels if id != "Q6256"]
    triplets += [(f"Q1{number}", "P47", "Q9") for number in range(beside)]
    literals = [(f"Q1{n}", "P571", f"{1950 + 7 * n}-01-01T00:00:00Z", "dateTime") for n in range(10)]
    return DictGraph(labels=labels, triplets=triplets, literals=literals)


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

    def test_the_middle_and_the_medoid_are_no_better_than_chance(self, items, sample):
        """Over all numbers: the rank is spread, and the number nearest to all others is seldom the right one."""
        ranks: Counter[int] = Counter()
        nearest = total = 0
        seen: set[frozenset[str]] = set()
        for item in (*items, *draft_numbers(sample)):
            for hop in item.hops:
                # Several items may ask when the same person was born, with the same options.
                if hop.answer_type == "number" and (offered := frozenset(hop.options.values())) not in seen:
                    seen.add(offered)
                    values = sorted(float(text.replace(",", "")) for text in hop.options.values())
                    right = float(hop.answer.replace(",", ""))
                    ranks[values.index(right)] += 1
                    nearest += min(values, key=lambda one: sum(abs(one - other) for other in values)) == right
                    total += 1
        assert total > 40
        most = 0.25 + 3.5 * math.sqrt(0.25 * 0.75 / total)  # of so few, each rank stays within what chance gives
        assert max(ranks.values()) / total < most and nearest / total < most

    def test_the_right_option_is_seldom_the_longest(self, items):
        longest = total = 0
        for item in items:
            for hop in item.hops:
                if hop.answer_type == "entity":
                    longest += all(len(one.text) < len(hop.answer) for one in hop.distractors)
                    total += 1
        assert total > 100 and longest / total < 0.38

    def test_every_option_meets_every_condition_that_is_stated_openly(self, items, sample):
        """Read from the derivations alone, and asked of the graph's lists of facts."""
        tested = 0
        for item in (*draft_items(sample, 240), *draft_numbers(sample)):
            for hop in item.hops:
                for property, value in stated_conditions(hop, item.hops):
                    held = {subject for subject, object in edges_of(sample, property) if object == value}
                    assert {hop.answer_id, *(one.id for one in hop.distractors)} <= held, (hop.question, property)
                    tested += 1
                compared = list_named(hop)
                if len(compared) >= 4:
                    assert {hop.answer_id, *(one.id for one in hop.distractors)} <= compared, hop.question
                    tested += 1
                if timeline := find_timeline(hop):
                    held = set(sample.literal_subjects(timeline))
                    assert {hop.answer_id, *(one.id for one in hop.distractors)} <= held, hop.question
                    tested += 1
            derivation = item.hops[-1].derivation
            if (
                isinstance(derivation, Lookup)
                and derivation.property not in TABLE.literal
                and "hop" in derivation.subject
            ):
                source = item.hops[int(derivation.subject[3:]) - 1]
                conditions = stated_conditions(source, item.hops)
                for one in item.hops[-1].distractors if conditions else ():
                    holders = {s for s, o in edges_of(sample, derivation.property) if o == one.id}
                    for property, value in conditions:
                        holders &= {subject for subject, object in edges_of(sample, property) if object == value}
                    assert holders, (item.question, one.text)
                    tested += 1
                if timeline := find_timeline(source):
                    held = set(sample.literal_subjects(timeline))
                    for one in item.hops[-1].distractors:
                        # Of few holders so much is known; where these are used up, others come in, as neighbours.
                        if one.kind == "near_miss":
                            found = {s for s, o in edges_of(sample, derivation.property) if o == one.id} & held
                            assert found, (item.question, one.text)
                            tested += 1
        assert tested > 15

    def test_at_most_one_option_is_no_slip(self, items):
        for item in items:
            for hop in item.hops:
                assert sum(one.kind == "sibling" for one in hop.distractors) <= 1, (hop.question, hop.distractors)

    def test_no_number_is_another_with_one_digit_changed(self, items):
        for item in items:
            for hop in item.hops:
                if hop.answer_type == "number" and hop.unit != "year":
                    near = [one.text for one in hop.distractors if count_digit_edits((one.text, hop.answer))]
                    assert not near or hop.derivation.op == "compute", (hop.question, hop.answer, near)

    def test_no_final_answer_is_picked_from_fewer_than_four(self, items, sample):
        for item in items:
            last = item.hops[-1]
            if not isinstance(last.derivation, Compute) or last.answer_type != "entity" or find_timeline(last):
                continue
            answers = {hop.index: hop.answer_id or hop.answer for hop in item.hops}
            picked = list_compared(last.derivation, answers, GraphFacts(sample, TABLE))
            assert len(set(picked)) >= 4, item.question

    def test_the_same_seed_makes_the_same_and_another_seed_others(self, items, sample):
        kinds = KindIndex(sample)
        same, other = (DistractorMaker(sample, TABLE, kinds, seed) for seed in (SEED, SEED + 1))
        changed = 0
        for item in items[:60]:
            answers = {}
            values = {hop.index: stated_value(hop) for hop in item.hops}
            readers = [
                Reader(hop.derivation, hop.answer_type, values[hop.index], hop.evidence.claims, values)
                for hop in item.hops
            ]
            for hop in item.hops:
                earlier = item.hops[: hop.index - 1]
                asked = item.question if hop is item.hops[-1] else ""
                reader = find_reader(hop.index, readers[hop.index :])
                assert same.make(hop, answers, earlier, asked, key=item.id, reader=reader) == hop.distractors
                changed += other.make(hop, answers, earlier, asked, key=item.id, reader=reader) != hop.distractors
                answers[hop.index] = stated_value(hop)
        assert changed > 40


@functools.cache
def edges_of(graph: GraphStore, property: str) -> tuple[tuple[str, str], ...]:
    return tuple(graph.edges(property))


def list_named(hop: Hop) -> set[str]:
    """The entities among which a question lets choose, without what they share; none where no names are given."""
    expression = getattr(hop.derivation, "expression", "")
    found = re.search(r"^arg(?:max|min)\((?:P\d+, |.*(?:among|listed)\(P\d+, \w+, )((?:Q\d+, )*Q\d+)\)+$", expression)
    return set(found[1].split(", ")) if found else set()


def find_timeline(hop: Hop) -> str:
    """The timeline of which a hop asks for a holder; empty for another hop."""
    if isinstance(hop.derivation, ReverseLookup) and TABLE.is_timeline(hop.derivation.property):
        return hop.derivation.property
    return ""


def stated_conditions(hop: Hop, hops: Sequence[Hop]) -> list[tuple[str, str]]:
    """The (property, entity) that a reverse look-up states beside the one condition that tells its answer."""
    if not isinstance(hop.derivation, ReverseLookup):
        return []
    conditions = [(hop.derivation.property, hop.derivation.value)]
    conditions += [(one.property, one.value) for one in hop.derivation.constraints]

    def effort(value: str) -> int:
        rests_on = re.findall(r"hop(\d)", value)
        if not rests_on:
            return 1 if value.startswith("Q") else 2
        return 3 if value == f"hop{rests_on[0]}" and hops[int(rests_on[0]) - 1].answer_type == "entity" else 4

    conditions.remove(max(conditions, key=lambda pair: effort(pair[1])))
    resolved = [
        (property, hops[int(value[3:]) - 1].answer_id or "" if value.startswith("hop") else value)
        for property, value in conditions
    ]
    return [(property, value) for property, value in resolved if value.startswith("Q")]


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
