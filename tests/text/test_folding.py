"""One fold, one key, one hash, whether for one name or for a file of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.text.folding import (
    fold,
    hash_key,
    hash_lines,
    hash_strings,
    loose_key,
    loose_keys,
    match_rank,
    squeeze,
)

texts = st.text(st.characters(codec="utf-8"), max_size=20)
ascii_texts = st.text(st.sampled_from("aAnNtThHeE ()bZ9-&._\t"), max_size=14)
names = st.lists(st.one_of(texts, ascii_texts), max_size=30)


@given(names)
def test_many_names_hash_as_one_does(many: list[str]) -> None:
    assert loose_keys(many) == [loose_key(name) for name in many]
    expected = [hash_key(loose_key(name)) for name in many]
    assert hash_strings([loose_key(name) for name in many]).tolist() == expected
    plain = [name for name in many if "\t" not in name and "\n" not in name]
    for end in "\t\n":
        lines = "".join(name + end for name in plain).encode()
        assert hash_lines(lines).tolist() == [hash_key(loose_key(name)) for name in plain]


@given(st.one_of(texts, ascii_texts))
def test_folding_is_idempotent_and_case_does_not_matter(name: str) -> None:
    assert fold(fold(name)) == fold(name)
    assert match_rank(name, name) == match_rank(fold(name), name) == 0
    assert loose_key(fold(name)) == loose_key(name)


@given(st.one_of(texts, ascii_texts), st.one_of(texts, ascii_texts))
def test_names_that_agree_share_a_key(one: str, other: str) -> None:
    rank = match_rank(one, other)
    assert rank == match_rank(other, one)
    if rank < 3:
        assert loose_key(one) == loose_key(other)
    if squeeze(one) == squeeze(other):
        assert rank <= 1


def test_long_keys_hash_alike() -> None:
    many = ["x", "abc" * 100_000, "", "12345678", "123456789", "y" * 16]
    assert hash_strings(many).tolist() == [hash_key(key) for key in many]
    assert len({hash_key("ab" + "\0" * n) for n in range(20)}) == 20


@pytest.mark.parametrize(
    ("one", "other", "rank"),
    [
        ("Ireland", "IRELAND ", 0), ("Straße", "STRASSE", 0), ("ﬁn", "FIN", 0), ("Beyoncé", "Beyonce", 1),
        ("Dr. No", "Dr No", 1), ("Saint-Étienne", "saint etienne", 1), ("The Hague", "Hague", 2),
        ("Mercury (planet)", "Mercury", 2), ("Mercury (planet)", "Mercury (god)", 3), ("A & B", "B", 3),
        ("Cork", "York", 3), ("!!!", "???", 3), ("A", "The", 3),
    ],
)  # fmt: skip
def test_ranks(one: str, other: str, rank: int) -> None:
    assert match_rank(one, other) == rank
