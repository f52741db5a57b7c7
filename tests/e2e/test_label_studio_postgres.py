"""Label Studio as `make serve` starts it, on PostgreSQL: pushed to, reviewed, pulled, there after a restart."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from annotation.access import TOKEN_VARIABLE, URL_VARIABLE, find_token
from annotation.review_collection import gather, reviews_folder
from annotation.schema import CRITERIA, ReviewTaskKind
from annotation.server import open_server
from annotation.stages.reviews import pull_reviews
from flows.label_studio import DATABASE_VARIABLE, label_studio
from tests.annotation.reviews import choose, rate
from tests.annotation.rounds import make_run, push_run
from tests.e2e.label_studio import install
from tests.e2e.postgres import Postgres, run_postgres
from tests.e2e.review_pages import make_items

pytestmark = [pytest.mark.e2e, pytest.mark.servers, pytest.mark.nightly]


def test_reviews_are_kept_in_postgresql(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = install()
    for name in (TOKEN_VARIABLE, URL_VARIABLE):  # the server's context sets them: they go with the test
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    items = make_items(5)
    run = make_run(tmp_path, Path("stores/none"), items, kinds=("multi_hop",))
    with run_postgres() as postgres:
        address = postgres.make_database("reviews")
        monkeypatch.setenv(DATABASE_VARIABLE, address)
        with label_studio(program, port) as url:
            said = capsys.readouterr().out
            assert "shown once" in said
            ledger = push_run(run, url, find_token(url))
            (project,) = ledger.projects()
            with open_server(url, find_token(url)) as server:
                for entry in ledger.entries(project).values():
                    scores = [rate(name, 4) for name in CRITERIA[ReviewTaskKind.MULTI_HOP]]
                    server.client.annotations.create(entry.task, result=[choose("verdict", "Retain"), *scores])
            assert [one.new for one in pull_reviews(run, url).pulled] == [5]
        assert _count(postgres, "task") == _count(postgres, "task_completion") == 5

        with label_studio(program, port) as again:
            assert again == url
            assert "shown once" not in capsys.readouterr().out, "the first user was made twice"
            assert pull_reviews(run, url).news == 0
            assert push_run(run, url, find_token(url)).entries(project) == ledger.entries(project)
        assert _count(postgres, "task") == 5
    assert not list((tmp_path / "label-studio").rglob("*.sqlite3")), "there is a SQLite file beside it"
    reviews = gather(reviews_folder(run.home, run.name), run.path).reviews
    assert {review.item_id for review in reviews} == {item.id for item in items}
    assert postgres.password not in said


def _count(postgres: Postgres, table: str) -> int:
    return int(postgres.ask("reviews", f"select count(*) from {table}"))
