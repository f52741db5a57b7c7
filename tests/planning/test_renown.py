"""How well known things are, and that questions leave out what is better known than wished."""

from __future__ import annotations

import pytest

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import Extreme, NextOfList, read_computation
from hopwright.planning.plan import entities_of
from hopwright.planning.planner import NoPlanError, Planner
from hopwright.planning.target_distribution import SamplingPreferences, TargetDistribution
from hopwright.settings import SynthesizeParameters, TargetParameters
from hopwright.stages.drafting import read_target_distribution, write_target_distribution
from hopwright.topologies import topology
from tests.drafts import draft_items

TABLE = default_table()
ROLES = TABLE.roles
LIMIT = TargetParameters().renown


@pytest.fixture(scope="module")
def planner(sample: GraphStore) -> Planner:
    return Planner(WikidataSource(sample, TABLE))


def test_films_are_rated_from_one_to_five(planner: Planner, sample: GraphStore) -> None:
    rated = sample.literal_subjects(ROLES.renown)
    assert len(rated) > 4000
    assert all(1 <= planner.traversals.renown(one) <= 5 for one in rated)
    assert planner.traversals.renown("Q30") == 0


@pytest.mark.parametrize("most", [1.5, 2.5, 5.0])
def test_a_plan_has_nothing_better_known_than_wished(planner: Planner, most: float) -> None:
    found = []
    for number in range(60):
        preferences = SamplingPreferences(max_renown=most)
        try:
            plan = planner.draw(topology("converging"), "", f"renown:{number}", preferences=preferences)
        except NoPlanError:
            continue
        found += [planner.traversals.renown(one) for one in entities_of(plan)]
    assert found
    assert max(found) <= most
    assert most < 5 or max(found) > LIMIT, "without a limit some are well known"


def test_what_a_run_wishes_reaches_its_drafts(planner: Planner, sample: GraphStore) -> None:
    named = {hop.answer_id for item in draft_items(sample) for hop in item.hops if hop.answer_id}
    named |= {
        str(fact.subject) for item in draft_items(sample) for hop in item.hops[:2] for fact in hop.evidence.triplets[:1]
    }
    assert max(map(planner.traversals.renown, named)) <= LIMIT
    wished = SynthesizeParameters(targets=TargetParameters(renown=2))
    assert read_target_distribution(write_target_distribution(wished)).max_renown == 2
    assert TargetDistribution(topologies={}).max_renown == LIMIT


def test_no_film_stands_twice(sample: GraphStore) -> None:
    """One title, one director and one year are one film, whichever source has it: but for a few whose dates differ."""
    (director,) = {one for one in ROLES.adapters if TABLE.entity[one].role == "director"}
    seen: dict[tuple[str, str, str], str] = {}
    twice = []
    for film, maker in sample.edges(director):
        for date in {one.value[:4] for one in sample.literals(film, ROLES.release)}:
            key = (sample.label(film), maker, date)
            if seen.setdefault(key, film) != film:
                twice.append(key)
    assert len(twice) <= 8, twice


def test_wrong_options_of_a_choice_from_a_list_are_of_its_years(sample: GraphStore) -> None:
    seen = 0
    for item in draft_items(sample):
        for hop in item.hops:
            form = read_computation(hop.derivation)
            if not isinstance(form, NextOfList | Extreme) or not TABLE.is_ordered_by(_list_of(form), ROLES.release):
                continue
            years = [
                int(sample.literals(one, ROLES.release)[0].value[:4])
                for one in (hop.answer_id, *(option.id for option in hop.distractors))
                if one
            ]
            seen += 1
            assert max(abs(year - years[0]) for year in years) <= 14, hop.question
    assert seen > 20


def _list_of(form: NextOfList | Extreme) -> str:
    if isinstance(form, NextOfList):
        return form.property
    return form.members.property if form.members is not None else ""
