"""`hopwright export`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flows.console.corpus import find_folder
from flows.console.options import merge_options, pick_run
from flows.console.output import ProgressLine, err, out, print_json, tell_progress
from hopwright.environments.tools import CorpusFinder
from hopwright.errors import InputError
from hopwright.evaluation.items import TO_TEST_ON, TO_TRAIN_ON, EvalItem, read_items
from hopwright.exports import TRAINING, export_items, name_writer, write_folder
from hopwright.exports.agents import AGENT_EXPORTERS, AgentExport, export_passages
from hopwright.knowledge.documents.index import Retriever
from hopwright.llm.prompts import load_prompts
from hopwright.release.own_folder import refuse_foreign
from hopwright.runs import RunFolder, Stage
from hopwright.settings import ExportParameters, home, load_parameters
from hopwright.training.task_sets import TaskSet, TaskSetOptions, make_task_set


def export_to(
    data: str | None,
    tool: str,
    folder: Path | None,
    variant: str | None,
    run: str | None,
    options: Mapping[str, Any],
    *,
    as_json: bool,
) -> None:
    """Write the folder and say what is in it."""
    parameters = load_parameters(merge_options({}, options), ExportParameters)
    of_agents = tool in AGENT_EXPORTERS or tool == "passages"
    wanted = variant or ("both" if of_agents else "factual")
    source = Path(data) if data else _find_release(run)
    if data is None and not as_json:
        err.print(f"exporting {source}")
    file = read_items(source, sets=TO_TRAIN_ON if tool in TRAINING else TO_TEST_ON)
    items = [item for item in file.items if wanted in ("both", item.variant)]
    if not items:
        raise InputError(f"{source}: no {wanted} item in it")
    target = folder or Path(f"hopwright-{tool}")
    refuse_foreign(target, name_writer(tool), replace=True)
    tasks: TaskSet | None = None
    transcripts: dict[str, int] = {}
    if tool == "passages":
        written = write_folder(export_passages(items), target, tool)
    elif tool in AGENT_EXPORTERS:
        retriever = Retriever.open(find_folder(parameters))
        with tell_progress("opening the corpus") as tell:
            tasks = _make_tasks(items, retriever, parameters, tell)
            tell(f"writing {len(tasks.lines):,} tasks")
            basis = {"corpus": retriever.store.manifest.content}
            export = AgentExport(tasks, CorpusFinder(retriever), parameters.seed, parameters.recoveries, basis)
            files = AGENT_EXPORTERS[tool](export)
            transcripts = read_transcripts(files) if tool == "trajectories" else {}
            written = write_folder(files, target, tool)
    else:
        written = export_items(items, tool, load_prompts(), target, parameters.seed)
    names = [str(path.relative_to(target)) for path in written]
    counted = {"tasks": tasks.summarise()} if tasks is not None else {}
    if as_json:
        made = {"transcripts": transcripts} if transcripts else {}
        print_json({
            "data": str(source), "folder": str(target), "items": len(items), "files": names, **counted, **made
        })  # fmt: skip
        return
    out.print(f"{len(items):,} items for {tool}, written to {target}: {', '.join(names)}")
    if tasks is not None:
        train = sum(line.split == "train" for line in tasks.lines)
        out.print(f"{train:,} tasks to train on, {len(tasks.lines) - train:,} to test on")
        for reason, count in counted["tasks"]["left_out"].items():
            out.print(f"{count:,} items left out: {reason}")
    if transcripts:
        out.print(describe_transcripts(transcripts))
    if file.rejected:
        out.print(f"{len(file.rejected)} rows are not in the release format and were left out")


def read_transcripts(files: Mapping[str, bytes]) -> dict[str, int]:
    """How many transcripts an export of trajectories has in each form, and how many the tools do not lead through."""
    counts = json.loads(files["report.json"])
    return {
        **{form: one["transcripts"] for form, one in counts.items() if form != "rejected"},
        "rejected": counts["rejected"],
    }


def describe_transcripts(counts: Mapping[str, int]) -> str:
    """The same in words."""
    return (
        f"{counts['tools']:,} transcripts with calls and {counts['tags']:,} with tags, of the tasks to train on; "
        f"{counts['rejected']:,} are left out, since the tools do not lead through (rejected.jsonl says why)"
    )


def _make_tasks(
    items: list[EvalItem], retriever: Retriever, parameters: ExportParameters, tell: ProgressLine
) -> TaskSet:
    options = TaskSetOptions(
        test_share=parameters.test_share,
        seed=parameters.seed,
        max_steps=parameters.max_steps,
        max_turns=parameters.max_turns,
        max_tokens=parameters.max_tokens,
    )
    return make_task_set(items, retriever, load_prompts(), options, tell)


def _find_release(run: str | None) -> Path:
    name = pick_run(run, "release")
    return home() / str(Stage(RunFolder(home(), name), "release").read().notes["folder"])
