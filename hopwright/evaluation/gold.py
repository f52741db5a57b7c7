"""Where the hops of an item are stated in a corpus.

As their evidence cites it; else in the passages that came with the item, where the corpus holds them; and where other
passages say their facts.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Literal

from hopwright.environments.task import MAX_STEPS, GoldFact, GoldPlace, Task, TaskHop
from hopwright.errors import InputError
from hopwright.evaluation.items import EvalHop, EvalItem, kind_of
from hopwright.knowledge.documents.alignment import AlignedText, FactEnd
from hopwright.knowledge.documents.index import Retriever
from hopwright.records import LiteralFact, Passage, Span, Triplet
from hopwright.text.stems import content_stems

GoldSource = Literal["cited", "aligned", "none"]
"""How the gold places of an item were found: by what it cites, by alignment of its facts, or not at all."""
_LOOKED_AT = 20
"""Passages that are looked at for one fact."""


class GoldFinder:
    """Finds gold places in one corpus."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    def make_task(self, item: EvalItem, max_steps: int = MAX_STEPS) -> Task:
        """The item as a task of an agent. Raises InputError where it cites what the corpus does not hold."""
        hops = tuple(
            TaskHop(hop.index, hop.question, (hop.answer, *hop.aliases), hop.depends_on, self.find_facts(hop))
            for hop in item.hops
        )
        kind = kind_of(item.answer, item.answer_type)
        return Task(item.id, item.question, (item.answer, *item.aliases), kind, hops, max_steps)

    def find_facts(self, hop: EvalHop) -> tuple[GoldFact, ...]:
        """Where the facts of a hop are stated; nothing where not all of them are. Raises as `make_task` does."""
        if hop.spans:
            return self._group([self._cite(span) for span in hop.spans], hop)
        # A fact that no passage states leaves the hop without gold: half of its facts would look like all of them.
        stated = [tuple(dict.fromkeys((*self._find_own(fact, hop), *self._align(fact)))) for fact in hop.facts]
        return tuple(dict.fromkeys(stated)) if all(stated) else ()

    def _find_own(self, fact: Triplet | LiteralFact, hop: EvalHop) -> GoldFact:
        """The passages of the hop that tell a fact, where the corpus was made of them.

        Passages are about one subject each; a title that does not name it leaves all that support the hop.
        """
        supporting = [passage for passage in hop.passages if passage.supporting]
        own = [passage for passage in supporting if fact.subject_label in passage.title] or supporting
        places = []
        for passage in own:
            try:
                document, _, _ = self._retriever.store.find(name_passage(passage))
            except InputError:
                continue
            places.append(GoldPlace(document.id, 0, len(document.text)))
        return tuple(places)

    def _cite(self, span: Span) -> GoldPlace:
        try:
            document, _, _ = self._retriever.store.find(span.document)
        except InputError:
            document = None
        if document is None or document.text[span.start : span.end] != span.text:
            raise InputError(
                f"{self._retriever.store.folder}: it does not hold what the items cite ({span.document}, characters "
                f"{span.start} to {span.end}); name the corpus that they were made from"
            )
        return GoldPlace(document.id, span.start, span.end)

    def _group(self, places: Sequence[GoldPlace], hop: EvalHop) -> tuple[GoldFact, ...]:
        """The cited places by the facts that they state: any place of a fact will do, and every fact is needed.

        Places that state none of several facts, as far as can be read, go with others of their document; without any
        they stand for a fact each. So do all places of a hop without facts.
        """
        facts: dict[tuple[str, ...], list[Triplet | LiteralFact]] = {}
        for fact in hop.facts:
            # A date that the source has in two precisions is one fact.
            object = (fact.object,) if isinstance(fact, Triplet) else ()
            facts.setdefault((fact.subject, fact.property, *object), []).append(fact)
        if len(facts) == 1:
            return (tuple(dict.fromkeys(places)),)
        groups: list[list[GoldPlace]] = [[] for _ in facts]
        rest = []
        for place, span in zip(places, hop.spans, strict=True):
            stated = [number for number, same in enumerate(facts.values()) if self._states(span, same)]
            for number in stated:
                groups[number].append(place)
            if not stated:
                rest.append(place)
        for place in rest:
            beside = [group for group in groups if any(one.document == place.document for one in group)]
            if beside:
                beside[0].append(place)
            else:
                groups.append([place])
        return tuple(dict.fromkeys(tuple(dict.fromkeys(group)) for group in groups if group))

    def _states(self, span: Span, facts: Iterable[Triplet | LiteralFact]) -> bool:
        """Whether a cited text has both ends of one of the facts; what its document is about is understood."""
        title = self._retriever.store.find(span.document)[0].title
        text = AlignedText(span.text, [title, title.partition(" (")[0]])
        ends = ((fact, _read_end(fact)) for fact in facts)
        return any(
            other is not None and bool(text.find(FactEnd((fact.subject_label,)), other, frozenset()))
            for fact, other in ends
        )

    def _align(self, fact: Triplet | LiteralFact) -> GoldFact:
        """The sentences that have both ends of a fact, in the passages that its words find."""
        other = _read_end(fact)
        if other is None:
            return ()
        value = fact.object_label if isinstance(fact, Triplet) else fact.value
        query = f"{fact.subject_label} {fact.property_label} {value}"
        cues = frozenset(content_stems(fact.property_label))
        places = []
        for hit in self._retriever.search(query, _LOOKED_AT, "bm25"):
            passage = hit.passage
            stated = AlignedText(passage.text, [passage.title]).find(FactEnd((fact.subject_label,)), other, cues)
            places += [
                GoldPlace(passage.document, passage.start + one.start, passage.start + one.end) for one in stated[:1]
            ]
        return tuple(dict.fromkeys(places))


def name_passage(passage: Passage) -> str:
    """The id that a passage of an item has as a document of a corpus."""
    return "passage-" + hashlib.blake2b(f"{passage.title}\0{passage.text}".encode(), digest_size=12).hexdigest()


def name_source(item: EvalItem, task: Task) -> GoldSource:
    """How the gold places of an item were found."""
    if not any(hop.gold for hop in task.hops):
        return "none"
    return "cited" if any(hop.spans for hop in item.hops) else "aligned"


def is_measurable(item: EvalItem, task: Task) -> bool:
    """Whether it is known of every hop where it is stated, or that it is worked out from others.

    Where it is not, a transcript cannot show that the hop was found, and there is no MaxD.
    """
    pairs = zip(item.hops, task.hops, strict=True)
    return any(hop.gold for hop in task.hops) and all(
        hop.gold or not (cited.facts or cited.spans) for cited, hop in pairs
    )


def list_gold(task: Task, without: int = 0) -> tuple[GoldFact, ...]:
    """The facts of a task that have gold places, each once, but for those of the hop `without`."""
    dropped: Iterable[GoldFact] = task.hop(without).gold if without else ()
    lost = set(dropped)
    return tuple(dict.fromkeys(fact for hop in task.hops for fact in hop.gold if fact not in lost))


def _read_end(fact: Triplet | LiteralFact) -> FactEnd | None:
    """The far end of a fact as it may stand in a text; None for what cannot be told there."""
    if isinstance(fact, Triplet):
        return FactEnd((fact.object_label,))
    try:
        if fact.datatype == "dateTime":
            return FactEnd(date=dt.date.fromisoformat(fact.value.lstrip("+")[:10]))
        if fact.datatype in ("decimal", "double") and not fact.unit:
            return FactEnd(number=Decimal(fact.value))
    except (ValueError, InvalidOperation):
        return None
    return FactEnd((fact.value,)) if fact.datatype == "string" else None
