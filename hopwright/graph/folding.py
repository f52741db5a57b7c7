"""How names are compared: one strict fold, one loose key, and one hash of the loose key.

Strictly equal names are equal after Unicode compatibility normalisation and case folding. Loosely equal
names also agree once diacritics, punctuation, spaces, a leading English article and a bracketed
disambiguator are gone. Only the loose key is indexed; strict equality is decided on the candidates, whose
names are read back.

The hash is a polynomial over random byte weights modulo 2^64, so that a whole file is hashed with prefix
sums and a single query with Horner's rule. It is part of the store's format: changing anything here needs a
new FORMAT_VERSION.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import numpy as np
from numpy.typing import NDArray

U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]

_MASK = (1 << 64) - 1
_BRACKET = re.compile(r"\s*\([^()]*\)\s*$")
_ARTICLE = re.compile(r"^(?:the|an|a) (?=[^\W_])")
_ASCII_DROP = re.compile(r"[^a-z0-9]+")
_DROP = re.compile(r"[\W_]+")
_DROP_LINES = re.compile(r"[^\w\n]|_")


def fold(name: str) -> str:
    """The strict form: NFKC, case folded, stripped."""
    if name.isascii():
        return name.lower().strip()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()


def squeeze(name: str) -> str:
    """The folded name without diacritics, punctuation and spaces; articles and brackets' content stay."""
    folded = fold(name)
    return _letters(folded) or folded


def loose_key(name: str) -> str:
    """The indexed form: like `squeeze`, without a leading English article and a bracketed disambiguator at
    the end.

    Never empty unless the name is: what has no letters or digits at all keeps its strict form.
    """
    folded = fold(name)
    short = _BRACKET.sub("", folded) if folded.endswith(")") else folded
    return _letters(_ARTICLE.sub("", short)) or _letters(folded) or folded


def match_rank(query: str, name: str) -> int:
    """How well two names agree: 0 strictly, 1 but for marks and spaces, 2 loosely, 3 not at all.

    Different disambiguators in brackets do not agree.
    """
    one, other = fold(query), fold(name)
    if one == other:
        return 0
    if squeeze(query) == squeeze(name):
        return 1
    apart = one.endswith(")") and other.endswith(")")
    return 3 if apart or loose_key(query) != loose_key(name) else 2


def hash_key(key: str) -> int:
    """The 64-bit hash of a loose key."""
    value = 0
    for byte in key.encode():
        value = (value * _BASE + _WEIGHT_LIST[byte]) & _MASK
    value ^= value >> 32
    value = (value * _MIX) & _MASK
    return value ^ (value >> 29)


def hash_keys(blob: U8, offsets: NDArray[np.int64]) -> U64:
    """Hash many keys at once: key i is `blob[offsets[i]:offsets[i + 1]]`; the result equals `hash_key` of
    each.
    """
    count = len(offsets) - 1
    hashes = np.zeros(count, np.uint64)
    first = 0
    while first < count:
        last = int(np.searchsorted(offsets, offsets[first] + _SPAN, side="right")) - 1
        if last <= first:  # one key longer than the span
            key = blob[offsets[first] : offsets[first + 1]].tobytes()
            hashes[first] = _horner(key)
            first += 1
            continue
        start, stop = int(offsets[first]), int(offsets[last])
        sums = np.zeros(stop - start + 1, np.uint64)
        np.cumsum(_WEIGHTS[blob[start:stop]] * _DOWN[: stop - start], out=sums[1:])
        ends = offsets[first + 1 : last + 1] - start
        begins = offsets[first:last] - start
        hashes[first:last] = np.where(
            ends > begins, (sums[ends] - sums[begins]) * _UP[np.maximum(ends - 1, 0)], np.uint64(0)
        )
        first = last
    hashes ^= hashes >> np.uint64(32)
    hashes *= np.uint64(_MIX)
    hashes ^= hashes >> np.uint64(29)
    return hashes


def hash_names(blob: U8, offsets: NDArray[np.int64]) -> U64:
    """Hash of the loose key of every name in a UTF-8 blob; plain ASCII names are folded without leaving
    numpy.
    """
    count = len(offsets) - 1
    if count == 0:
        return np.zeros(0, np.uint64)
    keep = _ALNUM[blob]
    start = offsets[:-1].copy()
    stop = offsets[1:]
    padded = np.concatenate([_LOWER[blob], np.zeros(5, np.uint8)])
    letter = padded[start]
    length = stop - start
    second, third, fourth = padded[start + 1], padded[start + 2], padded[start + 3]
    skip = np.zeros(count, np.int64)
    skip[(length > 2) & (letter == 97) & (second == 32) & _ALNUM[third]] = 2
    skip[(length > 3) & (letter == 97) & (second == 110) & (third == 32) & _ALNUM[fourth]] = 3
    the = (length > 4) & (letter == 116) & (second == 104) & (third == 101) & (fourth == 32)
    skip[the & _ALNUM[padded[start + 4]]] = 4
    start += skip
    kept = np.zeros(len(blob) + 1, np.int64)
    np.cumsum(keep, out=kept[1:])
    odd = np.flatnonzero((blob >= 128) | (blob == ord("(")))
    special = np.zeros(count, bool)
    special[np.searchsorted(offsets, odd, side="right") - 1] = True
    special |= kept[stop] == kept[start]
    special |= _SPACE[padded[offsets[:-1]]]  # a leading blank hides an article from the test above
    # The bytes of a skipped article are dropped too, so that keys lie end to end.
    for width in (2, 3, 4):
        rows = np.flatnonzero(skip == width)
        for step in range(width):
            keep[offsets[rows] + step] = False
    lengths = kept[stop] - kept[start]
    key_offsets = np.zeros(count + 1, np.int64)
    np.cumsum(lengths, out=key_offsets[1:])
    hashes = hash_keys(padded[: len(blob)][keep], key_offsets)
    rows = np.flatnonzero(special)
    if len(rows):
        names = [blob[offsets[row] : offsets[row + 1]].tobytes().decode() for row in rows]
        hashes[rows] = hash_strings(loose_keys(names))
    return hashes


def hash_strings(keys: list[str]) -> U64:
    """The hash of each key."""
    encoded = [key.encode() for key in keys]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return hash_keys(np.frombuffer(b"".join(encoded), np.uint8), offsets)


def loose_keys(names: list[str]) -> list[str]:
    """`loose_key` of many names; the Unicode work is done on one joined text, which is many times faster."""
    if any("\n" in name for name in names):
        return [loose_key(name) for name in names]
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", "\n".join(names)).casefold())
    folded = text.split("\n")
    if len(folded) != len(names):
        return [loose_key(name) for name in names]
    folded = [name.strip() for name in folded]
    short = [
        _ARTICLE.sub("", _BRACKET.sub("", name) if name.endswith(")") else name)
        if name[:1] in "at" or name.endswith(")")
        else name
        for name in folded
    ]
    letters = _DROP_LINES.sub("", unicodedata.normalize("NFKD", "\n".join(short))).split("\n")
    if len(letters) != len(names):
        return [loose_key(name) for name in names]
    return [key or _letters(full) or full for key, full in zip(letters, folded, strict=True)]


def _letters(folded: str) -> str:
    if folded.isascii():
        return _ASCII_DROP.sub("", folded)
    return _DROP.sub("", unicodedata.normalize("NFKD", folded))


def _horner(key: bytes) -> int:
    value = 0
    for byte in key:
        value = (value * _BASE + _WEIGHT_LIST[byte]) & _MASK
    return value


def _make_weights() -> list[int]:
    state = 0x9E3779B97F4A7C15
    weights = []
    for _ in range(256):  # splitmix64
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        weights.append(mixed ^ (mixed >> 31))
    return weights


def _make_powers(base: int, count: int) -> U64:
    powers = np.full(count, base & _MASK, np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)


def _make_flags(chosen: Any) -> NDArray[np.bool_]:
    return np.array([chosen(chr(byte)) if byte < 128 else False for byte in range(256)], bool)


_BASE = 0xD6E8FEB86659FD93
_MIX = 0x9FB21C651E98DF25
_SPAN = 1 << 18
_WEIGHT_LIST = _make_weights()
_WEIGHTS = np.array(_WEIGHT_LIST, np.uint64)
_UP = _make_powers(_BASE, _SPAN + 1)
_DOWN = _make_powers(pow(_BASE, -1, 1 << 64), _SPAN + 1)
_ALNUM = _make_flags(str.isalnum)
_SPACE = _make_flags(str.isspace)
_LOWER = np.array([ord(chr(byte).lower()) if byte < 128 else byte for byte in range(256)], np.uint8)
