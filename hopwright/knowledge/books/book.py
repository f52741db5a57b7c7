"""What a book is made of: its text as it was read, blocks between blank lines, chapters, tokens."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from hopwright.records import Document

BlockKind = Literal["text", "heading", "note"]
ChapterKind = Literal["chapter", "other"]
LEAST_WORDS = 30
"""Words of a paragraph that a hop may rest on (NovelHopQA, section 3.3)."""


@dataclass(frozen=True, slots=True)
class Block:
    """What stands between two blank lines: the characters `start` up to `end` of the book's text.

    `chapter` is the number of its chapter in `Book.chapters`; a note is a footnote or a picture's caption.
    """

    start: int
    end: int
    words: int
    chapter: int
    kind: BlockKind = "text"

    @property
    def is_paragraph(self) -> bool:
        """Whether a hop may rest on it."""
        return self.kind == "text" and self.words >= LEAST_WORDS


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter with the heading that opens it; `part` numbers the volume or part that it stands in.

    Only those of the kind `chapter` are counted: a prologue, or a narrative without chapters, is another part of the
    book. volume: what the heading of its volume calls that, as Volume II; empty where there is none.
    """

    title: str
    start: int
    part: int = 0
    kind: ChapterKind = "chapter"
    volume: str = ""


@dataclass(frozen=True, slots=True)
class Book:
    """A book as it was read. `text` is the whole file decoded, with its own line ends; offsets count its characters.

    sha256: of the file's bytes. encoding: how they were decoded; for EPUB, `epub`: the text is that of its pages in
    reading order. blocks: of the story alone, without the licence, the contents and what else stands before it. same:
    names that are known to be one person's.
    """

    id: str
    title: str
    author: str
    year: str
    licence: str
    source: str
    sha256: str
    encoding: str
    text: str
    chapters: tuple[Chapter, ...]
    blocks: tuple[Block, ...]
    same: tuple[tuple[str, ...], ...] = ()

    def to_document(self) -> Document:
        """The book as the record that spans cite."""
        return Document(
            id=self.id, title=self.title, text=self.text, licence=self.licence, source=self.source, revision=self.sha256
        )

    def show(self, start: int, end: int) -> str:
        """These characters with plain line feeds, as readers and models get them."""
        return plain_lines(self.text[start:end])

    def show_block(self, index: int) -> str:
        """One block with plain line feeds."""
        block = self.blocks[index]
        return self.show(block.start, block.end)


@dataclass(frozen=True, slots=True)
class TokenTable:
    """How many tokens the blocks have: `sums[i]` are those of all blocks before block i."""

    tokenizer: str
    sums: tuple[int, ...]

    @classmethod
    def of(cls, tokenizer: str, counts: Sequence[int]) -> TokenTable:
        """The table for these counts, one a block."""
        return cls(tokenizer, (0, *accumulate(counts)))

    def count(self, first: int, stop: int) -> int:
        """Tokens of the blocks `first` up to `stop`."""
        return self.sums[stop] - self.sums[first]

    def reach(self, first: int, most: int) -> int:
        """The block at which a window of at most `most` tokens from block `first` on ends."""
        return bisect_right(self.sums, self.sums[first] + most) - 1


def plain_lines(text: str) -> str:
    """The text with line feeds as its only line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def hash_text(text: str) -> str:
    """SHA-256 of a text in UTF-8, in hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
