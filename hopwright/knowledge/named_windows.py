"""A window of a text as chains of questions see it: its paragraphs, with those whom each names.

No source is known here: a reader of books makes such windows, and plans are drawn from and proven on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class NamedParagraph:
    """One paragraph, heading or note of a window.

    position: tokens of the window before it. usable: long enough to carry a hop. chapter: its number among the counted
    chapters of its part, None elsewhere. sure and possible: whom and what it names surely, or may name. unknown: it
    holds a name of which nothing is known. unnamed: it speaks of somebody without a name, as of her aunt. things: it
    names what is neither a person nor a place, or has a word that may. speakers: who are surely named as speaking
    in it. shared: somebody else may say some of its words. voices: whom names outside the spoken words may name as
    speaking, -1 standing for somebody of whom nothing is known; none where nothing is spoken. spoken: whom names
    inside the spoken words may mean, -1 standing for somebody of whom nothing sure is known. called: whom a name
    inside them surely means that has a word of the name by which questions call them. heading: the number that its
    chapter's heading gives, None where the window lacks that heading, has another one of that number, or begins the
    count anew and no volume says where.
    """

    block: int
    position: int
    usable: bool
    chapter: tuple[int, int] | None
    sure: frozenset[int]
    possible: frozenset[int]
    unknown: bool = False
    unnamed: bool = False
    things: bool = False
    speakers: tuple[int, ...] = ()
    shared: bool = False
    voices: frozenset[int] = frozenset()
    spoken: frozenset[int] = frozenset()
    called: frozenset[int] = frozenset()
    heading: int | None = None


@dataclass(frozen=True, slots=True)
class NamedWindow:
    """A window as the steps see it."""

    paragraphs: tuple[NamedParagraph, ...]
    persons: frozenset[int]
    places: frozenset[int]
    words: tuple[tuple[int, int, int], ...] = ()
    """Quotations that occur once in the window: their number, their paragraph's place, their speaker."""
    _naming: dict[int, list[int]] = field(default_factory=dict, repr=False, compare=False)
    _chapters: dict[int, frozenset[int]] = field(default_factory=dict, repr=False, compare=False)

    def list_naming(self, entity: int) -> Sequence[int]:
        """The places of all paragraphs that may name an entity, in order; every paragraph is looked at once."""
        if not self._naming:
            for place, paragraph in enumerate(self.paragraphs):
                for who in paragraph.possible:
                    self._naming.setdefault(who, []).append(place)
        return self._naming.get(entity, ())

    def list_voicing(self, entity: int) -> Sequence[int]:
        """The places of all paragraphs that may name an entity as a speaker, in order."""
        return [place for place in self.list_naming(entity) if entity in self.paragraphs[place].voices]

    @property
    def chapters(self) -> Mapping[int, frozenset[int]]:
        """The places of each chapter that the window has whole, and another numbered one after it, by the number in its
        heading."""
        if not self._chapters and self.paragraphs:
            held: dict[int, set[int]] = {}
            for place, paragraph in enumerate(self.paragraphs):
                if paragraph.heading is not None:
                    held.setdefault(paragraph.heading, set()).add(place)
            # Where the window ends, or a part without a number begins, the chapter may go on.
            last = len(self.paragraphs) - 1
            for number, places in held.items():
                if (after := max(places) + 1) <= last and self.paragraphs[after].heading is not None:
                    self._chapters[number] = frozenset(places)
        return self._chapters
