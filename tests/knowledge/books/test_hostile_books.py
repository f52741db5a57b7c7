"""Books that somebody made to be read badly: what they cost is bounded, and grows as they do."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile

import pytest

from hopwright.errors import InputError
from hopwright.knowledge.books import epub
from hopwright.knowledge.books.epub import read_epub, read_page
from tests.growth import expect_linear

CONTAINER = b'<c><rootfile full-path="o/p.opf"/></c>'


def pack_epub(page: bytes, refs: int = 1, method: int = zipfile.ZIP_DEFLATED, package: bytes = b"") -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        spine = b"".join(b'<itemref idref="a%d"/>' % number for number in range(refs))
        items = b"".join(
            b'<item id="a%d" href="a.xhtml#%d" media-type="application/xhtml+xml"/>' % (number, number)
            for number in range(refs)
        )
        package = package or b"<package><title>Rain</title>" + items + b"<spine>" + spine + b"</spine></package>"
        archive.writestr("o/p.opf", package)
        archive.writestr("o/a.xhtml", page, method)
    return held.getvalue()


def understate(data: bytes, name: bytes, size: int) -> bytes:
    """The archive, its directory stating another size of a member."""
    changed = bytearray(data)
    entry = changed.rfind(b"PK\x01\x02", 0, changed.rfind(name))
    changed[entry + 24 : entry + 28] = struct.pack("<I", size)
    return bytes(changed)


def measure_memory(data: bytes) -> tuple[str, int]:
    """What an EPUB is refused with, and the most bytes that were held."""
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            read_epub(data, "x.epub")
        return str(caught.value), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_epub_that_states_less_than_it_holds_is_read_in_pieces() -> None:
    said, most = measure_memory(understate(pack_epub(b" " * (96 << 20)), b"o/a.xhtml", 1000))
    assert "Bad CRC-32" in said
    assert most < 16 << 20


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packings_that_unpack_without_a_bound_are_refused(method: int) -> None:
    with pytest.raises(InputError, match="pack it by deflate"):
        read_epub(pack_epub(b" " * 999, method=method), "x.epub")


def test_what_an_epub_unpacks_to_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epub, "_MOST_BYTES", 1 << 20)
    with pytest.raises(InputError, match="too large"):
        read_epub(pack_epub(b"word " * 300_000), "x.epub")
    with pytest.raises(InputError, match="too large"):
        read_epub(pack_epub(b"", package=b"<package>" + b" " * (5 << 20) + b"</package>"), "x.epub")


def test_a_page_that_a_spine_names_often_is_read_once() -> None:
    assert read_epub(pack_epub(b"<p>The rain came down.</p>", refs=100), "x.epub").text == "The rain came down.\n"


@pytest.mark.parametrize(
    "part", ["<a ", "<!--", '<a b="', "</a ", "<", "<script>", "<![CDATA[", "<p>", "&#", "<a =", "<style>x</", "<!"]
)
def test_a_page_takes_as_long_as_it_is(part: str) -> None:
    expect_linear(lambda size: (part * size).encode(), read_page, 6_000)


def test_a_page_says_what_it_said_to_the_parser_before() -> None:
    page = (
        '<?xml version="1.0"?><!DOCTYPE html><html><head><title>no</title></head><body><!-- <p>no</p> -->'
        "<h1 title=\"it's > so\">One</h1><p class=a>A&nbsp;&amp;\nB<br/>caf&eacute; 3 < 4</p><script>'<p>'</script>"
        "<nav><p>no</p></nav><P>“Yes”</P ></body></html>"
    )
    assert read_page(page.encode()) == "One\n\nA & B\ncafé 3 < 4\n\n“Yes”"


