"""Books are read as they are published, and chains over them are proven by a second, plain count."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from hopwright.errors import InputError
from hopwright.knowledge.books.book import Book
from hopwright.knowledge.books.chapters import read_number
from hopwright.knowledge.books.mentions import MentionGraph, build_graph
from hopwright.knowledge.books.reading import parse_book
from hopwright.knowledge.books.tokens import make_table
from hopwright.knowledge.books.windows import WindowReader, list_windows, read_window
from hopwright.knowledge.named_windows import NamedParagraph, NamedWindow
from hopwright.planning.mention_chains import ChainDrawer, ChainTally, ProvenChain

NOVELS = Path(__file__).resolve().parents[4] / "shared" / "data" / "novels"
STORY = "\n\n".join(
    f"CHAPTER {number}\n\nMr. Alder walked with Mrs. Alder to Brackwater and met Tobias Fenn on the bridge that day, "
    f"and they spoke of the weather and the harvest for a while before the rain came down. He said caf\u00e9 {number}."
    for number in ("I", "II", "III")
)  # fmt: skip
LONG = STORY.replace("that day,", "that day," + " and on they went along the river" * 12 + ",")
WRAPPED = (
    "The Project Gutenberg EBook of Rain, by A. Nobody\n\nTitle: Rain\n\nAuthor: A. Nobody\n\n{mark}\n\n"
    + LONG
    + "\n\nEnd of the Project Gutenberg EBook of Rain\n\nlicence licence licence\n"
)
MARK = "*** START OF THIS PROJECT GUTENBERG EBOOK RAIN ***"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
@pytest.mark.parametrize("mark", [MARK, ""])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_published_text_is_read_whatever_its_form(encoding: str, mark: str, end: str) -> None:
    data = WRAPPED.format(mark=mark).replace("\n", end).encode(encoding)
    book = parse_book(data, "rain.txt")
    assert (book.title, book.author) == ("Rain", "A. Nobody")
    assert [chapter.title for chapter in book.chapters] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    assert book.show_block(-1).endswith("caf\u00e9 III.")
    assert "licence licence" not in "".join(book.show_block(i) for i in range(len(book.blocks)))


def test_an_epub_is_read_in_the_order_of_its_spine() -> None:
    pages = LONG.split("CHAPTER ")[1:]
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("META-INF/container.xml", '<c><rootfile full-path="o/p.opf"/></c>')
        items = "".join(f'<item id="i{n}" href="{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(3))
        spine = "".join(f'<itemref idref="i{n}"/>' for n in range(3))
        archive.writestr("o/p.opf", f"<package><title>Rain</title>{items}<spine>{spine}</spine></package>")
        for number, page in enumerate(pages):
            head, _, rest = page.partition("\n\n")
            archive.writestr(f"o/{number}.xhtml", f"<html><body><h1>CHAPTER {head}</h1><p>{rest}</p></body></html>")
    book = parse_book(held.getvalue(), "rain.epub")
    assert [chapter.title for chapter in book.chapters] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]


@pytest.mark.parametrize("data", [b"", b"\x00\x01" * 99, b"PK\x03\x04broken", b"too short", b"\x01\x02" * 500])
def test_what_is_no_book_gets_one_line(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        parse_book(data, "x.txt")
    assert "\n" not in str(caught.value)


def test_a_mister_is_not_his_wife() -> None:
    book = parse_book(LONG.encode(), "rain.txt")
    graph = build_graph(book)
    assert {"Mr. Alder", "Mrs. Alder", "Tobias Fenn"} <= {one.name for one in graph.entities}


@pytest.fixture(scope="module")
def emma() -> tuple[Book, MentionGraph, WindowReader]:
    path = NOVELS / "emma.txt"
    if not path.is_file():
        pytest.skip("the novels are not beside the checkout")
    book = parse_book(path.read_bytes(), path.name)
    graph = build_graph(book)
    return book, graph, WindowReader(book, make_table(book), graph)


def test_pairs_select_one_paragraph_of_their_window(emma: tuple[Book, MentionGraph, WindowReader]) -> None:
    book, graph, reader = emma
    asked = frozenset(one.id for one in graph.entities if one.mentions >= 3)
    window = list_windows(book, reader.table, 65_536, 16_384)[0]
    assert window.tokens <= 65_536
    assert "\r" not in read_window(book, window)
    tally = ChainTally(0, 0, Counter())
    chains = ChainDrawer(reader.view(window), window.tokens, asked, 0, "x").draw(3, 100, tally)
    assert len(chains) > 20
    assert tally.drawn == tally.proven + tally.refuted.total()
    for chain in chains:
        check_by_hand(chain, graph, window.first, window.stop)


def check_by_hand(chain: ProvenChain, graph: MentionGraph, first: int, stop: int) -> None:
    """Count again, from the mentions alone, which blocks may name all names of a pair."""
    given = None
    for step in chain.steps:
        if step.kind in ("companion", "place", "voice"):
            names = {*step.clues, *([given] if step.follows else [])}
            blocks = [
                block - first
                for block in range(first, stop)
                if names <= {who for one in graph.by_block[block] for who in one.entities}
            ]
            assert blocks == [step.places[0]]
        given = step.answer


def name_forms(sentences: list[str]) -> dict[str, tuple[str, ...]]:
    """Whom each form may mean, in a book of these sentences."""
    fill = " They spoke of nothing but the weather for an hour, and then went home by the lower road."
    text = "CHAPTER I\n\n" + "\n\n".join(one + fill for one in sentences) + "\n\n" + 10 * fill
    graph = build_graph(parse_book(text.encode(), "x.txt"))
    return {form: tuple(graph.entities[who].name for who in held) for form, held in graph.surfaces.items()}


def test_a_surname_that_an_elder_may_bear_means_nobody_surely() -> None:
    told_apart = ["Then Mr. Frank Alder said no.", "Mr. Frank Alder came.", "Mr. Alder of Brackwater wrote."]
    assert len(name_forms(told_apart)["Mr. Alder"]) == 2
    mostly_given = [f"Frank said it was {number}." for number in range(30)] + ["Frank Alder came. Mr. Alder wrote."]
    assert len(name_forms(mostly_given)["Mr. Alder"]) == 2
    known = ["Mr. Alder said no.", "Then Mr. Alder came in.", "Mr. Alder wrote to Frank Alder, as he signed himself."]
    assert name_forms(known)["Mr. Alder"] == ("Mr. Alder",)


def test_what_stands_before_a_title_is_no_part_of_a_name() -> None:
    told = ["Poor Mrs. Alder said so.", "Mr. Alder came. Dear Mrs. Alder was out.", "Mrs. Alder and Mr. Alder left."]
    forms = name_forms(told)
    assert forms["Mrs. Alder"] == ("Mrs. Alder",)
    assert forms["Mr. Alder"] == ("Mr. Alder",)
    assert not any(form.startswith(("Poor", "Dear")) for form in forms)


def test_a_name_in_single_quotation_marks_is_read_with_its_title() -> None:
    told = ["Mr. Alder came in.", "Then Mrs. Alder said no.", "He read his notes: 'Mrs. Alder.' Yes, said d’Alder."]
    forms = name_forms(told)
    assert forms["Mrs. Alder"] == ("Mrs. Alder",)
    assert "Alder" not in forms


@pytest.mark.parametrize("space", [" ", "\n"])
def test_a_place_in_a_persons_name_may_be_found_there(space: str) -> None:
    """Who looks for Austria finds Anne of Austria, too, so that the paragraph counts against both."""
    fill = "They spoke of nothing but the weather for an hour, and then they all went home by the lower road."
    text = f"CHAPTER I\n\nIt came from Anne of{space}Austria. {fill}\n\nHe went to Austria. {fill}\n\n{10 * fill}"
    book = parse_book(text.encode(), "x.txt")
    graph = build_graph(book)
    (austria,) = [one.id for one in graph.entities if one.name == "Austria"]
    reader = WindowReader(book, make_table(book), graph)
    shown = reader.view(list_windows(book, reader.table, 40, 500)[0]).paragraphs
    held = [block for block, row in enumerate(graph.by_block) if any(austria in one.within for one in row)]
    assert [one.block for one in shown if austria in one.possible - one.sure] == held != []


def test_a_place_within_the_name_of_another_proves_nothing() -> None:
    forms = name_forms([
        "They lived at Dunmere Park.", "She went to Dunmere Park.", "He walked in Dunmere Wood.",
        "He came from Dunmere.", "They were at Dunmere.", "She stayed in Dunmere.", "He slept at Dunmere Wood.",
    ])  # fmt: skip
    assert len(forms["Dunmere"]) == 1
    assert len(forms["Dunmere Park"]) == 2


FILL = "They spoke of nothing but the weather for an hour, and then they all went home by the lower road."


def view(*paragraphs: str) -> list[NamedParagraph]:
    """The paragraphs of a book of two chapters as steps see them, without the headings."""
    return [one for one in view_window(*paragraphs).paragraphs if one.usable][: len(paragraphs)]


def view_window(*paragraphs: str) -> NamedWindow:
    """A book of two chapters as steps see it."""
    paragraphs = tuple(f"{one} {FILL} {FILL}" for one in paragraphs)
    half = len(paragraphs) // 2
    chapters = ("\n\n".join(paragraphs[:half]), "\n\n".join(paragraphs[half:]))
    text = f"CHAPTER I\n\n{chapters[0]}\n\nCHAPTER II\n\n{chapters[1]}\n\n{10 * FILL}"
    book = parse_book(text.encode(), "x.txt")
    reader = WindowReader(book, make_table(book), build_graph(book))
    total = reader.table.sums[-1]
    return reader.view(list_windows(book, reader.table, total, total)[0])


@pytest.mark.parametrize(
    "words",
    [
        "her aunt", "my lady", "my young lady", "his old master", "his lordship", "the old colonel", "two sisters",
        "his mother-in-law", "her husband",
    ],
)  # fmt: skip
def test_who_is_there_without_a_name_is_known_to_be_there(words: str) -> None:
    named = [f"Mr. Alder met Mrs. Alder and {end}. {FILL}" for end in (words, "went home", "was out", "smiled")]
    assert [one.unnamed for one in view(*named)] == [True, False, False, False]
    assert not any(one.unknown for one in view(*named))


@pytest.mark.parametrize("title", ["the Colonel", "Aunt", "Mamma"])
def test_a_title_alone_counts_as_the_name_of_somebody(title: str) -> None:
    named = [f"Mr. Alder met Mrs. Alder and {end}. {FILL}" for end in (title, "went home", "was out", "smiled")]
    assert [one.unknown for one in view(*named)] == [True, False, False, False]


def test_a_castle_is_not_its_count() -> None:
    forms = name_forms(["Count Alder came.", "Then Count Alder said no.", "They saw Castle Alder.", "In Castle Alder."])
    assert forms["Castle Alder"] == ("Castle Alder",)
    assert forms["Count Alder"] == ("Count Alder",)


def test_a_rare_surname_is_part_of_the_name() -> None:
    forms = name_forms([*(f"Ellen said so {number}." for number in range(3)), "They heard Ellen Terwick sing."])
    assert len(forms["Ellen Terwick"]) == 1


def test_a_list_of_daughters_is_not_those_who_bear_the_same_names() -> None:
    told = [f"Caroline said so {number}." for number in range(5)]
    told += ["He has three daughters--Emma, Jane, and Caroline."]
    shown = view(*(f"{one} {FILL}" for one in told))
    assert [len(one.sure) for one in shown] == [1, 1, 1, 1, 1, 0]
    assert [one.unknown for one in shown] == [False] * 5 + [True]


def test_the_elder_of_a_name_is_nobody_surely() -> None:
    told = ["Lord Alder came.", "Then Lord Alder said no.", "He knew old Lord Alder.", "They met Lord Alder."]
    assert [bool(one.sure) for one in view(*told)] == [True, True, False, True]
    (lord,) = view(*told)[0].sure
    assert all(lord in one.possible for one in view(*told))


def test_a_family_is_not_the_one_of_it_who_is_known() -> None:
    told = ["William Goulder came.", "They met William Goulder.", "The Goulders were out with the Goulders."]
    forms = name_forms(told)
    assert forms["Goulders"] == ()


def test_a_rare_bearer_of_a_given_name_does_not_take_it() -> None:
    """Jack is the doctor, who is mostly called by his surname, and not the one who is named once."""
    told = [f"Dr. Alder wrote {number}." for number in range(20)]
    told += ["Jack Alder came.", "They met Jack Alder.", "They spoke of Jack Sheffield.", "Then Jack said so."]
    assert name_forms(told)["Jack"] == ("Dr. Alder",)


def test_whoever_is_named_outside_the_spoken_words_may_be_the_speaker() -> None:
    told = [
        "“Mrs. Alder is out,” said Mr. Alder. ", "“No,” growled Captain Rusk. ", "Mr. Alder saw Mrs. Alder. ",
        "“Yes,” said Mrs. Alder to Mr. Alder. ", "“Yes.” ", "Captain Rusk met Mr. Alder. ",
    ]  # fmt: skip
    shown = view(*(one + FILL for one in told))
    (husband,), (rusk,) = shown[0].voices, shown[1].voices
    (wife,) = shown[3].voices - {husband}
    assert [one.voices for one in shown] == [{husband}, {rusk}, frozenset(), {husband, wife}, frozenset(), frozenset()]
    assert [one.speakers for one in shown[:4]] == [(husband,), (), (), (wife,)]


def test_whoever_answers_in_told_words_did_not_ask() -> None:
    told = [
        "“Come in,” cried the old man. “Is it true?” Mrs. Alder replied that it was. ",
        "“Is it true?” Mrs. Alder asked. ", "Mrs. Alder met Mr. Alder. ", "Mr. Alder saw Mrs. Alder. ",
    ]  # fmt: skip
    shown = view(*(one + FILL for one in told))
    assert not shown[0].speakers and len(shown[1].speakers) == 1


def test_a_chapter_is_told_by_the_number_in_its_heading() -> None:
    assert [one.heading for one in view(*(f"Mr. Alder came. {FILL}" for _ in range(4)))] == [1, 1, 2, 2]


@pytest.mark.parametrize(
    ("heading", "number"),
    [
        ("CHAPTER XLIX. The Moor", 49), ("Chapter 12", 12), ("3 THE AUDIENCE", 3), ("IV", 4), ("PROLOGUE", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_number_of_a_heading_is_read(heading: str, number: int | None) -> None:
    assert read_number(heading) == number
