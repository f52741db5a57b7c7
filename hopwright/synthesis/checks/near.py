"""Near duplicates: questions that share most of their pieces of three words, by MinHash, then measured exactly.

Apart from the other checks, for it is asked of a whole set, and its library takes a moment to load.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from datasketch import MinHash, MinHashLSH

from hopwright.synthesis.checks.text import fold

NEAR = 0.8
"""Share of common pieces (Jaccard) from which two questions count as near duplicates."""
_PIECE = 3
_PERMUTATIONS = 128
# An estimate that falls short must not hide a pair; what is found is then measured exactly.
_SLACK = 0.15


@dataclass(frozen=True, slots=True)
class Near:
    """An earlier text that a text nearly repeats: under which key it was added, and the share of common pieces."""

    key: str
    share: float


class NearDuplicateFinder:
    """Remembers texts and finds those that a new one nearly repeats.

    Keeps the pieces of every text, as 64-bit numbers, and its signature: about two kilobytes a question.
    """

    name = "near-duplicates"
    description = "no two questions are nearly the same"

    def __init__(self, limit: float = NEAR) -> None:
        self._limit = limit
        self._index = MinHashLSH(threshold=limit - _SLACK, num_perm=_PERMUTATIONS)
        self._pieces: dict[str, frozenset[int]] = {}

    def add(self, text: str, key: str) -> Near | None:
        """Remember a text, unless it nearly repeats an earlier one: then return that one, the nearest."""
        pieces = cut(text)
        signature = _sign(pieces)
        near = self._find(pieces, signature)
        if near:
            return near[0]
        self._insert(key, pieces, signature)
        return None

    def insert(self, text: str, key: str) -> None:
        """Remember a text, whatever it repeats."""
        pieces = cut(text)
        self._insert(key, pieces, _sign(pieces))

    def find_all(self, text: str) -> list[Near]:
        """All earlier texts at or over the limit, the nearest first, then by key."""
        pieces = cut(text)
        return self._find(pieces, _sign(pieces))

    def _insert(self, key: str, pieces: frozenset[int], signature: MinHash) -> None:
        self._index.insert(key, signature)
        self._pieces[key] = pieces

    def _find(self, pieces: frozenset[int], signature: MinHash) -> list[Near]:
        found = []
        for key in self._index.query(signature):
            other = self._pieces[key]
            share = len(pieces & other) / len(pieces | other)
            if share >= self._limit:
                found.append(Near(key, share))
        return sorted(found, key=lambda near: (-near.share, near.key))


def cut(text: str) -> frozenset[int]:
    """A text's pieces of three words, folded, as stable 64-bit numbers; a shorter text is one piece."""
    words = fold(text).split()
    pieces = [" ".join(words[place : place + _PIECE]) for place in range(max(1, len(words) - _PIECE + 1))]
    return frozenset(int.from_bytes(hashlib.blake2b(piece.encode(), digest_size=8).digest(), "big") for piece in pieces)


def _sign(pieces: frozenset[int]) -> MinHash:
    signature = MinHash(num_perm=_PERMUTATIONS, hashfunc=_shorten)
    signature.update_batch(sorted(pieces))
    return signature


def _shorten(piece: int) -> int:
    """32 bits, as MinHash takes them."""
    return piece & 0xFFFFFFFF
