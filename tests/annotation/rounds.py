"""A run under review without a build before it, and simulated annotators who work through a server's own API."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annotation.contradictions import LEAST_RETAINED
from annotation.corrections import apply_corrections, recheck
from annotation.files import read_tasks
from annotation.ledger import Ledger, ledger_path
from annotation.push import push_folder
from annotation.schema import FIX_QUESTION, REVIEWED, GoldItem, ReviewTaskKind, split_key
from annotation.server import open_server
from annotation.stages.review import SampleRequest, write_sample
from hopwright.checks import CheckContext
from hopwright.records import Item
from hopwright.records.arrow import items_to_table
from hopwright.runs import RunFolder, ShardOutput, Stage
from tests.annotation.reviews import choose, rate, write
from tests.annotation.simulated import Annotator, Given, Job, draw_truth, hand_out, review
from tests.stage_runs import run_stage

WORDINGS: tuple[Callable[[str], str], ...] = (
    lambda text: text.replace("What is", "What, then, is", 1),
    lambda text: text.replace("Which", "Exactly which", 1),
    lambda text: text.replace("How many", "Exactly how many", 1),
    lambda text: text.replace("In what year", "In which year", 1),
    lambda text: text.replace("Who", "Who exactly", 1),
)
"""Harmless rewordings; one that the checks object to is not used."""


def make_run(
    home: Path, store: Path, items: Sequence[Item], twins: Sequence[Item] = (), name: str = "review", **options: Any
) -> RunFolder:
    """A run whose stages hold these items, exported for review; `options` are those of `SampleRequest`."""
    run = RunFolder(home, name)
    with run.hold():
        run.begin({})
        retrieved = Stage(run, "retrieve")
        retrieved.begin({})
        retrieved.finish(notes={"store": str(store)})
        run_stage(Stage(run, "synthesize/drafts"), [()], _put, parameters={"synthesize": {"min_domains": 2}})
        run_stage(Stage(run, "filter"), [tuple(items)], _put, parameters={})
        run_stage(Stage(run, "rewrite"), [tuple(twins)], _put, parameters={})
    request = SampleRequest(
        parts=tuple(Stage(run, "filter").parts()),
        twins=tuple(Stage(run, "rewrite").parts()),
        count=len(items),
        seed=0,
        folder=run.path / "review" / "tasks",
        kinds=("single_hop", "multi_hop", "twin"),
        overlap=2,
        agreement_overlap=2,
        agreement_items=0,
        gold_share=0.0,
    )
    write_sample(replace(request, **options))
    return run


def push_run(run: RunFolder, url: str, token: str) -> Ledger:
    """Push the run's tasks; returns the ledger."""
    with open_server(url, token) as server:
        push_folder(run.path / "review" / "tasks", server, run.path)
    return Ledger(ledger_path(run.path, url))


@dataclass(frozen=True)
class Work:
    """One annotator's task and what he gave."""

    job: Job
    given: Given


def plan_work(
    units: Iterable[tuple[str, ReviewTaskKind, int | None]],
    gold: Iterable[GoldItem],
    annotators: Sequence[Annotator],
    items: Mapping[str, Item],
    context: CheckContext,
) -> list[Work]:
    """What everybody gives: each item's tasks to two people, gold to everybody; who says Fix rewords the question.

    Where no rewording holds, a Fix becomes a Retain.
    """
    planted = list(gold)
    taken = {(one.item_id, one.kind, one.hop) for one in planted}
    jobs = list(hand_out([unit for unit in units if unit not in taken], annotators, 2))
    jobs += [Job(who, one.item_id, one.kind, one.hop, gold=one) for one in planted for who in annotators]
    return [Work(job, _decide(job, items, context)) for job in jobs]


def order_work(work: Iterable[Work]) -> dict[str, list[Work]]:
    """Annotator → what he gives, in the order in which he gets it; planted faults lie among the rest."""
    found: dict[str, list[Work]] = {}
    for one in sorted(work, key=_find_moment):
        found.setdefault(one.job.annotator.name, []).append(one)
    return found


def list_units(run: RunFolder) -> list[tuple[str, ReviewTaskKind, int | None]]:
    """What a run's tasks ask about, in the order of the files."""
    folder = run.path / "review" / "tasks"
    return [
        (task["data"]["item_id"], kind, task["data"].get("hop"))
        for kind in REVIEWED
        for task in read_tasks(folder, kind)
    ]


def answers(given: Given) -> list[dict[str, Any]]:
    """What the page would send."""
    sent = [choose("verdict", given.verdict)]
    sent += [choose("errors", *given.errors)] if given.errors else []
    sent += [rate(name, value) for name, value in given.scores.items()]
    return sent + [write(name, text) for name, text in given.fixes.items()]


def find_task(ledger: Ledger, job: Job) -> int:
    """The number of a job's task on the server."""
    for project in ledger.projects():
        for entry in ledger.entries(project).values():
            if entry.kind is job.kind and split_key(entry.key) == (job.item_id, job.hop):
                return entry.task
    raise AssertionError(f"{job.item_id} was not pushed")


def reword(item: Item, kind: ReviewTaskKind, hop: int | None, context: CheckContext) -> str:
    """Another wording of a question that all checks let pass; empty when there is none."""
    text = item.question if kind is not ReviewTaskKind.SINGLE_HOP else item.hops[(hop or 0) - 1].question
    for wording in WORDINGS:
        new = wording(text)
        if new != text:
            corrected = apply_corrections(item, hop if kind is ReviewTaskKind.SINGLE_HOP else None, {FIX_QUESTION: new})
            if not recheck(item, corrected, context).problem:
                return new
    return ""


def _decide(job: Job, items: Mapping[str, Item], context: CheckContext) -> Given:
    given = review(job, draw_truth(job.item_id, job.kind, job.hop))
    if given.verdict == "Fix" and job.gold is None:
        text = reword(items[job.item_id], job.kind, job.hop, context)
        if text:
            return replace(given, fixes={FIX_QUESTION: text})
        given = replace(given, verdict="Retain")
    if given.verdict != "Retain":
        return given
    # A review that contradicts itself would come back.
    return replace(given, scores={name: max(LEAST_RETAINED, score) for name, score in given.scores.items()})


def _find_moment(work: Work) -> tuple[float, str]:
    job = work.job
    name = f"{job.item_id}:{job.kind}:{job.hop}"
    return (random.Random(f"moment:{name}").random() if job.gold is not None else job.progress), name


def _put(items: Iterable[Item]) -> ShardOutput:
    rows = items_to_table(items)
    return ShardOutput(rows, (), taken=rows.num_rows)


def gold_of(work: Iterable[Work]) -> dict[str, list[tuple[GoldItem, Given]]]:
    """Annotator → the gold that he saw, and what he gave."""
    found: dict[str, list[tuple[GoldItem, Given]]] = {}
    for one in work:
        if one.job.gold is not None:
            found.setdefault(one.job.annotator.name, []).append((one.job.gold, one.given))
    return found
