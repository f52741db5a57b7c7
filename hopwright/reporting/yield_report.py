"""The yield report: what went into each accepted item, what was rejected by which check, and examples of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from hopwright.knowledge.external.tally import ClaimFigures, ClaimTally
from hopwright.records import Rejected
from hopwright.records.arrow import ITEM_SCHEMA, list_claimed, read_parquet, read_rejected, table_to_items
from hopwright.reporting.rendering import load_template, show_table
from hopwright.runs import Stage, StageManifest, rejected_path

_EXAMPLES = 2
_LONGEST = 300


class RejectedExample(BaseModel):
    """One rejected row: its key, why it was rejected, and its question where it had one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    reason: str
    question: str = ""


class YieldReport(BaseModel):
    """What a synthesis took and gave. Nothing here differs between two runs with the same inputs and answers.

    `rejected` counts by step (`drafts`, `selection`, `wording`) and check. `requests` are the answers that a model
    gave; `faults` counts them by what was wrong; `rounds` says how many items were accepted after how many answers.
    `claim_slots` could rest on a claim of the bank; `claims` says which accepted items do.
    Per-item figures divide by the accepted items.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    writer: str
    model: str = ""
    asked_for: int = 0
    accepted: int
    missing: int = 0
    slots: int
    drafts: int
    sent_to_model: int = 0
    worded_by_model: int = 0
    kept_in_rules_words: dict[str, int] = Field(default_factory=dict)
    rejected: dict[str, dict[str, int]] = Field(default_factory=dict)
    requests: int = 0
    sent_back: int = 0
    rounds: dict[str, int] = Field(default_factory=dict)
    faults: dict[str, int] = Field(default_factory=dict)
    lost_on_the_way: int = 0
    unknown_words: int = 0
    """Wordings that stand although no known word says one of their relations; the model was asked about them."""
    objections: int = 0
    objected: dict[str, dict[str, int]] = Field(default_factory=dict)
    """Kind of plan (its frame) → how many were `sent`, and how many objections of each kind there were."""
    reading: dict[str, int] = Field(default_factory=dict)
    """What a second model made of the wordings: steps and answers that agree with the plan, and that differ."""
    distractors: dict[str, int] = Field(default_factory=dict)
    contexts: dict[str, int] = Field(default_factory=dict)
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    targets_missed: list[str] = Field(default_factory=list)
    """A line for each target that the plans fall short of, with where planning failed."""
    claim_slots: int = 0
    claims: ClaimFigures = ClaimFigures()
    examples: dict[str, dict[str, list[RejectedExample]]] = Field(default_factory=dict)

    @property
    def requests_per_item(self) -> float:
        """Answers per accepted item."""
        return self.requests / self.accepted if self.accepted else 0.0

    @property
    def tokens_per_item(self) -> float:
        """Tokens, in and out, per accepted item."""
        return (self.input_tokens + self.output_tokens) / self.accepted if self.accepted else 0.0

    @property
    def usd_per_item(self) -> float:
        """US dollars per accepted item."""
        return self.cost_usd / self.accepted if self.accepted else 0.0

    def to_dict(self) -> dict[str, Any]:
        """For the file and for `--json`, with the figures per item."""
        return {
            **self.model_dump(mode="json"),
            "requests_per_item": round(self.requests_per_item, 4),
            "tokens_per_item": round(self.tokens_per_item, 1),
            "usd_per_item": round(self.usd_per_item, 6),
        }


def gather_yield(drafts: Sequence[Stage], worded: Sequence[Stage], final: Stage) -> YieldReport:
    """Read the report off the finished stages of a synthesis. Raises RunError when one is not finished."""
    manifest = final.read()
    wanted: Mapping[str, Any] = manifest.parameters["synthesize"]
    drafted, wordings = [stage.read() for stage in drafts], [stage.read() for stage in worded]
    figures = Counter[str]()
    for one in wordings:
        figures.update({name: value for name, value in one.notes.items() if isinstance(value, int)})
    by_wording = _sum_rejected(wordings)
    selected = Counter(manifest.counts.rejected)
    selected.subtract(by_wording)
    rejected = {"drafts": _sum_rejected(drafted), "selection": +selected, "wording": by_wording}
    kept = _pick(figures, "kept_in_rules_words.")
    return YieldReport(
        writer=str(wanted["writer"]),
        model=str(wanted["model"]),
        asked_for=int(wanted["items"]),
        accepted=manifest.counts.out,
        missing=max(0, int(wanted["items"]) - manifest.counts.out),
        slots=sum(one.counts.taken for one in drafted),
        drafts=manifest.counts.taken,
        sent_to_model=sum(one.counts.taken for one in wordings),
        worded_by_model=sum(one.counts.out for one in wordings) - sum(kept.values()),
        kept_in_rules_words=kept,
        rejected={step: _order(checks) for step, checks in rejected.items() if checks},
        requests=figures["requests"],
        sent_back=figures["sent_back"],
        rounds=dict(sorted(_pick(figures, "accepted_after.").items())),
        faults=_pick(figures, "faults."),
        lost_on_the_way=figures["lost_on_the_way"],
        unknown_words=figures["kept_in_unknown_words"],
        objections=figures["objections"],
        reading=_pick(figures, "reading."),
        distractors=_pick(figures, "distractors_"),
        contexts=_pick(figures, "contexts_"),
        input_tokens=sum(one.usage.input_tokens for one in wordings),
        output_tokens=sum(one.usage.output_tokens for one in wordings),
        cost_usd=round(sum(one.usage.cost_usd for one in wordings), 9),
        targets_missed=[str(line) for line in manifest.notes.get("targets_missed", [])],
        claim_slots=sum(int(one.notes.get("slots for a claim", 0)) for one in drafted),
        claims=count_claims(final),
        examples={
            step: found
            for step, stages in (("drafts", drafts), ("selection", [final]), ("wording", worded))
            if (found := _find_examples(stages, rejected[step]))
        },
    )


def count_claims(stage: Stage) -> ClaimFigures:
    """What of a finished stage's items rests on claims."""
    tally = ClaimTally()
    for part in stage.parts():
        table = read_parquet(part, ITEM_SCHEMA)
        for item in table_to_items(table.take(pa.array(list_claimed(table), pa.int64()))):
            tally.add(item)
    return tally.finish()


def render_yield(report: YieldReport) -> str:
    """The report as Markdown."""
    rejected = [{"step": step, "check": check, "rows": count} for step, check, count in list_bars(report)]
    faults = [
        {"fault": kind, "answers": count, "share": count / max(1, report.requests)}
        for kind, count in report.faults.items()
    ]
    return load_template("hopwright.reporting", "yield.md.j2").render(
        report=report,
        figures=_list_figures(report),
        why=_say_why(report),
        rejected=show_table(rejected),
        faults=show_table(faults, {"share": ".1%"}),
        objected=show_table(
            [
                {
                    "kind of plan": frame, "sent": counts["sent"],
                    "objections": ", ".join(f"{kind} {count}" for kind, count in counts.items() if kind != "sent"),
                }
                for frame, counts in report.objected.items()
            ]
        ),
    )  # fmt: skip


def list_bars(report: YieldReport) -> list[tuple[str, str, int]]:
    """What the plot shows: step, check, rows."""
    return [(step, check, count) for step, checks in report.rejected.items() for check, count in checks.items()]


def _list_figures(report: YieldReport) -> list[tuple[str, str]]:
    rows = [
        ("writer", f"{report.writer} {report.model}".strip()),
        ("draft slots", f"{report.slots:,}"),
        ("drafts that passed", f"{report.drafts:,}"),
        ("items for the filter", f"{report.accepted:,}" + (f" of {report.asked_for:,}" if report.asked_for else "")),
        ("requests", f"{report.requests:,}, {report.requests_per_item:.2f} per item"),
    ]
    if report.claim_slots:
        domains = ", ".join(f"{domain} {count:,}" for domain, count in report.claims.domains.items())
        rows += [
            ("draft slots for a claim", f"{report.claim_slots:,}"),
            ("of the items for the filter", report.claims.describe() + (f": {domains}" if domains else "")),
        ]
    if report.writer == "rules":
        return rows
    tokens = f"{report.input_tokens:,} in, {report.output_tokens:,} out, {report.tokens_per_item:,.0f} per item"
    return [
        *rows,
        ("drafts sent to the model", f"{report.sent_to_model:,}"),
        ("worded by the model", f"{report.worded_by_model:,}"),
        ("kept in the rules' words", f"{sum(report.kept_in_rules_words.values()):,}"),
        ("accepted after", ", ".join(f"{n} answer{'s' * (n != '1')}: {k:,}" for n, k in report.rounds.items()) or "–"),
        ("answers sent back", f"{report.sent_back:,}"),
        ("tries lost on the way", f"{report.lost_on_the_way:,}"),
        ("kept in words that are not known", f"{report.unknown_words:,}"),
        ("objections of the model", f"{report.objections:,}"),
        (
            "read back",
            ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in report.reading.items()) or "by nobody",
        ),
        ("tokens", tokens),
        ("dollars", f"{report.cost_usd:.4f}, {report.usd_per_item:.6f} per item"),
        ("distractors", ", ".join(f"{name} {count:,}" for name, count in report.distractors.items()) or "–"),
        ("contexts", ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in report.contexts.items()) or "–"),
    ]


def _say_why(report: YieldReport) -> str:
    eaten = Counter[str]()
    for checks in report.rejected.values():
        eaten.update(checks)
    return ", ".join(f"{check} took {count:,}" for check, count in eaten.most_common(6)) or "too few drafts"


def _sum_rejected(manifests: Iterable[StageManifest]) -> Counter[str]:
    total = Counter[str]()
    for one in manifests:
        total.update(one.counts.rejected)
    return total


def _pick(figures: Mapping[str, int], prefix: str) -> dict[str, int]:
    """The figures of one family without their prefix, most first."""
    return _order({name.removeprefix(prefix): n for name, n in figures.items() if name.startswith(prefix)})


def _order(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _find_examples(stages: Sequence[Stage], wanted: Mapping[str, int]) -> dict[str, list[RejectedExample]]:
    """The first few rejected rows of each check, in the order of the stages and their parts."""
    found: dict[str, list[RejectedExample]] = {check: [] for check in _order(wanted)}
    for stage in stages:
        for index in range(stage.read().shards):
            for row in read_rejected(rejected_path(stage.folder, index)):
                one = RejectedExample(key=row.key, reason=row.reason[:_LONGEST], question=_ask(row))
                # Drafts of several slots may be one plan.
                shown = found.get(row.check, [one])
                if one not in shown and len(shown) < _EXAMPLES:
                    shown.append(one)
            if all(len(examples) == _EXAMPLES for examples in found.values()):
                return found
    return {check: examples for check, examples in found.items() if examples}


def _ask(row: Rejected) -> str:
    try:
        return str(json.loads(row.row).get("question", ""))[:_LONGEST] if row.row else ""
    except ValueError:
        return ""
