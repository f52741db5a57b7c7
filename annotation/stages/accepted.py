"""Shards of the accepted set: items in, decided; those that are good enough out, corrected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopwright.records import Rejected
from hopwright.records.arrow import items_to_table
from hopwright.runs import ShardOutput

if TYPE_CHECKING:
    from annotation.accepted import Decided


@dataclass(frozen=True, slots=True)
class DecidedShard:
    """Some decided items."""

    decided: Sequence[Decided]


def keep_accepted(shard: DecidedShard) -> ShardOutput:
    """The accepted items of a shard; the others, as they were reviewed, with check and reason."""
    accepted = [one.item for one in shard.decided if one.decision.state == "accepted"]
    rejected = [
        Rejected(
            key=one.item.id,
            check=one.decision.check,
            reason=one.decision.reason,
            row=one.item.model_dump_json() if one.decision.state == "rejected" else "",
        )
        for one in shard.decided
        if one.decision.state != "accepted"
    ]
    twins = sum(item.variant != "factual" for item in accepted)
    figures = {"expert_reviewed": len(accepted), "accepted_twins": twins}
    return ShardOutput(items_to_table(accepted), rejected, taken=len(shard.decided), figures=figures)
