"""Voters by name: `shortcuts`, `shortcut:SOLVER`, `vllm:MODEL`, `transformers:MODEL`, `ENDPOINT/MODEL`, and others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hopwright.difficulty.voters import Voter
from hopwright.errors import InputError
from hopwright.registry import Registry

VoterFactory = Callable[[str, Path, int], Voter]
"""Makes a voter from what follows the colon, the folder of the graph store and the seed."""
VOTERS = Registry[VoterFactory]("hopwright.voters", "kind of voter")
"""Kind → what makes such a voter in a worker process: the kinds that other packages add as entry points of this group.

Their voters are named `KIND:MODEL`. The built-in kinds need servers, weights or endpoints that are looked for first.
"""
SOLVERS = ("popularity-prior", "lexical-overlap", "options-only", "last-hop-only")
"""The four shortcut solvers, in the order in which they vote."""
_PREFIXES = ("shortcut", "vllm", "transformers")
_IS_PATH = re.compile(r"^[~./]")


@dataclass(frozen=True, slots=True)
class VoterSpec:
    """One voter as it was asked for. `model`: a solver, a Hugging Face id, a folder, or ENDPOINT/MODEL."""

    kind: str
    model: str

    @property
    def name(self) -> str:
        """How votes name it: nothing of the machine's paths, and no endpoint."""
        if self.kind == "endpoint":
            return self.model.split("/", 1)[1]
        return Path(self.model).name if self.is_folder else self.model

    @property
    def is_folder(self) -> bool:
        """Whether the weights are named by a path."""
        return self.kind in ("vllm", "transformers") and bool(_IS_PATH.match(self.model))

    @property
    def slug(self) -> str:
        """The name as part of a folder's name and of an artifact's key."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower())[:60].strip("-") or "model"


def parse_voters(texts: Sequence[str]) -> tuple[VoterSpec, ...]:
    """The voters that a list of texts names. Raises InputError for an unknown one, or two of one name."""
    specs: list[VoterSpec] = []
    for text in texts:
        specs += [VoterSpec("shortcut", name) for name in SOLVERS] if text == "shortcuts" else [_parse(text)]
    names = [spec.name for spec in specs]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise InputError(f"two voters are called {double}: votes are told apart by the model's name, so name each once")
    return tuple(specs)


def _parse(text: str) -> VoterSpec:
    kind, _, model = text.partition(":")
    known = kind if kind in _PREFIXES or (model and kind in VOTERS) else None
    if known is None and all(text.partition("/")[::2]):
        return VoterSpec("endpoint", text)
    if known is None or not model:
        raise InputError(f"voter {text!r}: should be {_list_forms()}")
    if known == "shortcut" and model not in SOLVERS:
        raise InputError(f"voter {text!r}: the solvers are {', '.join(SOLVERS)}")
    return VoterSpec(known, model)


def _list_forms() -> str:
    kinds = ("vllm", "transformers", *VOTERS)
    return f"shortcuts, {', '.join(f'{kind}:MODEL' for kind in kinds)} or ENDPOINT/MODEL"
