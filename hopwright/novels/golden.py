"""The golden-context filter: a question stays where every filter model answers it from the paragraphs of its hops.

The paper discards what any model misses, and yet states accuracies below 100 % on these paragraphs; here the rule is
the one that it states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from hopwright.evaluation.extraction import extract
from hopwright.knowledge.books.book import Book
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Message, Outcome, Request, Sampling, parse_model
from hopwright.novels.records import NovelItem
from hopwright.records import CheckResult
from hopwright.scoring.typed_answers import TypedAnswer, judge_answer

Complete = Callable[[Iterable[Request]], list[Outcome]]
_GAP = "\n\n"
_CHECK = "golden context"


def keep_answered(
    items: Sequence[NovelItem], book: Book, models: Sequence[str], complete: Complete, left_out: Counter[str]
) -> list[NovelItem]:
    """The items that every model answers with one of the answer's spellings; without models, all, and each says so.

    What is missed is counted in `left_out`, by the model that missed it.
    """
    if not models:
        skipped = CheckResult(name=_CHECK, outcome="skip", reason="no filter model was named")
        return [item.model_copy(update={"checks": (*item.checks, skipped)}) for item in items]
    prompt = load_prompts()["answer-excerpt-direct"]
    sampling = Sampling(max_tokens=128, temperature=0)
    asked = [(item, model) for item in items for model in models]
    requests = [
        _show_gold(
            prompt.request({"question": item.question}, parse_model(model), item=item.id, sampling=sampling),
            item, book,
        )
        for item, model in asked
    ]  # fmt: skip
    missed: set[str] = set()
    for (item, model), outcome in zip(asked, complete(requests), strict=True):
        read = extract(outcome.text, "open", "direct", {}) if outcome.ok else None
        gold = TypedAnswer(item.answer, item.hops[-1].answer_type, "", item.answer_aliases)
        if read is None or read.outcome != "answered" or not judge_answer(read.value, gold, "absolute"):
            missed.add(item.id)
            left_out[f"{_CHECK}: missed by {model}"] += 1
    passed = CheckResult(name=_CHECK, outcome="pass", reason=", ".join(models))
    return [item.model_copy(update={"checks": (*item.checks, passed)}) for item in items if item.id not in missed]


def _show_gold(request: Request, item: NovelItem, book: Book) -> Request:
    first, *rest = request.messages
    places = sorted({(one.start, one.end) for hop in item.hops for one in hop.paragraphs})
    shown = _GAP.join(book.show(*place) for place in places)
    turn = Message(first.role, f"{first.content}\n\nThe excerpt:\n\n{shown}")
    return replace(request, messages=(turn, *rest))
