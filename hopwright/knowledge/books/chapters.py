"""Cutting a book's text into blocks and chapters, and leaving out what is not the story."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from hopwright.errors import InputError
from hopwright.knowledge.books.book import Block, BlockKind, Chapter, ChapterKind

_GAP = re.compile(r"\r?\n(?:[ \t\f]*\r?\n)+|\r\r+")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NUMERAL = r"(?:[IVXLC]+|\d{1,3}|[A-Z][a-z]+(?:-[A-Za-z]+)?|[A-Z]+(?:-[A-Z]+)?)"
_CHAPTER = re.compile(rf"^(?:CHAPTER|Chapter|STAVE|Stave|LETTER|Letter)\s+(?:the\s+|THE\s+)?{_NUMERAL}\b[^a-z]{{0,3}}")
_PART = re.compile(
    rf"^(?:VOLUME|Volume|VOL\.|BOOK|Book|PART|Part)\s+(?:THE\s+|the\s+)?{_NUMERAL}\b"
    r"|^(?:[A-Z]+ (?:PERIOD|NARRATIVE|VOLUME|BOOK|PART))\b"
)
_VOLUME = re.compile(rf"(?:VOLUME|Volume|VOL\.|BOOK|Book|PART|Part)\s+(?:(?:THE|the)\s+[A-Za-z]+|{_NUMERAL})\b")
_OTHER = re.compile(r"^(?:PROLOGUE|EPILOGUE|CONCLUSION|INTERLUDE|Prologue|Epilogue|Conclusion)\b")
_FRONT = re.compile(
    r"^(?:(?:THE )?AUTHOR['’]S )?(?:PREFACE|INTRODUCTION|FOREWORD|DEDICATION|CONTENTS|TABLE OF CONTENTS)\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^\d{1,3}\.?\s+[A-ZÀ-Þ][A-ZÀ-Þ0-9 ,.:;’'&*-]+$")
_ROMAN = re.compile(r"^[IVXLC]+\.?(?:\s+[A-Z][^a-z]{2,})?$")
_NOTE = re.compile(
    r"^\s*(?:\[(?:Footnote|Illustration|Transcriber|Note|\*|\d{1,3}\])|\*{1,3} ?[A-Za-z“\"]|\(\*\d|\{\d)"
)
_FINIS = re.compile(r"^[\s_*]*(?:THE END|The End|FINIS|Finis)[\s_.*]*$")
_AFTER = re.compile(r"transcriber|typographical errors|etext|errata", re.IGNORECASE)
_NUMBER = re.compile(r"(?:(?:CHAPTER|Chapter)\s+)?(?P<number>[IVXLC]+|\d{1,3})(?![A-Za-z0-9])")
_LEAST_BODY = 60
"""Words that follow a chapter's heading; one with fewer is an entry of the contents."""
_LONGEST_HEADING = 60
_MOST_BLOCKS = 400_000
"""Blocks of a book: ten times those of the Bible by verses. Each takes some 300 bytes, whatever it holds."""


@dataclass(frozen=True, slots=True)
class _Raw:
    start: int
    end: int
    words: int
    heading: str = ""
    title: str = ""


def split_story(text: str, start: int, end: int) -> tuple[tuple[Chapter, ...], tuple[Block, ...]]:
    """The chapters and blocks between two offsets; without headings, the whole is one chapter.

    Raises InputError for more blocks than a book has.
    """
    spans = list(islice(_list_spans(text, start, end), _MOST_BLOCKS + 1))
    if len(spans) > _MOST_BLOCKS:
        raise InputError(f"no book: more than {_MOST_BLOCKS:,} paragraphs")
    raw = _cut_end([_label(text, *span) for span in spans], text)
    # Roman numerals alone open chapters only where nothing else does.
    if not any(one.heading == "chapter" for one in raw):
        raw = [replace(one, heading="chapter" if one.heading == "section" else one.heading) for one in raw]
    opening = _find_openings(raw)
    first = next((place for place in opening if raw[place].heading != "front"), None)
    if first is None:
        first = next((place for place, one in enumerate(raw) if one.words >= 30), len(raw))
        raw = raw[first:]
        blocks = tuple(Block(one.start, one.end, one.words, 0, _kind(text, one)) for one in raw)
        return (Chapter("", blocks[0].start if blocks else start, kind="other"),), blocks
    return _build(text, raw, first, frozenset(opening))


def read_number(heading: str) -> int | None:
    """The number that a chapter's heading gives in digits or Roman numerals; None for one that gives none."""
    match = _NUMBER.match(heading.strip())
    if match is None:
        return None
    number = match["number"]
    if number.isdigit():
        return int(number)
    digits = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[one] for one in number]
    return sum(-one if one < after else one for one, after in zip(digits, [*digits[1:], 0], strict=True))


def _cut_end(raw: list[_Raw], text: str) -> list[_Raw]:
    """Leave out what follows the end of the story: transcribers' notes and lists of errata."""
    for place in range(max(0, len(raw) - 40), len(raw)):
        block = text[raw[place].start : raw[place].end]
        if _AFTER.search(block[:300]):
            return raw[:place]
        if _FINIS.match(block):
            return raw[: place + 1]
    return raw


def _list_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    place = start
    for gap in _GAP.finditer(text, start, end):
        yield from _strip(text, place, gap.start())
        place = gap.end()
    yield from _strip(text, place, end)


def _strip(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    part = text[start:end]
    if stripped := part.strip():
        first = start + len(part) - len(part.lstrip())
        yield first, first + len(stripped)


def _label(text: str, start: int, end: int) -> _Raw:
    block = text[start:end]
    words = len(_WORD.findall(block))
    if "\n" in block and _is_contents(block):
        return _Raw(start, end, 0)
    if len(block) > 400 or words > _LONGEST_HEADING:
        return _Raw(start, end, words)
    lines = [line.strip().strip("_*") for line in block.splitlines()]
    head, heading = lines[0], ""
    if _FRONT.match(head) and words <= 8:
        heading = "front"
    elif _CHAPTER.match(head) and len(lines) <= 4 and head[-1:] not in ",;":
        heading = "chapter"
    elif _PART.match(head) and len(lines) <= 3 and words <= 16:
        heading = "part"
    elif _OTHER.match(head) and words <= 12:
        heading = "other"
    elif _NUMBERED.match(head) and all(line == line.upper() for line in lines):
        heading = "chapter"
    elif _ROMAN.match(head) and len(lines) <= 2:
        heading = "section"
    return _Raw(start, end, words, heading, head.rstrip(". ").casefold())


def _is_contents(block: str) -> bool:
    """Whether most of a block's lines are headings, as in a table of contents."""
    lines = [line.strip() for line in block.splitlines()]
    heads = sum(any(kind.match(line) for kind in (_CHAPTER, _PART, _OTHER, _ROMAN, _NUMBERED)) for line in lines)
    return len(lines) > 3 and heads > len(lines) // 2


def _find_openings(raw: list[_Raw]) -> list[int]:
    """The places of the headings that open something: enough words follow before the next one."""
    found: list[int] = []
    titles: set[str] = set()
    body = 0
    for place in range(len(raw) - 1, -1, -1):
        one = raw[place]
        if one.heading in ("", "section"):
            body += one.words
            continue
        if one.heading == "part":
            # A part may hold chapters alone; one in the contents comes again, and opens nothing there.
            following = next((later for later in range(place + 1, len(raw)) if raw[later].heading), None)
            alone = following is not None and found[-1:] == [following] and one.title not in titles
            if body >= _LEAST_BODY or alone:
                found.append(place)
            titles.add(one.title)
        elif body >= _LEAST_BODY:
            found.append(place)
        body = 0
    return found[::-1]


def _build(
    text: str, raw: list[_Raw], first: int, opening: frozenset[int]
) -> tuple[tuple[Chapter, ...], tuple[Block, ...]]:
    chapters: list[Chapter] = []
    blocks: list[Block] = []
    part = 0
    volume = ""
    after_heading = False
    for place in range(first, len(raw)):
        one = raw[place]
        if place in opening:
            title = " ".join(text[one.start : one.end].split())
            if one.heading == "part":
                part += 1
                volume = _name_volume(title)
            following = place + 1 in opening
            if one.heading != "part" or not following:
                kind: ChapterKind = "chapter" if one.heading == "chapter" else "other"
                chapters.append(Chapter(title, one.start, part, kind, volume))
            blocks.append(Block(one.start, one.end, one.words, max(len(chapters) - 1, 0), "heading"))
            after_heading = True
            continue
        kind_of_block = _kind(text, one)
        # A short line right after a heading is the chapter's title.
        if one.heading or (after_heading and one.words <= 15 and kind_of_block == "text" and _is_title(text, one)):
            kind_of_block = "heading"
        else:
            after_heading = False
        blocks.append(Block(one.start, one.end, one.words, max(len(chapters) - 1, 0), kind_of_block))
    return tuple(chapters), tuple(blocks)


def _name_volume(title: str) -> str:
    """What a question calls a volume: its kind and number, as "Volume II"; empty where the heading has none."""
    match = _VOLUME.match(title)
    if match is None:
        return ""
    kind, *number = match[0].split()
    shown = [one if re.fullmatch(r"[IVXLC]+|\d+", one) else one.capitalize() for one in number]
    return " ".join([kind.capitalize(), *("the" if one == "The" else one for one in shown)])


def _is_title(text: str, one: _Raw) -> bool:
    shown = text[one.start : one.end].rstrip("_)")
    return shown[-1:] not in '.!?,;"”' or shown == shown.upper()


def _kind(text: str, one: _Raw) -> BlockKind:
    return "note" if _NOTE.match(text[one.start : one.start + 40]) else "text"
