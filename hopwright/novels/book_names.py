"""What a release says of a book: where it is from, who is who in it, and where its chapters begin. No text of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from hopwright.knowledge.books.book import Book
from hopwright.knowledge.books.mentions import EntityKind, MentionGraph
from hopwright.records.base import Record
from hopwright.records.documents import DocumentId, MediaHash, Offset

Name = Annotated[str, Field(min_length=1, max_length=200)]


class NamedEntity(Record):
    """A character or a place, as questions name it, with the forms that surely mean it."""

    id: int = Field(ge=0)
    kind: EntityKind
    name: Name
    aliases: tuple[Name, ...]
    mentions: int


class ChapterStart(Record):
    """Where a chapter begins; one that is not counted, as a prologue, has the number 0. volume: as its heading says."""

    start: Offset
    part: int
    number: int
    volume: str = ""


class BookNames(Record):
    """A book of a release. `forms`: every form of a name in the text, and whom it may mean; none where it is not known.

    things: forms that name neither a person nor a place. unnamed: words for people that are no names, as her aunt.
    """

    id: DocumentId
    title: str
    author: str
    year: str
    licence: str
    source: str
    sha256: MediaHash
    encoding: str
    finder: str
    entities: tuple[NamedEntity, ...]
    forms: Mapping[Name, tuple[int, ...]]
    things: tuple[Name, ...] = ()
    unnamed: tuple[Name, ...] = ()
    chapters: tuple[ChapterStart, ...] = ()

    def find(self, entity: int) -> NamedEntity:
        """An entity by its number. Raises KeyError for one that the book does not name."""
        for one in self.entities:
            if one.id == entity:
                return one
        raise KeyError(entity)


def describe_book(book: Book, graph: MentionGraph) -> BookNames:
    """What a release says of a book."""
    meant: dict[str, set[int]] = defaultdict(set)
    things: set[str] = set()
    unnamed: set[str] = set()
    for mention in graph.mentions():
        form = " ".join(book.text[mention.start : mention.end].split())
        meant[form] |= set(mention.entities)
        if mention.thing:
            things.add(form)
        if mention.unnamed:
            unnamed.add(form)
    return BookNames(
        id=book.id,
        title=book.title,
        author=book.author,
        year=book.year,
        licence=book.licence,
        source=book.source,
        sha256=book.sha256,
        encoding=book.encoding,
        finder=graph.finder,
        entities=tuple(
            NamedEntity(id=one.id, kind=one.kind, name=one.name, aliases=one.aliases, mentions=one.mentions)
            for one in graph.entities
            if one.name
        ),
        forms={form: tuple(sorted(meant[form])) for form in sorted(meant)},
        things=tuple(sorted(form for form in things if not meant[form])),
        unnamed=tuple(sorted(form for form in unnamed if not meant[form])),
        chapters=_list_chapters(book),
    )


def _list_chapters(book: Book) -> tuple[ChapterStart, ...]:
    rows: list[ChapterStart] = []
    part = number = 0
    for before, chapter in zip((None, *book.chapters), book.chapters, strict=False):
        counted = chapter.kind == "chapter"
        if before is None or before.part != chapter.part or before.kind != chapter.kind:
            part, number = part + 1, 0
        number = number + 1 if counted else 0
        rows.append(ChapterStart(start=chapter.start, part=part, number=number, volume=chapter.volume))
    return tuple(rows)
