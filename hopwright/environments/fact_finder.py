"""Facts as passages, one each, searched by words: a small world beside the items that rest on them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from hopwright.environments.task import FoundPassage
from hopwright.errors import InputError
from hopwright.text.stems import content_stems


class FactFinder:
    """Finds the facts that share most words with a query, rarer ones counting more.

    The text of a fact is `subject: property: value`, its title the subject, and its document the id.
    """

    def __init__(self, facts: Iterable[FoundPassage]) -> None:
        self._passages = {one.id: one for one in sorted(facts, key=lambda one: one.id)}
        self._words = {id: content_stems(f"{one.title} {one.text}") for id, one in self._passages.items()}
        counts = Counter(word for words in self._words.values() for word in words)
        self._weights = {word: math.log(1 + len(self._words) / count) for word, count in counts.items()}

    def search(self, query: str, most: int) -> list[FoundPassage]:
        """See PassageFinder."""
        asked = content_stems(query)
        scores = {id: sum(self._weights[word] for word in words & asked) for id, words in self._words.items()}
        best = sorted((id for id, score in scores.items() if score > 0), key=lambda id: (-scores[id], id))
        return [self._passages[id] for id in best[:most]]

    def read(self, id: str) -> FoundPassage:
        """See PassageFinder."""
        if id not in self._passages:
            raise InputError(f"nothing has the id {id}")
        return self._passages[id]

    def ask_for(self, id: str) -> tuple[str, str]:
        """The subject and the property of a fact: what one looks for who does not know the value."""
        one = self.read(id)
        return one.title, one.text.removeprefix(f"{one.title}: ").partition(": ")[0]
