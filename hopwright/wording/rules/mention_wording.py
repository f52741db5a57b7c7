"""The wording of chains over a window of a novel, by rule.

Every hop but the last is told in a sentence of its own, which begins with what is known: the next one speaks of "that
person", "that second person" or "that third person", or of "that speaker" and "that place", so that a listener can keep
apart who is meant. A paragraph *names* somebody, and says who is *the speaker*: people without a name, and words
after which "he said" stands, do not count, and no sentence claims that they do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hopwright.planning.mention_steps import Step, StepKind

Kind = Literal["person", "place"]


@dataclass(frozen=True, slots=True)
class NamedStep:
    """A step with the names of its clues, whether each is a person's, and the words that it quotes."""

    step: Step
    clues: tuple[tuple[str, Kind], ...]
    quoted: str = ""
    volume: str = ""
    """That of the step's chapter, where the book has volumes."""

    @property
    def kind(self) -> StepKind:
        """The step's kind."""
        return self.step.kind


@dataclass(frozen=True, slots=True)
class Given:
    """How a question names the answer before: a name, a noun phrase, or "that person"."""

    words: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class WordedChain:
    """A question, and the question of each hop, which names the answers before it."""

    question: str
    hops: tuple[str, ...]


_QUESTIONS: Mapping[StepKind, str] = {
    "speaker": "who says {quoted} in this excerpt?",
    "reply": "after the words {quoted} in this excerpt, who is the next speaker to be named, other than whoever says"
    " them?",
    "mentioned": "in {where}, whose name does {name} say when {end} named as the speaker?",
    "site": "in {where}, which place does {name} mention when {end} named as the speaker?",
    "answered": "in {where}, after {name} is {end} named as the speaker, who is the next other speaker to be named?",
    "teller": "in {where}, who is the {end} to say the name of {name}?",
    "first": "who{else_} is named in the paragraph where {where} {end} names {name}?",
    "last": "who{else_} is named in the paragraph where {where} {end} names {name}?",
    "where": "which place is named in the paragraph where {where} {end} names {name}?",
    "companion": "who{else_} is named in the one paragraph of {where} that names {names}?",
    "place": "which place is named in the one paragraph of {where} that names {names}?",
    "voice": "in {where}, who says the names of {names} in a single paragraph?",
    "chapters": "how many whole chapters lie between the first and the last one in which {where} names {name}?",
    "chapter": "in which chapter does {where} name {name} for the last time?",
}
"""Questions that stand alone, and may end a chain."""
_STATEMENTS: Mapping[StepKind, str] = {
    "speaker": "somebody in {where} says, {quoted}",
    "reply": "after the words {quoted} in {where}, {found}, other than whoever says them, is the next to be named",
    "mentioned": "in {where}, {name} says the name of {found} when {end} named as the speaker",
    "site": "in {where}, {name} mentions {found} when {end} named as the speaker",
    "answered": "in {where}, after {name} is {end} named as the speaker, {found} is the next other one to be named",
    "teller": "in {where}, {found} is the {end} to say the name of {name}",
    "first": "the paragraph where {where} {end} names {name} names {found}",
    "last": "the paragraph where {where} {end} names {name} names {found}",
    "where": "the paragraph where {where} {end} names {name} names {found}",
    "companion": "only one paragraph of {where} names {names}, and with them {found}",
    "place": "only one paragraph of {where} names {names}, and with them {found}",
    "voice": "in {where}, only {found} says the names of {names} in a single paragraph",
}
"""What a hop leads to, as a sentence of its own; the next one speaks of that person, place or speaker."""
_QUOTING: Mapping[StepKind, tuple[str, str]] = {
    "mentioned": (
        "in {where}, whose name does the speaker of the words {quoted} say in the same paragraph?",
        "in {where}, the speaker of the words {quoted} says the name of {found} in the same paragraph",
    ),
    "site": (
        "in {where}, which place does the speaker of the words {quoted} mention in the same paragraph?",
        "in {where}, the speaker of the words {quoted} mentions {found} in the same paragraph",
    ),
}
"""Question and statement where spoken words say which paragraph is meant."""
_NOUNS: Mapping[StepKind, str] = {
    "speaker": "speaker", "reply": "speaker", "answered": "speaker", "teller": "speaker", "voice": "speaker",
    "place": "place", "where": "place", "site": "place",
}  # fmt: skip
_FOUND = ("one {other}{noun}", "a second {noun}", "a third {noun}")
_ORDER = ("that {noun}", "that second {noun}", "that third {noun}")


def word_chain(steps: Sequence[NamedStep], answers: Sequence[Given]) -> WordedChain:
    """The question of a chain; `answers` names the answer of every hop but the last."""
    hops: list[str] = []
    for number, step in enumerate(steps):
        given = answers[number - 1] if step.step.follows and number else None
        hops.append(_raise(_fill(_pick_frames(step)[0], step, given)))
    given = None
    told: list[str] = []
    spoken_of: Counter[str] = Counter()
    for step, answer in zip(steps[:-1], answers, strict=False):
        # Whoever speaks is a person, too: "that second person" is told apart from that speaker.
        noun = _NOUNS.get(step.kind, "person")
        # Whose name a speaker says is another one.
        other = "other " if noun == "person" and (_names_person(step, given) or step.quoted) else ""
        found = _FOUND[spoken_of[noun]].format(noun=noun, other=other)
        told.append(_end(_fill(_pick_frames(step)[1], step, given, found)))
        given = Given(_ORDER[spoken_of[noun]].format(noun=noun), answer.kind)
        spoken_of[noun] += 1
    told.append(_fill(_pick_frames(steps[-1])[0], steps[-1], given))
    return WordedChain(" ".join(_raise(one) for one in told), tuple(hops))


def _raise(text: str) -> str:
    return text[0].upper() + text[1:]


def _end(text: str) -> str:
    """A sentence with its mark; quoted words that end it have theirs inside."""
    if not text.endswith("”"):
        return f"{text}."
    return text if text[-2] in ".?!" else f"{text[:-1]}.”"


def quote_words(text: str) -> str:
    """Words as a question quotes them: in one line, without marks of emphasis and the full stop at the end."""
    plain = " ".join(text.replace("_", "").split())
    plain = plain[:-1] if plain.endswith(".") and not plain.endswith("..") else plain
    return f"“{plain}”"


def _pick_frames(step: NamedStep) -> tuple[str, str]:
    """The question of a step, and its statement; nothing follows a number."""
    if step.step.quotation >= 0 and step.kind in _QUOTING:
        return _QUOTING[step.kind]
    return _QUESTIONS[step.kind], _STATEMENTS.get(step.kind, "")


def _fill(frame: str, step: NamedStep, given: Given | None, found: str = "") -> str:
    chapter = f"{step.volume}, " * bool(step.volume) + f"Chapter {step.step.chapter}" if step.step.chapter else ""
    names = [*([given.words] if given else []), *(name for name, _ in step.clues)]
    text = frame.format(
        quoted=step.quoted, name=names[0] if names else "", names=_join(names) if len(names) > 1 else "", found=found,
        where=chapter or "this excerpt", end="last" if step.step.final else "first",
        else_=" else" if _names_person(step, given) else "",
    )  # fmt: skip
    # A quoted question asks for both.
    return text.replace("?”?", "?”")


def _names_person(step: NamedStep, given: Given | None) -> bool:
    """Whether a person is among the names by which a hop asks: what is found is another one then."""
    return any(kind == "person" for kind in (*(kind for _, kind in step.clues), *([given.kind] if given else [])))


def _join(words: Sequence[str]) -> str:
    """The names as a list of all that a paragraph has to name."""
    return f"both {words[0]} and {words[1]}" if len(words) == 2 else f"{', '.join(words[:-1])} and {words[-1]}"
