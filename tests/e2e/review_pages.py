"""Working on Label Studio's pages as an annotator does, and looking at what they show."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from annotation.export import build_adjudication, build_task
from annotation.forms import Task
from annotation.keys import KEYS, SCORE_KEYS
from annotation.ledger import Ledger, ledger_path
from annotation.push import PushReport, push
from annotation.schema import CRITERIA, OWN_ANSWERS, ReviewTaskKind, ShownReview
from annotation.server import open_server
from hopwright.records import CheckResult, Item, Passage, Surrogate, Vote
from tests.builders import all_items
from tests.e2e.label_studio import ROOT, LiveServer


@dataclass(frozen=True)
class Answer:
    """What somebody gives in the page: scores in the order of the criteria; corrections by their place, from 0."""

    verdict: str
    scores: tuple[int, ...]
    error: str = ""
    """An error tag."""
    corrections: tuple[tuple[int, str], ...] = ()
    comment: str = "Looked up twice."


BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
IMAGES = os.environ.get("HOPWRIGHT_UPDATE_IMAGES")
"""Set to renew the pictures in docs/images; HOPWRIGHT_SHOTS names a folder for all others."""


_LOADS = 3
"""How often a page is loaded at most until it does what it shall."""
LogIn = Callable[[str, str], Any]


@contextmanager
def open_browser(server: LiveServer) -> Iterator[LogIn]:
    """A headless browser; what is yielded opens a page of 1280×800 for whoever logs in."""
    if BROWSER is None:
        pytest.skip("no Chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield lambda email, password: open_page(browser, server.url, email, password)
        browser.close()


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
    open_form(page, f"{server.url}/projects/{project}/data?task={task}")
    wait_for_form(page)
    wait_until_drawn(page)


def open_form(page: Any, url: str) -> None:
    """Go to a page with a form. One that shows a chosen task is drawn, taken away and drawn again; only the last of
    these asks for the links of labels.
    """
    with page.expect_request(lambda request: "/api/label_links" in request.url):
        page.goto(url)


def wait_for_form(page: Any) -> None:
    page.locator(".hw-question").first.wait_for()
    page.get_by_role("button", name="Submit").first.wait_for()


def wait_until_drawn(page: Any) -> None:
    """Wait until the form that is shown is the last one: on a busy machine the page draws it anew late."""
    end = time.monotonic() + 60
    while not page.evaluate(
        """async () => {
            const form = document.querySelector('.hw');
            await new Promise(done => setTimeout(done, 200));
            return form !== null && form === document.querySelector('.hw') && form.getBoundingClientRect().width > 0;
        }"""
    ):
        assert time.monotonic() < end, "the page does not stop drawing its form"


def begin_labelling(page: Any, server: LiveServer, project: int, look: Callable[[Any], None] | None = None) -> None:
    """Open a project's queue at its next task, past the instructions, which `look` is shown first."""
    open_form(page, f"{server.url}/projects/{project}/data?labeling=1")
    instructions = page.get_by_text("Labeling Instructions")
    instructions.wait_for()
    if look is not None:
        look(page)
    press_until(page, "Escape", instructions.is_visible, False)
    wait_for_form(page)
    wait_until_drawn(page)


def press_until(page: Any, key: str, read: Callable[[], Any], wanted: object) -> None:
    """Press a key until what it changes is as wanted and stays so; a page takes no keys for a moment after it shows
    its form, and on a busy machine it takes one late.
    """
    end = time.monotonic() + 180
    while True:
        if (before := read()) == wanted:
            page.wait_for_timeout(150)
            if read() == wanted:
                return
            continue
        assert time.monotonic() < end, f"the page does not take the key {key}: {before}, not {wanted}"
        page.keyboard.press(key)
        for _ in range(200):  # waiting long: a key that is pressed again although it was taken, takes it back
            if read() != before:
                break
            page.wait_for_timeout(25)
        else:
            wait_until_idle(page)


def wait_until_idle(page: Any) -> None:
    """Wait until the page has nothing left to do, such as a key that it took late."""
    page.evaluate("() => new Promise(done => requestIdleCallback(() => requestIdleCallback(done)))")


def choose_verdict(page: Any, verdict: str) -> None:
    """Choose a verdict by its key; to fix shows what can be corrected.

    Now and then a page on a busy machine shows no corrections, whatever is pressed; whoever sits there loads it again.
    """
    chosen, corrections = page.get_by_role("radio", name=verdict), page.locator("[data-testid=textarea-region]").first
    for left in reversed(range(_LOADS)):
        press_until(page, KEYS[verdict], chosen.is_checked, True)
        if verdict != "Fix" or _appears(corrections, fail=not left):
            return
        load_again(page)


def _appears(place: Any, *, fail: bool) -> bool:
    """Whether something is shown within a while; `fail` where it has to be."""
    from playwright.sync_api import TimeoutError as NeverShownError

    try:
        place.wait_for(timeout=30_000)
    except NeverShownError:
        if fail:
            raise
        return False
    return True


def load_again(page: Any) -> None:
    """Load the page of a task once more, past the instructions where they come first."""
    open_form(page, page.url)
    instructions = page.get_by_text("Labeling Instructions")
    if instructions.is_visible():
        press_until(page, "Escape", instructions.is_visible, False)
    wait_for_form(page)
    wait_until_drawn(page)


def answer_blind(page: Any, answer: str) -> None:
    """Give one's own answer by its key, which shows the item and the form. A form that the page drew anew after it
    would lose it, and hide the verdicts for good.
    """
    page.wait_for_load_state("networkidle")
    wait_until_drawn(page)
    chosen = page.locator(".hw-own").get_by_role("radio").nth(OWN_ANSWERS.index(answer))
    press_until(page, KEYS[answer], lambda: chosen.is_checked() and page.locator(".hw-form").is_visible(), True)


def give_score(page: Any, row: int, score: int) -> None:
    """Give the criterion of a row, counted from 1, a score by its one key."""
    chosen = page.locator(".hw-row").nth(row - 1).get_by_role("radio").nth(score - 1)
    press_until(page, SCORE_KEYS[row - 1][score - 1], chosen.is_checked, True)


def tag_error(page: Any, tag: str) -> None:
    """Set one error tag by its key."""
    press_until(page, KEYS[tag].replace("shift", "Shift"), page.locator("input[type=checkbox]:checked").count, 1)


def review_next(
    page: Any,
    server: LiveServer,
    project: int,
    kind: ReviewTaskKind,
    decide: Callable[[str], Answer],
) -> str:
    """Take the next task of a project's queue, review it with the keyboard, and submit; returns the item's id.

    `decide` is told the id that the page shows.
    """
    begin_labelling(page, server, project)
    item = str(page.locator(".hw-id").inner_text()).strip()
    answer = decide(item)
    choose_verdict(page, answer.verdict)
    for row, score in enumerate(answer.scores, 1):
        give_score(page, row, score)
    if answer.error:
        tag_error(page, answer.error)
    for place, text in answer.corrections:
        correct(page, place, text)
    page.locator("[name='comment']").fill(answer.comment)
    page.keyboard.press("Tab")  # keys are letters while a text field has the cursor
    submit(page)
    return item


def submit(page: Any) -> None:
    """Submit by its keys, and see that the server took it."""
    from playwright.sync_api import TimeoutError as NoRequestError

    for _ in range(6):
        # Waiting long: pressed again while the first answer is on its way, it would submit the next task.
        try:
            with page.expect_request(_is_submission, timeout=30_000) as sent:
                page.keyboard.press("Control+Enter")
        except NoRequestError:
            continue
        assert sent.value.response().status == 201
        return
    pytest.fail("the page does not submit")


def correct(page: Any, place: int, text: str) -> None:
    """Edit one of the pre-filled corrections."""
    region = page.locator("[data-testid=textarea-region]").nth(place)
    region.wait_for()
    region.locator("button").first.click()
    area = region.locator("textarea, input").first
    area.fill(text)
    area.press("Shift+Enter")  # Tab would drop it
    region.locator("p", has_text=text).wait_for()


def find_annotations(server: LiveServer, project: int) -> dict[str, list[dict[str, Any]]]:
    """Task key → annotations, of the tasks that have some."""
    tasks = server.client.tasks.list(project=project, fields="all", page_size=500)
    return {
        f"{task.data['item_id']}#{task.data.get('hop', '')}": list(task.annotations)
        for task in tasks
        if task.annotations
    }


def wait_for_annotations(server: LiveServer, task: int, count: int) -> list[dict[str, Any]]:
    end = time.monotonic() + 120
    while len(annotations := server.client.annotations.list(task)) < count:
        assert time.monotonic() < end, f"task {task} has {len(annotations)} annotations, not {count}"
        time.sleep(0.1)
    return [annotation.dict() for annotation in annotations]


def assert_fits(page: Any) -> None:
    """Nothing reaches past the window, and nothing inside the form or the item is cut off sideways."""
    assert page.locator(".hw").first.bounding_box()["width"] > 800
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


def list_cut(page: Any) -> list[str]:
    """The texts of the item that are cut to their boxes, so that one would have to scroll in them."""
    cut: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('.hw-left *')].filter(one => one.clientHeight > 0
            && !['visible', 'clip'].includes(getComputedStyle(one).overflowY)
            && (one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1)
        ).map(one => one.className || one.tagName)"""
    )
    return cut


def list_places(page: Any) -> list[list[float]]:
    """Where every text of the item stands, corrections left out."""
    places: list[list[float]] = page.evaluate(
        """() => [...document.querySelectorAll('.hw-left bdi, .hw-svg')].filter(one => !one.closest('.hw-fix'))
            .map(one => one.getBoundingClientRect()).map(box => [box.left, box.top, box.width, box.height])"""
    )
    return places


def assert_graph_is_right(page: Any, item: Item) -> None:
    """A box per hop with its answer, none upon another, and an arrow from the right edge of what is needed."""
    if not page.locator(".hw-svg").count():
        return
    boxes = measure(page, ".hw-svg rect")
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
    paths = measure(page, ".hw-svg path")
    arrows = [(needed - 1, hop.index - 1) for hop in item.hops for needed in sorted(hop.depends_on)]
    assert len(paths) == 2 * len(arrows)
    for (source, target), path in zip(arrows, paths[::2], strict=True):
        assert abs(path["left"] - boxes[source]["right"]) < 3
        assert 0 < boxes[target]["left"] - path["right"] < 12


def measure(page: Any, selector: str) -> list[dict[str, float]]:
    """Where on the page all of these are."""
    boxes: list[dict[str, float]] = page.evaluate(
        "of => [...document.querySelectorAll(of)].map(one => one.getBoundingClientRect().toJSON())", selector
    )
    assert all(box["width"] > 0 for box in boxes), "not drawn"
    return boxes


def keep_screenshot(page: Any, name: str, docs: bool = True) -> None:
    """A picture of the page, for the documentation or to be looked at; none where nobody asked for any."""
    folder = ROOT / "docs/images" if IMAGES and docs else os.environ.get("HOPWRIGHT_SHOTS")
    if not folder:
        return
    target = Path(folder)
    page.wait_for_timeout(250)
    path = target / f"{name}.png"
    page.screenshot(path=path)
    if target.name == "images":  # as small as a page of text can be
        with Image.open(path) as picture:
            picture.convert("RGB").quantize(64).save(path, optimize=True)


def push_to(
    server: LiveServer,
    title: str,
    tasks: list[Task],
    run: Path,
    kind: ReviewTaskKind = ReviewTaskKind.MULTI_HOP,
    of: ReviewTaskKind | None = None,
    *,
    blind: bool = False,
) -> PushReport:
    with open_server(server.url, server.token) as opened:
        ledger = Ledger(ledger_path(run, server.url))
        return push(tasks, server=opened, title=title, kind=kind, of=of, ledger=ledger, usual=2, blind=blind)


def make_items(count: int) -> list[Item]:
    """Items of all three graphs, told apart by their ids, as they look after the checks and the filter."""
    items = []
    for number in range(count):
        item = all_items()[number % 3]
        hops = tuple(
            hop.model_copy(
                update={
                    "evidence": hop.evidence.replace(
                        wikipedia_url=f"https://en.wikipedia.org/wiki/Special:Search/Q{number + 1}"
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
                "evidence": hop.evidence.replace(
                    wikipedia_url="",
                    passages=[
                        Passage(
                            title=one.subject_label,
                            text=f"{one.subject_label} is on record: its {one.property_label} is "
                            f"{getattr(one, 'object_label', 'in the register')}, and has been since the start.",
                        )
                        for one in (*hop.evidence.triplets, *hop.evidence.literals)
                    ],
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
    scores = dict.fromkeys(CRITERIA[ReviewTaskKind.MULTI_HOP], 5)
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


def make_task(
    item: Item, kind: ReviewTaskKind, text: str = "The article has another year."
) -> tuple[Task, ReviewTaskKind | None]:
    """A task of any kind, and what it settles."""
    if kind is ReviewTaskKind.ADJUDICATION:
        return build_adjudication(item, ReviewTaskKind.MULTI_HOP, None, make_reviews(text)), ReviewTaskKind.MULTI_HOP
    if kind is ReviewTaskKind.TWIN and item.variant == "factual":
        item = item.model_copy(update={"variant": "counterfactual"})
    return build_task(item, kind, 4 if kind is ReviewTaskKind.SINGLE_HOP else None), None


def _is_submission(request: Any) -> bool:
    return "/annotations" in request.url and request.method == "POST"


def choose(name: str, choice: str) -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": "item", "type": "choices", "value": {"choices": [choice]}}
