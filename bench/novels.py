"""Novels: how fast they are indexed and their windows assembled, how well names are found, how many items they give.

    python bench/novels.py --novels FOLDER
    python bench/novels.py --novels FOLDER --finder rules --finder spacy --finder endpoint/model
    python bench/novels.py --novels FOLDER --items

FOLDER has books as `hopwright novels add` reads them. The names are measured against the mentions in `mention_labels/`,
labelled by hand: the paragraphs of each book were drawn by chance, and every name in them was labelled without looking
at what a finder makes of it. A name that a finder surely takes for somebody is right where it is that character or
place; a mention is found where it is surely taken for the right one. A language model is shown the labelled paragraphs
alone, so that a measure costs a few requests; its names are then looked for in the whole book, as those of the others.
`--items` makes the questions too (minutes).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hopwright.knowledge.books.book import Book
from hopwright.knowledge.books.mentions import FoundNames, MentionGraph, build_graph
from hopwright.knowledge.books.model_finder import ModelFinder
from hopwright.knowledge.books.reading import read_book
from hopwright.knowledge.books.spotting import TaggedName, spot_names
from hopwright.knowledge.books.tokens import WORDS
from hopwright.knowledge.books.windows import hash_window, make_window
from hopwright.novels.drafting import K, NovelDrafter
from hopwright.novels.finders import is_model, open_finder
from hopwright.novels.shelf import ReadNovel, read_novel
from hopwright.settings import NovelQuestionsParameters, home
from hopwright.stages.models import STORE, ModelAccess, open_models

LABELS = Path(__file__).with_name("mention_labels")
_WINDOWS = 1000
_RUNS = 3


def main() -> None:
    """Measure on what is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--novels", type=Path)
    parser.add_argument("--finder", action="append", default=[])
    parser.add_argument("--items", action="store_true")
    options = parser.parse_args()
    if options.novels is None:
        print("needs --novels: no novel is shipped")
        return
    read = [json.loads(path.read_text("utf-8")) for path in sorted(LABELS.glob("*.json"))]
    labelled = {one["sha256"]: one for one in read}
    for path in sorted(path for path in options.novels.iterdir() if path.suffix in (".txt", ".epub")):
        novel, seconds = measure_index(path)
        total = novel.reader.table.sums[-1]
        print(f"{novel.book.title}: {total:,} tokens, indexed in {seconds:.2f} s of processor time (median of {_RUNS})")
        if total >= 128 * K:
            print(f"  {_WINDOWS:,} windows of 128k assembled and hashed in {assemble_windows(novel):.2f} s")
        if novel.book.sha256 in labelled:
            for finder in options.finder or ["rules"]:
                tell_names(novel.book, find_names(novel.book, finder, labelled[novel.book.sha256]), labelled)
        if options.items:
            count_items(novel)


def measure_index(path: Path) -> tuple[ReadNovel, float]:
    """Read a book from its file, find its names, count its tokens: the median of some runs, in seconds of processor
    time."""
    times = []
    for _ in range(_RUNS):
        start = time.process_time()
        novel = read_novel(read_book(path), WORDS)
        times.append(time.process_time() - start)
    return novel, sorted(times)[_RUNS // 2]


def assemble_windows(novel: ReadNovel) -> float:
    """Cut windows from blocks drawn by chance, and hash their text; in seconds of processor time."""
    rng = random.Random("windows")
    table = novel.reader.table
    last = table.reach(0, table.sums[-1] - 128 * K)
    start = time.process_time()
    for _ in range(_WINDOWS):
        hash_window(novel.book, make_window(novel.book, table, rng.randrange(last + 1), 128 * K))
    return time.process_time() - start


def find_names(book: Book, finder: str, labels: dict[str, Any]) -> MentionGraph:
    """The mention graph of a book by one finder."""
    start = time.process_time()
    if is_model(finder):
        starts = {start for start, _ in labels["paragraphs"]}
        shown = replace(book, blocks=tuple(one for one in book.blocks if one.start in starts))
        access = ModelAccess(None, home() / STORE, "bench novels", None, (finder,))
        tagged = list(ModelFinder(finder, open_models(access).complete_all).tag(shown))
        graph = build_graph(book, ListedNames(f"model:{finder}", tagged))
    else:
        graph = build_graph(book, open_finder(finder))
    print(f"  {graph.finder}: {time.process_time() - start:.1f} s of processor time")
    return graph


class ListedNames:
    """Finds names that are known already."""

    def __init__(self, name: str, tagged: list[TaggedName]) -> None:
        self.name = name
        self._tagged = tagged

    def find(self, book: Book) -> FoundNames:
        """All places of the names, in the order of the text."""
        return spot_names(book, self._tagged, checked=True)


def tell_names(book: Book, graph: MentionGraph, labelled: dict[str, Any]) -> None:
    """Print precision and recall of the sure names against the labels, and what is wrong."""
    counts, wrong = compare_names(book, graph, labelled[book.sha256])
    print(
        f"  names: {counts['labelled']} mentions labelled, {counts['found']} found surely and rightly "
        f"(recall {counts['found'] / counts['labelled']:.1%}), {counts['open']} more among several that are possible; "
        f"{counts['right']} of {counts['sure']} sure names right (precision {counts['right'] / counts['sure']:.1%})"
    )
    for line in wrong:
        print(f"    {line}")


def compare_names(book: Book, graph: MentionGraph, labels: dict[str, Any]) -> tuple[Counter[str], list[str]]:
    """What was counted, and each mention that is wrong or not found."""
    names, gold = labels["names"], labels["mentions"]
    counts: Counter[str] = Counter(labelled=len(gold))
    wrong: list[str] = []
    inside = [(start, end) for start, end in labels["paragraphs"]]
    held = [one for one in graph.mentions() if any(start <= one.start and one.end <= end for start, end in inside)]
    matched: set[int] = set()
    for start, end, name in gold:
        met = [number for number, one in enumerate(held) if one.start < end and start < one.end]
        matched |= set(met)
        meant = [graph.entities[who].name for number in met for who in held[number].entities]
        accepted = {*names[name], name}
        if any(held[number].sure and meant and set(meant) <= accepted for number in met):
            counts["found"] += 1
            counts["right"] += 1
        elif met and not any(held[number].sure for number in met) and meant:
            counts["open"] += 1
        else:
            shown = book.text[start:end]
            wrong.append(f"{start}: {shown!r} is {name}, not {' or '.join(meant) or 'somebody unknown'}")
        counts["sure"] += any(held[number].sure for number in met)
    for number, one in enumerate(held):
        if number not in matched and one.sure:
            counts["sure"] += 1
            wrong.append(f"{one.start}: {book.text[one.start : one.end]!r} is no name of anybody")
    return counts, wrong


def count_items(novel: ReadNovel) -> None:
    """Make the questions of a book and print how many there are."""
    start = time.process_time()
    drafter = NovelDrafter(novel, NovelQuestionsParameters())
    items = drafter.make(lambda _: None)
    made = ", ".join(f"{name} {number}" for name, number in sorted(drafter.counts.made.items()))
    print(f"  {len(items):,} items in {time.process_time() - start:.0f} s: {made}")


if __name__ == "__main__":
    main()
