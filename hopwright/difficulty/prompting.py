"""How models are asked for a vote and for an open answer, and how what they write is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from hopwright.difficulty.voters import ChosenOption, MissingVote, VoterQuestion
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Message
from hopwright.records import LABELS

Answering = Literal["letter", "reasoning"]
"""`letter`: the answer is read from the four letters' probabilities; `reasoning`: from the last line of a text."""

PROMPTS: dict[Answering, str] = {"letter": "vote", "reasoning": "vote-reasoning"}
OPEN_PROMPT = "vote-open"
_LAST_LINE = re.compile(r"^\W*answer:?\W*([ABCD])\W*$", re.IGNORECASE)
_ANY_ANSWER = re.compile(r"^\W*answer:?\W*([ABCD])\b", re.IGNORECASE | re.MULTILINE)


def word_choice(choice: VoterQuestion, answering: Answering) -> tuple[Message, ...]:
    """The turns that ask for a vote."""
    inputs = {"question": choice.question, "options": dict(zip(LABELS, choice.options, strict=True))}
    return load_prompts()[PROMPTS[answering]].render(inputs)


def word_question(question: str) -> tuple[Message, ...]:
    """The turns that ask for an open answer."""
    return load_prompts()[OPEN_PROMPT].render({"question": question})


def fold_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same turns with the system's put before the user's: not every model's chat template knows a system turn."""
    head = "\n\n".join(message.content for message in messages if message.role == "system")
    rest = [message for message in messages if message.role != "system"]
    if not head or not rest:
        return tuple(rest or messages)
    return (Message(rest[0].role, f"{head}\n\n{rest[0].content}"), *rest[1:])


def read_reasoning(text: str) -> ChosenOption | MissingVote:
    """The option that a text ends on. Strict: the last line names one letter, and no line before it names another."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    found = _LAST_LINE.match(lines[-1]) if lines else None
    if found is None:
        return MissingVote("unparsable", f"the text does not end with a line `Answer: LETTER` (it ends {text[-60:]!r})")
    named = {letter.upper() for letter in _ANY_ANSWER.findall(text)}
    if len(named) > 1:
        return MissingVote("unparsable", f"the text names several answers: {', '.join(sorted(named))}")
    return ChosenOption(LABELS.index(found[1].upper()))


def read_open_answer(text: str) -> str:
    """An open answer without the space and the quotation marks around its first line."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[0].removeprefix("Answer:").strip().strip("\"'“”") if lines else ""
