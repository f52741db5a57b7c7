"""The stage evaluate: a dataset → every model's answers, step by step → one report over all of them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopwright.errors import InputError
from hopwright.evaluation.evaluation_queries import (
    ANSWER_SCHEMA,
    EvaluationRunner,
    Form,
    Passages,
    Prompting,
    PromptSetting,
    Protocol,
    judge_answers,
    to_table,
)
from hopwright.evaluation.items import EvalItem
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Request, parse_model
from hopwright.records.arrow import read_parquet
from hopwright.runs import Counts, RunFolder, ShardOutput, Stage, StageManifest
from hopwright.runs.manifest import ResourceUsage
from hopwright.settings import EvaluateRun
from hopwright.stages.evaluate_tools import evaluate_with_tools, plan_tools
from hopwright.stages.evaluation_data import find_data, load_items, make_slug, write_over_answers
from hopwright.stages.models import ModelAccess, grant_access, open_models
from hopwright.stages.plan import StageEngine, StagePlan, StageSpec, gather_hashes, pick_parameters
from hopwright.stages.workers import current_pool

_HEAD = "evaluate"
REPORT = f"{_HEAD}/report"


@dataclass(frozen=True, slots=True)
class EvaluationShard:
    """Some items of a dataset, one model, and how it is asked."""

    access: ModelAccess
    data: Path
    limit: int
    model: str
    forms: tuple[Form, ...]
    promptings: tuple[Prompting, ...]
    protocols: tuple[Protocol, ...]
    passages: tuple[Passages, ...]
    sub_questions: bool
    judge: str
    max_tokens: int
    seed: int
    start: int
    count: int


def ask_shard(spec: EvaluationShard) -> ShardOutput:
    """Ask everything about the shard's items; every question ends as a row."""
    items = _take(spec)
    session = open_models(spec.access)
    answers = _interviewer(spec).ask(items, session.complete_all)
    if spec.judge:
        prompt = load_prompts()["judge-answer"]
        answers = judge_answers(answers, items, parse_model(spec.judge), prompt, session.complete_all)
    paid = {answer.key: answer for answer in answers}.values()
    return ShardOutput(
        to_table(answers),
        (),
        taken=len(answers),
        usage=ResourceUsage(
            input_tokens=sum(answer.input_tokens for answer in paid),
            output_tokens=sum(answer.output_tokens for answer in paid),
            cost_usd=sum(answer.cost_usd for answer in paid),
        ),
        figures={"right": sum(answer.right for answer in answers), "requests": len(paid)},
    )


def list_requests(spec: EvaluationShard) -> Iterator[Request | ApproximateRequest]:
    """What a shard would ask, for an estimate: chains as if every answer were right, no judge."""
    return _interviewer(spec).list_requests(_take(spec))


def describe_data(data: Path, limit: int) -> dict[str, Any]:
    """What there is to ask about. Raises InputError when there is nothing."""
    file = load_items(data, limit)
    return {
        "items": len(file.items),
        "factual": sum(item.variant == "factual" for item in file.items),
        "counterfactual": sum(item.variant == "counterfactual" for item in file.items),
        "with_passages": sum(bool(item.passages) for item in file.items),
        "bad_rows": len(file.rejected),
        "first_bad_row": f"{file.rejected[0].key}: {file.rejected[0].reason}" if file.rejected else "",
        "hashes": file.hashes,
        "prompts": {
            name: prompt.version
            for name, prompt in load_prompts().items()
            if name.startswith(("answer-", "judge-answer"))
        },
    }


def make_report(parts: list[Path], name: str, facts: tuple[tuple[str, str], ...], folder: Path) -> dict[str, Any]:
    """Write the report over these answers; returns the leaderboard."""
    import polars as pl
    import pyarrow as pa

    from hopwright.evaluation.analysis import analyse
    from hopwright.evaluation.report import ReportHeader, make_leaderboard, render_report, write_report

    table = pa.concat_tables([read_parquet(part, ANSWER_SCHEMA) for part in parts])
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    tables = analyse(frame)
    write_report(render_report(tables, ReportHeader(name, facts)), folder)
    return {"leaderboard": make_leaderboard(tables)}


def _interviewer(spec: EvaluationShard) -> EvaluationRunner:
    settings = [
        PromptSetting(form, prompting, passages, helped)
        for form in spec.forms
        for prompting in spec.promptings
        for passages in spec.passages
        for helped in ((False, True) if spec.sub_questions else (False,))
    ]
    return EvaluationRunner(
        parse_model(spec.model),
        load_prompts(),
        settings,
        spec.protocols,
        context=load_items(spec.data, spec.limit).items,
        seed=spec.seed,
        max_tokens=spec.max_tokens,
    )


def _take(spec: EvaluationShard) -> tuple[EvalItem, ...]:
    return load_items(spec.data, spec.limit).items[spec.start : spec.start + spec.count]


def plan_evaluation(run: RunFolder, parameters: EvaluateRun) -> list[StagePlan]:
    """One plan a model, with tools or without.

    Raises InputError for no model, no data, or passages that the data does not have.
    """
    wanted = parameters.evaluate
    if wanted.tools:
        return plan_tools(run, parameters)
    data = find_data(run, parameters)
    found = current_pool().run(describe_data, data, wanted.limit)
    if "own" in wanted.passages and found["with_passages"] < found["items"]:
        lacking = found["items"] - found["with_passages"]
        raise InputError(f"{data}: {lacking} of {found['items']} items have no passages: leave out the passages 'own'")
    judges = [wanted.judge] if wanted.judge else []
    access = grant_access(run, parameters, [*wanted.models, *judges])
    picked = pick_parameters(parameters, "shard_size", "evaluate")
    others = ("models", "tools", "corpus", "modes", "max_steps")
    shared = {name: value for name, value in dict(picked["evaluate"]).items() if name not in others}  # type: ignore[call-overload]
    hashes, prompts = found.pop("hashes"), found.pop("prompts")
    return [
        StagePlan(
            name=f"{_HEAD}/{make_slug(model)}",
            unit="questions",
            parameters={**picked, "evaluate": {**shared, "model": model}, "prompts": prompts},
            inputs=hashes,
            process=ask_shard,
            specs=[
                EvaluationShard(
                    access=access,
                    data=data,
                    limit=wanted.limit,
                    model=model,
                    forms=tuple(wanted.forms),
                    promptings=tuple(wanted.promptings),
                    protocols=tuple(wanted.protocols),
                    passages=tuple(wanted.passages),
                    sub_questions=wanted.sub_questions,
                    judge=wanted.judge,
                    max_tokens=wanted.max_tokens,
                    seed=parameters.seed,
                    start=start,
                    count=parameters.shard_size,
                )
                for start in range(0, found["items"], parameters.shard_size)
            ],
            notes={"model": model, "data": data.name, **found},
            access=access,
            requests=list_requests,
        )
        for model in wanted.models
    ]


def evaluate_models(engine: StageEngine, parameters: EvaluateRun) -> StageManifest:
    """Ask every model in turn, then write the report over all of them."""
    if parameters.evaluate.tools:
        return evaluate_with_tools(engine, parameters)
    run = engine.run
    plans = plan_evaluation(run, parameters)
    for plan in plans:
        engine.execute(plan, fresh=parameters.fresh)
    stages = [Stage(run, plan.name) for plan in plans]
    models, inputs = parameters.evaluate.models, gather_hashes(stages)
    report = StagePlan(name=REPORT, unit="questions", parameters={"models": models}, inputs=inputs)
    fill = functools.partial(_fill, engine, stages, parameters)
    return write_over_answers(engine, report, fill, fresh=parameters.fresh)


def _fill(engine: StageEngine, stages: list[Stage], parameters: EvaluateRun, stage: Stage) -> StageManifest:
    manifests = [one.read() for one in stages]
    first = manifests[0].notes
    facts: dict[str, Any] = {
        "data": f"{first['data']}: {first['factual']:,} items, {first['counterfactual']:,} counterfactual twins",
        "models": ", ".join(parameters.evaluate.models),
        "asked": f"{sum(one.counts.out for one in manifests):,} questions, "
        f"{sum(int(one.notes['requests']) for one in manifests):,} different requests",
        "cost": f"{sum(one.usage.cost_usd for one in manifests):,.4f} US dollars",
        "judge of free answers": parameters.evaluate.judge or "none",
    }
    if first["bad_rows"]:
        facts["left out"] = f"{first['bad_rows']} rows that are not in the release format ({first['first_bad_row']})"
    folder = stage.folder / "files"
    figures = engine.step(
        "report",
        make_report,
        [part for one in stages for part in one.parts()],
        f"{stage.run.name}",
        tuple(facts.items()),
        folder,
    )
    taken = sum(one.counts.out for one in manifests)
    return stage.finish(
        counts=Counts(taken=taken, out=taken),
        outputs=[folder],
        notes={"folder": str(folder.relative_to(stage.run.home)), **figures},
    )


STAGE = StageSpec(
    name=_HEAD,
    parameters=EvaluateRun,
    needs=(),
    steps=(),
)
