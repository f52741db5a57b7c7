"""Episodes by the thousand: the same by the seed, none lost by a kill, bad rows beside good ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

from hopwright.environments.episode import NO_STEPS_LEFT
from hopwright.errors import InputError, RunError
from hopwright.knowledge.documents.index import Retriever
from hopwright.training.episodes import RefusedError
from hopwright.training.journal import NAME, Journal, read_journal
from hopwright.training.playing import WireCall, WireTurn, begin_episode, call_alone, score_rollout, take_turn
from hopwright.training.summaries import tabulate_results
from hopwright.training.task_files import TaskLine, read_tasks, write_tasks
from tests.training.worlds import BASIS, make_lines, open_pool, play_on, say

World = tuple[Retriever, list[TaskLine]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    retriever, _, lines = make_lines(tmp_path_factory.mktemp("world"), 24)
    return retriever, lines


def test_what_is_drawn_depends_on_the_seed_alone(world: World, tmp_path: Path) -> None:
    pool, _ = open_pool(*world, tmp_path / "a")
    other, _ = open_pool(world[0], world[1][::-1], tmp_path / "b")
    drawn = pool.draw(64, 7, "train", group=8)
    assert drawn == other.draw(64, 7, "train", group=8)
    assert drawn != pool.draw(64, 8, "train", group=8)
    assert [len({task for _, task in drawn[place : place + 8]}) for place in range(0, 64, 8)] == [1] * 8
    assert {pool.lines[task].split for _, task in drawn} == {"train"}
    first = {task for _, task in pool.draw(200, 1, "train", easiest=0.2)}
    assert max(pool.lines[task].order for task in first) < 24 * 0.3
    with pytest.raises(RefusedError, match="no task of the split"):
        open_pool(world[0], [one for one in world[1] if one.split == "train"], tmp_path / "c")[0].draw(1, 0, "test")


def test_two_hundred_episodes_at_once_end_as_worked_out(world: World, tmp_path: Path) -> None:
    pool, _ = open_pool(*world, tmp_path)
    drawn = pool.draw(200, 0, "train", group=4)
    assert all(reply["prompt"][0]["role"] == "system" for reply in pool.begin(drawn, "tools"))
    ended = play_on(pool, {id: (task, 0) for id, task in drawn})
    assert pool.open == 0
    for id, task in drawn:
        hops = len(pool.lines[task].hops)
        assert ended[id]["rewards"] == pytest.approx(
            {"mmhops-r1": 2 + 0.25 * min(hops, 4), "search-r1": 1.0, "hops": 1.5}
        )


def test_a_kill_between_any_two_batches_loses_nothing(world: World, tmp_path: Path) -> None:
    whole, _ = open_pool(*world, tmp_path / "whole")
    drawn = whole.draw(12, 3, "train")
    whole.begin(drawn, "tools")
    expected = play_on(whole, {id: (task, 0) for id, task in drawn})
    going = {id: (task, 0) for id, task in drawn}
    ended: dict[str, dict[str, object]] = {}
    pool, journal = open_pool(*world, tmp_path / "killed")
    pool.begin(drawn, "tools")
    for _ in range(6):
        ended |= play_on(pool, {id: one for id, one in going.items() if id not in ended}, rounds=1)
        going = {id: (task, turn + (id not in ended)) for id, (task, turn) in going.items()}
        journal.close()  # As a kill leaves it: every batch was on the disk before it was answered.
        with (tmp_path / "killed" / NAME).open("ab") as file:
            file.write(b'{"take":"half a li')
        pool, journal = open_pool(*world, tmp_path / "killed")
        if len(ended) == len(drawn):
            break
    assert ended == expected
    assert pool.open == 0


def test_a_turn_that_is_sent_again_gives_the_same_reply(world: World, tmp_path: Path) -> None:
    pool, journal = open_pool(*world, tmp_path)
    (reply,) = pool.begin([("a", world[1][0].id)], "tools")
    line = pool.lines[reply["task"]]
    first = pool.step([("a", 0, say(line, 0))])
    assert pool.step([("a", 0, say(line, 0))]) == first
    journal.close()
    pool, _ = open_pool(*world, tmp_path)
    assert pool.step([("a", 0, say(line, 0))]) == first
    assert sum("take" in entry for entry in read_journal(tmp_path)) == 1
    (ended,) = play_on(pool, {"a": (line.id, 1)}).values()
    assert pool.step([("a", ended["turn"], say(line, len(line.hops)))]) == [ended]  # type: ignore[list-item]


def test_bad_rows_are_told_and_the_others_go_on(world: World, tmp_path: Path) -> None:
    pool, _ = open_pool(*world, tmp_path)
    begun = pool.begin([("a", world[1][0].id), ("b", "nowhere")], "tools")
    assert "error" not in begun[0] and begun[1]["error"] == "there is no task 'nowhere'"
    line = world[1][0]
    rows = [("a", 0, say(line, 0)), ("c", 0, say(line, 0)), ("a", 5, say(line, 0)), ("a", 0, WireTurn(text="other"))]
    good, unknown, late, changed = pool.step(rows)
    assert good["observations"][0]["call"] == "c0"
    assert unknown["error"].startswith("there is no such episode")
    assert late["error"] == changed["error"] == "turn 1 is next"
    assert pool.close(["a", "x"]) == 1 and pool.open == 0


def test_a_journal_over_other_tasks_or_a_damaged_one_is_refused(world: World, tmp_path: Path) -> None:
    pool, journal = open_pool(*world, tmp_path)
    pool.begin([("a", world[1][0].id)], "tools")
    with pytest.raises(RunError, match="another process"):
        Journal(tmp_path, BASIS).open()
    journal.close()
    with pytest.raises(InputError, match="other tasks or another corpus"):
        Journal(tmp_path, {**BASIS, "tasks": "u"}).open()
    path = tmp_path / NAME
    path.write_bytes(path.read_bytes().replace(b'{"begin"', b'{"be') + b'{"begin":"b","task":"x","form":"tools"}\n')
    with pytest.raises(RunError, match=r":2: a damaged line"):
        Journal(tmp_path, BASIS).open()


@pytest.mark.parametrize("line", [
    b"7", b"[]", b"nonsense", b'{"end": 7}', b'{"end": "a"}',
    b'{"end":"a","task":"x","turn":0,"right":true,"steps":"many"}',
    b'{"end":"a","task":"x","turn":0,"right":true,"steps":1,"useless":0,"rewards":[]}', b'{"begin":"b"}',
    b'{"take":"b","turn":0,"text":"","calls":[1]}', b'{"what": 1}', b"\xff\xfe", b"[" * 100_000,
])  # fmt: skip
def test_a_damaged_line_is_named_whoever_reads_it(line: bytes, world: World, tmp_path: Path) -> None:
    pool, journal = open_pool(*world, tmp_path)
    pool.begin([("a", world[1][0].id)], "tools")
    journal.close()
    path = tmp_path / NAME
    whole = path.read_bytes()
    path.write_bytes(whole + line + b"\n" + whole.splitlines(keepends=True)[1])
    for read in (lambda: read_journal(tmp_path), lambda: Journal(tmp_path, BASIS).open()):
        with pytest.raises(RunError, match=r"episodes\.jsonl:3: a damaged line"):
            read()
    path.write_bytes(whole + line)  # cut short: still being written, or never answered
    assert len(read_journal(tmp_path)) == 1
    path.write_bytes(line + b"\n" + whole)
    with pytest.raises(RunError, match=r"episodes\.jsonl:1: a damaged line"):
        read_journal(tmp_path)


def test_a_turn_of_an_episode_that_never_began_is_refused(world: World, tmp_path: Path) -> None:
    _, journal = open_pool(*world, tmp_path)
    journal.append([{"take": "a", "turn": 0, "text": "", "calls": []}])
    journal.close()
    with pytest.raises(RunError, match="a turn of a, which never began"):
        open_pool(*world, tmp_path)


def test_compacting_keeps_open_episodes_and_results(world: World, tmp_path: Path) -> None:
    pool, journal = open_pool(*world, tmp_path)
    drawn = pool.draw(8, 0, "train")
    pool.begin(drawn, "tools")
    ended = play_on(pool, {id: (task, 0) for id, task in drawn[:4]})
    play_on(pool, {id: (task, 0) for id, task in drawn[4:]}, rounds=2)
    before = journal.size
    pool.compact()
    assert journal.size < before
    journal.close()
    pool, _ = open_pool(*world, tmp_path)
    assert pool.open == 4
    assert len(play_on(pool, {id: (task, 2) for id, task in drawn[4:]})) == 4
    (id, reply) = next(iter(ended.items()))
    task = dict(drawn)[id]
    assert pool.step([(id, len(pool.lines[task].hops), say(pool.lines[task], len(pool.lines[task].hops)))]) == [reply]


def test_a_rollout_scored_from_its_messages_is_worth_what_its_episode_was(world: World, tmp_path: Path) -> None:
    from hopwright.environments.tools import CorpusFinder

    pool, _ = open_pool(*world, tmp_path)
    line = world[1][1]
    pool.begin([("a", line.id)], "tools")
    (ended,) = play_on(pool, {"a": (line.id, 0)}).values()
    messages: list[dict[str, object]] = [{"role": "user", "content": "?"}]
    for number in range(len(line.hops) + 1):
        turn = say(line, number)
        calls = [
            {"id": one.id, "function": {"name": one.name, "arguments": json.loads(one.arguments)}} for one in turn.calls
        ]
        messages += [{"role": "assistant", "content": turn.text, "tool_calls": calls}, {"role": "tool", "content": "…"}]
    finder = CorpusFinder(world[0])
    scored = score_rollout(line.to_task(), "tools", messages, finder)
    assert scored["rewards"] == ended["rewards"]
    cut = score_rollout(line.to_task(), "tools", messages[:3], finder)
    assert (cut["ended"], cut["right"]) == ("truncated", False)


@pytest.mark.parametrize("budget", [{"max_turns": 2}, {"max_tokens": 80}, {"max_steps": 2}, {}])
def test_the_budget_holds_in_a_foreign_loop_as_in_our_own(world: World, budget: dict[str, Any]) -> None:
    from hopwright.environments.tools import CorpusFinder

    task = replace(world[1][1].to_task(), **budget)
    finder = CorpusFinder(world[0])
    episode = begin_episode(task, "tools", finder)
    messages: list[dict[str, object]] = [{"role": "user", "content": "?" * 4_000}]
    call = WireCall(id="c", name="search", arguments=json.dumps({"query": "what is stated", "k": 1}))
    told = 0
    for taken in range(8):
        function = {"name": call.name, "arguments": call.arguments}
        messages.append({"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c", "function": function}]})
        alone = call_alone(task, taken, call, finder, messages)
        if told:
            assert alone["problem"] == NO_STEPS_LEFT
            break
        (ours,) = take_turn(episode, "tools", WireTurn(text="I look.", calls=(call,)))
        assert alone["text"] == ours["text"]
        told += alone["text"].endswith(NO_STEPS_LEFT)
        messages.append({"role": "tool", "content": alone["text"]})
    assert told == bool(budget)


def test_the_gap_of_who_remembers_is_whole_and_of_who_searches_none(world: World) -> None:
    tasks = []
    for line in world[1][:6]:
        twin = {"id": f"{line.id}-twin", "variant": "counterfactual", "pair": line.id}
        tasks += [line.model_copy(update={"pair": line.id}), line.model_copy(update=twin)]

    def result(line: TaskLine, right: bool) -> dict[str, object]:
        worth = {"mmhops-r1": 1.0 + right, "search-r1": float(right), "hops": float(right)}
        return {"task": line.id, "right": right, "steps": 0, "useless": 0, "rewards": worth}

    remembers = tabulate_results(tasks, [result(line, line.variant == "factual") for line in tasks])
    gaps = [row for row in remembers[1].rows if row["measure"] in ("right", "hops")]
    assert {(row["gap"], row["counterfactual"]) for row in gaps} == {(1.0, 0.0)}
    searches = tabulate_results(tasks, [result(line, True) for line in tasks])
    assert {row["gap"] for row in searches[1].rows} == {0.0}
    assert tabulate_results(tasks, [{"task": "unknown"}]) == []


def test_tasks_are_read_back_as_written_and_bad_lines_are_named(world: World, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(write_tasks(world[1]))
    lines = read_tasks(tmp_path)
    assert list(lines) == world[1]
    assert [TaskLine.from_task(line.to_task()).to_task() for line in lines] == [line.to_task() for line in lines]
    for text, said in (
        ("{}", r":1: id: the field is missing"),
        ("[", r":1: "),
        (
            path.read_text().splitlines()[0] * 1 + "\n" + path.read_text().splitlines()[0],
            r":2: the task 'item-0' is there",
        ),
        ("", "no task in it"),
    ):
        (tmp_path / "bad.jsonl").write_text(text)
        with pytest.raises(InputError, match=said):
            read_tasks(tmp_path / "bad.jsonl")
