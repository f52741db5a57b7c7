"""A run whose filter stage is next, over items that the voting server knows the answers to."""

from __future__ import annotations

from pathlib import Path

from hopwright.records import Item
from hopwright.records.arrow import items_to_table
from hopwright.runs import RunFolder, ShardOutput, Stage
from tests.difficulty.voting_server import make_items
from tests.stage_runs import run_stage


def begin_run(home: Path, name: str, count: int, shard_size: int = 200, items: list[Item] | None = None) -> RunFolder:
    """Write the run and its finished synthesize stage."""
    run = RunFolder(home, name)
    run.begin({"seed": 0})
    found = make_items(count) if items is None else items
    shards = [found[start : start + shard_size] for start in range(0, len(found), shard_size)]
    run_stage(
        Stage(run, "synthesize"), shards, lambda part: ShardOutput(items_to_table(part), [], taken=len(part)),
        parameters={},
    )  # fmt: skip
    return run


def write_endpoints(home: Path, url: str) -> None:
    """Make the voting server the endpoint `local`."""
    home.mkdir(parents=True, exist_ok=True)
    text = f'[endpoints.local]\nbase_url = "{url}/v1"\ndialect = "vllm"\nfree = true\n[breaker]\nrows_failing = 1\n'
    (home / "endpoints.toml").write_text(text)
