"""What goes out: tasks for reviewers, folders for other programs, whose scoring is ours."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from annotation.forms import check_task, load_picture_interface, parse_interface
from annotation.pictures import build_picture_task, write_picture_tasks
from hopwright.errors import InputError
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.exports import export_pictures
from hopwright.pictures.rows import list_media, read_text, read_typed
from hopwright.pictures.splitting import split_items
from hopwright.scoring.typed_answers import judge_answer

_SCORE = """
import json, sys
import hopwright_pictures as scoring
rows = [json.loads(line) for line in open("items.jsonl", encoding="utf-8")]
print(json.dumps([[scoring.is_right(said, row) for said in saying] for row, saying in zip(rows, json.load(sys.stdin))]))
"""


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory, small_set: PictureSet) -> Path:
    folder = tmp_path_factory.mktemp("exports") / "all"
    export_pictures(small_set, folder, ["lm-eval", "inspect", "llama-factory"])
    return folder


def test_exported_scoring_judges_as_ours(exported: Path, small_set: PictureSet) -> None:
    items = small_set.of_split("test")
    said = [[item.answer, "nothing", "1960", *item.answer_aliases[:2], *item.options.values()] for item in items]
    done = subprocess.run(
        [sys.executable, "-c", _SCORE], cwd=exported / "lm-eval", input=json.dumps(said), text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    theirs = json.loads(done.stdout)
    ours = [[judge_answer(one, read_typed(item)) for one in saying] for item, saying in zip(items, said, strict=True)]
    assert theirs == ours
    assert all(row[0] and not row[1] for row in ours)


def test_an_lm_eval_task_shows_its_pictures(exported: Path, small_set: PictureSet) -> None:
    text = (exported / "lm-eval" / "hopwright_pictures.yaml").read_text().replace("!function ", "")
    task = yaml.safe_load(text)
    assert task["doc_to_image"] == "utils.load_images"
    rows = [json.loads(line) for line in (exported / "lm-eval" / "items.jsonl").open()]
    assert len(rows) == len(small_set.of_split("test"))
    assert all((exported / "lm-eval" / path).is_file() for row in rows for path in row["images"])


def test_a_training_dialogue_has_a_placeholder_for_each_picture(exported: Path) -> None:
    folder = exported / "llama-factory"
    info = json.loads((folder / "dataset_info.json").read_text())["hopwright_pictures"]
    assert info["formatting"] == "sharegpt"
    for row in json.loads((folder / info["file_name"]).read_text()):
        asked, answered = row[info["columns"]["messages"]]
        assert asked["content"].count("<image>") == len(row[info["columns"]["images"]])
        assert "FINAL ANSWER: " in answered["content"]
        assert all((folder / path).is_file() for path in row["images"])


def test_tasks_fit_the_interface_and_hold_the_pictures(tmp_path: Path, small_set: PictureSet) -> None:
    items = small_set.of_split("all")
    assert write_picture_tasks(small_set, items, tmp_path) == len(items)
    interface = parse_interface((tmp_path / "interface.xml").read_text())
    for item, task in zip(items, json.loads((tmp_path / "tasks.json").read_text()), strict=True):
        data = task["data"]
        shown = [base64.b64decode(url) for url in re.findall(r'base64,([^"]+)"', data["pictures_html"])]
        assert shown == [small_set.read_png(media) for media in list_media(item)]
        assert read_text(item.question_parts) in data["question"]
        assert "[image]" not in data["item_html"]
        check_task(task, interface)


def test_a_task_without_pictures_is_refused(small_set: PictureSet) -> None:
    task = build_picture_task(small_set.of_split("all")[0], small_set)
    del task["data"]["pictures_html"]
    with pytest.raises(InputError, match="does not fit"):
        check_task(task, parse_interface(load_picture_interface()))


def test_a_task_s_hash_follows_its_pictures(small_set: PictureSet) -> None:
    twin = small_set.twins[0]
    original = next(item for item, _ in small_set.items if item.id == twin.twin)
    hashes = {build_picture_task(item, small_set)["data"]["item_hash"] for item in (twin, original)}
    assert len(hashes) == 2


def test_parts_are_stratified_and_keep_facts_together(small_set: PictureSet) -> None:
    items = small_set.of_split("all")
    chosen = split_items(items)
    assert set(chosen) == {item.id for item in items}
    facts: dict[str, set[str]] = {}
    for item in items:
        shown = sorted(hop.answer_id or "" for hop in item.hops if hop.question_parts)
        key = json.dumps([shown, [hop.derivation.model_dump_json() for hop in item.hops if not hop.question_parts]])
        facts.setdefault(key, set()).add(chosen[item.id])
    assert all(len(parts) == 1 for parts in facts.values())
