"""The yield: of every stage what came in, what was rejected and under which code, and what went on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hopwright.exports.read_chains.rules import Fault
from hopwright.records import Rejected


@dataclass
class Funnel:
    """Counts by stage: `passed = entered - rejected`, and every rejection is kept as a row."""

    entered: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    rows: list[Rejected] = field(default_factory=list)
    written: Counter[str] = field(default_factory=Counter)
    keys: set[str] = field(default_factory=set)
    """The requests whose outcomes were used."""
    cost_usd: float = 0.0

    def enter(self, stage: str, number: int = 1) -> None:
        """Count what comes into a stage."""
        self.entered[stage] += number

    def reject(self, stage: str, fault: Fault, key: str, reason: str = "") -> None:
        """Count what a stage rejects, and keep its row."""
        self.rejected[f"{stage}: {fault}"] += 1
        self.rows.append(Rejected(key=key, check=f"{stage}: {fault}", reason=reason or fault.value.replace("_", " ")))

    def passed(self, stage: str) -> int:
        """How many of a stage went on."""
        lost = sum(count for name, count in self.rejected.items() if name.rpartition(": ")[0] == stage)
        return self.entered[stage] - lost

    def pay(self, key: str, cost_usd: float) -> None:
        """Count a request and what it cost; one that comes again costs nothing."""
        if key not in self.keys:
            self.keys.add(key)
            self.cost_usd += cost_usd

    def to_dict(self) -> dict[str, Any]:
        """For counts.json and `--json`; the same for a run that was killed and went on."""
        stages = {name: {"entered": count, "passed": self.passed(name)} for name, count in sorted(self.entered.items())}
        return {
            "stages": stages,
            "rejected": dict(sorted(self.rejected.items())),
            "written": dict(sorted(self.written.items())),
            "requests": len(self.keys),
            "cost_usd": round(self.cost_usd, 6),
        }
