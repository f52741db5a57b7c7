"""The drop rule, early stopping and the order of asking."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.difficulty.ballots import Ballot, cast
from hopwright.difficulty.filtering import collect_votes, decide, list_open
from hopwright.difficulty.ordering import keep_order, order_by_accuracy, order_by_pilot
from hopwright.difficulty.rule import DropRule
from hopwright.difficulty.voters import MissingVote, VoterAnswer, VoterQuestion
from hopwright.errors import InputError
from hopwright.records import LABELS, Item
from tests.builders import chain_item

Vote = bool | None


class Scripted:
    """Right, wrong or silent as told, item by item; counts what it is asked."""

    def __init__(self, name: str, votes: dict[str, Vote], items: Sequence[Item]) -> None:
        self.name = name
        self.asked: list[str] = []
        self._votes = votes
        self._answers = {item.id: item.options[item.label] for item in items}

    def choose(self, choices: Sequence[VoterQuestion]) -> list[VoterAnswer]:
        return [self._choose(choice) for choice in choices]

    def _choose(self, choice: VoterQuestion) -> VoterAnswer:
        self.asked.append(choice.key)
        vote = self._votes[choice.key]
        if vote is None:
            return MissingVote("empty", "the answer is empty")
        right = choice.options.index(self._answers[choice.key])
        chosen = right if vote else (right + 1) % 4
        return tuple(0.7 if index == chosen else 0.1 for index in range(4))


def make_items(count: int) -> list[Item]:
    return [chain_item().model_copy(update={"id": f"hw-{number}"}) for number in range(count)]


def run_ensemble(
    items: list[Item], voters: list[Scripted], replacements: list[Scripted], rule: DropRule, *, everyone: bool,
    order: Sequence[int] | None = None,
) -> dict[str, str]:  # fmt: skip
    """What the stage's steps do, in one process; returns item → fate."""
    ballots: dict[str, dict[str, Ballot]] = {}
    for index in order or range(len(voters)):
        asked = items if everyone else list_open(items, list(ballots.values()), rule)
        given, _ = cast(voters[index], asked, seed=1)
        ballots[voters[index].name] = {ballot.item: ballot for ballot in given}
    for voter in replacements:
        given, _ = cast(voter, list_open(items, list(ballots.values()), rule), seed=1)
        ballots[voter.name] = {ballot.item: ballot for ballot in given}
    kept, dropped = decide(items, collect_votes(ballots.values()), rule)
    assert len(kept) + len(dropped) == len(items)
    return {item.id: "kept" for item in kept} | {row.key: row.check for row in dropped}


VOTES = st.sampled_from([True, False, None])
tables = st.integers(1, 6).flatmap(
    lambda seats: st.tuples(
        st.lists(st.lists(VOTES, min_size=seats, max_size=seats), min_size=1, max_size=12),
        st.integers(0, seats - 1),
        st.integers(0, seats),
        st.permutations(range(seats)),
        st.lists(st.lists(st.sampled_from([True, False, None]), min_size=12, max_size=12), max_size=2),
    )
)  # fmt: skip


@given(tables)
def test_stopping_early_gives_the_verdicts_of_asking_everyone(
    drawn: tuple[list[list[Vote]], int, int, list[int], list[list[Vote]]],
) -> None:
    table, max_right, required, order, spare = drawn
    seats = len(table[0])
    rule = DropRule(seats, max_right, required)
    items = make_items(len(table))
    fates = []
    for everyone in (True, False):
        voters = [
            Scripted(f"v{n}", {item.id: row[n] for item, row in zip(items, table, strict=True)}, items)
            for n in range(seats)
        ]
        more = [
            Scripted(f"r{n}", {item.id: row[i] for i, item in enumerate(items)}, items) for n, row in enumerate(spare)
        ]
        fates.append(run_ensemble(items, voters, more, rule, everyone=everyone, order=order))
        asked = sum(len(voter.asked) for voter in voters)
        assert asked == len(items) * seats if everyone else asked <= len(items) * seats
    assert fates[0] == fates[1]


@given(tables)
def test_a_missing_vote_is_never_counted_as_wrong(
    drawn: tuple[list[list[Vote]], int, int, list[int], list[list[Vote]]],
) -> None:
    table, max_right, required, _, _ = drawn
    seats = len(table[0])
    rule = DropRule(seats, max_right, required)
    for row in table:
        right, wrong = row.count(True), row.count(False)
        fate = rule.conclude(right, wrong)
        worst = rule.conclude(right + row.count(None), wrong)
        if fate == "kept" and required == 0:
            # Whatever the missing votes would have been, the item would have been kept.
            assert worst == "kept"
        if fate == "dropped":
            assert right > max_right


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1), st.integers(0, n))))
def test_what_is_sealed_stays_so(numbers: tuple[int, int, int]) -> None:
    seats, max_right, required = numbers
    rule = DropRule(seats, max_right, required)
    for right in range(seats + 1):
        for wrong in range(seats + 1 - right):
            fate = rule.seal(right, wrong)
            if fate != "open":
                for more_right in range(seats - right - wrong + 1):
                    for more_wrong in range(seats - right - wrong - more_right + 1):
                        assert rule.conclude(right + more_right, wrong + more_wrong) == fate


def test_omanics_rule_needs_two_right_or_three_wrong() -> None:
    rule = DropRule(4)
    assert [rule.seal(2, 0), rule.seal(1, 2), rule.seal(0, 3), rule.seal(1, 1)] == ["dropped", "open", "kept", "open"]
    assert rule.count_calls([True, True, True, True]) == 2
    assert rule.count_calls([False, True, False, False]) == 4
    assert rule.count_calls([None, False, False, False]) == 4
    assert (rule.conclude(1, 2), rule.conclude(0, 2)) == ("held", "held")
    assert DropRule(4, required=2).conclude(1, 1) == "kept"
    assert (rule.count_least(2, 0), rule.count_least(0, 3), rule.count_least(1, 2)) == (2, 3, 4)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [((4, 4), "between 0 and 3 for 4 voters, not 4"), ((4, -1), "not -1"), ((2, 1, 3), "At most 2|at most 2")],
)
def test_a_rule_that_makes_no_sense_is_refused(numbers: tuple[int, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        DropRule(*numbers)


@given(
    st.lists(st.lists(st.sampled_from([True, False, None]), min_size=4, max_size=4), min_size=1, max_size=30),
    st.lists(st.floats(0.1, 10), min_size=4, max_size=4),
)
def test_the_order_found_on_a_pilot_is_the_cheapest_there(rows: list[list[Vote]], costs: list[float]) -> None:
    rule = DropRule(4)
    found = order_by_pilot([tuple(row) for row in rows], costs, rule)
    for order in itertools.permutations(range(4)):
        cost = 0.0
        for row in rows:
            calls = rule.count_calls([row[index] for index in order])
            cost += sum(costs[index] for index in order[:calls]) / len(rows)
        assert found.cost <= cost + 1e-9
    assert 0 <= found.saved <= 1
    assert order_by_pilot([tuple(row) for row in reversed(rows)], costs, rule) == found


def test_a_cheap_voter_is_asked_before_an_equally_good_dear_one() -> None:
    found = order_by_accuracy([0.4, 0.4, 0.4, 0.4], [8.0, 1.0, 4.0, 2.0], DropRule(4))
    assert found.sequence == (1, 3, 2, 0)
    assert found.saved > 0.3


def test_of_equal_orders_the_listed_one_is_taken() -> None:
    assert order_by_accuracy([0.5] * 4, [1.0] * 4, DropRule(4)).sequence == (0, 1, 2, 3)
    assert keep_order(3, [1, 2, 3]).saved == 0
    with pytest.raises(InputError, match="2 accuracies for 3 voters"):
        order_by_accuracy([0.5, 0.5], [1, 1, 1], DropRule(3))


def test_many_voters_are_ordered_without_trying_every_order() -> None:
    accuracies = [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6]
    found = order_by_accuracy(accuracies, [1.0] * 8, DropRule(8, 0))
    # One right vote drops: the most accurate come first.
    assert found.sequence == (1, 3, 5, 7, 6, 4, 2, 0)


def test_dropped_and_held_items_say_why() -> None:
    items = make_items(2)
    votes: list[list[Vote]] = [[True, False, True], [None, True, False]]
    voters = [
        Scripted(f"v{n}", {item.id: row[n] for item, row in zip(items, votes, strict=True)}, items) for n in range(3)
    ]
    ballots = {voter.name: {b.item: b for b in cast(voter, items, seed=0)[0]} for voter in voters}
    kept, dropped = decide(items, collect_votes(ballots.values()), DropRule(3), {"hw-1": ["v0 (empty)"]})
    assert kept == []
    assert dropped[0].reason == "2 of 3 voters right: v0, v2"
    assert dropped[1].check == "held_back"
    assert dropped[1].reason == "2 votes, 3 needed (1 right); no vote of v0 (empty)"
    assert [vote.model for vote in Item.model_validate_json(dropped[1].row).votes] == ["v1", "v2"]
    assert LABELS
