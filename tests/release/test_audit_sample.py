"""A file of the sample's real items with faults planted at random: the audit finds every one, and nothing else."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path

import pytest

from hopwright.checks.near_duplicates import NearDuplicateFinder
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Item
from hopwright.release.audit import AuditReport, audit
from hopwright.release.format import to_release
from tests.drafts import draft_deaths, draft_items, draft_numbers
from tests.faults import Fault, kinds, plant_faults

ITEMS, FAULTY = 150, 140


@pytest.fixture(scope="module")
def items(sample: GraphStore) -> list[Item]:
    """As a set holds them: without those that nearly repeat another."""
    finder = NearDuplicateFinder()
    # Some faults need a number, or a date, to be planted in.
    drafted = (*draft_numbers(sample)[::2], *draft_deaths(sample)[:40], *draft_items(sample, 170))
    found = [item for item in drafted if finder.add(item.question, item.id) is None]
    assert len(found) >= ITEMS
    return found[:ITEMS]


@pytest.fixture(scope="module")
def planted(items: list[Item], sample: GraphStore) -> dict[int, Fault]:
    """One fault in each of many items, by line; kinds that were planted least go first."""
    rng = random.Random("faults of a release")
    used: dict[str, int] = defaultdict(int)
    faults: dict[int, Fault] = {}
    for line in sorted(rng.sample(range(1, len(items) + 1), FAULTY)):
        possible = list(plant_faults(items[line - 1], sample))
        rarest = min(used[fault.kind] for fault in possible)
        faults[line] = rng.choice([fault for fault in possible if used[fault.kind] == rarest])
        used[faults[line].kind] += 1
    return faults


@pytest.mark.parametrize("with_graph", [True, False], ids=["with the graph", "with the file alone"])
def test_every_planted_fault_is_found_and_nothing_else(
    with_graph: bool, items: list[Item], planted: dict[int, Fault], sample: GraphStore, tmp_path: Path
) -> None:
    rows = [planted[line].row if line in planted else to_release(item) for line, item in enumerate(items, 1)]
    report = audit_rows(tmp_path / "data.jsonl", rows, sample if with_graph else None)
    found: dict[int, set[str]] = defaultdict(set)
    for one in report.violations:
        found[one.line].add(one.check)
    missed = {
        line: fault.kind
        for line, fault in planted.items()
        if (with_graph or not fault.needs_graph) and not found[line] & set(fault.checks)
    }
    assert missed == {}
    assert {line for line in found if found[line]} <= set(planted)


def test_the_faults_are_of_nearly_every_kind(planted: dict[int, Fault]) -> None:
    assert len(planted) == FAULTY
    possible = set(kinds()) - set(kinds(".claims"))  # no item of the sample rests on a claim
    # Those in numbers need an item that computes one, of which there are few.
    assert len({fault.kind for fault in planted.values()}) > 0.85 * len(possible)


def test_the_items_have_no_fault_of_their_own(items: list[Item], sample: GraphStore, tmp_path: Path) -> None:
    report = audit_rows(tmp_path / "data.jsonl", [to_release(item) for item in items], sample)
    assert report.items == ITEMS
    assert report.violations == ()


def audit_rows(path: Path, rows: list[dict[str, object]], graph: GraphStore | None) -> AuditReport:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return audit(path, graph, default_table())
