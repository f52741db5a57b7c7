"""Questions over documents → Label Studio tasks: the question, and for each hop its passages, the gold spans marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.export import seal_task, write_tasks
from annotation.forms import Task, load_document_interface
from annotation.schema import FIX_ANSWER, FIX_QUESTION
from hopwright.errors import InputError
from hopwright.foreign import drop_controls
from hopwright.knowledge.documents.store import CorpusStore, CorpusText
from hopwright.records import Hop, Item, Span
from hopwright.reporting.rendering import load_template
from hopwright.text.mentions import find_mentions

_KINDS = {"lookup": "look-up", "read_span": "reading", "compute": "computation"}


@dataclass(frozen=True, slots=True)
class PassageView:
    """A passage as the page shows it: its title, where it comes from, and its text in marked and plain pieces."""

    title: str
    origin: str
    pieces: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DocumentHopView:
    """A hop as the page shows it."""

    index: int
    kind: str
    question: str
    answer: str
    aliases: tuple[str, ...]
    verify: str
    passages: tuple[PassageView, ...]


def write_document_tasks(store: CorpusStore, items: Sequence[Item], folder: Path) -> int:
    """Write `interface.xml` and `tasks.json`, to be imported into a project; returns the number of tasks.

    Every task is held against the interface first. Raises InputError for one that does not fit, and where the corpus
    does not hold what an item cites.
    """
    xml = load_document_interface()
    return write_tasks(xml, [build_document_task(item, store) for item in items], folder)


def build_document_task(item: Item, store: CorpusStore) -> Task:
    """One task. `data.item_hash` changes when anything that is shown or pre-filled changes."""
    fixed = {FIX_QUESTION: drop_controls(item.question), FIX_ANSWER: drop_controls(item.answer)}
    page = load_template("annotation", "document.html.j2").render(
        item=item, corpus=store.folder.name, hops=[_view(hop, store) for hop in item.hops]
    )
    data: dict[str, Any] = {
        "item_id": item.id,
        "kind": "document",
        "question": fixed[FIX_QUESTION],
        "answer": fixed[FIX_ANSWER],
        "topology": item.topology,
        "variant": item.variant,
        "item_html": drop_controls(page),
    }
    return seal_task(data, fixed)


def _view(hop: Hop, store: CorpusStore) -> DocumentHopView:
    names = [name for name in (hop.answer, *hop.answer_aliases) if len(name) > 1]
    return DocumentHopView(
        index=hop.index,
        kind=_KINDS.get(hop.derivation.op, hop.derivation.op),
        question=hop.question,
        answer=hop.answer,
        aliases=hop.answer_aliases,
        verify=hop.verify,
        passages=tuple(_list_passages(hop.evidence.spans, names, store)),
    )


def _list_passages(spans: Sequence[Span], names: Sequence[str], store: CorpusStore) -> Iterator[PassageView]:
    """The passages that hold the spans, each once, in the order in which they are cited."""
    shown: dict[str, tuple[CorpusText, list[Span]]] = {}
    for span in spans:
        passages = store.passages_at(span.document, span.start, span.end)
        if not passages:
            raise InputError(
                f"{store.folder}: it does not hold what the items cite ({span.document}); name the corpus that they "
                "were made from"
            )
        for passage in passages:
            shown.setdefault(passage.id, (passage, []))[1].append(span)
    for passage, held in shown.values():
        document, _, _ = store.find(passage.document)
        origin = ", ".join(filter(None, (document.source, document.licence, document.revision)))
        yield PassageView(passage.title, origin, tuple(_cut(passage, held, names)))


def _cut(passage: CorpusText, spans: Sequence[Span], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The passage in pieces, each with its mark: `clue` for a gold span, `answer` for the answer in one, or none."""
    marks = ["" for _ in passage.text]
    for span in spans:
        low, high = max(span.start - passage.start, 0), min(span.end - passage.start, len(marks))
        marks[low:high] = ["clue"] * (high - low)
    for name in names:
        for start in find_mentions(passage.text, name):
            if "" not in marks[start : start + len(name)]:
                marks[start : start + len(name)] = ["answer"] * len(name)
    at = 0
    for place in range(1, len(marks) + 1):
        if place == len(marks) or marks[place] != marks[at]:
            yield passage.text[at:place], marks[at]
            at = place
