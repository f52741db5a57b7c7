"""A tiny builder of reviews, and of annotations as Label Studio sends them."""

from __future__ import annotations

from typing import Any

from annotation.schema import CRITERIA, ReviewTaskKind
from hopwright.records import Review, Score

WHEN = "2026-03-02T09:00:00.000000Z"


def make_review(
    item_id: str = "hw-1", kind: str = "multi_hop", hop: int | None = None, annotator: str = "a-1", **changes: Any
) -> Review:
    """A review that retains with fives, but for what is changed."""
    kind_of = ReviewTaskKind(changes.get("of") or kind)
    values: dict[str, Any] = {
        "item_id": item_id, "kind": kind, "hop": hop, "item_hash": "h", "annotator": annotator, "project": 1, "task": 1,
        "annotation": 1, "created": WHEN, "updated": WHEN, "seconds": 60.0, "verdict": "Retain",
        "scores": tuple(Score(criterion=name, value=5) for name in CRITERIA[kind_of]),
    }  # fmt: skip
    return Review(**{**values, **changes})


def scores(kind: str, *values: int) -> tuple[Score, ...]:
    """Scores of a kind's criteria, in their order."""
    return tuple(
        Score(criterion=name, value=value) for name, value in zip(CRITERIA[ReviewTaskKind(kind)], values, strict=True)
    )


def choose(name: str, *choices: str) -> dict[str, Any]:
    """An answer of choices."""
    return _answer(name, "choices", {"choices": list(choices)})


def rate(name: str, score: Any) -> dict[str, Any]:
    """A score, one of five choices."""
    return choose(name, str(score))


def write(name: str, *texts: str) -> dict[str, Any]:
    """An answer in words."""
    return _answer(name, "textarea", {"text": list(texts)})


def annotate(*answers: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """An annotation as the server sends it."""
    return {
        "id": 7, "result": list(answers), "completed_by": 3, "was_cancelled": False, "lead_time": 61.25,
        "created_at": "2026-03-02T10:00:00.123456+01:00", "updated_at": "2026-03-02T09:05:00Z", **changes,
    }  # fmt: skip


def _answer(name: str, type: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": "item", "type": type, "value": value}
