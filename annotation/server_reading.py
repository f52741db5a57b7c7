"""Reads a server in bulk, as plain JSON: the SDK makes a model of every field of every annotation, which takes longer
than the server takes to send them.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import email.utils
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from label_studio_sdk.core.api_error import ApiError

from annotation.server import Server
from hopwright.errors import ServiceError
from hopwright.foreign import JsonError, load_json

_NOT_FOUND = 404
_MOST_TASKS = 10_000_000


class NotOnServerError(ServiceError):
    """What was asked for is not on the server."""


@dataclass(frozen=True, slots=True)
class ServerResponse:
    """A body, and the server's time when it was sent."""

    body: Any
    clock: str


def read_json(server: Server, path: str, what: str, **parameters: Any) -> ServerResponse:
    """Return the JSON at a path, inside `open_server`. Raises NotOnServerError, naming `what`, where nothing is."""
    # The SDK's own requests (address, token, retries) without its models; it offers no public way to them.
    response = server.client._client_wrapper.httpx_client.request(path, method="GET", params=parameters)
    if response.status_code == _NOT_FOUND:
        raise NotOnServerError(
            f"{what} is not on Label Studio at {server.url}: it was deleted, or the server is another"
        )
    try:
        body = load_json(response.content)
    except JsonError:
        raise ApiError(status_code=response.status_code, body=response.text) from None
    if response.is_error:
        raise ApiError(status_code=response.status_code, body=body)
    clock = ""
    with contextlib.suppress(TypeError, ValueError):
        clock = write_time(email.utils.parsedate_to_datetime(response.headers.get("date")))
    return ServerResponse(body, clock)


def list_tasks(
    server: Server,
    project: int,
    include: str,
    *,
    since: str = "",
    annotated: bool = False,
    only: Sequence[int] = (),
    page: int = 500,
) -> Iterator[dict[str, Any]]:
    """Tasks of a project, by id: those changed at `since` or later, or those `annotated` or skipped, or `only` some
    (a page full of numbers at most), or all.

    `include` names the fields. Raises NotOnServerError when the project is gone.
    """
    query: dict[str, Any] = {"ordering": ["tasks:id"]}
    if only:
        query["selectedItems"] = {"all": False, "included": list(only)}
    elif since:
        query["filters"] = _filter("and", [("updated_at", "greater_or_equal", "Datetime", since)])
    elif annotated:
        counts = ("total_annotations", "cancelled_annotations")
        query["filters"] = _filter("or", [(name, "greater", "Number", 0) for name in counts])
    parameters = {"project": project, "include": include, "page_size": page, "query": json.dumps(query)}
    if "annotations" in include.split(","):
        parameters["fields"] = "all"
    number, seen = 1, 0
    while True:
        answer = read_json(server, "api/tasks/", f"project {project}", page=number, **parameters).body
        tasks, total = _read_page(answer, server)
        yield from tasks
        seen += len(tasks)
        if not tasks or seen >= total:
            return
        number += 1


def _read_page(answer: Any, server: Server) -> tuple[list[dict[str, Any]], int]:
    """A page's tasks, and how many there are on all. Raises ServiceError for what is no such page."""
    tasks, total = (answer.get("tasks"), answer.get("total")) if isinstance(answer, dict) else (None, None)
    rows = [one for one in tasks if isinstance(one, dict)] if isinstance(tasks, list) else []
    if not isinstance(tasks, list) or len(rows) < len(tasks) or any(type(one.get("id")) is not int for one in rows):
        raise ServiceError(f"Label Studio at {server.url} sends no list of tasks; check the address")
    if not isinstance(total, int) or not 0 <= total <= _MOST_TASKS:
        raise ServiceError(f"Label Studio at {server.url} does not say how many tasks there are; check the address")
    return rows, total


def write_time(moment: dt.datetime) -> str:
    """A time as the server's filters take it."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _filter(conjunction: str, conditions: list[tuple[str, str, str, Any]]) -> dict[str, Any]:
    items = [
        {"filter": f"filter:tasks:{name}", "operator": operator, "type": type, "value": value}
        for name, operator, type, value in conditions
    ]
    return {"conjunction": conjunction, "items": items}
