"""Quotations of a book, with their speakers where the text names them beside the words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hopwright.knowledge.books.book import Book

_SPEECH = (
    "said|says|cried|replied|answered|asked|returned|continued|exclaimed|added|observed|repeated|rejoined|remarked"
    "|murmured|whispered|resumed|interrupted|inquired|enquired|demanded|retorted|began"
)
_VERB_AFTER = re.compile(rf"[\s,]*(?:{_SPEECH})\s+$")
_REPORTED = "that|if|whether|how|what|why|he|she|it|they|nothing|so"
"""What goes on from `"…?" Elizabeth replied that it was`: her own answer, told, and not the words before it."""
_VERB_NEXT = re.compile(rf"\s+(?:{_SPEECH})\b(?!\s+(?:by|to be|{_REPORTED})\b)")
_NOT_ALONE = re.compile(r"\s*(?:['’]s\b|s['’]|and\s+[A-Z]|or\s+[A-Z]|,\s*and\s+[A-Z])")
_GOES_ON = re.compile(r"[,;.:]\s+")
_FAR = 60


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words between quotation marks, without the marks, and the mention that names who says them."""

    block: int
    start: int
    end: int
    mention: int


def find_quotations(book: Book, index: int, mentions: Sequence[tuple[int, int]]) -> Iterator[Quotation]:
    """The quotations of one block whose speaker is named; `mentions` are the spans of persons' names in it, in their
    order.

    Only a name right beside the words counts: `"…," said N`, `"…," N said`, `N said, "…"`; what goes on right after
    `said N, "` is said by N, too.
    """
    block = book.blocks[index]
    text = book.text
    quotes = list(list_quotes(text, block.start, block.end))
    if not quotes or not mentions:
        return
    starts = [first for first, _ in mentions]
    told: int | None = None
    for place, (start, end) in enumerate(quotes):
        following = quotes[place + 1][0] - 1 if place + 1 < len(quotes) else block.end
        before = quotes[place - 1][1] + 1 if place else block.start
        speaker = _find_after(text, end + 1, min(following, end + 1 + 2 * _FAR), mentions, starts)
        if speaker is None:
            speaker = _find_before(text, before, start - 1, mentions, starts)
        beside = None if told is None else text[mentions[told][1] : start - 1]
        if speaker is None and told is not None and beside is not None and _GOES_ON.fullmatch(beside):
            speaker, told = told, None
        else:
            told = speaker
        if speaker is not None:
            yield Quotation(index, start, end, speaker)


def list_quotes(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans between double quotation marks, curly or straight; one that is not closed reaches to the end."""
    opened: int | None = None
    for match in re.finditer(r"[“”\"]", text[start:end]):
        place, mark = start + match.start(), match[0]
        if opened is None:
            if mark != "”":
                opened = place + 1
        elif mark != "“":
            if place > opened:
                yield opened, place
            opened = None
        else:
            opened = place + 1
    if opened is not None and opened < end:
        yield opened, end


def _find_after(
    text: str, start: int, end: int, mentions: Sequence[tuple[int, int]], starts: Sequence[int]
) -> int | None:
    """The mention that is named as the speaker right after the closing mark."""
    for number in range(bisect_left(starts, start), bisect_right(starts, end)):
        first, last = mentions[number]
        if last <= end and not _NOT_ALONE.match(text, last):
            between = text[start:first]
            if _VERB_AFTER.fullmatch(between) or (not between.strip(" \r\n,") and _VERB_NEXT.match(text, last)):
                return number
    return None


def _find_before(
    text: str, start: int, end: int, mentions: Sequence[tuple[int, int]], starts: Sequence[int]
) -> int | None:
    """The mention that is named as the speaker right before the opening mark: `N said, "`."""
    for number in range(bisect_right(starts, end) - 1, bisect_left(starts, start) - 1, -1):
        first, last = mentions[number]
        if end - last >= _FAR:
            return None
        if last <= end:
            said = re.fullmatch(rf"\s+(?:{_SPEECH})(?:\s+\w+){{0,3}}\s*[,:]\s*(?:--)?", text[last:end])
            # A name after the start of its sentence may be somebody spoken of.
            before = text[max(start, first - 8) : first]
            opening = re.search(r"(?:^|[.!?]\s+|[;:]\s+|\b(?:but|and|when|then)\s+)$", before)
            return number if said and (opening or first == start) else None
    return None
