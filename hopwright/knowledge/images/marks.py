"""Marks of brands, from the npm package `simple-icons` (CC0; what has another licence is left out)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hopwright.errors import InputError
from hopwright.foreign import JsonError, load_json, show_misfit
from hopwright.knowledge.images.packages import MARKS, fetch_package, read_archive
from hopwright.knowledge.images.pictures import FoundPicture, PictureName
from hopwright.knowledge.images.rendering import writes_text

_LIST = "data/simple-icons.json"


class MarkPictures:
    """One picture of each brand's mark, in the brand's colour."""

    name = "simple-icons"

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    def read_pictures(self) -> Iterator[FoundPicture]:
        """See PictureSource."""
        files = read_archive(fetch_package(MARKS, self._cache))
        try:
            rows = load_json(files[_LIST])
            for row in rows:
                path, other = f"icons/{row['slug']}.svg", row.get("license")
                if path not in files or (other and other.get("type") != "CC0-1.0"):
                    continue
                colour = row["hex"] if row["hex"].lower() not in ("ffffff", "fff") else "000000"
                yield FoundPicture(
                    kind="mark",
                    name=PictureName(names=(row["title"],), kind="organization"),
                    data=files[path].replace(b"<svg ", f'<svg fill="#{colour}" '.encode(), 1),
                    media_type="image/svg+xml",
                    licence=MARKS.licence,
                    author=MARKS.author,
                    origin=f"npm {MARKS.name} {MARKS.version} {path}",
                    text=("text",) if writes_text(files[path]) else (),
                )
        except (JsonError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"simple-icons: {_LIST} is not the layout that is read ({show_misfit(error)})") from None
