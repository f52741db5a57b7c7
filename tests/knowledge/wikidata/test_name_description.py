"""What a name's brackets and the words beside it say, and how aliases are like labels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.knowledge.wikidata.name_description import (
    NameDescription,
    compare_alias,
    describe_name,
    find_years,
    strip_brackets,
)

words = st.text("abcdefg XYZ.-", min_size=1, max_size=20).filter(lambda text: any(map(str.isalpha, text)))


@pytest.mark.parametrize(
    ("name", "text", "noun", "years"),
    [
        ("Devotion (1950 film)", "", "film", {1950}),
        ("Devotion", "Who directed Devotion (1950 Film)?", "film", {1950}),
        ("Remember", "Who sang Remember (John Lennon Song)?", "song", set()),
        ("John Wilson (Ontario politician, born 1807)", "", "politician", {1807}),
        ("Arden", "Who lives in the city Arden?", "city", set()),
        ("Hermann (1825–1901)", "", "", {1825, 1901}),
        ("Devotion", "Did the films Port Sabel and Devotion come out in one year?", "film", set()),
        ("Devotion", "Which film came out earlier, Port Sabel or Devotion?", "film", set()),
        ("Ada Lindqvist", "Who was born first, Ada Lindqvist or Rolf Ekman?", "person", set()),
        ("Ada Lindqvist", "Where was Ada Lindqvist's paternal grandfather born?", "person", set()),
        ("Ada Lindqvist", "Where was the mother of Ada Lindqvist born?", "person", set()),
    ],
)
def test_brackets_and_the_noun_before_are_read(name: str, text: str, noun: str, years: set[int]) -> None:
    said = describe_name(name, text)
    assert (said.nouns[0] if said.nouns else "") == noun
    assert said.years == years


def test_words_that_are_no_kind_say_nothing() -> None:
    assert describe_name("Arden", "Who lives in Arden?") == NameDescription(found=True)
    assert describe_name("Arden", "") == NameDescription()
    assert describe_name("Arden", "Hardened (1950 film)").years == frozenset()


@pytest.mark.parametrize(
    ("text", "found", "longer"),
    [
        ("Who was the father of Alfred, Duke of Arden?", True, True),
        ("Who was the father of Alfred, 1St Baron Sabel?", True, True),
        ("Did Alfred know Alfred Lindqvist?", True, False),
        ("Who was Alfred?", True, False),
        ("Who was Alfreda?", False, False),
    ],
)
def test_a_name_that_goes_on_is_another_name(text: str, found: bool, longer: bool) -> None:
    said = describe_name("Alfred", text)
    assert (said.found, said.longer) == (found, longer)


@given(words, st.text(max_size=40))
def test_any_text_can_be_read(name: str, text: str) -> None:
    assert describe_name(name, text).years <= find_years(name + text)
    assert strip_brackets(strip_brackets(name)) == strip_brackets(name)


@pytest.mark.parametrize(
    ("name", "label", "likeness"),
    [
        ("L'viv", "Lviv", "same"),
        ("Goethe", "Johann Wolfgang von Goethe", "part"),
        ("USA", "United States of America", "initials"),
        ("France", "Marseille", "unlike"),
        ("Port Sabel (city)", "Port Sabel", "same"),
    ],
)
def test_aliases_are_compared_with_labels(name: str, label: str, likeness: str) -> None:
    assert compare_alias(name, label) == likeness


@given(words)
def test_a_label_is_like_itself(label: str) -> None:
    assert compare_alias(label, label.upper()) == "same"
