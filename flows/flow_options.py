"""What is different for a flow that was started from a deployment: by a form, a schedule, an event or a retry."""

import contextlib
import datetime as dt
import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, TypeVar
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.context import FlowRunContext
from prefect.runtime import flow_run as runtime

from flows.hooks import notify_failure
from hopwright.errors import HopwrightError
from hopwright.runs import RunFolder
from hopwright.runs.manifest import RunManifest, StageManifest, read_manifest
from hopwright.settings import (
    BuildParameters,
    DocumentBuildParameters,
    Parameters,
    RunParameters,
    call_parameters,
    home,
    list_changes,
    list_form_titles,
    load_parameters,
    merge_values,
    spell_titles,
)

BUILD = "build"
"""What the runs of the whole line are called, before the name of their folder."""

DOCUMENTS = "documents"
"""What the runs of the line over documents are called, before the name of their corpus."""

_P = TypeVar("_P", bound=RunParameters)
_G = TypeVar("_G", bound=Parameters)


def say_in_one_line(record: logging.LogRecord) -> bool:
    """A filter of Prefect's logs: what a user did wrong is told by its one line, without the traceback."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, HopwrightError):
        record.msg, record.args, record.exc_info, record.exc_text = "%s", (str(error),), None, None
    return True


for _name in ("prefect.flow_runs", "prefect.task_runs", "prefect.engine"):
    logging.getLogger(_name).addFilter(say_in_one_line)


def find_flow_run(*, deployed: bool = False) -> FlowRun | None:
    """The flow run that goes on here and has no parent, or None; `deployed`: only one that a deployment started."""
    context = FlowRunContext.get()
    found = context.flow_run if context is not None else None
    if not isinstance(found, FlowRun) or found.parent_task_run_id is not None:
        return None
    return found if found.deployment_id is not None or not deployed else None


def is_delegated() -> bool:
    """Whether the flow that goes on here is a stage that another flow runs as a deployment, and waits for."""
    context = FlowRunContext.get()
    found = context.flow_run if context is not None else None
    return isinstance(found, FlowRun) and None not in (found.parent_task_run_id, found.deployment_id)


class FlowOptions(TypedDict):
    """What all flows have in common, as arguments of `@flow`."""

    flow_run_name: Callable[[], str]
    on_failure: list[Any]
    on_crashed: list[Any]
    validate_parameters: bool


def with_flow_options(name: str) -> FlowOptions:
    """The manners of a flow whose runs are called by this name and the run folder's.

    Parameters are validated by the flow itself (`read_given`): what is wrong with them is then one line, and people
    are told of it.
    """
    return FlowOptions(
        flow_run_name=functools.partial(_name_flow_run, name),
        on_failure=[notify_failure],
        on_crashed=[notify_failure],
        validate_parameters=False,
    )


def read_given(given: object, model: type[_G]) -> _G:
    """A flow's parameters, as another flow or a form gave them. Raises InputError: one line.

    In a flow that a deployment started, messages call parameters by their titles in the form from now on.
    """
    if find_flow_run(deployed=True) is not None or is_delegated():
        call_parameters(spell_titles(model, list_form_titles(model) if model is BuildParameters else None))
    if isinstance(given, model):
        return given
    return load_parameters(given if isinstance(given, Mapping) else {"parameters": given}, model)


def read_stage(given: object, model: type[_P], *stages: str) -> _P:
    """The parameters of a single stage: validated, its run's where the form left the default, and without `fresh`
    where this flow run started over already. `stages` are those that the flow may begin with."""
    return resume_own_run(inherit_run_parameters(read_given(given, model)), *stages)


def inherit_run_parameters(parameters: _P) -> _P:
    """A stage's parameters with those of its run where the form left the default.

    A form sends every parameter; what differs from its default was chosen. On the command line, and in a stage that
    a whole build runs, everything is as it was given.
    """
    if find_flow_run(deployed=True) is None:
        return parameters
    begun = RunFolder(home(), parameters.run).read_manifest()
    if begun is None or not begun.parameters:
        return parameters
    model = type(parameters)
    defaults = model()
    known = {name: value for name, value in begun.parameters.items() if name in model.model_fields}
    chosen = list_changes(parameters.model_dump(mode="json"), defaults)
    return load_parameters({**merge_values(known, chosen, defaults), "run": parameters.run}, model)


def resume_own_run(parameters: _P, *stages: str) -> _P:
    """Without `fresh` where this very flow run started over already: a retry continues what it began itself.

    `stages` are those that the flow may begin with; none stands for the run itself.
    """
    flow_run = find_flow_run()
    if not parameters.fresh or flow_run is None or flow_run.run_count <= 1 or flow_run.start_time is None:
        return parameters
    began = _read_start(RunFolder(home(), parameters.run).path, stages)
    if began is None or began < flow_run.start_time.replace(microsecond=0):
        return parameters
    return parameters.model_copy(update={"fresh": False})


def name_day(parameters: BuildParameters) -> BuildParameters:
    """A dated run under its own name: that of the parameters and the day (UTC) for which it was planned."""
    if not parameters.dated:
        return parameters
    return parameters.model_copy(update={"run": f"{parameters.run}-{_find_day().isoformat()}", "dated": False})


def _name_flow_run(name: str) -> str:
    given = runtime.get_parameters().get("parameters")
    # What is wrong with the parameters is said once the flow begins, and not here.
    with contextlib.suppress(HopwrightError):
        if isinstance(given, BuildParameters) or name == BUILD:
            return f"{name}-{name_day(read_given(given, BuildParameters)).run}"
        if name == DOCUMENTS:
            return f"{name}-{read_given(given, DocumentBuildParameters).corpus}"
    run = given.get("run", "") if isinstance(given, Mapping) else getattr(given, "run", "")
    return f"{name}-{run}" if run else name


def _find_day() -> dt.date:
    """The day for which the run was planned at first: neither a retry nor a worker that was late changes it."""
    states = []
    if (id := runtime.get_id()) is not None:
        states = get_client(sync_client=True).read_flow_run_states(UUID(id))
    first = min(states, key=lambda state: state.timestamp, default=None)
    if first is None:
        return dt.datetime.now(dt.UTC).date()
    planned = first.state_details.scheduled_time if first.type is StateType.SCHEDULED else None
    return (planned or first.timestamp).astimezone(dt.UTC).date()


def _read_start(folder: Path, stages: Sequence[str]) -> dt.datetime | None:
    """When the first of these stages that was begun, or the run, was begun."""
    found: Sequence[RunManifest | StageManifest | None]
    if stages:
        found = [read_manifest(folder / stage / "manifest.json", StageManifest) for stage in stages]
    else:
        found = [read_manifest(folder / "manifest.json", RunManifest)]
    return min(
        (dt.datetime.fromisoformat(one.started) for one in found if one is not None and one.started), default=None
    )
