"""Arrow types from record models: one rule for every kind of field, so that a model is all there is to write.

A tagged union becomes one struct: its tag, and the fields of all its members, null where a member has none of that
name. A tag outside a union says nothing and is left out. A mapping with known keys becomes a struct of them.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pyarrow as pa
from pydantic import BaseModel

_PLAIN = {bool: pa.bool_(), int: pa.int64(), float: pa.float64()}


def derive_schema(model: type[BaseModel]) -> pa.Schema:
    """Derive the schema of a table with a row per record and a column per field, in the order of the fields."""
    return pa.schema(list(_derive_fields(model)))


def derive_type(annotation: Any) -> pa.DataType:
    """Derive the Arrow type of a field. Raises TypeError for what has none."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if (options := _list_options(annotation)) is not None:
        return derive_type(options[0]) if len(options) == 1 else _merge(options)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is tuple:
        return pa.list_(derive_type(arguments[0]))
    if origin is dict and get_origin(arguments[0]) is Literal:
        return pa.struct([(key, derive_type(arguments[1])) for key in get_args(arguments[0])])
    if origin is Literal:
        return pa.string()
    if isinstance(annotation, type):
        if issubclass(annotation, BaseModel):
            return pa.struct(list(_derive_fields(annotation)))
        if annotation in _PLAIN:
            return _PLAIN[annotation]
        if issubclass(annotation, str):
            return pa.string()
    raise TypeError(f"no Arrow type for {annotation}")


def _list_options(annotation: Any) -> list[Any] | None:
    """The members of a union but for None; None for what is no union."""
    if get_origin(annotation) not in (Union, types.UnionType):
        return None
    return [option for option in get_args(annotation) if option is not types.NoneType]


def _derive_fields(model: type[BaseModel], *, tagged: bool = False) -> Iterator[pa.Field]:
    for name, field in model.model_fields.items():
        is_tag = get_origin(field.annotation) is Literal and len(get_args(field.annotation)) == 1
        if tagged or not is_tag:
            yield pa.field(name, derive_type(field.annotation))


def _merge(members: list[type[BaseModel]]) -> pa.DataType:
    merged: dict[str, pa.Field] = {}
    for member in members:
        for field in _derive_fields(member, tagged=True):
            if merged.setdefault(field.name, field) != field:
                raise TypeError(f"{member.__name__}.{field.name} has another type than in other members of its union")
    return pa.struct(list(merged.values()))
