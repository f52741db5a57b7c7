"""Cuts the windows of this data set out of the books, and renames those of the twins. It needs Python alone.

    python load_windows.py FOLDER_OF_BOOKS [WINDOWS.jsonl]

FOLDER_OF_BOOKS holds the books' files as they were published; each is found by its SHA-256. Every window is held
against its own SHA-256. With WINDOWS.jsonl, a line `{"id": …, "context": …}` is written for every question.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

TWIN = "~twin"


def read_books(data_set: Path, folder: Path) -> dict[str, str]:
    """Book id → text, for the books of the set that the folder has, and for their twins.

    The text is the file decoded, with its own line ends; places of windows count its characters.
    """
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            files[hashlib.sha256(path.read_bytes()).hexdigest()] = path
    texts: dict[str, str] = {}
    for path in sorted((data_set / "books").glob("*.book.json")):
        book = json.loads(path.read_text("utf-8"))
        if book["id"].endswith(TWIN) or book["sha256"] not in files:
            continue
        if book["encoding"] == "epub":
            raise SystemExit(f"{book['title']}: an EPUB; take the data set with embedded windows, or Hopwright itself")
        text = files[book["sha256"]].read_bytes().decode(book["encoding"])
        texts[book["id"]] = text
        renames = data_set / "books" / f"{book['id']}.renames.json"
        if renames.is_file():
            texts[book["id"] + TWIN] = rename(text, json.loads(renames.read_text("utf-8")))
    return texts


def rename(text: str, edits: list[list[Any]]) -> str:
    """The text with its edits made: `[start, end, new]`, in the order of the text."""
    parts, place = [], 0
    for start, end, new in edits:
        parts += [text[place:start], new]
        place = end
    return "".join([*parts, text[place:]])


def cut_window(text: str, window: dict[str, Any]) -> str:
    """The window's text, with line feeds as its only line ends. Raises ValueError where it is not the one meant."""
    shown = text[window["start"] : window["end"]].replace("\r\n", "\n").replace("\r", "\n")
    if hashlib.sha256(shown.encode("utf-8")).hexdigest() != window["sha256"]:
        raise ValueError(f"{window['book']}: the window from character {window['start']} has another hash")
    return shown


def list_items(data_set: Path) -> list[dict[str, Any]]:
    """The questions and the twins."""
    rows = []
    for name in ("items.jsonl", "twins.jsonl"):
        path = data_set / name
        if path.is_file():
            rows += [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    return rows


def main() -> None:
    """Cut all windows, and say how many there are."""
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    data_set, folder = Path(__file__).resolve().parent, Path(sys.argv[1])
    texts = read_books(data_set, folder)
    items = list_items(data_set)
    missing = sorted({item["window"]["book"] for item in items} - texts.keys())
    lines = []
    for item in items:
        if item["window"]["book"] in texts:
            context = cut_window(texts[item["window"]["book"]], item["window"])
            if len(sys.argv) == 3:
                lines.append(json.dumps({"id": item["id"], "context": context}, ensure_ascii=False) + "\n")
    if len(sys.argv) == 3:
        Path(sys.argv[2]).write_text("".join(lines), "utf-8")
    print(f"{sum(item['window']['book'] in texts for item in items)} of {len(items)} windows cut; hashes agree")
    if missing:
        raise SystemExit(f"books that the folder does not have: {', '.join(missing)}")


if __name__ == "__main__":
    main()
