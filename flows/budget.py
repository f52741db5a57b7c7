"""A run that reaches its budget waits for a larger one, where somebody can give it: in Prefect's UI."""

import itertools
import json
from collections.abc import Callable
from typing import Any, TypeVar, cast

from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.flow_runs import suspend_flow_run
from prefect.input import RunInput
from prefect.logging import get_run_logger
from prefect.states import Failed
from pydantic import Field

from flows.flow_options import find_flow_run, is_delegated
from flows.hooks import notify_people
from hopwright.errors import BudgetError
from hopwright.settings import ModelRun

WAIT_SECONDS = 30 * 86_400
"""How long a run waits for a larger budget before it counts as failed; it can be retried then."""
BUDGET_REACHED = "Budget reached"
"""How a stage ends that a whole build handed over, when its budget ends it."""
_KEY = "budget"

_P = TypeVar("_P", bound=ModelRun)
_R = TypeVar("_R")


class RaisedBudget(RunInput):
    """What a waiting run asks for."""

    budget_usd: float = Field(
        gt=0,
        le=1_000_000,
        title="Budget",
        description="US dollars that the run may spend in all; what it has spent already is part of it.",
    )


def work_within_budget(parameters: _P, work: Callable[[_P], _R]) -> _R:
    """Do the work; where its budget ends it, and it was started from a deployment, suspend it until it has more.

    A suspended run holds no worker and no run folder. Resumed, the flow starts again, finds what is finished, and goes
    on with the larger budget. A stage that was handed over ends in a state of its own and leaves the rest to the build.
    Elsewhere the BudgetError is raised.
    """
    if is_delegated():
        return _leave_to_build(parameters, work)
    flow_run = find_flow_run(deployed=True)
    if flow_run is None:
        return work(parameters)
    rounds, raised = _read_raised(flow_run)
    if raised is not None:
        parameters = _raise_budget(parameters, raised)
    for number in itertools.count(rounds + 1):
        try:
            return work(parameters)
        except BudgetError as error:
            get_run_logger().warning("%s", error)
            notify_people(flow_run, "reached its budget", f"{_reason(error)}.\nIt waits: resume it with a larger one.")
            wanted = RaisedBudget.with_initial_data(
                description=f"{_reason(error)}. What is finished is kept; what was answered is not paid again.",
                budget_usd=2 * parameters.models.budget_usd,
            )
            # Ends this process; only a run that was resumed in between comes back from here.
            given: Any = suspend_flow_run(wait_for_input=wanted, timeout=WAIT_SECONDS, key=f"{_KEY}-{number}")
            parameters = _raise_budget(parameters, given.budget_usd)
    raise AssertionError("the rounds have no end")


def _leave_to_build(parameters: _P, work: Callable[[_P], _R]) -> _R:
    """Do the work of a stage that was handed over; its end by the budget is told in the state's name.

    It is the build that waits, and hands the stage over once more when it has a larger budget. Were it the stage, the
    build would hold its worker for as long as people think it over, its later stages would not know of the larger
    budget, and people would have to look for the one of two runs that asks for it.
    """
    try:
        return work(parameters)
    except BudgetError as error:
        get_run_logger().warning("%s", error)
        # A flow may end in a state of its choice by returning it.
        return cast("_R", Failed(name=BUDGET_REACHED, message=_reason(error)))


def _reason(error: BudgetError) -> str:
    """What happened, without what to do on the command line about it."""
    return error.fact or str(error)


def _raise_budget(parameters: _P, budget_usd: float) -> _P:
    models = parameters.models.model_copy(update={"budget_usd": budget_usd})
    return parameters.model_copy(update={"models": models, "fresh": False})


def _read_raised(flow_run: FlowRun) -> tuple[int, float | None]:
    """How often this flow run was suspended for its budget, and the last budget that it was given."""
    inputs = get_client(sync_client=True).filter_flow_run_input(flow_run.id, f"suspended-{_KEY}-", 200, set())
    asked = [one.key for one in inputs if one.key.endswith("-schema")]
    given = sorted((one for one in inputs if one.key.endswith("-response")), key=lambda one: _number(one.key))
    return len(asked), float(json.loads(given[-1].value)["budget_usd"]) if given else None


def _number(key: str) -> int:
    return int(key.split("-")[2])
