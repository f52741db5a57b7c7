"""Steps of questions over a window of a book, each of which paragraphs that name somebody prove.

Nothing here knows where the names come from: a window is its paragraphs, each with those whom it surely names and those
whom it may name. A paragraph counts against a step where it may meet its condition, and for a step only where it surely
does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from hopwright.knowledge.named_windows import NamedParagraph, NamedWindow

StepKind = Literal[
    "speaker", "reply", "mentioned", "site", "answered", "teller", "first", "last", "where", "companion", "place",
    "voice", "chapters", "chapter", "asked",
]  # fmt: skip
PAIRED: tuple[StepKind, ...] = ("companion", "place", "voice")
"""Steps whose paragraph is the only one that names two or three; what else it names is the answer."""
HEARD: tuple[StepKind, ...] = ("reply", "mentioned", "site", "answered")
"""Steps that begin where somebody is named as speaking."""
MENTIONED: tuple[StepKind, ...] = ("mentioned", "site")
"""Steps to the person or the place that a speaker names."""
ONWARD: tuple[StepKind, ...] = (
    "reply", "mentioned", "site", "answered", "teller", "first", "last", "where", "chapters", "chapter"
)  # fmt: skip
"""Steps that lead to another answer where one of their paragraphs is not known, and not to none or several."""
NUMBERS: tuple[StepKind, ...] = ("chapters", "chapter")
"""Steps whose answer is a number: of chapters, or that of a chapter."""
FREE = -1
"""The answer of a step whose words a model chooses: a span of the paragraph, which is known when it has answered."""
FEWEST = 2
"""Paragraphs that each of two names must have of its own, so that neither selects the paragraph alone."""
FEWEST_LEFT = 4
"""Paragraphs that a hop by rules leaves open without the answer before it: of two, a guess finds the right one, and a
rare name gives it away."""


@dataclass(frozen=True, slots=True)
class Step:
    """One hop. `clues` are the names that its question gives; where it `follows`, the answer before it is one more.

    places: the paragraphs that it rests on, by their places in the window, the one with the answer first. answer: an
    entity, a number of chapters, or the number of a chapter. quotation: the words by which it asks, by their number.
    chapter: the number of the chapter whose paragraphs alone are looked at, 0 for the whole window. final: of several
    paragraphs the last counts, and not the first. A step of the kind
    `asked` is a model's question about the only paragraph that names all its names; its answer is a name for the hop
    after it, or, in the last hop, what the model chooses (FREE).
    """

    kind: StepKind
    clues: tuple[int, ...]
    follows: bool
    places: tuple[int, ...]
    answer: int
    quotation: int = -1
    chapter: int = 0
    final: bool = False

    @property
    def ends(self) -> bool:
        """Whether no hop can follow, its answer being no name."""
        return self.kind in NUMBERS or (self.kind == "asked" and self.answer == FREE)


class StepFinder:
    """Finds the steps of one window. `asked` are the entities that questions may name or ask for.

    by_model: find the steps of the kind `asked`, and no others.
    """

    def __init__(self, window: NamedWindow, asked: frozenset[int], *, by_model: bool = False) -> None:
        self.window = window
        self._by_model = by_model
        self._asked = sorted(asked & (window.persons | window.places))
        self._known = frozenset(self._asked)
        self._possible: dict[int, int] = defaultdict(int)
        for place, paragraph in enumerate(window.paragraphs):
            for entity in paragraph.possible:
                self._possible[entity] |= 1 << place
        self._pairs: dict[int, list[Step]] = defaultdict(list)
        self._openings: list[Step] = []
        for number, one in enumerate(self._asked):
            for other in self._asked[number + 1 :]:
                self._take_pair(one, other)
        self._take_triples()

    def list_openings(self) -> list[Step]:
        """Steps that follow none."""
        if self._by_model:
            return self._openings
        alone = [replace(step, clues=(one,), follows=False) for one in self._asked for step in self._list_alone(one)]
        return [*self._list_quoting(), *self._openings, *alone]

    def list_following(self, entity: int) -> list[Step]:
        """Steps that go on from an entity."""
        return [*self._pairs.get(entity, ()), *(() if self._by_model else self._list_alone(entity))]

    def _take_pair(self, one: int, other: int) -> None:
        both = self._possible[one] & self._possible[other]
        if both.bit_count() != 1:
            return
        if self._possible[one].bit_count() < FEWEST or self._possible[other].bit_count() < FEWEST:
            return
        self._take_group((one, other), both.bit_length() - 1)

    def _take_triples(self) -> None:
        """Three names select a paragraph where every two of them select several."""
        for place, paragraph in enumerate(self.window.paragraphs):
            named = sorted(paragraph.sure & self._known)
            if not paragraph.usable or not 4 <= len(named) <= 5:
                continue
            for three in combinations(named, 3):
                held = [self._possible[one] & self._possible[other] for one, other in combinations(three, 2)]
                if (held[0] & held[1]).bit_count() == 1 and all(pair.bit_count() >= FEWEST for pair in held):
                    self._take_group(three, place)

    def _take_group(self, names: tuple[int, ...], place: int) -> None:
        for kind, answer in self._list_answers(names, place):
            self._openings.append(Step(kind, names, False, (place,), answer))
            for given in names:
                clues = tuple(name for name in names if name != given)
                self._pairs[given].append(Step(kind, clues, True, (place,), answer))

    def _list_answers(self, names: tuple[int, ...], place: int) -> Iterator[tuple[StepKind, int]]:
        """What may be asked of the only paragraph that names all of these, with the answers."""
        if not self._by_model:
            for kind in PAIRED:
                answer = read_pair(self.window, place, frozenset(names), kind)
                if answer is not None and answer in self._known:
                    yield kind, answer
            return
        paragraph = self.window.paragraphs[place]
        if paragraph.usable and paragraph.sure.issuperset(names):
            yield "asked", FREE
            yield from (("asked", one) for one in sorted((paragraph.sure & self._known) - set(names)))

    def _list_quoting(self) -> Iterator[Step]:
        """Steps that ask by spoken words: who says them, who speaks next, whom the speaker names."""
        everything = range(len(self.window.paragraphs))
        for number, place, who in self.window.words:
            yield Step("speaker", (), False, (place,), who, number)
            answering = read_answering(self.window, place, who, everything)
            if answering is not None and self._carries(answering[0]) and answering[1] in self._known - {who}:
                yield Step("reply", (), False, (answering[0], place), answering[1], number)
            for kind in MENTIONED:
                named = read_mentioned(self.window, place, who, kind)
                if named is not None and named in self._known:
                    yield Step(kind, (), False, (place,), named, number)

    def _list_alone(self, entity: int) -> Iterator[Step]:
        """Steps for which the one name is enough, in the window or in one of its chapters."""
        held = self.window.list_naming(entity)
        if len(held) < FEWEST:
            return
        for place, final in ((held[0], False), (held[-1], True)):
            yield from self._look_beside(entity, place, 0, final=final)
        voicing = self.window.list_voicing(entity)
        if len(voicing) >= FEWEST:
            yield from self._listen(entity, voicing[-1], range(len(self.window.paragraphs)), 0, final=True)
        for chapter, places in self.window.chapters.items():
            inside = [place for place in held if place in places]
            for final in (False, True) if len(inside) >= FEWEST else ():
                yield from self._look_into(entity, inside[::-1] if final else inside, chapter, final=final)
        number = read_chapter(self.window.paragraphs[held[-1]], entity)
        if number is not None:
            yield Step("chapter", (), True, (held[-1],), number)
        count = count_chapters(self.window.paragraphs, held[0], held[-1], entity)
        if count is not None:
            yield Step("chapters", (), True, (held[-1], held[0]), count)

    def _look_into(self, entity: int, held: Sequence[int], chapter: int, *, final: bool) -> Iterator[Step]:
        """Steps that look at one chapter alone: at the first of the paragraphs that name somebody there, which are
        given from the end where it is the last."""
        paragraphs = self.window.paragraphs
        yield from self._look_beside(entity, held[0], chapter, final=final)
        voicing = [place for place in held if entity in paragraphs[place].voices]
        if len(voicing) >= FEWEST:
            yield from self._listen(entity, voicing[0], sorted(self.window.chapters[chapter]), chapter, final=final)
        spoken = [place for place in held if entity in paragraphs[place].spoken]
        teller = read_teller(paragraphs[spoken[0]], entity) if len(spoken) >= FEWEST else None
        if teller is not None and teller in self._known:
            yield Step("teller", (), True, (spoken[0],), teller, chapter=chapter, final=final)

    def _look_beside(self, entity: int, place: int, chapter: int, *, final: bool) -> Iterator[Step]:
        """Steps to the person or the place that a paragraph names beside somebody."""
        beside: tuple[tuple[StepKind, StepKind], ...] = (
            ("last" if final else "first", "companion"), ("where", "place")
        )  # fmt: skip
        for kind, asked in beside:
            answer = read_pair(self.window, place, frozenset([entity]), asked)
            if answer is not None and answer in self._known:
                yield Step(kind, (), True, (place,), answer, chapter=chapter, final=final)

    def _listen(self, entity: int, place: int, shown: Sequence[int], chapter: int, *, final: bool) -> Iterator[Step]:
        """Steps from a paragraph where somebody is named as speaking: whom the words name, and who speaks next."""
        answering = read_answering(self.window, place, entity, shown)
        if answering is not None and self._carries(answering[0]) and answering[1] in self._known - {entity}:
            after, answer = answering
            yield Step("answered", (), True, (after, place), answer, chapter=chapter, final=final)
        for kind in MENTIONED:
            named = read_mentioned(self.window, place, entity, kind)
            if named is not None and named in self._known:
                yield Step(kind, (), True, (place,), named, chapter=chapter, final=final)

    def _carries(self, place: int) -> bool:
        return self.window.paragraphs[place].usable


def read_pair(window: NamedWindow, place: int, pair: frozenset[int], kind: StepKind) -> int | None:
    """What a paragraph that surely names all of them answers to a step of this kind; None where it answers nothing, or
    nothing that is sure."""
    paragraph = window.paragraphs[place]
    if not paragraph.usable or not pair <= paragraph.sure or paragraph.unknown:
        return None
    others = paragraph.possible - pair
    people, sites = others & window.persons, others & window.places
    if kind == "companion":
        if paragraph.unnamed:
            return None
        found = people
    elif kind == "place":
        if paragraph.things or pair & window.places:
            return None
        found = sites
    else:
        found = frozenset(paragraph.speakers)
        if found & pair or not pair <= paragraph.called or read_only_voice(paragraph) is None:
            return None
    return next(iter(found)) if len(found) == 1 and found <= paragraph.sure else None


def read_answering(window: NamedWindow, place: int, entity: int, shown: Sequence[int]) -> tuple[int, int] | None:
    """The next of the shown paragraphs that names another speaker after one that names an entity as such, and that
    speaker; None where any of it is not sure."""
    if read_only_voice(window.paragraphs[place]) != entity:
        return None
    following = find_other_voice(window, place, entity, shown)
    answer = None if following is None else read_only_voice(window.paragraphs[following])
    return None if following is None or answer is None else (following, answer)


def find_other_voice(window: NamedWindow, place: int, entity: int, shown: Sequence[int]) -> int | None:
    """The first of the shown paragraphs after a place that may name somebody else than an entity as speaking."""
    return next((one for one in shown if one > place and window.paragraphs[one].voices - {entity}), None)


def read_mentioned(window: NamedWindow, place: int, entity: int, kind: StepKind) -> int | None:
    """Which person or place alone an entity names in what it says in a paragraph; None where that is not sure."""
    paragraph = window.paragraphs[place]
    if not paragraph.usable or read_only_voice(paragraph) != entity or -1 in paragraph.spoken:
        return None
    if paragraph.unnamed if kind == "mentioned" else paragraph.things:
        return None
    found = paragraph.spoken & (window.persons if kind == "mentioned" else window.places)
    return next(iter(found)) if len(found) == 1 and found <= paragraph.sure & paragraph.called - {entity} else None


def read_teller(paragraph: NamedParagraph, entity: int) -> int | None:
    """Who surely names an entity in what is said in a paragraph."""
    teller = read_only_voice(paragraph)
    return teller if teller != entity and paragraph.usable and entity in paragraph.sure & paragraph.called else None


def read_only_voice(paragraph: NamedParagraph) -> int | None:
    """The one whom a paragraph surely names as a speaker, where nobody else may be meant, or say some of
    its words."""
    found = paragraph.voices
    if paragraph.shared:
        return None
    return paragraph.speakers[0] if len(found) == 1 and found == set(paragraph.speakers) else None


def read_chapter(paragraph: NamedParagraph, entity: int) -> int | None:
    """The number of the chapter of a paragraph that surely names an entity, as its heading gives it."""
    return paragraph.heading if paragraph.usable and entity in paragraph.sure else None


def count_chapters(paragraphs: Sequence[NamedParagraph], first: int, last: int, entity: int) -> int | None:
    """Chapters between the first and the last paragraph that name an entity; None where they are not counted on."""
    ends = paragraphs[first], paragraphs[last]
    if not all(one.usable and entity in one.sure and one.chapter is not None for one in ends):
        return None
    before, after = ends[0].chapter, ends[1].chapter
    if before is None or after is None or before[0] != after[0] or after[1] - before[1] < 3:
        return None
    return after[1] - before[1] - 1
