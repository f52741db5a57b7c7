"""Marked questions: which words of a question stand for which hop, in brackets that vanish from the text.

`How old did {1: the director of "Gaslight"} turn in {2: the year in which ◦ died}?` A span `{3: … {1: …} …}` holds the
spans of what its hop builds on. `{1+2: the two}` stands for several hops at once. What no span holds is said for the
last hop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_OPEN, _CLOSE, _END = "\x03", "\x04", "\x05"
"""How marks look while a writer still puts a text together: `OPEN hops CLOSE text END`."""
MARK = rf"{_OPEN}[\d+]*{_CLOSE}"
"""The beginning of a mark while a writer still puts a text together, as a pattern."""
_INNER = re.compile(rf"{MARK}|{_END}")
_LEADING = re.compile(rf"(?:{MARK})*")
_TOKEN = re.compile(r"\{\s*(\d(?:\s*\+\s*\d)*)\s*: ?|\}")


class MarkError(ValueError):
    """Marks that do not fit together; the message says where."""


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """Words that stand for `hops`: texts and spans in the order in which they are read."""

    hops: tuple[int, ...]
    parts: tuple[str | MarkedSpan, ...]

    @property
    def children(self) -> tuple[MarkedSpan, ...]:
        """The spans directly inside."""
        return tuple(part for part in self.parts if isinstance(part, MarkedSpan))

    @property
    def own(self) -> str:
        """The words that no inner span holds; `◦` stands where one is."""
        return "".join(part if isinstance(part, str) else "◦" for part in self.parts)

    @property
    def labelled(self) -> str:
        """The words that no inner span holds; `◦1◦` stands where one of hop 1 is."""
        return "".join(
            part if isinstance(part, str) else "".join(f"◦{index}◦" for index in part.hops) for part in self.parts
        )

    @property
    def text(self) -> str:
        """All words, without marks."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def walk(self) -> Iterator[MarkedSpan]:
        """This span and all inside it, outer ones first."""
        yield self
        for child in self.children:
            yield from child.walk()


def mark(hops: Sequence[int], text: str) -> str:
    """Put a mark around a part of a text that is still being written."""
    return f"{_OPEN}{'+'.join(map(str, hops))}{_CLOSE}{text}{_END}"


def is_marked(text: str) -> bool:
    """Whether a mark holds all of a text that is still being written."""
    return text.startswith(_OPEN) and text.endswith(_END)


def strip_marks(text: str) -> str:
    """A text that is still being written without its marks."""
    return _INNER.sub("", text)


def write_marks(text: str) -> str:
    """The finished text with its marks in brackets; empty where a name of it has brackets."""
    if "{" in text or "}" in text:
        return ""
    bracketed = text.replace(_OPEN, "{").replace(_CLOSE, ": ").replace(_END, "}")
    return bracketed if "{" in bracketed else ""


def upper_first(text: str) -> str:
    """The text with a capital, whatever marks stand before it."""
    start = _skip_marks(text)
    return text[:start] + text[start : start + 1].upper() + text[start + 1 :]


def lower_first(text: str) -> str:
    """The text with a small letter at its beginning, whatever marks stand before it."""
    start = _skip_marks(text)
    return text[:start] + text[start : start + 1].lower() + text[start + 1 :]


def starts_with_name(text: str, start: int) -> bool:
    """Whether nothing but marks stands before a place in a text."""
    return _skip_marks(text) >= start


def _skip_marks(text: str) -> int:
    found = _LEADING.match(text)
    return found.end() if found else 0


@dataclass(slots=True)
class _Open:
    hops: tuple[int, ...]
    parts: list[str | MarkedSpan] = field(default_factory=list)


def read_marks(text: str) -> MarkedSpan:
    """The spans of a marked question, in a span without hops for the whole. Raises MarkError."""
    stack = [_Open(())]
    at = 0
    for token in _TOKEN.finditer(text):
        if piece := text[at : token.start()]:
            stack[-1].parts.append(piece)
        at = token.end()
        if token[1]:
            hops = tuple(dict.fromkeys(int(number) for number in token[1].split("+")))
            stack.append(_Open(hops))
            continue
        if len(stack) == 1:
            raise MarkError(f"a bracket is closed that was not opened, after {_tail(text[: token.start()])!r}")
        done = stack.pop()
        if not any(part if isinstance(part, MarkedSpan) else part.strip() for part in done.parts):
            raise MarkError(f"the span of hop {_name(done.hops)} is empty")
        stack[-1].parts.append(MarkedSpan(done.hops, tuple(done.parts)))
    if len(stack) > 1:
        raise MarkError(f"the span of hop {_name(stack[-1].hops)} is not closed")
    if piece := text[at:]:
        stack[0].parts.append(piece)
    root = MarkedSpan((), tuple(stack[0].parts))
    if "{" in root.text:
        raise MarkError(f"a bracket without the number of its hop, near {_tail(root.text.partition('{')[2][:40])!r}")
    return root


def _name(hops: Sequence[int]) -> str:
    return "+".join(map(str, hops))


def _tail(text: str) -> str:
    return text[-40:].strip()
