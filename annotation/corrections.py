"""Corrections of experts: applied to a copy of the item, which must then pass all that its original had to pass.

An expert may reword and replace; what follows from what is for the derivations to say, run again on the corrected
item. A correction that they contradict goes back to its author with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.schema import FIX_ANSWER, FIX_OPTIONS, FIX_QUESTION
from hopwright.checks import CheckContext, failures, run_checks
from hopwright.checks.findings import describe, read_findings
from hopwright.errors import InputError
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import LABELS, CheckResult, Distractor, Hop, Item, Label, Review

_MAX_ALIASES = 20
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Recheck:
    """What came of a correction: the corrected item with its checks, and why it does not hold (empty: it does)."""

    item: Item
    changed: tuple[str, ...]
    problem: str = ""


def list_changes(item: Item, hop: int | None, corrections: Mapping[str, str]) -> dict[str, str]:
    """The corrections that differ from the item's text, without white space at their ends.

    Raises InputError for a hop that the item does not have.
    """
    today = _read_texts(item, hop)
    stripped = {name: text.strip() for name, text in corrections.items() if name in today}
    return {name: text for name, text in stripped.items() if text != today[name].strip()}


def corrections_of(review: Review) -> dict[str, str]:
    """A review's corrections by control."""
    return {one.field: one.text for one in review.corrections}


def apply_corrections(
    item: Item, hop: int | None, corrections: Mapping[str, str], graph: GraphStore | None = None
) -> Item:
    """A copy of the item with the corrections of one task: those of a hop, or of the whole question.

    The right option is the answer, and the last hop's options are the question's: one carries over to the other. An
    entity is looked up in the graph by its exact name; one that several entities or none have loses its id.
    Raises InputError for a correction that is empty or contradicts another, or a hop that the item does not have.
    """
    changes = list_changes(item, hop, corrections)
    if not changes:
        return item
    empty = [name for name, text in changes.items() if not text]
    if empty:
        raise InputError(f"{_call(empty[0])} is empty")
    position = len(item.hops) if hop is None else hop
    old = item.hops[position - 1]
    new = _correct_hop(old, changes, graph, reword=hop is not None)
    updates: dict[str, object] = {"hops": (*item.hops[: position - 1], new, *item.hops[position:])}
    if hop is None and FIX_QUESTION in changes:
        updates |= {"question": changes[FIX_QUESTION], "marked": ""}  # nobody has marked the new words
    if position == len(item.hops):
        updates |= {"answer": new.answer, "options": new.options, "label": new.label}
        if new.answer != item.answer:
            updates["answer_aliases"] = new.answer_aliases
    # Votes were cast on the old wording and the old options.
    return item.model_copy(update={**updates, "votes": ()})


def recheck(original: Item, corrected: Item, context: CheckContext) -> Recheck:
    """Run every check and every derivation on a corrected item; what failed already before is not held against it.

    The item that comes back carries the new results; those of checks over a whole set of items stay.
    """
    before = {result.name for result in failures(run_checks(original, context))}
    results = run_checks(corrected, context)
    fresh = {result.name for result in results}
    kept = tuple(result for result in corrected.checks if result.name not in fresh)
    broken = [result for result in failures(results) if result.name not in before]
    checked = corrected.model_copy(update={"checks": (*results, *kept)})
    return Recheck(checked, _name_changes(original, corrected), _explain(broken))


def examine_review(item: Item, review: Review, context: CheckContext) -> Recheck:
    """Apply one review's corrections to the item that it is about, and run everything again."""
    if review.verdict != "Fix":
        return Recheck(item, ())
    hop = review.hop if review.settles == "single_hop" else None
    try:
        corrected = apply_corrections(item, hop, corrections_of(review), context.graph)
    except InputError as error:
        return Recheck(item, (), str(error))
    if corrected is item:
        return Recheck(item, (), "the verdict is Fix, but no text was changed; say what should read differently")
    return recheck(item, corrected, context)


def _correct_hop(hop: Hop, changes: Mapping[str, str], graph: GraphStore | None, *, reword: bool) -> Hop:
    options = dict(hop.options)
    for letter in LABELS:
        if (name := FIX_OPTIONS[letter]) in changes:
            if hop.options and letter not in hop.options:
                raise InputError(f"the question has no option {letter}, only {' and '.join(hop.options)}")
            options[letter] = changes[name]
    answer = changes.get(FIX_ANSWER, hop.answer)
    if hop.label is not None and hop.options:
        name = FIX_OPTIONS[hop.label]
        if name in changes and FIX_ANSWER in changes and changes[name] != answer:
            raise InputError(f"the right option reads {changes[name]!r}, the answer {answer!r}; make them the same")
        answer = changes.get(name, answer)
        options[hop.label] = answer
    updates: dict[str, object] = {"answer": answer, "options": options}
    if reword and FIX_QUESTION in changes:
        updates["question"] = changes[FIX_QUESTION]
    if answer != hop.answer:
        id = _find_entity(answer, graph) if hop.answer_type == "entity" else None
        aliases = graph.aliases(id)[:_MAX_ALIASES] if id is not None and graph is not None else ()
        updates |= {"answer_id": id, "answer_aliases": aliases}
    updates["distractors"] = _correct_distractors(hop, options, graph)
    return hop.model_copy(update=updates)


def _correct_distractors(hop: Hop, options: Mapping[Label, str], graph: GraphStore | None) -> tuple[Distractor, ...]:
    """The distractors, those whose option was replaced with the new text and its entity."""
    replaced = {
        hop.options[letter]: text
        for letter, text in options.items()
        if letter != hop.label and letter in hop.options and hop.options[letter] != text
    }
    return tuple(
        one
        if one.text not in replaced
        else one.model_copy(
            update={
                "text": replaced[one.text],
                "id": _find_entity(replaced[one.text], graph) if hop.answer_type == "entity" else None,
            }
        )
        for one in hop.distractors
    )


def _find_entity(name: str, graph: GraphStore | None) -> str | None:
    """The one entity whose label is exactly this."""
    if graph is None:
        return None
    found = [match for match in graph.find(name) if match.by_label and match.label == name]
    return found[0].id if len(found) == 1 else None


def _read_texts(item: Item, hop: int | None) -> dict[str, str]:
    """Control → what it is pre-filled with."""
    if hop is not None and not 1 <= hop <= len(item.hops):
        raise InputError(f"item {item.id} has no hop {hop}")
    whole: Item | Hop = item if hop is None else item.hops[hop - 1]
    texts = {FIX_QUESTION: whole.question, FIX_ANSWER: whole.answer}
    return texts | {FIX_OPTIONS[letter]: text for letter, text in whole.options.items()}


def _name_changes(original: Item, corrected: Item) -> tuple[str, ...]:
    """What reads differently, in words."""
    changed = ["question"] if original.question != corrected.question else []
    for old, new in zip(original.hops, corrected.hops, strict=True):
        changed += [
            f"hop {old.index}: {name}" for name in ("question", "answer") if getattr(old, name) != getattr(new, name)
        ]
        letters = [letter for letter in old.options if old.options[letter] != new.options.get(letter)]
        changed += [f"hop {old.index}: option {letter}" for letter in letters]
    return tuple(changed)


def _explain(broken: list[CheckResult]) -> str:
    """What the checks found, each finding once: several checks may stumble over the same thing."""
    found = list(dict.fromkeys(describe(finding) for one in broken for finding in read_findings(one)))
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return "; ".join(found[:_SHOWN]) + more


def _call(field: str) -> str:
    return f"the corrected {field.removeprefix('fix_').replace('_', ' ')}"
