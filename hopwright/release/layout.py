"""Which sets a release may hold, and where each lies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hopwright.errors import InputError
from hopwright.records.model import Variant

SetName = Literal["synth", "validation", "test", "bench"]
SETS: tuple[SetName, ...] = ("synth", "validation", "test", "bench")
"""Machine-checked items to train on; parts of them held out, where asked for; and what experts accepted."""
PRIORITY: tuple[SetName, ...] = ("bench", "test", "validation", "synth")
"""Who keeps an item that two sets want: each gives way to those before it."""
_SPLITS: dict[SetName, tuple[str, str]] = {
    "synth": ("synth", "train"),
    "validation": ("synth", "validation"),
    "test": ("synth", "test"),
    "bench": ("bench", "test"),
}


@dataclass(frozen=True, slots=True)
class SplitFiles:
    """Where one variant of one set lies: its JSONL, and its configuration and split for Hugging Face's loaders."""

    set: SetName
    variant: Variant

    @property
    def name(self) -> str:
        """`synth`, `bench_counterfactual`."""
        return self.set if self.variant == "factual" else f"{self.set}_counterfactual"

    @property
    def jsonl(self) -> str:
        """The file of the published format."""
        return f"{self.name}.jsonl".replace("synth_counterfactual", "counterfactual").replace("synth", "data")

    @property
    def config(self) -> str:
        """The configuration that `datasets.load_dataset` knows it by."""
        config = _SPLITS[self.set][0]
        return config if self.variant == "factual" else f"{config}_counterfactual"

    @property
    def split(self) -> str:
        """The split inside the configuration."""
        return _SPLITS[self.set][1]

    @property
    def parquet(self) -> str:
        """The file of the same rows for the loaders."""
        return f"data/{self.config}/{self.split}-00000-of-00001.parquet"


SPLIT_FILES = tuple(SplitFiles(name, variant) for name in SETS for variant in ("factual", "counterfactual"))
"""Every place, in the order in which a release lists them."""


def find_split_files(folder: Path) -> list[SplitFiles]:
    """The places that a release folder fills. Raises InputError where it fills none."""
    found = [place for place in SPLIT_FILES if (folder / place.jsonl).is_file()]
    if not found:
        raise InputError(f"{folder}: no data.jsonl and no bench.jsonl in it; give a release's folder")
    return found
