"""The accepted set on disk, and what a release makes of it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from annotation.accepted import Decided, decide_all
from annotation.decisions import Thresholds
from annotation.review_collection import CollectedReviews, CurrentTask
from annotation.stages.accepted import DecidedShard, keep_accepted
from annotation.stages.reviews import describe_review
from hopwright.checks import CheckContext
from hopwright.errors import RunError
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import Evidence, Item, Review
from hopwright.records.arrow import encode_parquet, items_to_table, read_items, read_rejected, reviews_to_table
from hopwright.release.audit import audit
from hopwright.release.dataset import _ReleaseWriter
from hopwright.runs import RunFolder, ShardOutput, Stage, write_file, write_shard
from hopwright.settings import ReleaseRun
from hopwright.stages.release import plan_release, write_dataset
from hopwright.stages.release_sets import ReleaseSpec, ReviewParts
from tests.annotation.reviews import make_review
from tests.builders import all_items
from tests.release.test_dataset import FACTS
from tests.worlds import DictGraph, settle_all


@pytest.fixture(autouse=True)
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes most of a release's time."""
    monkeypatch.setattr(_ReleaseWriter, "_draw", lambda *_: ())


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
    tasks = {(review.kind, review.item_id): CurrentTask("h", 2) for review in reviews}
    known: dict[str, Item] = {item.id: item for item in (*items, twin)}
    context = CheckContext(settle_all(default_table()), graph=DictGraph())
    return decide_all(CollectedReviews(tuple(reviews), (), (), tasks), known, context, Thresholds())


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


def write_run(tmp_path: Path) -> ReleaseSpec:
    """A run of six items and the twin of the first, of which three items and the twin are under review."""
    decided = decide()
    items = [one.item for one in decided if one.item.variant == "factual"]
    twin = next(one.item for one in decided if one.item.variant == "counterfactual")
    # Nobody reviews these: one rests on what the accepted item rests on, one on what no other does, one has a twin.
    echo = items[0].model_copy(update={"id": "hw-echo", "question": "Is this one worded quite unlike any other item?"})
    lone = echo.model_copy(update={"id": "hw-lone", "question": "What else is there to ask in a world so small?"})
    lone = lone.model_copy(update={"hops": tuple(hop.model_copy(update={"evidence": Evidence()}) for hop in lone.hops)})
    write_shard(tmp_path / "accepted", 0, keep_accepted(DecidedShard(decided)))
    items = [item.model_copy(update={"checks": ()}) for item in items] + [echo, lone]
    for name, rows in (("items", items), ("twins", [twin])):
        write_shard(tmp_path / name, 0, ShardOutput(items_to_table(rows), (), taken=len(rows)))
    reviews = [review for one in decided for unit in one.decision.units for review in unit.reviews]
    write_file(tmp_path / "accepted" / "reviews.parquet", encode_parquet(reviews_to_table(reviews)))
    return ReleaseSpec(
        items=[tmp_path / "items" / "part-00000.parquet"],
        twins=[tmp_path / "twins" / "part-00000.parquet"],
        folder=tmp_path / "release",
        name="two-sets",
        version="",
        facts=FACTS.model_dump(mode="json"),
        review=ReviewParts(
            accepted=[tmp_path / "accepted" / "part-00000.parquet"],
            rejected=[tmp_path / "accepted" / "rejected" / "part-00000.parquet"],
            reviews=tmp_path / "accepted" / "reviews.parquet",
        ),
    )


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_release_has_what_experts_accepted_and_what_gives_nothing_of_it_away(tmp_path: Path):
    order = write_run(tmp_path)
    figures = write_dataset(order, tmp_path / "stage")
    (row,) = read_rows(tmp_path / "release" / "bench.jsonl")
    assert row["checks"][-1] == {"name": "expert-review", "outcome": "pass", "reason": "2 experts"}
    (twin,) = read_rows(tmp_path / "release" / "bench_counterfactual.jsonl")
    assert twin["twin"] == row["id"]
    assert [row["id"] for row in read_rows(tmp_path / "release" / "data.jsonl")] == ["hw-lone"]
    assert figures["left_out"] == {"fact": 1, "review_discarded": 1, "review_waiting_for_reviews": 1}
    taken = 5 + 1
    assert taken == figures["items"] + figures["twins"] + sum(figures["left_out"].values())
    left_out = {one.key: one.check for one in read_rejected(tmp_path / "stage" / "rejected" / "part-00000.parquet")}
    assert left_out["hw-echo"] == "fact"
    assert len(left_out) == 3


def test_what_repeats_a_published_question_is_in_no_set_and_the_audit_agrees(tmp_path: Path):
    order = write_run(tmp_path)
    assert order.review is not None
    accepted = next(item for item in read_items(order.review.accepted[0]) if item.variant == "factual")
    published = tmp_path / "published.txt"
    published.write_text("What else is there to ask in a world so small?\n", "utf-8")
    figures = write_dataset(dataclasses.replace(order, against=[published]), tmp_path / "stage")
    assert figures["left_out"]["overlap"] == 1
    assert not (tmp_path / "release" / "data.jsonl").exists()
    report = audit(tmp_path / "release" / "bench.jsonl", None, default_table(), against=[published])
    assert report.overlap is not None and "overlap" not in report.counts

    published.write_text(f"{accepted.question}\n", "utf-8")
    order = dataclasses.replace(order, against=[published], folder=tmp_path / "other")
    figures = write_dataset(order, tmp_path / "other stage")
    # The accepted item, and with it its twin.
    assert figures["left_out"]["overlap"] == 2
    reasons = {one.key: one.reason for one in read_rejected(tmp_path / "other stage/rejected/part-00000.parquet")}
    assert reasons[accepted.id].startswith(f"the question is {accepted.question!r} (published.txt, record 1)")
    assert figures["items"] + figures["twins"] + sum(figures["left_out"].values()) == 5 + 1
    assert "bench" not in figures["sets"] or not figures["sets"]["bench"]["items"]


def test_a_twin_that_experts_did_not_accept_is_in_no_set(tmp_path: Path):
    order = write_run(tmp_path)
    assert order.review is not None
    accepted = [item for item in read_items(order.review.accepted[0]) if item.variant == "factual"]
    alone = [item.model_copy(update={"twin": None}) for item in accepted]
    write_shard(tmp_path / "accepted", 0, ShardOutput(items_to_table(alone), (), taken=len(alone)))
    figures = write_dataset(order, tmp_path / "stage")
    assert figures["sets"]["bench"] == {"items": 1, "twins": 0}
    assert figures["left_out"]["original_in_bench"] == 1


def test_the_review_is_told_in_figures(tmp_path: Path):
    order = write_run(tmp_path)
    assert order.review is not None
    facts = describe_review(order.review)
    assert (facts["annotators"], facts["reviews"]) == (2, 7)
    verdicts = next(one for one in facts["agreement"] if (one["kind"], one["criterion"]) == ("multi_hop", "verdict"))
    assert (verdicts["units"], verdicts["alpha"]) == (2, 1.0)


def test_a_review_that_nobody_decided_yet_is_one_line(tmp_path: Path):
    run = RunFolder(tmp_path, "r")
    for name in ("rewrite/passages", "rewrite"):
        stage = Stage(run, name)
        stage.begin({})
        stage.finish()
    wanted = ReleaseRun.model_validate({"run": "r", "release": {"reviewed": True}})
    with pytest.raises(RunError, match="not decided yet: `hopwright review adjudicate --run r`"):
        plan_release(run, wanted)
