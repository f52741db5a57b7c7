"""The picture store: PNG files by their SHA-256, and a table of what each shows, from where, and under which licence.

    pictures.parquet     a row for every picture that a source has, used or not, with the reason where it is not used
    png/<sha256>.png
    manifest.json        sources, versions, sizes, counts

A picture is `usable` when it is linked to one entity of the graph and no other entity has a picture like it.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path

import PIL
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from hopwright.errors import InputError, StoreError
from hopwright.foreign import JsonError, load_json
from hopwright.knowledge.images.descriptors import SAME, Vector, describe, group_alike, hash_picture, stack
from hopwright.knowledge.images.linking import LinkingSource, link_picture
from hopwright.knowledge.images.pictures import PICTURE_KINDS, FoundPicture, PictureKind, PictureSource
from hopwright.knowledge.images.rendering import decode_png, encode_png, render
from hopwright.runs.files import write_file

STORE_VERSION = 1
_HASH = 64
_TYPE = "the file sets type, which may name what it shows"
_READABLE = "readable: "
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of the store. `entity` is empty where it is linked to none, `reason` says why it is not used.

    `media` is the SHA-256 of its PNG; `look` its 64-bit hash in hexadecimal digits; `alike` lists the SHA-256s of the
    pictures of its kind that look the same.
    """

    media: str
    kind: PictureKind
    entity: str
    label: str
    width: int
    height: int
    look: str
    licence: str
    author: str
    origin: str
    source: str
    alike: tuple[str, ...] = ()
    reason: str = ""

    @property
    def usable(self) -> bool:
        """Whether questions may be asked about it."""
        return not self.reason

    @property
    def document(self) -> str:
        """The id under which items cite it."""
        return f"pic-{self.media[:24]}"


_SCHEMA = pa.schema(
    [
        ("media", pa.string()), ("kind", pa.string()), ("entity", pa.string()), ("label", pa.string()),
        ("width", pa.int32()), ("height", pa.int32()), ("look", pa.string()), ("licence", pa.string()),
        ("author", pa.string()), ("origin", pa.string()), ("source", pa.string()),
        ("alike", pa.list_(pa.string())), ("reason", pa.string()),
    ]
)  # fmt: skip


class PictureStore:
    """Reads a store; pictures are in the order of kind, entity and hash."""

    def __init__(self, folder: Path, pictures: Sequence[Picture], undrawn: Sequence[str] = ()) -> None:
        """`undrawn`: for each picture of a source that could not be drawn, why, and which it is."""
        self.folder = folder
        self.pictures = tuple(pictures)
        self.undrawn = tuple(undrawn)
        self._by_document = {one.document: one for one in pictures}
        self._by_media = {one.media: one for one in pictures}

    @classmethod
    def open(cls, folder: Path) -> PictureStore:
        """Open a store. Raises StoreError where there is none, or one of another version."""
        try:
            manifest = load_json((folder / "manifest.json").read_bytes())
            version = manifest["version"]
            undrawn = [str(one["reason"]) for one in manifest.get("failed", [])]
            table = pq.read_table(folder / "pictures.parquet", schema=_SCHEMA)
        except (OSError, JsonError, KeyError, TypeError, pa.ArrowException):
            raise StoreError(f"{folder}: no store of pictures: `hopwright images fetch` makes one") from None
        if version != STORE_VERSION:
            raise StoreError(f"{folder}: a store of version {version}: make it again with `hopwright images fetch`")
        return cls(folder, [Picture(**{**row, "alike": tuple(row["alike"])}) for row in table.to_pylist()], undrawn)

    @property
    def usable(self) -> tuple[Picture, ...]:
        """The pictures that questions may be asked about."""
        return tuple(one for one in self.pictures if one.usable)

    def of_document(self, document: str) -> Picture | None:
        """The picture that items cite by an id."""
        return self._by_document.get(document)

    def of_media(self, media: str) -> Picture | None:
        """The picture with a SHA-256."""
        return self._by_media.get(media)

    def read_png(self, media: str) -> bytes:
        """The PNG of a picture. Raises StoreError where it is missing or was changed."""
        path = self.folder / "png" / f"{media}.png"
        try:
            data = path.read_bytes()
        except OSError:
            raise StoreError(f"{path}: missing: make the store again with `hopwright images fetch`") from None
        if hashlib.sha256(data).hexdigest() != media:
            raise StoreError(f"{path}: changed since it was made: make the store again with `hopwright images fetch`")
        return data

    def describe_pictures(self, pictures: Sequence[Picture]) -> Vector:
        """Descriptors of pictures, one a row."""
        return stack([describe(decode_png(self.read_png(one.media))) for one in pictures])

    def snapshot(self) -> str:
        """A hash of what the store holds."""
        rows = sorted((one.media, one.entity, one.reason) for one in self.pictures)
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]


def pack_usable(store: PictureStore) -> dict[str, bytes]:
    """The files of a store that holds the usable pictures of another and nothing else, by their names."""
    aside = pa.BufferOutputStream()
    pq.write_table(_tabulate(store.usable), aside, compression="zstd")
    manifest = {"version": STORE_VERSION, "pictures": len(store.usable), "usable": len(store.usable)}
    return {
        "manifest.json": (json.dumps(manifest, indent=1) + "\n").encode(),
        "pictures.parquet": aside.getvalue().to_pybytes(),
        **{f"png/{one.media}.png": store.read_png(one.media) for one in store.usable},
    }


def build_store(
    folder: Path, sources: Sequence[PictureSource], graph: LinkingSource, size: int, tell: Tell
) -> PictureStore:
    """Read sources, draw every picture, link it, compare all with all, and write the store.

    A picture that its source cannot get, or that cannot be drawn, is a row with its reason. The same sources and graph
    give the same bytes.
    """
    found: dict[tuple[str, str], Picture] = {}
    vectors: dict[str, Vector] = {}
    failed: list[dict[str, str]] = []
    for source in sources:
        tell(f"reading {source.name}")
        for one in source.read_pictures():
            try:
                if one.failure:
                    raise InputError(f"{one.origin}: {one.failure}")
                image = render(one.data, one.media_type, size, one.origin)
            except InputError as error:
                failed.append({"source": source.name, "origin": one.origin, "reason": str(error)})
                continue
            png = encode_png(image)
            media = hashlib.sha256(png).hexdigest()
            picture = _describe_picture(one, image, media, source.name, graph)
            # Territories with their state's flag have the very same file: each is a row, and they count as alike.
            key = (media, picture.entity or picture.origin)
            if key not in found:
                found[key] = picture
                vectors.setdefault(media, describe(image))
                write_file(folder / "png" / f"{media}.png", png)
    tell("comparing the pictures")
    pictures = sorted(_mark_alike(list(found.values()), vectors), key=_order)
    aside = pa.BufferOutputStream()
    pq.write_table(_tabulate(pictures), aside, compression="zstd")
    write_file(folder / "pictures.parquet", aside.getvalue().to_pybytes())
    _remove_idle(folder, {one.media for one in pictures})
    manifest = {
        "version": STORE_VERSION,
        "size": size,
        "pillow": PIL.__version__,
        "sources": [source.name for source in sources],
        "pictures": len(pictures),
        "usable": sum(one.usable for one in pictures),
        "reasons": dict(sorted(Counter(_generalise(one.reason) for one in pictures if one.reason).items())),
        "failed": failed,
    }
    write_file(folder / "manifest.json", (json.dumps(manifest, indent=1) + "\n").encode())
    return PictureStore(folder, pictures, [one["reason"] for one in failed])


def _tabulate(pictures: Iterable[Picture]) -> pa.Table:
    return pa.Table.from_pylist([{**asdict(one), "alike": list(one.alike)} for one in pictures], _SCHEMA)


def _describe_picture(one: FoundPicture, image: Image.Image, media: str, source: str, graph: LinkingSource) -> Picture:
    linked = link_picture(one.name, graph)
    return Picture(
        media=media,
        kind=one.kind,
        entity=linked.entity,
        label=graph.graph.label(linked.entity) if linked.entity else "",
        width=image.width,
        height=image.height,
        look=f"{hash_picture(image):016x}",
        licence=one.licence,
        author=one.author,
        origin=one.origin,
        source=source,
        reason=linked.reason or read_disputed().get((linked.entity, one.kind), "") or (_TYPE if one.text else ""),
    )


@functools.cache
def read_disputed() -> dict[tuple[str, str], str]:
    """(Entity, kind of picture) → why not all would take such a picture for the entity's, or what one reads in it."""
    lines = resources.files(__package__).joinpath("disputed.tsv").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {
        (entity, kind): reason if reason.startswith(_READABLE) else f"disputed: {reason}"
        for entity, _, kind, reason in rows
    }


def _mark_alike(pictures: Sequence[Picture], vectors: dict[str, Vector]) -> Iterable[Picture]:
    """Every picture with those that nobody could tell from it, other pictures of its own entity aside."""
    for kind in PICTURE_KINDS:
        those = sorted((one for one in pictures if one.kind == kind), key=_order)
        groups = {
            index: group
            for group in group_alike(stack([vectors[one.media] for one in those]), SAME[kind])
            for index in group
        }
        for index, one in enumerate(those):
            others = [those[other] for other in groups.get(index, ()) if other != index]
            rivals = [other for other in others if (other.entity or other.origin) != (one.entity or one.origin)]
            reason = one.reason
            if rivals and not reason:
                reason = f"looks like {rivals[0].label or rivals[0].origin}"
            yield replace(one, alike=tuple(sorted({other.media for other in rivals})), reason=reason)


def _order(one: Picture) -> tuple[str, int, str, str]:
    number = int(one.entity[1:]) if one.entity[1:].isdigit() else 0
    return one.kind, number, one.media, one.origin


def _generalise(reason: str) -> str:
    if reason.startswith(("disputed", _READABLE)):
        return reason.partition(":")[0]
    return "looks like another" if reason.startswith("looks like") else reason.split(" '")[0]


def _remove_idle(folder: Path, used: set[str]) -> None:
    """Remove the files of an earlier store that no row names any more."""
    for path in (folder / "png").glob("*.png"):
        if len(path.stem) == _HASH and path.stem not in used:
            path.unlink()
