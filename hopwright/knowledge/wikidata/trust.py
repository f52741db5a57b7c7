"""How far the facts of each Wikidata property may be trusted, and which of them follow from others (`trust.toml`)."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources

from pydantic import TypeAdapter, ValidationError

from hopwright.errors import InputError
from hopwright.foreign import explain_invalid
from hopwright.knowledge.properties import PropertyTrust
from hopwright.knowledge.wikidata.roles import UNINFORMATIVE

# A place is in a city without being one of its divisions; a work that somebody made need not be a notable one.
_HOLDS_IN_PART = frozenset({"P131", "P50", "P57", "P84", "P86", "P170", "P800"})

FIRST_ONLY = frozenset({("P1376", "P36"), ("P466", "P115")})
"""Pairs of `list_implications` that say nothing of a subject of which another value of the second is recorded.

What was so once is among the values of the first (former capitals, former tenants of a stadium), while the second has
one value at a time: where that one is recorded, a value that only follows may be a former one.
"""


@functools.cache
def load_trust() -> dict[str, PropertyTrust]:
    """Load the judgements by property. Raises InputError naming the property and the field that is wrong."""
    raw = tomllib.loads(resources.files(__package__).joinpath("trust.toml").read_text("utf-8"))
    try:
        return TypeAdapter(dict[str, PropertyTrust]).validate_python(raw)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"trust.toml, {'.'.join(map(str, first['loc']))}: {explain_invalid(first)}") from None


@functools.cache
def list_implications() -> tuple[tuple[str, str], ...]:
    """Pairs (p, q) such that a fact (a, p, b) says that (b, q, a) is a fact, too; p and q are one where p is symmetric.

    A property with several inverses (a child has a father or a mother) leaves open which of them is meant.
    """
    found = []
    for property, trust in load_trust().items():
        if property in UNINFORMATIVE:
            continue  # that one is told apart from another joins what has nothing in common but a name
        if trust.symmetric:
            found.append((property, property))
        if len(trust.inverse) == 1 and property not in _HOLDS_IN_PART:
            found.append((property, trust.inverse[0]))
    return tuple(sorted(set(found)))
