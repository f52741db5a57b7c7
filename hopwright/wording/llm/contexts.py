"""Refined context: a hop's facts as running text, kept only where it says those facts and nothing else."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from decimal import Decimal

from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.execution import stated_value
from hopwright.records import Hop, Item, Passage
from hopwright.records.values import Value
from hopwright.text.matching import read_number
from hopwright.wording.llm.problems import WordingProblem
from hopwright.wording.llm.text_constraints import (
    PlanEntity,
    TextConstraints,
    find_digits,
    find_number_words,
    list_constants,
    mask_names,
    write_number,
)
from hopwright.wording.llm.vocabulary import find_steps, months
from hopwright.wording.llm.wording_checks import (
    find_unexpected_names,
    mentions,
    remove_phrases,
    split_words,
)

_SHORTEST = 12


class ContextChecker:
    """Reads context texts against the facts of their hops."""

    def __init__(self, table: PropertyTable) -> None:
        self._table = table

    def read(
        self, draft: Item, hop: Hop, place: TextConstraints, names: Mapping[str, PlanEntity], text: str
    ) -> list[WordingProblem]:
        """What is wrong with a hop's context; an empty text is no context, which is never wrong."""
        if not text.strip():
            return []
        where = f"the context of hop {hop.index}"
        known = self._list_names(draft, hop, place, names)
        # Of a first wife `first` is no order, and `since 1900` belongs to the name of a series.
        relations = [fact.property_label for fact in hop.evidence.triplets]
        relations += [fact.property_label for fact in hop.evidence.literals]
        bare = remove_phrases(mask_names(text, known), [*self._list_units(hop), *relations])
        strange = list(find_unexpected_names(place, bare, self._list_words(hop)))
        foreign = [name.label for name in names.values() if name not in known and mentions(bare, name)]
        # `The first of them was that of 2019`, where the name of what is meant tells the year.
        told = (*(one.label for one in known), *relations)
        allowed = self._list_numbers(draft, hop, place) | find_digits(" ".join(told))
        stray = (find_digits(bare) | find_number_words(bare)) - allowed - find_number_words(place.rules)
        added = [*map(repr, dict.fromkeys((*foreign, *strange))), *map(write_number, sorted(stray))]
        added += map(repr, find_steps(bare, place.own))
        problems = []
        if added:
            problems.append(
                WordingProblem("context", f"{where} brings in {', '.join(added)}, none of which is in its facts")
            )
        if not self._states_answer(hop, text, bare, names):
            problems.append(WordingProblem("context", f"{where} does not state its answer, {hop.answer}"))
        if "?" in bare or len(text) < _SHORTEST or text.strip()[-1] not in '.!"”':
            problems.append(WordingProblem("context", f"{where} must be one or two whole sentences"))
        return problems

    def _list_names(
        self, draft: Item, hop: Hop, place: TextConstraints, names: Mapping[str, PlanEntity]
    ) -> tuple[PlanEntity, ...]:
        ids = {hop.answer_id or ""}
        for triplet in hop.evidence.triplets:
            ids |= {triplet.subject, triplet.object}
        ids |= {literal.subject for literal in hop.evidence.literals}
        ids |= {one.answer_id or "" for one in draft.hops if one.index in hop.depends_on}
        found = [*place.known, *(names[id] for id in sorted(ids) if id in names)]
        return tuple(dict.fromkeys(found))

    def _list_words(self, hop: Hop) -> frozenset[str]:
        """Capitalised words that the facts bring along: of properties, units and dates."""
        facts = hop.evidence
        texts = [fact.property_label for fact in facts.triplets] + [fact.property_label for fact in facts.literals]
        texts += self._list_units(hop)
        texts += [text for claim in facts.claims for text in (claim.phrase, claim.statement)]
        dated = any(fact.datatype == "dateTime" for fact in facts.literals)
        return frozenset(word for text in texts for word in (*split_words(text), *re.findall(r"\w+", text))) | (
            months() if dated else frozenset()
        )

    def _list_units(self, hop: Hop) -> list[str]:
        return [entry.unit for fact in hop.evidence.literals if (entry := self._table.literal.get(fact.property))]

    def _list_numbers(self, draft: Item, hop: Hop, place: TextConstraints) -> frozenset[Decimal]:
        values: list[Value | None] = [
            stated_value(one) for one in draft.hops if one.index in (*hop.depends_on, hop.index)
        ]
        values += [self._table.read(one) for one in hop.evidence.literals]
        found = set(place.numbers) | set(list_constants(hop))
        found |= {Decimal(claim.number) for claim in hop.evidence.claims}
        for value in values:
            if isinstance(value, dt.date):
                found |= {Decimal(value.year), Decimal(value.day)}
            elif isinstance(value, int | Decimal):
                found.add(Decimal(value))
        return frozenset(found)

    def _states_answer(self, hop: Hop, text: str, bare: str, names: Mapping[str, PlanEntity]) -> bool:
        if hop.answer_type == "number":
            number = read_number(hop.answer)
            return number in find_digits(bare) | find_number_words(bare)
        if hop.answer_id and (name := names.get(hop.answer_id)):
            return mentions(text, name)
        return hop.answer in text


def add_context(hop: Hop, text: str) -> Hop:
    """The hop with a passage that words its facts; its title is what the facts are about."""
    subjects = [fact.subject_label for fact in hop.evidence.triplets]
    subjects += [fact.subject_label for fact in hop.evidence.literals]
    passage = Passage(title=subjects[0] if subjects else hop.answer, text=text.strip())
    return hop.model_copy(update={"evidence": hop.evidence.replace(passages=(passage,))})
