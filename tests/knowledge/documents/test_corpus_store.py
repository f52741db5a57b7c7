from __future__ import annotations

import json
import os
import socket
import tarfile
from pathlib import Path

import numpy as np
import pytest

from hopwright.errors import InputError, RunError, StoreError
from hopwright.knowledge.documents import adding, parts, store
from hopwright.knowledge.documents.adding import list_left_out
from hopwright.knowledge.documents.duplicates import NearDuplicateIndex
from hopwright.knowledge.documents.format import MANIFEST, read_manifest
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.runs.files import hold_lock
from tests.knowledge.documents.builders import add, make_passages, write_lines

OSLO = {"id": "o", "title": "Oslo", "text": "Oslo is the capital of Norway. It lies by a fjord.", "license": "CC0"}
ROME = {"id": "r", "title": "Rome", "text": "Rome is the capital of Italy.", "url": "https://example.org/rome"}


def test_passages_are_cut_from_documents_that_stay_whole(tmp_path: Path) -> None:
    report = add(write_lines(tmp_path / "a.jsonl", [OSLO, ROME]), tmp_path / "c", passage_words=6, licence="CC BY-SA")
    assert (report.documents, report.passages) == (2, 3)
    store = CorpusStore.open(tmp_path / "c", verify=True)
    texts = [(one.title, one.text) for one in store.passages(range(3))]
    assert texts[:2] == [("Oslo", "Oslo is the capital of Norway."), ("Oslo", "It lies by a fjord.")]
    assert texts[2] == ("Rome", ROME["text"])
    second = store.passage(1)
    assert second.contents == '"Oslo"\nIt lies by a fjord.'
    document, span, original = store.find(second.id)
    assert document.text == OSLO["text"]
    assert span is not None
    assert (span.start, span.end, span.text) == (31, 50, second.text)
    assert original == "o"


def test_source_licence_and_revision_are_the_documents_own_else_those_given(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", [OSLO, {**ROME, "revid": 77}])
    add(path, tmp_path / "c", licence="CC BY-SA", revision="2018-12-20")
    first, second = CorpusStore.open(tmp_path / "c").documents()
    assert (first.licence, first.revision, first.source) == ("CC0", "2018-12-20", str(path))
    assert (second.licence, second.revision, second.source) == ("CC BY-SA", "77", ROME["url"])


def test_documents_are_found_by_their_own_and_by_the_sources_id(tmp_path: Path) -> None:
    add(write_lines(tmp_path / "a.jsonl", [OSLO, ROME]), tmp_path / "c")
    store = CorpusStore.open(tmp_path / "c")
    assert store.find("r")[0].title == store.find(store.find("r")[0].id)[0].title == "Rome"
    with pytest.raises(InputError, match="nothing in this corpus has the id 'x'"):
        store.find("x")
    with pytest.raises(InputError, match="has no characters 3 to 999"):
        store.find(f"{store.find('r')[0].id}:3-999")


def test_ids_follow_from_content_alone(tmp_path: Path) -> None:
    add(write_lines(tmp_path / "a.jsonl", [OSLO, ROME]), tmp_path / "one")
    add(write_lines(tmp_path / "b.jsonl", [{**ROME, "id": "other"}]), tmp_path / "two")
    add(write_lines(tmp_path / "c.jsonl", [OSLO]), tmp_path / "two")
    ids = [{one.id for one in CorpusStore.open(tmp_path / name).documents()} for name in ("one", "two")]
    assert ids[0] == ids[1]


def test_duplicates_are_left_out_within_a_source_and_across_and_counts_add_up(tmp_path: Path) -> None:
    long = " ".join(one["text"] for one in make_passages(20))
    rows = [OSLO, {**OSLO, "id": "again"}, {"title": "L", "text": long}, {"title": "L", "text": f"{long} once more"}, 5]
    report = add(write_lines(tmp_path / "a.jsonl", rows), tmp_path / "c", max_malformed=0.5)
    counts = report.counts
    assert (counts.found, counts.added, counts.duplicates, counts.near_duplicates, counts.malformed) == (5, 2, 1, 1, 1)
    again = add(write_lines(tmp_path / "b.jsonl", rows[:4]), tmp_path / "c").counts
    assert (again.found, again.added, again.duplicates, again.near_duplicates) == (4, 0, 3, 1)
    lines = [json.loads(line) for line in report.left_out.read_text().splitlines()]
    assert sorted((line["place"], line["why"]) for line in lines) == [
        ("line 2", "duplicates"),
        ("line 4", "near_duplicates"),
        ("line 5", "malformed"),
    ]
    assert "an object is wanted, not a number" in "".join(list_left_out(report.left_out, 9))
    exact = add(write_lines(tmp_path / "d.jsonl", rows[:4]), tmp_path / "e", near_duplicates=0).counts
    assert (exact.added, exact.duplicates, exact.near_duplicates) == (3, 1, 0)


def test_batches_and_parts_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = make_passages(60) + make_passages(60, seed=1) + make_passages(60)
    source = write_lines(tmp_path / "a.jsonl", rows)
    whole = add(source, tmp_path / "whole")
    monkeypatch.setattr(adding, "_BATCH", 7)
    monkeypatch.setattr(parts, "_PART_ROWS", 20)
    cut = add(source, tmp_path / "cut")
    assert cut.counts == whole.counts
    assert len(read_manifest(tmp_path / "cut").parts) > 3
    one, other = (CorpusStore.open(tmp_path / name, verify=True) for name in ("whole", "cut"))
    assert list(one.passages(range(len(one)))) == list(other.passages(range(len(other))))
    assert one.hashes.tolist() == other.hashes.tolist()
    assert len(set(one.hashes.tolist())) == len(one)


def test_contents_are_read_in_blocks_as_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_BATCH", 4)
    monkeypatch.setattr(parts, "_PART_ROWS", 30)
    long = {"title": "Þórður", "text": " ".join(f"Þórður skrifaði {number} blöð í Reykjavík." for number in range(40))}
    source = write_lines(tmp_path / "a.jsonl", [*make_passages(50), long, OSLO])
    add(source, tmp_path / "whole", near_duplicates=0)
    add(source, tmp_path / "cut", passage_words=9, near_duplicates=0)
    for name in ("whole", "cut"):
        corpus = CorpusStore.open(tmp_path / name)
        for step in (1, 3):
            chosen = np.arange(len(corpus)) % step == 0
            read = list(corpus.read_contents(chosen))
            assert all(4 <= len(rows) < 8 for rows, _ in read[:-1])
            rows = np.concatenate([rows for rows, _ in read])
            contents = [text for _, texts in read for text in texts.to_pylist()]
            assert contents == [passage.contents for passage in corpus.passages(np.flatnonzero(chosen))]
            assert rows.tolist() == np.flatnonzero(chosen).tolist()


def test_too_many_malformed_rows_add_nothing(tmp_path: Path) -> None:
    add(write_lines(tmp_path / "a.jsonl", [OSLO]), tmp_path / "c")
    before = sorted(path.name for path in (tmp_path / "c").iterdir()), (tmp_path / "c" / MANIFEST).read_bytes()
    bad = write_lines(tmp_path / "b.jsonl", [ROME, {"title": "none"}])
    with pytest.raises(InputError, match=r"1 of 2 documents are malformed.*b\.jsonl, line 2: none of.*--max-malformed"):
        add(bad, tmp_path / "c")
    assert len(CorpusStore.open(tmp_path / "c", verify=True)) == 1
    add(bad, tmp_path / "c", max_malformed=0.5)
    assert len(CorpusStore.open(tmp_path / "c", verify=True)) == 2
    assert (tmp_path / "c" / MANIFEST).read_bytes() != before[1]


def test_a_source_that_breaks_off_leaves_the_corpus_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adding, "_BATCH", 5)
    monkeypatch.setattr(parts, "_PART_ROWS", 5)
    add(write_lines(tmp_path / "a.jsonl", [OSLO]), tmp_path / "c")
    broken = tmp_path / "b.jsonl"
    write_lines(broken, make_passages(30))
    broken.write_bytes(broken.read_bytes()[:-5])
    with pytest.raises(InputError, match="ends in the middle of line 30"):
        add(broken, tmp_path / "c")
    assert len(CorpusStore.open(tmp_path / "c", verify=True)) == 1
    write_lines(broken, make_passages(30))
    add(broken, tmp_path / "c")
    assert len(CorpusStore.open(tmp_path / "c", verify=True)) == 31


def test_the_same_source_is_not_read_twice_but_in_another_way_it_is(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", [OSLO])
    assert not add(source, tmp_path / "c").reused
    assert add(source, tmp_path / "c").reused
    assert not add(source, tmp_path / "c", licence="CC0").reused
    assert read_manifest(tmp_path / "c").documents == 1


def test_a_folder_counts_the_files_that_it_passes_over(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("Some words.")
    (folder / "b.docx").write_bytes(b"PK")
    assert add(folder, tmp_path / "c").counts.files_skipped == 1
    (folder / "a.txt").unlink()
    with pytest.raises(InputError, match="no file of a known ending"):
        add(folder, tmp_path / "d")


def test_what_is_no_file_of_the_folder_is_counted_and_named(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "secret.txt"
    folder.mkdir()
    outside.write_text("Some secret words.")
    (folder / "a.txt").write_text("Some words.")
    os.mkfifo(folder / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(folder / "s.txt"))
    links = {"link": outside, "folder": tmp_path, "nowhere": tmp_path / "none", "ring": folder / "ring"}
    for name, target in links.items():
        (folder / name).symlink_to(target)
    (folder / "own.txt").symlink_to(folder / "a.txt")
    with tarfile.open(folder / "b.tar", "w") as tar:
        tar.add(folder / "link", "c.txt")
    report = add(folder, tmp_path / "c")
    assert (report.counts.found, report.counts.added, report.counts.files_skipped) == (2, 2, 7)
    lines = list(list_left_out(report.left_out, 99))
    for name, reason in (
        ("pipe.txt", "it is a pipe, not a file"), ("s.txt", "it is a socket, not a file"),
        ("link", "a link that leads out of the folder"), ("folder", "a link that leads out of the folder"),
        ("nowhere", "a link that leads nowhere"), ("ring", "a link that leads in a ring"),
        ("b.tar:c.txt", "a link or a device in an archive"),
    ):  # fmt: skip
        assert f"{folder}/{name}, the file: {reason}" in lines
    assert CorpusStore.open(tmp_path / "c").document(0).text == "Some words."
    (folder / "a.txt").unlink()
    (folder / "own.txt").unlink()
    (folder / "b.tar").unlink()
    with pytest.raises(InputError, match=r"no file in it that is read: .*folder/folder is skipped, a link"):
        add(folder, tmp_path / "d")


def test_a_batch_ends_when_it_has_much_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def sift(self: NearDuplicateIndex, texts: list[str], first_row: int) -> list[None]:
        sizes.append(len(texts))
        return [None] * len(texts)

    monkeypatch.setattr(adding, "_BATCH_CHARACTERS", 1_000)
    monkeypatch.setattr(NearDuplicateIndex, "sift", sift)
    source = write_lines(tmp_path / "a.jsonl", [{"title": str(n), "text": "x" * 400} for n in range(7)])
    assert add(source, tmp_path / "c").counts.added == 7
    assert sizes == [3, 3, 1]


def test_damage_is_noticed_and_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no corpus in .*hopwright corpus add"):
        CorpusStore.open(tmp_path / "c")
    add(write_lines(tmp_path / "a.jsonl", [OSLO]), tmp_path / "c")
    part = tmp_path / "c" / "documents-00000.arrow"
    content = part.read_bytes()
    part.write_bytes(content.replace(b"capital", b"Capital"))
    with pytest.raises(StoreError, match=r"documents-00000\.arrow is damaged"):
        CorpusStore.open(tmp_path / "c", verify=True)
    part.write_bytes(content[:100])
    with pytest.raises(StoreError, match=r"documents-00000\.arrow is gone or damaged"):
        CorpusStore.open(tmp_path / "c")
    part.unlink()
    with pytest.raises(StoreError, match=r"documents-00000\.arrow is gone"):
        CorpusStore.open(tmp_path / "c", verify=True)
    (tmp_path / "c" / MANIFEST).write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        CorpusStore.open(tmp_path / "c")


def test_two_processes_do_not_add_to_one_corpus_at_once(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", [OSLO])
    with hold_lock(tmp_path / "c" / ".lock", "it"), pytest.raises(RunError, match="the corpus c is being written"):
        add(source, tmp_path / "c")
