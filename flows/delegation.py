"""Stages that run elsewhere: as a deployment on a work pool of its own, whose workers see the same home."""

from typing import Any

from prefect.client.schemas.objects import FlowRun
from prefect.deployments import run_deployment
from prefect.exceptions import ObjectNotFound, PrefectHTTPStatusError

from flows.budget import BUDGET_REACHED
from hopwright.errors import BudgetError, ServiceError
from hopwright.settings import RunParameters


def delegate_to_deployment(parameters: RunParameters, deployment: str) -> None:
    """Run a stage as this deployment, and wait for it.

    Raises BudgetError when the budget ended it; ServiceError when there is no such deployment, or when its run did not
    complete for another reason.
    """
    try:
        # Typed as both kinds by Prefect; called from a synchronous flow it returns the flow run itself.
        started: Any = run_deployment(deployment, parameters={"parameters": parameters.model_dump(mode="json")})
    except ObjectNotFound:
        raise ServiceError(
            f"Prefect's server knows no deployment {deployment!r}: deploy the flow to its work pool first (docs/gpu.md)"
        ) from None
    except PrefectHTTPStatusError as error:
        raise ServiceError(
            f"Prefect's server refuses to run {deployment!r} ({' '.join(error.response.text.split())[:200]}): "
            "if it was deployed from another version, deploy it again"
        ) from None
    flow_run: FlowRun = started
    if flow_run.state is not None and flow_run.state.name == BUDGET_REACHED:
        raise BudgetError(flow_run.state.message or "the budget of the run is reached")
    if flow_run.state is None or not flow_run.state.is_completed():
        state = flow_run.state.name if flow_run.state is not None else "unknown"
        said = " ".join((flow_run.state.message or "").split())[:300] if flow_run.state is not None else ""
        raise ServiceError(f"the run {flow_run.name} of {deployment} ended as {state}: {said or 'see its log'}")
