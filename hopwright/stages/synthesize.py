"""The stage synthesize: anchors → drafts by rules, checked → the selection over all → a model's words, if asked.

Money is spent late: a model sees only drafts that have passed everything else. Where a number of items is asked for,
rounds of drafts and of wording follow each other until it is reached; every round is a stage of its own and is decided
by the finished ones before it, so that a run that is continued decides alike.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopwright.errors import InputError
from hopwright.knowledge.external.bank import format_bank, hash_bank, read_bank
from hopwright.planning.target_counter import list_missed, read_targets
from hopwright.records import Claim
from hopwright.reporting.yield_report import gather_yield, list_bars, render_yield
from hopwright.runs import RunFolder, Stage, StageManifest, read_report, rejected_path, write_file
from hopwright.runs.files import hash_file
from hopwright.settings import BuildParameters, SynthesizeParameters, SynthesizeRun
from hopwright.stages.drafting import DraftSlots, draft_slots, read_target_distribution, write_target_distribution
from hopwright.stages.models import grant_access
from hopwright.stages.objections import gather_objections, read_objections, write_objections
from hopwright.stages.plan import (
    StageEngine,
    StagePlan,
    StageSpec,
    StageStep,
    gather_hashes,
    is_finished,
    pick_parameters,
)
from hopwright.stages.resources import find_store
from hopwright.stages.selection import (
    SelectionPart,
    SelectionSurvey,
    WordingState,
    keep_selected,
    read_wordings,
    survey_drafts,
)
from hopwright.stages.wording import WordingShard, check_models, list_requests, word_drafts
from hopwright.stages.workers import current_pool
from hopwright.text.embeddings import name_model

DRAFTS = "synthesize/drafts"
WORDED = "synthesize/worded"
_PER_ITEM = 4
"""Slots drawn at first for each item that is asked for."""
_LEAST_YIELD = 0.02
"""A round of drafts that gives fewer new ones per slot shows that the corpus has little more to give."""
_MOST_PARTS = 8
"""Into so many parts are all makers of works cut, so that shards do not draw the same plans; of fewer makers too little
could be asked."""
_MORE = 1.2
_MOST_ROUNDS = 100


@dataclass
class _SynthesisProgress:
    """How far a synthesis is: its stages so far, and what they gave."""

    drafts: list[Stage] = field(default_factory=list)
    worded: list[Stage] = field(default_factory=list)
    survey: SelectionSurvey = field(default_factory=lambda: SelectionSurvey((), ()))
    wordings: WordingState = field(default_factory=lambda: WordingState({}, {}))
    slots: int = 0
    exhausted: bool = False


def run_synthesis_rounds(engine: StageEngine, parameters: SynthesizeRun) -> StageManifest:
    """Draft, select, have worded, until the items asked for are there or no more can be had.

    Raises InputError when no anchor is there to start a chain from, or a model cannot be asked as it was named.
    """
    run, wanted = engine.run, parameters.synthesize
    if wanted.writer != "rules":
        check_models(wanted, grant_access(run, parameters, wanted.list_models()))
    state = _SynthesisProgress()
    draw_drafts(engine, parameters, state, _first_slots(parameters))
    for _ in range(_MOST_ROUNDS):
        ready = list(state.survey.kept())
        have = len(ready) if wanted.writer == "rules" else len(state.wordings.accepted)
        tried = state.wordings.accepted.keys() | state.wordings.rejected.keys()
        untried = [one for one in ready if one[2] not in tried]
        missing = wanted.items - have if wanted.items else len(untried)
        if missing <= 0 or (wanted.writer == "rules" and not wanted.items):
            break
        spare = len(untried) if wanted.writer != "rules" else 0
        if wanted.items and spare < missing and not state.exhausted:
            draw_drafts(engine, parameters, state, _more_slots(parameters, state, missing - spare))
        elif wanted.writer != "rules" and untried:
            word_selected_drafts(engine, parameters, state, untried[:missing])
        else:
            break
    manifest = engine.execute(plan_selection(run, parameters, state))
    names = [[stage.name for stage in stages] for stages in (state.drafts, state.worded)]
    engine.step("yield", write_yield, run.home, run.name, *names, manifest.stage)
    return manifest


def draw_drafts(engine: StageEngine, parameters: SynthesizeRun, state: _SynthesisProgress, count: int) -> None:
    """One round of drafts, and the selection over all of them."""
    run, first = engine.run, not state.drafts
    plan = plan_drafts(run, parameters, len(state.drafts) + 1, state.slots, count)
    engine.execute(plan, fresh=parameters.fresh and first)
    before = sum(1 for _ in state.survey.kept())
    state.drafts.append(Stage(run, plan.name))
    state.slots += count
    wanted = parameters.synthesize
    parts = [part for stage in state.drafts for part in stage.parts()]
    state.survey = engine.step("select", survey_drafts, parts, wanted)
    gained = sum(1 for _ in state.survey.kept()) - before
    state.exhausted = gained < _LEAST_YIELD * count


def word_selected_drafts(
    engine: StageEngine, parameters: SynthesizeRun, state: _SynthesisProgress, chosen: Sequence[tuple[int, int, str]]
) -> None:
    """One round of wording: these drafts go to the model."""
    plan = plan_wording(engine.run, parameters, state, chosen)
    engine.execute(plan)
    state.worded.append(Stage(engine.run, plan.name))
    pairs = [
        (part, rejected_path(stage.folder, index)) for stage in state.worded for index, part in enumerate(stage.parts())
    ]
    state.wordings = engine.step("read wordings", read_wordings, pairs)


def plan_drafts(
    run: RunFolder, parameters: SynthesizeRun, number: int = 1, start: int = 0, count: int | None = None
) -> StagePlan:
    """Cut the draft slots of a round into shards. Raises InputError when no anchor is there to start a chain from."""
    count = parameters.synthesize.drafts if count is None else count
    retrieve = Stage(run, "retrieve")
    found = retrieve.read().counts
    if not found.out:
        raise InputError(
            f"none of the {found.taken:,} anchor questions could be linked to the graph; "
            f"{retrieve.folder / 'rejected'} says why, one by one"
        )
    anchors = tuple(retrieve.parts())
    store = find_store(run)
    wanted = parameters.synthesize
    model = name_model(wanted.embeddings)
    claims = read_claims(wanted)
    bank = format_bank(claims)
    starts = range(start, start + count, parameters.shard_size)
    parts = min(len(starts), _MOST_PARTS)
    return StagePlan(
        name=_number(DRAFTS, number),
        unit="draft slots",
        parameters=_identify(parameters),
        # What is installed decides what "auto" comes to, so it is an input like any other.
        inputs=retrieve.output_hashes()
        | ({"embeddings": model} if model else {})
        | ({"claims": hash_bank(claims)} if claims else {}),
        process=draft_slots,
        specs=[
            DraftSlots(
                store=store,
                anchors=anchors,
                seed=parameters.seed,
                distribution=write_target_distribution(wanted),
                start=begin,
                count=min(parameters.shard_size, start + count - begin),
                embeddings=model,
                claims=bank,
                part=(place % parts, parts),
            )
            for place, begin in enumerate(starts)
        ],
    )


def plan_wording(
    run: RunFolder, parameters: SynthesizeRun, state: _SynthesisProgress, chosen: Sequence[tuple[int, int, str]]
) -> StagePlan:
    """Cut the drafts that a model is to word into shards."""
    wanted = parameters.synthesize
    access = grant_access(run, parameters, wanted.list_models())
    parts = [part for stage in state.drafts for part in stage.parts()]
    store = find_store(run)
    claims = format_bank(read_claims(wanted))
    name = _number(WORDED, len(state.worded) + 1)
    specs = []
    for batch in _cut(chosen, parameters.shard_size):
        rows = tuple(
            (parts[part], tuple(row for _, row, _ in group))
            for part, group in itertools.groupby(batch, key=lambda one: one[0])
        )
        specs.append(WordingShard(store, parameters.seed, wanted, rows, access, name_model(wanted.embeddings), claims))
    return StagePlan(
        name=name,
        unit="drafts",
        parameters=_identify(parameters),
        inputs=gather_hashes([*state.drafts, *state.worded]) | _hash_objections(wanted),
        process=word_drafts,
        specs=specs,
        access=access,
        requests=list_requests,
    )


def read_claims(wanted: SynthesizeParameters) -> tuple[Claim, ...]:
    """The bank of claims that plans may rest on; empty without one. Raises InputError for one that cannot be used."""
    file = wanted.claims_file()
    return read_bank(file) if file is not None and wanted.claim_share else ()


def describe_targets(parameters: SynthesizeRun, drafts: Sequence[Stage]) -> dict[str, Any]:
    """What share of the drafted plans meets each target, and for each that is missed, where planning failed."""
    figures = Counter[str]()
    for stage in drafts:
        figures.update({name: count for name, count in stage.read().notes.items() if isinstance(count, int)})
    targets = read_targets(figures, read_target_distribution(write_target_distribution(parameters.synthesize)))
    shares: dict[str, dict[str, dict[str, float]]] = {}
    for one in targets:
        shares.setdefault(one.dimension, {})[one.name] = {
            "wanted": round(one.wanted, 4),
            "reached": round(one.reached, 4),
        }
    return {"targets": shares, "targets_missed": list_missed(targets)}


def plan_selection(run: RunFolder, parameters: SynthesizeRun, state: _SynthesisProgress) -> StagePlan:
    """Give every part of drafts its share of the decisions: what is dropped and why, and where new words are."""
    wanted = parameters.synthesize
    modelled = bool(state.worded)
    parts = [part for stage in state.drafts for part in stage.parts()]
    dropped = [dict(one) for one in state.survey.dropped]
    worded: list[dict[int, Any]] = [{} for _ in parts]
    kept = 0
    for part, row, id in state.survey.kept():
        if modelled and id in state.wordings.rejected:
            dropped[part][row] = state.wordings.rejected[id]
        elif (modelled and id not in state.wordings.accepted) or (wanted.items and kept >= wanted.items):
            dropped[part][row] = ("surplus", f"{wanted.items:,} items were asked for")
        else:
            kept += 1
            if modelled:
                worded[part][row] = state.wordings.accepted[id]
    notes: dict[str, Any] = describe_targets(parameters, state.drafts)
    if wanted.items:
        notes |= {"asked_for": wanted.items, "missing": wanted.items - kept}
        if kept < wanted.items:
            notes["missing_because"] = _explain_missing(state)
    return StagePlan(
        name="synthesize",
        unit="drafts",
        parameters=_identify(parameters),
        inputs=gather_hashes([*state.drafts, *state.worded]) | _hash_objections(wanted),
        process=keep_selected,
        specs=[SelectionPart(*one) for one in zip(parts, dropped, worded, strict=True)],
        notes=notes,
    )


def plan_wording_estimate(run: RunFolder, parameters: SynthesizeRun) -> StagePlan:
    """What follows the first round of drafts, for a rehearsal: all of them worded by the model, or else selected."""
    wanted = parameters.synthesize
    state = _SynthesisProgress(drafts=[Stage(run, DRAFTS)])
    state.survey = current_pool().run(survey_drafts, state.drafts[0].parts(), wanted)
    if wanted.model:
        return plan_wording(run, parameters, state, list(state.survey.kept()))
    return plan_selection(run, parameters, state)


def count_kept(plan: StagePlan) -> int:
    """How many drafts a plan of `plan_wording_estimate` keeps."""
    if plan.requests is not None:
        return sum(len(rows) for spec in plan.specs for _, rows in spec.rows)
    return sum(
        read_report(spec.part.parent, index).counts.out - len(spec.dropped) for index, spec in enumerate(plan.specs)
    )


def _explain_missing(state: _SynthesisProgress) -> dict[str, int]:
    """What ate the drafts, by check, most first; the slots without a draft count too."""
    eaten = Counter[str]()
    for stage in state.drafts:
        eaten.update(stage.read().counts.rejected)
    for dropped in state.survey.dropped:
        eaten.update(check for check, _ in dropped.values())
    eaten.update(check for check, _ in state.wordings.rejected.values())
    return dict(eaten.most_common())


def _first_slots(parameters: SynthesizeRun) -> int:
    wanted = parameters.synthesize
    if not wanted.items:
        return wanted.drafts
    return min(wanted.drafts, max(parameters.shard_size, _round_up(_PER_ITEM * wanted.items, parameters.shard_size)))


def _more_slots(parameters: SynthesizeRun, state: _SynthesisProgress, missing: int) -> int:
    """As many slots as should give what is missing, by the yield so far; at most as many as there were."""
    gained = sum(1 for _ in state.survey.kept()) / state.slots
    count = _round_up(math.ceil(_MORE * missing / max(gained, _LEAST_YIELD)), parameters.shard_size)
    return min(count, max(parameters.shard_size, _round_up(state.slots, parameters.shard_size)))


def _identify(parameters: SynthesizeRun) -> dict[str, object]:
    return pick_parameters(parameters, "shard_size", "synthesize")


def _hash_objections(wanted: SynthesizeParameters) -> dict[str, str]:
    file = wanted.objections_file()
    return {"objections": hash_file(file)} if file is not None else {}


def _round_up(count: int, step: int) -> int:
    return -(-count // step) * step


def _cut(rows: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _number(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"


def write_yield(home: Path, name: str, drafts: list[str], worded: list[str], final: str) -> dict[str, Any]:
    """Gather the report from these finished stages and write it as JSON, Markdown and plot; returns the JSON."""
    from hopwright.release.plots import Bar, draw_bars

    run = RunFolder(home, name)
    stage = Stage(run, final)
    rounds = [Stage(run, one) for one in worded]
    objections = gather_objections(rounds)
    objected = {one.frame: {"sent": one.sent, **one.kinds} for one in objections.frames}
    report = gather_yield([Stage(run, one) for one in drafts], rounds, stage).model_copy(update={"objected": objected})
    folder = yield_folder(stage)
    write_objections(objections, folder)
    values = report.to_dict()
    write_file(folder / "yield.json", json.dumps(values, indent=2, ensure_ascii=False).encode() + b"\n")
    write_file(folder / "yield.md", render_yield(report).encode())
    bars = [Bar(f"{step}: {check}", count, "", step) for step, check, count in list_bars(report)]
    title = f"Rows rejected on the way to {report.accepted:,} items, by step and check"
    draw_bars(title, "rows", bars, folder / "yield.png")
    return values


def yield_folder(final: Stage) -> Path:
    """Where a synthesis leaves its yield report."""
    return final.folder / "yield"


def read_yield(run: RunFolder) -> dict[str, Any]:
    """Return the yield report of a finished synthesis; empty where an earlier version made it without one."""
    path = yield_folder(Stage(run, "synthesize")) / "yield.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def list_models(parameters: BuildParameters) -> list[str]:
    """Return the models that a whole run would have the stage ask at endpoints."""
    wanted = parameters.synthesize
    return list(wanted.list_models()) if wanted.writer != "rules" else []


def _check(run: RunFolder, parameters: BuildParameters) -> None:
    """Look at the bank of claims and the table of objections before the first stage is run."""
    if not is_finished(run, "synthesize"):
        read_claims(parameters.synthesize)
        if (file := parameters.synthesize.objections_file()) is not None:
            read_objections(file)


STAGE = StageSpec(
    name="synthesize",
    parameters=SynthesizeRun,
    needs=("retrieve",),
    steps=(
        StageStep(DRAFTS, "plans", "plans drawn and worded", draft_slots),
        StageStep("synthesize", "drafts", "drafts selected", keep_selected),
    ),
    models=list_models,
    check=_check,
)
