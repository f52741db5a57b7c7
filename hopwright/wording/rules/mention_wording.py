"""The wording of chains over a window of a novel, by rule.

Every hop but the last is told in a sentence of its own, and the next one speaks of "that person", "that other person"
or "that third person"; phrases within phrases are read by nobody. Only who says some words is named by a phrase. The
names that are known stand before it, so that the sentence branches to the right.
"""

from __future__ import annotations

import random
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
        "who{else_} is mentioned in the only paragraph that mentions {names}?",
        "which {other}person is mentioned in the only paragraph that mentions {names}?",
    ),
    "place": (
        "which place is mentioned in the only paragraph that mentions {names}?",
        "what is the name of the place mentioned in the only paragraph that mentions {names}?",
    ),
    "voice": ("who is named as the speaker in the only paragraph that mentions {names}?",),
    "first": (
        "who{else_} is mentioned in the first paragraph that mentions {names}?",
        "which {other}person is mentioned in the first paragraph that mentions {names}?",
    ),
    "last": (
        "who{else_} is mentioned in the last paragraph that mentions {names}?",
        "which {other}person is mentioned in the last paragraph that mentions {names}?",
    ),
    "next": (
        "who is the next person to be mentioned after the last mention of {names}?",
        "which person is the first to be mentioned after the last mention of {names}?",
    ),
    "chapters": ("how many full chapters lie between the first and the last mention of {names}?",),
}
_STATEMENTS: Mapping[StepKind, tuple[str, ...]] = {
    "companion": (
        "only one paragraph mentions {names}, and it mentions {found}",
        "the only paragraph that mentions {names} mentions {found}",
    ),
    "place": (
        "only one paragraph mentions {names}, and it mentions {found}",
        "the only paragraph that mentions {names} mentions {found}",
    ),
    "voice": (
        "only one paragraph mentions {names}, and it names {found}",
        "the only paragraph that mentions {names} names {found}",
    ),
    "first": ("the first paragraph that mentions {names} mentions {found}",),
    "last": ("the last paragraph that mentions {names} mentions {found}",),
    "next": ("after the last mention of {names}, {found} is the next to be mentioned",),
}
"""What a hop leads to, as a sentence of its own; the next one speaks of that person, place or speaker."""
_NOUNS: Mapping[StepKind, str] = {"place": "place", "voice": "speaker"}
_FOUND = ("one {other}{noun}", "one other {noun}", "a third {noun}")
_ORDER = ("that {noun}", "that other {noun}", "that third {noun}")
_SPEAKER = "the person who says {quoted}"
_LONG = " who says "
"""What the phrase for a speaker has and names do not."""
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
    told: list[str] = []
    spoken_of: Counter[str] = Counter()
    for step, answer in zip(steps[:-1], answers, strict=False):
        if step.kind == "speaker":
            given = Given(_SPEAKER.format(quoted=step.quoted), answer.kind)
            continue
        noun = _NOUNS.get(step.kind, "person")
        # Only persons are named beside others of their kind.
        found = _FOUND[spoken_of[noun]].format(noun=noun, other="{other}" if noun == "person" else "")
        told.append(_fill(rng.choice(_STATEMENTS[step.kind]).replace("{found}", found), step, given))
        given = Given(_ORDER[spoken_of[noun]].format(noun=noun), answer.kind)
        spoken_of[noun] += 1
    told.append(_ask(steps[-1], given, rng))
    sentences = [_open(told[0], rng), *(one[0].upper() + one[1:] for one in told[1:])]
    return WordedChain(". ".join(sentences), tuple(hops))


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
    if given is not None and "other" in given.words:
        # "Which other person … that other person" speaks of two others.
        frames = tuple(frame for frame in frames if "{other}" not in frame) or frames
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
