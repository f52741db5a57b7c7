"""The keys of the labelling interfaces: one table, from which the interfaces and the guidelines are made.

A key means the same in every interface that has it, so an annotator who goes from hops to whole questions has nothing
to relearn. The scores are a grid under the left hand: a criterion is a row of the keyboard, in the order of the page,
and a score is a column.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SCORE_KEYS: tuple[str, ...] = ("12345", "qwert", "asdfg", "zxcvb", "yuiop")
"""For each row of scores on the page, the keys of the scores 1 to 5."""

KEYS: Mapping[str, str] = MappingProxyType(
    {
        "A": "6",
        "B": "7",
        "C": "8",
        "D": "9",
        "None of these": "0",
        "Retain": "j",
        "Fix": "k",
        "Discard": "l",
        "Wrong answer": "shift+q",
        "Outdated fact": "shift+w",
        "Wrong computation": "shift+e",
        "Second answer possible": "shift+t",
        "Missing evidence": "shift+f",
        "Answer leaks": "shift+g",
        "Bad distractor": "shift+z",
        "True distractor": "shift+x",
        "Ambiguous wording": "shift+c",
        "Bad grammar": "shift+v",
        "Broken chain": "shift+j",
        "Hop can be skipped": "shift+k",
        "Known fact": "shift+l",
        "World contradicts itself": "shift+m",
        "Real name left": "shift+n",
        "Not in the passages": "shift+p",
        "Picture unreadable": "shift+r",
        "Name in the picture": "shift+a",
        "Several could be shown": "shift+s",
        "Wrong character meant": "shift+d",
        "Name overlooked": "shift+b",
    }
)
"""Own answer, verdict or error tag → its key."""
