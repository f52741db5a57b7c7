"""Reading a model's wording against the plan: what is missing, what is there too much, what points the wrong way.

Every name and number of a hop must be found where it belongs and nowhere else (Omanic, appendix A: fluency and
completeness, contextual fact consistency, leakage). What is wrong is said in words that the model can act on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from hopwright.checks.grammar import ASKING_TITLE
from hopwright.planning.computation_forms import read_computation
from hopwright.records import Hop, Item, Lookup
from hopwright.text.matching import contains_alias, holds, pad
from hopwright.text.number_words import NUMBER_WORDS
from hopwright.wording.llm.directions import asks_age, find_sides, find_wrong_age, find_wrong_side, hide_turned
from hopwright.wording.llm.lifetimes import name_deaths, name_deaths_of
from hopwright.wording.llm.problems import WordingProblem
from hopwright.wording.llm.relation_words import RelationWords, find_ranks
from hopwright.wording.llm.shifts import find_shifts
from hopwright.wording.llm.structure import StructureChecker
from hopwright.wording.llm.text_constraints import (
    ROUNDING,
    PlanEntity,
    TextConstraintBuilder,
    TextConstraints,
    find_digits,
    find_number_words,
    mask_names,
    write_number,
)
from hopwright.wording.llm.timelines import find_wrong_timeline
from hopwright.wording.llm.vocabulary import Vocabulary, find_steps, openings, stem, stems

_TOKEN = re.compile(r"[^\W_][\w'’.&-]*")
_QUOTED = re.compile(r"[\"“«]([^\"”»]*)[\"”»]")
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[\"“(]?[^\W_])")
_LISTED = re.compile(
    r"(?:^|\s)(?:\(?[1-8a-d]\)|[1-8]\.\s|Q[1-8]\b|[Ss]tep \d|[Hh]op \d|#\d)"
    r"|\b(?:First|Firstly|Secondly|Thirdly|Next|Finally),"
    r"|\b(?:first|then|next) (?:find|determine|identify|work out|look up|calculate|compute|name)\b"
)
_TWO = re.compile(r"\band (?:what|who|which|when|where|how)\b[^?]*\?$")
_STIFF = re.compile(
    r"\bthe (?:entity|subject|object|answer|result) (?:that|which|of|to|found|above|from)\b"
    r"|\b(?:sub-?question|previous answer|intermediate answer|knowledge graph|triple(?! crown))\b",
    re.IGNORECASE,
)
_COLLIDING = re.compile(
    r"\b(?:died|won|made|wrote|directed|premiered|released|worked together|made together) "
    r"(?:born|based|adapted|buried|first performed|is based|died)\b",
    re.IGNORECASE,
)
"""Verbs of two clauses side by side: `the year after he died born`."""
_NESTED = re.compile(r"\b(\w{4,}) of (?:the|its|their|his|her) \1\b", re.IGNORECASE)
_SENTENCES = 3


class WordingChecker:
    """Reads wordings of drafts."""

    def __init__(self, vocabulary: Vocabulary, places: TextConstraintBuilder) -> None:
        self._vocabulary = vocabulary
        self._places = places
        self._structure = StructureChecker(vocabulary)

    def read(
        self,
        draft: Item,
        sub_questions: Sequence[str],
        question: str,
        places: Sequence[TextConstraints] = (),
        marked: str = "",
    ) -> list[WordingProblem]:
        """Everything that is wrong with a wording, place by place; empty where it says the plan and no more.

        `places` are the draft's, where they are known already; `marked` is the question with its marks, without which
        only its words are read. Raises MarkError for marks that cannot be read.
        """
        problems: list[WordingProblem] = []
        draft, question, marked = name_deaths_of(draft), name_deaths(question), name_deaths(marked)
        names = tuple(self._places.names(draft).values())
        places = places or self._places.lay_out(draft)
        for place, text in zip(places, (*sub_questions, question), strict=True):
            problems += self._read_place(place, text, names, marked)
        for hop, place, text in zip(draft.hops, places, sub_questions, strict=False):
            plain, rules = (mask_names(one, (*place.known, *place.answers)) for one in (text, place.rules))
            forms = [form for form in (read_computation(hop.derivation),) if form is not None]
            shifts = find_shifts(plain, rules, forms)
            problems += [WordingProblem("structure", f"{place.called} {shift}") for shift in shifts]
            problems += self._read_relation(hop, place, plain, rules)
        return problems + (self._structure.read(draft, marked, places) if marked else [])

    def _read_relation(self, hop: Hop, place: TextConstraints, plain: str, rules: str) -> Iterator[WordingProblem]:
        """A sub-question that asks for another relation than its hop's: structure enough where there is one hop."""
        relation = RelationWords.of([hop], self._vocabulary, rules)
        if strange := relation.find_wrong(plain):
            said = f"{place.called} says {strange!r}, which is another relation than that of its hop"
            yield WordingProblem("structure", said)
        if fault := relation.find_making(plain):
            yield WordingProblem("structure", f"{place.called} {fault}")
        if isinstance(hop.derivation, Lookup) and (ranks := find_ranks(plain) - find_ranks(rules)):
            yield WordingProblem("structure", f"{place.called} says {min(ranks)!r}, which its hop does not")

    def _read_place(
        self, place: TextConstraints, text: str, names: Sequence[PlanEntity], marked: str
    ) -> Iterator[WordingProblem]:
        plain = mask_names(text, place.known)
        # A title that asks something ends the question as well: `Who directed "Who's Afraid of Virginia Woolf?"`
        ends_asking = text.rstrip().endswith(ASKING_TITLE)
        yield from _read_form(place, f"{plain}?" if ends_asking and "?" not in plain else plain)
        leaks = [name for name in place.answers if mentions(plain, name)]
        for name in leaks:
            yield WordingProblem("leakage", f"{place.called} must not name {name.label!r}, which has to be found out")
        bare = mask_names(plain, place.answers)
        # `US dollars` does not name a country.
        yield from _read_names(place, text, remove_phrases(bare, place.units), names)
        yield from _read_numbers(place, bare)
        if marked and not place.hop:
            # Relations and directions are read span by span.
            yield from _read_steps(place, text, bare)
            return
        sided = hide_turned(bare) if "turned" in place.ages else bare
        # The ship that took a crew aboard after splashdown: the relation itself says `after`.
        own = find_sides(" ".join(self._vocabulary.label(property) for _, property in place.relations))
        for wrong in find_wrong_side(place.sides, place.said_sides | own, place.moment, sided):
            yield WordingProblem("direction", f"{place.called} must {wrong}, as in: {place.rules}")
        if wrong := find_wrong_age(place.ages, bare):
            yield WordingProblem("precision", f"{place.called} must {wrong}, as in: {place.rules}")
        yield from self._read_relations(place, text, bare)

    def _read_relations(self, place: TextConstraints, text: str, bare: str) -> Iterator[WordingProblem]:
        said = stems(bare) | frozenset(stem(word) for word in bare.split())
        for hop, property in place.relations:
            if not said & self._vocabulary.cues(property):
                label = self._vocabulary.label(property)
                what = "does not make clear that" if place.hop else f"leaves out hop {hop}: it does not make clear that"
                text_for_model = f"{place.called} {what} {label!r} is meant, as in: {place.rules}"
                yield WordingProblem("missing_hop", text_for_model, hint=bool(place.hop))
        for hop, words in place.timelines:
            if wrong := find_wrong_timeline(words, place.rules, text, bare):
                what = "" if place.hop else f"keep hop {hop}: it must "
                yield WordingProblem("missing_hop", f"{place.called} must {what}{wrong}, as in: {place.rules}")
        yield from _read_steps(place, text, bare)


def _read_steps(place: TextConstraints, text: str, bare: str) -> Iterator[WordingProblem]:
    """Words for a step that the plan does not have."""
    if steps := find_steps(bare, place.own):
        quoted = ", ".join(repr(word) for word in steps)
        yield WordingProblem("extra_hop", f"{place.called} brings in {quoted}, which no hop of the plan asks about")
    elif (nested := _NESTED.search(text)) and not _NESTED.search(place.rules):
        yield WordingProblem("extra_hop", f"{place.called} repeats a step: {nested[0]!r}")


def remove_phrases(text: str, phrases: Iterable[str]) -> str:
    """The text with these phrases blanked."""
    for phrase in phrases:
        text = text.replace(phrase, "◦") if phrase else text
    return text


def _read_form(place: TextConstraints, text: str) -> Iterator[WordingProblem]:
    if text.count("?") != 1:
        yield WordingProblem("extra_hop", f"{place.called} must ask one question, with one question mark at its end")
    elif found := _LISTED.search(text) or (None if _TWO.search(place.rules) else _TWO.search(text)):
        yield WordingProblem(
            "enumeration", f"{place.called} must not list its steps or ask several things ({found[0].strip()!r})"
        )
    if len(_SENTENCE.split(text)) > (_SENTENCES if not place.hop else 1):
        most = "at most three sentences" if not place.hop else "one sentence"
        yield WordingProblem("style", f"{place.called} must be {most}")
    if (found := _COLLIDING.search(text)) and not _COLLIDING.search(place.rules):
        said = f"{place.called} must not have two verbs collide, as in {found[0]!r}: put the long description last"
        yield WordingProblem("style", said)
    if found := _STIFF.search(text):
        yield WordingProblem("style", f"{place.called} must not say {found[0]!r}: say it as people do")


def _read_names(place: TextConstraints, text: str, bare: str, names: Sequence[PlanEntity]) -> Iterator[WordingProblem]:
    padded = pad(text)
    for name in place.required:
        if not (holds(padded, name.label) and is_written(text, name.label)):
            yield WordingProblem("entities", f"{place.called} must name {name.label!r}, written exactly like this")
    for phrase in place.phrases:
        if not holds(padded, phrase):
            yield WordingProblem("claims", f"{place.called} must say {phrase!r}, word for word")
    for name in place.shown:
        if not mentions(text, name):
            yield WordingProblem("entities", f"{place.called} must name {name.label!r}, the answer that it builds on")
    for name in place.chosen:
        if mask_names(text, [name]).count("◦") > 1:
            yield WordingProblem("leakage", f"{place.called} must name {name.label!r} once, among those to choose from")
    allowed = {*place.known, *place.answers}
    elsewhere = [name for name in names if name not in allowed and mentions(bare, name)]
    for name in elsewhere:
        yield WordingProblem("entities", f"{place.called} must not name {name.label!r}: it belongs to another hop")
    strange = list(find_unexpected_names(place, mask_names(bare, elsewhere)))
    if strange:
        quoted = ", ".join(repr(word) for word in strange)
        yield WordingProblem("entities", f"{place.called} names {quoted}, which the plan does not have there")


def is_written(text: str, label: str) -> bool:
    """Whether a name stands in a text letter by letter; `the Bahamas` will do for `The Bahamas`, a capital for none."""
    article = label.removeprefix("The ")
    forms = [label, label[:1].upper() + label[1:], *([f"the {article}"] if article != label else [])]
    return any(form in text for form in forms)


def find_unexpected_names(place: TextConstraints, bare: str, more: frozenset[str] = frozenset()) -> Iterator[str]:
    """Capitalised words and quoted texts that neither names, nor the rules' wording, nor `more` words account for."""
    named = {token for name in place.known for token in split_words(name.label)}
    parts = {token for name in place.answers for token in split_words(name.label) if token[:1].isupper()}
    # That a World Series is meant is no part of its name that has to be found out.
    given_away = {token for token in parts if stem(token.lower()) not in place.own}
    # A part of a name that must be found out gives it away.
    known = ({token for token in split_words(place.rules) if token[:1].isupper()} | place.nouns) - given_away | named
    known |= {token for _, words in place.timelines for token in words.names} - given_away
    seen: dict[str, None] = {}
    for quoted in _QUOTED.findall(bare):
        if quoted.replace("◦", "").strip(" ,.?"):
            seen[quoted.strip()] = None
    for sentence in _SENTENCE.split(bare):
        for position, match in enumerate(_TOKEN.finditer(sentence)):
            token = _trim(match[0])
            if not token[:1].isupper() or token in known or token in place.months or token in more or token == "I":
                continue
            if token.removesuffix("s") in known:  # `the first of those Tours`
                continue
            if position == 0 and not sentence[: match.start()].strip('"“( ') and _may_open(token, place):
                continue
            seen[token] = None
    return iter(seen)


def split_words(text: str) -> list[str]:
    """The words of a text as names are made of, hyphens and inner points kept."""
    return [_trim(token) for token in _TOKEN.findall(text)]


def _trim(token: str) -> str:
    """A word without a genitive and without what punctuation leaves on it."""
    return token.removesuffix("'s").removesuffix("’s").rstrip(".'’-")


def _may_open(token: str, place: TextConstraints) -> bool:
    lower = token.lower()
    return lower in openings() or lower in NUMBER_WORDS or lower.endswith("ing") or stem(lower) in place.own


def _read_numbers(place: TextConstraints, bare: str) -> Iterator[WordingProblem]:
    digits, words = find_digits(bare), find_number_words(bare)
    for number in sorted((place.numbers | place.constants) - digits - words):
        yield WordingProblem("numbers", f"{place.called} must state {write_number(number)}")
    allowed = place.numbers | place.constants
    stray = sorted((digits - allowed) | (words - allowed - place.listed - find_number_words(place.rules)))
    for number in stray:
        if number in place.values:
            yield WordingProblem(
                "leakage", f"{place.called} must not state {write_number(number)}, which has to be found out"
            )
        else:
            yield WordingProblem(
                "numbers", f"{place.called} states {write_number(number)}, which the plan does not have there"
            )
    lost = sorted(month for month in place.months if month not in bare)
    if lost:
        yield WordingProblem("numbers", f"{place.called} must keep the date with its month, {lost[0]}")
    padded = pad(bare)
    for unit in place.units:
        # Nobody says the unit of an age.
        if unit == "years" and place.ages - {"turned"} and asks_age(bare):
            continue
        if not any(holds(padded, form) for form in (unit, *_UNIT_FORMS.get(unit, ()))):
            yield WordingProblem("units", f"{place.called} must say the unit, {unit}")
    if place.rounded and not ROUNDING.search(bare):
        yield WordingProblem("units", f"{place.called} must say how the number is rounded, as in: {place.rules}")


def mentions(text: str, name: PlanEntity) -> bool:
    """Whether a text names an entity, by its label or another of its names."""
    padded = pad(text)
    if holds(padded, name.label) and (" " in name.label.strip() or name.label in text):
        return True
    return any(
        contains_alias(text, padded, other) and not _is_plain(text, other) for other in name.others if len(other) > 1
    )


def _is_plain(text: str, alias: str) -> bool:
    """Whether a name with capitals stands in the text in small letters only: `the states` are not `the States`."""
    written = re.findall(rf"(?<!\w){re.escape(alias)}(?!\w)", text, re.IGNORECASE)
    return alias != alias.lower() and bool(written) and all(one == one.lower() for one in written)


_UNIT_FORMS: dict[str, tuple[str, ...]] = {
    "square kilometres": ("square kilometers", "km²", "km2", "sq km"),
    "kilometres": ("kilometers", "km"),
    "metres": ("meters",),
    "kilograms": ("kilogrammes", "kg"),
    "years": ("year",),
    "minutes": ("minute",),
}
