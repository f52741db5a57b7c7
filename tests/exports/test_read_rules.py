"""The rules in numbers, at their bounds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.exports.read_chains.rules import (
    Fault,
    check_atomic,
    check_merged,
    find_sentence,
    find_span,
    holds_words,
    is_number,
    list_tokens,
    list_years,
)

ASKED = "Who directed The Amber Road?"
NEXT = "In which town was Ilka Moren born in 1899?"


@pytest.mark.parametrize(
    ("question", "answer", "fault"),
    [
        (ASKED, "Ilka Moren", None),
        (ASKED, "one two three four five six seven eight nine", None),
        (ASKED, "one two three four five six seven eight nine ten", Fault.ANSWER_LONG),
        (ASKED, "...", Fault.ANSWER_LONG),
        (ASKED, "Amber Moren", None),
        (ASKED, "the Amber Moren", Fault.ANSWER_IN_QUESTION),
        (ASKED, "Road", Fault.ANSWER_IN_QUESTION),
        ("Name the director.", "Ilka Moren", Fault.FORM),
        ("Who directed it? And where?", "Ilka Moren", Fault.FORM),
        ("Who \x1b[31mdirected it?", "Ilka Moren", Fault.FORM),
        ("Who is named in the passage?", "Ilka Moren", Fault.FORM),
    ],
)
def test_atomic_questions(question: str, answer: str, fault: Fault | None) -> None:
    assert check_atomic(question, answer) == fault


@pytest.mark.parametrize(
    ("question", "fault"),
    [
        ("In which town was the director of The Amber Road born in 1899?", None),
        ("In which town was the person who directed The Amber Road born in 1899?", None),
        ("In which town was the director of The Amber Road born?", Fault.YEAR_LOST),
        ("In which town was Ilka Moren, who directed The Amber Road, born in 1899?", Fault.ANSWER_LEAKED),
        ("Is Tarrow Bay where the director of The Amber Road was born in 1899?", Fault.ANSWER_LEAKED),
        ("Born in 1899 in which town?", None),
        ("In which town in 1899?", Fault.NOT_LONGER),
        ("Who directed The Amber Road and in which town was that person born in 1899?", Fault.CONCATENATED),
        ("Who directed it? Where was the person born in 1899?", Fault.FORM),
    ],
)
def test_merged_questions(question: str, fault: Fault | None) -> None:
    assert check_merged(question, ASKED, NEXT, ["Ilka Moren", "Tarrow Bay"], "Ilka Moren") == fault


def test_a_year_of_the_answer_that_is_described_may_go() -> None:
    before, following = "Which treaty ended the war of 1812?", "Who signed the Treaty of 1814 in Ghent?"
    merged = "Who signed the treaty in Ghent that ended the war of 1812?"
    assert check_merged(merged, before, following, ["Treaty of 1814"], "Treaty of 1814") is None
    assert check_merged(merged, before, following, [], "Treaty of Ghent") == Fault.YEAR_LOST


def test_years_are_whole_numbers() -> None:
    assert list_years("In 1931, not 12,000 or 1931.5, nor 31931, but 1999–2004 and the 1880s") == {
        "1931", "1999", "2004", "1880",
    }  # fmt: skip


@pytest.mark.parametrize(("answer", "number"), [("1931", True), ("12,000.5", True), ("97 minutes", False)])
def test_numbers_alone(answer: str, number: bool) -> None:
    assert is_number(answer) == number


def test_a_span_is_letter_for_letter_and_where_the_question_leads() -> None:
    text = "Oslo was mentioned. The capital of Norway is\n Oslo. Osloite is a word."
    span = find_span(text, "Oslo", "What is the capital of Norway?")
    assert span is not None
    assert text[slice(*span)] == "Oslo"
    assert text[slice(*find_sentence(text, *span))].startswith("The capital")
    assert find_span(text, "oslo", "What?") is None
    assert find_span(text, "is Oslo", "What?") is not None
    assert find_span(text, "Osl", "What?") is None
    assert find_span(text, "?!", "What?") is None


@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_spans_are_found_in_any_text(before: str, answer: str, after: str) -> None:
    text = f"{before} {answer} {after}"
    span = find_span(text, answer, before)
    if any(letter.isalnum() for letter in answer):
        assert span is not None
        assert text[slice(*span)].split() == answer.split()
        low, high = find_sentence(text, *span)
        assert low <= span[0] < span[1] <= high
    else:
        assert span is None


@given(st.lists(st.sampled_from(["Oslo", "the", "1931", "is"]), min_size=1, max_size=6), st.integers(0, 5))
def test_words_are_held_as_they_follow(words: list[str], start: int) -> None:
    part = words[start % len(words) :]
    assert holds_words(", ".join(words), " ".join(part).upper())
    assert not holds_words(" ".join(words), "")
    assert list_tokens(" ".join(words)) == [word.casefold() for word in words]


def test_every_code_stands_on_its_page() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "document-questions.md").read_text("utf-8")
    assert not [fault for fault in Fault if f"`{fault}`" not in page]
