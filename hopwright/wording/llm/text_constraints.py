"""What may and must stand in each text of an item, by its plan: names, numbers, units, words of relations.

The plan and the rules' wording of it, which was checked when it was drafted, say together what belongs where: a name of
the plan that the rules put into a sub-question belongs there, and so do the numbers, dates, units and roundings.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from hopwright.checks.case import CheckedItem
from hopwright.knowledge.wikidata.roles import ROLES
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Hop, Item
from hopwright.text.matching import holds, is_distinctive_name, pad, read_number
from hopwright.text.number_words import find_written_out
from hopwright.wording.llm.computed import Age, Meaning, list_subjects
from hopwright.wording.llm.directions import find_sides
from hopwright.wording.llm.lifetimes import name_deaths_of
from hopwright.wording.llm.timelines import TimelineWords, read_hop
from hopwright.wording.llm.vocabulary import Vocabulary, properties_in, stem, stems, widen

_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.,])\d+(?:\.\d+)?")
_IDS = re.compile(r"\bQ[0-9A-Za-z_]+\b")
_CONSTANTS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
_WORD = re.compile(r"[^\W\d_][\w'’]*")
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
ROUNDING = re.compile(
    r"\b(?:round(?:ed|ing)?|nearest|whole number|decimal place|(?:one|two|three) decimals?)\b", re.IGNORECASE
)
_FREE = frozenset({Decimal(0), Decimal(1), Decimal(2)})
"""Numbers that hide in grammar: the one, both, one of two."""


@dataclass(frozen=True, slots=True)
class PlanEntity:
    """An entity of the plan: its id, its label as it must be written, and whatever else it is called."""

    id: str
    label: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextConstraints:
    """One text of an item, and what belongs there.

    `hop` is the sub-question's number, 0 for the whole question. `required` names must stand there, `shown` in any of
    their forms (an earlier answer may go by another name), `optional` ones may; `answers` must not, nor `values`, the
    answers that are numbers. Of the required, those in `chosen` are answers all the same: they stand there once, among
    those that they are chosen from. `numbers` must be stated, `written` as the rules write them; `own` are the stems
    that the text may use; `relations` the properties whose words it has to show, each with the hop that asks for it.
    `sides` says which way it must point, `said_sides` which way the rules' wording does; `moment` that it is the first
    after, or the last before, a moment; `ages` of which sorts are the ages that it is about; `timelines` which lists it
    has to name, each with the hop that looks it up; `listed` how many it names to choose from, which it may say in a
    word.
    """

    hop: int
    rules: str
    required: tuple[PlanEntity, ...]
    shown: tuple[PlanEntity, ...]
    answers: tuple[PlanEntity, ...]
    values: frozenset[Decimal]
    numbers: frozenset[Decimal]
    written: tuple[str, ...]
    constants: frozenset[Decimal]
    months: frozenset[str]
    units: tuple[str, ...]
    rounded: bool
    sides: frozenset[str]
    relations: tuple[tuple[int, str], ...]
    own: frozenset[str] = frozenset()
    optional: tuple[PlanEntity, ...] = ()
    chosen: tuple[PlanEntity, ...] = ()
    said_sides: frozenset[str] = frozenset()
    moment: bool = False
    ages: frozenset[Age] = frozenset()
    timelines: tuple[tuple[int, TimelineWords], ...] = ()
    listed: frozenset[Decimal] = frozenset()
    phrases: tuple[str, ...] = ()
    """What claims call their numbers, to be said word for word; the numbers are among `values`."""
    nouns: frozenset[str] = frozenset()
    """Words with a capital that are no names but say what something is, anywhere in the rules' wording: `American`."""

    @property
    def known(self) -> tuple[PlanEntity, ...]:
        """The names that may stand in the text."""
        return (*self.required, *self.shown, *self.optional)

    @property
    def called(self) -> str:
        """The place in words."""
        return f"sub-question {self.hop}" if self.hop else "the whole question"


class TextConstraintBuilder:
    """Lays out drafts. `graph` None: only the names that travel with an item are known."""

    def __init__(self, vocabulary: Vocabulary, graph: GraphStore | None) -> None:
        self._vocabulary = vocabulary
        self._graph = graph

    def names(self, draft: Item) -> dict[str, PlanEntity]:
        """Every entity that the plan names, passes through or rests on, by its id."""
        found: dict[str, PlanEntity] = {}
        for id, label in CheckedItem(draft).labels.items():
            found[id] = self._name(id, label)
        for hop in draft.hops:
            for id in _IDS.findall(write_derivation(hop)):
                if id not in found and self._graph is not None and (label := self._graph.label(id)):
                    found[id] = self._name(id, label)
            if hop.answer_id:
                others = (*hop.answer_aliases, *self._aliases(hop.answer_id))
                found[hop.answer_id] = PlanEntity(hop.answer_id, hop.answer, tuple(dict.fromkeys(others)))
        return found

    def lay_out(self, draft: Item) -> tuple[TextConstraints, ...]:
        """The places of a draft: its sub-questions in order, then the whole question."""
        draft = name_deaths_of(draft)
        case = CheckedItem(draft)
        names = self.names(draft)
        hops = {hop.index: hop for hop in draft.hops}
        texts = [pad(hop.question) for hop in draft.hops]
        named = [
            tuple(names[id] for id in _named_ids(hop) if id in names and holds(text, names[id].label))
            for hop, text in zip(draft.hops, texts, strict=True)
        ]
        places = []
        for hop, held in zip(draft.hops, named, strict=True):
            inputs = [hops[index] for index in hop.depends_on]
            shown = tuple(names[one.answer_id] for one in inputs if one.answer_id in names)
            picks = hop.answer_id in {name.id for name in (*held, *shown)}
            optional = tuple(names[id] for id in list_subjects(hop, hops) if id in names)
            optional = tuple(name for name in optional if name not in (*held, *shown))
            places.append(
                self._place(
                    hop.index, hop.question, [hop], held, shown,
                    () if picks else _answers([hop], names), names, draft, optional,
                )
            )  # fmt: skip
        every = tuple(dict.fromkeys(name for held in named for name in held))
        found = [hop for hop in draft.hops if not case.is_choice_of_named(hop)]
        answered = {hop.answer_id for hop in found}
        outside = tuple(name for name in every if name.id not in answered)
        place = self._place(0, draft.question, draft.hops, outside, (), _answers(found, names), names, draft)
        chosen = {hop.answer_id for hop in draft.hops} - answered
        places.append(replace(place, chosen=tuple(name for name in outside if name.id in chosen)))
        own, nouns = self.list_own(draft, names), _list_nouns(draft, names)  # the same in all places
        return tuple(replace(one, own=own, nouns=nouns) for one in places)

    def _place(
        self,
        index: int,
        rules: str,
        asked: Sequence[Hop],
        required: tuple[PlanEntity, ...],
        shown: tuple[PlanEntity, ...],
        answers: tuple[PlanEntity, ...],
        names: dict[str, PlanEntity],
        draft: Item,
        optional: tuple[PlanEntity, ...] = (),
    ) -> TextConstraints:
        plain = mask_names(rules, [*required, *shown, *optional])
        hops = {hop.index: hop for hop in draft.hops}
        meanings = [(hop, self._vocabulary.read_meaning(hop, hops)) for hop in asked]
        units = tuple(
            dict.fromkeys(
                hop.unit for hop in asked if hop.unit and hop.unit != "year" and holds(pad(plain), hop.unit)
            )
        )  # fmt: skip
        said = _stem_all((plain,))
        relations = tuple(
            (hop.index, property)
            for hop, meaning in meanings
            for property in _related_by(hop, meaning)
            # What the rules can say without a word for it (`the year of …`), a model may.
            if self._vocabulary.cues(property) & said
            and not (hop.derivation.op == "reverse_lookup" and property in ROLES.loose)
            # A timeline has words of its own.
            and read_hop(hop, self._vocabulary.table) is None
        )
        return TextConstraints(
            hop=index,
            rules=rules,
            required=required,
            shown=shown,
            answers=answers,
            values=frozenset(number for hop in asked if (number := _read_value(hop)) is not None)
            | {Decimal(claim.number) for hop in asked for claim in hop.evidence.claims},
            phrases=tuple(claim.phrase for hop in asked for claim in hop.evidence.claims),
            numbers=find_digits(plain),
            written=tuple(dict.fromkeys(_NUMBER.findall(plain))),
            constants=frozenset(number for hop in asked for number in list_constants(hop)),
            months=frozenset(word for word in _WORD.findall(plain) if word in _MONTHS),
            units=units,
            rounded=ROUNDING.search(plain) is not None,
            sides=frozenset().union(*(_take_sides(hop, meaning, index, plain, names) for hop, meaning in meanings)),
            said_sides=find_sides(plain),
            moment=any(meaning is not None and meaning.moment for _, meaning in meanings),
            ages=frozenset(meaning.age for _, meaning in meanings if meaning is not None and meaning.age),
            timelines=tuple((hop.index, words) for hop in asked if (words := read_hop(hop, self._vocabulary.table))),
            optional=optional,
            listed=frozenset(Decimal(meaning.listed) for _, meaning in meanings if meaning is not None),
            relations=relations,
        )

    def list_own(self, draft: Item, names: Mapping[str, PlanEntity] | None = None) -> frozenset[str]:
        """The stems that the plan and the rules' wording account for, names aside: `Maya` excuses no mayor."""
        names = self.names(draft) if names is None else names
        known = list(names.values())
        texts = [mask_names(text, known) for text in (draft.question, *(hop.question for hop in draft.hops))]
        found = set(_stem_all(tuple(texts)))
        for hop in draft.hops:
            # What ties two names of one hop is a fact of it as well: whose librettist it was that died.
            ties = (fact.property for fact in hop.evidence.triplets)
            for property in dict.fromkeys((*properties_in(hop.derivation), *ties)):
                found |= self._vocabulary.cues(property)
            if words := read_hop(hop, self._vocabulary.table):
                found |= words.stems
            if self._graph is not None and hop.answer_id:
                found |= stems(self._graph.description(hop.answer_id))
        return widen(found)

    def _name(self, id: str, label: str) -> PlanEntity:
        return PlanEntity(id, label, self._aliases(id))

    def _aliases(self, id: str) -> tuple[str, ...]:
        return self._graph.aliases(id) if self._graph is not None else ()


def _list_nouns(draft: Item, names: Mapping[str, PlanEntity]) -> frozenset[str]:
    """The words with a capital in the rules' wording that neither begin a sentence nor are of a name."""
    known = list(names.values())
    found: set[str] = set()
    for text in (draft.question, *(hop.question for hop in draft.hops)):
        for sentence in _SENTENCE_END.split(mask_names(text, known)):
            found |= {word.removesuffix("'s") for word in _WORD.findall(sentence)[1:] if word[:1].isupper()}
    return frozenset(found)


def write_derivation(hop: Hop) -> str:
    """What a derivation refers to, as one text of ids, numbers and hops."""
    return " ".join(hop.derivation.references())


def list_constants(hop: Hop) -> list[Decimal]:
    """The numbers that a derivation states outright; one and two hide in grammar and are left out."""
    numbers = [Decimal(text) for text in _CONSTANTS.findall(_IDS.sub("", write_derivation(hop)))]
    return [number for number in numbers if number not in _FREE]


def find_digits(text: str) -> frozenset[Decimal]:
    """The numbers that a text writes in digits."""
    return frozenset(Decimal(found.replace(",", "")) for found in _NUMBER.findall(text))


def find_number_words(text: str) -> frozenset[Decimal]:
    """The numbers that a text writes in words, those that hide in grammar left out."""
    return find_written_out(text) - _FREE


def write_number(number: Decimal) -> str:
    """A number as questions write it; one of four digits may be a year, and gets no separator."""
    return f"{number:,f}" if number >= 10_000 else f"{number:f}"


def mask_names(text: str, names: Iterable[PlanEntity], forms: bool = True) -> str:
    """The text with every mention of these names replaced by `◦`; `forms` False: of their labels only."""
    found = {name.label for name in names}
    if forms:
        found |= {other for name in names for other in name.others if is_distinctive_name(other) or other.isupper()}
    for form in sorted(found, key=lambda one: (-len(one), one)):
        if form.lower() in text.lower():
            text = _mention(form).sub("◦", text)
    return text


@functools.lru_cache(maxsize=8192)
def _mention(form: str) -> re.Pattern[str]:
    # A single word is a mention only as it is written: `us` is not the country.
    flags = re.IGNORECASE if " " in form else 0
    return re.compile(rf"(?<!\w){re.escape(form)}(?!\w)", flags)


def spell(text: str, names: Iterable[PlanEntity]) -> str:
    """The text with these names in their own dashes and apostrophes, which models like to exchange."""
    for name in sorted(names, key=lambda one: (-len(one.label), one.label)):
        if name.label not in text and (pattern := _loose_form(name.label)) is not None:
            text = pattern.sub(lambda _, label=name.label: label, text)  # type: ignore[misc]
    return text


@functools.lru_cache(maxsize=8192)
def _loose_form(label: str) -> re.Pattern[str] | None:
    """A pattern for a name whatever its dashes and apostrophes; None for one without any."""
    if not re.search(r"[-–—'’]", label):
        return None
    loose = "".join("[-–—]" if c in "-–—" else "['’]" if c in "'’" else re.escape(c) for c in label)
    return re.compile(rf"(?<!\w){loose}(?!\w)")


def _named_ids(hop: Hop) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_IDS.findall(write_derivation(hop))))


def _read_value(hop: Hop) -> Decimal | None:
    """The number that an answer is, or the year of the date that it is; None for a name."""
    if hop.answer_type == "date":
        return Decimal(hop.answer.rpartition(" ")[2])
    return read_number(hop.answer) if hop.answer_type == "number" else None


def _related_by(hop: Hop, meaning: Meaning | None) -> tuple[str, ...]:
    """The properties of which a wording has to show a word: of a look-up all, of a computation how things belong."""
    if meaning is not None:
        return meaning.properties
    return properties_in(hop.derivation) if hop.derivation.op != "compute" else ()


def _take_sides(
    hop: Hop, meaning: Meaning | None, place: int, rules: str, names: Mapping[str, PlanEntity]
) -> frozenset[str]:
    """Which way a hop points: by its form where that tells, else by the rules' words for it."""
    if meaning is not None:
        return meaning.sides
    if hop.derivation.op == "compute":
        return find_sides(rules)
    said = find_sides(rules if place else mask_names(hop.question, names.values()))
    return said - {"first", "last"}  # `first awarded` puts nothing in an order


def _answers(hops: Iterable[Hop], names: dict[str, PlanEntity]) -> tuple[PlanEntity, ...]:
    return tuple(dict.fromkeys(names[hop.answer_id] for hop in hops if hop.answer_id in names))


@functools.lru_cache(maxsize=4096)
def _stem_all(texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(stem(word) for text in texts for word in stems(text)) | frozenset(
        word for text in texts for word in stems(text)
    )


_MONTHS = frozenset("January February March April May June July August September October November December".split())
