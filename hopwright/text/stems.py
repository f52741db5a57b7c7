"""Stems of words, so that forms of one word agree."""

from __future__ import annotations

import re

from hopwright.text import english
from hopwright.text.folding import fold

_WORD = re.compile(r"\w+")
_COMMON = frozenset(english.words("words", "common"))
_STATES = re.compile(r"united states(?: of america)?")


def content_stems(text: str) -> set[str]:
    """Stems of five letters of the words that say something: German meets Germany, director meets directed.

    A country's name of several words counts as one.
    """
    folded = fold(text)
    if "united" in folded:
        folded = _STATES.sub("usa", folded)
    return {word[:5] for word in _WORD.findall(folded) if len(word) > 2 and word not in _COMMON}
