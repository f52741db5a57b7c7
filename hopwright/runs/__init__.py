"""Run folders: whole shards or none, manifests that add up, continuing after a kill."""

from hopwright.runs.files import hash_file, write_file
from hopwright.runs.folder import RunFolder, list_runs
from hopwright.runs.manifest import Counts, ResourceUsage, StageManifest
from hopwright.runs.shards import ShardOutput, ShardReport, part_path, read_report, rejected_path, write_shard
from hopwright.runs.stage import Stage

__all__ = [
    "Counts",
    "ResourceUsage",
    "RunFolder",
    "ShardOutput",
    "ShardReport",
    "Stage",
    "StageManifest",
    "hash_file",
    "list_runs",
    "part_path",
    "read_report",
    "rejected_path",
    "write_file",
    "write_shard",
]
