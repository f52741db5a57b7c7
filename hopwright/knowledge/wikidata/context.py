"""The text around a name, prepared for the question what of the graph it mentions."""

from __future__ import annotations

import re

from hopwright.text import english
from hopwright.text.folding import fold
from hopwright.text.stems import content_stems

_WORD = re.compile(r"\w+")
_YEAR = re.compile(r"(?<![\d-])(1\d{3}|20\d{2})(?!\d)")
_DEMONYMS = english.demonyms()
_UNITED = " united states "


class NameContext:
    """The words of a text, and quick tests of what it mentions; the name that is linked says nothing
    itself.
    """

    def __init__(self, text: str, name: str) -> None:
        folded, own = fold(text), fold(name)
        words = _WORD.findall(folded)
        self._padded = f" {' '.join(words)} "
        self._name = " ".join(_WORD.findall(own))
        self._nations = {_DEMONYMS[word] for word in words if word in _DEMONYMS}
        if _UNITED in self._padded:
            self._nations.add("united states of america")
        self.name_stems = {word[:5] for word in _WORD.findall(own)}
        self.stems = content_stems(folded)
        self.stems -= {word[:5] for word in words if word in _DEMONYMS}
        for nation in self._nations:
            self.stems |= content_stems(nation)
        self.stems -= self.name_stems
        self.years = set(_YEAR.findall(folded)) - set(_YEAR.findall(own))

    def mentions(self, label: str) -> bool:
        """Whether a folded label occurs as whole words, or a country as its adjective."""
        words = " ".join(_WORD.findall(label))
        if not words or words in self._name or self._name in words:
            return False
        return f" {words} " in self._padded or words in self._nations
