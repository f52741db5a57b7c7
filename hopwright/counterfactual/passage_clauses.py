"""The facts of a passage as clauses: each in every form in which it can be told."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hopwright.counterfactual.passage_frames import ToldFact, find_role
from hopwright.counterfactual.passage_phrases import derive_phrases, find_phrases, list_role
from hopwright.counterfactual.passages import PassagePlan
from hopwright.counterfactual.twin_wording import strip_proper
from hopwright.knowledge.properties import EntityProperty, PropertyTable
from hopwright.knowledge.wikidata.confusions import add_alike
from hopwright.records import LiteralFact
from hopwright.records.values import EntityKind, render
from hopwright.text.phrases import listed, pluralise, write_ordinal
from hopwright.wording.rules.rules_writer import EntityNaming

VAGUE_NOUNS = frozenset(
    {"", "thing", "class", "work", "event", "place", "natural feature", "transport link", "other", "person", "edition"}
)
SETTLEMENTS = frozenset({"city", "town", "village", "municipality", "commune", "settlement", "suburb", "district"})
_WORKS = frozenset({"film", "television series", "miniseries", "novel", "album", "play", "opera", "painting"})
_OF_MAKER = frozenset({"director", "directing", "writer", "writing"})
_FRONTED = re.compile(r"^(?:with|\w+ed|\w+ing|born|set|shot|made|held|built|written|first \w+ed|home)\b")
_OF_MEMBER = re.compile(r"^the ((?:(?!\{s\}).)+) (of|at|in|on) \{s\}$")
_AS_SUBJECT = re.compile(r"(?<=where |which |until )\{it\}|(?<=whom |that |when )\{it\}|(?<=before )\{it\}(?= \w+ed\b)")
_RELATIVE = re.compile(r" (?:who|whom|that|which|where) ")
_OBJECT_LAST = re.compile(r"(as (?:its|the) [\w ]+) \{it\}$")
"""`chose as the head of the bank {it}`"""
_OF_IT = re.compile(r"\bthe (final|crew|winner|open event|final tournament) of \{it\}")
_OF_PERSON = re.compile(r"\bthe (first|last|radio|doctoral)? ?(\w+) of \{it\}$")
"""`swore in the first government of {it}`"""
_CHOICE = re.compile(r"^the (?P<who>.+) whose (?P<act>choice|nominee) for (?P<what>.+) was \{s\}$")
_IN_OFFICE = re.compile(r"^the (?P<who>.+) in office when (?P<what>.+) was first chaired by \{s\}$")
_JOINT = re.compile(r" (?:represented|launched|awarded|of|who|whom|that|which|where|at|in|for|on|under|after) ")
_ROLE = re.compile(r"\{o\} as (?:(its|an?) )?([\w -]+)$")
Form = Literal["post", "verb", "own", "fronted"]


@dataclass(frozen=True, slots=True)
class Clause:
    """One fact, or several of one property, in every form in which it can be told; `{s}` and its like are left.

    about: the property. fact: its value as it stands in a sentence. object: the kind of the other end, empty for a
    value. named: a sentence for the beginning, in which the subject stands by its name.
    """

    about: str
    fact: ToldFact
    object: EntityKind | Literal[""] = ""
    post: tuple[str, ...] = ()
    verb: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    @property
    def fronted(self) -> tuple[str, ...]:
        """The forms after a noun that may also open a sentence."""
        return tuple(one for one in self.post if _FRONTED.match(one))


class ClauseMaker:
    """Makes the clauses of a plan of a passage."""

    def __init__(self, table: PropertyTable) -> None:
        self._table = table
        self._ordering = {date for name in table.lists for date in table.entity[name].ordered_by}
        """The dates by which lists are ordered: which of two works came first, or came after a death, takes the day."""

    def list_clauses(self, plan: PassagePlan, names: EntityNaming, rng: random.Random) -> list[Clause]:
        """All facts of the plan, each in one clause; a literal that cannot be read is left out."""
        said: dict[tuple[str, bool], list[str]] = {}
        kinds: dict[tuple[str, bool], EntityKind] = {}
        own_kind = names.kind(plan.subject)
        for triplet in plan.triplets:
            inverse = triplet.subject != plan.subject
            other = triplet.subject if inverse else triplet.object
            entry = self._table.entity.get(triplet.property)
            property = self._find_told(triplet.property, own_kind, inverse=inverse)
            plain = entry is None or (bool(entry.series) and not inverse)
            told = names.phrase(other) if plain else _describe(other, names, rng)
            told = f"the {told}" if told.startswith("University of ") else told
            if triplet.property in self._table.lists:
                told = names.phrase(other).removeprefix(f"the {names.noun(other)} ")
            said.setdefault((property, inverse), []).append(told)
            kinds.setdefault((property, inverse), names.kind(other))
        clauses: dict[str, Clause] = {}
        for (property, inverse), objects in said.items():
            objects = list(dict.fromkeys(objects))
            if find_role(property) == "works":
                objects.sort(key=_strip_article)
            key = f"{property} inverse" if inverse else property
            clauses[key] = self._word_entity(property, inverse, objects, own_kind, kinds[property, inverse])
        dated: set[str] = set()
        for literal in plan.literals:
            clause = self._word_literal(literal, own_kind)
            if clause is not None:
                clauses.setdefault(literal.property, clause)
                dated.add(literal.property)
        for role in ("birth", "death"):
            when, where = list_role(role)
            if when in dated and where in clauses:
                place = listed(list(dict.fromkeys(said[where, False])))
                act = "born" if role == "birth" else "who died"
                verb = "was born" if role == "birth" else "died"
                told = f"{clauses[when].fact.told} in {place}"
                del clauses[where]
                clauses[when] = Clause(when, ToldFact(told), "", (f"{act} {told}",), (f"{verb} {told}",))
        return _join_maker(list(_drop_repeated(clauses.values())))

    def _find_told(self, property: str, kind: EntityKind, *, inverse: bool) -> str:
        """The property as which a fact is told: the column with the birthplaces of a series of people says no more."""
        entry = self._table.entity.get(property)
        where = list_role("birth")[1]
        column = entry is not None and bool(entry.series) and not inverse and kind == "person"
        return where if column and where in add_alike({property}) else property

    def _word_entity(
        self, property: str, inverse: bool, objects: Sequence[str], subject: EntityKind, object: EntityKind
    ) -> Clause:
        phrases = find_phrases(property, subject if not inverse else object)
        told, many = listed(objects), len(objects) > 1
        fact = ToldFact(told, many)
        entry = self._table.entity.get(property)
        if entry is not None and entry.series and not inverse and not phrases:
            phrases = _word_column(entry.worded(subject, object), subject, many)
            be = "are" if many else "is"
            forms = {
                form: tuple(one.replace("{o}", told).replace("{are}", be) for one in wordings)
                for form, wordings in phrases.items()
            }
            return Clause(property, fact, object, *(forms.get(form, ()) for form in ("post", "verb", "own", "named")))
        if property in self._table.lists and not many and not inverse:
            phrases = _say_of_one(phrases, object)
        if inverse:
            verbs = tuple(one.replace("{o}", told) for one in phrases.get("inverse", ()))
            who = "who" if subject in ("person", "fiction") else "that"
            return Clause(property, fact, object, tuple(f"{who} {verb}" for verb in verbs[:1]), verbs)
        if entry is not None and not phrases.get("verb") and (many or not phrases.get("own")):
            worded = entry.worded(subject, object)
            has = "had" if worded.series else "has"
            phrases = derive_phrases(worded.predicate or (f"{has} {{o}} as {{its}} {worded.label}",), worded.np)
        if many:
            phrases = {form: tuple(map(_pluralise_role, wordings)) for form, wordings in phrases.items()}
        # A sentence with one subject or one complement has no place for several.
        own = [one for one in phrases.get("own", ()) if not many or "{are}" in one or "include {o}" in one]
        return Clause(
            property,
            fact,
            object,
            tuple(one.replace("{o}", told) for one in phrases.get("post", ())),
            tuple(one.replace("{o}", told) for one in phrases.get("verb", ())),
            tuple(one.replace("{o}", told).replace("{are}", "are" if many else "is") for one in own),
        )

    def _word_literal(self, literal: LiteralFact, kind: EntityKind) -> Clause | None:
        """The clause of a literal; None for one that cannot be read."""
        entry = self._table.literal.get(literal.property)
        phrases = find_phrases(literal.property, kind)
        if entry is None:  # what is invented for passages alone
            told = literal.value if literal.datatype == "string" else render(int(literal.value))
            return _fill(literal.property, phrases, "in", told, ToldFact(told))
        value = self._table.read(literal)
        if value is None:
            return None
        entry = entry.worded(kind)
        on, told = "in", render(value)
        if isinstance(value, dt.date):
            told_to_the_day = entry.value == "date" or literal.property in self._ordering
            exact = told_to_the_day and (value.month, value.day) != (1, 1)
            on, told = ("on", render(value)) if exact else ("in", str(value.year))
            phrases = phrases or derive_phrases([_admit_days(one) for one in entry.year_predicate], ())
            return _fill(literal.property, phrases, on, told, ToldFact(f"{on} {told}"))
        if entry.series:
            among = entry.label.removeprefix("place ").removeprefix("among ")
            told = f"the {write_ordinal(int(value))} of {among}"
            phrases = {"verb": ("was {o}",)}
        else:
            phrases = phrases or derive_phrases((), entry.np)
        return _fill(literal.property, phrases, on, told, ToldFact(told))


def _strip_article(title: str) -> str:
    """A title as an alphabetical list has it."""
    return re.sub(r'^"?(?:(?:The|A|An) )?', "", title).casefold()


def _join_maker(clauses: list[Clause]) -> list[Clause]:
    """The clauses with one for whoever both wrote and directed a work, in place of two with the same name."""
    held = {find_role(clause.about): clause for clause in clauses}
    if "director" not in held or "writer" not in held or held["director"].fact != held["writer"].fact:
        return clauses
    whole = _fill("auteur", find_phrases("auteur", "work"), "", held["director"].fact.told, held["director"].fact)
    return [whole, *(one for one in clauses if find_role(one.about) not in _OF_MAKER)]


def _drop_repeated(clauses: Iterable[Clause]) -> Iterator[Clause]:
    """The clauses without those that would say of the same role the same again: two lists name one commander."""
    said: set[tuple[str, str]] = set()
    for clause in clauses:
        role = find_role(clause.about)
        if not role or (role, clause.fact.told) not in said:
            yield clause
        said.add((role, clause.fact.told))


def _fill(about: str, phrases: Mapping[str, tuple[str, ...]], on: str, told: str, fact: ToldFact) -> Clause:
    forms = (
        tuple(one.replace("{on}", on).replace("{o}", told) for one in phrases.get(form, ()))
        for form in ("post", "verb", "own")
    )
    return Clause(about, fact, "", *forms)


def _word_column(entry: EntityProperty, kind: EntityKind, many: bool) -> Mapping[str, tuple[str, ...]]:
    """The wordings of what is known of the members of a series, from its noun phrase: `the runner-up in {s}`."""
    np = entry.np[0]
    if many:
        head, joint, rest = _split_head(np)
        np = f"{pluralise(head)}{joint}{rest}"
    be = "{are}" if kind in ("place", "country", "nature", "other") else "were" if many else "was"
    if kind == "person" and not many:
        return _word_person_column(np, entry.np[0])
    named = (f"{np} {be} {{o}}",)
    match = _OF_MEMBER.match(np)
    if match and not (match[2] == "of" and _RELATIVE.search(np)):
        bare = match[1]
        plain = match[2] == "of" and " " not in bare.replace("first ", "").replace("-", "")
        return {"own": (f"{{its}} {bare} {be} {{o}}" if plain else f"the {bare} {be} {{o}}",), "named": named}
    np = _AS_SUBJECT.sub("{s}", np.replace("{s}", "{it}"))
    np = _OBJECT_LAST.sub(r"{it} \1", _OF_IT.sub(r"{its} \1", np))
    return {"own": (f"{np} {be} {{o}}",), "named": named}


def _word_person_column(np: str, whole: str) -> Mapping[str, tuple[str, ...]]:
    """The wordings of what is known of somebody in an office, with the other end first: `{o} was the president …`."""
    if match := _CHOICE.match(whole):
        act = "chose" if match["act"] == "choice" else "nominated"
        what = "head" + match["what"].removeprefix("head") if match["what"].startswith("head ") else match["what"]
        to = "as" if what.startswith("head ") else "for"
        return {"own": (f"{{o}} was the {match['who']} who {act} {{it}} {to} {what}",)}
    if match := _IN_OFFICE.match(whole):
        return {"own": (f"when {{s}} first chaired {match['what']}, the {match['who']} was {{o}}",)}
    told = _OF_PERSON.sub(r"{its} \1 \2", np.replace("{s}", "{it}")).replace("  ", " ")
    told = _OBJECT_LAST.sub(r"{it} \1", _AS_SUBJECT.sub("{s}", told))
    told = re.sub(r"(?<=at which |to which |in which )\{it\}", "{s}", told)
    return {"own": (f"{told} was {{o}}", f"{{o}} was {told}")}


def _split_head(np: str) -> tuple[str, str, str]:
    """A noun phrase as its head, what joins the rest to it, and the rest."""
    match = _JOINT.search(np)
    return (np[: match.start()], match[0], np[match.end() :]) if match else (np, "", "")


def _admit_days(predicate: str) -> str:
    """A predicate for a year as one for a day, too: `was launched in {y}`."""
    return predicate.replace("in {y}", "{on} {o}").replace("{y}", "{o}")


def _pluralise_role(wording: str) -> str:
    """`had {o} as an executive producer` as it is said of several."""
    wording = wording.replace("the voice of {o}", "the voices of {o}")
    return _ROLE.sub(lambda match: f"{{o}} as {'its ' if match[1] == 'its' else ''}{pluralise(match[2])}", wording)


def _say_of_one(phrases: Mapping[str, tuple[str, ...]], object: EntityKind) -> Mapping[str, tuple[str, ...]]:
    """The wordings of a whole list for one of its members: `wrote X` for `wrote the operas X, Y and Z`."""
    if object == "person":
        return {"verb": ("was a parent of {o}",)}
    return {"verb": tuple(f"{one.partition(' ')[0]} {{o}}" for one in phrases.get("verb", ()))}


def _describe(entity: str, names: EntityNaming, rng: random.Random) -> str:
    """An entity's name; now and then with what it is."""
    phrase = names.phrase(entity)
    noun = strip_proper(names.noun(entity))
    if phrase.startswith("the ") or rng.random() > 0.1 or noun in VAGUE_NOUNS or not noun.islower():
        return phrase
    if names.kind(entity) == "place" and noun in SETTLEMENTS:
        return f"the {noun} of {phrase}"
    if noun in _WORKS and noun not in phrase.casefold():
        return f"the {noun} {phrase}"
    return phrase
