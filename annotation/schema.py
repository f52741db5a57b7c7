"""The names that the interfaces, the push and the pull share: kinds of tasks, controls, task data, gold, the ledger.

`annotation/interfaces/*.xml` must agree with this module; `tests/annotation/test_schema.py` sees to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field

from hopwright.errors import InputError
from hopwright.records import LABELS
from hopwright.records.base import Record


class ReviewTaskKind(StrEnum):
    """What a task asks about; also the interface's file name, the guidelines' and a project's kind."""

    SINGLE_HOP = "single_hop"
    MULTI_HOP = "multi_hop"
    TWIN = "twin"
    ADJUDICATION = "adjudication"


REVIEWED: tuple[ReviewTaskKind, ...] = (ReviewTaskKind.SINGLE_HOP, ReviewTaskKind.MULTI_HOP, ReviewTaskKind.TWIN)
"""The kinds that annotators review; the fourth is where their differences are settled."""

ITEM = "item"
"""The object tag that every control points to (`toName`)."""

VERDICT = "verdict"
Verdict = Literal["Retain", "Fix", "Discard"]
VERDICTS: tuple[Verdict, ...] = ("Retain", "Fix", "Discard")

CRITERIA: Mapping[ReviewTaskKind, tuple[str, ...]] = MappingProxyType(
    {
        ReviewTaskKind.SINGLE_HOP: ("factuality", "distractor_quality", "fluency"),
        ReviewTaskKind.MULTI_HOP: ("logical_integrity", "contextual_consistency", "obscurity", "fluency", "complexity"),
        ReviewTaskKind.TWIN: ("grammar", "novelty", "answerability"),
    }
)
"""Scores, 1–5 each (Omanic, appendix A; those of twins are ours). An adjudication asks for those of the
kind that it settles."""

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "verdict": "Verdict",
        "own_answer": "Own answer, given blind",
        "factuality": "Factuality",
        "distractor_quality": "Distractor quality",
        "fluency": "Fluency",
        "logical_integrity": "Logical integrity",
        "contextual_consistency": "Contextual consistency",
        "obscurity": "Obscurity, no leak",
        "complexity": "Complexity, domains",
        "grammar": "Grammar",
        "novelty": "New to the world",
        "answerability": "Answerable from the passages only",
    }
)
"""A criterion as tables and pages name it; the verdict and the own answer are rated alike."""

ERRORS_CONTROL = "errors"

FIX_QUESTION, FIX_ANSWER = "fix_question", "fix_answer"
FIX_OPTIONS: Mapping[str, str] = MappingProxyType({label: f"fix_option_{label.lower()}" for label in LABELS})
"""Option letter → its correction's control."""
FIXES: tuple[str, ...] = (FIX_QUESTION, FIX_ANSWER, *FIX_OPTIONS.values())
"""Corrections (TextArea). Pre-filled with today's text; the page sends them only with the verdict Fix, so a review
without one leaves that field as it is. On a single-hop task they are that hop's."""

COMPUTATION, SOURCE_URL, COMMENT = "computation", "source_url", "comment"
"""Free text (TextArea): the annotator's own computation, where it was looked up (one address a line), the rest.
An adjudication has only the last."""

PREFILLED = "as generated"
"""The `model_version` of the predictions that fill the corrections."""


BLIND = "blind"
"""The object tag of a task that is answered before it is verified: the question without its answer."""
BLIND_HTML = "blind_html"
"""The field of such a task's data that the tag shows; no other task has it."""

OWN_ANSWER, OWN_WORDS = "own_answer", "own_words"
"""What the annotator answers by himself: a choice, and a text where no option is what he would say."""
NO_OPTION = "None of these"
OWN_ANSWERS: tuple[str, ...] = (*LABELS, NO_OPTION)


class ShownReview(Record):
    """One reviewer's answers as an adjudicator sees them; `reviewer` is a pseudonym."""

    reviewer: str
    verdict: Verdict
    own_answer: str = ""
    """What was answered before the stated answer was shown; empty where nobody was asked."""
    scores: dict[str, int]
    errors: tuple[str, ...] = ()
    fixes: dict[str, str] = Field(default_factory=dict)
    """Only what differs from today's text, by control name."""
    computation: str = ""
    source_url: str = ""
    comment: str = ""


class GoldItem(Record):
    """The key of an attention check: a task whose fault we planted. Kept on our side only, never on the server.

    A reviewer caught it when the verdict is not Retain and a tag of `tags` is set, or a criterion of `criteria` is at
    most `ceiling`.
    """

    item_id: str
    """As the server knows it: looks like any other."""
    source: str
    """The item that the fault was planted in."""
    kind: ReviewTaskKind
    hop: int | None = None
    fault: Literal["wrong_answer", "leaked_answer", "wrong_computation", "true_distractor"]
    tags: tuple[str, ...]
    criteria: tuple[str, ...]
    ceiling: int = 3

    @property
    def key(self) -> str:
        """The task's key, as ledgers and pulls name it."""
        return task_key(self.item_id, self.hop)


class LedgerEntry(Record):
    """What we know of a task on a server: one line of `<run>/label-studio/ledger-<server>.jsonl`."""

    key: str
    kind: ReviewTaskKind
    project: int
    task: int
    item_hash: str
    overlap: int


def task_key(item_id: str, hop: int | None = None) -> str:
    """Names a task within its kind: the item's id, and the hop's index for single-hop tasks (`hw-12ab#3`)."""
    return item_id if hop is None else f"{item_id}#{hop}"


def split_key(key: str) -> tuple[str, int | None]:
    """The item's id and the hop's index of a task's key."""
    item_id, mark, hop = key.rpartition("#")
    return (item_id, int(hop)) if mark and hop.isdecimal() else (key, None)


def key_of(data: Mapping[str, Any]) -> str | None:
    """The key of a task's `data`; None when the task is not ours."""
    item_id, hop = data.get("item_id"), data.get("hop")
    return task_key(item_id, hop if isinstance(hop, int) else None) if isinstance(item_id, str) else None


def criteria_of(kind: ReviewTaskKind, of: ReviewTaskKind | None = None) -> tuple[str, ...]:
    """The scores of an interface; `of` is needed for adjudications. Raises InputError without it."""
    if kind is not ReviewTaskKind.ADJUDICATION:
        return CRITERIA[kind]
    if of is None or of not in CRITERIA:
        raise InputError("an adjudication settles single_hop, multi_hop or twin tasks: say which")
    return CRITERIA[of]
