"""What an expert said of an item: one record per annotation, without the annotator's name."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from hopwright.records.base import Record

ReviewKind = Literal["single_hop", "multi_hop", "twin", "adjudication"]
ReviewVerdict = Literal["Retain", "Fix", "Discard"]
OwnAnswer = Literal["A", "B", "C", "D", "None of these"]


class Score(Record):
    """One criterion's score, 1 (worst) to 5 (Omanic, appendix A)."""

    criterion: str
    value: int = Field(ge=1, le=5)


class Correction(Record):
    """One field as it should read, by the name of its control."""

    field: str
    text: str


class Review(Record):
    """One annotation. `of` is the kind that an adjudication settles; `hop` counts from 1, on single-hop tasks only.

    `annotator` is a pseudonym, the same for the same person within one run's reviews. Times are ISO 8601 in UTC, as
    the server states them; `seconds` is the time spent, where the server knows it. A skipped task has no verdict.
    `own_answer` is what the annotator chose before the page showed the answer, on tasks that ask for it; `own_words` is
    an answer that no option gives.
    """

    item_id: str
    kind: ReviewKind
    of: ReviewKind | None = None
    hop: int | None = Field(default=None, ge=1, le=8)
    item_hash: str
    annotator: str
    project: int
    task: int
    annotation: int
    created: str
    updated: str
    seconds: float | None = Field(default=None, ge=0)
    skipped: bool = False
    verdict: ReviewVerdict | None = None
    scores: tuple[Score, ...] = ()
    errors: tuple[str, ...] = ()
    corrections: tuple[Correction, ...] = ()
    computation: str = ""
    source_url: str = ""
    comment: str = ""
    own_answer: OwnAnswer | None = None
    own_words: str = ""

    @property
    def settles(self) -> ReviewKind:
        """The kind of task that the review is about: an adjudication is about the one that it settles."""
        return self.of or self.kind

    @property
    def key(self) -> tuple[str, int, int]:
        """Tells an annotation from all others: servers count theirs alike, but a pseudonym is of one server."""
        return self.annotator, self.project, self.annotation

    @property
    def unit(self) -> tuple[str, ReviewKind, int | None]:
        """What was judged: item, kind, hop. Reviews of one unit are comparable."""
        return self.item_id, self.settles, self.hop
