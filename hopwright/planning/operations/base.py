"""What an operation is: what it takes and gives, and where in a plan it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hopwright.planning.plan_builder import PlanBuilder, StepOutput, Type
from hopwright.planning.traversals import Edge
from hopwright.settings import LATEST_YEAR

LATEST = LATEST_YEAR


class OperationContext(NamedTuple):
    """Where in the plan an operation stands.

    `readers`: the operations that read its result, and what they give, in turn (none for the last); `partners`: what
    that reader also reads and is there
    already; `anchor`: the entity to start from; `forced`: the fact that this hop must look up.
    """

    readers: tuple[str, ...] = ()
    partners: tuple[StepOutput, ...] = ()
    anchor: str = ""
    forced: Edge | None = None
    branch: str = ""
    """The operation that another branch starts with, from what this one names; empty where none follows."""

    @property
    def reader(self) -> str:
        """The operation that reads its result; empty for the last."""
        return self.readers[0] if self.readers else ""


OperationBuilder = Callable[[PlanBuilder, Sequence[StepOutput], OperationContext], StepOutput]


@dataclass(frozen=True, slots=True)
class Operation:
    """One kind of hop. `takes` are the types of its inputs; `kind` is set for computations."""

    name: str
    takes: tuple[Type, ...]
    gives: Type
    kind: str
    weight: float
    build: OperationBuilder
    final: float = 1.0
    """How readily it is the last hop; 0 for never."""
    inner: bool = True
    """Whether it may be another hop than the last."""

    @property
    def key(self) -> str:
        """What tells it from all others: some share a name and take different inputs."""
        return f"{self.name}:{','.join(self.takes)}"
