"""Questions about a window of a novel: the common records, with the window and what each hop rests on.

Places in a book are characters of its text as it was decoded, so that a published item needs none of the text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from hopwright.planning.mention_steps import Step, StepKind
from hopwright.records import Hop, Item
from hopwright.records.base import Record
from hopwright.records.documents import DocumentId, MediaHash, Offset

EntityNumber = Annotated[int, Field(ge=0)]


class Stretch(Record):
    """The characters `start` up to `end` of a book's text."""

    start: Offset
    end: Offset


class WindowRef(Record):
    """A window by reference: `sha256` is that of its text with line feeds as its only line ends, in UTF-8.

    length: the most tokens that it was cut for; tokens: how many it has, as `tokenizer` counts. In a twin the places
    are those of the original, and the hash is that of the renamed text.
    """

    book: DocumentId
    start: Offset
    end: Offset
    length: int = Field(ge=1)
    tokens: int = Field(ge=1)
    tokenizer: str
    sha256: MediaHash


class NovelHop(Hop):
    """A hop with its kind, the entities that its question names (`clues`), and the paragraphs that it rests on.

    entity: whom the answer names, None for a number of chapters. paragraphs: that of the answer first. quoted: the
    words that the question quotes. chapter: the number of the chapter whose paragraphs alone are looked at, 0 for the
    whole window. final: of several paragraphs there the last counts, and not the first. The step `star` is the
    paper's: the paragraph was found by a keyword beside that of the first hop, and its question is asked over the
    paragraphs of all hops up to it.
    """

    step: StepKind | Literal["star"]
    keyword: str = ""
    clues: tuple[EntityNumber, ...] = ()
    entity: EntityNumber | None = None
    paragraphs: tuple[Stretch, ...]
    quoted: Stretch | None = None
    chapter: int = Field(default=0, ge=0)
    final: bool = False


class NovelItem(Item):
    """A question about a window. Items of one `family` are the same chain in windows of different lengths.

    distances: tokens from each hop's paragraph to the next one's. depth: where in the window the paragraph with the
    final answer begins, from 0 to 1.
    """

    hops: tuple[NovelHop, ...]
    window: WindowRef
    family: str
    distances: tuple[int, ...] = ()
    depth: float = Field(ge=0, le=1)

    @property
    def is_star(self) -> bool:
        """Whether it was made in the paper's way, by a model and around one keyword."""
        return self.hops[0].step == "star"

    @property
    def novel_id(self) -> str:
        """The id that the item's chain and window ask for."""
        return make_novel_id(self.window, self.family, self.variant)


def make_family(book: str, hops: Sequence[tuple[Step, Sequence[Stretch], Stretch | None]]) -> str:
    """What names a chain in all windows: its book, and for each hop the kind, the clues and the places."""
    content: list[Any] = [book]
    for step, paragraphs, quoted in hops:
        places = [[one.start, one.end] for one in (*paragraphs, *([quoted] if quoted else []))]
        content.append(
            [step.kind, list(step.clues), step.follows, places, step.chapter, step.final, step.answer]
        )
    return "nf-" + _hash(content)


def make_novel_id(window: WindowRef, family: str, variant: str) -> str:
    """The id of a chain in one window."""
    return "nv-" + _hash([family, window.start, window.end, window.sha256, variant])


def _hash(content: Any) -> str:
    canonical = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return hashlib.blake2b(canonical.encode(), digest_size=8).hexdigest()
