"""Synthesis against a fallible model: the number asked for or why not, stopped by its budget."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hopwright.records.arrow import read_items, read_rejected
from tests.e2e.conftest import ROOT
from tests.e2e.serving import read_stats, serve

pytestmark = [pytest.mark.e2e, pytest.mark.servers]

RATES = (
    "--wrong_entity", "0.05", "--leaked_answer", "0.05", "--broken_json", "0.05", "--extra_hop", "0.05",
    "--true_distractor", "0.05", "--refusal", "0.05", "--swapped_number", "0.05",
)  # fmt: skip
MODEL = "tests.wording.fallible_model"
IN_FLIGHT = 16
ITEMS = 24
PRICES = 'dated = "2026-11-20"\n[models.tiny]\ninput = 1000.0\noutput = 1000.0\n'


def start(home: Path, url: str, api: str, *options: str, kind: str = "openai") -> subprocess.Popen[str]:
    """The synthesis in a home of its own."""
    home.mkdir(exist_ok=True)
    (home / "prices.toml").write_text(PRICES, "utf-8")
    (home / "endpoints.toml").write_text(
        f'prices = "{home}/prices.toml"\n[endpoints.local]\nkind = "{kind}"\n'
        f'base_url = "{url if kind == "anthropic" else url + "/v1"}"\nkey_env = "WORDING_KEY"\n'
        f"limits = {{ max_concurrency = {IN_FLIGHT}, start_concurrency = {IN_FLIGHT} }}\n",
        "utf-8",
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    own = {"HOPWRIGHT_HOME": str(home), "WORDING_KEY": "k", "PREFECT_API_URL": api, "PREFECT_HOME": str(home / "p")}
    environment = {**kept, **own}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.wording", *options],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finish(child: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = child.communicate(timeout=600)
    assert child.returncode == 0, err
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def files(home: Path) -> dict[str, bytes]:
    root = home / "runs" / "worded" / "synthesize"
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    }


@pytest.fixture(scope="module")
def retrieved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which everything up to the synthesis is done."""
    home = tmp_path_factory.mktemp("retrieved")
    environment = {**os.environ, "HOPWRIGHT_HOME": str(home)}
    command = [sys.executable, "-c", "from tests.e2e.wording import retrieve; retrieve()"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=300)
    return home


@pytest.fixture(scope="module")
def undisturbed(
    retrieved: Path, tmp_path_factory: pytest.TempPathFactory, prefect_api: str
) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """A home with a whole synthesis, its yield report, and what the server says of it."""
    home = shutil.copytree(retrieved, tmp_path_factory.mktemp("undisturbed") / "h")
    with serve(MODEL, *RATES) as url:
        return home, finish(start(home, url, prefect_api, "--items", str(ITEMS))), read_stats(url)


def check_report(home: Path, taken: dict[str, Any], told: dict[str, Any], items: int) -> None:
    """The report says what the server gave, and the items are as many and as good as asked for."""
    assert (taken["accepted"], taken["missing"]) == (items, 0)
    assert taken["faults"] == dict(sorted(told["given"].items(), key=lambda pair: (-pair[1], pair[0])))
    assert taken["requests"] == told["answers"] > items
    assert sum(taken["rounds"].values()) == items
    assert taken["cost_usd"] > 0 and taken["tokens_per_item"] > 1000
    folder = home / "runs/worded/synthesize"
    found = [item for part in sorted(folder.glob("part-*")) for item in read_items(part)]
    assert len(found) == len({item.question for item in found}) == items
    assert {item.provenance.model for item in found} == {"local/tiny"}
    assert not [check for item in found for check in item.checks if check.outcome == "fail"]
    rejected = [row for part in sorted(folder.glob("worded*/rejected/*.parquet")) for row in read_rejected(part)]
    assert len(rejected) == sum(taken["rejected"].get("wording", {}).values()) == taken["sent_to_model"] - items


def test_it_ends_with_the_items_asked_for_and_tells_what_was_wrong(undisturbed: Any) -> None:
    check_report(*undisturbed, ITEMS)


def test_so_it_does_in_the_other_format(retrieved: Path, tmp_path: Path, prefect_api: str) -> None:
    home = shutil.copytree(retrieved, tmp_path / "h")
    with serve(MODEL, *RATES) as url:
        child = start(home, url, prefect_api, "--writer", "anthropic", "--items", "20", kind="anthropic")
        check_report(home, finish(child), read_stats(url), 20)


def test_a_model_that_refuses_everything_ends_the_run_in_one_line(
    retrieved: Path, tmp_path: Path, prefect_api: str
) -> None:
    home = shutil.copytree(retrieved, tmp_path / "h")
    with serve(MODEL, "--refusal", "1") as url:
        stopped = finish(start(home, url, prefect_api, "--items", "120"))
    assert stopped["error"].startswith("stopped: ")
    assert "the model refused" in stopped["error"]
    assert "\n" not in stopped["error"]


def test_a_budget_stops_it_and_a_higher_one_continues(
    undisturbed: Any, retrieved: Path, tmp_path: Path, prefect_api: str
) -> None:
    whole, taken, told = undisturbed
    home = shutil.copytree(retrieved, tmp_path / "h")
    with serve(MODEL, *RATES) as url:
        stopped = finish(start(home, url, prefect_api, "--items", str(ITEMS), "--budget", "150"))
        assert stopped["error"].startswith("stopped before the budget of 150.00 dollars is exceeded")
        assert 0 < read_stats(url)["answers"] < told["answers"]
        assert finish(start(home, url, prefect_api, "--items", str(ITEMS), "--budget", "5000")) == taken
        assert read_stats(url)["answers"] == told["answers"]
    assert files(home) == files(whole)
