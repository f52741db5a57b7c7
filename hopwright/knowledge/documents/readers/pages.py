"""Files that are one document each: plain text, Markdown, HTML, PDF.

HTML is read by trafilatura, which leaves out navigation and advertisements; PDF by pypdf; Markdown by markdown-it.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

from hopwright.errors import InputError
from hopwright.foreign import show
from hopwright.knowledge.documents.readers.files import SourceFile
from hopwright.knowledge.documents.readers.rows import MalformedRow, RawDocument

_BLANK = re.compile(r"(?<![ \t])[ \t]*+\n[ \t]*+\n\s*+")
_LONGEST = 64 << 20
"""Bytes of a file that is one document."""
_MOST_WORDS_OF_TAG = 5_000
Extractor = Callable[[bytes], tuple[str, str, str]]
"""Title, text and address of a file's bytes; raises ValueError saying why there are none."""


def read_page(file: SourceFile, extract: Extractor) -> Iterator[RawDocument | MalformedRow]:
    """The one document of a file, or what is wrong with it."""
    with file.open() as data:
        content = data.read(_LONGEST + 1)
    if len(content) > _LONGEST:
        yield MalformedRow("the file", f"it is longer than {_LONGEST >> 20} MiB")
        return
    name = PurePosixPath(file.member or file.path.name)
    try:
        title, text, address = extract(content)
    except ValueError as error:
        yield MalformedRow("the file", show(error))
        return
    yield RawDocument(
        title=title.strip() or name.name.partition(".")[0],
        text=_BLANK.sub("\n\n", text).strip(),
        place="the file",
        original=name.name,
        source=address or file.name,
    )


def extract_plain(content: bytes) -> tuple[str, str, str]:
    """A plain text; it has no title of its own."""
    return "", _decode(content).replace("\r\n", "\n"), ""


def extract_markdown(content: bytes) -> tuple[str, str, str]:
    """The words of a Markdown page, without its marks; its title is its first heading of the first level."""
    from markdown_it import MarkdownIt

    source = _decode(content)
    title, blocks, heading = "", [], False
    for token in MarkdownIt("commonmark").enable("table").parse(source):
        heading = (token.type == "heading_open" and token.tag == "h1") or (heading and token.type != "heading_close")
        if token.type == "inline":
            words = "".join(_word_token(child) for child in token.children or ())
            title = words if heading and not title else title
            blocks.append(words)
        elif token.type in ("code_block", "fence"):
            blocks.append(token.content)
    return title, "\n\n".join(block.strip() for block in blocks if block.strip()), ""


def extract_html(content: bytes) -> tuple[str, str, str]:
    """The main text of a page. Raises InputError where the extra is not installed."""
    try:
        from trafilatura import bare_extraction
    except ImportError:
        raise _ask_for_extra("HTML") from None
    # Parsers compare every attribute with those before it.
    if any(len(part.partition(b">")[0].split()) > _MOST_WORDS_OF_TAG for part in content.split(b"<")[1:]):
        raise ValueError(f"a damaged page (a tag of more than {_MOST_WORDS_OF_TAG:,} words)")
    try:
        found: Any = bare_extraction(content, include_comments=False, with_metadata=True)
    except Exception as error:  # A page can be wrong in more ways than its parsers name.
        raise ValueError(f"a damaged page ({type(error).__name__})") from None
    if found is None or not found.text:
        raise ValueError("no main text is found in this HTML")
    return found.title or "", found.text, found.url or ""


def extract_pdf(content: bytes) -> tuple[str, str, str]:
    """The text of a PDF, page by page. Raises InputError where the extra is not installed."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError:
        raise _ask_for_extra("PDF") from None
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # What it warns of, it reads all the same.
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise PyPdfError("it has a password")
        pages = [page.extract_text() for page in reader.pages]
        title = str(reader.metadata.title or "") if reader.metadata else ""
    except PyPdfError as error:
        raise ValueError(f"a damaged PDF ({' '.join(str(error).split()) or type(error).__name__})") from None
    except ImportError as error:  # of what one in a thousand is packed or locked with
        raise ValueError(f"a PDF that needs more to be read ({' '.join(str(error).split())})") from None
    except Exception as error:  # A file can be wrong in more ways than its parser names.
        raise ValueError(f"a damaged PDF ({type(error).__name__})") from None
    return title, "\n\n".join(pages), ""


def _word_token(token: Any) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    return str(token.content) if token.type in ("text", "code_inline", "image") else ""


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from None


def _ask_for_extra(kind: str) -> InputError:
    return InputError(f"{kind} is read by an extra that is not installed: pip install 'hopwright[documents]'")
