"""Rewards worked out by hand for agents that follow a script, and the laws that ours keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.environments.rewards import REWARDS, reward_hops, reward_mmhops, reward_search_r1
from hopwright.environments.task import Task, TaskHop
from hopwright.environments.transcript import Action, AgentTurn, Transcript
from hopwright.environments.verifier import verify
from tests.environments.worlds import (
    Turn,
    be_perfect,
    loop,
    make_passage,
    make_task,
    malform,
    pad,
    play,
    remember_only,
    search,
    search_and_ignore,
)

Agent = Callable[[Task], list[Turn]]

# Three hops in a chain. hops: outcome + 0.5 × found hops / 3 − 0.05 × useless calls.
BY_HAND: list[tuple[Agent, dict[str, float]]] = [
    (be_perfect, {"mmhops-r1": 1 + 1 + 0.75, "search-r1": 1.0, "hops": 1.5}),
    (remember_only, {"mmhops-r1": 2.0, "search-r1": 1.0, "hops": 1.0}),
    (search_and_ignore, {"mmhops-r1": 1.0, "search-r1": 0.3, "hops": 0.0}),
    (pad, {"mmhops-r1": 1 + 1 + 4 * 0.25, "search-r1": 1.0, "hops": 1.5 - 3 * 0.05}),
    (malform, {"mmhops-r1": 0.0, "search-r1": 0.0, "hops": -3 * 0.05}),
    (loop, {"mmhops-r1": 0.0, "search-r1": 0.0, "hops": -9 * 0.05}),
]


@pytest.mark.parametrize(("agent", "rewards"), BY_HAND, ids=lambda one: getattr(one, "__name__", ""))
def test_scripted_agents_get_what_was_worked_out_by_hand(agent: Agent, rewards: dict[str, float]) -> None:
    task, finder = make_task()
    transcript = play(task, finder, agent(task))
    assert {name: reward(task, transcript) for name, reward in REWARDS.items()} == pytest.approx(rewards)


# Which agents are worth more than which, by each reward; of those between two brackets, none is better.
RANKING: dict[str, list[set[Agent]]] = {
    "hops": [{be_perfect}, {pad}, {remember_only}, {search_and_ignore}, {malform}, {loop}],
    "mmhops-r1": [{pad}, {be_perfect}, {remember_only}, {search_and_ignore}, {malform, loop}],
    "search-r1": [{be_perfect, pad, remember_only}, {search_and_ignore}, {malform, loop}],
}


@pytest.mark.parametrize("name", RANKING)
def test_agents_rank_by_each_reward_as_they_should(name: str) -> None:
    task, finder = make_task()
    worth = [{REWARDS[name](task, play(task, finder, agent(task))) for agent in equals} for equals in RANKING[name]]
    assert all(len(one) == 1 for one in worth)
    values = [one.pop() for one in worth]
    assert values == sorted(values, reverse=True) and len(set(values)) == len(values)


def test_the_paper_pays_for_padding_and_ours_does_not() -> None:
    task, finder = make_task(((),))
    plain, padded = (play(task, finder, agent(task)) for agent in (be_perfect, pad))
    assert reward_mmhops(task, padded) > reward_mmhops(task, plain)
    assert reward_search_r1(task, padded) == reward_search_r1(task, plain)
    assert reward_hops(task, padded) < reward_hops(task, plain)


def test_no_more_than_four_turns_are_paid_for_by_the_paper() -> None:
    task, finder = make_task()
    assert reward_mmhops(task, play(task, finder, pad(task, 6))) == reward_mmhops(
        task, play(task, finder, pad(task, 1))
    )


def test_a_right_answer_in_a_broken_format_is_worth_less_to_search_r1() -> None:
    task, finder = make_task()
    slips: list[Turn] = [("", [("search", "{")]), *be_perfect(task)]
    assert reward_search_r1(task, play(task, finder, slips)) == pytest.approx(0.8)
    assert reward_search_r1(task, play(task, finder, [slips[0], ("FINAL no", [])])) == pytest.approx(0.1)
    assert reward_search_r1(task, play(task, finder, [("FINAL no", [])])) == pytest.approx(0.2)


@st.composite
def episodes(draw: st.DrawFn) -> tuple[Task, Transcript]:
    """A task of any graph of up to five hops, and an agent that does any of what agents do."""
    count = draw(st.integers(1, 5))
    graph = [tuple(sorted(draw(st.sets(st.integers(1, index), max_size=2)))) if index else () for index in range(count)]
    task, finder = make_task(graph, max_steps=30)
    words = st.sampled_from([*(f"Answer{index}" for index in range(1, count + 1)), "Perhaps", ""])
    queries = st.sampled_from([*(f"Fact {index}:" for index in range(1, count + 1)), "Nothing of note", "Answer1"])
    turns: list[Turn] = [
        (
            " ".join(draw(st.lists(words, max_size=2))),
            [search(query) for query in draw(st.lists(queries, min_size=1, max_size=2))],
        )
        for _ in range(draw(st.integers(0, 6)))
    ]
    turns.append((f"FINAL {draw(words) or 'nothing'}", []))
    return task, play(task, finder, turns)


@given(episodes(), st.data())
def test_useless_calls_never_raise_our_reward(episode: tuple[Task, Transcript], data: st.DataObject) -> None:
    task, transcript = episode
    # Whatever the agent asks for there, even the right answer: it is shown nothing, or what it was shown before.
    place = data.draw(st.integers(0, len(transcript.turns) - 1))
    seen = tuple(one for turn in transcript.turns[:place] for action in turn.actions for one in action.passages)
    query = data.draw(st.sampled_from(["x", *(hop.answers[0] for hop in task.hops)]))
    useless = data.draw(
        st.sampled_from(
            [
                Action("search", "{}", query),
                Action("search", "{}", query, (make_passage(99, "Nothing of note"),)),
                Action("read", "{}", query, seen),
                Action("find", "{", problem="there is no such tool"),
            ]
        )
    )
    turns = list(transcript.turns)
    if data.draw(st.booleans()):
        turns.insert(place, AgentTurn("", (useless,)))
    else:
        turns[place] = replace(turns[place], actions=(useless, *turns[place].actions))
    padded = replace(transcript, turns=tuple(turns))
    assert reward_hops(task, padded) <= reward_hops(task, transcript) - 0.05 + 1e-9


@given(episodes(), st.randoms(use_true_random=False))
def test_numbering_the_hops_otherwise_leaves_our_reward_equal(episode: tuple[Task, Transcript], chance: object) -> None:
    task, transcript = episode
    order = sorted(range(1, len(task.hops) + 1), key=lambda index: (len(task.list_ancestors(index)), chance.random()))  # type: ignore[attr-defined]
    number = {old: new for new, old in enumerate(order, start=1)}
    hops = [
        replace(
            task.hop(old), index=number[old], depends_on=tuple(sorted(number[one] for one in task.hop(old).depends_on))
        )
        for old in order
    ]
    permuted = replace(task, hops=tuple(hops))
    assert reward_hops(permuted, transcript) == pytest.approx(reward_hops(task, transcript))
    assert verify(permuted, transcript).max_depth == verify(task, transcript).max_depth


def test_the_order_in_which_independent_hops_are_searched_leaves_our_reward_equal() -> None:
    task, finder = make_task(((), (), (1, 2)))
    turns = be_perfect(task)
    first: list[Turn] = [("", [search("Fact 1:")]), ("Answer1", [search("Fact 2:")]), ("Answer2", [search("Fact 3:")])]
    other: list[Turn] = [("", [search("Fact 2:")]), ("Answer2", [search("Fact 1:")]), ("Answer1", [search("Fact 3:")])]
    rewards = {reward_hops(task, play(task, finder, [*one, turns[-1]])) for one in (first, other)}
    assert rewards == {1.5}


def test_hops_without_gold_places_earn_nothing_by_themselves() -> None:
    task, finder = make_task(((), (), (1, 2)))
    computed: TaskHop = replace(task.hop(3), gold=())
    task = replace(task, hops=(*task.hops[:2], computed))
    turns = be_perfect(task)
    assert reward_hops(task, play(task, finder, [*turns[:2], ("FINAL no", [])])) == pytest.approx(0.25)
    told: list[Turn] = [*turns[:2], ("FINAL Answer2 Answer3", [])]
    assert reward_hops(task, play(task, finder, told)) == pytest.approx(0.5)
