"""The data set of picture questions: a folder that `datasets.load_dataset` reads, pictures and all.

data/<split>.parquet, data/twins.parquet    the rows, their pictures embedded
items.jsonl, twins.jsonl                    the records, with derivations and evidence; `split` beside each
pictures.parquet, images/<sha256>.png       what each picture shows, its licence, author and origin
contact-sheet.png, README.md, counts.json, checksums.sha256
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hopwright.errors import InputError
from hopwright.foreign import show
from hopwright.knowledge.images.rendering import decode_png, encode_png
from hopwright.knowledge.images.store import Picture, PictureStore
from hopwright.pictures.contact_sheet import draw_contact_sheet
from hopwright.pictures.drafting import PictureDrafter
from hopwright.pictures.drawing import PictureCounts, Tell
from hopwright.pictures.rows import ROW_SCHEMA, count_by, list_media, make_row, write_features
from hopwright.pictures.splitting import SPLITS, Split, split_items
from hopwright.records import Item
from hopwright.records.json_lines import read_json_lines, validate_row
from hopwright.records.parquet_rows import ParquetError, read_parquet_rows
from hopwright.release.own_folder import refuse_foreign, write_own_folder
from hopwright.reporting.rendering import load_template
from hopwright.runs.files import write_file, write_json_lines
from hopwright.settings import PictureQuestionsParameters

WRITER = "hopwright images questions"
_SHOWN = 60
_ROWS_PER_GROUP = 100
_PICTURE_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("media", "kind", "entity", "label", "licence", "author", "origin")]
)


@dataclass(frozen=True, slots=True)
class PictureSet:
    """What a folder of picture questions holds: items with their parts, twins, and the pictures by SHA-256."""

    folder: Path
    items: tuple[tuple[Item, Split], ...]
    twins: tuple[Item, ...]
    pictures: Mapping[str, Mapping[str, str]]

    def read_png(self, media: str) -> bytes:
        """The PNG of a picture. Raises InputError where it is missing."""
        try:
            return (self.folder / "images" / f"{media}.png").read_bytes()
        except OSError:
            raise InputError(f"{self.folder}: the picture {show(media)} is missing") from None

    def of_split(self, split: str) -> list[Item]:
        """The items of a part, or all."""
        return [item for item, part in self.items if split in ("all", part)]


def write_picture_set(
    drafter: PictureDrafter,
    folder: Path,
    parameters: PictureQuestionsParameters,
    tell: Tell,
    *,
    replace: bool = False,
) -> PictureCounts:
    """Make the questions and write the whole folder, or with `replace` an earlier one anew.

    Raises InputError where nothing is proven, or the folder holds other things.
    """
    refuse_foreign(folder, WRITER, replace=replace)
    counts = PictureCounts()
    depths = [int(one) for one in parameters.depths]
    made = drafter.make(parameters.items, parameters.bridging, depths, parameters.three, counts, tell)
    items = sorted(made, key=lambda item: item.id)
    if not items:
        raise InputError("no question is proven: the graph states too little of what the pictures show")
    twins: list[Item] = []
    if parameters.twins:
        tell("making twins")
        taken = {item.id for item in items}
        pairs: dict[str, str] = {}
        for item in items:
            twin = drafter.make_twin(item, taken)
            if isinstance(twin, Item):
                taken.add(twin.id)
                pairs[item.id] = twin.id
                twins.append(twin)
            else:
                counts.rejected[f"twin: {twin.reason}"] += 1
        counts.made["twins"] = len(twins)
        items = [item.model_copy(update={"twin": pairs.get(item.id)}) for item in items]
    tell("writing")
    splits = split_items(items, parameters.seed)
    save_picture_set(folder, drafter.store, items, splits, twins, counts, replace=replace)
    return counts


def save_picture_set(
    folder: Path,
    store: PictureStore,
    items: Sequence[Item],
    splits: Mapping[str, Split],
    twins: Sequence[Item],
    counts: PictureCounts,
    *,
    command: str = WRITER,
    replace: bool = False,
) -> None:
    """Write a whole folder; the pictures are the store's. Raises InputError where the folder holds other things.

    With `replace` an unchanged folder that the same command wrote earlier is replaced at once.
    """
    with write_own_folder(folder, command, replace=replace) as aside:
        _write_folder(aside, folder.name, store, items, splits, twins, counts)


def read_picture_set(folder: Path) -> PictureSet:
    """Read what `write_picture_set` wrote. Raises InputError naming the file and line that is wrong."""
    if (folder / "items.jsonl").exists() and not (folder / "images").is_dir():
        raise InputError(f"{folder}: no set of questions about pictures, it lacks images/; `{WRITER}` writes one")
    items = [(item, _read_split(row, place)) for item, row, place in _read_items(folder / "items.jsonl")]
    twins = [item for item, _, _ in _read_items(folder / "twins.jsonl")] if (folder / "twins.jsonl").is_file() else []
    try:
        pictures = [one or {} for one in read_parquet_rows(folder / "pictures.parquet", _PICTURE_SCHEMA.names)]
        return PictureSet(folder, tuple(items), tuple(twins), {one["media"]: one for one in pictures})
    except (OSError, ParquetError, KeyError):
        raise InputError(f"{folder / 'pictures.parquet'}: missing or damaged") from None


def _write_folder(
    aside: Path,
    name: str,
    store: PictureStore,
    items: Sequence[Item],
    splits: Mapping[str, Split],
    twins: Sequence[Item],
    counts: PictureCounts,
) -> None:
    used = sorted({media for item in (*items, *twins) for media in list_media(item)})
    shown = [picture for picture in store.pictures if picture.media in set(used) and picture.usable]
    for media in used:
        write_file(aside / "images" / f"{media}.png", store.read_png(media))
    rows = [make_row(item, store.read_png) | {"split": splits[item.id]} for item in items]
    for split in SPLITS:
        write_rows((row for row in rows if row["split"] == split), aside / "data" / f"{split}.parquet")
    if twins:
        write_rows((make_row(item, store.read_png) for item in twins), aside / "data" / "twins.parquet")
        write_file(aside / "twins.jsonl", write_json_lines(item.model_dump(mode="json") for item in twins))
    lines = (item.model_dump(mode="json") | {"split": splits[item.id]} for item in items)
    write_file(aside / "items.jsonl", write_json_lines(lines))
    table = pa.Table.from_pylist([_describe(one) for one in shown], _PICTURE_SCHEMA)
    pq.write_table(table, aside / "pictures.parquet", compression="zstd")
    sheet = draw_contact_sheet([decode_png(store.read_png(media)) for media in used[:_SHOWN]])
    write_file(aside / "contact-sheet.png", encode_png(sheet))
    held = {group: dict(sorted(count.items())) for group, count in vars(counts).items()}
    write_file(aside / "counts.json", (json.dumps(held, indent=1) + "\n").encode())
    write_file(aside / "README.md", _write_card(name, rows, items, twins, shown, counts).encode())


def write_rows(rows: Iterable[Mapping[str, Any]], path: Path) -> int:
    """Write published rows as Parquet with the features that `datasets` reads; returns their number."""
    schema = ROW_SCHEMA.with_metadata(write_features(ROW_SCHEMA))
    path.parent.mkdir(parents=True, exist_ok=True)
    held = [{name: row[name] for name in ROW_SCHEMA.names} for row in rows]
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, max(1, len(held)), _ROWS_PER_GROUP):
            writer.write_table(pa.Table.from_pylist(held[start : start + _ROWS_PER_GROUP], schema=schema))
    return len(held)


def _describe(picture: Picture) -> dict[str, str]:
    row = asdict(picture)
    return {name: row[name] for name in _PICTURE_SCHEMA.names}



def _read_items(path: Path) -> Iterator[tuple[Item, dict[str, Any], str]]:
    for row, place in read_json_lines(path, WRITER):
        if not isinstance(row, dict):
            raise InputError(f"{place}: no item")
        yield validate_row(Item, {name: value for name, value in row.items() if name != "split"}, place), row, place


def _read_split(row: Mapping[str, Any], place: str) -> Split:
    for split in SPLITS:
        if row.get("split") == split:
            return split
    raise InputError(f"{place}: split {show(row.get('split'))} is none of {', '.join(SPLITS)}")


def _write_card(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    items: Sequence[Item],
    twins: Sequence[Item],
    shown: Sequence[Picture],
    counts: PictureCounts,
) -> str:
    parts = count_by(rows, "split")
    writers = Counter(item.provenance.model for item in items if item.provenance.generator == "model")
    licences = Counter((one.source, one.licence, one.author) for one in shown)
    return load_template("hopwright.pictures", "card.md.j2").render(
        name=name,
        items=len(rows),
        twins=len(twins),
        writers=dict(sorted(writers.items())),
        splits={split: parts.get((split,), 0) for split in SPLITS},
        kinds=[
            {"questions": kind, "hops": str(depth), "items": number}
            for (kind, depth), number in count_by(rows, "kind", "depth").items()
        ],
        answers=[
            {"type of the answer": kind, "items": number} for (kind,), number in count_by(rows, "answer_type").items()
        ],
        pictures=[
            {"source": source, "licence": licence, "author": author, "pictures": number}
            for (source, licence, author), number in sorted(licences.items())
        ],
        number=len({one.media for one in shown}),
        rejected=[{"reason": reason, "rows": number} for reason, number in sorted(counts.rejected.items())],
        examples=[row for row in rows if row["kind"] == "bridging"][:2]
        + [row for row in rows if row["kind"] == "comparison"][:2],
    )
