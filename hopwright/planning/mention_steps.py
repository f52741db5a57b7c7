"""Steps of questions over a window of a book, each of which paragraphs that name somebody prove.

Nothing here knows where the names come from: a window is its paragraphs, each with those whom it surely names and those
whom it may name. A paragraph counts against a step where it may meet its condition, and for a step only where it surely
does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from hopwright.knowledge.named_windows import NamedParagraph, NamedWindow

StepKind = Literal[
    "speaker", "companion", "place", "voice", "first", "last", "next", "heard", "answered", "chapters", "chapter",
    "asked",
]  # fmt: skip
PAIRED: tuple[StepKind, ...] = ("companion", "place", "voice")
"""Steps whose paragraph is the only one that names two or three; what else it names is the answer."""
ONWARD: tuple[StepKind, ...] = ("next", "answered", "chapters", "chapter")
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
    entity, a number of chapters, or the number of a chapter. A step of the kind `asked` is a model's question about the
    only paragraph that names all its names; its answer is a name for the hop after it, or, in the last hop, what the
    model chooses (FREE).
    """

    kind: StepKind
    clues: tuple[int, ...]
    follows: bool
    places: tuple[int, ...]
    answer: int
    quotation: int = -1

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
        spoken = [Step("speaker", (), False, (place,), who, number) for number, place, who in self.window.words]
        alone = [Step(step.kind, (one,), False, step.places, step.answer) for one in self._asked for step in
                 self._list_alone(one)]  # fmt: skip
        return [*spoken, *self._openings, *alone]

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

    def _list_alone(self, entity: int) -> Iterator[Step]:
        """Steps for which the one name is enough: where it comes first, where last, what comes next."""
        held = self._possible[entity]
        if held.bit_count() < FEWEST:
            return
        first, last = (held & -held).bit_length() - 1, held.bit_length() - 1
        for kind, place in (("first", first), ("last", last)):
            answer = read_end(self.window, place, entity)
            if answer is not None and answer in self._known:
                yield Step("first" if kind == "first" else "last", (), True, (place,), answer)
        following = read_next(self.window.order, entity)
        if following is not None and following[1] in self._known:
            place, answer = following
            if self.window.paragraphs[place].usable:
                yield Step("next", (), True, (place, last) if place != last else (place,), answer)
        heard = read_last_voice(self.window, entity)
        if heard is not None:
            place, answer = heard
            if answer in self._known:
                yield Step("heard", (), True, (place,), answer)
        answering = read_answering(self.window, entity)
        if answering is not None and answering[2] in self._known:
            place, before, answer = answering
            if self.window.paragraphs[place].usable:
                yield Step("answered", (), True, (place, before), answer)
        number = read_chapter(self.window.paragraphs[last], entity)
        if number is not None:
            yield Step("chapter", (), True, (last,), number)
        count = count_chapters(self.window.paragraphs, first, last, entity)
        if count is not None:
            yield Step("chapters", (), True, (last, first), count)


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
        if found & pair:
            return None
    return next(iter(found)) if len(found) == 1 and found <= paragraph.sure else None


def read_end(window: NamedWindow, place: int, entity: int) -> int | None:
    """Who alone is named with an entity in the paragraph where it is named first or last."""
    paragraph = window.paragraphs[place]
    if not paragraph.usable or entity not in paragraph.sure or paragraph.unknown or paragraph.unnamed:
        return None
    found = (paragraph.possible & window.persons) - {entity}
    return next(iter(found)) if len(found) == 1 and found <= paragraph.sure else None


def read_next(order: Sequence[tuple[int, tuple[int, ...]]], entity: int) -> tuple[int, int] | None:
    """The paragraph and the person named next after the last mention of an entity, where both are sure."""
    for number in range(len(order) - 1, -1, -1):
        _, who = order[number]
        if entity in who:
            if who != (entity,) or number + 1 == len(order):
                return None
            following, named = order[number + 1]
            return (following, named[0]) if len(named) == 1 else None
    return None


def read_last_voice(window: NamedWindow, entity: int) -> tuple[int, int] | None:
    """The last paragraph that names an entity as a speaker, and who alone is named beside it there; None where that is
    not sure, or where it is so named once."""
    voicing = window.list_voicing(entity)
    if len(voicing) < FEWEST or entity not in window.paragraphs[voicing[-1]].speakers:
        return None
    answer = read_end(window, voicing[-1], entity)
    return None if answer is None else (voicing[-1], answer)


def read_answering(window: NamedWindow, entity: int) -> tuple[int, int, int] | None:
    """Who is the next to be named as a speaker after the last paragraph that so names an entity: the paragraph of that,
    the one before, and the speaker; None where any of it is not sure."""
    voicing = window.list_voicing(entity)
    if len(voicing) < FEWEST or read_only_voice(window.paragraphs[voicing[-1]]) != entity:
        return None
    for place in range(voicing[-1] + 1, len(window.paragraphs)):
        if window.paragraphs[place].voices:
            answer = read_only_voice(window.paragraphs[place])
            return None if answer is None else (place, voicing[-1], answer)
    return None


def read_only_voice(paragraph: NamedParagraph) -> int | None:
    """The one whom a paragraph surely names as a speaker, where nobody else may be meant."""
    found = paragraph.voices
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
