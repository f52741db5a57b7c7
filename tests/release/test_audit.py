"""Audits: nothing found in good files, everything in bad ones, and no line that stops them."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from hopwright.checks import CHECKS
from hopwright.errors import InputError
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import Surrogate
from hopwright.release.audit import AuditReport, audit
from hopwright.release.format import from_release, read_jsonl, to_release
from hopwright.wording.llm.text_constraints import TextConstraintBuilder
from hopwright.wording.llm.vocabulary import Vocabulary
from hopwright.wording.marks import read_marks
from tests.builders import all_items, bridge_item, chain_item, converging_item, write_jsonl
from tests.drafts import draft_items
from tests.faults import claims, kinds, plant_faults
from tests.release.test_format import bare
from tests.wording.mutants import mutate
from tests.worlds import DictGraph, settle_all

TABLE = settle_all(default_table())
GRAPH = DictGraph()


def write_rows(path, rows) -> AuditReport:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return audit(path, GRAPH, TABLE)


def test_good_items_pass_with_nothing_found_and_nothing_skipped(tmp_path):
    path = tmp_path / "data.jsonl"
    write_jsonl(all_items(), path)
    report = audit(path, GRAPH, TABLE)
    assert report.clean and report.items == 3
    assert report.violations == report.warnings == ()
    assert [one.check for one in report.skipped] == ["marks", "overlap"]


FAULTS = [fault for item in all_items() for fault in plant_faults(item, GRAPH)]


def test_there_are_enough_faults_of_enough_kinds():
    planted = Counter(fault.kind for fault in FAULTS)
    # The builders' world has no reverse look-up at the end, and no claims; the sample's items have.
    rest = {kind for kind in kinds() if hasattr(claims, kind)} | {"last_hop_that_tells_all"}
    assert set(planted) == set(kinds()) - rest
    assert len(planted) >= 40 and planted.total() >= 400


@pytest.mark.parametrize("kind", kinds())
def test_every_planted_fault_is_found_by_the_check_that_should(kind, tmp_path):
    for fault in FAULTS:
        if fault.kind == kind:
            report = write_rows(tmp_path / "data.jsonl", [fault.row])
            assert not report.clean, f"{kind} was not found in {fault.row}"
            assert set(fault.checks) & set(report.counts), f"{kind} was found by {report.counts} only"


def test_without_a_graph_the_other_faults_are_still_found(tmp_path):
    path = tmp_path / "data.jsonl"
    for fault in FAULTS:
        if not fault.needs_graph:
            path.write_text(json.dumps(fault.row) + "\n")
            assert not audit(path, None, TABLE).clean, fault.kind


def test_violations_name_line_item_hop_and_check(tmp_path):
    rows = [to_release(item) for item in all_items()]
    rows[1]["single_hop"][2]["question"] = "Which of Vestmark and Iria covers the the larger area?"
    (violation,) = write_rows(tmp_path / "data.jsonl", rows).violations
    assert (violation.line, violation.id, violation.hop, violation.check) == (2, rows[1]["id"], 3, "grammar")
    assert "the the" in violation.reason


def test_duplicates_are_reported_with_the_line_of_the_first(tmp_path):
    rows = [to_release(item) for item in (chain_item(), bridge_item(), chain_item())]
    report = write_rows(tmp_path / "data.jsonl", rows)
    assert report.counts == {"duplicates": 3}
    assert {(one.line, one.reason.split()[1]) for one in report.violations} == {(3, "id"), (3, "question"), (3, "plan")}
    assert all(one.reason.endswith("item 1") for one in report.violations)


def test_a_question_repeated_in_other_capitals_is_a_duplicate(tmp_path):
    rows = [to_release(chain_item()), to_release(bridge_item())]
    rows.append(
        rows[0] | {"id": "other", "multi_hop_question": rows[0]["multi_hop_question"].replace("Night", "NIGHT")}
    )
    report = write_rows(tmp_path / "data.jsonl", rows)
    assert {one.reason for one in report.violations if one.check == "duplicates"} == {
        "the question is that of item 1",
        "the plan is that of item 1",
    }


def test_malformed_lines_are_violations_and_the_rest_is_audited(tmp_path):
    path = tmp_path / "data.jsonl"
    good = json.dumps(to_release(chain_item()))
    path.write_bytes(b"\n".join([b"{", good.encode(), b"null", b"\xff", good[:200].encode()]))
    report = audit(path, GRAPH, TABLE)
    assert report.items == 5
    assert [(one.line, one.check) for one in report.violations] == [(n, "schema") for n in (1, 3, 4, 5)]


def test_an_empty_file_is_no_clean_file(tmp_path):
    (tmp_path / "data.jsonl").write_text("\n\n")
    assert not audit(tmp_path / "data.jsonl", GRAPH, TABLE).clean


def test_a_missing_file_is_one_clear_line(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        audit(tmp_path / "none.jsonl", GRAPH, TABLE)


def test_bare_published_rows_are_audited_and_what_cannot_be_is_said(tmp_path):
    report = write_rows(tmp_path / "data.jsonl", [bare(item) for item in all_items()])
    assert report.clean, report.text()
    planned = {check.name for check in CHECKS if "plan" in check.needs and check.concerns is None}
    assert {one.check for one in report.skipped} == planned | {"overlap"}
    assert all(one.items == 3 for one in report.skipped)
    assert all("plan" in one.reason for one in report.skipped if one.check != "overlap")


@pytest.mark.parametrize(
    "kind",
    ["leaked_answer", "wrong_label", "options_without_the_answer", "doubled_word", "unfilled_placeholder",
     "final_answer_of_another_item", "extra_hop", "wrong_motif", "empty_field", "asked_as_of_today",
     "input_not_shown", "three_options", "options_of_another_hop"],
)  # fmt: skip
def test_faults_in_bare_rows_are_found_too(kind, tmp_path):
    kept = [*list(bare(chain_item()))]
    for fault in (fault for fault in FAULTS if fault.kind == kind):
        row = {key: value for key, value in fault.row.items() if key in kept}
        hop_keys = list(bare(chain_item())["single_hop"][0])
        row["single_hop"] = [{key: hop[key] for key in hop_keys} for hop in row["single_hop"]]
        if kind == "wrong_motif" and row["motif_type"] != "Ring":
            continue  # without dependencies, any known motif fits
        assert not write_rows(tmp_path / "data.jsonl", [row]).clean, row


def test_a_question_that_does_not_ask_for_its_plan_is_found_by_its_marks(tmp_path, sample):
    """Whoever wrote the file: the released marks say which words stand for which hop."""
    table = default_table()
    places = TextConstraintBuilder(Vocabulary(table), None)
    path = tmp_path / "data.jsonl"
    good = [to_release(item) for item in {item.id: item for item in draft_items(sample)}.values()]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in good), encoding="utf-8")
    clean = {one.line for one in audit(path, None, table).violations}
    items = [item for line, item in enumerate(map(from_release, good), start=1) if line not in clean]
    assert len(items) >= 20
    planted = []
    for item in items:
        for mutant in mutate(item, item.marked, places.lay_out(item)):
            text = read_marks(mutant.marked).text
            planted.append(to_release(item.model_copy(update={"question": text, "marked": mutant.marked})))
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in planted), encoding="utf-8")
    report = audit(path, None, table)
    assert len(planted) >= 100
    assert len({one.line for one in report.violations if one.check != "duplicates"}) >= 0.97 * len(planted)
    assert report.counts["marks"] >= 0.5 * len(planted)
    torn = to_release(items[0]) | {"marked": items[0].marked + "}"}
    path.write_text(json.dumps(torn) + "\n", encoding="utf-8")
    assert "marks" in audit(path, None, table).counts


def test_without_a_graph_what_needs_it_is_listed_as_skipped(tmp_path):
    path = tmp_path / "data.jsonl"
    write_jsonl(all_items(), path)
    report = audit(path, None, TABLE)
    assert report.clean
    needing = {check.name for check in CHECKS if "graph" in check.needs}
    assert {one.check for one in report.skipped} == needing | {"marks", "overlap"}
    assert {one.reason for one in report.skipped if one.check in needing} == {"no graph was given"}


def test_the_report_reads_well_and_round_trips(tmp_path):
    rows = [to_release(item) for item in all_items()]
    for row in rows:
        row["multi_hop_question"] = row["multi_hop_question"][:-1]
    report = write_rows(tmp_path / "data.jsonl", rows)
    assert AuditReport.model_validate_json(report.model_dump_json()) == report
    text = report.text(limit=2)
    assert "3 items, 3 violations" in text and "… and 1 more" in text and "form: 3" in text
    assert (
        "0 violations" in audit(_good(tmp_path), None, TABLE).text()
        and "not checked:" in audit(_good(tmp_path), None, TABLE).text()
    )


def _good(tmp_path):
    path = tmp_path / "good.jsonl"
    write_jsonl([converging_item()], path)
    return path


def test_a_twin_that_names_a_real_series_is_found(tmp_path):
    item = bridge_item()
    world = (Surrogate(original="Oslo", surrogate="Nilsby", id="QX1"),)
    twin = item.model_copy(update={"variant": "counterfactual", "world": world})
    assert "real_names" not in write_rows(tmp_path / "data.jsonl", [to_release(twin)]).counts
    named = twin.model_copy(update={"question": f"{twin.question} At the 52nd Academy Awards?"})
    report = write_rows(tmp_path / "data.jsonl", [to_release(named)])
    assert report.counts["real_names"] == 1
    assert "'Academy Awards'" in next(one.reason for one in report.violations if one.check == "real_names")


def test_parquet_is_told_as_such(tmp_path) -> None:
    (tmp_path / "data.parquet").write_bytes(b"PAR1 and more")
    with pytest.raises(InputError, match="is Parquet: give the release's folder or its JSONL file"):
        list(read_jsonl(tmp_path / "data.parquet"))
