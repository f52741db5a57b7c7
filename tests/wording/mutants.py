"""Wrong wordings made from right ones: each says another plan in words that are all the right one's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

from hopwright.records import Item
from hopwright.wording.llm.text_constraints import TextConstraints
from hopwright.wording.marks import read_marks

_TURNED = {
    "after": "before", "before": "after", "larger": "smaller", "smaller": "larger", "largest": "smallest",
    "later": "earlier", "earlier": "later", "first": "last", "last": "first", "oldest": "youngest",
    "youngest": "oldest", "older": "younger", "younger": "older", "elder": "younger", "latest": "earliest",
    "earliest": "latest", "shortest": "tallest", "tallest": "shortest", "most": "least", "least": "most",
    "southernmost": "northernmost", "northerly": "southerly", "southerly": "northerly", "northernmost": "southernmost",
}  # fmt: skip
_RELATIONS = {
    # who did what to a work
    "director": "composer producer screenwriter", "directed": "produced wrote edited", "directors": "producers",
    "screenwriter": "director producer novelist", "screenplay": "libretto novel", "scripted": "directed produced",
    "composer": "director librettist conductor", "composed": "directed conducted", "librettist": "composer conductor",
    "cinematographer": "editor director producer", "photographed": "directed edited", "editor": "producer director",
    "edited": "produced directed", "novelist": "director playwright", "playwright": "director novelist",
    "author": "translator publisher illustrator", "novel": "play screenplay", "play": "novel libretto",
    "conducted": "composed directed", "singer": "conductor composer", "architect": "owner",
    "designed": "owned commissioned", "discovered": "named sold", "advisor": "student wife",
    # who got what, and where somebody came from or went
    "winner": "runner-up nominee", "won": "lost declined", "laureate": "nominee", "champion": "runner-up",
    "received": "declined", "lost": "won umpired", "born": "buried educated", "birthplace": "deathplace",
    "died": "was born|retired|married", "death": "birth wedding", "mother": "wife father", "wife": "mother sister",
    # when a list is parted
    "release": "shooting", "released": "shot announced", "premiered": "composed commissioned",
    "published": "written translated",
}  # fmt: skip
_YEARS = {
    "the year after": "the year|two years after|the year before|the decade after",
    "the year before": "the year|two years before|the year after",
    "one year after": "two years after|one year before", "a year before": "a year after|ten years before",
    "the year following": "the year preceding|the year of",
}  # fmt: skip
_ROLES = (
    "director screenwriter composer librettist cinematographer editor novelist playwright author conductor".split()
)
_QUANTIFIERS = {"all": "some", "some": "all", "both": "one", "All": "Some", "Some": "All"}
_UNITS = {"years": "months", "year": "decade"}
_ROUNDING = {
    "one decimal": "two decimals", "two decimals": "one decimal", "whole number": "ten", "decimal place": "ten",
}  # fmt: skip
_SYMMETRIC = re.compile(r"\b(?:made|worked|collaborated)(?: \w+)? with\b|\btogether\b|\bcollaborated\b")
_VERB = re.compile(r"\b(was|were|did|is|are|has|had|have|can|who|that)\b(?! not)")
_MARK = re.compile(r"\{[\d+]+: |\}")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong wording: its kind, and the whole question with its marks."""

    kind: str
    marked: str


def mutate(draft: Item, marked: str, places: tuple[TextConstraints, ...]) -> Iterator[Mutant]:
    """All wrong wordings of a right one that this file knows; each once."""
    seen = {marked}
    for mutant in _mutate(draft, marked, places):
        if mutant.marked not in seen:
            seen.add(mutant.marked)
            yield mutant


def _mutate(draft: Item, marked: str, places: tuple[TextConstraints, ...]) -> Iterator[Mutant]:
    *subs, whole = places
    owners = {
        name.id: frozenset(i for i, place in enumerate(subs) if name in place.required) for name in whole.required
    }
    stated = [name for name in whole.required if name.label in marked]
    text = read_marks(marked).text
    for one, other in combinations(stated, 2):
        # `the doctoral advisors of A and B`: of one list, either order says the same.
        labels = permutations((re.escape(one.label), re.escape(other.label)))
        listed = any(re.search(rf'{a}"? and (?:the )?(?:[a-z]+ )?"?{b}', text) for a, b in labels)
        if owners[one.id] and owners[other.id] and not owners[one.id] & owners[other.id] and not listed:
            yield Mutant("roles exchanged", _exchange(marked, one.label, other.label))
    spans = [span for span in read_marks(marked).walk() if len(span.hops) == 1]
    for one, other in combinations(spans, 2):
        told = one.text in other.text or other.text in one.text
        if one.hops != other.hops and not told and len(one.text.split()) > 3 < len(other.text.split()):
            inner, outer = _write(one), _write(other)
            if _SYMMETRIC.search(text):
                continue  # whom who made a film with makes no difference
            if marked.count(inner) == 1 and marked.count(outer) == 1:
                yield Mutant("branches exchanged", _exchange(marked, inner, outer))
    masked = marked
    for place, name in enumerate(sorted(whole.known, key=lambda one: -len(one.label))):
        masked = masked.replace(name.label, chr(0xE000 + place) * len(name.label))
    numbers = list(re.finditer(r"(?<![\w{+.,])\d[\d,]*\d(?!\+?\d*: )", masked))
    for one, other in combinations(numbers, 2):
        first, second = one[0], other[0]
        if first != second and not _is_symmetric(marked, one.start(), other.end(), whole):
            yield Mutant(
                "numbers exchanged",
                marked[: one.start()] + second + marked[one.end() : other.start()] + first + marked[other.end() :],
            )
    for found in numbers:
        changed = str(int(found[0].replace(",", "")) + 3)
        yield Mutant("number changed", marked[: found.start()] + changed + marked[found.end() :])
    for kind, changed in reword(marked, masked):
        yield Mutant(kind, changed)
    roles = [(found[0], found.span()) for found in re.finditer(r"[^\W\d]+", masked) if found[0] in _ROLES]
    for (one, at), (other, there) in combinations(roles, 2):
        if one != other and not _SYMMETRIC.search(text):  # each role is somebody's, but the other's
            yield Mutant(
                "roles rewritten",
                marked[: at[0]] + other + marked[at[1] : there[0]] + one + marked[there[1] :],
            )
    for found in re.finditer(r"\bHow many\b", masked):
        yield Mutant("factor", marked[: found.start()] + "Half of how many" + marked[found.end() :])
    for found in re.finditer(r"\bthe (?:age|number|gap|year)\b", masked):
        yield Mutant("factor", marked[: found.start()] + "twice " + marked[found.start() :])
    for name in stated:
        if marked.count(name.label) == 1:
            yield Mutant("condition dropped", re.sub(rf'"?{re.escape(name.label)}"?', "something", marked))
    for span in spans:
        # What is said of a hop in a second place as well is not lost.
        once = sum(one.hops == span.hops for one in spans) == 1
        if once and len(span.text.split()) > 3 and marked.count(_write(span)) == 1:
            yield Mutant("condition dropped", marked.replace(_write(span), "it"))


def reword(text: str, masked: str) -> Iterator[tuple[str, str]]:
    """Words exchanged: each kind of change with the changed text. `masked` has no word where a name stands."""
    tables = (
        ("turned round", _TURNED), ("other relation", _RELATIONS), ("quantifier", _QUANTIFIERS), ("unit", _UNITS),
    )  # fmt: skip
    for kind, words in tables:
        for found in re.finditer(r"[^\W\d]+", masked):
            said = words.get(found[0], "")
            for other in said.split("|") if "|" in said else said.split():
                yield kind, text[: found.start()] + other + text[found.end() :]
    for kind, phrases in (("year", _YEARS), ("rounding", _ROUNDING)):
        for phrase, others in phrases.items():
            for found in re.finditer(rf"\b{phrase}\b", masked):
                for other in others.split("|"):
                    yield kind, text[: found.start()] + other + text[found.end() :]
    for found in _VERB.finditer(masked):
        yield "negation", text[: found.end()] + " not" + text[found.end() :]


def mutate_question(question: str, place: TextConstraints) -> Iterator[Mutant]:
    """Wrong wordings of a sub-question."""
    masked = question
    for number, name in enumerate(sorted(place.known, key=lambda one: -len(one.label))):
        masked = masked.replace(name.label, chr(0xE000 + number) * len(name.label))
    seen = {question}
    for kind, changed in reword(question, masked):
        if changed not in seen:
            seen.add(changed)
            yield Mutant(kind, changed)
    for found in re.finditer(r"(?<![\w.,])\d[\d,]*\d", masked):
        number = int(found[0].replace(",", "")) + 3
        yield Mutant("number changed", f"{question[: found.start()]}{number}{question[found.end() :]}")
    for name in place.required:
        if name.label in question:
            yield Mutant("condition dropped", question.replace(name.label, "something"))


def _is_symmetric(marked: str, start: int, end: int, whole: TextConstraints) -> bool:
    """Whether two numbers stand in one list: `the laureates of 1921 and 1918` are the same people either way."""
    between = marked[start:end]
    return "{" not in between and "}" not in between and not any(name.label in between for name in whole.known)


def _exchange(text: str, one: str, other: str) -> str:
    return text.replace(one, "\0").replace(other, one).replace("\0", other)


def _write(span: object) -> str:
    """The inside of a span as it stands in the marked text."""
    parts = span.parts  # type: ignore[attr-defined]
    return "".join(
        part if isinstance(part, str) else "{" + "+".join(map(str, part.hops)) + ": " + _write(part) + "}"
        for part in parts
    )
