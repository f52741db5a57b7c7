"""The filter of picture questions with vLLM's own server on the CPU: a tiny random model that sees pictures votes.

`make test-vllm` runs it (a minute or two); it needs the environment that `make vllm-env` makes, or
`HOPWRIGHT_VLLM_VENV`.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from hopwright.difficulty.vllm_server import ServerSettings
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.llm.types import Response
from hopwright.pictures.dataset import PictureSet, read_picture_set
from hopwright.pictures.evaluation import list_queries
from hopwright.pictures.rows import list_media
from hopwright.pictures.served import prepare_served, serve_in_turn
from hopwright.settings import PicturesEvaluateParameters
from tests.e2e.conftest import ROOT
from tests.pictures.conftest import source as source
from tests.pictures.painted import list_states, paint_folder

VENV = Path(os.environ.get("HOPWRIGHT_VLLM_VENV", ROOT / ".venvs" / "vllm"))
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not (VENV / "bin" / "python").exists(), reason=f"no vLLM in {VENV}: make vllm-env"),
]
PYTHON = VENV / "bin" / "python"
ITEMS, TOKENS_OF_A_PICTURE = 40, 19


def call(*words: str) -> str:
    done = CliRunner().invoke(app, ["images", *words])
    assert done.exit_code == 0, done.output + str(done.exception or "")
    return done.stdout


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny-seeing"
    command = [str(PYTHON), str(ROOT / "tests/e2e/tiny_model.py"), str(folder), "idefics3"]
    subprocess.run(command, check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"}, capture_output=True)
    return folder


@pytest.fixture
def found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: WikidataSource, sample_folder: Path
) -> PictureSet:
    """A set in a home of its own."""
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path / "home"))
    store, painted = ("--store", str(sample_folder)), paint_folder(tmp_path / "mine", list_states(source), ("flag",))
    call("fetch", *store, "--source", "none", "--folder", str(painted), "--size", "96")
    call("questions", str(tmp_path / "made"), *store, "--items", str(ITEMS))
    return read_picture_set(tmp_path / "made")


def test_a_model_in_vllm_votes_with_the_pictures_in_sight(found: PictureSet, model: Path, tmp_path: Path) -> None:
    voter = f"vllm:{model}"
    said = call("filter", str(found.folder), str(tmp_path / "hard"), "--voter", voter, "--max-right", "0",
                "--vllm-python", str(PYTHON), "--max-tokens", "16", "--context", "2048", "--json")  # fmt: skip
    counts = json.loads(said)["counts"]
    assert counts["in"] == ITEMS == counts["kept"] + counts["dropped"] + counts["held"]
    hard = read_picture_set(tmp_path / "hard")
    asked = [item for item, _ in found.items if item.options]
    kept = [item for item, _ in hard.items if item.options]
    # What has options is answered by a letter, whatever a random model would write; so it is kept or dropped.
    assert 0 < len(kept) < len(asked)
    assert all([vote.model for vote in item.votes] == ["tiny-seeing"] for item in kept)
    assert not any(vote.right for item in kept for vote in item.votes)
    assert len(Counter(vote.option for item in kept for vote in item.votes)) > 1


def test_pictures_reach_the_model(found: PictureSet, model: Path, tmp_path: Path) -> None:
    voter = f"vllm:{model}"
    served = prepare_served([voter], ServerSettings(PYTHON, context=2048))
    parameters = PicturesEvaluateParameters(
        models=[served[voter].target], shown=["right", "none"], split="test", max_tokens=16
    )
    queries = list(list_queries(found, found.of_split("test"), parameters))
    complete = serve_in_turn(served, tmp_path / "llm.sqlite", "test", tmp_path, None, lambda _: None)
    # One letter: what a random model writes freely has no end.
    outcomes = complete([replace(query.request, choices=("A", "B", "C", "D")) for query in queries])
    assert all(isinstance(outcome, Response) for outcome in outcomes)
    tokens = {(query.item.id, query.shown): one.usage.input for query, one in zip(queries, outcomes, strict=True)}
    for item in found.of_split("test"):
        shown = TOKENS_OF_A_PICTURE * len(list_media(item))
        assert tokens[item.id, "right"] - tokens[item.id, "none"] == shown
