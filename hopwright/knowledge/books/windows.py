"""Windows over a book: which blocks they hold, their text, and whom their paragraphs name."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hopwright.knowledge.books.book import Book, TokenTable, hash_text
from hopwright.knowledge.books.chapters import read_number
from hopwright.knowledge.books.mentions import Mention, MentionGraph
from hopwright.knowledge.books.name_words import load_name_words
from hopwright.knowledge.books.quotations import is_one_voice, list_quotes
from hopwright.knowledge.named_windows import NamedParagraph, NamedWindow

_RUN = re.compile(r"(?:(?!--)[^.!?;“”\"()\[\]—])++")
"""What may stand in a sentence before its end."""
_CAPITAL = re.compile("[A-Z]")
_ABBREVIATED = re.compile(r"\b(?:Mr|Mrs|Dr|M|Mme|St|Esq)\.$")
_BEGINNING = 12
_FEW = 500
_RARE, _RARE_WORDS = 60, 2
"""Words that a book has at most so often tell one sentence from others; a quotation of none tells nothing."""
_INNER_CAPITAL = re.compile(r"(?<=[a-zà-ÿ,;])\s+([A-ZÀ-Þ][a-zà-ÿ]+)")
"""A capital within a sentence."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


DEPTH_OFF = 0.05
"""By how much a window may miss a depth, and its length: it begins and ends with a paragraph."""


@dataclass(frozen=True, slots=True)
class Window:
    """The blocks `first` up to `stop` of a book: the characters `start` up to `end`, `tokens` long.

    length: the most tokens that were asked for.
    """

    first: int
    stop: int
    start: int
    end: int
    tokens: int
    length: int


def list_windows(book: Book, table: TokenTable, length: int, stride: int) -> list[Window]:
    """Windows of at most `length` tokens, one for every `stride` tokens, each filled; the last ends with the book.

    A book that is shorter has none. A window begins and ends with a block.
    """
    windows: list[Window] = []
    total = table.sums[-1]
    place = 0
    while place + length <= total or (not windows and total >= length):
        first = table.reach(0, place)
        window = make_window(book, table, first, length)
        if not windows or window.first > windows[-1].first:
            windows.append(window)
        place += stride
    return windows


def make_window(book: Book, table: TokenTable, first: int, length: int) -> Window:
    """The window of at most `length` tokens that begins with a block."""
    stop = max(first + 1, table.reach(first, length))
    blocks = book.blocks
    return Window(first, stop, blocks[first].start, blocks[stop - 1].end, table.count(first, stop), length)


def place_window(
    book: Book, table: TokenTable, blocks: Sequence[int], answer: int, depth: float, length: int
) -> Window | None:
    """The window that holds these blocks, and in which the block `answer` begins at a depth, from 0 to 1.

    None where they do not fit, or where the book begins or ends too near.
    """
    first = table.reach(0, max(0, table.sums[answer] - round(depth * length)))
    window = make_window(book, table, first, length)
    reached = (table.sums[answer] - table.sums[first]) / max(window.tokens, 1)
    # At the end of a book no window is full.
    if abs(reached - depth) > DEPTH_OFF or window.tokens < (1 - DEPTH_OFF) * length:
        return None
    return window if window.first <= min(blocks) and max(blocks) < window.stop else None


def read_window(book: Book, window: Window) -> str:
    """The text of a window, with plain line feeds."""
    return book.show(window.start, window.end)


def hash_window(book: Book, window: Window) -> str:
    """SHA-256 of the text of a window in UTF-8."""
    return hash_text(read_window(book, window))


@dataclass(frozen=True, slots=True)
class _Voices:
    """Whom names outside and inside the spoken words of a block may mean. called: whom those inside surely mean, by a
    word of their own name. shared: whether others than the one named outside may say some of the words."""

    outside: frozenset[int]
    inside: frozenset[int]
    called: frozenset[int]
    shared: bool


class WindowReader:
    """Shows windows of a book as the steps of questions see them."""

    def __init__(self, book: Book, table: TokenTable, graph: MentionGraph) -> None:
        self.book = book
        self.table = table
        self.graph = graph
        self.persons = frozenset(one.id for one in graph.entities if one.kind == "person")
        self.places = frozenset(one.id for one in graph.entities if one.kind == "place")
        self.quotes = pick_quotes(book, graph)
        self._capitals = _find_capitals(book, graph)
        self._chapters = _number_chapters(book)
        self._headings = [read_number(one.title) if one.kind == "chapter" else None for one in book.chapters]
        self._voices: dict[int, _Voices] = {}
        self._strange: dict[int, bool] = {}
        self._no_names = load_name_words().harmless | load_name_words().titles
        self._own_words = {one.id: find_own_words(one.name) for one in graph.entities}
        self._speakers: dict[int, list[int]] = defaultdict(list)
        for spoken in graph.quotations:
            if spoken.speaker not in self._speakers[spoken.block]:
                self._speakers[spoken.block].append(spoken.speaker)

    def view(self, window: Window) -> NamedWindow:
        """What the steps see of a window; paragraphs are numbered from its first block."""
        headings = self._list_headings(window)
        paragraphs = tuple(
            self._view_block(block, window.first, headings) for block in range(window.first, window.stop)
        )
        words = tuple(
            (number, self.graph.quotations[number].block - window.first, self.graph.quotations[number].speaker)
            for number in sorted(self.quotes)
            if window.first <= self.graph.quotations[number].block < window.stop
        )
        return NamedWindow(paragraphs, self.persons, self.places, words)

    def _list_headings(self, window: Window) -> dict[int, int]:
        """By chapter, the number in its heading, where the window has that heading and no other of the number."""
        chapters = {self.book.blocks[block].chapter for block in range(window.first, window.stop)}
        counted = [(held[0], self.book.chapters[one].volume) for one in chapters if (held := self._chapters[one])]
        if len(set(counted)) > 1 and not all(volume for _, volume in counted):
            return {}
        numbers = Counter(self._headings[one] for one in chapters)
        return {
            one: number
            for one in chapters
            if (number := self._headings[one]) is not None
            and numbers[number] == 1
            and self.book.chapters[one].start >= window.start
        }

    def _list_voices(self, index: int) -> _Voices:
        """Whom the names outside and inside the spoken words of a block may mean; nobody where nothing is spoken."""
        if index not in self._voices:
            block = self.book.blocks[index]
            quotes = list(list_quotes(self.book.text, block.start, block.end))
            opened = [start for start, _ in quotes]
            outside: set[int] = set()
            inside: set[int] = set()
            called: set[int] = set()
            told: list[tuple[int, int]] = []
            for one in self.graph.by_block[index] if quotes else ():
                before = bisect_right(opened, one.start) - 1
                if before >= 0 and one.start < quotes[before][1]:
                    # Whether a thing or a nameless one is spoken of, the paragraph itself says.
                    known = bool(one.entities) or one.thing or one.unnamed
                    inside |= {*one.entities, *one.within, *(() if known else (-1,))}
                    form = set(self.book.text[one.start : one.end].split())
                    called |= {who for who in one.entities if one.sure and form & self._own_words[who]}
                elif not (one.thing or one.unnamed):
                    outside |= ({*one.entities, *one.within} & self.persons) | (set() if one.entities else {-1})
                    told += [(one.start, one.end)] if set(one.entities) & self.persons else []
            shared = len(outside) == 1 and not is_one_voice(self.book.text, block.start, block.end, told)
            self._voices[index] = _Voices(frozenset(outside), frozenset(inside), frozenset(called), shared)
        return self._voices[index]

    def _has_strange_word(self, index: int) -> bool:
        """Whether a capital within a sentence of a block begins no name and no word that is known to be none: Mile End
        may be a place."""
        block = self.book.blocks[index]
        if index not in self._strange:
            mentions = self.graph.by_block[index]
            starts = [one.start for one in mentions]
            self._strange[index] = any(
                match[1] not in self._no_names
                and ((before := bisect_left(starts, match.end()) - 1) < 0 or mentions[before].end <= match.start(1))
                for match in _INNER_CAPITAL.finditer(self.book.text, block.start, block.end)
            )
        return self._strange[index]

    def _view_block(self, index: int, first: int, headings: Mapping[int, int]) -> NamedParagraph:
        block, mentions = self.book.blocks[index], self.graph.by_block[index]
        sure = frozenset(one.entities[0] for one in mentions if one.sure)
        possible = sure | {who for one in mentions for who in (*one.entities, *one.within)}
        possible |= self._capitals.get(index, frozenset())
        heard = self._list_voices(index)
        return NamedParagraph(
            block=index,
            position=self.table.count(first, index),
            usable=block.is_paragraph,
            chapter=self._chapters[block.chapter],
            sure=sure,
            possible=possible,
            unknown=any(not one.entities and not one.thing and not one.unnamed for one in mentions),
            unnamed=any(one.unnamed for one in mentions),
            things=any(one.thing for one in mentions) or self._has_strange_word(index),
            speakers=tuple(self._speakers.get(index, ())),
            shared=heard.shared,
            voices=heard.outside,
            spoken=heard.inside,
            called=heard.called,
            heading=headings.get(block.chapter),
        )


def find_own_words(name: str) -> frozenset[str]:
    """The words of a name without its titles, if any are left: who says one of them says the name."""
    words = name.split()
    titles = load_name_words().titles
    return frozenset([one for one in words if one.rstrip(".") not in titles] or words)


def find_mention(graph: MentionGraph, block: int, entity: int) -> Mention:
    """The first mention of a block that surely means an entity. Raises ValueError without one."""
    for mention in graph.by_block[block]:
        if mention.entities == (entity,):
            return mention
    raise ValueError(f"block {block} does not surely name {entity}")


def pick_quotes(book: Book, graph: MentionGraph) -> dict[int, tuple[int, int]]:
    """For each quotation the span of the sentence in it that questions quote, that with the most words that are rare in
    the book: 6 to 16 words, two of them rare, no name in it, and nowhere else in the book."""
    counts = Counter(word.casefold() for word in _WORD.findall(book.text))
    names = [[one.start for one in held] for held in graph.by_block]
    held: dict[int, list[tuple[int, int, int]]] = {}
    for number, spoken in enumerate(graph.quotations):
        if not book.blocks[spoken.block].is_paragraph:
            continue
        mentions, starts = graph.by_block[spoken.block], names[spoken.block]
        for start, end in _list_sentences(book.text, spoken.start, spoken.end):
            said = _WORD.findall(book.text, start, end)
            rare = sum(counts[word] <= _RARE for word in {word.casefold() for word in said})
            if not 6 <= len(said) <= 16 or rare < _RARE_WORDS:
                continue
            before = bisect_left(starts, end) - 1
            if before < 0 or mentions[before].end <= start:
                held.setdefault(number, []).append((-rare, start, end))
    ordered = {number: [(start, end) for _, start, end in sorted(spans)] for number, spans in held.items()}
    folded = {span: _fold(book.text[slice(*span)]) for spans in ordered.values() for span in spans}
    once = _find_single(_fold(book.text), set(folded.values()))
    found: dict[int, tuple[int, int]] = {}
    for number, spans in ordered.items():
        if (first := next((span for span in spans if folded[span] in once), None)) is not None:
            found[number] = first
    return found


def _find_single(text: str, sentences: set[str]) -> set[str]:
    """Those that stand once in a text, which is read once for all of them where they are many."""
    if len(sentences) <= _FEW:
        return {sentence for sentence in sentences if text.count(sentence) == 1}
    lengths: dict[int, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for sentence in sentences:
        beginning = sentence[:_BEGINNING]
        lengths[len(beginning)][beginning].add(len(sentence))
    counts: Counter[str] = Counter()
    for size, beginnings in lengths.items():
        for place in range(len(text)):
            for length in beginnings.get(text[place : place + size], ()):
                part = text[place : place + length]
                if part in sentences:
                    counts[part] += 1
    return {sentence for sentence, count in counts.items() if count == 1}


def _fold(text: str) -> str:
    return " ".join(text.replace("_", "").split()).casefold()


def _list_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Sentences of a quotation that are whole; what the speaker's name cuts off, and what goes on after it, are not."""
    for run in _RUN.finditer(text, start, end):
        last = run.end()
        capital = _CAPITAL.search(text, run.start(), last)
        if capital is None:
            continue
        told = last == end and text[end - 1] == ","
        if not told and (last == end or text[last] not in ".!?"):
            continue
        if not told and last + 1 < end and not text[last + 1].isspace() and text[last + 1] not in "”\"":
            continue
        first = place = capital.start()
        while place > start and text[place - 1].isspace():
            place -= 1
        if place > start and text[place - 1] not in ".!?":
            continue
        if told:
            # What stands before `," said she` is a sentence, or the beginning of one that says enough.
            yield first, last - 1
        elif not _ABBREVIATED.search(text[max(first, last - 8) : last + 1]):
            yield first, last + 1


def _find_capitals(book: Book, graph: MentionGraph) -> dict[int, frozenset[int]]:
    """Whom headings may name in capitals."""
    by_word: dict[str, set[int]] = defaultdict(set)
    for entity in graph.entities:
        for alias in entity.aliases:
            by_word[alias.split()[-1].casefold()].add(entity.id)
    found: dict[int, frozenset[int]] = {}
    for index, block in enumerate(book.blocks):
        shown = book.text[block.start : min(block.end, block.start + 400)]
        if block.kind == "heading" or shown == shown.upper():
            words = {word.casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(shown)}
            if who := frozenset(one for word in words for one in by_word.get(word, ())):
                found[index] = who
    return found


def _number_chapters(book: Book) -> Sequence[tuple[int, int] | None]:
    """For each chapter its part and its number there, None for what is not counted as a chapter."""
    numbers: list[tuple[int, int] | None] = []
    run = number = 0
    for before, chapter in zip((None, *book.chapters), book.chapters, strict=False):
        if chapter.kind != "chapter":
            numbers.append(None)
            continue
        # A count never crosses a part, or a prologue between two chapters.
        if before is None or before.kind != "chapter" or before.part != chapter.part:
            run, number = run + 1, 0
        number += 1
        numbers.append((run, number))
    return numbers
