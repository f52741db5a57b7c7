"""At the end of a run: how many inputs each target tried."""

from __future__ import annotations

import pytest

INPUTS = "fuzz_inputs"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line a target, also from the workers of xdist, whose own output nobody sees."""
    reports = [one for kind in ("passed", "failed") for one in terminalreporter.stats.get(kind, [])]
    tried = [
        (one.nodeid, value) for one in reports for name, value in getattr(one, "user_properties", []) if name == INPUTS
    ]
    if tried:
        terminalreporter.section("inputs that each fuzz target tried")
    for node, inputs in tried:
        terminalreporter.line(f"{node.partition('::')[2]}: {inputs:,}")
