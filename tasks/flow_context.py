"""What tasks ask about the flow that runs them, and how they are retried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from prefect.client.schemas.objects import State
from prefect.context import FlowRunContext
from prefect.events import emit_event

from hopwright.errors import ServiceError

REVIEW_COMPLETE = "hopwright.review.complete"
"""Every task of a run has its reviews, and no correction waits for its author."""
ACCEPTED_COMPLETE = "hopwright.accepted.complete"
"""Every item under review is accepted or rejected."""


class ServiceRetries(TypedDict):
    """The retry settings of a task that speaks to an outside service."""

    retries: int
    retry_delay_seconds: list[float]
    retry_condition_fn: Callable[..., bool]


def retry_service(times: int) -> ServiceRetries:
    """Retry what an outside service failed at, after 2, 4, 8, … seconds; never a mistake in what was asked."""
    return ServiceRetries(
        retries=times,
        retry_delay_seconds=[float(2**attempt) for attempt in range(1, times + 1)],
        retry_condition_fn=is_service_failure,
    )


def is_service_failure(_task: object, _run: object, state: State[Any]) -> bool:
    """Whether a task failed because of a service."""
    try:
        state.result()
    except ServiceError:
        return True
    except Exception:
        return False
    return False


def in_flow() -> bool:
    """Whether a flow is running here. Outside one, stages are carried out alike, without tasks and artifacts."""
    return FlowRunContext.get() is not None


def announce(event: str, run: str, facts: Mapping[str, str | int]) -> None:
    """Emit an event of a run; its payload holds the run's name and the facts. Outside a flow nothing is told."""
    if in_flow():
        resource = {"prefect.resource.id": f"hopwright.run.{run}", "prefect.resource.name": run}
        emit_event(event, resource=resource, payload={"run": run, **facts})
