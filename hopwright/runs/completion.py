"""What a finished run rests on and what it holds, so that starting it again finds at once that nothing is to do.

The record is written when a run has ended well. A run is complete as long as its parameters, the code, the files that
its parameters name and every file that it wrote are what they were; in any doubt its stages are gone through again,
which make what is missing and say what has changed.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from hopwright.errors import HopwrightError, RunError
from hopwright.runs.files import hash_file, write_file
from hopwright.runs.folder import RunFolder
from hopwright.runs.manifest import RunManifest, read_manifest, render_manifest

RECORD = "complete.json"
_ROOT = Path(__file__).resolve().parents[2]
_CODE = ("hopwright", "annotation", "tasks", "flows", "prompts")
_COMPILED = "__pycache__"
_HASHED = 32 << 20
"""Of a file named by a parameter that is larger, size and time of change stand for its bytes."""
_MOST_FILES = 20_000


class CompletionRecord(BaseModel):
    """What a run was when it ended. File → SHA-256, or size and time of change."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    parameters: dict[str, Any]
    code: str
    inputs: dict[str, str]
    files: dict[str, str]


def record_completion(run: RunFolder, parameters: Mapping[str, Any], inputs: Sequence[Path]) -> None:
    """Note that a run has ended well. `inputs`: files and folders that it read besides those that parameters name.

    Where that cannot be noted, the run is gone through again when it is started once more; nothing else is lost.
    """
    try:
        record = CompletionRecord(
            parameters=dict(parameters),
            code=_digest_code(),
            inputs=_describe_inputs(parameters, inputs),
            files={str(path.relative_to(run.path)): hash_file(path) for path in _list_files(run)},
        )
    except (OSError, HopwrightError):
        return
    write_file(run.path / RECORD, render_manifest(record))


def find_completed(run: RunFolder, parameters: Mapping[str, Any], inputs: Sequence[Path]) -> RunManifest | None:
    """The manifest of a run that has ended with these parameters and is as it was then; else None.

    A run with a copy in a storage is never taken for complete: the copy may be behind.
    """
    if run.storage:
        return None
    try:
        record = read_manifest(run.path / RECORD, CompletionRecord)
        if (
            record is None
            or record.parameters != parameters
            or record.code != _digest_code()
            or record.inputs != _describe_inputs(parameters, inputs)
            or any(hash_file(run.path / name) != digest for name, digest in record.files.items())
        ):
            return None
        return run.read_manifest()
    except (OSError, HopwrightError):  # a file is gone or cannot be read: the stages will say which
        return None


def _list_files(run: RunFolder) -> list[Path]:
    return sorted(path for path in run.path.rglob("*") if path.is_file() and path != run.path / RECORD)


@functools.cache
def _digest_code() -> str:
    """A hash of everything that is installed of Hopwright, and of the interpreter's version."""
    digest = hashlib.blake2b(sys.version.encode(), digest_size=16)
    for folder in _CODE:
        for path in sorted((_ROOT / folder).rglob("*")):
            if path.is_file() and _COMPILED not in path.parts:
                digest.update(f"{path.relative_to(_ROOT)}\0".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _describe_inputs(parameters: Mapping[str, Any], inputs: Sequence[Path]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in (*map(Path, _list_texts(parameters)), *inputs):
        try:
            path = path.expanduser()
            files = sorted(path.rglob("*")) if path.is_dir() else [path]
            if len(files) > _MOST_FILES:
                raise RunError(f"{path}: holds too many files to compare")
            found.update({str(one.absolute()): _describe_file(one) for one in files if one.is_file()})
        except (OSError, ValueError):  # a text that is no path
            continue
    return found


def _describe_file(path: Path) -> str:
    state = path.stat()
    return hash_file(path) if state.st_size <= _HASHED else f"{state.st_size} {state.st_mtime_ns}"


def _list_texts(value: object) -> Iterator[str]:
    """The texts among parameters that may name a file."""
    if isinstance(value, str):
        if value and "\n" not in value:
            yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _list_texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _list_texts(one)
