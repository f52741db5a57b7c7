"""The wording of chains over a window of a novel, by rule.

A chain of one or two hops is one question, the second hop naming the first one's answer by a noun phrase. A longer one
first says whom its earlier hops lead to, and asks about that person. The names that are known stand before the noun
phrase, so that the sentence branches to the right.
"""

from __future__ import annotations

import random
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


_QUESTIONS: Mapping[StepKind, tuple[str, ...]] = {
    "speaker": ("who says, {quoted}?", "who is it that says, {quoted}?", "whose words are {quoted}?"),
    "companion": (
        "who is the only {other}person named in the one paragraph that names {names}?",
        "which {other}person is named in the only paragraph that names {names}?",
        "who{else_} is named in the only paragraph that names {names}?",
    ),
    "place": (
        "which place is named in the only paragraph that names {names}?",
        "what is the one place named in the only paragraph that names {names}?",
    ),
    "voice": (
        "who is named as the speaker in the only paragraph that names {names}?",
        "which speaker is named as such in the only paragraph that names {names}?",
        "who is said to speak in the only paragraph that names {names}?",
    ),
    "first": (
        "who is the only {other}person named in the first paragraph that names {names}?",
        "which {other}person is named in the first paragraph that names {names}?",
    ),
    "last": (
        "who is the only {other}person named in the last paragraph that names {names}?",
        "which {other}person is named in the last paragraph that names {names}?",
    ),
    "next": (
        "who is the next person named after the last mention of {names}?",
        "which person is the next to be named after {names} is named for the last time?",
    ),
    "chapters": (
        "how many chapters lie strictly between the first and the last chapter that name {names}?",
        "how many chapters come between the first chapter that names {names} and the last one that does so?",
    ),
}
_PHRASES: Mapping[StepKind, str] = {
    "speaker": "the person who says {quoted}",
    "companion": "the only {other}person named in the one paragraph that names {names}",
    "place": "the one place named in the only paragraph that names {names}",
    "voice": "the person named as the speaker in the only paragraph that names {names}",
    "first": "the only {other}person named in the first paragraph that names {names}",
    "last": "the only {other}person named in the last paragraph that names {names}",
    "next": "the next person named after the last mention of {names}",
}
_STATEMENTS: Mapping[StepKind, tuple[tuple[str, str], ...]] = {
    "companion": (
        ("only one paragraph names {names}, and it names one {other}person", "that {other}person"),
        ("the only paragraph that names {names} also names one {other}person", "that {other}person"),
    ),
    "place": (
        ("only one paragraph names {names}, and it names one place", "that place"),
        ("the only paragraph that names {names} also names one place", "that place"),
    ),
    "voice": (
        ("only one paragraph names {names}, and it has one named speaker", "that speaker"),
        ("the only paragraph that names {names} has one named speaker", "that speaker"),
    ),
    "first": (
        ("the first paragraph that names {names} also names one {other}person", "that {other}person"),
    ),
    "last": (
        ("the last paragraph that names {names} also names one {other}person", "that {other}person"),
    ),
    "next": (
        ("after the last mention of {names}, one person is the next to be named", "that next person"),
    ),
}
"""What a hop leads to, as a statement, and how the rest speaks of it."""
_LONG = " that "
"""What phrases have and names do not."""
_OPENINGS = ("In this excerpt, ", "In the excerpt, ")


def word_chain(steps: Sequence[NamedStep], answers: Sequence[Given], key: str) -> WordedChain:
    """The question of a chain, drawn by `key`; `answers` names the answer of every hop but the last."""
    rng = random.Random(f"{key}:wording")
    if len(steps) == 1:
        question = _open(_ask(steps[0], None, rng), rng)
        return WordedChain(question, (question,))
    hops: list[str] = []
    for number, step in enumerate(steps):
        given = answers[number - 1] if step.step.follows else None
        hops.append(_open(_ask(step, given, rng), rng))
    given = None
    parts: list[str] = []
    last = len(steps) - 1
    for number, step in enumerate(steps[:-1]):
        # Of three hops the second is told, of four the second: what follows it goes on from there.
        if number == 1 and last >= 2:
            statement, name = rng.choice(_STATEMENTS[step.kind])
            parts.append(_fill(statement, step, given))
            given = Given(_fill(name, step, given), answers[number].kind)
        else:
            given = Given(_fill(_PHRASES[step.kind], step, given), answers[number].kind)
    question = _ask(steps[-1], given, rng)
    whole = f"{parts[0]}; {question}" if parts else question
    return WordedChain(_open(whole, rng), tuple(hops))


def quote_words(text: str) -> str:
    """Words as a question quotes them: in one line, without marks of emphasis and the full stop at the end."""
    plain = " ".join(text.replace("_", "").split())
    plain = plain[:-1] if plain.endswith(".") and not plain.endswith("..") else plain
    return f"“{plain}”"


def _open(text: str, rng: random.Random) -> str:
    return rng.choice(_OPENINGS) + text


def _ask(step: NamedStep, given: Given | None, rng: random.Random) -> str:
    frames = _QUESTIONS[step.kind]
    if given is not None and _LONG in given.words:
        # Nothing may follow a long phrase but the question's end.
        frames = tuple(frame for frame in frames if frame.endswith("{names}?")) or frames
    return _fill(rng.choice(frames), step, given)


def _fill(frame: str, step: NamedStep, given: Given | None) -> str:
    named = [*step.clues, *([(given.words, given.kind)] if given else [])]
    beside = any(kind == "person" for _, kind in named)
    text = frame.format(
        quoted=step.quoted,
        names=_join([name for name, _ in named]),
        other="other " if beside else "",
        else_=" else" if beside else "",
    )
    # A quoted question asks for both.
    return text.replace("?”?", "?”")


def _join(words: Sequence[str]) -> str:
    """The names as a list; a long phrase at its end is set apart."""
    if len(words) == 3 and _LONG in words[2]:
        return f"both {words[0]} and {words[1]} as well as {words[2]}"
    if len(words) < 3:
        return f"both {words[0]} and {words[1]}" if len(words) == 2 else "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
