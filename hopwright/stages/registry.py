"""All stages: from their declarations follow the line of work, and what starts over with a stage."""

from __future__ import annotations

from hopwright.registry import Registry
from hopwright.stages.plan import StageSpec, StageStep

STAGES = Registry[StageSpec](
    "hopwright.stages",
    "stage",
    paths={
        **{name: f"hopwright.stages.{name}:STAGE" for name in ("retrieve", "synthesize", "filter", "rewrite")},
        "review": "annotation.stages.review:STAGE",
        "release": "hopwright.stages.release:STAGE",
        "evaluate": "hopwright.stages.evaluate:STAGE",
    },
)
"""Name → declaration. Another package adds a stage as an entry point of this group."""
_LAST = "release"


def list_line() -> tuple[StageSpec, ...]:
    """Return the stages of a whole run in their order: the release, and whatever it rests on."""
    wanted = {_LAST}
    for name in reversed(list(STAGES)):
        if name in wanted:
            wanted.update(STAGES[name].needs)
    return tuple(STAGES[name] for name in STAGES if name in wanted)


def list_steps(last: str = _LAST) -> tuple[StageStep, ...]:
    """Return the steps of the line of work in which rows are counted, up to those of the stage `last`."""
    line = list_line()
    names = [spec.name for spec in line]
    return tuple(step for spec in line[: names.index(last) + 1] for step in spec.steps)


def stages_after(name: str) -> tuple[str, ...]:
    """Return the stages that rest on the output of a stage, in their order.

    `name` may be a part of a stage (`filter/plan`): the stage's own decision, if it makes one, rests on that, too.
    """
    head, _, part = name.partition("/")
    if head not in STAGES:
        return ()
    resting = {head}
    for spec in STAGES.values():
        if resting & set(spec.needs):
            resting.add(spec.name)
    if not part or all(step.name != head for step in STAGES[head].steps):
        resting.remove(head)
    return tuple(stage for stage in STAGES if stage in resting)
