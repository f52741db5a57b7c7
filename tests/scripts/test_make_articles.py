"""The articles that ship with the project: the same facts give the same bytes, and only what is free is told."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.settings import articles_file, sample_folder

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from make_articles import ARTICLES, LICENCE, SOURCE, TellableFacts, make_articles, read_encumbered
from sample.writing import write_packed

ROOT = Path(__file__).resolve().parents[2]
FEW = 40
Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def graph(sample_folder: Path) -> GraphStore:
    """The sample's graph; no test here needs the drafts that come with the fixture `sample`."""
    return GraphStore.open(sample_folder)


@pytest.fixture(scope="module")
def shipped() -> Rows:
    with gzip.open(articles_file(), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def encumbered() -> frozenset[tuple[str, str]]:
    return read_encumbered(sample_folder())


@pytest.fixture(scope="module")
def few(graph: GraphStore, encumbered: frozenset[tuple[str, str]]) -> Iterator[Rows]:
    yield make_articles(graph, encumbered, FEW)


def test_the_same_facts_give_the_same_bytes(
    graph: GraphStore, encumbered: frozenset[tuple[str, str]], few: Rows, tmp_path: Path
) -> None:
    again = make_articles(graph, encumbered, FEW)
    for name, rows in (("one", few), ("other", again)):
        write_packed(tmp_path / name, (json.dumps(row, sort_keys=True) for row in rows))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_what_ships_is_what_the_script_makes_of_the_sample(shipped: Rows, few: Rows) -> None:
    """Fewer articles are the first that are picked, so each of them stands in the whole file."""
    held = {row["id"]: row for row in shipped}
    assert len(few) == FEW
    assert all(held[row["id"]] == row for row in few)


def test_the_articles_are_small_free_and_each_about_one_thing(shipped: Rows, graph: GraphStore) -> None:
    assert articles_file().stat().st_size <= 1_500_000
    assert len(shipped) == ARTICLES
    assert {(row["licence"], row["source"]) for row in shipped} == {(LICENCE, SOURCE)}
    assert all(graph.bearers(row["title"]) == (row["id"],) for row in shipped)
    assert len({row["text"] for row in shipped}) == len(shipped)
    assert [row["title"] for row in shipped] == sorted(row["title"] for row in shipped)
    assert not any("{" in row["text"] or not row["text"].endswith(".") for row in shipped)


def test_a_fact_under_another_licence_is_not_told(graph: GraphStore, few: Rows) -> None:
    free = TellableFacts(graph, frozenset())
    entity, fact = next((row["id"], edges[0]) for row in few if (edges := free.list_edges(row["id"])))
    bound = TellableFacts(graph, frozenset({(entity, fact[1])}))
    assert fact in [(one.subject, one.property, one.object) for one in free.plan(entity).triplets]
    assert fact[1] not in {one.property for one in bound.plan(entity).triplets if one.subject == entity}


def test_what_only_other_sources_state_is_encumbered(encumbered: frozenset[tuple[str, str]]) -> None:
    with gzip.open(sample_folder() / "provenance.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    bound, free = (
        {(row[0], row[1]) for row in rows if row[3] in sources}
        for sources in (
            ("2wiki", "geonames", "passage", "airportsdata", "calendar"),
            ("atlas", "factbook 2024", "lives"),
        )
    )
    assert bound <= encumbered
    assert len(free - encumbered) > 50_000


@pytest.mark.parametrize("arguments", [(), ("a",), ("a", "b", "x"), ("a", "b", "0"), ("nowhere", "b")])
def test_bad_arguments_get_one_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "make_articles.py"), *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    assert not list(tmp_path.iterdir())
