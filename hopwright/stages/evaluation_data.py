"""What evaluations with and without tools have in common: their dataset, their folders, when a report is outdated."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path

from hopwright.errors import HopwrightError, InputError
from hopwright.evaluation.items import EvalFile, read_items
from hopwright.runs import RunFolder, Stage, StageManifest
from hopwright.settings import EvaluateRun, name_parameter
from hopwright.stages.plan import StageEngine, StagePlan
from hopwright.stages.release import release_folder


def find_data(run: RunFolder, parameters: EvaluateRun) -> Path:
    """The dataset that is asked about. Raises InputError for no model or no data, RunError for no release."""
    wanted = parameters.evaluate
    if not wanted.models:
        models = name_parameter("evaluate.models")
        raise InputError(f"no model to evaluate: name at least one under {models}, as endpoint/model")
    data = Path(wanted.data).expanduser().absolute() if wanted.data else release_folder(run)
    if not data.exists():
        raise InputError(f"{data}: there is no such file or folder")
    return data


@functools.lru_cache(maxsize=2)
def load_items(data: Path, limit: int) -> EvalFile:
    """The items of a dataset, read once in a process."""
    return read_items(data, limit)


def make_slug(model: str) -> str:
    """A model's name as a folder's."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.") or "model"


def write_over_answers(
    engine: StageEngine, report: StagePlan, make: Callable[[Stage], StageManifest], *, fresh: bool
) -> StageManifest:
    """Write the report on answers. It is cheap and rests on nothing else, so over other answers it is written anew."""
    if fresh or _is_outdated(engine.run, report):
        # Started over as a stage, it would state its parameters as those of the run.
        engine.run.remove(report.name)
    return engine.write(report, make)


def _is_outdated(run: RunFolder, report: StagePlan) -> bool:
    """Whether there is a report, but over other answers."""
    stage = Stage(run, report.name)
    if not stage.manifest_path.exists():
        return False
    try:
        return stage.read().inputs != report.inputs
    except HopwrightError:
        return True
