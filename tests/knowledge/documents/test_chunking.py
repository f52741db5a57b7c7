from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hopwright.knowledge.documents.chunking import cut_passages

TEXTS = st.text(alphabet=st.sampled_from("ab.! \n\u00a0é\t"), max_size=300)


@given(TEXTS, st.integers(0, 12))
def test_passages_hold_every_word_once_in_order_and_none_is_too_long(text: str, most: int) -> None:
    places = cut_passages(text, most)
    assert [word for start, end in places for word in text[start:end].split()] == text.split()
    for start, end in places:
        assert text[start:end] == text[start:end].strip() != ""
        assert not most or len(text[start:end].split()) <= most
    assert all(before[1] <= after[0] for before, after in pairwise(places))


def test_passages_end_with_paragraphs_else_with_sentences() -> None:
    text = "One two three. Four five six seven.\n\nEight nine. Ten eleven twelve thirteen fourteen"
    cut = [text[start:end] for start, end in cut_passages(text, 8)]
    assert cut == ["One two three. Four five six seven.", "Eight nine. Ten eleven twelve thirteen fourteen"]
    cut = [text[start:end] for start, end in cut_passages(text, 5)]
    assert cut[0] == "One two three."
    assert cut[1] == "Four five six seven."


def test_what_goes_on_without_white_space_is_cut_too() -> None:
    places = cut_passages("漢" * 1_050, 5)
    assert places == [(0, 500), (500, 1_000), (1_000, 1_050)]
    assert cut_passages("x" * 101, 1) == [(0, 100), (100, 101)]


def test_a_text_within_the_limit_stays_whole() -> None:
    assert cut_passages("  A b c.\n\nD e. ", 5) == [(2, 14)]
    assert cut_passages("  A b c.\n\nD e. ", 0) == [(2, 14)]
    assert cut_passages(" \n ", 3) == []
