"""What a pull of reviews starts, and that it does so though one pull was cut short or two want the same reviews."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from annotation.stages import reviews
from annotation.stages.reviews import PullRound, lock_reviews
from hopwright.errors import RunError, ServiceError
from hopwright.runs import RunFolder
from hopwright.runs.files import hold_lock
from hopwright.settings import ReviewPullRun
from tasks import review_pull
from tasks.review_pull import make_pull


class Played:
    """Label Studio, played: the annotations that the next pull brings, and whether it answers after that."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.news = 0
        self.away = False
        self.told: list[dict[str, Any]] = []
        monkeypatch.setattr(review_pull, "pull_projects", self.pull)
        monkeypatch.setattr(review_pull, "return_corrections", self.ask_back)
        monkeypatch.setattr(review_pull, "count_waiting", lambda *_: 0)
        monkeypatch.setattr(review_pull, "_publish", lambda _: None)
        monkeypatch.setattr(review_pull, "announce", lambda _event, _run, facts: self.told.append(facts))
        monkeypatch.setattr(review_pull, "asdict", lambda one: {})

    def pull(self, *_: object) -> PullRound:
        one: Any = SimpleNamespace(new=self.news, changed=0, removed=0, held=7, refused=(), summary="")
        self.news = 0
        return PullRound((one,), ())

    def ask_back(self, *_: object) -> dict[str, Any]:
        if self.away:
            raise ServiceError("Label Studio is away")
        return {}


def test_what_a_pull_brought_that_was_cut_short_is_followed_up_by_the_next(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    played, run = Played(monkeypatch), RunFolder(tmp_path, "r")
    wanted = ReviewPullRun.model_validate({"run": "r", "pull": {"url": "http://127.0.0.1:9"}})
    played.news, played.away = 3, True
    with pytest.raises(ServiceError):
        make_pull(run, wanted)
    assert played.told == []
    played.away = False
    make_pull(run, wanted)
    assert played.told == [{"url": "http://127.0.0.1:9", "held": 7}]
    make_pull(run, wanted)
    assert len(played.told) == 1, "nothing new, nothing told"


def test_who_decides_waits_for_a_pull_that_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run, held, done = RunFolder(tmp_path, "r"), threading.Event(), threading.Event()

    def pull() -> None:
        with hold_lock(tmp_path / "locks" / "r.reviews.lock", "the review"):
            held.set()
            done.wait()

    threading.Thread(target=pull, daemon=True).start()
    held.wait()
    with monkeypatch.context() as patch:
        patch.setattr(reviews, "_PATIENCE_S", 0.0)
        with (
            pytest.raises(RunError, match="the review of run 'r' is being written by another process"),
            lock_reviews(run),
        ):
            pass
    threading.Timer(0.3, done.set).start()
    with lock_reviews(run):
        assert done.is_set()
