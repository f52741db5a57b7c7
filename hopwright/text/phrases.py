"""Small English: plurals, comparatives and superlatives of the property table's predicates, lists and numerals."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

SMALL_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
"""The names of the numbers below twenty, in order."""
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
"""The names of the places from one to ten."""
_VERBS = {
    "was": "were", "is": "are", "has": "have", "does": "do", "levies": "levy", "lies": "lie", "dies": "die",
    "goes": "go", "carries": "carry",
}  # fmt: skip
_PAST = re.compile(r"^(?:[a-z]+ed|saw|drew|sang|held|led|flew|took|came|won|stood|wrote|had|gave|ran|began|became)$")
_LESSER = {"fewer": "the fewest", "more": "the most", "less": "the least"}
_ADJECTIVE = re.compile(
    r"\b(?P<the>the )?(?P<word>larg|small|high|low|long|short|tall|heav[iy]|light|fast|slow|lat|earl[iy]|old|young)er\b"
)
_FAR = re.compile(r"\bf(?P<vowel>u|a)rther\b")
_ONE_OF = re.compile(r"\ban? (citizen|member|child|parent|sibling|winner|successor|competition|season)\b")
_NATIONALITY = re.compile(r"^(?:[A-Z][\w-]+ )+(?=[a-z])")
_PLACE_OF_NOUN = re.compile(r" (?:in|of) (?:the )?[A-Z].*$")
_IRREGULAR = {
    "person": "people", "man": "men", "woman": "women", "child": "children", "series": "series",
    "miniseries": "miniseries", "spacecraft": "spacecraft", "superhero": "superheroes", "volcano": "volcanoes",
    "wife": "wives",
}  # fmt: skip


def plain_noun(noun: str) -> str:
    """A common noun without what gives a place away: `American city` → `city`, `city in California` → `city`."""
    return _PLACE_OF_NOUN.sub("", _NATIONALITY.sub("", noun))


def find_plain_noun(noun: str) -> str:
    """What members of a series are called once it is said of which: the `final` of a cup; empty for `Super Bowl`."""
    head = noun.partition(" of ")[0].split()
    return " ".join(reversed(list(itertools.takewhile(str.islower, reversed(head)))))


def pluralise(noun: str) -> str:
    """The plural of a common noun; of `member of parliament`, the head's.

    The package inflect says the same of the graph's class nouns, but for `sportsperson` and the like and for `games`,
    and takes more than half a second to import.
    """
    head, of, rest = noun.partition(" of ")
    first, space, last = head.rpartition(" ")
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    elif last.endswith("man"):
        last = last[:-3] + "men"
    elif re.search(r"(?:s|x|z|ch|sh)$", last):
        last += "es"
    elif re.search(r"[^aeiou]y$", last):
        last = last[:-1] + "ies"
    else:
        last += "s"
    return f"{first}{space}{last}{of}{rest}"


def pluralise_verb(predicate: str) -> str:
    """A finite predicate for a plural subject: `was directed by` → `were directed by`, `lies in` → `lie in`."""
    words = predicate.split(" ")
    for place, word in enumerate(words):
        if place and words[place - 1] != "or":
            continue
        if word in _VERBS:
            words[place] = _VERBS[word]
        elif not _PAST.match(word):
            if re.search(r"(?:ss|sh|ch|x|z|o)es$", word):
                words[place] = word[:-2]
            elif word.endswith("ies"):
                words[place] = word[:-3] + "y"
            elif word.endswith("s") and not word.endswith("ss"):
                words[place] = word[:-1]
    return _ONE_OF.sub(lambda match: match[1] + "s", re.sub(r"\bits\b", "their", " ".join(words)))


def superlative(predicate: str) -> str:
    """A comparative predicate for the one of three or more: `covers the largest area`, `was founded last`."""
    if re.search(r"(?<!the )\blater$", predicate):
        return re.sub(r"later$", "last", predicate)
    if re.search(r"(?<!the )\bearlier$", predicate):
        return re.sub(r"earlier$", "first", predicate)
    if _FAR.search(predicate):
        return _FAR.sub(r"f\g<vowel>rthest", predicate)
    if match := re.match(r"the (more|less) (?=\w+$)", predicate):
        return f"{_LESSER[match[1]]} {predicate[match.end() :]}"
    for word, most in _LESSER.items():
        if re.search(rf"(?<!the )\b{word} ", predicate):
            return re.sub(rf"\b{word} ", f"{most} ", predicate, count=1)
    if match := _ADJECTIVE.search(predicate):
        stem = match["word"]
        bare = match["the"] is None and not predicate.startswith(("ranks", "scores", "is", "was"))
        before = match["the"] or ("" if bare or predicate.startswith(("ranks", "scores")) else "the ")
        return predicate[: match.start()] + f"{before}{stem}est" + predicate[match.end() :]
    return predicate


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names as a list: `A, B and C`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def numeral(number: int) -> str:
    """A number up to twelve in words, others in digits."""
    return SMALL_NUMBERS[number] if 0 <= number <= 12 else f"{number:,}"


def write_ordinal(number: int) -> str:
    """`first` to `tenth`, then `11th`."""
    if 0 < number <= len(ORDINALS):
        return ORDINALS[number - 1]
    ending = "th" if 10 < number % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def sentence(text: str) -> str:
    """With a capital."""
    return text[:1].upper() + text[1:]
