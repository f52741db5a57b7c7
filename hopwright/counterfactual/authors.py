"""Passages in a model's words: the same facts as the rules', and no others.

A model that adds what it remembers would spoil the one thing that a passage is for, so its text is held against the
facts: every name and number of them is in it, and no other name or number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hopwright.counterfactual.mention_forms import is_distinctive_form
from hopwright.llm.asking import QueryResult, ask_in_rounds
from hopwright.llm.prompts import Prompt
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef, Request
from hopwright.records import Passage
from hopwright.text.mentions import find_mentions

_NUMBER = re.compile(r"\d[\d,.]*\d|\d")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_CAPITALISED = re.compile(r"[A-Z][^A-Z]+")
_JOINT = re.compile(r"['’-]")
_OPENERS = frozenset("among today within born home set upon geographically throughout beyond here there this".split())
_NAME = re.compile(r"[A-Z][\w'’.-]*(?: (?:(?:of|the|de|van|von|and|in|for) )*[A-Z][\w'’.-]*)*")


@dataclass(frozen=True, slots=True)
class PassageDraft:
    """A passage to be worded: what rules make of it, and the names and numbers that must be in it."""

    key: str
    passage: Passage
    names: tuple[str, ...]


class PassageAuthor(Protocol):
    """Words passages. `name` goes into the records."""

    name: str

    def write(self, drafts: Sequence[PassageDraft]) -> list[QueryResult[Passage]]:
        """One passage per draft, or why there is none."""
        ...


class ModelPassageAuthor:
    """Asks a model; what fails a check is asked again with another seed, at most `tries` times in all."""

    def __init__(self, session: Session, prompt: Prompt, target: ModelRef, *, tries: int = 3) -> None:
        self.name = str(target)
        self._session = session
        self._prompt = prompt
        self._target = target
        self._tries = tries

    def write(self, drafts: Sequence[PassageDraft]) -> list[QueryResult[Passage]]:
        """See PassageAuthor."""
        return ask_in_rounds(self._session, drafts, self._request, _judge, tries=self._tries)

    def _request(self, draft: PassageDraft, attempt: int) -> Request:
        inputs = {"title": draft.passage.title, "facts": draft.passage.text}
        return self._prompt.request(inputs, self._target, item=draft.key, seed=attempt)


def find_fault(draft: PassageDraft, text: str) -> str:
    """What keeps a worded passage from standing for its facts; empty when nothing does."""
    rules = draft.passage.text
    for name in draft.names:
        # As the rules write it: "the Pentagon", "EBay" where a sentence begins, and a quotation inside a quotation.
        lowered = f"the {name[4:]}" if name.startswith("The ") else name
        forms = (name, name[:1].upper() + name[1:], name.replace('"', "'"), lowered)
        if not any(next(find_mentions(text, form), None) is not None for form in forms):
            return f"{name!r} is missing"
    for number in _NUMBER.findall(rules):
        if number not in _NUMBER.findall(text):
            return f"the number {number} is missing"
    for number in _NUMBER.findall(text):
        if number not in _NUMBER.findall(f"{rules} {draft.passage.title}"):
            return f"the number {number} is none of the facts"
    written = _WORD.findall(f"{rules} {draft.passage.title}")
    words = {word.casefold() for word in written}
    words |= {word.removesuffix("'s").removesuffix("’s") for word in words}  # as below: "O'Hara's Choice"
    # A name may begin within a word: "d'Italia", "Anglo-Saxon", "deWit".
    known = words | {part for word in words for part in _JOINT.split(word)}
    known |= {part.casefold() for word in written for part in _CAPITALISED.findall(word)}
    for run in _NAME.findall(text):
        for word in _WORD.findall(run):
            bare = word.removesuffix("'s").removesuffix("’s")
            if is_distinctive_form(bare) and bare.casefold() not in known and not _is_opener(text, word):
                return f"{bare!r} is named, and is none of the facts"
    if len(text) > 4 * len(rules) + 200:
        return "it is far longer than its facts"
    return ""


def _judge(draft: PassageDraft, answer: Any) -> tuple[Passage | None, str]:
    text = " ".join(answer.text.split())
    fault = find_fault(draft, text)
    return (None, fault) if fault else (draft.passage.model_copy(update={"text": text}), "")


def _is_opener(text: str, word: str) -> bool:
    """Whether a word has its capital from the sentence that it opens ("Located in …"), as far as its form tells."""
    if word.lower() not in _OPENERS and not word.lower().endswith(("ed", "ing", "ly")):
        return False
    return all(
        start == 0 or text[:start].rstrip()[-1:] in (".", "!", "?", '"', "“") for start in find_mentions(text, word)
    )
