"""Books that somebody made to be read badly: what they cost is bounded, and grows as they do."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
from collections.abc import Callable

import pytest

from hopwright.errors import InputError
from hopwright.knowledge.books import epub
from hopwright.knowledge.books.characters import Cast, gather_cast
from hopwright.knowledge.books.epub import read_epub, read_page
from hopwright.knowledge.books.mentions import build_graph
from hopwright.knowledge.books.name_words import load_name_words
from hopwright.knowledge.books.reading import parse_book
from hopwright.knowledge.books.scanning import Phrase
from hopwright.knowledge.books.spotting import TaggedName, spot_names
from hopwright.knowledge.books.tokens import make_table
from hopwright.knowledge.books.windows import WindowReader
from hopwright.novels.book_names import BookNames, describe_book
from hopwright.novels.counted_text import Paragraph
from hopwright.novels.counting import WindowCounter
from tests.growth import expect_linear

MARK = "*** START OF THIS PROJECT GUTENBERG EBOOK RAIN ***"
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




def spell(number: int) -> str:
    """A word of its own for each number."""
    letters = [chr(97 + number // 26**place % 26) for place in range(4)]
    return "".join(letters).capitalize()


LEAD = "CHAPTER I\n\n" + "The rain came down upon the road, and nobody looked out at it for an hour. " * 20 + "\n\n"
BOOKS: dict[str, Callable[[int], str]] = {
    "titles": lambda size: "Mr. " * 5 * size,
    "titles of": lambda size: "King of " * 5 * size,
    "said": lambda size: '"said Alder ' * 2 * size,
    "told": lambda size: " ".join(f'"I saw the barn {spell(n).lower()} there," said Alder.' for n in range(size)),
    "whole names": lambda size: " ".join(f"He saw Mr. {spell(n)} {spell(n * 7 + 3)}." for n in range(size)),
    "surnames": lambda size: " ".join(f"He saw Mr. {spell(n)}." for n in range(size)),
    "given names": lambda size: " ".join(f"He saw John {spell(n)} and John." for n in range(size)),
    "a family": lambda size: " ".join(f"Mrs. {spell(n)} Alder saw Miss Alder and the Alders." for n in range(size)),
    "places": lambda size: " ".join(f"In {spell(n)} Park, at {spell(n)} Park." for n in range(size)),
    "a long name": lambda size: f"They lived at {'Alder ' * size}Park, in {'Alder ' * size}Park.",
    "titles alone": lambda size: "the King saw Mr. Alder. " * size,
    "capitals": lambda size: 'Alder said, "' + "A b " * 4 * size,
    "sentences": lambda size: 'Alder said, "' + "A. " * 4 * size,
}  # fmt: skip


def read_names(text: str) -> WindowReader:
    book = parse_book(text.encode(), "x.txt")
    return WindowReader(book, make_table(book), build_graph(book))


@pytest.mark.parametrize("kind", BOOKS)
def test_names_take_as_long_to_find_as_the_book_is(kind: str) -> None:
    expect_linear(lambda size: LEAD + BOOKS[kind](size), read_names, 1_000)


def test_whole_names_are_gathered_one_by_one() -> None:
    def gather(names: list[tuple[str, ...]]) -> Cast:
        phrases = [Phrase(0, 0, 0, ("Mr",), name, False) for name in names]
        return gather_cast(phrases, {}, load_name_words())

    assert len(gather([("Tom", "Alder"), ("Thomas", "Alder"), ("Tom", "Fenn")]).characters) == 2
    expect_linear(lambda size: [(spell(n), spell(7 * n + 3)) for n in range(size)], gather, 1_500)


@pytest.mark.parametrize("kind", ["titles", "titles of", "said", "surnames", "whole names"])
def test_the_second_count_takes_as_long_as_the_book_is(kind: str) -> None:
    def count(case: tuple[BookNames, str]) -> list[Paragraph]:
        return WindowCounter(case[0], case[1], 0).paragraphs

    def make(size: int) -> tuple[BookNames, str]:
        book = parse_book((LEAD + BOOKS[kind](size)).encode(), "x.txt")
        return describe_book(book, build_graph(book)), book.text

    expect_linear(make, count, 700)


def test_names_of_a_list_are_spotted_behind_rows_of_titles() -> None:
    def spot(text: str) -> list[Phrase]:
        return spot_names(parse_book(text.encode(), "x.txt"), [TaggedName("Alder", "person")], checked=True).phrases

    assert spot(LEAD + "Mr. Alder came.")[0].titles == ("Mr",)
    expect_linear(lambda size: LEAD + "Mr. " * 5 * size, spot, 1_000)


def test_a_header_takes_as_long_as_it_is() -> None:
    def make(size: int) -> bytes:
        return f"The Project Gutenberg EBook\n\nTitle: a{' ' * size}b\n\n{MARK}\n\n{LEAD}".encode()

    book = parse_book(make(3), "x.txt")
    assert book.title == "a   b"
    expect_linear(make, lambda data: parse_book(data, "x.txt"), 15_000)


def test_the_blocks_of_a_book_are_bounded() -> None:
    with pytest.raises(InputError, match=r"^x\.txt: no book: more than 400,000 paragraphs$"):
        parse_book(LEAD.encode() + b"a\n\n" * 400_001, "x.txt")
