"""Three-word shingles of many texts at once, and the bands of their MinHash signatures.

Bands as in Broder's near-duplicate detection with locality-sensitive hashing (Leskovec, Rajaraman and Ullman, Mining of
Massive Datasets, chapter 3). Words are hashed by prefix sums over the bytes of all texts, so that no word is ever a
Python object: some microseconds a text instead of some hundred.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from hopwright.text.folding import U64

BANDS, ROWS = 6, 6
"""Texts that share nine tenths of their shingles meet in a band with a probability of 98.9 %, those that share three
tenths with one of 0.4 %."""
_BASE = 0x9E3779B97F4A7C15
_SLICE = 1 << 18
"""Bytes that are hashed at once; each takes some fifty while it is."""
_POWERS, _INVERSES = (
    np.cumprod(np.r_[np.uint64(1), np.full(_SLICE + 1, base, dtype=np.uint64)], dtype=np.uint64)
    for base in (_BASE, pow(_BASE, -1, 1 << 64))
)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_FACTORS: U64 = np.random.default_rng(20_26).integers(1, 1 << 63, size=BANDS * ROWS, dtype=np.uint64) * np.uint64(
    2
) + np.uint64(1)
_IN_WORD = np.array([chr(byte).isalnum() if byte < 128 else True for byte in range(256)])
_NONE, _MOST = np.uint64(0), np.uint64(2**64 - 1)
Bytes = NDArray[np.uint8]
Owners = NDArray[np.int64]


def hash_bands(texts: Sequence[str]) -> U64:
    """Numbers of the bands that the texts fall in: texts × BANDS. A text without words has zeros."""
    bands = np.zeros((len(texts), BANDS), dtype=np.uint64)
    least = np.full((len(texts), BANDS * ROWS), _MOST, dtype=np.uint64)
    worded = np.zeros(len(texts), dtype=bool)
    for pieces, owner in _hash_slices(texts):
        owners, starts = np.unique(owner, return_index=True)
        worded[owners] = True
        for number, factor in enumerate(_FACTORS):
            smallest = np.minimum.reduceat(pieces * factor, starts)
            least[owners, number] = np.minimum(least[owners, number], smallest)
    for band in range(BANDS):
        key: U64 = np.full(len(texts), np.uint64(band + 1), dtype=np.uint64)
        for row in range(ROWS):
            key = _mix(key ^ least[:, band * ROWS + row])
        # Zero stands for no band at all.
        bands[worded, band] = np.maximum(key, np.uint64(1))[worded]
    return bands


def hash_shingles(texts: Sequence[str]) -> tuple[U64, Owners]:
    """All three-word shingles of the texts as numbers, and whose each is; a text of one or two words has one."""
    slices = list(_hash_slices(texts))
    if not slices:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    return np.concatenate([pieces for pieces, _ in slices]), np.concatenate([owner for _, owner in slices])


def measure_overlap(one: str, other: str) -> float:
    """The share of two texts' distinct shingles that both have (Jaccard), 0–1."""
    ours, theirs = (np.unique(hash_shingles([text])[0]) for text in (one, other))
    common = len(np.intersect1d(ours, theirs, assume_unique=True))
    return common / max(1, len(ours) + len(theirs) - common)


def _hash_slices(texts: Sequence[str]) -> Iterator[tuple[U64, Owners]]:
    """The shingles of the texts, some texts or a part of a long one at a time."""
    held: tuple[U64, Owners] = np.empty(0, np.uint64), np.empty(0, np.int64)
    before = -1
    for words, owner, whole in _hash_words(texts):
        words, owner = np.r_[held[0], words], np.r_[held[1], owner]
        # Three words in a row of one text; what lies beyond its end counts as no word.
        second = _shift(words, owner, 1)
        third = _shift(words, owner, 2)
        with np.errstate(over="ignore"):
            pieces = _mix(_mix(words * np.uint64(3) + second) + third)
        first = np.r_[before, owner[:-1]] != owner
        known = first | (third != _NONE)
        # The last two words of a slice wait for those of the next one.
        done = len(words) if whole else max(0, len(words) - 2)
        known[done:] = False
        if known.any():
            yield pieces[known], owner[known]
        held = words[done:], owner[done:]
        before = int(owner[done - 1]) if done else before


def _hash_words(texts: Sequence[str]) -> Iterator[tuple[U64, Owners, bool]]:
    """A number for each word (letters and digits, case folded) of the texts, whose it is, and whether the next slice
    begins with another text."""
    for first, group in _group(texts):
        encoded = [text.casefold().encode("utf-8", "replace") for text in group]
        begins = np.cumsum([1, *(len(one) + 1 for one in encoded)])[:-1]
        data = np.frombuffer(b"\n".join([b"", *encoded, b""]), dtype=np.uint8)
        start = 0
        while start < len(data):
            end = _find_slice_end(data, start)
            hashes, places = _hash_slice(data[start:end])
            owner = np.searchsorted(begins, places + start, side="right") - 1 + first
            yield hashes, owner.astype(np.int64), end == len(data)
            start = end


def _group(texts: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """The texts in their order, as many at a time as make a slice, and the number of the first."""
    first, size = 0, 0
    for number, text in enumerate(texts):
        if number > first and size + len(text) > _SLICE:
            yield first, texts[first:number]
            first, size = number, 0
        size += len(text)
    if texts:
        yield first, texts[first:]


def _find_slice_end(data: Bytes, start: int) -> int:
    """Where a slice ends: between two words, or within a word that is longer than a slice, which then counts as two."""
    end = min(start + _SLICE, len(data))
    if end == len(data) or not _IN_WORD[data[end]]:
        return end
    outside = np.flatnonzero(~_IN_WORD[data[start:end]])
    return start + int(outside[-1]) + 1 if len(outside) else end


def _hash_slice(data: Bytes) -> tuple[U64, Owners]:
    """A number for each word of some bytes, and where it begins."""
    inside = np.zeros(len(data) + 2, dtype=bool)
    inside[1:-1] = _IN_WORD[data]
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = edges[::2], edges[1::2]
    with np.errstate(over="ignore"):
        sums = np.r_[_NONE, np.cumsum((data + np.uint64(1)) * _POWERS[: len(data)], dtype=np.uint64)]
        hashes = (sums[ends] - sums[starts]) * _INVERSES[starts]
    return np.maximum(_mix(hashes), np.uint64(1)), starts


def _shift(words: U64, owner: NDArray[np.int64], by: int) -> U64:
    """The word that stands `by` later in the same text; zero where there is none."""
    shifted = np.zeros_like(words)
    if len(words) > by:
        same = owner[by:] == owner[:-by]
        shifted[:-by][same] = words[by:][same]
    return shifted


def _mix(values: U64) -> U64:
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(32))) * _MIX
        values = (values ^ (values >> np.uint64(32))) * _MIX
        mixed: U64 = values ^ (values >> np.uint64(32))
    return mixed
