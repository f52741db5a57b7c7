"""A model's wrong options as candidates: found in the graph, and shown to be wrong; the distractor maker chooses.

What is chosen is chosen as among the rules' own candidates, because where the answer stands among its options, by
likeness, rank or form, must not show which one it is. Dates keep the rules' options, a square for that reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hopwright.checks import CheckContext
from hopwright.checks.choices import is_true
from hopwright.errors import InputError
from hopwright.knowledge.facts import Facts
from hopwright.knowledge.wikidata.similar_entities import EntityKindSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Distractor, Hop
from hopwright.records.values import Value, parse
from hopwright.text.matching import differs_in_form, fold, normalise_option

Refusal = Literal["true", "form", "unknown", "known"]
"""Why a proposal is no candidate: it is a right answer; it has another form or sort; the graph does not know it, so
that nothing shows that it is wrong; it is among the options already."""


@dataclass(frozen=True, slots=True)
class SortedProposals:
    """A hop's proposals: candidates as ids or numbers, and the others with the reason."""

    candidates: tuple[Value, ...] = ()
    refused: tuple[tuple[str, Refusal], ...] = ()


class ProposalSorter:
    """Sorts proposals over one graph."""

    def __init__(self, graph: GraphStore, kinds: EntityKindSource, context: CheckContext) -> None:
        self._graph = graph
        self._kinds = kinds
        self._context = context
        assert context.facts is not None
        self._facts: Facts = context.facts

    def sort(self, hop: Hop, texts: Sequence[str], answers: Mapping[int, Value]) -> SortedProposals:
        """Tell candidates from the rest. `answers` are the values of the hops so far."""
        candidates: list[Value] = []
        refused: list[tuple[str, Refusal]] = []
        for text in dict.fromkeys(one.strip() for one in texts):
            why = self._refuse(hop, text, answers)
            if why is not None:
                refused.append((text, why))
                continue
            found = self._find(hop, text)
            if found is None:
                refused.append((text, "unknown" if not self._graph.find(text) else "form"))
            elif hop.answer_type != "date":
                candidates.append(found)
        return SortedProposals(tuple(candidates), tuple(refused))

    def _refuse(self, hop: Hop, text: str, answers: Mapping[int, Value]) -> Refusal | None:
        same = normalise_option(text, hop.answer_type)
        known = (*hop.answer_aliases, *(self._graph.aliases(hop.answer_id) if hop.answer_id else ()))
        if same == normalise_option(hop.answer, hop.answer_type) or fold(text) in {fold(name) for name in known}:
            return "true"
        if any(normalise_option(one.text, hop.answer_type) == same for one in hop.distractors):
            return "known"
        if differs_in_form(text, hop.answer, hop.answer_type, hop.unit):
            return "form"
        ids = [one.id for one in self._graph.find(text)] if hop.answer_type == "entity" else [None]
        meant = [Distractor(text=self._graph.label(id) if id else text, kind="sibling", id=id) for id in ids]
        if any(is_true(hop, one, answers, self._facts, self._context) for one in meant):
            return "true"
        return None

    def _find(self, hop: Hop, text: str) -> Value | None:
        """The entity of the answer's sort that is called so, or the number."""
        if hop.answer_type != "entity" or hop.answer_id is None:
            try:
                return parse(text, hop.answer_type)
            except InputError:
                return None
        sort = self._kinds.sort(hop.answer_id)
        ids = [one.id for one in self._graph.find(text) if self._graph.label(one.id) == text]
        return next((id for id in ids if self._kinds.sort(id) == sort), None)
