"""The wording of chains over a window of a novel, by rule.

Every hop but the last is told in a sentence of its own, which begins with what is known: the next one speaks of "that
person", "that second person" or "that third person", or of "that speaker" and "that place", so that a listener can keep
apart who is meant. Who says some words is told first, or named by a phrase where one more hop follows. A paragraph
*names* somebody: people without a name, as servants and aunts, are not spoken of.
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
    "speaker": ("who says, {quoted}?", "who is it that says, {quoted}?"),
    "companion": ("who{else_} is named in the only paragraph that names {names}?",),
    "place": ("which place is named in the only paragraph that names {names}?",),
    "voice": ("who is named as the speaker in the only paragraph that names {names}?",),
    "first": ("who{else_} is named in the first paragraph that names {names}?",),
    "last": ("who{else_} is named in the last paragraph that names {names}?",),
    "next": ("after {names} is named for the last time, who is the next person to be named?",),
    "heard": ("who{else_} is named in the last paragraph in which {names} is named as speaking?",),
    "answered": ("after {names} is named as speaking for the last time, who is the next person to be so named?",),
    "chapters": ("how many whole chapters lie between the first and the last paragraph that names {names}?",),
    "chapter": ("what is the number of the chapter in which {names} is named for the last time?",),
}
"""Questions that stand alone, and may end a chain."""
_GIVEN: Mapping[StepKind, tuple[str, ...]] = {
    "companion": (
        "{list} are named together in only one paragraph: who else is named there?",
        "who else is named in the only paragraph that names {given} together with {clues}?",
    ),
    "place": (
        "{list} are named together in only one paragraph: which place is named there?",
        "which place is named in the only paragraph that names {given} together with {clues}?",
    ),
    "voice": (
        "{list} are named together in only one paragraph: who is named as the speaker there?",
        "who is named as the speaker in the only paragraph that names {given} together with {clues}?",
    ),
}
"""The last sentence of a chain where the answer before is one of several names."""
_STATEMENTS: Mapping[StepKind, str] = {
    "companion": "{list} are named together in only one paragraph, which names {found}",
    "place": "{list} are named together in only one paragraph, which names {found}",
    "voice": "{list} are named together in only one paragraph, which names {found}",
    "first": "the first paragraph that names {list} names {found}",
    "last": "the last paragraph that names {list} names {found}",
    "next": "after {list} is named for the last time, {found} is the next to be named",
    "heard": "the last paragraph in which {list} is named as speaking names {found}",
    "answered": "after {list} is named as speaking for the last time, {found} is the next to be so named",
}
"""What a hop leads to, as a sentence of its own; the next one speaks of that person, place or speaker."""
_NOUNS: Mapping[StepKind, str] = {"place": "place", "voice": "speaker"}
_FOUND = ("one {other}{noun}", "a second {noun}", "a third {noun}")
_ORDER = ("that {noun}", "that second {noun}", "that third {noun}")
_OPENINGS = ("In this excerpt, ", "In the excerpt, ")
_SPEAKS = "somebody in this excerpt says, {quoted}"


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
        # Whoever says some words is a person, too: "that second person" is told apart from that speaker.
        noun = "speaker" if step.kind == "speaker" else _NOUNS.get(step.kind, "person")
        if step.kind == "speaker":
            told.append(_SPEAKS.format(quoted=_close(step.quoted)))
        else:
            other = "other " if noun == "person" and _names_person(step, given) else ""
            found = _FOUND[spoken_of[noun]].format(noun=noun, other=other)
            told.append(_fill(_STATEMENTS[step.kind].replace("{found}", found), step, given))
        given = Given(_ORDER[spoken_of[noun]].format(noun=noun), answer.kind)
        spoken_of[noun] += 1
    told.append(_ask_last(steps[-1], given, rng))
    first = told[0] if steps[0].kind == "speaker" else _open(told[0], rng)
    return WordedChain(" ".join(_end(_raise(one)) for one in (first, *told[1:])), tuple(hops))


def _raise(text: str) -> str:
    return text[0].upper() + text[1:]


def _end(text: str) -> str:
    """A sentence with its mark; one that ends with quoted words has it already."""
    return text if text.endswith(("?", ".”", "!”", "?”")) else f"{text}."


def _close(quoted: str) -> str:
    """Quoted words that end a sentence."""
    return quoted if quoted[-2] in ".?!" else f"{quoted[:-1]}.”"


def quote_words(text: str) -> str:
    """Words as a question quotes them: in one line, without marks of emphasis and the full stop at the end."""
    plain = " ".join(text.replace("_", "").split())
    plain = plain[:-1] if plain.endswith(".") and not plain.endswith("..") else plain
    return f"“{plain}”"


def _open(text: str, rng: random.Random) -> str:
    return rng.choice(_OPENINGS) + text


def _ask(step: NamedStep, given: Given | None, rng: random.Random) -> str:
    return _fill(rng.choice(_QUESTIONS[step.kind]), step, given)


def _ask_last(step: NamedStep, given: Given | None, rng: random.Random) -> str:
    frames = _GIVEN.get(step.kind) if given is not None and step.clues else None
    return _fill(rng.choice(frames or _QUESTIONS[step.kind]), step, given)


def _fill(frame: str, step: NamedStep, given: Given | None) -> str:
    clues = [name for name, _ in step.clues]
    names = [*([given.words] if given else []), *clues]
    text = frame.format(
        quoted=step.quoted,
        names=_join(names),
        list=_list(names),
        clues=_list(clues),
        given=given.words if given else "",
        else_=" else" if _names_person(step, given) else "",
    )
    # A quoted question asks for both.
    return text.replace("?”?", "?”")


def _names_person(step: NamedStep, given: Given | None) -> bool:
    """Whether a person is among the names by which a hop asks: what is found is another one then."""
    return any(kind == "person" for kind in (*(kind for _, kind in step.clues), *([given.kind] if given else [])))


def _list(words: Sequence[str]) -> str:
    """The names as a plain list."""
    return " and ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])} and {words[-1]}"


def _join(words: Sequence[str]) -> str:
    """The names as a list of all that a paragraph has to name."""
    return f"both {words[0]} and {words[1]}" if len(words) == 2 else _list(words)
