"""The mention graph of a book: who and what is named where, under which aliases, and who says what."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from hopwright.knowledge.books.book import Book
from hopwright.knowledge.books.characters import Cast, Form, find_singular, form_of, gather_cast
from hopwright.knowledge.books.name_words import Gender, load_name_words
from hopwright.knowledge.books.quotations import find_quotations
from hopwright.knowledge.books.scanning import NameKind, Phrase, name_kind, scan_book
from hopwright.knowledge.books.unnamed import find_titles, find_unnamed

EntityKind = Literal["person", "place"]


_OF_BEFORE = re.compile(r"[A-Z][a-z]+\s+of\s+$")
_EMPHASIS_BEFORE = re.compile(r"_(?:[A-Za-z]+\s+){0,2}$")
_ELDER_BEFORE = re.compile(r"(?<![A-Za-z])(?:old|elder|younger|late|dowager)\s+$")
_AGE = re.compile(r"\b([Oo]ld|[Yy]oung)\s+(?:[A-Z][a-z]*\.?\s+)?[A-Z]")
_AT = re.compile(r"\b(?:at|to|into|from|near|by|in)\s+$")
_SHOP = re.compile(r"['’]s(?=[,.;:!?]|--|\s+(?:and|or|but|if|when|again|was|is)\b)")
_SIBLINGS = re.compile(
    r"\b(?:daughters|sons|children|sisters|brothers|girls|boys)\s*(?:--|[,:;(—])?\s*"
    r"(?P<names>[A-Z][a-z]+(?:,\s+[A-Z][a-z]+)+,?\s+and\s+[A-Z][a-z]+)"
)
_FEWEST_EMPHASISED = 3
_MOST_WORDS = 12
"""Words of a place's name that is looked for in longer ones."""


@dataclass(frozen=True, slots=True)
class FoundNames:
    """What a recogniser found: every capitalised phrase, and whose name each of them is."""

    phrases: list[Phrase]
    kinds: dict[str, NameKind]


class NameFinder(Protocol):
    """Whoever finds the names in a book: rules, a tagger, a language model."""

    name: str

    def find(self, book: Book) -> FoundNames:
        """All names, in the order of the text."""
        ...


class RuleFinder:
    """Names by capitals, titles and the words around them; it needs no model."""

    name = "rules"

    def find(self, book: Book) -> FoundNames:
        """All names, in the order of the text."""
        words = load_name_words()
        scanned = scan_book(book, words)
        return FoundNames(scanned.phrases, {name: name_kind(name, n, words) for name, n in scanned.names.items()})


@dataclass(frozen=True, slots=True)
class Entity:
    """A character or a place. `name` is how questions name it; `aliases` are all forms that surely mean it."""

    id: int
    kind: EntityKind
    name: str
    aliases: tuple[str, ...]
    gender: Gender
    mentions: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A name at the characters `start` up to `end` of a book's text.

    `entities` is whom it may mean: one, several, or, for a name of which nothing is known, nobody. `within`: places
    whose name is a part of somebody's, as Austria is of Anne of Austria; who looks for the place finds it there, too.
    """

    block: int
    start: int
    end: int
    entities: tuple[int, ...]
    thing: bool = False
    """Whether it names neither: the Diamond, the Parsonage."""
    within: tuple[int, ...] = ()
    unnamed: bool = False
    """Whether it is no name at all, and speaks of somebody: her aunt, my lady."""

    @property
    def sure(self) -> bool:
        """Whether it means exactly one entity."""
        return len(self.entities) == 1


@dataclass(frozen=True, slots=True)
class SpokenWords:
    """Words between quotation marks whose speaker the text names at `mention`."""

    block: int
    start: int
    end: int
    speaker: int
    mention: Mention


@dataclass(frozen=True, slots=True)
class MentionGraph:
    """All mentions of a book in order, by block, and the quotations whose speaker is surely named."""

    entities: tuple[Entity, ...]
    by_block: tuple[tuple[Mention, ...], ...]
    quotations: tuple[SpokenWords, ...]
    finder: str = "rules"
    surfaces: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Every form as the text has it, with white space as single spaces, and whom it may mean."""

    def mentions(self) -> Iterator[Mention]:
        """All mentions in the order of the text."""
        for held in self.by_block:
            yield from held


def build_graph(book: Book, finder: NameFinder | None = None) -> MentionGraph:
    """The mention graph of a book; the same book and finder give the same graph."""
    finder = finder or RuleFinder()
    words = load_name_words()
    found = _set_works_apart(book, finder.find(book))
    cast = gather_cast(found.phrases, found.kinds, words)
    places = _gather_places(found, words.endings)
    families = _gather_families(cast)
    offset = len(cast.characters)
    surfaces: dict[int, Counter[str]] = defaultdict(Counter)
    forms: dict[str, tuple[int, ...]] = {}
    rows: list[list[Mention]] = [[] for _ in book.blocks]
    doubtful = _list_generations(book, found.phrases)
    for phrase in found.phrases:
        people = _resolve(form_of(phrase), cast, families, found.kinds, places, offset)
        thing = not people and found.kinds.get(" ".join(phrase.words)) == "thing"
        within: tuple[int, ...] = ()
        if people and people[0] >= offset and _OF_BEFORE.search(book.text, max(0, phrase.start - 20), phrase.start):
            people, within = (), people  # Anne of Austria is no place
        start = phrase.start
        elder = _ELDER_BEFORE.search(book.text, max(0, start - 12), start) if phrase.titles else None
        if elder and people:
            # "old Lord Godalming" may be the father of Lord Godalming.
            start, people, within = elder.start(), (), people
        elif people and form_of(phrase) in doubtful:
            people, within = (), people
        elif not phrase.titles and _is_shop(book.text, phrase):
            people, within, thing = (), people, True
        shown = " ".join(book.text[phrase.start : phrase.end].split())
        if people or not within:
            forms[shown] = people
        if len(people) == 1:
            surfaces[people[0]][shown] += 1
        rows[phrase.block].append(Mention(phrase.block, start, phrase.end, people, thing, within))
    _unite(_find_same(book, forms), rows, forms, surfaces)
    siblings = _list_siblings(book)
    for index, row in enumerate(rows):
        if siblings:
            rows[index] = row = _set_siblings_apart(book, index, row, siblings)
        row += _find_unnamed(book, index, row)
        row.sort(key=lambda one: (one.start, one.end))
    entities = [
        _make_entity(number, "person", person.gender, surfaces[number])
        for number, person in enumerate(cast.characters)
    ]
    place_count = 1 + max(places.values(), default=-1)
    entities += [_make_entity(offset + number, "place", "", surfaces[offset + number]) for number in range(place_count)]
    entities = _call_by_full_names(entities, surfaces)
    by_block = tuple(tuple(row) for row in rows)
    return MentionGraph(tuple(entities), by_block, tuple(_quote(book, by_block, entities)), finder.name, forms)


def _list_generations(book: Book, phrases: Sequence[Phrase]) -> frozenset[Form]:
    """The forms that a book gives to an old and to a young one: whom they mean without such a word, nobody says."""
    words: dict[Form, set[str]] = defaultdict(set)
    for one in phrases:
        if match := one.titles and _AGE.search(book.text[max(0, one.start - 8) : one.end]):
            words[form_of(one)].add(match[1].casefold())
    return frozenset(form for form, held in words.items() if len(held) > 1)


def _is_shop(text: str, phrase: Phrase) -> bool:
    """Whether a name is that of a shop or a house, as "at Ford's" is."""
    before = _AT.search(text, max(0, phrase.start - 8), phrase.start)
    return before is not None and _SHOP.match(text, phrase.end) is not None


def _find_same(book: Book, forms: Mapping[str, tuple[int, ...]]) -> dict[int, int]:
    """Who is somebody else under another name, as the book's notes say."""
    same: dict[int, int] = {}
    for names in book.same:
        meant = [who[0] for name in names if len(who := forms.get(name, ())) == 1]
        same |= {other: meant[0] for other in meant[1:] if other != meant[0]}
    return same


def _unite(
    same: Mapping[int, int],
    rows: list[list[Mention]],
    forms: dict[str, tuple[int, ...]],
    surfaces: dict[int, Counter[str]],
) -> None:
    """Make one of those who are the same, in mentions, forms and names."""
    if not same:
        return
    for row in rows:
        row[:] = [replace(one, entities=_swap(one.entities, same), within=_swap(one.within, same)) for one in row]
    forms.update({form: _swap(held, same) for form, held in forms.items()})
    for other, who in same.items():
        surfaces[who] += surfaces.pop(other, Counter())


def _swap(entities: tuple[int, ...], same: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(sorted({same.get(who, who) for who in entities}))


def _set_works_apart(book: Book, found: FoundNames) -> FoundNames:
    """The names with those as things that stand in italics more often than not: they are a book's or a ship's, as
    _Robinson Crusoe_; a person is stressed now and then."""
    total: Counter[str] = Counter()
    emphasised: Counter[str] = Counter()
    for one in found.phrases:
        name = " ".join(one.words)
        total[name] += 1
        before = book.text[max(0, one.start - 40) : one.start]
        if book.text.startswith("_", one.end) and _EMPHASIS_BEFORE.search(before):
            emphasised[name] += 1
    works: dict[str, NameKind] = {
        name: "thing" for name, count in emphasised.items() if count >= _FEWEST_EMPHASISED and 2 * count > total[name]
    }
    return FoundNames(found.phrases, {**found.kinds, **works})


def _list_siblings(book: Book) -> re.Pattern[str] | None:
    """The lists of given names that are said to be somebody's children or sisters, as "three daughters, A, B, and C";
    None where there are none."""
    found = {" ".join(match["names"].split()) for match in _SIBLINGS.finditer(book.text)}
    return re.compile("|".join(re.escape(one).replace(r"\ ", r"\s+") for one in sorted(found))) if found else None


def _set_siblings_apart(book: Book, index: int, row: list[Mention], lists: re.Pattern[str]) -> list[Mention]:
    """The mentions of a block; a list of siblings is one of which nothing is known, for any of its names may be that of
    somebody else, too."""
    block = book.blocks[index]
    spans = [match.span() for match in lists.finditer(book.text, block.start, block.end)]
    kept = [one for one in row if not any(one.start < end and start < one.end for start, end in spans)]
    return [*kept, *(Mention(index, start, end, ()) for start, end in spans)]


def _find_unnamed(book: Book, index: int, known: Sequence[Mention]) -> list[Mention]:
    """Those who are called by a title or a word of kinship alone: somebody is meant, and no name says who."""
    block = book.blocks[index]
    spans = [(one.start, one.end) for one in known]
    titles = [Mention(index, *span, ()) for span in find_titles(book.text, block.start, block.end, spans)]
    spans = sorted([*spans, *((one.start, one.end) for one in titles)])
    words = find_unnamed(book.text, block.start, block.end, spans)
    return [*titles, *(Mention(index, *span, (), unnamed=True) for span in words)]


def _gather_places(found: FoundNames, endings: frozenset[str]) -> dict[str, int]:
    """Places by name: "Rosings" and "Rosings Park" are one, where only one place is called so with an ending."""
    names = sorted({name for name, kind in found.kinds.items() if kind == "place"})
    longer: dict[str, set[str]] = defaultdict(set)
    for name in names:
        head, _, last = name.rpartition(" ")
        if head and last in endings:
            longer[head].add(name)
    numbers: dict[str, int] = {}
    count = 0
    for name in names:
        head, _, last = name.rpartition(" ")
        # A name follows those that it begins with.
        if head in numbers and last in endings and len(longer[head]) == 1:
            numbers[name] = numbers[head]
            continue
        numbers[name] = count
        count += 1
    return numbers


def _gather_families(cast: Cast) -> dict[str, tuple[int, ...]]:
    """The numbers of the characters of each surname."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, person in enumerate(cast.characters):
        if person.surname:
            found[person.surname].append(number)
    return {surname: tuple(numbers) for surname, numbers in found.items()}


def _resolve(
    form: Form,
    cast: Cast,
    families: dict[str, tuple[int, ...]],
    kinds: dict[str, NameKind],
    places: dict[str, int],
    offset: int,
) -> tuple[int, ...]:
    if form in cast.meanings:
        return cast.meanings[form]
    title, name = form
    if not title and name in places:
        return tuple(sorted({offset + places[held] for held in (name, *_list_inner(name)) if held in places}))
    # "the Bennets" are some of the family, and never the only one who is known of it.
    if (single := find_singular(name)) and kinds.get(name) != "place":
        family = families.get(single, ())
        return family if len(family) > 1 else ()
    return ()


def _list_inner(name: str) -> list[str]:
    """The shorter runs of a name's words: who names Lincoln's Inn Fields may be said to name Lincoln's Inn."""
    words = name.split()
    return [
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + _MOST_WORDS, len(words)) + 1)
        if end - start < len(words)
    ]


def _make_entity(number: int, kind: EntityKind, gender: Gender, surfaces: Counter[str]) -> Entity:
    ranked = sorted(surfaces, key=lambda form: (-surfaces[form], form))
    name = ranked[0] if ranked else ""
    if kind == "person" and " " not in name:
        # A name with a title is how a reader tells Mr. Darcy from a Miss Darcy; it is preferred where it is common.
        titled = [form for form in ranked if form.endswith(f" {name}") and surfaces[form] * 3 >= surfaces[name]]
        name = titled[0] if titled else name
    return Entity(number, kind, name, tuple(ranked), gender, surfaces.total())


def _call_by_full_names(entities: list[Entity], surfaces: dict[int, Counter[str]]) -> list[Entity]:
    """The entities; who would be called by a given name that others bear, too, is called by the whole name: a reader
    who is asked about "John" looks at every John."""
    bearers: dict[str, set[int]] = defaultdict(set)
    for one in entities:
        for alias in one.aliases:
            for word in alias.split():
                bearers[word].add(one.id)
    called: list[Entity] = []
    for one in entities:
        counts = surfaces[one.id]
        whole = [name for name in one.aliases if name.split()[0] == one.name != name and counts[name] > 1]
        shared = one.kind == "person" and len(bearers[one.name]) > 1
        called.append(replace(one, name=whole[0]) if shared and whole else one)
    return called


def _quote(
    book: Book, by_block: tuple[tuple[Mention, ...], ...], entities: list[Entity]
) -> Iterator[SpokenWords]:
    for index, held in enumerate(by_block):
        if book.blocks[index].kind != "text":
            continue
        # A form means persons, or places.
        people = [one for one in held if one.entities and entities[one.entities[0]].kind == "person"]
        for quotation in find_quotations(book, index, [(one.start, one.end) for one in people]):
            mention = people[quotation.mention]
            inside = quotation.start <= mention.start < quotation.end
            if mention.sure and not inside:
                yield SpokenWords(index, quotation.start, quotation.end, mention.entities[0], mention)
