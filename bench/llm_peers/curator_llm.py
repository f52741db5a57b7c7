"""bespokelabs-curator 0.1.31: an LLM block with a response format over OpenAI's backend.

Settings: as many concurrent requests as may be in flight, its rate limiters set so high that they never bind, one
second of pause on a 429 (what the server asks for; the default is ten), ten retries, failed rows kept.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
from pathlib import Path
from typing import Any

from common import MODEL, SYSTEM, list_prompts, read_row, run_contestant
from pydantic import BaseModel

os.environ.setdefault("TELEMETRY_ENABLED", "false")
os.environ.setdefault("OPENAI_API_KEY", "bench")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# It counts tokens with tiktoken, whose table would be downloaded; litellm brings the same table along.
_litellm = importlib.util.find_spec("litellm")
if _litellm is not None and _litellm.origin is not None:
    tables = Path(_litellm.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(tables))

from bespokelabs import curator  # noqa: E402


class Answer(BaseModel):
    """The answer to a row."""

    answer: str
    number: int


class Asker(curator.LLM):
    """One prompt a row."""

    response_format = Answer

    def prompt(self, input: dict[str, Any]) -> list[dict[str, str]]:
        """The turns of a row."""
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": input["prompt"]}]

    def parse(self, input: dict[str, Any], response: Any) -> dict[str, Any]:
        """The row with its answer."""
        return {"row": input["row"], "answer": response.answer, "number": response.number}


def ask_all(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Every row in one call."""
    asker = Asker(
        model_name=MODEL, backend="openai", response_format=Answer, generation_params={"max_tokens": 200},
        backend_params={
            "base_url": options.url + "/v1", "max_concurrent_requests": options.concurrency,
            "max_requests_per_minute": 10_000_000, "max_tokens_per_minute": 10_000_000_000,
            "request_timeout": int(options.timeout), "max_retries": 10, "require_all_responses": False,
            "seconds_to_pause_on_rate_limit": 1,
        },
    )  # fmt: skip
    data = [{"row": number, "prompt": prompt} for number, prompt in enumerate(list_prompts(options))]
    answered = {entry["row"]: entry for entry in asker(data, working_dir=str(options.state)).dataset}
    return [read_row(entry["row"], answered.get(entry["row"])) for entry in data]


if __name__ == "__main__":
    run_contestant(ask_all)
