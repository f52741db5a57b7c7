"""Passages about wrong options of which no other passage tells: else the answer is the one that is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hopwright.counterfactual.passages import PassagePlan
from hopwright.knowledge.properties import PropertyTable
from hopwright.records import Item, Lookup
from hopwright.records.values import BROUGHT_OUT, EntityKind
from hopwright.wording.rules.rules_writer import EntityNaming

# Of these another one can be made up; a race or a state would have to fit into a series or on a map.
_KINDS: frozenset[EntityKind] = BROUGHT_OUT | {"person"}


@dataclass(frozen=True, slots=True)
class UntoldOption:
    """A wrong option of a look-up, in the ids of the twin's world.

    hop: its place from 0. like: the subject that the hop asks about. property: what the hop asks.
    """

    hop: int
    like: str
    property: str
    option: str


def list_untold_options(
    item: Item, plans: Sequence[PassagePlan], ids: Mapping[str, str], names: EntityNaming, table: PropertyTable
) -> Iterator[UntoldOption]:
    """The wrong options of an item's look-ups that no plan tells of, each once.

    plans: those of the twin's passages. ids: original id → the twin's. names: those of the twin's world.
    """
    told = {one.subject for one in plans}
    for plan in plans:
        told |= {end for one in plan.triplets for end in (one.subject, one.object)}
    for place, hop in enumerate(item.hops):
        derivation = hop.derivation
        if not isinstance(derivation, Lookup) or not hop.evidence.passages:
            continue
        entry = table.entity.get(derivation.property)
        facts = [one for one in hop.evidence.triplets if one.property == derivation.property]
        if entry is None or entry.series or derivation.property in table.lists or not facts:
            continue
        like = ids.get(facts[0].subject, "")
        if not like or facts[0].object != hop.answer_id or names.kind(like) not in _KINDS:
            continue
        for distractor in hop.distractors:
            option = ids.get(distractor.id or "", "")
            if option and option not in told:
                told.add(option)
                yield UntoldOption(place, like, derivation.property, option)
