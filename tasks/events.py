"""What the flows tell Prefect's server so that others may begin: the triggers of `prefect.yaml` wait for it."""

from __future__ import annotations

from collections.abc import Mapping

from prefect.events import emit_event

from tasks.stage_plan import in_flow

REVIEW_COMPLETE = "hopwright.review.complete"
"""Every task of a run has its reviews, and no correction waits for its author."""
ACCEPTED_COMPLETE = "hopwright.accepted.complete"
"""Every item under review is accepted or rejected."""


def announce(event: str, run: str, facts: Mapping[str, str | int]) -> None:
    """Emit an event of a run; its payload holds the run's name and the facts. Outside a flow nothing is told."""
    if in_flow():
        resource = {"prefect.resource.id": f"hopwright.run.{run}", "prefect.resource.name": run}
        emit_event(event, resource=resource, payload={"run": run, **facts})
