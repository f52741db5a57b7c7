"""Reading blocks of lines into arrays, whole blocks at a time, with every malformed line named.

A block is bytes that end in a newline. Line numbers in results count from 0 within the block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hopwright.text.folding import U8, U64, hash_lines

I64 = NDArray[np.int64]
U32 = NDArray[np.uint32]
Bad = list[tuple[int, str]]

_PAD = b"\t" * 8
_MOST_DIGITS = 10
"""Of an id below 2 ** 32."""
_TAB, _NEWLINE = 9, 10
_BLANKS = bytes(range(33))
_MOST_NAMES = 60_000
TEXT_LIMIT = 300
"""Bytes of a description that are kept; in the published corpus it is the head of an article."""


@dataclass(frozen=True, slots=True)
class TripletBlock:
    """Well-formed triplets of a block: id numbers, three columns."""

    lines: int
    bad: Bad
    subjects: U32
    properties: U32
    objects: U32


@dataclass(frozen=True, slots=True)
class NameBlock:
    """Well-formed lines of an entity or relation file.

    Per line: id, number in the block, count of names. Per name: its bytes and one separator in `blob`, the
    length of both, and the hash of its key. A line's label comes first.
    """

    lines: int
    bad: Bad
    ids: U32
    line: I64
    counts: I64
    blob: U8
    lengths: U32
    hashes: U64


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Well-formed lines of the text file, each text cut to `TEXT_LIMIT` bytes at a character's end."""

    lines: int
    bad: Bad
    ids: U32
    blob: U8
    lengths: I64


def parse_triplets(block: bytes) -> TripletBlock:
    """Read lines of `Q…⇥P…⇥Q…`."""
    data, fields = _split(block)
    bad: Bad = []
    if fields.ragged or (fields.columns != 3).any():
        good = fields.columns == 3
        bad += [(int(i), f"{fields.columns[i]} columns, not 3") for i in np.flatnonzero(~good)]
        chosen = np.flatnonzero(good)
        first = fields.first[chosen]
        at = np.stack([first, first + 1, first + 2], axis=1)
    else:
        chosen = np.arange(len(fields.columns))
        at = np.arange(3 * len(chosen)).reshape(-1, 3)
    start, stop = fields.start[at], fields.stop[at]
    numbers = np.zeros(at.shape, np.uint64)
    valid = np.zeros(at.shape, bool)
    for column, letter in enumerate(b"QPQ"):
        numbers[:, column], valid[:, column] = _read_ids(data, start[:, column], stop[:, column], letter)
    whole = valid.all(axis=1)
    if not whole.all():
        for row in np.flatnonzero(~whole):
            column = int(np.flatnonzero(~valid[row])[0])
            bad.append((int(chosen[row]), f"no {'QPQ'[column]}-id in column {column + 1}"))
        numbers = numbers[whole]
    subjects, properties, objects = (np.ascontiguousarray(numbers[:, i], np.uint32) for i in range(3))
    return TripletBlock(len(fields.columns), sorted(bad), subjects, properties, objects)


def parse_names(block: bytes, letter: str = "Q") -> NameBlock:
    """Read lines of `id⇥label⇥alias…`; empty aliases are dropped, an empty label makes the line malformed."""
    data, fields = _split(block)
    lines = len(fields.columns)
    bad: Bad = []
    kept: I64 = np.arange(lines)
    numbers = _check_names(block, data, fields, letter)
    if numbers is None:
        block, kept, bad = _clean_names(block, letter)
        if not block:
            none = np.zeros(0, np.int64)
            ids = none.astype(np.uint32)
            return NameBlock(lines, bad, ids, none, none, data[:0], ids, none.astype(np.uint64))
        data, fields = _split(block)
        numbers = _check_names(block, data, fields, letter)
        assert numbers is not None
    names = np.ones(len(data), bool)
    names[: len(_PAD)] = False
    begin, end = fields.start[fields.first], fields.stop[fields.first]
    for step in range(int((end - begin).max()) + 1):  # the id and its tab
        names[np.minimum(begin + step, end)] = False
    blob = data[names]
    stop = np.delete(fields.stop, fields.first)
    lengths = (stop - np.delete(fields.start, fields.first) + 1).astype(np.uint32)
    hashes = hash_lines(blob.tobytes())
    return NameBlock(lines, bad, numbers.astype(np.uint32), kept, fields.columns - 1, blob, lengths, hashes)


def parse_texts(block: bytes) -> TextBlock:
    """Read lines of `Q…⇥text`; everything after the first tab is the text."""
    data, fields = _split(block)
    reasons: dict[int, str] = {}
    _note_bad_utf8(block, reasons)
    first = fields.first
    numbers, valid = _read_ids(data, fields.start[first], fields.stop[first], ord("Q"))
    for row in np.flatnonzero(~valid):
        reasons.setdefault(int(row), "no Q-id in column 1")
    for row in np.flatnonzero(fields.columns < 2):
        reasons.setdefault(int(row), "no text: 1 column")
    good = np.ones(len(first), bool)
    good[list(reasons)] = False
    start = (fields.stop[first] + 1)[good]
    stop = fields.stop[first + fields.columns - 1][good]
    stop = np.minimum(stop, start + TEXT_LIMIT)
    for _ in range(3):  # never inside a character
        stop -= (data[np.minimum(stop, len(data) - 1)] & 0xC0) == 0x80
    blob, lengths = _gather(data, start, stop)
    return TextBlock(len(first), sorted(reasons.items()), numbers[good].astype(np.uint32), blob, lengths)


@dataclass(frozen=True, slots=True)
class _Fields:
    start: I64
    stop: I64
    first: I64
    """Index of each line's first field."""
    columns: I64
    ragged: bool


def _split(block: bytes) -> tuple[U8, _Fields]:
    data = np.frombuffer(_PAD + block, np.uint8)
    stop = np.flatnonzero((data == _TAB) | (data == _NEWLINE))[len(_PAD) :]
    start = np.empty_like(stop)
    start[0] = len(_PAD)
    start[1:] = stop[:-1] + 1
    ends = np.flatnonzero(data[stop] == _NEWLINE)
    first = np.empty_like(ends)
    first[0] = 0
    first[1:] = ends[:-1] + 1
    columns = ends - first + 1
    return data, _Fields(start, stop, first, columns, bool((columns != columns[0]).any()))


def _read_ids(data: U8, start: I64, stop: I64, letter: int) -> tuple[U64, NDArray[np.bool_]]:
    """Numbers of fields like `Q123`, and which fields are such; eight digits are read at once from one
    word.
    """
    digits = stop - start - 1
    valid = (
        (data[start] == letter)
        & (digits >= 1)
        & (digits <= _MOST_DIGITS)
        & (data[np.minimum(start + 1, stop)] != ord("0"))
    )
    words: U64 = np.ndarray((len(data) - 7,), "<u8", buffer=data, strides=(1,))
    word = words[stop - 8]
    shift = (8 * np.clip(8 - digits, 0, 7)).astype(np.uint64)
    word = (word >> shift) << shift
    ascii_digits = word | ((np.uint64(1) << shift) - np.uint64(1)) & np.uint64(0x3030303030303030)
    high = np.uint64(0xF0F0F0F0F0F0F0F0)
    zeros = np.uint64(0x3030303030303030)
    valid &= (ascii_digits & high) == zeros
    valid &= ((ascii_digits + np.uint64(0x0606060606060606)) & high) == zeros
    word &= np.uint64(0x0F0F0F0F0F0F0F0F)
    word = (word * np.uint64(2561)) >> np.uint64(8)
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601)) >> np.uint64(16)
    word = ((word & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001)) >> np.uint64(32)
    for row in np.flatnonzero(valid & (digits > 8)):
        text = data[start[row] + 1 : stop[row]].tobytes()
        number = int(text) if text.isdigit() else 0
        valid[row] = 0 < number < 2**32
        word[row] = number if valid[row] else 0
    return word, valid


def _check_names(block: bytes, data: U8, fields: _Fields, letter: str) -> U64 | None:
    """The ids of a block in which nothing is malformed, empty or padded with blanks; else None."""
    try:
        block.decode()
    except UnicodeDecodeError:
        return None
    numbers, valid = _read_ids(data, fields.start[fields.first], fields.stop[fields.first], ord(letter))
    if not valid.all() or not ((fields.columns > 1) & (fields.columns <= _MOST_NAMES)).all():
        return None
    # A field that starts or ends with a blank, or is empty: then its neighbour is a separator.
    if (data[fields.start] <= 32).any() or (data[fields.stop - 1] <= 32).any():
        return None
    return numbers


def _clean_names(block: bytes, letter: str) -> tuple[bytes, I64, Bad]:
    """Line by line: the well-formed ones, trimmed, their numbers, and what is wrong with the others."""
    good: list[bytes] = []
    kept: list[int] = []
    bad: Bad = []
    for number, line in enumerate(block[:-1].split(b"\n")):
        fields = [field.strip(_BLANKS) for field in line.split(b"\t")]
        names = [field for field in fields[1:] if field]
        if (reason := _find_fault(line, fields, letter, len(names))) is not None:
            bad.append((number, reason))
        else:
            kept.append(number)
            good.append(b"\t".join([fields[0], *names]) + b"\n")
    return b"".join(good), np.array(kept, np.int64), bad


def _find_fault(line: bytes, fields: list[bytes], letter: str, names: int) -> str | None:
    try:
        line.decode()
    except UnicodeDecodeError:
        return "bad UTF-8"
    digits = line.split(b"\t", 1)[0][1:]
    number = int(digits) if digits.isdigit() and digits[:1] != b"0" and len(digits) <= _MOST_DIGITS else 0
    if line[:1] != letter.encode() or not 0 < number < 2**32:
        return f"no {letter}-id in column 1"
    if len(fields) < 2:
        return "no label: 1 column"
    if not fields[1]:
        return "empty label"
    return f"more than {_MOST_NAMES:,} names" if names >= _MOST_NAMES else None


def _gather(data: U8, start: I64, stop: I64) -> tuple[U8, I64]:
    """The bytes of the given ascending, disjoint ranges end to end, and their lengths."""
    edges = np.zeros(len(data) + 1, np.int8)
    edges[start] += 1
    edges[stop] -= 1
    inside = np.cumsum(edges[:-1], dtype=np.int8).view(bool)
    return data[inside], stop - start


def _note_bad_utf8(block: bytes, reasons: dict[int, str]) -> None:
    try:
        block.decode()
    except UnicodeDecodeError:
        for row, line in enumerate(block[:-1].split(b"\n")):
            try:
                line.decode()
            except UnicodeDecodeError:
                reasons[row] = "bad UTF-8"
