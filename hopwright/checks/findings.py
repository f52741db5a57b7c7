"""How findings of a check are kept in a `CheckResult`'s reason, and read from there again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hopwright.checks.case import Finding
from hopwright.records import CheckResult

_WARNING = "warning: "
_OF_HOP = re.compile(r"hop (\d+): (.*)", re.DOTALL)


def describe(finding: Finding) -> str:
    """Write a finding in one line."""
    hop, message = finding
    return message if hop is None else f"hop {hop}: {message}"


def make_result(name: str, findings: Iterable[Finding], *, warning: bool) -> CheckResult:
    """Return what a check says of an item. A warning passes, with its reason."""
    reason = "; ".join(map(describe, findings))
    if not reason:
        return CheckResult(name=name, outcome="pass")
    if warning:
        return CheckResult(name=name, outcome="pass", reason=f"{_WARNING}{reason}")
    return CheckResult(name=name, outcome="fail", reason=reason)


def is_objection(result: CheckResult) -> bool:
    """Whether a check found something, be it only a warning."""
    return result.outcome == "fail" or (result.outcome == "pass" and result.reason.startswith(_WARNING))


def read_findings(result: CheckResult) -> list[Finding]:
    """Return the findings of a result that `make_result` made; none for a check that passed without, or was skipped."""
    if not is_objection(result):
        return []
    found: list[Finding] = []
    for text in result.reason.removeprefix(_WARNING).split("; "):
        match = _OF_HOP.fullmatch(text)
        found.append((int(match[1]), match[2]) if match else (None, text))
    return found
