"""Models that see pictures: asked with the right ones, without any, and with wrong ones.

A model that is as good without the pictures as with them did not look. With wrong pictures it should give the answer
that these have; how often it still gives the right one says how much it guesses. Every request goes through
`hopwright.llm`, so an answer is paid for once, and the same wire formats carry the pictures to any endpoint.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from hopwright.evaluation.extraction import extract
from hopwright.llm.prompts import Prompt, load_prompts
from hopwright.llm.types import ImageData, Outcome, Request, Sampling, parse_model
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.rows import list_media, name_kind, read_text
from hopwright.records import Hop, Item
from hopwright.scoring.intervals import find_share
from hopwright.scoring.typed_answers import Protocol, TypedAnswer, judge_answer
from hopwright.settings import PicturesEvaluateParameters

Shown = Literal["right", "none", "wrong"]
Complete = Callable[[Iterable[Request]], list[Outcome]]
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PictureQuery:
    """One question to one model: of an item as a whole (`hop` 0) or of one of its hops, and what is shown with it."""

    item: Item
    hop: int
    model: str
    shown: Shown
    form: Literal["open", "mcq"]
    request: Request

    @property
    def asked(self) -> Item | Hop:
        """What the question belongs to."""
        return self.item.hops[self.hop - 1] if self.hop else self.item


@dataclass(frozen=True, slots=True)
class PictureVerdict:
    """What came of a query: `outcome` is `answered`, or why there is no answer to judge."""

    query: PictureQuery
    outcome: str
    value: str
    right: bool


def evaluate_pictures(
    found: PictureSet, parameters: PicturesEvaluateParameters, complete: Complete, tell: Tell
) -> dict[str, Any]:
    """Ask every model about a part of a set; a table of how often each was right, with Wilson's intervals."""
    items = found.of_split(parameters.split)[: parameters.limit or None]
    queries = list(list_queries(found, items, parameters))
    tell(f"asking {len(queries):,} questions")
    outcomes = complete([query.request for query in queries])
    verdicts = [judge(query, outcome, parameters.protocol) for query, outcome in zip(queries, outcomes, strict=True)]
    failures = Counter(one.value for one in verdicts if one.outcome == "failed")
    return {
        "items": len(items),
        "split": parameters.split,
        "protocol": parameters.protocol,
        "rows": summarise(verdicts),
        "failures": dict(failures.most_common(5)),
    }


def list_queries(
    found: PictureSet, items: Sequence[Item], parameters: PicturesEvaluateParameters
) -> Iterator[PictureQuery]:
    """Every question to be asked, in a fixed order."""
    prompts = load_prompts()
    sampling = Sampling(max_tokens=parameters.max_tokens, temperature=0)
    for model in parameters.models:
        for shown in parameters.shown:
            for item in items:
                images = [] if shown == "none" else load_images(found, choose_media(item, shown, found))
                yield from ask_item(prompts, item, 0, model, shown, images, parameters.options, sampling)
                for hop in item.hops if parameters.steps else ():
                    of_hop = images[hop.index - 1 : hop.index] if hop.question_parts else []
                    # Only the hops that read a picture are another question without it.
                    if hop.question_parts or shown == "right":
                        by_letter = parameters.options
                        yield from ask_item(prompts, item, hop.index, model, shown, of_hop, by_letter, sampling)


def list_requests(found: PictureSet, parameters: PicturesEvaluateParameters) -> Iterator[Request]:
    """What evaluating a part of a set would ask."""
    items = found.of_split(parameters.split)[: parameters.limit or None]
    return (query.request for query in list_queries(found, items, parameters))


def choose_media(item: Item, shown: Shown, found: PictureSet) -> tuple[str, ...]:
    """The pictures that go with a question: its own, or others of the same kinds, drawn by its id."""
    media = list_media(item)
    if shown == "right":
        return media
    rng = random.Random(f"wrong:{item.id}")
    chosen: list[str] = []
    for one in media:
        row = found.pictures[one]
        taken = {found.pictures[other]["entity"] for other in (*media, *chosen)}
        others = sorted(
            other
            for other, held in found.pictures.items()
            if held["kind"] == row["kind"] and held["entity"] not in taken
        )
        if others:
            chosen.append(others[rng.randrange(len(others))])
    return tuple(chosen)


def judge(query: PictureQuery, outcome: Outcome, protocol: Protocol) -> PictureVerdict:
    """Read an answer and hold it against the gold one."""
    if not outcome.ok:
        return PictureVerdict(query, "failed", outcome.reason, False)
    asked = query.asked
    read = extract(outcome.text, query.form, "direct", {str(letter): text for letter, text in asked.options.items()})
    if read.outcome != "answered":
        return PictureVerdict(query, read.outcome, "", False)
    if query.form == "mcq":
        return PictureVerdict(query, "answered", read.value, read.value == asked.label)
    return PictureVerdict(query, "answered", read.value, judge_answer(read.value, read_gold(query), protocol))


def read_gold(query: PictureQuery) -> TypedAnswer:
    """The gold answer of a query."""
    hop = query.item.hops[(query.hop or len(query.item.hops)) - 1]
    return TypedAnswer(hop.answer, hop.answer_type, hop.unit, hop.answer_aliases)


def summarise(verdicts: Sequence[PictureVerdict]) -> list[dict[str, Any]]:
    """One row for each model, what was shown and which questions (all, by kind, by hop), in the order of asking."""
    groups: dict[tuple[str, str, str], list[PictureVerdict]] = {}
    for one in verdicts:
        query = one.query
        names = [f"hop {query.hop}"] if query.hop else ["all", name_kind(query.item)]
        for name in names:
            groups.setdefault((query.model, query.shown, name), []).append(one)
    rows = []
    for (model, shown, name), group in groups.items():
        right = sum(one.right for one in group)
        share = find_share(right, len(group))
        failed = sum(one.outcome == "failed" for one in group)
        answered = sum(one.outcome == "answered" for one in group)
        rows.append({
            "model": model, "shown": shown, "questions": name, "asked": len(group), "right": right,
            "accuracy": right / len(group), "low": share.low, "high": share.high, "failed": failed,
            "unreadable": len(group) - answered - failed,
        })  # fmt: skip
    return rows


def ask_item(
    prompts: dict[str, Prompt],
    item: Item,
    hop: int,
    model: str,
    shown: Shown,
    images: Sequence[ImageData],
    options: bool,
    sampling: Sampling,
) -> Iterator[PictureQuery]:
    """The question of an item, or of one of its hops, with these pictures; by letter where it has options."""
    asked = item.hops[hop - 1] if hop else item
    form: Literal["open", "mcq"] = "mcq" if options and asked.options else "open"
    inputs: dict[str, Any] = {
        "question": read_text(asked.question_parts) or asked.question, "passages": [], "steps": [], "sub_questions": [],
    }  # fmt: skip
    if form == "mcq":
        inputs["options"] = dict(asked.options)
    request = prompts[f"answer-{form}-direct"].request(inputs, parse_model(model), item=item.id, sampling=sampling)
    yield PictureQuery(item, hop, model, shown, form, show_images(request, images))


def show_images(request: Request, images: Sequence[ImageData]) -> Request:
    """The request with pictures before the words of its last turn."""
    *before, last = request.messages
    return replace(request, messages=(*before, replace(last, images=tuple(images))))


def load_images(found: PictureSet, media: Sequence[str]) -> list[ImageData]:
    """Pictures of a set, as requests take them."""
    return [ImageData(found.read_png(one)) for one in media]
