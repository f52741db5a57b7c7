"""A run of one stage that asks models, as a stage does it, for `test_models.py`; prints its manifest, or its error.

The key is only in a Prefect Secret block when the run begins: `PLANTED_KEY` is put there and leaves the environment.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass

from flows.local import prefect_server
from hopwright.errors import HopwrightError
from hopwright.llm.types import Message, Request, Sampling, parse_model
from hopwright.records import Rejected
from hopwright.records.arrow import items_to_table
from hopwright.runs import ResourceUsage, ShardOutput
from hopwright.settings import FilterRun, ModelParameters, home
from hopwright.stages.models import ModelAccess, open_models
from tests.builders import chain_item
from tests.llm.builders import Answer

MODEL = "local/tiny"


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows, to be asked about."""

    access: ModelAccess
    start: int
    count: int


def list_requests(part: Part) -> Iterable[Request]:
    """One request a row."""
    target = parse_model(MODEL)
    for number in range(part.start, part.start + part.count):
        turns = (Message("system", "You answer in JSON.", stable=True), Message("user", f"row {number}"))
        yield Request(
            turns, target.provider, target.model, Answer, sampling=Sampling(max_tokens=200), item=f"hw-{number}"
        )


def ask_part(part: Part) -> ShardOutput:
    """An item for every answer, a rejection with its reason for every failure."""
    outcomes = open_models(part.access).complete_all(list_requests(part))
    asked = list(enumerate(outcomes, start=part.start))
    items = [chain_item().model_copy(update={"id": f"hw-{n}", "answer": one.text}) for n, one in asked if one.ok]
    failed = [Rejected(key=f"hw-{n}", check=one.kind, reason=one.reason) for n, one in asked if not one.ok]
    tokens = [one.usage for one in outcomes]
    usage = ResourceUsage(
        input_tokens=sum(one.input for one in tokens), output_tokens=sum(one.output for one in tokens),
        cost_usd=sum(one.cost_usd for one in outcomes),
    )  # fmt: skip
    return ShardOutput(items_to_table(items), failed, taken=part.count, usage=usage)


def main() -> None:
    """Carry out the stage, with Prefect and in worker processes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--budget", type=float, default=0)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    key = os.environ.pop("PLANTED_KEY", "")
    with prefect_server(home()) as wait:
        from prefect import flow
        from prefect.blocks.system import Secret

        from hopwright.stages.models import grant_access
        from hopwright.stages.plan import StagePlan
        from tasks.engine import make_task_runner, open_run

        wait()
        if key:
            Secret(value=key).save("hopwright-local", overwrite=True)

        @flow(name="asking", task_runner=make_task_runner())
        def run_asking(parameters: FilterRun) -> dict[str, object]:
            with open_run(parameters) as engine:
                access = grant_access(engine.run, parameters, [MODEL])
                parts = [Part(access, start * 50, 50) for start in range(options.shards)]
                plan = StagePlan("filter", "items", {}, {}, ask_part, parts, access=access, requests=list_requests)
                return engine.execute(plan).model_dump(mode="json", by_alias=True)

        models = ModelParameters(budget_usd=options.budget)
        try:
            print(json.dumps(run_asking(FilterRun(run="asking", workers=options.workers, models=models))))  # noqa: T201
        except HopwrightError as error:
            print(json.dumps({"error": str(error)}))  # noqa: T201


if __name__ == "__main__":
    main()
