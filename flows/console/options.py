"""From the command line's options, a file and an earlier run to validated parameters."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from hopwright.errors import InputError
from hopwright.foreign import JsonError, load_json, read_file
from hopwright.runs import RunFolder, list_runs
from hopwright.settings import (
    BuildParameters,
    RunParameters,
    apply_preset,
    home,
    load_parameters,
    read_form,
    read_presets,
)

_SHOWN = 5
"""So many of the latest runs are named where another one is asked for."""
_P = TypeVar("_P", bound=RunParameters)


def read_parameter_file(path: Path | None) -> dict[str, Any]:
    """Parameters of a JSON file. Raises InputError naming the line that is wrong."""
    if path is None:
        return {}
    try:
        values = load_json(read_file(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except JsonError as error:
        raise InputError(f"{path}: {error}") from None
    if not isinstance(values, dict):
        raise InputError(f"{path}: should be a JSON object of parameters")
    return values


def read_build_parameters(file: Path | None, options: Mapping[str, Any], *, fresh: bool) -> BuildParameters:
    """Parameters of a whole run: options go before the file, and both before the preset, whatever its values are."""
    given = read_form(read_parameter_file(file), BuildParameters())
    values = merge_options(given, {**options, "fresh": fresh or None})
    preset = values.pop("preset", "none")
    if isinstance(preset, str) and preset in read_presets():
        # Left to the parameters themselves, a value that was chosen and is the default would not count as chosen.
        try:
            values = apply_preset(preset, values, BuildParameters())
        except ValueError as error:
            raise InputError(f"preset: {error}") from None
    else:
        values["preset"] = preset
    return load_parameters(values, BuildParameters)


def merge_options(values: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that were given (not None) over values, group by group."""
    merged = dict(values)
    for name, option in options.items():
        if isinstance(option, Mapping):
            below = merged.get(name, {})
            merged[name] = merge_options(below, option) if isinstance(below, Mapping) else below
            if not merged[name]:
                del merged[name]
        elif option is not None:
            merged[name] = option
    return merged


def parameters_of(
    model: type[_P], run: str | None, options: Mapping[str, Any], *, fresh: bool, holding: str = ""
) -> _P:
    """Parameters of one stage: those that the run began with, and the options over them.

    `holding` names the stage that the latest run must hold to be taken where none is named.
    """
    name = pick_run(run, holding)
    manifest = RunFolder(home(), name).read_manifest()
    assert manifest is not None
    known = {key: value for key, value in manifest.parameters.items() if key in model.model_fields}
    return load_parameters({**merge_options(known, options), "run": name, "fresh": fresh}, model)


def refuse_missing(data: str | Path) -> None:
    """Raises InputError for a path at which nothing is, and says where the release of a run of that name is."""
    if Path(data).exists():
        return
    release = home() / "runs" / data / "release"
    hint = f"; the release of the run of that name is below {release}" if release.is_dir() else ""
    raise InputError(f"{data}: there is no such file or folder{hint}")


def pick_run(run: str | None, holding: str = "") -> str:
    """The named run, else the one that began last of those that finished a stage, with something in it.

    Where no run did, it is the last that began the stage, else the last of all: whoever reads it says what it lacks.
    Raises InputError when there is no run.
    """
    if run is not None:
        if RunFolder(home(), run).read_manifest() is None:
            runs = list_runs(home())
            known = f"; there are {', '.join(runs[-_SHOWN:])}" if runs else ""
            raise InputError(f"no run {run!r} in {home() / 'runs'}{known}: `hopwright build --run {run}` makes it")
        return run
    runs = list_runs(home())
    if not runs:
        raise InputError(f"no runs in {home() / 'runs'}: `hopwright build` makes one")
    newest = list(reversed(runs))
    if (whole := next((name for name in newest if _has_finished(name, holding)), None)) is not None:
        return whole
    return next((name for name in newest if (home() / "runs" / name / holding).is_dir()), newest[0])


def _has_finished(run: str, stage: str) -> bool:
    """Whether a run finished a stage, or any one for none, and something came of it."""
    manifest = RunFolder(home(), run).read_manifest()
    finished = manifest.stages if manifest is not None else {}
    wanted = [finished[stage]] if stage in finished else [] if stage else list(finished.values())
    return any(counts.out for counts in wanted)
