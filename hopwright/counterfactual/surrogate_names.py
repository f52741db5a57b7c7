"""Invented names: of the same kind and shape as the name they stand for, and known to nobody.

A name is a function of the seed, a key and the name it stands for; no name depends on which others were made
before it in another item, so shards may run in any order. The inventories are data (`names.toml`).
"""

from __future__ import annotations

import functools
import hashlib
import random
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal, Protocol

from hopwright.records.values import BROUGHT_OUT, EntityKind
from hopwright.text import english
from hopwright.text.articles import definite
from hopwright.text.phrases import plain_noun

Gender = Literal["", "female", "male"]
_VOWELS = frozenset("aeiouy")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_INITIAL = re.compile(r"^(?:[A-Z]\.)+$")
_NUMERAL = re.compile(r"^[IVX]+$")
_STYLED = re.compile(
    r",? (?:1st|2nd|3rd|\d+th) .+$|, (?:Baron|Baroness|Count|Countess|Duke|Duchess|Earl|Lord|Lady|Mrs|Prince|Princess"
    r"|Marquess|Viscount)\b.*$"
)
"""What follows the name of a peer: `, 1st Duke of Wellington`."""
_TITLES = frozenset({"Emperor", "Empress", "King", "Pope", "Prince", "Princess", "Queen", "Sir", "Dame"})
"""What comes before a name; the new one goes without."""
_YEAR = re.compile(r"(?<![\w–-])(1[0-9]{3}|20[0-9]{2})(?:([–/-])(\d{4}|\d{2}))?(?![\w–-])")
# Three vowels or four consonants in a row, or a syllable said twice.
_CLUMSY = re.compile(
    r"([bcdfgklmnprst])\1[bcdfghjklmnpqrstvwxz]|[aeiou]{3}|yy|^(.)\2|[aeiou]y[aeiou]{2}|[bcdfgjklmnpqrstvwxz]{4}|(..)\3|[^aeiouy]{5}"
)
_COMMON = frozenset(english.words("words", "common"))
_TRIES = 64
# The ending of a name that says where it feels at home has at least so many letters.
_TELLING = 3
_NUMERALS = ("II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
_SETTLED = frozenset(
    {"town", "village", "municipality", "commune", "settlement", "suburb", "neighbourhood", "community", "capital"}
)
# How often a word has a rich vowel, no second syllable, and a closed one.
_RICH = 0.25
_SHORT = 0.1
_SHORT_GIVEN = 0.6
_CLOSED = 0.35
_UNFIT = (
    "anal", "anus", "cum", "cunt", "dick", "fag", "fuck", "kkk", "nazi", "nig", "penis", "porn", "rape", "sex", "shit",
    "slut", "tit", "wank", "whore",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _NameStyle:
    onset: tuple[str, ...]
    single: tuple[str, ...]
    nucleus: tuple[str, ...]
    plain: tuple[str, ...]
    coda: tuple[str, ...]
    closing: tuple[str, ...]
    endings: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Inventory:
    feels: tuple[_NameStyle, ...]
    adjectives: tuple[str, ...]
    taken: frozenset[str]
    nouns: tuple[str, ...]
    people: tuple[str, ...]
    frames: dict[str, tuple[str, ...]]
    kinds: dict[str, tuple[str, ...]]
    head: frozenset[str]
    heads: frozenset[str]
    keep: frozenset[str]
    joint: frozenset[str]
    suffix: frozenset[str]
    particle: frozenset[str]


@dataclass(frozen=True, slots=True)
class DatedName:
    """A name with a year or a season at its start or end, such as `1998–99 Cypriot Fourth Division`.

    stem: the name without it. joint and tail: `–` and `99`, or empty. leading: whether it comes first.
    """

    stem: str
    year: int
    joint: str
    tail: str
    leading: bool

    def write(self, stem: str, years: int) -> str:
        """The same pattern around another stem, `years` later."""
        span = str(self.year + years)
        if self.joint:
            end = str(self.last + years)
            span += self.joint + end[-len(self.tail) :]
        return f"{span} {stem}" if self.leading else f"{stem} {span}"

    @property
    def last(self) -> int:
        """The last year that the name speaks of."""
        if not self.joint:
            return self.year
        if len(self.tail) == 4:
            return int(self.tail)
        return self.year + (int(self.tail) - self.year) % 100


def read_dated_name(label: str) -> DatedName | None:
    """Take a name with exactly one year or season at its start or end apart; None for every other name."""
    matches = list(_YEAR.finditer(label))
    if len(matches) != 1:
        return None
    match = matches[0]
    stem = (label[: match.start()] + " " + label[match.end() :]).strip()
    leading, trailing = match.start() == 0, match.end() == len(label)
    if leading == trailing or not any(letter.isalpha() for letter in stem):
        return None
    return DatedName(" ".join(stem.split()), int(match[1]), match[2] or "", match[3] or "", leading)


class NameSource(Protocol):
    """What no new name may be."""

    def refuse(self, name: str) -> bool:
        """Whether a name may not be used."""
        ...

    def use(self, name: str) -> None:
        """Note that a name is used."""
        ...


class SurrogateNameGenerator:
    """Makes surrogate names.

    seed: the run's seed; two runs with the same seed give the same names.
    knows_name: whether a name is a label or an alias of anything in the graph (`GraphStore.knows_name`).
    """

    def __init__(self, seed: int, knows_name: Callable[[str], bool]) -> None:
        self.seed = seed
        self._knows_name = knows_name

    def name(
        self,
        key: str,
        label: str,
        kind: EntityKind,
        *,
        noun: str = "",
        gender: Gender = "",
        family: str = "",
        article: bool | None = None,
        refuse: Callable[[str], bool] | None = None,
    ) -> str | None:
        """A name for what `key` (item and entity) identifies, in place of `label`.

        It looks like a name of its noun ("river", "film studio"), else of its kind, and sounds like the label where
        the label's endings tell. noun: the common noun. gender and family: of a person; the family name is one that a
        relative was given already. article: whether the running text puts "the" before the label, None where that is
        no matter. refuse: further names that may not be used. Returns None when no free name was found within 64 tries
        (the graph would have to know them all).
        """
        for attempt in range(_TRIES):
            rng = _make_random(self.seed, key, attempt)
            feel = _find_feel(label) or rng.choice(_load().feels)
            if kind == "person" or (kind == "fiction" and not article and label[:1].isupper()):
                name = _name_person(rng, feel, label, gender, family)
            else:
                name = _name_thing(rng, feel, label, kind, noun)
                # A text that nobody words again needs a name with the same article, where there is one.
                wants = definite(name, kind, noun).startswith("the ") if article is not None else None
                if attempt < _TRIES // 4 and wants != article:
                    continue
            if name != label and not self._knows_name(name) and not (refuse and refuse(name)):
                return name
        return None

    def invent(self, key: str, frames: Mapping[str, str], rules: NameSource) -> dict[str, str] | None:
        """What stands for each of several real names that belong together; their words are the same in all frames.

        rules: it learns the words. Returns None when no free words were found within 64 tries.
        """
        for attempt in range(_TRIES):
            rng = _make_random(self.seed, key, attempt)
            words = _draw_words(rng, rng.choice(_load().feels), frames.values())
            made = {name: frame.format(**words) for name, frame in frames.items()}
            new = {one for name, one in made.items() if one != frames[name]}
            if not any(self._knows_name(one) or rules.refuse(one) for one in (*new, *words.values())):
                for word in words.values():
                    rules.use(word)
                return made
        return None


def split_person(name: str) -> tuple[str, str]:
    """The given name and the family name of a person, as single words; both empty for a name of one word.

    Of "J. Max von Sydow Jr." these are "Max" and "Sydow"; a given name that is an initial is empty. A ruler
    ("Lothair II") has no family name, his given name is what he is called by.
    """
    name = _STYLED.sub("", name)
    words = [word.strip(",") for word in name.split()[:5]]
    words = words[1:] if len(words) > 1 and words[0] in _TITLES else words
    proper = [word for word in words if not _is_suffix(word) and word[:1].isupper() and len(word) > 1]
    told = [word for word in proper if not _INITIAL.match(word)]
    if len(words) < 2 or not told:
        return "", ""
    if len(proper) == 1:
        return told[0], ""
    # "Hugh of Italy" is called Hugh; Italy is no family.
    given = told[0] if told[0] != proper[-1] else ""
    return given, "" if " of " in name else proper[-1]


@functools.lru_cache(maxsize=100_000)
def is_class_word(word: str) -> bool:
    """Whether a word says what a thing is ("County", "Lake") rather than which one."""
    return word in _load().keep or word in _load().joint or word.strip("().,").lower() in _load().heads


def is_generic_name(alias: str) -> bool:
    """Whether an alias is but one word for what a thing is ("Lake", "the City"): it is left in every other lake's
    name.
    """
    words = alias.removeprefix("the ").removeprefix("The ").split()
    return (len(words) <= 1 or words[-1] in _load().joint) and all(map(is_class_word, words))


def make_demonym(surrogate: str) -> str:
    """The adjective that belongs to an invented country: "Vestmark" gives "Vestmarkian"."""
    inventory = _load()
    words = [word for word in surrogate.split() if word not in inventory.keep and word not in inventory.joint]
    word = (words or surrogate.split())[-1]
    if word.endswith("a"):
        return f"{word}n"
    if word[-1] in "eoy":
        return f"{word[:-1]}ian"
    return f"{word}an" if word[-1] in "iu" else f"{word}ian"


def _make_random(seed: int, key: str, attempt: int) -> random.Random:
    digest = hashlib.blake2b(f"{seed}:{key}:{attempt}".encode(), digest_size=16).digest()
    return random.Random(int.from_bytes(digest))


def _name_thing(rng: random.Random, feel: _NameStyle, label: str, kind: EntityKind, noun: str) -> str:
    """A name that reads as one of its noun."""
    if label[:1].islower():
        return " ".join(_make_word(rng, feel, "place").lower() for _ in label.split()[:2])
    if label and kind == "other" and not any(letter.isalpha() for letter in label):
        return str(rng.randint(10**3, 10**4 - 1))
    inventory = _load()
    return _fill_frame(rng, feel, rng.choice(_find_frames(noun, kind, label)), inventory)


def _find_frames(noun: str, kind: EntityKind, label: str) -> Sequence[str]:
    """The frames of a noun, of its closing words, of what its label ends in, or of its kind."""
    inventory = _load()
    plain = plain_noun(noun).lower()
    words = plain.split()
    for start in range(len(words)):
        if frames := inventory.frames.get(" ".join(words[start:])):
            return frames
    if words and words[-1] in _SETTLED:
        return inventory.frames["city"]
    last = label.split()[-1] if label.split() else ""
    if kind not in BROUGHT_OUT and last in inventory.head and len(label.split()) > 1:
        return (f"{{x}} {last}",)
    return inventory.kinds[kind]


def _fill_frame(rng: random.Random, feel: _NameStyle, frame: str, inventory: _Inventory) -> str:
    said: dict[str, object] = {}
    for part in dict.fromkeys(_PLACEHOLDER.findall(frame)):
        match part[0]:
            case "x":
                said[part] = _make_word(rng, feel, "place")
            case "f":
                said[part] = _make_word(rng, feel, "family")
            case "g":
                said[part] = _make_word(rng, feel, rng.choice(("female", "male")))
            case "l":
                said[part] = make_demonym(_make_word(rng, feel, "female"))
            case "a":
                said[part] = rng.choice(inventory.adjectives)
            case "n":
                said[part] = rng.choice(inventory.nouns)
            case "p":
                said[part] = rng.choice(inventory.people)
            case "e":
                said[part] = rng.randint(2, 9)
            case _:
                said[part] = rng.randint(12, 1899)
    return frame.format(**said)


def _draw_words(rng: random.Random, feel: _NameStyle, frames: Iterable[str]) -> dict[str, str]:
    """Invented words by placeholder, as `real_names.toml` names them."""
    parts = dict.fromkeys(part for frame in frames for part in _PLACEHOLDER.findall(frame))
    words: dict[str, str] = {}
    for part in parts:
        match part[0]:
            case "x" | "l":
                words.setdefault(f"x{part[1:]}", _make_word(rng, feel, "place"))
            case "f":
                words[part] = _make_word(rng, feel, "family")
            case "m":
                words[part] = _make_word(rng, feel, "male")
            case "k":
                words[part] = _make_word(rng, feel, "place").lower()
            case _:
                words[part] = "".join(rng.choices("BDFGHKLMNPRTVZ", k=3))
    return words | {part: make_demonym(words[f"x{part[1:]}"]) for part in parts if part[0] == "l"}


def _find_feel(label: str) -> _NameStyle | None:
    """The inventory whose endings the label's words have, the longest ending counting; None when nothing tells."""
    best, length = None, _TELLING - 1
    for word in label.lower().split():
        for ending, feel in _index_endings().get(word[-_TELLING:], ()):
            if len(ending) > length and len(word) > len(ending) + 1 and word.endswith(ending):
                best, length = feel, len(ending)
    return best


def _name_person(rng: random.Random, feel: _NameStyle, label: str, gender: Gender, family: str) -> str:
    inventory = _load()
    tokens = _STYLED.sub("", label).split() or ["Given", "Family"]
    tokens = tokens[1:6] if len(tokens) > 1 and tokens[0] in _TITLES else tokens[:5]
    # Beside people of two names, one with a single name would seem cut off.
    tokens = ["Given", *tokens] if tokens == label.split() and len(tokens) == 1 else tokens
    words: list[str] = []
    given = gender or rng.choice(("female", "male"))
    last = max((i for i, token in enumerate(tokens) if not _is_suffix(token.strip(","))), default=0)
    for i, token in enumerate(tokens):
        bare = token.strip(",")
        if i and _NUMERAL.match(bare):
            words.append(rng.choice(_NUMERALS))
        elif i and (bare in inventory.suffix or (bare[:1].islower() and bare in inventory.particle)):
            words.append(bare)
        elif _INITIAL.match(bare):
            words.append(rng.choice("ABDEGHKLMNPRSTV") + ".")
        elif i == last and i:
            made = _make_word(rng, feel, "family")
            words.append(family or made)
        else:
            words.append(_make_word(rng, feel, given))
    while len(words) > 1 and words[-1].islower():
        words.pop()  # "John of" was cut from a longer name
    return " ".join(words)


def _is_suffix(word: str) -> bool:
    return word in _load().suffix or bool(_NUMERAL.match(word))


def _make_word(rng: random.Random, feel: _NameStyle, ending: str) -> str:
    """One invented word in title case that can be spoken and hides nothing rude."""
    inventory = _load()
    word = _join_syllables(rng, feel, ending)
    least = 4 if ending in ("female", "male") else 5
    while (
        len(word) < least
        or word in _COMMON
        or word in inventory.taken
        or _CLUMSY.search(word)
        or any(part in word for part in _UNFIT)
    ):
        word = _join_syllables(rng, feel, ending)
    return word.capitalize()


def _join_syllables(rng: random.Random, feel: _NameStyle, ending: str) -> str:
    """One or two syllables before an ending.

    A syllable that follows a closed one opens with a single consonant, and clusters stand before vowels only, so that
    the word can be spoken. There are some 10^7 words for an ending.
    """
    tail = rng.choice(feel.endings[ending])
    word = rng.choice(feel.onset) + rng.choice(feel.nucleus if rng.random() < _RICH else feel.plain)
    if rng.random() > (_SHORT_GIVEN if ending in ("female", "male") else _SHORT):
        simple = len(word) > 3 or word[-2:-1] in _VOWELS
        closed = rng.choice(feel.closing) if not simple and rng.random() < _CLOSED else ""
        word += closed + rng.choice(feel.single if closed or simple else feel.onset) + rng.choice(feel.plain)
    if tail[0] in _VOWELS:
        word += rng.choice(feel.coda if rng.random() < _CLOSED else feel.closing) or rng.choice(feel.closing)
    elif rng.random() < _CLOSED and word[-1] not in tail[:1]:
        word += rng.choice(feel.closing)
    return word + tail


@functools.cache
def _index_endings() -> Mapping[str, tuple[tuple[str, _NameStyle], ...]]:
    """Last letters → the endings of families and places that have them, each with its feel; longest first."""
    found: dict[str, list[tuple[str, _NameStyle]]] = {}
    for feel in _load().feels:
        for ending in dict.fromkeys((*feel.endings["family"], *feel.endings["place"])):
            if len(ending) >= _TELLING:
                found.setdefault(ending[-_TELLING:], []).append((ending, feel))
    return {last: tuple(sorted(pairs, key=lambda pair: -len(pair[0]))) for last, pairs in found.items()}


@functools.cache
def _load() -> _Inventory:
    raw = tomllib.loads(resources.files(__package__).joinpath("names.toml").read_text("utf-8"))
    feels = tuple(
        _NameStyle(
            onset=tuple(feel["onset"]),
            single=tuple(onset for onset in feel["onset"] if len(onset) == 1),
            nucleus=tuple(feel["nucleus"]),
            plain=tuple(nucleus for nucleus in feel["nucleus"] if len(nucleus) == 1),
            coda=tuple(feel["coda"]),
            closing=tuple(coda for coda in feel["coda"] if len(coda) == 1),
            endings={ending: tuple(feel[ending]) for ending in ("female", "male", "family", "place")},
        )
        for feel in raw["feel"].values()
    )
    return _Inventory(
        feels=feels,
        adjectives=tuple(raw["words"]["adjective"]),
        taken=frozenset(raw["words"]["taken"]),
        nouns=tuple(raw["words"]["noun"]),
        people=tuple(raw["words"]["person"]),
        frames={noun: tuple(frames) for noun, frames in raw["frames"].items()}
        | {noun: tuple(raw["frames"][other]) for noun, other in raw["alike"].items()},
        kinds={kind: tuple(frames) for kind, frames in raw["kinds"].items()},
        head=frozenset(raw["keep"]["head"]),
        heads=frozenset(word.lower() for word in raw["keep"]["any"]),
        keep=frozenset(raw["keep"]["any"]),
        joint=frozenset(raw["keep"]["joint"]),
        suffix=frozenset(raw["keep"]["suffix"]),
        particle=frozenset(raw["keep"]["particle"]),
    )
