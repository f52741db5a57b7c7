"""Reading a model's answer out of what it wrote: strictly, so that "wrong" and "not extractable" stay apart.

Omanic's authors saw a strong model lose points because its answer was buried in prose (appendix B.2): such an answer is
counted as not extractable here, and the report gives its share beside the accuracy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["answered", "not_extractable", "refusal", "empty", "truncated", "failed"]
"""`failed`: no answer came at all (the request was refused by the server, or nothing answered)."""

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_LETTER_ALONE = re.compile(r"^[\s*_(\[]*([A-Z])[\s*_)\].:]*$")
_LETTER_AND_OPTION = re.compile(r"^[\s*_(\[]*([A-Z])[)\].:*_]+\s+(.+?)[\s.*_]*$", re.DOTALL)
_SAID = re.compile(r"^(?:the\s+)?(?:right |correct |final )?(?:answer|option)\s*(?:is)?\s*[:\s]\s*(.+)$", re.IGNORECASE)
_MARKED_LETTER = re.compile(r"(?i:answer\s+is)\s*:?[\s*_(\[]*(?i:option\s+)?[*_(\[]*([A-Z])(?![A-Za-z'’])")
_MARKED_ANSWER = re.compile(r"^[\s*_#>]*FINAL\s+ANSWER[\s*_]*:[\s*_]*(.*?)[\s*_]*$", re.IGNORECASE | re.MULTILINE)
_LONGEST_DIRECT = 40
"""Words of a direct answer; more is an explanation."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was read: an option's letter or an answer in words; empty unless `outcome` is `answered`."""

    value: str
    outcome: Outcome


_NOTHING = Extracted("", "not_extractable")


def extract(text: str, form: str, prompting: str, options: dict[str, str]) -> Extracted:
    """Read the answer to a question of the form `mcq` or `open`, asked `direct` or with `cot`."""
    text = _THOUGHTS.sub("", text)
    if "<think" in text or not text.strip():
        return Extracted("", "empty" if not text.strip() else "truncated")
    if form == "mcq":
        return _read_letter(text.strip(), prompting, options)
    return _read_answer(text.strip(), prompting)


def _read_letter(text: str, prompting: str, options: dict[str, str]) -> Extracted:
    if prompting == "cot":
        # The last mark counts: a chain of thought may weigh several options aloud.
        marks = _MARKED_LETTER.findall(text)
        return Extracted(marks[-1], "answered") if marks and marks[-1] in options else _NOTHING
    said = _SAID.match(text)
    for candidate in (text, said.group(1) if said else ""):
        if (alone := _LETTER_ALONE.match(candidate)) and alone.group(1) in options:
            return Extracted(alone.group(1), "answered")
        both = _LETTER_AND_OPTION.match(candidate)
        if both and both.group(1) in options and _fold(both.group(2)) == _fold(options[both.group(1)]):
            return Extracted(both.group(1), "answered")
    return _NOTHING


def _read_answer(text: str, prompting: str) -> Extracted:
    if marks := [mark for mark in _MARKED_ANSWER.findall(text) if mark]:
        return Extracted(_strip(marks[-1]), "answered")
    if prompting == "cot":
        return _NOTHING
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) != 1 or len(lines[0].split()) > _LONGEST_DIRECT:
        return _NOTHING
    said = _SAID.match(lines[0])
    answer = _strip(said.group(1) if said else lines[0])
    return Extracted(answer, "answered") if answer else _NOTHING


def _strip(text: str) -> str:
    text = text.strip().strip("*_`").strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    return text[:-1].rstrip() if text.endswith(".") and not re.search(r"\b[A-Z]\.$", text) else text


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
