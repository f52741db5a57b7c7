"""Renaming: every form of a name at once, places that move with the text, and nothing else changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.knowledge.books.mentions import build_graph
from hopwright.knowledge.books.reading import parse_book
from hopwright.novels.dataset import apply_edits
from hopwright.novels.renaming import Edit, make_renaming, rename_book, rename_word
from tests.novels.story import tell_story

TEXT = (
    "CHAPTER I\n\n"
    + "Mr. Alder met Elizabeth Alder at Brackwater. “Lizzy is late,” said Mr. Alder. The Alders went home. Elizabeth's "
    "hat was lost in Brackwater, and Lizzy cried. Mr. Alder's dog barked at Brackwater. ALDER was on the door. "
    "Lizzy said it was nothing. Elizabeth had a letter. An alder grew by the gate. " * 4
    + "\n\nMR. ALDER IN BRACKWATER\n\nThen Elizabeth smiled."
)  # fmt: skip


def test_all_forms_of_a_name_are_renamed_and_nothing_else() -> None:
    book = parse_book(TEXT.encode(), "x.txt")
    renaming = make_renaming(book, build_graph(book), 0)
    renamed = rename_book(book, renaming.edits)
    shown = "\n".join(renamed.show_block(number) for number in range(len(renamed.blocks)))
    for old in ("Elizabeth", "Lizzy", "Brackwater", "Mr. Alder", "Alders", "Alder's"):
        assert old not in shown
    assert "An alder grew by the gate" in shown
    new = renaming.words["Alder"]
    assert f"Mr. {new}" in shown
    assert f"The {new}s went home" in shown
    assert f"Mr. {new}'s dog" in shown
    # A short form gets the short form of the new name.
    assert build_graph(renamed).surfaces[renaming.rename("Lizzy")] == build_graph(renamed).surfaces[
        renaming.rename("Elizabeth")
    ]


def test_blocks_move_with_the_text_and_bytes_are_stable() -> None:
    book = parse_book(tell_story().encode(), "x.txt")
    graph = build_graph(book)
    renaming = make_renaming(book, graph, 3)
    assert renaming == make_renaming(book, graph, 3)
    assert renaming.words != make_renaming(book, graph, 4).words
    renamed = rename_book(book, renaming.edits)
    assert renamed.text == apply_edits(book.text, renaming.edits)
    for number, block in enumerate(book.blocks):
        inside = [one for one in renaming.edits if block.start <= one.start < block.end]
        shifted = [Edit(one.start - block.start, one.end - block.start, one.new) for one in inside]
        expected = apply_edits(book.text[block.start : block.end], shifted)
        place = renamed.blocks[number]
        assert renamed.text[place.start : place.end] == expected


def test_surrogates_are_new_and_differ() -> None:
    book = parse_book(tell_story().encode(), "x.txt")
    words = make_renaming(book, build_graph(book), 0).words
    assert len(set(words.values())) == len(words)
    assert all(new not in book.text for new in words.values())


@given(
    st.text("abcXYZ ", max_size=60),
    st.lists(st.tuples(st.integers(0, 59), st.integers(0, 5), st.text("pq", max_size=4))),
)
def test_edits_keep_what_lies_between(text: str, drawn: list[tuple[int, int, str]]) -> None:
    edits: list[Edit] = []
    for start, length, new in sorted(drawn):
        end = min(start + length, len(text))
        if start <= end and start < len(text) and (not edits or start >= edits[-1].end):
            edits.append(Edit(start, end, new))
    made = apply_edits(text, edits)
    assert len(made) == len(text) + sum(len(one.new) - (one.end - one.start) for one in edits)
    assert apply_edits(text, []) == text


@pytest.mark.parametrize(
    ("word", "new"),
    [("Alder", "Fenby"), ("Alders", "Fenbys"), ("Alder's", "Fenby's"), ("Alder’s", "Fenby’s"), ("ALDER", "FENBY"),
     ("alder", ""), ("Elder", "")],
)  # fmt: skip
def test_a_word_is_renamed_in_all_its_forms(word: str, new: str) -> None:
    assert rename_word(word, {"Alder": "Fenby"}) == new


def test_known_books_are_renamed_whole() -> None:
    path = Path(__file__).resolve().parents[3] / "shared" / "data" / "novels" / "pride_and_prejudice.txt"
    if not path.is_file():
        pytest.skip("the novels are not beside the checkout")
    book = parse_book(path.read_bytes(), path.name)
    renamed = rename_book(book, make_renaming(book, build_graph(book), 0).edits)
    first, last = renamed.blocks[0].start, renamed.blocks[-1].end
    shown = renamed.show(first, last)
    for name in ("Darcy", "Bennet", "Lizzy", "Pemberley", "Longbourn", "Wickham", "DARCY"):
        assert name not in shown
