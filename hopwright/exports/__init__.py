"""A release in the layouts of the tools that evaluate and train: self-contained folders, made from any release file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hopwright.errors import InputError
from hopwright.evaluation.items import EvalItem
from hopwright.exports.agents import AGENT_EXPORTERS
from hopwright.exports.harnesses import export_inspect, export_lm_eval
from hopwright.exports.training import export_llama_factory, export_verl
from hopwright.llm.prompts import Prompt
from hopwright.release.own_folder import write_own_folder
from hopwright.runs.files import write_file

Exporter = Callable[[Sequence[EvalItem], dict[str, Prompt], int], dict[str, bytes]]

EXPORTERS: dict[str, Exporter] = {
    "lm-eval": export_lm_eval,
    "inspect": export_inspect,
    "llama-factory": export_llama_factory,
    "verl": export_verl,
}
TRAINING = frozenset({"llama-factory", "verl", "passages", *AGENT_EXPORTERS})
"""The tools that train: they get a release's set synth, never what is tested on."""


def export_items(
    items: Sequence[EvalItem], tool: str, prompts: dict[str, Prompt], folder: Path, seed: int = 0
) -> list[Path]:
    """Write the folder of one tool; the same items give the same bytes. Returns the files.

    Raises InputError for an unknown tool, or when the folder holds other things than an earlier export.
    """
    if tool not in EXPORTERS:
        raise InputError(f"no export for {tool!r}; there are: {', '.join(EXPORTERS)}")
    return write_folder(EXPORTERS[tool](items, prompts, seed), folder, tool)


def write_folder(files: Mapping[str, bytes], folder: Path, tool: str) -> list[Path]:
    """Write the files of an export, and their checksums; an earlier export to the same tool is replaced.

    Returns the files. Raises InputError when the folder holds other things.
    """
    with write_own_folder(folder, name_writer(tool), replace=True) as aside:
        for name, content in files.items():
            write_file(aside / name, content)
    return [folder / name for name in files]


def name_writer(tool: str) -> str:
    """How the command that writes the folder of a tool is called."""
    return f"hopwright export --to {tool}"
