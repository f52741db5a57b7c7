"""What the votes say about a set of items and about the voters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from hopwright.records import Item, Rejected, Vote


def summarise_votes(kept: Iterable[Item], dropped: Iterable[Rejected] = ()) -> dict[str, Any]:
    """Figures over all voted items, the dropped ones (read back from their rows) included.

    `items`, `kept`, `dropped`: counts. `accuracy`: per voter, share right. `agreement`: per pair of voters
    (`one | other`), share of items on which they chose the same option. `right_votes`: number of right votes →
    number of items. `by_topology`: per topology, accuracy per voter. Shares are rounded to 4 digits.
    """
    kept = list(kept)
    rows = [Item.model_validate_json(one.row) for one in dropped if one.check == "too_easy"]
    items = [item for item in (*kept, *rows) if item.votes]
    names = list(dict.fromkeys(vote.model for item in items for vote in item.votes))
    topologies = sorted({item.topology for item in items})
    return {
        "items": len(items),
        "kept": len(kept),
        "dropped": len(rows),
        "accuracy": {name: _accuracy(items, name) for name in names},
        "agreement": {f"{one} | {other}": _agreement(items, one, other) for one, other in combinations(names, 2)},
        "right_votes": dict(sorted(Counter(sum(vote.right for vote in item.votes) for item in items).items())),
        "by_topology": {
            topology: {name: _accuracy([i for i in items if i.topology == topology], name) for name in names}
            for topology in topologies
        },
    }


def _accuracy(items: Sequence[Item], name: str) -> float:
    votes = [vote for item in items if (vote := _find_vote(item, name)) is not None]
    return round(sum(vote.right for vote in votes) / len(votes), 4) if votes else 0.0


def _agreement(items: Sequence[Item], one: str, other: str) -> float:
    pairs = [
        (first.option, second.option)
        for item in items
        if (first := _find_vote(item, one)) is not None and (second := _find_vote(item, other)) is not None
    ]
    return round(sum(first == second for first, second in pairs) / len(pairs), 4) if pairs else 0.0


def _find_vote(item: Item, name: str) -> Vote | None:
    return next((vote for vote in item.votes if vote.model == name), None)
