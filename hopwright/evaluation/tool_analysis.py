"""From episodes to tables: scores, MaxD, steps, what was shown of each hop, and why answers are wrong.

Every item counts in every share, whatever became of its episode. Intervals are those of `analysis`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from hopwright.environments.verifier import FAILURE_CLASSES
from hopwright.evaluation.analysis import Table, TableRow, estimate
from hopwright.llm.answers import BEST_SCORE

_SETTING = ["model", "variant", "mode"]


def analyse_episodes(episodes: pl.DataFrame, *, judged: bool = False) -> list[Table]:
    """Every table that these episodes allow; `judged` says whether a model has graded their answers."""
    if episodes.is_empty():
        return []
    tables = [
        tabulate_scores(episodes, judged=judged),
        tabulate_depth(episodes),
        tabulate_recall(episodes),
        tabulate_failures(episodes),
        tabulate_endings(episodes),
    ]
    return [table for table in tables if table.rows]


def tabulate_scores(episodes: pl.DataFrame, *, judged: bool = False) -> Table:
    """Accuracy, exact match, F1, a judge's scores, MaxD, steps and costs, by what the model was given."""
    rows: list[TableRow] = []
    for key, group in _split(episodes, _SETTING):
        row = {**key, "items": group.height, **estimate("accuracy", group, "right")}
        row |= {**estimate("em", group, "em"), **estimate("f1", group, "f1")}
        if judged:
            row |= _measure_judgements(group)
        row |= {**_measure_effort(group), **estimate("reward", group, "reward")}
        row["malformed_calls"] = int(group["malformed"].sum())
        row["output_tokens"] = float(group["output_tokens"].mean() or 0.0)  # type: ignore[arg-type]
        row["cost_usd"] = float(group["cost_usd"].sum())
        rows.append(row)
    note = (
        "mode: search has the tools; none has the question alone, gold the gold passages, gold_minus_one those of all "
        "hops but one, distractors the gold passages among others. accuracy: exact match or close enough; an episode "
        "without a usable answer is wrong. max_depth: MaxD, the depth of the deepest hop that is found with all that "
        "it rests on, over the items of which all gold passages are known. steps_right, steps_wrong: calls of tools "
        "in episodes with a right and a wrong answer. reward: outcome + 0.5 × share of hops found − 0.05 × calls that "
        "serve no hop."
    )
    if judged:
        note += (
            " judge_score: the mean of a judge's scores (2 the same, 1 in part, 0 wrong), divided by 2; judge_same: "
            "the share of 2. An answer that is a gold one by SQuAD's normalisation has 2 without being judged, an "
            "episode without a usable answer has 0. not_judged: answers to which the judge gave no score; both figures "
            "leave them out."
        )
    return Table("tools", "Scores with tools and without", note, rows)


def tabulate_depth(episodes: pl.DataFrame) -> Table:
    """MaxD and steps by number of hops (AgenticRAGTracer, table 2)."""
    rows: list[TableRow] = []
    for key, group in _split(episodes.filter(pl.col("mode") != "none"), [*_SETTING, "hops"]):
        rows.append({**key, "items": group.height, **estimate("accuracy", group, "right"), **_measure_effort(group)})
    note = "A right answer takes about as many steps as there are hops to look up; a wrong one fewer or many more."
    return Table("tools_depth", "MaxD and steps by number of hops", note, rows)


def tabulate_recall(episodes: pl.DataFrame) -> Table:
    """The share of gold facts that were shown, hop by hop, and of hops that were found."""
    lists = ["hop_facts", "hop_shown", "hop_found"]
    one_each = episodes.filter(pl.col("mode") != "none").with_columns(
        pl.int_ranges(1, pl.col("hop_facts").list.len() + 1).alias("hop")
    )
    hops = one_each.explode([*lists, "hop"]).filter(pl.col("hop_facts") > 0)
    hops = hops.with_columns((pl.col("hop_shown") / pl.col("hop_facts")).alias("recall"))
    rows: list[TableRow] = []
    for key, group in _split(hops, [*_SETTING, "hop"]):
        row = {**key, "items": group.height, **estimate("recall", group, "recall")}
        rows.append({**row, **estimate("found", group, "hop_found")})
    note = (
        "recall: gold facts of the hop that stood in a passage that the model was shown; found: hops whose answer the "
        "model wrote after that. Hops without known gold passages are left out."
    )
    return Table("tools_recall", "Recall of gold passages, hop by hop", note, rows)


def tabulate_failures(episodes: pl.DataFrame) -> Table:
    """Why answers are wrong: every wrong one has one cause."""
    rows: list[TableRow] = []
    for key, group in _split(episodes, _SETTING):
        for name in FAILURE_CLASSES:
            marked = group.with_columns((pl.col("failure") == name).alias("is_one"))
            count = int(marked["is_one"].sum())
            if count:
                rows.append({**key, "failure": name, "answers": count, **estimate("share", marked, "is_one")})
    note = (
        "share: of all items. The first hop whose answer the model did not write decides. not_searched: it looked for "
        "nothing more; wrong_plan: for other things only; searched_not_found: for the hop, in vain; found_unused: the "
        "gold passage was shown and not used; over_extended: it used up its calls, or went on past the right answer; "
        "no_answer: it failed, refused, or its answer could not be read; not_known: it had nothing to look into."
    )
    return Table("tools_failures", "Why answers are wrong", note, rows)


def tabulate_endings(episodes: pl.DataFrame) -> Table:
    """How the episodes ended: nothing is dropped."""
    rows: list[TableRow] = []
    for key, group in _split(episodes, [*_SETTING, "outcome"]):
        ended = key.pop("outcome")
        rows.append({**key, "ended": ended, "episodes": group.height})
    return Table("tools_endings", "How the episodes ended", "All but `answered` count as wrong.", rows)


def rank_models(tables: Iterable[Table]) -> list[TableRow]:
    """One entry a model, the best with tools first (without any with tools: the best of all)."""
    scores = next((table.rows for table in tables if table.name == "tools"), [])
    factual = [row for row in scores if row["variant"] == "factual"] or scores
    entries: list[TableRow] = []
    for model in dict.fromkeys(row["model"] for row in factual):
        modes: TableRow = {}
        for row in factual:
            if row["model"] == model:
                shown = {name: value for name, value in row.items() if name not in _SETTING}
                modes[row["mode"]] = {name: _round(value) for name, value in shown.items() if value is not None}
        cost = sum(row["cost_usd"] for row in scores if row["model"] == model)
        entries.append({"model": model, "tools": modes, "cost_usd": _round(cost)})
    entries.sort(key=lambda entry: (-_best(entry["tools"]), entry["model"]))
    return [{"rank": rank, **entry} for rank, entry in enumerate(entries, start=1)]


def _measure_judgements(group: pl.DataFrame) -> TableRow:
    score = pl.when(pl.col("outcome") == "answered").then(pl.col("judge_score")).otherwise(0)
    scored = group.with_columns(score.alias("score")).filter(pl.col("score").is_not_null())
    row: TableRow = {"judge_score": None, "judge_same": None}
    if scored.height:
        scored = scored.with_columns(
            (pl.col("score") / BEST_SCORE).alias("part"), (pl.col("score") == BEST_SCORE).alias("same")
        )
        row |= {**estimate("judge_score", scored, "part"), **estimate("judge_same", scored, "same")}
    return {**row, "not_judged": group.height - scored.height}


def _measure_effort(group: pl.DataFrame) -> TableRow:
    row: TableRow = {"max_depth": None, "steps_right": None, "steps_wrong": None}
    if group["max_depth"].is_not_null().any():
        row |= estimate("max_depth", group, "max_depth")
    if (group["mode"] == "search").all():
        for name, wanted in (("steps_right", True), ("steps_wrong", False)):
            chosen = group.filter(pl.col("right") == wanted)
            if chosen.height:
                row |= estimate(name, chosen, "steps")
    return row


def _split(frame: pl.DataFrame, by: list[str]) -> Iterable[tuple[TableRow, pl.DataFrame]]:
    for values, group in sorted(frame.group_by(by), key=_by_key):
        yield dict(zip(by, values, strict=True)), group


def _by_key(entry: tuple[tuple[Any, ...], pl.DataFrame]) -> tuple[Any, ...]:
    return entry[0]


def _best(modes: TableRow) -> float:
    return float((modes.get("search") or max(modes.values(), key=lambda row: row["accuracy"]))["accuracy"])


def _round(value: object) -> object:
    return round(value, 6) if isinstance(value, float) else value
