"""The form of a whole run: a dozen parameters at the top, the others folded by stage.

The form is a view: `read_form` turns what it sends into the parameters' own names, which stay valid everywhere.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from hopwright.settings.base import number_fields

BASIC = {
    "drafts": ("synthesize", "drafts", "Drafts"),
    "items": ("synthesize", "items", "Items"),
    "writer": ("synthesize", "writer", "Writer"),
    "model": ("synthesize", "model", "Model"),
    "budget_usd": ("models", "budget_usd", "Budget"),
    "release_name": ("release", "name", "Release name"),
    "version": ("release", "version", "Release version"),
}
"""Name at the top of the form → the group and the name of the parameter, and its title there."""
EXECUTION = "execution"
_EXECUTION_TITLE = "Execution"
_FOLDED_LABEL, _OPEN_LABEL = "As they are", "Change"
"""What the two buttons say by which a form opens a group."""
_FOLDED = ("dated", "anchors", "shard_size", "seed", "workers", "cluster")
"""Parameters of the run itself that the form shows in the group `execution`."""
_ORDER = ("run", "preset", "corpus", *BASIC, "notify", "fresh")


def read_form(values: Mapping[str, Any], defaults: BaseModel) -> dict[str, Any]:
    """What the form sent by the parameters' own names; a group that was left folded (null) is left out.

    Where a parameter comes by both names, the one at the top counts if it differs from the default: a form sends
    everything that it shows.
    """
    read = {name: value for name, value in values.items() if not (value is None and _is_group(defaults, name))}
    execution = read.pop(EXECUTION, None)
    if isinstance(execution, Mapping):
        read = {**execution, **read}
    elif execution is not None:
        read[EXECUTION] = execution  # no group: refused by that name
    for name, (group, field, _) in BASIC.items():
        if name not in read:
            continue
        below = read.get(group, {})
        if not isinstance(below, Mapping | BaseModel):
            continue
        value = read.pop(name)
        held = below.model_dump(exclude_unset=True) if isinstance(below, BaseModel) else dict(below)
        if field not in held or value != getattr(getattr(defaults, group), field):
            held[field] = value
        read[group] = held
    return read


def arrange_form(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Turn the JSON schema of a whole run's parameters into that of its form.

    The parameters' own names stay valid, as patterns, which a form does not show.
    """
    fields: dict[str, Any] = schema["properties"]
    groups = {name: _inline(field.annotation) for name, field in model.model_fields.items() if _is_model(field)}
    shown = {name: fields[name] for name in ("run", "preset", "corpus", "notify", "fresh")}
    for name, (place, field, title) in BASIC.items():
        shown[name] = {**groups[place]["properties"][field], "title": title}
    arranged = {name: shown[name] for name in _ORDER}
    for name, held in groups.items():
        moved = {field for place, field, _ in BASIC.values() if place == name}
        kept = {field: value for field, value in held["properties"].items() if field not in moved}
        arranged[name] = _fold(fields[name], {**held, "properties": kept, **_accept(held["properties"], moved)})
    folded = {name: fields[name] for name in _FOLDED}
    execution = {"type": "object", "additionalProperties": False, "properties": folded}
    number_fields(execution)
    about = {"title": _EXECUTION_TITLE, "description": "How the run is cut into shards and carried out."}
    arranged[EXECUTION] = _fold(about, execution)
    schema["properties"] = arranged
    schema |= _accept(fields, set(_FOLDED))
    number_fields(schema)


def list_form_titles(model: type[BaseModel]) -> dict[str, str]:
    """Titles of the parameters that the form shows elsewhere than their names say, by their dotted names."""
    folded = {name: f"{_EXECUTION_TITLE} › {model.model_fields[name].title}" for name in _FOLDED}
    return {f"{group}.{field}": title for group, field, title in BASIC.values()} | folded


def _fold(about: Mapping[str, Any], group: dict[str, Any]) -> dict[str, Any]:
    """A group that a form shows as one line until it is opened."""
    told = {name: about.get(name, group.get(name, "")) for name in ("title", "description")}
    choices = [{"type": "null", "title": _FOLDED_LABEL}, {**group, "title": _OPEN_LABEL}]
    return {**told, "anyOf": choices, "default": None}


def _accept(fields: Mapping[str, Any], moved: set[str]) -> dict[str, Any]:
    """Have values by these names accepted although no form shows them."""
    return {"patternProperties": {f"^{name}$": fields[name] for name in sorted(moved)}} if moved else {}


def _inline(model: Any) -> dict[str, Any]:
    """A group's schema without references: what two forms share they show differently."""
    schema: dict[str, Any] = model.model_json_schema()
    known = schema.pop("$defs", {})
    return dict(_resolve(schema, known))


def _resolve(part: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(part, dict):
        if "$ref" in part:
            rest = {name: value for name, value in part.items() if name != "$ref"}
            return {**_resolve(known[part["$ref"].rsplit("/", 1)[-1]], known), **rest}
        return {name: _resolve(value, known) for name, value in part.items()}
    return [_resolve(one, known) for one in part] if isinstance(part, list) else part


def _is_model(field: Any) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)


def _is_group(defaults: BaseModel, name: str) -> bool:
    return name == EXECUTION or isinstance(getattr(defaults, name, None), BaseModel)
