"""`hopwright novels …` from adding a book to tasks, with no network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from tests.novels.story import tell_story


def call(*words: str) -> tuple[int, str]:
    """Exit code and what was printed."""
    done = CliRunner().invoke(app, ["novels", *words])
    return done.exit_code, done.output + str(done.exception or "")


def test_the_line_from_a_book_to_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path / "home"))
    book, made = tmp_path / "ledger.txt", str(tmp_path / "made")
    book.write_text(tell_story(), "utf-8")
    assert "hopwright novels add" in call("questions", made)[1]
    code, said = call("add", str(book), "--author", "A. Nobody", "--licence", "CC0-1.0", "--json")
    assert code == 0, said
    (row,) = json.loads(said)["books"]
    assert (row["chapters"], row["licence"]) == (12, "CC0-1.0")
    assert row["id"] in call("info")[1]
    assert "Inspector Moll (person" in call("info", "ledger")[1]
    assert "none is called so" in call("info", "emma")[1]
    assert "on the shelf already" in call("add", str(book), "--title", "Another")[1]
    code, said = call("questions", made, "--items", "4", "--length", "4k,8k", "--json")
    assert code == 0, said
    counts = json.loads(said)["books"][row["id"]]
    assert [counts["made"][f"{hops} hops, chains"] for hops in (1, 2, 3, 4)] == [4, 4, 4, 4]
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "notes.txt").write_text("precious")
    for verb in (("questions",), ("ask", "--model", "openai/gpt-5-mini"), ("star", "--model", "openai/gpt-5-mini")):
        code, said = call(verb[0], str(tmp_path / "notes"), *verb[1:], "--replace")
        assert code != 0
        assert "notes.txt" in said
    assert "--replace" in call("questions", made)[1]
    assert (tmp_path / "notes" / "notes.txt").read_text() == "precious"
    code, said = call("audit", made)
    assert code == 0, said
    assert " 0 violations" in said
    assert json.loads(call("tasks", made, str(tmp_path / "tasks"), "--most", "5", "--json")[1])["tasks"] == 5
    assert "no model is named" in call("evaluate", made)[1]
    code, said = call("evaluate", made, "--model", "openai/gpt-5-mini", "--mode", "window,gold", "--dry-run", "--json")
    assert code == 0, said
    estimate = json.loads(said)
    assert estimate["usd"] > 0
    assert estimate["repeated_tokens"] > 0
    code, said = call("ask", str(tmp_path / "asked"), "--model", "openai/gpt-5-mini", "--length", "4k", "--items", "2",
                      "--dry-run", "--json")  # fmt: skip
    assert code == 0, said
    assert json.loads(said)["requests"] == 8
    assert "no model is named" in call("ask", str(tmp_path / "asked"))[1]
    finding = ["questions", made, "--finder", "openai/gpt-5-mini", "--dry-run", "--json"]
    twice, once = (json.loads(call(*finding, *more)[1])["requests"] for more in ((), ("--no-twins",)))
    assert twice == 2 * once > 0
    assert "Nothing is asked" in call("questions", made, "--dry-run")[1]
    assert json.loads(call("export", made, str(tmp_path / "out"), "--limit", "1", "--json")[1])["rows"]["inspect"] == 8
    assert "no question is proven" in call("questions", str(tmp_path / "none"), "--length", "64k")[1]
    items = (tmp_path / "made" / "items.jsonl").read_text("utf-8")
    (tmp_path / "made" / "items.jsonl").write_text(items.replace('"depth": ', '"depth": 9', 1), "utf-8")
    assert "line 1: depth" in call("audit", made)[1]
    (tmp_path / "made" / "items.jsonl").write_text(items.replace('"answer": "', '"answer": "not ', 1), "utf-8")
    code, said = call("audit", made)
    assert code == 1
    assert "violations" in said


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "empty"), (b"\x00\x01" * 400, "zero bytes"), (b"PK\x03\x04x", "EPUB"), (b"one two three", "fewer than")],
)
def test_what_is_no_book_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, message: str
) -> None:
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path / "home"))
    (tmp_path / "x.txt").write_bytes(data)
    code, said = call("add", str(tmp_path / "x.txt"))
    assert code == 1
    assert message in said
