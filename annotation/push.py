"""Pushes review tasks to a Label Studio server: idempotent by our item id, never touching what was reviewed."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
from label_studio_sdk import LabelStudio
from label_studio_sdk.core.api_error import ApiError
from label_studio_sdk.core.request_options import RequestOptions
from label_studio_sdk.label_interface.interface import LabelInterface

from annotation.export import Task, check_task, load_instructions, load_interface, parse_interface
from hopwright.errors import InputError, ServiceError

_BATCH = 500
_PAGE = 500
_TIMEOUT_SECONDS = 120
_NO_LABEL_STUDIO = "{server} does not answer like Label Studio; check the address"
_ONCE: RequestOptions = {"max_retries": 0}
"""For imports: one that succeeded but whose answer was lost would make duplicates if it were sent again."""
_FIELDS = "id,data,total_annotations,cancelled_annotations,draft_exists"

_NEVER_LISTED = [
    f"tasks:{name}"
    for name in (
        "data.view", "data.content_hash", "inner_id", "total_predictions", "annotations_results", "annotations_ids",
        "predictions_score", "predictions_model_versions", "predictions_results", "file_upload", "storage_filename",
        "created_at", "updated_at", "updated_by", "avg_lead_time",
    )
]  # fmt: skip
_LIST = {
    "title": "Items",
    "type": "list",
    "target": "tasks",
    "hiddenColumns": {
        "explore": _NEVER_LISTED,
        "labeling": _NEVER_LISTED
        + [
            f"tasks:{name}"
            for name in ("data.item_id", "data.answer", "data.topology", "data.variant", "id", "completed_at",
                         "cancelled_annotations", "annotators", "draft_exists")
        ],
    },
}  # fmt: skip
"""The project's list of tasks as a maintainer first sees it: what identifies an item, not its rendered page."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A task that was left as it is on the server, and why."""

    item_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class PushReport:
    """What a push did. `others`: tasks of the project that were not part of this push; they stay."""

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


@dataclass(frozen=True, slots=True)
class _Held:
    """A task that the server holds."""

    task: int
    content_hash: str
    touched: str
    """What a reviewer has done to it, in words; empty when nothing."""


def push(source: Path | Iterable[Task], *, url: str, token: str, project_title: str) -> PushReport:
    """Create or update the project of that title, and bring its tasks up to date.

    `source` is a folder that `write_tasks` filled, or tasks of `build_task`. A task is known by `data.item_id`:
    a new one is imported, an equal one left alone, a changed one updated in place; a changed one that somebody
    annotated, skipped or drafted is left as it is and reported as refused. A push that was cut short may be repeated.

    Raises InputError for a source that cannot be used, ServiceError (one line, never the token) when the server is
    down, refuses the token or the interface, or answers something unforeseen.
    """
    server = _check_address(url)
    if not token.strip():
        raise InputError("the Label Studio token is empty; copy one from Account & Settings in Label Studio")
    tasks, interface, instructions = _read_source(source)
    form = parse_interface(interface)
    with _explain_failures(server, token):
        client = LabelStudio(  # type: ignore[no-untyped-call]
            base_url=server, api_key=token, timeout=_TIMEOUT_SECONDS
        )
        if not getattr(client.versions.get(), "release", None):
            raise ServiceError(_NO_LABEL_STUDIO.format(server=server))
        project, created = _bring_project_up_to_date(client, project_title, interface, instructions)
        held = {} if created else _list_tasks(client, project)
        return _push_tasks(client, project, created, tasks, form, held, f"{server}/projects/{project}")


def _push_tasks(
    client: LabelStudio,
    project: int,
    created: bool,
    tasks: Iterable[Task],
    form: LabelInterface,
    held: dict[str, _Held],
    url: str,
) -> PushReport:
    new: list[Task] = []
    imported = updated = unchanged = 0
    refused: list[Refusal] = []
    seen: set[str] = set()
    for task in tasks:
        check_task(task, form)
        item_id = task["data"]["item_id"]
        if item_id in seen:
            raise InputError(f"item {item_id} occurs twice among the tasks to push")
        seen.add(item_id)
        there = held.get(item_id)
        if there is None:
            new.append(task)
            if len(new) == _BATCH:
                imported += _import(client, project, new)
                new = []
        elif there.content_hash == task["data"]["content_hash"]:
            unchanged += 1
        elif there.touched:
            refused.append(Refusal(item_id, f"it changed since, but {there.touched}"))
        else:
            _update(client, there.task, task)
            updated += 1
    imported += _import(client, project, new)
    return PushReport(
        project=project,
        url=url,
        created=created,
        new=imported,
        updated=updated,
        unchanged=unchanged,
        others=len(held.keys() - seen),
        refused=tuple(refused),
    )


def _bring_project_up_to_date(client: LabelStudio, title: str, interface: str, instructions: str) -> tuple[int, bool]:
    """The project's id, and whether it was created. Settings are written only where they differ."""
    wanted: dict[str, Any] = {
        "label_config": interface,
        "expert_instruction": instructions,
        "show_instruction": True,
        "show_collab_predictions": True,
        "show_skip_button": True,
    }
    projects: Iterable[Any] = client.projects.list(title=title)
    found = [project for project in projects if project.title == title]
    if len(found) > 1:
        raise ServiceError(
            f"Label Studio has {len(found)} projects named {title!r}; rename all but one, or push under another title"
        )
    if not found:
        created = cast(int, client.projects.create(title=title, **wanted).id)
        client.views.create(project=created, data=cast(Any, _LIST))
        return created, True
    project = found[0]
    differing = {name: value for name, value in wanted.items() if getattr(project, name, None) != value}
    if differing:
        client.projects.update(project.id, **differing)
    return cast(int, project.id), False


def _list_tasks(client: LabelStudio, project: int) -> dict[str, _Held]:
    """Item id → task, for every task of the project that is ours."""
    held: dict[str, _Held] = {}
    tasks: Iterable[Any] = client.tasks.list(project=project, include=_FIELDS, page_size=_PAGE)
    for task in tasks:
        data: dict[str, Any] = task.data or {}
        item_id = data.get("item_id")
        if item_id is None:
            continue
        one = _Held(cast(int, task.id), str(data.get("content_hash")), _describe_review(task))
        if item_id not in held or (one.touched and not held[item_id].touched):
            held[item_id] = one
    return held


def _describe_review(task: Any) -> str:
    if task.total_annotations:
        return f"it has {task.total_annotations} annotation{'s' if task.total_annotations > 1 else ''}"
    if task.cancelled_annotations:
        return "a reviewer skipped it"
    return "a reviewer has begun a draft" if task.draft_exists else ""


def _import(client: LabelStudio, project: int, tasks: list[Task]) -> int:
    if tasks:
        client.projects.import_tasks(id=project, request=cast(Any, tasks), request_options=_ONCE)
    return len(tasks)


def _update(client: LabelStudio, held: int, task: Task) -> None:
    """Replace predictions, then data. The data carry the content hash, so a cut in between is made good next time."""
    outdated = [prediction.id for prediction in client.predictions.list(task=held)]
    for prediction in task["predictions"]:
        client.predictions.create(task=held, result=prediction["result"], model_version=prediction["model_version"])
    for id in outdated:
        client.predictions.delete(id)
    client.tasks.update(str(held), data=task["data"])


def _read_source(source: Path | Iterable[Task]) -> tuple[Iterable[Task], str, str]:
    if not isinstance(source, Path):
        return source, load_interface(), load_instructions()
    try:
        tasks = json.loads((source / "tasks.json").read_text("utf-8"))
        interface = (source / "interface.xml").read_text("utf-8")
        instructions = (source / "instructions.html").read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{source} holds no review tasks: {error}; run the review export first") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{source / 'tasks.json'}: not JSON ({error}); run the review export again") from None
    if not isinstance(tasks, list) or not all(_has_id(task) for task in tasks):
        raise InputError(f"{source / 'tasks.json'}: not a list of tasks with `data.item_id`; export again")
    return tasks, interface, instructions


def _has_id(task: object) -> bool:
    data = task.get("data") if isinstance(task, dict) else None
    return isinstance(data, dict) and isinstance(data.get("item_id"), str) and "content_hash" in data


def _check_address(url: str) -> str:
    """The server's base address without a trailing slash; an address with a password in it is refused."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise InputError("the Label Studio address must look like http://host:port, without a user name")
    return url.rstrip("/")


@contextlib.contextmanager
def _explain_failures(server: str, token: str) -> Iterator[None]:
    """Turn what the client raises into one line that says what to do; the token never appears in it."""
    try:
        yield
    except httpx.TimeoutException:
        raise ServiceError(
            f"Label Studio at {server} did not answer within {_TIMEOUT_SECONDS} s; push again, nothing is duplicated"
        ) from None
    except httpx.HTTPError as error:
        raise ServiceError(
            f"cannot reach Label Studio at {server} ({type(error).__name__}); start it, or check the address"
        ) from None
    except ApiError as error:
        raise ServiceError(_explain_answer(server, error).replace(token, "***")) from None


def _explain_answer(server: str, error: ApiError) -> str:
    if error.status_code in (401, 403):
        return (
            f"Label Studio at {server} refuses the token ({error.status_code}); "
            "copy a valid one from Account & Settings in Label Studio"
        )
    if error.status_code in (200, 404):  # 200: an answer that the client could not read
        return _NO_LABEL_STUDIO.format(server=server)
    body = error.body
    detail = (body.get("validation_errors") or body.get("detail") or body) if isinstance(body, dict) else body
    text = " ".join(" ".join(_find_texts(detail)).split())
    return f"Label Studio at {server} answered {error.status_code}: {text[:300]}"


def _find_texts(detail: object) -> Iterator[str]:
    """Every text in an error's body, however nested."""
    if isinstance(detail, dict | list):
        for one in detail.values() if isinstance(detail, dict) else detail:
            yield from _find_texts(one)
    elif detail is not None:
        yield str(detail)
