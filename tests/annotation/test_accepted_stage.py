"""The accepted set on disk, and what a release makes of it."""

from __future__ import annotations

import json
from pathlib import Path

from annotation.accepted import Decided, decide_all
from annotation.decisions import Thresholds
from annotation.gathering import Gathered, TaskNow
from hopwright.records import Item, Review
from hopwright.records.arrow import read_items, read_rejected
from hopwright.runs import write_shard
from hopwright.synthesis.checks import CheckContext
from hopwright.synthesis.properties import default_table
from tasks.work.accepted import DecidedShard, keep_accepted
from tasks.work.release import write_dataset
from tests.annotation.reviews import make_review
from tests.builders import all_items
from tests.release.test_dataset import FACTS
from tests.worlds import DictGraph


def decide() -> list[Decided]:
    """Three items and the twin of the first; the second is discarded, the third has one review of two."""
    items = all_items()
    twin = items[0].model_copy(update={"id": items[0].id + "c", "variant": "counterfactual", "twin": items[0].id})
    reviews: list[Review] = []
    for number, (item, verdicts) in enumerate(
        zip(
            [*items, twin],
            [("Retain", "Retain"), ("Discard", "Discard"), ("Retain",), ("Retain", "Retain")],
            strict=True,
        )
    ):
        kind = "twin" if item.variant == "counterfactual" else "multi_hop"
        reviews += [
            make_review(item.id, kind, None, f"a-{place}", verdict=verdict, annotation=10 * number + place)
            for place, verdict in enumerate(verdicts)
        ]
    tasks = {(review.kind, review.item_id): TaskNow("h", 2) for review in reviews}
    known: dict[str, Item] = {item.id: item for item in (*items, twin)}
    context = CheckContext(default_table(), graph=DictGraph())
    return decide_all(Gathered(tuple(reviews), (), (), tasks), known, context, Thresholds())


def test_in_is_out_and_rejected_with_the_reasons(tmp_path: Path):
    decided = decide()
    report = write_shard(tmp_path, 0, keep_accepted(DecidedShard(decided)))
    assert (report.counts.taken, report.counts.out) == (4, 2)
    assert report.counts.rejected == {"discarded": 1, "waiting_for_reviews": 1}
    assert report.figures == {"expert_reviewed": 2, "accepted_twins": 1}
    kept = read_items(tmp_path / "part-00000.parquet")
    assert [item.checks[-1].reason for item in kept] == ["2 experts", "2 experts"]
    rejected = {one.check: one for one in read_rejected(tmp_path / "rejected" / "part-00000.parquet")}
    assert rejected["waiting_for_reviews"].reason == "the question: 1 of 2 reviews"
    discarded = rejected["discarded"]
    assert Item.model_validate_json(discarded.row).id == discarded.key


def test_a_release_takes_items_and_twins_from_the_same_parts(tmp_path: Path):
    write_shard(tmp_path / "accepted", 0, keep_accepted(DecidedShard(decide())))
    parts = [tmp_path / "accepted" / "part-00000.parquet"]
    figures = write_dataset(
        parts, parts, tmp_path / "bench", "bench", "1.0.0", FACTS.model_dump(mode="json"), {}, against=[]
    )  # fmt: skip
    assert (figures["items"], figures["twins"]) == (1, 1)
    (row,) = [json.loads(line) for line in (tmp_path / "bench" / "data.jsonl").read_text().splitlines()]
    assert row["checks"][-1] == {"name": "expert-review", "outcome": "pass", "reason": "2 experts"}
    (twin,) = [json.loads(line) for line in (tmp_path / "bench" / "counterfactual.jsonl").read_text().splitlines()]
    assert twin["twin"] == row["id"]
