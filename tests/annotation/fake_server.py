"""The few calls of Label Studio's client that a push makes, in memory; a real server is in tests/e2e."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any, cast

from label_studio_sdk.core.api_error import ApiError

from annotation.server import Server


class LostAnswerError(Exception):
    """The connection broke."""


class FakeLabelStudio:
    """Projects, tasks and predictions as dictionaries; `calls` counts what was asked."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.held: dict[int, dict[int, SimpleNamespace]] = {}
        self.settings: dict[int, SimpleNamespace] = {}
        self.lose_answer_of_import = 0
        self.fail_to_create: list[tuple[int, bool]] = []
        """The statuses with which the next creations fail, and whether the project is made all the same."""
        self._ids = itertools.count(1)
        self.projects = SimpleNamespace(
            list=self._list_projects, create=self._create, update=self._update_project, import_tasks=self._import
        )
        self.tasks = SimpleNamespace(list=self._list_tasks, get=self._get, update=self._update_task)
        self.predictions = SimpleNamespace(list=self._predicted, create=self._predict, delete=self._forget)
        self.views = SimpleNamespace(create=lambda **_: None)

    @property
    def server(self) -> Server:
        return Server("http://fake:1", cast(Any, self))

    def only(self, title_part: str = "") -> dict[str, SimpleNamespace]:
        """Item id (and hop) → task of the one project with that in its title; a duplicate fails."""
        (project,) = [id for id, one in self.settings.items() if title_part in one.title]
        tasks = list(self.held[project].values())
        found = {f"{task.data['item_id']}#{task.data.get('hop', '')}": task for task in tasks}
        assert len(found) == len(tasks), "an item stands in two tasks"
        return found

    def count(self, name: str) -> int:
        return self.calls.count(name)

    def _list_projects(self, title: str) -> list[SimpleNamespace]:
        self.calls.append("projects.list")
        return [one for one in self.settings.values() if title in one.title]

    def _create(self, request_options: Any = None, **settings: Any) -> SimpleNamespace:
        self.calls.append("projects.create")
        status, made = self.fail_to_create.pop(0) if self.fail_to_create else (201, True)
        id = next(self._ids)
        if made:
            self.held[id] = {}
            self.settings[id] = SimpleNamespace(id=id, **settings)
        if status != 201:
            raise ApiError(status_code=status)
        return self._counted(id)

    def _counted(self, id: int) -> SimpleNamespace:
        self.settings[id].task_number = len(self.held[id])
        return self.settings[id]

    def _update_project(self, id: int, **settings: Any) -> None:
        self.calls.append("projects.update")
        vars(self.settings[id]).update(settings)
        for task in self.held[id].values():
            task.overlap = settings.get("maximum_annotations", task.overlap)

    def _import(self, id: int, request: list[dict[str, Any]], **_: Any) -> SimpleNamespace:
        self.calls.append("import")
        made = []
        for task in request:
            number = next(self._ids)
            made.append(number)
            self.held[id][number] = SimpleNamespace(
                id=number, data=task["data"], predictions=task["predictions"], total_annotations=0,
                cancelled_annotations=0, draft_exists=False, drafts=[], overlap=self.settings[id].maximum_annotations,
            )  # fmt: skip
        self._counted(id)
        self.lose_answer_of_import -= 1
        if self.lose_answer_of_import == 0:
            raise LostAnswerError
        return SimpleNamespace(model_extra={"task_ids": made})

    def _list_tasks(self, project: int, **_: Any) -> list[SimpleNamespace]:
        self.calls.append("tasks.list")
        return list(self.held[project].values())

    def _find(self, id: str | int) -> SimpleNamespace:
        return next(tasks[int(id)] for tasks in self.held.values() if int(id) in tasks)

    def _get(self, id: str) -> SimpleNamespace:
        self.calls.append("tasks.get")
        if not any(int(id) in tasks for tasks in self.held.values()):
            raise ApiError(status_code=404)
        return self._find(id)

    def _update_task(self, id: str, **fields: Any) -> None:
        self.calls.append("tasks.update")
        vars(self._find(id)).update(fields)

    def _predicted(self, task: int) -> list[SimpleNamespace]:
        return [SimpleNamespace(id=task)] if self._find(task).predictions else []

    def _predict(self, task: int, **prediction: Any) -> None:
        self._find(task).fresh = [prediction]

    def _forget(self, id: int) -> None:
        self._find(id).predictions = self._find(id).fresh
