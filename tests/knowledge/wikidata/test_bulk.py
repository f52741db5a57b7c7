"""Bulk answers equal the scalar ones; sampling is uniform."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from hopwright.errors import InputError
from hopwright.knowledge.wikidata.bulk import (
    Paths,
    count_paths,
    degrees,
    fetch_neighbourhoods,
    link_names,
    sample_paths,
)
from hopwright.knowledge.wikidata.store import GraphStore
from tests.knowledge.wikidata.builders import make_store


def all_paths(store: GraphStore) -> set[tuple[str, str, str, str, str]]:
    """Every constrained two-step path, by the scalar calls."""
    paths = set()
    for source in store.entities():
        for p, middle in store.out_edges(source):
            if middle == source or len(store.objects(source, p)) > 1:
                continue
            for q, target in store.out_edges(middle):
                if target not in (middle, source) and len(store.objects(middle, q)) == 1:
                    paths.add((source, p, middle, q, target))
    return paths


def name_paths(store: GraphStore, paths: Paths) -> list[tuple[str, str, str, str, str]]:
    names = store.properties()
    columns = (paths.sources, paths.first, paths.middles, paths.second, paths.targets)
    return [
        (store.id_of(s), names[p], store.id_of(m), names[q], store.id_of(t))
        for s, p, m, q, t in zip(*(column.tolist() for column in columns), strict=True)
    ]


def test_names_link_as_find_does(sample: GraphStore) -> None:
    names = [name for e in list(sample.entities())[::40] for name in (sample.label(e), *sample.aliases(e))]
    names += [name.upper() for name in names[:300]] + [
        "nowhere at all",
        "",
        "  ",
        "the hague",
        "saint etienne",
    ]
    names += ["Hancock County", "Mercury (planet)", "MA"]
    numbers = link_names(sample, names).tolist()
    for name, number in zip(names, numbers, strict=True):
        found = sample.find(name)
        assert (found[0].id if found else None) == (sample.id_of(number) if number >= 0 else None), name
    assert len(link_names(sample, [])) == 0


def test_neighbourhoods_are_the_rows(sample: GraphStore) -> None:
    entities = np.arange(0, 45_000, 97)
    names = sample.properties()
    for inward in (False, True):
        found = fetch_neighbourhoods(sample, entities, inward=inward)
        for i, entity in enumerate(entities.tolist()):
            part = slice(found.start[i], found.start[i + 1])
            edges = zip(found.properties[part].tolist(), found.others[part].tolist(), strict=True)
            id = sample.id_of(entity)
            expected = sample.in_edges(id) if inward else sample.out_edges(id)
            assert tuple((names[p], sample.id_of(o)) for p, o in edges) == expected
    assert degrees(sample, entities).tolist() == [sample.degree(sample.id_of(e)) for e in entities.tolist()]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> GraphStore:
    triplets = [(f"Q{s}", f"P{p}", f"Q{(s * p * 7 + s) % 12 + 1}") for s, p in product(range(1, 13), range(1, 4))]
    triplets += [("Q1", "P1", "Q5"), ("Q2", "P9", "Q2"), ("Q3", "P9", "Q4"), ("Q4", "P9", "Q3")]
    return make_store(tmp_path_factory.mktemp("small"), triplets=triplets, literals=[])


def test_paths_are_drawn_uniformly_from_all_that_there_are(small: GraphStore) -> None:
    expected = all_paths(small)
    draws = 400 * len(expected)
    drawn = Counter(name_paths(small, sample_paths(small, draws, seed=5)))
    assert set(drawn) == expected and sum(drawn.values()) == draws
    chi = sum((count - 400) ** 2 / 400 for count in drawn.values())
    spread = (2 * len(expected)) ** 0.5
    assert abs(chi - len(expected)) < 4 * spread


def test_constraints_select_and_seeds_repeat(small: GraphStore) -> None:
    expected = {path for path in all_paths(small) if path[1] == "P2" and path[3] in ("P1", "P3")}
    drawn = sample_paths(small, 5000, seed=2, first=["P2"], second=["P1", "P3"])
    assert set(name_paths(small, drawn)) == expected
    again = sample_paths(small, 5000, seed=2, first=["P2"], second=["P1", "P3"])
    assert all(np.array_equal(getattr(drawn, one), getattr(again, one)) for one in Paths.__slots__)
    limit = 9
    calm = name_paths(small, sample_paths(small, 3000, max_middle_degree=limit))
    assert set(calm) == {path for path in all_paths(small) if small.degree(path[2]) <= limit}
    with pytest.raises(InputError, match="P77"):
        sample_paths(small, 1, first=["P77"])


def test_no_paths_is_no_error(tmp_path: Path) -> None:
    store = make_store(tmp_path, triplets=[("Q1", "P1", "Q2")], literals=[])
    assert count_paths(store) == 0 and len(sample_paths(store, 10).sources) == 0


def test_paths_of_the_sample_hold(sample: GraphStore) -> None:
    for source, p, middle, q, target in name_paths(sample, sample_paths(sample, 2000, max_middle_degree=500)):
        assert sample.objects(source, p) == (middle,) and sample.objects(middle, q) == (target,)
        assert len({source, middle, target}) == 3 and sample.degree(middle) <= 500
