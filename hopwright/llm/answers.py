"""What models are asked to fill in: the output schemas of the shipped prompts."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Output(BaseModel):
    model_config = ConfigDict(extra="forbid")


class WordedHop(_Output):
    """One hop in words: its sub-question, its facts as running text, and wrong options where they are asked for."""

    index: int = Field(ge=1, le=8)
    question: str = Field(min_length=8, max_length=400)
    context: str = Field(max_length=600)
    distractors: list[str] = Field(default=[], max_length=3)


class WordedItem(_Output):
    """A plan in words: every hop, and the one question that needs all of them, its words marked by hop.

    `objection` says why the plan should not be asked at all; the texts are then of no matter.
    """

    sub_questions: list[WordedHop] = Field(min_length=2, max_length=8)
    question: str = Field(min_length=20, max_length=1600)
    objection: Literal["", "unnatural", "ambiguous", "not_unique", "false"] = ""
    objection_reason: str = Field(default="", max_length=400)


class WordedPictureQuestion(_Output):
    """A question about pictures in a model's words."""

    question: str = Field(min_length=8, max_length=400)


class ReadStep(_Output):
    """One step that a question asks for, as a reader of its words alone sees it."""

    number: int = Field(ge=1, le=30)
    uses: list[int] = Field(default=[], max_length=10)
    names: list[str] = Field(default=[], max_length=20)
    relation: str = Field(default="", max_length=200)
    gives: Literal[
        "person", "place", "work", "organization", "year", "date", "age", "duration", "count", "number", "other"
    ]
    direction: Literal["", "first", "last", "larger", "smaller", "before", "after"] = ""
    numbers: list[str] = Field(default=[], max_length=10)
    negated: bool = False


class ReadTie(_Output):
    """Something that a question tells without asking for it: that George Tomasini edited a film."""

    names: list[str] = Field(max_length=10)
    relation: str = Field(max_length=200)


class ReadQuestion(_Output):
    """A question taken apart by its words alone."""

    steps: list[ReadStep] = Field(min_length=1, max_length=20)
    told: list[ReadTie] = Field(default=[], max_length=10)
    rounding: str = Field(default="", max_length=100)


class AnsweredBack(_Output):
    """The answer to a question from given facts; empty where these do not give it."""

    working: str = Field(default="", max_length=1200)
    answer: str = Field(default="", max_length=300)


class Translation(_Output):
    """A text in the other language, names left as they are."""

    text: str = Field(min_length=1, max_length=4000)


class AskedParagraphs(_Output):
    """One question over all given paragraphs, and its answer as one of them has it."""

    question: str = Field(min_length=10, max_length=600)
    answer: str = Field(min_length=1, max_length=120)


class AskedHop(_Output):
    """A question that one paragraph answers, and the answer as the paragraph has it."""

    question: str = Field(min_length=10, max_length=400)
    answer: str = Field(min_length=1, max_length=120)


class AskedChain(_Output):
    """A question about each of several paragraphs, and the one question that leads through all of them.

    `objection` says why no good question can be asked; the others are then empty.
    """

    hops: list[AskedHop] = Field(default=[], max_length=4)
    question: str = Field(default="", max_length=1200)
    objection: str = Field(default="", max_length=300)


class ReadFact(_Output):
    """Which sentences, by number, state a fact, by number, and in which words. The numbers are held against what was
    asked, and the words against the text, by the caller."""

    fact: int = Field(ge=1, le=100)
    first: int = Field(ge=1, le=10_000)
    last: int = Field(ge=1, le=10_000)
    words: str = Field(max_length=400)


class ReadFacts(_Output):
    """Every place of a text that states one of the given facts; none where it states none."""

    readings: list[ReadFact] = Field(default=[], max_length=200)


class AtomicQuestion(_Output):
    """A question that one passage answers, the thing that it asks about as it names it, and the answer as a span."""

    question: str = Field(min_length=8, max_length=400)
    entity: str = Field(min_length=1, max_length=200)
    answer: str = Field(min_length=1, max_length=400)


class AtomicQuestions(_Output):
    """Some questions about one passage; none where it gives none. How many there may be is counted by the caller."""

    questions: list[AtomicQuestion] = Field(default=[], max_length=40)


class MergedQuestion(_Output):
    """One question in the place of two; of a comparison the answer is one of the two things that it compares.

    `objection` says why the two make no good question; the others are then of no matter.
    """

    question: str = Field(default="", max_length=1200)
    answer: str = Field(default="", max_length=400)
    objection: str = Field(default="", max_length=300)


BEST_SCORE = 2
"""The score of an answer that means the right one."""


class GradedAnswer(_Output):
    """How far an answer means the right one: 0 not at all, 1 in part, 2 wholly."""

    score: int = Field(ge=0, le=BEST_SCORE)
    reason: str = Field(default="", max_length=300)


class ListedName(_Output):
    """A name as it stands in a text, and what it names."""

    name: str = Field(min_length=1, max_length=80)
    kind: Literal["person", "place", "other"]


class ListedNames(_Output):
    """The names in some paragraphs."""

    names: list[ListedName] = Field(default=[], max_length=200)


class NamedKeyword(_Output):
    """A keyword of a paragraph."""

    keyword: str = Field(min_length=2, max_length=60)


class JudgedAnswer(_Output):
    """Whether a free answer means the gold one."""

    same: bool
    reason: str = Field(max_length=300)


class WordedPassage(_Output):
    """A short passage in a model's words."""

    text: str = Field(min_length=10, max_length=4000)


class JudgedEntailment(_Output):
    """Whether two texts say the same, each way round."""

    original_entails_reworded: bool
    reworded_entails_original: bool
    fluent: bool
    problem: str = Field(max_length=500)


class PassageHop(_Output):
    """A single-step question about a passage, and its answer in the passage's own words."""

    question: str = Field(min_length=8, max_length=400)
    answer: str = Field(min_length=1, max_length=200)


class PassageQuestion(_Output):
    """A question of several steps about one passage."""

    sub_questions: list[PassageHop] = Field(min_length=2, max_length=8)
    question: str = Field(min_length=20, max_length=1200)


class ProposedClaim(_Output):
    """A number that no knowledge graph is likely to hold, with its source.

    What is wrong with one is said later, so that it does not take the others of the answer with it.
    """

    statement: str = Field(default="", max_length=400)
    phrase: str = Field(default="", max_length=200)
    value: str = Field(default="", max_length=40)
    unit: str = Field(default="", max_length=60)
    source_title: str = Field(default="", max_length=300)
    source_url: str = Field(default="", max_length=600)
    names: list[str] = Field(default=[], max_length=12)


class ProposedClaims(_Output):
    """Some claims of one domain."""

    claims: list[ProposedClaim] = Field(max_length=20)
