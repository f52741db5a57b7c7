"""A model's weights on this machine: where they are, how large, and whether they can be asked in a chat."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopwright.errors import InputError

_ID = re.compile(r"^[\w.-]+(/[\w.-]+)?$")
_FILES = ("*.safetensors", "*.bin")
_HINT = "`hf download {id}` fetches them, or name a folder with them"


@dataclass(frozen=True, slots=True)
class Weights:
    """folder: where they lie. bytes: their size on the disk. fingerprint: the same for the same files."""

    folder: Path
    bytes: int
    fingerprint: str


def find_weights(model: str) -> Weights:
    """The weights of a folder, or of a Hugging Face id in the local cache; nothing is downloaded.

    Raises InputError where they are missing or incomplete, or where the tokenizer has no chat template.
    """
    folder = _find_folder(model)
    if not (folder / "config.json").is_file():
        raise InputError(f"{model}: no config.json in {folder}, so these are no weights of a model")
    files = _list_files(folder)
    missing = [path.name for path in files if not path.exists()]
    if not files:
        raise InputError(f"{model}: no weights (*.safetensors) in {folder}; {_HINT.format(id=model)}")
    if missing:
        raise InputError(
            f"{model}: {len(missing)} of the files of its weights are missing in {folder} ({missing[0]}); "
            f"{_HINT.format(id=model)}"
        )
    if not has_chat_template(folder):
        raise InputError(f"{model}: its tokenizer has no chat template; take the instruction-tuned weights")
    return Weights(folder, sum(path.stat().st_size for path in files), _fingerprint(folder, files))


def has_chat_template(folder: Path) -> bool:
    """Whether the tokenizer brings a template, in its configuration or in a file of its own."""
    if any((folder / name).is_file() for name in ("chat_template.jinja", "chat_template.json")):
        return True
    return bool(_read_json(folder / "tokenizer_config.json").get("chat_template"))


def is_half_precision(folder: Path) -> bool:
    """Whether the weights are stored in 16 bits, by the model's configuration."""
    config = _read_json(folder / "config.json")
    inner = config.get("text_config")
    named = [one.get(key) for one in (config, inner) if isinstance(one, dict) for key in ("dtype", "torch_dtype")]
    return any(name in ("bfloat16", "float16") for name in named)


def _find_folder(model: str) -> Path:
    path = Path(model).expanduser()
    if path.is_dir():
        return path.absolute()
    if not _ID.match(model) or model.startswith("."):
        raise InputError(f"{model}: there is no such folder with weights")
    cache = _find_cache() / f"models--{model.replace('/', '--')}"
    snapshots = cache / "snapshots"
    head = cache / "refs" / "main"
    if head.is_file() and (snapshots / head.read_text("utf-8").strip()).is_dir():
        return snapshots / head.read_text("utf-8").strip()
    found = sorted(snapshots.iterdir(), key=lambda one: one.stat().st_mtime) if snapshots.is_dir() else []
    if not found:
        raise InputError(f"{model}: no weights in {_find_cache()}; {_HINT.format(id=model)}")
    return found[-1]


def _find_cache() -> Path:
    """The Hugging Face cache, by the variables that its own tools read."""
    named = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    if named:
        return Path(named).expanduser()
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "huggingface"
    return Path(home).expanduser() / "hub"


def _list_files(folder: Path) -> list[Path]:
    """The files of the weights, those included that the index names and that are not there."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        return sorted({folder / str(name) for name in _read_json(index).get("weight_map", {}).values()})
    files = sorted({path for pattern in _FILES for path in folder.glob(pattern)})
    # Some publish the same weights a second time in one file.
    return [path for path in files if not path.name.startswith("consolidated")] or files


def _fingerprint(folder: Path, files: list[Path]) -> str:
    """By the small files' contents and the large ones' names and sizes: reading gigabytes would take too long.

    Hugging Face's cache links each file to one named by its hash, which is then taken in.
    """
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted([*files, *folder.glob("*.json"), *folder.glob("*.jinja")]):
        target = path.resolve()
        digest.update(f"{path.name}\0{target.stat().st_size}\0{target.name}\0".encode())
        if path.suffix in (".json", ".jinja") and target.stat().st_size < 2**20:
            digest.update(path.read_bytes())
        elif target.stat().st_size < 2**26:
            digest.update(hashlib.blake2b(path.read_bytes()).digest())
    return digest.hexdigest()


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
