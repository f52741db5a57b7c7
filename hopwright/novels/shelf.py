"""The shelf: books that were added, each as its file with what its user says of it, in Hopwright's home.

    <book id>/file          the bytes as they came
    <book id>/notes.json    the file's name, title, author, year, licence and source as far as they were given
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from hopwright.errors import InputError, StoreError
from hopwright.foreign import JsonError, load_json, show
from hopwright.knowledge.books.book import Book
from hopwright.knowledge.books.mentions import MentionGraph, NameFinder, build_graph
from hopwright.knowledge.books.reading import BookNotes, parse_book, read_book
from hopwright.knowledge.books.tokens import make_table
from hopwright.knowledge.books.windows import WindowReader
from hopwright.runs.files import copy_file, write_file

_FILE, _NOTES = "file", "notes.json"


@dataclass(frozen=True, slots=True)
class ReadNovel:
    """A book with its mention graph, and what shows its windows."""

    book: Book
    graph: MentionGraph
    reader: WindowReader


def add_book(shelf: Path, path: Path, notes: BookNotes) -> Book:
    """Put a book on the shelf; one that is there already gets the new notes. Raises InputError for what is no book."""
    book = read_book(path, notes)
    folder = shelf / book.id
    # The title is part of the id: the same file under another title would stand there twice.
    for other in list_books(shelf):
        if other != folder and other.name.endswith(book.sha256[:8]):
            raise InputError(f"{path}: this file is on the shelf already, as {other.name}; remove {other} first")
    copy_file(path, folder / _FILE)
    write_file(folder / _NOTES, (json.dumps({"name": path.name, **asdict(notes)}, indent=1) + "\n").encode())
    return book


def list_books(shelf: Path) -> list[Path]:
    """The folders of the books on a shelf, by name."""
    return sorted(path.parent for path in shelf.glob(f"*/{_NOTES}"))


def open_book(folder: Path) -> Book:
    """Read a book of the shelf. Raises StoreError where its folder is damaged."""
    try:
        notes = load_json((folder / _NOTES).read_bytes())
        name = str(notes.pop("name"))
        said = BookNotes(**{field: str(value) for field, value in notes.items()})
        data = (folder / _FILE).read_bytes()
    except (OSError, JsonError, TypeError, AttributeError, KeyError):
        raise StoreError(f"{folder}: a damaged book; remove the folder and add the book again") from None
    return parse_book(data, name, said)


def open_books(shelf: Path, wanted: list[str]) -> list[Book]:
    """The books of a shelf whose ids begin with one of the wanted words; without any, all.

    Raises InputError where one fits none or several, and StoreError where the shelf is empty.
    """
    folders = list_books(shelf)
    if not folders:
        raise StoreError(f"{shelf}: no books: `hopwright novels add FILE` adds one")
    chosen = folders if not wanted else []
    for word in wanted:
        found = [one for one in folders if one.name.startswith(word)]
        if len(found) != 1:
            known = ", ".join(one.name for one in (found or folders))
            raise InputError(f"book {show(word)}: {'fits several' if found else 'none is called so'} of {known}")
        chosen += found
    return [open_book(folder) for folder in dict.fromkeys(chosen)]


def read_novel(book: Book, tokenizer: str, finder: NameFinder | None = None) -> ReadNovel:
    """Find a book's names and count its tokens. Raises InputError for a tokenizer that cannot be used."""
    graph = build_graph(book, finder)
    return ReadNovel(book, graph, WindowReader(book, make_table(book, tokenizer), graph))
