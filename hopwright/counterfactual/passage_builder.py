"""Giving factual items their evidence passages: by rule, in a model's words, or from a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hopwright.counterfactual.authors import PassageAuthor, PassageDraft
from hopwright.counterfactual.passage_context import find_unanswered
from hopwright.counterfactual.passage_writer import PassageWriter
from hopwright.counterfactual.passages import (
    HopPassages,
    PassagePlan,
    PassagePlanner,
    attach_passages,
)
from hopwright.knowledge.documents.corpus import PassageCorpus
from hopwright.knowledge.properties import PropertyTable
from hopwright.llm.asking import NO_COSTS, RequestCosts
from hopwright.records import CheckResult, Item, Passage
from hopwright.records.values import render
from hopwright.text.phrases import write_ordinal
from hopwright.wording.rules.rules_writer import EntityNaming

CHECK = "passages"


@dataclass(frozen=True, slots=True)
class ItemWithPassages:
    """An item with its passages. rules, other: how many of them rules worded, and how many the author or the corpus."""

    item: Item
    rules: int
    other: int
    spent: RequestCosts


class PassageBuilder:
    """Gives items passages. author or corpus: what is asked before the rules; at most one of them."""

    def __init__(
        self,
        planner: PassagePlanner,
        names: EntityNaming,
        table: PropertyTable,
        *,
        author: PassageAuthor | None = None,
        corpus: PassageCorpus | None = None,
    ) -> None:
        self._planner = planner
        self._names = names
        self._table = table
        self._writer = PassageWriter(table)
        self._author = author
        self._corpus = corpus

    def build_passages(self, items: Sequence[Item]) -> list[ItemWithPassages]:
        """The items with passages and the check `passages`, in order: none is lost.

        pass: every passage has what it was asked for; its reason says who worded how many. fail: the answers of an item
        are not all in its passages, or a model's wording was refused and rules stepped in; the reason says which.
        """
        plans = [self._planner.plan(item) for item in items]
        worded = [[[self._writer.word(plan, self._names) for plan in hop] for hop in one] for one in plans]
        if self._author is not None:
            return self._ask_author(items, plans, worded)
        if self._corpus is not None:
            return [self._search(item, own, texts) for item, own, texts in zip(items, plans, worded, strict=True)]
        return [
            _close(item, texts, rules=sum(map(len, texts)), other=0, by="rules")
            for item, texts in zip(items, worded, strict=True)
        ]

    def _search(self, item: Item, plans: HopPassages, texts: list[list[Passage]]) -> ItemWithPassages:
        """Passages of the corpus in place of those by rule, where they hold the hop's answer."""
        assert self._corpus is not None
        found = rules = 0
        for place, hop in enumerate(plans):
            for number, plan in enumerate(hop):
                better = self._take(item, place, plan)
                if better is not None:
                    texts[place][number] = better
                    found += 1
                else:
                    rules += 1
        return _close(item, texts, rules=rules, other=found, by="corpus")

    def _take(self, item: Item, place: int, plan: PassagePlan) -> Passage | None:
        assert self._corpus is not None
        for passage in self._corpus.about(plan.subject):
            chosen = passage.model_copy(update={"supporting": plan.supporting})
            if not plan.supporting:
                return chosen
            evidence = item.hops[place].evidence.replace(passages=(chosen,))
            alone = item.model_copy(update={"hops": (item.hops[place].model_copy(update={"evidence": evidence}),)})
            if not find_unanswered(alone):
                return chosen
        return None

    def _ask_author(
        self, items: Sequence[Item], plans: Sequence[HopPassages], worded: list[list[list[Passage]]]
    ) -> list[ItemWithPassages]:
        assert self._author is not None
        drafts = [
            PassageDraft(f"{item.id}:{place}:{number}", worded[row][place][number], self._list_names(plan))
            for row, item in enumerate(items)
            for place, hop in enumerate(plans[row])
            for number, plan in enumerate(hop)
        ]
        answers = iter(self._author.write(drafts))
        out = []
        for row, item in enumerate(items):
            spent, made, rules, why = RequestCosts(), 0, 0, ""
            for place, hop in enumerate(plans[row]):
                for number, _ in enumerate(hop):
                    answer = next(answers)
                    spent = spent + answer.spent
                    if answer.value is None:
                        rules += 1
                        why = why or f"hop {place + 1}: {answer.problem}"
                    else:
                        made += 1
                        worded[row][place][number] = answer.value
            out.append(_close(item, worded[row], rules=rules, other=made, by=self._author.name, why=why, spent=spent))
        return out

    def _list_names(self, plan: PassagePlan) -> tuple[str, ...]:
        """What a wording of the plan must mention: its subject, its objects, its values."""
        names = [plan.subject_label, *(triplet.object_label for triplet in plan.triplets)]
        for literal in plan.literals:
            value = self._table.read(literal)
            if isinstance(value, int):
                names.append(write_ordinal(value) if self._table.is_series(literal.property) else render(value))
        return tuple(dict.fromkeys(names))


def _close(
    item: Item,
    texts: Sequence[Sequence[Passage]],
    *,
    rules: int,
    other: int,
    by: str,
    why: str = "",
    spent: RequestCosts = NO_COSTS,
) -> ItemWithPassages:
    complete = attach_passages(item, texts)
    unanswered = find_unanswered(complete)
    figures = f"{rules} by rules" + (f", {other} by {by}" if by != "rules" else "")
    problem = unanswered or why
    note = CheckResult(
        name=CHECK, outcome="fail" if problem else "pass", reason=f"{problem}; {figures}" if problem else figures
    )
    old = complete.provenance
    provenance = old.model_copy(
        update={
            "request_keys": (*old.request_keys, *spent.keys),
            "input_tokens": old.input_tokens + spent.input_tokens,
            "output_tokens": old.output_tokens + spent.output_tokens,
            "cost_usd": old.cost_usd + spent.cost_usd,
        }
    )
    checks = (*(check for check in complete.checks if check.name != CHECK), note)
    done = complete.model_copy(update={"checks": checks, "provenance": provenance})
    return ItemWithPassages(done, rules, other, spent)
