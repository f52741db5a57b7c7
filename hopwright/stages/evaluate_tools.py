"""Evaluation with tools: a dataset and a corpus → every model's episodes → a judge's scores → one report over all."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopwright.environments.tools import TOOLS
from hopwright.errors import InputError
from hopwright.evaluation.contexts import Mode
from hopwright.evaluation.gold import GoldFinder, name_source
from hopwright.evaluation.items import EvalItem
from hopwright.evaluation.tool_judging import JUDGING, judge_episodes
from hopwright.evaluation.tool_runner import (
    EPISODE_SCHEMA,
    WITH_TOOLS,
    WITHOUT_TOOLS,
    ToolRunner,
    to_episode_table,
)
from hopwright.knowledge.documents.index import Retriever
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Request, parse_model
from hopwright.records.arrow import read_parquet
from hopwright.runs import Counts, RunFolder, ShardOutput, Stage, StageManifest
from hopwright.runs.manifest import ResourceUsage
from hopwright.settings import EvaluateRun, name_parameter
from hopwright.stages.evaluation_data import find_data, load_items, make_slug, write_over_answers
from hopwright.stages.models import ModelAccess, grant_access, open_models
from hopwright.stages.plan import StageEngine, StagePlan, gather_hashes
from hopwright.stages.workers import current_pool

_HEAD = "evaluate/tools"
REPORT = f"{_HEAD}/report"
_ASKED = ("limit", "max_tokens", "tools", "modes", "max_steps")
"""The parameters that decide what is asked with tools; a judge is asked about what has been played."""


@dataclass(frozen=True, slots=True)
class EpisodeShard:
    """Some items of a dataset, one model, and the corpus that it searches."""

    access: ModelAccess
    data: Path
    corpus: Path
    limit: int
    model: str
    modes: tuple[Mode, ...]
    max_steps: int
    max_tokens: int
    seed: int
    start: int
    count: int


def play_shard(spec: EpisodeShard) -> ShardOutput:
    """Play the episodes of the shard's items; every one ends as a row."""
    rows = _make_runner(spec).ask(_take(spec), open_models(spec.access))
    return ShardOutput(
        to_episode_table(rows),
        (),
        taken=len(rows),
        usage=ResourceUsage(
            input_tokens=sum(row.input_tokens for row in rows),
            output_tokens=sum(row.output_tokens for row in rows),
            cost_usd=sum(row.cost_usd for row in rows),
        ),
        figures={"right": sum(row.right for row in rows), "requests": len({key for row in rows for key in row.keys})},
    )


@dataclass(frozen=True, slots=True)
class JudgementShard:
    """A part of one model's episodes, and who judges their answers."""

    access: ModelAccess
    data: Path
    limit: int
    part: Path
    judge: str


def judge_shard(spec: JudgementShard) -> ShardOutput:
    """Have the answers of the part's episodes graded; every episode stays as a row."""
    items = load_items(spec.data, spec.limit).items
    judged = judge_episodes(
        read_parquet(spec.part, EPISODE_SCHEMA), items, parse_model(spec.judge), load_prompts()[JUDGING],
        open_models(spec.access).complete_all,
    )  # fmt: skip
    spent = judged.spent
    return ShardOutput(
        judged.table,
        (),
        taken=judged.table.num_rows,
        usage=ResourceUsage(
            input_tokens=spent.input_tokens, output_tokens=spent.output_tokens, cost_usd=spent.cost_usd
        ),
        figures={"asked": judged.asked, "failed": judged.failed, "requests": len(spent.keys)},
    )


def list_requests(spec: EpisodeShard) -> Iterator[Request | ApproximateRequest]:
    """About what a shard would ask, for an estimate; no judge."""
    return _make_runner(spec).list_requests(_take(spec))


def describe_tool_data(data: Path, corpus: Path, limit: int) -> dict[str, Any]:
    """What there is to ask about, and what is known of where it is stated.

    Raises InputError when there is nothing, or when the items cite what the corpus does not hold.
    """
    file = load_items(data, limit)
    retriever = _open(corpus)
    gold = GoldFinder(retriever)
    sources = [name_source(item, gold.make_task(item)) for item in file.items]
    prompts = load_prompts()
    return {
        "items": len(file.items),
        "factual": sum(item.variant == "factual" for item in file.items),
        "counterfactual": sum(item.variant == "counterfactual" for item in file.items),
        "gold": {name: sources.count(name) for name in ("cited", "aligned", "none")},
        "bad_rows": len(file.rejected),
        "first_bad_row": f"{file.rejected[0].key}: {file.rejected[0].reason}" if file.rejected else "",
        "hashes": {**file.hashes, "corpus": retriever.store.manifest.content},
        "prompts": {name: prompts[name].version for name in (WITH_TOOLS, WITHOUT_TOOLS)},
        "searched_with": retriever.describe(),
    }


def check_tool_data(data: Path, corpus: Path, limit: int) -> None:
    """Refuse what can be refused at once; `describe_tool_data` looks at every item.

    Raises InputError for no items, StoreError for a corpus without an index.
    """
    items = load_items(data, limit).items
    GoldFinder(_open(corpus)).make_task(items[0])


def make_tool_report(
    parts: list[Path], name: str, facts: tuple[tuple[str, str], ...], folder: Path, judged: bool
) -> dict[str, Any]:
    """Write the report over these episodes, `judged` or not; returns the leaderboard."""
    import polars as pl
    import pyarrow as pa

    from hopwright.evaluation.report import ReportHeader, render_report, write_report
    from hopwright.evaluation.tool_analysis import analyse_episodes, rank_models

    frame = pl.from_arrow(pa.concat_tables([read_parquet(part, EPISODE_SCHEMA) for part in parts]))
    assert isinstance(frame, pl.DataFrame)
    tables = analyse_episodes(frame, judged=judged)
    write_report(render_report(tables, ReportHeader(name, facts)), folder)
    return {"leaderboard": rank_models(tables)}


def find_corpus(run: RunFolder, parameters: EvaluateRun) -> Path:
    """The folder of the corpus that is searched: a path, or a name in Hopwright's home.

    Raises InputError where none is named.
    """
    wanted = parameters.evaluate
    if not wanted.corpus:
        raise InputError(f"no corpus to search: name one under {name_parameter('evaluate.corpus')}")
    path = Path(wanted.corpus).expanduser()
    named = run.home / "corpora" / wanted.corpus
    # What is no path is the name of a corpus, also where there is none of that name: the error says where it would be.
    return path.absolute() if len(path.parts) > 1 or (path.is_dir() and not named.is_dir()) else named


def plan_tools(run: RunFolder, parameters: EvaluateRun) -> list[StagePlan]:
    """One plan a model. Raises InputError for no model, no data or no corpus, StoreError for a corpus without index."""
    wanted = parameters.evaluate
    data, corpus = find_data(run, parameters), find_corpus(run, parameters)
    found = current_pool().run(describe_tool_data, data, corpus, wanted.limit)
    lacking = found["gold"]["none"]
    if set(wanted.modes) - {"search", "none"} and lacking:
        raise InputError(
            f"{lacking} of {found['items']} items have no gold passages in {corpus}: leave out all modes but search "
            f"and none"
        )
    # The judge is asked later; that it cannot be asked is told before anything is paid for.
    judges = [wanted.judge] if wanted.judge else []
    access = grant_access(run, parameters, [*wanted.models, *judges])
    asked = {name: getattr(wanted, name) for name in _ASKED}
    hashes, prompts = found.pop("hashes"), found.pop("prompts")
    return [
        StagePlan(
            name=f"{_HEAD}/{make_slug(model)}",
            unit="episodes",
            parameters={
                "seed": parameters.seed,
                "shard_size": parameters.shard_size,
                "evaluate": {**asked, "model": model},
                "prompts": prompts,
                "specifications": [tool.to_dict() for tool in TOOLS],
            },
            inputs=hashes,
            process=play_shard,
            specs=[
                EpisodeShard(
                    access=access,
                    data=data,
                    corpus=corpus,
                    limit=wanted.limit,
                    model=model,
                    modes=tuple(wanted.modes),
                    max_steps=wanted.max_steps,
                    max_tokens=wanted.max_tokens,
                    seed=parameters.seed,
                    start=start,
                    count=parameters.shard_size,
                )
                for start in range(0, found["items"], parameters.shard_size)
            ],
            notes={"model": model, "data": data.name, "corpus": corpus.name, **found},
            access=access,
            requests=list_requests,
        )
        for model in wanted.models
    ]


def plan_judging(run: RunFolder, parameters: EvaluateRun, played: StagePlan) -> StagePlan:
    """The judging of one model's episodes, which have been played; each judge has a folder of its own."""
    wanted = parameters.evaluate
    assert played.access is not None
    stage = Stage(run, played.name)
    model = played.notes["model"]
    return StagePlan(
        name=f"{_HEAD}/judged/{make_slug(wanted.judge)}/{make_slug(model)}",
        unit="episodes",
        parameters={
            "evaluate": {"judge": wanted.judge, "model": model},
            "prompts": {JUDGING: load_prompts()[JUDGING].version},
        },
        inputs={**played.inputs, **stage.output_hashes()},
        process=judge_shard,
        specs=[
            JudgementShard(played.access, find_data(run, parameters), wanted.limit, part, wanted.judge)
            for part in stage.parts()
        ],
        notes={"model": model, "judge": wanted.judge},
        access=played.access,
    )


def evaluate_with_tools(engine: StageEngine, parameters: EvaluateRun) -> StageManifest:
    """Play every model's episodes in turn, have them judged if wanted, then write the report over all of them."""
    run = engine.run
    plans = plan_tools(run, parameters)
    for plan in plans:
        engine.execute(plan, fresh=parameters.fresh)
    stages = [Stage(run, plan.name) for plan in plans]
    judged: list[Stage] = []
    if parameters.evaluate.judge:
        judged = [_judge(engine, plan_judging(run, parameters, plan), anew=parameters.fresh) for plan in plans]
    inputs = gather_hashes(judged or stages)
    report = StagePlan(name=REPORT, unit="episodes", parameters={"models": parameters.evaluate.models}, inputs=inputs)
    fill = functools.partial(_fill, engine, stages, judged, parameters)
    return write_over_answers(engine, report, fill, fresh=parameters.fresh)


def _judge(engine: StageEngine, plan: StagePlan, *, anew: bool) -> Stage:
    stage = Stage(engine.run, plan.name)
    found = stage.find()
    if found is not None and (anew or found.inputs != plan.inputs or found.parameters != plan.parameters):
        # Scores rest on nothing but answers: those of other episodes are made anew, and equal ones not paid for again.
        engine.run.remove(plan.name)
    engine.execute(plan)
    return stage


def _make_runner(spec: EpisodeShard) -> ToolRunner:
    return ToolRunner(
        parse_model(spec.model), load_prompts(), spec.modes, _open(spec.corpus), max_steps=spec.max_steps,
        max_tokens=spec.max_tokens, seed=spec.seed,
    )  # fmt: skip


def _take(spec: EpisodeShard) -> tuple[EvalItem, ...]:
    return load_items(spec.data, spec.limit).items[spec.start : spec.start + spec.count]


@functools.lru_cache(maxsize=2)
def _open(corpus: Path) -> Retriever:
    return Retriever.open(corpus)


def _fill(
    engine: StageEngine, stages: list[Stage], judged: list[Stage], parameters: EvaluateRun, stage: Stage
) -> StageManifest:
    manifests = [one.read() for one in stages]
    judgements = [one.read() for one in judged]
    first = manifests[0].notes
    gold = first["gold"]
    facts: dict[str, Any] = {
        "data": f"{first['data']}: {first['factual']:,} items, {first['counterfactual']:,} counterfactual twins",
        "corpus": f"{first['corpus']}, {first['searched_with']}",
        "gold passages": f"cited by {gold['cited']:,} items, found by alignment for {gold['aligned']:,}, unknown for "
        f"{gold['none']:,}",
        "models": ", ".join(parameters.evaluate.models),
        "asked": f"{sum(one.counts.out for one in manifests):,} episodes, "
        f"{sum(int(one.notes['requests']) for one in manifests):,} different requests",
        "cost": f"{sum(one.usage.cost_usd for one in (*manifests, *judgements)):,.4f} US dollars",
        "judge of answers": _describe_judging(parameters.evaluate.judge, judgements),
    }
    if first["bad_rows"]:
        facts["left out"] = f"{first['bad_rows']} rows that are not in the release format ({first['first_bad_row']})"
    folder = stage.folder / "files"
    parts = [part for one in judged or stages for part in one.parts()]
    figures = engine.step(
        "report", make_tool_report, parts, f"{stage.run.name}", tuple(facts.items()), folder, bool(judged)
    )
    taken = sum(one.counts.out for one in manifests)
    return stage.finish(
        counts=Counts(taken=taken, out=taken),
        outputs=[folder],
        notes={"folder": str(folder.relative_to(stage.run.home)), **figures},
    )


def _describe_judging(judge: str, judgements: list[StageManifest]) -> str:
    if not judgements:
        return "none"
    asked, failed, requests = (
        sum(int(one.notes[name]) for one in judgements) for name in ("asked", "failed", "requests")
    )
    return f"{judge}, asked about {asked:,} answers in {requests:,} requests; {failed:,} got no score"
