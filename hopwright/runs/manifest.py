"""What a run and each of its stages say about themselves: parameters, hashes, counts, costs, versions."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import hopwright
from hopwright.errors import InputError, RunError
from hopwright.records import RECORDS_VERSION
from hopwright.records.migration import refuse_later
from hopwright.settings.naming import name_parameter

_M = TypeVar("_M", bound=BaseModel)
RECORDS = "records"
"""Under this name the versions in a manifest hold that of the records; without it they are of version 1."""
_PACKAGES = ("numpy", "polars", "prefect", "pyarrow", "pydantic")


class Counts(BaseModel):
    """Rows that went in, came out, and were rejected (by the check that failed)."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    taken: int = Field(default=0, alias="in")
    out: int = 0
    rejected: dict[str, int] = Field(default_factory=dict)

    def verify(self, where: str) -> None:
        """Raises RunError unless in = out + rejected."""
        lost = sum(self.rejected.values())
        if self.taken != self.out + lost:
            raise RunError(f"{where}: counts do not add up: {self.taken} in, {self.out} out, {lost} rejected")


class ResourceUsage(BaseModel):
    """What paid or metered work cost."""

    model_config = ConfigDict(extra="forbid")

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


class StageManifest(BaseModel):
    """One stage of one run. Everything that differs between two equal runs is here and in no other file."""

    model_config = ConfigDict(extra="forbid")

    stage: str
    status: Literal["running", "finished"] = "running"
    parameters: dict[str, Any] = Field(default_factory=dict)
    inputs: dict[str, str] = Field(default_factory=dict)
    outputs: dict[str, str] = Field(default_factory=dict)
    shards: int = 0
    shards_found: int = 0
    counts: Counts = Field(default_factory=Counts)
    usage: ResourceUsage = Field(default_factory=ResourceUsage)
    skipped: dict[str, int] = Field(default_factory=dict)
    notes: dict[str, Any] = Field(default_factory=dict)
    started: str = ""
    seconds: float = 0.0
    versions: dict[str, str] = Field(default_factory=dict)


class RunManifest(BaseModel):
    """One run: its parameters, and a line for every stage that finished."""

    model_config = ConfigDict(extra="forbid")

    run: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    started: str = ""
    versions: dict[str, str] = Field(default_factory=dict)
    stages: dict[str, Counts] = Field(default_factory=dict)
    seconds: dict[str, float] = Field(default_factory=dict)
    summary: dict[str, Any] = Field(default_factory=dict)


def render_manifest(manifest: BaseModel) -> bytes:
    """A manifest as its file holds it."""
    return json.dumps(manifest.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False).encode() + b"\n"


def read_manifest(path: Path, model: type[_M]) -> _M | None:
    """Read a manifest; None when there is none. Raises RunError when it is not one of ours."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{path}: cannot be read ({error})") from None
    try:
        manifest = model.model_validate_json(text)
    except ValidationError:
        raise RunError(
            f"{path}: not a manifest of this version of Hopwright; "
            f"use another {name_parameter('run')} name, or {name_parameter('fresh')}"
        ) from None
    try:
        refuse_later(int(getattr(manifest, "versions", {}).get(RECORDS, 1)), str(path))
    except InputError as error:
        raise RunError(str(error)) from None
    return manifest


def gather_versions() -> dict[str, str]:
    """Versions of Hopwright, its records, Python and the packages that shape the output."""
    versions = {"hopwright": hopwright.__version__, RECORDS: str(RECORDS_VERSION), "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def name_differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """`field before → now` for each parameter that differs, by the name that the user knows."""
    old, new = _flatten(before), _flatten(now)
    absent = "nothing"
    return [
        f"{name_parameter(name)} {old.get(name, absent)} → {new.get(name, absent)}"
        for name in sorted({*old, *new})
        if old.get(name, absent) != new.get(name, absent)
    ]


def _flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat.update(_flatten(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat
