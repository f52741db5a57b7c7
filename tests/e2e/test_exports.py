"""Datasets in the hands of the tools that read them: lm-evaluation-harness, Inspect, `datasets`, mlcroissant.

The harnesses live in `.venvs/tools` (`make tools`), which the first test makes where it is missing.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hopwright.evaluation.items import read_items
from hopwright.exports import export_items
from hopwright.llm.prompts import read_prompts
from hopwright.release.separation import ItemSet
from tests.builders import all_items
from tests.e2e.serving import serve
from tests.e2e.tools import make_tools
from tests.evaluation.datasets import write_rows
from tests.release.test_dataset import release

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = read_prompts(ROOT / "prompts")
ITEMS = 24
pytestmark = [pytest.mark.e2e, pytest.mark.servers]


@pytest.fixture(scope="module")
def tools() -> Path:
    """The folder of the harnesses' commands."""
    return make_tools()


def export(tmp_path: Path, tool: str) -> Path:
    items = read_items(write_rows(tmp_path / "data.jsonl", ITEMS)).items
    export_items(items, tool, PROMPTS, tmp_path / tool)
    return tmp_path / tool


def call(command: list[str], folder: Path, **environment: str) -> str:
    kept = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf"), **environment}
    done = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_lm_evaluation_harness_scores_hop_by_hop(tmp_path: Path, tools: Path) -> None:
    folder = export(tmp_path, "lm-eval")
    with serve("tests.evaluation.table_server", str(folder / "items.jsonl"), "--wrong", "2") as url:
        arguments = f"model=m,base_url={url}/v1/chat/completions,tokenized_requests=False"
        call(
            [str(tools / "lm_eval"), "--include_path", ".", "--tasks", "hopwright_steps", "--apply_chat_template",
             "--model", "local-chat-completions", "--model_args", arguments, "--output_path", "out"],
            folder, OPENAI_API_KEY="x",
        )  # fmt: skip
    [result] = (folder / "out").rglob("results_*.json")
    scores = json.loads(result.read_text())["results"]["hopwright_steps"]
    assert {name: scores[f"{name},none"] for name in ("right", "exact_match", "f1", "extracted")} == {
        "right": 1, "exact_match": 1, "f1": 1, "extracted": 1,
    }  # fmt: skip
    assert [scores[f"hop_{number},none"] for number in (1, 2, 3, 4)] == [1, 0, 1, 1]
    assert scores["joint_em,none"] == 0


def test_lm_evaluation_harness_compares_the_letters(tmp_path: Path, tools: Path) -> None:
    folder = export(tmp_path, "lm-eval")
    # The harness's own model without a brain: what it measures is whether the task runs, and chance.
    call(
        [str(tools / "lm_eval"), "--include_path", ".", "--tasks", "hopwright_mcq", "--model", "dummy",
         "--output_path", "out"],
        folder,
    )  # fmt: skip
    [result] = (folder / "out").rglob("results_*.json")
    content = json.loads(result.read_text())
    assert content["n-samples"]["hopwright_mcq"]["effective"] == ITEMS
    assert 0 <= content["results"]["hopwright_mcq"]["acc,none"] <= 1


MOCK = """
import sys
sys.path.insert(0, ".")
import hopwright_inspect as tasks
from inspect_ai import eval as run
from inspect_ai.model import ModelOutput, ModelUsage, get_model
outputs = []
for _ in tasks.ROWS:
    output = ModelOutput.from_content("mockllm/model", "ANSWER: A")
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    outputs.append(output)
model = get_model("mockllm/model", custom_outputs=outputs)
[log] = run(tasks.hopwright_mcq(), model=model, display="none", log_dir="m")
accuracy = log.results.scores[0].metrics["accuracy"].value
print(log.status, accuracy)
"""


def test_inspect_runs_with_its_mock_model_and_over_the_wire(tmp_path: Path, tools: Path) -> None:
    folder = export(tmp_path, "inspect")
    rows = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    status, accuracy = call([str(tools / "python"), "-c", MOCK], folder).split()
    assert status == "success"
    assert float(accuracy) == pytest.approx(sum(row["label"] == 0 for row in rows) / len(rows))
    with serve("tests.evaluation.table_server", str(folder / "items.jsonl"), "--wrong", "2") as url:
        call(
            [str(tools / "inspect"), "eval", "hopwright_inspect.py@hopwright_steps", "--model", "openai-api/local/m",
             "--display", "plain", "--log-format", "json", "--log-dir", "logs"],
            folder, LOCAL_API_KEY="x", LOCAL_BASE_URL=f"{url}/v1",
        )  # fmt: skip
    [log] = (folder / "logs").glob("*.json")
    metrics: dict[str, float] = {}
    for score in json.loads(log.read_text())["results"]["scores"]:
        metrics[score["name"]] = score["metrics"]["mean"]["value"]
    assert [metrics[f"hop_{number}"] for number in (1, 2, 3, 4)] == [1, 0, 1, 1]
    assert metrics["right"] == metrics["f1"] == 1
    assert metrics["joint_em"] == 0


LOAD = """
import json, sys
import datasets
found = datasets.load_dataset(sys.argv[1], data_files=sys.argv[2], split="train", cache_dir="cache")
print(json.dumps({"rows": len(found), "columns": found.column_names, "first": found[0]}))
"""


def load(tools: Path, folder: Path, kind: str, name: str) -> Any:
    return json.loads(call([str(tools / "python"), "-c", LOAD, kind, name], folder).splitlines()[-1])


def test_training_files_load_as_the_trainers_load_them(tmp_path: Path, tools: Path) -> None:
    """Both trainers hand their files to `datasets`; what they then look up is checked here."""
    supervised = export(tmp_path, "llama-factory")
    info = json.loads((supervised / "dataset_info.json").read_text())["hopwright_sft"]
    found = load(tools, supervised, "json", info["file_name"])
    assert found["rows"] == ITEMS
    assert set(info["columns"].values()) <= set(found["columns"])
    reinforced = export(tmp_path, "verl")
    found = load(tools, reinforced, "parquet", "train.parquet")
    assert found["rows"] == ITEMS
    first = found["first"]
    assert [turn["role"] for turn in first["prompt"]] == ["system", "user"]
    truth = first["reward_model"]["ground_truth"]
    reward = (
        "import json, sys; from reward import compute_score as score; truth = sys.argv[1]; gold = json.loads(truth);"
        "right = f\"The answer is {gold['label']}.\" if gold['form'] == 'mcq' "
        "else f\"FINAL ANSWER: {gold['answers'][0]}\";"
        "wrong = 'The answer is ' + 'ABCD'['ABCD'.index(gold['label']) - 1] + '.' if gold['form'] == 'mcq' "
        "else 'FINAL ANSWER: Nothing';"
        "print([score('hopwright', text, truth) for text in (right, wrong, 'no idea')])"
    )
    assert json.loads(call([str(tools / "python"), "-c", reward, truth], reinforced)) == [1.0, 0.1, 0.0]


LOAD_RELEASE = """
import json, sys
import datasets
import mlcroissant
folder = sys.argv[1]
names = datasets.get_dataset_config_names(folder)
loaded = {name: datasets.load_dataset(folder, name, cache_dir="c") for name in names}
found = {name: {split: rows["id"] for split, rows in splits.items()} for name, splits in loaded.items()}
croissant = mlcroissant.Dataset(jsonld=f"{folder}/croissant.json")
records = {one.uuid: list(croissant.records(one.uuid)) for one in croissant.metadata.record_sets}
print(json.dumps({
    "configs": {name: {split: list(ids) for split, ids in splits.items()} for name, splits in found.items()},
    "errors": sorted(croissant.metadata.ctx.issues.errors),
    "ids": {name: [row[f"{name}/id"].decode() for row in rows] for name, rows in records.items()},
    "answers": {
        name: [[hop[f"{name}/single_hop/answer"].decode() for hop in row[f"{name}/single_hop"]] for row in rows]
        for name, rows in records.items()
    },
}))
"""


def test_a_release_of_two_sets_loads_by_its_card_and_by_its_croissant_metadata(tmp_path: Path, tools: Path) -> None:
    chain, converging, bridge = all_items()
    twin = chain.model_copy(update={"id": "hw-twin", "variant": "counterfactual", "twin": chain.id})
    others = {"bench": ItemSet([bridge])}
    release(tmp_path / "two", factual=[chain, converging], twins=[twin], others=others, rule="paths")
    found = json.loads(call([str(tools / "python"), "-c", LOAD_RELEASE, "two"], tmp_path).splitlines()[-1])
    synth = sorted([chain.id, converging.id])
    assert found["configs"] == {
        "synth": {"train": synth},
        "synth_counterfactual": {"train": ["hw-twin"]},
        "bench": {"test": [bridge.id]},
    }
    assert found["errors"] == []
    assert found["ids"] == {"synth": synth, "synth_counterfactual": ["hw-twin"], "bench": [bridge.id]}
    assert found["answers"]["bench"] == [[hop.answer for hop in bridge.hops]]
