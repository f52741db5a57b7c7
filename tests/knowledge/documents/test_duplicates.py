from __future__ import annotations

import re
import tracemalloc
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.knowledge.documents import shingles
from hopwright.knowledge.documents.chunking import cut_passages
from hopwright.knowledge.documents.duplicates import NearDuplicateIndex, SortedRuns
from hopwright.knowledge.documents.shingles import hash_bands, hash_shingles, measure_overlap

NOUNS = "hall gate wall mill quay park well fort barn inn".split()
LONG = " ".join(f"the {noun} of the {noun} was rebuilt by its mayor after a fire" for noun in NOUNS)
WORDS = st.lists(st.sampled_from("a b c d e f".split()), max_size=12).map(" ".join)


def cut(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[^\W_]+", text.casefold())
    return {tuple(words[n : n + 3]) for n in range(max(1, len(words) - 2))} if words else set()


@given(WORDS, WORDS)
def test_overlap_is_that_of_three_word_shingles(one: str, other: str) -> None:
    ours, theirs = cut(one), cut(other)
    assert measure_overlap(one, other) == pytest.approx(len(ours & theirs) / max(1, len(ours | theirs)))


@given(st.lists(WORDS, max_size=6))
def test_texts_hashed_together_are_hashed_as_alone(texts: list[str]) -> None:
    pieces, owner = hash_shingles(texts)
    bands = hash_bands(texts)
    for place, text in enumerate(texts):
        assert pieces[owner == place].tolist() == hash_shingles([text])[0].tolist()
        assert bands[place].tolist() == hash_bands([text])[0].tolist()


@given(st.lists(WORDS, max_size=6), st.integers(1, 9))
def test_texts_hashed_in_small_slices_are_hashed_as_whole(texts: list[str], size: int) -> None:
    pieces, owner = hash_shingles(texts)
    bands = hash_bands(texts)
    with mock.patch.object(shingles, "_SLICE", size):
        found = hash_shingles(texts)
        assert (found[0].tolist(), found[1].tolist()) == (pieces.tolist(), owner.tolist())
        assert hash_bands(texts).tolist() == bands.tolist()


@pytest.mark.parametrize("text", ["a", "a ", "漢"])
def test_a_long_text_takes_memory_in_proportion(text: str) -> None:
    long = text * (4_000_000 // len(text.encode()))
    part = long[:500_000]
    tracemalloc.start()
    try:
        hash_bands([long])
        assert tracemalloc.get_traced_memory()[1] < 12 * 4_000_000
        tracemalloc.reset_peak()
        assert len(cut_passages(part, 200)) >= 25
        assert tracemalloc.get_traced_memory()[1] < 2 * 500_000
    finally:
        tracemalloc.stop()


@given(st.lists(st.lists(st.integers(0, 20), max_size=8), max_size=8))
def test_runs_find_the_earliest_row_of_a_key(batches: list[list[int]]) -> None:
    runs, first, held = SortedRuns(np.uint64), dict[int, int](), list[int]()
    for batch in batches:
        runs.add(np.array(batch, dtype=np.uint64), np.arange(len(held), len(held) + len(batch), dtype=np.int64))
        held += batch
    for row, key in reversed(list(enumerate(held))):
        first[key] = row
    keys = np.arange(22, dtype=np.uint64)
    assert runs.find(keys).tolist() == [first.get(key, -1) for key in range(22)]
    for key in range(22):
        assert sorted(runs.find_all(np.uint64(key), 99)) == [row for row, one in enumerate(held) if one == key]


def sift(*batches: list[str], limit: float = 0.9) -> list[list[tuple[int, float] | None]]:
    kept: list[str] = []
    index = NearDuplicateIndex(limit, kept.__getitem__)
    results = []
    for batch in batches:
        found = index.sift(batch, len(kept))
        kept += [text for text, near in zip(batch, found, strict=True) if near is None]
        results.append(found)
    return results


def test_a_text_that_differs_in_a_common_word_is_near_within_a_batch_and_across() -> None:
    changed = LONG.replace("rebuilt by its mayor after a fire", "rebuilt by its mayor after one fire", 1)
    share = measure_overlap(LONG, changed)
    assert 0.9 < share < 1
    assert sift([LONG, changed]) == [[None, (0, share)]]
    assert sift([LONG], [changed]) == [[None], [(0, share)]]


@pytest.mark.parametrize(
    ("one", "other"),
    [("{} Bergen. It is by Oslo.", "{} Oslo. It is by Bergen."), ("{} in 1901", "{} in 1902"), ("It. {}", "She. {}")],
    ids=["names in another order", "another number", "another title"],
)
def test_texts_that_differ_in_names_or_numbers_are_both_kept(one: str, other: str) -> None:
    assert sift([one.format(LONG), other.format(LONG)], limit=0.5) == [[None, None]]


def test_three_texts_alike_leave_the_first_and_rows_count_only_what_is_kept() -> None:
    other = "completely different words about ships in a harbour far away from any town at all"
    found = sift([LONG, LONG, other, LONG], [other, LONG])
    assert found == [[None, (0, 1.0), None, (0, 1.0)], [(1, 1.0), (0, 1.0)]]


def test_texts_without_words_repeat_nothing() -> None:
    assert sift([". . .", ". . .", ""]) == [[None, None, None]]
