"""Finding and replacing whole-word mentions of names and numbers in texts.

Names are replaced all at once: what was put in is never looked at again, and longer names go before shorter ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hopwright.errors import InputError
from hopwright.text.articles import article

_SEPARATOR = "\x1f"
_FIRST_MARK = 0xE000
_LAST_MARK = 0xF8FF
_ARTICLE = re.compile("\\b(a|A)(n?) (?=([\ue000-\uf8ff]))")
_QUOTES = frozenset("\"“”'‘’")
# Words that open or join a question: a title that is one of them is a mention only between quotes.
_COMMON = frozenset(
    "a after all and are at be before but by for from he her here him his how i if in is it its me my no not now of on "
    "one or our out she so some that the their them then there these they this those to two up us was we were what "
    "when where which who whom whose why will with you your".split()
)


def replace_names(texts: Sequence[str], names: Mapping[str, str]) -> list[str]:
    """Replace every whole-word mention of each key by its value, longest keys first, in all texts at once.

    "The Gambia" is also found as "the Gambia", and a name in lower case also at the start of a sentence; a bare
    possessive apostrophe and an indefinite article become what the new name needs. A name that is a number or a common
    word is a mention between quotes only. Raises InputError when a text holds private-use characters.
    """
    joined = _SEPARATOR.join(texts)
    if any(_FIRST_MARK <= ord(letter) <= _LAST_MARK for letter in joined):
        raise InputError("a text holds private-use characters")
    surrogates: dict[int, str] = {}
    mark = _FIRST_MARK
    for name, variant, surrogate in _list_variants(names):
        if variant not in joined:
            continue
        quoted = _needs_quotes(name)
        out: list[str] = []
        position = 0
        for start in find_mentions(joined, variant):
            end = start + len(variant)
            if quoted and not (joined[start - 1 : start] in _QUOTES and joined[end : end + 1] in _QUOTES):
                continue
            out.append(joined[position:start])
            out.append(chr(mark))
            position = end
            if name.endswith("s") and not surrogate.endswith("s") and _is_bare_possessive(joined, start, end):
                out.append(joined[end] + "s")
                position += 1
        out.append(joined[position:])
        joined = "".join(out)
        surrogates[mark] = surrogate
        mark += 1
    joined = _ARTICLE.sub(lambda match: _choose_article(match, surrogates), joined)
    return joined.translate(surrogates).split(_SEPARATOR)


def replace_number(text: str, old: str, new: str) -> tuple[str, int]:
    """Replace a number or a date that stands alone; returns the text and how many mentions there were."""
    out: list[str] = []
    position = count = 0
    start = text.find(old)
    while start >= 0:
        end = start + len(old)
        if _stands_alone(text, start, end):
            out += [text[position:start], new]
            position = end
            count += 1
        start = text.find(old, end)
    out.append(text[position:])
    return "".join(out), count


def find_mentions(text: str, name: str) -> Iterator[int]:
    """Where a name stands as whole words; occurrences do not overlap."""
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        before, after = text[start - 1 : start] if start else "", text[end : end + 1]
        whole = not (_is_word(before) and _is_word(name[0])) and not (_is_word(after) and _is_word(name[-1]))
        if whole:
            yield start
        start = text.find(name, end if whole else start + 1)


def find_leftover(texts: Iterable[str], names: Iterable[str]) -> str | None:
    """The first of the names (those with at least 4 letters) that still stands in a text, or None."""
    joined = _SEPARATOR.join(texts)
    return next(
        (
            name
            for name in names
            if name in joined and count_letters(name) >= 4 and next(find_mentions(joined, name), None) is not None
        ),
        None,
    )


def takes_article(texts: Sequence[str], name: str) -> bool:
    """Whether the texts mention the name, and always with "the" before it."""
    seen = False
    for text in texts:
        for start in find_mentions(text, name):
            if text[max(0, start - 4) : start].lower() != "the ":
                return False
            seen = True
    return seen


def count_letters(text: str) -> int:
    """How many letters a text has."""
    return len(text) if text.isalpha() else sum(map(str.isalpha, text))


def _list_variants(names: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name in sorted(names, key=lambda name: (-len(name), name)):
        surrogate = names[name]
        yield name, name, surrogate
        if name.startswith("The "):
            kept = surrogate.startswith("The ")
            yield name, "the " + name[4:], "the " + surrogate[4:] if kept else surrogate
        elif name[0].islower():
            yield name, name[0].upper() + name[1:], surrogate[0].upper() + surrogate[1:]


def _choose_article(match: re.Match[str], surrogates: Mapping[int, str]) -> str:
    """ "an Iria" becomes "a Velm"; a capital "A" alone may be a name or an initial and stays."""
    if match[1] == "A" and not match[2]:
        return match[0]
    return f"{match[1]}{article(surrogates[ord(match[3])])[1:]} "


def _needs_quotes(name: str) -> bool:
    if not any(letter.isalpha() for letter in name):
        return True
    # "US" is no "us".
    return name.casefold() in _COMMON and not (name.isupper() and len(name) > 1)


def _is_bare_possessive(text: str, start: int, end: int) -> bool:
    """`the Rovers' ground`, but not the closing quote of `'Rovers'`."""
    return (
        text[end : end + 1] in ("'", "’")
        and text[end + 1 : end + 2] in ("", " ")
        and text[start - 1 : start] not in _QUOTES
    )


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if _is_word(before) or before in ("-", "–", "−"):
        return False
    if before in (",", ".") and before and text[start - 2 : start - 1].isdigit() and start >= 2:
        return False
    return not (_is_word(after) or (after in (",", ".", "–") and after and text[end + 1 : end + 2].isdigit()))


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
