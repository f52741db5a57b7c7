"""Budgets, masks and actions written as tags."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.environments.episode import NO_STEPS_LEFT, Episode, guess_tokens
from hopwright.environments.masking import mask_messages, mask_tokens, render_masked
from hopwright.environments.rewards import reward_hops, reward_mmhops
from hopwright.environments.tags import NO_ACTION, read_tagged_answer, take_tagged
from hopwright.environments.task import Task
from hopwright.environments.verifier import verify
from hopwright.llm.tool_calls import ToolCall
from tests.environments.worlds import be_perfect, make_task, play, read_answer, search
from tests.growth import expect_linear


def begin(task: Task, finder: object, **options: object) -> Episode:
    return Episode(task, finder, read_answer, **options)  # type: ignore[arg-type]


def call(query: str) -> list[ToolCall]:
    return [ToolCall("c", *search(query))]


def test_a_budget_of_turns_ends_the_calls_and_not_the_answer() -> None:
    task, finder = make_task()
    task = replace(task, max_turns=2)
    episode = begin(task, finder)
    assert NO_STEPS_LEFT not in episode.take("", call("Fact 1:"))[0]
    assert episode.take("", call("Fact 2:"))[0].endswith(NO_STEPS_LEFT)
    assert episode.take("FINAL Answer3", []) == []
    assert episode.transcript is not None and episode.transcript.ended == "answered"
    late = play(task, finder, be_perfect(task))
    assert (late.ended, late.steps) == ("out_of_steps", 2)


def test_a_budget_of_tokens_counts_what_is_written_and_shown() -> None:
    task, finder = make_task()
    episode = begin(replace(task, max_tokens=12), finder, count_tokens=lambda text: len(text.split()))
    (first,) = episode.take("one two", call("Fact 1:"))
    # Two words, two of the arguments, and the passage with its id and its title.
    assert episode.tokens == 2 + len(search("Fact 1:")[1].split()) + len(first.replace(NO_STEPS_LEFT, "").split())
    assert first.endswith(NO_STEPS_LEFT)
    roomy = begin(replace(task, max_tokens=1000), finder)
    assert NO_STEPS_LEFT not in roomy.take("one two", call("Fact 1:"))[0]
    assert guess_tokens("") == 0 and guess_tokens("four") == 1 and guess_tokens("fives") == 2


def test_what_was_shown_is_no_part_of_what_the_policy_wrote() -> None:
    task, finder = make_task()
    episode = begin(task, finder)
    turns = [("I look.", call("Fact 1:")), ("Hm.", [ToolCall("c", "find", "{")]), ("FINAL Answer1", [])]
    shown: list[str] = []
    for text, calls in turns:
        shown += episode.take(text, calls)
    masked = render_masked(episode.messages)
    written = [masked.text[start:end] for start, end in masked.written]
    others = "".join(masked.text[start:end] for start, end in masked.shown)
    assert [words.split("<")[0] for words in written] == [text for text, _ in turns]
    assert "Fact 1:" in written[0], "the query is the policy's"
    assert all(text in others for text in shown) and "cannot be carried out" in others
    assert "Answer1 is the answer" not in "".join(written)
    assert mask_messages(episode.messages) == [1, 0, 1, 0, 1]


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 9)), max_size=20), st.data())
def test_a_token_counts_when_all_of_it_was_written(pieces: list[tuple[bool, int]], data: st.DataObject) -> None:
    owner = [mine for mine, length in pieces for _ in range(length)]
    written, place = [], 0
    for mine, length in pieces:
        if mine:
            written.append((place, place + length))
        place += length
    joined: list[tuple[int, int]] = []
    for start, end in written:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    cuts = sorted(data.draw(st.sets(st.integers(0, place), max_size=12)) | {0, place})
    offsets = [*itertools.pairwise(cuts), (0, 0)]
    mask = mask_tokens(offsets, joined)
    assert mask == [int(start < end and all(owner[start:end])) for start, end in offsets]


def tagged(task: Task, finder: object) -> Episode:
    return Episode(task, finder, read_tagged_answer)  # type: ignore[arg-type]


def test_tags_are_actions_and_only_thoughts_are_words() -> None:
    task, finder = make_task()
    episode = tagged(task, finder)
    assert "Answer1" in take_tagged(episode, "<think>First</think> <search>Fact 1:</search>")[0]
    take_tagged(episode, "<think>It is Answer1</think><text_search>Fact 2:</text_search>")
    take_tagged(episode, "<think>Answer2</think><read>d3</read>")
    assert take_tagged(episode, "<think>Answer3</think><answer>Answer3</answer>") == []
    transcript = episode.transcript
    assert transcript is not None
    assert (transcript.answer, transcript.steps, transcript.malformed) == ("Answer3", 3, 0)
    assert reward_hops(task, transcript) == pytest.approx(1.5)
    # A query alone is no answer that was found: what a tag asks for counts by the rules of queries.
    guess = tagged(task, finder)
    take_tagged(guess, "<search>Fact 1:</search>")
    take_tagged(guess, "<search>Answer1 is what</search>")
    take_tagged(guess, "<answer>no</answer>")
    assert guess.transcript is not None
    assert not verify(task, guess.transcript).hops[0].found


@pytest.mark.parametrize(
    "said",
    ["", "I wonder.", "<search>Fact 1:", "<find>x</find>", "<search></search>",
     "<information>Fact 1: Answer1</information><search>Fact 2:</search>", "<answer></answer"],
)  # fmt: skip
def test_a_turn_without_an_action_is_told_so_and_costs_what_a_malformed_call_costs(said: str) -> None:
    task, finder = make_task()
    episode = tagged(task, finder)
    (told,) = take_tagged(episode, said)
    assert told.startswith("This call cannot be carried out")
    for hop in task.hops:
        take_tagged(
            episode, f"<think>{task.hop(max(hop.index - 1, 1)).answers[0]}</think><search>Fact {hop.index}:</search>"
        )
    take_tagged(episode, "<answer>Answer3</answer>")
    transcript = episode.transcript
    assert transcript is not None and transcript.malformed == 1
    assert transcript.actions[0].name == (NO_ACTION if said != "<search></search>" else "search")
    assert reward_hops(task, transcript) == pytest.approx(1.5 - 0.05)
    assert reward_mmhops(task, transcript) == 1.0, "one malformed action costs the whole form"


def test_an_empty_answer_is_none() -> None:
    task, finder = make_task()
    episode = tagged(task, finder)
    take_tagged(episode, "<answer> </answer>")
    assert episode.transcript is not None and episode.transcript.ended == "not_extractable"


def test_messages_hold_the_turn_to_the_letter() -> None:
    task, finder = make_task()
    said = "<think>x</think>\n<search>Fact 1:</search>"
    episode = tagged(task, finder)
    (told,) = take_tagged(episode, said)
    masked = render_masked(episode.messages)
    assert masked.text == f"{said}\n<information>{told}</information>\n"
    assert masked.written == ((0, len(said)),)


def test_actions_as_tags_take_as_long_to_find_as_the_turn_is() -> None:
    task, finder = make_task()

    def take(said: str) -> list[str]:
        return take_tagged(tagged(task, finder), said)

    for tag in ("<answer>", "<search><answer>", "<search>x</answer>"):
        expect_linear(lambda size, tag=tag: tag * size, take, 4_000)
        expect_linear(lambda size, tag=tag: tag * size, read_tagged_answer, 4_000)


def test_the_first_tag_that_is_closed_counts() -> None:
    task, finder = make_task()
    episode = tagged(task, finder)
    (told,) = take_tagged(episode, "<answer>no <search> Fact 1: </search><answer>x</search>")
    assert told == take_tagged(tagged(task, finder), "<search>Fact 1:</search>")[0]
    assert read_tagged_answer("<answer> a <answer>b</answer></answer>") == "a <answer>b"
    assert read_tagged_answer("</answer><answer>a") is None
