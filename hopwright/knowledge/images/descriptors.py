"""What a picture looks like, as numbers: to find the same picture again, and pictures that nobody could tell apart.

`describe` gives 16 x 16 means of a picture stretched to a square, as red, green and blue from 0 to 1: 768 numbers.
Resizing and re-encoding hardly move them. `hash_picture` gives 64 bits of the picture's coarse structure (signs of the
lowest frequencies of a cosine transform around their median), which colours do not matter to.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from hopwright.knowledge.images.pictures import PictureKind

SIDE = 16
DESCRIPTOR = SIDE * SIDE * 3
_HASHED = 32
_KEPT = 8
SAME: Mapping[PictureKind, float] = {"flag": 0.1, "outline": 0.05, "mark": 0.06, "photo": 0.05, "arms": 0.06}
"""By kind, the root mean square of the differences up to which two pictures count as alike: the same stripes in other
shades (Chad and Romania lie 0.097 apart), in other proportions (Indonesia and Monaco, 0.066), with a small emblem."""

Vector = NDArray[np.float32]


def describe(image: Image.Image) -> Vector:
    """768 numbers from 0 to 1: rows of a 16 x 16 picture from its upper left corner, red, green, blue."""
    small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float32).reshape(DESCRIPTOR) / np.float32(255)


def hash_picture(image: Image.Image) -> int:
    """64 bits of what the picture's shapes are like."""
    grey = np.asarray(image.convert("L").resize((_HASHED, _HASHED), Image.Resampling.BOX), dtype=np.float64)
    basis = _make_cosines()
    low = (basis @ grey @ basis.T)[:_KEPT, :_KEPT].reshape(-1)
    bits = low > np.median(low[1:])
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


def count_bits_apart(one: int, other: int) -> int:
    """In how many of 64 bits two hashes differ."""
    return (one ^ other).bit_count()


def measure_distances(query: Vector, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Root mean squares of the differences between one descriptor and each row of `vectors`."""
    distances: Vector = np.sqrt(np.mean((vectors - query) ** 2, axis=1))
    return distances


def group_alike(vectors: NDArray[np.float32], same: float) -> list[tuple[int, ...]]:
    """Which rows look alike: groups of two and more, each in ascending order. Likeness is handed on."""
    parents = list(range(len(vectors)))
    for index in range(len(vectors)):
        for near in np.flatnonzero(measure_distances(vectors[index], vectors[index + 1 :]) <= same):
            parents[_find_root(parents, index + 1 + int(near))] = _find_root(parents, index)
    groups: dict[int, list[int]] = {}
    for index in range(len(vectors)):
        groups.setdefault(_find_root(parents, index), []).append(index)
    return [tuple(members) for members in groups.values() if len(members) > 1]


def _find_root(parents: list[int], index: int) -> int:
    while parents[index] != index:
        parents[index] = parents[parents[index]]
        index = parents[index]
    return index


@functools.cache
def _make_cosines() -> NDArray[np.float64]:
    places = np.arange(_HASHED)
    return np.cos(np.pi * (2 * places[None, :] + 1) * places[:, None] / (2 * _HASHED))


def stack(vectors: Sequence[Vector]) -> NDArray[np.float32]:
    """Descriptors as rows; none give an empty table."""
    return np.stack(vectors) if vectors else np.empty((0, DESCRIPTOR), dtype=np.float32)
