"""From scored answers to the tables of the papers, every figure with a bootstrap interval.

Intervals are 95 % percentile intervals over 1,000 resamples of the items (all answers about an item, and about its
counterfactual twin, move together), from a fixed seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from hopwright.scoring.answers import TextScore, joint
from hopwright.scoring.intervals import resample_ratio

_SEED = 20260316
_SETTING = ["model", "variant", "form", "prompting", "passages", "sub_questions"]
_PLAIN = ["model", "variant", "form", "prompting", "passages"]

TableRow = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a report: what it shows, how to read it, and its rows. Figures keep their full precision."""

    name: str
    title: str
    note: str
    rows: list[TableRow]

    @property
    def columns(self) -> list[str]:
        """The columns in order of first appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row))


def analyse(answers: pl.DataFrame) -> list[Table]:
    """Every table that these answers allow: one without its protocol or variant is left out."""
    if answers.is_empty():
        return []
    tables = [
        tabulate_accuracy(answers),
        tabulate_outcomes(answers),
        tabulate_groups(answers),
        tabulate_floor(answers),
        tabulate_steps(answers),
        tabulate_propagation(answers),
        tabulate_chains(answers),
        tabulate_joint(answers),
        tabulate_gap(answers),
    ]
    return [table for table in tables if table.rows]


def tabulate_accuracy(answers: pl.DataFrame) -> Table:
    """Accuracy, exact match, F1, partial match, output length and cost of the multi-hop question, per setting."""
    rows: list[TableRow] = []
    for key, group in _split(_questions(answers), _SETTING):
        row = {**key, "items": group.height, **estimate("accuracy", group, "right")}
        if key["form"] == "open":
            row |= {**estimate("em", group, "em"), **estimate("f1", group, "f1")}
            if group["judged"].is_not_null().any():
                row |= estimate("partial_match", group.filter(pl.col("judged").is_not_null()), "judged")
        row["extracted"] = float((group["outcome"] == "answered").mean() or 0.0)  # type: ignore[arg-type]
        row["output_tokens"] = float(group["output_tokens"].mean() or 0.0)  # type: ignore[arg-type]
        row["cost_usd"] = float(group["cost_usd"].sum())
        rows.append(row)
    note = (
        "Multi-hop questions. A question without a usable answer counts as wrong. accuracy: the right option "
        "(mcq), or an exact match or a close enough number or date (open; MMhops: years within 1, numbers "
        "within 0.1); em and f1 as SQuAD; partial_match: judged by a model (CofCA); extracted: share of"
        " answers that could be read."
    )
    return Table("accuracy", "Accuracy on multi-hop questions", note, rows)


def tabulate_outcomes(answers: pl.DataFrame) -> Table:
    """How the requests ended, per model and protocol: nothing is dropped."""
    rows: list[TableRow] = []
    for key, group in _split(answers, ["model", "protocol", "form", "prompting"]):
        counts = dict(group.group_by("outcome").len().iter_rows())
        shown = ("answered", "not_extractable", "refusal", "truncated", "empty", "failed")
        rows.append({**key, "asked": group.height, **{name: counts.get(name, 0) for name in shown}})
    note = (
        "not_extractable: there was an answer, but not in the form that was asked for. All but `answered` "
        "count as wrong."
    )
    return Table("outcomes", "How the requests ended", note, rows)


def tabulate_groups(answers: pl.DataFrame) -> Table:
    """Accuracy of the multi-hop question by reasoning graph, domain of the last hop and kind of computation."""
    rows: list[TableRow] = []
    questions = _questions(answers).filter(~pl.col("sub_questions") & (pl.col("variant") == "factual"))
    kinds = questions.with_columns(pl.col("kind").str.split("+")).explode("kind")
    for by, frame in (("topology", questions), ("domain", questions), ("kind", kinds)):
        for key, group in _split(frame.filter(pl.col(by) != ""), ["model", "form", "prompting", "passages", by]):
            value = key.pop(by)
            rows.append(
                {**key, "by": by, "group": value, "items": group.height, **estimate("accuracy", group, "right")}
            )
    note = "Factual items. domain: that of the last hop; kind: an item counts under every computation on its way."
    return Table("groups", "Accuracy by reasoning graph, domain and computation", note, rows)


def tabulate_floor(answers: pl.DataFrame) -> Table:
    """Multi-hop accuracy by the number of hops that the model got wrong on their own (Omanic, figure 3, left)."""
    rows: list[TableRow] = []
    hops = answers.filter(pl.col("protocol") == "alone")
    errors = hops.group_by([*_PLAIN, "item"]).agg((~pl.col("right")).sum().alias("errors"))
    questions = _questions(answers).filter(~pl.col("sub_questions"))
    joined = questions.join(errors, on=[*_PLAIN, "item"], how="inner")
    for key, group in _split(joined, [*_PLAIN, "errors"]):
        rows.append({**key, "items": group.height, **estimate("accuracy", group, "right")})
    note = (
        "errors: single hops, each asked alone, that were answered wrongly. The knowledge floor: with missing"
        " facts, reasoning aloud stops helping."
    )
    return Table("floor", "Multi-hop accuracy by number of single-hop errors", note, rows)


def tabulate_steps(answers: pl.DataFrame) -> Table:
    """Error rate at every step, with gold and with the model's own earlier answers (Omanic, figure 3, right).

    Hops that rest on no other one are left out of the chain protocol (Omanic, appendix B.3).
    """
    rows: list[TableRow] = []
    hops = answers.filter(pl.col("protocol").is_in(["independent", "chain"]))
    hops = hops.filter((pl.col("protocol") == "independent") | pl.col("depends"))
    hops = hops.with_columns((~pl.col("right")).alias("wrong"))
    for key, group in _split(hops, [*_PLAIN, "protocol", "hop"]):
        rows.append({**key, "items": group.height, **estimate("error", group, "wrong")})
    note = (
        "independent: earlier answers given as gold; chain: the model's own are carried on, hops that rest on"
        " none left out."
    )
    return Table("steps", "Error rate by step", note, rows)


def tabulate_propagation(answers: pl.DataFrame) -> Table:
    """By how much the error rate of a step grows when the model's own answers are carried on, on the same hops."""
    rows: list[TableRow] = []
    hops = answers.filter(pl.col("depends")).with_columns((~pl.col("right")).cast(pl.Float64).alias("wrong"))
    on = [*_PLAIN, "item", "pair", "hop"]
    both = hops.filter(pl.col("protocol") == "chain").join(
        hops.filter(pl.col("protocol") == "independent").select([*on, pl.col("wrong").alias("gold_wrong")]), on=on
    )
    both = both.with_columns((pl.col("wrong") - pl.col("gold_wrong")).alias("added"))
    for key, group in _split(both, [*_PLAIN, "hop"]):
        key["hop"] = str(key["hop"])
        rows.append({**key, "hops": group.height, **estimate("added_error", group, "added")})
    for key, group in _split(both, _PLAIN):
        rows.append({**key, "hop": "all", "hops": group.height, **estimate("added_error", group, "added")})
    note = "Chain minus independent, over the hops that rest on others. An interval that holds 0 shows no propagation."
    return Table("propagation", "Error added by carrying on the model's own answers", note, rows)


def tabulate_chains(answers: pl.DataFrame) -> Table:
    """The 2^(n+1) patterns of right and wrong hops and final answer (CofCA's reasoning chains)."""
    rows: list[TableRow] = []
    hops = answers.filter(pl.col("protocol") != "question").sort("hop")
    patterns = hops.group_by([*_PLAIN, "protocol", "item"], maintain_order=True).agg(
        pl.when(pl.col("right")).then(pl.lit("1")).otherwise(pl.lit("0")).str.join("").alias("hops_right")
    )
    questions = _questions(answers).filter(~pl.col("sub_questions"))
    joined = patterns.join(questions.select([*_PLAIN, "item", "right"]), on=[*_PLAIN, "item"])
    for key, group in _split(joined, [*_PLAIN, "protocol"]):
        counts = {(row["hops_right"], row["right"]): row["len"] for row in _count(group, ["hops_right", "right"])}
        for length in sorted({len(pattern) for pattern, _ in counts}):
            total = sum(count for (pattern, _), count in counts.items() if len(pattern) == length)
            for number in range(2 ** (length + 1)):
                bits = format(number, f"0{length + 1}b")
                count = counts.get((bits[:-1], bits[-1] == "1"), 0)
                shown = {"hops_right": bits[:-1], "answer_right": int(bits[-1]), "items": count}
                rows.append({**key, **shown, "share": count / total})
    note = (
        "hops_right: one digit a hop, 1 right, 0 wrong. Right answers after wrong hops are short-cuts; wrong "
        "ones after right hops are failures to compose."
    )
    return Table("chains", "Reasoning chains", note, rows)


def tabulate_joint(answers: pl.DataFrame) -> Table:
    """Joint exact match and joint F1 of all sub-answers and the final answer (CofCA, appendix B)."""
    rows: list[TableRow] = []
    open_ended = answers.filter((pl.col("form") == "open") & ~pl.col("sub_questions"))
    questions = {
        tuple(row[name] for name in (*_PLAIN, "item")): row
        for row in open_ended.filter(pl.col("protocol") == "question").iter_rows(named=True)
    }
    for key, group in _split(open_ended.filter(pl.col("protocol") != "question"), [*_PLAIN, "protocol"]):
        records: list[TableRow] = []
        for (item,), hops in group.sort("hop").group_by(["item"], maintain_order=True):
            question = questions.get((*(key[name] for name in _PLAIN), item))
            if question is None:
                continue
            em, f1 = joint([_to_score(row) for row in (*hops.iter_rows(named=True), question)])
            records.append({"pair": question["pair"], "joint_em": em, "joint_f1": f1})
        if records:
            frame = pl.DataFrame(records)
            row = {**key, "items": frame.height}
            row |= {**estimate("joint_em", frame, "joint_em"), **estimate("joint_f1", frame, "joint_f1")}
            row["minus_log_joint_em"] = _minus_log(row["joint_em"])
            row["minus_log_joint_f1"] = _minus_log(row["joint_f1"])
            rows.append(row)
    note = (
        "Products over the chain: right only if every step and the answer are. minus_log: as CofCA prints it,"
        " smaller is better."
    )
    return Table("joint", "Joint scores of the whole chain", note, rows)


def tabulate_gap(answers: pl.DataFrame) -> Table:
    """Accuracy on items minus accuracy on their counterfactual twins, pair by pair (CofCA, section 4)."""
    rows: list[TableRow] = []
    setting = [name for name in _SETTING if name != "variant"]
    questions = _questions(answers).with_columns(pl.col("right").cast(pl.Float64).alias("score"))
    twins = questions.filter(pl.col("variant") == "counterfactual")
    both = questions.filter(pl.col("variant") == "factual").join(
        twins.select([*setting, "pair", pl.col("score").alias("twin_score")]), on=[*setting, "pair"]
    )
    both = both.with_columns((pl.col("score") - pl.col("twin_score")).alias("gap"))
    for key, group in _split(both, setting):
        row = {**key, "pairs": group.height, **estimate("factual", group, "score")}
        rows.append({**row, **estimate("counterfactual", group, "twin_score"), **estimate("gap", group, "gap")})
    note = "A gap above 0 is what the model knew by heart rather than read or reasoned."
    return Table("gap", "Factual against counterfactual", note, rows)


def estimate(name: str, rows: pl.DataFrame, column: str) -> TableRow:
    """The mean of a column as `name`, and its interval as `name_low` and `name_high`; items are resampled whole."""
    sums = rows.group_by("pair", maintain_order=True).agg(
        pl.col(column).cast(pl.Float64).sum().alias("sum"), pl.col(column).count().alias("count")
    )
    low, high = resample_ratio(sums["sum"].to_numpy(), sums["count"].to_numpy(), _SEED)
    total, count = float(sums["sum"].sum()), float(sums["count"].sum())
    return {name: total / count if count else float("nan"), f"{name}_low": low, f"{name}_high": high}


def _questions(answers: pl.DataFrame) -> pl.DataFrame:
    return answers.filter(pl.col("protocol") == "question")


def _split(frame: pl.DataFrame, by: Sequence[str]) -> Iterable[tuple[TableRow, pl.DataFrame]]:
    """The groups of a frame, in sorted order, each with its key."""
    for values, group in sorted(frame.group_by(list(by)), key=_by_key):
        yield dict(zip(by, values, strict=True)), group


def _by_key(entry: tuple[tuple[Any, ...], pl.DataFrame]) -> tuple[Any, ...]:
    return entry[0]


def _count(frame: pl.DataFrame, by: list[str]) -> Iterable[Mapping[str, Any]]:
    return frame.group_by(by).len().iter_rows(named=True)


def _to_score(row: Mapping[str, Any]) -> TextScore:
    return TextScore(row["em"], row["precision"], row["recall"], row["f1"])


def _minus_log(value: float) -> float | None:
    return -math.log(value) if value > 0 else None
