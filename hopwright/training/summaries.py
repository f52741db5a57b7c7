"""What episodes came to: rewards by split, variant and hops, and the gap between items and their twins.

A twin is the same plan in a world that nobody can remember. So what an agent is worth on the originals above what it is
worth on their twins is what it knew by heart; an agent that searches loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from hopwright.environments.rewards import REWARDS
from hopwright.evaluation.analysis import Table, TableRow, estimate
from hopwright.training.task_files import TaskLine

MEASURES = ("right", *REWARDS)
_GROUPS = ("split", "variant", "length")
"""`length`: how many hops a task has; `hops` is the reward of that name."""


def tabulate_results(tasks: Sequence[TaskLine], results: Iterable[Mapping[str, Any]]) -> list[Table]:
    """The tables over results of episodes, each with its `task`; those of unknown tasks are left out."""
    lines = {line.id: line for line in tasks}
    rows: list[dict[str, Any]] = []
    for result in results:
        line = lines.get(str(result.get("task", "")))
        if line is None:
            continue
        rows.append(
            {
                "item": line.id,
                "pair": line.pair or line.id,
                "split": line.split,
                "variant": line.variant,
                "length": len(line.hops),
                "right": float(result["right"]),
                "steps": float(result["steps"]),
                "useless": float(result["useless"]),
                **{name: float(value) for name, value in result["rewards"].items() if name in REWARDS},
            }
        )
    if not rows:
        return []
    frame = pl.DataFrame(rows)
    return [_tabulate_rewards(frame), _tabulate_gap(frame)]


def _tabulate_rewards(frame: pl.DataFrame) -> Table:
    rows: list[TableRow] = []
    for key, group in sorted(frame.group_by(list(_GROUPS))):
        row: TableRow = dict(zip(_GROUPS, key, strict=True))
        row["episodes"] = group.height
        for name in (*MEASURES, "steps", "useless"):
            row |= estimate(name, group, name)
        rows.append(row)
    return Table("episodes", "What the episodes came to", "Means over episodes, with their intervals.", rows)


def _tabulate_gap(frame: pl.DataFrame) -> Table:
    """Pairs of which both sides were played: mean of the original's episodes less that of the twin's."""
    means = frame.group_by(["split", "pair", "variant"]).agg(*(pl.col(name).mean() for name in MEASURES))
    rows: list[TableRow] = []
    for (split,), group in sorted(means.group_by(["split"])):
        sides = [group.filter(pl.col("variant") == variant) for variant in ("factual", "counterfactual")]
        both = sides[0].join(sides[1], on="pair", suffix="_twin").sort("pair")
        if not both.height:
            continue
        both = both.with_columns(pl.col("pair").alias("item"))
        for name in MEASURES:
            found = both.with_columns((pl.col(name) - pl.col(f"{name}_twin")).alias("gap"))
            rows.append(
                {
                    "split": split,
                    "measure": name,
                    "pairs": both.height,
                    "factual": _mean(both, name),
                    "counterfactual": _mean(both, f"{name}_twin"),
                    **estimate("gap", found, "gap"),
                }
            )
    return Table(
        "gap", "Factual against counterfactual", "A gap above 0 is what an agent knew without searching.", rows
    )


def _mean(frame: pl.DataFrame, column: str) -> float:
    return float(frame[column].to_numpy().mean())
