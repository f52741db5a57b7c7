"""The texts of a twin: worded again from its plan, or by exact replacement of what the original's texts mention.

A text that the rules writer made is worded again with the same choices of templates and the new names, which cannot
confuse two equal numbers. Every other text (a model's, or one edited by hand) is rewritten mention by mention.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hopwright.counterfactual.constants import is_year, list_constants
from hopwright.counterfactual.failures import TwinError
from hopwright.errors import ExpressionError
from hopwright.knowledge.wikidata.nouns import definite
from hopwright.planning.execution import hops_used, stated_value
from hopwright.planning.plan import PlanStep
from hopwright.records import Hop, Item, ReadRegion, ReadSpan
from hopwright.records.values import EntityKind, Value, render
from hopwright.text.mentions import replace_names, replace_number
from hopwright.wording.rules.rules_writer import EntityNaming, GenderedNaming, RulesWriter, Wording

_YEAR_OF_WORK = re.compile(
    r"\b(?:1\d{3}|20\d{2}) (?=(?:[\w'’]+ )?"
    r"(?:film|series|miniseries|novel|novella|album|play|song|opera|operetta|oratorio|ballet|musical|symphony|poem|book"
    r"|story|tale)\b)|(?<=[\"”]) \((?:1\d{3}|20\d{2})\)"
)
_PREPOSITIONS = frozenset({"of", "in", "at", "for", "on", "to", "from"})


@dataclass(frozen=True, slots=True)
class EntityReplacement:
    """One replaced entity. `id` and `surrogate_id` are empty for a distractor that the graph does not know."""

    id: str
    surrogate_id: str
    label: str
    surrogate: str
    kind: EntityKind
    other_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TwinChanges:
    """All that differs between an item and its twin, texts aside. `hops` and `values` are the twin's."""

    entities: tuple[EntityReplacement, ...]
    hops: tuple[Hop, ...]
    values: Mapping[int, Value]

    def names(self) -> dict[str, str]:
        """Every written form of a replaced entity's name → its surrogate."""
        return {label: change.surrogate for change in self.entities for label in (change.label, *change.other_labels)}


class TwinWriter:
    """Words twins. names: how the original world's entities are called (see `GraphNames`)."""

    def __init__(self, writer: RulesWriter, names: EntityNaming) -> None:
        self._writer = writer
        self._names = names

    def word(self, item: Item, changes: TwinChanges) -> Wording:
        """The twin's questions. Raises TwinError when the mentions cannot be told apart."""
        if item.provenance.generator == "rules":
            original = self._word_plan(item.hops, None, self._names, item.id)
            texts = (tuple(hop.question for hop in item.hops), item.question)
            if original is not None and (original.hop_questions, original.question) == texts:
                again = self._word_plan(changes.hops, changes.values, TwinNames(self._names, changes), item.id)
                if again is not None:
                    return again
        return reword_by_mentions(item, changes)

    def _word_plan(
        self, hops: Sequence[Hop], values: Mapping[int, Value] | None, names: EntityNaming, key: str
    ) -> Wording | None:
        steps = [
            PlanStep(
                hop.derivation,
                stated_value(hop) if values is None else values[hop.index],
                hop.answer_type,
                hop.unit,
            )
            for hop in hops
            if not isinstance(hop.derivation, ReadSpan | ReadRegion)
        ]
        if len(steps) < len(hops):
            return None
        try:
            return self._writer.word(steps, names, key)
        except (ExpressionError, LookupError):
            # Not a plan of the rules writer; its texts are then rewritten as they stand.
            return None


def reword_by_mentions(item: Item, changes: TwinChanges) -> Wording:
    """Replace every mention of a name, and in each sub-question the answers that it takes from earlier hops.

    The plan's own numbers become what they are now. Raises TwinError ("twin_wording") when a question does not mention
    a number that it rests on, or when that number cannot be told from another one in it.
    """
    # "the 1972 film" is told apart by a year that is none of the twin's.
    texts = [_YEAR_OF_WORK.sub("", text) for text in (item.question, *(hop.question for hop in item.hops))]
    texts = replace_names(texts, changes.names())
    return Wording(
        tuple(
            _replace_inputs(hop, question, item, changes) for hop, question in zip(item.hops, texts[1:], strict=True)
        ),
        _replace_constants(texts[0], item, changes),
    )


def _replace_inputs(hop: Hop, question: str, item: Item, changes: TwinChanges) -> str:
    moved = _list_moved_constants(hop, changes)
    inputs = dict(moved)
    kept = _constants(hop) - {old for old, _ in moved}
    for index in hops_used(hop.derivation):
        source, target = item.hops[index - 1], changes.hops[index - 1]
        if source.answer_type == "entity":
            continue
        old, new = source.answer, target.answer
        if inputs.setdefault(old, new) != new or old in kept:
            raise TwinError("twin_wording", f"hop {hop.index}: {old!r} stands for two numbers in {hop.question!r}")
    return _replace_numbers(question, inputs, f"hop {hop.index}")


def _replace_constants(question: str, item: Item, changes: TwinChanges) -> str:
    """The whole question with the plan's own numbers as they are now."""
    moved: dict[str, str] = {}
    for hop in item.hops:
        for old, new in _list_moved_constants(hop, changes):
            if moved.setdefault(old, new) != new:
                raise TwinError("twin_wording", f"{old!r} stands for two numbers in {question!r}")
    return _replace_numbers(question, moved, "the question")


def _replace_numbers(text: str, numbers: Mapping[str, str], where: str) -> str:
    marks: dict[int, str] = {}
    for mark, (old, new) in enumerate(sorted(numbers.items(), key=lambda pair: (-len(pair[0]), pair)), start=0xE000):
        text, count = replace_number(text, old, chr(mark))
        if not count:
            raise TwinError("twin_wording", f"{where}: {old!r} is not mentioned in {text!r}")
        marks[mark] = new
    return text.translate(marks)


def _list_moved_constants(hop: Hop, changes: TwinChanges) -> list[tuple[str, str]]:
    """The plan's own numbers in a hop as they were and as they are, where they differ."""
    now = list_constants(changes.hops[hop.index - 1].derivation)
    pairs = zip(list_constants(hop.derivation), now, strict=True)
    return [(_write(old), _write(new)) for old, new in pairs if old != new]


def _write(number: int) -> str:
    return render(number, year=is_year(number))


def _constants(hop: Hop) -> set[str]:
    """The words of a derivation: a number among them is a constant, which stays."""
    words = " ".join(str(part) for part in hop.derivation.model_dump(mode="json").values())
    return set("".join(letter if letter.isalnum() or letter == "." else " " for letter in words).split())


@functools.lru_cache(maxsize=16_384)
def strip_proper(noun: str) -> str:
    """A common noun without what ties it to the real world: `American city`, `commune of France`."""
    words = noun.split()
    for i, word in enumerate(words):
        if i and word in _PREPOSITIONS and any(other[:1].isupper() for other in words[i:]):
            words = words[:i]
            break
    plain = [word for word in words if not word[:1].isupper()]
    while plain and plain[0] in ("or", "and"):  # "European Cup or Champions League final"
        plain = plain[1:]
    # What is a name to its last word ("Tour de France") has no common noun.
    return " ".join(plain) if plain and not words[-1][:1].isupper() else noun


class TwinNames:
    """The writer's Names in the twin's world: surrogates for what was replaced, kinds and nouns as they were."""

    def __init__(self, names: EntityNaming, changes: TwinChanges) -> None:
        self._names = names
        self._changed = {change.surrogate_id: change for change in changes.entities if change.surrogate_id}
        self._replaced = changes.names()

    def phrase(self, entity: str) -> str:
        """See EntityNaming."""
        change = self._changed.get(entity)
        if change is None:
            return replace_names([self._names.phrase(entity)], self._replaced)[0]
        return definite(change.surrogate, change.kind, self.noun(entity))

    def pronoun(self, entity: str) -> str:
        """See GenderedNaming."""
        change = self._changed.get(entity)
        known = self._names if isinstance(self._names, GenderedNaming) else None
        return known.pronoun(change.id if change else entity) if known is not None else ""

    def noun(self, entity: str) -> str:
        """See EntityNaming."""
        change = self._changed.get(entity)
        return strip_proper(self._names.noun(change.id if change else entity))

    def kind(self, entity: str) -> EntityKind:
        """See EntityNaming."""
        change = self._changed.get(entity)
        return change.kind if change else self._names.kind(entity)
