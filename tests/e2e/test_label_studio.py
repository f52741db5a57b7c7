"""Expert review against a real Label Studio server, worked on in a real browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from annotation.export import build_adjudication, build_task, build_tasks
from annotation.files import Entry, write_tasks
from annotation.forms import Task, load_interface, parse_interface
from annotation.gold import plant_gold
from annotation.ledger import Ledger, ledger_path
from annotation.push import PushReport, push, push_folder
from annotation.schema import CRITERIA, FIXES, Kind, ShownReview, criteria_of
from annotation.server import open_server
from hopwright.errors import ServiceError
from hopwright.records import CheckResult, Item, Passage, Surrogate, Vote
from tests.annotation.pages import plant
from tests.builders import all_items, chain_item
from tests.e2e.label_studio import ROOT, LiveServer

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]  # the first run installs the server: about 2 minutes

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
IMAGES = os.environ.get("HOPWRIGHT_UPDATE_IMAGES")
"""Set to keep the screenshots in docs/images."""
PLANTED = {
    "markup": "<script>window.planted = 1</script><img src=x onerror='window.planted = 2'>{{7*7}}${7*7} "
    "\u202eright to left\u202e \u05d0\u05d1\u05d2 <svg onload='window.planted = 3'>",
    "long": "averylongwordwithoutanyspace" * 360,
}

PLACES = {
    Kind.SINGLE_HOP: (".hw-facts bdi", ".hw-passage bdi", ".hw-verify bdi", ".hw-context bdi"),
    Kind.MULTI_HOP: (".hw-text bdi", ".hw-answer bdi", ".hw-verify bdi"),
    Kind.TWIN: (".hw-text bdi", ".hw-answer bdi", ".hw-passage bdi", ".hw-world bdi"),
    Kind.ADJUDICATION: (".hw-text bdi", ".hw-answer bdi", ".hw-reviews bdi"),
}
"""Where a kind's page shows texts of an item, besides question, options, checks and id."""
LogIn = Callable[[str, str], Any]


@pytest.fixture(scope="module")
def log_in(label_studio: LiveServer) -> Iterator[LogIn]:
    """Opens a page of 1280×800 for whoever logs in."""
    if BROWSER is None:
        pytest.skip("no Chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield lambda email, password: open_page(browser, label_studio.url, email, password)
        browser.close()


@pytest.fixture(scope="module")
def page(log_in: LogIn, label_studio: LiveServer) -> Any:
    """The maintainer's page."""
    return log_in(label_studio.email, label_studio.password)


def test_pushing_twice_makes_no_duplicate_and_changes_arrive(label_studio: LiveServer, tmp_path: Path) -> None:
    items = make_items(20)
    planted = next(plant_gold(make_items(1), Kind.SINGLE_HOP, 0))
    entries = [Entry(item, agreement=number < 2) for number, item in enumerate(items)]
    entries += [Entry(planted.item, gold=planted.gold), Entry(make_twin())]
    write_tasks(entries, tmp_path / "tasks")
    run = tmp_path / "twice"
    with open_server(label_studio.url, label_studio.token) as server:
        first = push_folder(tmp_path / "tasks", server, run)
        assert [(report.created, report.new) for report in first] == [(True, 81), (True, 20), (True, 1)]
        again = push_folder(tmp_path / "tasks", server, run)
        assert [(report.created, report.unchanged) for report in again] == [(False, 81), (False, 20), (False, 1)]
        ledger_path(run, label_studio.url).unlink()
        lost = push_folder(tmp_path / "tasks", server, run)
        assert [(report.new, report.unchanged) for report in lost] == [(0, 81), (0, 20), (0, 1)]
        whole = first[1].project
        before = label_studio.tasks(whole)
        assert {key: task.overlap for key, task in before.items() if task.overlap != 2} == {
            items[0].id: 3, items[1].id: 3,
        }  # fmt: skip

        reworded = items[0].model_copy(update={"question": "Reworded?"})
        write_tasks([Entry(one) for one in (reworded, *items[1:], *make_items(21)[20:])], tmp_path / "tasks")
        report = push_folder(tmp_path / "tasks", server, run)[1]
    assert (report.new, report.updated, report.unchanged, report.refused) == (1, 1, 19, ())
    after = label_studio.tasks(whole)
    assert len(after) == 21
    assert after[reworded.id].id == before[reworded.id].id
    assert after[reworded.id].data["question"] == "Reworded?"
    assert {task.overlap for task in after.values()} == {2}
    (prediction,) = label_studio.client.predictions.list(task=after[reworded.id].id)
    assert prediction.result[0]["value"]["text"] == ["Reworded?"]
    project = label_studio.client.projects.get(whole)
    assert parse_interface(project.label_config)
    assert "Reviewing a multi-hop question" in project.expert_instruction


def test_annotated_item_that_changed_is_refused_and_said_so(label_studio: LiveServer, tmp_path: Path) -> None:
    items = make_items(3)
    tasks = [build_task(item, Kind.MULTI_HOP) for item in items]
    report = push_to(label_studio, "Refused", tasks, tmp_path)
    held = label_studio.tasks(report.project)
    label_studio.client.annotations.create(held[items[0].id].id, result=[choose("verdict", "Retain")])

    changed = [build_task(item.model_copy(update={"question": "Changed?"}), Kind.MULTI_HOP) for item in items[:2]]
    report = push_to(label_studio, "Refused", [*changed, tasks[2]], tmp_path)
    assert (report.new, report.updated, report.unchanged) == (0, 1, 1)
    assert [one.key for one in report.refused] == [items[0].id]
    assert "it has 1 annotation" in report.refused[0].reason
    assert "1 refused" in report.summary
    assert label_studio.tasks(report.project)[items[0].id].data == tasks[0]["data"]
    assert push_to(label_studio, "Refused", tasks[2:], tmp_path).others == 2


def test_wrong_token_is_one_line_that_does_not_repeat_it(label_studio: LiveServer) -> None:
    wrong = "0" * 40
    with pytest.raises(ServiceError, match="refuses the token") as caught, open_server(label_studio.url, wrong):
        pass
    assert wrong not in str(caught.value)


def test_two_people_review_in_the_page(label_studio: LiveServer, log_in: LogIn, tmp_path: Path) -> None:
    """Each scores, corrects and submits by keyboard; nobody gets a task twice, and all answers fit the interface."""
    items = make_items(20)
    tasks = [task for item in items for task in build_tasks(item)]
    by_kind = {
        kind: [task for task in tasks if task["data"]["kind"] == kind] for kind in (Kind.SINGLE_HOP, Kind.MULTI_HOP)
    }
    by_kind[Kind.TWIN] = [build_task(make_twin(), Kind.TWIN)]
    projects = {
        kind: push_to(label_studio, f"Omnibus: {kind}", some, tmp_path, kind).project for kind, some in by_kind.items()
    }
    people = [label_studio.add_person(name) for name in ("anna", "ben")]
    for person in people:
        page = log_in(person.email, person.password)
        for kind, project in projects.items():
            for fixes in (False, True) if kind is not Kind.TWIN else (True,):
                review_next(page, label_studio, project, kind, fixes=fixes)
        page.context.close()

    for kind, project in projects.items():
        form = parse_interface(load_interface(kind))
        given = find_annotations(label_studio, project)
        everything = [annotation for some in given.values() for annotation in some]
        assert {annotation["completed_by"] for annotation in everything} == {person.id for person in people}
        # The second one gets what the first one has begun, and nobody gets a task twice.
        assert all([one["completed_by"] for one in some] == [person.id for person in people] for some in given.values())
        for annotation in everything:
            assert form.validate_prediction({"result": annotation["result"]}, return_errors=True) == []
            values = {one["from_name"]: one["value"] for one in annotation["result"]}
            assert {values[name]["rating"] for name in CRITERIA[kind][1:]} == {5}
            assert values[CRITERIA[kind][0]]["rating"] == 4
            assert values["comment"]["text"] == ["Looked up twice."]
            if values["verdict"]["choices"] == ["Fix"]:
                assert set(FIXES) <= set(values)
                assert values["fix_answer"]["text"] == ["corrected in the page"]
            else:
                assert not set(FIXES) & set(values), "a correction that nobody saw was sent"


@pytest.mark.parametrize("kind", Kind)
def test_every_interface_fits_the_window(label_studio: LiveServer, page: Any, tmp_path: Path, kind: Kind) -> None:
    for task, item in make_showcase(kind):
        of = Kind(task["data"]["of"]) if "of" in task["data"] else None
        report = push_to(label_studio, f"Showcase: {kind}", [task], tmp_path, kind, of)
        held = label_studio.tasks(report.project)
        (id,) = [one.id for key, one in held.items() if key.startswith(item.id)]
        open_task(page, label_studio, report.project, id)
        assert_fits(page)
        assert page.locator(".hw-right").first.inner_text().split("\n")[0] in "ABCD"
        assert_graph_is_right(page, item)
        keep_screenshot(page, tmp_path, f"review-{kind}-{item.topology}", docs=False)
        page.keyboard.press("s")
        page.locator("[data-testid=textarea-region]").nth(5).wait_for()
        for number, _ in enumerate(criteria_of(kind, of), 1):
            for _ in range(4):
                page.keyboard.press(str(number))
        shown = [text.strip() for text in page.locator("[data-testid=textarea-region]").all_inner_texts()]
        filled = [one["value"]["text"][0] for one in task["predictions"][0]["result"]]
        assert shown == filled, "corrections are not pre-filled"
        assert_fits(page)
        form = page.locator(".hw-form")
        assert form.evaluate("one => one.scrollHeight - one.clientHeight") <= 0, "the form has to be scrolled"
        keep_screenshot(page, tmp_path, f"review-{kind}-{item.topology}-fix", docs=False)
    # The queue that an annotator works through, which has the whole window; its next task is the first one.
    begin_labelling(page, label_studio, report.project)
    page.keyboard.press("s" if kind is Kind.MULTI_HOP else "a")
    for number, _ in enumerate(criteria_of(kind, of), 1):
        for _ in range(5 - number % 2):
            page.keyboard.press(str(number))
    keep_screenshot(page, tmp_path, f"review-{kind.replace('_', '-')}")
    assert_fits(page)


def test_instructions_are_shown_first(label_studio: LiveServer, page: Any, tmp_path: Path) -> None:
    report = push_to(label_studio, "Instructions", [build_task(chain_item(), Kind.MULTI_HOP)], tmp_path)
    page.goto(f"{label_studio.url}/projects/{report.project}/data?labeling=1")
    page.get_by_text("Labeling Instructions").wait_for()
    assert page.get_by_role("heading", name="1 Logical integrity").is_visible()
    keep_screenshot(page, tmp_path, "review-instructions")
    page.keyboard.press("Escape")


@pytest.mark.parametrize("planted", list(PLANTED))
@pytest.mark.parametrize("kind", Kind)
def test_planted_text_is_shown_as_text_and_the_page_stays_usable(
    label_studio: LiveServer, page: Any, tmp_path: Path, kind: Kind, planted: str
) -> None:
    text = PLANTED[planted]
    item = plant(make_items(1)[0], text)
    task, of = make_task(item, kind, text)
    report = push_to(label_studio, f"Planted {planted}: {kind}", [task], tmp_path, kind, of)
    page.evaluate("window.planted = undefined")
    dialogs: list[Any] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog))
    (held,) = label_studio.tasks(report.project).values()
    open_task(page, label_studio, report.project, held.id)
    for place in (".hw-question bdi", ".hw-option bdi", ".hw-check bdi", ".hw-id bdi", *PLACES[kind]):
        assert text in page.locator(place).last.text_content(), place
    page.keyboard.press("s")
    page.locator("[data-testid=textarea-region]").nth(5).wait_for()
    assert_fits(page)
    keep_screenshot(page, tmp_path, f"planted-{planted}-{kind}", docs=False)
    assert page.evaluate("window.planted") is None
    assert not dialogs
    button = page.get_by_role("button", name="Submit").first
    box = button.bounding_box()
    assert box["y"] + box["height"] <= 800
    for number, _ in enumerate(criteria_of(kind, of), 1):
        page.keyboard.press(str(number))
    button.click()
    (annotation,) = wait_for_annotations(label_studio, held.id, 1)
    given = {one["from_name"]: one["value"] for one in annotation["result"]}
    assert given["fix_question"]["text"] == [text], "the text went through the page unchanged"


def make_items(count: int) -> list[Item]:
    """Items of all three graphs, told apart by their ids, as they look after the checks and the filter."""
    items = []
    for number in range(count):
        item = all_items()[number % 3]
        hops = tuple(
            hop.model_copy(
                update={
                    "evidence": hop.evidence.model_copy(
                        update={"wikipedia_url": f"https://en.wikipedia.org/wiki/Special:Search/Q{number + 1}"}
                    )
                }
            )
            for hop in item.hops
        )
        passed = ("schema", "dependencies", "uniqueness", "recomputation", "leakage", "distractors", "domains")
        items.append(
            item.model_copy(
                update={
                    "id": f"{item.id[:-4]}{number:04}",
                    "hops": hops,
                    "checks": (
                        *(CheckResult(name=name, outcome="pass") for name in passed),
                        CheckResult(name="duplicates", outcome="skip", reason="a single item"),
                    ),
                    "votes": (
                        Vote(model="popularity", option="A", right=item.label == "A"),
                        Vote(model="lexical", option="B", right=item.label == "B"),
                    ),
                }
            )
        )
    return items


def make_twin(item: Item | None = None) -> Item:
    """A counterfactual item with passages."""
    item = item or make_items(3)[2]
    hops = tuple(
        hop.model_copy(
            update={
                "evidence": hop.evidence.model_copy(
                    update={
                        "wikipedia_url": "",
                        "passages": tuple(
                            Passage(
                                title=one.subject_label,
                                text=f"{one.subject_label} is on record: its {one.property_label} is "
                                f"{getattr(one, 'object_label', 'in the register')}, and has been since the start.",
                            )
                            for one in (*hop.evidence.triplets, *hop.evidence.literals)
                        ),
                    }
                )
            }
        )
        for hop in item.hops
    )
    world = tuple(Surrogate(original=f"Original {n}", surrogate=f"Invented {n}", id=f"QX{n}") for n in range(9))
    return item.model_copy(
        update={"id": f"{item.id}-twin", "variant": "counterfactual", "twin": item.id, "hops": hops, "world": world}
    )


def make_reviews(text: str = "The article has another year.") -> list[ShownReview]:
    """Two reviews of a whole question that differ."""
    scores = dict.fromkeys(CRITERIA[Kind.MULTI_HOP], 5)
    return [
        ShownReview(reviewer="annotator 1", verdict="Retain", scores=scores, comment="Nothing to say."),
        ShownReview(
            reviewer="annotator 2",
            verdict="Fix",
            scores={**scores, "logical_integrity": 2, "fluency": 4},
            errors=("Wrong computation", "Ambiguous wording"),
            fixes={"fix_question": text, "fix_answer": text},
            computation="1951 − 1821 = 130",
            source_url="https://en.wikipedia.org/wiki/Iria",
            comment=text,
        ),
    ]


def make_task(item: Item, kind: Kind, text: str = "The article has another year.") -> tuple[Task, Kind | None]:
    """A task of any kind, and what it settles."""
    if kind is Kind.ADJUDICATION:
        return build_adjudication(item, Kind.MULTI_HOP, None, make_reviews(text)), Kind.MULTI_HOP
    if kind is Kind.TWIN and item.variant == "factual":
        item = item.model_copy(update={"variant": "counterfactual"})
    return build_task(item, kind, 4 if kind is Kind.SINGLE_HOP else None), None


def make_showcase(kind: Kind) -> list[tuple[Task, Item]]:
    """A task of each reasoning graph."""
    items = [make_twin(item) if kind is Kind.TWIN else item for item in make_items(3)]
    return [(make_task(item, kind)[0], item) for item in items]


def push_to(
    server: LiveServer, title: str, tasks: list[Task], run: Path, kind: Kind = Kind.MULTI_HOP, of: Kind | None = None
) -> PushReport:
    with open_server(server.url, server.token) as opened:
        ledger = Ledger(ledger_path(run, server.url))
        return push(tasks, server=opened, title=title, kind=kind, of=of, ledger=ledger, usual=2)


def open_page(browser: Any, url: str, email: str, password: str) -> Any:
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{url}/user/login/")
    page.fill("input[name=email]", email)
    page.fill("input[name=password]", password)
    page.click("button[type=submit]")
    page.wait_for_url(lambda address: "/user/login" not in address, wait_until="commit")
    return page


def open_task(page: Any, server: LiveServer, project: int, task: int) -> None:
    page.goto(f"{server.url}/projects/{project}/data?task={task}")
    page.locator(".hw-question").first.wait_for()
    page.get_by_role("button", name="Submit").first.wait_for()


def begin_labelling(page: Any, server: LiveServer, project: int) -> None:
    """Open a project's queue at its next task, past the instructions."""
    page.goto(f"{server.url}/projects/{project}/data?labeling=1")
    page.get_by_text("Labeling Instructions").wait_for()
    page.keyboard.press("Escape")
    page.locator(".hw-question").first.wait_for()
    page.get_by_role("button", name="Submit").first.wait_for()


def review_next(page: Any, server: LiveServer, project: int, kind: Kind, *, fixes: bool) -> None:
    """Take the next task of a project's queue, review it with the keyboard, and submit."""
    begin_labelling(page, server, project)
    page.keyboard.press("s" if fixes else "a")
    for number, _ in enumerate(CRITERIA[kind], 1):
        for _ in range(4 if number == 1 else 5):
            page.keyboard.press(str(number))
    if fixes:
        page.keyboard.press("q")
        correct(page, 1, "corrected in the page")
    page.locator("[name='comment']").fill("Looked up twice.")
    page.keyboard.press("Tab")  # keys are letters while a text field has the cursor
    with page.expect_response(lambda answer: "/annotations" in answer.url and answer.request.method == "POST") as done:
        page.keyboard.press("Control+Enter")
    assert done.value.status == 201


def correct(page: Any, place: int, text: str) -> None:
    """Edit one of the pre-filled corrections."""
    region = page.locator("[data-testid=textarea-region]").nth(place)
    region.wait_for()
    region.locator("button").first.click()
    area = region.locator("textarea, input").first
    area.fill(text)
    area.press("Enter")


def find_annotations(server: LiveServer, project: int) -> dict[str, list[dict[str, Any]]]:
    """Task key → annotations, of the tasks that have some."""
    tasks = server.client.tasks.list(project=project, fields="all", page_size=500)
    return {
        f"{task.data['item_id']}#{task.data.get('hop', '')}": list(task.annotations)
        for task in tasks
        if task.annotations
    }


def wait_for_annotations(server: LiveServer, task: int, count: int) -> list[dict[str, Any]]:
    for _ in range(75):
        annotations = server.client.annotations.list(task)
        if len(annotations) >= count:
            return [annotation.dict() for annotation in annotations]
    pytest.fail(f"task {task} has {len(annotations)} annotations, not {count}")


def assert_fits(page: Any) -> None:
    """Nothing reaches past the window, and nothing inside the form or the item is cut off sideways."""
    outside = page.evaluate(
        """() => [...document.querySelectorAll('.hw, .hw *')].filter(one => {
            const box = one.getBoundingClientRect();
            return box.width > 0 && (box.right > window.innerWidth + 1 || box.left < -1);
        }).map(one => one.className || one.tagName)"""
    )
    assert outside == []
    cut = page.evaluate(
        """() => [...document.querySelectorAll(
                '.hw, .hw-left, .hw-form, .hw-hop, .hw-option, .hw-question, .hw-facts, .hw-reviews, .hw-fix')]
            .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.className)"""
    )
    assert cut == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def assert_graph_is_right(page: Any, item: Item) -> None:
    """A box per hop with its answer, none upon another, and an arrow from the right edge of what is needed."""
    if not page.locator(".hw-svg").count():
        return
    page.locator(".hw-svg rect").first.wait_for()
    boxes = page.locator(".hw-svg rect").evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
    texts = page.locator(".hw-svg text").all_text_contents()
    assert texts[1::2] == [hop.answer for hop in item.hops]
    for one, box in enumerate(boxes):
        for other in boxes[one + 1 :]:
            assert (
                box["right"] < other["left"]
                or other["right"] < box["left"]
                or box["bottom"] < other["top"]
                or other["bottom"] < box["top"]
            )
    paths = page.locator(".hw-svg path").evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
    arrows = [(needed - 1, hop.index - 1) for hop in item.hops for needed in sorted(hop.depends_on)]
    assert len(paths) == 2 * len(arrows)
    for (source, target), path in zip(arrows, paths[::2], strict=True):
        assert abs(path["left"] - boxes[source]["right"]) < 3
        assert 0 < boxes[target]["left"] - path["right"] < 12


def keep_screenshot(page: Any, folder: Path, name: str, docs: bool = True) -> None:
    target = ROOT / "docs/images" if IMAGES and docs else Path(os.environ.get("HOPWRIGHT_SHOTS") or folder)
    page.wait_for_timeout(250)
    path = target / f"{name}.png"
    page.screenshot(path=path)
    if target.name == "images":  # as small as a page of text can be
        with Image.open(path) as picture:
            picture.convert("RGB").quantize(64).save(path, optimize=True)


def choose(name: str, choice: str) -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": "item", "type": "choices", "value": {"choices": [choice]}}
