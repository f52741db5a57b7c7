"""The journal of a project: everything or nothing, whatever is killed when."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation import journal as module
from annotation.journal import Journal, JournalState, TaskAnnotations
from annotation.pseudonyms import Pseudonyms
from hopwright.errors import HopwrightError, InputError
from hopwright.records import Rejected
from tests.annotation.reviews import make_review


def pulled(task: int, *annotations: int, refused: int | None = None) -> TaskAnnotations:
    reviews = tuple(make_review(task=task, annotation=number) for number in annotations)
    bad = (Rejected(key=f"1/{task}/{refused}", check="interface", reason="no"),) if refused else ()
    return TaskAnnotations(reviews, bad)


def test_a_pull_is_read_back(tmp_path: Path):
    journal = Journal(tmp_path / "project-1")
    assert journal.read() == JournalState()
    journal.append({3: pulled(3, 1, 2), 4: pulled(4, refused=9)}, {3: "t1", 4: "t2"}, "w1")
    held = journal.read()
    assert held.tasks == {3: pulled(3, 1, 2), 4: pulled(4, refused=9)}
    annotations = sum(len(one.reviews) + len(one.refused) for one in held.tasks.values())
    assert (held.seen, held.watermark, annotations) == ({3: "t1", 4: "t2"}, "w1", 3)
    assert [review.annotation for review in held.reviews] == [1, 2]
    assert [one.key for one in held.refused] == ["1/4/9"]


def test_later_pulls_replace_tasks_and_whole_ones_everything(tmp_path: Path):
    journal = Journal(tmp_path)
    journal.append({3: pulled(3, 1), 4: pulled(4, 2)}, {3: "a", 4: "a"}, "w1")
    journal.append({4: pulled(4)}, {4: "b"}, "w2")
    held = journal.read()
    assert (held.tasks[3], held.tasks[4], held.watermark) == (pulled(3, 1), TaskAnnotations(), "w2")
    journal.append({7: pulled(7, 5)}, {7: "c"}, "w3", whole=True)
    assert journal.read().tasks == {7: pulled(7, 5)}
    assert len(list(tmp_path.iterdir())) == 1


def test_many_small_pulls_are_folded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_MANY", 5)
    journal = Journal(tmp_path)
    for number in range(1, 24):
        journal.append({number: pulled(number, number)}, {number: "t"}, f"w{number}")
    held = journal.read()
    assert sorted(held.tasks) == list(range(1, 24))
    assert held.watermark == "w23"
    assert len(list(tmp_path.iterdir())) <= 7


@settings(max_examples=20)
@given(
    st.lists(
        st.tuples(st.dictionaries(st.integers(1, 6), st.integers(0, 3), min_size=1), st.booleans(), st.booleans()),
        max_size=12,
    )
)
def test_a_kill_at_any_write_loses_nothing(tmp_path_factory: pytest.TempPathFactory, pulls) -> None:
    """What is read is always what the writes that ended say, with nothing of one that did not."""
    journal = Journal(tmp_path_factory.mktemp("journal"))
    expected: dict[int, TaskAnnotations] = {}
    for number, (tasks, whole, killed) in enumerate(pulls):
        found = {task: pulled(task, *range(1, 1 + count)) for task, count in tasks.items()}
        if killed:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(os, "fsync", _die)
                with pytest.raises(KeyboardInterrupt):
                    journal.append(found, dict.fromkeys(found, "t"), f"w{number}", whole=whole)
        else:
            journal.append(found, dict.fromkeys(found, "t"), f"w{number}", whole=whole)
            expected = found if whole else {**expected, **found}
        assert journal.read().tasks == expected


def test_damage_is_said_so(tmp_path: Path):
    journal = Journal(tmp_path)
    journal.append({3: pulled(3, 1)}, {3: "a"}, "w1")
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="not a whole file of pulled reviews; remove it and pull with --full"):
        journal.read()


def test_pseudonyms_are_stable_differ_by_person_and_server_and_need_the_secret(tmp_path: Path):
    one, again = Pseudonyms(tmp_path / "a"), Pseudonyms(tmp_path / "a")
    assert one.name("http://host", 7) == again.name("http://host", 7)
    names = {one.name("http://host", 7), one.name("http://host", 8), one.name("http://other", 7)}
    assert len(names | {Pseudonyms(tmp_path / "b").name("http://host", 7)}) == 4
    assert all(name.startswith("a-") and "7" not in name[:2] for name in names)
    assert one.webhook_secret("http://host") not in names
    secret = tmp_path / "a" / "secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    assert secret.read_text().strip() not in repr(one)


def test_a_secret_that_others_may_read_is_closed_and_a_damaged_one_refused(tmp_path: Path):
    Pseudonyms(tmp_path)
    secret = tmp_path / "secret"
    secret.chmod(0o644)
    Pseudonyms(tmp_path)
    assert secret.stat().st_mode & 0o777 == 0o600
    secret.write_text("short")
    with pytest.raises(HopwrightError, match="not a secret of Hopwright"):
        Pseudonyms(tmp_path)


def _die(_: int) -> None:
    raise KeyboardInterrupt
