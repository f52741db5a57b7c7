"""`hopwright evaluate`."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flows.console.estimate import estimate_evaluation_run
from flows.console.options import merge_options, parameters_of, refuse_missing
from flows.console.output import out, prefect_ready, print_json, show_stages
from hopwright.runs import RunFolder, StageManifest
from hopwright.settings import EvaluateRun, home, load_parameters
from hopwright.stages.evaluate import describe_data
from hopwright.stages.evaluate_tools import check_tool_data, find_corpus
from hopwright.stages.evaluation_data import find_data


def evaluate_run(
    run: str | None, options: Mapping[str, Any], *, fresh: bool, as_json: bool, dry_run: bool = False
) -> None:
    """Run the evaluation and print the leaderboard; a dry run prints what it would ask and cost."""
    if options["evaluate"]["data"] is not None:
        refuse_missing(options["evaluate"]["data"])
    parameters = _read_parameters(run, options, fresh)
    # Refused here, it costs no start of Prefect.
    folder = RunFolder(home(), parameters.run)
    data, limit = find_data(folder, parameters), parameters.evaluate.limit
    if parameters.evaluate.tools:
        check_tool_data(data, find_corpus(folder, parameters), limit)
    found = describe_data(data, limit)
    if dry_run:
        counts = {name: found[name] for name in ("items", "factual", "counterfactual")}
        if not as_json:
            out.print(
                f"{counts['factual']:,} items and {counts['counterfactual']:,} counterfactual twins of {data}, "
                f"{len(parameters.evaluate.models)} model{'s' if len(parameters.evaluate.models) > 1 else ''}"
            )
        estimate_evaluation_run(parameters, {"data": str(data), **counts}, as_json=as_json)
        return
    with prefect_ready(_import_flow) as flow, show_stages():
        if folder.read_manifest() is None:
            _require_keys(folder, parameters)  # without them, no run is begun
        manifest = flow(parameters)
    entries = manifest.notes["leaderboard"]
    report = home() / manifest.notes["folder"]
    if as_json:
        print_json({"leaderboard": entries, "folder": str(report), "questions": manifest.counts.out})
        return
    for entry in entries:
        out.print(f"{entry['rank']:>3}  {entry['model']:<40} {_describe(entry)}")
    unit = "episodes" if parameters.evaluate.tools else "questions"
    out.print(f"{manifest.counts.out:,} {unit}; report: {report / 'report.html'}")


def _read_parameters(run: str | None, options: Mapping[str, Any], fresh: bool) -> EvaluateRun:
    """A run's parameters; a dataset from elsewhere needs no run of its own: one named after the file is begun."""
    data = options["evaluate"]["data"]
    name = run or (_name_run(Path(data)) if data else None)
    if name is None or not data or RunFolder(home(), name).read_manifest() is not None:
        return parameters_of(EvaluateRun, name, options, fresh=fresh, holding="release")
    return load_parameters({**merge_options({}, options), "run": name, "fresh": fresh}, EvaluateRun)


def _name_run(data: Path) -> str:
    """The name of the run that evaluates a release's folder, or one file of a folder."""
    place = data.resolve()
    name = f"{place.parent.name}-{place.stem}" if place.is_file() else place.name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")


def _describe(entry: Mapping[str, Any]) -> str:
    """One model's figures in a line."""
    parts = [_describe_mode(mode, figures) for mode, figures in entry.get("tools", {}).items()]
    if "mcq" in entry:
        figures = entry["mcq"]
        low, high = 100 * figures["accuracy_low"], 100 * figures["accuracy_high"]
        accuracy = f"{100 * figures['accuracy']:.1f} % [{low:.1f}, {high:.1f}]"
        parts.append(f"multiple choice {accuracy} ({figures['prompting']})")
    if "open" in entry:
        figures = entry["open"]
        parts.append(f"open EM {100 * figures['em']:.1f} %, F1 {100 * figures['f1']:.1f} % ({figures['prompting']})")
    if "chain" in entry:
        parts.append(f"joint F1 {100 * entry['chain']['joint_f1']:.1f} %")
    if "gap" in entry:
        parts.append(f"factual minus counterfactual {100 * entry['gap']['gap']:+.1f} points")
    return "; ".join(parts) or "not asked the whole questions without passages"


def _describe_mode(mode: str, figures: Mapping[str, Any]) -> str:
    """What a model makes of the questions with tools, or with what it is given in their place."""
    low, high = 100 * figures["accuracy_low"], 100 * figures["accuracy_high"]
    said = f"{mode} {100 * figures['accuracy']:.1f} % [{low:.1f}, {high:.1f}], F1 {100 * figures['f1']:.1f} %"
    said += f", judged {100 * figures['judge_score']:.1f} %" if "judge_score" in figures else ""
    return said + (f", MaxD {figures['max_depth']:.2f}" if "max_depth" in figures else "")


def _require_keys(folder: RunFolder, parameters: EvaluateRun) -> None:
    from hopwright.stages.models import grant_access  # the clients of models take a second to import
    from tasks.models import require_models

    wanted = parameters.evaluate
    require_models(grant_access(folder, parameters, [*wanted.models, *([wanted.judge] if wanted.judge else [])]))


def _import_flow() -> Callable[[EvaluateRun], StageManifest]:
    from flows.evaluate import run_evaluate

    return run_evaluate
