"""`hopwright evaluate`."""

from collections.abc import Callable, Mapping
from typing import Any

from flows.console.options import parameters_of
from flows.console.output import out, prefect_ready, print_json, show_stages
from hopwright.runs import StageManifest
from hopwright.settings import EvaluateRun, home


def evaluate_run(run: str | None, options: Mapping[str, Any], *, fresh: bool, as_json: bool) -> None:
    """Run the evaluation and print the leaderboard."""
    parameters = parameters_of(EvaluateRun, run, options, fresh=fresh)
    with prefect_ready(_import_flow) as flow, show_stages():
        manifest = flow(parameters)
    entries = manifest.notes["leaderboard"]
    folder = home() / manifest.notes["folder"]
    if as_json:
        print_json({"leaderboard": entries, "folder": str(folder), "questions": manifest.counts.out})
        return
    for entry in entries:
        out.print(f"{entry['rank']:>3}  {entry['model']:<40} {_describe(entry)}")
    out.print(f"{manifest.counts.out:,} questions; report: {folder / 'report.html'}")


def _describe(entry: Mapping[str, Any]) -> str:
    """One model's figures in a line."""
    parts = []
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


def _import_flow() -> Callable[[EvaluateRun], StageManifest]:
    from flows.evaluate import run_evaluate

    return run_evaluate
