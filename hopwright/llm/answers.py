"""What models are asked to fill in: the output schemas of the shipped prompts."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Output(BaseModel):
    model_config = ConfigDict(extra="forbid")


class WordedHop(_Output):
    """One hop in words: its sub-question, its facts as running text, and wrong options for it."""

    index: int = Field(ge=1, le=8)
    question: str = Field(min_length=8, max_length=400)
    context: str = Field(max_length=600)
    distractors: list[str] = Field(max_length=3)


class WordedItem(_Output):
    """A plan in words: every hop, and the one question that needs all of them."""

    sub_questions: list[WordedHop] = Field(min_length=2, max_length=8)
    question: str = Field(min_length=20, max_length=1200)


class Translation(_Output):
    """A text in the other language, names left as they are."""

    text: str = Field(min_length=1, max_length=4000)


class JudgedItem(_Output):
    """One reader's verdict on an item's wording."""

    fluent: bool
    complete: bool
    leaks_answer: bool
    problem: str = Field(max_length=500)
    score: Literal[1, 2, 3, 4, 5]


class JudgedAnswer(_Output):
    """Whether a free answer means the gold one."""

    same: bool
    reason: str = Field(max_length=300)
