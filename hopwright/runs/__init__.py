"""Run folders: whole shards or none, manifests that add up, continuing after a kill."""

from hopwright.runs.files import hash_file, write_file
from hopwright.runs.folder import RUN_NAME, RunFolder, list_runs
from hopwright.runs.manifest import Counts, RunManifest, StageManifest, Usage
from hopwright.runs.shards import ShardOutput, ShardReport, part_path, read_report, rejected_path, write_shard
from hopwright.runs.stage import Stage, add_counts, run_stage

__all__ = [
    "RUN_NAME",
    "Counts",
    "RunFolder",
    "RunManifest",
    "ShardOutput",
    "ShardReport",
    "Stage",
    "StageManifest",
    "Usage",
    "add_counts",
    "hash_file",
    "list_runs",
    "part_path",
    "read_report",
    "rejected_path",
    "run_stage",
    "write_file",
    "write_shard",
]
