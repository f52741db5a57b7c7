"""People who are spoken of without a name: by a title, as "the Cardinal" and "my lady", or by a word of kinship.

Somebody is meant, and no name says who; a paragraph with such words does not tell who alone is in it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

_TITLE_ALONE = (
    "Abbess|Admiral|Aunt|Baron|Baronet|Cardinal|Captain|Chancellor|Chevalier|Colonel|Comte|Comtesse|Count|Countess"
    "|Cousin|Doctor|Duc|Duchess|Duke|Earl|Emperor|Father|General|Inspector|King|Lieutenant|Ma|Mamma|Mama|Marquis"
    "|Mother|Pa|Papa|Pope|Prince|Princess|Professor|Queen|Regent|Sergeant|Squire|Superintendent|Superior|Uncle"
)
_KIN = (
    "aunts?|brothers?|brothers-in-law|brother-in-law|cousins?|daughters?|daughters-in-law|daughter-in-law|father|fathers"
    "|father-in-law|grandchildren|granddaughter|grandfather|grandmamma|grandmother|grandson|guardian|husbands?|mamma|mama"
    "|mother|mothers|mother-in-law|nephews?|nieces?|papa|parents?|sisters?|sisters-in-law|sister-in-law|sons?"
    "|sons-in-law|son-in-law|stepmother|stepfather|uncles?|widow|widower|wife|wives"
)
_STYLES = "highness|majesty|eminence|excellency|grace|honour|honor|ladyship|ladyships|lordship|lordships|worship"
_SMALL_TITLES = (
    "abbess|admiral|baron|baronet|cardinal|captain|chancellor|chevalier|colonel|count|countess|doctor|duchess|duke|earl"
    "|emperor|general|inspector|king|lieutenant|marquis|pope|prince|princess|professor|queen|regent|sergeant|squire"
    "|superintendent|superior"
)
_TITLE = re.compile(rf"(?<![A-Za-z])(?:{_TITLE_ALONE})(?![A-Za-z])")
_UNNAMED = re.compile(
    rf"(?<![A-Za-z-])(?:{_KIN}|[Mm]y\s+(?:(?:young|dear|good|poor)\s+)?(?:lady|lord)"
    rf"|(?:[Mm]y|[Hh]is|[Hh]er|[Yy]our|[Tt]heir|[Tt]he)\s+(?:(?:young|old|dear|good|poor)\s+)?(?:mistress|master)"
    rf"|(?:[Hh]is|[Hh]er|[Yy]our|[Tt]heir)\s+(?:{_STYLES}|{_STYLES.title()})"
    rf"|[Tt]he\s+(?:(?:old|young|good|poor|great|late)\s+)?(?:{_SMALL_TITLES}))(?![A-Za-z-])"
)


def find_titles(text: str, start: int, end: int, known: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans of titles that stand alone like names, as "the Cardinal", between two places of a text.

    known: the spans of names, in their order, which they do not overlap.
    """
    yield from _list_free(_TITLE, text, start, end, known)


def find_unnamed(text: str, start: int, end: int, known: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Spans of words for people that are no names at all, as "her aunt" and "my lady"; `known` as in `find_titles`."""
    yield from _list_free(_UNNAMED, text, start, end, known)


def _list_free(
    pattern: re.Pattern[str], text: str, start: int, end: int, known: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    starts = [first for first, _ in known]
    for match in pattern.finditer(text, start, end):
        before = bisect_right(starts, match.end() - 1) - 1
        if before < 0 or known[before][1] <= match.start():
            yield match.span()
