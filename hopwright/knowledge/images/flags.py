"""Flags of countries and territories, from the npm package `flag-icons` (MIT)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hopwright.errors import InputError
from hopwright.foreign import JsonError, load_json
from hopwright.knowledge.images.codes import read_country_codes
from hopwright.knowledge.images.packages import COUNTRIES, FLAGS, fetch_package, read_archive
from hopwright.knowledge.images.pictures import FoundPicture, PictureName
from hopwright.knowledge.images.rendering import writes_text

_SQUARE = frozenset({"ch", "va"})
"""Flags that are square: Switzerland's and the Vatican's. The package draws every flag as 4 : 3, these stretched."""


class FlagPictures:
    """One picture of each flag. A flag that sets type is left to whoever reads the files: here it says so."""

    name = "flag-icons"

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    def read_pictures(self) -> Iterator[FoundPicture]:
        """See PictureSource."""
        files = read_archive(fetch_package(FLAGS, self._cache))
        known = {
            one.alpha2: one.names
            for one in read_country_codes(read_archive(fetch_package(COUNTRIES, self._cache)))
            if one.independent
        }
        for row in _read_list(files["country.json"]):
            path = row.get("flag_1x1" if row["code"] in _SQUARE else "flag_4x3", "")
            if path not in files:
                continue
            # Of organisations, parts of states and dependent territories nothing is asked ("the country" would not fit
            # them), but their flags count where two look alike.
            names = known.get(row["code"], ()) if row.get("iso") else ()
            yield FoundPicture(
                kind="flag",
                name=PictureName(names=(*names, *((row["name"],) if names else ())), kind="country"),
                data=files[path],
                media_type="image/svg+xml",
                licence=FLAGS.licence,
                author=FLAGS.author,
                origin=f"npm {FLAGS.name} {FLAGS.version} {path}",
                text=("text",) if writes_text(files[path]) else (),
            )


def _read_list(data: bytes) -> list[dict[str, str]]:
    try:
        rows = load_json(data)
    except JsonError as error:
        raise InputError(f"flag-icons: country.json is damaged ({error})") from None
    if not isinstance(rows, list):
        raise InputError("flag-icons: country.json is no list")
    return sorted(rows, key=lambda row: str(row["code"]))
