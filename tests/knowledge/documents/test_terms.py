from __future__ import annotations

import pyarrow as pa
import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

from hypothesis import given
from hypothesis import strategies as st

from hopwright.knowledge.documents.index.analysis import make_analyzer
from hopwright.knowledge.documents.index.terms import TermCutter

_CUTTERS = {language: (TermCutter(language), make_analyzer(language).analyze) for language in ("english", "none")}
_TEXTS = st.lists(st.text() | st.text("aBé ß'-_.1½Σς中٣İ\n", max_size=30), max_size=6)


@given(_TEXTS, st.sampled_from(sorted(_CUTTERS)))
def test_many_texts_are_cut_as_one_by_one(texts: list[str], language: str) -> None:
    cutter, analyze = _CUTTERS[language]
    joined, counts = cutter.cut(pa.array(texts, pa.large_string()))
    assert joined == [join(analyze(text)) for text in texts]
    assert counts.tolist() == [len(analyze(text)) for text in texts]


def test_characters_that_only_the_analyzer_knows_are_cut_alike() -> None:
    texts = ["\U000323b0", "a\U000323b0b \U0001fbfa\u0378c", "x\u0378y"]
    for cutter, analyze in _CUTTERS.values():
        assert cutter.cut(pa.array(texts, pa.large_string()))[0] == [join(analyze(text)) for text in texts]


def test_long_words_and_stop_words_are_no_terms() -> None:
    joined, counts = TermCutter("english").cut(pa.array(["the of", f"{'x' * 50} Rivers", ""], pa.large_string()))
    assert (joined, counts.tolist()) == (["", "river ", ""], [0, 1, 0])


def test_a_part_of_a_column_is_cut_alone() -> None:
    column = pa.array(["one two", "three four", "five"], pa.large_string())
    joined, counts = TermCutter("none").cut(column[1:])
    assert (joined, counts.tolist()) == (["three four ", "five "], [2, 1])


def join(terms: list[str]) -> str:
    """The terms as a cutter joins them."""
    return "".join(f"{term} " for term in terms)
