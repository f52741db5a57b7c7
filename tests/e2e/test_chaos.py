"""A paid build through kills of everything it is made of ends in the same bytes, and pays for nothing twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from tests.e2e.chaos import Course, disturb, prepare, read_heard, serve_models
from tests.e2e.conftest import Home
from tests.e2e.prefect_database import Database
from tests.e2e.prefect_server import PrefectServer

pytestmark = [pytest.mark.e2e, pytest.mark.servers]


@dataclass
class Undisturbed:
    files: dict[str, str]
    answers: int


@pytest.fixture(scope="module")
def key() -> Iterator[None]:
    with mock.patch.dict(os.environ, {"CHAOS_KEY": "k"}):
        yield


def build_undisturbed(home: Home, drafts: int) -> Undisturbed:
    with serve_models(0.02) as models:
        home.json(*prepare(home, models, drafts)[:-1])
        heard = read_heard(models)
    assert set(heard.values()) == {1}
    return Undisturbed(home.files(), len(heard))


def build_through_kills(
    folder: Path, database: Database | None, drafts: int, kills: int, expected: Undisturbed
) -> Course:
    (folder / "server").mkdir()
    # A server of our own, to be killed; the rows of it lie where those of the session's server lie.
    url = database.url if database is not None else ""
    with PrefectServer(folder / "server", url) as server, serve_models(0.15) as models:
        home = Home(folder / "killed", server.api)
        command = prepare(home, models, drafts)
        course = disturb(home, command, models, server, database, kills=kills, answers=expected.answers)
        asked = read_heard(models)
    assert course.kills.total() == kills
    assert home.files() == expected.files
    assert course.paid_twice == 0
    assert len(asked) == expected.answers, "the same conversations, none besides"
    # Sent and not yet answered or written down when its process was killed: nobody can know whether it was billed.
    assert course.lost_in_flight <= 16 * (course.starts - 1)
    # What ended it and was not a SIGKILL was told in a line.
    assert all(line.startswith("hopwright: ") for line in course.said), course.said
    print(course)  # noqa: T201
    return course


def test_five_kills(key: None, prefect_api: str, prefect_database: Database | None, tmp_path: Path) -> None:
    expected = build_undisturbed(Home(tmp_path / "undisturbed", prefect_api), 30)
    course = build_through_kills(tmp_path, prefect_database, 30, 5, expected)
    assert len(course.kills) >= 3


@pytest.mark.nightly
@pytest.mark.timeout(5400)
def test_thirty_kills(key: None, prefect_api: str, prefect_database: Database | None, tmp_path: Path) -> None:
    expected = build_undisturbed(Home(tmp_path / "undisturbed", prefect_api), 120)
    course = build_through_kills(tmp_path, prefect_database, 120, 30, expected)
    assert min(course.kills.values()) >= 3
