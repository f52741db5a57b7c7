"""Real names in the wordings of properties: of series ("FIFA World Cup"), prizes, offices and states.

No entity of an item stands for them, so that renaming its entities leaves them there. In a twin's world each has an
invented name that fits its kind, and a member of a series is called after it in the series' own manner: "52nd Academy
Awards" becomes "52nd Torvane Awards". What stands for what is data (`real_names.toml`).
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from importlib import resources
from typing import Any

from hopwright.counterfactual.failures import TwinError
from hopwright.counterfactual.shifts import LAST_YEAR
from hopwright.counterfactual.surrogate_names import Gender, NameSource, SurrogateNameGenerator, is_class_word
from hopwright.knowledge import wikidata
from hopwright.knowledge.properties import EntityProperty, LiteralProperty, PropertyTable
from hopwright.records import Evidence, Hop, Item, Surrogate
from hopwright.records.values import EntityKind
from hopwright.text import english
from hopwright.text.mentions import find_mentions, replace_names

_ID = re.compile(r"[PQ]\d+$")
_PROPERTY = re.compile(r"\bP\d+\b")
_SLOT = re.compile(r"\{\w+\}")
_WORD = r"[A-ZÀ-Ý][\w'’.-]*"
_RUN = re.compile(rf"{_WORD}(?: (?:(?:of the|of|the|de|for|and|in) )?{_WORD})*")
_OPENERS = frozenset(
    "Add After Around As At Before Between By During For From Going Had How In Into Of On One Over Since Than The To "
    "Under Until Up Was What When Where Which Who Whom Whose With Within".split()
)
_JOINTS = frozenset({"of", "the", "de", "for", "and", "in"})
_YEARS = re.compile(
    r"(?:\b(?:since|between|from|after|before|until|up to) (?:1[0-9]|20)\d\d(?: (?:and|to) (?:1[0-9]|20)\d\d)?\b"
    r"|\w+ \((?:1[0-9]|20)\d\d\))"
)
"""The years in which a wording bounds a series: `since 1828`, `between 1965 and 1995`, `COP1 (1995)`."""
_YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")
_COUNTED = re.compile(
    r"^(?:\W*\d[\w.,/–-]*|[IVXLC]+|January|February|March|April|May|June|July|August|September|October|November"
    r"|December|\W+|(?:\W?\w)?)$"
)
"""What counts or dates the members of a series: `52nd`, `XX`, `-41-B`, `February`."""
_COMMON = frozenset(english.words("words", "common"))


@dataclass(frozen=True, slots=True)
class _RealNames:
    """families: name of the table → real name → what stands for it, with placeholders."""

    families: Mapping[str, Mapping[str, str]]
    family_of: Mapping[str, str]
    longest_first: tuple[tuple[str, str, str], ...]
    """Name, its stem (without the `#` of a number), and the stem with a capital letter."""
    generic: Set[str]
    """Words that name nothing real by themselves."""
    phrases: tuple[str, ...]
    """The same of several words."""
    kept: Set[str]
    """All words that a twin may hold: of these, and of the invented names."""


class InventedNames:
    """The invented names of one twin, drawn when a text or a label first needs them: the same in all of its texts.

    key: what tells the twin's names from those of others. rules: what no name may be; it learns the names.
    """

    def __init__(self, key: str, namer: SurrogateNameGenerator, rules: NameSource) -> None:
        self._key = key
        self._namer = namer
        self._rules = rules
        self._drawn: dict[str, Mapping[str, str]] = {}
        self._used: dict[str, str] = {}

    def name(self, label: str, kind: EntityKind) -> str | None:
        """What a member of a series is called whose label says nothing beside the series but which one it is.

        None for every other label.
        """
        found = find_real_names(label)
        if not found or not _is_called_after(label, found, kind):
            return None
        return self._replace([label], found)[0]

    def rename(self, texts: Sequence[str], years: Mapping[str, str]) -> list[str]:
        """The texts with invented names in place of the real ones. years: phrases with years → with those of now."""
        joined = "\x1f".join(texts)
        found = find_real_names(joined)
        # "COP1 (1995)" holds a name and a year: the years go first.
        moved = {phrase: now for phrase, now in years.items() if phrase in joined}
        return self._replace(replace_names(texts, moved) if moved else texts, found)

    def list_replaced(self, labels: Iterable[str]) -> list[Surrogate]:
        """What was put for what, but for the labels of entities, which are listed as such."""
        known = set(labels)
        pairs = {invented: name for name, invented in reversed(self._used.items()) if name not in known}
        return [Surrogate(original=name, surrogate=invented, id="") for invented, name in reversed(pairs.items())]

    def _replace(self, texts: Sequence[str], found: Sequence[str]) -> list[str]:
        names = {name: self._find(name) for name in found}
        self._used.update({name: invented for name, invented in names.items() if _is_named(name)})
        return replace_names(texts, names) if names else list(texts)

    def _find(self, name: str) -> str:
        pattern, number = _split_number(name)
        family = _load().family_of[pattern]
        if family not in self._drawn:
            frames = _load().families[family]
            drawn = self._namer.invent(f"{self._key}:real:{family}", frames, self._rules)
            if drawn is None:
                raise TwinError("twin_name", f"no free name for {name!r}")
            self._drawn[family] = drawn
        return self._drawn[family][pattern].replace("#", number)


def find_real_names(text: str) -> list[str]:
    """The real names of the data that a text mentions, the longest first; a part of a longer one is no mention."""
    found: dict[str, None] = {}
    for name, stem, capital in _load().longest_first:
        if stem not in text and (capital == stem or capital not in text):
            continue
        if name != stem:
            numbered = dict.fromkeys(re.findall(rf"\b{re.escape(stem)}\d+\b", text))
            found.update(numbered)
            for one in numbered:
                text = text.replace(one, "\x00")
            continue
        for variant in dict.fromkeys((name, capital)):
            mentions = list(find_mentions(text, variant))
            if mentions:
                found[name] = None
            for start in reversed(mentions):
                text = f"{text[:start]}\x00{text[start + len(variant) :]}"
    return list(found)


def share_stem(stem: str) -> str:
    """The stem of a dated name, the same for all names of one series.

    The finals of a cup under its old and its new name move together.
    """
    for name in find_real_names(stem):
        stem = stem.replace(name, f"<{_load().family_of[_split_number(name)[0]]}>")
    return stem


def rename_hop(hop: Hop, texts: Iterator[str]) -> Hop:
    """The hop with the texts of `list_worded`, as they are now."""
    question, reason = next(texts), next(texts)
    evidence: Evidence = hop.evidence
    evidence = evidence.replace(
        triplets=[one.model_copy(update={"property_label": next(texts)}) for one in evidence.triplets],
        literals=[one.model_copy(update={"property_label": next(texts)}) for one in evidence.literals],
        passages=[
            one.model_copy(update={"title": next(texts), "text": next(texts)}) for one in evidence.passages
        ],
    )  # fmt: skip
    return hop.model_copy(update={"question": question, "domain_reason": reason, "evidence": evidence})


def list_worded(hop: Hop) -> Iterator[str]:
    """The texts of a hop that the wordings of properties are in."""
    yield hop.question
    yield hop.domain_reason
    yield from (one.property_label for one in hop.evidence.triplets)
    yield from (one.property_label for one in hop.evidence.literals)
    for passage in hop.evidence.passages:
        yield passage.title
        yield passage.text


def move_bounds(hops: Iterable[Hop], table: PropertyTable, years: Mapping[str, int], base: int) -> dict[str, str]:
    """The phrases with which the wordings bound a series in time → the same as long ago as the twin's world has it.

    years: by how many years the dates of each owner moved; the stem of a dated name is one. base: all others.
    """
    moved: dict[str, str] = {}
    owners = {family: step for owner, step in years.items() for family in re.findall(r"<(\w+)>", owner)}
    for property in _list_properties(hops):
        entry = table.entity.get(property) or table.literal.get(property)
        if entry is None:
            continue
        phrases, families = _read_bounds(entry)
        step = next((owners[family] for family in families if family in owners), base)
        for phrase in phrases:
            moved[phrase] = _YEAR.sub(lambda match: str(min(int(match[0]) + step, LAST_YEAR)), phrase)  # noqa: B023
    return moved


@functools.lru_cache(maxsize=4096)
def _read_bounds(entry: EntityProperty | LiteralProperty) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The phrases by which the wordings of a property bound a series in time, and the families of their real names."""
    strings = list_strings(entry)
    phrases = dict.fromkeys(match[0] for one in strings for match in _YEARS.finditer(one))
    if not phrases:
        return (), ()
    families = {_load().family_of[_split_number(name)[0]] for one in strings for name in find_real_names(one)}
    return tuple(phrases), tuple(sorted(families))


def move_inner_years(name: str, step: int) -> str:
    """A name with a year within it, such as `February 1974 … general election`, as long ago as its world has it."""
    return _YEAR.sub(lambda match: str(int(match[0]) + step), name)


def find_real_wording(twin: Item, table: PropertyTable) -> str:
    """A real name in the wordings of the twin's properties that the twin's texts still hold, or empty.

    Found in the wordings themselves, not in the data: any run of capitalised words that names something, and each of
    its words that is no common one.
    """
    texts = [twin.question, twin.marked, twin.answer, *twin.options.values()]
    for hop in twin.hops:
        texts += [*list_worded(hop), hop.answer, *hop.options.values()]
    joined = "\x1f".join(texts)
    names = dict.fromkeys(find_real_names(joined))
    for phrase in _load().phrases:  # "American football" is no American
        joined = joined.replace(phrase, "\x00")
    for property in _list_properties(twin.hops):
        entry = table.entity.get(property) or table.literal.get(property)
        if entry is not None:
            names.update(dict.fromkeys(list_proper_names(entry)))
    return next((name for name in names if name in joined and next(find_mentions(joined, name), None) is not None), "")


@functools.lru_cache(maxsize=4096)
def list_proper_names(entry: EntityProperty | LiteralProperty) -> tuple[str, ...]:
    """The real names that the wordings of a property hold."""
    found: dict[str, None] = {}
    for text in list_strings(entry):
        for phrase in _load().phrases:
            text = text.replace(phrase, "_")
        for match in _RUN.finditer(_SLOT.sub("_", text)):
            words = match[0].split()
            # A question begins with a capital, whatever its first word.
            while words and (words[0] in _OPENERS or words[0] in _JOINTS):
                words = words[1:]
            run = " ".join(words)
            if not run or _is_generic(run):
                continue
            found[run] = None
            found.update({word: None for word in words if _is_telling(word)})
    return tuple(found)


def list_series(properties: Iterable[str], table: PropertyTable) -> Set[str]:
    """The series that a subject with these properties is a member of, each by the property of its places."""
    found = {property for property in properties if table.is_series(property)}
    entries = (table.entity.get(property) for property in properties)
    return found | {entry.series for entry in entries if entry is not None and entry.series}


@functools.lru_cache(maxsize=64)
def find_worded_gender(series: str, table: PropertyTable) -> Gender:
    """The gender that the wordings of a series of people take for granted, or empty."""
    entries = [entry for entry in table.entity.values() if entry.series == series and entry.subject == ("person",)]
    words = {word for entry in entries for text in list_strings(entry) for word in text.split()}
    return "male" if words & {"he", "him", "his"} else "female" if words & {"she", "her"} else ""


def find_role_gender(entry: EntityProperty, table: PropertyTable) -> Gender:
    """The gender of whom a column of a series names, by its wordings: the captain at a men's cup, the best actress."""
    place = table.literal.get(entry.series)
    words = {word.lower() for text in list_strings(entry) for word in text.split()}
    if words & {"women's", "ladies'", "actress", "wife", "lady", "woman"}:
        return "female"
    men = {"men's"} & (words | set(place.label.lower().split() if place is not None else ()))
    return "male" if men or (words & {"actor"} and entry.label.endswith("Actor")) else ""


@functools.lru_cache(maxsize=4096)
def list_strings(entry: EntityProperty | LiteralProperty) -> tuple[str, ...]:
    """All wordings of a property."""
    unworded = {"domain", "value", "subject", "object", "object_class", "avoid", "unit", "axis", "scale"}
    found = _walk(entry.model_dump(exclude=unworded))
    return tuple(dict.fromkeys(text for text in found if not _ID.match(text)))


def _walk(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for held in value.values():
            yield from _walk(held)
    elif isinstance(value, list | tuple | set | frozenset):
        for held in value:
            yield from _walk(held)


def _list_properties(hops: Iterable[Hop]) -> list[str]:
    found: dict[str, None] = {}
    for hop in hops:
        found.update({one.property: None for one in hop.evidence.triplets})
        found.update({one.property: None for one in hop.evidence.literals})
        found.update(dict.fromkeys(_PROPERTY.findall(hop.derivation.model_dump_json())))
    return list(found)


def _is_called_after(label: str, found: Sequence[str], kind: EntityKind) -> bool:
    if kind in ("person", "fiction", "work", "animal"):
        return label in found
    rest = label
    for name in found:
        rest = rest.replace(name, " ")
    words = rest.split()
    return all(word[:1].islower() or _COUNTED.match(word) or is_class_word(word) for word in words)


def _is_generic(run: str) -> bool:
    generic = _load().generic
    return all(word in generic or word in _JOINTS or _COUNTED.match(word) for word in run.split())


def _is_telling(word: str) -> bool:
    bare = word.removesuffix("'s").removesuffix("’s")
    kept = _load().kept
    known = bare in kept or bare.lower() in _COMMON or is_class_word(bare) or is_class_word(bare[:-1])
    return len(bare) > 1 and not known and bare not in _JOINTS and not _COUNTED.match(bare)


def _is_named(name: str) -> bool:
    """Whether something invented stands for a real name, and not only a plainer word."""
    pattern, _ = _split_number(name)
    return "{" in _load().families[_load().family_of[pattern]][pattern]


def _split_number(name: str) -> tuple[str, str]:
    """`COP12` → `COP#`, `12`, where the data has it so."""
    if name in _load().family_of:
        return name, ""
    stem = name.rstrip("0123456789")
    return f"{stem}#", name[len(stem) :]


@functools.cache
def _load() -> _RealNames:
    raw: dict[str, Any] = tomllib.loads(resources.files(wikidata).joinpath("real_names.toml").read_text("utf-8"))
    listed = [str(one) for one in raw.pop("generic")]
    phrases = tuple(sorted((one for one in listed if " " in one), key=lambda one: (-len(one), one)))
    generic = frozenset(one for one in listed if " " not in one)
    words = {word for one in phrases for word in one.split()}
    words |= {word for names in raw.values() for frame in names.values() for word in _SLOT.sub("", frame).split()}
    family_of = {name: family for family, names in raw.items() for name in names}
    stems = [(name, name.removesuffix("#")) for name in sorted(family_of, key=lambda name: (-len(name), name))]
    longest_first = tuple((name, stem, f"{stem[0].upper()}{stem[1:]}") for name, stem in stems)
    return _RealNames(raw, family_of, longest_first, generic, phrases, generic | words)
