"""Passages worded by rule: the facts of a plan in connected prose.

A passage opens with what its subject is, in one of many ways, and goes on with pronouns, joined clauses and units.
Every choice is drawn from the facts themselves, so the same facts give the same words in every run. The wordings of
the facts are data (`passage_phrases.toml`); a property without one there is worded from the property table.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from hopwright.counterfactual.passage_phrases import derive_phrases, find_phrases, list_role
from hopwright.counterfactual.passages import PassagePlan
from hopwright.counterfactual.surrogate_names import split_person
from hopwright.counterfactual.twin_wording import strip_proper
from hopwright.knowledge.properties import EntityProperty, PropertyTable
from hopwright.knowledge.wikidata.confusions import add_alike
from hopwright.records import LiteralFact, Passage, Triplet
from hopwright.records.values import EntityKind, render
from hopwright.text.articles import article
from hopwright.text.phrases import listed, pluralise
from hopwright.text.phrases import sentence as capitalise
from hopwright.wording.rules.rules_writer import EntityNaming

VAGUE_NOUNS = frozenset(
    {"", "thing", "class", "work", "event", "place", "natural feature", "transport link", "other", "person", "edition"}
)
_SETTLEMENTS = frozenset({"city", "town", "village", "municipality", "commune", "settlement", "suburb", "district"})
_WORKS = frozenset({"film", "television series", "miniseries", "novel", "album", "play", "opera", "painting"})
_PRONOUNS = {"female": ("she", "her", "her"), "male": ("he", "him", "his")}
_FRONTED = re.compile(r"^(?:with|\w+ed|\w+ing|born|set|shot|made|held|built|written|first \w+ed|home)\b")
_PERFECT = re.compile(r"(?:\w+ed|had|been|taken|won)\b")
_OF_MEMBER = re.compile(r"^the ((?:(?!\{s\}).)+) (of|at|in|on) \{s\}$")
_AS_SUBJECT = re.compile(r"(?<=where |which |until )\{it\}|(?<=whom |that |when )\{it\}|(?<=before )\{it\}(?= \w+ed\b)")
_RELATIVE = re.compile(r" (?:who|whom|that|which|where) ")
_OBJECT_LAST = re.compile(r"(as (?:its|the) [\w ]+) \{it\}$")
"""`chose as the head of the bank {it}`"""
_OF_IT = re.compile(r"\bthe (final|crew|winner|open event|final tournament) of \{it\}")
_JOINT = re.compile(r" (?:of|who|whom|that|which|where|at|in|for|on|under|after) ")
_Form = Literal["post", "verb", "own"]


@dataclass(frozen=True, slots=True)
class _Clause:
    """One fact, or several of one property, in every form in which it can be told; `{s}` and its like are left."""

    about: str
    post: tuple[str, ...] = ()
    verb: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    """A sentence for the beginning, in which the subject stands by its name."""

    @property
    def fronted(self) -> tuple[str, ...]:
        """The forms after a noun that may also open a sentence."""
        return tuple(one for one in self.post if _FRONTED.match(one))


@dataclass(slots=True)
class _Reference:
    """How a passage speaks of its subject: by name first, then by pronoun, now and then by its noun or family name."""

    phrase: str
    noun: str
    pronouns: tuple[str, str, str]
    others: tuple[str, ...]
    gone: bool
    rng: random.Random
    _said: int = field(default=0)

    def fill(self, template: str, *, by_name: bool = False) -> str:
        """Put the subject, and verbs in its tense, into a template."""
        subject, object, possessive = self.pronouns
        if by_name:
            subject = object = self.phrase
            plural = self.phrase.startswith("the ") and self.phrase.endswith("s")
            possessive = f"{self.phrase}'" if plural else f"{self.phrase}'s"
        elif "{s}" in template and self.others and self._said % 3 == 1:
            subject = self.rng.choice(self.others)
        self._said += 1
        present = not self.gone
        return (
            template.replace("{s}", subject)
            .replace("{its}", possessive)
            .replace("{it}", object)
            .replace("{is}", "is" if present else "was")
            .replace("{has}", "has" if present else "had")
            .replace("{stands}", "stands" if present else "stood")
            .replace("{belongs}", "belongs" if present else "belonged")
        )


class PassageWriter:
    """Words plans of passages by rule."""

    def __init__(self, table: PropertyTable) -> None:
        self._table = table
        self._ordering = {date for name in table.lists for date in table.entity[name].ordered_by}
        """The dates by which lists are ordered: which of two works came first, or came after a death, takes the day."""

    def word(self, plan: PassagePlan, names: EntityNaming, label: str | None = None) -> Passage:
        """One passage; `names` and `label` are those of the world that it tells of.

        All facts of the plan are told, each once, and nothing else; a literal that cannot be read is left out.
        """
        label = label or plan.subject_label
        rng = random.Random(f"{plan.subject}:{len(plan.triplets)}:{len(plan.literals)}:{plan.supporting}")
        clauses = list(self._list_clauses(plan, names, rng))
        rng.shuffle(clauses)
        clauses.sort(key=lambda clause: _rank(clause.about))
        reference = _refer_to(plan, names, label, rng)
        opener = _Opener(reference, names.kind(plan.subject), label, rng)
        sentences = [*opener.open(clauses), *_continue(clauses, reference, rng)]
        text = " ".join(f"{capitalise(one).removesuffix('.')}." for one in sentences)
        return Passage(title=label, text=text, supporting=plan.supporting)

    def _list_clauses(self, plan: PassagePlan, names: EntityNaming, rng: random.Random) -> Iterator[_Clause]:
        said: dict[tuple[str, bool], list[str]] = {}
        kinds: dict[tuple[str, bool], EntityKind] = {}
        for triplet in plan.triplets:
            inverse = triplet.subject != plan.subject
            other = triplet.subject if inverse else triplet.object
            column = (
                bool(self._table.entity[triplet.property].series) if triplet.property in self._table.entity else False
            )
            told = names.phrase(other) if column and not inverse else _describe(other, names, rng)
            if triplet.property in self._table.lists:
                told = names.phrase(other).removeprefix(f"the {names.noun(other)} ")
            said.setdefault((triplet.property, inverse), []).append(told)
            kinds.setdefault((triplet.property, inverse), names.kind(other))
        dates: dict[str, str] = {}
        own_kind = names.kind(plan.subject)
        clauses: dict[str, _Clause] = {}
        for (property, inverse), objects in said.items():
            objects = list(dict.fromkeys(objects))
            key = f"{property} inverse" if inverse else property
            clauses[key] = self._word_entity(property, inverse, objects, own_kind, kinds[property, inverse])
        for literal in plan.literals:
            clause, date = self._word_literal(literal, own_kind)
            if clause is not None:
                clauses.setdefault(literal.property, clause)
                dates[literal.property] = date
        for role in ("birth", "death"):
            when, where = list_role(role)
            if when in clauses and where in clauses and when in dates:
                place = listed(list(dict.fromkeys(said[where, False])))
                act = "born" if role == "birth" else "who died"
                verb = "was born" if role == "birth" else "died"
                told = f"{dates[when]} in {place}"
                del clauses[where]
                clauses[when] = _Clause(when, (f"{act} {told}",), (f"{verb} {told}",))
        yield from clauses.values()

    def _word_entity(
        self, property: str, inverse: bool, objects: Sequence[str], subject: EntityKind, object: EntityKind
    ) -> _Clause:
        phrases = find_phrases(property, subject if not inverse else object)
        column = self._table.entity[property]
        if column.series and not inverse:
            where = list_role("birth")[1]
            if where in add_alike({property}):
                phrases = find_phrases(where, subject)
            else:
                phrases = _word_column(column.worded(subject, object), subject, len(objects) > 1)
            told = listed(objects)
            filled = {form: tuple(one.replace("{o}", told) for one in wordings) for form, wordings in phrases.items()}
            be = "are" if len(objects) > 1 else "is"
            forms = {form: tuple(one.replace("{are}", be) for one in wordings) for form, wordings in filled.items()}
            none: tuple[str, ...] = ()
            return _Clause(property, *(forms.get(form, none) for form in ("post", "verb", "own", "named")))
        if property in self._table.lists and len(objects) == 1 and not inverse:
            phrases = _say_of_one(phrases, object)
        told = listed(objects)
        if inverse:
            verbs = tuple(one.replace("{o}", told) for one in phrases.get("inverse", ()))
            who = "who" if subject in ("person", "fiction") else "that"
            return _Clause(property, tuple(f"{who} {verb}" for verb in verbs[:1]), verbs)
        if not phrases.get("verb") and (len(objects) > 1 or not phrases.get("own")):
            entry = self._table.entity[property].worded(subject, object)
            has = "had" if entry.series else "has"
            phrases = derive_phrases(entry.predicate or (f"{has} {{o}} as {{its}} {entry.label}",), entry.np)
        many = len(objects) > 1
        # A sentence with one subject or one complement has no place for several.
        own = [one for one in phrases.get("own", ()) if not many or "{are}" in one or "include {o}" in one]
        return _Clause(
            property,
            tuple(one.replace("{o}", told) for one in phrases.get("post", ())),
            tuple(one.replace("{o}", told) for one in phrases.get("verb", ())),
            tuple(one.replace("{o}", told).replace("{are}", "are" if many else "is") for one in own),
        )

    def _word_literal(self, literal: LiteralFact, kind: EntityKind) -> tuple[_Clause | None, str]:
        """The clause of a literal, and when it was where it is a date; None for one that cannot be read."""
        value = self._table.read(literal)
        if value is None:
            return None, ""
        entry = self._table.literal[literal.property].worded(kind)
        phrases = find_phrases(literal.property, kind)
        on = "in"
        if isinstance(value, dt.date):
            told_to_the_day = entry.value == "date" or literal.property in self._ordering
            exact = told_to_the_day and (value.month, value.day) != (1, 1)
            on, told = ("on", render(value)) if exact else ("in", str(value.year))
            phrases = phrases or derive_phrases([_admit_days(one) for one in entry.year_predicate], ())
        elif entry.series:
            told, among = render(value), entry.label.removeprefix("place ")
            phrases = {"verb": (f"stands at number {{o}} in the list of {among.removeprefix('among ')}",)}
        else:
            told = render(value)
            phrases = phrases or derive_phrases((), entry.np)

        def fill(form: str) -> tuple[str, ...]:
            return tuple(one.replace("{on}", on).replace("{o}", told) for one in phrases.get(form, ()))

        return _Clause(literal.property, fill("post"), fill("verb"), fill("own")), f"{on} {told}"


class _Opener:
    """Draws the first sentence of a passage and takes the clauses that it tells."""

    def __init__(self, reference: _Reference, kind: EntityKind, label: str, rng: random.Random) -> None:
        self._reference = reference
        self._rng = rng
        self._kind = kind
        # "The 16th summit is a summit": a name that says what its bearer is says it once.
        head = reference.noun.split()[-1:]
        said = kind not in ("person", "fiction") and set(head) <= set(label.casefold().split())
        self._noun = "" if said else reference.noun
        # "The film "Skidoo"" is a film: its noun is not said twice.
        bare = reference.phrase.removeprefix(f"the {self._noun} ").removeprefix("of ") if self._noun else ""
        self._phrase = bare or reference.phrase
        self._an = f"{article(self._noun)} {self._noun}" if self._noun else ""
        self._is = "was" if reference.gone and kind in ("person", "fiction") else "is"
        self._titled = reference.phrase if self._phrase != reference.phrase else self._make_title(label)

    def open(self, clauses: list[_Clause]) -> Iterator[str]:
        """The first sentence, without its full stop; what it tells is taken out of the clauses."""
        patterns = [self._tell_of_class, self._stand_apart, self._go_on, self._be_plain] if self._noun else []
        patterns += [self._front, self._front_class] if self._noun else [self._front_act]
        patterns += [self._act, self._act_titled, self._act_apart, self._front_titled, self._reverse]
        patterns += [self._possess, self._name]
        self._rng.shuffle(patterns)
        for pattern in patterns:
            if sentence := pattern(clauses):
                yield sentence
                return
        verb = "" if self._noun else self._take(clauses, "verb")
        if self._noun or verb:
            yield f"{self._phrase} {verb or f'{self._is} {self._an}'}"
        elif sentence := self._begin(clauses):
            yield sentence

    def _make_title(self, label: str) -> str:
        """The name with its noun before it: `the cyclist Mara Velden`; empty where that would be said twice."""
        words = {word.casefold() for word in re.findall(r"\w+", label)}
        if not self._noun or self._phrase.startswith("the ") or self._kind in ("country", "event", "competition"):
            return ""
        if words & set(self._noun.casefold().split()):
            return ""
        if self._kind in ("place", "nature"):
            return f"the {self._noun} of {self._phrase}" if self._noun.split()[-1] in _SETTLEMENTS else ""
        return f"the {self._noun} {self._phrase}"

    def _take(self, clauses: list[_Clause], form: _Form | Literal["fronted"]) -> str:
        """One clause's wording in a form, taken out of the clauses; empty where none has it."""
        for clause in clauses:
            if wordings := getattr(clause, form):
                clauses.remove(clause)
                return self._reference.fill(str(self._rng.choice(wordings)))
        return ""

    def _take_two(self, clauses: list[_Clause], first: _Form | Literal["fronted"], second: _Form) -> tuple[str, str]:
        """Wordings of two clauses in two forms, both or none."""
        for one in clauses:
            if not getattr(one, first):
                continue
            for other in clauses:
                if other is not one and getattr(other, second):
                    clauses.remove(one)
                    clauses.remove(other)
                    fill = self._reference.fill
                    return (
                        fill(str(self._rng.choice(getattr(one, first)))),
                        fill(str(self._rng.choice(getattr(other, second)))),
                    )
        return "", ""

    def _tell_of_class(self, clauses: list[_Clause]) -> str:
        post = self._take(clauses, "post")
        return f"{self._phrase} {self._is} {self._an} {post}" if post else ""

    def _stand_apart(self, clauses: list[_Clause]) -> str:
        post, verb = self._take_two(clauses, "post", "verb")
        return f"{self._phrase}, {self._an} {post}, {verb}" if post else ""

    def _go_on(self, clauses: list[_Clause]) -> str:
        post, verb = self._take_two(clauses, "post", "verb")
        subject = self._reference.pronouns[0]
        return f"{self._phrase} {self._is} {self._an} {post}, and {subject} {verb}" if post else ""

    def _be_plain(self, clauses: list[_Clause]) -> str:
        own = self._take(clauses, "own")
        return f"{self._phrase} {self._is} {self._an}; {own}" if own else ""

    def _front(self, clauses: list[_Clause]) -> str:
        post = self._take(clauses, "fronted")
        return f"{post}, {self._phrase} {self._is} {self._an}" if post else ""

    def _front_class(self, clauses: list[_Clause]) -> str:
        post, verb = self._take_two(clauses, "post", "verb")
        return f"{self._an} {post}, {self._phrase} {verb}" if post else ""

    def _front_act(self, clauses: list[_Clause]) -> str:
        post, verb = self._take_two(clauses, "fronted", "verb")
        return f"{post}, {self._phrase} {verb}" if post else ""

    def _front_titled(self, clauses: list[_Clause]) -> str:
        if not self._titled:
            return ""
        post, verb = self._take_two(clauses, "fronted", "verb")
        return f"{post}, {self._titled} {verb}" if post else ""

    def _act(self, clauses: list[_Clause]) -> str:
        verb = self._take(clauses, "verb") if self._noun else ""
        return f"{self._phrase}, {self._an}, {verb}" if verb else ""

    def _act_titled(self, clauses: list[_Clause]) -> str:
        verb = self._take(clauses, "verb") if self._titled else ""
        return f"{self._titled} {verb}" if verb else ""

    def _act_apart(self, clauses: list[_Clause]) -> str:
        if not self._titled:
            return ""
        post, verb = self._take_two(clauses, "post", "verb")
        if post.startswith("that ") and self._kind not in ("person", "fiction"):
            post = f"which {post[5:]}"
        return f"{self._titled}, {post}, {verb}" if post else ""

    def _reverse(self, clauses: list[_Clause]) -> str:
        if not self._noun or self._kind in ("person", "fiction"):
            return ""
        post = self._take(clauses, "post")
        return f"{self._phrase} is the name of {self._an} {post}" if post else ""

    def _possess(self, clauses: list[_Clause]) -> str:
        for clause in clauses:
            for own in clause.own:
                if "{its}" in own and "{s}" not in own and not self._phrase.endswith('"'):
                    clauses.remove(clause)
                    return self._reference.fill(own, by_name=True)
        return ""

    def _begin(self, clauses: list[_Clause]) -> str:
        """Whatever sentence can be told with the subject's name in it."""
        for clause in clauses:
            for own in (*clause.named, *clause.own):
                if sum(map(own.count, ("{s}", "{it}", "{its}"))) == 1:
                    clauses.remove(clause)
                    return self._reference.fill(own, by_name=True)
        return ""

    def _name(self, clauses: list[_Clause]) -> str:
        """The first sentence is about what somebody was to the subject: `The runner-up in the 1958 Cup was …`."""
        if self._phrase.endswith('"'):
            return ""
        for clause in clauses:
            if clause.named:
                clauses.remove(clause)
                return self._reference.fill(clause.named[0], by_name=True)
        return ""


def _word_column(entry: EntityProperty, kind: EntityKind, many: bool) -> Mapping[str, tuple[str, ...]]:
    """The wordings of what is known of the members of a series, from its noun phrase: `the runner-up in {s}`."""
    np = entry.np[0]
    if many:
        head, joint, rest = _split_head(np)
        np = f"{pluralise(head)}{joint}{rest}"
    be = "{are}" if kind in ("place", "country", "nature", "other") else "were" if many else "was"
    named = (f"{np} {be} {{o}}",)
    match = _OF_MEMBER.match(np)
    if match and not (match[2] == "of" and _RELATIVE.search(np)):
        bare = match[1]
        plain = match[2] == "of" and " " not in bare.replace("first ", "").replace("-", "")
        return {"own": (f"{{its}} {bare} {be} {{o}}" if plain else f"the {bare} {be} {{o}}",), "named": named}
    np = _AS_SUBJECT.sub("{s}", np.replace("{s}", "{it}"))
    np = _OBJECT_LAST.sub(r"{it} \1", _OF_IT.sub(r"{its} \1", np))
    return {"own": (f"{np} {be} {{o}}",), "named": named}


def _split_head(np: str) -> tuple[str, str, str]:
    """A noun phrase as its head, what joins the rest to it, and the rest."""
    match = _JOINT.search(np)
    return (np[: match.start()], match[0], np[match.end() :]) if match else (np, "", "")


def _admit_days(predicate: str) -> str:
    """A predicate for a year as one for a day, too: `was launched in {y}`."""
    return predicate.replace("in {y}", "{on} {o}").replace("{y}", "{o}")


def _say_of_one(phrases: Mapping[str, tuple[str, ...]], object: EntityKind) -> Mapping[str, tuple[str, ...]]:
    """The wordings of a whole list for one of its members: `wrote X` for `wrote the operas X, Y and Z`."""
    if object == "person":
        return {"verb": ("was a parent of {o}",)}
    return {"verb": tuple(f"{one.partition(' ')[0]} {{o}}" for one in phrases.get("verb", ()))}


def _continue(clauses: list[_Clause], reference: _Reference, rng: random.Random) -> Iterator[str]:
    """The sentences after the first, in which clauses stand alone or in pairs."""
    rest = list(clauses)
    while rest:
        first = rest.pop(0)
        second = rest[0] if rest else None
        fate = rng.random()
        if first.verb and second is not None and second.verb and fate < 0.4:
            rest.pop(0)
            one, other = _tell(first, "verb", reference, rng), _tell(second, "verb", reference, rng)
            yield reference.fill("{s} ") + _join(one, other)
        elif first.verb and second is not None and second.own and fate < 0.6:
            rest.pop(0)
            one, other = _tell(first, "verb", reference, rng), _tell(second, "own", reference, rng)
            yield reference.fill("{s} ") + f"{one}, and {other}"
        elif first.own and (fate < 0.85 or not first.verb):
            yield _tell(first, "own", reference, rng)
        elif first.verb:
            yield reference.fill("{s} ") + _tell(first, "verb", reference, rng)


def _rank(property: str) -> int:
    """Birth comes first in a life and death last; all else stands in any order."""
    return 0 if property in list_role("first") else 2 if property in list_role("last") else 1


def _join(one: str, other: str) -> str:
    """Two predicates as one; what both begin with is said once: "has lived in X and worked in Y"."""
    (first, _, then), (second, _, rest) = one.partition(" "), other.partition(" ")
    perfect = [bool(_PERFECT.match(words)) for words in (then, rest)]
    if first == second and first in ("has", "had", "is", "was", "lies") and perfect[0] == perfect[1]:
        return f"{one} and {rest.removeprefix('had ') if then.startswith('had ') else rest}"
    return f"{one} and {other}"


def _tell(clause: _Clause, form: _Form, reference: _Reference, rng: random.Random) -> str:
    return reference.fill(rng.choice(getattr(clause, form)))


def _refer_to(plan: PassagePlan, names: EntityNaming, label: str, rng: random.Random) -> _Reference:
    kind = names.kind(plan.subject)
    noun = strip_proper(names.noun(plan.subject))
    noun = noun if noun not in VAGUE_NOUNS and noun.islower() else ""
    facts: tuple[Triplet | LiteralFact, ...] = (*plan.triplets, *plan.literals)
    gone = any(fact.property in list_role("gone") and fact.subject == plan.subject for fact in facts)
    phrase = names.phrase(plan.subject)
    if kind not in ("person", "fiction"):
        head = noun.split()[-1] if noun else ""
        others = (f"the {head}",) if head and not head.endswith("s") else ()
        return _Reference(phrase, noun, ("it", "it", "its"), others, gone, rng)
    family = split_person(label)[1] or label
    pronouns = _PRONOUNS.get(plan.gender)
    if pronouns is None:
        others = (f"the {noun}",) if noun else ()
        return _Reference(phrase, noun, (family, family, f"{family}'s"), others, gone, rng)
    return _Reference(phrase, noun, pronouns, (family,), gone, rng)


def _describe(entity: str, names: EntityNaming, rng: random.Random) -> str:
    """An entity's name; now and then with what it is."""
    phrase = names.phrase(entity)
    noun = strip_proper(names.noun(entity))
    if phrase.startswith("the ") or rng.random() > 0.3 or noun in VAGUE_NOUNS or not noun.islower():
        return phrase
    if names.kind(entity) == "place" and noun in _SETTLEMENTS:
        return f"the {noun} of {phrase}"
    if noun in _WORKS and noun not in phrase.casefold():
        return f"the {noun} {phrase}"
    return phrase
