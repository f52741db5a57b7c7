from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from label_studio_sdk.core.api_error import ApiError

from annotation import push as module
from annotation.export import build_task
from annotation.files import ReviewEntry, write_tasks
from annotation.forms import Task
from annotation.gold import plant_fault, read_gold
from annotation.ledger import Ledger, ledger_path
from annotation.push import PushReport, Refusal, name_project, push, push_folder
from annotation.schema import CRITERIA, ReviewTaskKind
from annotation.server import open_server
from hopwright.errors import InputError, ServiceError
from hopwright.records import Item
from tests.annotation.fake_server import FakeLabelStudio, LostAnswerError
from tests.builders import all_items, chain_item

TOKEN = "5ec4e7-token-of-nobody"


@pytest.fixture
def fake() -> FakeLabelStudio:
    return FakeLabelStudio()


def make_items(count: int) -> list[Item]:
    """Items told apart by their ids."""
    return [all_items()[n % 3].model_copy(update={"id": f"hw-{n:04}"}) for n in range(count)]


def make_tasks(count: int) -> list[Task]:
    return [build_task(item, ReviewTaskKind.MULTI_HOP) for item in make_items(count)]


def push_tasks(fake: FakeLabelStudio, tasks: list[Task], run: Path, **options: object) -> PushReport:
    ledger = Ledger(ledger_path(run, fake.server.url))
    return push(
        tasks, server=fake.server, title="t", kind=ReviewTaskKind.MULTI_HOP, ledger=ledger, usual=2, **options  # type: ignore[arg-type]
    )  # fmt: skip


def figures(report: PushReport) -> tuple[int, int, int, int, int]:
    return report.new, report.updated, report.unchanged, report.others, len(report.refused)


def test_pushing_again_changes_nothing_and_lists_nothing(fake: FakeLabelStudio, tmp_path: Path) -> None:
    tasks = make_tasks(7)
    first = push_tasks(fake, tasks, tmp_path)
    assert (first.created, figures(first)) == (True, (7, 0, 0, 0, 0))
    fake.calls.clear()
    again = push_tasks(fake, tasks, tmp_path)
    assert (again.created, figures(again)) == (False, (0, 0, 7, 0, 0))
    assert fake.calls == ["projects.list"]
    assert len(fake.only()) == 7


def test_what_changed_is_updated_in_place_and_what_is_missing_stays(fake: FakeLabelStudio, tmp_path: Path) -> None:
    items = make_items(5)
    push_tasks(fake, make_tasks(5), tmp_path)
    ids = {key: task.id for key, task in fake.only().items()}
    reworded = build_task(items[1].model_copy(update={"question": "Reworded?"}), ReviewTaskKind.MULTI_HOP)
    report = push_tasks(fake, [build_task(items[0], ReviewTaskKind.MULTI_HOP), reworded, make_tasks(6)[5]], tmp_path)
    assert figures(report) == (1, 1, 1, 3, 0)
    held = fake.only()["hw-0001#"]
    assert held.data["question"] == "Reworded?"
    assert held.predictions[0]["result"][0]["value"] == {"text": ["Reworded?"]}
    assert {key: task.id for key, task in fake.only().items() if key in ids} == ids


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"total_annotations": 2}, "it has 2 annotations"),
        ({"cancelled_annotations": 1}, "a reviewer skipped it"),
        ({"drafts": [1], "draft_exists": True}, "a reviewer has begun a draft"),
    ],
)
@pytest.mark.parametrize("listed", [False, True])
def test_a_changed_task_that_somebody_worked_on_is_refused_and_said_so(
    fake: FakeLabelStudio, tmp_path: Path, state: dict[str, object], reason: str, listed: bool
) -> None:
    items = make_items(2)
    push_tasks(fake, make_tasks(2), tmp_path)
    vars(fake.only()["hw-0000#"]).update(state)
    if listed:  # as when the ledger was lost
        ledger_path(tmp_path, fake.server.url).unlink()
    changed = [build_task(item.model_copy(update={"answer": "Other"}), ReviewTaskKind.MULTI_HOP) for item in items]
    report = push_tasks(fake, changed, tmp_path)
    assert figures(report) == (0, 1, 0, 0, 1)
    assert report.refused == (Refusal("hw-0000", f"it changed since, but {reason}"),)
    assert fake.only()["hw-0000#"].data["answer"] == items[0].answer
    assert fake.only()["hw-0001#"].data["answer"] == "Other"


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_an_import_whose_answer_was_lost_makes_no_doubles(
    fake: FakeLabelStudio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    monkeypatch.setattr(module, "_BATCH_TASKS", 3)
    fake.lose_answer_of_import = lost
    with pytest.raises(LostAnswerError):
        push_tasks(fake, make_tasks(8), tmp_path)
    report = push_tasks(fake, make_tasks(8), tmp_path)
    assert report.new + report.unchanged == 8
    assert len(fake.only()) == 8
    assert fake.count("tasks.list") == 1
    fake.calls.clear()
    push_tasks(fake, make_tasks(8), tmp_path)
    assert fake.calls == ["projects.list"], "once listed, it is known again"


@pytest.mark.parametrize(
    ("failures", "asked"), [([(500, True)], 1), ([(502, False), (500, True)], 2), ([(503, False), (503, False)], 3)]
)
def test_a_project_is_made_once_though_the_server_fails(
    fake: FakeLabelStudio, tmp_path: Path, failures: list[tuple[int, bool]], asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAUSE_SECONDS", 0)
    fake.fail_to_create = failures
    assert figures(push_tasks(fake, make_tasks(3), tmp_path)) == (3, 0, 0, 0, 0)
    assert fake.count("projects.create") == asked
    assert len(fake.settings) == 1
    assert figures(push_tasks(fake, make_tasks(3), tmp_path)) == (0, 0, 3, 0, 0)


@pytest.mark.parametrize(("failures", "asked"), [([(400, False)], 1), ([(500, False)] * 3, 3)])
def test_a_project_that_cannot_be_made_is_given_up(
    fake: FakeLabelStudio, tmp_path: Path, failures: list[tuple[int, bool]], asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAUSE_SECONDS", 0)
    fake.fail_to_create = failures
    with pytest.raises(ApiError):
        push_tasks(fake, make_tasks(3), tmp_path)
    assert fake.count("projects.create") == asked


def test_a_lost_or_damaged_ledger_and_a_deleted_task_are_made_good(fake: FakeLabelStudio, tmp_path: Path) -> None:
    push_tasks(fake, make_tasks(4), tmp_path)
    path = ledger_path(tmp_path, fake.server.url)
    path.write_bytes(b"{\xff\n" + path.read_bytes()[:200])
    assert figures(push_tasks(fake, make_tasks(4), tmp_path)) == (0, 0, 4, 0, 0)
    path.unlink()
    assert figures(push_tasks(fake, make_tasks(4), tmp_path)) == (0, 0, 4, 0, 0)
    gone = fake.only()["hw-0002#"].id
    next(tasks for tasks in fake.held.values()).pop(gone)
    fake.settings[1].task_number -= 1
    assert figures(push_tasks(fake, make_tasks(4), tmp_path)) == (1, 0, 3, 0, 0)


def test_a_changed_task_that_was_replaced_behind_our_back_is_found_out(fake: FakeLabelStudio, tmp_path: Path) -> None:
    push_tasks(fake, make_tasks(2), tmp_path)
    gone = fake.only()["hw-0000#"]
    tasks = next(tasks for tasks in fake.held.values())
    tasks[99] = tasks.pop(gone.id)
    gone.id = 99
    changed = build_task(make_items(1)[0].model_copy(update={"answer": "Other"}), ReviewTaskKind.MULTI_HOP)
    with pytest.raises(ServiceError, match="the task of hw-0000 was deleted on the server; push again"):
        push_tasks(fake, [changed], tmp_path)
    assert figures(push_tasks(fake, [changed], tmp_path)) == (0, 1, 0, 1, 0)


def test_batches_stay_under_both_limits(fake: FakeLabelStudio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BATCH_TASKS", 4)
    push_tasks(fake, make_tasks(10), tmp_path / "a")
    assert fake.count("import") == 3
    monkeypatch.setattr(module, "_BATCH_BYTES", 1)
    fake.settings.clear()
    fake.calls.clear()
    push_tasks(fake, make_tasks(3), tmp_path / "b")
    assert fake.count("import") == 3, "a task past the limit goes alone"


def test_a_folder_becomes_a_project_per_kind_with_its_overlaps_and_gold_keys(
    fake: FakeLabelStudio, tmp_path: Path
) -> None:
    items = make_items(3)
    planted = plant_fault(chain_item(), ReviewTaskKind.MULTI_HOP, "leaked_answer")
    assert planted is not None
    twin = items[0].model_copy(update={"id": "hw-twin", "variant": "counterfactual"})
    entries = [
        ReviewEntry(items[0], agreement=True),
        ReviewEntry(items[1]),
        ReviewEntry(planted.item, gold=planted.gold),
        ReviewEntry(twin),
    ]
    write_tasks(entries, tmp_path / "tasks", overlap=2, agreement=3)
    run = tmp_path / "some-run"
    reports = push_folder(tmp_path / "tasks", fake.server, run)
    assert [(report.kind, report.new) for report in reports] == [
        (ReviewTaskKind.SINGLE_HOP, 8), (ReviewTaskKind.MULTI_HOP, 3), (ReviewTaskKind.TWIN, 1),
    ]  # fmt: skip
    assert [one.title for one in fake.settings.values()] == [
        name_project("some-run", report.kind) for report in reports
    ]
    for part, tasks in (("single-hop", 4), ("multi-hop", 1)):
        overlaps = {key: task.overlap for key, task in fake.only(part).items()}
        assert sorted(overlaps.values()) == [2] * (len(overlaps) - tasks) + [3] * tasks
        assert {key.split("#")[0] for key, overlap in overlaps.items() if overlap == 3} == {items[0].id}
    assert read_gold(run / "label-studio" / "gold.jsonl") == {planted.gold.key: planted.gold}

    fake.calls.clear()
    again = push_folder(tmp_path / "tasks", fake.server, run)
    assert [report.unchanged for report in again] == [8, 3, 1]
    assert fake.calls == ["projects.list"] * 3

    write_tasks([ReviewEntry(items[0]), ReviewEntry(items[2])], tmp_path / "tasks", overlap=4, agreement=4)
    push_folder(tmp_path / "tasks", fake.server, run)
    assert {task.overlap for task in fake.only("multi-hop").values()} == {4}
    assert read_gold(run / "label-studio" / "gold.jsonl"), "gold that was pushed once stays known"


def test_a_task_that_comes_twice_or_is_of_another_kind_is_refused(fake: FakeLabelStudio, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="hw-0000 occurs twice"):
        push_tasks(fake, [*make_tasks(1), *make_tasks(1)], tmp_path)
    with pytest.raises(InputError, match="another kind than multi_hop"):
        push_tasks(fake, [build_task(chain_item(), ReviewTaskKind.SINGLE_HOP, 1)], tmp_path)
    assert not fake.only()


def test_two_projects_of_one_title_are_not_guessed_between(fake: FakeLabelStudio, tmp_path: Path) -> None:
    for _ in range(2):
        fake.projects.create(title="t")
    with pytest.raises(ServiceError, match="2 projects named 't'"):
        push_tasks(fake, make_tasks(1), tmp_path)


def test_titles_fit_the_server_and_tell_runs_apart() -> None:
    assert (
        name_project("sample", ReviewTaskKind.ADJUDICATION, ReviewTaskKind.TWIN)
        == "sample: adjudication of counterfactual twins"
    )
    names = [f"a-run-with-a-name-of-its-own-{number}" for number in range(20)]
    kinds = [*((kind, None) for kind in CRITERIA), *((ReviewTaskKind.ADJUDICATION, kind) for kind in CRITERIA)]
    titles = {name_project(name, kind, of) for name in names for kind, of in kinds}
    assert len(titles) == len(names) * len(kinds)
    assert max(len(title) for title in titles) == 50
    assert all(title.startswith("a-run") for title in titles)


def test_ledgers_of_two_servers_are_two_files(tmp_path: Path) -> None:
    paths = {ledger_path(tmp_path, url) for url in ("http://a:80", "http://a:81", "https://a:80", "http://a-80")}
    assert len(paths) == 4


class _Answer(BaseHTTPRequestHandler):
    """Answers every request alike: with the status and the body in its address."""

    status, body = 200, b""

    def _answer(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(self.body)

    do_GET = do_POST = do_PATCH = _answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def push_one(url: str, run: Path) -> None:
    with open_server(url, TOKEN) as server:
        assert TOKEN not in repr(server)
        push(
            make_tasks(1),
            server=server,
            title="t",
            kind=ReviewTaskKind.MULTI_HOP,
            ledger=Ledger(ledger_path(run, url)),
            usual=2,
        )


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, {"detail": f"Invalid token {TOKEN}"}, "refuses the token"),
        (403, {"detail": "no"}, "refuses the token"),
        (404, {"detail": "Not found."}, "does not answer like Label Studio"),
        (400, {"validation_errors": {"label_config": ["bad\ninterface"]}}, "answered 400.*bad interface"),
        (500, f"{TOKEN}: a traceback", "answered 500"),
        (500, "x" * 284 + f" {TOKEN}", "answered 500"),
        (400, {"detail": ["x" * 288, f"token {TOKEN.upper()}"]}, "answered 400"),
        (200, {"surprise": True}, "does not answer like Label Studio"),
        (200, "<html>a proxy</html>", "does not answer like Label Studio"),
    ],
)
def test_what_a_server_refuses_is_one_line_without_the_token(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, body: object, message: str
) -> None:
    monkeypatch.setattr(_Answer, "status", status)
    text = body if isinstance(body, str) else json.dumps(body)
    monkeypatch.setattr(_Answer, "body", text.encode())
    with pytest.raises(ServiceError, match=message) as caught:
        push_one(address, tmp_path)
    assert "\n" not in str(caught.value)
    assert TOKEN[:8].casefold() not in str(caught.value).casefold()
    assert caught.value.__cause__ is None


def test_server_that_is_down_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match=r"cannot reach Label Studio at http://127\.0\.0\.1:9 "):
        push_one("http://127.0.0.1:9", tmp_path)


def test_token_that_is_empty_is_refused() -> None:
    with pytest.raises(InputError, match="token"), open_server("http://127.0.0.1:9", " "):
        pass


def test_summary_names_what_was_refused() -> None:
    report = PushReport(
        kind=ReviewTaskKind.MULTI_HOP, project=1, url="http://host/projects/1", created=False, new=2,
        refused=(Refusal("hw-1", "it has 1 annotation"),),
    )  # fmt: skip
    assert report.summary == "2 new, 0 updated, 0 unchanged, 1 refused (already under review): http://host/projects/1"
