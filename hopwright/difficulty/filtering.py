"""Omanic's difficulty filter: what two or more of four voters get right is too easy (section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
    columns = [vote(voter, items) for voter in voters]
    votes = {item.id: row for item, *row in zip(items, *columns, strict=True)}
    return decide(items, votes, DropRule(len(voters), max_right))


def decide(
    items: Sequence[Item],
    votes: Mapping[str, Sequence[Vote]],
    rule: DropRule,
    unanswered: Mapping[str, Sequence[str]] | None = None,
) -> tuple[list[Item], list[Rejected]]:
    """Decide items by their votes (item → votes in the order in which it shall carry them).

    `unanswered` (item → voters and reasons) tells why a vote is missing that was asked for. Besides `too_easy` there is
    `held_back`: too few voters answered to say. Items out plus rejected = items in.
    """
    kept: list[Item] = []
    dropped: list[Rejected] = []
    for item in items:
        cast = votes.get(item.id, ())
        voted = item.model_copy(update={"votes": tuple(cast)})
        right = [one.model for one in cast if one.right]
        fate = rule.conclude(len(right), len(cast) - len(right))
        if fate == "kept":
            kept.append(voted)
            continue
        if fate == "dropped":
            check, reason = "too_easy", f"{len(right)} of {len(cast)} voters right: {', '.join(right)}"
        else:
            missing = "; ".join((unanswered or {}).get(item.id, ())) or "the others"
            check = "held_back"
            reason = f"{len(cast)} votes, {rule.needed} needed ({len(right)} right); no vote of {missing}"
        dropped.append(Rejected(key=item.id, check=check, reason=reason, row=voted.model_dump_json()))
    return kept, dropped


def collect_votes(ballots: Iterable[Mapping[str, Ballot]]) -> dict[str, list[Vote]]:
    """Item → its votes, in the voters' order, from each voter's ballots by item."""
    votes: dict[str, list[Vote]] = {}
    for column in ballots:
        for item, ballot in column.items():
            votes.setdefault(item, []).append(ballot.to_vote())
    return votes


def list_open(items: Sequence[Item], ballots: Sequence[Mapping[str, Ballot]], rule: DropRule) -> list[Item]:
    """The items whose fate the ballots so far have not sealed."""
    return [item for item in items if is_open(item.id, ballots, rule)]


def is_open(id: str, ballots: Sequence[Mapping[str, Ballot]], rule: DropRule) -> bool:
    """Whether the ballots so far (each voter's, by item) have not sealed an item's fate."""
    rights = [column[id].right for column in ballots if id in column]
    return rule.seal(sum(rights), len(rights) - sum(rights)) == "open"
