"""A line of a file never stops its audit: it is a violation, in time and memory that its length bounds."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path

import pytest

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.release.audit import AuditReport, audit
from hopwright.release.format import to_release
from tests.builders import chain_item, converging_item
from tests.worlds import DictGraph, settle_all

TABLE = settle_all(default_table())
GRAPH = DictGraph()
EXPRESSIONS = [
    "-" * 499 + "1", "~" * 498 + "1", "abs(1e999)", "1e400 - 1e400", "round(1e15 / 1e-320, 1)",
    "(" * 90 + "1" + ")" * 90,
    "hop" + "9" * 400, "min(1e999, 2)", "[" * 300, "f'{1}'", "\x00", "hop²",
]  # fmt: skip
ANSWERS = ["NaN", "sNaN", "1e400", "1e999999999", "9" * 20_000, "9" * 60, "-" * 400, "Infinity", "١٢٣", "²"]
REFERENCES = ["hop1 if hop1 else 1", "../../x", "<script>", "hop²", "hop99", "Q" + "9" * 5_000, "", "hop1\n"]


def audit_row(path: Path, row: object) -> AuditReport:
    path.write_text(json.dumps(row) + "\n" + json.dumps(to_release(converging_item())) + "\n")
    report = audit(path, GRAPH, TABLE)
    assert report.items == 2 and not report.clean
    assert {one.line for one in report.violations} == {1}
    report.text()
    return report


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_that_is_none_is_a_violation(expression: str, tmp_path: Path) -> None:
    row = to_release(chain_item())
    row["single_hop"][3]["derivation"] |= {"op": "compute", "expression": expression, "kind": "arithmetic"}
    for name in ("subject", "property", "value", "constraints"):
        row["single_hop"][3]["derivation"][name] = None
    audit_row(tmp_path / "data.jsonl", row)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("kind", ["number", "date"])
def test_an_answer_that_is_no_number_is_a_violation(answer: str, kind: str, tmp_path: Path) -> None:
    row = to_release(chain_item())
    for hop in row["single_hop"]:
        hop |= {"answer": answer, "answer_type": kind, "answer_id": None}
        hop["multiple_choice_options"][hop["correct_answer_label"]] = answer
    audit_row(tmp_path / "data.jsonl", row | {"multi_hop_answer": answer})


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_reference_that_is_none_is_a_violation(reference: str, tmp_path: Path) -> None:
    row = to_release(chain_item())
    row["single_hop"][0]["derivation"] |= {"op": "lookup", "subject": reference}
    audit_row(tmp_path / "data.jsonl", row)


def test_a_question_of_ten_megabytes_costs_little(tmp_path: Path) -> None:
    for field, length in (("multi_hop_question", 10 << 20), ("multi_hop_question", 3 << 20), ("id", 3 << 20)):
        began = time.monotonic()
        tracemalloc.start()
        report = audit_row(tmp_path / "data.jsonl", to_release(chain_item()) | {field: "why " * (length // 4)})
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert time.monotonic() - began < 15 and peak < 64 << 20
        assert sum(len(one.reason) + len(one.id) for one in report.violations) < 5_000


def test_a_row_of_many_values_gives_few_violations(tmp_path: Path) -> None:
    for extra in ([0] * 1_000_000, [[[]] * 9] * 20_000, {str(one): 1 for one in range(100_000)}):
        row = to_release(chain_item())
        row["checks"] = extra
        assert len(audit_row(tmp_path / "data.jsonl", row).violations) < 50
