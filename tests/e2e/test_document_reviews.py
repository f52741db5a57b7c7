"""Questions over documents reviewed on a real server, whose export comes home as a retained set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")

from annotation.decisions import Thresholds
from annotation.document_reviews import retain_set
from annotation.documents import write_document_tasks
from annotation.pseudonyms import Pseudonyms
from annotation.report import count_decisions
from annotation.schema import CRITERIA, ReviewTaskKind
from hopwright.exports.document_set import read_set
from hopwright.knowledge.documents.index import Retriever
from tests.annotation.reviews import choose, rate
from tests.annotation.test_document_reviews import retriever as retriever
from tests.annotation.test_document_reviews import source as source
from tests.e2e.label_studio import LiveServer

pytestmark = [pytest.mark.e2e, pytest.mark.servers]


def test_what_people_retain_on_a_server_comes_home_by_its_export(
    label_studio: LiveServer, source: Path, retriever: Retriever, tmp_path: Path
) -> None:
    items = read_set(source)[:3]
    write_document_tasks(retriever.store, items, tmp_path / "review")
    client = label_studio.client
    interface = (tmp_path / "review" / "interface.xml").read_text("utf-8")
    project = client.projects.create(title="Documents", label_config=interface).id
    prepared = json.loads((tmp_path / "review" / "tasks.json").read_text("utf-8"))
    client.projects.import_tasks(id=project, request=prepared)
    tasks = label_studio.tasks(project)
    people = [label_studio.client_of(label_studio.add_person(name).token) for name in ("one", "two")]
    for item, verdicts in zip(
        items, (("Retain", "Retain"), ("Retain", "Discard"), ("Discard", "Discard")), strict=True
    ):
        for person, verdict in zip(people, verdicts, strict=True):
            person.annotations.create(id=tasks[item.id].id, result=answer(verdict), lead_time=40.0)
    exported = b"".join(client.projects.exports.download_sync(project))
    (tmp_path / "export.json").write_bytes(exported)
    report = retain_set(
        source,
        tmp_path / "export.json",
        tmp_path / "kept",
        retriever.store,
        Pseudonyms(tmp_path / "people"),
        Thresholds(),
    )
    assert [item.id for item in read_set(tmp_path / "kept")] == [items[0].id]
    assert count_decisions(report.decided) == {"accepted": 1, "discarded": 1, "in_adjudication": 1}
    assert len({review.annotator for review in report.reviews}) == 2
    assert (len(report.reviews), report.stale, report.refused) == (6, 0, 0)


def answer(verdict: str) -> list[dict[str, Any]]:
    """What the page sends for a verdict."""
    score = 5 if verdict == "Retain" else 1
    return [choose("verdict", verdict), *(rate(name, score) for name in CRITERIA[ReviewTaskKind.MULTI_HOP])]
