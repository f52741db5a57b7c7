"""How much a row in the release format may hold, so that a check's time and memory are bounded by the file's size.

What is past a limit is a problem of the row, named by its place; nothing else of the row is looked at then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from hopwright.foreign import escape_page, show

LONGEST_ROW = 4 << 20
"""Bytes of one row; ours take some 20 kB, with passages some 100 kB."""
_LONGEST_ID = 200
_LONGEST_TEXT = 10_000
_LONGEST_PASSAGE = 200_000
"""Characters of one text, and of one that is called `text`, as a passage's is."""
_MOST_VALUES = 50_000
_LARGEST = 2**63
_MOST_PROBLEMS = 20


def find_excess(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What of a row is past a limit: the place (`single_hop[2].answer`), and what it is; at most 20 of them."""
    yield from islice(_walk(row, _judge_length), _MOST_PROBLEMS)


def find_controls(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Which texts of a row hold characters that a terminal obeys or a page hides; as `find_excess` says it."""
    yield from islice(_walk(row, _judge_characters), _MOST_PROBLEMS)


_Place = tuple[Any, ...]
"""The keys and the numbers that lead to a value. They are named where there is a fault: hardly ever."""


def _walk(row: dict[str, Any], judge: Callable[[str, int], str]) -> Iterator[tuple[str, str]]:
    values = 0
    left: list[tuple[_Place, str, Any]] = [((), "", row)]
    while left:
        place, name, value = left.pop()
        values += 1
        if values > _MOST_VALUES:
            yield _name(place), f"the row holds more than {_MOST_VALUES:,} values"
            return
        if isinstance(value, dict):
            for key in value:
                if fault := judge(key, _LONGEST_ID):
                    yield _name((*place, key)), f"the field's name {fault}"
            left += [((*place, key), key, inner) for key, inner in value.items()]
        elif isinstance(value, list):
            left += [((*place, number), name, inner) for number, inner in enumerate(value)]
        elif isinstance(value, str):
            longest = {"id": _LONGEST_ID, "text": _LONGEST_PASSAGE}.get(name, _LONGEST_TEXT)
            if fault := judge(value, longest):
                yield _name(place), fault
        elif isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
            yield _name(place), "a number of more than 64 bits"


def _name(place: _Place) -> str:
    path = ""
    for step in place:
        path = f"{path}[{step}]" if isinstance(step, int) else f"{path}.{show(step, 40)}".lstrip(".")
    return path


def _judge_length(text: str, longest: int) -> str:
    return f"has {len(text):,} characters; {longest:,} are the most" if len(text) > longest else ""


def _judge_characters(text: str, _: int) -> str:
    if not text.isprintable() and (shown := escape_page(text)) != text:
        place = next(at for at, (one, other) in enumerate(zip(text, shown, strict=False)) if one != other)
        return f"holds the control character {escape_page(text[place])}"
    return ""
