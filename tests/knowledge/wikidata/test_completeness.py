"""Property classes, from small graphs with planted regularities and from the shipped sample."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.knowledge.wikidata.completeness import (
    COVERED,
    PARTNER,
    PropertyClasses,
    classify_properties,
    lower_bound,
)
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.store import GraphStore

ROOT = Path(__file__).resolve().parents[3]
Facts = set[tuple[int, int, int]]


def make_store(folder: Path, facts: Iterable[tuple[int, int, int]], literals: Iterable[str] = ()) -> GraphStore:
    """A store of these facts (subject, property, object)."""
    facts = sorted(set(facts))
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    entities = sorted({one for s, _, o in facts for one in (s, o)})
    properties = sorted({p for _, p, _ in facts})
    (corpus / "wikidata5m_all_triplet.txt").write_text("".join(f"Q{s}\tP{p}\tQ{o}\n" for s, p, o in facts))
    (corpus / "wikidata5m_entity.txt").write_text("".join(f"Q{one}\tthing {one}\n" for one in entities))
    (corpus / "wikidata5m_relation.txt").write_text("".join(f"P{p}\tproperty {p}\n" for p in properties))
    if literals:
        (corpus / "attribute_literals.tsv").write_text("".join(f"{line}\n" for line in literals))
    ingest(corpus, folder / "store")
    return GraphStore.open(folder / "store")


def plant() -> Facts:
    """Things 1–100 are of class 9000; a property each for what is to be told apart."""
    rng = random.Random(3)
    things = range(1, 101)
    facts: Facts = {(one, 31, 9000) for one in things}
    facts |= {(one, 10, 200 + one % 7) for one in things}  # one value each, shared by many
    facts |= {(one, 11, 400 + one) for one in things}  # one value each, one subject each
    facts |= {(one, 12, 600 + one) for one in range(1, 1 + int(100 * COVERED) - 5)}  # as P11, but of few things
    facts |= {(rng.choice(things), 13, 800 + rng.randrange(50)) for _ in range(300)}  # a list like any other
    for a, b in (rng.sample(things, 2) for _ in range(150)):
        facts |= {(a, 14, b), (b, 14, a)}  # symmetric and whole
    for a, b in (rng.sample(things, 2) for _ in range(150)):
        facts |= {(a, 15, b)} | ({(b, 15, a)} if rng.random() < 0.4 else set())  # symmetric with holes
    for a, b in (rng.sample(things, 2) for _ in range(150)):
        facts |= {(a, 16, b), (b, 17, a)} if rng.random() < 0.6 else {(a, 16, b)}  # P16 whole, P17 with holes
    facts |= {(one, 18, 999) for one in range(1, 6)}  # too few to judge
    return facts


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> PropertyClasses:
    literals = [f"Q{one}\tP40\theight\tQ11573\t{one}\tdecimal" for one in range(1, 101)]
    literals += [f"Q{one}\tP41\tplace\t{part}\t{one}\tdouble" for one in range(1, 101) for part in ("Lat", "Lon")]
    literals += [f"Q{one}\tP42\tscore\tQ199\t{one + turn}\tdecimal" for one in range(1, 101) for turn in (0, 1)]
    return PropertyClasses.of(make_store(tmp_path_factory.mktemp("planted"), plant(), literals))


@pytest.mark.parametrize(
    ("property", "kind", "counting", "reverse"),
    [
        ("P10", "functional", False, False),
        ("P11", "functional", False, True),
        ("P12", "open list", False, False),  # a dozen subjects are too few
        ("P13", "open list", False, False),
        ("P14", "complete list", True, True),
        ("P15", "open list", False, False),
        ("P16", "complete list", True, True),
        ("P17", "open list", False, False),
        ("P18", "open list", False, False),
        ("P40", "functional", False, False),
        ("P41", "functional", False, False),
        ("P42", "open list", False, False),
        ("P999", None, False, False),
    ],
)
def test_planted_regularities_are_told_apart(
    planted: PropertyClasses, property: str, kind: str | None, counting: bool, reverse: bool
) -> None:
    if kind is not None:
        assert planted[property].kind == kind, planted[property]
    assert planted.allows_counting(property) is counting
    assert planted.allows_reverse(property) is reverse


def test_a_property_that_few_of_its_class_have_is_not_reversed(tmp_path: Path) -> None:
    facts: Facts = {(one, 31, 9000) for one in range(1, 1001)}
    facts |= {(one, 20, 2000 + one) for one in range(1, 101)}
    few = PropertyClasses.of(make_store(tmp_path, facts))
    assert few["P20"].kind == "functional" and few["P20"].single_subject == 1.0
    assert few["P20"].coverage == pytest.approx(0.1) and not few.allows_reverse("P20")
    assert "only 10 % of such entities" in few.explain("P20")


def test_the_reasons_name_the_figures(planted: PropertyClasses) -> None:
    assert "100 % of 100 subjects have exactly one value" in planted["P11"].reason
    assert "symmetric" in planted["P14"].reason
    assert "“property 17”" in planted["P16"].reason and planted["P16"].partners == ("P17",)
    assert planted.explain("P11") == planted["P11"].reverse_reason
    assert "too few" in planted["P18"].reason
    assert "no facts of P999" in planted.explain("P999")


@pytest.mark.parametrize("seed", range(6))
def test_figures_are_those_of_a_plain_count(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    facts = {(rng.randrange(1, 40), rng.randrange(50, 56), rng.randrange(1, 40)) for _ in range(400)}
    found = classify_properties(make_store(tmp_path, facts))
    for property, evidence in found.items():
        number = int(property[1:])
        mine = {(s, o) for s, p, o in facts if p == number}
        lists = [sum(1 for s, _ in mine if s == subject) for subject in {s for s, _ in mine}]
        assert (evidence.facts, evidence.subjects) == (len(mine), len(lists))
        assert evidence.single == pytest.approx(lists.count(1) / len(lists))
        mean = len(mine) / len(lists)
        assert evidence.mean_length == pytest.approx(mean)
        variance = sum((length - mean) ** 2 for length in lists) / len(lists)
        assert evidence.dispersion == pytest.approx(variance / mean)
        owners = [sum(1 for _, o in mine if o == value) for value in {o for _, o in mine}]
        assert evidence.single_subject == pytest.approx(owners.count(1) / len(owners))
        hits, trials, partners = _mirror_plainly(facts, number)
        assert evidence.partners == tuple(f"P{one}" for one in partners)
        assert evidence.mirrored == (pytest.approx(hits / trials) if trials else None)


def test_the_sample_is_judged_soundly(tmp_path: Path) -> None:
    ingest(ROOT / "data/sample", tmp_path)
    classes = PropertyClasses.of(GraphStore.open(tmp_path))
    for functional in ("P19", "P20", "P36", "P569"):
        assert classes[functional].kind == "functional", functional
    for never_whole in ("P161", "P166", "P47", "P40", "P1411", "P800"):
        assert not classes.allows_counting(never_whole) and not classes.allows_reverse(never_whole), never_whole
    assert classes.allows_reverse("P36") and classes.allows_reverse("P1376")
    assert classes["P530"].partners == ("P530",) and classes.allows_counting("P530")
    assert {"P1376"} == set(classes["P36"].partners)


@given(st.integers(0, 500), st.integers(1, 500))
def test_the_lower_bound_is_below_the_share_and_rises_with_evidence(hits: int, trials: int) -> None:
    hits = min(hits, trials)
    bound = lower_bound(hits, trials)
    assert 0 <= bound <= hits / trials
    assert bound <= lower_bound(10 * hits, 10 * trials) + 1e-12


def _mirror_plainly(facts: Facts, number: int) -> tuple[int, int, list[int]]:
    by_property: dict[int, set[tuple[int, int]]] = {}
    for s, p, o in facts:
        if s != o:
            by_property.setdefault(p, set()).add((s, o))
    mine = by_property.get(number, set())
    hits, trials, partners = 0, 0, []
    for other, theirs in sorted(by_property.items()):
        shared = sum(1 for s, o in mine if (o, s) in theirs)
        if shared >= 10 and shared >= PARTNER * len(mine) and shared >= PARTNER * len(theirs):
            hits, trials = hits + shared, trials + len(theirs)
            partners.append(other)
    return hits, trials, partners
