"""No fact stands on both sides of a split, nothing gets lost, and the curriculum begins with what is easy."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hopwright.evaluation.items import EvalHop, EvalItem
from hopwright.records import LiteralFact, Triplet
from hopwright.training.splitting import list_facts, split_items
from hopwright.training.task_files import HopLine, TaskLine
from hopwright.training.task_sets import rate


def make_item(number: int, facts: list[int], variant: str = "factual") -> EvalItem:
    hops = tuple(
        EvalHop(index, "?", "a", (), "string", {}, "", (), "", "", facts=(state(fact),))
        for index, fact in enumerate(facts, start=1)
    )
    return EvalItem(f"{variant}-{number}", "chain", variant, f"p{number}", "?", "a", (), "string", {}, "", hops, ())


def state(fact: int) -> Triplet:
    # Every other fact is written the other way round where it is met again.
    return Triplet(
        subject=f"Q{fact + 1}", property="P1", object=f"Q{fact + 1001}", subject_label="s", property_label="p",
        object_label="o",
    )  # fmt: skip


@given(
    st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=4), min_size=1, max_size=40),
    st.floats(0, 0.9),
    st.integers(0, 5),
)
def test_no_fact_stands_on_both_sides(facts: list[list[int]], share: float, seed: int) -> None:
    items = [make_item(number, own) for number, own in enumerate(facts)]
    twins = [make_item(number, [one + 500 for one in own], "counterfactual") for number, own in enumerate(facts)]
    split = split_items([*items, *twins], share, seed)
    pairs = {item.pair for item in items}
    assert split.train | split.test | set(split.held_back) == pairs
    assert len(split.train) + len(split.test) + len(split.held_back) == len(pairs)
    sides = {
        name: {fact for item in (*items, *twins) if item.pair in side for hop in item.hops for fact in list_facts(hop)}
        for name, side in (("train", split.train), ("test", split.test))
    }
    assert not sides["train"] & sides["test"]
    assert len(split.test) <= round(share * len(pairs))
    assert all(other in split.test for other in split.held_back.values())
    assert split == split_items([*reversed(twins), *reversed(items)], share, seed)


def test_groups_that_fit_cost_nothing_and_a_large_one_is_drawn_from() -> None:
    apart = [make_item(number, [number]) for number in range(20)]
    split = split_items(apart, 0.25, 0)
    assert (len(split.test), len(split.held_back)) == (5, 0)
    # A chain in which each item shares one fact with the next: neighbours of what is tested on are held back.
    chain = [make_item(number, [number, number + 1]) for number in range(40)]
    split = split_items(chain, 0.25, 0)
    assert len(split.test) == 10
    assert 0 < len(split.held_back) <= 12
    assert len(split_items(chain, 0.0, 0).train) == 40


def test_facts_are_the_same_from_both_ends() -> None:
    there, back = state(1), state(1).model_copy(update={"subject": "Q1002", "object": "Q2"})
    hop = make_item(0, [1]).hops[0]
    assert list_facts(hop) == list_facts(replace(hop, facts=(back,)))
    assert there != back
    literal = LiteralFact(
        subject="Q1", property="P569", value="1900", datatype="string", subject_label="s", property_label="born"
    )
    assert list_facts(replace(hop, facts=(literal,))) == {("Q1", "P569", "1900")}


def test_the_easiest_tasks_come_first() -> None:
    hop = HopLine(index=1, question="?", answers=("a",))

    def line(id: str, hops: int, difficulty: float | None, ranks: tuple[int | None, ...]) -> TaskLine:
        return TaskLine(
            id=id, question="?", answers=("a",), hops=(hop,) * hops, difficulty=difficulty, ranks=ranks
        )  # fmt: skip

    lines = [
        line("d", 3, 0.0, (1,)), line("c", 2, 0.75, (1,)), line("b", 2, None, (5,)), line("a", 2, None, (1,)),
        line("e", 3, 0.0, (None,)),
    ]  # fmt: skip
    assert [one.id for one in sorted(lines, key=rate)] == ["a", "b", "c", "d", "e"]
