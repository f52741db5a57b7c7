"""Exported picture questions in the hands of lm-evaluation-harness and Inspect, asked with their pictures.

The harnesses live in `.venvs/tools` (`make tools`), which the first test makes where it is missing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hopwright.knowledge.images.rendering import decode_png
from hopwright.pictures.dataset import read_picture_set, write_picture_set
from hopwright.pictures.exports import export_pictures
from hopwright.pictures.rows import list_media
from hopwright.settings import PictureQuestionsParameters
from tests.e2e.serving import serve
from tests.e2e.test_exports import call
from tests.e2e.tools import make_tools
from tests.pictures.conftest import source as source
from tests.pictures.painted import build_painted_store, open_drafter
from tests.pictures.table_server import is_right

pytestmark = [pytest.mark.e2e, pytest.mark.servers]
SERVER = "tests.pictures.table_server"
_LOAD = """
import json, sys
import datasets
found = datasets.load_dataset(sys.argv[1], cache_dir=sys.argv[2])
rows = {split: [[row["id"], [image.size for image in row["images"]]] for row in found[split]] for split in found}
print(json.dumps(rows))
"""


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


def test_datasets_reads_the_set_with_its_pictures(exported: Path, tmp_path: Path) -> None:
    folder = exported.parent / "set"
    said = call([str(make_tools() / "python"), "-c", _LOAD, str(folder), str(tmp_path)], tmp_path, HF_HUB_OFFLINE="1")
    rows = json.loads(said.splitlines()[-1])
    found = read_picture_set(folder)
    assert {split: [id for id, _ in of_split] for split, of_split in rows.items()} == {
        split: [item.id for item in found.of_split(split)] for split in ("train", "validation", "test")
    }
    sizes = {media: list(decode_png(found.read_png(media)).size) for media in found.pictures}
    shown = {item.id: [sizes[media] for media in list_media(item)] for item, _ in found.items}
    assert all(images == shown[id] for of_split in rows.values() for id, images in of_split)


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
