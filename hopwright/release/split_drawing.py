"""Drawing a test and a validation part out of a set: seeded, and of the same make as the whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from hopwright.errors import InputError
from hopwright.records import Compute, Item


def draw_parts(items: Iterable[Item], shares: Mapping[str, float], seed: int = 0) -> dict[str, str]:
    """Item id → part, for the items that are drawn; `shares` maps a part to its share of all items (0–1).

    The items are put in order of topology, domain of the last hop and kinds of computation, by hash among equals, and
    taken at equal distances: each part has of every stratum, and of every topology, what the whole has, give or take
    one. Raises InputError when the shares leave nothing over.
    """
    if sum(shares.values()) >= 1 or any(share < 0 for share in shares.values()):
        raise InputError(f"the shares of {' and '.join(shares)} must not be negative, and together less than 1")
    left = [id for _, _, id in sorted((_describe(item), _mix(seed, item.id), item.id) for item in items)]
    total = len(left)
    drawn: dict[str, str] = {}
    for part, share in shares.items():
        wanted = min(round(share * total), len(left))
        chosen = {left[(2 * number + 1) * len(left) // (2 * wanted)] for number in range(wanted)}
        drawn |= dict.fromkeys(chosen, part)
        left = [id for id in left if id not in chosen]
    return drawn


def _describe(item: Item) -> tuple[str, str, str]:
    """The stratum of an item."""
    kinds = {hop.derivation.kind for hop in item.hops if isinstance(hop.derivation, Compute)}
    return item.topology, str(item.hops[-1].domain or ""), "+".join(sorted(kinds))


def _mix(seed: int, id: str) -> bytes:
    return hashlib.blake2b(f"{seed}:{id}".encode(), digest_size=8).digest()
