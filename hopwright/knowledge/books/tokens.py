"""Counting tokens: once per block, so that the length of any window is a difference of two sums."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from hopwright.errors import InputError
from hopwright.foreign import show
from hopwright.knowledge.books.book import Book, TokenTable

WORDS = "words"
"""The tokenizer that needs no file: a run of letters or digits with what an apostrophe joins to it is one token, and
so is every other character that is no white space. English prose has about 1.2 of them a word; a model's own tokens
are some ten per cent more."""
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]|_")


def count_tokens(text: str) -> int:
    """Tokens of a text by the tokenizer `words`."""
    return len(_TOKEN.findall(text))


def list_tokens(text: str) -> list[tuple[int, int]]:
    """The tokens of a text by the tokenizer `words`, as spans of its characters."""
    return [match.span() for match in _TOKEN.finditer(text)]


def make_table(book: Book, tokenizer: str = WORDS) -> TokenTable:
    """Count the tokens of every block. `tokenizer` is `words` or the path of a `tokenizer.json`.

    The tokens of a window are the sum of its blocks': what a tokenizer makes of the blank lines between is left out.
    Raises InputError for a file that is no tokenizer, and where the package `tokenizers` is missing.
    """
    texts = [book.show(block.start, block.end) for block in book.blocks]
    if tokenizer == WORDS:
        return TokenTable.of(WORDS, [count_tokens(text) for text in texts])
    return TokenTable.of(Path(tokenizer).name, _count_with_file(texts, Path(tokenizer)))


def _count_with_file(texts: Sequence[str], path: Path) -> list[int]:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise InputError("a tokenizer's file needs the package tokenizers: pip install tokenizers") from None
    if not path.is_file():
        raise InputError(f"{path}: no such file; a tokenizer is {WORDS!r} or a tokenizer.json")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises nothing narrower
        raise InputError(f"{path}: no tokenizer.json that can be read ({show(error, 100)})") from None
    return [len(one.ids) for one in tokenizer.encode_batch(list(texts), add_special_tokens=False)]
