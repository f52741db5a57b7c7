import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.errors import InputError
from hopwright.text.mentions import (
    find_leftover,
    find_mentions,
    replace_names,
    replace_number,
    takes_article,
)

WORDS = st.sampled_from(["Vestmark", "Iria", "Port", "Sabel", "of", "the", "Night", "Harbour", "born", "1905", "Glass"])
NAMES = {"Port Sabel": "Qx Yz", "Port": "Zzyx", "Vestmark": "Orlund", "Night Harbour": "Dim Quay"}


@given(st.lists(WORDS, max_size=14).map(" ".join))
def test_nothing_is_left_and_nothing_else_changes(text: str) -> None:
    (done,) = replace_names([text], NAMES)
    assert find_leftover([done], NAMES) is None
    back = {surrogate: name for name, surrogate in NAMES.items()}
    assert replace_names([done], back) == [text]


@given(st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=4))
def test_texts_are_rewritten_one_for_one(texts: list[str]) -> None:
    assert replace_names(texts, NAMES) == [replace_names([text], NAMES)[0] for text in texts] or not texts


def test_longer_names_go_first_and_what_was_put_in_is_left_alone() -> None:
    names = {"Boston": "Chicago", "Boston Celtics": "Old Boston", "Chicago": "Boston"}
    assert replace_names(["Boston Celtics of Boston beat Chicago"], names) == ["Old Boston of Chicago beat Boston"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Iriana is not Iria.", "Iriana is not Velm."),
        ("Iria's king, (Iria)", "Velm's king, (Velm)"),
        ("the Rovers' ground", "the Velmora's ground"),
        ("said 'Rovers' twice", "said 'Velmora' twice"),
        ("capital of the Gambia? The Gambia!", "capital of Tolm? Tolm!"),
        ("Guitar or guitar", "Orvel or orvel"),
    ],
)
def test_boundaries_possessives_and_case(text: str, expected: str) -> None:
    names = {"Iria": "Velm", "Rovers": "Velmora", "The Gambia": "Tolm", "guitar": "orvel"}
    assert replace_names([text], names) == [expected]


def test_a_title_that_is_a_number_or_a_common_word_needs_its_quotes() -> None:
    names = {"1917": "Dim Quay", "Her": "Orlund"}
    text = 'Her father saw "1917" in 1917 and "Her" later'
    assert replace_names([text], names) == ['Her father saw "Dim Quay" in 1917 and "Orlund" later']


def test_private_use_characters_are_refused() -> None:
    with pytest.raises(InputError, match="private-use"):
        replace_names(["a \ue001 b"], {"a": "c"})


@pytest.mark.parametrize(
    ("text", "expected", "count"),
    [
        ("between 1905 and 1951", "between 1912 and 1951", 1),
        ("1905, 1905.", "1912, 1912.", 2),
        ("in 1905–06, 31,905 or 1905.5, 1,905, x1905", "in 1905–06, 31,905 or 1905.5, 1,905, x1905", 0),
    ],
)
def test_only_numbers_that_stand_alone_are_replaced(text: str, expected: str, count: int) -> None:
    assert replace_number(text, "1905", "1912") == (expected, count)


@given(st.text(alphabet="ab A", min_size=0, max_size=20), st.text(alphabet="abA", min_size=1, max_size=3))
def test_mentions_are_whole_words(text: str, name: str) -> None:
    found = list(find_mentions(text, name))
    assert found == [i for i in range(len(text)) if f" {text} "[i : i + len(name) + 2] == f" {name} "]


def test_short_names_are_no_leftovers() -> None:
    assert find_leftover(["MA and Boston"], ["MA", "Boston"]) == "Boston"
    assert find_leftover(["MA and 12345"], ["MA", "12345"]) is None


def test_article_is_seen_only_when_always_there() -> None:
    assert takes_article(["capital of the Netherlands?", "The Netherlands"], "Netherlands")
    assert not takes_article(["the Iria and Iria"], "Iria")
    assert not takes_article(["nothing"], "Iria")
