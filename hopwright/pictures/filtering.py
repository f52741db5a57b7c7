"""The difficulty filter of picture questions: models that see the pictures vote, and what is too easy is dropped.

Omanic's rule (section 3): an item that more voters answer rightly than `max_right` is dropped. A question with options
is asked for the letter, another for the answer itself. A voter that gives no answer casts no vote; an item that lacks
votes is kept only where it would be kept whatever they were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from hopwright.difficulty.rule import DropRule
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Sampling
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.evaluation import (
    Complete,
    PictureQuery,
    PictureVerdict,
    Tell,
    ask_item,
    choose_media,
    judge,
    load_images,
)
from hopwright.pictures.served import ServedModel
from hopwright.pictures.splitting import Split
from hopwright.records import LABELS, Item, Vote
from hopwright.settings import PicturesFilterParameters


@dataclass(frozen=True, slots=True)
class PictureFilter:
    """What came of a filter: `in = kept + dropped + held`; twins of what is not kept are left out with it."""

    items: tuple[Item, ...]
    splits: dict[str, Split]
    twins: tuple[Item, ...]
    counts: dict[str, int]
    rights: dict[str, float]


def filter_pictures(
    found: PictureSet,
    parameters: PicturesFilterParameters,
    complete: Complete,
    tell: Tell,
    served: Mapping[str, ServedModel] = MappingProxyType({}),
) -> PictureFilter:
    """Have every voter answer every item of a set, its pictures in sight, and keep what is hard enough.

    `served` are those among the voters that `complete` has served here.
    """
    rule = DropRule(len(parameters.voters), parameters.max_right)
    items = [item for item, _ in found.items]
    names = {served[voter].target if voter in served else voter: voter for voter in parameters.voters}
    listed = list_votes(found, list(names), parameters.max_tokens)
    queries = [_restrict(query) if names[query.model] in served else query for query in listed]
    tell(f"asking for {len(queries):,} votes")
    outcomes = complete([query.request for query in queries])
    verdicts = [judge(query, outcome, "infoseek") for query, outcome in zip(queries, outcomes, strict=True)]
    by_item: dict[str, list[PictureVerdict]] = {}
    for one in verdicts:
        by_item.setdefault(one.query.item.id, []).append(one)
    kept, counts = [], Counter({"in": len(items), "kept": 0, "dropped": 0, "held": 0})
    for item in items:
        cast = [one for one in by_item[item.id] if one.outcome == "answered"]
        right = sum(one.right for one in cast)
        fate = rule.conclude(right, len(cast) - right)
        counts[fate] += 1
        if fate == "kept":
            votes = tuple(_record(one, _name(names[one.query.model], served)) for one in cast if _is_letter(one))
            kept.append(item.model_copy(update={"votes": votes}))
    ids = {item.id for item in kept}
    twins = tuple(twin for twin in found.twins if twin.twin in ids)
    splits = {item.id: split for item, split in found.items if item.id in ids}
    rights = {
        _name(voter, served): sum(one.right for one in asked) / len(asked)
        for model, voter in names.items()
        if (asked := [one for one in verdicts if one.query.model == model])
    }
    return PictureFilter(tuple(kept), splits, twins, dict(counts), rights)


def list_votes(found: PictureSet, models: Sequence[str], max_tokens: int) -> Iterator[PictureQuery]:
    """Every item of a set to every model, its pictures in sight."""
    prompts, sampling = load_prompts(), Sampling(max_tokens=max_tokens, temperature=0)
    for item, _ in found.items:
        for model in models:
            images = load_images(found, choose_media(item, "right", found))
            yield from ask_item(prompts, item, 0, model, "right", images, True, sampling)


def _name(voter: str, served: Mapping[str, ServedModel]) -> str:
    """As votes name it: nothing of the machine's paths."""
    return served[voter].spec.name if voter in served else voter


def _restrict(query: PictureQuery) -> PictureQuery:
    """The query, of which vLLM is made to answer by a letter alone."""
    if query.form != "mcq":
        return query
    return replace(query, request=replace(query.request, choices=tuple(query.asked.options)))


def _is_letter(one: PictureVerdict) -> bool:
    return one.query.form == "mcq" and one.value in LABELS


def _record(one: PictureVerdict, name: str) -> Vote:
    option = next(label for label in LABELS if label == one.value)
    return Vote(model=name, option=option, right=one.right)
