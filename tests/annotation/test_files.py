from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation import files as module
from annotation.export import build_tasks
from annotation.files import ReviewEntry, list_kinds, read_planted, read_settings, read_tasks, write_tasks
from annotation.forms import load_interface
from annotation.gold import plant_fault
from annotation.schema import BLIND_HTML, ReviewTaskKind
from hopwright.errors import InputError, RunError
from tests.builders import all_items, chain_item


def test_tasks_are_read_back_as_they_were_built(tmp_path: Path) -> None:
    items = all_items()
    twin = chain_item().model_copy(update={"id": "hw-twin", "variant": "counterfactual"})
    files = write_tasks([ReviewEntry(item) for item in (*items, twin)], tmp_path)
    assert files.counts == {ReviewTaskKind.SINGLE_HOP: 12, ReviewTaskKind.MULTI_HOP: 3, ReviewTaskKind.TWIN: 1}
    assert list_kinds(tmp_path) == [ReviewTaskKind.SINGLE_HOP, ReviewTaskKind.MULTI_HOP, ReviewTaskKind.TWIN]
    built = [task for item in (*items, twin) for task in build_tasks(item)]
    for kind in list_kinds(tmp_path):
        assert list(read_tasks(tmp_path, kind)) == [task for task in built if task["data"]["kind"] == kind]
        whole = json.loads((tmp_path / kind / "tasks-000.json").read_text("utf-8"))
        assert whole == list(read_tasks(tmp_path, kind)), "what Label Studio's import page takes"
        assert "<Choices" in (tmp_path / kind / "interface.xml").read_text("utf-8")
        assert "<table>" in (tmp_path / kind / "instructions.html").read_text("utf-8")


def test_files_stay_under_the_import_limits_and_old_ones_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_TASKS", 5)
    write_tasks([ReviewEntry(item) for item in all_items()], tmp_path)
    parts = sorted((tmp_path / "single_hop").glob("tasks-*.json"))
    assert [len(json.loads(part.read_text("utf-8"))) for part in parts] == [5, 5, 2]
    assert len(list(read_tasks(tmp_path, ReviewTaskKind.SINGLE_HOP))) == 12
    monkeypatch.setattr(module, "_MOST_BYTES", 1)
    write_tasks([ReviewEntry(chain_item())], tmp_path)
    assert len(list((tmp_path / "single_hop").glob("tasks-*.json"))) == 4
    assert len(list(read_tasks(tmp_path, ReviewTaskKind.SINGLE_HOP))) == 4
    write_tasks([ReviewEntry(chain_item())], tmp_path, kinds=[ReviewTaskKind.MULTI_HOP])
    assert list_kinds(tmp_path) == [ReviewTaskKind.MULTI_HOP], "what is not wanted any more would be pushed"


def test_gold_stands_among_the_others_and_its_key_beside_them(tmp_path: Path) -> None:
    planted = plant_fault(all_items()[1], ReviewTaskKind.SINGLE_HOP, "wrong_answer")
    assert planted is not None
    files = write_tasks([ReviewEntry(all_items()[0]), ReviewEntry(planted.item, gold=planted.gold)], tmp_path)
    assert files.counts == {ReviewTaskKind.SINGLE_HOP: 5, ReviewTaskKind.MULTI_HOP: 1}
    assert files.gold == 1
    assert read_planted(tmp_path) == {planted.gold.key: planted.gold}
    text = (tmp_path / "single_hop" / "tasks-000.json").read_text("utf-8")
    for word in (planted.gold.fault, planted.gold.source, "gold"):
        assert word not in text


def test_the_agreement_sample_goes_to_more_reviewers(tmp_path: Path) -> None:
    one, two, three = all_items()
    write_tasks(
        [ReviewEntry(one, agreement=True), ReviewEntry(two), ReviewEntry(three)], tmp_path, overlap=2, agreement=4
    )
    settings = read_settings(tmp_path)
    assert [settings.of(item.id) for item in (one, two, three)] == [4, 2, 2]
    write_tasks([ReviewEntry(one, agreement=True)], tmp_path, overlap=3, agreement=2)
    assert read_settings(tmp_path).of(one.id) == 3, "never fewer than the others"


def test_blind_tasks_are_written_with_their_interface_and_guidelines(tmp_path: Path) -> None:
    write_tasks([ReviewEntry(chain_item())], tmp_path, blind=True)
    assert read_settings(tmp_path).blind
    for kind in list_kinds(tmp_path):
        folder = tmp_path / kind.value
        assert (folder / "interface.xml").read_text() == load_interface(kind, blind=True)
        assert "Answer first" in (folder / "instructions.html").read_text()
        assert all(BLIND_HTML in task["data"] for task in read_tasks(tmp_path, kind))
    write_tasks([ReviewEntry(chain_item())], tmp_path)
    assert not read_settings(tmp_path).blind
    assert not any(BLIND_HTML in task["data"] for kind in list_kinds(tmp_path) for task in read_tasks(tmp_path, kind))


def test_no_items_give_no_tasks_and_say_so_when_pushed(tmp_path: Path) -> None:
    assert write_tasks([], tmp_path).counts == {}
    with pytest.raises(InputError, match="holds no review tasks"):
        list_kinds(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[\n{\n]\n", "line 2: not a task"),
        ('[\n{"data": {"question": "?"}}\n]\n', "without `data.item_id`"),
        ("7", "without"),
    ],
)
def test_a_file_that_is_not_ours_is_one_line(tmp_path: Path, content: str, message: str) -> None:
    write_tasks([ReviewEntry(chain_item())], tmp_path)
    (tmp_path / "multi_hop" / "tasks-000.json").write_text(content)
    with pytest.raises(InputError, match=message):
        list(read_tasks(tmp_path, ReviewTaskKind.MULTI_HOP))
    (tmp_path / "review.json").write_text("{")
    with pytest.raises(InputError, match="missing or damaged"):
        read_settings(tmp_path)


def test_a_failure_leaves_the_tasks_that_were_there_and_nothing_half_written(tmp_path: Path) -> None:
    write_tasks([ReviewEntry(chain_item())], tmp_path)
    before = (tmp_path / "multi_hop" / "tasks-000.json").read_bytes()
    with pytest.raises(RunError, match="disk full"):
        write_tasks(_fill_the_disk(), tmp_path)
    assert (tmp_path / "multi_hop" / "tasks-000.json").read_bytes() == before
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def _fill_the_disk() -> Iterator[ReviewEntry]:
    yield from (ReviewEntry(item) for item in all_items())
    raise OSError(28, "No space left on device")
