"""The yield report: what the stages say, added up, in words and with examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopwright.records import Rejected
from hopwright.records.arrow import items_to_table
from hopwright.reporting.yield_report import YieldReport, gather_yield, list_bars, render_yield
from hopwright.runs import ResourceUsage, RunFolder, ShardOutput, Stage
from tests.builders import chain_item
from tests.stage_runs import run_stage

ITEM = chain_item()


def refuse(check: str, count: int, start: int = 0) -> list[Rejected]:
    rows = [ITEM.model_copy(update={"question": f"{check} {n}?"}) for n in range(start, start + count)]
    return [Rejected(key=f"{check}-{n}", check=check, reason=f"because {n}", row=row.model_dump_json())
            for n, row in enumerate(rows, start)]  # fmt: skip


def run(home: Path, writer: str = "rules", items: int = 0, worded: int = 0) -> YieldReport:
    """A synthesis of 20 slots: 12 drafts, of which `worded` went to a model and half of those came back."""
    folder = RunFolder(home, "r")
    model = "local/tiny" if writer != "rules" else ""
    parameters = {"synthesize": {"writer": writer, "model": model, "items": items}}
    drafts, words, final = (Stage(folder, f"synthesize{part}") for part in ("/drafts", "/worded", ""))
    table = items_to_table([ITEM] * 12)
    run_stage(drafts, [ShardOutput(table, refuse("no_plan", 8), 20)], lambda one: one, parameters=parameters)
    good = worded // 2
    figures = {"requests": 2 * worded, "sent_back": worded, "accepted_after.2": good, "faults.leakage": worded,
               "distractors_proposed": 3}  # fmt: skip
    if worded:
        usage = ResourceUsage(input_tokens=1000, output_tokens=200, cost_usd=0.5)
        lost = refuse("leakage", worded - good)
        said = ShardOutput(items_to_table([ITEM] * good), lost, worded, usage=usage, figures=figures)
        run_stage(words, [said], lambda one: one, parameters=parameters)
    lost = refuse("leakage", worded - good) + refuse("answer_share", 2)
    kept = items_to_table([ITEM] * (12 - len(lost)))
    run_stage(final, [ShardOutput(kept, lost, 12)], lambda one: one, parameters=parameters)
    return gather_yield([drafts], [words] if worded else [], final)


def test_an_offline_run_has_a_report_too(tmp_path: Path) -> None:
    report = run(tmp_path)
    assert (report.slots, report.drafts, report.accepted, report.requests) == (20, 12, 10, 0)
    assert report.rejected == {"drafts": {"no_plan": 8}, "selection": {"answer_share": 2}}
    assert report.usd_per_item == report.requests_per_item == 0
    assert "| requests | 0, 0.00 per item |" in render_yield(report)
    assert "dollars" not in render_yield(report)


def test_every_rejected_row_is_counted_once_under_its_step(tmp_path: Path) -> None:
    report = run(tmp_path, "openai", items=9, worded=8)
    assert report.rejected == {"drafts": {"no_plan": 8}, "selection": {"answer_share": 2}, "wording": {"leakage": 4}}
    assert report.slots == report.accepted + sum(sum(checks.values()) for checks in report.rejected.values())
    assert [bar[2] for bar in list_bars(report)] == [8, 2, 4]


def test_figures_are_per_accepted_item(tmp_path: Path) -> None:
    report = run(tmp_path, "openai", items=9, worded=8)
    assert (report.accepted, report.missing, report.asked_for) == (6, 3, 9)
    assert report.requests_per_item == pytest.approx(16 / 6)
    assert report.tokens_per_item == pytest.approx(1200 / 6)
    assert report.usd_per_item == pytest.approx(0.5 / 6)
    assert report.to_dict()["usd_per_item"] == pytest.approx(0.083333)
    text = render_yield(report)
    assert "3 of the 9 items asked for are missing: no_plan took 8, leakage took 4, answer_share took 2." in text
    assert "| leakage | 8 | 50.0% |" in text
    assert "2 answers: 4" in text


def test_each_check_has_examples_with_their_questions(tmp_path: Path) -> None:
    report = run(tmp_path, "openai", worded=8)
    assert [one.question for one in report.examples["wording"]["leakage"]] == ["leakage 0?", "leakage 1?"]
    assert report.examples["drafts"]["no_plan"][0].reason == "because 0"
    assert "- `answer_share` answer_share-0: because 0 — answer_share 0?" in render_yield(report)


def test_one_plan_that_was_refused_in_several_slots_is_one_example(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path, "r")
    drafts, final = Stage(folder, "synthesize/drafts"), Stage(folder, "synthesize")
    parameters = {"synthesize": {"writer": "rules", "model": "", "items": 0}}
    refused = [*refuse("no_plan", 1), *refuse("no_plan", 1), *refuse("no_plan", 2)]
    run_stage(drafts, [ShardOutput(items_to_table([ITEM]), refused, 5)], lambda one: one, parameters=parameters)
    run_stage(final, [ShardOutput(items_to_table([ITEM]), [], 1)], lambda one: one, parameters=parameters)
    examples = gather_yield([drafts], [], final).examples["drafts"]["no_plan"]
    assert [one.key for one in examples] == ["no_plan-0", "no_plan-1"]


def test_the_report_is_the_same_however_often_it_is_made(tmp_path: Path) -> None:
    assert run(tmp_path / "a", "openai", worded=8) == run(tmp_path / "b", "openai", worded=8)
