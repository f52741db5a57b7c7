"""Near duplicates: questions that share most of their pieces of three words, by MinHash, then measured exactly.

Apart from the other checks, for it is asked of a whole set.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hopwright.text.matching import fold

NEAR = 0.8
"""Share of common pieces (Jaccard) from which two questions count as near duplicates."""
Shingles = npt.NDArray[np.uint64]
_PIECE = 3
_PERMUTATIONS = 128
# An estimate that falls short must not hide a pair; what is found is then measured exactly.
_SLACK = 0.15


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """An earlier text that a text nearly repeats: under which key it was added, and the share of common pieces."""

    key: str
    share: float


class NearDuplicateFinder:
    """Remembers texts and finds those that a new one nearly repeats.

    Keeps the pieces of every text, as 64-bit numbers, and in which bands of signatures it stands: about two kilobytes
    a question. datasketch's own index of the bands takes twice as much as all of that.
    """

    name = "near-duplicates"
    description = "no two questions are nearly the same"

    def __init__(self, limit: float = NEAR) -> None:
        from datasketch import MinHash, MinHashLSH  # slow to load, and not everybody who imports this looks for any

        self._limit = limit
        best = MinHashLSH(threshold=limit - _SLACK, num_perm=_PERMUTATIONS)
        self._bands, self._rows = best.b, best.r
        # Its permutations are drawn once: that takes longer than a signature.
        self._blank = MinHash(num_perm=_PERMUTATIONS, hashfunc=_shorten)
        # A band that one text has maps to its place alone; a list of places is rare.
        self._index: dict[int, int | list[int]] = {}
        self._keys: list[str] = []
        self._pieces: list[Shingles] = []

    def add(self, text: str, key: str) -> NearDuplicate | None:
        """Remember a text, unless it nearly repeats an earlier one: then return that one, the nearest."""
        pieces = _sort(cut(text))
        bands = self._list_bands(pieces)
        near = self._find(pieces, bands)
        if near:
            return near[0]
        self._insert(key, pieces, bands)
        return None

    def insert(self, text: str, key: str) -> None:
        """Remember a text, whatever it repeats."""
        pieces = _sort(cut(text))
        self._insert(key, pieces, self._list_bands(pieces))

    def find_all(self, text: str) -> list[NearDuplicate]:
        """All earlier texts at or over the limit, the nearest first, then by key."""
        pieces = _sort(cut(text))
        return self._find(pieces, self._list_bands(pieces))

    def _insert(self, key: str, pieces: Shingles, bands: list[int]) -> None:
        place = len(self._keys)
        self._keys.append(key)
        self._pieces.append(pieces)
        for band in bands:
            held = self._index.get(band)
            if held is None:
                self._index[band] = place
            elif isinstance(held, int):
                self._index[band] = [held, place]
            else:
                held.append(place)

    def _find(self, pieces: Shingles, bands: list[int]) -> list[NearDuplicate]:
        places = set[int]()
        for band in bands:
            held = self._index.get(band, ())
            places.update((held,) if isinstance(held, int) else held)
        found = []
        for place in places:
            other = self._pieces[place]
            common = len(np.intersect1d(pieces, other, assume_unique=True))
            share = common / (len(pieces) + len(other) - common)
            if share >= self._limit:
                found.append(NearDuplicate(self._keys[place], share))
        return sorted(found, key=lambda near: (-near.share, near.key))

    def _list_bands(self, pieces: Shingles) -> list[int]:
        """One number for each band of a signature."""
        signature = self._blank.copy()
        signature.update_batch(pieces.tolist())
        values = signature.hashvalues.astype("<u8")
        return [
            int.from_bytes(
                hashlib.blake2b(
                    bytes((band,)) + values[band * self._rows : (band + 1) * self._rows].tobytes(), digest_size=7
                ).digest(),
                "big",
            )
            for band in range(self._bands)
        ]


def cut(text: str) -> frozenset[int]:
    """A text's pieces of three words, folded, as stable 64-bit numbers; a shorter text is one piece."""
    words = fold(text).split()
    pieces = [" ".join(words[place : place + _PIECE]) for place in range(max(1, len(words) - _PIECE + 1))]
    return frozenset(int.from_bytes(hashlib.blake2b(piece.encode(), digest_size=8).digest(), "big") for piece in pieces)


def _sort(pieces: frozenset[int]) -> Shingles:
    """Eight bytes a piece, where a set of Python's numbers takes a hundred."""
    return np.array(sorted(pieces), np.uint64)


def _shorten(piece: int) -> int:
    """32 bits, as MinHash takes them."""
    return piece & 0xFFFFFFFF
