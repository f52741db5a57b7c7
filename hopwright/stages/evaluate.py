"""Asking one model about a shard of items, and the report over everything that was answered."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from hopwright.evaluation.items import EvalFile, EvalItem, read_items
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Request, parse_model
from hopwright.records.arrow import read_parquet
from hopwright.runs import ShardOutput
from hopwright.runs.manifest import ResourceUsage
from hopwright.stages.models import ModelAccess, open_models


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
    file = _load(data, limit)
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
        context=_load(spec.data, spec.limit).items,
        seed=spec.seed,
        max_tokens=spec.max_tokens,
    )


def _take(spec: EvaluationShard) -> tuple[EvalItem, ...]:
    return _load(spec.data, spec.limit).items[spec.start : spec.start + spec.count]


@functools.lru_cache(maxsize=2)
def _load(data: Path, limit: int) -> EvalFile:
    return read_items(data, limit)
