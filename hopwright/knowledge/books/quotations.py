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
_TELLS = (
    f"{_SPEECH}|cries|replies|answers|asks|returns|continues|exclaims|adds|observes|repeats|remarks|murmurs|whispers"
    "|resumes|interrupts|inquires|enquires|demands|begins|pursued|pursues|proceeded|shouted|screamed|muttered|growled"
    "|echoed|suggested|went\\s+on|put\\s+in|broke\\s+in|burst\\s+out"
)
_TELL = re.compile(rf"\b(?:{_TELLS})\b")
_TELL_BEFORE = re.compile(rf"\b(?:{_TELLS})\s+$")
_TELL_AFTER = re.compile(rf"\s+(?:{_TELLS})\b")
_LEADS_IN = re.compile(r"(?:\s+\w+){0,3}\s*[,:]\s*(?:--)?\s*")
_NEW_SENTENCE = re.compile(r"[.!?]\W{1,8}\w")


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


def is_one_voice(text: str, start: int, end: int, names: Sequence[tuple[int, int]]) -> bool:
    """Whether all quotations between two places are surely said by the one whom `names`, outside of them, name.

    Each of them has the name and a word of saying right beside it, or goes on in the sentence after which these stand;
    and no word of saying stands beside anything else, as in “I inquired”.
    """
    quotes = list(list_quotes(text, start, end))
    opened = [first - 1 for first, _ in quotes] + [end]
    closed = [start] + [last + 1 for _, last in quotes]
    starts = [first for first, _ in names]
    gaps = [
        _read_gap(text, first, last, names[bisect_left(starts, first) : bisect_left(starts, last)])
        for first, last in zip(closed, opened, strict=True)
    ]
    if not all(gap.sound for gap in gaps):
        return False
    return all(
        gap.leads_in or (place > 0 and gap.goes_on) or gaps[place + 1].follows for place, gap in enumerate(gaps[:-1])
    )


@dataclass(frozen=True, slots=True)
class _Gap:
    """What stands between two quotations. sound: every word of saying stands beside the name. leads_in, follows: such a
    pair leads to the quotation behind, or follows the one before, and in the latter case goes_on in one sentence."""

    sound: bool
    leads_in: bool
    follows: bool
    goes_on: bool


def _read_gap(text: str, start: int, end: int, names: Sequence[tuple[int, int]]) -> _Gap:
    tags: list[tuple[int, int]] = []
    leads_in = False
    for first, last in names:
        if before := _TELL_BEFORE.search(text[max(start, first - _FAR) : first]):
            tags.append((first - len(before[0]), last))
        if after := _TELL_AFTER.match(text, last, end):
            tags.append((first, after.end()))
            leads_in = leads_in or _LEADS_IN.fullmatch(text, after.end(), end) is not None
    said = [match.span() for match in _TELL.finditer(text, start, end)]
    sound = all(any(first <= one and other <= last for first, last in tags) for one, other in said)
    following = next((last for first, last in tags if not text[start:first].strip(" \r\n,-—")), None)
    goes_on = following is not None and not _NEW_SENTENCE.search(text, following, end)
    return _Gap(sound, leads_in, following is not None, goes_on)


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
