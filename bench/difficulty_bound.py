"""How many votes stopping early can save at all, worked out exactly, for voters of known accuracies.

    python bench/difficulty_bound.py

An item is dropped once two of four voters are right and kept once three are wrong (Omanic, section 3), so two votes at
least prove a drop and three a keep. With a share d of dropped items no way of asking, however clever, saves more than
(1 + d) / 4 of the votes. What can be expected of a way that does not know the votes beforehand is less: printed are the
best single order, and the best choice of the next voter after every answer, both found by trying everything, with all
chances known. A voter is right where a number in [0, 1) is below its accuracy; the number is the item's own, the same
for all voters, with the probability `shared`, else the voter's.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hopwright.difficulty.ordering import PilotRow, order_by_chances
from hopwright.difficulty.rule import DropRule

RULE = DropRule(4)
PAPER = 3_415 / 13_711
"""Omanic's share of dropped items (section 3)."""
SETS = ((0.25, 0.25, 0.25, 0.25), (0.25, 0.33, 0.42, 0.5), (0.3, 0.4, 0.49, 0.5), (0.5, 0.5, 0.5, 0.5))
SHARED = (0.0, 0.5, 0.9, 0.95, 1.0)


def main() -> None:
    """Work out and print."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(f"Omanic dropped {PAPER:.1%}: no way of asking saves more than {find_cap(PAPER):.1%} of the votes")
    print(f"35 % can be saved only where at least {4 * 0.35 - 1:.0%} are dropped")
    print("accuracies | shared | dropped | best order | next voter after every answer | the most possible")
    for accuracies in SETS:
        for shared in SHARED:
            print(describe(accuracies, shared))
    print("the second set, as weak as it takes to drop what Omanic dropped:")
    for shared in SHARED:
        print(describe(weaken(SETS[1], shared, PAPER), shared))


def find_cap(dropped: float, rule: DropRule = RULE) -> float:
    """The share of votes that nothing can save more than, at this share of dropped items."""
    least = dropped * rule.count_least(rule.seats, 0) + (1 - dropped) * rule.count_least(0, rule.seats)
    return 1 - least / rule.seats


def list_chances(accuracies: Sequence[float], shared: float) -> dict[PilotRow, float]:
    """How likely the voters answer so: right or wrong, by voter."""
    found: dict[PilotRow, float] = dict.fromkeys(product((True, False), repeat=len(accuracies)), 0.0)
    # Between two neighbouring accuracies the item's number decides alike for everybody.
    for low, high in pairwise(sorted({0.0, 1.0, *accuracies})):
        right = [shared * (low < one) + (1 - shared) * one for one in accuracies]
        for row in found:
            chance = high - low
            for vote, sure in zip(row, right, strict=True):
                chance *= sure if vote else 1 - sure
            found[row] += chance
    return found


def expect_adaptive(chances: Mapping[PilotRow, float], rule: DropRule = RULE) -> float:
    """The votes per item that it takes when after every answer the best next voter is asked, all chances known."""
    return _expect({}, chances, rule, {})


def find_dropped(chances: Mapping[PilotRow, float], rule: DropRule = RULE) -> float:
    """The share of items that is dropped."""
    return sum(chance for row, chance in chances.items() if rule.seal(row.count(True), row.count(False)) == "dropped")


def weaken(accuracies: Sequence[float], shared: float, dropped: float) -> tuple[float, ...]:
    """The accuracies times what makes the share of dropped items this one."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if find_dropped(list_chances([middle * one for one in accuracies], shared)) < dropped:
            low = middle
        else:
            high = middle
    return tuple(high * one for one in accuracies)


def describe(accuracies: Sequence[float], shared: float) -> str:
    """One line of the table."""
    chances = list_chances(accuracies, shared)
    dropped = find_dropped(chances)
    order = order_by_chances(list(chances.items()), [1.0] * len(accuracies), RULE)
    adaptive = 1 - expect_adaptive(chances) / len(accuracies)
    names = "/".join(f"{100 * one:.0f}" for one in accuracies)
    return f"{names} | {shared:g} | {dropped:.1%} | {order.saved:.1%} | {adaptive:.1%} | {find_cap(dropped):.1%}"


def _expect(
    known: Mapping[int, bool | None],
    chances: Mapping[PilotRow, float],
    rule: DropRule,
    seen: dict[tuple[object, ...], float],
) -> float:
    """Votes still to be asked, times the chance of getting here."""
    votes = list(known.values())
    if rule.seal(votes.count(True), votes.count(False)) != "open" or len(known) == rule.seats:
        return 0.0
    key = tuple(sorted(known.items()))
    if key not in seen:
        here = {row: chance for row, chance in chances.items() if all(row[one] == vote for one, vote in known.items())}
        further = [
            sum(_expect({**known, voter: vote}, chances, rule, seen) for vote in (True, False))
            for voter in range(rule.seats)
            if voter not in known
        ]
        seen[key] = sum(here.values()) + min(further)
    return seen[key]


if __name__ == "__main__":
    main()
