"""What a terminal gets to see: foreign text as text, and the true reason when Prefect's server is gone."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from rich.progress import Progress

from flows.cli import main
from flows.console import output
from flows.console.output import _explain_lost_server, describe_value, err, out, print_json
from flows.local import find_full_disk
from hopwright.errors import RunError, ServiceError
from hopwright.release.format import to_release
from tests.builders import chain_item
from tests.fuzz.hostile import TEXTS

FORGED = "x\x1b[2J\x1b]0;owned\x07\nline 1, all: fine\u202e[/red]"


def test_an_id_forges_no_line_and_moves_no_cursor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(to_release(chain_item()) | {"id": FORGED, "motif_type": FORGED}) + "\n")
    for options in ([], ["--json"]):
        monkeypatch.setattr("sys.argv", ["hopwright", "audit", str(path), *options])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 1
        said = capsys.readouterr().out
        assert not set(said) & set("\x1b\x07\x9b\u202e\r")
        assert not any(line.startswith("line 1, all: fine") for line in said.splitlines())
        assert "control character" in said
        if options:
            assert json.loads(said)["violations"][0]["id"] == FORGED


@pytest.mark.parametrize("text", [*TEXTS, FORGED, "[/x]", "[link=http://x]y[/link]"])
def test_no_text_is_markup_or_a_command(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    out.print(text)
    out.out(text)
    err.print(text)
    print_json({"text": text.encode("utf-8", "replace").decode()})
    with err.status(text):
        pass
    captured = capsys.readouterr()
    assert not set(captured.out + captured.err) & set("\x00\x07\x1b\x9b\u202e")
    assert "[link" not in text or "[link=http://x]y[/link]" in captured.out


def test_an_error_is_one_line_whatever_it_quotes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = tmp_path / "a\nhopwright: all is well\x1b[2J.jsonl"
    monkeypatch.setattr("sys.argv", ["hopwright", "audit", str(name)])
    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "\x1b" not in said


def test_a_log_hears_now_and_then_that_a_stage_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = [100.0]
    monkeypatch.setattr("flows.console.output.time.monotonic", lambda: clock[0])
    bars = output.StageBars(Progress())
    for done, seconds in ((0, 0.0), (1, 10.0), (2, 25.0), (3, 5.0), (4, 40.0)):
        clock[0] += seconds
        bars.update("synthesize/drafts", done, 4)
    assert capsys.readouterr().err.splitlines() == [
        "synthesize/drafts: 0 of 4 shards", "synthesize/drafts: 2 of 4 shards", "synthesize/drafts: done",
    ]  # fmt: skip


def test_a_log_hears_now_and_then_that_a_rehearsal_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "_LOG_EVERY_S", 0.1)
    with output.tell_progress("rehearsing") as tell:
        time.sleep(0.35)
        tell("wording")
        time.sleep(0.35)
    said = capsys.readouterr().err
    assert "rehearsing (0 s so far)" in said
    assert "wording (" in said


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path))
    (tmp_path / "prefect").mkdir()
    (tmp_path / "prefect" / "server.log").write_text("sqlite3.OperationalError: attempt to write a readonly database\n")
    return tmp_path


def _lose_server() -> None:
    with _explain_lost_server():
        raise httpx.ConnectError("500 Internal Server Error")


@pytest.mark.parametrize("said", ["database or disk is full", "OSError: [Errno 28] No space left on device"])
def test_a_full_disk_under_prefects_database_is_called_so(said: str, home: Path) -> None:
    with pytest.raises(ServiceError, match="Prefect's server is gone"):
        _lose_server()
    with (home / "prefect" / "server.log").open("a") as log:
        log.write(f"sqlalchemy.exc.OperationalError: {said}\n")
    with pytest.raises(RunError, match=f"disk full: .* in {home}/prefect: free some space"):
        _lose_server()


def test_a_disk_so_full_that_the_log_ends_is_seen_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_full_disk(home) == ""
    monkeypatch.setattr("shutil.disk_usage", lambda _: _Usage(4096))
    assert find_full_disk(home).startswith("disk full")


class _Usage:
    def __init__(self, free: int) -> None:
        self.free: Any = free


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ({"items": 1302, "twins": 42}, "items 1,302, twins 42"),
        ({"synth": {"items": 44}, "bench": {"items": 2}}, "synth (items 44), bench (items 2)"),
        ({"commonest opening": False, "commonest answer": True}, "1 of 2 kept; not commonest opening"),
        ({"a": True}, "1 of 1 kept"),
        ({"items": 86, "violations": 0, "by_check": {}}, "items 86, violations 0, by check none"),
        (["options-only", "last-hop-only"], "options-only, last-hop-only"),
        ({}, "none"), ([], "none"), ("", "none"), (None, "none"), (False, "no"), (True, "yes"), (0, "0"), (2.5, "2.5"),
    ],
)  # fmt: skip
def test_a_note_reads_as_words(note: Any, said: str) -> None:
    assert describe_value(note) == said
