"""Reading an EPUB: its pages in reading order as one text, with what its package says of it."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from dataclasses import dataclass
from html import unescape
from urllib.parse import unquote
from xml.etree import ElementTree

from hopwright.errors import InputError
from hopwright.foreign import DAMAGED_HEADERS, TooLargeError, open_member, show

_MOST_PAGES = 4000
_MOST_BYTES = 64 << 20
_MOST_OF_PACKAGE = 4 << 20
_BLOCKS = frozenset(
    "p div h1 h2 h3 h4 h5 h6 li blockquote section article tr table ul ol hr pre body header footer".split()
)
_SKIPPED = frozenset("head script style svg nav".split())
_PIECE = 1 << 20
_BLANK = re.compile(r"\s+")
_OPENS = re.compile(r"</?[a-zA-Z]")
# Possessive, so that a tag that nothing closes is read to the end of the page once. Quotes count behind = alone.
_TAG = re.compile(r"""<([a-zA-Z][^\s/>]*+)(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+'|(?!["'])))*+>""")
_END_TAG = re.compile(r"</([a-zA-Z][^\s/>]*+)[^>]*+>")
_RAW = {name: re.compile(rf"</\s*+{name}\s*+>", re.IGNORECASE) for name in ("script", "style")}
_ASIDE = (
    ("<!--", re.compile(r"--!?\s*+>")), ("<![CDATA[", re.compile(r"\]\]\s*+>")),
    ("<!", re.compile(">")), ("<?", re.compile(">")), ("</", re.compile(">")),
)  # fmt: skip
"""What is no text of a page, and what ends it."""


@dataclass(frozen=True, slots=True)
class EpubPages:
    """The text of an EPUB, a blank line between its blocks, and its metadata."""

    text: str
    title: str
    author: str
    year: str
    rights: str


def read_epub(data: bytes, name: str) -> EpubPages:
    """Read an EPUB's pages in the order of its spine, each once. Raises InputError where it is none, or damaged, or
    too large."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = _Members(archive)
            package = _find_package(members)
            root = _parse(members.read(package, _MOST_OF_PACKAGE))
            pages = _list_pages(root, posixpath.dirname(package))
            texts = [read_page(members.read(page)) for page in pages]
    except TooLargeError:
        raise InputError(
            f"{show(name)}: too large: more than {_MOST_BYTES >> 20} MiB unpacked, or than "
            f"{_MOST_OF_PACKAGE >> 20} MiB of what its package says"
        ) from None
    except (zipfile.BadZipFile, ElementTree.ParseError, OSError, EOFError, *DAMAGED_HEADERS) as error:
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


class _Members:
    """The members of an archive, unpacked piece by piece: what they are together is bounded, whatever they state."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = _MOST_BYTES

    def read(self, name: str, most: int = _MOST_BYTES) -> bytes:
        """A member. Raises TooLargeError where it has more than `most` bytes, or all that were read have."""
        parts: list[bytes] = []
        with open_member(self._archive, name) as file:
            while part := file.read(_PIECE):
                self._left -= len(part)
                most -= len(part)
                if min(self._left, most) < 0:
                    raise TooLargeError
                parts.append(part)
        return b"".join(parts)


def _find_package(members: _Members) -> str:
    container = _parse(members.read("META-INF/container.xml", _MOST_OF_PACKAGE))
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
    paths = (posixpath.normpath(posixpath.join(folder, page.partition("#")[0])) for page in spine)
    return list(dict.fromkeys(paths))


def read_page(data: bytes) -> str:
    """The text of a page, a blank line between its blocks.

    Every character is looked at once or twice: `html.parser` begins again at each tag that nothing closes. A tag or a
    comment without an end goes on to that of the page, as in browsers.
    """
    text = data.decode("utf-8-sig", "replace")
    page = _Page()
    place = 0
    while (start := text.find("<", place)) >= 0:
        page.add(text[place:start])
        if tag := _TAG.match(text, start):
            place = tag.end()
            name = tag[1].lower()
            page.begin(name)
            if tag[0].endswith("/>"):
                page.end(name)
            elif name in _RAW:
                # What ends one of them is not looked for within its own.
                closed = _RAW[name].search(text, place)
                place = closed.end() if closed else len(text)
                page.end(name)
        elif mark := _END_TAG.match(text, start):
            page.end(mark[1].lower())
            place = mark.end()
        elif _OPENS.match(text, start):
            return page.finish()
        elif aside := next((end for begin, end in _ASIDE if text.startswith(begin, start)), None):
            closed = aside.search(text, start + 2)
            if closed is None:
                return page.finish()
            place = closed.end()
        else:
            page.add("<")
            place = start + 1
    page.add(text[place:])
    return page.finish()


def _say(root: ElementTree.Element, name: str) -> str:
    for element in root.iter():
        if _tag(element) == name and element.text and element.text.strip():
            return " ".join(element.text.split())[:300]
    return ""


def _tag(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


class _Page:
    """Collects the text of a page, a blank line between blocks."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._line: list[str] = []
        self._skipped = 0

    def begin(self, tag: str) -> None:
        """A block ends what stood before it."""
        if tag in _SKIPPED:
            self._skipped += 1
        elif tag in _BLOCKS:
            self._end_block()
        elif tag == "br":
            self._line.append("\n")

    def end(self, tag: str) -> None:
        """A block ends."""
        if tag in _SKIPPED:
            self._skipped = max(0, self._skipped - 1)
        elif tag in _BLOCKS:
            self._end_block()

    def add(self, text: str) -> None:
        """Text of a block."""
        if not self._skipped:
            self._line.append(_BLANK.sub(" ", unescape(text)))

    def finish(self) -> str:
        """The page's text."""
        self._end_block()
        return "\n\n".join(self._blocks)

    def _end_block(self) -> None:
        lines = [line.strip() for line in "".join(self._line).split("\n")]
        if text := "\n".join(line for line in lines if line):
            self._blocks.append(text)
        self._line = []
