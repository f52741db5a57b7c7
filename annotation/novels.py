"""Questions about novels → Label Studio tasks: the question, and for each hop its paragraphs with the names marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.export import seal_task, write_tasks
from annotation.forms import Task, load_novel_interface
from annotation.schema import FIX_ANSWER, FIX_QUESTION
from hopwright.foreign import drop_controls
from hopwright.knowledge.books.book import plain_lines
from hopwright.novels.dataset import BookTexts, NovelSet
from hopwright.novels.records import NovelHop, NovelItem, Stretch
from hopwright.records import ReadSpan
from hopwright.reporting.rendering import load_template

_GAP = re.compile(r"\r?\n(?:[ \t\f]*\r?\n)+|\r\r+")
_FAR = 4000
"""Characters in which the paragraphs before and after are looked for."""


@dataclass(frozen=True, slots=True)
class ParagraphView:
    """A paragraph as the page shows it: where it stands, its text in marked and plain pieces, and its neighbours."""

    place: str
    pieces: tuple[tuple[str, str], ...]
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class NovelHopView:
    """A hop as the page shows it."""

    index: int
    kind: str
    question: str
    answer: str
    aliases: tuple[str, ...]
    paragraphs: tuple[ParagraphView, ...]


def write_novel_tasks(found: NovelSet, texts: BookTexts, items: Sequence[NovelItem], folder: Path) -> int:
    """Write `interface.xml` and `tasks.json`, to be imported into a project; returns the number of tasks.

    Every task is held against the interface first. Raises InputError for one that does not fit, and where a book's
    text is not at hand.
    """
    xml = load_novel_interface()
    return write_tasks(xml, [build_novel_task(item, found, texts) for item in items], folder)


def build_novel_task(item: NovelItem, found: NovelSet, texts: BookTexts) -> Task:
    """One task. `data.item_hash` changes when anything that is shown or pre-filled changes."""
    fixed = {FIX_QUESTION: drop_controls(item.question), FIX_ANSWER: drop_controls(item.answer)}
    page = load_template("annotation", "novel.html.j2").render(
        item=item,
        title=found.find_book(item.window.book).title,
        tokens=f"{item.window.tokens:,}",
        hops=[_view(hop, item, texts.read(item.window.book)) for hop in item.hops],
    )
    data: dict[str, Any] = {
        "item_id": item.id,
        "kind": "novel",
        "question": fixed[FIX_QUESTION],
        "answer": fixed[FIX_ANSWER],
        "topology": item.topology,
        "variant": item.variant,
        "item_html": drop_controls(page),
    }
    return seal_task(data, fixed)


def _view(hop: NovelHop, item: NovelItem, text: str) -> NovelHopView:
    return NovelHopView(
        index=hop.index,
        kind=hop.step,
        question=hop.question,
        answer=hop.answer,
        aliases=hop.answer_aliases,
        paragraphs=tuple(_view_paragraph(one, hop, item, text) for one in hop.paragraphs),
    )


def _view_paragraph(place: Stretch, hop: NovelHop, item: NovelItem, text: str) -> ParagraphView:
    window = item.window
    share = (place.start - window.start) / max(window.end - window.start, 1)
    before = _GAP.split(text[max(window.start, place.start - _FAR) : place.start].rstrip())[-1]
    after = _GAP.split(text[place.end : min(window.end, place.end + _FAR)].lstrip())[0]
    return ParagraphView(
        place=f"characters {place.start:,} to {place.end:,} of the book, {share:.0%} into the window",
        pieces=tuple(_cut(place, hop, text)),
        before=plain_lines(before),
        after=plain_lines(after),
    )


def _cut(place: Stretch, hop: NovelHop, text: str) -> list[tuple[str, str]]:
    """The paragraph in pieces, each with its mark: `answer`, `clue` for a name or words that the question gives, or
    none."""
    answer = (hop.derivation.start, hop.derivation.end) if isinstance(hop.derivation, ReadSpan) else None
    marks = {(span.start, span.end): "clue" for span in hop.evidence.spans}
    if hop.quoted is not None:
        marks[hop.quoted.start, hop.quoted.end] = "clue"
    if answer is not None:
        marks[answer] = "answer"
    pieces: list[tuple[str, str]] = []
    at = place.start
    for (start, end), mark in sorted(marks.items()):
        if at <= start and end <= place.end:
            pieces += [(plain_lines(text[at:start]), ""), (plain_lines(text[start:end]), mark)]
            at = end
    return [*pieces, (plain_lines(text[at : place.end]), "")]
