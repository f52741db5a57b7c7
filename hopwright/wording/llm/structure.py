"""Holding a marked question against its plan: each span says its own hop, and holds the spans of what that builds on.

Names, numbers, directions and relations are read span by span, so a text in which two people exchange their parts, in
which a number stands at another branch, or which turns a condition round, does not fit although all of its words do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.computation_forms import (
    AgeAt,
    AgeInYear,
    Combinations,
    EndMember,
    Extreme,
    GroupSize,
    NextOfList,
    Rate,
    ShiftedYear,
    YearDistance,
    read_computation,
)
from hopwright.records import Compute, Hop, Item, Lookup
from hopwright.text.matching import holds, pad
from hopwright.text.mentions import replace_names
from hopwright.wording.llm.directions import find_sides, find_wrong_age, find_wrong_side, hide_turned
from hopwright.wording.llm.lifetimes import name_deaths_of
from hopwright.wording.llm.problems import WordingProblem
from hopwright.wording.llm.relation_words import RelationWords, find_ranks, list_ties, stem_all
from hopwright.wording.llm.shifts import find_shifts
from hopwright.wording.llm.span_layout import HopText, Layout, find_misplaced, lay_out_spans
from hopwright.wording.llm.text_constraints import (
    PlanEntity,
    TextConstraintBuilder,
    TextConstraints,
    find_digits,
    find_number_words,
    mask_names,
    write_number,
)
from hopwright.wording.llm.timelines import find_wrong_timeline, list_cues
from hopwright.wording.llm.vocabulary import (
    Vocabulary,
    find_rivals,
    find_steps,
    properties_in,
    stem,
    stems,
    widen,
)
from hopwright.wording.marks import MarkError, read_marks

_ANAPHORA = re.compile(
    r"\b(?:the (?:same )?(?:[\w-]+ )?[\w-]+|that|this|these|those|its?|his|hers?|him|she|he|their|them|they|whose)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(r"(?:^|(?<=[.…,] ))(?:take |consider |think of |look at |put \w+ly, )", re.IGNORECASE)
"""`Take the person …`, `Put simply, …`: words that only open a sentence, and say no relation."""
_LIST_OF_NAMED = re.compile(r"\ball\((P\d+), Q\d+\)")
"""The list, in an expression, of whoever a plan names."""
_ENDED = re.compile(r"\b(?:first|last) \w+")
_ATTRIBUTE = re.compile(r"\b(?:older|newer|earlier|later) (?=[a-z])", re.IGNORECASE)
"""`an older film` puts nothing in an order that the plan would have to know."""
_RATIO = re.compile(
    r"\b(?:(?:as|so) \w+(?: in \w+)? as|than|divided by|over|relative to|compared (?:to|with)|that of)\b", re.IGNORECASE
)
"""What stands before the part of a ratio by which the other is divided."""
_TIE = re.compile(
    r"\b(?:his|her|its|the) (?:[a-z]+ )?(?!(?:of|by|for|in|on|from) )[a-z]+,? (?=◦)|\b(?:his|her) [a-z]+, (?=the )"
)
"""`the librettist X` says who X is, and asks for nothing; so do `his mother, X` and `his librettist, the author of X`,
but not `the librettist of X`.
"""
_AT_BIRTH = re.compile(r"\bat (?:the (?:time|moment) of )?(?:\w+ )?birth\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_COMMON = frozenset(
    stem(word)
    for word in "name time place work person people country city film year date after before first last belong part "
    "lie them".split()
)

_GENERIC = frozenset(
    stem(word) for word in "wrote written write writer writing author made make making book based work works".split()
)
"""Words that several relations share: who wrote a novel wrote, and so did who wrote the screenplay."""
_ADAPTATION = re.compile(r"\badaptation\b", re.IGNORECASE)
"""What a film may be called, whatever is asked about it."""
_LIFE = stems("born birth died death")
_OF_WHOM = re.compile(r"\b\w+['’]s\b")
_OF_CHOICES = stems("formed made chosen")
"""Words by which pairs are counted, some of which other facts use too: a club is formed as well."""


class StructureChecker:
    """Holds marked questions against plans of one property table."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def read(self, draft: Item, marked: str, places: Sequence[TextConstraints]) -> list[WordingProblem]:
        """Everything in a marked question that does not fit the plan; empty where it fits.

        `places` are the draft's: of its sub-questions, then of the whole question. Raises MarkError for marks that
        cannot be read.
        """
        birth = self._vocabulary.table.roles.birth
        layout = lay_out_spans(draft, read_marks(marked), birth)
        if misplaced := list(find_misplaced(draft, layout)):
            return misplaced  # what else is wrong follows from these
        rules = lay_out_spans(draft, read_marks(draft.marked), birth) if draft.marked else None
        reading = _Reading(draft, layout, rules, places[:-1], places[-1], self._vocabulary)
        return [
            *reading.find_names(),
            *reading.find_numbers(),
            *reading.find_wrong_words(),
            *reading.find_shared(),
        ]


class MarkAudit:
    """Holds the marks of finished items against their plans; needs nothing but the item."""

    def __init__(self, table: PropertyTable) -> None:
        vocabulary = Vocabulary(table)
        did = {entry.did_once or entry.did for entry in (table.entity[one] for one in table.credits)} - {""}
        # "George Tomasini edited X." before the question says who he was, and asks for nothing.
        self._told = re.compile(rf"^[^.?]*◦ (?:{'|'.join(map(re.escape, sorted(did)))}) [^.?]*◦[^.?]*\. ")
        self._places = TextConstraintBuilder(vocabulary, None)
        self._checker = StructureChecker(vocabulary)

    def find_faults(self, item: Item) -> list[str]:
        """What is wrong with the marks of a question; empty where they say its plan. The item has marks and a plan."""
        try:
            if read_marks(item.marked).text != item.question:
                return ["without its marks, the marked question is not the question"]
            item = name_deaths_of(_restore_lists(item))
            # Held against itself a question has no word too many: its sub-questions are what it is measured by.
            bare = item.model_copy(update={"marked": ""})
            said = {year for hop in item.hops for year in _YEAR.findall(f"{hop.question} {hop.answer}")}
            if strange := sorted({*_YEAR.findall(item.question)} - said):
                return [f"the question says {strange[0]}, which no sub-question says"]
            unasked = bare.model_copy(update={"question": ""})
            names = self._places.names(bare).values()
            plain = self._told.sub("", _TIE.sub("", mask_names(item.question, names)))
            if steps := find_steps(plain, self._places.list_own(unasked)):
                return [f"the question says {steps[0]!r}, of which its sub-questions say nothing"]
            problems = self._checker.read(bare, item.marked, self._places.lay_out(bare))
        except MarkError as error:
            return [str(error)]
        return [problem.text for problem in problems if not problem.hint]


def _restore_lists(item: Item) -> Item:
    """A twin's questions with the real names of lists and series, by which its plan knows them."""
    real = {one.surrogate: one.original for one in item.world if one.original and not one.id}
    if not real:
        return item
    texts = [item.question, item.marked, *(hop.question for hop in item.hops)]
    question, marked, *asked = replace_names(texts, real)
    hops = tuple(
        hop.model_copy(update={"question": text}) for hop, text in zip(item.hops, asked, strict=True)
    )  # fmt: skip
    return item.model_copy(update={"question": question, "marked": marked, "hops": hops})


@dataclass(frozen=True)
class _Reading:
    """One question, span by span. `rules` is the rules' wording of the same plan; None where it has no marks."""

    draft: Item
    layout: Layout
    rules: Layout | None
    subs: Sequence[TextConstraints]
    whole: TextConstraints
    vocabulary: Vocabulary

    @cached_property
    def _hops(self) -> dict[int, Hop]:
        return {hop.index: hop for hop in self.draft.hops}

    def _call(self, index: int) -> str:
        return "what no span holds" if index == len(self.draft.hops) else f"the span of hop {index}"

    @cached_property
    def _owner(self) -> re.Pattern[str] | None:
        """How a question takes up whoever it names as having a list: `that director`; None where it names nobody."""
        table, derivations = self.vocabulary.table, [hop.derivation for hop in self.draft.hops]
        computed = [one.expression for one in derivations if isinstance(one, Compute)]
        lists = {found for expression in computed for found in _LIST_OF_NAMED.findall(expression)}
        makers = {table.entity[one].maker for one in lists} - {""}
        if not makers:
            return None
        words = "|".join(sorted(table.entity[one].role for one in makers))
        return re.compile(rf"\b(?:th(?:e|at|is)|the same) (?:{words})\b(?! (?:of|who|whose|behind))")

    def _mask(self, text: str) -> str:
        named = mask_names(text, (*self.whole.known, *self.whole.answers)).replace("◦", " ◦ ")
        if self._owner is not None:
            named = self._owner.sub(" ◦ ", named)
        return _ADAPTATION.sub("film", _OPENING.sub("", named.lstrip()))

    def find_names(self) -> Iterator[WordingProblem]:
        """Names that stand at another hop than theirs."""
        belongs: dict[str, set[int]] = {}
        besides: dict[str, set[int]] = {}
        for hop, place in zip(self.draft.hops, self.subs, strict=True):
            for held, names in ((belongs, place.required), (besides, place.optional)):
                for name in names:
                    held.setdefault(name.id, set()).add(self.layout.merged.get(hop.index, hop.index))
        for name in self.whole.required:
            mine, more = belongs.get(name.id, set()), besides.get(name.id, set())
            said = {index for index, text in self.layout.texts.items() if _says([*text.words, *text.shared], name)}
            if not mine or not said:
                continue  # a name that is missing altogether is told by the reading of the whole
            for index in sorted(said - mine - more):
                if _says(self.layout.texts[index].words, name) and not self._is_told(name, index, mine):
                    text = f"{self._call(index)} names {name.label!r}, which belongs to hop {_listed(mine)}"
                    yield WordingProblem("structure", text)
            for index in sorted(mine - said):
                words = self.layout.texts[index].all
                taken_up = _ANAPHORA.search(words) or holds(pad(words), name.label.split()[-1])
                told = bool(said & more) or any(self._is_told(name, one, mine) for one in said)
                if not (said & mine or told) or not taken_up:
                    yield WordingProblem("structure", f"{self._call(index)} must name {name.label!r}")

    def _is_told(self, name: PlanEntity, index: int, mine: set[int]) -> bool:
        """Whether the words for another hop tell whose work it names: `Arthur Penn's film "The Left Handed Gun"`."""
        works = [one.label for one in self.subs[index - 1].required if one.id != name.id]
        if not works or any(_says(self.layout.texts[one].words, name) for one in mine):
            return False
        whose = rf"{re.escape(name.label)}['’]s? (?:[\w-]+ ){{0,2}}[\"“]?(?:{'|'.join(map(re.escape, works))})"
        return any(re.search(whose, words) for words in self.layout.texts[index].words)

    def find_numbers(self) -> Iterator[WordingProblem]:
        """Numbers that stand at another hop than theirs."""
        wanted = self.whole.numbers | self.whole.constants
        belongs: dict[Decimal, set[int]] = {}
        for hop, place in zip(self.draft.hops, self.subs, strict=True):
            for number in (place.numbers | place.constants) & wanted:
                belongs.setdefault(number, set()).add(self.layout.merged.get(hop.index, hop.index))
        for index, text in self.layout.texts.items():
            plain = self._mask(" … ".join(text.words))
            for number in sorted((find_digits(plain) | find_number_words(plain)) & wanted):
                if belongs.get(number) and index not in belongs[number]:
                    others = _listed(belongs[number])
                    said = f"{self._call(index)} states {write_number(number)}, which belongs to hop {others}"
                    yield WordingProblem("structure", said)
            yield from self._find_paired(index, text, belongs)
        for number, mine in belongs.items():
            if len(mine) == 1:
                (index,) = mine
                plain = self._mask(self.layout.texts[index].all)
                if number not in find_digits(plain) | find_number_words(plain):
                    yield WordingProblem("structure", f"{self._call(index)} must state {write_number(number)}")

    def _find_paired(self, index: int, text: HopText, belongs: Mapping[Decimal, set[int]]) -> Iterator[WordingProblem]:
        """Numbers that stand beside the name of another hop of the same span: `"A" of 1942 and "B" of 1954`."""
        if not any(index in hops for hops in belongs.values()):
            return  # a year beside its name is the other's
        names = [name for name in self.subs[index - 1].required if _says(text.shared, name)]
        for words in text.shared:
            for name in names:
                start = words.find(name.label)
                bare = words.replace(name.label, " " * len(name.label))
                apart = {
                    Decimal(found[0]): min(abs(found.start() - start - len(name.label)), abs(start - found.end()))
                    for found in _YEAR.finditer(bare)
                    if belongs.get(Decimal(found[0]))
                }
                if start >= 0 and apart and index not in belongs[min(apart, key=lambda one: apart[one])]:
                    nearest = min(apart, key=lambda one: apart[one])
                    others = _listed(belongs[nearest])
                    text_for_model = f"{write_number(nearest)} belongs to hop {others}, not to {name.label!r}"
                    yield WordingProblem("structure", text_for_model)

    def find_wrong_words(self) -> Iterator[WordingProblem]:
        """Words by which a span says something else than its hop, or too little of it."""
        for hop, place in zip(self.draft.hops, self.subs, strict=True):
            if hop.index in self.layout.merged:
                continue
            together = [hop, *(self._hops[one] for one, into in self.layout.merged.items() if into == hop.index)]
            plain = self._mask(self.layout.texts[hop.index].all)
            rules = self._mask(self.rules.texts[hop.index].all if self.rules is not None else hop.question)
            forms = [form for one in together if (form := read_computation(one.derivation)) is not None]
            called = self._call(hop.index)
            for shift in find_shifts(plain, rules, forms, by_rules=self.rules is not None):
                yield WordingProblem("structure", f"{called} {shift}")
            yield from self._find_wrong_way(hop, place, plain)
            yield from self._find_other_moment(together, rules)
            yield from self._find_wrong_relation(together, place, rules)

    def _find_wrong_way(self, hop: Hop, place: TextConstraints, plain: str) -> Iterator[WordingProblem]:
        called = self._call(hop.index)
        sided = hide_turned(plain) if "turned" in place.ages else plain
        if hop.derivation.op != "compute":
            sided = _ATTRIBUTE.sub(" ", sided)
        is_last = hop.index == len(self.draft.hops)
        allowed = place.said_sides | (self.whole.said_sides if is_last else frozenset())
        asked = hop.derivation.property if isinstance(hop.derivation, Lookup) else ""
        if (entry := self.vocabulary.table.entity.get(asked)) is not None:  # a successor comes after
            allowed |= find_sides(" ".join((entry.label, entry.role, *entry.np)))
        form = read_computation(hop.derivation)
        if isinstance(form, EndMember) and not place.sides:  # what several share is a matter of order itself
            allowed |= {"first", "last"}
        for wrong in find_wrong_side(place.sides, allowed, place.moment, sided):
            yield WordingProblem("direction", f"{called} must {wrong}")
        own = find_sides(" ".join(self.vocabulary.label(one) for one in properties_in(hop.derivation)))
        if "first" in own and "last" in find_sides(sided) - allowed:
            yield WordingProblem("direction", f"{called} must say 'first' where it says 'last'")
        if isinstance(form, EndMember):
            end = "last" if form.last else "first"
            if end not in find_sides(self._hide_ends(form.column, plain)):
                yield WordingProblem("direction", f"{called} must say '{end}'")
        if isinstance(form, NextOfList):
            far = "last" if form.later else "first"
            if far in find_sides(sided) - allowed:  # the first before is another one than the last before
                yield WordingProblem("direction", f"{called} must not say '{far}', which is the other end of the list")
        if wrong := find_wrong_age(place.ages, plain):
            yield WordingProblem("precision", f"{called} must {wrong}")
        if self._asks_turned_ratio(hop):
            yield WordingProblem("direction", f"{called} asks for the ratio the wrong way round")

    def _hide_ends(self, column: str, text: str) -> str:
        """The text without what a relation says of an order itself: `first appointed`."""
        entry = self.vocabulary.table.entity[column]
        own = {found for phrase in (*entry.np, *entry.reverse_np) for found in _ENDED.findall(phrase)}
        for found in own:
            text = text.replace(found, "")
        return text

    def _find_wrong_list(self, index: int, place: TextConstraints, nearby: set[int]) -> Iterator[WordingProblem]:
        """A list by years that is not named, or another one; what all lists of a plan share is said of one alone."""
        lists = {words.label: words for _, words in self.whole.timelines}
        everything, near = self.layout.join(self.layout.texts), self.layout.join(nearby)
        for words in [words for one, words in place.timelines if one == index]:
            told = everything if len(lists) == 1 else near
            others = {pattern for label, one in lists.items() if label != words.label for pattern in one.said}
            shared = [pattern for pattern in words.said if pattern in others and pattern.search(everything)]
            own = replace(words, said=tuple(pattern for pattern in words.said if pattern not in shared))
            alone = self._mask(self.layout.texts[index].all)
            if wrong := find_wrong_timeline(own, self.whole.rules, told, self._mask(told), alone):
                yield WordingProblem("missing_hop", f"{self._call(index)} must {wrong}")

    def _is_said_beside(self, index: int, property: str) -> bool:
        """Whether another hop says the same relation aloud: `one man directed "A", another "B"`."""
        cues = self.vocabulary.cues(property)
        return any(
            other.index != index
            and property in properties_in(other.derivation)
            and stems(self._mask(self.layout.texts[other.index].all)) & cues
            for other in self.draft.hops
        )

    def _find_other_moment(self, together: Sequence[Hop], rules: str) -> Iterator[WordingProblem]:
        """A birth for a death, a founding for a release: a moment that the hop does not look at."""
        index = together[0].index
        mine = {property for hop in together for property in properties_in(hop.derivation)}
        if not mine & self.vocabulary.moments().keys():
            return
        plain = self._mask(" … ".join(self.layout.texts[index].words))
        said = stems(plain) - stems(rules)
        forms = [read_computation(hop.derivation) for hop in together]
        if any(isinstance(form, AgeAt) for form in forms) and _AT_BIRTH.search(plain):
            yield WordingProblem("structure", f"{self._call(index)} asks for an age at a birth")
        if any(_is_age(form) for form in forms):
            mine.add(self.vocabulary.table.roles.birth)
        for form in forms:  # `to come out after Y died` speaks of the moment as well
            if isinstance(form, Extreme | GroupSize) and form.moment:
                mine.update(properties_in(self.draft.hops[int(form.moment[3:]) - 1].derivation))
        known = frozenset().union(*(self.vocabulary.cues(one) for one in mine))
        for property, cues in self.vocabulary.moments().items():
            if property not in mine and (strange := sorted((said & cues) - known)):
                label = self.vocabulary.label(property)
                text = f"{self._call(index)} says {strange[0]!r}… ({label}), which is not what hop {index} looks at"
                yield WordingProblem("structure", text)
                return

    def _asks_turned_ratio(self, hop: Hop) -> bool:
        """Whether a ratio is asked for upside down."""
        form = read_computation(hop.derivation)
        labelled = " … ".join(self.layout.texts[hop.index].labelled)
        match = _RATIO.search(labelled)
        if not isinstance(form, Rate) or form.property != form.per_property or match is None:
            return False
        labels = {name.id: name.label for name in self.whole.known}
        above, below = (
            f"◦{one[3:]}◦" if one.startswith("hop") else labels.get(one, one) for one in (form.entity, form.per_entity)
        )
        rest = labelled[match.end() :]
        places = {one: rest.find(one) for one in (above, below) if one in rest}
        return bool(places) and min(places, key=lambda one: places[one]) == above

    def _find_wrong_relation(
        self, together: Sequence[Hop], place: TextConstraints, rules: str
    ) -> Iterator[WordingProblem]:
        index = together[0].index
        called, nearby = self._call(index), self.layout.list_near(index)
        yield from self._find_wrong_list(index, place, nearby)
        near = self._mask(self.layout.join(nearby))
        said = stems(near) | {stem(word) for word in near.split()}
        for one, property in place.relations:
            if one == index and not said & self.vocabulary.cues(property) and not self._is_said_beside(index, property):
                label = self.vocabulary.label(property)
                text = f"{called} does not make clear that {label!r} is meant, as in: {place.rules}"
                yield WordingProblem("missing_hop", text, hint=True)
        yield from self._find_rival(together, place, rules)
        strict = stems(self._mask(" … ".join(self.layout.texts[index].words))) - _COMMON - _GENERIC - stems(rules)
        for hop in together:
            strict -= stems(hop.question)
            if isinstance(read_computation(hop.derivation), Combinations):
                strict -= _OF_CHOICES
        for hop in (*together, *(self._hops[one] for one in nearby)):
            for property in properties_in(hop.derivation):
                strict -= self.vocabulary.cues(property) | self.vocabulary.name_member(property)
        for other in self.draft.hops:
            if self.layout.merged.get(other.index, other.index) in nearby:
                continue
            for property in properties_in(other.derivation):
                if strange := sorted(strict & self.vocabulary.cues(property)):
                    text = f"{called} says {strange[0]!r}…, which belongs to hop {other.index}"
                    yield WordingProblem("structure", text)
                    return

    def _find_rival(self, together: Sequence[Hop], place: TextConstraints, rules: str) -> Iterator[WordingProblem]:
        """A relation that is often put for that of the hop: who composed for who directed."""
        hop, index, called = together[0], together[0].index, self._call(together[0].index)
        plain = self._mask(" … ".join(self.layout.texts[index].words))
        if self.rules is None:  # nothing says which ties its facts have
            plain = _TIE.sub("", " ".join(plain.split()))
        alone = self._mask(" … ".join(self.rules.texts[index].words)) if self.rules is not None else rules
        questions = self._mask(" ".join(one.question for one in together))
        relation = RelationWords.of(together, self.vocabulary, alone, questions)
        ties = frozenset().union(*(self.vocabulary.cues(one) for hop in self.draft.hops for one in list_ties(hop)))
        # `the writer born who …`: a verb of whoever builds on a hop may stand inside its span.
        beside = [one for one in self.draft.hops if index in one.depends_on or one.index in hop.depends_on]
        ties |= _LIFE & frozenset().union(*(list_cues(one, self.vocabulary) for one in beside))
        asked, scenes = plain, ""
        if index == len(self.draft.hops):
            # What stands before the question ties the names of the plan, and asks for nothing.
            *before, asked = re.split(r"[.;:] ", plain)
            scenes = ". ".join(before)
        # Beside its own relation, a span may tell what ties the names of the plan.
        more = ties if not relation.cues or relation.is_said(asked) else frozenset[str]()
        strange = relation.find_wrong(_OF_WHOM.sub(" ", asked), more)
        if not strange and scenes and ties:
            others = frozenset().union(*(list_cues(one, self.vocabulary) for one in self.draft.hops if one is not hop))
            strange = next(iter(find_rivals(_OF_WHOM.sub(" ", scenes), frozenset(), ties | others)), "")
        if not strange and hop.depends_on:
            needed = [list_cues(self._hops[one], self.vocabulary) for one in hop.depends_on]
            known = widen(relation.cues | ties).union(*needed)
            strange = next(iter(find_rivals(" ".join(_OF_WHOM.findall(plain)), frozenset(), known)), "")
        if strange:
            yield WordingProblem(
                "structure", f"{called} says {strange!r}, which is another relation than that of hop {index}"
            )
        elif fault := relation.find_making(plain):
            yield WordingProblem("structure", f"{called} {fault}")
        ranks = find_ranks(plain) - find_ranks(f"{rules} {relation.rules}")
        if ranks and isinstance(hop.derivation, Lookup):
            yield WordingProblem("structure", f"{called} says {min(ranks)!r}, which hop {index} does not")

    def find_shared(self) -> Iterator[WordingProblem]:
        """What is said of two hops at once: the relation of each, and of no third."""
        for hop in self.draft.hops:
            text = self.layout.texts[hop.index]
            shared = self._mask(" … ".join(text.shared))
            if not shared or min(text.beside) < hop.index:
                continue  # once for both
            both = [hop, *(self._hops[one] for one in sorted(text.beside))]
            relation = RelationWords.of(both, self.vocabulary, "", self._mask(" ".join(one.question for one in both)))
            called = f"the span of hops {_listed(one.index for one in both)}"
            if strange := relation.find_wrong(_OF_WHOM.sub(" ", shared)):
                yield WordingProblem("structure", f"{called} says {strange!r}, which is the relation of neither")
                continue
            for one in both:
                own = list_cues(one, self.vocabulary)
                near = self._mask(self.layout.texts[one.index].all)
                if find_rivals(shared, frozenset(), frozenset()) and own and own.isdisjoint(stem_all(near)):
                    label = "; ".join(map(self.vocabulary.label, properties_in(one.derivation)))
                    yield WordingProblem("structure", f"{called} must say what hop {one.index} is: {label}")


def _is_age(form: object | None) -> bool:
    return isinstance(form, AgeAt | AgeInYear | YearDistance | ShiftedYear)


def _says(texts: Iterable[str], name: PlanEntity) -> bool:
    return any(holds(pad(words), name.label) for words in texts)


def _listed(indices: Iterable[int]) -> str:
    return " and ".join(map(str, sorted(indices)))
