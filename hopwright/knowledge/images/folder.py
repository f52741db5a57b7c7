"""A folder of pictures with a table of what they show: `pictures.tsv` or `pictures.csv`.

The table has a header and the columns `file`, `entity` (a Wikidata id), `licence` and `author`; `kind` is optional (a
photograph without it), and so is `origin`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from hopwright.errors import InputError
from hopwright.foreign import open_file, read_bounded, show
from hopwright.knowledge.images.pictures import PICTURE_KINDS, FoundPicture, PictureName
from hopwright.knowledge.images.rendering import MOST_BYTES, writes_text

_COLUMNS = ("file", "entity", "licence", "author")
_TABLES = {"pictures.tsv": "\t", "pictures.csv": ","}
_MEDIA_TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif",
    ".svg": "image/svg+xml",
}  # fmt: skip
_ENTITY = re.compile(r"^Q[1-9]\d{0,11}$")
_MOST_TABLE = 64 << 20


class FolderPictures:
    """Pictures that somebody gathered. A row that cannot be used ends the reading: it is the user's own table."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = folder.name

    def read_pictures(self) -> Iterator[FoundPicture]:
        """See PictureSource. Raises InputError naming the row that is wrong."""
        table = next((self._folder / name for name in _TABLES if (self._folder / name).is_file()), None)
        if table is None:
            raise InputError(f"{self._folder}: needs a table, {' or '.join(_TABLES)}, with {', '.join(_COLUMNS)}")
        with open_file(table) as file:
            text = read_bounded(file, _MOST_TABLE, table).decode("utf-8", "replace")
        rows = csv.DictReader(io.StringIO(text.removeprefix("﻿"), newline=""), delimiter=_TABLES[table.name])
        try:
            if missing := [name for name in _COLUMNS if name not in (rows.fieldnames or ())]:
                raise InputError(f"{table}: has no column {missing[0]}; it needs {', '.join(_COLUMNS)}")
            for number, row in enumerate(rows, start=2):
                yield self._read_row(row, f"{table} line {number}")
        except csv.Error as error:
            raise InputError(f"{table}: {error}") from None

    def _read_row(self, row: dict[str, str | None], place: str) -> FoundPicture:
        values = {name: (value or "").strip() for name, value in row.items() if isinstance(name, str)}
        if empty := [name for name in _COLUMNS if not values[name]]:
            raise InputError(f"{place}: {empty[0]} is empty")
        if not _ENTITY.match(values["entity"]):
            raise InputError(f"{place}: entity {show(values['entity'])} is no Wikidata id (a Q and a number)")
        kind = values.get("kind") or "photo"
        if kind not in PICTURE_KINDS:
            raise InputError(f"{place}: kind {show(kind)} is none of {', '.join(PICTURE_KINDS)}")
        path = self._folder / values["file"]
        media_type = _MEDIA_TYPES.get(path.suffix.lower())
        if media_type is None:
            raise InputError(f"{place}: {show(values['file'])} ends in none of {' '.join(_MEDIA_TYPES)}")
        if not self._has_file(path):
            raise InputError(f"{place}: {show(values['file'])} is no file of the folder")
        with open_file(path) as file:
            data = read_bounded(file, MOST_BYTES, path)
        svg = media_type == "image/svg+xml"
        return FoundPicture(
            kind=kind,
            name=PictureName(entity=values["entity"]),
            data=data,
            media_type=media_type,
            licence=values["licence"],
            author=values["author"],
            origin=values.get("origin") or f"{self.name}/{values['file']}",
            text=("text",) if svg and writes_text(data) else (),
        )

    def _has_file(self, path: Path) -> bool:
        """Whether a file is there, in the folder: a table of somebody else's must not reach out of it."""
        try:
            return path.resolve().is_relative_to(self._folder.resolve()) and path.is_file()
        except (OSError, ValueError):
            # The name is longer than any file's, or holds a null byte, which no file's does.
            return False
