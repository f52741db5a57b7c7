"""The keys of the labelling interfaces: one table, from which the interfaces and the guidelines are made.

A key means the same in every interface that has it, so an annotator who goes from hops to whole questions has nothing
to relearn.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

KEYS: Mapping[str, str] = MappingProxyType(
    {
        "Retain": "a",
        "Fix": "s",
        "Discard": "d",
        "Wrong answer": "q",
        "Outdated fact": "w",
        "Wrong computation": "e",
        "Second answer possible": "t",
        "Missing evidence": "f",
        "Answer leaks": "g",
        "Bad distractor": "z",
        "True distractor": "x",
        "Ambiguous wording": "c",
        "Bad grammar": "v",
        "Broken chain": "j",
        "Hop can be skipped": "k",
        "Known fact": "l",
        "World contradicts itself": "m",
        "Real name left": "n",
        "Not in the passages": "p",
    }
)
"""Choice → its key. The digits belong to the scores, in the order of the page."""
