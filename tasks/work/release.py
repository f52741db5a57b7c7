"""Writing a release, and auditing it where it lies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hopwright.records import Item
from hopwright.records.arrow import ITEM_SCHEMA, read_items, read_parquet
from hopwright.records.model import Variant
from hopwright.synthesis.properties import default_table
from tasks.work.resources import open_graph


def write_dataset(
    items: list[Path],
    twins: list[Path],
    folder: Path,
    name: str,
    version: str,
    facts: Mapping[str, Any],
    rejections: Mapping[str, Mapping[str, int]],
    against: list[Path],
) -> dict[str, Any]:
    """Write the release; `facts` are those of `RunFacts`, `against` files of published questions.

    Returns its figures, and which of the scorecard's limits it keeps.
    """
    from hopwright.release.card import RunFacts
    from hopwright.release.dataset import write_release

    manifest = write_release(
        _read_all(items, "factual"),
        _read_all(twins, "counterfactual"),
        folder=folder,
        name=name,
        version=version,
        facts=RunFacts.model_validate(facts),
        rejections=rejections,
        against=against,
    )
    return {
        "items": manifest.items,
        "twins": manifest.twins,
        "limits": {one.name: one.met for one in manifest.scorecard.thresholds},
        "overlapping": len(manifest.overlap.questions),
    }


def count_writers(items: list[Path]) -> dict[str, int]:
    """How many items each writer worded: `rules`, or a model by endpoint, name and version. Most first."""
    counts = Counter[str]()
    for part in items:
        for made in read_parquet(part, ITEM_SCHEMA).column("provenance").to_pylist():
            version = made["model_version"]
            named = f"{made['model']} ({version})" if version and version not in made["model"] else made["model"]
            counts[named if made["generator"] == "model" else "rules"] += 1
    return dict(counts.most_common())


def audit_release(files: list[Path], store: Path) -> dict[str, Any]:
    """Audit release files against the graph; returns how much was looked at and what was found."""
    from hopwright.release.audit import audit

    reports = [audit(file, open_graph(store), default_table()) for file in files]
    counts = Counter[str]()
    for report in reports:
        counts.update(report.counts)
    return {
        "items": sum(report.items for report in reports),
        "violations": sum(len(report.violations) for report in reports),
        "warnings": sum(len(report.warnings) for report in reports),
        "by_check": dict(sorted(counts.items())),
    }


def read_figures(folder: Path) -> dict[str, Any]:
    """The figures of a release's factual items."""
    from hopwright.release.dataset import read_manifest

    return read_manifest(folder).factual.model_dump(mode="json")


def _read_all(parts: Iterable[Path], variant: Variant) -> Iterator[Item]:
    """The items of one variant; an accepted set holds both."""
    for part in parts:
        yield from (item for item in read_items(part) if item.variant == variant)
