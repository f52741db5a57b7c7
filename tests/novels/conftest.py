from __future__ import annotations

from pathlib import Path

import pytest

from hopwright.knowledge.books.reading import BookNotes
from hopwright.novels.dataset import BookTexts, NovelSet, read_novel_set, write_novel_set
from hopwright.novels.shelf import add_book, open_books
from hopwright.settings import NovelQuestionsParameters
from tests.llm.conftest import planted_key as planted_key
from tests.novels.story import tell_story

PARAMETERS = NovelQuestionsParameters.model_validate({"items": 12, "lengths": ["4k", "8k"]})


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shelf with two stories: one with DOS line ends and a mark, one in Latin-1."""
    folder = tmp_path_factory.mktemp("shelf")
    one, other = folder / "ledger.txt", folder / "tide.txt"
    one.write_bytes(b"\xef\xbb\xbf" + tell_story().replace("\n", "\r\n").encode())
    other.write_bytes(tell_story(8, title="The Tide").replace("“", '"').replace("”", '"').encode("latin-1"))
    for path in (one, other):
        add_book(folder / "novels", path, BookNotes(author="A. Nobody", licence="CC0-1.0"))
    return folder / "novels"


@pytest.fixture(scope="session")
def small_set(tmp_path_factory: pytest.TempPathFactory, shelf: Path) -> NovelSet:
    """Questions about both stories with their twins."""
    folder = tmp_path_factory.mktemp("sets") / "small"
    write_novel_set(open_books(shelf, []), folder, PARAMETERS, lambda _: None)
    return read_novel_set(folder)


@pytest.fixture(scope="session")
def texts(small_set: NovelSet, shelf: Path) -> BookTexts:
    return BookTexts(small_set, shelf)
