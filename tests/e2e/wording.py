"""A synthesis worded by a model, as its flow does it, for `test_wording.py`; prints the yield report, or the error.

Retrieval is done in this process, so that what is timed and killed is the synthesis.
"""

from __future__ import annotations

import argparse
import json

from flows.local import prefect_server
from hopwright.errors import HopwrightError
from hopwright.runs import RunFolder, Stage
from hopwright.settings import ModelParameters, SynthesizeParameters, SynthesizeRun, home, sample_folder
from hopwright.stages.retrieve import AnchorSlice, count_questions, ingest_corpus, link_slice
from tests.stage_runs import run_stage

RUN = "worded"


def retrieve() -> None:
    """Store and anchors of the sample, unless they are there."""
    run, store = RunFolder(home(), RUN), home() / "stores" / "sample"
    if not store.exists():
        ingest_corpus(sample_folder(), store)
    questions = sample_folder() / "anchors.jsonl"
    slices = [AnchorSlice(questions, store, 0, count_questions(questions))]
    with run.hold():
        run_stage(Stage(run, "retrieve"), slices, link_slice, parameters={}, notes={"store": "stores/sample"})


def main() -> None:
    """Carry out the flow, with Prefect and in worker processes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--writer", default="openai")
    parser.add_argument("--items", type=int, default=0)
    parser.add_argument("--drafts", type=int, default=200)
    parser.add_argument("--budget", type=float, default=0)
    options = parser.parse_args()
    retrieve()
    parameters = SynthesizeRun(
        run=RUN, workers=2, shard_size=50, models=ModelParameters(budget_usd=options.budget),
        synthesize=SynthesizeParameters(
            writer=options.writer, model="local/tiny", items=options.items, drafts=options.drafts,
        ),
    )  # fmt: skip
    with prefect_server(home()) as wait:
        from flows.synthesize import run_synthesize
        from hopwright.stages.synthesize import read_yield

        wait()
        try:
            run_synthesize(parameters)
            print(json.dumps(read_yield(RunFolder(home(), RUN))))  # noqa: T201
        except HopwrightError as error:
            print(json.dumps({"error": str(error)}))  # noqa: T201


if __name__ == "__main__":
    main()
