"""The rounds of a review on a real server: simulated annotators, pull, agreement, questions, adjudication, decisions.

A share of what the paper had, for the time that it takes; `bench/review_rounds.py` does the same with 1,172 items.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from annotation.accepted import decide_all
from annotation.agreement import measure_agreement
from annotation.decisions import RETURNED, WAITING, Thresholds
from annotation.files import read_planted
from annotation.journal import Journal
from annotation.ledger import Ledger
from annotation.review_collection import gather, journal_folder, reviews_folder
from annotation.schema import CRITERIA, FIX_ANSWER, VERDICT, VERDICTS, ReviewTaskKind
from annotation.server import open_server
from annotation.stages.reviews import (
    decide_reviews,
    measure_reviews,
    open_context,
    pull_reviews,
    push_adjudication,
    refuse_missing,
    return_failed_corrections,
)
from annotation.webhook import HEADER, Receiver, register, unregister
from hopwright.checks import CheckContext
from hopwright.errors import RunError, ServiceError
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Item
from hopwright.records.arrow import read_items, read_rejected, read_reviews
from hopwright.runs import RunFolder
from hopwright.settings import AdjudicateRun
from tasks.adjudicate import write_accepted
from tasks.review_pull import count_waiting, list_pushed
from tests.annotation.expected import expect_outcome
from tests.annotation.reviews import choose, rate, write
from tests.annotation.rounds import Work, answers, find_task, gold_of, list_units, make_run, plan_work, push_run
from tests.annotation.simulated import Annotator, Job
from tests.conftest import SAMPLE
from tests.drafts import draft_items
from tests.e2e.label_studio import ROOT, LiveServer

pytestmark = [pytest.mark.e2e, pytest.mark.servers]

ITEMS, GOLD = 8, 6
CREW = (
    Annotator("anna", 0.95, 0.1, 0.3),
    Annotator("ben", 0.9, -0.1, 0.4),
    Annotator("jun", careless=True, seconds=12),
)


@dataclass
class Rounds:
    """Where the review stands."""

    server: LiveServer
    run: RunFolder
    ledger: Ledger
    items: dict[str, Item]
    work: list[Work]
    numbers: dict[str, int]
    annotations: dict[tuple[str, int], int]
    seconds: float

    @property
    def reviews(self) -> Path:
        return reviews_folder(self.run.home, self.run.name)

    def task(self, job: Job) -> int:
        return find_task(self.ledger, job)


@pytest.fixture(scope="module")
def rounds(label_studio: LiveServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rounds]:
    """A run, pushed, and everything that three annotators gave."""
    home = tmp_path_factory.mktemp("home")
    store = home / "stores" / "sample"
    ingest(SAMPLE, store)
    graph = GraphStore.open(store)
    items = list(draft_items(graph, ITEMS))
    run = make_run(home, store.relative_to(home), items, gold_share=GOLD / ITEMS)
    known = {item.id: item for item in items}
    context = CheckContext(default_table(), graph=graph)
    ledger = push_run(run, label_studio.url, label_studio.token)
    numbers = {one.name: label_studio.add_person(f"{one.name}-rounds").id for one in CREW}
    planted = read_planted(run.path / "review" / "tasks").values()
    work = plan_work(list_units(run), planted, CREW, known, context)
    started = time.monotonic()
    client = label_studio.client
    annotations = {}
    with ThreadPoolExecutor(3) as pool:
        tasks = [(one, find_task(ledger, one.job)) for one in work]
        posted = pool.map(
            lambda pair: client.annotations.create(
                pair[1],
                result=answers(pair[0].given),
                completed_by=numbers[pair[0].job.annotator.name],
                lead_time=pair[0].given.seconds,
            ),
            tasks,
        )
        for (one, task), annotation in zip(tasks, posted, strict=True):
            annotations[one.job.annotator.name, task] = annotation.id
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPWRIGHT_HOME", str(home))
        patch.setenv("LABEL_STUDIO_API_KEY", label_studio.token)
        yield Rounds(label_studio, run, ledger, known, work, numbers, annotations, time.monotonic() - started)


def test_a_kill_between_pull_and_write_loses_nothing(rounds: Rounds) -> None:
    """A real SIGKILL, when everything was fetched and nothing of the first project is written yet."""
    program = (
        "import os, signal, sys; from pathlib import Path; import annotation.journal as journal\n"
        "journal.write_file = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from hopwright.runs import RunFolder; from annotation.stages.reviews import pull_reviews\n"
        "pull_reviews(RunFolder(Path(sys.argv[1]), 'review'), sys.argv[2])\n"
    )
    command = [sys.executable, "-c", program, str(rounds.run.home), rounds.server.url]
    died = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=300)
    assert died.returncode == -signal.SIGKILL
    assert not list(rounds.reviews.rglob("*.parquet"))

    done = pull_reviews(rounds.run, rounds.server.url)
    assert sum(one.new for one in done.pulled) == len(rounds.work)
    again = pull_reviews(rounds.run, rounds.server.url)
    assert again.news == 0
    assert [one.whole for one in again.pulled] == [False] * len(again.pulled)
    gathered = gather(rounds.reviews, rounds.run.path)
    assert len(gathered.reviews) + len(gathered.gold) == len(rounds.work)
    assert gathered.stale == 0
    assert len({review.annotator for review in gathered.reviews}) == len(CREW)
    assert not any(one.name in review.annotator for one in CREW for review in gathered.reviews)
    seconds = sorted(review.seconds or 0 for review in (*gathered.reviews, *gathered.gold))
    assert seconds == sorted(one.given.seconds for one in rounds.work)


def test_agreement_is_that_of_what_they_gave(rounds: Rounds) -> None:
    """Alpha of what came home is alpha of what was given, worked out apart from it."""
    import krippendorff

    report = measure_reviews(rounds.run)
    plain = [one for one in rounds.work if one.job.gold is None]
    for kind in (ReviewTaskKind.SINGLE_HOP, ReviewTaskKind.MULTI_HOP):
        for criterion in (VERDICT, *CRITERIA[kind]):
            units = sorted({(one.job.item_id, one.job.hop or 0) for one in plain if one.job.kind is kind})
            table = [[float("nan")] * len(units) for _ in CREW]
            for one in plain:
                if one.job.kind is kind:
                    given = one.given
                    value = VERDICTS.index(given.verdict) if criterion == VERDICT else given.scores[criterion]
                    row = [who.name for who in CREW].index(one.job.annotator.name)
                    table[row][units.index((one.job.item_id, one.job.hop or 0))] = value
            level = "nominal" if criterion == VERDICT else "ordinal"
            domain = list(range(3)) if criterion == VERDICT else list(range(1, 6))
            expected = krippendorff.alpha(table, level_of_measurement=level, value_domain=domain)
            (line,) = [
                line.reliability
                for line in report.agreement
                if (line.kind, line.criterion, line.scope) == (kind, criterion, "all")
            ]
            # Where all ratings are equal, alpha is 0 / 0: the package says NaN, and we say that there is none.
            assert line.alpha.value == (None if math.isnan(expected) else pytest.approx(expected))
            assert line.units == len(units)
    for name in ("report.md", "report.html", "report.json", "plots/agreement.png", "plots/gold.png"):
        assert (rounds.reviews / "report" / name).stat().st_size > 500


def test_gold_items_catch_the_careless_one(rounds: Rounds) -> None:
    seen = gold_of(rounds.work)
    assert {name: len(found) for name, found in seen.items()} == {one.name: 2 * GOLD for one in CREW}
    report = measure_reviews(rounds.run)
    slow, fast = sorted(report.profiles, key=lambda one: -(one.median_seconds or 0))[:2], report.profiles
    (careless,) = [one for one in fast if one not in slow]
    assert any("planted faults" in said for said in careless.concerns)
    assert not any("planted faults" in said for one in slow for said in one.concerns)


def test_thresholds_yield_the_set_that_was_to_be_expected(rounds: Rounds) -> None:
    """What becomes of every item, worked out once more from what was given, in the plainest way."""
    gathered = gather(rounds.reviews, rounds.run.path)
    context = open_context(rounds.run)
    outcomes: set[str] = set()
    for thresholds in (Thresholds(), Thresholds(min_mean=3.0, floor=1.5, score_gap=4), Thresholds(score_gap=1)):
        decided = decide_all(gathered, rounds.items, context, thresholds)
        found = {one.item.id: one.decision.check or "accepted" for one in decided}
        assert found == {id: expect_outcome(rounds.work, id, thresholds) for id in rounds.items}
        outcomes |= set(found.values())
    assert len(outcomes) > 1


def test_only_what_changed_comes_again(rounds: Rounds) -> None:
    client = rounds.server.client
    (first, second) = [one for one in rounds.work if one.job.kind is ReviewTaskKind.MULTI_HOP and one.job.gold is None][
        :2
    ]
    task = rounds.task(first.job)
    given = replace(first.given, scores={**first.given.scores, "fluency": 6 - first.given.scores["fluency"]})
    id = rounds.annotations[first.job.annotator.name, task]
    client.annotations.update(id, result=answers(given))
    done = pull_reviews(rounds.run, rounds.server.url)
    assert [(one.new, one.changed, one.removed) for one in done.pulled if one.kind == "multi_hop"] == [(0, 1, 0)]
    client.annotations.update(id, result=answers(first.given))
    other = rounds.annotations[second.job.annotator.name, rounds.task(second.job)]
    client.annotations.delete(other)
    done = pull_reviews(rounds.run, rounds.server.url)
    assert [(one.new, one.changed, one.removed) for one in done.pulled if one.kind == "multi_hop"] == [(0, 1, 1)]
    again = client.annotations.create(
        rounds.task(second.job), result=answers(second.given),
        completed_by=rounds.numbers[second.job.annotator.name], lead_time=second.given.seconds,
    )  # fmt: skip
    rounds.annotations[second.job.annotator.name, rounds.task(second.job)] = again.id
    assert pull_reviews(rounds.run, rounds.server.url).news == 1


def test_an_annotation_with_unknown_fields_is_one_line(rounds: Rounds) -> None:
    one = next(one for one in rounds.work if one.job.kind is ReviewTaskKind.MULTI_HOP and one.job.gold is None)
    id = rounds.annotations[one.job.annotator.name, rounds.task(one.job)]
    client = rounds.server.client
    client.annotations.update(id, result=[*answers(one.given), write("planted", "x")])
    done = pull_reviews(rounds.run, rounds.server.url)
    (line,) = [line for report in done.pulled for line in report.refused]
    assert line.startswith(f"annotation {id} of task {rounds.task(one.job)} ")
    assert line.endswith("is left out: the interface has no field 'planted'")
    client.annotations.update(id, result=answers(one.given))
    assert pull_reviews(rounds.run, rounds.server.url).news == 1
    assert gather(rounds.reviews, rounds.run.path).refused == ()


def test_a_correction_that_breaks_the_chain_comes_back_until_it_holds(rounds: Rounds) -> None:
    one = next(one for one in rounds.work if one.job.kind is ReviewTaskKind.SINGLE_HOP and one.job.gold is None)
    client, task = rounds.server.client, rounds.task(one.job)
    id = rounds.annotations[one.job.annotator.name, task]
    before = client.tasks.get(str(task)).data
    scores = [rate(name, value) for name, value in one.given.scores.items()]
    client.annotations.update(id, result=[choose("verdict", "Fix"), *scores, write(FIX_ANSWER, "Quite another <b>")])
    pull_reviews(rounds.run, rounds.server.url)
    asked = return_failed_corrections(rounds.run, rounds.server.url)
    assert (asked.asked, asked.answered, asked.open) == (1, 0, 1)
    data = client.tasks.get(str(task)).data
    assert data["item_html"].startswith('<div class="hw-returned"')
    assert data["item_html"].endswith(before["item_html"])
    assert "Quite another &lt;b&gt;" in data["item_html"]
    assert f"hop {one.job.hop}" in data["returned"]
    assert return_failed_corrections(rounds.run, rounds.server.url).asked == 0
    tabs = rounds.server.client.views.list(project=_project(rounds, ReviewTaskKind.SINGLE_HOP))
    assert [dict(tab.data)["title"] for tab in tabs].count("Returned") == 1
    # Asking is no review: nothing new comes of it.
    assert pull_reviews(rounds.run, rounds.server.url).news == 0

    client.annotations.update(id, result=answers(one.given))
    pull_reviews(rounds.run, rounds.server.url)
    asked = return_failed_corrections(rounds.run, rounds.server.url)
    assert (asked.asked, asked.answered, asked.open) == (0, 1, 0)
    assert client.tasks.get(str(task)).data == before


def test_a_webhook_that_is_called_is_heard(rounds: Rounds) -> None:
    secret = "w" * 64
    project = _project(rounds, ReviewTaskKind.MULTI_HOP)
    with Receiver(secret) as receiver, open_server(rounds.server.url, rounds.server.token) as server:
        ids = register(server, [project], receiver.url, secret)
        assert len(register(server, [project], receiver.url, secret)) == 1
        one = next(one for one in rounds.work if one.job.kind is ReviewTaskKind.MULTI_HOP and one.job.gold is None)
        id = rounds.annotations[one.job.annotator.name, rounds.task(one.job)]
        server.client.annotations.update(id, result=answers(one.given))
        assert receiver.wait(120)
        assert httpx.post(receiver.url, json={"action": "ANNOTATION_CREATED"}, headers={HEADER: "x"}).status_code == 403
        there = server.client.webhooks.list(project=project)
        assert len(there) == 1
        unregister(server, [hook.id for hook in there])
        assert server.client.webhooks.list(project=project) == []
        assert ids


def test_disputes_are_settled_and_the_accepted_set_is_written(rounds: Rounds) -> None:
    home = {**os.environ, "LABEL_STUDIO_URL": rounds.server.url}
    first = _call(home, "review", "adjudicate", "--run", "review", "--json")
    counts = first["counts"]
    assert counts["in"] == ITEMS
    assert counts["out"] + sum(counts["rejected"].values()) == ITEMS
    assert counts["rejected"]["in_adjudication"] > 0
    report, disputes = decide_reviews(rounds.run, Thresholds())
    again = push_adjudication(rounds.run, rounds.server.url, disputes)
    assert [one.summary for one in again] != []
    assert sum(one.new + one.updated for one in again) == 0
    assert sum(one.unchanged for one in again) == len(disputes)
    with rounds.run.hold():
        left = write_accepted(rounds.run, AdjudicateRun(run="review"), report)
    assert (left.started, left.outputs) == (first["started"], first["outputs"]), "what did not change was made anew"

    ledger = Ledger(rounds.ledger.path)
    judge = rounds.server.add_person("judge-rounds")
    client = rounds.server.client
    settled = 0
    for project in ledger.projects():
        for entry in ledger.entries(project).values():
            if entry.kind is ReviewTaskKind.ADJUDICATION:
                data = client.tasks.get(str(entry.task)).data
                assert len(data["reviews"]) == 2
                fives = [rate(name, 5) for name in CRITERIA[ReviewTaskKind(data["of"])]]
                client.annotations.create(
                    entry.task, result=[choose("verdict", "Retain"), *fives], completed_by=judge.id
                )
                settled += 1
    assert settled == len(disputes)
    done = _call(home, "review", "pull", "--run", "review", "--json")
    assert (done["new"], done["left_out"], done["missing"]) == (settled, [], [])
    report, disputes = decide_reviews(rounds.run, Thresholds())
    assert disputes == []
    waiting = [one for one in report.decided if one.decision.check in (WAITING, RETURNED)]
    assert done["waiting"] == count_waiting(rounds.run, 0) == len(waiting)
    assert list_pushed(rounds.run.home, rounds.server.url) == ["review"]
    assert list_pushed(rounds.run.home, "http://127.0.0.1:9") == []
    with rounds.run.hold():
        final = write_accepted(rounds.run, AdjudicateRun(run="review"), report)
    assert final.counts.out > counts["out"]

    folder = rounds.run.path / "review" / "accepted"
    accepted = read_items(folder / "part-00000.parquet")
    rejected = read_rejected(folder / "rejected" / "part-00000.parquet")
    assert len(accepted) == final.counts.out
    assert {item.id for item in accepted} | {one.key for one in rejected} == rounds.items.keys()
    assert all(item.checks[-1].name == "expert-review" for item in accepted)
    assert all(check.outcome != "fail" for item in accepted for check in item.checks)
    assert Counter(one.check for one in rejected) == final.counts.rejected
    assert any("adjudicated" in item.checks[-1].reason for item in accepted)
    assert {row.items for row in report.scores} <= set(range(1, ITEMS + 1))
    assert len(read_reviews(folder / "reviews.parquet")) > ITEMS


def test_what_goes_wrong_is_one_line(rounds: Rounds, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Server down, token wrong, nothing pushed, project deleted: said clearly, and nothing that was pulled is lost."""
    before = measure_agreement(gather(rounds.reviews, rounds.run.path).reviews, {}, pairs=False)
    with pytest.raises(ServiceError, match=r"cannot reach Label Studio at http://127\.0\.0\.1:9 "):
        pull_reviews(rounds.run, "http://127.0.0.1:9")
    with monkeypatch.context() as patch:
        patch.setenv("LABEL_STUDIO_API_KEY", "0" * 40)
        with pytest.raises(ServiceError, match="refuses the token") as caught:
            pull_reviews(rounds.run, rounds.server.url)
        assert "0" * 40 not in str(caught.value)
    with pytest.raises(RunError, match=r"nothing of run 'other' was pushed to .*: `hopwright review push --run other`"):
        pull_reviews(RunFolder(tmp_path, "other"), rounds.server.url)

    project = _project(rounds, ReviewTaskKind.MULTI_HOP)
    rounds.server.client.projects.delete(project)
    done = pull_reviews(rounds.run, rounds.server.url)
    assert len(done.missing) == 1
    with pytest.raises(
        ServiceError, match=rf"project {project} \(multi_hop\) is not on Label Studio .* is kept"
    ) as gone:
        refuse_missing(done)
    assert "\n" not in str(gone.value)
    assert Journal(journal_folder(rounds.reviews, rounds.server.url, project)).read().reviews
    assert measure_agreement(gather(rounds.reviews, rounds.run.path).reviews, {}, pairs=False) == before
    assert push_adjudication(rounds.run, rounds.server.url, []) == []


def _project(rounds: Rounds, kind: ReviewTaskKind) -> int:
    return next(id for id in rounds.ledger.projects() if next(iter(rounds.ledger.entries(id).values())).kind is kind)


def _call(environment: dict[str, str], *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "flows.cli", *arguments],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
