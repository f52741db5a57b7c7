"""Simulated models of known behaviour: the analysis must find what they are made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hopwright.evaluation.analysis import Table, analyse
from hopwright.evaluation.evaluation_queries import EvaluationRunner, PromptSetting, Protocol, ScoredAnswer, to_table
from hopwright.evaluation.items import EvalItem, read_items
from hopwright.llm.prompts import read_prompts
from hopwright.llm.types import ModelRef
from tests.evaluation.datasets import write_rows
from tests.evaluation.simulated import Model, Skill, complete

PROMPTS = read_prompts(Path(__file__).resolve().parents[2] / "prompts")
SETTINGS = [
    PromptSetting("mcq", "direct"),
    PromptSetting("mcq", "cot"),
    PromptSetting("open", "direct"),
    PromptSetting("open", "cot"),
]
PROTOCOLS: list[Protocol] = ["question", "alone", "independent", "chain"]
ITEMS = 400


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> tuple[EvalItem, ...]:
    return read_items(write_rows(tmp_path_factory.mktemp("data") / "data.jsonl", ITEMS)).items


def interview(items: tuple[EvalItem, ...], skill: Skill) -> list[ScoredAnswer]:
    model = Model(items, skill)
    interviewer = EvaluationRunner(ModelRef("sim", "one"), PROMPTS, SETTINGS, PROTOCOLS, context=items)
    return interviewer.ask(items, lambda requests: complete(model, requests))


def tables_of(answers: list[ScoredAnswer]) -> dict[str, Table]:
    frame = pl.from_arrow(to_table(answers))
    assert isinstance(frame, pl.DataFrame)
    return {table.name: table for table in analyse(frame)}


def pick(table: Table, **wanted: Any) -> list[dict[str, Any]]:
    return [row for row in table.rows if all(row[name] == value for name, value in wanted.items())]


def holds(row: dict[str, Any], name: str, truth: float) -> bool:
    return bool(row[f"{name}_low"] <= truth <= row[f"{name}_high"])


@pytest.fixture(scope="module")
def carrying(items: tuple[EvalItem, ...]) -> dict[str, Table]:
    return tables_of(interview(items, Skill(knows=0.8, reasons=0.6, reasons_aloud=0.9, carries=True)))


@pytest.fixture(scope="module")
def forgetting(items: tuple[EvalItem, ...]) -> dict[str, Table]:
    return tables_of(interview(items, Skill(knows=0.7, carries=False, seed=3)))


def test_what_the_model_knows_is_the_error_of_the_independent_steps(carrying: dict[str, Table]) -> None:
    rows = pick(carrying["steps"], protocol="independent")
    assert {row["hop"] for row in rows} == {1, 2, 3, 4}
    assert len(rows) == 16
    assert sum(holds(row, "error", 0.2) for row in rows) >= 14


def test_the_knowledge_floor_of_a_model_that_never_reasons_past_a_missing_fact(carrying: dict[str, Table]) -> None:
    for prompting, rate in (("direct", 0.6), ("cot", 0.9)):
        for row in pick(carrying["floor"], prompting=prompting):
            if row["errors"] == 0:
                assert holds(row, "accuracy", rate)
            else:
                assert row["accuracy"] == 0
    whole = {row["prompting"]: row for row in pick(carrying["accuracy"], form="mcq")}
    assert holds(whole["direct"], "accuracy", 0.8**4 * 0.6)
    assert holds(whole["cot"], "accuracy", 0.8**4 * 0.9)


def test_errors_that_are_carried_on_show_as_propagation(carrying: dict[str, Table]) -> None:
    for row in pick(carrying["propagation"], hop="all"):
        assert row["added_error_low"] > 0
    chain = pick(carrying["propagation"], form="open", prompting="direct")
    # Step 2 follows one hop in chains and bridges: added is the share of wrong first hops among known second hops.
    assert holds(next(row for row in chain if row["hop"] == "2"), "added_error", 0.8 * 0.2)


def test_independent_errors_show_no_propagation(forgetting: dict[str, Table]) -> None:
    for row in forgetting["propagation"].rows:
        assert row["added_error"] == 0
    first = pick(forgetting["steps"], protocol="chain", hop=4)[0]
    assert holds(first, "error", 0.3)


def test_hops_that_rest_on_none_are_left_out_of_the_chain(carrying: dict[str, Table]) -> None:
    rows = pick(carrying["steps"], protocol="chain", form="mcq", prompting="direct")
    counts = {row["hop"]: row["items"] for row in rows}
    assert set(counts) == {2, 3, 4}
    assert counts[2] == sum(number % 3 != 1 for number in range(ITEMS))  # not in converging graphs
    assert counts[3] == sum(number % 3 != 2 for number in range(ITEMS))  # not in bridges


def test_reasoning_chains_add_up_and_show_short_cuts(items: tuple[EvalItem, ...], carrying: dict[str, Table]) -> None:
    rows = pick(carrying["chains"], form="open", prompting="cot", protocol="alone")
    assert len(rows) == 32
    assert sum(row["items"] for row in rows) == ITEMS
    assert abs(sum(row["share"] for row in rows) - 1) < 1e-9
    assert all(row["items"] == 0 for row in rows if row["answer_right"] and row["hops_right"] != "1111")
    lucky = tables_of(interview(items, Skill(knows=0.5, shortcut=0.5)))
    cuts = [row for row in pick(lucky["chains"], form="open", prompting="cot", protocol="alone") if row["answer_right"]]
    past = sum(row["items"] for row in cuts if row["hops_right"] != "1111")
    assert abs(past / ITEMS - (1 - 0.5**4) * 0.5) < 0.07


def test_joint_scores_are_the_share_of_chains_that_are_right_throughout(carrying: dict[str, Table]) -> None:
    chains = pick(carrying["chains"], form="open", prompting="cot", protocol="independent")
    right = next(row for row in chains if row["hops_right"] == "1111" and row["answer_right"])
    joint = pick(carrying["joint"], prompting="cot", protocol="independent")[0]
    assert joint["joint_em"] == pytest.approx(right["share"])
    assert joint["joint_f1"] == pytest.approx(right["share"])


def test_unreadable_answers_count_as_wrong_and_are_told_apart(items: tuple[EvalItem, ...]) -> None:
    tables = tables_of(interview(items, Skill(knows=1.0, reasons=1.0, reasons_aloud=1.0, mumbles=0.25)))
    for row in tables["accuracy"].rows:
        assert abs(row["extracted"] - 0.75) < 0.07
        assert row["accuracy"] == pytest.approx(row["extracted"])
    for row in tables["outcomes"].rows:
        assert row["answered"] + row["not_extractable"] == row["asked"]


def test_a_hop_that_rests_on_none_is_asked_once(items: tuple[EvalItem, ...]) -> None:
    asked: list[int] = []
    model = Model(items, Skill(knows=1.0))
    interviewer = EvaluationRunner(ModelRef("sim", "one"), PROMPTS, SETTINGS[:1], PROTOCOLS, context=items)

    def count(requests: list[Any]) -> Any:
        asked.append(len(requests))
        return complete(model, requests)

    chains = tuple(item for item in items if item.topology == "chain")[:10]
    answers = interviewer.ask(chains, count)
    assert len(answers) == 10 * (1 + 3 * 4)
    # The whole question; hop 1 once for three protocols; hops 2-4 alone and once after gold, for a chain of right
    # answers asks the very same. Rounds do not know of each other: the client's cache joins those.
    assert sum(asked) <= 10 * (1 + 3 + 3 + 4 + 4)
    assert len({answer.key for answer in answers}) == 10 * (1 + 1 + 3 + 3)


def test_the_order_of_items_and_shards_changes_nothing(items: tuple[EvalItem, ...]) -> None:
    model = Model(items, Skill())
    interviewer = EvaluationRunner(
        ModelRef("sim", "one"), PROMPTS, [PromptSetting("open", "cot", "irrelevant")], PROTOCOLS, context=items, seed=5
    )
    whole = interviewer.ask(items[:20], lambda requests: complete(model, requests))
    parts = [
        answer
        for start in (10, 0)
        for answer in interviewer.ask(items[start : start + 10], lambda requests: complete(model, requests))
    ]
    assert sorted(map(str, whole)) == sorted(map(str, parts))
