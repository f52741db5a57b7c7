"""Exported questions about novels in the hands of lm-evaluation-harness and Inspect, with a server that reads.

The harnesses live in `.venvs/tools` (`make tools`), which the first test makes where it is missing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hopwright.novels.dataset import BookTexts, NovelSet
from hopwright.novels.evaluation import pick_items
from hopwright.novels.exports import export_novels
from hopwright.settings import NovelsExportParameters
from tests.e2e.serving import serve
from tests.e2e.test_exports import call
from tests.e2e.tools import make_tools
from tests.novels.conftest import shelf as shelf
from tests.novels.conftest import small_set as small_set
from tests.novels.conftest import texts as texts
from tests.novels.window_server import is_right

pytestmark = [pytest.mark.e2e, pytest.mark.servers]
SERVER = "tests.novels.window_server"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory, small_set: NovelSet, texts: BookTexts) -> Path:
    items = pick_items(small_set, NovelsExportParameters(limit=2))
    folder = tmp_path_factory.mktemp("novels") / "exported"
    export_novels(items, texts, folder, ["lm-eval", "inspect"])
    return folder


def expect(folder: Path) -> float:
    rows = (folder / "items.jsonl").read_text("utf-8").splitlines()
    assert len(rows) > 8
    return sum(is_right(place) for place in range(len(rows))) / len(rows)


def test_lm_evaluation_harness_sends_the_windows_and_scores(exported: Path) -> None:
    folder = exported / "lm-eval"
    with serve(SERVER, str(folder / "items.jsonl")) as url:
        arguments = f"model=m,base_url={url}/v1/chat/completions,tokenized_requests=False,max_length=40000"
        call(
            [str(make_tools() / "lm_eval"), "--include_path", ".", "--tasks", "hopwright_novels",
             "--apply_chat_template", "--model", "local-chat-completions", "--model_args", arguments,
             "--output_path", "out"],
            folder, OPENAI_API_KEY="x",
        )  # fmt: skip
    [result] = (folder / "out").rglob("results_*.json")
    scores = json.loads(result.read_text())["results"]["hopwright_novels"]
    assert scores["right,none"] == pytest.approx(expect(folder))
    assert scores["extracted,none"] == 1


def test_inspect_sends_the_windows_and_scores_by_cell(exported: Path) -> None:
    folder = exported / "inspect"
    with serve(SERVER, str(folder / "items.jsonl")) as url:
        call(
            [str(make_tools() / "inspect"), "eval", "hopwright_novels_inspect.py@hopwright_novels", "--model",
             "openai-api/local/m", "--display", "plain", "--log-format", "json", "--log-dir", "logs"],
            folder, LOCAL_API_KEY="x", LOCAL_BASE_URL=f"{url}/v1",
        )  # fmt: skip
    [log] = (folder / "logs").glob("*.json")
    metrics = [score["metrics"] for score in json.loads(log.read_text())["results"]["scores"]]
    values = {name: one["value"] for held in metrics for name, one in held.items()}
    assert values["accuracy"] == pytest.approx(expect(folder))
    assert any("4 hops, 4k" in name for name in values)
