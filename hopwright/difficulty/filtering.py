"""Omanic's difficulty filter: what two or more of four voters get right is too easy (section 3)."""

from __future__ import annotations

from collections.abc import Sequence

from hopwright.difficulty.voters import Voter, vote
from hopwright.errors import InputError
from hopwright.records import Item, Rejected


def filter_items(
    items: Sequence[Item], voters: Sequence[Voter], *, max_right: int = 1
) -> tuple[list[Item], list[Rejected]]:
    """Let every voter answer every item and drop what more than `max_right` of them get right.

    Kept items carry their votes, in the voters' order; a dropped item's `row` carries them too. Items out plus
    rejected = items in. Raises InputError when `max_right` is not within 0 … number of voters - 1, or when two
    voters share a name.
    """
    names = [voter.name for voter in voters]
    if not voters or len(set(names)) != len(names):
        raise InputError(f"the filter needs one or more voters with different names, not {names}")
    if not 0 <= max_right < len(voters):
        raise InputError(
            f"max_right must lie between 0 and {len(voters) - 1} for {len(voters)} voters, not {max_right}"
        )
    columns = [vote(voter, items) for voter in voters]
    kept: list[Item] = []
    dropped: list[Rejected] = []
    for item, *votes in zip(items, *columns, strict=True):
        voted = item.model_copy(update={"votes": tuple(votes)})
        right = [one.model for one in votes if one.right]
        if len(right) <= max_right:
            kept.append(voted)
            continue
        reason = f"{len(right)} of {len(votes)} voters right: {', '.join(right)}"
        dropped.append(Rejected(key=item.id, check="too_easy", reason=reason, row=voted.model_dump_json()))
    return kept, dropped
