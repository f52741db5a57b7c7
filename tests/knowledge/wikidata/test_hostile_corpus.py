"""Corpus files that nobody sane writes: one clear line, or a line counted as malformed, in bounded memory."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from hopwright.errors import InputError
from hopwright.foreign import LONGEST_LINE
from hopwright.knowledge.wikidata.anchors import read_anchor_questions
from hopwright.knowledge.wikidata.parsing import parse_triplets
from hopwright.knowledge.wikidata.sources import CorpusFile, find_corpus, read_blocks
from hopwright.records import Rejected

NAME = "wikidata5m_all_triplet.txt"
GOOD = b"Q1\tP31\tQ2\n"
BLOCK = b"x" * (1 << 20)


def write_long_line(path: Path, before: bytes, after: bytes, mib: int) -> Path:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(before)
        for _ in range(mib):
            file.write(BLOCK)
        file.write(after)
    return path


@pytest.mark.parametrize("after", [b"\n" + GOOD, b"", b"\r\n" + GOOD * 3])
def test_a_line_without_end_is_counted_and_not_gathered(after: bytes, tmp_path: Path) -> None:
    path = write_long_line(tmp_path / f"{NAME}.gz", GOOD, after, 300)
    tracemalloc.start()
    parsed = [parse_triplets(block) for block in read_blocks(CorpusFile(path))]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sum(len(one.subjects) for one in parsed) == 1 + after.count(GOOD)
    assert sum(len(one.bad) for one in parsed) == 1
    assert peak < 100 << 20


def test_a_long_line_of_anchors_is_one_rejection(tmp_path: Path) -> None:
    first = b'{"id": "a"}\n'
    path = write_long_line(tmp_path / "anchors.jsonl.gz", first, b"\n" + first, (LONGEST_LINE >> 20) + 2)
    found = list(read_anchor_questions(path))
    assert all(isinstance(one, Rejected) for one in found) and len(found) == 3
    assert "a line of more than 16 MiB" in {one.reason for one in found if isinstance(one, Rejected)}


@pytest.mark.parametrize("packing", ["", "gz", "xz"])
def test_a_tar_that_holds_a_file_twice_is_refused(packing: str, tmp_path: Path) -> None:
    path = tmp_path / f"corpus.tar{'.' if packing else ''}{packing}"
    with tarfile.open(path, f"w:{packing}") as archive:  # type: ignore[call-overload]
        for content in (GOOD, GOOD * 2):
            entry = tarfile.TarInfo(f"wikidata5m/{NAME}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    with pytest.raises(InputError, match=f"holds wikidata5m/{NAME} twice"):
        find_corpus(tmp_path)


def test_a_folder_of_the_name_of_a_file_is_no_file(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "corpus.tar", "w") as archive:
        for name in (NAME, "wikidata5m_entity.txt"):
            folder = tarfile.TarInfo(name)
            folder.type = tarfile.DIRTYPE
            archive.addfile(folder)
            entry = tarfile.TarInfo(name)
            entry.size = len(GOOD)
            archive.addfile(entry, io.BytesIO(GOOD))
    corpus = find_corpus(tmp_path)
    assert b"".join(read_blocks(corpus.triplets[0])) == GOOD
