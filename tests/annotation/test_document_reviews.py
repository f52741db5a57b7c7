"""Reviews of a set over documents come home as a project's export: what is retained, what is not, and why."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

from annotation.decisions import Thresholds
from annotation.document_reviews import retain_set
from annotation.documents import build_document_task
from annotation.pseudonyms import Pseudonyms
from annotation.report import ReviewReport, count_decisions
from annotation.schema import CRITERIA, FIX_QUESTION, ReviewTaskKind
from hopwright.errors import InputError
from hopwright.exports.document_set import DocumentSet, read_set
from hopwright.knowledge.documents.index import Retriever, build_index
from hopwright.records import Evidence
from hopwright.settings import CorpusIndexParameters
from tests.annotation.reviews import annotate, choose, rate, write
from tests.builders import chain_item
from tests.knowledge.documents.builders import add, write_lines

SENTENCE = "Night Harbour was directed by Ada Lindqvist."
NAMES = ("agreed", "disputed", "dropped", "waiting", "reworded", "changed", "unseen")
Retain = Callable[..., ReviewReport]


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("corpus")
    rows = [{"id": "n", "title": "Night Harbour", "text": f"It opened late. {SENTENCE}", "licence": "CC0"}]
    add(write_lines(folder / "a.jsonl", rows), folder / "corpus")
    build_index(folder / "corpus", CorpusIndexParameters(workers=1))
    return Retriever.open(folder / "corpus")


@pytest.fixture
def source(tmp_path: Path, retriever: Retriever) -> Path:
    """A set of questions that have the same words and other ids."""
    document, _, _ = retriever.store.find("n")
    start = document.text.index(SENTENCE)
    span = document.cite(start, start + len(SENTENCE))
    base = chain_item()
    first = base.hops[0].model_copy(update={"evidence": Evidence.of(spans=[span])})
    found = DocumentSet(retriever)
    for name in NAMES:
        changes = {"id": f"hw-{name}", "hops": (first, *base.hops[1:]), "options": {}, "label": None}
        found.add(base.model_copy(update=changes), [1, 2, None, 4], [retriever.store.passage(0).id])
    found.write(tmp_path / "set", "hopwright corpus questions", {}, "# The card\n", replace=False)
    return tmp_path / "set"


def judge(id: int, by: int, verdict: str = "Retain", score: int = 5, *more: dict[str, Any]) -> dict[str, Any]:
    scores = [rate(name, score) for name in CRITERIA[ReviewTaskKind.MULTI_HOP]]
    return annotate(choose("verdict", verdict), *scores, *more, id=id, completed_by=by)


def list_reviews(source: Path, retriever: Retriever) -> list[dict[str, Any]]:
    """The project as the server exports it: each task with its data and its annotations."""
    fixed = write(FIX_QUESTION, chain_item().question.replace("?", ", please?"))
    given = {
        "agreed": [judge(1, 3), judge(2, 4, score=4)],
        "disputed": [judge(3, 3), judge(4, 4, "Discard", 2)],
        "dropped": [judge(5, 3, "Discard", 1), judge(6, 4, "Discard", 2, choose("errors", "Not in the passages"))],
        "waiting": [judge(7, 3)],
        "reworded": [judge(8, 3, "Fix", 4, fixed), judge(9, 4, "Fix", 4, fixed)],
        "changed": [judge(10, 3), judge(11, 4)],
    }
    tasks = []
    for number, item in enumerate(read_set(source)[:6], start=1):
        task = build_document_task(item, retriever.store)
        tasks.append({**task, "id": number, "project": 9, "annotations": given[item.id.removeprefix("hw-")]})
    tasks[5]["data"]["item_hash"] = "0" * 16
    return tasks


def read_card(folder: Path) -> str:
    return (folder / "README.md").read_text("utf-8")


@pytest.fixture
def retain(tmp_path: Path, source: Path, retriever: Retriever) -> Retain:
    def run(tasks: Any, **changes: Any) -> ReviewReport:
        export = tmp_path / "export.json"
        export.write_text(json.dumps(tasks), "utf-8")
        people = Pseudonyms(tmp_path / "people")
        return retain_set(source, export, tmp_path / "kept", retriever.store, people, Thresholds(), **changes)

    return run


def test_what_two_reviewers_retain_is_a_set_and_the_rest_has_reasons(
    tmp_path: Path, source: Path, retriever: Retriever, retain: Retain
) -> None:
    report = retain(list_reviews(source, retriever))
    kept = tmp_path / "kept"
    assert [item.id for item in read_set(kept)] == ["hw-agreed"]
    assert "2 experts" in {check.name: check.reason for check in read_set(kept)[0].checks}["expert-review"]
    for name, key in (("queries", "_id"), ("retrievability", "id")):
        assert [json.loads(line)[key] for line in (kept / f"{name}.jsonl").open()] == ["hw-agreed"]
    assert (kept / "qrels.trec").read_text() == f"hw-agreed 0 {retriever.store.passage(0).id} 1\n"
    assert (kept / "qrels" / "test.tsv").read_text().splitlines() == [
        "query-id\tcorpus-id\tscore",
        f"hw-agreed\t{retriever.store.passage(0).id}\t1",
    ]
    assert (kept / "corpus.jsonl").read_bytes() == (source / "corpus.jsonl").read_bytes()
    left = {row["id"]: (row["check"], row["reason"]) for row in map(json.loads, (kept / "left-out.jsonl").open())}
    assert left == {
        "hw-disputed": ("in_adjudication", "the question: verdicts differ: Discard, Retain"),
        "hw-dropped": ("discarded", "the question: Not in the passages"),
        "hw-waiting": ("waiting_for_reviews", "the question: 1 of 2 reviews"),
        "hw-reworded": ("in_adjudication", "everything was corrected, and nobody scored what it reads now"),
    }
    assert "People reviewed 5 of the 7 questions that the table counts, and retained 1, " in read_card(kept)
    assert report.stale == 2
    assert count_decisions(report.decided)["accepted"] == 1
    verdicts = next(line for line in report.agreement if line.criterion == "verdict" and line.scope == "all")
    assert (verdicts.reliability.units, verdicts.reliability.percent.value) == (4, 0.75)
    assert verdicts.reliability.fleiss.low is not None
    assert "# Review of set set" in (kept / "report" / "report.md").read_text("utf-8")
    said = (kept / "reviews.jsonl").read_text("utf-8")
    assert {json.loads(line)["annotator"][:2] for line in said.splitlines()} == {"a-"}


def test_one_reviewer_is_enough_where_that_is_said(source: Path, retriever: Retriever, retain: Retain) -> None:
    report = retain(list_reviews(source, retriever), reviewers=1)
    assert count_decisions(report.decided)["accepted"] == 2


def test_the_same_reviews_give_the_same_files(
    tmp_path: Path, source: Path, retriever: Retriever, retain: Retain
) -> None:
    tasks = list_reviews(source, retriever)
    retain(tasks)
    before = {path: path.read_bytes() for path in (tmp_path / "kept").rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="--replace"):
        retain(tasks)
    retain(tasks, replace=True)
    assert {path: path.read_bytes() for path in (tmp_path / "kept").rglob("*") if path.is_file()} == before


def test_an_annotation_that_does_not_fit_is_left_out(source: Path, retriever: Retriever, retain: Retain) -> None:
    tasks = list_reviews(source, retriever)
    tasks[0]["annotations"].append(annotate(choose("verdict", "Perhaps"), id=99, completed_by=5))
    assert retain(tasks).refused == 1


def test_other_files_are_refused_in_one_line(
    tmp_path: Path, source: Path, retriever: Retriever, retain: Retain
) -> None:
    tasks = list_reviews(source, retriever)
    with pytest.raises(InputError, match="none of the reviewed questions is retained"):
        retain(tasks[1:3])
    with pytest.raises(InputError, match=r"no reviews of the questions.*2 are of other questions"):
        retain(tasks[5:])
    with pytest.raises(InputError, match=r"export\.json: annotations of task 1 without their ids"):
        retain([{**tasks[0], "annotations": [{}]}])
    for bad in ([{**tasks[0], "data": {"kind": "multi_hop"}}], [5], {}):
        with pytest.raises(InputError, match=r"export\.json: no JSON export of a Label Studio project"):
            retain(bad)
    (tmp_path / "export.json").write_text("{")
    with pytest.raises(InputError, match=r"export\.json: no JSON export"):
        retain_set(
            source, tmp_path / "export.json", tmp_path / "kept", retriever.store, Pseudonyms(tmp_path), Thresholds()
        )
    assert not (tmp_path / "kept").exists()
