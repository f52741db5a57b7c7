"""`hopwright images …` from fetching to tasks, with a folder of pictures and no network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from tests.pictures.painted import list_states, paint_folder

VERBS = ("fetch", "info", "questions", "audit", "evaluate", "filter", "reword", "export", "tasks")


def call(*words: str) -> tuple[int, str]:
    """Exit code and what was printed."""
    done = CliRunner().invoke(app, ["images", *words])
    return done.exit_code, done.output + str(done.exception or "")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb: str) -> None:
    code, said = call(verb, "--help")
    assert code == 0
    assert "Usage" in said


def test_pictures_that_are_not_used_are_told_with_their_reasons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sample: GraphStore, sample_kinds: KindIndex, sample_folder: Path
) -> None:
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path / "home"))
    folder = paint_folder(tmp_path / "mine", list_states(WikidataSource(sample, kinds=sample_kinds))[:3], ("flag",))
    first, second, _ = sorted(folder.glob("*.png"))
    first.write_bytes(b"no picture")
    table = (folder / "pictures.tsv").read_text().splitlines()
    row = next(number for number, line in enumerate(table) if line.startswith(second.name))
    table[row] = table[row].replace(table[row].split("\t")[1], "Q999999999999")
    (folder / "pictures.tsv").write_text("\n".join(table) + "\n")
    words = ("fetch", "--store", str(sample_folder), "--source", "none", "--folder", str(folder), "--size", "96")
    for code, said in (call(*words), call("info")):
        assert code == 0, said
        assert "2 pictures, 1 to ask about" in said
        assert "not used: the graph does not know the entity (1)" in said
        assert f"cannot be drawn: mine/{first.name}" in said
    for file in (second, *sorted(folder.glob("*.png"))):
        file.write_bytes(b"no picture")
    code, said = call(*words)
    assert "0 pictures" in said and said.count("cannot be drawn") == 3
    assert len(json.loads(call("info", "--json")[1])["not_drawn"]) == 3


def test_the_line_from_pictures_to_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sample: GraphStore, sample_kinds: KindIndex, sample_folder: Path
) -> None:
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path / "home"))
    states = list_states(WikidataSource(sample, kinds=sample_kinds))
    painted = paint_folder(tmp_path / "mine", states, ("flag",))
    store, made = ["--store", str(sample_folder)], str(tmp_path / "made")
    assert "hopwright images fetch" in call("info")[1]
    code, said = call("fetch", *store, "--source", "none", "--folder", str(painted), "--size", "96", "--json")
    assert code == 0, said
    # What is painted at random is sometimes near to another state's, and then neither is asked about.
    assert 0.95 * len(states) <= json.loads(said)["usable"]["flag"] <= len(states)
    assert "CC0-1.0" in call("info")[1]
    code, said = call("questions", made, *store, "--items", "20", "--depth", "3,4,5", "--json")
    assert code == 0, said
    counts = json.loads(said)
    assert sum(number for name, number in counts["made"].items() if name != "twins") == 20
    code, said = call("questions", made, *store, "--items", "10")
    assert code != 0
    assert "--replace" in said
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "notes.txt").write_text("precious")
    foreign = str(tmp_path / "notes")
    for words in (
        ("questions", foreign, *store),
        ("filter", made, foreign, "--voter", "a/b"),
        ("reword", made, foreign, "--model", "a/b"),
    ):
        for more in ((), ("--replace",)):
            code, said = call(*words, *more)
            assert code != 0
            assert "notes.txt" in said
    assert (tmp_path / "notes" / "notes.txt").read_text() == "precious"
    code, said = call("audit", made, *store)
    assert code == 0, said
    assert " 0 violations" in said
    code, said = call("tasks", made, str(tmp_path / "tasks"), "--most", "5", "--json")
    assert json.loads(said)["tasks"] == 5
    code, said = call("export", made, str(tmp_path / "out"), "--form", "llama-factory", "--json")
    assert json.loads(said)["rows"] == {"llama-factory": 14}
    code, said = call("export", made, str(tmp_path / "out"), "--form", "lm-eval")
    assert code == 0, said
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["llama-factory", "lm-eval"]
    code, said = call("export", made, str(tmp_path / "out"), "--form", "paper")
    assert code != 0
    assert "--form" in said and "'llama-factory'" in said and "not 'paper'" in said
    code, said = call("export", made, str(tmp_path / "out"), "--form", "trajectories")
    assert code == 0, said
    assert " transcripts with calls and " in said and "rejected.jsonl" in said
    assert "no model is named" in call("evaluate", made)[1]
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = ("--model", "openai/gpt-5-mini", "--dry-run", "--json")
    for words in (
        ("evaluate", made, *model), ("evaluate", made, *model, "--tools"),
        ("reword", made, str(tmp_path / "w"), *model),
        ("filter", made, str(tmp_path / "w"), "--voter", *model[1:]),
    ):  # fmt: skip
        code, said = call(*words)
        assert code == 0, said
        assert json.loads(said)["usd"] > 0
    assert not (tmp_path / "w").exists()
    hard, nowhere = str(tmp_path / "hard"), str(tmp_path / "python")
    assert "no vLLM" in call("filter", made, hard, "--voter", "vllm:any", "--vllm-python", nowhere)[1]
    assert "vllm:MODEL or ENDPOINT/MODEL" in call("filter", made, hard, "--voter", "shortcuts")[1]
    items = (tmp_path / "made" / "items.jsonl").read_text()
    (tmp_path / "made" / "items.jsonl").write_text(items.replace('"answer": "', '"answer": "not ', 1))
    code, said = call("audit", made, *store)
    assert code != 0
    assert "violations" in said
