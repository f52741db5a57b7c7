"""A whole run that asks models: its budget, its artifacts, and a planted key that is found nowhere."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hopwright.llm.store import Store
from tests.e2e.conftest import ROOT
from tests.e2e.serving import serving
from tests.llm.builders import KEY
from tests.llm.wire_server import Faults, WireServer

pytestmark = [pytest.mark.e2e, pytest.mark.servers]
ROWS = 200
PRICES = 'dated = "2026-11-20"\n[models.tiny]\ninput = 1000.0\noutput = 1000.0\n'


@pytest.fixture(scope="module")
def server() -> Iterator[WireServer]:
    """Takes the planted key only."""
    with serving(WireServer(Faults(latency_s=0.02, malformed=0.05, refusal=0.02, key=KEY))) as server:
        yield server


@pytest.fixture(scope="module")
def course(server: WireServer, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]], str]:
    """A home after two starts: on a budget that is too small, and on one that is large enough."""
    home = tmp_path_factory.mktemp("asking")
    (home / "prices.toml").write_text(PRICES, "utf-8")
    (home / "endpoints.toml").write_text(
        f'prices = "{home}/prices.toml"\n[endpoints.local]\nbase_url = "{server.url}/v1"\n'
        'key_env = "ASKING_KEY"\nlimits = { max_concurrency = 8 }\n',
        "utf-8",
    )
    starts = [start(home, "--budget", "4", planted=KEY)]
    with Store(home / "llm.sqlite") as store:
        ((kept,),) = store.read("SELECT count(*) FROM conversations")
    (home / "kept.txt").write_text(str(kept), "utf-8")
    starts.append(start(home, "--budget", "900", planted=""))
    return (
        home,
        [json.loads(one.stdout.splitlines()[-1]) for one in starts],
        "".join(one.stdout + one.stderr for one in starts),
    )


def start(home: Path, *arguments: str, planted: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_") and value != KEY}
    environment = {**kept, "HOPWRIGHT_HOME": str(home), "PLANTED_KEY": planted}
    return subprocess.run(
        [sys.executable, "-c", "from tests.e2e.asking import main; main()", *arguments],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def test_a_small_budget_stops_the_run_in_one_line_and_is_not_exceeded(course: Any) -> None:
    home, (stopped, _), _ = course
    assert stopped["error"].startswith("stopped before the budget of 4.00 dollars is exceeded: ")
    assert stopped["error"].endswith("run the same command with a higher budget to continue")
    assert "\n" not in stopped["error"]
    noted = json.loads((home / "runs" / "asking" / "filter" / "manifest.json").read_text("utf-8"))
    assert noted["notes"]["models"]["budget_usd"] == 900, "the later start's"


def test_a_higher_budget_continues_and_pays_nothing_twice(course: Any) -> None:
    home, (_, finished), _ = course
    counts = finished["counts"]
    assert counts["in"] == ROWS == counts["out"] + sum(counts["rejected"].values())
    assert counts["rejected"].keys() <= {"refusal"}
    models = finished["notes"]["models"]
    left = ROWS - 50 * finished["shards_found"]
    assert models["requests"] == left > 0
    # Of what the first start was refused, or had not yet sent back, no first request goes out again.
    begun = models["from_cache"] + models["sent"] - models["repairs"]
    assert left - int((home / "kept.txt").read_text("utf-8")) <= begun <= left
    with Store(home / "llm.sqlite") as store:
        (spent,) = store.read("SELECT total(spent) FROM leases")[0]
    assert spent == pytest.approx(models["run_spent_usd"])
    assert finished["usage"]["cost_usd"] == pytest.approx(spent), "what was paid for is what the rows cost"
    assert 4 < spent <= 900


def test_the_progress_is_an_artifact(course: Any) -> None:
    home, (_, finished), _ = course
    done = finished["notes"]["models"]["requests"]
    connection = sqlite3.connect(home / "prefect" / "prefect.db")
    rows = connection.execute("SELECT data FROM artifact WHERE key = 'filter-models' ORDER BY created").fetchall()
    connection.close()
    assert len(rows) == 2, "one for each start that asked"
    last = rows[-1][0]
    for part in (f"{done} of {done} (100 %)", "Rate", "Success", "From the cache", "projected"):
        assert part in last


def test_the_planted_key_is_found_nowhere(course: Any, server: WireServer) -> None:
    home, (_, finished), said = course
    assert finished["counts"]["out"] > 0
    assert any(KEY in str(headers) for headers in server.headers), "it was sent, and taken"
    files = [path for path in home.rglob("*") if path.is_file()]
    assert {"llm.sqlite", "prefect.db", "server.log", "manifest.json"} <= {path.name for path in files}
    holders = [str(path) for path in files if KEY.encode() in path.read_bytes()]
    assert holders == []
    assert KEY not in said
