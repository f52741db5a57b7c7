"""The knowledge domain of a hop, and what it follows from.

A hop's domain is its property's; of properties that only say where or when, it is that of their subject's class: the
birthplace of a painter is a question of art, the home of a club one of sport. A computation takes the domain of what
it computes with. The lists are data of the source.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.source import EntityKinds
from hopwright.planning.execution import hops_used
from hopwright.planning.plan import PlanStep
from hopwright.records import Compute, Domain, Lookup

_FACT = re.compile(
    r"(?:value|object|all)\((P\d+), (hop\d|Q\w+)\)|^arg(?:max|min)\((P\d+), "
    r"(?:(?:(?:after|before)\(P\d+, hop\d, )?(?:among|listed)\(P\d+, \w+, )?(hop\d|Q\w+)"
)
_LISTED = re.compile(r"^(?:first_with|last_with)\((P\d+), ")
"""What holds a place in a series."""
_WORD = re.compile(r"[a-z]+")


class DomainDecision(NamedTuple):
    """A domain, and the reason in words: `place of birth (P19) of a painter`."""

    domain: Domain
    reason: str


class DomainIndex:
    """Assigns domains over one property table. Results are cached: neither the table nor the nouns change."""

    def __init__(self, table: PropertyTable, nouns: EntityKinds) -> None:
        self._table = table
        self._nouns = nouns
        self._rules = table.domains
        self.of_fact = functools.lru_cache(200_000)(self._rule_fact)
        self.of_entity = functools.lru_cache(200_000)(self._rule_entity)

    def of_steps(self, steps: Sequence[PlanStep]) -> tuple[DomainDecision, ...]:
        """The domain of every step of a plan, in order."""
        found: list[DomainDecision] = []
        self.extend(found, steps)
        return tuple(found)

    def extend(self, found: list[DomainDecision], steps: Sequence[PlanStep]) -> None:
        """Add the domains of the steps that come after those whose domains are there."""
        for step in steps[len(found) :]:
            found.append(self._rule_step(step, steps, found))

    def _rule_step(self, step: PlanStep, steps: Sequence[PlanStep], before: Sequence[DomainDecision]) -> DomainDecision:
        derivation = step.derivation
        if isinstance(derivation, Lookup):
            return self.of_fact(derivation.property, _entity(derivation.subject, steps))
        if not isinstance(derivation, Compute):
            return self.of_fact(derivation.property, str(step.value))
        if match := _LISTED.match(derivation.expression):
            return self.of_fact(match[1], str(step.value))
        if match := _FACT.search(derivation.expression):
            property, subject = match[1] or match[3], match[2] or match[4]
            return self.of_fact(property, _entity(subject, steps))
        if used := hops_used(derivation):
            index = used[0]
            return DomainDecision(before[index - 1].domain, f"computes with the answer of hop {index}")
        return DomainDecision(Domain.SCIENCE, "mathematics: it computes with numbers that the question states")

    def _rule_fact(self, property: str, subject: str) -> DomainDecision:
        entry = self._table.entity.get(property) or self._table.literal[property]
        reason = f"{entry.label} ({property}) of {self._nouns.noun(subject)}"
        domain = self.of_entity(subject) if property in self._rules.by_subject else None
        return DomainDecision(domain or entry.domain, reason)

    def _rule_entity(self, entity: str) -> Domain | None:
        """The domain that an entity belongs to by its noun, else by its kind; None where neither says anything."""
        for word in reversed(_WORD.findall(self._nouns.noun(entity).lower())):
            if word in self._rules.by_noun:
                return self._rules.by_noun[word]
        return self._rules.by_kind.get(self._nouns.kind(entity))


def _entity(reference: str, steps: Sequence[PlanStep]) -> str:
    return str(steps[int(reference[3:]) - 1].value) if reference.startswith("hop") else reference
