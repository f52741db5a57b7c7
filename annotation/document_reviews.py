"""Reviews of questions over documents: from a project's export to what is retained, and how far reviewers agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.accepted import Decided, decide_all, list_used, table_of_scores
from annotation.agreement import measure_agreement
from annotation.annotators import profile_annotators
from annotation.decisions import Thresholds
from annotation.documents import build_document_task
from annotation.forms import load_document_interface, parse_interface
from annotation.pseudonyms import Pseudonyms
from annotation.pull import Project, read_task
from annotation.report import ReviewReport, count_decisions, write_report
from annotation.review_collection import CollectedReviews, CurrentTask, TaskName
from annotation.schema import ReviewTaskKind
from hopwright.checks import CheckContext
from hopwright.errors import InputError
from hopwright.evaluation.items import QRELS, RECORDS
from hopwright.exports.document_set import read_set
from hopwright.foreign import open_file, read_array
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import Item, Rejected, Review
from hopwright.records.json_lines import read_json_lines
from hopwright.release.own_folder import write_own_folder
from hopwright.runs.files import write_file, write_json_lines

WRITER = "hopwright corpus retain"
_KIND = ReviewTaskKind.MULTI_HOP
"""What a task about documents is reviewed as: a whole question."""

_SERVER = "export"
"""What stands for the server in pseudonyms: an export does not name it."""


def retain_set(
    source: Path,
    export: Path,
    target: Path,
    store: CorpusStore,
    pseudonyms: Pseudonyms,
    thresholds: Thresholds,
    *,
    reviewers: int = 2,
    seed: int = 0,
    replace: bool = False,
) -> ReviewReport:
    """Write the questions of a set that reviewers retain, the others with their reasons, and the report.

    `export` is what Label Studio exports of the tasks' project as JSON. A review counts only while its task shows what
    the reviewer saw. Raises InputError for another file, one without reviews of this set, and where nothing is
    retained.
    """
    items = {item.id: item for item in read_set(source)}
    gathered = gather_export(export, items, store, pseudonyms, reviewers)
    if not gathered.reviews:
        changed = f"; {gathered.stale} are of other questions, or of what these were before" if gathered.stale else ""
        refused = f"; the first that does not fit: {gathered.refused[0].reason}" if gathered.refused else ""
        raise InputError(f"{export}: no reviews of the questions in {source}{changed}{refused}")
    decided = decide_all(gathered, items, CheckContext(default_table()), thresholds)
    report = ReviewReport(
        run=source.resolve().name,
        reviews=gathered.reviews,
        agreement=measure_agreement(gathered.reviews, {id: item.topology for id, item in items.items()}, seed=seed),
        profiles=profile_annotators(gathered.reviews, items),
        stale=gathered.stale,
        refused=len(gathered.refused),
        decided=decided,
        scores=table_of_scores(decided),
        what="set",
    )
    retained = [one for one in decided if one.decision.state == "accepted"]
    if not retained:
        why = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in count_decisions(decided).items())
        raise InputError(f"{export}: none of the reviewed questions is retained ({why})")
    with write_own_folder(target, WRITER, replace=replace) as aside:
        _write_set(source, aside, decided, len(items))
        used = [review.model_dump(mode="json") for review in list_used(decided)]
        write_file(aside / "reviews.jsonl", write_json_lines(used))
        write_report(report, aside / "report")
    return report


def gather_export(
    export: Path, items: Mapping[str, Item], store: CorpusStore, pseudonyms: Pseudonyms, reviewers: int
) -> CollectedReviews:
    """The reviews of a project's export that are of these items as they are. Raises InputError for another file."""
    form = parse_interface(load_document_interface())
    tasks: dict[TaskName, CurrentTask] = {}
    reviews: list[Review] = []
    refused: list[Rejected] = []
    stale = 0
    for task in _read_tasks(export):
        data = task["data"]
        item = items.get(str(data.get("item_id")))
        about = {task["id"]: {**data, "kind": _KIND.value}}
        project = Project(int(task.get("project") or 0), _KIND)
        try:
            pulled = read_task(task, about.__getitem__, form, project, pseudonyms, _SERVER)
        except InputError as error:
            raise InputError(f"{export}: {error}") from None
        if item is None or build_document_task(item, store)["data"]["item_hash"] != data.get("item_hash"):
            stale += len(pulled.reviews)
            continue
        tasks[_KIND.value, item.id] = CurrentTask(str(data["item_hash"]), reviewers)
        reviews += pulled.reviews
        refused += pulled.refused
    return CollectedReviews(tuple(reviews), (), (), tasks, stale, tuple(refused))


def _read_tasks(export: Path) -> Iterator[dict[str, Any]]:
    wrong = f"{export}: no JSON export of a Label Studio project with tasks of `hopwright corpus tasks`"
    try:
        with open_file(export) as file:
            for task in read_array(file):
                if not isinstance(task, dict) or type(task.get("id")) is not int:
                    raise InputError(wrong)
                data = task.get("data")
                if not isinstance(data, dict) or data.get("kind") != "document":
                    raise InputError(f"{wrong} (task {task['id']})")
                yield task
    except ValueError as error:
        raise InputError(f"{wrong} ({error})") from None


def _write_set(source: Path, target: Path, decided: Sequence[Decided], of: int) -> None:
    """The files of a set with the retained items alone; its corpus and its recipe are those of the whole set."""
    kept = {one.item.id: one.item for one in decided if one.decision.state == "accepted"}
    write_file(target / RECORDS, write_json_lines([item.model_dump(mode="json") for item in kept.values()]))
    for name, key in (("retrievability.jsonl", "id"), ("queries.jsonl", "_id")):
        rows = [row for row, _ in read_json_lines(source / name, WRITER) if row.get(key) in kept]
        write_file(target / name, write_json_lines(rows))
    (target / "qrels").mkdir()
    for name, head in (("qrels/test.tsv", 1), (QRELS, 0)):
        lines = (source / name).read_text("utf-8").splitlines(keepends=True)
        chosen = [line for line in lines[head:] if line.split(maxsplit=1)[0] in kept]
        write_file(target / name, "".join([*lines[:head], *chosen]).encode())
    for name in ("corpus.jsonl", "recipe.json"):
        write_file(target / name, (source / name).read_bytes())
    left = [
        {"id": one.item.id, "check": one.decision.check, "reason": one.decision.reason}
        for one in decided
        if one.decision.state != "accepted"
    ]
    write_file(target / "left-out.jsonl", write_json_lines(left))
    card = (source / "README.md").read_text("utf-8").rstrip()
    said = (
        f"People reviewed {len(decided):,} of the {of:,} questions that the table counts, and retained {len(kept):,}, "
        "which are those of this folder; `left-out.jsonl` says why the others are not. How far the reviewers agree is "
        "in [the report](report/report.md)."
    )
    write_file(target / "README.md", f"{card}\n\n## Review\n\n{said}\n".encode())
