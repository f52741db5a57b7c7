"""Pulling from a server that is a dictionary: what is fetched when, and what is kept."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from annotation import pull as module
from annotation.journal import Journal
from annotation.pseudonyms import Pseudonyms
from annotation.pull import Project, PullReport, pull_project
from annotation.schema import ReviewTaskKind
from annotation.server import Server
from annotation.server_reading import NotOnServerError, ServerResponse, write_time
from tests.annotation.reviews import annotate, choose, rate, write

START = dt.datetime(2026, 3, 2, 9, tzinfo=dt.UTC)


class Fake:
    """As much of a server as a pull asks: a clock, tasks with annotations, counts."""

    def __init__(self) -> None:
        self.now = START
        self.tasks: dict[int, dict[str, Any]] = {}
        self.number = 0
        self.listed: list[str] = []
        self.gone = False

    def tick(self, minutes: float = 10) -> None:
        self.now += dt.timedelta(minutes=minutes)

    def add_task(self, id: int, **data: Any) -> None:
        about = {"item_id": f"hw-{id}", "kind": "multi_hop", "item_hash": f"h{id}", **data}
        self.tasks[id] = {"id": id, "updated_at": write_time(self.now), "data": about, "annotations": []}

    def annotate(self, task: int, *answers: dict[str, Any], by: Any = 2, **changes: Any) -> int:
        self.number += 1
        given = answers or (choose("verdict", "Retain"), rate("fluency", 5))
        self.tasks[task]["annotations"].append(annotate(*given, id=self.number, completed_by=by, **changes))
        self.tasks[task]["updated_at"] = write_time(self.now)
        return self.number

    def list_tasks(
        self,
        server: Server,
        project: int,
        include: str,
        *,
        since: str = "",
        annotated: bool = False,
        only: Sequence[int] = (),
        page: int = 0,
    ) -> Iterator[dict[str, Any]]:
        if self.gone:
            raise NotOnServerError(f"project {project} is not on Label Studio")
        self.listed.append(since or ("annotated" if annotated else f"only {list(only)}" if only else "all"))
        for id in sorted(self.tasks):
            task = self.tasks[id]
            if task["updated_at"] >= since and (task["annotations"] or not annotated) and (not only or id in only):
                yield {name: task[name] for name in include.split(",") if name in task}

    def read_json(self, server: Server, path: str, what: str, **_: Any) -> ServerResponse:
        if self.gone:
            raise NotOnServerError(f"{what} is not on Label Studio")
        every = [one for task in self.tasks.values() for one in task["annotations"]]
        skipped = sum(one["was_cancelled"] for one in every)
        body = {"total_annotations_number": len(every) - skipped, "skipped_annotations_number": skipped}
        return ServerResponse(body, write_time(self.now))


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    fake = Fake()
    monkeypatch.setattr(module, "list_tasks", fake.list_tasks)
    monkeypatch.setattr(module, "read_json", fake.read_json)
    for id in (1, 2, 3):
        fake.add_task(id)
    fake.tick()
    return fake


@pytest.fixture
def pull(fake: Fake, tmp_path: Path):
    server = Server("http://host", cast(Any, None))

    def run(**options: Any) -> PullReport:
        project = Project(
            4, ReviewTaskKind.MULTI_HOP, data={id: task["data"] for id, task in fake.tasks.items() if id != 3}
        )
        return pull_project(server, project, Journal(tmp_path / "journal"), Pseudonyms(tmp_path), **options)

    return run


def held(tmp_path: Path):
    return Journal(tmp_path / "journal").read()


def test_only_what_changed_is_fetched(fake: Fake, pull, tmp_path: Path):
    fake.annotate(1)
    fake.annotate(1, by=3)
    fake.annotate(2)
    first = pull()
    assert (first.whole, first.new, first.changed, first.removed, first.held) == (True, 3, 0, 0, 3)
    fake.tick()
    again = pull()
    assert (again.whole, again.new, again.changed, again.removed, again.held) == (False, 0, 0, 0, 3)
    fake.annotate(2, by=3)
    fake.tasks[1]["annotations"][0]["result"][0]["value"]["choices"] = ["Discard"]
    fake.tasks[1]["updated_at"] = write_time(fake.now)
    third = pull()
    assert (third.whole, third.new, third.changed, third.removed, third.held) == (False, 1, 1, 0, 4)
    assert fake.listed[-2:] == [write_time(START + dt.timedelta(minutes=9)), "only [1, 2]"]
    verdicts = {review.annotation: review.verdict for review in held(tmp_path).reviews}
    assert verdicts == {1: "Discard", 2: "Retain", 3: "Retain", 4: "Retain"}


def test_an_answer_given_blind_comes_home(fake: Fake, pull, tmp_path: Path):
    fake.annotate(1, choose("verdict", "Retain"), {**choose("own_answer", "C"), "to_name": "blind"})
    fake.annotate(2)
    assert pull().refused == ()
    assert [review.own_answer for review in held(tmp_path).reviews] == ["C", None]


def test_nothing_new_writes_nothing(fake: Fake, pull, tmp_path: Path):
    fake.annotate(1)
    pull()
    before = sorted((tmp_path / "journal").iterdir())
    fake.tick()
    pull()
    fake.tasks[2]["updated_at"] = write_time(fake.now)  # opened and closed again
    pull()
    assert sorted((tmp_path / "journal").iterdir()) == before


def test_what_a_slow_transaction_wrote_late_is_not_missed(fake: Fake, pull):
    fake.annotate(1)
    pull()
    fake.annotate(2)
    fake.tasks[2]["updated_at"] = write_time(fake.now - dt.timedelta(seconds=30))
    assert pull().new == 1


def test_what_was_removed_goes_here_too(fake: Fake, pull, tmp_path: Path):
    fake.annotate(1)
    fake.annotate(2)
    pull()
    fake.tick()
    fake.tasks[1]["annotations"].clear()
    fake.tasks[1]["updated_at"] = write_time(fake.now)
    found = pull()
    assert (found.whole, found.removed, found.held) == (False, 1, 1)
    del fake.tasks[2]  # in bulk, without a trace in any time
    fake.tick()
    found = pull()
    assert (found.whole, found.removed, found.held) == (True, 1, 0)
    assert held(tmp_path).reviews == []


def test_a_deleted_project_leaves_the_journal(fake: Fake, pull, tmp_path: Path):
    fake.annotate(1)
    pull()
    fake.gone = True
    with pytest.raises(NotOnServerError, match=r"project 4 \(multi_hop\) is not on Label Studio"):
        pull()
    assert len(held(tmp_path).reviews) == 1


def test_what_does_not_fit_is_named_and_comes_once_it_fits(fake: Fake, pull, tmp_path: Path):
    fake.annotate(1, choose("verdict", "Retain"), write("planted", "x"))
    fake.annotate(2)
    found = pull()
    line = "annotation 1 of task 1 (project 4) is left out: the interface has no field 'planted'"
    assert (found.new, found.held, found.refused) == (2, 2, (line,))
    assert [review.annotation for review in held(tmp_path).reviews] == [2]
    fake.tick()
    assert pull().refused == ()
    fake.tasks[1]["annotations"][0]["result"].pop()
    fake.tasks[1]["updated_at"] = write_time(fake.now)
    assert (pull().changed, len(held(tmp_path).reviews)) == (1, 2)


def test_tasks_that_we_do_not_know_are_asked_for_and_foreign_ones_left_out(fake: Fake, pull, tmp_path: Path):
    fake.annotate(3)
    fake.add_task(9, kind="poem")
    fake.annotate(9)
    found = pull()
    assert [review.item_id for review in held(tmp_path).reviews] == ["hw-3"]
    assert "its task is no multi_hop task of ours" in found.refused[0]
    assert fake.listed == ["annotated", "all"]  # once for all that are unknown


def test_people_are_pseudonyms(fake: Fake, pull, tmp_path: Path):
    fake.annotate(1, by=2)
    fake.annotate(1, by=777777)
    fake.annotate(2, by={"id": 2, "email": "somebody@example.org"})
    pull()
    names = [review.annotator for review in held(tmp_path).reviews]
    assert (names[0] == names[2], names[0] == names[1]) == (True, False)
    for path in (tmp_path / "journal").iterdir():
        assert b"somebody" not in path.read_bytes()
        assert b"777777" not in path.read_bytes()


def test_a_kill_between_pull_and_write_loses_nothing(fake: Fake, pull, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake.annotate(1)
    pull()
    fake.tick()
    fake.annotate(2)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("annotation.journal.write_file", _die)
        pull()
    assert len(held(tmp_path).reviews) == 1
    assert (pull().new, len(held(tmp_path).reviews)) == (1, 2)


def test_an_annotation_that_comes_while_we_read_needs_no_second_round(fake: Fake, pull, monkeypatch):
    fake.annotate(1)
    pull()
    fake.tick()
    read = fake.read_json

    def late(*arguments: Any, **named: Any) -> ServerResponse:
        answer = read(*arguments, **named)
        if not fake.tasks[2]["annotations"]:
            fake.annotate(2)
        return answer

    monkeypatch.setattr(module, "read_json", late)
    found = pull()
    assert (found.whole, found.new) == (False, 1)


def _die(*_: object) -> None:
    raise KeyboardInterrupt
