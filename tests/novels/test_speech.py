"""Who says what, which place is meant and which chapter: as steps, the second count and the brute force read them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hopwright.knowledge.books.mentions import build_graph
from hopwright.knowledge.books.reading import parse_book
from hopwright.knowledge.books.tokens import make_table
from hopwright.knowledge.books.windows import WindowReader, list_windows
from hopwright.knowledge.named_windows import NamedParagraph, NamedWindow
from hopwright.novels.book_names import describe_book
from hopwright.novels.counted_text import Paragraph
from hopwright.novels.counting import WindowCounter
from hopwright.planning.mention_steps import read_only_voice
from tests.novels.brute_force import BookFiles, Passage

FILL = "They spoke of nothing but the weather for an hour, and then they all went home by the lower road."
CAST = (
    "Mr. Alder came in.", "Mrs. Cray came in.", "Then Mr. Alder saw Mrs. Cray.", "Mr. Alder wrote to Jane Moll.",
    "Then Mrs. Cray saw Jane Moll.", "Mr. Alder knew Jane.", "Mr. Alder lived in Walworth.", "He went to Walworth.",
    "Mrs. Cray came from Walworth.",
)  # fmt: skip
"""Who is who: with their titles, and where they live."""


@dataclass(frozen=True)
class Readings:
    """One paragraph as the three read it, and the numbers of the names."""

    step: NamedParagraph
    count: Paragraph
    brute: Passage
    names: dict[str, int]


def read(paragraph: str) -> Readings:
    """A paragraph at the end of a book of a few people."""
    last = f"{paragraph} {FILL} {FILL}"
    body = "\n\n".join(f"{one} {FILL} {FILL}" for one in CAST)
    text = f"CHAPTER I\n\n{body}\n\n{last}"
    book = parse_book(text.encode(), "x.txt")
    graph = build_graph(book)
    reader = WindowReader(book, make_table(book), graph)
    names = describe_book(book, graph)
    total = reader.table.sums[-1]
    (window,) = list_windows(book, reader.table, total, total)
    counter = WindowCounter(names, text[window.start : window.end], window.start)
    brute = Passage(BookFiles(names.model_dump(mode="json"), text), text.index(last), last)
    known = {one.name: one.id for one in graph.entities if one.name}
    return Readings(reader.view(window).paragraphs[-1], counter.paragraphs[-1], brute, known)


@pytest.mark.parametrize(
    ("paragraph", "sure"),
    [
        ("“It rains,” said Mr. Alder.", True),
        ("“It rains,” said Mr. Alder, as he folded up the letter. “Let us stay.”", True),
        ("“It rains,” said Mr. Alder; “let us stay.” “Let us stay,” repeated Mr. Alder.", True),
        ("Mr. Alder said to me, “It rains. Let us stay.”", True),
        ("“It rains?” Mr. Alder asked. “Let us stay.”", True),
        ("“What is it to Mr. Alder?” I inquired. “Ask him,” says Mr. Alder.", False),
        ("“It rains.” I winked. “Let us stay,” said Mr. Alder.", False),
        ("“It rains,” said Mr. Alder. He looked up. “Let us stay.”", False),
        ("“It rains,” said Mr. Alder. “Let us stay,” she added.", False),
        ("“It rains,” said Mr. Alder. “Let us stay,” said the housekeeper.", False),
        ("“It rains,” said Mr. Alder. “Let us stay.” “Why?” And he was gone.", False),
        ("“It rains.” Mr. Alder went out.", False),
    ],
)
def test_one_speaks_where_every_quotation_is_surely_said_by_one(paragraph: str, sure: bool) -> None:
    found = read(paragraph)
    assert (read_only_voice(found.step) is not None) == sure
    assert (found.brute.only_voice is not None) == sure
    # The second count looks for the speaker beside the words, too.
    assert not found.count.shared or not sure
    assert found.count.shared or sure


@pytest.mark.parametrize(
    ("form", "called"), [("Jane Moll", True), ("Jane", True), ("Miss Moll", True), ("Mrs. Cray", False)]
)
def test_a_name_is_said_where_a_word_of_it_is(form: str, called: bool) -> None:
    """A title says nothing, and what is another name does not."""
    found = read(f"“I saw {form} in the road,” said Mr. Alder. Jane Moll and Miss Moll were out.")
    jane = found.names["Jane Moll"]
    assert (jane in found.step.called) == (jane in found.count.called) == (jane in found.brute.called)
    assert (jane in found.step.called) == called


@pytest.mark.parametrize(
    ("place", "strange"),
    [
        ("Walworth", False), ("Walworth or Mile End", True), ("Walworth, or of Mile End", True),
        ("Walworth on Monday", False),
    ],
)  # fmt: skip
def test_a_place_beside_another_that_is_not_known_is_not_sure(place: str, strange: bool) -> None:
    found = read(f"“There is a byway of {place},” said Mr. Alder.")
    assert (found.step.things, found.count.things, found.brute.has_things) == (strange, strange, strange)


def view(*parts: str) -> tuple[NamedWindow, WindowCounter]:
    """A book of two parts with two chapters each, the second of which counts from 1 or on."""
    chapters = [f"CHAPTER {number}\n\n" + "\n\n".join(f"{one} {FILL} {FILL}" for one in CAST) for number in "12134"]
    text = "\n\n".join(["" if not parts else parts[0], *chapters[:2], *(parts[1:]), *chapters[2:]])
    book = parse_book(text.encode(), "x.txt")
    graph = build_graph(book)
    reader = WindowReader(book, make_table(book), graph)
    total = reader.table.sums[-1]
    (window,) = list_windows(book, reader.table, total, total)
    names = describe_book(book, graph)
    assert {one.volume for one in book.chapters} == {one.volume for one in names.chapters}
    return reader.view(window), WindowCounter(names, text[window.start : window.end], window.start)


@pytest.mark.parametrize(
    ("parts", "told"), [((), True), (("VOLUME I", "VOLUME II"), True), (("FIRST PERIOD", "SECOND PERIOD"), False)]
)
def test_chapters_that_count_anew_are_told_by_their_volume(parts: tuple[str, ...], told: bool) -> None:
    """Two have the number 1; what is not called a volume tells nobody which one is meant."""
    window, counter = view(*parts)
    assert set(window.chapters) == ({3} if told else set())
    numbers = {None, 2, 3, 4} if told else {None}
    assert {one.heading for one in window.paragraphs} == set(counter._headings) == numbers
