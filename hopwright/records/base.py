"""What all records have in common, and the version of their shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict

RECORDS_VERSION = 2
"""Raised whenever files of records change their shape; `hopwright.records.migration` reads the version before."""


class Record(BaseModel):
    """Base of all records: frozen, and nothing unknown gets in."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the record with some fields replaced, unvalidated. Raises TypeError for what is no field of it."""
        if update and (unknown := update.keys() - type(self).model_fields.keys()):
            raise TypeError(f"{type(self).__name__} has no field {', '.join(sorted(unknown))}")
        return super().model_copy(update=update, deep=deep)


def list_union_fields(union: Any) -> tuple[str, ...]:
    """List the fields of the members of a tagged union (`Annotated[A | B, …]`), each name once, in order."""
    return tuple(dict.fromkeys(name for member in get_args(get_args(union)[0]) for name in member.model_fields))
