"""What a back-translation may change: masks, edits, and the figures on both.

A returned sentence is taken edit by edit. Names, numbers, dates and quoted titles are masked before it leaves and must
come back once each; of the rest, an edit is kept when it is a known paraphrase, and put back otherwise.
"""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib import resources

from hopwright.counterfactual.mentions import find_mentions

_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”")
_NUMBER = re.compile(r"(?<!\w)\d[\d,.]*\d(?!\w)|(?<!\w)\d(?!\w)")
_CAPITALISED = re.compile(r"(?<=[^\s?.!:] )[A-Z][\w'’.-]*(?: (?:(?:of|the|de|and|for) )*[A-Z][\w'’.-]*)*")
_MASK = re.compile(r"\bXq[aeo][bdfgklmnprtvz][aeo]\b")
_TOKEN = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")
_Operation = tuple[str, int, int, int, int]
_MARKS = re.compile(r"[*#@^$\\]")
_SPANISH = frozenset(
    "cual cuál cuales cuáles cuando cuándo cuantos cuántos de del desde donde dónde el ella ellos entre era es esta "
    "este fue ha hasta la las lo los más muy para pero por porque que qué quien quién se según ser sin sobre su "
    "también un una uno y"
    .split()
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with its names and numbers masked, and what the masks stand for."""

    original: str
    text: str
    masks: dict[str, str]


@dataclass(frozen=True, slots=True)
class Reworded:
    """What came of one text. `overlap`: share of the stage-one text's word pairs that are still there."""

    text: str
    kept: int
    refused: int
    overlap: float
    reason: str = ""


def mask(text: str, names: Iterable[str]) -> Masked:
    """Replace names (longest first, with an article before them), titles, numbers and capitalised runs by nonce words.

    The nonce words were tried on Apertium's English and Spanish: they pass both as unknown names, unchanged.
    Raises ValueError when a text needs more masks than there are, or holds one already.
    """
    if _MASK.search(text):
        raise ValueError(f"the text holds a mask: {text!r}")
    masks: dict[str, str] = {}
    supply = _list_masks()
    masked = text
    spans = sorted({*_QUOTED.findall(text), *names}, key=lambda name: (-len(name), name))
    for name in spans:
        for form in (f"the {name}", f"The {name}", name):
            masked = _mask_form(masked, form, supply, masks)
    for pattern in (_CAPITALISED, _NUMBER):
        position = 0
        while match := pattern.search(masked, position):
            if _MASK.search(match[0]):
                position = match.start() + 1
                continue
            word = next(supply, None)
            if word is None:
                raise ValueError(f"too many names in one text: {text!r}")
            masks[word] = match[0]
            masked = masked[: match.start()] + word + masked[match.end() :]
            position = match.start() + len(word)
    return Masked(text, masked, masks)


def take_edits(masked: Masked, returned: str) -> Reworded:
    """Keep the returned sentence's known paraphrases and put everything else back.

    `reason` says why nothing was kept, if so: a mask lost or doubled, the translator's marks, or no usable edit.
    """
    problem = find_damage(masked, returned)
    if problem:
        return Reworded(masked.original, 0, 0, 1.0, problem)
    source = list(_TOKEN.finditer(masked.text))
    words = [match[0] for match in source]
    target = _TOKEN.findall(returned)
    operations = SequenceMatcher(None, words, target, autojunk=False).get_opcodes()
    edits = list(_find_paraphrases(words, target, operations))
    changed = sum(operation[0] != "equal" for operation in operations)
    text = masked.text
    for start, stop, replacement in reversed(edits):
        text = text[: source[start].start()] + replacement + text[source[stop - 1].end() :]
    text = _MASK.sub(lambda match: masked.masks[match[0]], text)
    refused = max(0, changed - len(edits))
    if not edits:
        why = "came back unchanged" if not changed else f"none of {changed} changes keeps meaning and grammar"
        return Reworded(masked.original, 0, refused, 1.0, why)
    return Reworded(text, len(edits), refused, measure_overlap(masked.original, text))


def find_damage(masked: Masked, returned: str) -> str:
    """What forbids using a returned sentence at all; empty when nothing does."""
    found = _MASK.findall(returned)
    for word in masked.masks:
        if found.count(word) != 1:
            return f"{masked.masks[word]!r} came back {found.count(word)} times"
    if len(found) != len(masked.masks):
        return "an unknown mask came back"
    if mark := _MARKS.search(returned):
        return f"the translator's mark {mark[0]!r} is in it"
    return ""


def find_pivot_word(text: str, original: str) -> str:
    """A Spanish word that the original did not have, or empty."""
    before = {word.casefold() for word in _TOKEN.findall(original)}
    words = (word for word in _TOKEN.findall(text) if word.casefold() not in before)
    return next((word for word in words if word.casefold() in _SPANISH or not word.isascii()), "")


def measure_overlap(one: str, other: str) -> float:
    """The share of the first text's pairs of neighbouring words that the second has, too."""
    pairs, others = _list_pairs(one), _list_pairs(other)
    return round(len(pairs & others) / len(pairs), 4) if pairs else 1.0


def _find_paraphrases(
    words: list[str], target: list[str], operations: Sequence[_Operation]
) -> Iterator[tuple[int, int, str]]:
    """(start, stop, replacement) of each known pair that stands in both texts at the same place."""
    place = _align(len(words), len(target), operations)
    paraphrases = _load_paraphrases()
    lowered = [word.lower() for word in words]
    goal = [word.lower() for word in target]
    position = 0
    while position < len(words):
        for before, after in paraphrases.get(lowered[position], ()):
            stop = position + len(before)
            if tuple(lowered[position:stop]) != before:
                continue
            first, last = place[position], place[stop]
            if tuple(goal[first:last]) == after:
                text = " ".join(after)
                yield position, stop, text[0].upper() + text[1:] if words[position][0].isupper() else text
                position = stop - 1
                break
        position += 1


def _align(words: int, target: int, operations: Sequence[_Operation]) -> list[int]:
    """Where each word's counterpart begins in the target; one more entry for the end."""
    place = [0] * (words + 1)
    for op, i1, i2, j1, j2 in operations:
        for i in range(i1, i2):
            place[i] = j1 + (i - i1) if op == "equal" else min(j1 + (i - i1), j2)
    place[words] = target
    return place


def _mask_form(text: str, form: str, supply: Iterator[str], masks: dict[str, str]) -> str:
    for start in reversed(list(find_mentions(text, form))):
        word = next(supply, None)
        if word is None:
            raise ValueError(f"too many names in one text: {text!r}")
        masks[word] = form
        text = text[:start] + word + text[start + len(form) :]
    return text


def _list_masks() -> Iterator[str]:
    for vowel in "aeo":
        for consonant in "bdfgklmnprtvz":
            for last in "aeo":
                yield f"Xq{vowel}{consonant}{last}"


def _list_pairs(text: str) -> set[tuple[str, str]]:
    words = [word.casefold() for word in _TOKEN.findall(text) if word[0].isalnum()]
    return set(itertools.pairwise(words))


@functools.cache
def _load_paraphrases() -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    raw = tomllib.loads(resources.files(__package__).joinpath("paraphrases.toml").read_text("utf-8"))
    table: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for before, after in raw["pairs"]:
        words = tuple(before.split())
        table.setdefault(words[0], []).append((words, tuple(after.split())))
    return table
