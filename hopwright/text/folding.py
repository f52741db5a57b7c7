"""How names are compared: one strict fold, one loose key, and one hash of the loose key.

Strictly equal names are equal after Unicode compatibility normalisation and case folding. Loosely equal
names also agree once diacritics, punctuation, spaces, a leading English article and a bracketed
disambiguator are gone. Only the loose key is indexed; strict equality is decided on the candidates, whose
names are read back.

Every function that works on many names at once gives what the one for a single name gives. The hash is part
of the store's format: a change of anything here needs a new FORMAT_VERSION.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

_MASK = (1 << 64) - 1
_BRACKET = re.compile(r"\s*\([^()]*\)\s*$")
_ARTICLE = re.compile(r"^(?:the|an|a) (?=[^\W_])")
_ASCII_DROP = re.compile(r"[^a-z0-9]+")
_DROP = re.compile(r"[\W_]+")
_ENDS = re.compile(r"^[^\S\n]+|[^\S\n]+$", re.MULTILINE)
_BRACKETS = re.compile(r"[^\S\n]*\([^()\n]*\)[^\S\n]*$", re.MULTILINE)
_ARTICLES = re.compile(r"^(?:the|an|a) (?=[^\W_])", re.MULTILINE)
_DROP_LINES = re.compile(r"[^\w\n]+|_")
_BEYOND_MARKS = re.compile(r"[^\x00-\x7f\u0300-\u036f]")


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
    """The 64-bit hash of a loose key, eight bytes at a step."""
    raw = key.encode()
    value = (len(raw) * _START) & _MASK
    for place in range(0, len(raw), 8):
        value = ((value ^ int.from_bytes(raw[place : place + 8], "little")) * _STEP) & _MASK
        value ^= value >> 32
    return value


def hash_keys(blob: U8, starts: I64, lengths: I64) -> U64:
    """Hash many keys at once: key i is `blob[starts[i]:][:lengths[i]]`; equals `hash_key` of each."""
    padded = np.concatenate([blob, np.zeros(8, np.uint8)])
    words: U64 = np.ndarray((len(padded) - 7,), "<u8", buffer=padded, strides=(1,))
    hashes = lengths.astype(np.uint64) * np.uint64(_START)
    rows = np.flatnonzero(lengths > 0)
    place = 0
    while len(rows):
        left = lengths[rows] - place
        word = words[starts[rows] + place] & _LOW_BYTES[np.minimum(left, 8)]
        value = (hashes[rows] ^ word) * np.uint64(_STEP)
        hashes[rows] = value ^ (value >> np.uint64(32))
        place += 8
        rows = rows[left > 8]
    return hashes


def hash_lines(lines: bytes) -> U64:
    """Hash of the loose key of every name in UTF-8 bytes, each name ended by a tab or a newline.

    Plain ASCII names never become Python texts.
    """
    text = np.frombuffer(lines + b"\n" * 5, np.uint8).copy()
    if not lines:
        return np.zeros(0, np.uint64)
    blob = text[: len(lines)]
    stop = np.flatnonzero(blob <= 10)
    if len(odd := np.flatnonzero((blob[stop] != 9) & (blob[stop] != 10))):
        stop = np.delete(stop, odd)
    start = np.zeros(len(stop), np.int64)
    start[1:] = stop[:-1] + 1
    special = np.zeros(len(stop), bool)
    odd = np.flatnonzero((blob >= 128) | (blob == ord("(")))
    special[np.searchsorted(stop, odd)] = True
    special |= _is_in(_BLANKS, blob[start])  # a leading blank would hide an article
    for article in (b"a ", b"an ", b"the "):
        rows = np.flatnonzero((blob[start] | 32) == article[0])
        for place, letter in enumerate(article[1:], 1):
            rows = rows[(text[start[rows] + place] | (32 * (letter != 32))) == letter]
        rows = rows[_is_in(_ALNUM, text[start[rows] + len(article)])]
        for place in range(len(article)):
            text[start[rows] + place] = 32
    keys = np.frombuffer(blob.tobytes().translate(_TO_LOWER, _DROPPED_BUT_TABS), np.uint8)
    ends = np.flatnonzero(keys <= 10)
    begins = np.zeros(len(ends), np.int64)
    begins[1:] = ends[:-1] + 1
    hashes = hash_keys(keys, begins, ends - begins)
    rows = np.flatnonzero(special | (ends == begins))
    if len(rows):
        names = [lines[a:b] for a, b in zip(start[rows].tolist(), stop[rows].tolist(), strict=True)]
        hashes[rows] = hash_strings(loose_keys(b"\n".join(names).decode().split("\n")))
    return hashes


def hash_strings(keys: Sequence[str]) -> U64:
    """The hash of each key."""
    encoded = [key.encode() for key in keys]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return hash_keys(np.frombuffer(b"".join(encoded), np.uint8), np.cumsum(lengths) - lengths, lengths)


def loose_keys(names: Sequence[str]) -> list[str]:
    """`loose_key` of many names, worked on as one text of lines, which is many times faster."""
    plain = [name.isascii() for name in names]
    if all(plain):
        return _join_keys(names)
    keys = iter(_join_keys([name for name, ascii in zip(names, plain, strict=True) if ascii]))
    others = iter(_join_keys([name for name, ascii in zip(names, plain, strict=True) if not ascii]))
    return [next(keys if ascii else others) for ascii in plain]


def _join_keys(names: Sequence[str]) -> list[str]:
    text = "\n".join(names)
    if text.count("\n") != len(names) - 1:  # none at all, or a name with a line break in it
        return [loose_key(name) for name in names]
    ascii = text.isascii()
    text = text.lower() if ascii else unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if any(line != line.strip() for line in text.split("\n")):
        text = _ENDS.sub("", text)
    if "(" in text:
        text = _BRACKETS.sub("", text)
    text = _ARTICLES.sub("", text)
    if ascii:
        text = text.encode().translate(None, _DROPPED).decode()
    else:
        text = unicodedata.normalize("NFKD", text)
        if _BEYOND_MARKS.search(text):
            text = _DROP_LINES.sub("", text)
        else:  # English letters and their marks, as nearly all names are
            text = text.encode("ascii", "ignore").translate(None, _DROPPED).decode()
    return [key or loose_key(name) for key, name in zip(text.split("\n"), names, strict=True)]


def _letters(folded: str) -> str:
    if folded.isascii():
        return _ASCII_DROP.sub("", folded)
    return _DROP.sub("", unicodedata.normalize("NFKD", folded))


def _is_in(table: bytes, values: U8) -> NDArray[np.bool_]:
    """Which byte values the table has a 1 for."""
    return np.frombuffer(values.tobytes().translate(table), bool)


def _make_table(chosen: str) -> bytes:
    return bytes(chr(byte) in chosen for byte in range(256))


_START = 0xD6E8FEB86659FD93
_STEP = 0x9FB21C651E98DF25
_LOW_BYTES = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)
_ALNUM = _make_table(string.ascii_letters + string.digits)
_BLANKS = _make_table("".join(chr(byte) for byte in range(128) if chr(byte).isspace()))
_DROPPED = bytes(byte for byte in range(256) if not _ALNUM[byte] and byte != 10)
_DROPPED_BUT_TABS = _DROPPED.replace(b"\t", b"")
_TO_LOWER = bytes(byte + 32 if 65 <= byte <= 90 else byte for byte in range(256))
