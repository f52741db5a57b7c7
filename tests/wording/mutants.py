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
    "director": "composer", "directed": "produced", "directors": "producers", "composer": "director",
    "died": "was born", "death": "birth", "born": "buried", "composed": "directed",
    "release": "shooting", "released": "shot",
}  # fmt: skip
_QUANTIFIERS = {"all": "some", "some": "all", "both": "one", "All": "Some", "Some": "All"}
_UNITS = {"years": "months", "year": "decade"}
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
    for kind, words in (
        ("turned round", _TURNED), ("other relation", _RELATIONS), ("quantifier", _QUANTIFIERS), ("unit", _UNITS),
    ):  # fmt: skip
        for found in re.finditer(r"[^\W\d]+", masked):
            if found[0] in words:
                yield Mutant(kind, marked[: found.start()] + words[found[0]] + marked[found.end() :])
    for found in _VERB.finditer(masked):
        yield Mutant("negation", marked[: found.end()] + " not" + marked[found.end() :])
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
