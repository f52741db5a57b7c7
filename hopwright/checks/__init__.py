"""Everything that a machine can say against an item: a registry of small rules, and what runs them.

One registry serves synthesis and audits alike; what a rule cannot decide for want of a graph or of a plan is a
skip with its reason, never a pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hopwright.checks.case import Check, CheckContext, CheckedItem, Finding, Need, Severity
from hopwright.checks.choices import CHOICES
from hopwright.checks.claims import CLAIMS
from hopwright.checks.dates import DATES
from hopwright.checks.duplicates import DuplicateFinder
from hopwright.checks.findings import make_result
from hopwright.checks.grammar import GRAMMAR
from hopwright.checks.proof import PROOF
from hopwright.checks.shortcuts import SHORTCUTS
from hopwright.checks.structure import STRUCTURE
from hopwright.checks.wording import WORDING
from hopwright.records import CheckResult, Item
from hopwright.registry import Registry

__all__ = [
    "CHECKS",
    "Check",
    "CheckContext",
    "CheckedItem",
    "DuplicateFinder",
    "Examination",
    "Finding",
    "Severity",
    "examine",
    "failures",
    "list_checks",
    "run_checks",
]

CHECKS: tuple[Check, ...] = (
    *STRUCTURE,
    *PROOF,
    *SHORTCUTS,
    *CHOICES,
    *WORDING,
    *GRAMMAR,
    *DATES,
    *CLAIMS,
)
"""The rules of Hopwright, in the order in which they run and are reported. Set-level: DuplicateFinder."""
ADDED = Registry[Check]("hopwright.checks", "check")
"""Rules of other packages, by their names: entry points of this group. They run after ours."""


@dataclass(frozen=True, slots=True)
class Examination:
    """What one check said of one item: findings (none: passed), or why it was skipped."""

    check: Check
    findings: tuple[Finding, ...] = ()
    skipped: str = ""


def list_checks() -> tuple[Check, ...]:
    """Return all rules that run: Hopwright's own, then those of other packages."""
    return (*CHECKS, *ADDED.values())


def examine(case: CheckedItem, context: CheckContext, checks: Sequence[Check] | None = None) -> list[Examination]:
    """Run checks, by default all of them, on one item and keep every finding apart."""
    done = []
    for check in list_checks() if checks is None else checks:
        if check.concerns is not None and not check.concerns(case):
            continue
        reason = _find_skip(check.needs, case, context)
        if reason:
            done.append(Examination(check, skipped=reason))
        else:
            done.append(Examination(check, findings=tuple(check.run(case, context))))
    return done


def run_checks(item: Item, context: CheckContext, checks: Sequence[Check] | None = None) -> tuple[CheckResult, ...]:
    """Run checks, by default all of them, on one item, one result a check. A warning passes, with its reason."""
    results = []
    for examination in examine(CheckedItem(item), context, checks):
        check = examination.check
        if examination.skipped:
            results.append(CheckResult(name=check.name, outcome="skip", reason=examination.skipped))
            continue
        results.append(make_result(check.name, examination.findings, warning=check.severity == "warning"))
    return tuple(results)


def failures(results: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
    """The results that keep an item out of a release."""
    return tuple(result for result in results if result.outcome == "fail")


def _find_skip(needs: Sequence[Need], case: CheckedItem, context: CheckContext) -> str:
    if "plan" in needs and not case.planned:
        return "the row states no plan (derivations, dependencies, domains)"
    if "factual" in needs and not case.factual:
        return "a counterfactual world is not in the graph"
    if "graph" in needs and context.graph is None:
        return "no graph was given"
    return ""
