"""Who did the same for a kindred work is offered, and nobody else's work counts as kindred."""

from __future__ import annotations

import pytest

from hopwright.distractors.shared_credits import SharedCredits
from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.similar_entities import SimilarEntities
from hopwright.knowledge.wikidata.store import GraphStore

DIRECTOR = "P57"
_MOST_YEARS = 8


@pytest.fixture(scope="module")
def similar(sample: GraphStore) -> SimilarEntities:
    return SimilarEntities(sample, KindIndex(sample))


@pytest.fixture(scope="module")
def facts(sample: GraphStore) -> GraphFacts:
    return GraphFacts(sample, default_table())


def test_whoever_is_linked_directed_a_work_of_those_years_with_somebody_of_the_same(
    sample: GraphStore, similar: SimilarEntities, facts: GraphFacts
) -> None:
    credits = SharedCredits(sample, facts, similar)
    films = [work for work, _ in zip(sorted(set(_list_films(sample))), range(60), strict=False)]
    found = {film: credits.find_linked(film, DIRECTOR) for film in films}
    assert sum(map(bool, found.values())) > len(films) // 2
    for film, linked in found.items():
        own = {person for _, person in sample.out_edges(film)} - set(facts.objects(film, DIRECTOR))
        for director, count in linked.items():
            assert director not in facts.objects(film, DIRECTOR)
            shared = [
                len(own & {person for _, person in sample.out_edges(work)})
                for work in facts.subjects(DIRECTOR, director)
                if (years := similar.years_apart(film, work)) is not None and years <= _MOST_YEARS
            ]
            assert max(shared) >= count > 0
        assert [*linked.values()] == sorted(linked.values(), reverse=True), "the most alike come first"


def test_what_is_no_work_has_no_kindred(sample: GraphStore, similar: SimilarEntities, facts: GraphFacts) -> None:
    credits = SharedCredits(sample, facts, similar)
    person = next(one for film in _list_films(sample) for one in facts.objects(film, DIRECTOR))
    assert credits.find_linked(person, DIRECTOR) == {}


def _list_films(sample: GraphStore) -> list[str]:
    return [film for person in sample.sample_objects(DIRECTOR, most=400) for film in sample.subjects(DIRECTOR, person)]
