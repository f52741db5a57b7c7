"""Ids of Hopwright's own, for entities that no source has an id for: no link to Wikidata leads from them."""

from __future__ import annotations

FIRST_OWN, LAST_OWN = 3_000_000_000, 3_999_999_999
"""Far above every id that Wikidata has given so far."""


def is_own_id(id: str) -> bool:
    """Whether an entity's id is Hopwright's own."""
    return id[:1] == "Q" and id[1:].isdecimal() and FIRST_OWN <= int(id[1:]) <= LAST_OWN
