"""Which reader a file gets, by the format that is asked for or by its ending."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from hopwright.errors import InputError
from hopwright.knowledge.documents.readers.files import SourceFile
from hopwright.knowledge.documents.readers.pages import (
    extract_html,
    extract_markdown,
    extract_pdf,
    extract_plain,
    read_page,
)
from hopwright.knowledge.documents.readers.rows import MalformedRow, RawDocument, check_text
from hopwright.knowledge.documents.readers.tables import (
    read_json_array,
    read_json_lines,
    read_parquet,
    read_tab_separated,
)
from hopwright.settings.corpus import CorpusFormat

Reader = Callable[[SourceFile], Iterator[RawDocument | MalformedRow]]
_READERS: dict[str, Reader] = {
    "jsonl": read_json_lines,
    "json": read_json_array,
    "tsv": read_tab_separated,
    "parquet": read_parquet,
    "text": functools.partial(read_page, extract=extract_plain),
    "markdown": functools.partial(read_page, extract=extract_markdown),
    "html": functools.partial(read_page, extract=extract_html),
    "pdf": functools.partial(read_page, extract=extract_pdf),
}
_ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".txt": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
}


def find_format(file: SourceFile, wanted: CorpusFormat) -> str:
    """The format in which a file is read; empty when its ending says nothing and none is asked for."""
    return _ENDINGS.get(file.ending, "") if wanted == "auto" else wanted


def read_documents(file: SourceFile, wanted: CorpusFormat = "auto") -> Iterator[RawDocument | MalformedRow]:
    """Yield what a file holds, in its order. Raises InputError for a file of no known ending, or a damaged one."""
    kind = find_format(file, wanted)
    if not kind:
        raise InputError(f"{file.name}: its ending says nothing; name its format with --format")
    if kind == "json" and wanted == "auto" and _starts_with_object(file):
        kind = "jsonl"
    for row in _READERS[kind](file):
        yield check_text(row) if isinstance(row, RawDocument) else row


def _starts_with_object(file: SourceFile) -> bool:
    """Whether a `.json` file holds JSON lines, as several published data sets do."""
    with file.open() as data:
        return data.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"
