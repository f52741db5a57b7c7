"""data-designer 0.9.6: a seed data set of prompts and one structured column.

Settings: as many parallel requests as may be in flight, row groups of a thousand with as many at once as fit,
two correction steps, no early shutdown, resumed where possible, metrics port off.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from common import MODEL, SYSTEM, list_prompts, read_row, run_contestant
from pydantic import BaseModel

os.environ.setdefault("NEMO_TELEMETRY_ENABLED", "false")

import data_designer.config as dd
import pandas as pd
from data_designer.config.run_config import RunConfig
from data_designer.engine.storage.artifact_storage import ResumeMode
from data_designer.interface import DataDesigner


class Answer(BaseModel):
    """The answer to a row."""

    answer: str
    number: int


def ask_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Every row as one data set."""
    prompts = list_prompts(options)
    provider = dd.ModelProvider(name="bench", endpoint=options.url + "/v1", provider_type="openai", api_key="bench")
    designer = DataDesigner(artifact_path=options.state, model_providers=[provider])
    designer.set_run_config(
        RunConfig(
            buffer_size=1000, max_concurrent_row_groups=8, max_in_flight_tasks=4096, disable_early_shutdown=True,
            max_conversation_correction_steps=2, otel_metrics_port=None,
        )
    )  # fmt: skip
    inference = dd.ChatCompletionInferenceParams(
        max_parallel_requests=options.concurrency, timeout=int(options.timeout), max_tokens=200
    )
    builder = dd.DataDesignerConfigBuilder(
        model_configs=[
            dd.ModelConfig(
                alias="tiny", model=MODEL, provider="bench", inference_parameters=inference, skip_health_check=True
            )
        ]
    )
    builder.with_seed_dataset(dd.DataFrameSeedSource(df=pd.DataFrame({"row": range(len(prompts)), "asked": prompts})))
    builder.add_column(
        dd.LLMStructuredColumnConfig(
            name="reply", prompt="{{ asked }}", system_prompt=SYSTEM, output_format=Answer, model_alias="tiny"
        )
    )
    result = designer.create(builder, num_records=len(prompts), dataset_name="bench", resume=ResumeMode.IF_POSSIBLE)
    frame = result.load_dataset()
    answered: dict[int, Any] = dict(zip(frame["row"], frame["reply"], strict=True))
    rows = []
    for number in range(len(prompts)):
        reply = answered.get(number)
        rows.append(read_row(number, json.loads(reply) if isinstance(reply, str) else reply))
    return rows


if __name__ == "__main__":
    run_contestant(ask_all)
