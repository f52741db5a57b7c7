"""The rounds of a review without Prefect: pull, questions, agreement, decisions, adjudication."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopwright.checks import CheckContext
from hopwright.errors import RunError, ServiceError
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import Item
from hopwright.records.arrow import read_items, read_reviews
from hopwright.runs import RunFolder, Stage
from hopwright.runs.files import hold_lock
from hopwright.stages.release_sets import ReviewParts
from hopwright.stages.resources import find_store, open_graph

if TYPE_CHECKING:  # the SDK takes a second to import
    from annotation.accepted import Decided
    from annotation.adjudication import Dispute
    from annotation.correction_requests import ReturnReport
    from annotation.decisions import Thresholds
    from annotation.pull import Project, PullReport
    from annotation.push import PushReport
    from annotation.report import ReviewReport
    from annotation.review_collection import CollectedReviews
    from annotation.server import Server

_PASSAGES = "rewrite/passages"
_PATIENCE_S = 60.0
REPORT = "report"
"""The folder of the report, beside the reviews."""


@dataclass(frozen=True, slots=True)
class PullRound:
    """What one pull of all projects brought; `missing` names projects that are not on the server any more."""

    pulled: tuple[PullReport, ...]
    missing: tuple[str, ...]

    @property
    def news(self) -> int:
        """Annotations that came, changed or went."""
        return sum(one.new + one.changed + one.removed for one in self.pulled)


@contextlib.contextmanager
def lock_reviews(run: RunFolder) -> Iterator[Path]:
    """The folder of a run's reviews, for this process alone. Raises RunError when another one has it and keeps it.

    A pull takes seconds: whoever is to decide meanwhile waits, rather than fail for it.
    """
    from annotation.review_collection import reviews_folder

    folder = reviews_folder(run.home, run.name)
    with hold_lock(run.home / "locks" / f"{run.name}.reviews.lock", f"the review of run {run.name!r}", _PATIENCE_S):
        yield folder


def pull_reviews(run: RunFolder, url: str, *, full: bool = False) -> PullRound:
    """Pull every project of a run from a server.

    Raises InputError for a run without pushed tasks or an address or token that cannot be one, ServiceError for what
    the server refuses. A project that is gone stops nothing: the others are pulled, and the round names it.
    """
    from annotation.access import find_token
    from annotation.journal import Journal
    from annotation.pseudonyms import Pseudonyms
    from annotation.pull import pull_project
    from annotation.review_collection import journal_folder
    from annotation.server import open_server
    from annotation.server_reading import NotOnServerError

    with lock_reviews(run) as folder, open_server(url, find_token(url)) as server:
        pseudonyms = Pseudonyms(folder)
        pulled: list[PullReport] = []
        missing: list[str] = []
        for project in find_projects(run, server, missing):
            journal = Journal(journal_folder(folder, server.url, project.id))
            try:
                pulled.append(pull_project(server, project, journal, pseudonyms, full=full))
            except NotOnServerError as error:
                missing.append(str(error))
    return PullRound(tuple(pulled), tuple(missing))


def find_projects(run: RunFolder, server: Server, missing: list[str]) -> list[Project]:
    """The projects of a run on a server, as its ledger knows them; those that are gone are named in `missing`.

    Raises RunError when nothing of the run was pushed there.
    """
    from annotation.ledger import Ledger, ledger_path
    from annotation.pull import Project
    from annotation.schema import ReviewTaskKind, split_key
    from annotation.server_reading import NotOnServerError, list_tasks

    ledger = Ledger(ledger_path(run.path, server.url))
    if not ledger.projects():
        raise RunError(
            f"nothing of run {run.name!r} was pushed to {server.url}: `hopwright review push --run {run.name}` does"
        )
    projects = []
    for id in ledger.projects():
        entries = ledger.entries(id)
        kind = next(iter(entries.values())).kind
        if kind is ReviewTaskKind.ADJUDICATION:  # few tasks; which kind they settle stands in them
            try:
                data = {task["id"]: task["data"] for task in list_tasks(server, id, "id,data")}
            except NotOnServerError as error:
                missing.append(str(error))
                continue
            of = next((ReviewTaskKind(one["of"]) for one in data.values() if "of" in one), None)
            projects.append(Project(id, kind, of, data))
            continue
        known = {}
        for entry in entries.values():
            item_id, hop = split_key(entry.key)
            about = {"item_id": item_id, "kind": entry.kind.value, "item_hash": entry.item_hash}
            known[entry.task] = about if hop is None else {**about, "hop": hop}
        projects.append(Project(id, kind, None, known))
    return projects


def return_failed_corrections(run: RunFolder, url: str) -> ReturnReport:
    """Check every correction again, and bring the questions about those that do not hold to the server."""
    from annotation.accepted import find_problems
    from annotation.access import check_address, find_token
    from annotation.correction_requests import list_questions, return_questions
    from annotation.decisions import latest_reviews
    from annotation.review_collection import gather, journal_folder, list_journals
    from annotation.server import open_server

    with lock_reviews(run) as folder:
        gathered = gather(folder, run.path)
        problems = find_problems(gathered.reviews, load_items(run), open_context(run))
        here = journal_folder(folder, check_address(url), 0).parent
        there = {review.key for journal in list_journals(here) for review in journal.read().reviews}
        reviews = [one for one in latest_reviews(gathered.reviews) if one.key in there]
        questions = list_questions(reviews, problems)
        with open_server(url, find_token(url)) as server:
            return return_questions(questions, server, here)


def measure_reviews(run: RunFolder, *, seed: int = 0) -> ReviewReport:
    """Agreement and annotators' profiles, written as a report. Raises RunError when nothing was pulled yet."""
    from annotation.review_collection import gather

    with lock_reviews(run) as folder:
        return _report(run, folder, gather(folder, run.path), seed)


def decide_reviews(run: RunFolder, thresholds: Thresholds, *, seed: int = 0) -> tuple[ReviewReport, list[Dispute]]:
    """Decide every item under review, write the report, and list what an adjudicator has to settle."""
    from annotation.accepted import decide_all, list_conflicts
    from annotation.adjudication import build_disputes
    from annotation.review_collection import gather

    with lock_reviews(run) as folder:
        gathered = gather(folder, run.path)
        decided = decide_all(gathered, load_items(run), open_context(run), thresholds)
        report = _report(run, folder, gathered, seed, decided)
        return report, build_disputes(list_conflicts(decided), gathered.tasks)


def push_adjudication(run: RunFolder, url: str, disputes: list[Dispute]) -> list[PushReport]:
    """Bring disputes to a server; repeated, it makes no doubles."""
    from annotation.access import find_token
    from annotation.adjudication import push_disputes
    from annotation.server import open_server

    with lock_reviews(run) as folder, open_server(url, find_token(url)) as server:
        return push_disputes(disputes, server, run.path, folder)


def load_items(run: RunFolder) -> dict[str, Item]:
    """The items and the twins of a run, by id; with their passages, once the rewriting has looked for them."""
    parts = [*Stage(run, "filter").parts(), *(part for stage in _list_rewritten(run) for part in stage.parts())]
    return {item.id: item for part in parts for item in read_items(part)}


def hash_items(run: RunFolder) -> dict[str, str]:
    """The files that `load_items` reads → their hashes."""
    found = Stage(run, "filter").output_hashes()
    for stage in _list_rewritten(run):
        found |= stage.output_hashes()
    return found


def open_context(run: RunFolder) -> CheckContext:
    """What checks consult, as when the items were made."""
    made = Stage(run, "synthesize/drafts").read().parameters.get("synthesize", {})
    return CheckContext(default_table(), graph=open_graph(find_store(run)), min_domains=int(made.get("min_domains", 2)))


def refuse_missing(done: PullRound) -> None:
    """Raises ServiceError for a project that is gone, once everything else is safe."""
    if done.missing:
        more = f" (and {len(done.missing) - 1} more)" if len(done.missing) > 1 else ""
        raise ServiceError(
            f"{done.missing[0]}{more}; what was pulled before is kept, and `hopwright review push` makes it anew"
        )


def _list_rewritten(run: RunFolder) -> list[Stage]:
    """The stages of the rewriting that are finished: a review needs none of them."""
    return [stage for name in (_PASSAGES, "rewrite") if (stage := Stage(run, name)).find_finished() is not None]


def _report(
    run: RunFolder, folder: Path, gathered: CollectedReviews, seed: int, decided: list[Decided] | None = None
) -> ReviewReport:
    from annotation.accepted import table_of_scores
    from annotation.agreement import measure_agreement, measure_blind_answers
    from annotation.annotators import profile_annotators
    from annotation.report import ReviewReport, write_report

    if not gathered.reviews and not gathered.gold:
        raise RunError(
            f"run {run.name!r} has no reviews of its present tasks; "
            f"`hopwright review pull --run {run.name}` fetches what there is"
        )
    items = load_items(run)
    report = ReviewReport(
        run=run.name,
        reviews=gathered.reviews,
        agreement=measure_agreement(gathered.reviews, {id: item.topology for id, item in items.items()}, seed=seed),
        profiles=profile_annotators((*gathered.reviews, *gathered.gold), items, gathered.gold_items),
        blind=measure_blind_answers(gathered.reviews, items),
        stale=gathered.stale,
        refused=len(gathered.refused),
        decided=decided or (),
        scores=table_of_scores(decided or ()),
    )
    write_report(report, folder / REPORT)
    return report


def describe_review(review: ReviewParts) -> dict[str, Any]:
    """The facts of a review: who said how much, what it came to, and how far the annotators agree."""
    from annotation.agreement import measure_agreement

    reviews = read_reviews(review.reviews)
    lines = measure_agreement(reviews, {one.item_id: "" for one in reviews}, pairs=False)
    return {
        "annotators": len({one.annotator for one in reviews}),
        "reviews": len(reviews),
        "outcomes": dict(review.outcomes),
        "scores": dict(review.scores),
        "agreement": [
            {
                "kind": line.kind,
                "criterion": line.criterion,
                "units": line.reliability.units,
                "alpha": line.reliability.alpha.value,
                "low": line.reliability.alpha.low,
                "high": line.reliability.alpha.high,
            }
            for line in lines
            if line.scope == "all"
        ],
    }
