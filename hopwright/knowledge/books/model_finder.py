"""Names by a language model, as an alternative to the rules: it lists them, and every one is held against the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from hopwright.errors import InputError
from hopwright.knowledge.books.book import Book
from hopwright.knowledge.books.mentions import FoundNames
from hopwright.knowledge.books.scanning import NameKind
from hopwright.knowledge.books.spotting import TaggedName, spot_names
from hopwright.llm.answers import ListedNames
from hopwright.llm.prompts import load_prompts
from hopwright.llm.types import Outcome, Request, parse_model

Complete = Callable[[Iterable[Request]], list[Outcome]]
_GAP = "\n\n"
_WORDS = 1200
"""Words of a request, at least, where the book has so many: few enough that no name is forgotten in the list."""
_KINDS: dict[str, NameKind] = {"person": "person", "place": "place", "other": "thing"}


class ModelFinder:
    """Names as a language model lists them. `dropped` counts those that do not stand in the text that it was given.

    Every answer is stored by the client, so that the same book costs nothing a second time. A twin's renamed text is
    another book.
    """

    def __init__(self, model: str, complete: Complete) -> None:
        self.name = f"model:{model}"
        self.dropped: Counter[str] = Counter()
        self._target = parse_model(model)
        self._complete = complete
        self._prompt = load_prompts()["find-names"]

    def find(self, book: Book) -> FoundNames:
        """All names, in the order of the text. Raises InputError where the model gives no list for some part: a name
        that is not known would prove what is not so."""
        return spot_names(book, self.tag(book), checked=True)

    def tag(self, book: Book) -> Iterator[TaggedName]:
        """The names that the model lists for the blocks of a book, those alone that stand in them."""
        texts = list(cut_parts(book))
        outcomes = self._complete([self._request(text) for text in texts])
        return self._read(book, texts, outcomes)

    def list_requests(self, book: Book) -> list[Request]:
        """What finding the names of a book asks."""
        return [self._request(text) for text in cut_parts(book)]

    def _request(self, text: str) -> Request:
        return self._prompt.request({"text": text}, self._target, item="names")

    def _read(self, book: Book, texts: list[str], outcomes: list[Outcome]) -> Iterator[TaggedName]:
        for number, (text, outcome) in enumerate(zip(texts, outcomes, strict=True), start=1):
            if not outcome.ok or not isinstance(outcome.parsed, ListedNames):
                reason = "no list" if outcome.ok else outcome.reason
                raise InputError(
                    f"{book.title}: no names of part {number:,} of {len(texts):,} ({reason}); run it again: what was "
                    "answered is not paid twice"
                )
            shown = " ".join(text.split())
            for one in outcome.parsed.names:
                name = " ".join(one.name.split())
                if name in shown:
                    yield TaggedName(name, _KINDS[one.kind])
                else:
                    self.dropped[name] += 1


def cut_parts(book: Book) -> Iterator[str]:
    """The book in parts of whole blocks, each of some 1,200 words."""
    held: list[str] = []
    words = 0
    for number, block in enumerate(book.blocks):
        held.append(book.show_block(number))
        words += block.words
        if words >= _WORDS:
            yield _GAP.join(held)
            held, words = [], 0
    if held:
        yield _GAP.join(held)
