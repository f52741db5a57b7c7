"""Raw files of every shape in, a whole store or none out."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import os
import re
import signal
import subprocess
import sys
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from hopwright.errors import HopwrightError, InputError, StoreError
from hopwright.knowledge.wikidata.format import STORE_FILE
from hopwright.knowledge.wikidata.ingest import ingest
from hopwright.knowledge.wikidata.sources import CorpusFile
from hopwright.knowledge.wikidata.store import GraphStore
from tests.builders import TRIPLETS
from tests.knowledge.wikidata.builders import SAMPLE, write_corpus, write_lines

TRIPLET_FILE = "wikidata5m_all_triplet.txt"
ENTITY_FILE = "wikidata5m_entity.txt"


def pack(folder: Path, name: str, how: str) -> None:
    raw = (folder / name).read_bytes()
    (folder / name).unlink()
    if how == ".gz":
        (folder / f"{name}.gz").write_bytes(gzip.compress(raw, mtime=0))
    elif how == ".xz":
        (folder / f"{name}.xz").write_bytes(lzma.compress(raw))
    else:
        with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
            entry = tarfile.TarInfo(f"wikidata5m/{name}")
            entry.size = len(raw)
            archive.addfile(entry, io.BytesIO(raw))


def read_arrays(folder: Path) -> dict[str, str]:
    from hopwright.knowledge.wikidata.format import ArrayFile

    return {name: entry["sha256"] for name, entry in ArrayFile(folder)._arrays.items()}


def test_every_packing_gives_the_same_store(tmp_path: Path) -> None:
    ingest(write_corpus(tmp_path / "plain"), tmp_path / "a")
    for how in (".gz", ".xz", ".tar.gz"):
        raw = write_corpus(tmp_path / f"raw{how}")
        for name in (TRIPLET_FILE, ENTITY_FILE, "attribute_literals.tsv"):
            pack(raw, name, how)
        ingest(raw, tmp_path / f"store{how}")
        assert read_arrays(tmp_path / f"store{how}") == read_arrays(tmp_path / "a")


def test_same_files_give_the_same_bytes_and_are_not_read_twice(tmp_path: Path) -> None:
    raw = write_corpus(tmp_path / "raw")
    first = ingest(raw, tmp_path / "a")
    again = ingest(raw, tmp_path / "a")
    forced = ingest(raw, tmp_path / "b", force=True)
    assert not first.reused and again.reused and not forced.reused
    assert (tmp_path / "a" / STORE_FILE).read_bytes() == (tmp_path / "b" / STORE_FILE).read_bytes()
    write_lines(raw / TRIPLET_FILE, [*TRIPLETS, ("Q901", "P57", "Q907")])
    assert not ingest(raw, tmp_path / "a").reused


def test_splits_are_joined(tmp_path: Path) -> None:
    raw = write_corpus(tmp_path / "raw")
    (raw / TRIPLET_FILE).unlink()
    for index, part in enumerate(("train", "valid", "test")):
        write_lines(raw / f"wikidata5m_transductive_{part}.txt", TRIPLETS[index::3])
        write_lines(raw / f"wikidata5m_inductive_{part}.txt", TRIPLETS[:3])
    assert ingest(raw, tmp_path / "a").counts["triplets"] == len(TRIPLETS)
    report = ingest(raw, tmp_path / "b", split="inductive")
    assert (report.counts["triplets"], report.counts["duplicates"]) == (3, 6)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"Q1\tP2", "2 columns, not 3"),
        (b"Q1\tP2\tQ3\tQ4", "4 columns, not 3"),
        (b"", "1 columns, not 3"),
        (b"1\tP2\tQ3", "no Q-id in column 1"),
        (b"Q1\tQ2\tQ3", "no P-id in column 2"),
        (b"Q1\tP2\tQ", "no Q-id in column 3"),
        (b"Q1\tP2\tQ3x", "no Q-id in column 3"),
        (b"Q1\tP2\tQ12345678901", "no Q-id in column 3"),
        (b"Q1\tP2\tQ4294967296", "no Q-id in column 3"),
        (b"Q1\tP2\tQ12x456789", "no Q-id in column 3"),
        (b"Q1\tP2\t Q3", "no Q-id in column 3"),
        (b"Q0\tP2\tQ3", "no Q-id in column 1"),
        (b"Q1\tP2\tQ\xff3", "no Q-id in column 3"),
    ],
)
def test_malformed_triplets_are_counted_and_located(tmp_path: Path, bad: bytes, reason: str) -> None:
    raw = write_corpus(tmp_path / "raw")
    lines = (raw / TRIPLET_FILE).read_bytes().splitlines(keepends=True)
    (raw / TRIPLET_FILE).write_bytes(b"".join([*lines[:4], bad + b"\n", *lines[4:]]))
    report = ingest(raw, tmp_path / "store", max_malformed=0.5)
    assert report.counts["triplets"] == len(TRIPLETS)
    assert [str(one) for one in report.listed] == [f"{raw / TRIPLET_FILE}:5: {reason}"]
    with pytest.raises(InputError, match=r"wikidata5m_all_triplet.txt: 1 of 20 lines are malformed.*line 5: "):
        ingest(raw, tmp_path / "other")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"Q77", "no label: 1 column"),
        (b"Q77\t", "empty label"),
        (b"Q77\t \talias", "empty label"),
        (b"\tlabel", "no Q-id in column 1"),
        (b"P77\tlabel", "no Q-id in column 1"),
        (b"Q77\tla\xffbel", "bad UTF-8"),
        (b"Q77\tlabel\tcut \xc3", "bad UTF-8"),
        (b"Q903\tagain", "Q903 was named before"),
    ],
)
def test_malformed_entities_are_counted_and_located(tmp_path: Path, bad: bytes, reason: str) -> None:
    raw = write_corpus(tmp_path / "raw")
    with (raw / ENTITY_FILE).open("ab") as file:
        file.write(bad + b"\nQ78\tafter\n")
    report = ingest(raw, tmp_path / "store", max_malformed=0.5)
    assert [one.reason for one in report.listed] == [reason]
    assert report.listed[0].line == report.lines[str(raw / ENTITY_FILE)] - 1
    store = GraphStore.open(tmp_path / "store")
    assert store.label("Q78") == "after" and store.label("Q77") == "" and store.label("Q903") == "Vestmark"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("Q903\tP571\tinception\t\t1905", "5 columns, not 6"),
        ("903\tP571\tinception\t\t1905\tdecimal", "no Q-id in column 1"),
        ("Q903\tQ571\tinception\t\t1905\tdecimal", "no P-id in column 2"),
        ("Q903\tP571\tinception\t\t \tdecimal", "empty value"),
        ("Q903\tP571\tinception\t\t1905\tbanana", "unknown type 'banana'"),
    ],
)
def test_malformed_literals_are_counted_and_located(tmp_path: Path, bad: str, reason: str) -> None:
    raw = write_corpus(tmp_path / "raw")
    with (raw / "attribute_literals.tsv").open("a") as file:
        file.write(bad + "\n")
    report = ingest(raw, tmp_path / "store", max_malformed=0.5)
    assert [(one.line, one.reason) for one in report.listed] == [(9, reason)]


@pytest.mark.parametrize("name", [TRIPLET_FILE, ENTITY_FILE])
@pytest.mark.parametrize("content", [b"\n", b"\n\n", b"Q1\tP1\tQ2\n\n", b"Q1\tA name\n\n"])
def test_a_file_of_blank_lines_is_counted_or_refused_in_a_line(tmp_path: Path, name: str, content: bytes) -> None:
    raw = write_corpus(tmp_path / "raw")
    (raw / name).write_bytes(content)
    with contextlib.suppress(HopwrightError):
        report = ingest(raw, tmp_path / "store", max_malformed=1)
        assert report.lines[str(raw / name)] == content.count(b"\n")


def test_line_numbers_hold_across_blocks(tmp_path: Path) -> None:
    raw = write_corpus(tmp_path / "raw", triplets=[(f"Q{i}", "P1", f"Q{i + 1}") for i in range(1, 300_001)])
    path = raw / TRIPLET_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    for place in (0, 150_000, 299_000):
        lines[place] = b"broken\n"
    path.write_bytes(b"".join(lines))
    report = ingest(raw, tmp_path / "store")
    assert [one.line for one in report.listed] == [1, 150_001, 299_001]
    assert report.counts["triplets"] == 299_997


def test_windows_line_ends_a_byte_order_mark_and_a_missing_last_newline_are_read(tmp_path: Path) -> None:
    raw = write_corpus(tmp_path / "raw")
    for name in (TRIPLET_FILE, ENTITY_FILE):
        text = (raw / name).read_bytes().rstrip(b"\n").replace(b"\n", b"\r\n")
        (raw / name).write_bytes(b"\xef\xbb\xbf" + text)
    assert ingest(raw, tmp_path / "store", max_malformed=0).counts["triplets"] == len(TRIPLETS)
    assert GraphStore.open(tmp_path / "store").label("Q515") == "city"


def test_empty_aliases_are_dropped_and_blanks_trimmed(tmp_path: Path) -> None:
    raw = write_corpus(tmp_path / "raw", names={"Q1": [" Label ", "", "one ", " ", "two", ""]})
    ingest(raw, tmp_path / "store", max_malformed=0)
    store = GraphStore.open(tmp_path / "store")
    assert (store.label("Q1"), store.aliases("Q1")) == ("Label", ("one", "two"))


@pytest.mark.parametrize("how", [".gz", ".xz", ".tar.gz"])
@pytest.mark.parametrize("keep", [0, 0.3, 0.9, "last byte"])
def test_a_truncated_archive_is_an_error(tmp_path: Path, how: str, keep: float | str) -> None:
    triplets = [(f"Q{i}", f"P{i % 9 + 1}", f"Q{i * 7919 % 5000 + 1}") for i in range(1, 5000)]
    raw = write_corpus(tmp_path / "raw", triplets=triplets)
    pack(raw, TRIPLET_FILE, how)
    (path,) = raw.glob(f"{TRIPLET_FILE}*")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 1] if isinstance(keep, str) else whole[: int(len(whole) * keep)])
    with pytest.raises(InputError, match=r"truncated or damaged|is empty"):
        ingest(raw, tmp_path / "store")
    assert not (tmp_path / "store" / STORE_FILE).exists()
    assert not list((tmp_path / "store").glob("*.part")) if (tmp_path / "store").exists() else True


def test_missing_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        ingest(tmp_path / "nowhere", tmp_path / "store")
    raw = write_corpus(tmp_path / "raw")
    (raw / ENTITY_FILE).unlink()
    with pytest.raises(InputError, match=re.escape(ENTITY_FILE)):
        ingest(raw, tmp_path / "store")
    write_corpus(raw)
    (raw / TRIPLET_FILE).unlink()
    with pytest.raises(InputError, match=re.escape(TRIPLET_FILE)):
        ingest(raw, tmp_path / "store")
    (raw / TRIPLET_FILE).touch()
    with pytest.raises(InputError, match="is empty"):
        ingest(raw, tmp_path / "store")
    write_corpus(raw)
    with pytest.raises(InputError, match="max_malformed"):
        ingest(raw, tmp_path / "store", max_malformed=2)


def test_an_output_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    raw = write_corpus(tmp_path / "raw")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        ingest(raw, tmp_path / "file")
    with pytest.raises(StoreError, match="cannot be written"):
        ingest(raw, Path("/dev/null/store"))


def test_relations_and_literals_may_be_missing(tmp_path: Path) -> None:
    raw = write_corpus(tmp_path / "raw")
    (raw / "wikidata5m_relation.txt").unlink()
    (raw / "attribute_literals.tsv").unlink()
    ingest(raw, tmp_path / "store")
    store = GraphStore.open(tmp_path / "store")
    assert store.literals("Q903") == store.literal_subjects("P571") == ()
    assert store.property_label("P57") == "" and store.objects("Q901", "P57") == ("Q902",)


_KILLED = """
import os, signal, sys
from pathlib import Path
from hopwright.knowledge.wikidata import format
from hopwright.knowledge.wikidata import ingest
place = int(sys.argv[3])
done = 0
whole = format.ArrayWriter.add
def add(self, name, array):
    global done
    if done == place:
        os.kill(os.getpid(), signal.SIGKILL)
    done += 1
    whole(self, name, array)
format.ArrayWriter.add = add
ingest.ingest(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.parametrize("place", [0, 7, 20])
def test_a_killed_ingest_leaves_the_old_store(tmp_path: Path, place: int) -> None:
    raw = write_corpus(tmp_path / "raw")
    ingest(raw, tmp_path / "store")
    before = (tmp_path / "store" / STORE_FILE).read_bytes()
    write_lines(raw / TRIPLET_FILE, [*TRIPLETS, ("Q901", "P58", "Q907")])
    root = Path(__file__).resolve().parents[3]
    run = subprocess.run(
        [sys.executable, "-c", _KILLED, raw, tmp_path / "store", str(place)],
        cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, check=False,
    )  # fmt: skip
    assert run.returncode == -signal.SIGKILL
    assert list((tmp_path / "store").glob(".ingest-*.part"))
    assert (tmp_path / "store" / STORE_FILE).read_bytes() == before
    assert GraphStore.open(tmp_path / "store").objects("Q901", "P58") == ()
    ingest(raw, tmp_path / "store")
    assert GraphStore.open(tmp_path / "store").objects("Q901", "P58") == ("Q907",)
    assert not list((tmp_path / "store").glob(".ingest-*.part"))


def test_two_ingests_into_one_folder_do_not_mix(tmp_path: Path) -> None:
    from hopwright.knowledge.wikidata.format import lock_folder

    raw = write_corpus(tmp_path / "raw")
    (tmp_path / "store").mkdir()
    with lock_folder(tmp_path / "store"), pytest.raises(StoreError, match="another ingest"):
        ingest(raw, tmp_path / "store")
    ingest(raw, tmp_path / "store")


def test_opening_takes_no_memory_of_its_own(sample_folder: Path) -> None:
    tracemalloc.start()
    try:
        store = GraphStore.open(sample_folder)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < sum(path.stat().st_size for path in sample_folder.iterdir()) / 10
    assert store.label("Q17") == "Japan"


def test_the_shipped_sample_is_small_and_whole() -> None:
    files = list(SAMPLE.glob("*.gz"))
    assert sum(path.stat().st_size for path in files) < 8 << 20
    assert {path.name for path in files} >= {f"{TRIPLET_FILE}.gz", f"{ENTITY_FILE}.gz"}
    for path in files:
        assert path.read_bytes()[4:8] == b"\0\0\0\0"  # no time stamp: the same facts are the same bytes
    assert CorpusFile(files[0]).name == str(files[0])
