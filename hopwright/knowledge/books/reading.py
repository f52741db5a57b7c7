"""Reading a book: Project Gutenberg's texts as they are published, EPUB, and plain text.

Gutenberg's files come with and without a byte-order mark, in UTF-8 or Latin-1, with line ends of either kind, with or
without the line that says where the book begins, and with the licence, the producers and the contents around it.
"""

from __future__ import annotations

import functools
import hashlib
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from hopwright.errors import InputError
from hopwright.foreign import open_file, read_bounded, show
from hopwright.knowledge.books.book import Book
from hopwright.knowledge.books.chapters import split_story
from hopwright.knowledge.books.epub import read_epub

_MOST = 64 << 20
_LEAST_WORDS = 200
_MARK = re.compile(
    r"^[ \t]*\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG[^*]{0,200}\*\*\*", re.MULTILINE | re.IGNORECASE
)
_SMALL_PRINT = re.compile(r"^\*END ?\*? ?THE SMALL PRINT.*$", re.MULTILINE | re.IGNORECASE)
_END = re.compile(
    r"^[ \t]*(?:\*\*\* ?END OF (?:THE|THIS) PROJECT GUTENBERG|End of (?:the |this )?Project Gutenberg"
    r"|\*\*\* ?START: FULL LICENSE|THE FULL PROJECT GUTENBERG LICENSE)",
    re.MULTILINE | re.IGNORECASE,
)
_FIELD = re.compile(r"^(Title|Author|Language|Release Date|Posting Date)[ \t]*:[ \t]*(.+)$", re.MULTILINE)
_COPYRIGHT = re.compile(r"\b(?:Copyright|First published|Published)\b[^\n]{0,40}?\b(1[5-9]\d\d)\b", re.IGNORECASE)
_BOOK_NUMBER = re.compile(r"\[(?:EBook|eBook|Etext|E-text) #(\d+)\]", re.IGNORECASE)
_GUTENBERG = "Public domain in the USA; Project Gutenberg License"


@dataclass(frozen=True, slots=True)
class BookNotes:
    """What the user says of a book; an empty field leaves it to the file."""

    title: str = ""
    author: str = ""
    year: str = ""
    licence: str = ""
    source: str = ""


def read_book(path: Path, notes: BookNotes | None = None) -> Book:
    """Read a book from a file. Raises InputError, in one line, where the file is no book that can be read."""
    try:
        with open_file(path) as file:
            data = read_bounded(file, _MOST, path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    return parse_book(data, path.name, notes)


def parse_book(data: bytes, name: str, notes: BookNotes | None = None) -> Book:
    """Read a book from its bytes; `name` is its file's name. Raises InputError as `read_book` does."""
    notes = notes or BookNotes()
    digest = hashlib.sha256(data).hexdigest()
    if data.startswith(b"PK\x03\x04"):
        pages = read_epub(data, name)
        text, encoding = pages.text, "epub"
        found = replace(notes, title=notes.title or pages.title, author=notes.author or pages.author)
        found = replace(found, year=found.year or pages.year, licence=found.licence or pages.rights)
    else:
        text, encoding = _decode(data, name)
        found = notes
    start, end, is_gutenberg = _find_story(text)
    fields = _read_fields(text[: start or 6000]) if is_gutenberg else {}
    try:
        chapters, blocks = split_story(text, start, end)
    except InputError as error:
        raise InputError(f"{show(name)}: {error}") from None
    if sum(block.words for block in blocks) < _LEAST_WORDS:
        raise InputError(f"{show(name)}: no book: fewer than {_LEAST_WORDS} words of running text were found in it")
    number = _BOOK_NUMBER.search(text[: start or 6000]) if is_gutenberg else None
    title = found.title or fields.get("Title", "") or Path(name).stem.replace("_", " ")
    front = text[start : blocks[0].start]
    year = found.year or (match[1] if (match := _COPYRIGHT.search(front)) else "")
    return Book(
        id=make_id(title, digest),
        title=title.strip(),
        author=(found.author or fields.get("Author", "")).strip(),
        year=year,
        licence=found.licence or (_GUTENBERG if is_gutenberg else "unknown"),
        source=found.source or (f"Project Gutenberg #{number[1]}" if number else show(name)),
        sha256=digest,
        encoding=encoding,
        text=text,
        chapters=chapters,
        blocks=blocks,
        same=_load_same_people().get(title.strip(), ()),
    )


@functools.cache
def _load_same_people() -> dict[str, tuple[tuple[str, ...], ...]]:
    table = tomllib.loads(Path(__file__).with_name("same_people.toml").read_text("utf-8"))
    return {title: tuple(tuple(names) for names in groups) for title, groups in table.items()}


def make_id(title: str, digest: str) -> str:
    """The id of a book: its title in plain letters, and the beginning of its hash."""
    slug = re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-")[:60].strip("-")
    return f"{slug or 'book'}-{digest[:8]}"


def _read_fields(header: str) -> dict[str, str]:
    """What a header of Project Gutenberg says; of a field that stands twice, the first."""
    found: dict[str, str] = {}
    for name, value in _FIELD.findall(header):
        if said := value.strip(" \t\r"):
            found.setdefault(name, said)
    return found


def _decode(data: bytes, name: str) -> tuple[str, str]:
    if not data.strip():
        raise InputError(f"{show(name)}: the file is empty")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings: tuple[str, ...] = ("utf-16",)
    elif b"\x00" in data:
        raise InputError(f"{show(name)}: no text: it holds zero bytes; give a text file or an EPUB")
    else:
        encodings = ("utf-8-sig", "cp1252", "latin-1")
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        controls = sum(text.count(chr(code)) for code in range(32) if code not in (9, 10, 12, 13))
        if controls > len(text) // 100:
            raise InputError(f"{show(name)}: no text: {controls:,} control characters; give a text file or an EPUB")
        return text, encoding
    raise InputError(f"{show(name)}: cannot be decoded as {' or '.join(encodings)}")


def _find_story(text: str) -> tuple[int, int, bool]:
    """Where the book begins and ends in a file, and whether it is one of Project Gutenberg's."""
    head = text[:8000]
    is_gutenberg = "project gutenberg" in head.casefold()
    start = 0
    for pattern in (_MARK, _SMALL_PRINT):
        if match := pattern.search(text, 0, 40_000):
            start, is_gutenberg = match.end(), True
            break
    else:
        if is_gutenberg:
            # Neither line is there: the story begins after the last line of the header.
            last = max((match.end() for match in _FIELD.finditer(head)), default=0)
            start = last or head.find("\n\n") + 1
    end = len(text)
    if is_gutenberg and (match := _END.search(text, start)):
        end = match.start()
    return start, end, is_gutenberg
