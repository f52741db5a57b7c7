"""The wording of computing hops: as questions of their own, and as parts of the whole question."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hopwright.errors import ExpressionError
from hopwright.planning.computation_forms import (
    AgeAt,
    AgeInYear,
    ClaimComputation,
    Combinations,
    Difference,
    EndMember,
    EndOfMaker,
    Extreme,
    GroupSize,
    Members,
    NextOfList,
    Rate,
    ShiftedYear,
    YearDistance,
    read_computation,
    read_form,
)
from hopwright.planning.plan import PlanStep
from hopwright.records import Lookup, ReverseLookup
from hopwright.records.values import BROUGHT_OUT, EntityKind
from hopwright.text.phrases import listed, plain_noun, pluralise, pluralise_verb, superlative
from hopwright.wording.marks import lower_first, mark, strip_marks, upper_first
from hopwright.wording.rules.claim_wording import ClaimVerbaliser
from hopwright.wording.rules.frames import (
    AFTER_DEATH_FRAMES,
    AFTER_DEATH_PHRASES,
    AFTER_FIRST_OF_LIST_FRAMES,
    AGE_FRAMES,
    AGE_IN_YEAR_FRAMES,
    COUNT_FRAMES,
    COUNT_PART_FRAMES,
    DIED_AFTER_FRAMES,
    DISTANCE_FRAMES,
    FIRST_AFTER_FRAMES,
    FIRST_BY_AFTER_FRAMES,
    FIRST_BY_FRAMES,
    FIRST_OF_LIST_FRAMES,
    FIRST_TO_FRAMES,
    JOINT_FRAMES,
    LATER_FRAMES,
    LIFE_FRAMES,
    LIFE_OF_FRAMES,
    LIST_FRAMES,
    NEXT_FRAMES,
    NEXT_PHRASES,
    PAIR_FRAMES,
    PAIRS_FRAMES,
    SET_FRAMES,
    THEN_FIRST_TO_FRAMES,
    THEN_FRAMES,
    TURNED_FRAMES,
    WHEN_AGE_FRAME,
    WHICH_FRAMES,
    WORKED_FRAMES,
)

if TYPE_CHECKING:
    from hopwright.wording.rules.rules_writer import PlanVerbaliser

Say = Callable[[str], str]
_CLAUSE = re.compile(r" (?:where|who|whom|whose|that|which|as|whichever|when) ")
_MEMBER = re.compile(r"^(?:is|was|is or was|has been) a member of (.*)$")
_SOONER = ("earlier", "later")
_SEVERAL = re.compile(r"the (?:(?!of\b)[\w'’.]+ ){0,5}?[A-Za-z]+s (?:of|who|that|for|in)\b")
"""`the directors of A and B`, not `the director of A and the composer of B`."""
_PERFECT = re.compile(r"^has (?:been|won|held|led|\w+ed) (?!by\b)")
_PLACE = re.compile(r"(?P<the>the (?:first|last))(?P<to> to .+)$")
"""`the first to die`: of several, `the first of them to die`."""
_WITH = "with {o}"
_MADE_WITH = "made with {o}"
_WORKED_WITH = frozenset({"{s} made with {o}", "{s} worked on with {o}"})
_BY_OWNER = " by {s}"
_WHOSE = re.compile(r"(?: (?:trained|ridden|owned))? by \{s\}$")
_NOMINAL = 0.5
"""How often a moment is `the death of X` rather than `X died`."""
_TOGETHER = 0.4
"""How often two people `made films together`, rather than one `made films with` the other."""
_IN_ONE = 0.6
"""How often what two made is described within the question, rather than in a sentence before it; what two of one named
work made always is, which is short."""
_WORKED = 0.25
"""How often the last that two made is asked for as that on which they last worked together."""
_BY_NOUN = 0.7
_BY_DEED = 0.4
"""How often a sentence says what a partner did: `Sven Nykvist photographed more than one film by X`."""
_FRONTED = 0.4
"""How often the moment that parts a list stands before the question."""
_ASKED_FIRST = 0.5
"""How often which of a list is meant is a question of its own, before what is asked about it."""
_VAGUE = frozenset({"thing", "class", "natural feature", "transport link", "event", "work", "place", "person"})
_GROUP: dict[EntityKind, str] = {
    "person": "people", "work": "works", "place": "places", "organization": "organisations", "team": "teams",
    "nature": "places", "transport": "routes and stations", "event": "events", "competition": "competitions",
    "award": "awards", "animal": "horses", "fiction": "characters", "country": "countries",
}  # fmt: skip


class ComputationVerbaliser:
    """Words the computations of one text."""

    def __init__(self, text: PlanVerbaliser) -> None:
        self._text = text
        self._pick = text.pick
        self._claimed = ClaimVerbaliser(text, self.group)

    def ask(self, step: PlanStep, expression: str, say: Say) -> str:
        """The question of a computing hop. Raises ExpressionError for an expression that it has no words for."""
        form = read_form(expression)
        match form:
            case Extreme():
                return self._ask_extreme(form, str(step.value), say)
            case YearDistance() if step.unit == "years":
                return self._ask_distance(form, say)
            case AgeAt():
                return self._ask_age(form, say)
            case AgeInYear():
                return self._ask_age_in_year(form, say)
            case GroupSize() if form.members.partner:
                return self._ask_how_many(form.members, say)
            case GroupSize() if form.moment and say == self._text.described and (many := self._tell_many(form)):
                return many
            case GroupSize() if form.moment:
                self._name_again(form.moment, form.members.shared, say)
                return self._pick(COUNT_PART_FRAMES).format(
                    members=self._members(form.members, say), happened=self._say_happened(form.property, form.members),
                    when=self._say_when(form.moment, form.later, say),
                )  # fmt: skip
            case GroupSize() if not form.members.entities:
                asked = self._text.table.entity[form.members.property].count_ask
                if not asked:
                    raise ExpressionError(f"no words for how many {form.members.property}")
                return self._text.fill(asked, "s", say(form.members.shared))
            case GroupSize():
                many = pluralise_verb(self._member_predicate(form.members, form.members.entities[0], say))
                return self._pick(COUNT_FRAMES).format(names=self._names(form.members.entities), many=many)
            case Combinations():
                return self._ask_pairs(form, say)
            case Difference():
                return self._ask_difference(form, say)
            case Rate():
                return self._ask_rate(form, say)
            case ClaimComputation():
                return self._claimed.ask(step, form, say)
            case NextOfList() if say == self._text.described:
                return self._describe_next(form, NEXT_FRAMES)
            case NextOfList():
                return self._ask_next(form)
            case EndOfMaker():
                return f"What was the {form.choose_of('').turn()} {self._name_of_maker(form)}?"
            case EndMember():
                who = "Who" if self._kind(str(step.value)) == "person" else "What"
                return f"{who} was {self._name_end(form, say)}?"
            case ShiftedYear(base=base, later=True, offset=offset) if person := self._find_born(base):
                turned = f"{self._text.stated(person)}, born in {say(base)},"
                return self._pick(TURNED_FRAMES).format(p=turned, age=offset)
            case ShiftedYear(base=base, later=True, times=1, offset=offset):
                unit = f", in {step.unit}" if step.unit else ""
                return f"What is the sum of {say(base)} and {say(offset)}{unit}?"
        raise ExpressionError(f"no words for {expression}")

    def noun_phrase(self, step: PlanStep, expression: str) -> str:
        """What a computing hop gives, described."""
        form = read_form(expression)
        match form:
            case Extreme():
                return self._describe_extreme(form, str(step.value))
            case YearDistance():
                return f"the number of years between {self._moments(form, self._text.described)}"
            case GroupSize() if not form.members.entities:
                return f"the number of {self._members(form.members, self._text.described)}"
            case GroupSize():
                many = pluralise_verb(
                    self._member_predicate(form.members, form.members.entities[0], self._text.described)
                )
                return f"the number of those of {self._names(form.members.entities)} that {many}"
            case NextOfList():
                return self._describe_next(form, NEXT_PHRASES)
            case EndMember():
                return self._name_end(form, self._text.described)
            case ShiftedYear(base=base, later=True, offset=offset) if person := self._find_born(base):
                return f"the year in which {self._text.described(person)} turned {offset}"
            case ClaimComputation(how="group"):
                return f"the number of {self._claimed.name_groups(form)}"
        raise ExpressionError(f"no words for {expression}")

    def _ask_next(self, form: NextOfList) -> str:
        """`What was X's next feature film after "Bullitt"?`"""
        noun, work = self._name_member(form), self._text.stated(form.reference)
        if not form.reference.startswith("hop"):
            return f"What was {self._name_beside_named(form)}?"
        owner = self._list_joint(form).shared
        turn = f"next {noun} after" if form.later else f"last {noun} before"
        return f"What was {self._text.stated(owner)}'s {turn} {work}?"

    def _name_of_maker(self, form: EndOfMaker) -> str:
        """`feature film by the director of "Bullitt"`."""
        maker = f"the {self._text.table.entity[form.maker].role} of {self._text.stated(form.reference)}"
        return self._text.table.entity[form.property].member.replace("{s}", maker)

    def _name_beside_named(self, form: NextOfList) -> str:
        """`the last feature film that the director of "Bullitt" made before it`: plans of older runs ask for it."""
        maker = f"the {self._text.table.entity[form.maker].role} of {self._text.stated(form.reference)}"
        end, side = ("first", "after") if form.later else ("last", "before")
        return f"the {end} {self._name_member(form)} that {maker} made {side} it"

    def _describe_next(self, form: NextOfList, frames: Sequence[str]) -> str:
        """`the feature film that X made right after his last one with the editor of Y`."""
        if not form.reference.startswith("hop"):
            return self._name_beside_named(form)
        members, entry = self._list_joint(form), self._text.table.entity[form.property]
        end, side = ("last", "right after") if form.later else ("first", "just before")
        noun = self._name_member(form)
        partner = (
            self._refer([members.partner], f"that {noun.split()[-1]}'s {self._text.call_short(members.partner)}")
            if self._roles_in_one((members.shared, members.partner))
            else self._say_partner(members, self._text.described)
        )
        ended = f"{end} {entry.collaboration} {self._text.table.entity[members.credit].preposition}"
        beside = self._refer([form.reference], f"{self._say_own(members)} {ended} {partner}")
        make, made = entry.brings
        return self._pick(frames).format(
            noun=noun, owner=self._text.described(members.shared), make=make, made=made, side=side, beside=beside
        )

    def _list_joint(self, form: NextOfList) -> Members:
        """The works of two, beside one end of which lies what comes next. Raises ExpressionError for anything else."""
        joint = read_computation(self._text.step(form.reference).derivation)
        if not isinstance(joint, Extreme) or joint.members is None:
            raise ExpressionError(f"no words for what is next in {form.property}")
        return joint.members

    def _name_member(self, form: NextOfList | EndOfMaker) -> str:
        """`feature film`: what is on a list."""
        return _drop_owner(self._text.table.entity[form.property].member)

    def _name_end(self, form: EndMember, say: Say) -> str:
        """`the last Gemini mission on which X was the pilot`."""
        text = self._text
        shared = say(form.reference)
        if say == text.described:  # `the last Tour won by the winner of the one in which X finished second`
            noun = re.escape(text.table.literal[form.series].series)
            shared = re.sub(rf"\bthe ((?:only )?){noun}\b", r"the \1one", shared)
        said = text.fill(text.table.entity[form.column].reverse_np, "o", shared)
        return re.sub(r"the (?:only )?", f"the {'last' if form.last else 'first'} ", said, count=1)

    def group(self, reference: str) -> str:
        """So many people: `a number of people equal to …`."""
        return f"a number of people equal to {self._text.described(reference)}"

    # ------------------------------------------------------------ comparison

    def _ask_extreme(self, form: Extreme, winner: str, say: Say) -> str:
        if form.members is not None:
            return self._ask_of_set(form, form.members, winner, say)
        predicate = self._predicate(form)
        if form.entities[0].startswith("Q"):
            all, who = self._names(form.entities), "who" if self._kind(winner) == "person" else "which"
            return self._pick((f"Of {all}, {who} {predicate}?", f"Which of {all} {predicate}?"))
        which = self._which(form.entities, winner)
        names = [say(reference) for reference in form.entities]
        either = listed(names, "or")
        return self._pick(
            (
                f"{which} {predicate}: {either}?",
                f"Of {listed(names)}, {lower_first(which)} {predicate}?",
                f"Between {listed(names)}, {lower_first(which)} {predicate}?" if len(names) == 2
                else f"Among {listed(names)}, {lower_first(which)} {predicate}?",
            )
        )  # fmt: skip

    def _say_when(self, moment: str, later: bool, say: Say) -> str:
        """`after the death of X` or `after X died`; `after 5 March 1876` in a sub-question."""
        side = "after" if later else "before"
        if say != self._text.described:  # a year alone would leave out what came out in it, but earlier
            return f"{side} {self._text.dated_event(moment, say) if self._is_year(moment) else say(moment)}"
        happened = self._happened(moment, say).removeprefix("when ")
        # `The author of the play on which X is based died` is read twice.
        if self._text.draw() < _NOMINAL or _CLAUSE.search(strip_marks(happened)):
            return f"{side} {self._text.event(moment)}"
        return f"{side} {happened}"

    def _is_year(self, moment: str) -> bool:
        return isinstance(self._text.step(moment).value, int)

    def _say_happened(self, property: str, members: Members) -> str:
        """What happened to several on the dates of a list: `were first performed`."""
        (kind,) = self._text.table.entity[members.property].object
        predicate = self._text.table.literal[property].worded(kind).year_predicate[0]
        return pluralise_verb(predicate.removesuffix(" in {y}"))

    def _ask_after(self, form: Extreme, turn: str, members: Members, winner: str) -> str:
        """What comes next to a moment in a whole list, the moment first."""
        when = self._say_when(form.moment, form.later, self._text.described)
        member = self._text.fill(
            (self._text.table.entity[members.property].member,), "s", self._text.described(members.shared)
        )
        return self._pick(AFTER_FIRST_OF_LIST_FRAMES).format(
            When=upper_first(when), what="who" if self._kind(winner) == "person" else "what", turn=turn, member=member,
            to=self._text.table.literal[form.property].to,
        )  # fmt: skip

    def _is_of_list(self, form: Extreme) -> bool:
        """Whether something is chosen from a whole list by the dates that order it."""
        members = form.members
        return members is not None and self._text.table.is_ordered_by(members.property, form.property)

    def _one_of_list(self, form: Extreme, members: Members, say: Say) -> tuple[str, str, str]:
        """`first`, `opera by X` and `to be premiered after Y died`: one of a whole list."""
        if members.partner:
            return form.turn(), self._joint_work(members, say), ""
        member = self._text.fill((self._text.table.entity[members.property].member,), "s", say(members.shared))
        if not form.moment:
            return form.turn(), member, ""
        to = self._text.table.literal[form.property].to
        when = self._say_when(form.moment, form.later, say)
        return "first" if form.later else "last", member, f"to {to} {when}" if to else when

    def _tell_chosen(self, form: Extreme, members: Members, frames: Sequence[str]) -> str:
        """`the first film that X released after the death of Y`; empty where it is no death that parts the list."""
        member, entry = self._text.table.entity[members.property].member, self._text.table.literal[form.property]
        if not form.moment or not member.endswith(_BY_OWNER) or not entry.to:
            return ""
        turn, side = ("first", "after") if form.later else ("last", "before")
        noun = _drop_owner(member)
        owner = self._text.name_owner(members.shared)
        when = self._text.name_death(form.moment, members.shared, side)
        did = f"that {owner} {entry.brought}" if entry.brought else f"by {owner} to {entry.to}"
        if not when:
            return ""
        return self._pick(frames).format(
            turn=turn, noun=noun, nouns=pluralise(noun), did=did, when=when, owner=owner, to=entry.to
        )

    def _joint_work(self, members: Members, say: Say) -> str:
        """`film that X made with Y`; `film that the director and the editor of X worked on together`."""
        return self._fill_joint(self._say_shared(members), members, say)

    def _tell_many(self, form: GroupSize) -> str:
        """`How many operas by X were first performed after the death of Y?`; empty where it is no death."""
        (group,) = self._text.table.entity[form.members.property].group[:1] or ("",)
        if not group.endswith(_BY_OWNER):
            return ""
        owner = self._text.name_owner(form.members.shared)
        when = self._text.name_death(form.moment, form.members.shared, "after" if form.later else "before")
        happened = self._say_happened(form.property, form.members)
        many = f"{group.removesuffix(_BY_OWNER)} by {owner}"
        return f"How many {many} {happened} {when}?" if when else ""

    def _ask_how_many(self, members: Members, say: Say) -> str:
        """`How many films did X make with Y?`, or `did the director and the editor of X make together?`"""
        return self._fill_joint(self._text.table.entity[members.property].together_count, members, say)

    def _fill_joint(self, template: str, members: Members, say: Say) -> str:
        """A phrase for what two did together; what two of one named work did, they did `together`."""
        hidden = say == self._text.described
        beside = self._find_beside(members) if hidden else None
        alike = hidden and beside is None and self._did_with(template, members)
        if alike and (both := self._roles_in_one((members.shared, members.partner))):
            return _say_together(template, both)
        shared, entry = say(members.shared), self._text.table.entity[members.credit]
        partner = self._name_beside(members, beside) if beside else self._say_partner(members, say)
        if _WITH not in template:  # `flight of {s} that {o} commanded`
            partner = say(members.partner)
        said = {"{s}": shared, "{o}": partner}
        if _WITH not in template and hidden and self._roles_in_one((members.shared, members.partner)):
            second = max(said, key=template.index)  # of two of one work, whoever comes second is `its author`
            said[second] = self._call_its(members.shared if second == "{s}" else members.partner)
        template = template.replace(_WITH, f"{entry.preposition} {{o}}")
        return template.replace("{s}", said["{s}"]).replace("{o}", said["{o}"])

    def _say_shared(self, members: Members, *, told: bool = False) -> str:
        """What two made together as a phrase, or as a sentence, with {s} for the one and {o} for the other."""
        whole, credit = self._text.table.entity[members.property], self._text.table.entity[members.credit]
        template, part = (whole.together_told, credit.part_told) if told else (whole.together, credit.part)
        return template.replace("{part}", part)

    def _call_its(self, reference: str) -> str:
        """`its librettist`, of a work that has just been named."""
        return self._refer([reference], f"its {self._text.call_short(reference)}")

    def _name_beside(self, members: Members, beside: EndOfMaker) -> str:
        """Somebody who is found on what the other made first or last: `the editor of his last one`."""
        own = mark([self._text.find_subject(members.partner)], f"{self._say_own(members)} {beside.turn()} one")
        return mark([int(members.partner[3:])], f"the {self._text.table.entity[members.credit].role} of {own}")

    def _find_beside(self, members: Members) -> EndOfMaker | None:
        """What the maker of a named work made first or last, on which the partner is found; None for a partner who is
        found otherwise.
        """
        found = self._text.find_subject(members.partner)
        form = read_computation(self._text.step(f"hop{found}").derivation) if found else None
        return form if isinstance(form, EndOfMaker) else None

    def _did_with(self, template: str, members: Members) -> bool:
        """Whether both of two did the same, and did it `with` each other."""
        return _WITH in template and self._text.table.entity[members.credit].preposition == "with"

    def _tell_joint_works(self, members: Members) -> str:
        """`X made more than one film with Y`: a sentence before the question, which then asks about one of them."""
        said = self._text.described
        told = self._say_shared(members, told=True)
        entity = self._text.table.entity
        noun, credit = _drop_owner(entity[members.property].member), entity[members.credit]
        both = self._roles_in_one((members.shared, members.partner))
        if both and credit.part:  # each had another part in a victory
            return f"{both} had more than one {noun} together"
        if (did := credit.did) and _WITH in told and self._text.draw() < _BY_DEED:
            return f"{self._say_partner(members, said)} {did} more than one {noun} by {said(members.shared)}"
        if self._did_with(told, members) and self._text.draw() < _TOGETHER:
            pair = f"{said(members.shared)} and {self._say_partner(members, said)}"
            return _say_together(told, both or pair)
        return self._fill_joint(told, members, said)

    def _say_those(self, members: Members, one: str) -> str:
        """`those films` of several that a sentence before the question speaks of; `them` of what has no plain noun."""
        member = self._text.table.entity[members.property].member
        noun = _drop_owner(member).split()[-1]
        return f"those {pluralise(noun)}" if self._kind(one) == "work" and self._text.draw() < _BY_NOUN else "them"

    def _name_again(self, moment: str, owner: str, say: Say) -> None:
        """Have what both branches begin with named twice: in `the last opera before its librettist died` it is open
        which opera that is.
        """
        if say == self._text.described and (named := self._text.find_named(moment)) == self._text.find_named(owner):
            self._text.repeated.add(named)

    def _say_partner(self, members: Members, say: Say) -> str:
        """With whom works were made: by what they did, `the cinematographer Sven Nykvist`, or as they are described."""
        if say == self._text.described and members.partner.startswith("hop"):
            return say(members.partner)
        credit = self._text.table.entity[members.credit]
        return f"the {credit.title or credit.role} {say(members.partner)}"

    def _ask_of_set(self, form: Extreme, members: Members, winner: str, say: Say) -> str:
        if self._is_of_list(form):
            if self._kind(winner) in BROUGHT_OUT and (asked := self._ask_worked(form, members, say)):
                return asked
            turn, member, to = self._one_of_list(form, members, say)
            hidden = say == self._text.described and members.shared.startswith("hop")
            if say == self._text.described and (asked := self._tell_chosen(form, members, AFTER_DEATH_FRAMES)):
                return asked
            if hidden and form.moment:
                # `The first opera after its librettist died`: after that of which opera?
                if self._text.draw() < _FRONTED:
                    return self._ask_after(form, turn, members, winner)
                self._name_again(form.moment, members.shared, say)
                turn, member, to = self._one_of_list(form, members, say)
            what = "Who" if self._kind(winner) == "person" else "What"
            if members.partner:
                plain = self._kind(winner) in BROUGHT_OUT or self._text.openings
                frames = JOINT_FRAMES[:1] if plain else JOINT_FRAMES
                return self._pick(frames).format(what=what, turn=turn, member=member)
            if not to:
                return f"{what} was the {turn} {member}?"
            return self._pick(FIRST_OF_LIST_FRAMES).format(what=what, turn=turn, member=member, to=to)
        if not form.entities:
            return f"Which of the {self._group_phrase(members, winner, say)} {self._predicate(form)}?"
        names = self._names(form.entities)
        if form.moment and members.is_test():
            moment = self._text.event(form.moment) if say == self._text.described else f"the year {say(form.moment)}"
            person = self._kind(form.entities[0]) == "person"
            return self._pick(FIRST_BY_AFTER_FRAMES).format(
                names=names, which="who" if person else "which", turn="first" if form.later else "last",
                those="those who" if person else "those that",
                many=pluralise_verb(self._member_predicate(members, form.entities[0], say)),
                to=self._text.table.literal[form.property].to or "come",
                when=f"{'after' if form.later else 'before'} {moment}",
            )  # fmt: skip
        if form.moment:
            moment = self._text.event(form.moment) if say == self._text.described else f"the year {say(form.moment)}"
            frame = self._pick(FIRST_AFTER_FRAMES)
            return frame.format(
                names=names, tie=self._tie(members, form.entities, say), turn="first" if form.later else "last",
                to=self._text.table.literal[form.property].to or "come",
                when=f"{'after' if form.later else 'before'} {moment}",
            )  # fmt: skip
        predicate = self._member_predicate(members, form.entities[0], say)
        if members.is_test():
            return self._ask_first_by(form, names, predicate)
        tie = self._tie(members, form.entities, say)
        who = "who" if self._kind(winner) == "person" else "which"
        return self._pick(
            (
                f"Of {names}, {tie}, {who} {self._predicate(form)}?",
                f"Which of {names}, {tie}, {self._predicate(form)}?",
                f"Among {names}, {tie}, {who} {self._predicate(form)}?",
            )
        )

    def _ask_worked(self, form: Extreme, members: Members, say: Say) -> str:
        """`On which feature film did X last work with Y?`, sometimes; empty where two did something else with it."""
        noun, _, did = self._text.table.entity[members.property].together.partition(" that ")
        if not members.partner or did not in _WORKED_WITH or self._text.draw() >= _WORKED:
            return ""
        asked = self._pick(WORKED_FRAMES).format(noun=noun, turn=form.turn())
        return self._fill_joint(asked, members, say)

    def _ask_first_by(self, form: Extreme, names: str, predicate: str) -> str:
        """Which of several is the first that belongs to something: `the first to be directed by X`."""
        turn = form.turn()
        if infinitive := self._infinitive(form, predicate):
            return self._pick(FIRST_TO_FRAMES).format(names=names, turn=turn, to=infinitive)
        who = "who" if self._kind(form.entities[0]) == "person" else "which"
        frame = self._pick(FIRST_BY_FRAMES)
        return frame.format(
            names=names, who=who, chosen=self._predicate(form), many=pluralise_verb(predicate),
            those="those who" if who == "who" else "those that",
        )  # fmt: skip

    def _infinitive(self, form: Extreme, predicate: str) -> str:
        """`be directed by X` of works that are ordered by their release; empty for what is ordered otherwise."""
        if form.property != self._text.table.roles.release:
            return ""
        first, _, rest = predicate.partition(" ")
        verb = {"was": "be", "is": "be", "has": "have", "had": "have", "features": "feature"}.get(first, "")
        return f"{verb} {rest}" if verb else ""

    def _describe_extreme(self, form: Extreme, winner: str) -> str:
        """Set what is chosen from before the question, and say which of them is meant."""
        said = self._text.described
        if form.members is None:
            return self._describe_pair(form, winner, self._best(form))
        if self._kind(winner) in BROUGHT_OUT and not self._text.is_asked_of(form) and (own := self._name_own(form)):
            return own
        if form.members.partner:
            turn = form.turn()
            both = self._roles_in_one((form.members.shared, form.members.partner))
            begun = len(self._text.list_choices(form.members.shared)) > 1 or self._find_beside(form.members)
            # Who trained, and who rode, reads better in a sentence of its own.
            apart = both and self._text.table.entity[form.members.credit].part
            if self._text.is_asked_of(form) and not apart and (both or begun or self._text.draw() < _IN_ONE):
                return f"the {turn} {self._joint_work(form.members, said)}"
            self._text.openings.append(f"{upper_first(self._tell_joint_works(form.members))}.")
            return f"the {turn} of {self._say_those(form.members, winner)}"
        if self._is_of_list(form) and (chosen := self._tell_chosen(form, form.members, AFTER_DEATH_PHRASES)):
            return chosen
        if self._is_of_list(form):
            return "the {} {} {}".format(*self._one_of_list(form, form.members, said)).rstrip()
        best = self._best_of_many(form)
        if not form.entities:
            by = self._text.table.literal[form.property].by
            chosen = f"{best} by {by}" if by else best
            return f"{chosen} of the {self._group_phrase(form.members, winner, said)}"
        names = self._names(form.entities)
        if form.members.is_test():
            one = self._member_predicate(form.members, form.entities[0], said)
            predicate = pluralise_verb(one)
            self._text.openings.append(self._pick(LIST_FRAMES).format(names=names))
            person, turn = self._kind(winner) == "person", form.turn()
            infinitive, who = self._infinitive(form, one), "who" if person else "that"
            if self._text.draw() < _ASKED_FIRST or " to " in best:
                frame = self._pick(THEN_FIRST_TO_FRAMES if infinitive else THEN_FRAMES)
                self._text.openings.append(frame.format(
                    turn=turn, to=infinitive, who=who, many=predicate, which="who" if person else "which",
                    chosen=self._predicate(form),
                ))  # fmt: skip
                return "that person" if person else f"that {self._common_noun(form.entities) or 'one'}"
            return f"the {turn} of them to {infinitive}" if infinitive else f"{best} of those {who} {predicate}"
        tie = self._tie(form.members, form.entities, said)
        frame = self._pick(SET_FRAMES)
        self._text.openings.append(frame.format(names=names, tie=tie, were=self._state_tie(form, names, tie)))
        if match := _PLACE.match(best):
            return f"{match['the']} of them{match['to']}"
        return f"{best} of them"

    def _say_own(self, members: Members) -> str:
        """`his` or `her`, of the owner of a list; `X's` or `the director's` where neither is known."""
        if own := self._text.find_possessive(members.shared):
            return own
        role = self._text.call_short(members.shared)
        owner = mark([int(members.shared[3:])], f"the {role}") if role else self._text.described(members.shared)
        return f"{owner}'s"

    def _name_own(self, form: Extreme) -> str:
        """`Mike Nichols's first feature film`, of a work of whoever is named; empty for other choices."""
        members = form.members
        assert members is not None
        entry = self._text.table.entity[members.property]
        if not members.shared.startswith("Q") or members.partner or form.moment or not entry.member.endswith(_BY_OWNER):
            return ""
        # Where the question goes on with that person's works, a pronoun does.
        again = len(self._text.list_choices(members.shared)) > 1
        owner = self._say_own(members) if again else f"{self._text.described(members.shared)}'s"
        return f"{owner} {self._name_end_of(members.property, form.turn(), members.shared)}"

    def _name_end_of(self, property: str, turn: str, owner: str) -> str:
        """`last feature film`, or `feature debut`: what stands at an end of a list. Of an owner who is named it is
        said in which part: some directors go on acting.
        """
        entry = self._text.table.entity[property]
        named = entry.debut if turn == "first" else entry.finale if owner.startswith("Q") else ""
        return named or f"{turn} {_drop_owner(entry.member)}"

    def _state_tie(self, form: Extreme, names: str, tie: str) -> str:
        """`The films A, B and C were all directed by E`."""
        assert form.members is not None
        many = pluralise_verb(self._member_predicate(form.members, form.entities[0], self._text.described))
        verb, _, rest = many.partition(" ")
        perfect = verb == "have" and re.match(r"(?:been|won|held|led|\w+ed) (?!by\b)", rest)
        said = f"{verb} all {rest}" if verb in ("were", "are") or perfect else f"all {many}"
        return f"{upper_first(names)} {said}"

    def _describe_pair(self, form: Extreme, winner: str, best: str) -> str:
        """Which of what is compared is meant: in one phrase, or after a sentence that names it."""
        named = form.entities[0].startswith("Q")
        pair = self._names(form.entities) if named else self._pair(form.entities)
        single = best.startswith("the one")
        if len(form.entities) > 2:
            best = superlative(best)
        if not named and not single and not _has_clause(pair):
            return f"{best} of {pair}"
        if single and len(form.entities) == 2:
            did = self._predicate(form)
            if did.endswith(_SOONER):
                one = f"One of {pair}" if _SEVERAL.match(strip_marks(pair)) else f"Of {pair}, one"
                said = best.removeprefix("the one who ")
                self._text.openings.append(f"{one} {said if said.endswith('the other') else f'{did} than the other'}.")
                return "the survivor" if said.startswith("outlived") else f"that {self._role_of_all(form.entities)}"
            self._text.openings.append(self._pick(PAIR_FRAMES).format(pair=pair))
            return best
        if single:
            # `In what year was the one who died first born?` misleads who reads it.
            person = self._kind(winner) == "person"
            who = "who" if person else "which"
            frame = self._pick(WHICH_FRAMES)
            self._text.openings.append(frame.format(pair=pair, who=who, did=self._predicate(form)))
            return "that person" if person else f"that {self._common_noun(form.entities) or 'one'}"
        self._text.openings.append(self._pick(PAIR_FRAMES).format(pair=pair))
        return f"{best} of {self._refer(form.entities, 'the two' if len(form.entities) == 2 else 'them')}"

    def _refer(self, references: Sequence[str], text: str) -> str:
        """Words for several answers at once, marked; as they are where names are meant."""
        hops = [int(reference[3:]) for reference in references if reference.startswith("hop")]
        return mark(hops, text) if hops else text

    def name_both(self, entities: Sequence[str], say: Say) -> str:
        """`both X and Y`, or `both of the winners of X in 1950 and 1962`."""
        each = sorted((say(one) for one in entities), key=lambda phrase: len(phrase.split()))
        together = self._pair(entities) if say == self._text.described else ""
        if together.count(" and ") == 1 and not together.startswith((each[0], each[1])):
            return f"both of {together}"
        return f"both {each[0]} and {each[1]}"

    def _pair(self, entities: Sequence[str], word: str = "and") -> str:
        """`the director and the composer of X`, or two descriptions."""
        if together := self._roles_in_one(entities, word):
            return together
        lookups = [self._text.step(one).derivation if one.startswith("hop") else None for one in entities]
        entry = self._text.table.entity
        named = [one for one in lookups if isinstance(one, Lookup) and one.subject.startswith("Q")]
        if len(named) == len(entities) and len({one.property for one in named}) == 1:
            role = entry[named[0].property].role if named[0].property in entry else ""
            if role and word == "and":
                subjects = listed([self._text.described(one.subject) for one in named])
                return self._refer(entities, f"the {pluralise(role)} of {subjects}")
        if word == "and" and (holders := self._holders(entities)):
            return self._refer(entities, holders)
        return listed(sorted((self._text.described(one) for one in entities), key=_has_clause), word)

    def _roles_in_one(self, entities: Sequence[str], word: str = "and") -> str:
        """`the director and the composer of X`: what several are to one that is named; empty for others."""
        lookups = [self._text.step(one).derivation if one.startswith("hop") else None for one in entities]
        entry = self._text.table.entity
        found = [one for one in lookups if isinstance(one, Lookup) and one.subject.startswith("Q")]
        known = [one for one in found if one.property in entry]
        if len(known) < len(entities) or len({one.subject for one in known}) > 1:
            return ""
        first, *others = (entry[one.property] for one in known)
        roles = [first.role, *(one.role for one in others)]
        if not all(roles):
            return ""
        subject = self._text.described(known[0].subject)
        for one, other in ((first, others[0]), (others[0], first)) if word == "and" and len(roles) == 2 else ():
            if both := one.both.get(other.role):
                return self._refer(entities, both.replace("{s}", subject))
        return self._refer(entities, f"{listed([f'the {role}' for role in roles], word)} of {subject}")

    def _role_of_all(self, entities: Sequence[str]) -> str:
        """What all of them are called by what they did: `director`; `person` where they did several things."""
        steps = [self._text.step(one).derivation for one in entities if one.startswith("hop")]
        roles = {
            self._text.table.entity[one.property].role
            for one in steps
            if isinstance(one, Lookup) and one.property in self._text.table.entity
        }
        if len(steps) == len(entities) and len(roles) == 1 and (role := roles.pop()):
            return role
        return "person" if self._kind(entities[0]) == "person" else self._common_noun(entities) or "one"

    def _holders(self, entities: Sequence[str]) -> str:
        """`the winners of X in 1950 and 1962`: those who hold stated years of one timeline; empty for others."""
        held = [self._text.step(one).derivation for one in entities if one.startswith("hop")]
        lookups = [one for one in held if isinstance(one, ReverseLookup) and not one.constraints]
        entries = [self._text.table.literal.get(one.property) for one in lookups]
        found = [one for one in entries if one is not None and one.timeline]
        years = sorted({one.value for one in lookups})
        if len(found) < len(entities) or not all(map(str.isdigit, years)):
            return ""
        if len({one.timeline for one in found}) == 1 and found[0].holders_np:
            return self._pick(found[0].holders_np).replace("{y}", listed(years))
        if len(years) == 1 and len({one.together_np for one in found}) == 1 and found[0].together_np:
            shares = listed([one.share for one in found])
            return self._pick(found[0].together_np).replace("{a}", shares).replace("{y}", years[0])
        return ""

    def _best(self, form: Extreme) -> str:
        """Which of two is meant: `the older`."""
        entry = self._text.table.literal[form.property].worded(
            self._kind(form.entities[0]) if form.entities else "country"
        )
        phrases = entry.last if form.largest else entry.first
        if phrases:
            return self._pick(phrases)
        return f"the one that {self._pick(entry.more if form.largest else entry.less)}"

    def _best_of_many(self, form: Extreme) -> str:
        """Which of several is meant, in an adjective: `the oldest`."""
        entry = self._text.table.literal[form.property].worded(
            self._kind(form.entities[0]) if form.entities else "country"
        )
        phrases = entry.last if form.largest else entry.first
        return superlative(phrases[0]) if phrases else superlative(self._best(form))

    def _predicate(self, form: Extreme) -> str:
        entry = self._text.table.literal[form.property].worded(
            self._kind(form.entities[0]) if form.entities else "country"
        )
        predicate = self._pick(entry.more if form.largest else entry.less)
        return predicate if len(form.entities) == 2 else superlative(predicate)

    def _which(self, entities: Sequence[str], winner: str) -> str:
        if self._text.names.kind(winner) == "person":
            return "Who"
        noun = self._common_noun(entities)
        return f"Which {noun}" if noun else "Which"

    def _common_noun(self, entities: Sequence[str]) -> str:
        nouns = {plain_noun(self._text.names.noun(self._text.entity(one))) for one in entities}
        return nouns.pop() if len(nouns) == 1 and not nouns & _VAGUE else ""

    # ------------------------------------------------------------ sets

    def _names(self, entities: Sequence[str]) -> str:
        """`the films A, B, C and D`."""
        noun = self._group_noun(entities)
        self._text.listed.update(entities)
        if noun == _GROUP["person"]:  # nobody says `the people Karl Marx and Max Weber`
            return listed([self._text.stated(one) for one in entities])
        return f"the {noun} {listed([self._bare(one) for one in entities])}"

    def _tie(self, members: Members, entities: Sequence[str], say: Say) -> str:
        """What all of the named share: `all directed by E`."""
        if not members.outward:
            return f"all {self._group_phrase(members, entities[0], say)}"
        predicate = self._member_predicate(members, entities[0], say)
        if match := _MEMBER.match(predicate):
            return f"all members of {match[1]}"
        for verb in ("was ", "is "):
            if predicate.startswith(verb):
                return f"all {predicate.removeprefix(verb)}"
        if predicate.startswith("has ") and not _PERFECT.match(predicate):
            return f"all with {predicate.removeprefix('has ')}"
        whom = "whom" if self._kind(entities[0]) == "person" else "which"
        return f"all of {whom} {pluralise_verb(predicate)}"

    def _member_predicate(self, members: Members, entity: str, say: Say) -> str:
        """What makes one of the named a member: `was directed by E`."""
        if not members.outward:
            # A cast was, a part of a country is.
            verb = "is" if self._kind(entity) in ("nature", "country", "place") else "was"
            return f"{verb} {self._group_phrase(members, entity, say)}"
        kind, shared = self._kind(entity), self._kind(members.shared)
        predicates = self._text.table.entity[members.property].worded(kind, shared).predicate
        if not predicates:
            raise ExpressionError(f"no predicate for {members.property}")
        return self._text.fill(predicates, "o", say(members.shared))

    def _group_phrase(self, members: Members, entity: str, say: Say) -> str:
        """What one of the members and all others are: `in the cast of X`, `countries bordering X`."""
        entry = self._text.table.entity[members.property]
        group = entry.worded(self._kind(members.shared), self._kind(entity)).group
        if not group:
            raise ExpressionError(f"no group for {members.property}")
        return self._text.fill(group, "s", say(members.shared))

    def _members(self, members: Members, say: Say) -> str:
        """All of a set that is known to the last: `countries bordering Laos`."""
        group = self._text.table.entity[members.property].group
        if not group:
            raise ExpressionError(f"no group for {members.property}")
        return self._text.fill(group, "s", say(members.shared))

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
        bare = phrase.removeprefix(f"the {noun} of ").removeprefix(f"the {noun} ")
        return bare.removeprefix("the ") if self._kind(entity) == "nature" else bare

    # ------------------------------------------------------------ time

    def _ask_distance(self, form: YearDistance, say: Say) -> str:
        ordered = self._in_order(form.moments)
        if (person := self._find_born(ordered[0])) and isinstance(ordered[1], str):
            happened = self._happened(ordered[1], say).removeprefix("when ")
            if say == self._text.described:
                return self._pick(AGE_IN_YEAR_FRAMES).format(p=say(person), happened=happened)
            born = f"{self._text.stated(person)}, born in {say(str(ordered[0]))},"
            return f"How old did {born} turn in {say(ordered[1])}?"
        if say == self._text.described and (survivor := self._find_survivor(ordered)):
            died = self._refer([str(ordered[1])], f"{say(survivor)} die")
            return self._pick(DIED_AFTER_FRAMES).format(a=self._moment(ordered[0], say), died=died)
        one, other = (self._moment(moment, say) for moment in ordered)
        known = all(isinstance(moment, str) for moment in ordered)
        frame = self._pick(DISTANCE_FRAMES + LATER_FRAMES if known else DISTANCE_FRAMES)
        return frame.format(a=one, b=other, A=upper_first(one))

    def _find_born(self, moment: str | tuple[str, str]) -> str:
        """The person (a reference) whose birth year a hop looks up; empty for another moment."""
        derivation = self._text.step(moment).derivation if isinstance(moment, str) else None
        born = isinstance(derivation, Lookup) and derivation.property == self._text.table.roles.birth
        return derivation.subject if born and isinstance(derivation, Lookup) else ""

    def _find_survivor(self, moments: Sequence[str | tuple[str, str]]) -> str:
        """The person (a reference) who died later, of two whose years of death are looked up; empty for others."""
        lookups = [self._text.step(one).derivation for one in moments if isinstance(one, str)]
        died = [one for one in lookups if isinstance(one, Lookup) and one.property == self._text.table.roles.death]
        return died[1].subject if len(died) == 2 else ""

    def _in_order(self, moments: Sequence[str | tuple[str, str]]) -> list[str | tuple[str, str]]:
        """Moments of which both years are looked up, the earlier first."""
        years = [self._text.step(one).value if isinstance(one, str) else None for one in moments]
        if all(isinstance(year, int) for year in years):
            return [one for _, one in sorted(zip(years, moments, strict=True), key=lambda pair: int(str(pair[0])))]
        return list(moments)

    def _moments(self, form: YearDistance, say: Say) -> str:
        return listed(sorted((self._moment(one, say) for one in form.moments), key=_has_clause))

    def _moment(self, moment: str | tuple[str, str], say: Say) -> str:
        if isinstance(moment, str):
            return self._text.event(moment) if say == self._text.described else self._text.dated_event(moment, say)
        property, entity = moment
        events = self._text.table.literal[property].worded(self._kind(entity)).event
        return self._text.fill(events, "s", say(entity))

    def _ask_age(self, form: AgeAt, say: Say) -> str:
        """The age of somebody on a date, or at death: of whom the first event is the birth."""
        if isinstance(form.birth, tuple) and isinstance(form.then, tuple) and form.birth[1] == form.then[1]:
            person = say(form.birth[1])
            return self._pick(LIFE_OF_FRAMES if _has_clause(strip_marks(person)) else LIFE_FRAMES).format(p=person)
        if isinstance(form.birth, tuple):
            person = say(form.birth[1])
        else:
            derivation = self._text.step(form.birth).derivation
            assert isinstance(derivation, Lookup)
            if say == self._text.described:
                person = say(derivation.subject)
            else:
                person = f"{self._text.stated(derivation.subject)}, born on {say(form.birth)},"
        when = self._happened(form.then, say)
        if _has_clause(strip_marks(person)):
            return WHEN_AGE_FRAME.format(p=person, When=upper_first(when))
        return self._pick(AGE_FRAMES).format(p=person, when=when, When=upper_first(when)).replace(",?", "?")

    def _happened(self, moment: str | tuple[str, str], say: Say) -> str:
        """`when X died`, or `on 3 May 1951` in a sub-question."""
        asked = moment
        if isinstance(moment, str):
            derivation = self._text.step(moment).derivation
            if say != self._text.described or not isinstance(derivation, Lookup):
                return f"on {say(moment)}"
            moment = (derivation.property, derivation.subject)
        property, entity = moment
        predicate = self._text.table.literal[property].worded(self._kind(entity)).year_predicate[0]
        happened = f"{say(entity)} {predicate.removesuffix(' in {y}')}"
        return f"when {self._refer([asked], happened) if isinstance(asked, str) else happened}"

    def _ask_age_in_year(self, form: AgeInYear, say: Say) -> str:
        derivation = self._text.step(form.year).derivation
        if say != self._text.described or not isinstance(derivation, Lookup):
            return f"How old did {say(form.entity)} turn in {say(form.year)}?"
        happened = self._happened(form.year, say).removeprefix("when ")
        return self._pick(AGE_IN_YEAR_FRAMES).format(p=say(form.entity), happened=happened)

    # ------------------------------------------------------------ numbers

    def _ask_difference(self, form: Difference, say: Say) -> str:
        templates = self._text.table.literal[form.property].differ
        if not templates:
            raise ExpressionError(f"no words for a difference of {form.property}")
        names = sorted((say(one) for one in form.entities), key=_has_clause)
        return self._pick(templates).replace("{a}", names[0]).replace("{b}", names[-1])

    def _ask_rate(self, form: Rate, say: Say) -> str:
        entry = self._text.table.literal[form.property]
        if form.property == form.per_property:
            pair = self._pick(entry.ratio)
            return pair.replace("{a}", say(form.entity)).replace("{b}", say(form.per_entity))
        return self._text.fill(entry.rate, "s", say(form.entity))

    def _ask_pairs(self, form: Combinations, say: Say) -> str:
        if form.size != "2" or not form.pool.startswith("hop"):
            raise ExpressionError("no words for a choice other than of pairs")
        step = self._text.step(form.pool)
        counted = read_computation(step.derivation)
        if say == self._text.described and isinstance(counted, GroupSize) and not counted.members.entities:
            members = self._members(counted.members, say)
            return f"How many different pairs can be formed from {self._refer([form.pool], f'the {members}')}?"
        if say == self._text.described and isinstance(counted, GroupSize):
            many = pluralise_verb(self._member_predicate(counted.members, counted.members.entities[0], say))
            entities = counted.members.entities
            who = "who" if self._kind(entities[0]) == "person" else "that"
            return self._pick(PAIRS_FRAMES).format(names=self._names(entities), many=many, who=who)
        return self._pick(
            (f"How many different pairs can be formed from {say(form.pool)} members?",
             f"If each of {say(form.pool)} meets every other once, how many meetings is that?")
        )  # fmt: skip

    # ------------------------------------------------------------ small parts

    def _kind(self, reference: str) -> EntityKind:
        return self._text.names.kind(self._text.entity(reference))


def _has_clause(phrase: str) -> bool:
    return _CLAUSE.search(phrase) is not None


def _drop_owner(member: str) -> str:
    """What is on a list, without whose it is: `English Classic winner` of `English Classic winner trained by {s}`."""
    return _WHOSE.sub("", member)


def _say_together(template: str, both: str) -> str:
    """What two did, with both as its subject: `film that the director and the editor of X worked on together`."""
    return template.replace(_MADE_WITH, "worked on together").replace("{s}", both).replace(_WITH, "together")
