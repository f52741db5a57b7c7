"""What a picture is, and what every source of pictures gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol, get_args

PictureKind = Literal["flag", "outline", "mark", "photo", "arms"]
"""A flag, the outline of a territory, a brand's mark, a photograph, a coat of arms."""
PICTURE_KINDS: tuple[PictureKind, ...] = get_args(PictureKind)


@dataclass(frozen=True, slots=True)
class PictureName:
    """What a source calls what it shows: a Wikidata id where it knows one, else names and a code.

    `entity` is `Q…` or empty. `names` are plain names in English, the best first. `kind` is the coarse kind that the
    entity has in a graph; empty where any will do.
    """

    names: tuple[str, ...] = ()
    entity: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class FoundPicture:
    """One picture as a source has it: SVG, PNG or JPEG bytes, or an outline that is drawn.

    `origin` says where it is from: package, version and file, or an address. `text` are words that the file itself
    writes into the picture (SVG text). `failure` says why the source could not get it; then there are no bytes.
    """

    kind: PictureKind
    name: PictureName
    data: bytes
    media_type: str
    licence: str
    author: str
    origin: str
    text: tuple[str, ...] = field(default=())
    failure: str = ""


class PictureSource(Protocol):
    """Where pictures come from. The same state of a source gives the same pictures in the same order."""

    @property
    def name(self) -> str:
        """What the source is called in tables and cards."""
        ...

    def read_pictures(self) -> Iterator[FoundPicture]:
        """All pictures that it has. Raises InputError or ServiceError where it cannot be read."""
        ...
