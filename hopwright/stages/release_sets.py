"""The sets of a release: which items and twins stand in which, and what stands in none of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopwright.records import Item, Rejected
from hopwright.records.arrow import read_columns, read_items, read_rejected, read_reviews
from hopwright.records.model import Variant

if TYPE_CHECKING:
    from hopwright.release.layout import SetName
    from hopwright.release.separation import ItemSet, SeparationRule

_BENCH_TWIN = "original_in_bench"
"""Why a twin is left out that experts have not accepted, though its original is."""
_OVERLAP = "overlap"
"""Why an item is left out whose question is a published one: models may know it from training."""


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


def arrange_sets(order: ReleaseSpec) -> tuple[dict[SetName, ItemSet], list[Rejected]]:
    """The sets before anything is held back for another's sake, and what stands in none of them.

    bench is what the review accepted. What reviewers have begun to look at and did not accept is in no set; what
    nobody has looked at is machine-checked like the rest. What repeats a published question is in no set either.
    """
    from hopwright.release.layout import SETS
    from hopwright.release.separation import ItemSet
    from hopwright.release.split_drawing import draw_parts

    items, twins = _read_ids(order.items), _read_ids(order.twins)
    bench, refused = _read_review(order.review)
    accepted = order.review.accepted if order.review is not None else []
    repeated = _find_repeated(order, [*order.items, *order.twins])
    # Reviewers reword: what they accepted is compared in the words in which it is released.
    refused |= {id: one for id, one in repeated.items() if id not in bench} | _find_repeated(order, accepted)
    dropped = [refused[id] for id in (*items, *twins) if id in refused]
    for id, original in twins.items():
        if id in refused:
            continue
        if original in refused:
            dropped.append(
                Rejected(key=id, check=refused[original].check, reason=f"its original {original} is left out")
            )
        elif original in bench and id not in bench:
            dropped.append(Rejected(key=id, check=_BENCH_TWIN, reason=f"experts accepted {original}, but not its twin"))
    left_out = {one.key for one in dropped}
    gone = left_out | bench
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
        sets["bench"] = ItemSet(
            PartItems(accepted, "factual", without=left_out), PartItems(accepted, "counterfactual", without=left_out)
        )
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


def _read_ids(parts: list[Path]) -> dict[str, str]:
    """Id → the id of the other of the pair, empty for none."""
    found: dict[str, str] = {}
    for part in parts:
        found |= {id: twin or "" for id, twin in read_columns(part, "id", "twin")}
    return found


def _find_repeated(order: ReleaseSpec, parts: list[Path]) -> dict[str, Rejected]:
    """The items and twins of some parts whose question repeats a published one, by id."""
    if not order.against or not parts:
        return {}
    from hopwright.checks.overlap import OverlapFinder, OverlapScreen  # slow to load, and of no use to the workers

    finder = OverlapFinder(OverlapScreen(order.against))
    for part in parts:
        for id, question in read_columns(part, "id", "question"):
            finder.add(id, question)
    for path in order.against:
        finder.compare(path)
    return {
        one.key: Rejected(key=one.key, check=_OVERLAP, reason=f"the question {one.describe()}")
        for one in finder.report().questions
    }


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
