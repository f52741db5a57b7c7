"""The rules writer: words a proven plan from the property table's templates.

It sees steps and names only, so a plan can be worded again in another world (a counterfactual twin) by giving it other
names and values. The same key makes the same choices among the templates.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar, runtime_checkable

from hopwright.errors import ExpressionError
from hopwright.knowledge.properties import PropertyTable
from hopwright.planning.computation_forms import (
    EndMember,
    EndOfMaker,
    Extreme,
    Form,
    NextOfList,
    ShiftedYear,
    read_computation,
    read_form,
)
from hopwright.planning.execution import hops_used
from hopwright.planning.plan import PlanStep, named_entities
from hopwright.records import Compute, Constraint, Derivation, Lookup, ReverseLookup
from hopwright.records.values import EntityKind, render
from hopwright.text.articles import article
from hopwright.text.phrases import plain_noun, sentence
from hopwright.wording.marks import (
    MARK,
    is_marked,
    lower_first,
    mark,
    starts_with_name,
    strip_marks,
    upper_first,
    write_marks,
)
from hopwright.wording.rules.computation_wording import ComputationVerbaliser
from hopwright.wording.rules.frames import TOLD_FRAMES

ReferenceWording = Callable[[str], str]
"""Words a reference (`hopN` or a Q-id): in a sub-question by its answer, in the whole question by its description."""

_RELATIVE = re.compile(r" (?:where|who|whom|whose|that|which|as|whichever) ")
_TRAILING = re.compile(r" (?:where|who|whom|whose|that|which|as|whichever|after|before) ")
"""What makes a phrase too long to be followed by the verb: a clause, or a moment."""
_Option = TypeVar("_Option")
_SOURCES = frozenset({"novel", "play", "short story", "novella", "poem", "epic poem", "fairy tale", "book", "musical"})
"""What a work may be said to be based on before the question about it."""
_LONG = 30
"""Words of a question beyond which what it is about is told in a sentence before it."""
_SHORT_PHRASE = 8
"""Words beyond which a phrase is too long to be followed by the verb."""
_SHORT_NAME = 6
"""Words beyond which what others have in common has a sentence of its own before that."""
_ONE = re.compile(r"\b[Oo]ne\b")
_LIFETIME = 0.5
"""How often what came before somebody's death is said to have come in their lifetime."""
_NOMINAL = 0.4
"""How often a moment is `the novelist's death`."""
_SHORT = 0.8
"""How often the shortest of several noun phrases is taken."""
_FIRST_FILM = re.compile(rf'^((?:{MARK})*)The film ("[^"]+") \((\d{{4}})\)')
"""Where a question begins with a film that has its year."""
_YEAR_FIRST = 0.6
"""How often a question that begins with a film says its year first: `The 1975 film "Picnic at Hanging Rock"`."""
_TWO_STOPS = re.compile("(?<!\\.)\\.(\x05*)\\.(?!\\.)")
"""Where a sentence ends in a name such as `Panathinaikos F.C.`"""
_MENTION = re.compile("\x01([^\x02]+)\x02")
_ROLE_OF = r"\bthe ((?:[a-z]+ )?[a-z]+) of NAME\b(?! [A-Z])"
"""A role of somebody who is called by the last name."""
_WHERE = re.compile(r"the (?:town or )?city ((?:where|in which) .+)$", re.DOTALL)
"""`the city where X was born`, of which people say `the country where X was born`."""
_OF_IT = re.compile(r"\bthe ((?:[a-z]+ )?[a-z]+) of it\b")
_SAME_NOUN = re.compile(r'\bthe ([a-z]+) ("[^"]+" \(\d{4}\) and )the \1 (?="[^"]+" \(\d{4}\))')
_FILM_ROLE = re.compile(
    rf"\b((?:(?:director|cinematographer|screenwriter|editor) of|screenplay for|directed|photographed|edited|film after"
    rf"|After) (?:{MARK})*)"
    r'the film (?="[^"]+" \(\d{4}\))'
)
"""Where a role says that a title is a film's."""
_SAID_BY_LIST = {
    asked: re.compile(rf'\bthe {noun} (?="[^"]+" \(\d{{4}}\))')
    for asked, noun in {
        "feature film": "film",
        "full-length play": "play",
        "Broadway musical": "musical",
        "opera that": "opera",
        "operetta that": "operetta",
    }.items()
}
"""What a question asks for → the noun that need not be said before the work that it names."""
_COMPOSER = re.compile(rf'\b(composer of (?:{MARK})*)the opera (?="[^"]+" \(\d{{4}}\))')
"""Where a role says that a title is a piece of music's."""
_OWN_THE = re.compile(r"\b(his|her) the ")
"""`his the film "Rebecca"`: a name that begins with an article, after whose it is."""
_MADE_TWICE = re.compile(r"\b(paint|sculpt)(er|ers|ed|or|ors)( of)? the (?:painting|sculpture)s? (?=[\"\x01])")
"""The painter of the painting `Ophelia`."""
_POSSESSIVE = {"he": "his", "she": "her"}
_EITHER = re.compile(r"\[([^|\]]*)\|([^\]]*)\]")
"""What stands for one of two in `EntityProperty.scene` and `again`."""
_THAT_PERSON = re.compile(rf"(\b(?:was|did) (?:{MARK})*)that person(?=\x05* (?:born|die)\b)")
"""Where one of two who were compared is the subject."""
_OF_NAME = re.compile(r"\b(?:of|the|von|van|Van|De|de|di|da|al|el|bin|ibn|[IVX]+|Jr\.?|Sr\.?)\b")


class EntityNaming(Protocol):
    """How entities are called in running text."""

    def phrase(self, entity: str) -> str:
        """The name with its article, quotation marks or the common noun that tells it from others."""
        ...

    def noun(self, entity: str) -> str:
        """A common noun for it, without an article: `film`."""
        ...

    def kind(self, entity: str) -> EntityKind:
        """Its coarse class; persons are asked for by `who`."""
        ...


@runtime_checkable
class DatedNaming(Protocol):
    """How entities are called by those who know when works came out."""

    def dated_phrase(self, entity: str) -> str:
        """The name with the year of a work in it: `the film "Gaslight" (1944)`."""
        ...


@runtime_checkable
class GenderedNaming(Protocol):
    """How people are called by those who know whether they were men or women."""

    def pronoun(self, entity: str) -> str:
        """`he` or `she`; empty where that is not known."""
        ...


@runtime_checkable
class MakerNaming(Protocol):
    """How people are called by those who know what they made."""

    def has_made(self, maker: str, work: str) -> bool:
        """Whether a work is one of the whole lists of somebody."""
        ...

    def maker_role(self, maker: str, work: str) -> str:
        """As what somebody made a work, such as `director`; empty for who did not, or had another part in it."""
        ...


@dataclass(frozen=True, slots=True)
class Wording:
    """The text of an item: one question per hop, and the whole question, also with its marks (`wording/marks.py`)."""

    hop_questions: tuple[str, ...]
    question: str
    marked: str = ""


class RulesWriter:
    """Words plans by rule. Stateless but for the table."""

    def __init__(self, table: PropertyTable) -> None:
        self._table = table

    def word(self, steps: Sequence[PlanStep], names: EntityNaming, key: str) -> Wording:
        """Word all hops and the whole question. Raises ExpressionError for a plan that it has no words for."""
        text = PlanVerbaliser(self._table, steps, names, random.Random(f"words:{key}"))
        subs = tuple(sentence(_FILM_ROLE.sub(r"\1", text.ask(one, text.stated))) for one in range(1, len(steps) + 1))
        whole = text.ask_whole()
        question = text.resolve(" ".join([*map(upper_first, text.preludes), upper_first(whole)]))
        question = _TWO_STOPS.sub(r".\1", question)
        if text.draw() < _YEAR_FIRST:
            question = _FIRST_FILM.sub(r"\1The \3 film \2", question)
        return Wording(subs, strip_marks(question), write_marks(question))


class PlanVerbaliser:
    """The wording of one plan.

    `preludes` gathers sentences that must come before the question, `openings` what stands before it in the same
    sentence; `listed` are the entities of a list, which stands before whatever else names them; `repeated` those whose
    name is said again, where `its` could be taken for something else's. In the whole question
    names are marked until it is complete: then each is said once, and after that referred to.
    """

    def __init__(
        self, table: PropertyTable, steps: Sequence[PlanStep], names: EntityNaming, rng: random.Random
    ) -> None:
        self.table = table
        self.names = names
        self.preludes: list[str] = []
        self.openings: list[str] = []
        self.listed: set[str] = set()
        self.repeated: set[str] = set()
        self._told: dict[str, str] = {}
        self._based = 0
        self._steps = steps
        self._claims = {claim.id: claim for step in steps for claim in step.claims}
        self._rng = rng
        self._timed = {
            entity for step in steps if _is_timed(step.derivation, table) for entity in named_entities(step.derivation)
        }
        self._met = {entity for step in steps for entity in named_entities(step.derivation)}
        # What is asked for is not in the question, so nothing in it can be taken for that.
        self._met |= {one.value for one in steps[:-1] if one.answer_type == "entity" and isinstance(one.value, str)}
        self._computed = ComputationVerbaliser(self)

    # ------------------------------------------------------------ references

    def stated(self, reference: str) -> str:
        """A reference by its value."""
        if not reference.startswith("hop"):
            return self._name(reference) if reference.startswith("Q") else reference
        step = self.step(reference)
        if isinstance(step.value, str):
            return self.names.phrase(step.value)
        return render(step.value, year=step.unit == "year")

    def _name(self, entity: str) -> str:
        """The name; of a work with its year, unless its year is what the plan asks about or compares by."""
        if entity not in self._timed and isinstance(self.names, DatedNaming):
            return self.names.dated_phrase(entity)
        return self.names.phrase(entity)

    def described(self, reference: str) -> str:
        """A reference by how it is arrived at, or back to the sentence that has told that."""
        if reference in self._told:
            return mark([int(reference[3:])], self._told[reference])
        if reference.startswith("hop"):
            return self._describe(int(reference[3:]))
        return f"\x01{reference}\x02" if reference.startswith("Q") else self.stated(reference)

    def is_told(self, reference: str) -> bool:
        """Whether a sentence before the question tells of what a reference means."""
        return reference in self._told

    def _describe(self, index: int, end: str = "") -> str:
        """A hop's answer described and marked, without `end`; so is what is set before the question for its sake."""
        before = len(self.openings)
        if source := self._tell_based(index):
            return source
        if (inner := self._find_place_within(index)) and (match := _WHERE.match(self.noun_phrase(inner))):
            return mark([inner, index], f"the present-day country {match[1].removesuffix(end)}")
        del self.openings[before:]
        phrase = self.noun_phrase(index).removesuffix(end)
        new = self.openings[before:]
        self.openings[before:] = [one if is_marked(one) else mark([index], one) for one in new]
        return mark([index], phrase)

    def _find_place_within(self, index: int) -> int:
        """The hop of a place of whose country alone the rest of the plan speaks; 0 for any other hop."""
        step = self._steps[index - 1]
        lookup = step.derivation
        if not isinstance(lookup, Lookup) or lookup.property not in self.table.roles.within:
            return 0
        if not lookup.subject.startswith("hop") or self.names.kind(str(step.value)) != "country":
            return 0
        place = self.step(lookup.subject).derivation
        return int(lookup.subject[3:]) if isinstance(place, Lookup) else 0

    def claimed(self, claim: str) -> str:
        """What a claim's number is the number of. Raises ExpressionError where the claim is not at hand."""
        if claim not in self._claims:
            raise ExpressionError(f"the claim {claim} is not at hand")
        return self._claims[claim].phrase

    def is_asked_of(self, form: Form) -> bool:
        """Whether the last hop looks up who or what had a part in what a computation chooses."""
        last = self._steps[-1].derivation
        if not isinstance(last, Lookup) or not last.subject.startswith("hop") or last.property in self.table.literal:
            return False
        source = self.step(last.subject).derivation
        return isinstance(source, Compute) and read_form(source.expression) == form

    def list_choices(self, owner: str) -> list[Extreme]:
        """The choices among the works of somebody whom the plan names: the last with the editor of the first, say."""
        forms = [read_computation(step.derivation) for step in self._steps if owner.startswith("Q")]
        return [one for one in forms if isinstance(one, Extreme) and one.members and one.members.shared == owner]

    def find_subject(self, reference: str) -> int:
        """The hop that finds that of which a hop looks something up; 0 where the plan names it, or looks up nothing."""
        lookup = self.step(reference).derivation if reference.startswith("hop") else None
        return int(lookup.subject[3:]) if isinstance(lookup, Lookup) and lookup.subject.startswith("hop") else 0

    def find_named(self, reference: str) -> str:
        """What is named where a description of a hop's answer begins: the work whose librettist's death it gives."""
        while reference.startswith("hop") and isinstance(lookup := self.step(reference).derivation, Lookup):
            reference = lookup.subject
        return reference if reference.startswith("Q") else ""

    def entity(self, reference: str) -> str:
        """The Q-id behind a reference."""
        return str(self.step(reference).value) if reference.startswith("hop") else reference

    def step(self, reference: str) -> PlanStep:
        """The step behind `hopN`."""
        return self._steps[int(reference[3:]) - 1]

    def noun(self, entity: str, say: ReferenceWording) -> str:
        """A common noun; in the whole question without a nationality, which gives a later hop away."""
        noun = self.names.noun(entity)
        return plain_noun(noun) if say == self.described else noun

    def who(self, entity: str, say: ReferenceWording) -> str:
        """`person who`, `film that`: how a description begins."""
        return "person who" if self.names.kind(entity) == "person" else f"{self.noun(entity, say)} that"

    # ------------------------------------------------------------ questions

    def ask(self, index: int, say: ReferenceWording) -> str:
        """The question of one hop, its inputs worded by `say`."""
        step = self._steps[index - 1]
        derivation = step.derivation
        if isinstance(derivation, Lookup):
            return self.fill(self._templates(derivation, step, "ask", say), "s", say(derivation.subject))
        if isinstance(derivation, ReverseLookup):
            entity = str(step.value)
            if holder := self._holder(derivation, say, "holder_ask"):
                return holder
            if asked := self._reverse_phrases(derivation, entity, "reverse_ask"):
                return self.fill(asked, "o", say(derivation.value))
            predicates = self._predicates(derivation, entity, say)
            subject = "Who" if self.names.kind(entity) == "person" else f"Which {self.noun(entity, say)}"
            return f"{subject} {_joined(predicates)}?"
        return self._computed.ask(step, derivation.expression, say)

    def ask_whole(self) -> str:
        """The last hop's question with all that leads to it."""
        if self._tells_source():
            question = self._ask_after(1)
        elif told := self._find_end():
            question = self.ask(len(self._steps), self.described)
            if self.openings or len(strip_marks(question).split()) > _LONG or not self._ends_with_shared(told):
                self.openings.clear()
                question = self._ask_after(told)
        else:
            question = self.ask(len(self._steps), self.described)
            # What has a sentence before it already gets no second one.
            hard = len(question.split()) > _LONG or self._tells_time()
            if hard and not self.openings and (told := self._find_told()):
                question = self._ask_after(told)
        if not self.openings:
            return question
        opening = " ".join(self.openings)
        return f"{opening} {question if strip_marks(opening).endswith('.') else lower_first(question)}"

    def _find_sharing(self, form: EndMember) -> int:
        """The hop of the member of a series in whose columns was found what the first or the last shares; else 0."""
        found = self.step(form.reference).derivation
        if not isinstance(found, Lookup) or not found.subject.startswith("hop"):
            return 0
        return int(found.subject[3:]) if self._read_told(self.step(found.subject).derivation) else 0

    def _is_chain(self) -> bool:
        """Whether each hop rests on the one before it alone."""
        return all(hops_used(step.derivation) == (index,) for index, step in enumerate(self._steps[1:], start=1))

    def _tells_source(self) -> bool:
        """Whether a chain begins with what a sentence tells without naming it: that a work is based on a play."""
        first = self._steps[0].derivation
        entry = self.table.entity.get(first.property) if isinstance(first, Lookup) else None
        told = entry is not None and bool(entry.told) and len(self._steps) > 2 and self._is_chain()
        return told and self._name_source() in _SOURCES

    def _name_source(self) -> str:
        """The common noun of the first answer."""
        return plain_noun(self.names.noun(str(self._steps[0].value)))

    def _find_end(self) -> int:
        """The hop of a chain, before its last, that chooses the first or the last of several; 0 where none does."""
        for index, step in enumerate(self._steps[:-1] if self._is_chain() else (), start=1):
            if isinstance(read_computation(step.derivation), EndMember):
                return index
        return 0

    def _ends_with_shared(self, end: int) -> bool:
        """Whether what several members share stands last where one of them is described: `the last Tour won by X`.

        Between a noun and its verb a long description is read twice: `the Tour in which the winner of … won …`.
        """
        form = read_computation(self._steps[end - 1].derivation)
        return isinstance(form, EndMember) and self.table.entity[form.column].reverse_np[0].endswith("{o}")

    def _find_told(self) -> int:
        """The last hop of a chain whose answer can be told in a sentence before the question; 0 where there is none."""
        chained = self._is_chain()
        for index in range(2, len(self._steps)) if chained else ():
            derivation = self._steps[index - 1].derivation
            if isinstance(derivation, ReverseLookup) and self._tells_holder(derivation):
                return index
        for index in range(len(self._steps) - 1, 1, -1) if chained else ():
            derivation = self._steps[index - 1].derivation
            chosen = isinstance(read_computation(derivation), Extreme)
            if self._steps[index - 1].answer_type == "entity" and not chosen:
                return index
        return 0

    def _ask_after(self, told: int) -> str:
        """The last question, asked of what a sentence before it tells: clauses in clauses are hard to follow."""
        self.preludes.clear()
        self.listed.clear()
        derivation = self._steps[told - 1].derivation
        role = ""
        if isinstance(form := read_computation(derivation), EndMember):
            if member := self._find_sharing(form):
                self._tell_member(member)
                return self.ask(len(self._steps), self.described)
            self.openings.extend(self._tell_several(told, form))
            self._told[f"hop{told}"] = f"the {'last' if form.last else 'first'} of them"
            return self.ask(len(self._steps), self.described)
        if isinstance(derivation, ReverseLookup) and self._tells_holder(derivation):
            scene = self.table.literal[derivation.property].holder_told.replace("{e}", self._told_event(derivation))
            self.openings.append(f"{mark([told], upper_first(scene))}.")
        elif told == 1 and isinstance(derivation, Lookup):  # what comes later is described
            role = self._name_source()
            scene = self.pick(self.table.entity[derivation.property].told).replace("{n}", f"{article(role)} {role}")
            scene = scene.replace("{s}", self.described(derivation.subject))
            self.openings.append(f"{mark([told], upper_first(scene))}.")
        else:
            scene = self._describe(told, end=".")
            self.openings.append(self.pick(TOLD_FRAMES).format(told=scene))
        self._told[f"hop{told}"] = f"that {role or self._name_role(f'hop{told}', strip_marks(scene))}"
        return self.ask(len(self._steps), self.described)

    def _tell_member(self, index: int) -> None:
        """`Laurent Fignon finished second overall in only one Tour de France.`: a sentence on the member of a series
        that a hop finds, which the question then means by `that race`.
        """
        found = self._steps[index - 1].derivation
        assert isinstance(found, ReverseLookup)
        scene = self._read_told(found)
        self.openings.append(f"{mark([index], upper_first(scene.replace('{o}', self.described(found.value))))}.")
        series = self.table.literal[self.table.entity[found.property].series]
        self._told[f"hop{index}"] = f"that {series.series_short}"

    def _tell_several(self, told: int, form: EndMember) -> list[str]:
        """`The runner-up in that race won more than one Tour de France.`, after a sentence on whoever it tells of where
        that is no short name.
        """
        scene = _ONE.sub(_say_several, self.table.entity[form.column].reverse_told, count=1)
        shared = self._describe_shared(form.reference)
        before: list[str] = []
        if "{o}" in scene[1:-3] and len(strip_marks(shared).split()) > _SHORT_NAME:
            before.append(f"{self.pick(TOLD_FRAMES).format(told=shared)}".rstrip(".") + ".")
            shared = f"that {self._name_role(form.reference, strip_marks(shared)).partition(' of ')[0]}"
        return [*before, f"{mark([told], upper_first(scene.replace('{o}', shared)))}."]

    def _describe_shared(self, reference: str) -> str:
        """What members of a series have in common, by the shorter of two phrases: `the runner-up in that Tour`, `the
        president who nominated that justice`.
        """
        plain, found = self.described(reference), self.step(reference).derivation
        entry = self.table.entity.get(found.property) if isinstance(found, Lookup) else None
        if not isinstance(found, Lookup) or entry is None or not entry.scene.startswith("{p} "):
            return plain
        did = _EITHER.sub(r"\2" if self.is_told(found.subject) else r"\1", entry.scene.removeprefix("{p} "))
        role = "person" if entry.role in did else entry.role  # no curator was the curator
        other = mark([int(reference[3:])], f"the {role} who {did.replace('{s}', self.described(found.subject))}")
        return min(plain, other, key=lambda one: len(self._spell(one).split()))

    def _spell(self, text: str) -> str:
        """A text without its marks, names in full."""
        return strip_marks(_MENTION.sub(lambda match: self._name(match[1]), text))

    def _read_told(self, found: Derivation) -> str:
        """A sentence on the member of a series that a look-up finds, `{o}` being left; empty for any other hop."""
        if not isinstance(found, ReverseLookup) or found.constraints:
            return ""
        entry = self.table.entity.get(found.property)
        return entry.reverse_told if entry is not None else ""

    def resolve(self, text: str) -> str:
        """The text with every marked name said in full the first time, and referred to after that."""
        seen = {entity for entity in self.listed if self.names.kind(entity) == "person"}

        def name(match: re.Match[str]) -> str:
            entity = match[1]
            if entity not in seen:
                seen.add(entity)
                phrase = self._name(entity)
                return upper_first(phrase) if starts_with_name(text, match.start()) else phrase
            return self._refer_back(entity)

        said = _OF_IT.sub(r"its \1", _MENTION.sub(name, text))
        said = _FILM_ROLE.sub(r"\1", _SAME_NOUN.sub(r"the \1s \2", _tidy(said)))
        for asked, noun in _SAID_BY_LIST.items():
            if asked in said:
                said = noun.sub("", said)
        if "opera" in _COMPOSER.sub("", said):  # what the composer wrote is said to be an opera
            said = _COMPOSER.sub(r"\1", said)
        for entity in seen:
            short = self._refer_back(entity) if self.names.kind(entity) == "person" else ""
            if short and " " not in short:  # `Wolf's doctoral advisor`, not `the doctoral advisor of Wolf`
                said = re.sub(_ROLE_OF.replace("NAME", re.escape(short)), rf"{short}'s \1", said)
        return self._use_pronouns(said, [entity for entity in seen if self.names.kind(entity) == "person"])

    def _use_pronouns(self, said: str, people: Sequence[str]) -> str:
        """The text with `he`, `she`, `his` or `her` where only the one who is named can be meant."""
        answers = [str(step.value) for step in self._steps if step.answer_type == "entity"]
        others = {one for one in answers if self.names.kind(one) == "person"}.difference(people)
        if others and len(pronouns := {self._find_pronoun(one) for one in others}) == 1 and all(pronouns):
            said = _THAT_PERSON.sub(rf"\1{min(pronouns)}", said)
        if len(people) != 1 or not (pronoun := self._find_pronoun(people[0])):
            return said
        full, short = self._name(people[0]), self._refer_back(people[0])
        rivals = [one for one in others if self._find_pronoun(one) in ("", pronoun)]
        before, name, after = said.partition(full)
        # `The father of X … his mother`, `X wrote its libretto … its composer … his death`: whose?
        if not rivals:
            after = re.sub(rf"(?<![\w.]){re.escape(short)}['’]s(?= )", _POSSESSIVE[pronoun], after)
            subject = rf"\b((?:when|year|was|did) (?:{MARK})*){re.escape(short)}(?![\w'’])"
            after = re.sub(subject, rf"\1{pronoun}", after)
        return before + name + after

    def _find_pronoun(self, entity: str) -> str:
        return self.names.pronoun(entity) if isinstance(self.names, GenderedNaming) else ""

    def _refer_back(self, entity: str) -> str:
        """How an entity is called again: a person by the last name, a work by its noun."""
        if entity in self.repeated:
            return self.names.phrase(entity)
        if self.names.kind(entity) == "person":
            words = self.names.phrase(entity).split()
            if len(words) > 1 and not _OF_NAME.search(self.names.phrase(entity)):
                return words[-1]
            return self.names.phrase(entity)  # `that person` could be either of two who were named
        noun = self._head_noun(entity)
        if all(other == entity or self.names.kind(other) == "person" for other in self._met):
            return "it"
        if any(other != entity and self._head_noun(other) == noun for other in self._met):
            return self.names.phrase(entity)  # `the film` would not say which
        return f"the {noun}"

    def _name_role(self, reference: str, told: str) -> str:
        """What a told answer is called when it is meant again: `president`, `director`, `country`.

        A role that two have in what was told would not say which of them is meant.
        """
        derivation = self.step(reference).derivation
        role = ""
        if isinstance(derivation, ReverseLookup) and derivation.property in self.table.literal:
            role = self.table.literal[derivation.property].holder_noun
        elif isinstance(derivation, Lookup) and derivation.property in self.table.entity:
            role = self.table.entity[derivation.property].role
        entity = self.entity(reference)
        if role and told.count(role) < 2:
            return role
        return "person" if self.names.kind(entity) == "person" else self._head_noun(entity)

    def _head_noun(self, entity: str) -> str:
        return plain_noun(self.names.noun(entity)).split()[-1]

    def noun_phrase(self, index: int) -> str:
        """A hop's answer described, inputs and all; for the whole question only."""
        step = self._steps[index - 1]
        derivation = step.derivation
        if isinstance(derivation, Lookup):
            subject = self.described(derivation.subject)
            return self.fill(self._templates(derivation, step, "np", self.described), "s", subject)
        if isinstance(derivation, ReverseLookup):
            entity = str(step.value)
            if holder := self._holder(derivation, self.described, "holder_np"):
                return holder
            if not derivation.constraints and (alone := self._reverse_phrases(derivation, entity, "reverse_np")):
                return self.fill(alone, "o", self.described(derivation.value))
            predicates = self._predicates(derivation, entity, self.described)
            only = "only " if derivation.asks_same_of_two() else ""
            return f"the {only}{self.who(entity, self.described)} {_joined(predicates)}"
        return self._computed.noun_phrase(step, derivation.expression)

    def _tell_based(self, index: int) -> str:
        """`the novelist` of a named work, after a sentence that says it to be based on a novel; else empty."""
        lookup = self._steps[index - 1].derivation
        entry = self.table.entity.get(lookup.property) if isinstance(lookup, Lookup) else None
        if not isinstance(lookup, Lookup) or entry is None or not entry.told_role or not lookup.subject.startswith("Q"):
            return ""
        if self._based != index:
            if self.openings:
                return ""
            self._based = index
            told = self.pick(entry.told).replace("{s}", self.described(lookup.subject))
            self.openings.append(mark([index], f"{upper_first(told)}."))
        return mark([index], f"the {entry.told_role}")

    def name_owner(self, reference: str) -> str:
        """Whose list it is: `its author`, after a sentence that tells of a novel, or a description."""
        if reference.startswith("hop") and self._tell_based(int(reference[3:])):
            return mark([int(reference[3:])], "its author")
        if reference.startswith("Q") and (role := self._find_maker_of_told(reference)):
            return f"its {role}, {self.described(reference)},"
        return self.described(reference)

    def _find_maker_of_told(self, person: str) -> str:
        """As what somebody named made the work that a sentence before the question tells of; empty for others."""
        first = self._steps[0].derivation
        if not isinstance(first, Lookup) or not isinstance(self.names, MakerNaming):
            return ""
        entry = self.table.entity.get(first.property)
        return self.names.maker_role(person, first.subject) if entry is not None and entry.told else ""

    def find_possessive(self, reference: str) -> str:
        """`his` or `her` of whoever a reference means; empty where that is not known."""
        return _POSSESSIVE.get(self.find_pronoun(reference), "")

    def find_pronoun(self, reference: str) -> str:
        """`he` or `she` of whoever a reference means; empty where that is not known."""
        return self._find_pronoun(self.entity(reference)) if reference else ""

    def call_short(self, reference: str) -> str:
        """`librettist` of somebody who is found; empty where nothing short says who is meant."""
        lookup = self.step(reference).derivation if reference.startswith("hop") else None
        entry = self.table.entity.get(lookup.property) if isinstance(lookup, Lookup) else None
        return entry.role.partition(" of ")[0] if entry is not None else ""

    def name_death(self, moment: str, owner: str, side: str) -> str:
        """`after the novelist died` or `in the lifetime of X`, whose death a hop looks up; empty for another moment.

        owner: of the list that the moment parts. Of a partner in one named work, `its librettist` could be that of what
        is asked for, so the work is pointed to.
        """
        known = [int(moment[3:])]
        lookup = self.step(moment).derivation
        if not isinstance(lookup, Lookup) or lookup.property != self.table.roles.death:
            return ""
        dead, work, role = lookup.subject, self.find_named(lookup.subject), self.call_short(lookup.subject)
        if role and owner.startswith("hop") and owner != dead and work == self.find_named(owner):
            if based := self._tell_based(int(dead[3:])):
                return self._beside_death(known, based, side)
            if self._based and self.find_named(f"hop{self._based}") == work:
                partner = f"the {self._head_noun(work)}'s {role}"
                return self._beside_death(known, mark([int(dead[3:])], partner), side)
            told = self._head_noun(work) in self._name(work)
            if told and self.noun_phrase(int(dead[3:])) == f"the {role} of {self.described(work)}":
                partner = f"that {self._head_noun(work)}'s {role}"
                return self._beside_death(known, mark([int(dead[3:])], partner), side)
            self.repeated.add(work)
        return self._beside_death(known, self._call_own(owner, dead), side)

    def _beside_death(self, known: Sequence[int], person: str, side: str) -> str:
        """`after the novelist died` or `after her death`; `before the death of the author of the play on which X is
        based`, for a verb after this would be read twice.
        """
        plain = strip_marks(person)
        if _RELATIVE.search(plain) or plain.count(" of ") > 1 or "," in plain:
            return f"{side} {mark(known, f'the death of {person}')}"
        if side == "before" and self.draw() < _LIFETIME:
            return f"in {mark(known, f'the lifetime of {person}')}"
        if len(plain.split()) < _SHORT_NAME // 2 and "'s" not in plain and self.draw() < _NOMINAL:
            possessive = f"{person}'s death"
            return f"{side} {mark(known, possessive)}"
        return f"{side} {mark(known, f'{person} died')}"

    def _call_own(self, owner: str, dead: str) -> str:
        """`the cinematographer of his "Saint Joan"`, where a work by which somebody is found is the owner's own."""
        said, work, whose = self.described(dead), self.find_named(dead), self.find_possessive(owner)
        if not owner.startswith("Q") or not work or not whose or not isinstance(self.names, MakerNaming):
            return said
        name = self.described(work)
        if not self.names.has_made(owner, work) or said.count(f"of {name}") != 1:
            return said
        return said.replace(f"of {name}", f"of {whose} {name}")

    def event(self, reference: str) -> str:
        """The event behind a looked-up year: `the founding of …`; of a computed one, the year described."""
        derivation = self.step(reference).derivation
        if isinstance(derivation, Lookup):
            kind = self.names.kind(self.entity(derivation.subject))
            if events := self.table.literal[derivation.property].worded(kind).event:
                return mark([int(reference[3:])], self.fill(events, "s", self.described(derivation.subject)))
        return self.described(reference)

    def dated_event(self, reference: str, say: ReferenceWording) -> str:
        """The event behind a looked-up year with its year, for a sub-question: `the death of X in 1947`."""
        derivation = self.step(reference).derivation
        if not isinstance(derivation, Lookup) or derivation.property not in self.table.literal:
            return say(reference)
        kind = self.names.kind(self.entity(derivation.subject))
        events = self.table.literal[derivation.property].worded(kind).event
        if not events:
            return say(reference)
        return f"{self.fill(events, 's', self.stated(derivation.subject))} in {say(reference)}"

    def when(self, expression: str, say: ReferenceWording) -> str:
        """A moment, as `in 1933`, `35 years before 1968`, or with the offset described."""
        if expression.isdigit():
            return f"in {expression}"
        if re.fullmatch(r"hop\d", expression):
            derivation = self.step(expression).derivation
            if say == self.described and isinstance(derivation, Compute):
                return mark([int(expression[3:])], self.when(derivation.expression, say))
            return f"in {say(expression)}"
        form = read_form(expression)
        if not isinstance(form, ShiftedYear):
            raise ExpressionError(f"no words for the year {expression}")
        direction = "after" if form.later else "before"
        offset = say(form.offset) if form.offset.startswith("hop") else form.offset
        start = self.event(form.base) if say == self.described and form.base.startswith("hop") else say(form.base)
        return f"{offset} year{'' if offset == '1' else 's'} {direction} {start}"

    # ------------------------------------------------------------ templates

    def fill(self, templates: Sequence[str], slot: str, phrase: str) -> str:
        """Choose a template and fill it; a phrase that is long or holds a clause goes to the end, without another one.

        Any other goes into a template without commas, where there is one.
        """
        if _TRAILING.search(phrase) or len(phrase.split()) > _SHORT_PHRASE:
            ending = [one for one in templates if one.rstrip("?").endswith(f"{{{slot}}}")] or templates
            templates = [one for one in ending if not _RELATIVE.search(one)] or ending
        else:  # what is turned about so that a long phrase comes last is stiff around a name
            templates = [one for one in templates if ", " not in one] or templates
        if slot == "s" and not templates[0].endswith("?") and self._rng.random() < _SHORT:
            templates = [min(templates, key=len)]
        return _tidy(self.pick(templates).replace(f"{{{slot}}}", phrase))

    def pick(self, options: Sequence[_Option]) -> _Option:
        """One of several ways to say the same."""
        return options[self._rng.randrange(len(options))]

    def draw(self) -> float:
        """A number from 0 to 1 that decides between ways to say something."""
        return self._rng.random()

    def _templates(self, lookup: Lookup, step: PlanStep, form: str, say: ReferenceWording) -> tuple[str, ...]:
        literal = self.table.literal.get(lookup.property)
        kind = self.names.kind(self.entity(lookup.subject))
        templates: tuple[str, ...]
        if literal is not None:
            templates = getattr(literal.worded(kind), f"year_{form}" if step.unit == "year" else form)
        else:
            object = str(step.value)
            noun = self.noun(object, say) if step.answer_type == "entity" else ""
            noun = plain_noun(noun) if self._is_asked_for_its_country(step) else noun
            entry = self.table.entity[lookup.property]
            templates = getattr(entry.worded(kind, self.names.kind(object), noun), form)
        if not templates:
            raise ExpressionError(f"no {form} for {lookup.property}")
        return templates

    def _is_asked_for_its_country(self, step: PlanStep) -> bool:
        """Whether the next step asks in what this one's answer lies: then `Hungarian city` would say it."""
        reference = f"hop{1 + next(place for place, one in enumerate(self._steps) if one is step)}"
        lookups = [one.derivation for one in self._steps if isinstance(one.derivation, Lookup)]
        return any(one.subject == reference and one.property in self.table.roles.within for one in lookups)

    def _holder(
        self, derivation: ReverseLookup, say: ReferenceWording, form: Literal["holder_ask", "holder_np"]
    ) -> str:
        """Who or what holds a year of a timeline; empty for another look-up."""
        entry = self.table.literal.get(derivation.property)
        if entry is None or not entry.timeline or derivation.constraints:
            return ""
        told = say == self.described and form == "holder_np" and entry.holder_when
        if told and (event := self._told_event(derivation)):
            return entry.holder_when.replace("{e}", event)
        year = derivation.value if derivation.value.isdigit() else say(derivation.value)
        templates = entry.holder_ask if form == "holder_ask" else entry.holder_np
        # `the 1922 Nobel Prize`, but not `the the year in which X died Nobel Prize`.
        before = [one for one in templates if "{y} " in one] if year.isdigit() else []
        return self.pick(before or [one for one in templates if "{y} " not in one]).replace("{y}", year)

    def _told_event(self, holder: ReverseLookup) -> str:
        """The event whose year somebody holds, as a clause: `X died`; empty for a year that no event gives."""
        if (happened := self._find_event(holder)) is None:
            return ""
        lookup, predicate = happened
        subject = self.described(lookup.subject)
        return mark([int(holder.value[3:])], f"{subject} {predicate.removesuffix(' in {y}')}")

    def _find_event(self, holder: ReverseLookup) -> tuple[Lookup, str] | None:
        """The look-up of the year that somebody holds, and what is said of its subject: `died in {y}`."""
        lookup = self.step(holder.value).derivation if holder.value.startswith("hop") else None
        if not isinstance(lookup, Lookup) or lookup.property not in self.table.literal:
            return None
        worded = self.table.literal[lookup.property].worded(self.names.kind(self.entity(lookup.subject)))
        return (lookup, worded.year_predicate[0]) if worded.year_predicate else None

    def _tells_holder(self, holder: ReverseLookup) -> bool:
        """Whether somebody who held a year can be told by an event of it, in a sentence before the question."""
        entry = self.table.literal.get(holder.property)
        return entry is not None and bool(entry.holder_told) and self._find_event(holder) is not None

    def _tells_time(self) -> bool:
        """Whether the question says who held a year by an event: to what would the rest of it belong then?"""
        held = [one.derivation for one in self._steps[:-1] if isinstance(one.derivation, ReverseLookup)]
        timed = [one for one in held if one.property in self.table.literal]
        return any(self.table.literal[one.property].holder_when and self._find_event(one) for one in timed)

    def _reverse_phrases(
        self, derivation: ReverseLookup, found: str, form: Literal["reverse_ask", "reverse_np"]
    ) -> tuple[str, ...]:
        entry = self.table.entity.get(derivation.property)
        if entry is None:
            return ()
        worded = entry.worded(self.names.kind(found), self.names.kind(self.entity(derivation.value)))
        return worded.reverse_np if form == "reverse_np" else worded.reverse_ask

    def _predicates(self, derivation: ReverseLookup, found: str, say: ReferenceWording) -> list[str]:
        conditions = [*derivation.constraints, Constraint(property=derivation.property, value=derivation.value)]
        if derivation.asks_same_of_two():
            named = self.names.kind(found), self.names.kind(self.entity(derivation.value))
            predicates = self.table.entity[derivation.property].worded(*named).predicate
            both = self._computed.name_both([one.value for one in conditions], say)
            return [self.pick(predicates).replace("{o}", both)]
        return [self._predicate(condition, found, say) for condition in conditions]

    def _predicate(self, condition: Constraint, found: str, say: ReferenceWording) -> str:
        kind = self.names.kind(found)
        literal = self.table.literal.get(condition.property)
        if literal is None:
            object = self.names.kind(self.entity(condition.value))
            predicates = self.table.entity[condition.property].worded(kind, object).predicate
            return self.fill(predicates, "o", say(condition.value))
        template = self.pick(literal.worded(kind).year_predicate)
        when = self.when(condition.value, say)
        if when.startswith("in "):
            return template.replace("{y}", when[3:])
        if template.endswith(" in {y}"):
            return template.removesuffix(" in {y}") + f" {when}"
        return template.replace("{y}", f"the year that came {when}")


def _is_timed(derivation: Derivation, table: PropertyTable) -> bool:
    """Whether a derivation reads or compares dates of what it names, so that the question must not say them."""
    if isinstance(derivation, Compute):
        return not isinstance(read_form(derivation.expression), NextOfList | EndOfMaker)
    return getattr(derivation, "property", "") in table.literal


def _say_several(one: re.Match[str]) -> str:
    return "More than one" if one[0] == "One" else "more than one"


def _tidy(text: str) -> str:
    text = _OWN_THE.sub(r"\1 ", text)
    return _MADE_TWICE.sub(lambda match: f"{match[1]}{match[2]}{match[3] or ''} ", text)


def _joined(predicates: list[str]) -> str:
    """Join predicates of one subject; one that holds a clause of its own comes last, or a second would attach to it."""
    ordered = sorted(predicates, key=lambda predicate: _RELATIVE.search(predicate) is not None)
    comma = "," if len(ordered) > 1 and _RELATIVE.search(ordered[0]) else ""
    return f"{comma} and ".join(ordered)
