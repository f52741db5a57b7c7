"""Embeddings of all passages: signs as bits for an exact scan, 8-bit numbers for scoring what the scan finds.

    <corpus>/index/dense/manifest.json   the corpus's hash, the embedder, how many rows are whole, hashes
    <corpus>/index/dense/bits.npy        passages × dimensions / 8, uint8
    <corpus>/index/dense/numbers.npy     passages × dimensions, int8
    <corpus>/index/dense/scales.npy      passages, float32: what a number of the row stands for

1.13 bytes a dimension instead of four: 433 bytes a passage with 384 dimensions, plus four for the scale.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from hopwright.errors import StoreError
from hopwright.knowledge.documents.index.embedding import Embedder, Vectors
from hopwright.knowledge.documents.index.format import FOLDER, MANIFEST, SavedManifest, tell_rebuild
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.runs.files import explain_os_errors, hash_file, hold_lock, remove_tree

DENSE = "dense"
_FILES = ("bits.npy", "numbers.npy", "scales.npy")
_BLOCK = 1 << 17
_LEAST_CANDIDATES = 256
_CANDIDATES = 16
"""Passages that are scored for each one that is wanted."""


class DenseManifest(SavedManifest):
    """Vectors: of which state of which corpus, by whom, and of how many passages so far."""

    corpus: str
    embedder: str
    spec: str
    dimensions: int
    rows: int
    files: dict[str, str]
    """SHA-256 of each file; empty until all rows are there."""


def build_vectors(
    store: CorpusStore, embedder: Embedder, spec: str, progress: Callable[[str], None] | None = None
) -> DenseManifest:
    """Embed all passages of a corpus; a killed call, made again, goes on after the last batch that was written, and a
    corpus that has grown keeps what it has.

    Raises ServiceError where the embedder fails, RunError when another process does the same.
    """
    folder = store.folder / FOLDER / DENSE
    tell = progress or (lambda line: None)
    with hold_lock(store.folder / FOLDER / ".dense.lock", f"the vectors of {store.folder.name}"):
        manifest = _read_kept(folder, store, embedder)
        if manifest is not None and manifest.files:
            return manifest
        if manifest is None:
            remove_tree(folder)
        with explain_os_errors(folder):
            manifest = _embed_rows(folder, store, embedder, spec, manifest, tell)
            manifest = manifest.model_copy(update={"files": {name: hash_file(folder / name) for name in _FILES}})
    manifest.write(folder / MANIFEST)
    return manifest


class DenseIndex:
    """Vectors that are open for searching: all signs are compared, and the nearest passages scored."""

    def __init__(self, folder: Path, manifest: DenseManifest, embedder: Embedder) -> None:
        self.embedder = embedder.name
        self._embed = embedder.embed
        self._bits, self._numbers, self._scales = (np.load(folder / name, mmap_mode="r") for name in _FILES)

    @classmethod
    def open(cls, store: CorpusStore, make: Callable[[str], Embedder | None], *, verify: bool = False) -> DenseIndex:
        """Open the vectors of a corpus; `make` gives the embedder for what is written in them.

        Raises StoreError when there are none, or they are incomplete, damaged or of another state of the corpus.
        """
        folder = store.folder / FOLDER / DENSE
        again = tell_rebuild(folder, ", with --dense")
        manifest = DenseManifest.read(folder / MANIFEST)
        if manifest.corpus != store.manifest.content or not manifest.files:
            raise StoreError(f"{folder}: not whole, or the corpus has changed; {again}")
        if verify:
            for name, sha256 in manifest.files.items():
                if hash_file(folder / name) != sha256:
                    raise StoreError(f"{folder / name} is damaged; {again}")
        embedder = make(manifest.spec)
        if embedder is None or embedder.name != manifest.embedder:
            raise StoreError(f"{folder}: made by {manifest.embedder}, which is not at hand; {again}")
        return cls(folder, manifest, embedder)

    def search(self, query: str, most: int) -> list[tuple[int, float]]:
        """The rows of the passages with the highest cosine, best first, equal ones in the corpus's order."""
        vector = self._embed([query])[0]
        wanted = min(len(self._scales), max(_LEAST_CANDIDATES, _CANDIDATES * most))
        rows = self._scan(np.packbits(vector > 0), wanted)
        scores = (self._numbers[rows].astype(np.float32) @ vector) * self._scales[rows]
        order = np.lexsort((rows, -scores))[:most]
        return [(int(rows[place]), float(scores[place])) for place in order]

    def _scan(self, bits: NDArray[np.uint8], wanted: int) -> NDArray[np.int64]:
        """The rows whose signs differ in the fewest places: `wanted`, and those equal to the last of them."""
        distances = np.empty(len(self._scales), dtype=np.uint16)
        for first in range(0, len(distances), _BLOCK):
            differing = np.bitwise_count(self._bits[first : first + _BLOCK] ^ bits)
            distances[first : first + _BLOCK] = differing.sum(axis=1, dtype=np.uint16)
        limit = np.partition(distances, wanted - 1)[wanted - 1]
        return np.flatnonzero(distances <= limit)


def quantise(vectors: Vectors) -> tuple[NDArray[np.uint8], NDArray[np.int8], NDArray[np.float32]]:
    """Signs as bits, 8-bit numbers, and what one stands for: vector ≈ numbers × scale."""
    scales = np.abs(vectors).max(axis=1) / 127
    numbers = np.rint(vectors / scales[:, None]).astype(np.int8)
    return np.packbits(vectors > 0, axis=1), numbers, scales.astype(np.float32)


def _read_kept(folder: Path, store: CorpusStore, embedder: Embedder) -> DenseManifest | None:
    """The manifest of vectors that can be gone on with; those of a corpus that has grown are moved to longer arrays."""
    former = folder.with_name(f"{folder.name}-former")
    if former.is_dir() and not folder.is_dir():
        former.replace(folder)  # A killed call was about to put the longer arrays here; they were paid for.
    if not (folder / MANIFEST).is_file():
        return None
    manifest = DenseManifest.read(folder / MANIFEST)
    known = store.manifest.count_known(manifest.corpus)
    if not known or manifest.embedder != embedder.name:
        return None
    if manifest.corpus == store.manifest.content:
        return manifest
    aside = folder.with_name(f".{folder.name}-longer.tmp")
    remove_tree(aside)
    with explain_os_errors(folder):
        rows = min(known, manifest.rows)
        for array, name in zip(_make_arrays(aside, len(store), manifest.dimensions), _FILES, strict=True):
            array[:rows] = np.load(folder / name, mmap_mode="r")[:rows]
            array.flush()
        manifest = manifest.model_copy(update={"corpus": store.manifest.content, "rows": rows, "files": {}})
        manifest.write(aside / MANIFEST)
        remove_tree(former)
        folder.replace(former)
        aside.replace(folder)
    remove_tree(former)
    return manifest


def _embed_rows(
    folder: Path,
    store: CorpusStore,
    embedder: Embedder,
    spec: str,
    manifest: DenseManifest | None,
    tell: Callable[[str], None],
) -> DenseManifest:
    arrays = None if manifest is None else [np.load(folder / name, mmap_mode="r+") for name in _FILES]
    first = 0 if manifest is None else manifest.rows
    numbers = iter(range(first, len(store)))
    while rows := list(islice(numbers, embedder.batch)):
        vectors = embedder.embed([passage.contents for passage in store.passages(rows)])
        if manifest is None or arrays is None:
            manifest = DenseManifest(
                corpus=store.manifest.content,
                embedder=embedder.name,
                spec=spec,
                dimensions=vectors.shape[1],
                rows=0,
                files={},
            )
            arrays = _make_arrays(folder, len(store), vectors.shape[1])
        for array, values in zip(arrays, quantise(vectors), strict=True):
            array[rows[0] : rows[-1] + 1] = values
            array.flush()
        # Only what is on the disk counts as done.
        manifest = manifest.model_copy(update={"rows": rows[-1] + 1})
        manifest.write(folder / MANIFEST)
        tell(f"{manifest.rows:,} of {len(store):,} passages embedded")
    assert manifest is not None, "a corpus without passages is not indexed"
    return manifest


def _make_arrays(folder: Path, rows: int, dimensions: int) -> list[np.memmap[tuple[int, ...], np.dtype[np.generic]]]:
    folder.mkdir(parents=True, exist_ok=True)
    shapes = ((rows, -(-dimensions // 8)), (rows, dimensions), (rows,))
    kinds = ("u1", "i1", "<f4")
    return [
        open_memmap(folder / name, mode="w+", dtype=kind, shape=shape)  # type: ignore[no-untyped-call]
        for name, kind, shape in zip(_FILES, kinds, shapes, strict=True)
    ]
