"""Tasks about pictures from the command line to the programs that train and evaluate: verifiers, Inspect, verl."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopwright.pictures.dataset import write_picture_set
from hopwright.settings import PictureQuestionsParameters
from tests.e2e.test_agent_exports import ROOT, VERL, call, read_means, run_inspect, run_vf_eval, serve_tasks
from tests.pictures.conftest import source as source
from tests.pictures.painted import build_painted_store, open_drafter

pytestmark = [pytest.mark.e2e, pytest.mark.servers]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory, source) -> Path:  # type: ignore[no-untyped-def]
    """The folders of agents, made by the command line."""
    home = tmp_path_factory.mktemp("home")
    store = build_painted_store(home, source)
    (home / "pictures").mkdir()
    (home / "store").rename(home / "pictures" / "pictures")
    store.folder = home / "pictures" / "pictures"
    write_picture_set(
        open_drafter(store, source), home / "set", PictureQuestionsParameters(items=60), lambda _: None
    )  # fmt: skip
    forms = ["environment", "trajectories", "verifiers", "inspect-agent", "verl-agent"]
    command = ["images", "export", str(home / "set"), str(home / "exported"), "--form", ",".join(forms)]
    call([sys.executable, "-m", "flows.cli", *command], ROOT, HOPWRIGHT_HOME=str(home))
    return home / "exported"


@pytest.fixture(scope="module")
def url(exported: Path) -> Iterator[str]:
    with serve_tasks(exported, exported / "environment") as url:
        yield url


def keep_whole(folder: Path, target: Path) -> Path:
    """A copy of a package with the tasks that have an ideal transcript, for the replayed agent knows no other."""
    rows = (folder.parent / "trajectories" / "sft.jsonl").read_text().splitlines()
    known = {json.loads(row)["id"] for row in rows}
    for path in (one for one in folder.rglob("*") if one.is_file()):
        copy = target / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)["id"] in known] if path.name == "tasks.jsonl" else lines
        copy.write_bytes(b"".join(kept))
    return target


def test_inspect_shows_the_pictures_and_looks_them_up(exported: Path, url: str, tmp_path: Path) -> None:
    package = keep_whole(exported / "inspect-agent", tmp_path / "package")
    log = run_inspect(package, exported / "trajectories" / "sft.jsonl", url, tmp_path)
    found = read_means(log)
    assert found["right"] == 1.0
    assert found["hops"] == pytest.approx(1.5 - 0.05 * found["useless"])
    for sample in log["samples"]:
        called = [one["function"] for turn in sample["messages"] for one in turn.get("tool_calls") or ()]
        assert "image_search" in called


def test_vf_eval_shows_the_pictures_and_looks_them_up(exported: Path, url: str, tmp_path: Path) -> None:
    package = keep_whole(exported / "verifiers", tmp_path / "package")
    rows = run_vf_eval(package, exported / "trajectories" / "sft.jsonl", url, tmp_path, "--pads", "1")
    for row in rows:
        figures = row["metrics"]
        assert figures["right"] == 1.0 and figures["useless"] >= 1.0
        assert row["rewards"]["reward"]["score"] == pytest.approx(1.5 - 0.05 * figures["useless"])



VERL_PICTURES = """
import asyncio, hashlib, io, json
import datasets
from verl.tools.tool_registry import initialize_tools_from_config
from verl.utils.dataset.rl_dataset import RLHFDataset

rows = datasets.load_dataset("parquet", data_files="train.parquet", split="train", cache_dir="cache")
reader = object.__new__(RLHFDataset)
reader.processor, reader.image_key, reader.video_key, reader.audio_key = object(), "images", "videos", "audios"
row = dict(rows[0])
shown = [part["image"].size for turn in reader._build_messages(row, "prompt") if not isinstance(turn["content"], str)
         for part in turn["content"] if part["type"] == "image"]

async def look():
    tool = {tool.name: tool for tool in initialize_tools_from_config("tools.yaml")}["image_search"]
    id, _ = await tool.create(**row["extra_info"]["tools_kwargs"]["image_search"])
    return (await tool.execute(id, {"image": 1}))[0].text

print("RESULT " + json.dumps({"shown": len(shown), "images": len(row["images"]), "text": asyncio.run(look())}))
"""


@pytest.mark.skipif(not VERL.exists(), reason="verl's environment is not there: make verl")
def test_verl_reads_the_pictures_and_looks_them_up(exported: Path, url: str, tmp_path: Path) -> None:
    folder = exported / "verl-agent"
    script = tmp_path / "check.py"
    script.write_text(VERL_PICTURES)
    printed = call([str(VERL), str(script)], folder, HOPWRIGHT_ENVIRONMENT=url, PYTHONPATH=str(folder))
    line = next(line for line in printed.splitlines() if line.startswith("RESULT "))
    found = json.loads(line.removeprefix("RESULT "))
    assert found["shown"] == found["images"] > 0
    assert "the same picture" in found["text"]
