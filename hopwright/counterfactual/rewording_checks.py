"""What a back-translation may change: masks, edits, and the figures on both.

Names, numbers, dates and quoted titles are masked before a text leaves and must come back once each. What a good
translator returns is taken whole, once it has passed the gates; what a rule-based one returns is taken edit by edit:
an edit is kept when it is a known paraphrase, and put back otherwise.
"""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from importlib import resources

from hopwright.counterfactual.translating import MaskStyle
from hopwright.text.language import find_foreign
from hopwright.text.mentions import find_mentions

_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”")
_URL = re.compile(r"https?://\S*[\w/]")
_NUMBER = re.compile(r"(?<!\w)\d[\d,.]*\d(?!\w)|(?<!\w)\d(?!\w)")
_CAPITALISED = re.compile(r"(?<=[^\s?.!:] )[A-Z][\w'’.-]*(?: (?:(?:of|the|de|and|for) )*[A-Z][\w'’.-]*)*")
_MASK = re.compile(r"\bXq[aeo][bdfgklmnprtvz][aeo]\b|\[N\d+\]")
_MASK_ANYWHERE = re.compile(r"Xq[aeo][bdfgklmnprtvz][aeo]|\[N\d+\]")
_GLUED = (
    (re.compile(r"(?<=\w)(Xq[aeo][bdfgklmnprtvz][aeo]|\[N\d+\])"), True),
    (re.compile(r"(Xq[aeo][bdfgklmnprtvz][aeo]|\[N\d+\])(?=\w)"), False),
)
_TOKEN = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")
_Operation = tuple[str, int, int, int, int]
_MARKS = re.compile(r"[*#@^$\\]")
_BROKEN_MASK = re.compile(r"\[\s*[Nn]|[\[\]]|\bXq\w*")
_ENGLISH = frozenset("in is of was over under as die no do on a e i o son am an mit".split())


class KeptCause(StrEnum):
    """Why a text keeps its words; the values are what reports call it."""

    UNCHANGED = "unchanged"
    NO_PARAPHRASE = "not sent: no word has a known paraphrase"
    NO_SAFE_EDIT = "no edit that is known to be safe"
    MASK_LOST = "a mask was lost or doubled"
    MASK_BROKEN = "a mask was broken"
    PIVOT_WORD = "a word of the pivot language was left"
    OVERLAP = "too much of the wording stayed"
    SIMILARITY = "meaning: too little similarity"
    JUDGE = "meaning: the judge says no"
    NO_QUESTION = "no question any more"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class KeptReason:
    """A cause, and a line about the one text."""

    cause: KeptCause
    text: str


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text with its names and numbers masked, and what the masks stand for.

    glued: masks that touch a word in the original, before or after; the blanks that part them are taken out again.
    """

    original: str
    text: str
    masks: dict[str, str]
    glued: frozenset[tuple[str, bool]] = frozenset()

    def restore(self, text: str) -> str:
        """A text with what its masks stand for in their place."""
        for word, before in self.glued:
            text = text.replace(f" {word}" if before else f"{word} ", word)
        return _MASK_ANYWHERE.sub(lambda match: self.masks.get(match[0], match[0]), text)


@dataclass(frozen=True, slots=True)
class RewordedText:
    """What came of one text. `overlap`: share of the stage-one text's word pairs that are still there.

    `reason` says why it was left as it was, empty when it was reworded; `cause` is the same as a code. `masks` and
    `restored`: how many there were, and how many came back exactly once.
    """

    text: str
    kept: int
    refused: int
    overlap: float
    reason: str = ""
    masks: int = 0
    restored: int = 0
    cause: KeptCause = KeptCause.OTHER


def mask(text: str, names: Iterable[str], style: MaskStyle = "words") -> MaskedText:
    """Replace names (longest first, with an article before them), titles, numbers and capitalised runs by masks.

    The nonce words were tried on Apertium's English and Spanish: they pass both as unknown names, unchanged.
    Raises ValueError when a text needs more masks than there are, or holds one already.
    """
    if _MASK.search(text):
        raise ValueError(f"the text holds a mask: {text!r}")
    masks: dict[str, str] = {}
    supply = _list_masks() if style == "words" else (f"[N{number}]" for number in itertools.count(1))
    masked = text
    spans = sorted({*_QUOTED.findall(text), *_URL.findall(text), *names}, key=lambda name: (-len(name), name))
    for name in spans:
        for form in (f"the {name}", f"The {name}", name):
            masked = _mask_form(masked, form, supply, masks)
    for pattern in (_CAPITALISED, _NUMBER):
        position = 0
        while match := pattern.search(masked, position):
            if _MASK_ANYWHERE.search(match[0]) or (match.start() and masked[match.start() - 1] == "["):
                position = match.start() + 1
                continue
            word = next(supply, None)
            if word is None:
                raise ValueError(f"too many names in one text: {text!r}")
            masks[word] = match[0]
            masked = masked[: match.start()] + word + masked[match.end() :]
            position = match.start() + len(word)
    glued: set[tuple[str, bool]] = set()
    for pattern, before in _GLUED:
        glued |= {(match[1], before) for match in pattern.finditer(masked)}
        masked = pattern.sub(r" \1" if before else r"\1 ", masked)
    return MaskedText(text, masked, masks, frozenset(glued))


def count_masks(text: str) -> dict[str, int]:
    """How often each mask stands in a text."""
    return dict(Counter(_MASK.findall(text)))


def accept_whole_text(masked: MaskedText, returned: str, pivots: Sequence[str] = ()) -> RewordedText:
    """The returned text with the names put back, unless it is damaged, unchanged or still speaks a pivot language."""
    restored = _count_restored(masked, returned)
    returned = " ".join(returned.split())
    problem = find_damage(masked, returned)
    text = masked.restore(returned)
    if not problem and (word := find_pivot_word(text, masked.original, pivots)):
        problem = KeptReason(KeptCause.PIVOT_WORD, f"{word!r} of the pivot language is left")
    if not problem and (language := find_foreign(returned, _MASK_ANYWHERE, pivots)):
        problem = KeptReason(KeptCause.PIVOT_WORD, f"the pivot language is left: it reads as {language}")
    if not problem and masked.original.endswith("?") and not text.endswith("?"):
        problem = KeptReason(KeptCause.NO_QUESTION, "it is no question any more")
    if not problem and text == masked.original:
        problem = KeptReason(KeptCause.UNCHANGED, "came back unchanged")
    if problem:
        return _keep(masked, problem, 0, restored)
    overlap = measure_overlap(masked.original, text)
    return RewordedText(text, 1, 0, overlap, "", len(masked.masks), restored)


def has_paraphrase(text: str) -> bool:
    """Whether `accept_known_paraphrases` could keep anything at all: some words of the text have a known paraphrase."""
    return any(_list_candidates(_TOKEN.findall(text)))


def accept_known_paraphrases(masked: MaskedText, returned: str, pivots: Sequence[str] = ("Spanish",)) -> RewordedText:
    """Keep the returned sentence's known paraphrases and put everything else back.

    `reason` says why nothing was kept, if so: a mask lost or doubled, the translator's marks, or no usable edit.
    """
    restored = _count_restored(masked, returned)
    problem = find_damage(masked, returned)
    if problem:
        return _keep(masked, problem, 0, restored)
    source = list(_TOKEN.finditer(masked.text))
    words = [match[0] for match in source]
    target = _TOKEN.findall(returned)
    operations = SequenceMatcher(None, words, target, autojunk=False).get_opcodes()
    edits = list(_find_paraphrases(words, target, operations))
    changed = sum(operation[0] != "equal" for operation in operations)
    text = masked.text
    for start, stop, replacement in reversed(edits):
        text = text[: source[start].start()] + replacement + text[source[stop - 1].end() :]
    text = masked.restore(text)
    refused = max(0, changed - len(edits))
    if not edits:
        unchanged = KeptReason(KeptCause.UNCHANGED, "came back unchanged")
        unsafe = KeptReason(KeptCause.NO_SAFE_EDIT, f"none of {changed} changes keeps meaning and grammar")
        return _keep(masked, unsafe if changed else unchanged, refused, restored)
    if word := find_pivot_word(text, masked.original, pivots):
        left = KeptReason(KeptCause.PIVOT_WORD, f"{word!r} of the pivot language is left")
        return _keep(masked, left, changed, restored)
    overlap = measure_overlap(masked.original, text)
    return RewordedText(text, len(edits), refused, overlap, "", len(masked.masks), restored)


def find_damage(masked: MaskedText, returned: str) -> KeptReason | None:
    """What forbids using a returned sentence at all; None when nothing does."""
    found = _MASK.findall(returned)
    for word in masked.masks:
        if found.count(word) != 1:
            text = f"{masked.masks[word]!r} came back {found.count(word)} times"
            return KeptReason(KeptCause.MASK_LOST, text)
    if len(found) != len(masked.masks):
        return KeptReason(KeptCause.MASK_BROKEN, "an unknown mask came back")
    if (mark := _MARKS.search(returned)) and mark[0] not in masked.original:
        return KeptReason(KeptCause.OTHER, f"the translator's mark {mark[0]!r} is in it")
    if (broken := _BROKEN_MASK.search(_MASK.sub("", returned))) and broken[0] not in masked.original:
        return KeptReason(KeptCause.MASK_BROKEN, f"a broken mask {broken[0]!r} came back")
    return None


def find_pivot_word(text: str, original: str, pivots: Sequence[str] = ("Spanish",)) -> str:
    """A word of one of the pivot languages, or one in letters that English does not use, that is new; or empty."""
    before = {word.casefold() for word in _TOKEN.findall(original)}
    foreign = frozenset[str]().union(*(_load_pivots().get(pivot, "").split() for pivot in pivots)) - _ENGLISH
    words = (word for word in _TOKEN.findall(text) if word.casefold() not in before)
    return next((word for word in words if word.casefold() in foreign or not _is_latin(word)), "")


def measure_overlap(one: str, other: str) -> float:
    """The share of the first text's pairs of neighbouring words that the second has, too."""
    pairs, others = _list_pairs(one), _list_pairs(other)
    return round(len(pairs & others) / len(pairs), 4) if pairs else 1.0


def _keep(masked: MaskedText, reason: KeptReason, refused: int, restored: int) -> RewordedText:
    """The text as it was, and why."""
    return RewordedText(masked.original, 0, refused, 1.0, reason.text, len(masked.masks), restored, reason.cause)


def _count_restored(masked: MaskedText, returned: str) -> int:
    found = count_masks(returned)
    return sum(found.get(word, 0) == 1 for word in masked.masks)


def _is_latin(word: str) -> bool:
    """Whether a token is made of ASCII, or of the quotation marks and dashes that English texts have."""
    return word.isascii() or (
        not any(letter.isalnum() for letter in word) and all(letter in "“”‘’–—…" for letter in word)
    )


def _find_paraphrases(
    words: list[str], target: list[str], operations: Sequence[_Operation]
) -> Iterator[tuple[int, int, str]]:
    """(start, stop, replacement) of each known pair that stands in both texts at the same place."""
    place = _align(len(words), len(target), operations)
    goal = [word.lower() for word in target]
    free = 0
    for start, stop, after in _list_candidates(words):
        if start >= free and tuple(goal[place[start] : place[stop]]) == after:
            text = " ".join(after)
            yield start, stop, text[0].upper() + text[1:] if words[start][0].isupper() else text
            free = stop


def _list_candidates(words: Sequence[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """(start, stop, paraphrase) of all words that have a known one, by their start."""
    paraphrases = _load_paraphrases()
    lowered = [word.lower() for word in words]
    for start, word in enumerate(lowered):
        for before, after in paraphrases.get(word, ()):
            stop = start + len(before)
            if tuple(lowered[start:stop]) == before:
                yield start, stop, after


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
def _load_pivots() -> dict[str, str]:
    return tomllib.loads(resources.files(__package__).joinpath("pivots.toml").read_text("utf-8"))


@functools.cache
def _load_paraphrases() -> dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    raw = tomllib.loads(resources.files(__package__).joinpath("paraphrases.toml").read_text("utf-8"))
    table: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for before, after in raw["pairs"]:
        words = tuple(before.split())
        table.setdefault(words[0], []).append((words, tuple(after.split())))
    return table
