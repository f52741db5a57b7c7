"""A preview and the notebook's lines: a few items at once, without a run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import flows.notebook
from hopwright.records import Item
from hopwright.stages.workbench import Workbench
from tests.e2e.serving import serving
from tests.llm.builders import KEY
from tests.llm.wire_server import WireServer

ROOT = Path(__file__).resolve().parents[2]
NUMBER = 3


def test_a_preview_prints_items_and_begins_no_run(sample_folder: Path, home: Path, call: Any) -> None:
    found = json.loads(call("preview", "--number", str(NUMBER), "--store", sample_folder, "--json").out)
    assert len(found) == NUMBER
    for row in found:
        item = Item.model_validate(row)
        assert item.question.endswith("?")
        assert item.checks and not [check for check in item.checks if check.outcome == "fail"]
    assert not (home / "runs").exists()
    text = call("preview", "--number", "1", "--store", sample_folder).out
    assert found[0]["question"] in " ".join(text.split())
    assert "no run was begun" in " ".join(text.split())


def test_a_model_is_asked_only_at_a_price_that_was_told_and_agreed_to(
    sample_folder: Path, home: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir(parents=True)
    monkeypatch.setenv("PREVIEW_KEY", KEY)
    with serving(WireServer()) as server:
        (home / "endpoints.toml").write_text(
            f'[endpoints.local]\nbase_url = "{server.url}/v1"\nkey_env = "PREVIEW_KEY"\nfree = true\n', "utf-8"
        )
        asked = ("preview", "--number", "1", "--store", sample_folder, "--writer", "openai", "--model", "local/tiny")
        refused = call(*asked)
        assert refused.code == 1
        assert "1 requests" in refused.out or "requests" in refused.out, "the price comes first"
        assert "give --yes to agree to the price" in refused.err
        assert not server.answered
        assert not list(home.glob("llm.sqlite*")), "who only hears the price leaves nothing behind"
        agreed = call(*asked, "--yes")
        assert server.answered, "now it is asked"
        assert "requests" in agreed.out
        assert (home / "llm.sqlite").exists(), "what was paid for is kept"


def test_the_notebooks_lines_do_what_the_page_says(
    sample_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page's Python is executed; only the whole build is left to its own tests."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "notebook.md").read_text("utf-8"), re.DOTALL)
    given: list[dict[str, Any]] = []

    def build(**parameters: Any) -> dict[str, Any]:
        given.append(parameters)
        return {"accepted": 7, "release": "here"}

    monkeypatch.setattr(flows.notebook, "build", build)
    monkeypatch.setattr("hopwright.stages.workbench.make_sample_store", lambda: sample_folder)
    names: dict[str, Any] = {}
    exec(code, names)
    assert 1 <= len(names["items"]) <= 8 == len(names["plans"])
    assert len(names["items"]) + len(names["bench"].rejected) == 8
    assert isinstance(names["bench"], Workbench)
    said = capsys.readouterr().out
    assert said.count("→") == len(names["items"])
    assert said.endswith("7 here\n")
    assert given[0]["run"] == "notebook"


def test_build_refuses_a_wrong_parameter_before_anything_starts(home: Path) -> None:
    from hopwright.errors import InputError

    with pytest.raises(InputError, match="sede: there is no such parameter"):
        flows.notebook.build(sede=1)
    assert not home.exists()
