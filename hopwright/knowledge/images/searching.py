"""Finding the picture of a store that looks most like another: exact search over descriptors, for agents that look up.

MMhops-R1's image retriever gives what is known of the most similar picture. Here every vector is compared, so the
answer does not depend on an index. Offline the vectors are perceptual descriptors, which find the same picture again
after it was resized or encoded anew; vectors of any model that embeds pictures can take their place: a folder with
`vectors.npy` (one row a picture) and `media.txt` (the SHA-256 of each row's picture, one a line).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hopwright.errors import InputError
from hopwright.foreign import show
from hopwright.knowledge.images.descriptors import SAME, describe, measure_distances
from hopwright.knowledge.images.rendering import MOST_BYTES, render
from hopwright.knowledge.images.store import Picture, PictureStore

_SIDE = 448
_NOTHING_ALIKE = 0.25
"""Distance of descriptors from which on two pictures have nothing to do with each other."""


@dataclass(frozen=True, slots=True)
class FoundImage:
    """A picture of the store and how far it is from the one that was looked for; 0 is the same.

    `sure`: so near that it is the same picture, as far as descriptors can tell.
    """

    picture: Picture
    distance: float
    sure: bool


class ImageSearcher:
    """Searches the usable pictures of a store; also by vectors of another kind, whose distances are 1 - cosine."""

    def __init__(self, store: PictureStore, vectors: Path | None = None) -> None:
        self._pictures: Sequence[Picture] = store.usable
        if not self._pictures:
            raise InputError(f"{store.folder}: no picture to search among")
        self._rows = {one.media: row for row, one in enumerate(self._pictures)}
        self._descriptors = store.describe_pictures(self._pictures)
        self._own = None if vectors is None else self._read_vectors(vectors)
        self._known: dict[tuple[str, int], list[FoundImage]] = {}

    def search(self, data: bytes, most: int = 1, media_type: str = "image/png") -> list[FoundImage]:
        """The pictures that look most like one, nearest first. Raises InputError for bytes that are no picture."""
        if len(data) > MOST_BYTES:
            raise InputError(f"a picture of {len(data):,} bytes; at most {MOST_BYTES:,} are read")
        query = describe(render(data, media_type, _SIDE, "the picture that is looked for"))
        return self._rank(measure_distances(query, self._descriptors), most, sure=True)

    def search_known(self, data: bytes, most: int = 1) -> list[FoundImage]:
        """The pictures most like one, without those that have nothing to do with it.

        Where vectors of another model were given and hold the picture (by the SHA-256 of its bytes), by these.
        """
        media = hashlib.sha256(data).hexdigest()
        if (media, most) not in self._known:
            # Many episodes ask about the same picture, and drawing it takes most of the time.
            if self._own is not None and media in self._rows:
                found = self.search_by_vector(self._own[self._rows[media]].tolist(), most)
            else:
                found = [one for one in self.search(data, most) if one.distance < _NOTHING_ALIKE]
            self._known[media, most] = found
        return self._known[media, most]

    def search_by_vector(self, vector: Sequence[float], most: int = 1) -> list[FoundImage]:
        """The pictures whose vectors are nearest to one. Raises InputError without vectors, or for another length."""
        if self._own is None:
            raise InputError("no vectors were given: name the folder with vectors.npy and media.txt")
        query = np.asarray(vector, dtype=np.float32)
        if query.shape != self._own.shape[1:] or not np.isfinite(query).all() or not query.any():
            raise InputError(f"a vector has {self._own.shape[1]} finite numbers, not all nought")
        return self._rank(1 - self._own @ (query / np.linalg.norm(query)), most, sure=False)

    def _rank(self, distances: NDArray[np.float32], most: int, *, sure: bool) -> list[FoundImage]:
        order = np.argsort(distances, kind="stable")[:most]
        found = [(self._pictures[place], float(distances[place])) for place in order]
        return [FoundImage(one, far, sure and far <= SAME[one.kind] / 2) for one, far in found]

    def _read_vectors(self, folder: Path) -> NDArray[np.float32]:
        """The vectors of the usable pictures, in their order, each of length 1."""
        try:
            table = np.load(folder / "vectors.npy", allow_pickle=False)
            names = (folder / "media.txt").read_text("utf-8").split()
        except (OSError, ValueError, EOFError) as error:
            raise InputError(f"{folder}: needs vectors.npy and media.txt ({show(error)})") from None
        if table.ndim != 2 or len(table) != len(names) or not np.isfinite(table).all():
            raise InputError(f"{folder}: vectors.npy has not one row of finite numbers for each line of media.txt")
        rows = {name: row for row, name in enumerate(names)}
        missing = [one.media for one in self._pictures if one.media not in rows]
        if missing:
            raise InputError(f"{folder}: has no vector of {len(missing):,} pictures, the first {missing[0][:12]}")
        chosen = table[[rows[one.media] for one in self._pictures]].astype(np.float32)
        lengths = np.linalg.norm(chosen, axis=1, keepdims=True)
        if not lengths.all():
            raise InputError(f"{folder}: a vector is nought throughout")
        return np.asarray(chosen / lengths, dtype=np.float32)


def describe_found(found: Sequence[FoundImage]) -> str:
    """What an agent is told: what the nearest picture shows, or that none is near."""
    if not found or found[0].distance >= _NOTHING_ALIKE:
        return "No picture like it is known."
    return "\n".join(
        f"{one.picture.label} ({one.picture.kind}; {'the same picture' if one.sure else 'similar'})" for one in found
    )
