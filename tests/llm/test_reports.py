"""The progress of a run, gathered from what its worker processes report."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hopwright.llm.config import LimitSettings
from hopwright.llm.reports import gather_progress, read_reports
from hopwright.llm.session import Session, close_session, open_session
from hopwright.llm.store import Store
from tests.e2e.serving import serving
from tests.llm.builders import rows, settings
from tests.llm.wire_server import Faults, WireServer


def test_the_progress_of_all_workers_is_added_up_and_starts_from_where_it_stood(tmp_path: Path) -> None:
    path = tmp_path / "llm.sqlite"
    with serving(WireServer()) as server, Store(path) as store:
        llm = settings(server)
        with Session(llm, path, run="r") as one, Session(llm, path, run="r") as other:
            one.complete_all(rows(10))
            one.report()
            since = {worker: snapshot for worker, (_, snapshot) in read_reports(store, "r").items()}
            began = time.time()
            assert gather_progress(store, "r", since=since, began=began, limit=None).done == 0
            one.complete_all(rows(14))
            list(other.stream(rows(20)))
            one.report()
            other.report()
            now = gather_progress(store, "r", since=since, began=began, limit=2.0, growth=2.0)
            assert (now.done, now.cached, now.answered, now.sent) == (34, 24, 10, 10)
            assert now.total == 68, "the shards to come are as large as those begun"
            assert now.rate > 0
            assert now.usage.output > 0
            assert now.budget_usd == 2.0
        assert gather_progress(store, "other", since={}, began=0.0, limit=None).done == 0


def test_what_was_reported_while_all_was_in_flight_is_not_the_last_word(tmp_path: Path) -> None:
    path = tmp_path / "llm.sqlite"
    with serving(WireServer(Faults(latency_s=2.0))) as server, Store(path) as store:
        llm = settings(server, limits=LimitSettings(max_concurrency=10, start_concurrency=10))
        with Session(llm, path, run="r") as session:
            futures = [session.submit(row) for row in rows(10)]
            while session.snapshot().sent < 10:
                time.sleep(0.01)
            session.report()
            ((_, before),) = read_reports(store, "r").values()
            assert all(future.result().ok for future in futures)
            session.report()
            ((_, now),) = read_reports(store, "r").values()
    assert before.sent == 10
    assert (now.sent, now.in_flight, now.done) == (10, 0, 10)


def test_a_killed_start_of_the_same_run_is_not_counted_again(tmp_path: Path) -> None:
    path = tmp_path / "llm.sqlite"
    with serving(WireServer()) as server, Store(path) as store:
        with Session(settings(server), path, run="r") as session:
            session.complete_all(rows(10))
        assert gather_progress(store, "r", since={}, began=time.time() + 1, limit=None).done == 0


def test_dollars_are_the_whole_runs_and_projected_over_what_is_left(tmp_path: Path) -> None:
    path = tmp_path / "llm.sqlite"
    with serving(WireServer()) as server, Store(path) as store:
        llm = settings(server, free=False)
        with Session(llm, path, run="r") as session:
            session.complete_all(rows(10, model="gpt-4o-mini"))
            session.report()
            now = gather_progress(store, "r", since={}, began=0.0, limit=None, growth=3.0)
            assert now.spent_usd > 0
            assert now.projected_usd == pytest.approx(3 * now.spent_usd)


def test_a_session_is_shared_until_its_settings_or_its_budget_change(tmp_path: Path) -> None:
    path = tmp_path / "llm.sqlite"
    with serving(WireServer()) as server:
        llm = settings(server)
        first = open_session(llm, path, run="r", budget_usd=1.0)
        assert open_session(llm, path, run="r", budget_usd=1.0) is first
        second = open_session(llm, path, run="r", budget_usd=2.0)
        assert second is not first
        assert all(outcome.ok for outcome in second.complete_all(rows(2)))
        close_session(path, "r")
        third = open_session(llm, path, run="r", budget_usd=2.0)
        assert third is not second
        close_session(path, "r")
