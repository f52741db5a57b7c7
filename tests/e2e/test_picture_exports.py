"""Exported picture questions in the hands of lm-evaluation-harness and Inspect, asked with their pictures.

The harnesses live in `.venvs/tools` (`make tools`), which the first test makes where it is missing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hopwright.pictures.dataset import read_picture_set, write_picture_set
from hopwright.pictures.exports import export_pictures
from hopwright.settings import PictureQuestionsParameters
from tests.e2e.serving import serve
from tests.e2e.test_exports import call
from tests.e2e.tools import make_tools
from tests.pictures.conftest import source as source
from tests.pictures.painted import build_painted_store, open_drafter
from tests.pictures.table_server import is_right

pytestmark = [pytest.mark.e2e, pytest.mark.servers]
SERVER = "tests.pictures.table_server"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory, source) -> Path:  # type: ignore[no-untyped-def]
    folder = tmp_path_factory.mktemp("pictures")
    drafter = open_drafter(build_painted_store(folder, source), source)
    parameters = PictureQuestionsParameters(items=60, twins=False)
    write_picture_set(drafter, folder / "set", parameters, lambda _: None)
    export_pictures(read_picture_set(folder / "set"), folder / "exported", ["lm-eval", "inspect"])
    return folder / "exported"


def expect(folder: Path) -> float:
    rows = (folder / "items.jsonl").read_text().splitlines()
    assert len(rows) > 8
    return sum(is_right(place) for place in range(len(rows))) / len(rows)


def test_lm_evaluation_harness_sends_the_pictures_and_scores(exported: Path) -> None:
    folder = exported / "lm-eval"
    with serve(SERVER, str(folder / "items.jsonl")) as url:
        arguments = f"model=m,base_url={url}/v1/chat/completions,tokenized_requests=False,max_images=3"
        call(
            [str(make_tools() / "lm_eval"), "--include_path", ".", "--tasks", "hopwright_pictures",
             "--apply_chat_template", "--model", "local-chat-completions", "--model_args", arguments,
             "--output_path", "out"],
            folder, OPENAI_API_KEY="x",
        )  # fmt: skip
    [result] = (folder / "out").rglob("results_*.json")
    scores = json.loads(result.read_text())["results"]["hopwright_pictures"]
    assert scores["right,none"] == pytest.approx(expect(folder))
    assert scores["extracted,none"] == 1


def test_inspect_sends_the_pictures_and_scores(exported: Path) -> None:
    folder = exported / "inspect"
    with serve(SERVER, str(folder / "items.jsonl")) as url:
        call(
            [str(make_tools() / "inspect"), "eval", "hopwright_pictures_inspect.py@hopwright_pictures", "--model",
             "openai-api/local/m", "--display", "plain", "--log-format", "json", "--log-dir", "logs"],
            folder, LOCAL_API_KEY="x", LOCAL_BASE_URL=f"{url}/v1",
        )  # fmt: skip
    [log] = (folder / "logs").glob("*.json")
    [score] = json.loads(log.read_text())["results"]["scores"]
    assert score["metrics"]["accuracy"]["value"] == pytest.approx(expect(folder))
