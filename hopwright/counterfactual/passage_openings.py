"""The first sentence of a passage: what its subject is, with the facts that are told first."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import get_args

from hopwright.counterfactual.passage_clauses import SETTLEMENTS, Clause, Form
from hopwright.counterfactual.passage_frames import FrameFamily, find_role
from hopwright.counterfactual.passage_phrases import list_role
from hopwright.records.values import EntityKind
from hopwright.text.articles import article

_MENTION = re.compile(r"\{(?:s|it|its)\}")
_SLOT = re.compile(r"\{(\w+)\}")
_FORMS: frozenset[str] = frozenset(get_args(Form))
_SENTENCES = frozenset(
    {"beginnings", "habits", "afterwards", "plot", "shoot", "aftermath", "staging", "race", "stable"}
)
"""What is told in whole sentences, which are no part of another."""
_OF_CLASS = (
    "{phrase} {is} {an} {post}",
    "{phrase}, {an} {post}, {verb}",
    "{phrase} {is} {an} {post}, and {s} {verb}",
    "{phrase} {is} {an}; {own}",
    "{fronted}, {phrase} {is} {an}",
    "{an} {post}, {phrase} {verb}",
)
"""Openings that say what the subject is."""
_WITHOUT_CLASS = ("{fronted}, {phrase} {verb}",)
"""Openings for a subject of which its name says what it is, or of which nobody knows."""


@dataclass(slots=True)
class Reference:
    """How a passage speaks of its subject: by name first, then by pronoun, now and then by its noun or family name.

    unclear: whether the sentence before named something else that a pronoun could mean.
    """

    phrase: str
    noun: str
    pronouns: tuple[str, str, str]
    others: tuple[str, ...]
    gone: bool
    rng: random.Random
    unclear: bool = False
    _said: int = field(default=0)

    def fill(self, template: str, *, by_name: bool = False, plainly: bool = False) -> str:
        """Put the subject, and verbs in its tense, into a template. plainly: with pronouns, within a sentence."""
        subject, object, possessive = self.pronouns
        if by_name:
            subject = object = self.phrase
            plural = self.phrase.startswith("the ") and self.phrase.endswith("s")
            possessive = f"{self.phrase}'" if plural else f"{self.phrase}'s"
        elif not plainly and self.others and (self.unclear or ("{s}" in template and self._said % 3 == 1)):
            template = self._name_once(template)
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

    def _name_once(self, template: str) -> str:
        """The template with the noun or the family name where the subject is first spoken of."""
        match = _MENTION.search(template)
        if match is None:
            return template
        other = self.rng.choice(self.others)
        said = f"{other}'s" if match[0] == "{its}" else other
        return template[: match.start()] + said + template[match.end() :]


class Opener:
    """Draws the first sentence of a passage and takes the clauses that it tells."""

    def __init__(
        self, reference: Reference, family: FrameFamily, kind: EntityKind, label: str, rng: random.Random
    ) -> None:
        self._reference = reference
        self._family = family
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
        self._pronoun = reference.pronouns[0]
        self._is = "was" if reference.gone and kind in ("person", "fiction") else "is"
        self._titled = reference.phrase if self._phrase != reference.phrase else self._make_title(label)

    def open(self, clauses: list[Clause]) -> Iterator[str]:
        """The first sentence, without its full stop; what it tells is taken out of the clauses."""
        if sentence := self._open_in_frame(clauses):
            yield sentence
            return
        patterns: list[str | Callable[[list[Clause]], str]] = [*(_OF_CLASS if self._noun else _WITHOUT_CLASS)]
        patterns += ["{phrase}, {an}, {verb}", "{titled} {verb}", self._stand_apart, "{fronted}, {titled} {verb}"]
        patterns += [self._say_whose_name, self._possess, self._name]
        self._rng.shuffle(patterns)
        for pattern in patterns:
            if sentence := self._say(pattern, clauses) if isinstance(pattern, str) else pattern(clauses):
                yield sentence
                return
        if self._noun:
            yield f"{self._phrase} {self._is} {self._an}"
        elif sentence := self._say("{phrase} {verb}", clauses) or self._begin(clauses):
            yield sentence

    def _open_in_frame(self, clauses: list[Clause]) -> str:
        """An opening of the subject's family; those that tell more, and what is told first, are drawn more often."""
        held = {find_role(clause.about): clause for clause in reversed(clauses)}
        facts = {role: clause.fact for role, clause in held.items() if role}
        able = (one for one in self._family.openings if one.fits(facts, self._family.manners))
        fitting = [one for one in able if self._admits(one.text, one.with_noun)]
        if not fitting:
            return ""
        # A life begins with a birth.
        start = {find_role(property) for property in list_role("first")}
        fitting = [one for one in fitting if start & set(one.roles)] or fitting
        # What tells a year alone leaves the rest to a string of short sentences.
        fitting = [one for one in fitting if len(one.roles) > 1] or fitting
        groups = self._family.groups
        told = [sum(2.0 if not groups.get(role, 1) else 1.0 for role in one.roles) for one in fitting]
        weights = [max(one, 0.1) ** 2 for one in told]
        frame = self._rng.choices(fitting, weights)[0]
        for role in frame.roles:
            clauses.remove(held[role])
        text = frame.fill(facts).replace("{name}", self._phrase).replace("{a}", self._an)
        return self._reference.fill(text.replace("{noun}", self._noun))

    def _admits(self, text: str, with_noun: bool) -> bool:
        """Whether an opening suits the name: `the race the 1957 Tour` and `the Lund House, a house` do not."""
        return not with_noun or (bool(self._noun) and not ("{noun} {name}" in text and self._phrase.startswith("the ")))

    def _make_title(self, label: str) -> str:
        """The name with its noun before it: `the cyclist Mara Velden`; empty where that would be said twice."""
        words = {word.casefold() for word in re.findall(r"\w+", label)}
        if not self._noun or self._phrase.startswith("the ") or self._kind in ("country", "event", "competition"):
            return ""
        if words & set(self._noun.casefold().split()):
            return ""
        if self._kind in ("place", "nature"):
            return f"the {self._noun} of {self._phrase}" if self._noun.split()[-1] in SETTLEMENTS else ""
        return f"the {self._noun} {self._phrase}"

    def _say(self, opening: str, clauses: list[Clause]) -> str:
        """An opening with the wordings of the clauses that it tells, which are taken out of the clauses; empty where
        the subject has no noun or title for it, or no clauses have the forms.
        """
        known = {"phrase": self._phrase, "is": self._is, "an": self._an, "titled": self._titled}
        slots = _SLOT.findall(opening)
        if not all(known.get(slot, slot) for slot in slots):
            return ""
        forms = [slot for slot in slots if slot in _FORMS]
        taken = self._take(clauses, forms)
        return opening.format(**known, **dict(zip(forms, taken, strict=True)), s=self._pronoun) if taken else ""

    def _take(self, clauses: list[Clause], forms: Sequence[str]) -> list[str]:
        """Wordings of as many clauses in these forms, taken out of the clauses; none where not all can be had."""
        parts = [one for one in clauses if find_role(one.about) not in _SENTENCES]
        for told in itertools.permutations(parts, len(forms)):
            wordings = [getattr(clause, form) for clause, form in zip(told, forms, strict=True)]
            if all(wordings):
                for clause in told:
                    clauses.remove(clause)
                return [self._reference.fill(self._rng.choice(one)) for one in wordings]
        return []

    def _stand_apart(self, clauses: list[Clause]) -> str:
        """`The summit of Velden, which was held in 1906, …`: after a comma no `that` stands."""
        said = self._say("{titled}, {post}, {verb}", clauses)
        if self._kind in ("person", "fiction"):
            return said
        return said.replace(f"{self._titled}, that ", f"{self._titled}, which ", 1)

    def _say_whose_name(self, clauses: list[Clause]) -> str:
        """`Velden is the name of a bridge that …`; nobody says so of a person."""
        if self._kind in ("person", "fiction"):
            return ""
        return self._say("{phrase} is the name of {an} {post}", clauses)

    def _possess(self, clauses: list[Clause]) -> str:
        for clause in clauses:
            for own in clause.own:
                if "{its}" in own and "{s}" not in own and not self._phrase.endswith('"'):
                    clauses.remove(clause)
                    return self._reference.fill(own, by_name=True)
        return ""

    def _begin(self, clauses: list[Clause]) -> str:
        """Whatever sentence can be told with the subject's name in it."""
        for clause in clauses:
            for own in (*clause.named, *clause.own):
                if sum(map(own.count, ("{s}", "{it}", "{its}"))) == 1:
                    clauses.remove(clause)
                    return self._reference.fill(own, by_name=True)
        return ""

    def _name(self, clauses: list[Clause]) -> str:
        """The first sentence is about what somebody was to the subject: `The runner-up in the 1958 Cup was …`."""
        if self._phrase.endswith('"'):
            return ""
        for clause in clauses:
            if clause.named:
                clauses.remove(clause)
                return self._reference.fill(clause.named[0], by_name=True)
        return ""
