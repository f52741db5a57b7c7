"""A judge of final answers, after episodes with tools: scores in table and report, and nothing is paid for twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

import pyarrow as pa

from hopwright.errors import InputError, ServiceError
from hopwright.evaluation.evaluation_queries import Ask
from hopwright.evaluation.items import EvalItem, read_items
from hopwright.evaluation.tool_judging import judge_episodes
from hopwright.evaluation.tool_runner import EPISODE_SCHEMA
from hopwright.llm.answers import GradedAnswer
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import ModelRef, Outcome, Request, Response, TokenUsage, key_of
from hopwright.records.arrow import encode_parquet, read_parquet
from hopwright.runs import RunFolder, Stage, StageManifest
from hopwright.settings import EvaluateRun, load_parameters
from hopwright.stages.evaluate import evaluate_models
from tasks.cost_estimates import estimate_evaluation
from tasks.engine import open_run
from tests.e2e.serving import serving
from tests.evaluation.tool_world import build_world
from tests.llm.tool_server import Said, ToolServer, Turn

GIVEN = ("the right one", "Almost", "Half", "Other", "Riddle", "")
"""What the agent answers to item 0, 1, …: right by words, then in words of its own, at last nothing."""
SCORES = {"Almost": 2, "Half": 1, "Other": 0, "Riddle": 7}
"""What the judge says; the last is outside the scale, and stays so when the judge is asked again."""
EXPECTED = [2, 2, 1, 0, None, None]


class World:
    """A home with a corpus and items, and a server of `agent`, `expert`, who is always right, and the judges."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.corpus, self.data = build_world(folder, len(GIVEN))
        self.asked: Counter[str] = Counter()
        self.refused = ""
        """The model that the server refuses to answer as."""
        self._items = {item.question: item for item in read_items(self.data).items}
        self._endpoints = folder / "endpoints.toml"
        self._server = ToolServer(self._say)

    def open(self) -> ToolServer:
        return self._server

    def point(self, url: str) -> None:
        self._endpoints.write_text(f'[endpoints.local]\nkind = "compatible"\nbase_url = "{url}/v1"\nfree = true\n')

    def parameters(
        self, judge: str = "", *, models: Sequence[str] = ("agent",), modes: Sequence[str] = ("search", "none"),
        fresh: bool = False,
    ) -> EvaluateRun:  # fmt: skip
        asked = {
            "data": str(self.data), "corpus": str(self.corpus), "tools": ["search"], "modes": list(modes),
            "models": [f"local/{name}" for name in models], "judge": judge,
        }  # fmt: skip
        values = {"run": "judged", "workers": 1, "models": {"endpoints": str(self._endpoints)}, "evaluate": asked}
        return load_parameters({**values, "fresh": fresh}, EvaluateRun)

    def evaluate(self, judge: str = "", **options: Any) -> StageManifest:
        parameters = self.parameters(judge, **options)
        with open_run(parameters) as engine:
            return evaluate_models(engine, parameters)

    def stage(self, name: str) -> Stage:
        return Stage(RunFolder(self.home, "judged"), f"evaluate/tools/{name}")

    def read_scores(self, judge: str) -> list[tuple[str, int | None]]:
        """Mode and score of the agent's episodes, in the order of the items."""
        (part,) = self.stage(f"judged/{judge}/local-agent").parts()
        rows = read_parquet(part, EPISODE_SCHEMA).select(["mode", "judge_score"]).to_pylist()
        return [(row["mode"], row["judge_score"]) for row in rows]

    def _say(self, model: str, turns: list[Turn]) -> Said:
        if model == self.refused:
            raise PermissionError
        self.asked[model] += 1
        prompt = turns[0].text
        if model.startswith("judge"):
            score = SCORES[prompt.rsplit("Given: ", 1)[1].strip()]
            return Said(json.dumps({"score": 1 if model == "judge2" else score, "reason": "so it is"}))
        item = self._items[prompt.rsplit("Question: ", 1)[1].strip()]
        given = GIVEN[int(item.id.removeprefix("item-"))] if model == "agent" else item.answer
        given = f"the {item.answer.upper()}." if given == GIVEN[0] else given
        return Said(f"FINAL ANSWER: {given}" if given else "I cannot say.")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    made = World(tmp_path)
    monkeypatch.setenv("HOPWRIGHT_HOME", str(made.home))
    with serving(made.open()) as server:
        made.point(server.url)
        yield made


def test_scores_land_in_table_and_report_and_nothing_is_paid_for_twice(world: World) -> None:
    done = world.evaluate("local/judge", models=("agent", "expert"))
    # In both modes the same is answered: four answers are judged once, one of them sent back twice.
    assert world.asked == {"agent": 12, "expert": 12, "judge": 4 + 2}
    both = sorted(world.read_scores("local-judge"), key=lambda row: row[0] == "search")
    assert both == [(mode, score) for mode in ("none", "search") for score in EXPECTED]
    expert, agent = done.notes["leaderboard"]
    assert (expert["model"], expert["tools"]["search"]["judge_score"]) == ("local/expert", 1.0)
    for mode in ("search", "none"):
        figures = agent["tools"][mode]
        # Five count: the answer that cannot be read is 0, the one that the judge failed on is left out.
        assert (figures["judge_score"], figures["judge_same"], figures["not_judged"]) == (2.5 / 5, 2 / 5, 1)
        assert figures["judge_score_low"] < figures["judge_score"] < figures["judge_score_high"]
        assert figures["judge_same_low"] < figures["judge_same"] < figures["judge_same_high"]
        assert (figures["items"], figures["em"]) == (6, pytest.approx(1 / 6, abs=1e-6))
    page = (world.home / done.notes["folder"] / "report.md").read_text()
    assert "local/judge, asked about 8 answers in 4 requests; 2 got no score" in page
    assert "judge score" in page and "not judged" in page
    asked = world.asked.copy()
    assert world.evaluate("local/judge", models=("agent", "expert")).notes == done.notes
    again = world.evaluate("local/judge", models=("agent", "expert"), fresh=True)
    assert again.notes["leaderboard"] == done.notes["leaderboard"]
    assert world.asked == asked


def test_another_judge_replays_no_episode(world: World) -> None:
    plain = world.evaluate()
    page = world.home / plain.notes["folder"] / "report.md"
    assert "judge of answers: none" in page.read_text()
    assert "judge_score" not in plain.notes["leaderboard"][0]["tools"]["search"]
    played = world.stage("local-agent").manifest_path.read_bytes()
    for judge, same in (("local/judge", 2 / 5), ("local/judge2", 1 / 6), ("local/judge", 2 / 5)):
        figures = world.evaluate(judge).notes["leaderboard"][0]["tools"]["search"]
        assert figures["judge_same"] == pytest.approx(same, abs=1e-6)
        assert f"{judge}, asked about 8 answers" in page.read_text()
    assert world.asked == {"agent": 12, "judge": 6, "judge2": 4}
    assert world.stage("local-agent").manifest_path.read_bytes() == played
    assert world.evaluate().notes == plain.notes


def test_scores_of_other_episodes_are_made_anew(world: World) -> None:
    world.evaluate("local/judge")
    # Played anew without a judge, episodes leave the scores of the former ones behind.
    world.evaluate(modes=["none"], fresh=True)
    world.evaluate("local/judge", modes=["none"])
    assert world.read_scores("local-judge") == [("none", score) for score in EXPECTED]
    assert world.asked == {"agent": 12, "judge": 6}


def test_a_report_that_is_written_anew_leaves_the_parameters_of_the_run(world: World) -> None:
    run = RunFolder(world.home, "judged")
    begun = {"seed": 1, "models": {"budget_usd": 5.0}}
    with run.hold():
        run.begin(begun)
    world.evaluate()
    world.evaluate("local/judge")
    found = run.read_manifest()
    assert found is not None and found.parameters == begun


def test_a_judge_that_is_down_leaves_the_episodes_for_the_next_start(world: World) -> None:
    world.refused = "judge"
    with pytest.raises(ServiceError, match="stopped"):
        world.evaluate("local/judge")
    assert world.asked == {"agent": 12}
    world.refused = ""
    world.evaluate("local/judge")
    assert world.asked == {"agent": 12, "judge": 6}


def test_a_judge_that_cannot_be_asked_is_told_before_anything_is_sent(world: World) -> None:
    with pytest.raises(InputError, match="nowhere"):
        world.evaluate("nowhere/judge")
    with pytest.raises(InputError, match="judge"):
        world.parameters("no endpoint")
    assert not world.asked


def test_an_estimate_counts_no_judge(world: World) -> None:
    plain = estimate_evaluation(world.parameters())
    assert estimate_evaluation(world.parameters("local/judge")) == plain
    assert not world.asked


def grade(score: int, asked: list[Request]) -> Ask:
    def complete(requests: list[Request]) -> list[Outcome]:
        asked.extend(requests)
        usage = TokenUsage(50, 0, 0, 7, 0)
        return [
            Response(
                key_of(one), one.provider, one.model, "v1", "", "stop", usage, 0.25,
                parsed=GradedAnswer(score=score),
            )
            for one in requests
        ]  # fmt: skip

    return complete


def make_episodes(items: list[EvalItem], **columns: list[Any]) -> pa.Table:
    rows = {"item": [item.id for item in items], **columns}
    absent = {name: rows.get(name, [None] * len(items)) for name in EPISODE_SCHEMA.names}
    return pa.table(absent, schema=EPISODE_SCHEMA)


def test_the_judge_sees_aliases_and_is_asked_once_for_equal_answers(tmp_path: Path) -> None:
    _, data = build_world(tmp_path, 1)
    item = replace(read_items(data).items[0], aliases=("One", "Other"))
    asked: list[Request] = []
    table = make_episodes(
        [item] * 4, outcome=["answered", "answered", "answered", "failed"], given=["It", "It", "Thing", ""],
        em=[0.0, 0.0, 1.0, 0.0],
    )  # fmt: skip
    prompt = load_prompts()["grade-answer"]
    judged = judge_episodes(table, [item], ModelRef("local", "judge"), prompt, grade(1, asked))
    assert judged.table["judge_score"].to_pylist() == [1, 1, 2, None]
    assert judged.table.drop_columns("judge_score") == table.drop_columns("judge_score")
    assert (judged.asked, judged.failed, judged.spent.cost_usd, len(asked)) == (2, 0, 0.25, 1)
    gold = f"{item.answer} (other names: One; Other)"
    assert asked[0].messages[-1].content == f"Question: {item.question}\nRight: {gold}\nGiven: It"


def test_episodes_of_a_version_without_scores_are_read(tmp_path: Path) -> None:
    _, data = build_world(tmp_path, 1)
    table = make_episodes(list(read_items(data).items), em=[1.0])
    path = tmp_path / "part.parquet"
    path.write_bytes(encode_parquet(table.drop_columns("judge_score")))
    assert read_parquet(path, EPISODE_SCHEMA) == table
