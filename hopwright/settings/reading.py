"""From values to validated parameters, and back to what identifies a run."""

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from hopwright.errors import InputError
from hopwright.settings.base import Parameters
from hopwright.settings.runs import RunParameters

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
    """What is wrong with one parameter, by its dotted name, and what it should be."""
    where = ".".join(str(part) for part in error["loc"]) or "parameters"
    known = _list_fields(model)
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(where, known, 1)
        return f"{where}: there is no such parameter" + (f"; is {near[0]} meant?" if near else "")
    if error["type"] == "string_pattern_mismatch" and where in known:
        return f"{where}: {error['input']!r} does not fit ({known[where].description})"
    whole = isinstance(error["input"], dict) and error["type"] == "value_error"
    given = "" if whole or error["type"] == "missing" else f", not {error['input']!r}"
    return f"{where}: {error['msg'].removeprefix('Value error, ')}{given}"


def _list_fields(model: type[BaseModel], prefix: str = "") -> dict[str, FieldInfo]:
    """All parameters of a model and of its groups by their dotted names."""
    fields: dict[str, FieldInfo] = {}
    for name, field in model.model_fields.items():
        fields[prefix + name] = field
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            fields |= _list_fields(field.annotation, f"{prefix}{name}.")
    return fields
