"""From values to validated parameters, and back to what identifies a run."""

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from hopwright.errors import InputError
from hopwright.foreign import explain_invalid, show
from hopwright.settings.base import PATTERN_RULES, Parameters
from hopwright.settings.naming import name_parameter, names_by_path
from hopwright.settings.runs import RunParameters

_SHOWN = 80
"""Characters of a wrong value that are shown."""
_P = TypeVar("_P", bound=Parameters)
_R = TypeVar("_R", bound=RunParameters)


def narrow(parameters: RunParameters, model: type[_R]) -> _R:
    """The part of a run's parameters that one stage takes."""
    return model.model_validate({name: getattr(parameters, name) for name in model.model_fields})


def identify(parameters: RunParameters) -> dict[str, Any]:
    """The parameters that shape the output: all but the run's name, how it is executed, where tasks are pushed, and
    where models answer at what cost."""
    hidden: Any = {"run": True, "workers": True, "cluster": True, "fresh": True}
    hidden |= {"models": True, "vllm": True, "pull": True}
    # A preset is what it fills in.
    hidden |= {"preset": True, "dated": True, "notify": True}
    hidden |= {"review": {"url"}, "adjudicate": {"url"}}
    return parameters.model_dump(mode="json", exclude=hidden)


def load_parameters(values: Mapping[str, Any], model: type[_P]) -> _P:
    """Validate parameters. Raises InputError: one line naming the first field that is wrong, and how many more are."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        errors = error.errors()
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise InputError(_explain(errors[0], model) + more) from None


def _explain(error: ErrorDetails, model: type[BaseModel]) -> str:
    """What is wrong with one parameter, by the name that its user knows, and what it should be."""
    known = _list_fields(model)
    parts = [str(part) for part in error["loc"]]
    where = show(".".join(parts)) or "parameters"
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(where, known, 1)
        return f"{where}: there is no such parameter" + (f"; is {name_parameter(near[0])} meant?" if near else "")
    # What comes after a parameter's own name is a place in its list or table.
    own = next((".".join(parts[:end]) for end in range(len(parts), 0, -1) if ".".join(parts[:end]) in known), where)
    named = where if names_by_path() else name_parameter(own)
    message = explain_invalid(error)
    if error["type"] == "value_error" and isinstance(error["input"], dict):
        # Several parameters do not go together, and the message names them.
        return message if own in known or own == "parameters" else f"{named}: {message}"
    if error["type"] == "string_pattern_mismatch" and own in known:
        rule = PATTERN_RULES.get(error["ctx"]["pattern"], known[own].description)
        return f"{named}: {show(repr(error['input']), _SHOWN)} does not fit ({rule})"
    given = "" if error["type"] == "missing" else f", not {show(repr(error['input']), _SHOWN)}"
    return f"{named}: {message}{given}"


def _list_fields(model: type[BaseModel], prefix: str = "") -> dict[str, FieldInfo]:
    """All parameters of a model and of its groups by their dotted names."""
    fields: dict[str, FieldInfo] = {}
    for name, field in model.model_fields.items():
        fields[prefix + name] = field
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            fields |= _list_fields(field.annotation, f"{prefix}{name}.")
    return fields
