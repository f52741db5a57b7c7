"""Cutting a document into passages that know where they stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

_LONGEST_WORD = 100
"""Characters; what goes on without white space, as Chinese does, counts as words of this length."""
_WORD = re.compile(rf"\S{{1,{_LONGEST_WORD}}}")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*$")


def cut_passages(text: str, most: int) -> list[tuple[int, int]]:
    """Where the passages of a text begin and end, in characters: at most `most` words each, 0 for no limit.

    Passages do not overlap, leave out only white space, and end with a paragraph where one ends in their second half,
    else with a sentence, else wherever the limit is.
    """
    words = text.split(maxsplit=most) if most else []
    if not most or (len(words) <= most and max(map(len, words), default=0) <= _LONGEST_WORD):
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        return [(start, end)] if start < end else []
    return list(_cut(text, most))


def _cut(text: str, most: int) -> Iterator[tuple[int, int]]:
    spans = (match.span() for match in _WORD.finditer(text))
    # One word more than a passage may have tells where a paragraph ends.
    words = list(islice(spans, most + 1))
    while words:
        stop = min(most, len(words))
        if stop < len(words):
            stop = _find_end(text, words, stop)
        yield words[0][0], words[stop - 1][1]
        words = [*words[stop:], *islice(spans, stop)]


def _find_end(text: str, words: list[tuple[int, int]], limit: int) -> int:
    """The number of the word after the passage that begins with the first word and ends before word `limit`."""
    sentence = 0
    for stop in range(limit, (limit + 1) // 2 - 1, -1):
        start, end = words[stop - 1]
        if _PARAGRAPH_END.search(text, end, words[stop][0]):
            return stop
        if not sentence and _SENTENCE_END.search(text, start, end):
            sentence = stop
    return sentence or limit
