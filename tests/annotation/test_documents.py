"""Tasks about questions over documents: they fit the interface, and mark the gold spans and the answers in them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from annotation.documents import build_document_task, write_document_tasks
from annotation.forms import check_task, load_document_interface, parse_interface
from hopwright.errors import InputError
from hopwright.exports.document_set import read_set
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.records import Evidence, Item
from tests.builders import chain_item
from tests.knowledge.documents.builders import add, write_lines

TEXT = "It opened late. Night Harbour was directed by Ada Lindqvist. It was <b>liked</b> by Ada Lindqvist."


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    rows = [{"id": "n", "title": "Night Harbour", "text": TEXT, "licence": "CC0"}]
    add(write_lines(tmp_path / "a.jsonl", rows), tmp_path / "corpus")
    return CorpusStore.open(tmp_path / "corpus")


def cite(store: CorpusStore, sentence: str) -> Item:
    """The example with its first hop resting on a sentence of the corpus."""
    item = chain_item()
    document, _, _ = store.find("n")
    start = document.text.index(sentence)
    span = document.cite(start, start + len(sentence))
    first = item.hops[0].model_copy(update={"evidence": Evidence.of(spans=[span]), "verify": "look <here>"})
    return item.model_copy(update={"hops": (first, *item.hops[1:]), "options": {}, "label": None})


def test_a_task_shows_the_passage_with_its_span_and_the_answer_in_it(tmp_path: Path, store: CorpusStore) -> None:
    item = cite(store, "Night Harbour was directed by Ada Lindqvist.")
    assert write_document_tasks(store, [item], tmp_path / "review") == 1
    (task,) = json.loads((tmp_path / "review" / "tasks.json").read_text("utf-8"))
    check_task(task, parse_interface(load_document_interface()))
    page = task["data"]["item_html"]
    marked = re.findall(r'<mark class="hw-mark-(\w+)">(.*?)</mark>', page)
    assert marked == [("clue", "Night Harbour was directed by "), ("answer", "Ada Lindqvist"), ("clue", ".")]
    assert "&lt;b&gt;liked" in page
    assert "look &lt;here&gt;" in page
    assert "CC0" in page
    shown = re.sub(r"<.*?>", "", page[page.index('class="hw-paragraph"') :].split("</div>")[0].partition(">")[2])
    assert shown == TEXT.replace("<", "&lt;").replace(">", "&gt;"), "the passage is whole"
    assert "Not in the passages" in (tmp_path / "review" / "interface.xml").read_text("utf-8")


def test_a_changed_item_changes_the_hash(store: CorpusStore) -> None:
    item = cite(store, "It opened late.")
    changed = item.model_copy(update={"question": f"{item.question}?"})
    one, other = (build_document_task(held, store)["data"]["item_hash"] for held in (item, changed))
    assert one != other


def test_a_corpus_that_does_not_hold_the_span_gets_one_line(tmp_path: Path, store: CorpusStore) -> None:
    rows = [{"id": "o", "title": "Other", "text": "Nothing of it."}]
    add(write_lines(tmp_path / "b.jsonl", rows), tmp_path / "other")
    with pytest.raises(InputError, match="does not hold what the items cite"):
        write_document_tasks(
            CorpusStore.open(tmp_path / "other"), [cite(store, "It opened late.")], tmp_path / "review"
        )


def test_only_a_set_over_documents_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no set of questions over documents"):
        read_set(tmp_path)
    (tmp_path / "items.jsonl").write_text('{"id": 1}\n')
    (tmp_path / "qrels.trec").write_text("")
    with pytest.raises(InputError, match=r"items\.jsonl line 1"):
        read_set(tmp_path)
    (tmp_path / "items.jsonl").write_text("")
    with pytest.raises(InputError, match="no items in it"):
        read_set(tmp_path)
