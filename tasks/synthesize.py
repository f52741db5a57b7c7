"""Anchors → drafts (planned, worded, checked) → the selection over all of them."""

from __future__ import annotations

from hopwright.errors import InputError
from hopwright.runs import RunFolder, Stage
from hopwright.settings import SynthesizeRun
from tasks.engine import pick_parameters
from tasks.steps import StagePlan, run_step
from tasks.work.resources import find_store
from tasks.work.synthesize import DraftSlots, draft_slots, keep_selected, select_drafts

DRAFTS = "synthesize/drafts"


def plan_drafts(run: RunFolder, parameters: SynthesizeRun) -> StagePlan:
    """Cut the draft slots into shards. Raises InputError when no anchor is there to start a chain from."""
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
    return StagePlan(
        name=DRAFTS,
        unit="draft slots",
        parameters=pick_parameters(parameters, "shard_size", "synthesize"),
        inputs=retrieve.output_hashes(),
        process=draft_slots,
        specs=[
            DraftSlots(
                store=store,
                anchors=anchors,
                seed=parameters.seed,
                topologies=tuple(wanted.topologies),
                min_domains=wanted.min_domains,
                start=start,
                count=min(parameters.shard_size, wanted.drafts - start),
            )
            for start in range(0, wanted.drafts, parameters.shard_size)
        ],
    )


def plan_selection(run: RunFolder, parameters: SynthesizeRun) -> StagePlan:
    """Decide over all drafts what is dropped, and give every part its share of the decision."""
    drafts = Stage(run, DRAFTS)
    return StagePlan(
        name="synthesize",
        unit="drafts",
        parameters=pick_parameters(parameters, "shard_size", "synthesize"),
        inputs=drafts.output_hashes(),
        process=keep_selected,
        specs=run_step("select", select_drafts, drafts.parts(), parameters.synthesize.max_answer_share),
    )
