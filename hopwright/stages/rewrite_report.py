"""The report of the rewrite stage, from its finished files."""

from __future__ import annotations

import functools
import hashlib
import heapq
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopwright.counterfactual.report import (
    MemoryTable,
    RewriteExample,
    RewriteReport,
    as_json,
    draw_distributions,
    render,
)
from hopwright.counterfactual.twin_verification import verify_twins
from hopwright.difficulty.endpoints import EndpointVoter, RequestStyle
from hopwright.difficulty.memory import measure_memory
from hopwright.difficulty.shortcuts import shortcut_voters
from hopwright.difficulty.voters import Voter
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.llm.types import parse_model
from hopwright.records import Item
from hopwright.records.arrow import ItemKey, read_columns, read_items
from hopwright.runs import Counts, Stage, StageManifest, write_file
from hopwright.settings import RewriteRun
from hopwright.stages.models import open_models
from hopwright.stages.plan import StageEngine, StagePlan, pick_parameters
from hopwright.stages.resources import open_graph
from hopwright.stages.rewrite import DRAFTS, PASSAGES
from hopwright.stages.rewrite_context import RewriteContext, make_rewrite_context

REPORT = "rewrite/report"

_EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class RewriteReportSources:
    """The parts of the three sub-stages, and what their manifests count."""

    items: tuple[Path, ...]
    drafts: tuple[Path, ...]
    twins: tuple[Path, ...]
    taken: int
    rejected: dict[str, int]
    figures: dict[str, int]
    passages: dict[str, int]
    translator: str
    translator_skipped: str


def write_report(sources: RewriteReportSources, context: RewriteContext, folder: Path) -> dict[str, Any]:
    """Write report.md, report.json and the plot; returns a few figures and the files' names."""
    proof = verify_twins(_read_all(sources.twins), open_graph(context.store), default_table())
    report = RewriteReport(
        items=sources.taken,
        twins=proof.twins,
        rejected=sources.rejected,
        figures=sources.figures,
        passages=sources.passages,
        translator=sources.translator,
        translator_skipped=sources.translator_skipped,
        proof=proof,
        memory=_ask_voters(sources, context) if proof.twins and context.wanted.memory_items else None,
        examples=_find_examples(sources, context.seed),
    )
    write_file(folder / "report.json", json.dumps(as_json(report), indent=2, ensure_ascii=False).encode() + b"\n")
    write_file(folder / "report.md", render(report).encode())
    drawn = draw_distributions(sources.figures, folder / "distributions.png")
    memory = report.memory
    return {
        "files": ["report.json", "report.md", *(["distributions.png"] if drawn else [])],
        "twins": proof.twins,
        "proof_holds": proof.holds,
        "memory_gap": "" if memory is None or not memory.remembers else memory.overall[0],
    }


def report_rewrite(engine: StageEngine, parameters: RewriteRun) -> StageManifest:
    """Prove the finished twins, ask the voters, and write it all down."""
    run = engine.run
    items, drafts, twins = (Stage(run, name) for name in (PASSAGES, DRAFTS, "rewrite"))
    made = twins.read()
    sources = RewriteReportSources(
        items=tuple(items.parts()),
        drafts=tuple(drafts.parts()),
        twins=tuple(twins.parts()),
        taken=made.counts.taken,
        rejected=dict(made.counts.rejected),
        figures={name: value for name, value in made.notes.items() if isinstance(value, int)},
        passages={name: value for name, value in items.read().notes.items() if isinstance(value, int)},
        translator=str(made.notes.get("back_translation", "")),
        translator_skipped=str(made.notes.get("back_translation_skipped", "")),
    )
    plan = StagePlan(
        name=REPORT,
        unit="twins",
        parameters=pick_parameters(parameters, "rewrite"),
        inputs={**items.output_hashes(), **twins.output_hashes()},
    )
    context = make_rewrite_context(run, parameters)
    return engine.write(plan, functools.partial(_write, engine, sources, context))


def _write(engine: StageEngine, sources: RewriteReportSources, context: RewriteContext, stage: Stage) -> StageManifest:
    """Make the report's files in a worker process, and finish its stage."""
    figures: dict[str, Any] = engine.step("report", write_report, sources, context, stage.folder)
    files = [stage.folder / name for name in figures.pop("files")]
    twins = int(figures["twins"])
    return stage.finish(counts=Counts(taken=twins, out=twins), outputs=files, notes=figures)


def _ask_voters(sources: RewriteReportSources, context: RewriteContext) -> MemoryTable:
    pairs = _draw_pairs(sources, context)
    models = context.wanted.memory_voters
    voters: list[Voter]
    if models:
        assert context.access is not None
        session = open_models(context.access)
        voters = [EndpointVoter(model, parse_model(model), session, RequestStyle(logprobs=False)) for model in models]
    else:
        voters = list(shortcut_voters(open_graph(context.store), default_table(), seed=context.seed))
    found = measure_memory(voters, pairs, seed=context.seed)
    return MemoryTable(
        pairs=len(pairs),
        voters={name: (*found.accuracy[name], *gap) for name, gap in found.gaps.items()},
        overall=found.overall,
        by_pair=[(row.item, row.twin, round(row.gap, 4)) for row in found.pairs],
        remembers=bool(models),
    )


def _draw_pairs(sources: RewriteReportSources, context: RewriteContext) -> list[tuple[Item, Item]]:
    """Originals with their twins, drawn evenly by a keyed hash, in the order of their ids."""
    originals = (original for part in sources.twins for (original,) in read_columns(part, "twin"))
    chosen = heapq.nsmallest(context.wanted.memory_items, originals, key=lambda id: _shuffle(f"{context.seed}:{id}"))
    by_item = {twin.twin: twin for twin in _read_all(sources.twins, chosen, "twin")}
    items = _read_all(sources.items, chosen)
    return sorted(((item, by_item[item.id]) for item in items), key=lambda pair: pair[0].id)


def _find_examples(sources: RewriteReportSources, seed: int) -> list[RewriteExample]:
    """Ten questions through the stages, drawn among those that were reworded."""
    reworded = (
        (id, original)
        for part in sources.twins
        for id, original, checks in read_columns(part, "id", "twin", "checks")
        if any(check["name"] == "back_translation" and check["outcome"] == "pass" for check in checks)
    )
    drawn = heapq.nsmallest(_EXAMPLES, reworded, key=lambda pair: _shuffle(f"{seed}:{pair[0]}"))
    chosen = [original for _, original in drawn]
    before = {item.id: item.question for item in _read_all(sources.items, chosen)}
    drafts = {draft.twin: draft.question for draft in _read_all(sources.drafts, chosen, "twin")}
    after = {twin.twin: twin.question for twin in _read_all(sources.twins, chosen, "twin")}
    return [RewriteExample(before[id], drafts.get(id, ""), after[id]) for id in chosen if id in before]


def _read_all(parts: Sequence[Path], only: Collection[str] | None = None, by: ItemKey = "id") -> Iterator[Item]:
    for part in parts:
        yield from read_items(part, only, by)


def _shuffle(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=8).digest()
