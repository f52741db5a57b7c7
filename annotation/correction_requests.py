"""Corrections that do not hold, and reviews that contradict themselves, go back to their authors: as a note on top of
the task, with the reason.

Community Label Studio has no comments, and no way to give a task to one person. So the note is put on the task that
holds the annotation, and a tab of the project lists such tasks; the author opens the annotation, changes it and
updates it. The same annotation stays the same vote, and the note goes once the correction holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from annotation.corrections import corrections_of
from annotation.decisions import ReviewKey
from annotation.server import Server
from annotation.server_reading import NotOnServerError, read_json
from hopwright.errors import InputError
from hopwright.records import Review
from hopwright.reporting.rendering import load_template
from hopwright.runs import write_file

QUESTIONS = "questions.json"
RETURNED = "returned"
"""The field of a task's `data` that holds the questions; the project's tab filters by it."""

_HTML = "item_html"
_NOTE = re.compile(r'^<div class="hw-returned".*?</div>\n?', re.DOTALL)
_TAB = "Returned"
_HIDDEN = [
    f"tasks:{name}"
    for name in (
        "data.item_html", "data.reviews_html", "data.reviews", "data.item_hash", "data.item_id", "data.kind", "data.of",
        "data.hop", "data.answer", "data.topology", "data.variant", "inner_id", "completed_at", "total_predictions",
        "cancelled_annotations", "annotations_results", "annotations_ids", "predictions_score",
        "predictions_model_versions", "predictions_results", "file_upload", "storage_filename", "created_at",
        "updated_at", "updated_by", "avg_lead_time", "draft_exists",
    )
]  # fmt: skip
"""The tab lists what identifies a task and what is asked, nothing else."""
_LONGEST = 600

TaskId = tuple[int, int]
"""Project and task."""


@dataclass(frozen=True, slots=True)
class ReturnReport:
    """What became of questions: newly asked, answered (the note is gone), and open, in tasks."""

    asked: int = 0
    answered: int = 0
    open: int = 0
    lost: tuple[str, ...] = ()


def list_questions(reviews: Iterable[Review], problems: Mapping[ReviewKey, str]) -> dict[TaskId, tuple[str, ...]]:
    """Project and task → what to ask there: what contradicts itself there or does not hold, and why."""
    questions: dict[TaskId, list[str]] = {}
    for review in sorted(reviews, key=lambda one: (one.project, one.annotation)):
        problem = problems.get(review.key)
        if problem:
            said = "; ".join(
                f"{field.removeprefix('fix_').replace('_', ' ')} → {text}"
                for field, text in corrections_of(review).items()
            )
            whole = (
                f"Verdict: {review.verdict}. Correction: {_shorten(said or 'none')}. "
                f"Why it comes back: {_shorten(problem)}."
            )
            questions.setdefault((review.project, review.task), []).append(whole)
    return {task: tuple(found) for task, found in questions.items()}


def return_questions(questions: Mapping[TaskId, tuple[str, ...]], server: Server, folder: Path) -> ReturnReport:
    """Bring the notes on the server's tasks in line with `questions`; repeated, it changes nothing.

    `folder` is that server's, beside its journals; what was asked is kept there. A task that is gone is named in the
    report. To be called inside `open_server`; a cut in between is made good by the next call.
    """
    path = folder / QUESTIONS
    before = _read(path)
    asked = answered = 0
    lost = []
    for task in sorted(before.keys() | questions.keys()):
        wanted = questions.get(task, ())
        if before.get(task, ()) == wanted:
            continue
        try:
            _annotate(server, task, wanted)
        except NotOnServerError as error:
            lost.append(str(error))
        asked += bool(wanted)
        answered += not wanted
    if before != dict(questions):
        kept = {f"{project}/{task}": list(found) for (project, task), found in sorted(questions.items())}
        write_file(path, json.dumps(kept, indent=1, ensure_ascii=False).encode() + b"\n")
    return ReturnReport(asked, answered, len(questions), tuple(lost))


def write_note(html: str, questions: tuple[str, ...]) -> str:
    """The page's HTML with the note that asks these questions, and no other; without questions, without a note."""
    plain = _NOTE.sub("", html, count=1)
    if not questions:
        return plain
    return load_template("annotation", "returned.html.j2").render(questions=questions).strip() + "\n" + plain


def _annotate(server: Server, task: TaskId, questions: tuple[str, ...]) -> None:
    project, id = task
    data = dict(read_json(server, f"api/tasks/{id}/", f"task {id} of project {project}").body["data"])
    data[_HTML] = write_note(str(data[_HTML]), questions)
    data.pop(RETURNED, None)
    if questions:
        data[RETURNED] = " ".join(questions)
    server.client.tasks.update(str(id), data=data)
    if questions:
        _show_tab(server, project)


def _show_tab(server: Server, project: int) -> None:
    """The tab that lists returned tasks, made once."""
    views = read_json(server, "api/dm/views/", f"project {project}", project=project).body
    if any(view.get("data", {}).get("title") == _TAB for view in views):
        return
    filled = {"filter": f"filter:tasks:data.{RETURNED}", "operator": "empty", "type": "String", "value": "false"}
    data: dict[str, Any] = {
        "title": _TAB,
        "type": "list",
        "target": "tasks",
        "filters": {"conjunction": "and", "items": [filled]},
        "hiddenColumns": {"explore": _HIDDEN, "labeling": _HIDDEN},
    }
    server.client.views.create(project=project, data=cast(Any, data))


def _read(path: Path) -> dict[TaskId, tuple[str, ...]]:
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
        return {(int(key.split("/")[0]), int(key.split("/")[1])): tuple(texts) for key, texts in found.items()}
    except (OSError, ValueError, AttributeError, IndexError) as error:
        raise InputError(f"{path}: cannot be read ({error}); remove it, and the next pull asks again") from None


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
