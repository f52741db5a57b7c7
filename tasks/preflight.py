"""Before a whole run begins: whatever would stop one of its later stages is looked for before anything is spent."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from prefect.client.orchestration import get_client
from prefect.exceptions import ObjectNotFound

from hopwright.errors import HopwrightError, InputError
from hopwright.runs import RunFolder, Stage
from hopwright.settings import BuildParameters, FilterRun, ModelRun, narrow
from tasks.models import grant_access, require_models
from tasks.synthesize import read_claims
from tasks.voters import check_voters

PreflightCheck = Callable[[RunFolder, BuildParameters], None]


def check_build(run: RunFolder, parameters: BuildParameters) -> None:
    """Look at everything that the stages which are not finished will ask for.

    Raises InputError or ServiceError, one line: what is missing first, and how much more.
    """
    problems: list[HopwrightError] = []
    for check in (_check_files, _check_models, _check_voters, _check_label_studio, _check_deployment):
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
    synthesize, rewrite = parameters.synthesize, parameters.rewrite
    twins = [*rewrite.memory_voters] if rewrite.memory_items else []
    if rewrite.back_translation == "llm":
        twins.append(rewrite.translation_model)
    if rewrite.judge_model and rewrite.back_translation != "off":
        twins.append(rewrite.judge_model)
    asked = {
        "synthesize": [synthesize.model, *synthesize.fallback_models] if synthesize.writer != "rules" else [],
        "rewrite": [
            *([rewrite.passage_model] if rewrite.passages == "llm" else []),
            *(twins if rewrite.enabled else []),
        ],
    }
    return {stage: list(dict.fromkeys(models)) for stage, models in asked.items() if models}


def is_finished(run: RunFolder, stage: str) -> bool:
    """Whether a stage of this run has ended: what it needed is not asked for again."""
    return Stage(run, stage).find_finished() is not None


def _check_files(run: RunFolder, parameters: BuildParameters) -> None:
    rewrite, release = parameters.rewrite, parameters.release
    named: list[tuple[str, str]] = []
    if not is_finished(run, "synthesize"):
        read_claims(parameters.synthesize)
    if not is_finished(run, "rewrite"):
        if rewrite.passages == "corpus":
            named.append(("rewrite.corpus", rewrite.corpus))
        if rewrite.enabled and rewrite.back_translation == "marian":
            named += [("rewrite.weights", folder) for folder in rewrite.weights]
        if rewrite.enabled and rewrite.back_translation == "apertium" and shutil.which("apertium") is None:
            raise InputError("rewrite.back_translation: apertium is not installed; choose auto or another way")
    if not is_finished(run, "release"):
        named += [("release.against", path) for path in release.against]
        if release.reviewed and not is_finished(run, "review/accepted"):
            raise InputError(
                "release.reviewed: a new run has no reviews yet; release it without, and after the review once more "
                "(docs/agreement.md)"
            )
    for name, path in named:
        if not Path(path).expanduser().exists():
            raise InputError(f"{name}: {path} does not exist")


def _check_models(run: RunFolder, parameters: BuildParameters) -> None:
    for stage, models in list_models(parameters).items():
        if not is_finished(run, stage):
            _demand(run, parameters, models)


def _check_voters(run: RunFolder, parameters: BuildParameters) -> None:
    check_voters(run, narrow(parameters, FilterRun))


def _check_label_studio(run: RunFolder, parameters: BuildParameters) -> None:
    url = parameters.review.url
    if not url or is_finished(run, "release"):
        return
    from annotation.access import find_token
    from annotation.server import open_server  # its SDK takes a second to import

    with open_server(url, find_token(url)):
        return


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


def _demand(run: RunFolder, parameters: ModelRun, models: Iterable[str]) -> None:
    """Keys and prices of these models. Raises InputError for the first that lacks one."""
    require_models(grant_access(run, parameters, models))


def _cut(problems: Iterable[HopwrightError]) -> str:
    """The others in a few words each."""
    return "; ".join(_shorten(str(problem)) for problem in problems)


def _shorten(text: str, width: int = 80) -> str:
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"
