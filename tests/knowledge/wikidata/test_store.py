"""A store answers as a dictionary over the same lines would."""

from __future__ import annotations

import gzip
import multiprocessing
import re
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopwright.errors import StoreError
from hopwright.knowledge.wikidata.format import STORE_FILE
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.knowledge.wikidata.trust import list_implications
from hopwright.text.folding import fold
from tests.builders import LABEL, LITERALS, TRIPLETS
from tests.knowledge.wikidata.builders import SAMPLE, make_store, write_corpus


def number(id: str) -> int:
    return int(id[1:])


ids = st.integers(1, 40).map("Q{}".format)
far_ids = st.one_of(ids, st.integers(1, 2**32 - 1).map("Q{}".format))
properties = st.integers(1, 6).map("P{}".format)
words = st.text(
    st.characters(codec="utf-8", exclude_characters="\t\n\r", exclude_categories=("Cs",)),
    min_size=1,
    max_size=12,
).filter(lambda text: text == text.strip() and not any(ord(char) <= 32 for char in (text[0], text[-1])))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(far_ids, properties, far_ids), min_size=1, max_size=60),
    st.dictionaries(far_ids, st.lists(words, min_size=1, max_size=4), min_size=1, max_size=12),
)
def test_store_equals_a_dictionary(triplets: list[tuple[str, str, str]], names: dict[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(
            Path(folder), triplets=triplets, names=names, relations={"P1": ["one", "uno"]},
            literals=[("Q5", "P1", "x", "", "1", "decimal")],
        )  # fmt: skip
        facts = set(triplets)
        entities = {e for s, _, o in facts for e in (s, o)} | set(names) | {"Q5"}
        assert list(store.entities()) == sorted(entities, key=number)
        for entity in entities:
            out = sorted(((p, o) for s, p, o in facts if s == entity), key=lambda e: (number(e[0]), number(e[1])))
            into = sorted(((p, s) for s, p, o in facts if o == entity), key=lambda e: (number(e[0]), number(e[1])))
            assert store.out_edges(entity) == tuple(out)
            assert store.in_edges(entity) == tuple(into)
            assert store.degree(entity) == len(out) + len(into)
            given_names = names.get(entity, [""])
            assert store.label(entity) == given_names[0]
            assert store.aliases(entity) == tuple(given_names[1:])
            for p in ("P1", "P2", "P9"):
                assert store.objects(entity, p) == tuple(o for q, o in out if q == p)
                assert store.subjects(p, entity) == tuple(s for q, s in into if q == p)
                assert store.count_subjects(p, entity) == len(store.subjects(p, entity))
            assert store.in_properties(entity) == list(dict.fromkeys(p for p, _ in into))
        for p in ("P1", "P3"):
            held = sorted(((s, o) for s, q, o in facts if q == p), key=lambda e: (number(e[0]), number(e[1])))
            assert store.edges(p) == tuple(held)
        for all_names in names.values():
            for name in all_names:
                bearers = {e for e, others in names.items() if fold(name) in map(fold, others)}
                if fold(name):
                    assert {candidate.id for candidate in store.find(name)} == bearers
                    assert store.knows_name(name.upper()) == any(
                        fold(name.upper()) == fold(other) for others in names.values() for other in others
                    )


def test_unknown_ids_give_empty_results(world: GraphStore) -> None:
    for id in ("Q1", "Q99999999999999", "", "Q", "P31", "banana", "Q-5", "hop1"):
        assert world.label(id) == world.description(id) == ""
        assert world.aliases(id) == world.objects(id, "P31") == world.subjects("P31", id) == ()
        assert world.out_edges(id) == world.in_edges(id) == world.literals(id) == ()
        assert world.degree(id) == 0 and id not in world
    assert world.edges("P99999") == world.literal_subjects("P99999") == world.objects("Q901", "x") == ()
    assert world.property_label("P99999") == ""


def test_literals_come_as_the_corpus_writes_them(world: GraphStore) -> None:
    for subject, property, value, datatype in LITERALS:
        (literal,) = (one for one in world.literals(subject) if one.property == property)
        assert (literal.value, literal.datatype) == (value, datatype)
        assert literal.subject_label == LABEL[subject]
        assert literal.unit == ("Q712226" if property == "P2046" else "")
    assert world.literal_subjects("P571") == ("Q903", "Q905", "Q909")
    assert world.property_label("P2046") == "area"


def test_find_prefers_strict_matches_then_labels_then_degree(tmp_path: Path) -> None:
    store = make_store(
        tmp_path,
        triplets=[("Q1", "P1", "Q2"), *((s, p, "Q4") for s in ("Q3", "Q6") for p in ("P1", "P2"))],
        names={
            "Q1": ["Paris"], "Q3": ["PARIS"], "Q4": ["Capital", "paris"], "Q6": ["Paris (Texas)"],
            "Q7": ["The Hague"], "Q8": ["Saint-Étienne"], "Q9": ["Mercury", "Hague"],
        },
    )  # fmt: skip
    assert [candidate.id for candidate in store.find("paris")] == ["Q3", "Q1", "Q4"]
    assert [candidate.by_label for candidate in store.find("paris")] == [True, True, False]
    assert [candidate.id for candidate in store.find("Paris (Texas)")] == ["Q6"]
    assert [candidate.id for candidate in store.find("Paris (France)")] == ["Q3", "Q1", "Q4"]
    assert [candidate.id for candidate in store.find("saint etienne")] == ["Q8"]
    assert [candidate.id for candidate in store.find("the hague")] == ["Q7"]
    assert [candidate.id for candidate in store.find("Hague")] == ["Q9"]
    assert [candidate.id for candidate in store.find("a Mercury")] == ["Q9"]
    assert store.knows_name("THE HAGUE") and not store.knows_name("a Mercury")
    assert store.find("") == store.find("  ") == store.find("nowhere") == ()


def test_description_falls_back_on_class_and_place(tmp_path: Path) -> None:
    triplets = [("Q1", "P31", "Q2"), ("Q1", "P17", "Q3"), ("Q3", "P31", "Q4")]
    names = {"Q1": ["Someville"], "Q2": ["city"], "Q3": ["Iria"], "Q4": ["country"]}
    store = make_store(tmp_path, triplets=triplets, names=names, texts={"Q3": "island state", "Q999": "unknown"})
    assert store.description("Q3") == store.stored_description("Q3") == "island state"
    assert store.description("Q1") == "city (Iria)"
    assert store.stored_description("Q1") == ""


def test_long_descriptions_are_cut_between_characters(tmp_path: Path) -> None:
    store = make_store(tmp_path, names={"Q1": ["x"], "Q2": ["y"]}, texts={"Q1": "a" + "é" * 400, "Q2": "z" * 400})
    assert store.description("Q1") == "a" + "é" * 149
    assert store.description("Q2") == "z" * 300


def test_in_edges_spread_keeps_rare_properties(tmp_path: Path) -> None:
    triplets = [(f"Q{i}", "P17", "Q1") for i in range(2, 300)] + [
        ("Q400", "P36", "Q1"),
        ("Q401", "P99", "Q1"),
    ]
    store = make_store(tmp_path, triplets=triplets)
    some = store.in_edges_spread("Q1", 10)
    assert len(some) == 10 and {("P36", "Q400"), ("P99", "Q401")} <= set(some)
    assert set(some) <= set(store.in_edges("Q1"))
    assert store.in_edges_spread("Q1", 1000) == store.in_edges("Q1")
    assert store.in_edges_spread("Q1", 0) == ()


def test_a_former_capital_becomes_no_second_one(tmp_path: Path) -> None:
    triplets = [
        ("Q17", "P36", "Q1490"),  # Japan: Tokyo
        ("Q34600", "P1376", "Q17"),  # Kyoto was its capital once
        ("Q1490", "P1376", "Q17"),
        ("Q90", "P1376", "Q142"),  # of France no capital is recorded: what Paris says of itself is taken
        ("Q39", "P36", "Q70"),
    ]
    relations = {"P36": ("capital",), "P1376": ("capital of",)}
    store = make_store(tmp_path, triplets=triplets, relations=relations, literals=())
    assert store.objects("Q17", "P36") == ("Q1490",)
    assert store.objects("Q142", "P36") == ("Q90",)
    assert store.objects("Q34600", "P1376") == ("Q17",)  # what is recorded stays
    assert store.objects("Q70", "P1376") == ("Q39",)  # every capital is the capital of something


def test_the_sample_is_held_whole(sample: GraphStore) -> None:
    out: dict[str, set[tuple[str, str]]] = defaultdict(set)
    lines = 0
    with gzip.open(SAMPLE / "wikidata5m_all_triplet.txt.gz", "rt", encoding="utf-8") as file:
        for line in file:
            s, p, o = line.rstrip("\n").split("\t")
            out[s].add((p, o))
            lines += 1
    told = re.search(r"`wikidata5m_all_triplet\.txt\.gz` \|.*\| ([\d,]+) \|", (SAMPLE.parent / "README.md").read_text())
    assert told and lines == int(told[1].replace(",", "")) == sum(map(len, out.values()))
    for entity in list(out)[::37]:
        held = set(sample.out_edges(entity))
        assert out[entity] <= held
        for property, object in held - out[entity]:  # what follows from a fact that was recorded the other way round
            assert any((first, entity) in out[object] for first, second in list_implications() if second == property)
    assert sample.label("Q17") == "Japan" and "Nippon" in sample.aliases("Q17")
    assert ("P17", "Q17") in sample.out_edges("Q17")  # a self-loop is a fact like any other
    assert len(sample.find("Hancock County")) >= 6


def test_another_version_is_refused_with_what_to_do(tmp_path: Path) -> None:
    make_store(tmp_path)
    path = tmp_path / "store" / STORE_FILE
    data = bytearray(path.read_bytes())
    data[8] += 1
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"format version \d+, not \d+.*hopwright graph ingest"):
        GraphStore.open(tmp_path / "store")


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 5000])
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / STORE_FILE).write_bytes(content)
    with pytest.raises(StoreError, match=r"not a graph store.*hopwright graph ingest"):
        GraphStore.open(tmp_path)
    with pytest.raises(StoreError, match=r"no graph store in .*hopwright graph ingest"):
        GraphStore.open(tmp_path / "nowhere")


def test_any_flipped_byte_is_detected(tmp_path: Path) -> None:
    make_store(tmp_path)
    path = tmp_path / "store" / STORE_FILE
    whole = path.read_bytes()
    padding = find_padding(tmp_path / "store", len(whole))
    for place in range(0, len(whole), 61):
        if place in padding:
            continue
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(StoreError):
            GraphStore.open(tmp_path / "store").verify()
    path.write_bytes(whole)
    GraphStore.open(tmp_path / "store").verify()
    path.write_bytes(whole[:-1])
    with pytest.raises(StoreError, match="damaged"):
        GraphStore.open(tmp_path / "store")


def find_padding(store: Path, size: int) -> set[int]:
    """Bytes between arrays, which mean nothing."""
    from hopwright.knowledge.wikidata.format import ArrayFile

    file = ArrayFile(store)
    used = {*range(12), *range(16, 64)}
    for entry in file._arrays.values():
        used |= set(range(entry["offset"], entry["offset"] + entry["length"] * int(entry["type"][1])))
    last = max(used) + 1
    return (set(range(last)) - used) | set(range(last, last + (-last % 64)))


def read_some(folder: Path, results: multiprocessing.Queue[list[str]]) -> None:
    store = GraphStore.open(folder)
    results.put([store.label(entity) for entity in list(store.entities())[:5]])


def test_processes_share_a_store(world: GraphStore, tmp_path: Path) -> None:
    make_store(tmp_path)
    context = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[list[str]] = context.Queue()
    readers = [context.Process(target=read_some, args=(tmp_path / "store", results)) for _ in range(2)]
    for reader in readers:
        reader.start()
    mine = GraphStore.open(tmp_path / "store")
    expected = [mine.label(entity) for entity in list(mine.entities())[:5]]
    assert [results.get(timeout=60) for _ in readers] == [expected, expected]
    for reader in readers:
        reader.join()


def test_an_open_store_survives_its_replacement(tmp_path: Path) -> None:
    old = make_store(tmp_path)
    new = make_store(tmp_path, triplets=[*TRIPLETS, ("Q901", "P58", "Q907")])
    assert old.objects("Q901", "P58") == () and new.objects("Q901", "P58") == ("Q907",)


def test_the_world_of_the_builders_round_trips(world: GraphStore, tmp_path: Path) -> None:
    write_corpus(tmp_path)
    for subject, property, object in TRIPLETS:
        assert object in world.objects(subject, property) and subject in world.subjects(property, object)
    assert world.find("Kingdom of Vestmark")[0].id == "Q903"


def test_facts_of_symmetric_and_inverse_properties_are_seen_from_both_ends(tmp_path: Path) -> None:
    triplets = [
        ("Q1", "P47", "Q2"), ("Q1", "P36", "Q3"), ("Q4", "P22", "Q5"), ("Q5", "P40", "Q6"), ("Q7", "P131", "Q1"),
        ("Q1", "P1376", "Q1"), ("Q8", "P40", "Q9"), ("Q8", "P150", "Q9"),
    ]  # fmt: skip
    store = make_store(tmp_path, triplets=triplets)
    assert store.objects("Q2", "P47") == ("Q1",) and store.subjects("P47", "Q2") == ("Q1",)
    assert store.objects("Q3", "P1376") == ("Q1",) and store.subjects("P1376", "Q1") == ("Q1", "Q3")
    assert store.objects("Q5", "P40") == ("Q4", "Q6"), "a father has the child"
    assert store.objects("Q6", "P22") == (), "a parent may be the mother"
    assert store.objects("Q1", "P150") == (), "not all that lies in a place is a division of it"
    assert store.objects("Q9", "P131") == ("Q8",)
    assert store.recorded_out_edges("Q2") == () and store.recorded_out_edges("Q1") == tuple(
        sorted(((p, o) for s, p, o in triplets if s == "Q1"), key=lambda fact: (int(fact[0][1:]), int(fact[1][1:])))
    )
    assert store.edges("P47") == (("Q1", "Q2"),) and store.degree("Q2") == 1
