"""Reading an EPUB: its pages in reading order as one text, with what its package says of it."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import unquote
from xml.etree import ElementTree

from hopwright.errors import InputError
from hopwright.foreign import show

_MOST_PAGES = 4000
_MOST_BYTES = 64 << 20
_BLOCKS = frozenset(
    "p div h1 h2 h3 h4 h5 h6 li blockquote section article tr table ul ol hr pre body header footer".split()
)
_SKIPPED = frozenset("head script style svg nav".split())


@dataclass(frozen=True, slots=True)
class EpubPages:
    """The text of an EPUB, a blank line between its blocks, and its metadata."""

    text: str
    title: str
    author: str
    year: str
    rights: str


def read_epub(data: bytes, name: str) -> EpubPages:
    """Read an EPUB's pages in the order of its spine. Raises InputError where it is none, or damaged, or too large."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _MOST_BYTES:
                raise InputError(f"{show(name)}: too large: more than {_MOST_BYTES >> 20} MiB unpacked")
            package = _find_package(archive)
            root = _parse(archive.read(package))
            pages = _list_pages(root, posixpath.dirname(package))
            texts = [_read_page(archive.read(page)) for page in pages]
    except InputError:
        raise
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, UnicodeDecodeError, NotImplementedError, OSError,
            RuntimeError, ValueError, EOFError) as error:  # fmt: skip
        raise InputError(f"{show(name)}: no EPUB that can be read ({show(error, 100)})") from None
    except Exception as error:  # zlib's own error is no subclass of any of these
        raise InputError(f"{show(name)}: damaged EPUB ({type(error).__name__})") from None
    date = _say(root, "date")
    return EpubPages(
        text="\n\n".join(text for text in texts if text) + "\n",
        title=_say(root, "title"),
        author=_say(root, "creator"),
        year=match[0] if (match := re.search(r"\b1[0-9]\d\d\b", date)) else "",
        rights=_say(root, "rights"),
    )


def _find_package(archive: zipfile.ZipFile) -> str:
    container = _parse(archive.read("META-INF/container.xml"))
    for element in container.iter():
        if _tag(element) == "rootfile" and element.get("full-path"):
            return str(element.get("full-path"))
    raise ValueError("its container names no package")


def _parse(data: bytes) -> ElementTree.Element:
    if b"<!ENTITY" in data:
        raise ValueError("it declares entities")
    return ElementTree.fromstring(data)


def _list_pages(root: ElementTree.Element, folder: str) -> list[str]:
    manifest = {
        element.get("id"): unquote(element.get("href") or "")
        for element in root.iter()
        if _tag(element) == "item" and "html" in (element.get("media-type") or "")
    }
    spine = [
        manifest[element.get("idref")]
        for element in root.iter()
        if _tag(element) == "itemref" and element.get("idref") in manifest
    ]
    if not spine or len(spine) > _MOST_PAGES:
        raise ValueError(f"it has {len(spine)} pages")
    return [posixpath.normpath(posixpath.join(folder, page.partition("#")[0])) for page in spine]


def _read_page(data: bytes) -> str:
    reader = _PageReader()
    reader.feed(data.decode("utf-8-sig", "replace"))
    reader.close()
    return reader.finish()


def _say(root: ElementTree.Element, name: str) -> str:
    for element in root.iter():
        if _tag(element) == name and element.text and element.text.strip():
            return " ".join(element.text.split())[:300]
    return ""


def _tag(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


class _PageReader(HTMLParser):
    """Collects the text of a page, a blank line between blocks."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._blocks: list[str] = []
        self._line: list[str] = []
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A block ends what stood before it."""
        if tag in _SKIPPED:
            self._skipped += 1
        elif tag in _BLOCKS:
            self._end_block()
        elif tag == "br":
            self._line.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """A block ends."""
        if tag in _SKIPPED:
            self._skipped = max(0, self._skipped - 1)
        elif tag in _BLOCKS:
            self._end_block()

    def handle_data(self, data: str) -> None:
        """Text of a block."""
        if not self._skipped:
            self._line.append(re.sub(r"\s+", " ", data))

    def finish(self) -> str:
        """The page's text."""
        self._end_block()
        return "\n\n".join(self._blocks)

    def _end_block(self) -> None:
        lines = [line.strip() for line in "".join(self._line).split("\n")]
        if text := "\n".join(line for line in lines if line):
            self._blocks.append(text)
        self._line = []
