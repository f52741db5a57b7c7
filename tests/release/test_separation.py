from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopwright.checks.near_duplicates import NEAR, cut
from hopwright.errors import InputError
from hopwright.records import AnchorHop, AnchorRef, Evidence, Item, LiteralFact, Provenance, Triplet
from hopwright.release.separation import REASONS, ItemSet, SeparationRule, separate
from hopwright.release.split_drawing import draw_parts
from tests.builders import all_items, chain_item

WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty")


def fact(number: int, *, turned: bool = False) -> Triplet | LiteralFact:
    """One of a few facts: every third is a literal; a triplet can be told from either end."""
    if number % 3 == 0:
        return LiteralFact(
            subject=f"Q{number}", property="P571", value=f"+{number}", datatype="decimal",
            subject_label=f"place {number}", property_label="inception",
        )  # fmt: skip
    ends = (f"Q{number}", "Q99")
    return Triplet(
        subject=ends[turned], property="P47", object=ends[not turned],
        subject_label=f"end {ends[turned]}", property_label="borders", object_label=f"end {ends[not turned]}",
    )  # fmt: skip


def make_item(id: str, facts: list[list[int]], anchor: int | None, words: int, *, turned: bool = False) -> Item:
    """A chain whose hops rest on those facts; `words` chooses the question among ten that have nothing in common."""
    base = chain_item()
    hops = []
    for hop, numbers in zip(base.hops, facts, strict=True):
        found = [fact(number, turned=turned) for number in numbers]
        evidence = Evidence.of(
            triplets=tuple(one for one in found if isinstance(one, Triplet)),
            literals=tuple(one for one in found if isinstance(one, LiteralFact)),
        )
        hops.append(hop.model_copy(update={"evidence": evidence}))
    ref = AnchorRef(question_id=f"2hop__{anchor}", answer="x", entity="Q1") if anchor is not None else None
    return base.model_copy(
        update={
            "id": id,
            "hops": tuple(hops),
            "provenance": Provenance(anchor=ref),
            "question": f"{WORDS[words]} " * 8,
            "twin": None,
        }
    )


hop_facts = st.lists(st.lists(st.integers(1, 40), min_size=1, max_size=2, unique=True), min_size=4, max_size=4)
rows = st.tuples(hop_facts, st.none() | st.integers(0, 5), st.integers(0, 9), st.booleans())


def list_ends(item: Item) -> set[tuple[frozenset[str], str]]:
    """Facts by brute force: the set of their ends, and the property."""
    found = set()
    for hop in item.hops:
        found |= {(frozenset((one.subject, one.object)), one.property) for one in hop.evidence.triplets}
        found |= {(frozenset((one.subject, one.value)), one.property) for one in hop.evidence.literals}
    return found


def list_steps(item: Item) -> set[tuple[object, object]]:
    """Paths by brute force, hop by hop."""
    alone = [list_ends(item.model_copy(update={"hops": (hop,)})) for hop in item.hops]
    return {
        (one, other)
        for place, hop in enumerate(item.hops)
        for earlier in hop.depends_on
        for one in alone[earlier - 1]
        for other in alone[place]
        if one != other
    }


def share(one: Item, other: Item) -> float:
    left, right = cut(one.question), cut(other.question)
    return len(left & right) / len(left | right)


@pytest.mark.parametrize("rule", ["facts", "paths"])
@given(st.lists(rows, max_size=5), st.lists(rows, max_size=12))
@settings(max_examples=60, deadline=None)
def test_nothing_that_is_kept_gives_anything_of_the_bench_away(
    rule: SeparationRule, first: list[tuple[list[list[int]], int | None, int, bool]],
    second: list[tuple[list[list[int]], int | None, int, bool]],
) -> None:  # fmt: skip
    bench = [
        make_item(f"b{n}", facts, anchor, words, turned=turned)
        for n, (facts, anchor, words, turned) in enumerate(first)
    ]
    synth = [
        make_item(f"s{n}", facts, anchor, words, turned=turned)
        for n, (facts, anchor, words, turned) in enumerate(second)
    ]
    done = separate({"bench": ItemSet(bench), "synth": ItemSet(synth)}, rule)
    kept = list(done.keep(synth))
    assert list(done.keep(bench)) == bench
    assert len(kept) + len(done.held) == len(synth)
    for item in kept:
        for other in bench:
            assert item.anchor is None or other.anchor is None or item.anchor != other.anchor
            assert not list_steps(item) & list_steps(other)
            assert share(item, other) < NEAR
            if rule == "facts":
                assert not list_ends(item) & list_ends(other)
    by_id = {item.id: item for item in (*bench, *synth)}
    for held in done.held.values():
        item, other = by_id[held.id], by_id[held.shares_with]
        assert {
            "anchor": item.anchor == other.anchor,
            "fact": bool(list_ends(item) & list_ends(other)),
            "path": bool(list_steps(item) & list_steps(other)),
            "near_duplicate": share(item, other) >= NEAR,
        }[held.reason]
    if bench:
        report = done.reports["synth"]
        assert report.considered == len(synth)
        assert report.total == len(done.held) == report.under_rule[rule]
        assert report.under_rule["paths"] <= report.under_rule["facts"]
        counts = Counter(held.reason for held in done.held.values())
        assert report.held_back == {one: counts[one] for one in REASONS if counts[one]}


def test_single_hops_of_an_anchor_are_shared_like_the_anchor_itself() -> None:
    one, other, _ = all_items()
    hop = AnchorHop(index=1, single_hop_id="4711")
    anchors = [AnchorRef(question_id=f"2hop__{n}", answer="x", entity="Q1", hops=(hop,)) for n in (1, 2)]
    left = make_item("a", [[1], [2], [3], [4]], None, 0).model_copy(
        update={"provenance": Provenance(anchor=anchors[0])}
    )
    right = make_item("b", [[5], [7], [8], [10]], None, 1).model_copy(
        update={"provenance": Provenance(anchor=anchors[1])}
    )
    assert one != other
    assert separate({"bench": ItemSet([left]), "synth": ItemSet([right])}).held["b"].reason == "anchor"


def test_twins_go_with_their_originals_and_for_their_own_wording() -> None:
    bench = make_item("b", [[1], [2], [4], [5]], None, 0)
    shares, free, echo = (
        make_item("s", [[1], [7], [8], [10]], None, 1),
        make_item("f", [[11], [13], [14], [16]], None, 2),
        make_item("e", [[17], [19], [20], [22]], None, 3),
    )
    twins = [
        item.model_copy(update={"id": f"{item.id}-twin", "variant": "counterfactual", "twin": item.id})
        for item in (shares, free, echo)
    ]
    twins[2] = twins[2].model_copy(update={"question": bench.question})
    linked = [item.model_copy(update={"twin": f"{item.id}-twin"}) for item in (shares, free, echo)]
    done = separate({"bench": ItemSet([bench]), "synth": ItemSet(linked, twins)})
    assert {id: held.reason for id, held in done.held.items()} == {
        "s": "fact",
        "s-twin": "original_held_back",
        "e-twin": "near_duplicate",
    }
    assert [(item.id, item.twin) for item in done.keep(linked)] == [("f", "f-twin"), ("e", None)]
    assert [item.id for item in done.keep(twins)] == ["f-twin"]
    assert (done.reports["synth"].total, done.reports["synth"].twins) == (1, 2)


def test_three_sets_give_way_in_order() -> None:
    bench, test = make_item("b", [[1], [2], [4], [5]], None, 0), make_item("t", [[7], [8], [10], [11]], None, 1)
    synth = [
        make_item("x", [[1], [13], [14], [16]], None, 2),
        make_item("y", [[7], [17], [19], [20]], None, 3),
        make_item("z", [[22], [23], [25], [26]], None, 4),
    ]
    done = separate({"bench": ItemSet([bench]), "test": ItemSet([test]), "synth": ItemSet(synth)})
    assert {id: held.shares_with for id, held in done.held.items()} == {"x": "b", "y": "t"}
    assert list(done.reports) == ["test", "synth"]


def test_sets_that_overlap_or_are_read_once_are_refused() -> None:
    item = make_item("b", [[1], [2], [4], [5]], None, 0)
    with pytest.raises(InputError, match="stands in two sets"):
        separate({"bench": ItemSet([item]), "synth": ItemSet([item])})
    with pytest.raises(InputError, match="give lists"):
        separate({"bench": ItemSet([item]), "synth": ItemSet(iter([item]))})


@given(st.lists(st.sampled_from(all_items()), min_size=10, max_size=120), st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_parts_are_of_the_make_of_the_whole(kinds: list[Item], seed: int) -> None:
    items = [item.model_copy(update={"id": f"i{number}"}) for number, item in enumerate(kinds)]
    drawn = draw_parts(items, {"test": 0.2, "validation": 0.1}, seed)
    assert drawn == draw_parts(list(reversed(items)), {"test": 0.2, "validation": 0.1}, seed)
    sizes = Counter(drawn.values())
    assert sizes["test"] == round(0.2 * len(items))
    assert sizes["validation"] == min(round(0.1 * len(items)), len(items) - sizes["test"])
    whole = Counter(item.topology for item in items)
    test = Counter(item.topology for item in items if drawn.get(item.id) == "test")
    assert all(abs(test[name] - 0.2 * count) < 2 for name, count in whole.items())


def test_shares_that_leave_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="less than 1"):
        draw_parts(all_items(), {"test": 0.6, "validation": 0.4})
