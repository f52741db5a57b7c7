"""`hopwright corpus` as a user meets it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

from tests.knowledge.documents.builders import make_passages, write_lines

ROOT = Path(__file__).resolve().parents[2]
OSLO = {"id": "o", "title": "Oslo", "text": "Oslo is the capital of Norway.", "licence": "CC0"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "a.jsonl", [OSLO, OSLO, *make_passages(20)])


def test_a_corpus_is_added_indexed_searched_and_shown(call: Any, source: Path) -> None:
    added = call("corpus", "add", source, "--licence", "CC BY-SA", "--revision", "2018")
    assert "21 documents, 21 passages" in added.out
    assert "22 found, 21 taken, 1 duplicates" in added.out
    assert "line 2: the same title and text as" in added.out
    assert "1 shards, " in call("corpus", "index").out
    (hit,) = json.loads(call("corpus", "search", "capital of Norway", "--most", "1", "--json").out)
    assert hit["title"] == "Oslo"
    shown = json.loads(call("corpus", "show", hit["id"], "--json").out)
    assert (shown["licence"], shown["revision"], shown["original"]) == ("CC0", "2018", "o")
    assert shown["span"]["text"] == shown["text"] == OSLO["text"]
    assert "licence: CC0" in call("corpus", "show", "o").out
    about = json.loads(call("corpus", "info", "--verify", "--json").out)
    assert (about["documents"], about["index"]) == (21, "up to date, 1 shard, no vectors")
    assert call("corpus", "add", source, "--licence", "CC BY-SA", "--revision", "2018").out.count("already added") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("add", "nowhere"), "nowhere: no such file or folder"),
        (("search", "x"), "no corpus in"),
        (("index",), "no corpus in"),
        (("info",), "no corpus in"),
        (("serve",), "no corpus in"),
        (("retain", "set", "export.json", "kept"), "no corpus in"),
        (("retain", "set", "export.json", "kept", "--reviewers", "0"), "--reviewers: at least 1 is wanted"),
        (("index", "--dense", "ftp://x"), "dense: 'ftp://x' does not fit"),
        (("info", "--corpus", "../x"), "corpus: '../x' does not fit"),
    ],
)
def test_mistakes_are_one_line(call: Any, arguments: tuple[str, ...], message: str) -> None:
    result = call("corpus", *arguments)
    assert result.code == 1
    assert result.out == ""
    assert message in result.err
    assert result.err.count("\n") == 1


def test_the_extra_that_serving_agents_needs_is_named(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = call("corpus", "mcp")
    assert (result.code, result.out) == (1, "")
    assert result.err == "hopwright: this needs an extra that is not installed: pip install 'hopwright[mcp]'\n"


def test_what_brings_nothing_new_is_no_source(call: Any, source: Path, tmp_path: Path) -> None:
    write_lines(source.parent / "b.jsonl", make_passages(3, seed=4))
    call("corpus", "add", source.parent)
    again = call("corpus", "add", source)
    assert "22 found, 0 taken, 22 duplicates" in again.out
    (named,) = [line for line in call("corpus", "info").out.splitlines() if "licence" in line]
    assert str(source.parent) in named


def test_a_message_names_the_command_for_this_corpus(call: Any, source: Path) -> None:
    named = ("--corpus", "rivers")
    assert "`hopwright corpus add FILE --corpus rivers` makes one" in call("corpus", "index", *named).err
    call("corpus", "add", source, *named)
    assert "`hopwright corpus index --corpus rivers` makes one" in call("corpus", "search", "x", *named).err
    call("corpus", "index", *named)
    dense = call("corpus", "search", "x", "--mode", "dense", *named).err
    assert "`hopwright corpus index --dense local --corpus rivers` makes them" in dense
    call("corpus", "add", write_lines(source.parent / "b.jsonl", make_passages(3, seed=4)), *named)
    assert "`hopwright corpus index --corpus rivers` makes it again" in call("corpus", "search", "x", *named).err


def test_an_index_that_is_out_of_date_is_said_and_refused(call: Any, source: Path, tmp_path: Path) -> None:
    call("corpus", "add", source)
    assert "has no index" in call("corpus", "info").out
    call("corpus", "index")
    call("corpus", "add", write_lines(tmp_path / "b.jsonl", make_passages(3, seed=4)))
    assert "has changed since it was indexed" in call("corpus", "info").out
    assert call("corpus", "search", "river").code == 1
    damaged = next((Path(os.environ["HOPWRIGHT_HOME"]) / "corpora" / "documents").glob("documents-*.arrow"))
    damaged.write_bytes(damaged.read_bytes() + b"x")
    result = call("corpus", "info", "--verify")
    assert (result.code, "is damaged" in result.err) == (1, True)


@contextlib.contextmanager
def serving(home: Path) -> Iterator[str]:
    """`hopwright corpus serve` on a free port, ended afterwards."""
    command = [sys.executable, "-m", "flows.cli", "corpus", "serve", "--port", "0", "--topk", "2"]
    environment = {**os.environ, "HOPWRIGHT_HOME": str(home), "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
    try:
        assert server.stderr is not None
        line = next(line for line in server.stderr if "running on" in line)
        yield line.split("running on ")[1].split()[0]
    finally:
        server.terminate()
        server.communicate(timeout=60)


@pytest.mark.e2e
def test_a_served_corpus_answers(call: Any, home: Path, source: Path) -> None:
    call("corpus", "add", source)
    call("corpus", "index")
    with serving(home) as url:
        body = json.dumps({"queries": ["capital of Norway", "river"], "return_scores": True}).encode()
        request = urllib.request.Request(f"{url}/retrieve", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            first, second = json.load(response)["result"]
        with urllib.request.urlopen(f"{url}/health", timeout=60) as response:
            assert json.load(response) == {"status": "ok", "passages": 21}
    assert first[0]["document"]["contents"] == f'"Oslo"\n{OSLO["text"]}'
    assert len(second) == 2


def test_questions_never_replace_foreign_files(call: Any, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("precious")
    done = call("corpus", "questions", str(tmp_path / "mine"), "--replace")
    assert done.code == 1
    assert "notes.txt" in done.err
    assert (tmp_path / "mine" / "notes.txt").read_text() == "precious"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--dry-run",), "no model is named"),
        (("--model", "nowhere/x"), "nowhere"),
        (("--model", "scribe"), "a model is named as endpoint/model"),
        (("--model", "openai/gpt-5-mini"), "no corpus in"),
    ],
)
def test_mistakes_about_who_reads_are_one_line(
    call: Any, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    done = call("corpus", "questions", str(tmp_path / "out"), *options)
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert message in done.err
