"""Items as lines of JSON in a folder that a command wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from hopwright.errors import InputError
from hopwright.foreign import JsonError, load_json, open_file, read_lines, show_invalid

_Record = TypeVar("_Record", bound=BaseModel)


def read_json_lines(path: Path, command: str) -> Iterator[tuple[Any, str]]:
    """What each line holds, and where it stands. Raises InputError for a file that is missing or broken.

    `command`: what writes such folders.
    """
    try:
        file = open_file(path)
    except FileNotFoundError:
        raise InputError(f"{path}: missing; is this a folder that `{command}` wrote?") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    with file:
        for number, line in read_lines(file):
            place = f"{path} line {number}"
            if line is None:
                raise InputError(f"{place}: too long")
            try:
                yield load_json(line), place
            except JsonError as error:
                raise InputError(f"{place}: {error}") from None


def validate_row(model: type[_Record], row: Any, place: str) -> _Record:
    """A record of what a line holds. Raises InputError that says what is wrong with it, and where."""
    try:
        return model.model_validate(row)
    except ValidationError as error:
        raise InputError(f"{place}: {show_invalid(error)}") from None
