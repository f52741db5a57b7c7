"""What came `in the novelist's lifetime` came before the novelist's death: both say one moment and one side."""

from __future__ import annotations

import re

from hopwright.records import Item

_MARKS = r"((?:\{[\d+]+: )*)"
_LIFETIME_OF = re.compile(rf"\b(?:in|during) {_MARKS}the lifetime of\b")
_LIFETIME = re.compile(
    rf"\b(?:in|during) {_MARKS}((?:[^\s.?!{{}}]+ ){{0,4}}(?:[^\s.?!{{}}]+\}}*['’]s?|(?:his|her|their)\}}*)) lifetime\b"
)


def name_deaths(text: str) -> str:
    """A text with `before the death of X` for `in the lifetime of X`, marks by hop kept around the same words."""
    return _LIFETIME.sub(r"before \1\2 death", _LIFETIME_OF.sub(r"before \1the death of", text))


def name_deaths_of(draft: Item) -> Item:
    """A draft whose question speaks of deaths, not of lifetimes."""
    if "lifetime" not in draft.question:
        return draft
    return draft.model_copy(update={"question": name_deaths(draft.question), "marked": name_deaths(draft.marked)})
