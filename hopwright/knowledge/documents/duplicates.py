"""Documents that repeat an earlier one, exactly or nearly, found in batches with some bytes a document."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopwright.knowledge.documents.shingles import hash_bands, measure_overlap

_TELLING = re.compile(r"\w*[^\W_a-z]\w*")
"""Words with a capital or a digit: names and numbers."""
_MOST_CANDIDATES = 8
Rows = NDArray[np.int64]


class SortedRuns:
    """Keys with a row each, in sorted runs that are merged as they grow: a hash table of numbers without objects.

    A key may occur several times. Takes the bytes of a key and eight for the row.
    """

    def __init__(self, dtype: Any) -> None:
        self._dtype = np.dtype(dtype)
        self._runs: list[tuple[NDArray[Any], Rows]] = []

    def add(self, keys: NDArray[Any], rows: Rows) -> None:
        """Add keys with their rows."""
        if not len(keys):
            return
        keys = np.asarray(keys, dtype=self._dtype)
        while self._runs and len(self._runs[-1][0]) <= 2 * len(keys):
            older, older_rows = self._runs.pop()
            keys, rows = np.concatenate([older, keys]), np.concatenate([older_rows, rows])
        order = np.argsort(keys, kind="stable")
        self._runs.append((keys[order], rows[order]))

    def find(self, keys: NDArray[Any]) -> Rows:
        """The row of each key, the earliest that was added; −1 for keys that are not there."""
        found = np.full(len(keys), -1, dtype=np.int64)
        keys = np.asarray(keys, dtype=self._dtype)
        for held, rows in reversed(self._runs):
            places = np.minimum(np.searchsorted(held, keys), len(held) - 1)
            hit = held[places] == keys
            found[hit] = rows[places[hit]]
        return found

    def find_all(self, key: Any, most: int) -> list[int]:
        """The rows of one key, in the order in which they were added; at most `most` of a run."""
        rows: list[int] = []
        for held, owners in self._runs:
            start = int(np.searchsorted(held, key))
            stop = start
            while stop < len(held) and stop - start < most and held[stop] == key:
                stop += 1
            rows += owners[start:stop].tolist()
        return rows


class NearDuplicateIndex:
    """Remembers texts by their bands; a near duplicate also has all names and numbers of the other, in the same order.

    Articles that a template wrote differ in little but names and numbers, which is what they say: those are kept. A
    text is given with its title, for two texts without a name may be about two things.
    """

    def __init__(self, limit: float, read: Callable[[int], str]) -> None:
        """`limit` is the share of shingles from which on texts are near duplicates; `read` gives the text of a row."""
        self._limit = limit
        self._read = read
        self._runs = SortedRuns(np.uint64)

    def sift(self, texts: Sequence[str], first_row: int) -> list[tuple[int, float] | None]:
        """For each text the earlier row that it nearly repeats, and the share of shingles; None for those to keep.

        The texts that are kept get rows from `first_row` on, in their order, and are remembered.
        """
        bands = hash_bands(texts)
        earlier = self._runs.find(bands.ravel()).reshape(bands.shape)
        met = _find_repeated(bands)
        fresh: dict[int, list[int]] = {}
        """Places of this batch's kept texts by band, for the bands that occur twice in the batch."""
        found: list[tuple[int, float] | None] = []
        kept: list[int] = []
        for place, text in enumerate(texts):
            near = None
            if met[place].any() or (earlier[place] >= 0).any():
                near = self._find_near(text, bands[place], earlier[place], fresh, texts, first_row, kept)
            found.append(near)
            if near is None:
                for band in bands[place][met[place]].tolist():
                    fresh.setdefault(band, []).append(len(kept))
                kept.append(place)
        self._remember(bands, kept, first_row)
        return found

    def restore(self, texts: Sequence[str], first_row: int) -> None:
        """Remember texts that were kept before, whatever they repeat; their rows begin with `first_row`."""
        self._remember(hash_bands(texts), list(range(len(texts))), first_row)

    def _remember(self, bands: NDArray[np.uint64], kept: list[int], first_row: int) -> None:
        rows = np.repeat(np.arange(first_row, first_row + len(kept), dtype=np.int64), bands.shape[1])
        keys = bands[kept].ravel()
        self._runs.add(keys[keys > 0], rows[keys > 0])

    def _find_near(
        self,
        text: str,
        bands: NDArray[np.uint64],
        earlier: Rows,
        fresh: dict[int, list[int]],
        texts: Sequence[str],
        first_row: int,
        kept: list[int],
    ) -> tuple[int, float] | None:
        rows: dict[int, str | None] = {}
        for band, row in zip(bands.tolist(), earlier.tolist(), strict=True):
            if row >= 0:
                rows |= dict.fromkeys(self._runs.find_all(np.uint64(band), _MOST_CANDIDATES))
            rows |= {first_row + number: texts[kept[number]] for number in fresh.get(band, ())[:_MOST_CANDIDATES]}
        telling = _TELLING.findall(text)
        best: tuple[int, float] | None = None
        for row in sorted(rows):
            other = rows[row]
            other = self._read(row) if other is None else other
            if telling == _TELLING.findall(other):
                share = measure_overlap(text, other)
                if share >= self._limit and (best is None or share > best[1]):
                    best = (row, share)
        return best


def _find_repeated(bands: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which bands occur more than once in a batch."""
    _, inverse, counts = np.unique(bands.ravel(), return_inverse=True, return_counts=True)
    repeated: NDArray[np.bool_] = (counts[inverse] > 1).reshape(bands.shape) & (bands > 0)
    return repeated
