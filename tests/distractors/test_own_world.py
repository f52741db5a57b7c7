"""Wrong options from the answer's own world: its country, calling and decades, and what the chain leads to."""

from __future__ import annotations

import datetime as dt
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopwright.distractors.hop_task import OptionShortage
from hopwright.distractors.maker import DistractorMaker
from hopwright.distractors.numeric_distractors import choose_date_distractors, choose_number_distractors
from hopwright.distractors.own_world import NEAR_IN_TIME, OwnWorld, count_quarters
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.similar_entities import SimilarEntities
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import AgeAt, read_form
from hopwright.planning.execution import stated_value
from hopwright.records import Compute, Distractor, Domain, Hop, Item, Lookup
from hopwright.records.values import parse
from tests.drafts import draft_items, draft_numbers
from tests.worlds import DictGraph, DictKinds

TABLE = default_table()
NORLAND, SUDMARK, ESTRIA, FARLAND = "Q1", "Q2", "Q3", "Q4"
DIRECTOR = "Q91"


def film_world(natives: int = 6) -> DictGraph:
    """Directors of Norland and of Farland, each with a film: so many of the former, forty of the latter.

    Norland borders on Sudmark and that on Estria. All are born within 24 years.
    """
    labels = {"Q5": "human", "Q6256": "country", "Q11424": "film", DIRECTOR: "director", NORLAND: "Norland",
              SUDMARK: "Sudmark", ESTRIA: "Estria", FARLAND: "Farland"}  # fmt: skip
    triplets = [(country, "P31", "Q6256") for country in (NORLAND, SUDMARK, ESTRIA, FARLAND)]
    triplets += [(NORLAND, "P47", SUDMARK), (SUDMARK, "P47", ESTRIA)]
    literals = []
    for number in range(natives + 40):
        person, film = f"Q2{number:02d}", f"Q3{number:02d}"
        home = NORLAND if number < natives else FARLAND
        labels |= {person: f"Ann Name{number:02d}", film: f"Film {number:02d}"}
        triplets += [(person, "P31", "Q5"), (person, "P27", home), (person, "P106", DIRECTOR)]
        triplets += [(film, "P31", "Q11424"), (film, "P57", person)]
        literals.append((person, "P569", f"{1900 + number % 8 * 3}-03-04T00:00:00Z", "dateTime"))
        literals.append((film, "P577", "1950-01-01T00:00:00Z", "dateTime"))
    return DictGraph(labels=labels, triplets=triplets, literals=literals)


def ask_director(graph: DictGraph, film: str = "Q300") -> Hop:
    (director,) = graph.objects(film, "P57")
    return Hop(
        index=1, question="Who directed it?", answer=graph.label(director), answer_type="entity", answer_id=director,
        domain=Domain.FILM, depends_on=(), derivation=Lookup(subject=film, property="P57"),
    )  # fmt: skip


def open_world(graph: GraphStore) -> OwnWorld:
    return OwnWorld(graph, SimilarEntities(graph, DictKinds(graph)))


class TestForeignness:
    def test_another_country_is_the_stranger_the_further_off_it_lies(self):
        graph = film_world()
        world = open_world(graph)
        apart = [world.measure_foreignness(one, NORLAND) for one in (NORLAND, SUDMARK, ESTRIA, FARLAND)]
        assert apart == sorted(apart) and len(set(apart)) == 4 and apart[0] == 0

    def test_a_home_counts_before_a_birthplace_and_a_state_of_the_past_as_the_one_of_today(self):
        graph = DictGraph(
            labels={
                NORLAND: "Norland", "Q5": "human", "Q6256": "country", "Q145": "United Kingdom", "Q10": "A", "Q11": "B",
                "Q174193": "United Kingdom of Great Britain and Ireland",
            },
            triplets=[
                ("Q10", "P31", "Q5"), ("Q10", "P27", NORLAND), ("Q10", "P990193", "Q145"),
                ("Q11", "P31", "Q5"), ("Q11", "P27", "Q174193"),
                *((one, "P31", "Q6256") for one in (NORLAND, "Q145", "Q174193")),
            ],
            literals=[],
        )  # fmt: skip
        world = open_world(graph)
        assert world.find_homes("Q10") == world.find_homes("Q11") == frozenset(["Q145"])

    def test_the_country_of_a_birthplace_counts_through_what_the_place_lies_in(self):
        graph = DictGraph(
            labels={NORLAND: "Norland", "Q5": "human", "Q6256": "country", "Q10": "A", "Q11": "Town", "Q12": "County"},
            triplets=[("Q10", "P31", "Q5"), ("Q10", "P19", "Q11"), ("Q11", "P131", "Q12"), ("Q12", "P17", NORLAND)],
            literals=[],
        )
        assert open_world(graph).find_homes("Q10") == {NORLAND}

    def test_whoever_served_a_country_is_of_it_where_nothing_surer_is_known(self):
        labels = {NORLAND: "Norland", SUDMARK: "Sudmark", "Q5": "human", "Q10": "A", "Q11": "B", "Q12": "Office"}
        triplets = [(one, "P31", "Q5") for one in ("Q10", "Q11")] + [(one, "P39", "Q12") for one in ("Q10", "Q11")]
        triplets += [("Q12", "P1001", NORLAND), ("Q11", "P27", SUDMARK)]
        world = open_world(DictGraph(labels=labels, triplets=triplets, literals=[]))
        assert [world.find_homes(one) for one in ("Q10", "Q11")] == [{NORLAND}, {SUDMARK}]

    def test_one_country_under_two_ids_is_one(self):
        labels = {
            NORLAND: "Kingdom of Norland",
            SUDMARK: "Norland",
            "Q5": "human",
            "Q6256": "country",
            "Q10": "A",
            "Q11": "B",
        }
        triplets = [(NORLAND, "P31", "Q6256"), (SUDMARK, "P31", "Q6256"), (NORLAND, "P47", FARLAND)]
        triplets += [("Q10", "P31", "Q5"), ("Q11", "P31", "Q5"), ("Q10", "P27", NORLAND), ("Q11", "P27", SUDMARK)]
        triplets += [("Q10", "P463", NORLAND)]  # the better known of the two
        graph = DictGraph(labels=labels, aliases={NORLAND: ("Norland",)}, triplets=triplets, literals=[])
        world = open_world(graph)
        assert world.find_homes("Q10") == world.find_homes("Q11") == {NORLAND}

    def test_fellows_are_compatriots_before_others(self):
        fellows = open_world(film_world()).list_fellows("Q200", "P57")
        assert fellows and set(fellows) <= {f"Q2{number:02d}" for number in range(1, 6)}

    @given(st.integers(0, 300), st.integers(0, 300))
    def test_years_count_from_a_quarter_of_a_century_on(self, one, other):
        less, more = sorted((one, other))
        assert count_quarters(less) <= count_quarters(more)
        assert (count_quarters(one) == 0) == (one <= NEAR_IN_TIME)


class TestPeople:
    @pytest.mark.parametrize("seed", range(20))
    def test_of_enough_compatriots_no_foreigner_is_offered(self, seed):
        graph = film_world(natives=8)
        made = DistractorMaker(graph, TABLE, DictKinds(graph), seed).make(ask_director(graph), {}, ())
        assert not isinstance(made, OptionShortage)
        assert {graph.objects(one.id or "", "P27") for one in made} == {(NORLAND,)}

    @pytest.mark.parametrize("seed", range(5))
    def test_of_too_few_all_are_offered_beside_the_nearest_others(self, seed):
        graph = film_world(natives=3)
        made = DistractorMaker(graph, TABLE, DictKinds(graph), seed).make(ask_director(graph), {}, ())
        assert not isinstance(made, OptionShortage)
        assert {"Q201", "Q202"} < {one.id for one in made}

    @pytest.mark.parametrize("seed", range(5))
    def test_no_two_foreigners_are_offered_on_the_way(self, seed):
        graph = film_world(natives=2)
        made = DistractorMaker(graph, TABLE, DictKinds(graph), seed).make(ask_director(graph), {}, ())
        assert isinstance(made, OptionShortage) and made.reason == "conditions"

    def test_one_of_the_country_who_directed_nothing_comes_after_those_who_did(self):
        graph = film_world(natives=8)
        triplets = [*graph._triplets]
        literals = [*graph._literals]
        for number in range(20):  # of the same calling and country, and more of them
            triplets += [(f"Q5{number:02d}", "P31", "Q5"), (f"Q5{number:02d}", "P27", NORLAND)]
            triplets += [(f"Q5{number:02d}", "P106", DIRECTOR), (f"Q5{number:02d}", "P1", NORLAND)]
            literals.append((f"Q5{number:02d}", "P569", "1902-03-04T00:00:00Z", "dateTime"))
        labels = graph._labels | {f"Q5{number:02d}": f"Bob Name{number:02d}" for number in range(20)}
        world = DictGraph(labels=labels, triplets=triplets, literals=literals)
        for seed in range(10):
            made = DistractorMaker(world, TABLE, DictKinds(world), seed).make(ask_director(world), {}, ())
            assert not isinstance(made, OptionShortage)
            assert sum((one.id or "").startswith("Q5") for one in made) <= 1


class NamedKinds(DictKinds):
    """Kinds by which the cities of a country are called after it, as those of many are."""

    def noun(self, id: str) -> str:
        number = int(id[1:])
        return super().noun(id) if number < 110 else "Norish city"


class TestPlaces:
    @pytest.mark.parametrize("seed", range(10))
    def test_a_city_of_a_country_is_a_city(self, seed):
        labels = {"Q515": "city", "Q5": "human", "Q6256": "country", NORLAND: "Norland", FARLAND: "Farland"}
        triplets = [(NORLAND, "P31", "Q6256"), (FARLAND, "P31", "Q6256")]
        for number in range(40):
            city, person = f"Q1{number:02d}", f"Q2{number:02d}"
            labels |= {city: f"Town{number:02d}", person: f"Ann Name{number:02d}"}
            home = NORLAND if number == 0 or number > 10 else FARLAND
            triplets += [(city, "P31", "Q515"), (city, "P17", home), (person, "P31", "Q5"), (person, "P19", city)]
        graph = DictGraph(labels=labels, triplets=triplets, literals=[])
        hop = Hop(
            index=1, question="In which city was Ann Name00 born?", answer="Town00", answer_type="entity",
            answer_id="Q100", domain=Domain.GEOGRAPHY, depends_on=(),
            derivation=Lookup(subject="Q200", property="P19"),
        )  # fmt: skip
        made = DistractorMaker(graph, TABLE, NamedKinds(graph), seed).make(hop, {}, ())
        assert not isinstance(made, OptionShortage)
        assert {graph.objects(one.id or "", "P17") for one in made} == {(NORLAND,)}


class TestDates:
    @given(st.dates(dt.date(1700, 1, 1), dt.date(1990, 1, 1)), st.integers(0, 10**6))
    def test_what_wrong_options_lead_to_comes_before_what_only_lies_near(self, date, seed):
        rng = random.Random(seed)
        led_to = [
            date + dt.timedelta(days=side * days) for side in (-1, 1) for days in rng.sample(range(1500, 3600), 3)
        ]
        near = [date + dt.timedelta(days=step) for step in (-40, -30, -20, 20, 30, 40)]
        chosen = choose_date_distractors(
            date, [*((one, "neighbour") for one in near), *((one, "near_miss") for one in led_to)], rng
        )
        assert chosen is not None and {one for one, _ in chosen} <= set(led_to)

    @given(st.integers(0, 3), st.integers(0, 10**6))
    def test_others_fill_up_only_what_is_missing(self, count, seed):
        date = dt.date(1950, 6, 1)
        led_to = [date + dt.timedelta(days=900 + step) for step in range(count)]
        near = [date + dt.timedelta(days=step) for step in (-40, -30, -20, 20, 30, 40)]
        chosen = choose_date_distractors(
            date, [*((one, "neighbour") for one in near), *((one, "near_miss") for one in led_to)], random.Random(seed)
        )
        assert chosen is not None
        later = [one for one, _ in chosen if one > date]
        assert sum(one in led_to for one in later) == min(len(later), count)

    def test_no_birth_lies_further_off_than_half_a_generation(self):
        graph = film_world(natives=8)
        wrong = tuple(Distractor(text=graph.label(f"Q2{n:02d}"), kind="neighbour", id=f"Q2{n:02d}") for n in (1, 5, 7))
        earlier = ask_director(graph).model_copy(update={"distractors": wrong})
        hop = Hop(
            index=2, question="On what date was Ann Name00 born?", answer="4 March 1900", answer_type="date",
            domain=Domain.FILM, depends_on=(1,), derivation=Lookup(subject="hop1", property="P569"),
        )  # fmt: skip
        for seed in range(20):
            made = DistractorMaker(graph, TABLE, DictKinds(graph), seed).make(hop, {1: "Q200"}, (earlier,))
            assert not isinstance(made, OptionShortage)
            assert all(parse(one.text, "date").year <= 1912 for one in made)


class TestAges:
    @given(st.integers(3, 105), st.integers(0, 10**6))
    def test_wrong_ages_are_ages(self, age, seed):
        rng = random.Random(seed)
        slips = [(rng.randint(1, 130), "near_miss") for _ in range(30)]
        chosen = choose_number_distractors(
            age, slips, year=False, lowest=1, highest=max(99, age), apart=12, stepped=True, rng=rng
        )
        for one, _ in chosen or ():
            assert abs(one - age) <= 12 and 1 <= one <= max(99, age)

    @settings(deadline=None, max_examples=25)
    @given(st.integers(18, 95), st.integers(0, 10**6))
    def test_a_grown_up_is_taken_for_no_child(self, age, seed):
        born = Hop(
            index=1, question="When was he born?", answer="1 May 1850", answer_type="date", domain=Domain.FILM,
            depends_on=(), derivation=Lookup(subject="Q200", property="P569"),
        )  # fmt: skip
        hop = Hop(
            index=3, question="How old was he?", answer=str(age), answer_type="number", unit="years",
            domain=Domain.FILM, depends_on=(1, 2), derivation=Compute(expression="age(hop1, hop2)", kind="temporal"),
        )  # fmt: skip
        answers = {1: dt.date(1850, 5, 1), 2: dt.date(1850 + age, 7, 1)}
        graph = film_world()
        made = DistractorMaker(graph, TABLE, DictKinds(graph), seed).make(hop, answers, (born,))
        if not isinstance(made, OptionShortage):
            assert all(15 <= int(one.text) <= 99 and abs(int(one.text) - age) <= 12 for one in made)


@pytest.fixture(scope="module")
def items(sample: GraphStore) -> tuple[Item, ...]:
    return draft_items(sample)


class TestOnTheSample:
    def test_most_people_are_compatriots_and_hardly_anybody_is_of_another_time(self, items, sample):
        kinds = KindIndex(sample)
        similar = SimilarEntities(sample, kinds)
        world = OwnWorld(sample, similar)
        of_home = apart = total = 0
        for item in items:
            for hop in item.hops:
                if (
                    hop.answer_id is None
                    or kinds.kind(hop.answer_id) != "person"
                    or isinstance(hop.derivation, Compute)
                ):
                    continue
                for one in hop.distractors:
                    mine, theirs = world.find_homes(hop.answer_id), world.find_homes(one.id or "")
                    if mine and theirs:
                        total += 1
                        of_home += bool(mine & theirs)
                        apart += (similar.years_apart(one.id or "", hop.answer_id) or 0) > 1.5 * NEAR_IN_TIME
        assert total > 100 and of_home / total > 0.5 and apart / total < 0.05

    def test_an_age_is_one_that_somebody_could_have(self, sample):
        ages = [
            (int(one.text), int(hop.answer))
            for item in draft_numbers(sample)
            for hop in item.hops
            if isinstance(hop.derivation, Compute) and isinstance(read_form(hop.derivation.expression), AgeAt)
            for one in hop.distractors
        ]
        assert len(ages) > 10
        assert all(abs(wrong - right) <= 12 and wrong <= max(99, right) for wrong, right in ages)

    def test_births_that_nothing_asks_for_lie_near_the_right_one(self, items):
        for item in items:
            for hop in item.hops[:-1]:
                if isinstance(hop.derivation, Lookup) and hop.derivation.property == "P569":
                    right = stated_value(hop)
                    wrong = [parse(one.text, hop.answer_type) for one in hop.distractors]
                    years = [one.year if isinstance(one, dt.date) else one for one in (right, *wrong)]
                    assert max(abs(one - years[0]) for one in years) <= 12, (hop.question, years)
