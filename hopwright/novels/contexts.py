"""What a model is given to read with a question: the window, the golden paragraphs, others, chunks, or nothing."""

from __future__ import annotations

import random
from pathlib import Path

from hopwright.errors import InputError
from hopwright.knowledge.books.tokens import list_tokens
from hopwright.knowledge.documents.adding import add_source
from hopwright.knowledge.documents.index import Retriever, build_index
from hopwright.novels.dataset import BookTexts, NovelSet
from hopwright.novels.records import NovelItem
from hopwright.novels.renaming import TWIN
from hopwright.runs.files import write_file, write_json_lines
from hopwright.settings import CorpusAddParameters, CorpusIndexParameters, NovelMode

GAP = "\n\n"


class ContextMaker:
    """Makes the contexts of one set. Indexes of windows are kept in `cache`."""

    def __init__(self, found: NovelSet, texts: BookTexts, cache: Path, chunk: int, chunks: int) -> None:
        self._found = found
        self._texts = texts
        self._cache = cache
        self._chunk = chunk
        self._chunks = chunks
        self._searches: dict[str, tuple[list[str], Retriever]] = {}

    def make(self, item: NovelItem, mode: NovelMode) -> str:
        """The context of a question in a mode. Raises InputError where a book's text is not at hand, where no other
        book is there for `irrelevant`, and for `rag` without the extra that searches."""
        if mode == "none":
            return ""
        if mode == "window":
            return self._texts.cut(item.window)
        if mode == "gold":
            return self._show_gold(item)
        return self._show_others(item) if mode == "irrelevant" else self._search(item)

    def _show_gold(self, item: NovelItem) -> str:
        """The paragraphs of all hops, in the order of the text."""
        places = sorted({(one.start, one.end) for hop in item.hops for one in hop.paragraphs})
        return GAP.join(self._texts.show(item.window.book, *place) for place in places)

    def _show_others(self, item: NovelItem) -> str:
        """The golden paragraphs of a question with as many hops about another book, drawn by the item's id."""
        own = item.window.book.removesuffix(TWIN)
        others = [one for one in self._found.items if one.window.book != own]
        if not others:
            raise InputError("the mode irrelevant shows paragraphs of another book: make a set of two books at least")
        alike = [one for one in others if len(one.hops) == len(item.hops)] or others
        return self._show_gold(alike[random.Random(f"irrelevant:{item.id}").randrange(len(alike))])

    def _search(self, item: NovelItem) -> str:
        """The best chunks of the window for the question, in the order of the text (the paper's appendix F)."""
        chunks, retriever = self._open(item)
        hits = retriever.search(item.question, self._chunks, "bm25")
        numbers = sorted(int(hit.passage.title) for hit in hits)
        return GAP.join(chunks[number] for number in numbers)

    def _open(self, item: NovelItem) -> tuple[list[str], Retriever]:
        key = f"{item.window.sha256[:32]}-{self._chunk}"
        if key not in self._searches:
            chunks = cut_chunks(self._texts.cut(item.window), self._chunk)
            folder = self._cache / key
            source = folder / "chunks.jsonl"
            if not source.is_file():
                rows = [{"id": f"{number}", "title": f"{number}", "text": text} for number, text in enumerate(chunks)]
                write_file(source, write_json_lines(rows))
            adding = CorpusAddParameters(passage_words=0, near_duplicates=0, max_malformed=0)
            add_source(source, folder / "corpus", adding)
            build_index(folder / "corpus", CorpusIndexParameters(shards=1))
            if len(self._searches) > 16:
                self._searches.clear()
            self._searches[key] = chunks, Retriever.open(folder / "corpus")
        return self._searches[key]


def cut_chunks(text: str, tokens: int) -> list[str]:
    """Cut a text into chunks of so many tokens that do not overlap; the last has what is left."""
    places = list_tokens(text)
    starts = [places[number][0] for number in range(0, len(places), tokens)]
    ends = [*starts[1:], len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
