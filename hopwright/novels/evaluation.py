"""Models that read windows of novels: the grid of hops and lengths, by what they are given to read.

Every request goes through `hopwright.llm`, so an answer is paid for once. What is read stands before the question and
is marked as stable, and questions about one window follow each other, so that a provider's prompt cache holds it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from hopwright.evaluation.extraction import extract
from hopwright.llm.answers import JudgedAnswer
from hopwright.llm.prices import guess_tokens
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Message, Outcome, Request, Sampling, TokenUsage, parse_model
from hopwright.novels.contexts import ContextMaker
from hopwright.novels.dataset import NovelSet
from hopwright.novels.drafting import K
from hopwright.novels.records import NovelItem
from hopwright.planning.mention_chains import REACHES, name_reach
from hopwright.scoring.intervals import find_share
from hopwright.scoring.typed_answers import TypedAnswer, judge_answer
from hopwright.settings import NovelMode, NovelsEvaluateParameters, NovelsExportParameters

Complete = Callable[[Iterable[Request]], list[Outcome]]
Tell = Callable[[str], None]
Prompting = Literal["direct", "cot"]
_FIFTHS = 5


@dataclass(frozen=True, slots=True)
class NovelQuery:
    """One question to one model, with what it is given to read."""

    item: NovelItem
    model: str
    mode: NovelMode
    request: Request


@dataclass(frozen=True, slots=True)
class NovelVerdict:
    """What came of a query: `outcome` is `answered`, or why there is no answer to judge. `judged`: a model took the
    answer for the right one, which no name of it matches."""

    query: NovelQuery
    outcome: str
    value: str
    right: bool
    judged: bool = False
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost_usd: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """For a line of `answers.jsonl`."""
        item = self.query.item
        return {
            "id": item.id, "model": self.query.model, "mode": self.query.mode, "variant": item.variant,
            "hops": len(item.hops), "length": item.window.length, "depth": item.depth,
            "distances": list(item.distances), "gold": item.answer,
            "outcome": self.outcome, "answer": self.value, "right": self.right, "judged": self.judged,
        }  # fmt: skip


def pick_items(found: NovelSet, parameters: NovelsEvaluateParameters | NovelsExportParameters) -> list[NovelItem]:
    """The items that are asked or exported: of each number of hops and length as many at most, and their twins."""
    cells: dict[tuple[int, int], list[NovelItem]] = {}
    for item in found.items:
        cells.setdefault((len(item.hops), item.window.length), []).append(item)
    chosen: set[str] = set()
    for held in cells.values():
        most = min(len(held), parameters.limit or len(held))
        chosen |= {held[place * len(held) // most].id for place in range(most)}
    items = [item for item in found.items if item.id in chosen]
    return items + ([twin for twin in found.twins if twin.twin in chosen] if parameters.twins else [])


def list_queries(
    items: Sequence[NovelItem], contexts: ContextMaker, parameters: NovelsEvaluateParameters
) -> Iterator[NovelQuery]:
    """Every question to be asked, in a fixed order."""
    prompt = load_prompts()[f"answer-excerpt-{'cot' if parameters.cot else 'direct'}"]
    sampling = Sampling(max_tokens=parameters.max_tokens, temperature=0)
    shown: dict[str, Message] = {}
    for model in parameters.models:
        for mode in parameters.modes:
            for item in items:
                request = prompt.request(
                    {"question": item.question}, parse_model(model), item=item.id, sampling=sampling
                )
                context = contexts.make(item, mode)
                # A window is hundreds of kilobytes: all requests about it hold the same turn.
                if context not in shown:
                    shown[context] = show_context(request.messages[0], context)
                yield NovelQuery(
                    item, model, mode, replace(request, messages=(shown[context], *request.messages[1:]))
                )


def show_context(first: Message, context: str) -> Message:
    """The first turn, the one that requests share, with what is read at its end."""
    if not context:
        return first
    return Message(first.role, f"{first.content}\n\nThe excerpt:\n\n{context}", stable=True)


def evaluate_novels(
    queries: Sequence[NovelQuery], parameters: NovelsEvaluateParameters, complete: Complete, tell: Tell
) -> tuple[dict[str, Any], list[NovelVerdict]]:
    """Ask every query. The report has the grid with Wilson's intervals, twins against originals, tokens and dollars."""
    tell(f"asking {len(queries):,} questions")
    outcomes = complete([query.request for query in queries])
    prompting: Prompting = "cot" if parameters.cot else "direct"
    verdicts = [judge(query, outcome, prompting) for query, outcome in zip(queries, outcomes, strict=True)]
    if parameters.judge:
        tell("judging")
        verdicts = ask_judge(verdicts, parameters.judge, complete)
    failures = Counter(one.value for one in verdicts if one.outcome == "failed")
    report = {
        "prompting": prompting,
        "judge": parameters.judge,
        "rows": summarise(verdicts),
        "grid": draw_up_grid(verdicts),
        "places": draw_up_places(verdicts),
        "gaps": compare_twins(verdicts),
        "usage": sum_usage(verdicts),
        "failures": dict(failures.most_common(5)),
    }
    return report, verdicts


def judge(query: NovelQuery, outcome: Outcome, prompting: Prompting) -> NovelVerdict:
    """Read an answer and hold it against the gold one and its other names."""
    if not outcome.ok:
        return NovelVerdict(query, "failed", outcome.reason, False, usage=outcome.usage, cost_usd=outcome.cost_usd)
    read = extract(outcome.text, "open", prompting, {})
    right = read.outcome == "answered" and judge_answer(read.value, read_gold(query.item), "absolute")
    return NovelVerdict(query, read.outcome, read.value, right, usage=outcome.usage, cost_usd=outcome.cost_usd)


def read_gold(item: NovelItem) -> TypedAnswer:
    """The gold answer of an item, with all names that surely mean it."""
    last = item.hops[-1]
    return TypedAnswer(item.answer, last.answer_type, last.unit, item.answer_aliases)


def ask_judge(verdicts: Sequence[NovelVerdict], model: str, complete: Complete) -> list[NovelVerdict]:
    """Have a model compare the answers that match no name of the right one; where it fails, they stay wrong."""
    prompt, target = load_prompts()["judge-answer"], parse_model(model)
    asked = [number for number, one in enumerate(verdicts) if one.outcome == "answered" and not one.right]
    requests = []
    for number in asked:
        item = verdicts[number].query.item
        gold = "; ".join((item.answer, *item.answer_aliases))
        inputs = {"question": item.question, "gold": gold, "given": verdicts[number].value}
        requests.append(prompt.request(inputs, target, item=item.id))
    judged = list(verdicts)
    for number, outcome in zip(asked, complete(requests), strict=True):
        if outcome.ok and isinstance(outcome.parsed, JudgedAnswer) and outcome.parsed.same:
            judged[number] = replace(judged[number], right=True, judged=True)
    return judged


def summarise(verdicts: Sequence[NovelVerdict]) -> list[dict[str, Any]]:
    """One row for each model, mode and variant: over all, by hops and by length, in the order of asking."""
    groups: dict[tuple[str, str, str], list[NovelVerdict]] = {}
    for one in verdicts:
        groups.setdefault((one.query.model, one.query.mode, one.query.item.variant), []).append(one)
    rows: list[dict[str, Any]] = []
    for (model, mode, variant), group in groups.items():
        parts = {"all": group}
        for hops in sorted({len(one.query.item.hops) for one in group}):
            name = f"{hops} hops" if hops > 1 else "1 hop"
            parts[name] = [one for one in group if len(one.query.item.hops) == hops]
        for length in sorted({one.query.item.window.length for one in group}):
            parts[f"{length // K}k"] = [one for one in group if one.query.item.window.length == length]
        rows += [
            {"model": model, "mode": mode, "variant": variant, "questions": name} | _measure(part)
            for name, part in parts.items()
        ]
    return rows


def draw_up_grid(verdicts: Sequence[NovelVerdict]) -> list[dict[str, Any]]:
    """One row for each model, mode, variant, number of hops and length."""
    groups: dict[tuple[str, str, str, int, int], list[NovelVerdict]] = {}
    for one in verdicts:
        item = one.query.item
        key = (one.query.model, one.query.mode, item.variant, len(item.hops), item.window.length)
        groups.setdefault(key, []).append(one)
    return [
        {"model": model, "mode": mode, "variant": variant, "hops": hops, "length": length} | _measure(groups[key])
        for key in sorted(groups)
        for model, mode, variant, hops, length in [key]
    ]


def draw_up_places(verdicts: Sequence[NovelVerdict]) -> list[dict[str, Any]]:
    """One row for each model, mode, variant, distance of the hops (`one` for a single hop) and fifth of the window in
    which the answer stands."""
    groups: dict[tuple[str, str, str, int, int], list[NovelVerdict]] = {}
    for one in verdicts:
        item = one.query.item
        distance = REACHES.index(name_reach(item.distances))
        key = (one.query.model, one.query.mode, item.variant, distance, min(int(_FIFTHS * item.depth), _FIFTHS - 1))
        groups.setdefault(key, []).append(one)
    return [
        {"model": model, "mode": mode, "variant": variant, "distance": REACHES[distance], "fifth": fifth + 1}
        | _measure(groups[key])
        for key in sorted(groups)
        for model, mode, variant, distance, fifth in [key]
    ]


def compare_twins(verdicts: Sequence[NovelVerdict]) -> list[dict[str, Any]]:
    """Original minus twin, where both were asked: what knowing the book is worth."""
    answers = {(one.query.model, one.query.mode, one.query.item.id): one.right for one in verdicts}
    pairs: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for one in verdicts:
        model, mode, item = one.query.model, one.query.mode, one.query.item
        original = answers.get((model, mode, item.twin or ""))
        if item.variant == "counterfactual" and original is not None:
            pairs.setdefault((model, mode), []).append((original, one.right))
    return [
        {
            "model": model, "mode": mode, "pairs": len(held),
            "originals": sum(first for first, _ in held) / len(held),
            "twins": sum(second for _, second in held) / len(held),
            "gap": sum(first - second for first, second in held) / len(held),
        }
        for (model, mode), held in pairs.items()
    ]  # fmt: skip


def sum_usage(verdicts: Sequence[NovelVerdict]) -> list[dict[str, Any]]:
    """Tokens as the providers counted them, those from their prompt caches among them, and dollars, by model."""
    totals: dict[str, tuple[TokenUsage, float]] = {}
    for one in verdicts:
        usage, cost = totals.get(one.query.model, (TokenUsage(), 0.0))
        totals[one.query.model] = usage + one.usage, cost + one.cost_usd
    return [
        {
            "model": model, "input_tokens": usage.input, "cached_tokens": usage.cached,
            "cache_written_tokens": usage.cache_written, "output_tokens": usage.output, "cost_usd": round(cost, 6),
        }
        for model, (usage, cost) in totals.items()
    ]  # fmt: skip


def count_shared(queries: Sequence[NovelQuery]) -> int:
    """About as many tokens of what is read as a prompt cache can spare: those that an earlier request to the same
    model begins with."""
    seen: set[tuple[str, str]] = set()
    shared = 0
    for query in queries:
        first = query.request.messages[0]
        key = (query.model, first.content)
        shared += guess_tokens([first]) if key in seen else 0
        seen.add(key)
    return shared


def _measure(group: Sequence[NovelVerdict]) -> dict[str, Any]:
    right = sum(one.right for one in group)
    share = find_share(right, len(group))
    failed = sum(one.outcome == "failed" for one in group)
    answered = sum(one.outcome == "answered" for one in group)
    return {
        "asked": len(group), "right": right, "accuracy": right / len(group), "low": share.low, "high": share.high,
        "judged": sum(one.judged for one in group), "failed": failed, "unreadable": len(group) - answered - failed,
    }  # fmt: skip
