"""The paper's review, simulated on a real Label Studio server from the push to the accepted set, and held against what
the annotators were made with.

    python bench/review_rounds.py [--items 1172] [--url http://127.0.0.1:8080]

Without an address it starts a server of its own and ends it. Items come from the shipped sample. Ten annotators of
known skill, bias and noise, one of whom drifts and one of whom does not read, make accounts and post what they give
with their own tokens, two to each hop and question, gold items to all. It is pulled, agreement is measured, what they
differ on is pushed to an adjudicator, whose word is pulled in turn, and the accepted set is written. Exits with 1 when

- a pull or a second push does other than it should, or an outcome is not the one worked out from what was given,
- anybody but the one who does not read is named for missed faults, or anybody but the one who drifts for drift,
- fewer than nine in ten of the 95 % intervals hold the value that they should, in any of the four groups.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from annotation.accepted import Decided
from annotation.access import TOKEN_VARIABLE, find_token
from annotation.agreement import measure_agreement
from annotation.annotators import Profile, profile_annotators
from annotation.decisions import ReviewUnit, Thresholds
from annotation.files import read_planted
from annotation.ledger import Ledger, ledger_path
from annotation.pseudonyms import Pseudonyms
from annotation.push import push_folder
from annotation.review_collection import CollectedReviews, gather, reviews_folder
from annotation.schema import CRITERIA, FIX_QUESTION, VERDICT, ReviewTaskKind, key_of, task_key
from annotation.server import Server, open_server
from annotation.stages.reviews import decide_reviews, load_items, open_context, pull_reviews, push_adjudication
from hopwright.checks import CheckContext
from hopwright.errors import HopwrightError, ServiceError
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Item, Review
from hopwright.records.arrow import read_items
from hopwright.runs import RunFolder
from hopwright.settings import AdjudicateRun, sample_folder
from tasks.adjudicate import ACCEPTED, write_accepted
from tests.annotation.expected import expect_alpha, expect_caught, expect_disputes, expect_outcome, expect_profile
from tests.annotation.rounds import Work, answers, list_units, make_run, order_work, plan_work, reword
from tests.annotation.simulated import TEN, Given, draw_truth
from tests.drafts import draft_items
from tests.e2e.label_studio import LiveServer, Person, install, share_server

_T = TypeVar("_T")
Numbers = NDArray[Any]
_AT_ONCE = 4
"""Annotators who post at a time; the server does its work in one process."""
_LEAST_HELD = 0.9
_Z = 1.96


@dataclass
class Proof:
    """What was found missing, to be told at the end."""

    missed: list[str]

    def expect(self, holds: bool, line: str) -> None:
        """Note what does not hold."""
        if not holds:
            self.missed.append(line)
            print(f"  MISSED: {line}")

    def hold(self, what: str, rows: Iterable[tuple[str, float, float, float, float]]) -> None:
        """Print (name, found, low, high, expected) rows; nine in ten intervals must hold what was expected."""
        held = total = 0
        print(f"{what}:")
        for name, found, low, high, expected in rows:
            inside = low <= expected <= high
            held, total = held + inside, total + 1
            mark = "" if inside else " *"
            print(f"  {name:38} {found:+.3f} ({low:+.3f} to {high:+.3f}), expected {expected:+.3f}{mark}")
        print(f"  {held} of {total} intervals of 95 % hold what was expected")
        self.expect(held >= _LEAST_HELD * total, f"{what}: {total - held} of {total} intervals miss")


def main() -> int:
    """Run and print; 1 when something was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="", help="a running server; left out: one of its own")
    parser.add_argument("--items", type=int, default=1172)
    options = parser.parse_args()
    proof = Proof([])
    try:
        with tempfile.TemporaryDirectory() as folder, find_server(options.url, Path(folder)) as live:
            os.environ["HOPWRIGHT_HOME"] = str(Path(folder) / "home")
            os.environ[TOKEN_VARIABLE] = live.token
            prove(live, Path(folder) / "home", options.items, proof)
    except HopwrightError as error:
        proof.expect(False, str(error))
    print(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")
    print("all as it should be" if not proof.missed else f"{len(proof.missed)} missed")
    return int(bool(proof.missed))


@contextmanager
def find_server(url: str, folder: Path) -> Iterator[LiveServer]:
    """The server of that address, or one of its own."""
    if url:
        yield LiveServer(url, find_token(url), "", "")
        return
    start = time.perf_counter()
    try:
        install()
    except pytest.skip.Exception as error:
        raise ServiceError(str(error)) from None
    with share_server(folder) as live:
        print(f"a server of its own, ready after {time.perf_counter() - start:.0f} s")
        yield live


def prove(live: LiveServer, home: Path, count: int, proof: Proof) -> None:
    """The whole way."""
    store = home / "stores" / "sample"
    ingest(sample_folder(), store)
    graph = GraphStore.open(store)
    # Drafts of one plan look alike; a run would keep one of them.
    items = {item.id: item for item in draft_items(graph, count)}
    print(f"{len(items):,} items from the sample")
    # A name of its own, so that nobody's projects are touched.
    run, seconds = clock(
        lambda: make_run(home, store.relative_to(home), list(items.values()), name=f"rounds-{time.time_ns()}",
                         gold_share=max(0.05, min(0.5, 8 / count)))
    )  # fmt: skip
    print(f"export for review: {seconds:.1f} s")
    with open_server(live.url, live.token) as server:
        try:
            push_twice(server, run, proof)
            work, people = annotate(live, run, items)
            pull_twice(run, server.url, len(work), proof)
            gathered = gather(reviews_folder(home, run.name), run.path)
            pseudonyms = Pseudonyms(reviews_folder(home, run.name))
            names = {name: pseudonyms.name(server.url, person.id) for name, person in people.items()}
            judge_agreement(gathered, items, proof)
            judge_annotators(gathered, names, load_items(run), proof)
            settled = adjudicate(live, run, work, items, proof)
            accept(run, work, items, settled, proof)
        finally:
            for project in Ledger(ledger_path(run.path, server.url)).projects():
                server.client.projects.delete(project)


def push_twice(server: Server, run: RunFolder, proof: Proof) -> None:
    """Push, and push again."""
    folder = run.path / "review" / "tasks"
    first, seconds = clock(lambda: push_folder(folder, server, run.path))
    tasks = sum(report.new for report in first)
    print(f"push: {tasks:,} tasks in {seconds:.1f} s")
    again, more = clock(lambda: push_folder(folder, server, run.path))
    print(f"push again: {more:.1f} s, 1/{seconds / more:.0f} of it")
    proof.expect(all(report.new == report.updated == 0 for report in again), "pushing again changed something")


def annotate(live: LiveServer, run: RunFolder, items: Mapping[str, Item]) -> tuple[list[Work], dict[str, Person]]:
    """Everybody makes an account and posts what he gives, in his own order, with his own token."""
    planted = read_planted(run.path / "review" / "tasks").values()
    work, seconds = clock(lambda: plan_work(list_units(run), planted, TEN, items, open_context(run)))
    gold = sum(one.job.gold is not None for one in work)
    print(f"{len(work):,} reviews to give, {gold:,} of them of planted faults; worked out in {seconds:.0f} s")
    people = {who.name: live.add_person(f"{who.name}-bench") for who in TEN}
    start = time.perf_counter()
    post(live, run, {people[name].token: mine for name, mine in order_work(work).items()})
    seconds = time.perf_counter() - start
    print(f"posted by ten accounts: {len(work):,} annotations in {seconds:.0f} s, {len(work) / seconds:.1f} a second")
    return work, people


def post(live: LiveServer, run: RunFolder, given: Mapping[str, Sequence[Work]]) -> None:
    """Post what every token's owner gives, a few of them at a time."""
    ledger = Ledger(ledger_path(run.path, live.url))
    tasks = {(entry.kind, entry.key): entry.task for id in ledger.projects() for entry in ledger.entries(id).values()}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda pair: _post_all(live, pair[0], pair[1], tasks), given.items()))


def pull_twice(run: RunFolder, url: str, count: int, proof: Proof) -> None:
    """Pull, and pull again."""
    done, seconds = clock(lambda: pull_reviews(run, url))
    print(f"pull: {count:,} annotations in {seconds:.1f} s")
    proof.expect(sum(one.new for one in done.pulled) == count, "not everything came home")
    proof.expect(not any(one.refused for one in done.pulled), "an annotation was left out")
    again, seconds = clock(lambda: pull_reviews(run, url))
    print(f"pull again: {seconds:.1f} s")
    proof.expect(again.news == 0, "pulling again brought something")


def judge_agreement(gathered: CollectedReviews, items: Mapping[str, Item], proof: Proof) -> None:
    """Alpha of every criterion against what the same ten have in the long run."""
    topologies = {id: item.topology for id, item in items.items()}
    lines, seconds = clock(lambda: measure_agreement(gathered.reviews, topologies))
    print(f"agreement of {len(gathered.reviews):,} reviews, {len(lines)} lines with intervals: {seconds:.1f} s")
    rows = []
    for kind in (ReviewTaskKind.SINGLE_HOP, ReviewTaskKind.MULTI_HOP):
        for criterion in (VERDICT, *CRITERIA[kind]):
            (found,) = [
                one.reliability.alpha
                for one in lines
                if (one.kind, one.criterion, one.scope) == (kind, criterion, "all")
            ]
            value, low, high = (
                one if one is not None else float("nan") for one in (found.value, found.low, found.high)
            )
            rows.append((f"{kind} {criterion}", value, low, high, expect_alpha(criterion)))
    proof.hold("alpha", rows)


def judge_annotators(
    gathered: CollectedReviews, names: Mapping[str, str], items: Mapping[str, Item], proof: Proof
) -> None:
    """Each of the ten: planted faults found, bias, noise, and who is named for what."""
    profiles = {
        one.name: one for one in profile_annotators((*gathered.reviews, *gathered.gold), items, gathered.gold_items)
    }
    own = {who.name: profiles[names[who.name]] for who in TEN}
    proof.hold(
        "planted faults found (skill)",
        [(who.name, *_unpack(own[who.name]), expect_caught(who, gathered.gold_items)) for who in TEN],
    )
    long = {who.name: expect_profile(place) for place, who in enumerate(TEN)}
    spread = {name: list_differences(gathered.reviews, alias) for name, alias in names.items()}
    bias, noise = [], []
    for name, (differences, of_items) in spread.items():
        mean, error = estimate(differences, of_items)
        square, square_error = estimate((differences - mean) ** 2, of_items)
        proof.expect(abs(mean - (own[name].bias or 0.0)) < 1e-9, f"the bias of {name} is not the mean difference")
        bias.append((name, mean, mean - _Z * error, mean + _Z * error, long[name].bias))
        low, high = (max(0.0, square + sign * _Z * square_error) ** 0.5 for sign in (-1, 1))
        noise.append((name, own[name].noise or 0.0, low, high, long[name].noise))
    proof.hold("bias against the others, points", bias)
    proof.hold("noise with the others, points", noise)
    print("drift from the first fifth to the last, points:")
    for name, profile in own.items():
        said = f"; named: {'; '.join(profile.concerns)}" if profile.concerns else ""
        print(f"  {name:38} {profile.trend or 0.0:+.3f}, expected {long[name].drift:+.3f}{said}")
    for who in TEN:
        concerns = "; ".join(own[who.name].concerns)
        proof.expect(("planted faults" in concerns) == who.careless, f"{who.name} and the planted faults: {concerns!r}")
        proof.expect(("over time" in concerns) == bool(who.drift), f"{who.name} and drift: {concerns!r}")


def list_differences(reviews: Iterable[Review], name: str) -> tuple[Numbers, Numbers]:
    """Somebody's scores less the other's of the same unit, and the item that each is of; for two reviewers a unit."""
    units: dict[ReviewUnit, list[Review]] = {}
    for review in reviews:
        units.setdefault(review.unit, []).append(review)
    less, of_items = [], []
    for unit, pair in units.items():
        if name in (review.annotator for review in pair):
            own, other = sorted(pair, key=lambda review: review.annotator != name)
            theirs = {score.criterion: score.value for score in other.scores}
            for score in own.scores:
                less.append(score.value - theirs[score.criterion])
                of_items.append(unit[0])
    return np.array(less, float), np.array(of_items)


def estimate(values: Numbers, of_items: Numbers) -> tuple[float, float]:
    """The mean, and its standard error when the values of one item belong together."""
    mean = float(values.mean())
    _, item = np.unique(of_items, return_inverse=True)
    sums = np.bincount(item, values - mean)
    return mean, float(np.sqrt((sums**2).sum()) / len(values))


def adjudicate(
    live: LiveServer, run: RunFolder, work: Sequence[Work], items: Mapping[str, Item], proof: Proof
) -> dict[str, dict[tuple[ReviewTaskKind, int | None], Given]]:
    """Decide, push what is disputed, and settle it as is true; returns what was settled, by item."""
    by_item = _group(work)
    (report, disputes), seconds = clock(lambda: decide_reviews(run, Thresholds()))
    outcomes = _list_outcomes(report.decided)
    print(f"decisions: {seconds:.1f} s, {dict(Counter(outcomes.values()))}")
    wrong = [id for id in items if outcomes[id] != expect_outcome(by_item[id], id, Thresholds())]
    print(f"  {len(items) - len(wrong):,} of {len(items):,} items as worked out from what was given")
    proof.expect(not wrong, f"{len(wrong)} outcomes are others, {wrong[:3]} among them")
    found = Counter((one.task["data"]["item_id"], one.of, one.task["data"].get("hop")) for one in disputes)
    wanted = {(id, *unit) for id in items for unit in expect_disputes(by_item[id], id, Thresholds())}
    proof.expect(found == Counter(wanted), f"{len(found)} disputes, not {len(wanted)}")
    pushed, seconds = clock(lambda: push_adjudication(run, live.url, disputes))
    print(f"adjudication: {sum(one.new for one in pushed):,} tasks pushed in {seconds:.1f} s")

    context = open_context(run)
    settled: dict[str, dict[tuple[ReviewTaskKind, int | None], Given]] = {}
    jobs = []
    for dispute in disputes:
        data = dispute.task["data"]
        given = settle(items[data["item_id"]], dispute.of, data.get("hop"), context)
        settled.setdefault(data["item_id"], {})[dispute.of, data.get("hop")] = given
        jobs.append((key_of(data) or "", dispute.of, given))
    judge = live.add_person("judge-bench")
    start = time.perf_counter()
    post_settled(live, run, judge, jobs)
    print(f"settled through the API in {time.perf_counter() - start:.0f} s")
    done, seconds = clock(lambda: pull_reviews(run, live.url))
    print(f"pull: {sum(one.new for one in done.pulled):,} annotations in {seconds:.1f} s")
    proof.expect(sum(one.new for one in done.pulled) == len(disputes), "not every settlement came home")
    return settled


def settle(item: Item, kind: ReviewTaskKind, hop: int | None, context: CheckContext) -> Given:
    """What is true of a unit, in whole stars; a Fix for which there is no harmless wording is a Retain."""
    truth = draw_truth(item.id, kind, hop)
    stars = {name: min(5, max(1, round(quality))) for name, quality in truth.quality.items()}
    text = reword(item, kind, hop, context) if truth.verdict == "Fix" else ""
    verdict = "Retain" if truth.verdict == "Fix" and not text else truth.verdict
    return Given(verdict, stars, fixes={FIX_QUESTION: text} if text else {})


def post_settled(
    live: LiveServer, run: RunFolder, judge: Person, jobs: Sequence[tuple[str, ReviewTaskKind, Given]]
) -> None:
    """Post the adjudicator's word on every dispute."""
    ledger = Ledger(ledger_path(run.path, live.url))
    tasks = {}
    for id in ledger.projects():
        for entry in ledger.entries(id).values():
            if entry.kind is ReviewTaskKind.ADJUDICATION:
                of = ReviewTaskKind.SINGLE_HOP if "#" in entry.key else ReviewTaskKind.MULTI_HOP
                tasks[entry.key, of] = entry.task
    client = live.client_of(judge.token)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(lambda job: client.annotations.create(tasks[job[0], job[1]], result=answers(job[2])), jobs))


def accept(
    run: RunFolder,
    work: Sequence[Work],
    items: Mapping[str, Item],
    settled: Mapping[str, Mapping[tuple[ReviewTaskKind, int | None], Given]],
    proof: Proof,
) -> None:
    """Decide once more, and write the accepted set."""
    report, disputes = decide_reviews(run, Thresholds())
    outcomes = _list_outcomes(report.decided)
    by_item = _group(work)
    print(f"decided: {dict(Counter(outcomes.values()))}, {len(disputes)} left to settle")
    wrong = [id for id in items if outcomes[id] != expect_outcome(by_item[id], id, Thresholds(), settled.get(id))]
    print(f"  {len(items) - len(wrong):,} of {len(items):,} items as worked out from what was given and settled")
    proof.expect(not wrong, f"{len(wrong)} outcomes are others: {[(id, outcomes[id]) for id in wrong[:3]]}")
    proof.expect(not disputes, f"{len(disputes)} disputes are left")
    with run.hold():
        manifest = write_accepted(run, AdjudicateRun(run=run.name), report)
    accepted = [item for part in sorted((run.path / ACCEPTED).glob("part-*.parquet")) for item in read_items(part)]
    rewording = sum("corrected" in item.checks[-1].reason for item in accepted)
    print(f"accepted set: {len(accepted):,} items written, {rewording} of them with corrections")
    wanted = {id for id, outcome in outcomes.items() if outcome == "accepted"}
    proof.expect({item.id for item in accepted} == wanted, "the accepted set is another one")
    proof.expect(manifest.counts.out + sum(manifest.counts.rejected.values()) == len(items), "counts do not add up")
    proof.expect(
        all(check.outcome != "fail" for item in accepted for check in item.checks), "an accepted item fails a check"
    )
    for row in report.scores:
        print(f"  {row.kind:10} {row.criterion:22} {row.mean:.2f} ± {row.deviation:.2f} over {row.items:,} items")


def clock(work: Callable[[], _T]) -> tuple[_T, float]:
    """A result, and the seconds that it took."""
    start = time.perf_counter()
    found = work()
    return found, time.perf_counter() - start


def _post_all(
    live: LiveServer, token: str, mine: Sequence[Work], tasks: Mapping[tuple[ReviewTaskKind, str], int]
) -> None:
    client = live.client_of(token)
    for number, one in enumerate(mine, 1):
        task = tasks[one.job.kind, task_key(one.job.item_id, one.job.hop)]
        client.annotations.create(task, result=answers(one.given), lead_time=one.given.seconds)
        if number % 250 == 0:
            print(f"  {one.job.annotator.name}: {number} of {len(mine)}", flush=True)


def _group(work: Iterable[Work]) -> dict[str, list[Work]]:
    found: dict[str, list[Work]] = {}
    for one in work:
        found.setdefault(one.job.item_id, []).append(one)
    return found


def _list_outcomes(decided: Iterable[Decided]) -> dict[str, str]:
    return {one.item.id: one.decision.check or "accepted" for one in decided}


def _unpack(profile: Profile) -> tuple[float, float, float]:
    gold = profile.gold
    return gold.value or 0.0, gold.low or 0.0, gold.high or 0.0


if __name__ == "__main__":
    sys.exit(main())
