"""Pushes review tasks to a Label Studio server: idempotent by our item id, never touching what was reviewed."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx
from label_studio_sdk import LabelStudio
from label_studio_sdk.core.api_error import ApiError
from label_studio_sdk.core.request_options import RequestOptions
from label_studio_sdk.label_interface.interface import LabelInterface

from annotation.files import GOLD, list_kinds, read_planted, read_settings, read_tasks
from annotation.forms import Task, check_task, load_instructions, load_interface, parse_interface
from annotation.gold import read_gold, write_gold
from annotation.ledger import FOLDER, Ledger, ledger_path
from annotation.schema import LedgerEntry, ReviewTaskKind, key_of
from annotation.server import Server
from hopwright.errors import InputError, ServiceError

_BATCH_TASKS, _BATCH_BYTES = 500, 20_000_000
_PAGE = 500
_LONGEST_TITLE = 50
"""The server takes no longer one."""
_ASK_ONE_BY_ONE = 100
"""Changed tasks that are looked at singly; beyond, the project is listed, which costs about as much."""
_ONCE: RequestOptions = {"max_retries": 0}
"""For what makes something new: if it succeeded and only its answer was lost, sent again it would make another."""
_TRIES, _PAUSE_SECONDS = 3, 1.0
_SERVERS_FAULT = 500
_FIELDS = "id,data,overlap,total_annotations,cancelled_annotations,draft_exists"

_NEVER_LISTED = [
    f"tasks:{name}"
    for name in (
        "data.item_html", "data.blind_html", "data.reviews_html", "data.reviews", "data.item_hash", "inner_id",
        "total_predictions", "annotations_results", "annotations_ids", "predictions_score",
        "predictions_model_versions", "predictions_results", "file_upload", "storage_filename", "created_at",
        "updated_at", "updated_by", "avg_lead_time",
    )
]  # fmt: skip
_NOT_WHILE_LABELLING = [
    f"tasks:{name}"
    for name in ("data.item_id", "data.answer", "data.topology", "data.variant", "data.kind", "data.of",
                 "data.hop", "id", "completed_at", "cancelled_annotations", "annotators", "draft_exists")
]  # fmt: skip

_TITLES = {
    ReviewTaskKind.SINGLE_HOP: "single-hop questions",
    ReviewTaskKind.MULTI_HOP: "multi-hop questions",
    ReviewTaskKind.TWIN: "counterfactual twins",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A task that was left as it is on the server, and why."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class PushReport:
    """What a push did to one project. `others`: tasks of the project that were not part of this push; they stay."""

    kind: ReviewTaskKind
    project: int
    url: str
    created: bool
    new: int = 0
    updated: int = 0
    unchanged: int = 0
    others: int = 0
    refused: tuple[Refusal, ...] = ()

    @property
    def summary(self) -> str:
        """One line for a log or a report."""
        parts = [f"{self.new} new", f"{self.updated} updated", f"{self.unchanged} unchanged"]
        if self.refused:
            parts.append(f"{len(self.refused)} refused (already under review)")
        return f"{', '.join(parts)}: {self.url}"


def name_project(run: str, kind: ReviewTaskKind, of: ReviewTaskKind | None = None, *, blind: bool = False) -> str:
    """The title of a run's project for a kind of tasks; a run's name that is too long is cut and marked by its hash.

    Blind tasks have a project of their own: an interface cannot change under answers that were given in it.
    """
    what = f": adjudication of {_TITLES[of]}" if of is not None else f": {_TITLES[kind]}"
    what += ", blind" if blind else ""
    room = _LONGEST_TITLE - len(what)
    if len(run) > room:
        mark = hashlib.blake2b(run.encode(), digest_size=3).hexdigest()
        run = f"{run[: room - len(mark) - 1]}~{mark}"
    return run + what


def push_folder(folder: Path, server: Server, run: Path) -> list[PushReport]:
    """Bring what `write_tasks` wrote to a server, one project per kind. `run` is the run's folder, which names them.

    The keys of gold tasks are added to `<run>/label-studio/gold.jsonl` before any of them is pushed.
    Raises InputError for a folder that cannot be used, ServiceError for what the server refuses.
    """
    kinds = list_kinds(folder)
    settings = read_settings(folder)
    kept = run / FOLDER / GOLD
    known = read_gold(kept)
    if planted := read_planted(folder):
        write_gold({**known, **planted}.values(), kept)
    ledger = Ledger(ledger_path(run, server.url))
    return [
        push(
            read_tasks(folder, kind),
            server=server,
            title=name_project(run.name, kind, blind=settings.blind),
            kind=kind,
            ledger=ledger,
            usual=settings.usual,
            overlap=settings.of,
            blind=settings.blind,
        )
        for kind in kinds
    ]


def push(
    tasks: Iterable[Task],
    *,
    server: Server,
    title: str,
    kind: ReviewTaskKind,
    ledger: Ledger,
    of: ReviewTaskKind | None = None,
    usual: int = 1,
    overlap: Callable[[str], int] | None = None,
    blind: bool = False,
) -> PushReport:
    """Create or update the project of that title, and bring its tasks up to date.

    A task is known by its key (`data.item_id`, and `data.hop` where there is one): a new one is imported, an equal one
    left alone, a changed one updated in place; a changed one that somebody annotated, skipped or drafted is left as it
    is and reported as refused. A push that was cut short may be repeated. `usual` reviewers get a task, or as many as
    `overlap` says for its item; `blind` tasks ask for the annotator's own answer first.

    Raises InputError for tasks that do not fit the interface or come twice. To be called inside `open_server`.
    """
    interface = load_interface(kind, of, blind=blind)
    guidelines = load_instructions(kind, blind=blind)
    project, created, total = _bring_project_up_to_date(server.client, title, interface, guidelines, usual, blind)
    form = parse_interface(interface)
    pusher = _Pusher(server.client, project, kind, form, ledger, overlap or (lambda item_id: usual), usual)
    if not (ledger.settled(project) and total == len(ledger.entries(project))):
        pusher.list_project()
    return pusher.run(tasks, created, f"{server.url}/projects/{project}")


class _Pusher:
    """One push into one project."""

    def __init__(
        self,
        client: LabelStudio,
        project: int,
        kind: ReviewTaskKind,
        form: LabelInterface,
        ledger: Ledger,
        overlap: Callable[[str], int],
        usual: int,
    ) -> None:
        self._client = client
        self._project = project
        self._kind = kind
        self._form = form
        self._ledger = ledger
        self._overlap = overlap
        self._usual = usual
        self._touched: dict[str, str] | None = None

    def run(self, tasks: Iterable[Task], created: bool, url: str) -> PushReport:
        """Sort the tasks into new, equal and changed, and deal with each."""
        new: list[Task] = []
        size = imported = unchanged = 0
        changed: list[Task] = []
        seen: set[str] = set()
        for task in tasks:
            key = self._read_key(task)
            if key in seen:
                raise InputError(f"item {key} occurs twice among the tasks to push")
            seen.add(key)
            held = self._ledger.entries(self._project).get(key)
            if held is None:
                check_task(task, self._form)
                length = len(json.dumps(task))
                if new and (len(new) == _BATCH_TASKS or size + length > _BATCH_BYTES):
                    imported += self._import(new)
                    new, size = [], 0
                new.append(task)
                size += length
            elif held.item_hash == task["data"]["item_hash"]:
                self._set_overlap(held, self._overlap(task["data"]["item_id"]))
                unchanged += 1
            else:
                check_task(task, self._form)
                changed.append(task)
        if new:
            imported += self._import(new)
        refused = self._update_all(changed)
        if imported or changed:
            self._ledger.fold()
        return PushReport(
            kind=self._kind,
            project=self._project,
            url=url,
            created=created,
            new=imported,
            updated=len(changed) - len(refused),
            unchanged=unchanged,
            others=len(self._ledger.entries(self._project).keys() - seen),
            refused=tuple(refused),
        )

    def list_project(self) -> None:
        """Ask the server for every task of ours, and keep the answer in the ledger."""
        self._touched = {}
        held: dict[str, LedgerEntry] = {}
        tasks: Iterable[Any] = self._client.tasks.list(project=self._project, include=_FIELDS, page_size=_PAGE)
        for task in tasks:
            data: dict[str, Any] = task.data or {}
            key = key_of(data)
            if key is None:
                continue
            touched = _describe_review(task, bool(task.draft_exists))
            if key in held and (self._touched[key] or not touched):
                continue
            self._touched[key] = touched
            held[key] = LedgerEntry(
                key=key,
                kind=self._kind,
                project=self._project,
                task=int(task.id),
                item_hash=str(data.get("item_hash")),
                overlap=int(task.overlap or self._usual),
            )
        self._ledger.replace(self._project, held.values())

    def _read_key(self, task: Task) -> str:
        key = key_of(task["data"])
        if key is None or task["data"].get("kind") != self._kind:
            raise InputError(f"a task without an item id, or of another kind than {self._kind}, cannot be pushed")
        return key

    def _import(self, tasks: list[Task]) -> int:
        self._ledger.announce(self._project)
        answer = self._client.projects.import_tasks(
            id=self._project, request=cast(Any, tasks), return_task_ids=True, request_options=_ONCE
        )
        ids = (answer.model_extra or {}).get("task_ids") or getattr(answer, "task_ids", None)
        if not isinstance(ids, list) or len(ids) != len(tasks):
            self.list_project()
            return len(tasks)
        entries = [
            LedgerEntry(
                key=self._read_key(task),
                kind=self._kind,
                project=self._project,
                task=int(id),
                item_hash=task["data"]["item_hash"],
                overlap=self._usual,
            )
            for task, id in zip(tasks, ids, strict=True)
        ]
        self._ledger.record(self._project, entries)
        for task, entry in zip(tasks, entries, strict=True):
            self._set_overlap(entry, self._overlap(task["data"]["item_id"]))
        return len(tasks)

    def _set_overlap(self, held: LedgerEntry, wanted: int) -> None:
        """A task takes its project's overlap when it is imported; another one is set on it."""
        if held.overlap != wanted:
            self._client.tasks.update(str(held.task), overlap=wanted)
            self._ledger.record(self._project, [held.model_copy(update={"overlap": wanted})])

    def _update_all(self, tasks: list[Task]) -> list[Refusal]:
        if len(tasks) > _ASK_ONE_BY_ONE and self._touched is None:
            self.list_project()
        refused = []
        for task in tasks:
            held = self._ledger.entries(self._project)[self._read_key(task)]
            touched = self._find_touched(held)
            if touched:
                refused.append(Refusal(held.key, f"it changed since, but {touched}"))
                continue
            self._update(held.task, task)
            updated = held.model_copy(update={"item_hash": task["data"]["item_hash"]})
            self._ledger.record(self._project, [updated])
            self._set_overlap(updated, self._overlap(task["data"]["item_id"]))
        return refused

    def _find_touched(self, held: LedgerEntry) -> str:
        if self._touched is not None:
            return self._touched.get(held.key, "")
        try:
            task = self._client.tasks.get(str(held.task))
        except ApiError as error:
            if error.status_code != 404:
                raise
            self.list_project()
            raise ServiceError(f"the task of {held.key} was deleted on the server; push again") from None
        return _describe_review(task, bool(task.drafts))

    def _update(self, held: int, task: Task) -> None:
        """Replace predictions, then data. The data carry the item's hash, so a cut in between is made good later."""
        outdated = [prediction.id for prediction in self._client.predictions.list(task=held)]
        for prediction in task["predictions"]:
            self._client.predictions.create(
                task=held, result=prediction["result"], model_version=prediction["model_version"]
            )
        for id in outdated:
            self._client.predictions.delete(id)
        self._client.tasks.update(str(held), data=task["data"])


def _bring_project_up_to_date(
    client: LabelStudio, title: str, interface: str, guidelines: str, usual: int, blind: bool
) -> tuple[int, bool, int]:
    """The project's id, whether it was created, and how many tasks it holds (-1: to be asked).

    Only settings that differ are written.
    """
    wanted: dict[str, Any] = {
        "label_config": interface,
        "expert_instruction": guidelines,
        "show_instruction": True,
        "show_collab_predictions": True,
        "show_skip_button": True,
        "maximum_annotations": usual,
    }
    found = list(_find_projects(client, title))
    if len(found) > 1:
        raise ServiceError(
            f"Label Studio has {len(found)} projects named {title!r}; rename all but one, or use another run name"
        )
    if not found:
        created = _create_project(client, title, wanted)
        client.views.create(project=created, data=cast(Any, _list_columns(blind)))
        return created, True, 0
    project = found[0]
    differing = {name: value for name, value in wanted.items() if getattr(project, name, None) != value}
    if differing:
        client.projects.update(project.id, **differing)
    # Another number of reviewers is set on every task by the server, so what the ledger says of them is void.
    held = -1 if "maximum_annotations" in differing else int(project.task_number or 0)
    return cast(int, project.id), False, held


def _list_columns(blind: bool) -> dict[str, Any]:
    """The project's list of tasks as it is first seen: what identifies an item, not its rendered page.

    Where people answer first, the list does not tell them the answer.
    """
    hidden = [*_NEVER_LISTED, *(["tasks:data.answer"] if blind else [])]
    return {
        "title": "Items",
        "type": "list",
        "target": "tasks",
        "hiddenColumns": {"explore": hidden, "labeling": _NEVER_LISTED + _NOT_WHILE_LABELLING},
    }


def _create_project(client: LabelStudio, title: str, wanted: Mapping[str, Any]) -> int:
    """Create a project, and one only: after a failure of the server, look whether it is there before trying again."""
    for number in range(1, _TRIES + 1):
        try:
            return cast(int, client.projects.create(title=title, **wanted, request_options=_ONCE).id)
        except (ApiError, httpx.TransportError) as error:
            if isinstance(error, ApiError) and (error.status_code or 0) < _SERVERS_FAULT:
                raise
            made = next(_find_projects(client, title), None)
            if made is not None:
                return cast(int, made.id)
            if number == _TRIES:
                raise
            time.sleep(_PAUSE_SECONDS)
    raise AssertionError("the last try returns or raises")


def _find_projects(client: LabelStudio, title: str) -> Iterator[Any]:
    projects: Iterable[Any] = client.projects.list(title=title)
    return (project for project in projects if project.title == title)


def _describe_review(task: Any, drafted: bool) -> str:
    if task.total_annotations:
        return f"it has {task.total_annotations} annotation{'s' if task.total_annotations > 1 else ''}"
    if task.cancelled_annotations:
        return "a reviewer skipped it"
    return "a reviewer has begun a draft" if drafted else ""
