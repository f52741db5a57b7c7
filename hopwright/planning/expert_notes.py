"""What an expert has to verify of one hop: what the source of facts cannot know."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hopwright.knowledge.external.notes import write_note
from hopwright.knowledge.source import FactSource
from hopwright.planning.plan import PlanStep
from hopwright.records import Hop, ReverseLookup

_HOP = re.compile(r"\bhop\d+\b")


def write_expert_note(step: PlanStep, earlier: Sequence[Hop], source: FactSource) -> str:
    """The note of a hop; empty where nothing is open. `earlier` are the hops before it.

    A claim is proven by nobody. What is looked up in reverse has to be the only one, and the source may not know all
    that there are; of a timeline every holder is known.
    """
    derivation = step.derivation
    if step.claims:
        return " ".join(map(write_note, step.claims))
    if not isinstance(derivation, ReverseLookup):
        return ""
    conditions = derivation.conditions()
    table = source.table
    judged = dict.fromkeys(one.property for one in conditions if not table.is_timeline(one.property))
    if not judged:
        return ""
    said = [f"“{table.label(one.property)}” is {_name(one.value, earlier, source)}" for one in conditions]
    if len(said) == 1:
        reason = source.completeness.explain(conditions[0].property)
        return f"Nothing else may be found, outside the graph either, whose {said[0]}. {reason}"
    listed = f"{', '.join(said[:-1])} and {said[-1]}"
    together = f"Nothing else may be found, outside the graph either, of which all of this is true: {listed}."
    return " ".join(
        [together, *(f"“{table.label(one)}” by itself: {source.completeness.explain(one)}" for one in judged)]
    )


def _name(value: str, earlier: Sequence[Hop], source: FactSource) -> str:
    """The value of a condition in words: an entity's label, or a number, with the answers of earlier hops put in."""
    if value.startswith("Q"):
        return source.graph.label(value)
    answers = {f"hop{hop.index}": hop.answer for hop in earlier}
    return _HOP.sub(lambda found: answers.get(found[0], found[0]), value)
