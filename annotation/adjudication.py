"""What reviewers differ on goes to an adjudicator, with everything that they said side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation.corrections import corrections_of, list_changes
from annotation.decisions import UnitDecision
from annotation.export import build_adjudication
from annotation.forms import Task
from annotation.ledger import Ledger, ledger_path
from annotation.push import PushReport, name_project, push
from annotation.review_collection import CurrentTask, TaskName, add_settled
from annotation.schema import REVIEWED, ReviewTaskKind, ShownReview, task_key
from annotation.server import Server
from hopwright.records import Item, Review


@dataclass(frozen=True, slots=True)
class Dispute:
    """A unit to settle: its adjudication task, and the hash of the task that it is about."""

    of: ReviewTaskKind
    task: Task
    settles: str
    reason: str


def build_disputes(
    conflicts: Iterable[tuple[Item, UnitDecision]], tasks: Mapping[TaskName, CurrentTask]
) -> list[Dispute]:
    """The adjudication tasks of units in conflict; `tasks` are those that were reviewed."""
    disputes = []
    for item, unit in conflicts:
        item_id, name, hop = unit.unit
        kind = ReviewTaskKind(name)
        shown = [show_review(review, item, hop) for review in unit.reviews]
        disputes.append(
            Dispute(
                of=kind,
                task=build_adjudication(item, kind, hop, shown),
                settles=tasks[name, task_key(item_id, hop)].item_hash,
                reason=unit.reason,
            )
        )
    return disputes


def push_disputes(disputes: Sequence[Dispute], server: Server, run: Path, reviews: Path) -> list[PushReport]:
    """Bring adjudication tasks to a server, one project for each kind that is settled; repeated, it makes no doubles.

    Tasks that were pushed before and are not among these stay. `run` and `reviews` are the run's folders. To be
    called inside `open_server`.
    """
    add_settled(reviews, [(str(one.task["data"]["item_hash"]), one.settles) for one in disputes])
    ledger = Ledger(ledger_path(run, server.url))
    return [
        push(
            [one.task for one in of_kind],
            server=server,
            title=name_project(run.name, ReviewTaskKind.ADJUDICATION, kind),
            kind=ReviewTaskKind.ADJUDICATION,
            of=kind,
            ledger=ledger,
            usual=1,
        )
        for kind in REVIEWED
        if (of_kind := [one for one in disputes if one.of is kind])
    ]


def show_review(review: Review, item: Item, hop: int | None) -> ShownReview:
    """A review as an adjudicator sees it."""
    return ShownReview(
        reviewer=review.annotator,
        verdict=review.verdict,
        own_answer=": ".join(text for text in (review.own_answer, review.own_words) if text),
        scores={score.criterion: score.value for score in review.scores},
        errors=review.errors,
        fixes=list_changes(item, hop, corrections_of(review)),
        computation=review.computation,
        source_url=review.source_url,
        comment=review.comment,
    )
