"""Sets of parameters by name: a preset fills in what nobody chose."""

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

_PICTURES, _DOCUMENTS = "pictures", "documents"
PresetName = Literal["none", "offline", "api", "gpu", "paper"]
_NEEDS_CORPUS = frozenset({"paper"})


@functools.cache
def read_presets() -> dict[str, dict[str, Any]]:
    """What each preset of a whole run sets, by its name and group."""
    return {name: values for name, values in _read_file().items() if name not in (_PICTURES, _DOCUMENTS)}


@functools.cache
def read_picture_presets() -> dict[str, dict[str, Any]]:
    """What each preset of questions about pictures sets, by its name."""
    presets: dict[str, dict[str, Any]] = _read_file()[_PICTURES]
    return presets


@functools.cache
def read_document_presets() -> dict[str, dict[str, Any]]:
    """What each preset of questions over documents sets, by its name."""
    presets: dict[str, dict[str, Any]] = _read_file()[_DOCUMENTS]
    return presets


def apply_preset(name: str, values: Mapping[str, Any], defaults: BaseModel) -> dict[str, Any]:
    """The preset's parameters with these over them. `values` do not name a preset; `defaults` tell groups from tables.

    Raises ValueError, one line, where the preset needs what is not named.
    """
    presets = read_presets()
    if name == "none":
        return dict(values)
    if name not in presets:
        raise ValueError(f"there is no preset {name!r}: {', '.join(sorted(presets))}")
    if name in _NEEDS_CORPUS and not values.get("corpus"):
        raise ValueError(
            f"the preset {name} needs more than the sample: name the folder of Wikidata5M as the corpus "
            "(docs/own-corpus.md)"
        )
    return merge_values(presets[name], values, defaults)


def merge_values(below: Mapping[str, Any], above: Mapping[str, Any], defaults: BaseModel) -> dict[str, Any]:
    """Both, group by group; what both name is taken from `above`, a table of shares as a whole."""
    merged = dict(below)
    for name, value in above.items():
        held, group = merged.get(name), getattr(defaults, name, None)
        if isinstance(group, BaseModel) and isinstance(held, Mapping) and isinstance(value, Mapping):
            merged[name] = merge_values(held, value, group)
        else:
            merged[name] = value
    return merged


def list_changes(values: Mapping[str, Any], defaults: BaseModel) -> dict[str, Any]:
    """What differs from the defaults, group by group: a form sends everything, chosen or not.

    Shares and other tables count as one value: a table is not merged with its default.
    """
    changes: dict[str, Any] = {}
    for name, value in values.items():
        default = getattr(defaults, name, None)
        if isinstance(default, BaseModel):
            given = value.model_dump(exclude_unset=True) if isinstance(value, BaseModel) else value
            if not isinstance(given, Mapping):
                changes[name] = value
            elif below := list_changes(given, default):
                changes[name] = below
        elif name not in type(defaults).model_fields or value != default:
            changes[name] = value
    return changes


def _read_file() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("presets.toml").read_text("utf-8"))
