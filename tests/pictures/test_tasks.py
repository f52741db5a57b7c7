"""Questions about pictures as tasks: what a folder holds, how agents do in it, and a server that is started again."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from hopwright.environments.picture_finder import PictureLibrary
from hopwright.errors import InputError
from hopwright.exports import write_folder
from hopwright.exports.agents import AgentExport
from hopwright.knowledge.facts import write_literal
from hopwright.knowledge.images.store import PictureStore
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.llm.prompts import load_prompts
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.exports import export_pictures
from hopwright.pictures.splitting import name_facts
from hopwright.pictures.tasks import make_picture_tasks, open_library
from hopwright.training.episodes import EpisodePool
from hopwright.training.journal import Journal
from hopwright.training.playing import WireTurn, find_for, score_rollout
from hopwright.training.server import EpisodeService, make_app
from hopwright.training.task_files import TaskLine, read_tasks
from hopwright.training.task_sets import TaskSetOptions

BASIS = {"tasks": "t"}
STEPS = 30


@pytest.fixture(scope="module")
def export(small_set: PictureSet, store: PictureStore) -> AgentExport:
    return make_picture_tasks(small_set, store, load_prompts(), TaskSetOptions(max_steps=STEPS, max_turns=20), 0.2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, small_set: PictureSet, export: AgentExport) -> Path:
    target = tmp_path_factory.mktemp("tasks") / "all"
    export_pictures(small_set, target, ["environment", "trajectories", "verl-agent"], export)
    return target


@pytest.fixture(scope="module")
def library(folder: Path) -> PictureLibrary:
    return open_library(folder / "environment", None)[0]


@pytest.fixture(scope="module")
def ideal(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The turns of the ideal agent, by task."""
    rows = map(json.loads, (folder / "trajectories" / "sft.jsonl").read_text().splitlines())
    return {row["id"]: [turn for turn in row["messages"] if turn["role"] == "assistant"] for row in rows}


def one_task(folder: Path, ideal: dict[str, list[dict[str, Any]]]) -> TaskLine:
    """A task of which every call of the ideal transcript is of use."""
    lines = {line.id: line for line in read_tasks(folder / "environment")}
    rows = map(json.loads, (folder / "trajectories" / "sft.jsonl").read_text().splitlines())
    return next(lines[row["id"]] for row in rows if sum(row["train"]) == len(ideal[row["id"]]))


def call(id: str, name: str, **arguments: object) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def list_names(turn: dict[str, Any]) -> list[str]:
    return [one["function"]["name"] for one in turn.get("tool_calls", ())]


def test_a_folder_is_whole_and_keeps_the_set_s_parts(
    folder: Path, small_set: PictureSet, library: PictureLibrary
) -> None:
    environment = folder / "environment"
    lines = {line.id: line for line in read_tasks(environment)}
    items = {item.id: item for item in (*small_set.of_split("all"), *small_set.twins)}
    left_out = [json.loads(line) for line in (environment / "left_out.jsonl").read_text().splitlines()]
    assert lines.keys() | {one["id"] for one in left_out} == items.keys()
    assert all(lines[item.id].split == split for item, split in small_set.items)
    assert sorted(line.order for line in lines.values()) == list(range(len(lines)))
    for line in lines.values():
        assert [hashlib.sha256(library.read_png(one)).hexdigest() for one in line.pictures] == list(line.pictures)
        gold = {fact[0].document for hop in line.hops for fact in hop.gold}
        assert all(library.read(one).text for one in gold if one.startswith("fact-"))
        assert line.max_steps == STEPS and line.max_turns == 20
    parts: dict[str, set[str]] = {}
    for id, line in lines.items():
        parts.setdefault(name_facts(items[id]), set()).add(line.split)
        if line.variant == "twin":
            original = lines[line.pair]
            assert (original.split, original.question) == (line.split, line.question)
            assert original.pictures != line.pictures and original.answers != line.answers
    assert all(len(one) == 1 for one in parts.values())
    report = json.loads((environment / "report.json").read_text())
    assert report["tasks"] == len(lines) and report["facts_trained_and_tested_on"] > 0


def test_the_same_set_gives_the_same_bytes(
    folder: Path, small_set: PictureSet, export: AgentExport, tmp_path: Path
) -> None:
    export_pictures(small_set, tmp_path / "again", ["environment", "trajectories", "verl-agent"], export)
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    assert all((folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes() for name in files)


def test_ideal_transcripts_look_up_and_search_and_are_worth_all(
    folder: Path, ideal: dict[str, list[dict[str, Any]]], library: PictureLibrary
) -> None:
    lines = {line.id: line for line in read_tasks(folder / "environment")}
    trained = [line for line in lines.values() if line.split == "train"]
    assert len(ideal) > 0.8 * len(trained)
    for name in ("sft.jsonl", "sft_tags.jsonl"):
        for row in map(json.loads, (folder / "trajectories" / name).read_text().splitlines()):
            line = lines[row["id"]]
            turns = [turn for turn in row["messages"] if turn["role"] == "assistant"]
            form = "tools" if "tools" in row else "tags"
            result = score_rollout(line.to_task(), form, turns, find_for(line, library))  # type: ignore[arg-type]
            assert result["rewards"]["hops"] == pytest.approx(1.5 - 0.05 * (len(turns) - sum(row["train"])))
            [user] = [turn for turn in row["messages"] if turn["role"] == "user"]
            assert user["content"].count("<image>") == len(row["images"]) == len(line.pictures)
            assert all((folder / "trajectories" / path).is_file() for path in row["images"])
    names = Counter(name for turns in ideal.values() for turn in turns for name in list_names(turn))
    assert names["image_search"] == sum(len(lines[id].pictures) for id in ideal)


def test_rewards_are_those_worked_out_by_hand(
    folder: Path, ideal: dict[str, list[dict[str, Any]]], library: PictureLibrary
) -> None:
    line = one_task(folder, ideal)
    task, finder, turns = line.to_task(), find_for(line, library), ideal[line.id]
    looks = sum("image_search" in list_names(turn) for turn in turns)
    calls = len(turns) - 1
    perfect = score_rollout(task, "tools", turns, finder)
    assert perfect["right"] and perfect["useless"] == 0
    assert perfect["rewards"]["hops"] == 1.5
    assert perfect["rewards"]["mmhops-r1"] == 1 + 1 + 0.25 * min(calls, 4)
    # Three searches of no use in front cost 0.05 each; MMhops-R1's own reward counts the first four turns for them.
    pad = {"role": "assistant", "content": "Hm.", "tool_calls": [call("p", "search", query="zzz")]}
    pads = [pad] * 3
    padded = score_rollout(task, "tools", [*pads, *turns], finder)
    assert padded["useless"] == 3
    assert padded["rewards"]["hops"] == pytest.approx(1.35)
    assert padded["rewards"]["mmhops-r1"] == 3.0
    # Whoever never looks at a picture finds none of the pictures' hops, and is paid for the others alone.
    blind = [turn for turn in turns if "image_search" not in list_names(turn)]
    unseen = score_rollout(task, "tools", blind, finder)
    stated = [hop for hop in line.hops if hop.gold]
    found = len(stated) - looks
    assert unseen["right"] and unseen["max_depth"] == 0
    assert unseen["rewards"]["hops"] == pytest.approx(1 + 0.5 * found / len(stated))
    silent = score_rollout(task, "tools", [{"role": "assistant", "content": "FINAL ANSWER: Atlantis"}], finder)
    assert silent["rewards"]["hops"] == 0.0


def test_a_wrong_number_of_a_picture_is_an_observation(folder: Path, library: PictureLibrary, tmp_path: Path) -> None:
    line = read_tasks(folder / "environment")[0]
    pool = EpisodePool([line], library, Journal(tmp_path, BASIS))
    pool.begin([("a", line.id), ("b", line.id)], "tools")
    asked = {"calls": [{"id": "c", "name": "image_search", "arguments": '{"image": 9}'}]}
    [reply] = pool.step([("a", 0, WireTurn.model_validate(asked))])
    said = f"the question has {len(line.pictures)} pictures, the first is 1"
    assert reply["observations"] == [{"call": "c", "text": f"This call cannot be carried out: {said}."}]
    assert not reply["done"]
    pool.begin([("b", line.id)], "tags")
    [tagged] = pool.step([("b", 0, WireTurn(text="<think>I look.</think><image_search>1</image_search>"))])
    assert "the same picture" in tagged["observations"][0]["text"]


def test_a_client_is_shown_the_pictures_and_the_tools(folder: Path, library: PictureLibrary, tmp_path: Path) -> None:
    lines = read_tasks(folder / "environment")
    journal = Journal(tmp_path, BASIS)
    with TestClient(make_app(EpisodeService(EpisodePool(lines, library, journal), library))) as client:
        names = [one["function"]["name"] for one in client.get("/tools").json()["tools"]]
        assert names == ["image_search", "search", "read"]
        assert client.get("/tools", params={"task": lines[0].id}).json() == client.get("/tools").json()
        assert client.get("/tools", params={"task": "x"}).status_code == 404
        begun = client.post("/reset", json={"count": 8, "seed": 1, "split": "test"}).json()["episodes"]
        assert begun == client.post("/reset", json={"count": 8, "seed": 1, "split": "test"}).json()["episodes"]
        for one in begun:
            for address in one["pictures"]:
                shown = client.get(address)
                assert shown.headers["content-type"] == "image/png"
                assert hashlib.sha256(shown.content).hexdigest() == address.rpartition("/")[2]
        assert client.get("/pictures/" + "0" * 64).status_code == 404
        assert client.get("/pictures/..%2Fpictures.parquet").status_code == 404
        asked = {"name": "image_search", "arguments": '{"image": 1}'}
        alone, unnamed = client.post("/call", json={"calls": [{**asked, "task": lines[0].id}, asked]}).json()["results"]
        assert "the same picture" in alone["text"]
        assert unnamed["problem"] == "there is no tool 'image_search'; the tools are search, read"
    journal.close()


def test_a_server_that_is_started_again_goes_on(
    folder: Path, ideal: dict[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    line = one_task(folder, ideal)
    turns = [
        WireTurn.model_validate({
            "text": turn["content"],
            "calls": [{"id": one["id"], **one["function"]} for one in turn.get("tool_calls", ())],
        })
        for turn in ideal[line.id]
    ]  # fmt: skip
    replies = []
    for number, turn in enumerate(turns):
        library, world = open_library(folder / "environment", None)
        journal = Journal(tmp_path, {**BASIS, **world})
        pool = EpisodePool([line], library, journal)
        if not number:
            pool.begin([("a", line.id)], "tools")
        [reply] = pool.step([("a", number, turn)])
        assert pool.step([("a", number, turn)]) == [reply]
        replies.append(reply)
        journal.close()
    assert replies[-1]["done"] and replies[-1]["rewards"]["hops"] == 1.5
    with pytest.raises(InputError, match="other tasks or another corpus"):
        EpisodePool([line], library, Journal(tmp_path, {**BASIS, **world, "pictures": "others"}))


def test_verl_s_rows_hold_the_pictures(folder: Path) -> None:
    import polars as pl
    import yaml

    rows = pl.read_parquet(folder / "verl-agent" / "train.parquet").to_dicts()
    lines = {line.id: line for line in read_tasks(folder / "verl-agent")}
    for row in rows:
        line = lines[row["extra_info"]["id"]]
        assert [hashlib.sha256(one["bytes"]).hexdigest() for one in row["images"]] == list(line.pictures)
        assert "".join(turn["content"] for turn in row["prompt"]).count("<image>") == len(line.pictures)
        assert row["extra_info"]["tools_kwargs"]["image_search"]["create_kwargs"]["task"] == line.id
    tools = yaml.safe_load((folder / "verl-agent" / "tools.yaml").read_text())["tools"]
    assert [one["tool_schema"]["function"]["name"] for one in tools] == ["image_search", "search", "read"]


def test_a_folder_that_is_not_whole_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="take the whole folder"):
        open_library(tmp_path, None)
    with pytest.raises(InputError, match=r"rest on facts\.jsonl"):
        open_library(folder / "environment", object())  # type: ignore[arg-type]


def test_with_a_corpus_hops_are_found_where_it_states_them(
    small_set: PictureSet, store: PictureStore, tmp_path: Path
) -> None:
    pytest.importorskip("tantivy", reason="the extra documents is not installed")
    from hopwright.knowledge.documents.index import Retriever, build_index
    from hopwright.settings import CorpusIndexParameters
    from tests.knowledge.documents.builders import add, write_lines

    evidence = [hop.evidence for item, _ in small_set.items for hop in item.hops]
    # Populations are left out, so that some hops are stated nowhere.
    stated = [(one, one.object_label) for held in evidence for one in held.triplets]
    numbers = [one for held in evidence for one in held.literals if one.property != "P1082"]
    texts = {f"{one.subject_label} {one.property_label} {value}." for one, value in stated}
    texts |= {f"{one.subject_label} {one.property_label} {write_literal(one, default_table())}." for one in numbers}
    pages = [{"id": f"d{number}", "title": "A page", "text": text} for number, text in enumerate(sorted(texts))]
    add(write_lines(tmp_path / "pages.jsonl", pages), tmp_path / "corpus", near_duplicates=0)
    build_index(tmp_path / "corpus", CorpusIndexParameters(language="english"))
    made = make_picture_tasks(
        small_set, store, load_prompts(), TaskSetOptions(), retriever=Retriever.open(tmp_path / "corpus")
    )
    assert made.tasks.lines and "facts.jsonl" not in made.beside
    for line in made.tasks.lines:
        documents = {place.document for hop in line.hops for fact in hop.gold for place in fact}
        assert not any(one.startswith("fact-") for one in documents)
        assert {one for one in documents if one.startswith("pic-")} == {f"pic-{one[:24]}" for one in line.pictures}
    assert {one["reason"] for one in made.tasks.left_out} <= {
        "no passage states one of its hops", "a question of another part rests on the same facts",
    }  # fmt: skip
    write_folder({**made.beside, "tasks.jsonl": b""}, tmp_path / "folder", "environment")
    library, _ = open_library(tmp_path / "folder", Retriever.open(tmp_path / "corpus"))
    assert library.search("shares border with", 3)
