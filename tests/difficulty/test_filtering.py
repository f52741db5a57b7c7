from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.difficulty.filtering import filter_items
from hopwright.difficulty.report import DifficultyReport, ReportBuilder
from hopwright.difficulty.shortcuts import shortcut_voters
from hopwright.difficulty.voters import VoterQuestion
from hopwright.errors import InputError
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import LABELS, Item, Rejected
from tests.builders import all_items, chain_item
from tests.drafts import draft_items


class Scripted:
    """Right or wrong as told, item by item."""

    def __init__(self, name: str, right: Sequence[bool], items: Sequence[Item]) -> None:
        self.name = name
        self._option = {
            item.id: LABELS.index(item.label) if hit else (LABELS.index(item.label) + 1) % 4
            for item, hit in zip(items, right, strict=True)
        }

    def choose(self, choices: Sequence[VoterQuestion]) -> list[tuple[float, ...]]:
        return [tuple(0.7 if i == self._option[one.key] else 0.1 for i in range(4)) for one in choices]


def many(count: int) -> list[Item]:
    return [chain_item().model_copy(update={"id": f"hw-{number}"}) for number in range(count)]


@given(st.integers(0, 3), st.lists(st.tuples(*[st.booleans()] * 4), min_size=1, max_size=16))
def test_more_than_max_right_is_dropped_and_counts_add_up(max_right: int, table: list[tuple[bool, ...]]) -> None:
    items = many(len(table))
    voters = [Scripted(f"v{n}", [row[n] for row in table], items) for n in range(4)]
    kept, dropped = filter_items(items, voters, max_right=max_right)
    assert [item.id for item in kept] == [i.id for i, row in zip(items, table, strict=True) if sum(row) <= max_right]
    assert [one.key for one in dropped] == [i.id for i, row in zip(items, table, strict=True) if sum(row) > max_right]
    for one in dropped:
        votes = Item.model_validate_json(one.row).votes
        assert one.check == "too_easy" and [v.model for v in votes] == ["v0", "v1", "v2", "v3"]
        assert all((v.model in one.reason) == v.right for v in votes)
    for item in kept:
        assert len(item.votes) == 4 and all(v.right == (v.option == item.label) for v in item.votes)


def test_omanics_rule_is_the_default() -> None:
    items = many(16)
    voters = [Scripted(f"v{n}", [row[n] for row in product((True, False), repeat=4)], items) for n in range(4)]
    kept, dropped = filter_items(items, voters)
    assert (len(kept), len(dropped)) == (5, 11)


def test_votes_of_an_earlier_run_are_replaced() -> None:
    items = many(2)
    voters = [Scripted("v", [False, False], items)]
    once, _ = filter_items(items, voters, max_right=0)
    twice, _ = filter_items(once, voters, max_right=0)
    assert once == twice


@pytest.mark.parametrize("max_right", [-1, 4, 9])
def test_a_rule_out_of_bounds_is_refused(max_right: int) -> None:
    voters = [Scripted(f"v{n}", [False], many(1)) for n in range(4)]
    with pytest.raises(InputError, match="between 0 and 3"):
        filter_items(many(1), voters, max_right=max_right)


def test_voters_must_be_some_and_have_different_names() -> None:
    with pytest.raises(InputError, match="different names"):
        filter_items(many(1), [])
    with pytest.raises(InputError, match="different names"):
        filter_items(many(1), [Scripted("v", [True], many(1))] * 2)


def make_report(kept: list[Item], dropped: list[Rejected]) -> DifficultyReport:
    builder = ReportBuilder()
    builder.add_items(kept, dropped)
    return builder.make()


def test_figures_add_up() -> None:
    items = many(4)
    rows = [(True, True, True), (True, False, False), (False, False, False), (True, True, False)]
    voters = [Scripted(name, [row[n] for row in rows], items) for n, name in enumerate("abc")]
    kept, dropped = filter_items(items, voters)
    report = make_report(kept, dropped)
    assert report.items == 4 and report.kept == 2 and sum(report.dropped.values()) == 2
    accuracy = {name: voter.overall.accuracy for name, voter in report.voters.items()}
    assert accuracy == {"a": 0.75, "b": 0.5, "c": 0.25}
    agreement = {(pair.one, pair.other): pair.agreement for pair in report.pairs}
    assert agreement == {("a", "b"): 0.75, ("a", "c"): 0.5, ("b", "c"): 0.75}
    assert report.right_votes == {0: 1, 1: 1, 2: 1, 3: 1}
    by_topology = {
        name: {voter: score.accuracy for voter, score in scores.items()}
        for name, scores in report.by["topology"].items()
    }
    assert by_topology == {"chain": accuracy}
    assert make_report([], []).items == 0


def test_on_the_sample_the_shortcuts_leave_most_items(sample: GraphStore) -> None:
    items = draft_items(sample, 90)
    voters = shortcut_voters(sample, default_table(), seed=1)
    kept, dropped = filter_items(items, voters)
    assert len(kept) + len(dropped) == len(items)
    assert len(kept) > 0.5 * len(items)
    again, _ = filter_items(items[::-1], shortcut_voters(sample, default_table(), seed=1))
    assert again[::-1] == kept
    accuracy = {name: voter.overall.accuracy for name, voter in make_report(kept, dropped).voters.items()}
    assert set(accuracy) == {"popularity-prior", "lexical-overlap", "options-only", "last-hop-only"}
    assert all(0.05 < share < 0.7 for share in accuracy.values())


def test_votes_do_not_follow_from_builders_letters() -> None:
    """Four voters that all pick A must not be right more often than A is."""
    items = all_items()
    always = Scripted("a", [item.label == "A" for item in items], items)
    kept, dropped = filter_items(items, [always], max_right=0)
    assert len(dropped) == sum(item.label == "A" for item in items)
    assert len(kept) + len(dropped) == len(items)
