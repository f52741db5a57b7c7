"""The two single hops of a MuSiQue question as facts of the graph, where the graph knows them.

Omanic (section 2) grows a 4-hop question out of a 2-hop one by merging its single hops with hops of retrieved triplets.
A hop is resolved when the graph joins what its sub-question names with what it answers by a property whose words the
sub-question uses (or spells out, as in `Green >> performer`). The wording of such a hop is ours; its id stays.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from hopwright.planning.traversals import Edge, GraphTraversals
from hopwright.records import Anchor

_SPELLED = re.compile(r"^(?P<subject>.+?)\s*>>\s*(?P<relation>.+)$")
_WORD = re.compile(r"[^\W_]+")
_TITLE = re.compile(r"[^\s?,;]+")
_LONGEST_NAME = 8
_EMPTY = frozenset(
    "a an the of in on at to by for from with was is are were did do does has have had who what which where when whom "
    "whose how that this it its name named".split()
)


@dataclass(frozen=True, slots=True)
class ResolvedAnchorHop:
    """One single hop of an anchor question: the fact, the entity that it answers, the hop's id in MuSiQue."""

    edge: Edge
    answer: str
    id: str


class AnchorResolver:
    """Resolves anchors' hops over one graph. Results are cached by question."""

    def __init__(self, traversals: GraphTraversals) -> None:
        self._moves = traversals
        self._graph = traversals.graph
        self._read = functools.lru_cache(50_000)(self._resolve)

    def read(self, anchor: Anchor) -> tuple[ResolvedAnchorHop, ...]:
        """Both hops, the second alone, or nothing; each can be asked as a look-up."""
        if len(anchor.sub_questions) != 2 or len(anchor.sub_answers) != 2:
            return ()
        ids = anchor.sub_ids if len(anchor.sub_ids) == 2 else ("", "")
        return self._read(anchor.sub_questions, anchor.sub_answers, anchor.entity, ids)

    def _resolve(
        self, questions: tuple[str, str], answers: tuple[str, str], entity: str, ids: tuple[str, str]
    ) -> tuple[ResolvedAnchorHop, ...]:
        bridges = self._graph.bearers(answers[0])[:8]
        second = self._find(bridges, questions[1].replace("#1", " "), entity)
        if second is None:
            return ()
        bridge = second.object if second.subject == entity else second.subject
        last = ResolvedAnchorHop(second, entity, ids[1])
        first = self._find(self._list_named(questions[0]), questions[0], bridge)
        if first is None or {first.subject, first.object} & {entity}:
            return (last,)
        # The first hop is asked of a named subject, so it has to be a look-up along its property; and no name of the
        # three may give another away.
        words = [self._moves.tokens(one) for one in (first.subject, bridge, entity)]
        apart = words[0].isdisjoint(words[1] | words[2]) and words[1].isdisjoint(words[2])
        return (ResolvedAnchorHop(first, bridge, ids[0]), last) if first.object == bridge and apart else (last,)

    def _find(self, subjects: Iterable[str], question: str, answer: str) -> Edge | None:
        """The askable fact between one of the subjects and the answer whose property the question's words name."""
        best: tuple[int, Edge] | None = None
        for subject in subjects:
            found = [edge for edge in self._moves.lookups_from(subject) if edge.object == answer]
            found += [edge for edge in self._moves.reverse_from(subject) if edge.subject == answer]
            for edge in found:
                score = self._score(edge.property, question)
                if score and (best is None or score > best[0]):
                    best = score, edge
        return best[1] if best else None

    def _score(self, property: str, question: str) -> int:
        """How many of the question's words the property's label, aliases and phrases share; 100 when spelled out."""
        names = (self._graph.property_label(property), *self._graph.property_aliases(property))
        if match := _SPELLED.match(question.strip() or "?"):
            relation = match["relation"].casefold().strip()
            return 100 if relation in {name.casefold() for name in names} else 0
        entry = self._moves.table.entity[property]
        phrases = (*entry.ask, *entry.np, *(phrase for one in entry.variants for phrase in one.ask))
        known = {word for text in (*names, *phrases) for word in _stems(text)}
        return len(known & _stems(question))

    def _list_named(self, question: str) -> list[str]:
        """The entities whose names stand in a question, the longest names first."""
        if match := _SPELLED.match(question.strip()):
            return list(self._match(match["subject"]))
        words = [word.strip("\"'“”.") for word in _TITLE.findall(question)]
        found: dict[str, None] = {}
        for size in range(min(_LONGEST_NAME, len(words)), 0, -1):
            for start in range(len(words) - size + 1):
                span = " ".join(words[start : start + size])
                if span[:1].isupper() or span[:1].isdigit():
                    found |= dict.fromkeys(self._match(span))
            if len(found) > 12:
                break
        return list(found)

    def _match(self, name: str) -> tuple[str, ...]:
        return self._graph.bearers(name)[:6]


def _stems(text: str) -> set[str]:
    return {word[:5] for word in _WORD.findall(text.casefold()) if word not in _EMPTY and len(word) > 2}
