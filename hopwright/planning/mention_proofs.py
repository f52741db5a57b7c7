"""Proving the steps of a chain on a window, by looking at all of its paragraphs, with and without each of them.

Four things are proven of every step. *Named*: fewer of its names select several paragraphs. *Unique*: its condition
selects one paragraph, which surely has the answer. *Needed*: without one of its paragraphs the condition selects none,
or several answers remain (the steps of ONWARD: or another answer comes out). *Chained*: without
the answer before it, four paragraphs or more, and several answers, are left.

Of a chain it is proven besides that it does not end alike without a paragraph of an earlier hop: another answer on the
way may lead to the same end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hopwright.knowledge.named_windows import NamedParagraph, NamedWindow
from hopwright.planning.mention_steps import (
    FEWEST,
    FEWEST_LEFT,
    FREE,
    HEARD,
    MENTIONED,
    ONWARD,
    PAIRED,
    Step,
    StepKind,
    find_other_voice,
    read_answering,
    read_mentioned,
    read_only_voice,
    read_teller,
)

MANY = 2


@dataclass(frozen=True, slots=True)
class StepProof:
    """What was counted: paragraphs that the condition selects, answers that remain without each of the hop's
    paragraphs (none where it is empty), and answers that are left when the answer before it is not known."""

    selected: int
    without: tuple[tuple[int, ...], ...]
    left: int | None


@dataclass(frozen=True, slots=True)
class Refuted:
    """Why a step is not proven."""

    proof: str
    reason: str


def prove_step(window: NamedWindow, step: Step, given: int | None) -> StepProof | Refuted:
    """Prove one step; `given` is the answer before it, None where it follows none."""
    names = (*((given,) if given is not None and step.follows else ()), *step.clues)
    everything = frozenset(range(len(window.paragraphs)))
    # A chain that was drawn in one window is proven in others, too, where its names may be rarer.
    if step.kind in HEARD and step.quotation < 0 and len(_find_voicing(window, step, names, everything)) < FEWEST:
        return Refuted("named", "who is asked about speaks once")
    if step.chapter and _count_in_chapter(window, step, names) < FEWEST:
        return Refuted("named", "the chapter names who is asked about once")
    for name in names:
        others = tuple(other for other in names if other != name) or names
        if len(_select(window, others, everything)) < FEWEST:
            return Refuted("named", "fewer of its names select the paragraph")
    answers, selected = _answer(window, step, names, everything)
    if answers != {step.answer} or selected != 1:
        return Refuted("unique", f"{selected} paragraphs are selected and {len(answers)} answers read")
    if not _speaks_surely(window, step, names):
        return Refuted("unique", "who speaks is not sure")
    own = step.places if step.kind == "chapters" else step.places[:1]
    if not all(window.paragraphs[place].usable for place in own):
        return Refuted("unique", "its paragraph is too short")
    if step.kind == "chapters" and not set(step.places) >= {window.list_naming(names[0])[end] for end in (0, -1)}:
        return Refuted("unique", "another paragraph may be the first or the last")
    remaining: list[tuple[int, ...]] = []
    for place in step.places:
        rest, _ = _answer(window, step, names, everything - {place})
        if step.answer in rest and len(rest) < MANY:
            return Refuted("needed", "the same answer is read without the paragraph")
        if len(rest) == 1 and step.kind not in ONWARD:
            return Refuted("needed", "another paragraph takes its place")
        remaining.append(tuple(sorted(rest)))
    left = None
    if step.follows:
        left = len(_list_left(window, step, everything))
        if left < MANY:
            return Refuted("chained", "the answer follows, or nearly so, without the one before it")
    return StepProof(selected, tuple(remaining), left)


class WindowProver:
    """Proves chains on one window; a step that several chains share is proven once."""

    def __init__(self, window: NamedWindow) -> None:
        self._window = window
        self._proven: dict[tuple[Step, int | None], StepProof | Refuted] = {}
        self._without: dict[tuple[Step, int, int], set[int]] = {}

    def prove(self, steps: Sequence[Step]) -> tuple[StepProof, ...] | Refuted:
        """Prove all steps of a chain, that no two rest on one paragraph or speak of one entity, and that the chain does
        not end alike without one of its paragraphs."""
        places = [place for step in steps for place in step.places]
        if len(places) != len(set(places)):
            return Refuted("distinct", "two hops rest on one paragraph")
        named = [clue for step in steps for clue in step.clues]
        named += [step.answer for step in steps if not step.ends]
        if len(named) != len(set(named)):
            return Refuted("distinct", "one name occurs twice")
        proofs: list[StepProof] = []
        given: int | None = None
        for step in steps:
            key = (step, given)
            if key not in self._proven:
                self._proven[key] = prove_step(self._window, step, given)
            proof = self._proven[key]
            if isinstance(proof, Refuted):
                return proof
            proofs.append(proof)
            given = step.answer
        for number, (step, proof) in enumerate(zip(steps[:-1], proofs, strict=False), start=1):
            for place, rest in zip(step.places, proof.without, strict=True):
                if self._lead_on(steps[number:], set(rest), place) == {steps[-1].answer}:
                    return Refuted("needed", "the chain ends alike without a paragraph")
        return tuple(proofs)

    def _lead_on(self, steps: Sequence[Step], answers: set[int], place: int) -> set[int]:
        """Everything to which the rest of a chain leads from these answers where one paragraph is not shown."""
        for step in steps:
            following: set[int] = set()
            for given in answers:
                following |= {-1} if given < 0 else self._answer_without(step, given, place)
            answers = following
        return answers

    def _answer_without(self, step: Step, given: int, place: int) -> set[int]:
        key = (step, given, place)
        if key not in self._without:
            shown = frozenset(range(len(self._window.paragraphs))) - {place}
            self._without[key] = _answer(self._window, step, (given, *step.clues), shown)[0]
        return self._without[key]


def _answer(
    window: NamedWindow, step: Step, names: tuple[int, ...], shown: frozenset[int]
) -> tuple[set[int], int]:
    """The answers that the shown paragraphs leave open, and how many paragraphs the condition selects.

    A paragraph that only may meet the condition counts with all that it may answer, and with -1 for what nobody knows.
    """
    if step.quotation >= 0:
        held = [(place, who) for number, place, who in window.words if number == step.quotation and place in shown]
        if step.kind == "speaker" or not held:
            return {who for _, who in held}, len(held)
        return _hear(window, step.kind, *held[0], shown)
    if step.kind == "asked":
        places = _select(window, names, shown)
        told = [_holds(window.paragraphs[place], names, step.answer) for place in places]
        return {step.answer if one else -2 for one in told}, len(places)
    if step.kind in PAIRED:
        places = _select(window, names, shown)
        answers = {who for place in places for who in _read(window, place, names, step.kind)}
        return answers, len(places)
    if step.chapter:
        shown &= window.chapters.get(step.chapter, frozenset())
    if step.kind in HEARD:
        voicing = _find_voicing(window, step, names, shown)
        if not voicing:
            return set(), 0
        return _hear(window, step.kind, voicing[-step.final], names[0], shown)
    naming = _select(window, names[:1], shown)
    if step.kind == "teller":
        naming = [place for place in naming if names[0] in window.paragraphs[place].spoken]
    if not naming:
        return set(), 0
    if step.kind == "chapters":
        return _count(window.paragraphs, naming, names[0])
    if step.kind == "chapter":
        return _number(window.paragraphs, naming, names[0])
    place = naming[-step.final]
    if step.kind == "teller":
        voices = window.paragraphs[place].voices
        return (set(voices), 1) if len(voices) == 1 else ({*voices, -1, -2}, 1)
    return set(_read(window, place, names, "place" if step.kind == "where" else "companion")), 1


def _find_voicing(
    window: NamedWindow, step: Step, names: tuple[int, ...], shown: frozenset[int]
) -> Sequence[int]:
    """The shown paragraphs, of the step's chapter, that may name somebody as speaking."""
    if step.chapter:
        shown &= window.chapters.get(step.chapter, frozenset())
    return [place for place in window.list_voicing(names[0]) if place in shown]


def _count_in_chapter(window: NamedWindow, step: Step, names: tuple[int, ...]) -> int:
    """The paragraphs of a step's chapter that may name what it asks by; in spoken words, where it asks for these."""
    held = _select(window, names, window.chapters.get(step.chapter, frozenset()))
    return sum(step.kind != "teller" or names[0] in window.paragraphs[place].spoken for place in held)


def _speaks_surely(window: NamedWindow, step: Step, names: tuple[int, ...]) -> bool:
    """Whether nobody else may speak where a step takes somebody for the speaker. Without a paragraph the count takes
    whom a reader takes for the speaker, although a word of saying that is not known stands beside."""
    if step.kind == "voice":
        paragraph = window.paragraphs[step.places[0]]
        return read_only_voice(paragraph) == step.answer and paragraph.called.issuperset(names)
    place = step.places[-1]
    if step.kind == "teller":
        return read_teller(window.paragraphs[place], names[0]) == step.answer
    if step.kind not in HEARD:
        return True
    who = next((who for number, _, who in window.words if number == step.quotation), -1) if not names else names[0]
    if step.kind in MENTIONED:
        return read_mentioned(window, place, who, step.kind) == step.answer
    shown = window.chapters[step.chapter] if step.chapter else range(len(window.paragraphs))
    return step.answer != who and read_answering(window, place, who, sorted(shown)) == (step.places[0], step.answer)


def _select(window: NamedWindow, names: tuple[int, ...], shown: frozenset[int]) -> list[int]:
    """The shown paragraphs that may name all of these."""
    return [
        place for place in window.list_naming(names[0])
        if place in shown and set(names) <= window.paragraphs[place].possible
    ]  # fmt: skip


def _holds(paragraph: NamedParagraph, names: tuple[int, ...], answer: int) -> bool:
    """Whether a model can be asked about a paragraph: it surely names all of these, and the answer, if it is a name."""
    return paragraph.usable and set(names) <= paragraph.sure and (answer == FREE or answer in paragraph.sure)


def _read(window: NamedWindow, place: int, names: tuple[int, ...], kind: StepKind) -> set[int]:
    """What a paragraph may answer: -1 stands for somebody of whom nothing is known."""
    paragraph = window.paragraphs[place]
    unsure = {-1} if paragraph.unknown or not set(names) <= paragraph.sure else set()
    if kind == "voice":
        return set(paragraph.speakers) | unsure
    kinds = window.persons if kind == "companion" else window.places
    others = {who for who in paragraph.possible if who in kinds and who not in names}
    if (kind == "place" and paragraph.things) or (kind == "companion" and paragraph.unnamed):
        unsure.add(-1)
    if not others <= paragraph.sure:
        unsure.add(-1)
    return others | unsure


def _count(paragraphs: Sequence[NamedParagraph], naming: Sequence[int], entity: int) -> tuple[set[int], int]:
    """The numbers of chapters that the first and the last paragraph leave open: one that only may name somebody counts,
    and so does the next one."""
    answers: set[int] = set()
    for first in _list_ends(paragraphs, naming, entity):
        for last in _list_ends(paragraphs, naming[::-1], entity):
            before, after = paragraphs[first].chapter, paragraphs[last].chapter
            if before is None or after is None or before[0] != after[0]:
                return {-1, -2}, 1
            answers.add(after[1] - before[1] - 1)
    return answers, 1


def _number(paragraphs: Sequence[NamedParagraph], naming: Sequence[int], entity: int) -> tuple[set[int], int]:
    """The numbers of the chapters that may be the last to name an entity; several where a heading is not known."""
    numbers = {paragraphs[place].heading for place in _list_ends(paragraphs, naming[::-1], entity)}
    known = {number for number in numbers if number is not None}
    return (known, 1) if known == numbers else ({-1, -2}, 1)


def _hear(
    window: NamedWindow, kind: StepKind, place: int, speaker: int, shown: frozenset[int]
) -> tuple[set[int], int]:
    """Whom a speaker names in a paragraph, or who else may be the next to be named as speaking in the shown ones."""
    if kind in MENTIONED:
        paragraph = window.paragraphs[place]
        found = paragraph.spoken & (window.persons if kind == "mentioned" else window.places)
        more = paragraph.unnamed if kind == "mentioned" else paragraph.things
        unsure = more or -1 in paragraph.spoken or read_only_voice(paragraph) != speaker
        unsure = unsure or not found <= paragraph.sure & paragraph.called
        return set(found) | ({-1} if unsure else set()), 1
    following = find_other_voice(window, place, speaker, sorted(shown))
    if following is None:
        return set(), 0
    voices = window.paragraphs[following].voices
    return (set(voices), 1) if len(voices) == 1 else ({-1, -2}, 1)


def _list_ends(paragraphs: Sequence[NamedParagraph], naming: Sequence[int], entity: int) -> list[int]:
    """Those of the paragraphs that may be the first to name an entity: all up to the one that surely does."""
    sure = next((number for number, place in enumerate(naming) if entity in paragraphs[place].sure), len(naming))
    return list(naming[: sure + 1])


def _list_left(window: NamedWindow, step: Step, shown: frozenset[int]) -> set[int]:
    """The answers that stay open when nobody knows the answer before."""
    everybody = (window.persons | window.places) - set(step.clues)
    if step.kind == "asked":
        # Each paragraph has an answer of its own.
        return set(_select(window, step.clues, shown))
    if step.kind in PAIRED:
        places = _select(window, step.clues, shown)
        # Where few paragraphs are left, a rare name does what the answer before is for.
        if len(places) < FEWEST_LEFT:
            return set()
        return {who for place in places for who in _read(window, place, step.clues, step.kind)} - {-1}
    left: set[int] = set()
    for other in sorted(everybody):
        answers, _ = _answer(window, step, (other,), shown)
        left |= {who for who in answers if who >= 0}
        if len(left) >= MANY:
            break
    return left
