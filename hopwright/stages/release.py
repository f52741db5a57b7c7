"""Writing a release, and auditing it where it lies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import Item, Rejected
from hopwright.records.arrow import (
    REJECTED_SCHEMA,
    encode_parquet,
    read_columns,
    read_items,
    read_parquet,
    read_rejected,
    read_reviews,
    rejected_to_table,
)
from hopwright.records.model import Variant
from hopwright.runs import write_file
from hopwright.runs.shards import rejected_path
from hopwright.stages.resources import open_graph

if TYPE_CHECKING:
    from hopwright.release.dataset import PreviousRelease, ReleaseManifest
    from hopwright.release.layout import SetName
    from hopwright.release.separation import ItemSet, SeparationRule

_BENCH_TWIN = "original_in_bench"
"""Why a twin is left out that experts have not accepted, though its original is."""


@dataclass(frozen=True, slots=True)
class ReviewParts:
    """What the expert review came to: accepted items and twins, the others with the reasons, and the reviews."""

    accepted: list[Path]
    rejected: list[Path]
    reviews: Path
    outcomes: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReleaseSpec:
    """What a release is made from. `facts` are those of `RunFacts`; `course` maps stages to their rejected parts."""

    items: list[Path]
    twins: list[Path]
    folder: Path
    name: str
    version: str
    facts: Mapping[str, Any]
    rejections: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    against: list[Path] = field(default_factory=list)
    names: Mapping[Path, str] = field(default_factory=dict)
    review: ReviewParts | None = None
    rule: SeparationRule = "facts"
    shares: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    previous: Path | None = None
    course: Mapping[str, list[Path]] = field(default_factory=dict)


def write_dataset(order: ReleaseSpec, stage: Path) -> dict[str, Any]:
    """Write the release, and what was left out of it as the rejected rows of the folder `stage`.

    Returns its figures: rows per set, what was left out by reason, which of the scorecard's limits it keeps.
    """
    from hopwright.release.dataset import write_release
    from hopwright.release.facts import RunFacts

    sets, dropped = arrange_sets(order)
    synth = sets.pop("synth")
    manifest = write_release(
        synth.factual,
        synth.twins,
        folder=order.folder,
        name=order.name,
        version=order.version,
        facts=RunFacts.model_validate(order.facts),
        rejections=order.rejections,
        against=order.against,
        names=order.names,
        others=sets,
        rule=order.rule,
        history=_tell_history(order),
    )
    dropped += _list_held_back(order.folder)
    write_file(rejected_path(stage, 0), encode_parquet(rejected_to_table(dropped)))
    return {
        "items": manifest.items,
        "twins": manifest.twins,
        "version": manifest.version,
        "sets": {name: {"items": one.items, "twins": one.twins} for name, one in manifest.sets.items()},
        "left_out": dict(sorted(Counter(one.check for one in dropped).items())),
        "limits": {one.name: one.met for one in manifest.main.scorecard.thresholds},
        "overlapping": sum(len(one.overlap.questions) for one in manifest.sets.values()),
        **_describe_changes(manifest),
    }


def arrange_sets(order: ReleaseSpec) -> tuple[dict[SetName, ItemSet], list[Rejected]]:
    """The sets before anything is held back for another's sake, and what stands in none of them.

    bench is what the review accepted. What reviewers have begun to look at and did not accept is in no set; what
    nobody has looked at is machine-checked like the rest.
    """
    from hopwright.release.layout import SETS
    from hopwright.release.separation import ItemSet
    from hopwright.release.split_drawing import draw_parts

    items, twins = _read_ids(order.items), _read_ids(order.twins)
    bench, refused = _read_review(order.review)
    dropped = [refused[id] for id in (*items, *twins) if id in refused]
    for id, original in twins.items():
        if id in bench or id in refused:
            continue
        if original in bench:
            dropped.append(Rejected(key=id, check=_BENCH_TWIN, reason=f"experts accepted {original}, but not its twin"))
        elif original in refused:
            dropped.append(
                Rejected(key=id, check=refused[original].check, reason=f"its original {original} is left out")
            )
    gone = {one.key for one in dropped} | bench
    free = PartItems(order.items, "factual", without=gone)
    shares = {name: share for name, share in order.shares.items() if share}
    drawn = draw_parts(free, shares, order.seed) if shares else {}
    sets: dict[SetName, ItemSet] = {
        "synth": ItemSet(
            PartItems(order.items, "factual", without=gone | drawn.keys()),
            PartItems(order.twins, "counterfactual", without=gone | _find_twins(twins, drawn.keys())),
        )
    }
    for name in SETS:
        if name in shares:
            chosen = {id for id, part in drawn.items() if part == name}
            sets[name] = ItemSet(
                PartItems(order.items, "factual", only=chosen),
                PartItems(order.twins, "counterfactual", only=_find_twins(twins, chosen), without=gone),
            )
    if order.review is not None:
        parts = order.review.accepted
        sets["bench"] = ItemSet(PartItems(parts, "factual"), PartItems(parts, "counterfactual"))
    return sets, dropped


@dataclass(frozen=True, slots=True)
class PartItems:
    """The items of one variant in some parts, read anew every time: those that are named, or all but those."""

    parts: Sequence[Path]
    variant: Variant
    without: Collection[str] = frozenset()
    only: Collection[str] | None = None

    def __iter__(self) -> Iterator[Item]:
        for part in self.parts:
            for item in read_items(part):
                wanted = self.only is None or item.id in self.only
                if wanted and item.variant == self.variant and item.id not in self.without:
                    yield item


def count_makers(items: list[Path]) -> tuple[dict[str, int], dict[str, int]]:
    """How many items each writer worded (`rules`, or a model by endpoint, name and version), and by which prompt.

    Most first.
    """
    writers, prompts = Counter[str](), Counter[str]()
    for part in items:
        for (made,) in read_columns(part, "provenance"):
            version = made["model_version"]
            named = f"{made['model']} ({version})" if version and version not in made["model"] else made["model"]
            writers[named if made["generator"] == "model" else "rules"] += 1
            if made["prompt"]:
                prompts[f"{made['prompt']} version {made['prompt_version']}"] += 1
    return dict(writers.most_common()), dict(prompts.most_common())


@dataclass(frozen=True, slots=True)
class Audited:
    """What the audit of a file came to; `by_check` counts violations."""

    items: int
    warnings: int
    by_check: Mapping[str, int]


def audit_file(file: Path, store: Path) -> Audited:
    """Audit a release file against the graph."""
    from hopwright.release.audit import audit

    report = audit(file, open_graph(store), default_table())
    return Audited(report.items, len(report.warnings), report.counts)


def add_audits(audits: Iterable[Audited]) -> dict[str, Any]:
    """How much was looked at in all files, and what was found."""
    items = warnings = 0
    counts = Counter[str]()
    for one in audits:
        items, warnings = items + one.items, warnings + one.warnings
        counts.update(one.by_check)
    return {
        "items": items,
        "violations": counts.total(),
        "warnings": warnings,
        "by_check": dict(sorted(counts.items())),
    }


def read_figures(folder: Path) -> dict[str, Any]:
    """The figures of a release's factual items: of its machine-checked set, where it has one."""
    from hopwright.release.dataset import read_manifest

    return read_manifest(folder).main.factual.model_dump(mode="json")


def _read_ids(parts: list[Path]) -> dict[str, str]:
    """Id → the id of the other of the pair, empty for none."""
    found: dict[str, str] = {}
    for part in parts:
        found |= {id: twin or "" for id, twin in read_columns(part, "id", "twin")}
    return found


def _find_twins(twins: Mapping[str, str], originals: Collection[str]) -> set[str]:
    return {id for id, original in twins.items() if original in originals}


def _read_review(review: ReviewParts | None) -> tuple[set[str], dict[str, Rejected]]:
    """The ids that were accepted, and those that reviewers have begun to look at and did not accept."""
    if review is None:
        return set(), {}
    seen = {one.item_id for one in read_reviews(review.reviews)}
    refused = {
        row.key: Rejected(key=row.key, check=f"review_{row.check}", reason=row.reason, row=row.row)
        for part in review.rejected
        for row in read_rejected(part)
        if row.key in seen
    }
    return set(_read_ids(review.accepted)), refused


def _list_held_back(folder: Path) -> list[Rejected]:
    from hopwright.release.dataset import HELD_BACK
    from hopwright.release.separation import HeldBack

    path = folder / HELD_BACK
    if not path.is_file():
        return []
    held = [HeldBack.model_validate_json(line) for line in path.read_text("utf-8").splitlines()]
    return [Rejected(key=one.id, check=one.reason, reason=f"{one.what}: shared with {one.shares_with}") for one in held]


def _tell_history(order: ReleaseSpec) -> PreviousRelease | None:
    """The release before, and where this run rejected what is in it; the last stage that did has the word."""
    from hopwright.release.dataset import PreviousRelease

    if order.previous is None:
        return None
    reasons: dict[str, str] = {}
    for stage, parts in order.course.items():
        for part in parts:
            for row in read_parquet(part, REJECTED_SCHEMA, ["key", "check", "reason"]).to_pylist():
                reasons[row["key"]] = f"{row['check']} ({stage}): {row['reason']}"
    return PreviousRelease(order.previous, reasons)


def _describe_changes(manifest: ReleaseManifest) -> dict[str, Any]:
    changes = manifest.changes
    if changes is None:
        return {}
    return {
        "changes": {
            "since": changes.version,
            "added": sum(changes.count_added().values()),
            "changed": len(changes.changed),
            "moved": len(changes.moved),
            "withdrawn": len(changes.withdrawn),
        }
    }
