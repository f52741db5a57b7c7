"""The wording of computations with a claim: its phrase stands for its number, which is never stated."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hopwright.errors import ExpressionError
from hopwright.planning.computation_forms import ClaimComputation
from hopwright.planning.plan import PlanStep
from hopwright.text.phrases import numeral

if TYPE_CHECKING:
    from hopwright.wording.rules.rules_writer import PlanVerbaliser

Say = Callable[[str], str]
_CLAUSE = re.compile(r" (?:where|who|whom|whose|that|which|as) ")
Options = Sequence[tuple[Sequence[str], str]]
"""Sentences of which one comes first, and the question: `{b}` is the claim's number, `{a}` the hop's."""
_TAKEN = ("Take {b}.", "Start from {b}.", "Think of {b}.", "Begin with {b}.")


class ClaimVerbaliser:
    """Words the computations with claims of one text. `group`: so many people, `as many people as there are …`."""

    def __init__(self, text: PlanVerbaliser, group: Callable[[str], str]) -> None:
        self._text = text
        self._group = group

    def ask(self, step: PlanStep, form: ClaimComputation, say: Say) -> str:
        """The question of a hop whose result is no year. Raises ExpressionError for a form without words."""
        claimed = self._text.claimed(form.claim)
        whole = say == self._text.described
        if form.how == "group":
            return f"How many {self.name_groups(form).replace(' that can be', ' can be', 1)}?"
        if form.how in ("size", "pool"):
            return self._ask_choice(form, claimed, say)
        if step.unit == "year":
            return self._ask_year(form, claimed, say)
        unit = f", in {step.unit}," if step.unit else ""
        options = (self._list_whole if whole else self._list_single)(form.how, unit)
        if not options:
            raise ExpressionError(f"no words for a {form.how} with a claim")
        return self._fill(options, claimed, say(form.reference))

    def name_groups(self, form: ClaimComputation) -> str:
        """`different three-member committees that can be formed from a number of candidates equal to …`."""
        return (
            f"different {numeral(int(form.reference))}-member committees that can be formed from a number of "
            f"candidates equal to {self._text.claimed(form.claim)}"
        )

    def _ask_choice(self, form: ClaimComputation, claimed: str, say: Say) -> str:
        if say != self._text.described:
            number = say(form.reference)
            if form.how == "size":
                return f"In how many ways can a committee whose size is {claimed} be chosen from {number} people?"
            members = "1 member" if number == "1" else f"{number} members"
            return (
                f"In how many ways can a committee of {members} be chosen from a number of people equal to {claimed}?"
            )
        people = self._group(form.reference)
        if form.how == "size":
            options = (
                (("A committee is to have a number of members equal to {b}.",),
                 "In how many ways can it be chosen from a group of {a}?"),
                (("A team is to have a number of members equal to {b}.",),
                 "How many ways are there to choose it from a group of {a}?"),
            )  # fmt: skip
            return self._fill(options, claimed, people)
        options = (
            (("Suppose that a club has a number of members equal to {b}.",),
             "How many different committees can be formed from them that have {a}?"),
            (("Imagine a group whose size is {b}.",),
             "How many different committees can be chosen from it that have {a}?"),
        )  # fmt: skip
        return self._fill(options, claimed, people.replace("people", "members", 1))

    def _ask_year(self, form: ClaimComputation, claimed: str, say: Say) -> str:
        later = form.how == "sum"
        if say != self._text.described:
            joined = "to" if later else "from"
            verb = "adding" if later else "subtracting"
            return f"Which year is reached by {verb} {claimed} {joined} {say(form.reference)}?"
        direction = "after" if later else "before"
        options = (
            (_TAKEN, f"Which year lies that many years {direction} {{a}}?"),
            (_TAKEN, f"What year was it that many years {direction} {{a}}?"),
        )
        return self._fill(options, claimed, self._text.event(form.reference))

    def _list_whole(self, how: str, unit: str) -> Options:
        return {
            "sum": (
                (_TAKEN, f"What do you get{unit} if you add to it {{a}}?"),
                (_TAKEN, f"What is the sum{unit} of this number and {{a}}?"),
                ((), f"If you take {{b}}, what do you get{unit} by adding to it {{a}}?"),
                ((), f"What is the sum{unit} of {{b}} and {{a}}?"),
            ),
            "difference": (
                (_TAKEN, f"By how much{unit} does it differ from {{a}}?"),
                ((), f"By how much{unit} does {{b}} differ from {{a}}?"),
                ((), f"What is the difference{unit} between {{b}} and {{a}}?"),
            ),
            "product": (
                (_TAKEN, f"What do you get{unit} if you multiply it by {{a}}?"),
                ((), f"What do you get{unit} when you multiply {{b}} by {{a}}?"),
                ((), f"What is the product{unit} of {{b}} and {{a}}?"),
            ),
        }.get(how, ())

    def _list_single(self, how: str, unit: str) -> Options:
        return {
            "sum": (
                ((), f"What is the sum{unit} of {{a}} and {{b}}?"),
                ((), f"What do you get{unit} if you add {{a}} to {{b}}?"),
            ),
            "difference": (
                ((), f"What is the difference{unit} between {{a}} and {{b}}?"),
                ((), f"By how much{unit} does {{a}} differ from {{b}}?"),
            ),
            "product": (
                ((), "What is {a} times {b}?"),
                ((), "What do you get when you multiply {b} by {a}?"),
            ),
        }.get(how, ())

    def _fill(self, options: Options, claimed: str, other: str) -> str:
        """Choose a wording; a phrase that holds a clause is introduced first, or what follows would attach to it."""
        introduced = [one for one in options if one[0]]
        openings, asked = self._text.pick(introduced if introduced and _CLAUSE.search(claimed) else options)
        if openings:
            self._text.preludes.append(self._text.pick(openings).replace("{b}", claimed))
        return asked.replace("{b}", claimed).replace("{a}", other)
