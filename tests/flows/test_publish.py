"""`hopwright publish`: what it says, and where it takes the token from."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest

import flows.console.publish
import tasks.publish
from tests.release.hub_server import TOKEN, serve_hub
from tests.release.test_dataset import release, snapshot

REPO = "somebody/four-hops"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release, and nobody logged in."""
    monkeypatch.setenv("HF_TOKEN", "")
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(tmp_path / "no-login"))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    release(tmp_path / "one", twins=[])
    return tmp_path / "one"


def test_a_dry_run_sends_nothing_and_says_what_it_would(folder: Path, call: Any) -> None:
    done = call("publish", folder, "--to", REPO, "--dry-run", "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert {one["path"]: one["bytes"] for one in told["files"]} == {
        path: len(data) for path, data in snapshot(folder).items()
    }
    assert (told["tag"], told["commit"], told["refusals"]) == ("v1.0.0", "", [])
    lines = call("publish", folder, "--to", REPO, "--dry-run").out.splitlines()
    assert lines[-2:] == [f"to {REPO}, commit 'tiny 1.0.0', tag v1.0.0", "nothing was sent (dry run)"]


def test_a_release_that_was_changed_is_refused(folder: Path, call: Any) -> None:
    (folder / "README.md").write_text("mine")
    done = call("publish", folder, "--to", REPO)
    assert done.code == 1
    assert done.out.splitlines()[-1] == "refused: README.md: changed since the release was written"


def test_the_token_comes_from_the_environment_or_from_a_block(
    folder: Path, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def read_block(name: str) -> str:
        asked.append(name)
        return TOKEN if len(asked) > 1 else ""

    monkeypatch.setattr(tasks.publish, "read_secret", read_block)
    monkeypatch.setattr(flows.console.publish, "prefect_ready", lambda load: contextlib.nullcontext(load()))
    with serve_hub(REPO) as (url, held):
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", url)
        done = call("publish", folder, "--to", REPO)
        assert done.code == 1
        assert "set HF_TOKEN, or make a Prefect Secret block hopwright-huggingface" in done.err
        assert not held.calls
        done = call("publish", folder, "--to", REPO)
        assert (done.code, held.files) == (0, snapshot(folder))
        assert f"published: {url}/datasets/{REPO}/commit/" in done.out
        assert asked == ["hopwright-huggingface"] * 2
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        done = call("publish", folder, "--to", REPO)
        assert "has a version 1.0.0 already" in done.err
        assert len(asked) == 2
