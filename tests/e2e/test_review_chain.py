"""A review, hands off: deployments push and pull it, and what they tell starts the decision and the release."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from annotation.files import read_planted, read_tasks
from annotation.ledger import Ledger, ledger_path
from annotation.schema import CRITERIA, REVIEWED, ReviewTaskKind
from annotation.stages.reviews import load_items, open_context
from hopwright.records.arrow import read_items, read_rejected
from hopwright.runs import RunFolder, Stage, rejected_path
from tests.annotation.reviews import choose, rate
from tests.annotation.rounds import Work, answers, find_task, list_units, plan_work
from tests.annotation.simulated import Annotator
from tests.e2e.conftest import Home
from tests.e2e.deployed import Place, open_place, read_facts
from tests.e2e.label_studio import LiveServer
from tests.e2e.prefect_server import PrefectServer

pytestmark = [pytest.mark.e2e, pytest.mark.servers, pytest.mark.nightly]

RUN = "chain"
BUILD: dict[str, Any] = {
    "run": RUN,
    "workers": 2,
    "synthesize": {"drafts": 60},
    "rewrite": {"back_translation": "off"},
    "review": {"items": 5, "overlap": 2, "agreement_items": 0, "gold_share": 0.4},
}
CREW = (
    Annotator("anna", 0.95, 0.1, 0.3),
    Annotator("ben", 0.9, -0.1, 0.4),
    Annotator("jun", careless=True, seconds=12),
)
SETTLES_S = 5
"""An event has come to the server by then, and has started what it starts."""


@dataclass
class Review:
    """A run under review: who started what, and what was given."""

    place: Place
    server: LiveServer
    run: RunFolder
    work: list[Work]
    numbers: dict[str, int]

    @property
    def ledger(self) -> Ledger:
        return Ledger(ledger_path(self.run.path, self.server.url))

    def post(self, work: Iterable[Work]) -> None:
        """Annotations as the page sends them."""
        client, ledger = self.server.client, self.ledger
        for one in work:
            client.annotations.create(
                find_task(ledger, one.job),
                result=answers(one.given),
                completed_by=self.numbers[one.job.annotator.name],
                lead_time=one.given.seconds,
            )

    def pull(self) -> str:
        """Start the deployment as its schedule does; what it says of the run."""
        id = self.place.start("review-pull/review-pull", pull={"all_runs": True})
        done = self.place.watch(id)
        assert done["state_name"] == "Completed", read_facts(done)
        return str(self.place.list_artifacts([id])["review-pull-story"]["data"])

    def wait_for(self, deployment: str, number: int) -> dict[str, Any]:
        """The run of a deployment that an event started, the `number`th in all, when it has ended."""
        deadline = time.monotonic() + 180
        while len(rows := self.place.list_runs_of(deployment)) < number:
            assert time.monotonic() < deadline, f"no event has started {deployment}"
            time.sleep(0.3)
        assert len(rows) == number
        done = self.place.watch(rows[-1]["id"])
        assert done["state_name"] == "Completed", read_facts(done)
        return done

    def count_events(self) -> dict[str, int]:
        """What the flows have told so far."""
        time.sleep(SETTLES_S)
        found = self.place.post("/events/filter", filter={"event": {"prefix": ["hopwright."]}})
        return dict(Counter(event["event"].removeprefix("hopwright.") for event in found["events"]))

    def count_started(self) -> tuple[int, int]:
        """How often adjudicate and release were started so far."""
        runs = self.place.list_runs_of
        return len(runs("adjudicate/adjudicate")), len(runs("release/release"))


@pytest.fixture(scope="module")
def review(label_studio: LiveServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Review]:
    """A run that was built and pushed by its deployments, and what three annotators will give."""
    known = {"LABEL_STUDIO_URL": label_studio.url, "LABEL_STUDIO_API_KEY": label_studio.token}
    with PrefectServer(tmp_path_factory.mktemp("prefect")) as server:
        home = Home(tmp_path_factory.mktemp("chain"), server.api)
        with open_place(home, "worker", environment=known) as place:
            place.pause("review-pull/review-pull")  # here the test is the clock
            built = place.watch(place.start("build-dataset/build", **BUILD))
            assert built["state_name"] == "Completed", read_facts(built)
            pushed = place.watch(place.start("review/review-push", run=RUN, review={"url": label_studio.url}))
            assert pushed["state_name"] == "Completed", read_facts(pushed)
            run = RunFolder(home.path, RUN)
            planted = read_planted(run.path / "review" / "tasks").values()
            work = plan_work(list_units(run), planted, CREW, load_items(run), open_context(run))
            numbers = {one.name: label_studio.add_person(f"{one.name}-chain").id for one in CREW}
            yield Review(place, label_studio, run, work, numbers)


def test_a_review_goes_from_push_to_release_by_itself(review: Review) -> None:
    run, folder = review.run, review.run.path / "review" / "tasks"
    written = {kind: sum(1 for _ in read_tasks(folder, kind)) for kind in REVIEWED}
    pushed = Counter(entry.kind for id in review.ledger.projects() for entry in review.ledger.entries(id).values())
    assert pushed == {kind: count for kind, count in written.items() if count}
    planted = {one.item_id for one in read_planted(folder).values()}
    under_review = {item_id for item_id, _, _ in list_units(run)} - planted
    earlier = read_release(run)
    assert "bench.jsonl" not in earlier

    # Some have not given theirs yet: nothing begins.
    late = {one.job.item_id for one in review.work if one.job.gold is None and one.job.kind is ReviewTaskKind.MULTI_HOP}
    last = [one for one in review.work if one.job.item_id == min(late)]
    review.post(one for one in review.work if one not in last)
    assert f"{len(review.work) - len(last):,} annotations are held." in review.pull()
    assert (review.count_events(), review.count_started()) == ({}, (0, 0))

    # All are in: it is decided, what is disputed goes to an adjudicator, and nothing is released meanwhile.
    review.post(last)
    assert "0 items wait for reviews" in review.pull()
    review.wait_for("adjudicate/adjudicate", 1)
    accepted = Stage(run, "review/accepted").read()
    assert accepted.counts.taken == len(under_review)
    assert accepted.counts.rejected["in_adjudication"] > 0
    assert (review.count_events(), review.count_started()) == ({"review.complete": 1}, (1, 0))

    settle(review)
    assert "0 items wait for reviews" in review.pull()
    review.wait_for("adjudicate/adjudicate", 2)
    released = review.wait_for("release/release", 1)
    check_release(run, under_review)

    # Nothing new: nothing begins. Decided once more by hand: it says that nothing changed.
    assert "wait for reviews" not in review.pull()
    again = review.place.watch(review.place.start("adjudicate/adjudicate", run=RUN))
    assert again["state_name"] == "Completed", read_facts(again)
    told = {"review.complete": 2, "accepted.complete": 1}
    assert (review.count_events(), review.count_started()) == (told, (3, 1))
    logs = review.place.post("/logs/filter", logs={"flow_run_id": {"any_": [again["id"]]}}, limit=200)
    assert "nothing changed: the release holds this accepted set" in [row["message"] for row in logs]
    assert review.place.get(f"/flow_runs/{released['id']}")["run_count"] == 1


def settle(review: Review) -> None:
    """An adjudicator retains whatever is disputed, with fives."""
    judge = review.server.add_person("judge-chain")
    client, settled = review.server.client, 0
    for project in review.ledger.projects():
        for entry in review.ledger.entries(project).values():
            if entry.kind is ReviewTaskKind.ADJUDICATION:
                of = ReviewTaskKind(client.tasks.get(str(entry.task)).data["of"])
                fives = [rate(name, 5) for name in CRITERIA[of]]
                given = [choose("verdict", "Retain"), *fives]
                client.annotations.create(entry.task, result=given, completed_by=judge.id)
                settled += 1
    assert settled > 0


def check_release(run: RunFolder, under_review: set[str]) -> None:
    """The bench is the accepted set, nothing that was refused is anywhere, and all counts add up."""
    stage = Stage(run, "review/accepted")
    accepted = [item for part in stage.parts() for item in read_items(part)]
    lost = [rejected_path(stage.folder, index) for index in range(stage.read().shards)]
    rejected = [row for path in lost for row in read_rejected(path)]
    assert {item.id for item in accepted} | {row.key for row in rejected} == under_review
    assert len(accepted) + len(rejected) == len(under_review)
    assert accepted
    found = read_release(run)
    twins = {item.id for item in accepted if item.variant == "counterfactual"}
    assert found["bench.jsonl"] == {item.id for item in accepted} - twins
    assert found.get("bench_counterfactual.jsonl", set()) == twins
    elsewhere = set().union(*(ids for name, ids in found.items() if not name.startswith("bench")))
    assert not elsewhere & under_review
    made = Stage(run, "release").read()
    made.counts.verify("release")
    assert made.counts.out == sum(map(len, found.values()))
    assert made.counts.taken == sum(Stage(run, name).read().counts.out for name in ("rewrite/passages", "rewrite"))


def read_release(run: RunFolder) -> dict[str, set[str]]:
    """The sets of a run's release: file → ids."""
    folder: Path = run.home / str(Stage(run, "release").read().notes["folder"])
    return {
        path.name: {json.loads(line)["id"] for line in path.read_text("utf-8").splitlines()}
        for path in folder.glob("*.jsonl")
        if path.stem != "held_back"
    }
