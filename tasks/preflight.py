"""Before a whole run begins: whatever would stop one of its later stages is looked for before anything is spent."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from prefect.client.orchestration import get_client
from prefect.exceptions import ObjectNotFound

from hopwright.errors import HopwrightError, InputError
from hopwright.runs import RunFolder
from hopwright.settings import BuildParameters
from hopwright.stages.models import grant_access
from hopwright.stages.plan import StageSpec, is_finished
from hopwright.stages.registry import list_line
from tasks.models import require_models

PreflightCheck = Callable[[RunFolder, BuildParameters], None]


def check_build(run: RunFolder, parameters: BuildParameters) -> None:
    """Look at everything that the stages which are not finished will ask for; of a run that starts over, at all.

    Raises InputError or ServiceError, one line: what is missing first, and how much more.
    """
    if parameters.fresh:
        run = run.imagine_empty()
    line = list_line()
    checks: list[PreflightCheck] = [
        *(spec.check for spec in line if spec.check is not None),
        *(functools.partial(_check_models, spec) for spec in line),
        _check_deployment,
    ]
    problems: list[HopwrightError] = []
    for check in checks:
        try:
            check(run, parameters)
        except HopwrightError as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise type(problems[0])(f"{problems[0]} (and {len(problems) - 1} more: {_cut(problems[1:])})")


def list_models(parameters: BuildParameters) -> dict[str, list[str]]:
    """The models that each stage will ask at endpoints, by the stage's name; the filter looks for its own."""
    asked = {spec.name: spec.models(parameters) for spec in list_line() if spec.models is not None}
    return {stage: list(dict.fromkeys(models)) for stage, models in asked.items() if models}


def _check_models(spec: StageSpec, run: RunFolder, parameters: BuildParameters) -> None:
    """Keys and prices of a stage's models. Raises InputError for the first that lacks one."""
    models = spec.models(parameters) if spec.models is not None else ()
    if models and not is_finished(run, spec.name):
        require_models(grant_access(run, parameters, models))


def _check_deployment(run: RunFolder, parameters: BuildParameters) -> None:
    name = parameters.vllm.deployment
    if not name or is_finished(run, "filter"):
        return
    try:
        get_client(sync_client=True).read_deployment_by_name(name)
    except ObjectNotFound:
        raise InputError(
            f"vllm.deployment: Prefect's server knows no deployment {name!r}; `make deploy` makes filter/filter"
        ) from None


def _cut(problems: Iterable[HopwrightError]) -> str:
    """The others in a few words each."""
    return "; ".join(_shorten(str(problem)) for problem in problems)


def _shorten(text: str, width: int = 80) -> str:
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"
