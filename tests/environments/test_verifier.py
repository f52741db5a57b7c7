"""What a transcript shows: hops retrieved, written and found, MaxD, and why a wrong answer is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hopwright.environments.task import FoundPassage, GoldPlace
from hopwright.environments.tools import TOOLS
from hopwright.environments.verifier import FailureClass, verify
from tests.environments.worlds import (
    Turn,
    be_perfect,
    loop,
    make_passage,
    make_task,
    malform,
    play,
    remember_only,
    search,
    search_and_ignore,
)

NOISE = search("Nothing of note")


def test_a_perfect_agent_finds_every_hop_and_is_as_deep_as_the_task() -> None:
    task, finder = make_task()
    verdict = verify(task, play(task, finder, be_perfect(task)))
    assert verdict.right and verdict.failure is None
    assert [(hop.retrieved_at, hop.written_at, hop.found) for hop in verdict.hops] == [
        (1, 2, True), (2, 3, True), (3, 4, True),
    ]  # fmt: skip
    assert (verdict.max_depth, verdict.serving) == (3, (True, True, True))


def test_what_is_known_by_heart_counts_for_nothing() -> None:
    task, finder = make_task()
    verdict = verify(task, play(task, finder, remember_only(task)))
    assert (verdict.right, verdict.max_depth) == (True, 0)
    # Written before it was shown, and never again: it was not found there.
    early: list[Turn] = [("Answer1", [search("Fact 1:")]), ("Answer2 then", [search("Fact 2:")]), ("FINAL no", [])]
    assert verify(task, play(task, finder, early)).max_depth == 0


@pytest.mark.parametrize(
    ("graph", "found", "depth"),
    [
        (((), (1,), (2,), (3,)), {1, 2}, 2),
        (((), (1,), (2,), (3,)), {2, 3, 4}, 0),
        (((), (), (1, 2), (3,)), {2}, 1),
        (((), (), (1, 2), (3,)), {1, 2}, 1),
        (((), (), (1, 2), (3,)), {1, 2, 3}, 3),
        (((), (), (1, 2), (3,)), {2, 3, 4}, 1),
        (((), (), (1, 2), (3,)), {1, 2, 3, 4}, 4),
    ],
)
def test_depth_counts_a_hop_and_all_that_it_rests_on(
    graph: tuple[tuple[int, ...], ...], found: set[int], depth: int
) -> None:
    task, finder = make_task(graph)
    turns: list[Turn] = [(" ", [search(f"Fact {one}:")]) for one in sorted(found)]
    said = " ".join(f"Answer{one}" for one in sorted(found))
    assert verify(task, play(task, finder, [*turns, (said, [NOISE]), ("FINAL no", [])])).max_depth == depth


CASES: list[tuple[str, list[Turn], FailureClass]] = [
    ("at once", [("FINAL no", [])], "not_searched"),
    ("stops early", [("", [search("Fact 1:")]), ("FINAL Answer1", [])], "not_searched"),
    ("finds nothing", [("", [search("answer of fact one")]), ("FINAL no", [])], "searched_not_found"),
    ("other things", [("", [search("Fact 1:")]), ("Answer1", [NOISE]), ("FINAL no", [])], "wrong_plan"),
    ("does not see it", [("", [search("Fact 1:")]), ("FINAL no", [])], "found_unused"),
    ("unreadable", [("", [search("Fact 1:")]), ("no", [])], "no_answer"),
]


@pytest.mark.parametrize(("name", "turns", "failure"), CASES, ids=[case[0] for case in CASES])
def test_wrong_answers_are_classed_by_the_first_hop_that_is_missing(
    name: str, turns: list[Turn], failure: FailureClass
) -> None:
    task, finder = make_task()
    verdict = verify(task, play(task, finder, turns))
    assert not verdict.right
    assert verdict.failure == failure, name


def test_going_past_the_answer_and_using_all_calls_up_are_over_extension() -> None:
    task, finder = make_task()
    turns = [*be_perfect(task)[:-1], ("Answer3", [NOISE]), ("FINAL another", [])]
    verdict = verify(task, play(task, finder, turns))
    assert (verdict.failure, verdict.max_depth) == ("over_extended", 3)
    looped = play(task, finder, loop(task))
    assert (looped.ended, looped.steps) == ("out_of_steps", task.max_steps)
    assert verify(task, looped).failure == "over_extended"
    assert verify(task, play(task, finder, search_and_ignore(task))).failure == "found_unused"


def test_malformed_calls_take_no_step_and_three_in_a_row_end_the_episode() -> None:
    task, finder = make_task()
    transcript = play(task, finder, malform(task))
    assert (transcript.ended, transcript.steps, transcript.malformed) == ("malformed", 0, 3)
    assert verify(task, transcript).failure == "no_answer"
    bad = malform(task)
    mended = [bad[0], bad[1], *be_perfect(task)[:1], bad[0], bad[1], *be_perfect(task)[1:]]
    transcript = play(task, finder, mended)
    assert (transcript.ended, transcript.steps, transcript.malformed) == ("answered", 3, 4)


def test_a_call_beyond_the_last_step_is_told_once() -> None:
    task, finder = make_task(max_steps=1)
    turns: list[Turn] = [("", [search("Fact 1:"), search("Fact 2:")]), ("FINAL Answer3", [])]
    transcript = play(task, finder, turns)
    assert (transcript.ended, transcript.steps, len(transcript.actions)) == ("answered", 1, 1)


def test_given_passages_are_shown_from_the_start_and_a_closed_book_has_no_depth() -> None:
    task, finder = make_task(((), (1,)))
    answered = play(task, finder, [("Answer1 so FINAL Answer2", [])])
    transcript = replace(answered, given=tuple(finder.passages), ended="answered", answer="Answer2")
    assert verify(task, transcript).max_depth == 2
    closed = verify(task, replace(transcript, given=(), answer="no"), closed_book=True)
    assert (closed.max_depth, closed.failure) == (None, "not_known")


def test_half_of_a_gold_place_is_enough_and_any_place_of_a_fact_will_do() -> None:
    passage = FoundPassage("p", "P", "x" * 100, "d", 100, 200)
    assert GoldPlace("d", 190, 210).is_in(passage)
    assert not GoldPlace("d", 191, 210).is_in(passage)
    assert not GoldPlace("e", 190, 210).is_in(passage)
    task, finder = make_task(((),))
    fact = (GoldPlace("d77", 0, 10), *task.hop(1).gold[0])
    task = replace(task, hops=(replace(task.hop(1), gold=(fact,)),))
    assert verify(task, play(task, finder, be_perfect(task))).max_depth == 1
    both = replace(task, hops=(replace(task.hop(1), gold=((fact[0],), (fact[1],))),))
    (hop,) = verify(both, play(both, finder, be_perfect(both))).hops
    assert (hop.facts, hop.shown, hop.found) == (2, 1, False)


def test_whole_words_only_and_aliases_count_as_written() -> None:
    task, finder = make_task(((), (1,)))
    task = replace(task, hops=(replace(task.hop(1), answers=("Answer1", "The First")), task.hop(2)))
    start: list[Turn] = [("", [search("Fact 1:")])]
    assert verify(task, play(task, finder, [*start, ("Answer12", [NOISE]), ("FINAL no", [])])).max_depth == 0
    assert verify(task, play(task, finder, [*start, ("It is first.", [NOISE]), ("FINAL no", [])])).max_depth == 1


def test_the_schemas_of_the_tools_are_closed_and_describe_every_argument() -> None:
    for tool in TOOLS:
        assert tool.parameters["additionalProperties"] is False
        assert all(len(one["description"]) > 10 for one in tool.parameters["properties"].values())


def test_passages_of_the_world_are_found() -> None:
    assert make_task()[1].search("Fact 2:", 3) == [make_passage(2, "Fact 2: Answer2 is the answer.")]
