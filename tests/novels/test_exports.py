"""Exported questions: each window's text once, and code that asks and scores with nothing of Hopwright's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from hopwright.knowledge.books.book import hash_text
from hopwright.novels.dataset import BookTexts, NovelSet
from hopwright.novels.evaluation import pick_items
from hopwright.novels.exports import export_novels
from hopwright.settings import NovelsExportParameters

_RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
import hopwright_novels as it
rows = [json.loads(line) for line in open(sys.argv[1] + "/items.jsonl", encoding="utf-8")]
assert not [name for name in sys.modules if name.split(".")[0] == "hopwright"]
print(json.dumps([
    [it.score(f"So it is.\\nFINAL ANSWER: {said}", row)[1] for said in (row["answers"][-1], "Nobody at all", "7")]
    + [it.ask(row).count(row["question"])] for row in rows
]))
"""


@pytest.mark.parametrize("form", ["lm-eval", "inspect"])
def test_the_code_of_a_folder_asks_and_scores(
    tmp_path: Path, small_set: NovelSet, texts: BookTexts, form: str
) -> None:
    items = pick_items(small_set, NovelsExportParameters.model_validate({"limit": 2, "twins": True}))
    assert export_novels(items, texts, tmp_path / "out", [form]) == {form: len(items)}
    folder = tmp_path / "out" / form
    done = subprocess.run(
        [sys.executable, "-I", "-c", _RUN, str(folder)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    for right, wrong, number, asked in json.loads(done.stdout):
        assert right == {"right": 1.0, "extracted": 1.0}
        assert wrong["right"] == 0.0
        assert number["right"] in (0.0, 1.0)
        assert asked == 1
    rows = [json.loads(line) for line in (folder / "items.jsonl").read_text("utf-8").splitlines()]
    assert len({row["context"] for row in rows}) == len(list((folder / "contexts").iterdir()))
    for row, item in zip(rows, items, strict=True):
        assert hash_text((folder / row["context"]).read_bytes().decode()) == item.window.sha256
    if form == "lm-eval":
        text = (folder / "hopwright_novels.yaml").read_text("utf-8").replace("!function ", "")
        assert yaml.safe_load(text)["doc_to_text"] == "utils.ask"
