"""Review export against a real Label Studio server, looked at in a real browser."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from label_studio_sdk import LabelStudio

from annotation.export import build_task, load_interface, parse_interface, write_tasks
from annotation.push import push
from hopwright.errors import ServiceError
from hopwright.records import CheckResult, Item, Vote
from tests.builders import all_items

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]  # the first run installs the server: about 2 minutes

ROOT = Path(__file__).resolve().parents[2]
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EMAIL, PASSWORD = "reviewer@example.org", "only-for-this-test-1"
IMAGES = os.environ.get("HOPWRIGHT_UPDATE_IMAGES")
"""Set to keep the screenshots in docs/images."""


@dataclass(frozen=True)
class Server:
    url: str
    token: str

    @property
    def client(self) -> LabelStudio:
        return LabelStudio(base_url=self.url, api_key=self.token)

    def tasks(self, project: int) -> dict[str, Any]:
        """Item id → task; a duplicate fails here."""
        tasks = list(self.client.tasks.list(project=project, page_size=500))
        found = {task.data["item_id"]: task for task in tasks}
        assert len(found) == len(tasks), "an item stands in two tasks"
        return found


@pytest.fixture(scope="module")
def label_studio() -> Path:
    """The server's program in an environment of its own, made on first use."""
    requirements = ROOT / "requirements/label-studio.txt"
    folder = ROOT / ".venvs/label-studio"
    made = folder / f".made-{hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]}"
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "label-studio.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            for command in (
                [sys.executable, "-m", "venv", str(folder)],
                [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "-r", str(requirements)],
            ):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                    pytest.skip(f"Label Studio cannot be installed here: {reason}")
            made.touch()
    return folder / "bin/label-studio"


@pytest.fixture(scope="module")
def server(label_studio: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A fresh server on a free port of this machine, stopped by its own process id."""
    data = tmp_path_factory.mktemp("label-studio")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url, token = f"http://127.0.0.1:{port}", secrets.token_hex(20)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("LABEL_STUDIO")},
        "LABEL_STUDIO_USERNAME": EMAIL,
        "LABEL_STUDIO_PASSWORD": PASSWORD,
        "LABEL_STUDIO_USER_TOKEN": token,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
    }
    command = [str(label_studio), "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)]
    log = data / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=data, env=environment, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
        )
        try:
            _wait_until_up(url, process, log)
            yield Server(url, token)
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(15)
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def page(server: Server) -> Iterator[Any]:
    """A browser page of 1280×800, logged in."""
    if BROWSER is None:
        pytest.skip("no Chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{server.url}/user/login/")
        page.fill("input[name=email]", EMAIL)
        page.fill("input[name=password]", PASSWORD)
        page.click("button[type=submit]")
        page.wait_for_url(lambda address: "/user/login" not in address)
        yield page
        browser.close()


def test_pushing_twice_makes_no_duplicate_and_changes_arrive(server: Server, tmp_path: Path) -> None:
    items = make_items(20)
    write_tasks(items, tmp_path)
    first = push(tmp_path, url=server.url, token=server.token, project_title="Twice")
    assert (first.created, first.new, first.unchanged) == (True, 20, 0)
    again = push(tmp_path, url=server.url, token=server.token, project_title="Twice")
    assert (again.created, again.new, again.updated, again.unchanged) == (False, 0, 0, 20)
    assert again.project == first.project
    before = server.tasks(first.project)
    assert before.keys() == {item.id for item in items}

    reworded = items[3].model_copy(update={"question": "Reworded?"})
    report = push(
        [build_task(item) for item in (*items[:3], reworded, *items[4:], *make_items(21)[20:])],
        url=server.url, token=server.token, project_title="Twice",
    )  # fmt: skip
    assert (report.new, report.updated, report.unchanged, report.refused) == (1, 1, 19, ())
    after = server.tasks(first.project)
    assert len(after) == 21
    assert after[reworded.id].id == before[reworded.id].id
    assert after[reworded.id].data["question"] == "Reworded?"
    (prediction,) = server.client.predictions.list(task=after[reworded.id].id)
    assert prediction.result[0]["value"]["text"] == ["Reworded?"]
    project = server.client.projects.get(first.project)
    assert parse_interface(project.label_config)
    assert "Reviewing a multi-hop question" in project.expert_instruction


def test_annotated_or_drafted_item_that_changed_is_refused_and_said_so(server: Server) -> None:
    items = make_items(3)
    tasks = [build_task(item) for item in items]
    report = push(tasks, url=server.url, token=server.token, project_title="Refused")
    held = server.tasks(report.project)
    result = [*tasks[0]["predictions"][0]["result"], _choose("verdict", "Retain")]
    server.client.annotations.create(held[items[0].id].id, result=result)

    changed = [build_task(item.model_copy(update={"question": "Changed?"})) for item in items[:2]]
    report = push([*changed, tasks[2]], url=server.url, token=server.token, project_title="Refused")
    assert (report.new, report.updated, report.unchanged) == (0, 1, 1)
    assert [one.item_id for one in report.refused] == [items[0].id]
    assert "it has 1 annotation" in report.refused[0].reason
    assert "1 refused" in report.summary
    assert server.tasks(report.project)[items[0].id].data == tasks[0]["data"]
    assert push(tasks[2:], url=server.url, token=server.token, project_title="Refused").others == 2


def test_wrong_token_is_one_line_that_does_not_repeat_it(server: Server) -> None:
    wrong = "0" * 40
    with pytest.raises(ServiceError, match="refuses the token") as caught:
        push([build_task(make_items(1)[0])], url=server.url, token=wrong, project_title="Never")
    assert wrong not in str(caught.value)
    assert not [project for project in server.client.projects.list() if project.title == "Never"]


def test_reviewer_sees_the_item_and_submits_by_keyboard(server: Server, page: Any, tmp_path: Path) -> None:
    items = make_items(3)
    report = push(
        [build_task(item) for item in items], url=server.url, token=server.token, project_title="Omnibus review"
    )
    held = server.tasks(report.project)
    for item in items:  # one per reasoning graph
        open_task(page, server, report.project, held[item.id].id)
        assert page.locator(".hw-question").inner_text() == item.question
        assert page.locator(".hw-svg rect").count() == len(item.hops)
        assert page.locator(".hw-right").inner_text().split("\n")[0] == item.label
        shown = page.locator("[data-testid=textarea-region]").all_inner_texts()
        assert [text.strip() for text in shown] == [item.question, item.answer], "corrections are not pre-filled"
        assert_fits(page)
        keep_screenshot(page, tmp_path, f"review-{item.topology}", docs=False)

    page.goto(f"{server.url}/projects/{report.project}/data?labeling=1")
    page.get_by_text("Labeling Instructions").wait_for()
    keep_screenshot(page, tmp_path, "review-instructions")
    page.keyboard.press("Escape")
    page.locator(".hw-question").wait_for()
    question = page.locator(".hw-question").inner_text()
    page.keyboard.press("s")
    for _ in range(4):
        page.keyboard.press("1")
    for key in "2345678":
        for _ in range(5):
            page.keyboard.press(key)
    page.locator("[name='comments']").fill("Looked up twice.")
    assert_fits(page)
    keep_screenshot(page, tmp_path, "review")
    page.get_by_role("button", name="Submit").first.click()

    (item,) = [item for item in items if item.question == question]
    annotation = _wait_for_annotation(server, held[item.id].id)
    given = {one["from_name"]: one["value"] for one in annotation.result}
    assert given["verdict"]["choices"] == ["Fix"]
    assert given["logic"]["rating"] == 4
    for name in (
        "consistency",
        "obscurity",
        "fluency",
        "complexity",
        "hop_factuality",
        "hop_distractors",
        "hop_fluency",
    ):
        assert given[name]["rating"] == 5
    assert given["question_correction"]["text"] == [item.question]
    assert given["comments"]["text"] == ["Looked up twice."]
    assert (
        parse_interface(load_interface()).validate_prediction({"result": annotation.result}, return_errors=True) == []
    )


@pytest.mark.parametrize(
    "planted",
    [
        "<script>window.planted = 1</script><img src=x onerror='window.planted = 2'>",
        "\u202eright to left\u202e \u05d0\u05d1\u05d2 <svg onload='window.planted = 3'>",
        "averylongwordwithoutanyspace" * 360,
    ],
    ids=["script", "right-to-left", "long"],
)
def test_planted_text_is_shown_as_text_and_the_page_stays_usable(
    server: Server, page: Any, tmp_path: Path, planted: str, request: pytest.FixtureRequest
) -> None:
    item = plant(make_items(1)[0], planted)
    title = f"Planted {request.node.callspec.id}"
    report = push([build_task(item)], url=server.url, token=server.token, project_title=title)
    page.evaluate("window.planted = undefined")
    open_task(page, server, report.project, server.tasks(report.project)[item.id].id)
    for place in (".hw-question", ".hw-option bdi", ".hw-hop-line .hw-text", ".hw-answer", ".hw-fact", ".hw-wrong bdi"):
        assert page.locator(place).first.text_content().endswith(planted)
    assert page.evaluate("window.planted") is None
    assert_fits(page)
    keep_screenshot(page, tmp_path, f"planted-{request.node.callspec.id}", docs=False)
    button = page.get_by_role("button", name="Submit").first
    assert button.is_visible()
    box = button.bounding_box()
    assert box["y"] + box["height"] <= 800


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


def plant(item: Item, text: str) -> Item:
    """The item with `text` in its question, options, sub-questions, answers, distractors, facts and checks."""
    hops = tuple(
        hop.model_copy(
            update={
                "question": text,
                "answer": text,
                "distractors": tuple(one.model_copy(update={"text": text}) for one in hop.distractors),
                "evidence": hop.evidence.model_copy(
                    update={
                        "literals": (),
                        "triplets": tuple(
                            one.model_copy(update={"subject_label": "", "property_label": "", "object_label": text})
                            for one in item.hops[0].evidence.triplets
                        ),
                    }
                ),
            }
        )
        for hop in item.hops
    )
    return item.model_copy(
        update={
            "question": text,
            "answer": text,
            "hops": hops,
            "options": dict.fromkeys(item.options, text),
            "checks": (CheckResult(name=text, outcome="fail", reason=text),),
        }
    )


def open_task(page: Any, server: Server, project: int, task: int) -> None:
    page.goto(f"{server.url}/projects/{project}/data?task={task}")
    page.locator(".hw-question").wait_for()
    page.locator("[data-testid=textarea-region]").nth(1).wait_for()


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
        """() => [...document.querySelectorAll('.hw, .hw-left, .hw-form, .hw-hop, .hw-option, .hw-question')]
            .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.className)"""
    )
    assert cut == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def keep_screenshot(page: Any, folder: Path, name: str, docs: bool = True) -> None:
    target = ROOT / "docs/images" if IMAGES and docs else folder
    page.wait_for_timeout(300)
    page.screenshot(path=target / f"{name}.png")


def _choose(name: str, choice: str) -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": "item", "type": "choices", "value": {"choices": [choice]}}


def _wait_until_up(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 180
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"{url}/health", timeout=5).status_code == 200:
                return
        time.sleep(0.5)
    pytest.fail(f"Label Studio did not come up:\n{log.read_text(errors='replace')[-2000:]}")


def _wait_for_annotation(server: Server, task: int) -> Any:
    end = time.monotonic() + 15
    while time.monotonic() < end:
        annotations = server.client.annotations.list(task)
        if annotations:
            return annotations[0]
        time.sleep(0.2)
    pytest.fail(f"task {task} has no annotation")
