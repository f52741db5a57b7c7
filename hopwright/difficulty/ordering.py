"""In which order voters are asked: the one that seals the fate of the most items for the least cost.

An ensemble is asked one voter after the other, each over the items that are still open, so the order is one for all
items. It is found by trying: up to six voters every order, beyond that by swapping neighbours until nothing improves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from hopwright.difficulty.rule import DropRule
from hopwright.errors import InputError

_MOST_TRIED = 6
PilotRow = tuple[bool | None, ...]
"""The votes on one item, one per voter in the listed order: right, wrong, or None for no answer."""


@dataclass(frozen=True, slots=True)
class VoterOrder:
    """An order (indices into the listed voters), its expected cost per item, and that of asking everybody."""

    sequence: tuple[int, ...]
    cost: float
    cost_of_all: float

    @property
    def saved(self) -> float:
        """Share of the cost that stopping early is expected to save."""
        # A sum of rounded shares may come out a hair above the whole.
        return max(0.0, 1 - self.cost / self.cost_of_all) if self.cost_of_all else 0.0


def order_by_pilot(rows: Sequence[PilotRow], costs: Sequence[float], rule: DropRule) -> VoterOrder:
    """The best order for items like these, on which every voter was asked; what the voters share counts too."""
    return order_by_chances([(row, 1 / len(rows)) for row in rows], costs, rule)


def order_by_accuracy(accuracies: Sequence[float], costs: Sequence[float], rule: DropRule) -> VoterOrder:
    """The best order for voters of these accuracies (0–1), taken to err independently."""
    if len(accuracies) != len(costs):
        raise InputError(f"{len(accuracies)} accuracies for {len(costs)} voters: give one each, in the same order")
    outcomes: list[tuple[PilotRow, float]] = []
    for row in product((True, False), repeat=len(accuracies)):
        weight = 1.0
        for right, accuracy in zip(row, accuracies, strict=True):
            weight *= accuracy if right else 1 - accuracy
        outcomes.append((row, weight))
    return order_by_chances(outcomes, costs, rule)


def order_by_chances(outcomes: Sequence[tuple[PilotRow, float]], costs: Sequence[float], rule: DropRule) -> VoterOrder:
    """The best order for voters whose votes on an item come out so, each row with its chance (together 1)."""
    count = len(costs)
    merged: dict[PilotRow, float] = {}
    for row, weight in outcomes:
        merged[row] = merged.get(row, 0.0) + weight
    # Sorted: the sums of floating-point numbers do not depend on the order of the pilot's items.
    table = sorted(merged.items(), key=lambda pair: tuple(-1 if vote is None else int(vote) for vote in pair[0]))
    if count <= _MOST_TRIED:
        best = _pick_cheapest(permutations(range(count)), table, costs, rule)
    else:
        best = _improve(tuple(range(count)), table, costs, rule)
    return VoterOrder(best, _expect(best, table, costs, rule), sum(costs))


def keep_order(count: int, costs: Sequence[float]) -> VoterOrder:
    """The listed order, of which nothing is expected."""
    return VoterOrder(tuple(range(count)), sum(costs), sum(costs))


def _improve(
    best: tuple[int, ...], table: Sequence[tuple[PilotRow, float]], costs: Sequence[float], rule: DropRule
) -> tuple[int, ...]:
    while True:
        swapped = [(*best[:place], best[place + 1], best[place], *best[place + 2 :]) for place in range(len(best) - 1)]
        better = _pick_cheapest([best, *swapped], table, costs, rule)
        if better == best:
            return best
        best = better


def _pick_cheapest(
    orders: Iterable[tuple[int, ...]], table: Sequence[tuple[PilotRow, float]], costs: Sequence[float], rule: DropRule
) -> tuple[int, ...]:
    """The cheapest of the orders; the first of equals, which for permutations is the one nearest to the list."""
    return min(orders, key=lambda order: round(_expect(order, table, costs, rule), 12))


def _expect(
    order: tuple[int, ...], table: Sequence[tuple[PilotRow, float]], costs: Sequence[float], rule: DropRule
) -> float:
    paid = [0.0]
    for index in order:
        paid.append(paid[-1] + costs[index])
    return sum(weight * paid[rule.count_calls([row[index] for index in order])] for row, weight in table)
