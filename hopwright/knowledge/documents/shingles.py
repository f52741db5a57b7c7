"""Three-word shingles of many texts at once, and the bands of their MinHash signatures.

Bands as in Broder's near-duplicate detection with locality-sensitive hashing (Leskovec, Rajaraman and Ullman, Mining of
Massive Datasets, chapter 3). Words are hashed by prefix sums over the bytes of all texts, so that no word is ever a
Python object: some microseconds a text instead of some hundred.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hopwright.text.folding import U64

BANDS, ROWS = 6, 6
"""Texts that share nine tenths of their shingles meet in a band with a probability of 98.9 %, those that share three
tenths with one of 0.4 %."""
_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 1 << 64)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_FACTORS: U64 = np.random.default_rng(20_26).integers(1, 1 << 63, size=BANDS * ROWS, dtype=np.uint64) * np.uint64(
    2
) + np.uint64(1)
_IN_WORD = np.array([chr(byte).isalnum() if byte < 128 else True for byte in range(256)])
_NONE = np.uint64(0)


def hash_bands(texts: Sequence[str]) -> U64:
    """Numbers of the bands that the texts fall in: texts × BANDS. A text without words has zeros."""
    bands = np.zeros((len(texts), BANDS), dtype=np.uint64)
    pieces, owner = hash_shingles(texts)
    if not len(pieces):
        return bands
    owners, starts = np.unique(owner, return_index=True)
    least = np.empty((len(owners), BANDS * ROWS), dtype=np.uint64)
    for number, factor in enumerate(_FACTORS):
        least[:, number] = np.minimum.reduceat(pieces * factor, starts)
    for band in range(BANDS):
        key: U64 = np.full(len(owners), np.uint64(band + 1), dtype=np.uint64)
        for row in range(ROWS):
            key = _mix(key ^ least[:, band * ROWS + row])
        # Zero stands for no band at all.
        bands[owners, band] = np.maximum(key, np.uint64(1))
    return bands


def hash_shingles(texts: Sequence[str]) -> tuple[U64, NDArray[np.int64]]:
    """All three-word shingles of the texts as numbers, and whose each is; a text of one or two words has one."""
    words, owner = _hash_words(texts)
    if not len(words):
        return words, owner
    # Three words in a row of one text; what lies beyond its end counts as no word.
    second = _shift(words, owner, 1)
    third = _shift(words, owner, 2)
    with np.errstate(over="ignore"):
        pieces = _mix(_mix(words * np.uint64(3) + second) + third)
    first = np.r_[True, owner[1:] != owner[:-1]]
    whole = first | (third != _NONE)
    return pieces[whole], owner[whole]


def measure_overlap(one: str, other: str) -> float:
    """The share of two texts' distinct shingles that both have (Jaccard), 0–1."""
    pieces, owner = hash_shingles([one, other])
    ours, theirs = np.unique(pieces[owner == 0]), np.unique(pieces[owner == 1])
    common = len(np.intersect1d(ours, theirs, assume_unique=True))
    return common / max(1, len(ours) + len(theirs) - common)


def _hash_words(texts: Sequence[str]) -> tuple[U64, NDArray[np.int64]]:
    """A number for each word (letters and digits, case folded) of the texts, and whose it is."""
    encoded = [text.casefold().encode("utf-8", "replace") for text in texts]
    data = np.frombuffer(b"\n".join([b"", *encoded, b""]), dtype=np.uint8)
    inside = _IN_WORD[data]
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    if not len(starts):
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    with np.errstate(over="ignore"):
        powers = _powers(_BASE, len(data))
        sums = np.r_[_NONE, np.cumsum((data.astype(np.uint64) + np.uint64(1)) * powers, dtype=np.uint64)]
        hashes = (sums[ends] - sums[starts]) * _powers(_INVERSE, len(data))[starts]
    begins = np.cumsum([1, *(len(one) + 1 for one in encoded)])[:-1]
    owner = np.searchsorted(begins, starts, side="right") - 1
    return np.maximum(_mix(hashes), np.uint64(1)), owner.astype(np.int64)


def _powers(base: int, count: int) -> U64:
    powers = np.full(count, np.uint64(base), dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)


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
