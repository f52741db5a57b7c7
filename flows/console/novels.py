"""`hopwright novels …`."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows.console.options import merge_options
from flows.console.output import err, out, print_json
from hopwright.errors import InputError
from hopwright.knowledge.books.reading import BookNotes
from hopwright.knowledge.books.tokens import WORDS
from hopwright.novels.audit import audit_novels
from hopwright.novels.dataset import BookTexts, read_novel_set, write_novel_set
from hopwright.novels.shelf import add_book, list_books, open_book, open_books, read_novel
from hopwright.settings import (
    NovelQuestionsParameters,
    NovelsAddParameters,
    NovelsName,
    home,
    load_parameters,
)

_SHOWN = 20


def add(files: list[Path], options: Mapping[str, Any], *, as_json: bool) -> None:
    """Put books on the shelf and say what was read."""
    parameters = load_parameters(merge_options({}, options), NovelsAddParameters)
    said = {name: getattr(parameters, name) for name in ("title", "author", "year", "licence", "source")}
    if len(files) > 1 and (parameters.title or parameters.source):
        raise InputError("--title and --source say something of one book: add several books one by one")
    rows = []
    for path in files:
        with err.status(f"reading {path.name}"):
            book = add_book(find_shelf(parameters), path, BookNotes(**said))
        chapters = sum(one.kind == "chapter" for one in book.chapters)
        paragraphs = sum(one.is_paragraph for one in book.blocks)
        rows.append({
            "id": book.id, "title": book.title, "author": book.author, "licence": book.licence, "source": book.source,
            "chapters": chapters, "paragraphs": paragraphs,
        })  # fmt: skip
        if not as_json:
            out.out(f"{book.id}: {book.title}, {book.author}: {chapters:,} chapters, {paragraphs:,} paragraphs")
    if as_json:
        print_json({"books": rows})


def show_info(word: str, options: Mapping[str, Any], *, as_json: bool) -> None:
    """What the shelf holds, or whom a book names."""
    parameters = load_parameters(merge_options({}, options), NovelsName)
    shelf = find_shelf(parameters)
    if not word:
        books = [open_book(folder) for folder in list_books(shelf)]
        rows = [
            {"id": one.id, "title": one.title, "author": one.author, "licence": one.licence, "source": one.source}
            for one in books
        ]
        if as_json:
            print_json({"shelf": str(shelf), "books": rows})
            return
        out.out(f"{shelf}: {len(rows):,} books")
        for row in rows:
            out.out(f"  {row['id']}: {row['title']}, {row['author']} ({row['licence']})")
        return
    with err.status("finding names"):
        novel = read_novel(open_books(shelf, [word])[0], WORDS)
    named = sorted((one for one in novel.graph.entities if one.name), key=lambda one: (-one.mentions, one.id))
    if as_json:
        print_json({
            "id": novel.book.id, "tokens": novel.reader.table.sums[-1], "quotations": len(novel.graph.quotations),
            "entities": [
                {"name": one.name, "kind": one.kind, "mentions": one.mentions, "aliases": list(one.aliases)}
                for one in named
            ],
        })  # fmt: skip
        return
    out.out(
        f"{novel.book.id}: {novel.reader.table.sums[-1]:,} tokens, {len(named):,} characters and places, "
        f"{len(novel.graph.quotations):,} quotations whose speaker is named"
    )
    for one in named:
        out.out(f"  {one.name} ({one.kind}, {one.mentions:,}): {', '.join(one.aliases)}")


def make(folder: Path, options: Mapping[str, Any], *, as_json: bool) -> None:
    """Make the questions and say what was proven and what was left out."""
    parameters = load_parameters(merge_options({}, options), NovelQuestionsParameters)
    books = open_books(find_shelf(parameters), parameters.books)
    with err.status("opening the books") as status:
        counts = write_novel_set(books, folder, parameters, status.update)
    if as_json:
        print_json({"folder": str(folder), "books": {id: one.to_dict() for id, one in counts.items()}})
        return
    for id, one in counts.items():
        refused = sum(one.refused.values())
        out.out(f"{id}: {one.drawn:,} chains drawn, {one.proven:,} proven, {refused:,} refused")
        for name, number in sorted(one.made.items()):
            out.out(f"  {name}: {number:,}")
    out.out(str(folder))


def audit(folder: Path, options: Mapping[str, Any], *, as_json: bool) -> None:
    """Prove a folder again. Raises InputError where something is wrong."""
    parameters = load_parameters(merge_options({}, options), NovelsName)
    with err.status("reading") as status:
        found = read_novel_set(folder)
        report = audit_novels(found, BookTexts(found, find_shelf(parameters)), status.update)
    if as_json:
        print_json(asdict(report))
    else:
        for one in report.violations[:_SHOWN]:
            out.out(f"{one.check}: {one.item or 'the set'}: {one.reason}")
        for name, why in report.skipped.items():
            out.out(f"skipped: {name}: {why}")
        out.out(
            f"{report.items:,} items, {report.twins:,} twins, {report.windows:,} windows: "
            f"{len(report.violations):,} violations of {len(report.checks)} checks"
        )
    if report.violations:
        raise InputError(f"{folder}: {len(report.violations):,} violations")


def find_shelf(parameters: NovelsName) -> Path:
    """The folder of a shelf in Hopwright's home; it need not be there yet."""
    return home() / "novels" / parameters.shelf
