"""Expert review the whole way round: people log in and work in the page, and what they gave comes home."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from annotation.export import build_task, build_tasks
from annotation.forms import load_interface, parse_interface
from annotation.ledger import Ledger, ledger_path
from annotation.review_collection import gather, reviews_folder
from annotation.schema import CRITERIA, FIX_QUESTION, FIXES, ReviewTaskKind
from annotation.stages.accepted import DecidedShard, keep_accepted
from annotation.stages.reviews import decide_reviews, measure_reviews, pull_reviews, push_adjudication
from hopwright.checks import CheckContext
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Item
from tests.annotation.reviews import choose, rate
from tests.annotation.rounds import make_run, push_run, reword
from tests.conftest import SAMPLE
from tests.drafts import draft_items
from tests.e2e.label_studio import LiveServer, Person
from tests.e2e.review_pages import (
    Answer,
    LogIn,
    find_annotations,
    make_items,
    make_twin,
    open_browser,
    open_task,
    push_to,
    review_next,
)

pytestmark = [pytest.mark.e2e, pytest.mark.servers]

ITEMS, IN_PAGE = 20, 2
FIVES = (5, 5, 5, 5, 5)


@dataclass(frozen=True)
class Annotator:
    """Somebody with an account, and the page where he is logged in."""

    person: Person
    page: Any


@pytest.fixture(scope="module")
def log_in(label_studio: LiveServer) -> Iterator[LogIn]:
    """Opens a page for whoever logs in."""
    with open_browser(label_studio) as log_in:
        yield log_in


@pytest.fixture(scope="module")
def annotators(label_studio: LiveServer, log_in: LogIn) -> tuple[Annotator, Annotator]:
    """Anna and Ben, who made their accounts by themselves and logged in."""
    people = [label_studio.add_person(name) for name in ("anna", "ben")]
    anna, ben = (Annotator(person, log_in(person.email, person.password)) for person in people)
    return anna, ben


def test_two_people_review_hops_and_twins_by_keyboard(
    label_studio: LiveServer, annotators: tuple[Annotator, Annotator], tmp_path: Path
) -> None:
    """The second one gets what the first one has begun, nobody gets a task twice, and all answers fit the interface."""
    items = make_items(3)
    tasks = {
        ReviewTaskKind.SINGLE_HOP: [task for item in items for task in build_tasks(item) if "hop" in task["data"]],
        ReviewTaskKind.TWIN: [build_task(make_twin(), ReviewTaskKind.TWIN)],
    }
    projects = {
        kind: push_to(label_studio, f"By keyboard: {kind}", some, tmp_path, kind).project
        for kind, some in tasks.items()
    }
    people = [one.person for one in annotators]
    for one in annotators:
        for kind, project in projects.items():
            scores = (4, *FIVES[1 : len(CRITERIA[kind])])
            fix = Answer("Fix", scores, "Bad grammar", ((1, "corrected in the page"),))
            answer = fix if kind is ReviewTaskKind.TWIN else Answer("Retain", scores)
            review_next(one.page, label_studio, project, kind, lambda _, answer=answer: answer)

    for kind, project in projects.items():
        form = parse_interface(load_interface(kind))
        given = find_annotations(label_studio, project)
        assert all([one["completed_by"] for one in some] == [person.id for person in people] for some in given.values())
        for annotation in (one for some in given.values() for one in some):
            assert form.validate_prediction({"result": annotation["result"]}, return_errors=True) == []
            values = {one["from_name"]: one["value"] for one in annotation["result"]}
            given_scores = [values[name]["choices"] for name in CRITERIA[kind]]
            assert given_scores == [["4"], *(["5"] for _ in CRITERIA[kind][1:])]
            assert values["comment"]["text"] == ["Looked up twice."]
            if values["verdict"]["choices"] == ["Fix"]:
                assert set(FIXES) <= set(values)
                assert values["fix_answer"]["text"] == ["corrected in the page"]
                assert len(values["errors"]["choices"]) == 1
            else:
                assert not set(FIXES) & set(values), "a correction that nobody saw was sent"


def test_the_whole_way_round(
    label_studio: LiveServer,
    log_in: LogIn,
    annotators: tuple[Annotator, Annotator],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Push, review and correct in the page, pull, agree and differ, adjudicate in the page, accept."""
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path))
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", label_studio.token)
    graph = GraphStore.open(ingest_sample(tmp_path / "stores" / "sample"))
    context = CheckContext(default_table(), graph=graph)
    pool = draft_items(graph, 8 * ITEMS)  # few can be worded in another way that all checks let pass
    able = (item for item in pool if reword(item, ReviewTaskKind.MULTI_HOP, None, context))
    items = {item.id: item for item in itertools.islice(able, ITEMS)}
    run = make_run(tmp_path, Path("stores/sample"), list(items.values()), name="in-page", kinds=("multi_hop",))
    ledger = push_run(run, label_studio.url, label_studio.token)
    (project,) = ledger.projects()
    assert len(ledger.entries(project)) == ITEMS

    anna, ben = (one.person for one in annotators)
    plan = Plan(items, context)
    for one, decide in zip(annotators, (plan.ask_anna, plan.ask_ben), strict=True):
        done = [review_next(one.page, label_studio, project, ReviewTaskKind.MULTI_HOP, decide) for _ in range(IN_PAGE)]
        assert len(set(done)) == IN_PAGE, "a task came twice"
    assert set(done) == set(plan.given), "the second one gets what the first one has begun"
    assert plan.corrected
    assert plan.disputed
    for person in (anna, ben):  # the rest by the same way that the page takes
        client = label_studio.client_of(person.token)
        for key, entry in ledger.entries(project).items():
            if key not in plan.given:
                fives = [rate(name, 5) for name in CRITERIA[ReviewTaskKind.MULTI_HOP]]
                client.annotations.create(entry.task, result=[choose("verdict", "Retain"), *fives], lead_time=90.0)

    pulled = pull_reviews(run, label_studio.url)
    assert [one.new for one in pulled.pulled] == [2 * ITEMS]
    report = measure_reviews(run)
    assert len(report.reviews) == 2 * ITEMS
    alphas = {line.criterion: line.reliability for line in report.agreement if line.scope == "all"}
    assert all(alphas[name].units == ITEMS for name in ("verdict", *CRITERIA[ReviewTaskKind.MULTI_HOP]))
    assert alphas["verdict"].alpha.value < 1
    in_page = [review for review in report.reviews if review.item_id in plan.given]
    assert all(review.seconds and review.seconds < 300 for review in in_page), "the page's own clock"
    corrections = {review.item_id for review in report.reviews if review.verdict == "Fix"}
    assert corrections == {plan.corrected}

    decided, disputes = decide_reviews(run, plan.thresholds)
    # The corrected question is among them: nobody has scored what it reads now.
    assert {one.task["data"]["item_id"] for one in disputes} == {plan.corrected, plan.disputed}
    (pushed,) = push_adjudication(run, label_studio.url, disputes)
    settle_in_page(label_studio, log_in, pushed.project, plan, run.path)
    assert sum(one.new for one in pull_reviews(run, label_studio.url).pulled) == 2

    decided, disputes = decide_reviews(run, plan.thresholds)
    assert not disputes
    rows = keep_accepted(DecidedShard(list(decided.decided)))
    accepted = {row["id"]: row for row in rows.rows.to_pylist()}
    assert accepted.keys() == items.keys()
    assert accepted[plan.corrected]["question"] == plan.wording
    assert "adjudicated" in accepted[plan.disputed]["checks"][-1]["reason"]
    assert all(check["outcome"] != "fail" for row in accepted.values() for check in row["checks"])
    texts = "".join(path.read_text("utf-8", "replace") for path in reviews_folder(run.home, run.name).rglob("*.md"))
    assert anna.email not in texts
    assert gather(reviews_folder(run.home, run.name), run.path).refused == ()


class Plan:
    """What the two give in the page: one item corrected alike by both, one disputed, the others retained."""

    def __init__(self, items: dict[str, Item], context: CheckContext) -> None:
        from annotation.decisions import Thresholds

        self.thresholds = Thresholds()
        self.given: dict[str, Answer] = {}
        self.corrected = self.disputed = self.wording = ""
        self._items = items
        self._context = context

    def ask_anna(self, item: str) -> Answer:
        """Her answer: the first question is corrected, the second one will be disputed."""
        self.given[item] = Answer("Retain", FIVES)
        if not self.corrected:
            self.corrected, self.wording = (
                item,
                reword(self._items[item], ReviewTaskKind.MULTI_HOP, None, self._context),
            )
            self.given[item] = Answer(
                "Fix", (5, 5, 5, 4, 5), "Ambiguous wording", ((FIXES.index(FIX_QUESTION), self.wording),)
            )
        elif not self.disputed:
            self.disputed = item
        return self.given[item]

    def ask_ben(self, item: str) -> Answer:
        """His answer: like hers, but for the disputed item, which he would discard."""
        if item == self.disputed:
            return Answer("Discard", (2, 3, 4, 4, 4), "Broken chain", comment="The second hop feeds nothing.")
        return self.given[item]

    def ask_maintainer(self, item: str) -> Answer:
        """The correction is taken over, the disputed item retained."""
        if item == self.corrected:
            return Answer("Fix", FIVES, corrections=((FIXES.index(FIX_QUESTION), self.wording),))
        return Answer("Retain", FIVES, comment="It does: see hop 3.")


def ingest_sample(store: Path) -> Path:
    ingest(SAMPLE, store)
    return store


def settle_in_page(server: LiveServer, log_in: LogIn, project: int, plan: Plan, run: Path) -> None:
    """The maintainer sees what both said, under pseudonyms, and settles it."""
    page = log_in(server.email, server.password)
    entries = Ledger(ledger_path(run, server.url)).entries(project)
    open_task(page, server, project, entries[plan.disputed].task)
    table: Any = page.locator(".hw-reviews").inner_text()
    assert "Retain" in table
    assert "Discard" in table
    assert "The second hop feeds nothing." in table
    assert "@" not in table, "a reviewer's address is shown"
    assert page.locator(".hw-differs").count() >= 2
    done = [review_next(page, server, project, ReviewTaskKind.ADJUDICATION, plan.ask_maintainer) for _ in entries]
    assert set(done) == {plan.corrected, plan.disputed}
    page.context.close()
