"""Omanic's difficulty filter: what two or more of four voters get right is too easy (section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopwright.difficulty.ballots import Ballot
from hopwright.difficulty.rule import DropRule
from hopwright.difficulty.voters import Voter, vote
from hopwright.errors import InputError
from hopwright.records import Item, Rejected, Vote


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
    rule = DropRule(len(voters), max_right)
    columns = [vote(voter, items) for voter in voters]
    kept: list[Item] = []
    dropped: list[Rejected] = []
    for item, *votes in zip(items, *columns, strict=True):
        _conclude(item, votes, rule, "", kept, dropped)
    return kept, dropped


def decide(
    items: Sequence[Item],
    ballots: Mapping[str, Mapping[str, Ballot]],
    names: Sequence[str],
    rule: DropRule,
    unanswered: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[list[Item], list[Rejected]]:
    """Decide items by the ballots that were cast (voter → item → ballot).

    `names` are the voters, in the order in which an item shall carry their votes; `unanswered` (item → voter →
    reason) tells why a vote is missing that was asked for. Besides `too_easy` there is `held_back`: too few voters
    answered to say. Items out plus rejected = items in.
    """
    kept: list[Item] = []
    dropped: list[Rejected] = []
    for item in items:
        votes = [cast[item.id].to_vote() for name in names if item.id in (cast := ballots.get(name, {}))]
        missing = "; ".join((unanswered or {}).get(item.id, {}).values())
        _conclude(item, votes, rule, missing, kept, dropped)
    return kept, dropped


def list_open(items: Sequence[Item], ballots: Sequence[Mapping[str, Ballot]], rule: DropRule) -> list[Item]:
    """The items whose fate the ballots so far have not sealed."""
    found: list[Item] = []
    for item in items:
        votes = [cast[item.id].right for cast in ballots if item.id in cast]
        if rule.seal(sum(votes), len(votes) - sum(votes)) == "open":
            found.append(item)
    return found


def _conclude(
    item: Item, votes: Sequence[Vote], rule: DropRule, missing: str, kept: list[Item], dropped: list[Rejected]
) -> None:
    voted = item.model_copy(update={"votes": tuple(votes)})
    right = [one.model for one in votes if one.right]
    fate = rule.conclude(len(right), len(votes) - len(right))
    if fate == "kept":
        kept.append(voted)
        return
    if fate == "dropped":
        check, reason = "too_easy", f"{len(right)} of {len(votes)} voters right: {', '.join(right)}"
    else:
        check = "held_back"
        reason = f"{len(votes)} votes, {rule.needed} needed ({len(right)} right); no vote of {missing or 'the others'}"
    dropped.append(Rejected(key=item.id, check=check, reason=reason, row=voted.model_dump_json()))
