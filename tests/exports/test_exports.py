from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hopwright.errors import InputError
from hopwright.evaluation.items import TO_TEST_ON, TO_TRAIN_ON, read_items
from hopwright.exports import export_items
from hopwright.exports.rows import to_row
from hopwright.exports.steps import ask_steps, read_steps, score_steps
from hopwright.llm.prompts import read_prompts
from hopwright.release.separation import ItemSet
from tests.builders import bridge_item, chain_item
from tests.release.test_dataset import release

PROMPTS = read_prompts(Path(__file__).resolve().parents[2] / "prompts")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with an item in synth and one in bench."""
    folder = tmp_path_factory.mktemp("exports") / "two-sets"
    others = {"bench": ItemSet([bridge_item()])}
    release(folder, factual=[chain_item()], twins=[], others=others, rule="paths")
    return folder


def test_what_is_tested_on_is_bench_and_what_is_trained_on_is_not(folder: Path) -> None:
    assert [item.id for item in read_items(folder, sets=TO_TEST_ON).items] == [bridge_item().id]
    assert [item.id for item in read_items(folder).items] == [bridge_item().id]
    assert [item.id for item in read_items(folder, sets=TO_TRAIN_ON).items] == [chain_item().id]
    assert [item.id for item in read_items(folder / "data.jsonl").items] == [chain_item().id]


def test_a_folder_that_is_no_release_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no data\.jsonl and no bench\.jsonl"):
        read_items(tmp_path)


def test_a_chain_that_is_answered_right_scores_one_everywhere(folder: Path) -> None:
    row = to_row(read_items(folder).items[0])
    lines = [f"{number}: {hop['answers'][0]}" for number, hop in enumerate(row["hops"], start=1)]
    text = "\n".join([*lines, f"FINAL ANSWER: {row['answers'][0]}"])
    figures, given, outcome = score_steps(row, text)
    assert set(figures.values()) == {1.0}
    assert (given, outcome) == (row["answers"][0], "answered")
    wrong, _, _ = score_steps(row, text.replace(lines[1], "2: nobody knows"))
    assert [name for name, value in wrong.items() if value < 1] == ["hop_2", "joint_em", "joint_f1"]
    none, _, outcome = score_steps(row, "I would rather not say.")
    assert outcome != "answered"
    assert set(none.values()) == {0.0}


def test_steps_are_read_however_they_are_numbered() -> None:
    text = "Step 1: Paris\n- 2) **1889**\n3. the tower \n2: 1887\nFINAL ANSWER: 4: five"
    assert read_steps(text) == {1: "Paris", 2: "1887", 3: "the tower"}


def test_exported_code_needs_nothing_of_hopwrights(folder: Path, tmp_path: Path) -> None:
    items = read_items(folder).items
    export_items(items, "lm-eval", PROMPTS, tmp_path / "lm-eval")
    script = """
import json, sys
sys.modules["hopwright"] = None
import utils
row = json.loads(open("items.jsonl").readline())
print(json.dumps([utils.ask_steps(row), utils.score_steps(row, ["FINAL ANSWER: " + row["answers"][0]])]))
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path / "lm-eval", capture_output=True, text=True, check=True)
    asked, figures = json.loads(done.stdout)
    assert asked.startswith(ask_steps(to_row(items[0])))
    assert (figures["right"], figures["hop_1"]) == (1.0, 0.0)
