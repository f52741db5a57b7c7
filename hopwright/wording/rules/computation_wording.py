"""The wording of computing hops: as questions, as noun phrases, and as what follows `as many … as`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hopwright.errors import ExpressionError
from hopwright.planning.computation_forms import (
    AgeInYear,
    AggregateValue,
    ClaimComputation,
    Combinations,
    CountAhead,
    CountLater,
    CountMembers,
    Extreme,
    Form,
    Product,
    Rate,
    ShiftedYear,
    YearDistance,
    read_form,
)
from hopwright.planning.plan import PlanStep
from hopwright.records import Compute, Lookup
from hopwright.records.values import EntityKind
from hopwright.text.phrases import (
    exceed,
    listed,
    multiple,
    numeral,
    places,
    plain_noun,
    pluralise,
    pluralise_verb,
    superlative,
)
from hopwright.wording.rules.claim_wording import ClaimVerbaliser

if TYPE_CHECKING:
    from hopwright.wording.rules.rules_writer import PlanVerbaliser

Say = Callable[[str], str]
_CLAUSE = re.compile(r" (?:where|who|whom|whose|that|which|as|whichever) ")
_SHORT = 80
_VAGUE = frozenset({"thing", "class", "natural feature", "transport link", "event", "work", "place", "person"})
_ONE_OF_TWO = (
    "Of {names}, one {predicate}.",
    "Between {names}, one {predicate}.",
    "One of {names} {predicate}.",
    "Only one of {names} {predicate}.",
)
_PAIRS = (
    "Consider {a} and {b}.", "Take {a} and {b}.", "Compare {a} with {b}.", "Set {a} beside {b}.",
    "Look at {a} and {b}.", "Weigh {a} against {b}.", "Think of {a} and {b}.", "Here are two: {a}, and {b}.",
)  # fmt: skip
_GROUPS = ("Consider {all}.", "Take {all}.", "Compare {all}.", "Look at {all}.")
_GROUP: dict[EntityKind, str] = {
    "person": "people", "work": "works", "place": "places", "organization": "organisations", "team": "teams",
    "nature": "places", "transport": "routes and stations", "event": "events", "competition": "competitions",
    "award": "awards", "fiction": "characters", "country": "countries",
}  # fmt: skip
_CHOSEN = {2: "pairs", 3: "groups of three"}


class ComputationVerbaliser:
    """Words the computations of one text."""

    def __init__(self, text: PlanVerbaliser) -> None:
        self._text = text
        self._pick = text.pick
        self._claimed = ClaimVerbaliser(text, self.group)

    def ask(self, step: PlanStep, expression: str, say: Say) -> str:
        """The question of a computing hop. Raises ExpressionError for an expression that it has no words for."""
        form = read_form(expression)
        whole = say == self._text.described
        match form:
            case Extreme():
                return self._ask_extreme(form, str(step.value), say)
            case YearDistance() if step.unit == "years":
                return self._ask_apart(form, say)
            case AgeInYear():
                return self._ask_age(form, say)
            case CountAhead() | CountLater() | CountMembers():
                return self._ask_count(form, say)
            case Combinations():
                return self._ask_ways(form, say)
            case AggregateValue():
                return self._ask_total(form, say)
            case Rate():
                return self._ask_rate(form, say)
            case Product():
                return self._ask_product(form, say)
            case ShiftedYear() if step.unit == "year":
                return self._ask_shift(expression, say)
            case ClaimComputation():
                return self._claimed.ask(step, form, say)
        if whole and (sentence := self._ask_of_two(expression)):
            return sentence
        return self._ask_sum(step, form, expression, say)

    def noun_phrase(self, step: PlanStep, expression: str) -> str:
        """What a computing hop gives, described."""
        form = read_form(expression)
        match form:
            case Extreme():
                return self._describe_extreme(form, str(step.value))
            case YearDistance():
                return f"the number of years between {self._moments(form, self._text.described)}"
            case AgeInYear():
                return self._fill_age(form, "age_np", self._text.described)
            case CountAhead() | CountLater() | CountMembers():
                heading, predicate = self._count_parts(form, self._text.described)
                return f"the number of {heading} that {predicate}"
            case Combinations():
                return f"the number of {self._committees(form)}"
            case Product():
                return self._describe_product(form)
            case ClaimComputation(how="group"):
                return f"the number of {self._claimed.name_groups(form)}"
            case ShiftedYear():
                return f"the year that came {self._text.when(expression, self._text.described)}"
        raise ExpressionError(f"no words for {expression}")

    def clause(self, reference: str, *, years: bool) -> str:
        """A counted number as what follows `as many … as`; empty for what is not counted."""
        derivation = self._text.step(reference).derivation
        form = read_form(derivation.expression) if isinstance(derivation, Compute) else None
        match form:
            case Combinations():
                return f"there are {self._committees(form)}"
            case ClaimComputation(how="group"):
                return f"there are {self._claimed.name_groups(form)}"
            case YearDistance():
                return f"{'lie' if years else 'there are years'} between {self._moments(form, self._text.described)}"
            case CountAhead() | CountLater() | CountMembers():
                heading, predicate = self._count_parts(form, self._text.described)
                return f"there are {heading} that {predicate}"
        return ""

    # ------------------------------------------------------------ comparison

    def _ask_extreme(self, form: Extreme, winner: str, say: Say) -> str:
        predicate, names = self._extreme_predicate(form), self._ordered(form.entities, say)
        which = self._which(form.entities, winner, say)
        if len(names) == 2:
            either = f"{names[0]} or {names[1]}"
            options = [
                f"{which} {predicate}: {either}?",
                f"Of {listed(names)}, {_lower(which)} {predicate}?",
                f"Between {listed(names)}, {_lower(which)} {predicate}?",
                f"Comparing {names[0]} with {names[1]}, {_lower(which)} {predicate}?",
            ]
        else:
            options = [
                f"{which} {predicate}: {listed(names, 'or')}?",
                f"Of {listed(names)}, {_lower(which)} {predicate}?",
                f"Among {listed(names)}, {_lower(which)} {predicate}?",
            ]
        return self._pick(options)

    def _describe_extreme(self, form: Extreme, winner: str) -> str:
        predicate = self._extreme_predicate(form)
        names = self._ordered(form.entities, self._text.described)
        person = self._text.names.kind(winner) == "person"
        noun = self._common_noun(form.entities)
        one = noun if noun and not person else "one"
        relative = f"the {one} {'who' if person else 'that'} {predicate}"
        simple = len(names) == 2 and not any(_CLAUSE.search(name) for name in names)
        if simple and self._text.chance(0.67):
            return f"whichever of {listed(names)} {predicate}"
        if len(names) == 2 and self._text.chance(0.5):
            # The comparison itself is stated first, and what is asked goes on from it.
            self._text.preludes.append(self._pick(_ONE_OF_TWO).format(names=listed(names), predicate=predicate))
            return self._pick(("that " + (noun if noun and not person else "one"), f"the {one} in question"))
        opening = self._pick(_PAIRS if len(names) == 2 else _GROUPS)
        self._text.preludes.append(opening.format(a=names[0], b=names[-1], all=listed(names)))
        return relative

    def _extreme_predicate(self, form: Extreme) -> str:
        entry = self._text.table.literal[form.property].worded(self._kind(form.entities[0]))
        predicate = self._pick(entry.more if form.largest else entry.less)
        return predicate if len(form.entities) == 2 else superlative(predicate)

    def _which(self, entities: Sequence[str], winner: str, say: Say) -> str:
        if self._text.names.kind(winner) == "person":
            return "Who"
        noun = self._common_noun(entities)
        return f"Which {noun}" if noun else "Which of them" if say == self._text.described else "Which"

    def _common_noun(self, entities: Sequence[str]) -> str:
        nouns = {plain_noun(self._text.names.noun(self._text.entity(one))) for one in entities}
        return nouns.pop() if len(nouns) == 1 and not nouns & _VAGUE else ""

    # ------------------------------------------------------------ time

    def _ask_apart(self, form: YearDistance, say: Say) -> str:
        if len(form.moments) > 2:
            events = [self._moment(one, say) for one in form.moments]
            return self._pick(
                (
                    f"How many years lie between the earliest and the latest of these: {listed(events)}?",
                    f"Of {listed(events)}, how many years separate the earliest from the latest?",
                )
            )
        both = self._moments(form, say)
        one, other = (self._moment(moment, say) for moment in form.moments)
        wordings = [
            f"How many years lie between {both}?",
            f"How many years separate {one} from {other}?",
            f"Between {both}, how many years passed?",
            f"What span of years lies between {both}?",
        ]
        if len(both) < _SHORT:
            wordings.append(f"By how many years are {both} apart?")
        if len(both) > _SHORT:
            wordings.append(f"Count the years between {both}: how many are there?")
        return self._pick(wordings)

    def _moments(self, form: YearDistance, say: Say) -> str:
        if len(form.moments) > 2:
            return f"the earliest and the latest of these: {listed([self._moment(one, say) for one in form.moments])}"
        return " and ".join(sorted((self._moment(one, say) for one in form.moments), key=_has_clause))

    def _moment(self, moment: str | tuple[str, str], say: Say) -> str:
        if isinstance(moment, str):
            return self._text.event(moment) if say == self._text.described else say(moment)
        property, entity = moment
        events = self._text.table.literal[property].worded(self._kind(entity)).event
        return self._text.fill(events, "s", say(entity))

    def _ask_age(self, form: AgeInYear, say: Say) -> str:
        return self._fill_age(form, "age", say)

    def _fill_age(self, form: AgeInYear, field: str, say: Say) -> str:
        templates: tuple[str, ...] = getattr(self._text.table.literal[form.property], field)
        if not templates:
            raise ExpressionError(f"no {field} for {form.property}")
        year = say(form.year)
        return self._pick(templates).replace("{s}", say(form.entity)).replace("{y}", year)

    def _ask_shift(self, expression: str, say: Say) -> str:
        when = self._text.when(expression, say)
        return self._pick((f"Which year came {when}?", f"What year was it {when}?"))

    # ------------------------------------------------------------ counting

    def _ask_count(self, form: CountAhead | CountLater | CountMembers, say: Say) -> str:
        noun, names, predicate = self._list_parts(form, say)
        these = listed(names)
        group = f"the {noun} {these}"
        return self._pick(
            (
                f"How many of {group} {predicate}?",
                f"Of {group}, how many {predicate}?",
                f"Among {group}, how many {predicate}?",
            )
        )

    def _count_parts(self, form: CountAhead | CountLater | CountMembers, say: Say) -> tuple[str, str]:
        """`films among A, B and C`, and the predicate that is counted."""
        noun, names, predicate = self._list_parts(form, say)
        return f"{noun} among {listed(names)}", predicate

    def _list_parts(self, form: CountAhead | CountLater | CountMembers, say: Say) -> tuple[str, list[str], str]:
        members = form.subjects if isinstance(form, CountMembers) else form.others
        noun = self._group_noun(members)
        names = [self._bare(one) for one in members]
        kind = self._kind(members[0])
        match form:
            case CountMembers(property=property, reference=reference):
                object = self._text.entity(reference)
                predicates = self._text.table.entity[property].worded(kind, self._text.names.kind(object)).predicate
                predicate = pluralise_verb(self._text.fill(predicates, "o", say(reference)))
            case CountAhead(property=property, more=more, reference=reference):
                entry = self._text.table.literal[property].worded(kind)
                predicate = f"{exceed(self._pick(entry.more if more else entry.less))} than {say(reference)}"
            case CountLater(property=property, later=later, reference=reference):
                entry = self._text.table.literal[property].worded(kind)
                word = "later" if later else "earlier"
                phrases = [one for one in (entry.more if later else entry.less) if one.endswith(f" {word}")]
                if not phrases:
                    raise ExpressionError(f"no words for {property} in time")
                moment = self._text.event(reference) if say == self._text.described else say(reference)
                verb = pluralise_verb(self._pick(phrases).removesuffix(f" {word}"))
                predicate = f"{verb} {'after' if later else 'before'} {moment}"
        return noun, names, predicate

    def _group_noun(self, members: Sequence[str]) -> str:
        """A common noun for all of a list, in the plural."""
        nouns = {plain_noun(self._text.names.noun(one)) for one in members}
        heads = {noun.split()[-1] for noun in nouns}
        if len(nouns) == 1 and not nouns & _VAGUE:
            return pluralise(nouns.pop())
        if len(heads) == 1 and not heads & _VAGUE:
            return pluralise(heads.pop())
        return _GROUP.get(self._kind(members[0]), "names")

    def _bare(self, entity: str) -> str:
        """A name in a list under a common noun: without a noun of its own."""
        phrase = self._text.stated(entity)
        noun = plain_noun(self._text.names.noun(entity))
        return phrase.removeprefix(f"the {noun} of ").removeprefix(f"the {noun} ")

    # ------------------------------------------------------------ arithmetic

    def _ask_total(self, form: AggregateValue, say: Say) -> str:
        entry = self._text.table.literal[form.property]
        templates = {"sum": entry.combined, "difference": entry.differ, "mean": entry.mean}[form.how]
        if not templates:
            raise ExpressionError(f"no words for a {form.how} of {form.property}")
        names = self._ordered(form.entities, say)
        filled = self._pick(templates).replace("{list}", listed(names)).replace("{places}", places(form.digits))
        return filled.replace("{a}", names[0]).replace("{b}", names[-1])

    def _ask_rate(self, form: Rate, say: Say) -> str:
        entry = self._text.table.literal[form.property]
        if form.property == form.per_property:
            pair = self._pick(entry.ratio)
            return pair.replace("{a}", say(form.entity)).replace("{b}", say(form.per_entity))
        return self._text.fill(entry.rate, "s", say(form.entity))

    def _ask_product(self, form: Product, say: Say) -> str:
        one, other = (numeral(int(form.factor)) if form.factor.isdigit() else say(form.factor)), say(form.reference)
        if form.factor.isdigit():
            if say != self._text.described:
                return self._pick(
                    (f"What is {form.factor} times {other}?", f"What is {other} multiplied by {form.factor}?")
                )
            return self._pick(
                (
                    f"What is {multiple(int(form.factor))} {other}?",
                    f"What do you get when you multiply {other} by {one}?",
                    f"If you multiply {other} by {one}, what is the result?",
                )
            )
        return self._pick(
            (
                f"What is the product of {one} and {other}?",
                f"If you multiply {one} by {other}, what is the result?",
                f"What do you get when you multiply {one} by {other}?",
            )
        )

    def _describe_product(self, form: Product) -> str:
        other = self._text.described(form.reference)
        if form.factor.isdigit():
            return f"{multiple(int(form.factor))} {other}"
        return f"the product of {self._text.described(form.factor)} and {other}"

    def _ask_of_two(self, expression: str) -> str:
        """The sum or difference of the same number of two subjects, in the property's own words; empty without them."""
        match = re.match(r"^(?:(hop\d) \+ (hop\d)|abs\((hop\d) - (hop\d)\))$", expression)
        if match is None:
            return ""
        one, other = (self._text.step(reference).derivation for reference in match.groups() if reference)
        if not (isinstance(one, Lookup) and isinstance(other, Lookup) and one.property == other.property):
            return ""
        how = "sum" if match[1] else "difference"
        return self._ask_total(AggregateValue(one.property, (one.subject, other.subject), how), self._text.described)

    def _ask_sum(self, step: PlanStep, form: Form | None, expression: str, say: Say) -> str:
        unit = f", in {step.unit}" if step.unit else ""
        match form:
            case ShiftedYear(base=base, later=True, times=1, offset=offset):
                return f"What is the sum of {say(base)} and {say(offset)}{unit}?"
            case YearDistance(moments=(str() as one, str() as other)):
                return f"What is the difference between {say(one)} and {say(other)}{unit}?"
        raise ExpressionError(f"no words for {expression}")

    # ------------------------------------------------------------ combinatorics

    def _ask_ways(self, form: Combinations, say: Say) -> str:
        if not form.pool.startswith("hop") and not form.size.startswith("hop"):
            count = self._committees(form).replace("committees that can", "committees can", 1)
            return f"How many {count}?"
        if form.size.startswith("hop"):
            return self._ask_choice(form, say)
        chosen = _CHOSEN[int(form.size)]
        if say != self._text.described:
            return self._pick(
                (
                    f"How many different {chosen} can be formed from {say(form.pool)} people?",
                    f"In a group of {say(form.pool)} people, how many different {chosen} can be formed?",
                )
            )
        group = self.group(form.pool)
        return self._pick(
            (
                f"How many different {chosen} can be formed from a group of {group}?",
                f"If a group consists of {group}, how many different {chosen} can be formed from it?",
                f"Imagine a group of {group}. How many different {chosen} can be formed from it?",
                f"Suppose that a club has {group.replace('people', 'members', 1)}. "
                f"How many different {chosen} can be formed from them?",
            )
        )

    def _ask_choice(self, form: Combinations, say: Say) -> str:
        pool = f"{numeral(int(form.pool))} candidates"
        if say != self._text.described:
            size = say(form.size)
            members = "one member" if size == "1" else f"{size} members"
            return f"In how many ways can a committee of {members} be chosen from {pool}?"
        members = self.group(form.size).replace("people", "members", 1)
        if self._text.chance(0.5):
            self._text.preludes.append(f"A committee is to have {members}.")
            return self._pick(
                (
                    f"In how many ways can it be chosen from {pool}?",
                    f"How many ways are there to choose it from {pool}?",
                )
            )
        return self._pick(
            (
                f"From {pool}, how many different committees can be chosen that have {members}?",
                f"How many different committees can be chosen from {pool} if they are to have {members}?",
                f"With {pool} to choose from, how many different committees can be formed that have {members}?",
            )
        )

    def group(self, reference: str) -> str:
        """So many people: `as many people as there are …`."""
        if clause := self.clause(reference, years=False):
            return f"as many people as {clause}"
        return f"a number of people equal to {self._text.described(reference)}"

    def _committees(self, form: Combinations) -> str:
        size, pool = int(form.size), int(form.pool)
        return f"different {numeral(size)}-member committees that can be formed from {numeral(pool)} candidates"

    # ------------------------------------------------------------ small parts

    def _ordered(self, references: Sequence[str], say: Say) -> list[str]:
        """Names, those with a clause of their own last, so that what follows does not attach to it."""
        return sorted((say(reference) for reference in references), key=_has_clause)

    def _kind(self, reference: str) -> EntityKind:
        return self._text.names.kind(self._text.entity(reference))


def _has_clause(phrase: str) -> bool:
    return _CLAUSE.search(phrase) is not None


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
