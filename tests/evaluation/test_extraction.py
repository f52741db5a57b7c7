"""Answers are read strictly: what is not in the form asked for is not extractable, which is not the same as wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.evaluation.extraction import extract

OPTIONS = {"A": "Paris", "B": "1775", "C": "New York", "D": "The D"}


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"), (" (C) ", "C"), ("**D**", "D"), ("A.", "A"), ("B. 1775", "B"), ("C) new york.", "C"),
        ("Answer: B", "B"), ("The answer is B", "B"), ("The correct option is **B**.", "B"),
        ("<think>A or B? A.</think>B", "B"),
        ("B. 1776", ""), ("E", ""), ("b", ""), ("A or B", ""), ("I would say A", ""), ("A city", ""), ("1775", ""),
    ],
)  # fmt: skip
def test_direct_letters(text: str, letter: str) -> None:
    read = extract(text, "mcq", "direct", OPTIONS)
    assert read.value == letter
    assert (read.outcome == "answered") is bool(letter)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("So it is Paris.\nThe answer is A.", "A"),
        ("The answer is A. No: the answer is **C**", "C"),
        ("the answer is: (B)", "B"), ("The answer is option D.", "D"),
        ("The answer is Paris.", ""), ("the answer is a city", ""), ("I choose B.", ""), ("The answer is E.", ""),
    ],
)  # fmt: skip
def test_letters_after_a_chain_of_thought(text: str, letter: str) -> None:
    assert extract(text, "mcq", "cot", OPTIONS).value == letter


@pytest.mark.parametrize(
    ("text", "prompting", "answer"),
    [
        ("Paris", "direct", "Paris"), ("Paris.", "direct", "Paris"), ("**Paris**", "direct", "Paris"),
        ("Washington, D.C.", "direct", "Washington, D.C."), ("The answer is 1,234.5", "direct", "1,234.5"),
        ('"Yesterday"', "direct", "Yesterday"), ("1969.", "direct", "1969"),
        ("FINAL ANSWER: Paris", "direct", "Paris"),
        ("First this.\nThen that.", "direct", ""),
        (" ".join(["word"] * 41), "direct", ""),
        ("Reasoning.\nFINAL ANSWER: **New York**", "cot", "New York"),
        ("FINAL ANSWER: London\nWait.\nFinal answer: Paris.", "cot", "Paris"),
        ("It is Paris.", "cot", ""), ("FINAL ANSWER:", "cot", ""),
    ],
)  # fmt: skip
def test_answers_in_words(text: str, prompting: str, answer: str) -> None:
    read = extract(text, "open", prompting, {})
    assert read.value == answer
    assert (read.outcome == "answered") is bool(answer)


def test_nothing_and_half_a_thought() -> None:
    assert extract("  ", "open", "direct", {}).outcome == "empty"
    assert extract("<think>well", "open", "cot", {}).outcome == "truncated"


@given(st.text(max_size=80), st.sampled_from(["mcq", "open"]), st.sampled_from(["direct", "cot"]))
def test_whatever_comes_ends_in_one_outcome(text: str, form: str, prompting: str) -> None:
    read = extract(text, form, prompting, OPTIONS)
    assert (read.outcome == "answered") is bool(read.value)
    if form == "mcq" and read.value:
        assert read.value in OPTIONS


@given(st.sampled_from("ABCD"), st.text(alphabet="abc xyz.,", max_size=60))
def test_a_marked_letter_is_found_behind_any_reasoning(letter: str, reasoning: str) -> None:
    assert extract(f"{reasoning}\nThe answer is {letter}.", "mcq", "cot", OPTIONS).value == letter
