"""Questions about many entities at once, on whole arrays.

Entities and properties are dense numbers here (`GraphStore.number`, positions in `GraphStore.properties`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopwright.errors import InputError
from hopwright.knowledge.wikidata.layout import ONLY, OTHER
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.text.folding import hash_strings, loose_keys, match_rank

I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Neighbourhoods:
    """Edges of several entities: those of entity i are at `start[i]:start[i + 1]`."""

    start: I64
    properties: I64
    others: I64


@dataclass(frozen=True, slots=True)
class Paths:
    """Two-step paths source –first→ middle –second→ target, one entry per path."""

    sources: I64
    first: I64
    middles: I64
    second: I64
    targets: I64


def link_names(store: GraphStore, names: Sequence[str]) -> I64:
    """The best entity of each name, -1 where none bears it; the same as the first of `GraphStore.find`."""
    index = store.array("name_index")
    bits = np.uint64(store.about["row_bits"])
    keys = loose_keys(names)
    words = (hash_strings(keys) >> bits) << bits
    order = np.argsort(words)  # searching in order touches each page once
    words = words[order]
    first = index.searchsorted(words)
    last = index.searchsorted(words | ((np.uint64(1) << bits) - np.uint64(1)), side="right")
    asked, places = _expand(first, last)
    asked = order[asked]
    rows = (index[places] & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
    ranks = _rank_rows(store, names, asked, rows)
    keep = ranks < 3
    asked, rows, ranks = asked[keep], rows[keep], ranks[keep]
    entities = store.array("name_entity")[rows].astype(np.int64)
    alias = rows != store.array("name_first")[entities]
    order = np.lexsort((entities, -degrees(store, entities), alias, ranks, asked))
    asked = asked[order]
    best = np.full(len(names), -1, np.int64)
    leading = np.flatnonzero(np.diff(asked, prepend=-1))
    best[asked[leading]] = entities[order][leading]
    best[[row for row, key in enumerate(keys) if not key]] = -1
    return best


def degrees(store: GraphStore, entities: I64) -> I64:
    """Number of triplets of each entity, in both directions."""
    out, into = store.array("out_start"), store.array("in_start")
    sizes: I64 = out[entities + 1].astype(np.int64) - out[entities]
    sizes += into[entities + 1]
    sizes -= into[entities]
    return sizes


def fetch_neighbourhoods(store: GraphStore, entities: I64, *, inward: bool = False) -> Neighbourhoods:
    """All edges of the given entities, outward or inward, sorted by property and then by the other end."""
    name = "in" if inward else "out"
    starts = store.array(f"{name}_start")
    first, last = starts[entities].astype(np.int64), starts[entities + 1].astype(np.int64)
    _, places = _expand(first, last)
    words = store.array(f"{name}_edge")[places]
    bounds = np.zeros(len(entities) + 1, np.int64)
    np.cumsum(last - first, out=bounds[1:])
    return Neighbourhoods(bounds, (words >> np.uint64(32)).astype(np.int64), _other(words))


def count_paths(store: GraphStore) -> int:
    """How many two-step paths there are with each step the only one of its property, and no self-loop."""
    return int(store.array("path_start")[-1])


def sample_paths(
    store: GraphStore,
    count: int,
    *,
    seed: int = 0,
    first: Sequence[str] | None = None,
    second: Sequence[str] | None = None,
    max_middle_degree: int | None = None,
) -> Paths:
    """Draw two-step paths, with replacement, uniformly among all that meet the constraints.

    In every path both steps are the only ones of their property at their subject (a question with one
    answer), and source, middle and target differ. `first` and `second` limit the properties of the steps,
    `max_middle_degree` keeps hubs out of the middle. Gives fewer than `count` only where hardly any path
    meets the constraints.
    """
    rng = np.random.default_rng(seed)
    total = count_paths(store)
    allowed = [_flag_properties(store, chosen) for chosen in (first, second)]
    parts: list[list[I64]] = []
    have, size = 0, int(count * 1.01) + 64
    for _ in range(60):
        if have >= count or not total:
            break
        drawn = _draw(store, np.sort(rng.integers(total, size=size)))  # in order, for the memory's sake
        mixed = rng.permutation(size)
        columns = [column[mixed] for column in drawn]
        sources, p, middles, q, targets = columns
        keep = sources != targets
        for flags, column in zip(allowed, (p, q), strict=True):
            if flags is not None:
                keep &= flags[column]
        if max_middle_degree is not None:
            keep &= degrees(store, middles) <= max_middle_degree
        parts.append([column[keep] for column in columns])
        got = int(keep.sum())
        have += got
        size = min(int((count - have) * 1.2 * size / max(got, 1)) + 64, 4 * count + 1000)
    if not parts:
        none = np.zeros(0, np.int64)
        return Paths(none, none, none, none, none)
    return Paths(*(np.concatenate(column)[:count] for column in zip(*parts, strict=True)))


def _draw(store: GraphStore, ranks: I64) -> tuple[I64, I64, I64, I64, I64]:
    """The paths with the given places in the order of all paths."""
    totals = store.array("path_start").view(np.int64)
    steps = store.array("step_count")
    sources = totals.searchsorted(ranks, side="right") - 1
    words, ends, begin = _usable_edges(store, sources)
    weight = np.where(ends >= 0, steps[ends], 0).astype(np.int64)
    words, ends, rest = _pick(words, ends, weight, begin, ranks - totals[sources])
    second, targets, begin = _usable_edges(store, ends)
    second, targets, _ = _pick(second, targets, (targets >= 0).astype(np.int64), begin, rest)
    shift = np.uint64(32)
    return sources, (words >> shift).astype(np.int64), ends, (second >> shift).astype(np.int64), targets


def _usable_edges(store: GraphStore, entities: I64) -> tuple[NDArray[np.uint64], I64, I64]:
    """Outward edges of each entity, their other ends (-1: not usable), and where each one's edges begin."""
    starts = store.array("out_start")
    first, last = starts[entities].astype(np.int64), starts[entities + 1].astype(np.int64)
    asked, places = _expand(first, last)
    words = store.array("out_edge")[places]
    ends = _other(words)
    usable = ((words & np.uint64(ONLY)) != 0) & (ends != entities[asked])
    begin = np.zeros(len(entities) + 1, np.int64)
    np.cumsum(last - first, out=begin[1:])
    return words, np.where(usable, ends, -1), begin


def _pick(
    words: NDArray[np.uint64], ends: I64, weight: I64, begin: I64, ranks: I64
) -> tuple[NDArray[np.uint64], I64, I64]:
    """Of each group of edges the one in whose weight the rank falls, and the rank within that weight."""
    running = np.zeros(len(weight) + 1, np.int64)
    np.cumsum(weight, out=running[1:])
    wanted = running[begin[:-1]] + ranks
    chosen = running.searchsorted(wanted, side="right") - 1
    return words[chosen], ends[chosen], wanted - running[chosen]


def _expand(first: NDArray[np.integer], last: NDArray[np.integer]) -> tuple[I64, I64]:
    """The numbers of the ranges first…last end to end, and the range that each belongs to."""
    sizes = last.astype(np.int64) - first.astype(np.int64)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    offset = np.cumsum(sizes) - sizes
    return owner, np.arange(len(owner)) + (first.astype(np.int64) - offset)[owner]


def _other(words: NDArray[np.uint64]) -> I64:
    return (words & np.uint64(OTHER)).astype(np.int64)


def _rank_rows(store: GraphStore, names: Sequence[str], asked: I64, rows: I64) -> I64:
    """`match_rank` of each candidate row with the name that asked for it.

    Names of the same bytes but for ASCII case are found on whole arrays; only the rest are folded.
    """
    starts, blob = store.array("name_start"), store.array("name_blob")
    begin = starts[rows].astype(np.int64)
    sizes = starts[rows + 1].astype(np.int64) - begin - 1
    encoded = [name.encode() for name in names]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    text = np.frombuffer(b"".join(encoded).lower(), np.uint8)
    ranks = np.full(len(rows), 3, np.int64)
    same = np.flatnonzero((sizes == lengths[asked]) & (sizes > 0))
    if len(same):
        _, held = _expand(begin[same], begin[same] + sizes[same])
        first = (np.cumsum(lengths) - lengths)[asked[same]]
        _, wanted = _expand(first, first + sizes[same])
        equal = np.frombuffer(blob[held].tobytes().lower(), np.uint8) == text[wanted]
        ranks[same] = np.where(np.logical_and.reduceat(equal, np.cumsum(sizes[same]) - sizes[same]), 0, 3)
    rest = np.flatnonzero(ranks)
    raw = blob.data
    for i, owner, a, size in zip(
        rest.tolist(), asked[rest].tolist(), begin[rest].tolist(), sizes[rest].tolist(), strict=True
    ):
        ranks[i] = match_rank(names[owner], str(raw[a : a + size], "utf-8"))
    return ranks


def _flag_properties(store: GraphStore, chosen: Sequence[str] | None) -> NDArray[np.bool_] | None:
    """Raises InputError for a property that the store does not have."""
    if chosen is None:
        return None
    known = {property: number for number, property in enumerate(store.properties())}
    flags = np.zeros(len(known), bool)
    for property in chosen:
        if property not in known:
            raise InputError(f"no property {property!r} in the store")
        flags[known[property]] = True
    return flags
