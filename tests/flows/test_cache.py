"""`hopwright cache`: what it says where nothing was asked, and of what was."""

import json
from pathlib import Path

import pytest

from flows.console.cache import prune, show_stats
from hopwright.errors import InputError
from hopwright.llm.store import Store


def test_without_a_cache_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path))
    with pytest.raises(InputError, match="no model has been asked"):
        show_stats(as_json=False)


def test_an_empty_cache_counts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path))
    Store(tmp_path / "llm.sqlite").close()
    show_stats(as_json=True)
    assert json.loads(capsys.readouterr().out)["answers"] == 0
    prune(None, "", "", failed=False)
    assert "0 answers dropped, 0 requests" in capsys.readouterr().out
