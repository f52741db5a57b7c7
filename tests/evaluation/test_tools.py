"""Evaluation with tools: agents of known skill over the wire must be recovered, and nothing is paid for twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

from hopwright.environments.task import GoldFact
from hopwright.environments.verifier import FAILURE_CLASSES
from hopwright.errors import InputError, ServiceError
from hopwright.evaluation.analysis import Table
from hopwright.evaluation.contexts import draw_context
from hopwright.evaluation.gold import GoldFinder, is_measurable, name_source
from hopwright.evaluation.items import EvalItem
from hopwright.evaluation.report import ReportHeader, render_report
from hopwright.evaluation.tool_analysis import analyse_episodes, rank_models
from hopwright.evaluation.tool_runner import EpisodeRow, ToolRunner, to_episode_table
from hopwright.knowledge.documents.index import Retriever
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.prompts import read_prompts
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef
from hopwright.records import Span, Triplet
from tests.e2e.serving import serving
from tests.evaluation.tool_world import AgentSkill, SearchingAgent, Slip, open_world, state_hop
from tests.llm.builders import settings
from tests.llm.tool_server import Said, ToolServer

PROMPTS = read_prompts(Path(__file__).resolve().parents[2] / "prompts")
ITEMS = 240
World = tuple[Retriever, tuple[EvalItem, ...]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return open_world(tmp_path_factory.mktemp("world"), ITEMS)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWRIGHT_TEST_KEY", "sk-none")


def ask(
    world: World, server: ToolServer, store: Path, kind: str = "compatible", count: int = ITEMS, **options: Any
) -> list[EpisodeRow]:
    retriever, items = world
    runner = ToolRunner(
        ModelRef("local", "tiny"), PROMPTS, options.pop("modes", ("search",)), retriever, max_steps=10, **options
    )
    with Session(settings(server, kind=kind), store) as session:
        return runner.ask(items[:count], session)


def tables_of(rows: list[EpisodeRow]) -> dict[str, Table]:
    frame = pl.from_arrow(to_episode_table(rows))
    assert isinstance(frame, pl.DataFrame)
    return {table.name: table for table in analyse_episodes(frame)}


def play(world: World, folder: Path, skill: AgentSkill, **options: Any) -> tuple[SearchingAgent, list[EpisodeRow]]:
    agent = SearchingAgent(world[1], skill)
    with serving(ToolServer(agent.say)) as server:
        return agent, ask(world, server, folder / "llm.sqlite", **options)


def holds(row: dict[str, Any], name: str, truth: float) -> bool:
    return bool(row[f"{name}_low"] - 1e-9 <= truth <= row[f"{name}_high"] + 1e-9)


def depth(item: EvalItem, reach: int) -> int:
    """The depth of an item of which the first so many hops are found, by the definition."""
    sizes = [0]
    for hop in item.hops[:reach]:
        under, waiting = {hop.index}, list(hop.depends_on)
        while waiting:
            one = waiting.pop()
            under.add(one)
            waiting += item.hop(one).depends_on
        sizes.append(len(under))
    return max(sizes)


def test_skill_depth_steps_and_recall_are_recovered_within_their_intervals(world: World, tmp_path: Path) -> None:
    finds, lucky = 0.8, 0.3
    agent, rows = play(world, tmp_path, AgentSkill(finds=finds, lucky=lucky))
    items = world[1]
    for item, row in zip(items, rows, strict=True):
        reach = agent.reaches(item)
        assert row.max_depth == depth(item, reach)
        assert (row.steps, row.useless) == (reach, 0)
        assert row.right == (reach == len(item.hops) or agent.is_lucky(item))
    tables = tables_of(rows)
    (scores,) = tables["tools"].rows
    lengths = [len(item.hops) for item in items]
    solved = sum(finds**length for length in lengths) / len(items)
    assert holds(scores, "accuracy", solved + (1 - solved) * lucky)
    expected = sum(
        finds**reach * (1 if reach == len(item.hops) else 1 - finds) * depth(item, reach)
        for item in items
        for reach in range(len(item.hops) + 1)
    )
    assert holds(scores, "max_depth", expected / len(items))
    assert scores["steps_right"] > scores["steps_wrong"]
    hops = tables["tools_recall"].rows
    assert [row["hop"] for row in hops] == [1, 2, 3, 4]
    assert sum(holds(row, "recall", finds ** row["hop"]) for row in hops) >= 3
    (failures,) = tables["tools_failures"].rows
    assert failures["failure"] == "not_searched"
    assert holds(failures, "share", (1 - solved) * (1 - lucky))
    deep = {row["hops"]: row for row in tables["tools_depth"].rows}
    assert sum(row["items"] for row in deep.values()) == ITEMS


def test_calls_that_serve_no_hop_cost_reward_and_nothing_else(world: World, tmp_path: Path) -> None:
    _, rows = play(world, tmp_path, AgentSkill(finds=1.0, pads=2), count=12)
    assert {(row.right, row.max_depth == row.hops, row.steps - row.hops, row.useless) for row in rows} == {
        (True, True, 2, 2)
    }
    assert {round(row.reward, 6) for row in rows} == {1.5 - 2 * 0.05}


@pytest.mark.parametrize("slip", [name for name in FAILURE_CLASSES if name != "not_known"])
def test_every_way_to_fail_is_told_from_the_others(world: World, tmp_path: Path, slip: Slip) -> None:
    agent, rows = play(world, tmp_path, AgentSkill(finds=0.6, slip=slip), count=60)
    stuck = [agent.reaches(item) < len(item.hops) for item in world[1][:60]]
    assert 20 < sum(stuck) < 60
    wrong = [row.failure for row, is_stuck in zip(rows, stuck, strict=True) if is_stuck]
    assert set(wrong) == {slip}
    assert not any(row.failure for row, is_stuck in zip(rows, stuck, strict=True) if not is_stuck)
    assert sum(row["answers"] for row in tables_of(rows)["tools_failures"].rows) == sum(stuck)


def test_a_passage_that_was_shown_and_not_used_counts_for_recall_but_is_not_found(world: World, tmp_path: Path) -> None:
    _, rows = play(world, tmp_path, AgentSkill(finds=0.0, slip="found_unused"), count=30)
    (first, *later) = tables_of(rows)["tools_recall"].rows
    assert (first["recall"], first["found"]) == (1.0, 0.0)
    assert all(row["recall"] == row["found"] == 0.0 for row in later)


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_both_sdks_and_the_lean_client_give_the_same_episodes(world: World, tmp_path: Path, kind: str) -> None:
    skill = AgentSkill(finds=0.7, slip="wrong_plan")
    (tmp_path / "lean").mkdir()
    _, lean = play(world, tmp_path / "lean", skill, count=12)
    _, sdk = play(world, tmp_path, skill, count=12, kind=kind)
    told = [(row.outcome, row.given, row.max_depth, row.steps, row.failure) for row in lean]
    assert [(row.outcome, row.given, row.max_depth, row.steps, row.failure) for row in sdk] == told


def test_a_paid_turn_is_never_paid_for_twice(world: World, tmp_path: Path) -> None:
    agent = SearchingAgent(world[1], AgentSkill(finds=0.9))
    broken = 30

    def break_down(model: str, turns: list[Any]) -> Any:
        nonlocal broken
        broken -= 1
        if broken < 0:
            server.counts["down"] += 1
            raise PermissionError
        return agent.say(model, turns)

    with serving(ToolServer(break_down)) as server:
        # As a kill would, this ends the run in the middle of its episodes.
        with pytest.raises(ServiceError, match="stopped"):
            ask(world, server, tmp_path / "llm.sqlite", count=15)
        assert server.counts["down"] > 0
    with serving(ToolServer(agent.say)) as server:
        after = ask(world, server, tmp_path / "llm.sqlite", count=15)
        assert all(row.outcome == "answered" for row in after)
        turns = len({key for row in after for key in row.keys})
        assert server.counts["answered"] == turns - 30
        assert ask(world, server, tmp_path / "llm.sqlite", count=15) == after
        assert server.counts["answered"] == turns - 30


def test_the_question_of_a_hop_finds_its_passage_first(world: World) -> None:
    for item in world[1]:
        for hop in item.hops:
            ((best,),) = [world[0].search(hop.question, 1)]
            assert state_hop(int(item.id[5:]), hop.index) in best.passage.text


def test_gold_passages_and_all_but_one_and_gold_among_others_are_given(world: World) -> None:
    retriever, items = world
    for item in items[:12]:
        task = GoldFinder(retriever).make_task(item)
        assert name_source(item, task) == "cited"
        given = {mode: draw_context(task, mode, retriever, 3) for mode in ("gold", "gold_minus_one", "distractors")}
        stated = {
            hop: [one for one in given["gold"].passages if state_hop(int(item.id[5:]), hop.index) in one.text]
            for hop in item.hops
        }
        assert all(len(found) == 1 for found in stated.values())
        dropped = given["gold_minus_one"].dropped
        assert 1 <= dropped <= len(item.hops)
        assert set(given["gold"].passages) - set(given["gold_minus_one"].passages) == set(stated[item.hop(dropped)])
        among = given["distractors"].passages
        assert set(given["gold"].passages) < set(among)
        assert len(among) >= len(item.hops) + 4
        assert draw_context(task, "distractors", retriever, 3) == given["distractors"]
        assert draw_context(task, "none", retriever, 3).passages == ()


def test_without_tools_what_is_given_counts_as_shown(world: World, tmp_path: Path) -> None:
    modes = ("none", "gold", "gold_minus_one", "distractors")
    whole = {item.question: item for item in world[1]}

    def read_or_guess(_: str, turns: list[Any]) -> Any:
        item = whole[turns[0].text.rsplit("Question: ", 1)[1].strip()]
        known = [hop.answer for hop in item.hops if f"goes with {hop.answer} as" in turns[0].text]
        right = len(known) == len(item.hops)
        return Said(f"{', '.join(known)}\nFINAL ANSWER: {item.answer if right else 'Nothing'}")

    with serving(ToolServer(read_or_guess)) as server:
        rows = ask(world, server, tmp_path / "llm.sqlite", count=30, modes=modes)
    tables = tables_of(rows)
    scores = {row["mode"]: row for row in tables["tools"].rows}
    assert [scores[mode]["accuracy"] for mode in modes] == [0.0, 1.0, 0.0, 1.0]
    assert scores["none"]["max_depth"] is None
    assert {row.failure for row in rows if row.mode == "none"} == {"not_known"}
    assert all(row.max_depth == row.hops for row in rows if row.mode == "gold")
    for row in rows:
        if row.mode == "gold_minus_one":
            assert list(row.hop_shown) == [int(hop != row.dropped_hop) for hop in range(1, row.hops + 1)]
    assert {row["steps_right"] for row in tables["tools"].rows} == {None}


def test_the_report_and_the_ranking_show_the_figures(world: World, tmp_path: Path) -> None:
    _, rows = play(world, tmp_path, AgentSkill(finds=0.8), count=30)
    better = [replace(row, model="local/better", right=True, failure="") for row in rows]
    tables = list(tables_of([*rows, *better]).values())
    assert [entry["model"] for entry in rank_models(tables)] == ["local/better", "local/tiny"]
    files = render_report(tables, ReportHeader("data", ()))
    page = files["report.md"].decode()
    assert "2 models. Right answers of the best, local/better: with tools 100.0 %" in page
    assert "Why answers are wrong" in page
    assert b"max_depth" in files["data/tools.csv"]
    assert render_report(tables, ReportHeader("data", ())) == files


def test_an_estimate_lists_a_turn_for_every_hop_and_one_for_the_answer(world: World) -> None:
    runner = ToolRunner(ModelRef("local", "tiny"), PROMPTS, ("search", "none"), world[0], max_steps=10)
    listed = list(runner.list_requests(world[1][:3]))
    assert len(listed) == sum(len(item.hops) + 2 for item in world[1][:3])
    # Only what is asked without tools is known to the letter, and so may go by a batch.
    assert sum(not isinstance(one, ApproximateRequest) for one in listed) == 3


def test_facts_of_the_graph_are_aligned_where_nothing_is_cited(world: World) -> None:
    retriever, items = world
    item = items[0]

    def state(subject: str, object: str) -> Triplet:
        return Triplet(
            subject="Q1", property="P1", object="Q2", subject_label=subject, property_label="goes with",
            object_label=object,
        )  # fmt: skip

    hop = replace(item.hop(1), spans=(), facts=(state("Item0", "Thing0x1"),))
    aligned = replace(item, hops=(hop, *(replace(one, spans=()) for one in item.hops[1:])))
    task = GoldFinder(retriever).make_task(aligned)
    assert name_source(aligned, task) == "aligned"
    (fact,) = task.hop(1).gold
    (place,) = fact
    assert retriever.store.find(place.document)[0].text[place.start : place.end] == state_hop(0, 1)
    assert task.hop(2).gold == ()
    assert is_measurable(aligned, task), "a hop that cites nothing is worked out from others"
    lost = replace(hop, facts=(*hop.facts, state("Item0", "Nowhere")))
    unknown = replace(aligned, hops=(lost, item.hop(2), *aligned.hops[2:]))
    task = GoldFinder(retriever).make_task(unknown)
    assert (task.hop(1).gold, len(task.hop(2).gold)) == ((), 1)
    assert not is_measurable(unknown, task)


def test_any_cited_place_of_a_fact_will_do_and_every_fact_is_needed(world: World) -> None:
    retriever, items = world
    spans = tuple(items[0].hop(index).spans[0] for index in (1, 2))

    def find(*facts: Triplet) -> tuple[GoldFact, ...]:
        return GoldFinder(retriever).find_facts(replace(items[0].hop(1), spans=spans, facts=facts))

    def state(subject: str, object: str) -> Triplet:
        return Triplet(
            subject=subject, property="P1", object=object, subject_label=subject, property_label="goes with",
            object_label=object,
        )  # fmt: skip

    first, second = state("Item0", "Thing0x1"), state("Thing0x1", "Thing0x2")
    assert [len(fact) for fact in find(first)] == [2], "both places are said to state the one fact"
    assert [len(fact) for fact in find(first, second)] == [1, 1]
    assert [fact[0].document for fact in find(second, first)] == [spans[1].document, spans[0].document]
    assert [len(fact) for fact in find()] == [1, 1], "nothing says that two places state the same"
    assert len(find(first, state("Nobody", "Nothing"))) == 2, "what states neither stands for itself"


def test_items_over_another_corpus_are_refused_in_one_line(world: World) -> None:
    retriever, items = world
    (span,) = items[0].hop(1).spans
    for wrong in (
        span.model_copy(update={"document": "f" * 32}),
        Span(**{**span.model_dump(), "text": "x" * len(span.text)}),
    ):
        hop = replace(items[0].hop(1), spans=(wrong,))
        with pytest.raises(InputError, match="does not hold what the items cite"):
            GoldFinder(retriever).make_task(replace(items[0], hops=(hop, *items[0].hops[1:])))
