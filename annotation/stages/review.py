"""The stage review: items → a sample of them as Label Studio's task files."""

from __future__ import annotations

import hashlib
import heapq
import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from annotation.stages.accepted import keep_accepted
from hopwright.records import Item
from hopwright.records.arrow import ItemKey, read_columns, read_items
from hopwright.runs import Counts, RunFolder, Stage, StageManifest, write_file
from hopwright.settings import BuildParameters, ReviewRun
from hopwright.stages.objections import FILE, read_objections
from hopwright.stages.plan import StageEngine, StagePlan, StageSpec, StageStep, is_finished, pick_parameters
from hopwright.stages.synthesize import yield_folder

if TYPE_CHECKING:
    from annotation.files import ReviewEntry
    from annotation.schema import ReviewTaskKind


TASKS = "tasks"
OBJECTED = "objections.html"
"""The page beside the tasks with what the writer set aside, for reviewers to say whether it was right."""


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """What to draw: from the parts of the filter and of the rewriting, how much, into which folder."""

    parts: tuple[Path, ...]
    twins: tuple[Path, ...]
    count: int
    seed: int
    folder: Path
    kinds: tuple[str, ...]
    overlap: int
    agreement_overlap: int
    agreement_items: int
    gold_share: float
    blind: bool = False
    objections: Path | None = None
    """What the writer objected to, where it did."""


def plan_review(run: RunFolder, parameters: ReviewRun) -> StagePlan:
    """The items that the filter kept, and their twins when they are made; the server changes nothing in the files."""
    items, twins = Stage(run, "filter"), Stage(run, "rewrite")
    made = twins.find_finished() is not None
    return StagePlan(
        name="review",
        unit="items",
        parameters=pick_parameters(parameters, "review"),
        inputs={**items.output_hashes(), **(twins.output_hashes() if made else {})},
    )


def export_tasks(engine: StageEngine, parameters: ReviewRun, stage: Stage) -> StageManifest:
    """Write the tasks of a sample, and close the stage."""
    from annotation.files import place_gold

    run = engine.run
    items, twins = Stage(run, "filter"), Stage(run, "rewrite")
    taken = items.read().counts.out
    wanted = parameters.review
    count = min(wanted.items, taken)
    request = SampleRequest(
        parts=tuple(items.parts()),
        twins=tuple(twins.parts()) if twins.find_finished() is not None else (),
        count=count,
        seed=parameters.seed,
        folder=stage.folder / TASKS,
        kinds=tuple(wanted.kinds),
        overlap=wanted.overlap,
        agreement_overlap=wanted.agreement_overlap,
        agreement_items=wanted.agreement_items,
        gold_share=wanted.gold_share,
        blind=wanted.blind,
        objections=objections if (objections := yield_folder(Stage(run, "synthesize")) / FILE).exists() else None,
    )
    written = engine.step("export", write_sample, request)
    gold = place_gold(request.folder)
    return stage.finish(
        counts=Counts(taken=taken, out=count, rejected={"not_sampled": taken - count} if taken > count else {}),
        outputs=[stage.folder / TASKS, *([gold] if gold.exists() else [])],
        notes={
            "tasks": {kind: number for kind, number in written.items() if kind != "gold"},
            "gold": written["gold"],
            "folder": str((stage.folder / TASKS).relative_to(run.home)),
        },
    )


def write_sample(request: SampleRequest) -> dict[str, int]:
    """Draw items evenly over the topologies, the same ones for the same seed, and write them as tasks.

    Gold items are made from items outside the sample while there are any, and stand among the others. Returns how many
    tasks of each kind there are, and `gold`.
    """
    from annotation.files import write_tasks
    from annotation.schema import ReviewTaskKind

    kinds = tuple(ReviewTaskKind(kind) for kind in request.kinds)
    chosen = _draw(request.parts, request.count, request.seed)
    agreement = {item.id for item in chosen[: request.agreement_items]}
    wanted = math.ceil(request.count * request.gold_share)
    entries = _mix(
        chosen, agreement, _find_twins(request, chosen), _plant(request, chosen, kinds, wanted), request.seed
    )
    files = write_tasks(
        entries,
        request.folder,
        kinds=kinds,
        overlap=request.overlap,
        agreement=request.agreement_overlap,
        blind=request.blind,
    )
    if request.objections is not None:
        from annotation.export import render_objections

        page = render_objections(read_objections(request.objections))
        write_file(request.folder / OBJECTED, page.encode())
    return {kind.value: count for kind, count in files.counts.items()} | {"gold": files.gold}


def _draw(parts: Iterable[Path], count: int, seed: int) -> list[Item]:
    ids: dict[str, list[str]] = {}
    for part in parts:
        for id, topology in read_columns(part, "id", "topology"):
            ids.setdefault(topology, []).append(id)
    chosen: list[str] = []
    left = count
    # The rarest first, so that what it cannot fill goes to the others.
    for done, (_, available) in enumerate(sorted(ids.items(), key=lambda pair: (len(pair[1]), pair[0]))):
        share = min(len(available), -(-left // (len(ids) - done)))
        chosen += heapq.nsmallest(share, available, key=lambda id: _shuffle(id, seed))
        left -= share
    return sorted(_read_chosen(parts, chosen), key=lambda item: _shuffle(item.id, seed))


def _find_twins(request: SampleRequest, chosen: Sequence[Item]) -> list[Item]:
    """The twins of the sample, in the sample's order."""
    places = {item.id: place for place, item in enumerate(chosen)}
    return sorted(_read_chosen(request.twins, places, "twin"), key=lambda item: (places[item.twin or ""], item.id))


def _plant(
    request: SampleRequest, chosen: Sequence[Item], kinds: Iterable[ReviewTaskKind], wanted: int
) -> list[ReviewEntry]:
    """Gold items of every kind, from items that are not in the sample, or from it when there are no others."""
    from annotation.files import ReviewEntry
    from annotation.gold import plant_gold
    from annotation.schema import ReviewTaskKind

    if not wanted:
        return []
    taken = {item.id for item in chosen}
    entries = []
    for kind in kinds:
        parts = request.twins if kind is ReviewTaskKind.TWIN else request.parts
        drawn = heapq.nsmallest(
            2 * wanted,
            (
                (id, twin if kind is ReviewTaskKind.TWIN else id)
                for part in parts
                for id, twin in read_columns(part, "id", "twin")
            ),
            key=lambda pair: (pair[1] in taken, _shuffle(pair[0], request.seed)),
        )
        ranks = {id: rank for rank, (id, _) in enumerate(drawn)}
        pool = sorted(_read_chosen(parts, ranks), key=lambda item: ranks[item.id])
        planted = itertools.islice(plant_gold(pool, kind, request.seed), wanted)
        entries += [ReviewEntry(one.item, gold=one.gold) for one in planted]
    return entries


def _mix(
    chosen: Sequence[Item], agreement: set[str], twins: Sequence[Item], gold: Sequence[ReviewEntry], seed: int
) -> list[ReviewEntry]:
    """Items and twins in the sample's order, gold at places drawn for each."""
    from annotation.files import ReviewEntry

    entries = [ReviewEntry(item, agreement=(item.twin or item.id) in agreement) for item in (*chosen, *twins)]
    places: dict[int, list[ReviewEntry]] = {}
    for entry in gold:
        group = (len(chosen), len(entries)) if entry.item.variant == "counterfactual" else (0, len(chosen))
        draw = int.from_bytes(_shuffle(f"gold:{entry.item.id}", seed)[:8])
        places.setdefault(group[0] + draw % max(1, group[1] - group[0]), []).append(entry)
    mixed: list[ReviewEntry] = []
    for place, entry in enumerate(entries):
        mixed += [*places.pop(place, ()), entry]
    return [*mixed, *(entry for left in places.values() for entry in left)]


def _read_chosen(parts: Iterable[Path], ids: Collection[str], by: ItemKey = "id") -> list[Item]:
    return [item for part in parts for item in read_items(part, ids, by)]


def _shuffle(key: str, seed: int) -> bytes:
    return hashlib.blake2b(f"review:{seed}:{key}".encode()).digest()


def _check(run: RunFolder, parameters: BuildParameters) -> None:
    """Look whether the server can be reached, where the tasks are to be pushed to one."""
    url = parameters.review.url
    if not url or is_finished(run, "release"):
        return
    from annotation.access import find_token
    from annotation.server import open_server  # its SDK takes a second to import

    with open_server(url, find_token(url)):
        return


STAGE = StageSpec(
    name="review",
    parameters=ReviewRun,
    needs=("filter", "rewrite"),
    steps=(
        StageStep("review", "items", "items handed to experts"),
        StageStep("review/accepted", "items", "items accepted by experts", keep_accepted),
    ),
    check=_check,
)
