"""Cutting a document into passages that know where they stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD = re.compile(r"\S+")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*$")


def cut_passages(text: str, most: int) -> list[tuple[int, int]]:
    """Where the passages of a text begin and end, in characters: at most `most` words each, 0 for no limit.

    Passages do not overlap, leave out only white space, and end with a paragraph where one ends in their second half,
    else with a sentence, else wherever the limit is.
    """
    if not most or len(text.split()) <= most:
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        return [(start, end)] if start < end else []
    return list(_cut(text, [match.span() for match in _WORD.finditer(text)], most))


def _cut(text: str, words: list[tuple[int, int]], most: int) -> Iterator[tuple[int, int]]:
    first = 0
    while first < len(words):
        stop = min(first + most, len(words))
        if stop < len(words):
            stop = _find_end(text, words, first, stop)
        yield words[first][0], words[stop - 1][1]
        first = stop


def _find_end(text: str, words: list[tuple[int, int]], first: int, limit: int) -> int:
    """The number of the word after the passage that begins with word `first` and ends before word `limit`."""
    earliest = first + (limit - first + 1) // 2
    sentence = 0
    for stop in range(limit, earliest - 1, -1):
        start, end = words[stop - 1]
        if _PARAGRAPH_END.search(text, end, words[stop][0]):
            return stop
        if not sentence and _SENTENCE_END.search(text, start, end):
            sentence = stop
    return sentence or limit
