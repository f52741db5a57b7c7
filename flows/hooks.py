"""Telling people: what a run that failed, crashed or reached its budget says, and to which Prefect block."""

import logging
import os
from typing import Any, cast

from prefect import Flow
from prefect.blocks.abstract import NotificationBlock
from prefect.blocks.core import Block
from prefect.client.schemas.objects import FlowRun, State
from prefect.utilities.urls import url_for

from hopwright.errors import ServiceError
from hopwright.settings import home

VARIABLE = "HOPWRIGHT_NOTIFY"
_LINES = 12
_log = logging.getLogger(__name__)


def notify_failure(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """A flow's `on_failure` and `on_crashed`; a stage of a whole build leaves it to the build."""
    if flow_run.parent_task_run_id is None:
        notify_people(flow_run, state.name.lower() if state.name else "failed", state.message or "")


def notify_people(flow_run: FlowRun, what: str, message: str) -> None:
    """Send a notification where a block is named for it; where that fails, it is logged."""
    slug = _find_block(flow_run)
    if not slug:
        return
    try:
        send(slug, *write_notice(flow_run, what, message))
    except Exception as error:
        _log.warning("the notification by %s could not be sent: %s", slug, error)


def send(slug: str, subject: str, body: str) -> None:
    """Send by a block such as slack-webhook/ops. Raises ServiceError where there is no such notification block."""
    try:
        block: Any = Block.load(slug, validate=False)
    except ValueError as error:
        raise ServiceError(f"Prefect's server knows no block {slug}: {error}") from None
    if not isinstance(block, NotificationBlock):
        raise ServiceError(f"the block {slug} is no notification block")
    cast("Any", block).notify(body, subject=subject)


def write_notice(flow_run: FlowRun, what: str, message: str) -> tuple[str, str]:
    """Subject and text of a notification."""
    name = _read_parameters(flow_run).get("run", "")
    lines = [line for line in message.splitlines() if line.strip()][:_LINES]
    page = url_for("flow-run", obj_id=flow_run.id)
    folder = f"Run folder: {home() / 'runs' / str(name)}" if name else ""
    return f"Hopwright: {flow_run.name} {what}", "\n".join([*lines, *(line for line in (folder, page or "") if line)])


def _find_block(flow_run: FlowRun) -> str:
    return str(_read_parameters(flow_run).get("notify") or os.environ.get(VARIABLE, "")).strip()


def _read_parameters(flow_run: FlowRun) -> dict[str, Any]:
    """The one argument of our flows, as it was given: a wrong one is told about too."""
    given = (flow_run.parameters or {}).get("parameters", {})
    if hasattr(given, "model_dump"):
        return cast("dict[str, Any]", given.model_dump(mode="json"))
    return given if isinstance(given, dict) else {}
