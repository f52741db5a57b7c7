"""The data set of questions about novels: a folder that `datasets.load_dataset` reads, with the windows by reference.

data/test.parquet, data/twins.parquet       the rows
items.jsonl, twins.jsonl                    the records, with derivations and evidence
books/<id>.book.json                        what each book is, and who is who in it; a renamed book's id ends in ~twin
books/<id>.renames.json                     what makes the renamed book: `[start, end, new]`
windows.parquet                             the windows' texts by SHA-256, where they are embedded
load_windows.py                             cuts the windows out of the books' files, and checks their hashes
README.md, counts.json, checksums.sha256
"""

from __future__ import annotations

import importlib.resources
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from hopwright.errors import InputError
from hopwright.foreign import JsonError, load_json, read_file, show
from hopwright.knowledge.books.book import Book, hash_text, plain_lines
from hopwright.knowledge.books.mentions import NameFinder
from hopwright.llm.session import Session
from hopwright.novels.asked import AskedDrafter, ask_chains
from hopwright.novels.book_names import BookNames
from hopwright.novels.drafting import K, NovelCounts, NovelDrafter, Tell
from hopwright.novels.golden import Complete
from hopwright.novels.records import NovelItem, WindowRef
from hopwright.novels.renaming import TWIN, Edit
from hopwright.novels.rows import ROW_SCHEMA, make_row
from hopwright.novels.shelf import list_books, open_book, read_novel
from hopwright.novels.star import StarDrafter
from hopwright.novels.twins import TwinMaker
from hopwright.planning.mention_chains import REACHES, name_reach
from hopwright.records.json_lines import read_json_lines, validate_row
from hopwright.records.parquet_rows import ParquetError, read_parquet_rows
from hopwright.release.own_folder import refuse_foreign, write_own_folder
from hopwright.reporting.rendering import load_template
from hopwright.runs.files import write_file, write_json_lines
from hopwright.settings import NovelAskParameters, NovelDrawing, NovelQuestionsParameters, NovelStarParameters

_ROWS_PER_GROUP = 500
_WINDOW_SCHEMA = pa.schema([("sha256", pa.string()), ("text", pa.large_string())])
LOADER = "load_windows.py"
WRITER, ASKER, STAR = "hopwright novels questions", "hopwright novels ask", "hopwright novels star"


@dataclass(slots=True)
class _Made:
    """What was made of all books."""

    items: list[NovelItem] = field(default_factory=list)
    twins: list[NovelItem] = field(default_factory=list)
    books: dict[str, BookNames] = field(default_factory=dict)
    renames: dict[str, tuple[Edit, ...]] = field(default_factory=dict)
    windows: dict[str, str] = field(default_factory=dict)
    counts: dict[str, NovelCounts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NovelSet:
    """What a folder of questions about novels holds. `windows`: embedded texts by SHA-256."""

    folder: Path
    items: tuple[NovelItem, ...]
    twins: tuple[NovelItem, ...]
    books: Mapping[str, BookNames]
    renames: Mapping[str, tuple[Edit, ...]]
    windows: Mapping[str, str]

    @property
    def everything(self) -> tuple[NovelItem, ...]:
        """Items and twins."""
        return (*self.items, *self.twins)

    def find_book(self, id: str) -> BookNames:
        """What the set says of a book. Raises InputError where it says nothing."""
        if id not in self.books:
            raise InputError(f"{self.folder}: nothing is said of the book {show(id)}")
        return self.books[id]


class BookTexts:
    """The texts of a set's books, from the shelf, by SHA-256; those of twins are renamed when they are asked for."""

    def __init__(self, found: NovelSet, shelf: Path) -> None:
        self._found = found
        self._files = {folder.name.rsplit("-", 1)[-1]: folder for folder in list_books(shelf)}
        self._texts: dict[str, str] = {}
        self._windows: dict[str, str] = {}
        self._shelf = shelf

    def read(self, id: str) -> str:
        """The text of a book, with its own line ends. Raises InputError where the shelf does not have its file."""
        if id not in self._texts:
            names = self._found.find_book(id)
            folder = self._files.get(names.sha256[:8])
            book = open_book(folder) if folder is not None else None
            if book is None or book.sha256 != names.sha256:
                raise InputError(
                    f"{self._shelf}: lacks {names.title} (SHA-256 {names.sha256[:16]}…); "
                    "add its file with `hopwright novels add`"
                )
            text = book.text
            self._texts[id] = apply_edits(text, self._found.renames.get(id.removesuffix(TWIN), ())) if (
                id.endswith(TWIN)
            ) else text  # fmt: skip
        return self._texts[id]

    def cut(self, window: WindowRef) -> str:
        """The text of a window, with plain line feeds. Raises InputError where it is not the one that is meant."""
        if window.sha256 not in self._windows:
            text = self._found.windows.get(window.sha256)
            if text is None:
                text = plain_lines(self.read(window.book)[window.start : window.end])
            if hash_text(text) != window.sha256:
                raise InputError(f"{window.book}: the window from character {window.start:,} has another hash")
            self._windows[window.sha256] = text
        return self._windows[window.sha256]

    def show(self, book: str, start: int, end: int) -> str:
        """Some characters of a book, with plain line feeds."""
        return plain_lines(self.read(book)[start:end])


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with its edits made."""
    parts: list[str] = []
    place = 0
    for edit in edits:
        parts += [text[place : edit.start], edit.new]
        place = edit.end
    return "".join([*parts, text[place:]])


def write_novel_set(
    books: Sequence[Book],
    folder: Path,
    parameters: NovelQuestionsParameters,
    tell: Tell,
    finder: NameFinder | None = None,
    *,
    replace: bool = False,
) -> dict[str, NovelCounts]:
    """Make the questions about some books and write the whole folder, or with `replace` an earlier one anew.

    Returns the counts by book. Raises InputError where nothing is proven, or the folder holds other things.
    """
    refuse_foreign(folder, WRITER, replace=replace)
    made = _Made()
    for book in books:
        tell(f"{book.title}: finding names")
        drafter = NovelDrafter(read_novel(book, parameters.tokenizer, finder), parameters)
        _take_items(drafter, drafter.make(tell), parameters, made, tell, finder)
    if not made.items:
        lengths = ", ".join(parameters.lengths)
        raise InputError(f"no question is proven: no book has windows of {lengths} with enough names in them")
    tell("writing")
    with write_own_folder(folder, WRITER, replace=replace) as aside:
        _write_folder(aside, folder.name, made)
    return made.counts


def write_asked_set(
    books: Sequence[Book],
    folder: Path,
    parameters: NovelAskParameters,
    sender: Session,
    tell: Tell,
    finder: NameFinder | None = None,
    *,
    replace: bool = False,
) -> dict[str, NovelCounts]:
    """Have a model word and answer chains of some books, and write the folder; returns the counts by book.

    Raises InputError where no question is left, or the folder holds other things.
    """
    refuse_foreign(folder, ASKER, replace=replace)
    made = _Made()
    drawn = []
    for book in books:
        tell(f"{book.title}: finding names")
        drafter = AskedDrafter(read_novel(book, parameters.tokenizer, finder), parameters)
        drawn.append((drafter, drafter.draw(tell)))
    tell(f"asking about {sum(len(chains) for _, chains in drawn):,} chains")
    for (drafter, _), answered in zip(drawn, ask_chains(drawn, sender), strict=True):
        items = drafter.make(answered, sender.complete_all)
        _take_items(drafter.drafter, items, parameters, made, tell, finder)
    _write_made(made, folder, ASKER, replace=replace)
    return made.counts


def write_star_set(
    books: Sequence[Book],
    folder: Path,
    parameters: NovelStarParameters,
    complete: Complete,
    tell: Tell,
    *,
    replace: bool = False,
) -> dict[str, NovelCounts]:
    """Have a model ask about some books in the paper's way, and write the folder; returns the counts by book.

    Raises InputError where no question is left, or the folder holds other things.
    """
    refuse_foreign(folder, STAR, replace=replace)
    made = _Made()
    for book in books:
        drafter = StarDrafter(read_novel(book, parameters.tokenizer), parameters, complete)
        items = drafter.make(tell)
        made.counts[book.id] = drafter.counts
        if items:
            made.books[book.id] = drafter.names
            made.items += sorted(items, key=_order)
    _write_made(made, folder, STAR, replace=replace)
    return made.counts


def read_novel_set(folder: Path) -> NovelSet:
    """Read what `write_novel_set` wrote. Raises InputError naming the file and line that is wrong."""
    if (folder / "items.jsonl").exists() and not (folder / "books").is_dir():
        raise InputError(f"{folder}: no set of questions about novels, it lacks books/; `{WRITER}` writes one")
    items = tuple(_read_items(folder / "items.jsonl"))
    twins = tuple(_read_items(folder / "twins.jsonl")) if (folder / "twins.jsonl").is_file() else ()
    books, renames = {}, {}
    for path in sorted((folder / "books").glob("*.json")):
        try:
            value = load_json(read_file(path))
            if path.name.endswith(".book.json"):
                names = BookNames.model_validate(value)
                books[names.id] = names
            else:
                edits = tuple(Edit(int(start), int(end), str(new)) for start, end, new in value)
                renames[path.name.removesuffix(".renames.json")] = edits
        except (OSError, JsonError, ValidationError, TypeError, ValueError):
            raise InputError(f"{path}: missing or damaged") from None
    windows: dict[str, str] = {}
    if (folder / "windows.parquet").is_file():
        try:
            rows = [row or {} for row in read_parquet_rows(folder / "windows.parquet", _WINDOW_SCHEMA.names)]
            windows = {row["sha256"]: row["text"] for row in rows}
            if not all(isinstance(text, str) for row in windows.items() for text in row):
                raise ParquetError("its columns hold no texts")
        except (OSError, ParquetError, KeyError, TypeError):
            raise InputError(f"{folder / 'windows.parquet'}: damaged") from None
    return NovelSet(folder, items, twins, books, renames, windows)


def _write_made(made: _Made, folder: Path, command: str, *, replace: bool) -> None:
    """Write what a model asked. Raises InputError where nothing is left."""
    if not made.items:
        reasons: Counter[str] = Counter()
        for one in made.counts.values():
            reasons.update(one.left_out)
        raise InputError("no question is left: " + "; ".join(f"{name} ({number})" for name, number in reasons.items()))
    with write_own_folder(folder, command, replace=replace) as aside:
        _write_folder(aside, folder.name, made)


def _take_items(
    drafter: NovelDrafter,
    items: Sequence[NovelItem],
    parameters: NovelDrawing,
    made: _Made,
    tell: Tell,
    finder: NameFinder | None,
) -> None:
    """Take in the items of one book, with their twins."""
    book = drafter.novel.book
    made.counts[book.id] = drafter.counts
    if not items:
        return
    made.books[book.id] = drafter.names
    twins: dict[str, NovelItem] = {}
    if parameters.twins:
        tell(f"{book.title}: renaming")
        maker = TwinMaker(drafter, parameters, finder)
        for number, item in enumerate(items):
            if number % 50 == 0:
                tell(f"{book.title}: twin {number:,} of {len(items):,}")
            twin = maker.make(item)
            if isinstance(twin, NovelItem):
                twins[item.id] = twin
            else:
                drafter.counts.left_out[f"twin: {twin}"] += 1
        drafter.counts.made["twins"] = len(twins)
        if twins:
            made.books[book.id + TWIN] = maker.drafter.names
            made.renames[book.id] = maker.renaming.edits
    paired = [item.model_copy(update={"twin": twins[item.id].id}) if item.id in twins else item for item in items]
    made.items += sorted(paired, key=_order)
    made.twins += sorted(twins.values(), key=_order)
    if parameters.embed:
        for item in paired:
            made.windows[item.window.sha256] = book.show(item.window.start, item.window.end)
        for twin in twins.values():
            made.windows[twin.window.sha256] = maker.drafter.novel.book.show(twin.window.start, twin.window.end)


def _order(item: NovelItem) -> tuple[Any, ...]:
    """Questions about one window stand together, so that it is sent and cached once."""
    return item.window.length, item.window.start, len(item.hops), item.id


def _write_folder(aside: Path, name: str, made: _Made) -> None:
    for split, items in (("test", made.items), ("twins", made.twins)):
        if items:
            rows = [make_row(item, made.books[item.window.book]) for item in items]
            write_rows(rows, aside / "data" / f"{split}.parquet")
            lines = write_json_lines(item.model_dump(mode="json") for item in items)
            write_file(aside / ("items.jsonl" if split == "test" else "twins.jsonl"), lines)
    for id, names in sorted(made.books.items()):
        text = json.dumps(names.model_dump(mode="json"), ensure_ascii=False, indent=1)
        write_file(aside / "books" / f"{id}.book.json", f"{text}\n".encode())
    for id, edits in sorted(made.renames.items()):
        listed = ",\n".join(json.dumps([one.start, one.end, one.new], ensure_ascii=False) for one in edits)
        write_file(aside / "books" / f"{id}.renames.json", f"[{listed}]\n".encode())
    if made.windows:
        table = pa.Table.from_pylist(
            [{"sha256": sha, "text": text} for sha, text in sorted(made.windows.items())], _WINDOW_SCHEMA
        )
        pq.write_table(table, aside / "windows.parquet", compression="zstd")
    loader = importlib.resources.files("hopwright.novels") / "templates" / "release" / LOADER
    write_file(aside / LOADER, loader.read_bytes())
    counts = {id: one.to_dict() for id, one in made.counts.items()}
    write_file(aside / "counts.json", (json.dumps(counts, indent=1) + "\n").encode())
    write_file(aside / "README.md", _write_card(name, made).encode())


def write_rows(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write published rows as Parquet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(path, ROW_SCHEMA, compression="zstd") as writer:
        for start in range(0, len(rows), _ROWS_PER_GROUP):
            part = pa.Table.from_pylist(list(rows[start : start + _ROWS_PER_GROUP]), schema=ROW_SCHEMA)
            writer.write_table(part)


def _write_card(name: str, made: _Made) -> str:
    cells = Counter((len(item.hops), item.window.length // K) for item in made.items)
    lengths = sorted({length for _, length in cells})
    places = Counter((name_reach(item.distances), min(int(5 * item.depth), 4)) for item in made.items)
    by_book = Counter((item.window.book, len(item.hops)) for item in made.items)
    chains = dict.fromkeys(by_book, 0)
    for book, hops, _ in {(item.window.book, len(item.hops), item.family) for item in made.items}:
        chains[book, hops] += 1
    refused: Counter[str] = Counter()
    for count in made.counts.values():
        refused.update(count.refused)
        refused.update(count.left_out)
    deepest = sorted({hops for hops, _ in cells})
    return load_template("hopwright.novels", "card.md.j2").render(
        name=name,
        items=len(made.items),
        twins=len(made.twins),
        embedded=bool(made.windows),
        model=next((item.provenance.model for item in made.items if item.is_star), ""),
        writer=next((item.provenance.model for item in made.items if item.hops[-1].step == "asked"), ""),
        families=len({item.family for item in made.items}),
        grid=[
            {"hops": str(hops)} | {f"{length}k": cells[hops, length] for length in lengths} for hops in deepest
        ],
        places=[
            {"tokens between hops": reach}
            | {f"{20 * fifth}–{20 * fifth + 20} %": places[reach, fifth] for fifth in range(5)}
            for reach in REACHES
            if any(held == reach for held, _ in places)
        ],
        books=[
            {"book": one.title, "author": one.author, "licence": one.licence, "source": one.source}
            | {f"{hops} hops": chains.get((one.id, hops), 0) for hops in deepest}
            for one in made.books.values()
            if not one.id.endswith(TWIN)
        ],
        kinds=[
            {"kind of the last hop": kind, "items": number}
            for kind, number in sorted(Counter(item.hops[-1].step for item in made.items).items())
        ],
        rejected=[{"reason": reason, "chains": number} for reason, number in sorted(refused.items())],
        examples=[next(item for item in made.items if len(item.hops) == hops) for hops in deepest],
    )


def _read_items(path: Path) -> Iterator[NovelItem]:
    for row, place in read_json_lines(path, "hopwright novels questions"):
        yield validate_row(NovelItem, row, place)
