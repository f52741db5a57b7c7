"""Painted flags of real states: pictures for tests that may not fetch any, each made from the state's id alone."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

from PIL import Image

from hopwright.knowledge.images.folder import FolderPictures
from hopwright.knowledge.images.rendering import encode_png
from hopwright.knowledge.images.store import PictureStore, build_store
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.pictures.drafting import PictureDrafter
from hopwright.stages.resources import describe_source

SIZE = 96


def list_states(source: WikidataSource) -> list[str]:
    """The states of which the sample knows the neighbours or the year of independence."""
    bordered = next(iter(source.table.closed.values()))
    dated = [id for id in source.graph.literal_subjects("P571") if source.table.is_settled("P571", id, "country")]
    known = {*bordered, *dated}
    return sorted((id for id in known if source.kinds.kind(id) == "country"), key=lambda id: int(id[1:]))


def paint(entity: str, kind: str) -> Image.Image:
    """A pattern of fields in loud colours that no other entity has."""
    rng = random.Random(f"{kind}:{entity}")
    grid = Image.new("RGB", (8, 6))
    grid.putdata([tuple(rng.choice((0, 90, 170, 255)) for _ in range(3)) for _ in range(48)])
    return grid.resize((SIZE, SIZE * 3 // 4), Image.Resampling.NEAREST)


def paint_folder(folder: Path, entities: list[str], kinds: tuple[str, ...] = ("flag", "outline")) -> Path:
    """A folder of pictures with its table, as a user would gather one."""
    rows = ["file\tentity\tlicence\tauthor\tkind"]
    folder.mkdir(parents=True, exist_ok=True)
    for kind in kinds:
        for entity in entities:
            name = hashlib.sha256(f"{kind}{entity}".encode()).hexdigest()[:16] + ".png"
            (folder / name).write_bytes(encode_png(paint(entity, kind)))
            rows.append(f"{name}\t{entity}\tCC0-1.0\tnobody\t{kind}")
    (folder / "pictures.tsv").write_text("\n".join(rows) + "\n")
    return folder


def build_painted_store(folder: Path, source: WikidataSource) -> PictureStore:
    """A store of painted flags and outlines of all states."""
    painted = FolderPictures(paint_folder(folder / "painted", list_states(source)))
    return build_store(folder / "store", [painted], source, SIZE, lambda _: None)


def open_drafter(store: PictureStore, source: WikidataSource, seed: int = 0) -> PictureDrafter:
    """A drafter over a store."""
    return PictureDrafter(source, store, [describe_source(source.graph)], seed)
