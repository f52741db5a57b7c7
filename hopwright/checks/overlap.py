"""Overlap with published question sets: which questions of theirs a question of ours repeats, wholly or nearly.

A question overlaps when, folded, it is one of theirs; when it shares eight words in a row with one, a name or a number
among them; or when they share most of their pieces of three words.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Literal, cast

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from hopwright.checks.near_duplicates import NearDuplicateFinder, cut
from hopwright.errors import InputError
from hopwright.foreign import (
    LONGEST_FILE,
    LONGEST_LINE,
    JsonError,
    load_json,
    open_file,
    read_array,
    read_bounded,
    read_lines,
)
from hopwright.records import Item
from hopwright.text.matching import fold, is_distinctive_name

PUBLISHED = ("MuSiQue", "HotpotQA", "2WikiMultihopQA")
"""The sets that a release says it was, or was not, compared with."""
RUN = 8
"""Words in a row, a name or a number among them, that two questions do not share by chance."""
NEAR = 0.7
_LONGEST = 10_000
"""Characters of a question that are compared."""
_FEWEST_PIECES = 5
"""Two short questions have half their pieces in common by being questions."""
_MOST_RECORDS = 5_000_000
_BLOCK = 1 << 20
_SNIFFED = 64
_QUESTION_FIELDS = ("question", "multi_hop_question")

OverlapKind = Literal["same", "near", "run"]
_WAYS: tuple[OverlapKind, ...] = ("same", "near", "run")


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReferenceFile(_Record):
    """A file of questions: `name` is the set that its records show it to be of, else the file's own name.

    `unread` counts the records in which no question was found.
    """

    name: str
    file: str
    questions: int
    unread: int = 0
    sha256: str

    def describe(self) -> str:
        """What was read of it."""
        unread = f", {self.unread:,} records without one that is read" if self.unread else ""
        return f"{self.questions:,} questions{unread}"


class QuestionOverlap(_Record):
    """What a question of ours repeats.

    `key`: ours (`12`, a sub-question `12:3`). `place`: the record's number in its file, from 1. `share`: of common
    pieces, 1 for the same question, 0 for a run of words.
    """

    key: str
    way: OverlapKind
    file: str
    place: int
    text: str
    share: float

    def describe(self) -> str:
        """What is repeated, in half a sentence."""
        where = f"{self.text!r} ({self.file}, record {self.place})"
        if self.way == "same":
            return f"is {where}"
        if self.way == "run":
            return f"shares {RUN} words in a row with {where}"
        return f"is nearly ({self.share:.0%}) {where}"


class OverlapReport(_Record):
    """What a set was compared with, what it repeats, and what it was not compared with."""

    compared: tuple[ReferenceFile, ...] = ()
    not_compared: tuple[str, ...] = PUBLISHED
    """Of the published sets, those that no file was of."""
    questions: tuple[QuestionOverlap, ...] = ()
    """Multi-hop questions that overlap."""
    sub_questions: tuple[QuestionOverlap, ...] = ()
    """Sub-questions that do: anchored items ask facts of their anchor again, so these are stated, not held against."""

    def lines(self) -> list[str]:
        """For a reader, one statement a line."""
        files = ", ".join(f"{one.name} ({one.describe()})" for one in self.compared) or "nothing"
        said = [f"compared with {files}: {len(self.questions):,} questions overlap, "
                f"{len(self.sub_questions):,} sub-questions"]  # fmt: skip
        if self.not_compared:
            said.append(f"not compared with {', '.join(self.not_compared)}")
        return said


class OverlapScreen:
    """Tells which questions could repeat one of some files at all, so that of a large set only those are remembered.

    Keeps eight bytes for every question, run of words and piece of the files, whatever the size of our set.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self.paths = tuple(paths)
        marks, pieces = set[int](), set[int]()
        for path in self.paths:
            for record in _read_records(path):
                for text in _list_questions(record):
                    marks.update(_mark(text))
                    pieces |= cut(text)
        self._marks = np.array(sorted(marks), np.uint64)
        self._pieces = np.array(sorted(pieces), np.uint64)

    def lets_through(self, question: str) -> bool:
        """Whether the question may be the same as one of theirs, share a run of words, or most pieces, with one."""
        if _count_known(_mark(question), self._marks):
            return True
        pieces = cut(question)
        # Common pieces are at most those of ours that any of theirs has, and all pieces are at least ours.
        return _count_known(pieces, self._pieces) >= NEAR * len(pieces)


class OverlapFinder:
    """Holds our questions, and compares files of others' with them, record by record.

    Ours are in memory, theirs are read through, so that a set of any size can be compared with; with a `screen` of the
    files to come, only those of ours are in memory that may repeat one of theirs.
    """

    def __init__(self, screen: OverlapScreen | None = None) -> None:
        self._screen = screen
        self._files: list[ReferenceFile] = []
        self._matches: dict[str, QuestionOverlap] = {}
        self._keys: dict[str, None] = {}
        self._same: dict[bytes, list[str]] = {}
        self._runs: dict[bytes, list[str]] = {}
        self._near = NearDuplicateFinder(NEAR)
        self._known: set[int] = set()

    def add(self, key: str, question: str) -> None:
        """Remember a question of ours. Call before `compare`."""
        if self._screen is not None and not self._screen.lets_through(question):
            return
        self._keys[key] = None
        folded = fold(question)
        self._same.setdefault(_digest(folded), []).append(key)
        for run in set(_list_word_runs(question)):
            self._runs.setdefault(_digest(run), []).append(key)
        self._near.insert(question, key)
        self._known |= cut(question)

    def add_item(self, key: str, item: Item) -> None:
        """Remember an item's question under a key, and its sub-questions under `key:hop`."""
        self.add(key, item.question)
        for place, hop in enumerate(item.hops, 1):
            self.add(f"{key}:{place}", hop.question)

    def compare(self, path: Path, called: str = "") -> ReferenceFile:
        """Read a file of questions and note what ours repeat of it. `called`: what it is, where its records do not say.

        JSON (an array of records, or an object with one), JSON lines, or text with a question a line; gzipped or not.
        Raises InputError for a file that cannot be read or holds no questions.
        """
        sha256 = _hash(path)
        name, count, unread = "", 0, 0
        for place, record in enumerate(_read_records(path), 1):
            name = name or _recognise(record)
            before = count
            for text in _list_questions(record):
                count += 1
                self._compare(path.name, place, text)
            # An empty line of a text is no record.
            unread += count == before and record != ""
        _refuse_none(path, count)
        file = ReferenceFile(
            name=called or name or path.name, file=path.name, questions=count, unread=unread, sha256=sha256
        )
        self._files.append(file)
        return file

    def report(self) -> OverlapReport:
        """What was compared and found, in the order in which our questions were added."""
        names = {file.name for file in self._files}
        found = [self._matches[key] for key in self._keys if key in self._matches]
        return OverlapReport(
            compared=tuple(self._files),
            not_compared=tuple(name for name in PUBLISHED if name not in names),
            questions=tuple(match for match in found if ":" not in match.key),
            sub_questions=tuple(match for match in found if ":" in match.key),
        )

    def _compare(self, file: str, place: int, text: str) -> None:
        folded = fold(text)
        for key in self._same.get(_digest(folded), ()):
            self._note(QuestionOverlap(key=key, way="same", file=file, place=place, text=text, share=1.0))
        for run in _list_word_runs(text):
            for key in self._runs.get(_digest(run), ()):
                self._note(QuestionOverlap(key=key, way="run", file=file, place=place, text=text, share=0.0))
        pieces = cut(text)
        if len(pieces) >= _FEWEST_PIECES and not self._known.isdisjoint(pieces):
            for near in self._near.find_all(text):
                self._note(
                    QuestionOverlap(key=near.key, way="near", file=file, place=place, text=text, share=near.share)
                )

    def _note(self, match: QuestionOverlap) -> None:
        held = self._matches.get(match.key)
        if held is None or _WAYS.index(match.way) < _WAYS.index(held.way):
            self._matches[match.key] = match


def check_questions(path: Path) -> None:
    """Read a file of questions through. Raises InputError where `OverlapFinder.compare` would."""
    _refuse_none(path, sum(1 for record in _read_records(path) for _ in _list_questions(record)))


def _refuse_none(path: Path, questions: int) -> None:
    if not questions:
        raise InputError(f"{path}: no questions found (looked for the fields {', '.join(_QUESTION_FIELDS)})")


def _hash(path: Path) -> str:
    """The SHA-256 of a file's content, unpacked. Raises InputError for one that cannot be read or is too large."""
    digest, size = hashlib.sha256(), 0
    with _open(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            size += len(block)
            if size > LONGEST_FILE:
                raise InputError(f"{path} is too large: more than {LONGEST_FILE >> 20:,} MiB are not read")
    return digest.hexdigest()


@contextlib.contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    """The content of a file, unpacked as it is read. Raises InputError where that fails, also while it is read."""
    try:
        with open_file(path) as packed:
            unpacked = gzip.GzipFile(fileobj=packed) if path.suffix == ".gz" else packed
            yield io.BufferedReader(cast(io.RawIOBase, unpacked))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None


def _read_records(path: Path) -> Iterator[Any]:
    """The records of a JSON array or object, of JSON lines, or the lines of a text file, one in memory at a time.

    Raises InputError for a file that cannot be read, and for more records than any set has.
    """
    for number, record in enumerate(_parse(path), 1):
        if number > _MOST_RECORDS:
            raise InputError(f"{path}: more than {_MOST_RECORDS:,} records are not read")
        yield record


def _parse(path: Path) -> Iterator[Any]:
    with _open(path) as file:
        if path.name.removesuffix(".gz").endswith(".txt"):
            for _, line in read_lines(file):
                yield None if line is None else line.decode("utf-8", errors="replace").strip()
            return
        start = cast(io.BufferedReader, file).peek(_SNIFFED).removeprefix(codecs.BOM_UTF8).lstrip()[:1]
        if start == b"[":
            try:
                yield from read_array(file)
            except JsonError as error:
                raise InputError(f"{path}: {error} (known: JSON, JSON lines, .txt)") from None
            return
        lines = read_lines(file)
        first = next((line for _, line in lines if line is None or line.strip()), b"")
        if first is not None and (record := _read_line(first)) is not None:
            yield record
            for number, line in lines:
                if line is None or line.strip():
                    yield _read_or_refuse(path, number, line)
            return
    yield from _read_object(path)


def _read_line(line: bytes) -> Any:
    """The record of a line; None for what is none by itself, such as the beginning of an object of several lines."""
    try:
        record = load_json(line.decode("utf-8", errors="replace").lstrip("\ufeff"))
    except JsonError:
        return None
    return None if isinstance(record, dict) and not any(one in record for one in _QUESTION_FIELDS) else record


def _read_or_refuse(path: Path, number: int, line: bytes | None) -> Any:
    try:
        if line is None:
            raise JsonError("it is too long")
        return load_json(line.decode("utf-8", errors="replace"))
    except JsonError as error:
        raise InputError(f"{path}: line {number}: {error} (known: JSON, JSON lines, .txt)") from None


def _read_object(path: Path) -> Iterator[Any]:
    """The records of one object that has a list of them, or of lines of which the first has no question."""
    with _open(path) as file:
        text = read_bounded(file, 4 * LONGEST_LINE, path).decode("utf-8", errors="replace").lstrip("\ufeff")
    try:
        whole = load_json(text)
    except JsonError:
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield _read_or_refuse(path, number, line.encode())
        return
    lists = [value for value in whole.values() if isinstance(value, list)] if isinstance(whole, dict) else []
    yield from max(lists, key=len) if lists else []


def _list_questions(record: Any) -> Iterator[str]:
    """A record's question, and the sub-questions that it comes apart into, where they stand by themselves.

    Of one that is longer than a question can be, the beginning.
    """
    if isinstance(record, str):
        if record.strip():
            yield _cut(record.strip())
        return
    if not isinstance(record, dict):
        return
    for field in _QUESTION_FIELDS:
        if isinstance(text := record.get(field), str) and text.strip():
            yield _cut(text)
    for field in ("question_decomposition", "single_hop"):
        parts = record.get(field)
        for part in parts if isinstance(parts, list) else []:
            text = part.get("question") if isinstance(part, dict) else None
            if isinstance(text, str) and text.strip() and "#" not in text and ">>" not in text:
                yield _cut(text)


def _cut(text: str) -> str:
    """The beginning of a text, with halves of surrogate pairs replaced: nothing can be told of them."""
    return text[:_LONGEST].encode("utf-8", errors="replace").decode("utf-8")


def _recognise(record: Any) -> str:
    """Which published set a record is of, by its fields; empty for others."""
    if not isinstance(record, dict):
        return ""
    if "question_decomposition" in record:
        # Anchors of others are written in MuSiQue's layout, too, but without its paragraphs.
        return "MuSiQue" if record.get("paragraphs") else ""
    if "evidences" in record and "supporting_facts" in record:
        return "2WikiMultihopQA"
    if "supporting_facts" in record and ("level" in record or "context" in record):
        return "HotpotQA"
    return ""


def _list_word_runs(question: str) -> Iterator[str]:
    """Runs of eight words that hold a name or a number: `the country of citizenship of the person who` is anybody's."""
    words = fold(question).split()
    capitals = [token for token in question.split()[1:] if token[:1].isupper() and is_distinctive_name(token)]
    telling = {word for token in capitals for word in fold(token).split()}
    marks = [word in telling or any(character.isdigit() for character in word) for word in words]
    for place in range(len(words) - RUN + 1):
        if any(marks[place : place + RUN]):
            yield " ".join(words[place : place + RUN])


def _mark(question: str) -> set[int]:
    """Numbers of the folded question and of its runs of words, which differ from one another by what they are of."""
    runs = (f"run {run}" for run in _list_word_runs(question))
    return {int.from_bytes(_digest(text), "big") for text in (f"same {fold(question)}", *runs)}


def _count_known(numbers: Iterable[int], known: npt.NDArray[np.uint64]) -> int:
    ours = np.fromiter(numbers, np.uint64)
    places = np.searchsorted(known, ours)
    return int(np.count_nonzero(known[np.minimum(places, len(known) - 1)] == ours)) if len(known) else 0


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()
