"""Brings annotations home: what changed since the last time, held against the interface, under pseudonyms."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from label_studio_sdk.label_interface.interface import LabelInterface

from annotation.forms import load_interface, parse_interface
from annotation.journal import Journal, JournalState, TaskAnnotations
from annotation.pseudonyms import Pseudonyms
from annotation.schema import ReviewTaskKind
from annotation.server import Server
from annotation.server_reading import list_tasks, read_json, write_time
from annotation.validate import read_annotation
from hopwright.errors import InputError, ServiceError
from hopwright.records import Rejected

REFUSED = "interface"
"""The check that an annotation fails which does not fit."""

_FIELDS = "id,updated_at,annotations,result,completed_by,created_at,lead_time,was_cancelled"
"""Of tasks and of their annotations alike: the server takes one list for both."""
_PAGE, _MANY = 500, 5000
_LONGEST_TIME = 40
_OVERLAP = dt.timedelta(seconds=60)
"""What was changed this long before the last pull is looked at again: a slow transaction may have ended since."""


@dataclass(frozen=True, slots=True)
class Project:
    """A project of ours on a server; `of` is what an adjudication settles. `data`: task → its `data`, where known.

    Only what tells a task from another is needed of `data`; for tasks that are not in it the server is asked.
    """

    id: int
    kind: ReviewTaskKind
    of: ReviewTaskKind | None = None
    data: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PullReport:
    """What a pull of one project brought. `refused` names annotations that do not fit the interface, and why."""

    project: int
    kind: str
    whole: bool
    new: int
    changed: int
    removed: int
    held: int
    refused: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """One line for a log or a report."""
        parts = [f"{self.new} new", f"{self.changed} changed", f"{self.removed} removed", f"{self.held} held"]
        if self.refused:
            parts.append(f"{len(self.refused)} left out")
        return f"{self.kind} (project {self.project}): {', '.join(parts)}"


def pull_project(
    server: Server,
    project: Project,
    journal: Journal,
    pseudonyms: Pseudonyms,
    *,
    full: bool = False,
) -> PullReport:
    """Bring one project's journal up to date; asked again when nothing changed, it writes nothing.

    The first pull, one asked to be `full`, and one whose count of annotations is not the server's fetch everything.
    Raises NotOnServerError when the project is gone (the journal stays), InputError for a damaged journal. To be called
    inside `open_server`.
    """
    # Blind tasks have two answers more, which nobody can give in the others' interface.
    form = parse_interface(load_interface(project.kind, project.of, blind=project.of is None))
    held = journal.read()
    what = f"project {project.id} ({project.kind})"
    # The server's own time before anything is listed: what changes from here on belongs to the next pull.
    there = read_json(server, f"api/projects/{project.id}/", what)
    whole = full or not held.watermark
    found: dict[int, TaskAnnotations] = {}
    seen: dict[int, str] = {}
    data = _Data(server, project)
    for task in _list_changed(server, project, None if whole else held):
        id, moment = int(task["id"]), str(task.get("updated_at", ""))[:_LONGEST_TIME]
        try:
            found[id] = read_task(task, data.of, form, project, pseudonyms, server.url)
        except InputError as error:
            raise ServiceError(f"Label Studio at {server.url} sends {error}") from None
        seen[id] = moment
    if not whole and not _is_counted(server, project, what, there.body, _count(held.tasks, found)):
        # Something went without a trace in the times: tasks or annotations that were removed in bulk.
        return pull_project(server, project, journal, pseudonyms, full=True)
    report = _compare(project, held, found, whole=whole)
    if whole or any(held.tasks.get(id, TaskAnnotations()) != pulled for id, pulled in found.items()):
        journal.append(found, seen, there.clock, whole=whole)
    return report


def read_task(
    task: Mapping[str, Any],
    data: Callable[[int], Mapping[str, Any]],
    form: LabelInterface,
    project: Project,
    pseudonyms: Pseudonyms,
    server: str,
) -> TaskAnnotations:
    """The annotations of a task, by id: those that fit, and those that do not with the reason.

    `data` tells what the task of an id is about. Raises InputError where annotations have no ids.
    """
    reviews = []
    refused = []
    annotations = task.get("annotations") or []
    if not isinstance(annotations, list) or not all(
        isinstance(one, dict) and type(one.get("id")) is int for one in annotations
    ):
        raise InputError(f"annotations of task {task['id']} without their ids")
    for annotation in sorted(annotations, key=lambda one: int(one["id"])):
        who = pseudonyms.name(server, _find_author(annotation))
        try:
            about = data(int(task["id"]))
            if about.get("kind") != project.kind.value:
                raise InputError(f"its task is no {project.kind} task of ours")
            reviews.append(read_annotation(annotation, about, form, project=project.id, task=int(task["id"]), who=who))
        except InputError as error:
            key = f"{project.id}/{task['id']}/{annotation['id']}"
            refused.append(Rejected(key=key, check=REFUSED, reason=str(error)))
    return TaskAnnotations(tuple(reviews), tuple(refused))


def _list_changed(server: Server, project: Project, held: JournalState | None) -> Iterator[dict[str, Any]]:
    """The tasks that changed since what is held, with their annotations; all that have any when nothing is held."""
    if held is None:
        yield from list_tasks(server, project.id, _FIELDS, annotated=True, page=_PAGE)
        return
    since = write_time(dt.datetime.fromisoformat(held.watermark) - _OVERLAP)
    stamps = list_tasks(server, project.id, "id,updated_at", since=since, page=_MANY)
    changed = [int(task["id"]) for task in stamps if held.seen.get(int(task["id"])) != task.get("updated_at")]
    for start in range(0, len(changed), _PAGE):
        yield from list_tasks(server, project.id, _FIELDS, only=changed[start : start + _PAGE], page=_PAGE)


class _Data:
    """What each task is about: as we know it, else as the server says, asked once for all."""

    def __init__(self, server: Server, project: Project) -> None:
        self._server = server
        self._project = project
        self._asked: dict[int, Mapping[str, Any]] | None = None

    def of(self, task: int) -> Mapping[str, Any]:
        """A task's `data`; empty when the server does not know the task either."""
        if task in self._project.data:
            return self._project.data[task]
        if self._asked is None:
            names = ("item_id", "item_hash", "kind", "of", "hop")
            rows = list_tasks(self._server, self._project.id, "id,data", page=_PAGE)
            self._asked = {
                row["id"]: {name: data[name] for name in names if name in data}
                for row in rows
                if isinstance(data := row.get("data"), dict)
            }
        return self._asked.get(task, {})


def _find_author(annotation: Mapping[str, Any]) -> int:
    """The id of the account that an annotation belongs to; 0 for an account that is gone."""
    author = annotation.get("completed_by")
    id = author.get("id") if isinstance(author, Mapping) else author
    return id if isinstance(id, int) else 0


def _is_counted(server: Server, project: Project, what: str, before: Mapping[str, Any], held: int) -> bool:
    """Whether the server counts as many annotations as are held, allowing for those that came while we read."""
    totals = [_total(before)]
    if held != totals[0]:
        totals.append(_total(read_json(server, f"api/projects/{project.id}/", what).body))
    return min(totals) <= held <= max(totals)


def _total(there: Mapping[str, Any]) -> int:
    return int(there.get("total_annotations_number") or 0) + int(there.get("skipped_annotations_number") or 0)


def _count(held: Mapping[int, TaskAnnotations], found: Mapping[int, TaskAnnotations]) -> int:
    return sum(len(one.reviews) + len(one.refused) for one in {**held, **found}.values())


def _compare(project: Project, held: JournalState, found: Mapping[int, TaskAnnotations], *, whole: bool) -> PullReport:
    before = _list_annotations(held.tasks if whole else {id: held.tasks.get(id, TaskAnnotations()) for id in found})
    after = _list_annotations(found)
    total = after if whole else {**_list_annotations({**held.tasks, **found})}
    refused = [one for pulled in found.values() for one in pulled.refused]
    return PullReport(
        project=project.id,
        kind=project.kind.value if project.of is None else f"{project.kind.value} of {project.of.value}",
        whole=whole,
        new=len(after.keys() - before.keys()),
        changed=sum(after[key] != before[key] for key in after.keys() & before.keys()),
        removed=len(before.keys() - after.keys()),
        held=len(total),
        refused=tuple(_tell(one) for one in refused),
    )


def _list_annotations(tasks: Mapping[int, TaskAnnotations]) -> dict[str, object]:
    found: dict[str, object] = {}
    for pulled in tasks.values():
        found |= {f"{one.project}/{one.task}/{one.annotation}": one for one in pulled.reviews}
        found |= {one.key: one for one in pulled.refused}
    return found


def _tell(refused: Rejected) -> str:
    project, task, annotation = refused.key.split("/")
    return f"annotation {annotation} of task {task} (project {project}) is left out: {refused.reason}"
