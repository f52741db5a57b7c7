"""sdg-hub 0.9.4: a flow of one LLM chat block and its response extractor, over litellm.

Settings: asynchronous, as many concurrent requests as may be in flight, six retries, a checkpoint every 512 rows.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from common import MODEL, SCHEMA, SYSTEM, list_prompts, read_row, run_contestant

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("SDG_HUB_LOG_LEVEL", "ERROR")

import pandas as pd
from sdg_hub.core.blocks import LLMChatBlock
from sdg_hub.core.flow import Flow
from sdg_hub.core.flow.metadata import FlowMetadata


def ask_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Every row through the flow."""
    prompts = list_prompts(options)
    turns = [[{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt}] for prompt in prompts]
    frame = pd.DataFrame({"row": range(len(prompts)), "messages": turns})
    schema = {"type": "json_schema", "json_schema": {"name": "Answer", "strict": True, "schema": SCHEMA}}
    block = LLMChatBlock(
        block_name="ask", input_cols="messages", output_cols="reply", async_mode=True, timeout=options.timeout,
        num_retries=6, max_tokens=200, response_format=schema,
    )  # fmt: skip
    flow = Flow(blocks=[block], metadata=FlowMetadata(name="bench", version="1.0.0", author="bench"))
    flow.set_model_config(model=f"openai/{MODEL}", api_base=options.url + "/v1", api_key="bench")
    result = flow.generate(frame, checkpoint_dir=str(options.state), save_freq=512, max_concurrency=options.concurrency)
    rows = []
    for number, reply in zip(result["row"], result["reply"], strict=True):
        first = reply[0] if isinstance(reply, list) and reply else reply
        text = first.get("content") if isinstance(first, dict) else None
        try:
            rows.append(read_row(int(number), json.loads(text or "")))
        except ValueError as error:
            rows.append({"row": int(number), "rejected": str(error)})
    return rows


if __name__ == "__main__":
    run_contestant(ask_all)
