"""`hopwright graph literals` and `graph verify` against a real SPARQL server that holds the sample."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopwright.knowledge.wikidata.store import GraphStore
from tests.builders import write_jsonl
from tests.conftest import ROOT
from tests.drafts import draft_items
from tests.sparql_servers import Oxigraph, find_oxigraph, write_plain

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(find_oxigraph() is None, reason="the SPARQL server (PyPI: oxigraph) is not installed"),
]


@pytest.fixture(scope="module")
def endpoint(sample: GraphStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("oxigraph")
    write_plain(sample, folder / "sample.nt")
    with Oxigraph(folder, folder / "sample.nt") as server:
        yield server.url


def call(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flows.cli", "graph", *arguments],
        env={**os.environ, "HOPWRIGHT_HOME": str(home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_look_ups_of_a_release_are_confirmed_and_a_changed_fact_is_not(
    endpoint: str, sample: GraphStore, tmp_path: Path
) -> None:
    items = draft_items(sample, 20)
    items = sorted(items, key=lambda item: all(not hop.evidence.triplets for hop in item.hops))
    first = items[0]  # with a fact that can be changed
    hops = list(first.hops)
    place = next(n for n, hop in enumerate(hops) if hop.evidence.triplets)
    evidence = hops[place].evidence
    moved = evidence.triplets[0].model_copy(update={"object": "Q5", "object_label": "human"})
    wrong = evidence.replace(triplets=(moved, *evidence.triplets[1:]))
    hops[place] = hops[place].model_copy(update={"evidence": wrong})
    file = tmp_path / "data.jsonl"
    write_jsonl([first.model_copy(update={"hops": tuple(hops)}), *items[1:]], file)
    done = call(tmp_path, "verify", str(file), "--endpoint", endpoint, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert sum(told["counts"].values()) == 20
    different = {
        one["item"]
        for one in told["items"]
        for hop in one["hops"]
        for v in hop["verdicts"]
        if v["status"] == "different"
    }
    assert first.id in different and len(different) == 1


def test_literals_are_written_in_the_layout_of_the_sample(endpoint: str, sample: GraphStore, tmp_path: Path) -> None:
    made = call(tmp_path, "ingest", str(ROOT / "data" / "sample"))
    assert made.returncode == 0, made.stderr
    file = tmp_path / "attribute_literals.tsv"
    done = call(
        tmp_path, "literals", "--out", str(file), "--property", "P569", "--endpoint", endpoint, "--batch-size", "2000"
    )
    assert done.returncode == 0, done.stderr
    lines = file.read_text().splitlines()
    held = [fact for id in sample.literal_subjects("P569") for fact in sample.literals(id, "P569")]
    assert len(lines) == len(held) > 600 and all(line.split("\t")[1] == "P569" for line in lines)


def test_a_wrong_option_is_one_line(tmp_path: Path, sample: GraphStore) -> None:
    file = tmp_path / "data.jsonl"
    write_jsonl(draft_items(sample, 1), file)
    wrong = call(tmp_path, "verify", str(file), "--batch-size", "0")
    assert wrong.returncode == 1 and wrong.stderr.count("\n") == 1 and "batch_size" in wrong.stderr
