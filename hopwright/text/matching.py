"""Comparing wordings: folding, whole words, numbers in a text, and the form of an answer."""

from __future__ import annotations

import functools
import re
import unicodedata
from decimal import Decimal, InvalidOperation

from hopwright.errors import InputError
from hopwright.records import AnswerType
from hopwright.records.values import MOST_DIGITS, parse
from hopwright.text.number_words import find_written_out
from hopwright.text.phrases import SMALL_NUMBERS

_SEPARATORS = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\w]|[.,]\d)")
_FEWEST_TENS = 20
_ORDINAL = re.compile(r"(?<![\w.,])(\d+)(?:st|nd|rd|th)\b")
_WORDS = {word: number for number, word in enumerate(SMALL_NUMBERS[:13])}
_STOP = frozenset(
    "a an the who whom whose what which when where why how it its he him his she her they them their is was are were "
    "be do does did has have had in on at of to by for from with and or not no as than that this one i me my we us you "
    "so if all any more most first last new old up out over after before year years".split()
)


@functools.lru_cache(maxsize=32_768)
def fold(text: str) -> str:
    """Casefold, drop accents, and turn everything that is no letter or digit into single spaces.

    A text of nothing but punctuation folds to itself, so that two such names do not become equal. This is for
    wordings; whether two names are the same is decided by `folding.fold`, which keeps accents and punctuation.
    """
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    folded = _SEPARATORS.sub(" ", text.casefold()).strip()
    return folded or text.strip()


def mend_quotes(name: str) -> str:
    """A name without what is left of a list whose quoted names were cut at their commas: `"Ike`, `Al ""Jazz"" Lee"`."""
    if name.count('"') % 2:
        if name.startswith('"'):
            name = name[1:]
        elif name.endswith('"') and not name[-2:-1].isnumeric():  # 7" is a size
            name = name[:-1]
    return name.replace('""', '"').strip()


_TIME = re.compile(
    r"\b(?:current|currently|now|today|nowadays|presently|at present|as of now|as of this writing|to date|so far"
    r"|recently|these days|at the moment|incumbent|most recent|up to now"
    r"|(?:this|(?<!the )(?:last|next)) (?:year|month|season|century))\b"
    r"|\b(?:is|are|has|have) still\b|\bthe latest (?=[a-z]+ of\b|president|prime|season|edition|winner|champion)",
    re.IGNORECASE,
)
_TELLING_TOKEN = re.compile(r"[^\W\d_]{4,}|\d{4}")
_COMMON_WORDS = frozenset(
    "the and county city state states united kingdom republic national international university football club "
    "association award film series season world cup league championship north south east west northern southern "
    "eastern western saint river lake mount island islands province region district municipality with from".split()
)


def pad(text: str) -> str:
    """Fold with a space on each side, ready for `holds`."""
    return f" {fold(text)} "


def holds(padded: str, name: str) -> bool:
    """Whether a padded text contains the name as whole words."""
    return f" {fold(name)} " in padded


def contains_alias(text: str, padded: str, alias: str) -> bool:
    """Whether a text uses an alias: several words in any case, a single word only as it is written.

    Graphs hold aliases such as `US`, `Country` or `the States`, which the pronoun `us` and a common noun must not
    trigger; function words do not count, and of aliases made of them alone, only acronyms.
    """
    if not holds(padded, alias):
        return False
    telling = _list_telling(alias)
    if not telling:
        return len(alias) > 1 and alias.isupper() and contains_exact_name(text, alias)
    if len(telling) > 1:
        return True
    written = next((word for word in alias.split() if fold(word) == telling[0]), alias)
    return contains_exact_name(text, written)


def contains_exact_name(text: str, name: str) -> bool:
    """Whether a text contains a name as it is written, between word boundaries."""
    # Hardly any text holds the name at all, and a pattern costs far more than a look.
    return name in text and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def is_distinctive_name(name: str) -> bool:
    """Whether a name has a word beyond function words: `It` and `The Who` are in every other question by accident."""
    return bool(_list_telling(name))


def _list_telling(name: str) -> list[str]:
    return [word for word in fold(name).split() if word not in _STOP]


@functools.lru_cache(maxsize=4096)
def find_numbers(text: str) -> frozenset[tuple[Decimal, bool]]:
    """The numbers written in digits; the flag says whether one stands alone, outside `Apollo 11`, `1958–59`."""
    found = set()
    for match in _NUMBER.finditer(text):
        before = text[: match.start()].rstrip(" ").rpartition(" ")[2]
        in_name = before[:1].isupper() and before[-1:].isalnum() and match.start() > len(before) + 1
        in_name |= text[: match.start()][-1:] in ("–", "-", "/") or text[match.end() :][:1] in ("–", "-", "/")
        found.add((Decimal(match[0].replace(",", "")), not in_name))
    return frozenset(found)


def mentions_number(text: str, number: Decimal) -> bool:
    """Whether a text states a number, in digits or (up to twelve and from twenty) in words; `40th` states 40."""
    if any(one == number for one, _ in find_numbers(text)):
        return True
    if number >= _FEWEST_TENS:
        return number in find_written_out(text) or str(number) in _ORDINAL.findall(text)
    return 0 <= number <= 12 and any(_WORDS.get(word) == number for word in fold(text).split())


def read_number(text: str) -> Decimal | None:
    """The number that a text writes, or None; one of more than 24 digits before or after the point is none."""
    try:
        number = Decimal(text.replace(",", "").strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= MOST_DIGITS else None


def normalise_option(text: str, answer_type: AnswerType) -> str:
    """Two options that a reader would take for the same have the same normal form."""
    if answer_type == "number" and (number := read_number(text)) is not None:
        return format(number.normalize(), "f")
    return fold(text)


def differs_in_form(text: str, answer: str, answer_type: AnswerType, unit: str) -> str | None:
    """Why a wrong option cannot stand beside the answer: another type, precision or notation; None when it can."""
    if answer_type in ("entity", "string"):
        plain, other = read_number(answer) is None, read_number(text) is None
        return "a number among names" if plain and not other else None
    try:
        value = parse(text, answer_type)
        parse(answer, answer_type)
    except InputError as error:
        return str(error)
    if answer_type == "date":
        return None
    number = Decimal(value)  # type: ignore[arg-type]
    if not number.is_finite():
        return "not a finite number"
    if number < 0 and not answer.startswith("-"):
        return "negative"
    if len(text.partition(".")[2]) != len(answer.partition(".")[2]):
        return "another precision"
    if unit == "year":
        return None if text.isdigit() else "not written as a year"
    grouped = f"{int(number):,}"
    if text.partition(".")[0] != grouped:
        return f"not written with thousands separators ({grouped})"
    return None


def find_time(text: str) -> str:
    """The words of a text that depend on when it is read; empty for none."""
    match = _TIME.search(text)
    return match[0] if match else ""


def telling_words(label: str) -> frozenset[str]:
    """What gives a name away: the first four letters of its words (Cyprus and Cypriot share them), and its years."""
    return frozenset(word[:4] for word in _TELLING_TOKEN.findall(label.lower()) if word not in _COMMON_WORDS)
