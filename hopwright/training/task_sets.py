"""Items over a corpus as a set of tasks: split, in the order of a curriculum, with prompts and budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hopwright.environments.task import MAX_STEPS, FoundPassage, Task
from hopwright.environments.tools import show_passage
from hopwright.errors import InputError
from hopwright.evaluation.gold import GoldFinder, is_measurable
from hopwright.evaluation.items import EvalItem
from hopwright.knowledge.documents.index import Retriever
from hopwright.llm.prompts import Prompt
from hopwright.training.splitting import split_items
from hopwright.training.task_files import ChatLine, Form, TaskLine

_TOLD = 100
"""Items after which it is told how far the making of a set is."""

DEPTH = 100
PROMPTS: dict[Form, str] = {"tools": "answer-with-tools", "tags": "answer-with-tags"}
Search = Callable[[str], Sequence[FoundPassage]]
"""Finds at most the best hundred passages."""


@dataclass(frozen=True, slots=True)
class TaskSetOptions:
    """How a set is made. The budget is one episode's; 0 turns or tokens are no bound."""

    test_share: float = 0.1
    seed: int = 0
    max_steps: int = MAX_STEPS
    max_turns: int = 0
    max_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The tasks, easy ones first, and why the other items are none: items = tasks + left out."""

    lines: tuple[TaskLine, ...]
    left_out: tuple[dict[str, str], ...]

    def summarise(self) -> dict[str, Any]:
        """Counts for a report."""
        reasons = Counter(one["reason"] for one in self.left_out)
        rows = Counter((line.split, line.variant, len(line.hops)) for line in self.lines)
        reached = [line for line in self.lines if None not in line.ranks]
        return {
            "tasks": len(self.lines),
            "left_out": dict(sorted(reasons.items())),
            "by_split": [
                {"split": split, "variant": variant, "hops": hops, "tasks": count}
                for (split, variant, hops), count in sorted(rows.items())
            ],
            "all_gold_within_hundred": len(reached),
        }


def make_task_set(
    items: Sequence[EvalItem],
    retriever: Retriever,
    prompts: Mapping[str, Prompt],
    options: TaskSetOptions,
    tell: Callable[[str], object] = lambda line: None,
) -> TaskSet:
    """Make the set. An item of which it is not known where every hop is stated is left out with its reason.

    `tell` is told how far it is. Raises InputError where no item is left, or where items cite what the corpus does not
    hold.
    """
    gold = GoldFinder(retriever)
    tasks: list[tuple[EvalItem, Task]] = []
    left_out: list[dict[str, str]] = []
    for number, item in enumerate(items, start=1):
        if number % _TOLD == 1:
            tell(f"looking for where items are stated: {number:,} of {len(items):,}")
        task = gold.make_task(item, options.max_steps)
        if is_measurable(item, task):
            tasks.append((item, task))
        else:
            left_out.append({"id": item.id, "reason": "no passage states one of its hops"})
    if not tasks:
        raise InputError(
            f"{retriever.store.folder}: its passages state every hop of none of the {len(items):,} items; "
            "name the corpus that they belong to"
        )
    split = split_items([item for item, _ in tasks], options.test_share, options.seed)
    lines: list[TaskLine] = []
    for number, (item, task) in enumerate(tasks, start=1):
        if number % _TOLD == 1:
            tell(f"ranking what is found: task {number:,} of {len(tasks):,}")
        if item.pair in split.held_back:
            left_out.append({"id": item.id, "reason": "it shares a fact with a task of the test set"})
            continue
        line = make_line(
            task,
            prompts,
            options,
            split="test" if item.pair in split.test else "train",
            variant=item.variant,
            pair=item.pair,
            topology=item.topology,
            difficulty=item.difficulty,
            ranks=rank_gold(task, search_first(retriever)),
        )
        lines.append(line)
    return TaskSet(put_in_order(lines), tuple(left_out))


def make_line(
    task: Task,
    prompts: Mapping[str, Prompt],
    options: TaskSetOptions,
    names: Mapping[Form, str] = PROMPTS,
    **known: Any,
) -> TaskLine:
    """A task with its prompts, its budget and what is known beside it."""
    rendered = {
        form: tuple(
            ChatLine.model_validate({"role": turn.role, "content": turn.content})
            for turn in prompts[name].render({"question": task.question})
        )
        for form, name in names.items()
    }
    line = TaskLine.from_task(task, prompts=rendered, **known)
    return line.model_copy(update={"max_turns": options.max_turns, "max_tokens": options.max_tokens})


def put_in_order(lines: Iterable[TaskLine]) -> tuple[TaskLine, ...]:
    """The lines as a curriculum, the easiest first, each with its place."""
    ordered = sorted(lines, key=lambda line: (*rate(line), line.id))
    return tuple(line.model_copy(update={"order": order}) for order, line in enumerate(ordered))


def search_first(retriever: Retriever) -> Search:
    """The search of a corpus by words, as ranks of gold are taken from it."""
    return lambda query: [show_passage(hit.passage) for hit in retriever.search(query, DEPTH, "bm25")]


def rate(line: TaskLine) -> tuple[int, float, float]:
    """How hard a task is, the easiest first: hops, then the share of voters it defeats, then how deep its gold lies.

    Where nobody voted, the task counts as of middling difficulty.
    """
    depth = max((rank if rank is not None else 2 * DEPTH for rank in line.ranks), default=0)
    return len(line.hops), 0.5 if line.difficulty is None else line.difficulty, float(depth)


def rank_gold(task: Task, search: Search) -> tuple[int | None, ...]:
    """For each hop, the rank at which its question finds the last of its facts; 0 without gold, None past 100."""
    ranks: list[int | None] = []
    for hop in task.hops:
        if not hop.gold:
            ranks.append(0)
            continue
        found = search(hop.question)
        places = [
            next(
                (
                    rank
                    for rank, one in enumerate(found, start=1)
                    if any(
                        place.document == one.document and place.start < one.end and one.start < place.end
                        for place in fact
                    )
                ),
                None,
            )
            for fact in hop.gold
        ]
        known = [rank for rank in places if rank is not None]
        ranks.append(max(known) if len(known) == len(places) else None)
    return tuple(ranks)

