"""distilabel 1.5.3: a pipeline of one text-generation step over OpenAI's client.

Settings: a batch of as many rows as may be in flight (its client keeps a batch in flight and no more), JSON mode, six
retries, the pipeline's cache on. A step is a process of its own, as distilabel runs every step.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from common import MODEL, SYSTEM, list_prompts, read_row, run_contestant

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("DISTILABEL_LOG_LEVEL", "WARNING")

from distilabel.models import OpenAILLM
from distilabel.pipeline import Pipeline
from distilabel.steps import LoadDataFromDicts
from distilabel.steps.tasks import TextGeneration


def ask_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Every row through the pipeline."""
    data = [{"instruction": prompt, "row": number} for number, prompt in enumerate(list_prompts(options))]
    with Pipeline(name="bench", cache_dir=options.state) as pipeline:
        load = LoadDataFromDicts(data=data, batch_size=options.concurrency)
        ask = TextGeneration(
            llm=OpenAILLM(
                model=MODEL, base_url=options.url + "/v1", api_key="bench", max_retries=6, timeout=int(options.timeout),
                generation_kwargs={"max_new_tokens": 200, "response_format": {"type": "json_object"}},
            ),
            system_prompt=SYSTEM, input_batch_size=options.concurrency,
        )  # fmt: skip
        load >> ask
    dataset = pipeline.run(use_cache=True)["default"]["train"]
    rows = []
    for entry in dataset:
        try:
            rows.append(read_row(entry["row"], json.loads(entry["generation"])))
        except (TypeError, ValueError) as error:
            rows.append({"row": entry["row"], "rejected": str(error)})
    return rows


if __name__ == "__main__":
    run_contestant(ask_all)
