from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hopwright.errors import InputError
from hopwright.knowledge.documents.readers import (
    MalformedRow,
    RawDocument,
    SourceFile,
    list_source_files,
    read_documents,
)
from hopwright.knowledge.documents.readers.pages import _BLANK
from tests.growth import expect_linear

GOOD = {"id": 7, "title": "Oslo", "text": "Oslo is a capital.", "url": "https://example.org/oslo"}


def read(path: Path, wanted: Any = "auto") -> list[RawDocument | MalformedRow]:
    return [row for file in list_source_files(path)[0] for row in read_documents(file, wanted)]


def read_text(path: Path, text: str) -> list[RawDocument | MalformedRow]:
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return read(path)


def documents(rows: list[RawDocument | MalformedRow]) -> list[tuple[str, str]]:
    return [(row.title, row.text) for row in rows if isinstance(row, RawDocument)]


def problems(rows: list[RawDocument | MalformedRow]) -> list[str]:
    return [f"{row.place}: {row.reason}" for row in rows if isinstance(row, MalformedRow)]


def test_json_lines_keep_what_the_source_says(tmp_path: Path) -> None:
    (row,) = read_text(tmp_path / "a.jsonl", "\ufeff" + json.dumps({**GOOD, "licence": "CC0", "revid": 12}) + "\r\n")
    assert row == RawDocument("Oslo", "Oslo is a capital.", "line 1", "7", GOOD["url"], "CC0", "12")


def test_each_malformed_line_is_told_with_its_place_and_the_others_are_read(tmp_path: Path) -> None:
    lines = [
        json.dumps(GOOD),
        "{",
        "[1, 2]",
        '{"title": "No text"}',
        '{"title": "A", "text": 5}',
        '{"title": ["A"], "text": "b"}',
        '{"title": "A", "text": " … "}',
        '{"title": "A", "text": "half \\ud800"}',
        "",
        json.dumps({"title": "Rome", "text": "Rome."}),
    ]
    rows = read_text(tmp_path / "a.jsonl", "\n".join(lines) + "\n")
    assert [title for title, _ in documents(rows)] == ["Oslo", "Rome"]
    told = problems(rows)
    assert [line.partition(":")[0] for line in told] == [f"line {number}" for number in range(2, 9)]
    wanted = ["cannot be parsed", "an object is wanted, not a list", "none of the fields", "not a number", "title"]
    assert all(part in line for part, line in zip([*wanted, "no words", "surrogate"], told, strict=True))


def test_bytes_that_are_no_utf8_are_a_malformed_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"title": "A", "text": "caf\xe9"}\n{"title": "B", "text": "b"}\n')
    rows = read(path)
    assert problems(rows) == ["line 1: not UTF-8"]
    assert documents(rows) == [("B", "b")]


def test_a_file_that_ends_within_a_line_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.jsonl ends in the middle of line 2; get it again"):
        read_text(tmp_path / "a.jsonl", json.dumps(GOOD) + "\n" + '{"title": "Ro')


def test_contents_with_the_title_in_quotes_come_apart(tmp_path: Path) -> None:
    rows = [{"id": "0", "contents": '"Aaron "the" Bird"\nHe sang.\nLoudly.'}, {"docid": "9", "text": "No title here."}]
    path = tmp_path / "wiki18.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second = read(path)
    assert isinstance(first, RawDocument)
    assert isinstance(second, RawDocument)
    assert (first.title, first.text, first.original) == ('Aaron "the" Bird', "He sang.\nLoudly.", "0")
    assert (second.title, second.text, second.original) == ("", "No title here.", "9")


def test_paragraphs_of_musique_are_documents_one_by_one(tmp_path: Path) -> None:
    paragraphs = [{"idx": 0, "id": 3, "title": "A", "paragraph_text": "One."}, {"idx": 1, "title": "B"}, "no object"]
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps({"id": "2hop__1", "paragraphs": paragraphs}) + "\n" + '{"paragraphs": "none"}\n')
    rows = read(path)
    assert documents(rows) == [("A", "One.")]
    assert rows[0] == RawDocument("A", "One.", "line 1, paragraph 1")
    assert [line.partition(":")[0] for line in problems(rows)] == [
        "line 1, paragraph 2",
        "line 1, paragraph 3",
        "line 2",
    ]


@pytest.mark.parametrize(
    "context",
    [
        [["A", ["One.", " Two."]], ["B", ["Three."]]],
        [["A", ["One.", "Two."]], ["B", ["Three."]]],
        {"title": ["A", "B"], "sentences": [["One.", "Two."], ["Three."]]},
    ],
    ids=["hotpotqa", "2wiki", "columns"],
)
def test_contexts_are_documents_of_joined_sentences(tmp_path: Path, context: Any) -> None:
    path = tmp_path / "h.json"
    path.write_text(json.dumps([{"_id": "x", "context": context}]))
    assert documents(read(path)) == [("A", "One. Two."), ("B", "Three.")]


@pytest.mark.parametrize(
    "context", ["text", [["A"]], [["A", "b", "c"]], {"title": ["A"], "sentences": []}, [["A", [1]]], [["A", None]]]
)
def test_a_context_that_is_none_is_malformed(tmp_path: Path, context: Any) -> None:
    path = tmp_path / "h.json"
    path.write_text(json.dumps([{"context": context}, {"context": [["B", ["Good."]]]}]))
    rows = read(path)
    assert documents(rows) == [("B", "Good.")]
    assert problems(rows)[0].startswith("entry 1")


def test_paragraphs_of_sentences_become_paragraphs(tmp_path: Path) -> None:
    path = tmp_path / "wiki_00"
    path.write_text(json.dumps({"id": "12", "title": "A", "text": [["A."], ["One.", " Two."]]}) + "\n")
    assert documents(read(path, "jsonl")) == [("A", "A.\n\nOne. Two.")]


def test_a_json_array_is_refused_where_it_ends_early(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([GOOD, GOOD])[:-20])
    with pytest.raises(InputError, match=r"a\.json: no JSON after entry 1 .*get it again"):
        read(path)
    path.write_text("5")
    with pytest.raises(InputError, match="no JSON array of objects"):
        read(path)


def test_json_lines_under_the_name_of_json_are_recognised(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(GOOD) + "\n" + json.dumps(GOOD) + "\n")
    assert len(documents(read(path))) == 2


def test_tab_separated_passages_may_be_quoted(tmp_path: Path) -> None:
    lines = [
        "id\ttext\ttitle",
        '1\t"Aaron ""the"" prophet."\tAaron',
        "2\tonly two",
        "3\tMoses.\tMoses",
        '4\t"open\tend',
        "x\ty\tz\tw",
    ]
    rows = read_text(tmp_path / "psgs_w100.tsv", "\n".join(lines) + "\n")
    assert documents(rows) == [("Aaron", 'Aaron "the" prophet.'), ("Moses", "Moses.")]
    assert problems(rows) == ["line 3: 2 fields, not 3", "line 5: 2 fields, not 3", "line 6: 4 fields, not 3"]
    with pytest.raises(InputError, match="its first line should name the columns"):
        read_text(tmp_path / "b.tsv", "1\tAaron\tAaron\n")


def test_parquet_rows_are_read_and_damaged_files_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"docid": ["1", "2"], "text": ["One.", None], "url": ["https://example.org/1", None]})
    pq.write_table(table, path)
    rows = read(path)
    assert rows[0] == RawDocument("", "One.", "row 1", "1", "https://example.org/1")
    assert problems(rows) == ["row 2: none of the fields text, contents, paragraph_text, passage, content"]
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(InputError, match=r"a\.parquet: truncated or no Parquet"):
        read(path)


@pytest.mark.parametrize(("ending", "opener"), [(".gz", gzip.open), (".xz", lzma.open), (".bz2", bz2.open)])
def test_packed_files_are_read_and_truncated_ones_refused(tmp_path: Path, ending: str, opener: Any) -> None:
    path = tmp_path / f"a.jsonl{ending}"
    with opener(path, "wt") as file:
        file.writelines(json.dumps({"title": str(number), "text": f"text {number**9}"}) + "\n" for number in range(999))
    assert len(documents(read(path))) == 999
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match=r"is truncated or damaged .*get it again"):
        read(path)


def test_members_of_archives_are_read_one_by_one(tmp_path: Path) -> None:
    inner = tmp_path / "inner.jsonl.bz2"
    inner.write_bytes(bz2.compress((json.dumps(GOOD) + "\n").encode()))
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        tar.add(inner, "dump/wiki_00.jsonl.bz2")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        packed.writestr("x/a.jsonl", json.dumps(GOOD) + "\n")
        packed.writestr("__MACOSX/._a.jsonl", "nonsense")
    for name in ("a.tar.gz", "a.zip"):
        assert documents(read(tmp_path / name)) == [("Oslo", "Oslo is a capital.")]


def test_a_packed_archive_is_unpacked_once_and_not_for_each_member(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        for number in reversed(range(40)):
            (tmp_path / "inner").write_text(f"Text {number}. " + str(number**400))
            tar.add(tmp_path / "inner", f"dump/{number}.txt")
    counted: list[int] = []
    plain = gzip.GzipFile.read

    def read_and_count(file: gzip.GzipFile, size: int | None = -1) -> bytes:
        data = plain(file, size)
        counted.append(len(data))
        return data

    monkeypatch.setattr(gzip.GzipFile, "read", read_and_count)
    rows = read(tmp_path / "a.tar.gz")
    assert [title for title, _ in documents(rows)] == [str(number) for number in reversed(range(40))]
    with gzip.open(tmp_path / "a.tar.gz") as file:
        whole = len(plain(file))
    assert sum(counted) < 6 * whole


@pytest.mark.parametrize("name", ["a.tar.gz", "a.zip"])
def test_truncated_archives_are_refused_before_anything_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = "".join(json.dumps({"title": str(n), "text": f"text {n**9}"}) + "\n" for n in range(999))
    (tmp_path / "a.jsonl").write_text(content)
    if name == "a.zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.write(tmp_path / "a.jsonl", "a.jsonl")
    else:
        with tarfile.open(path, "w:gz") as tar:
            tar.add(tmp_path / "a.jsonl", "a.jsonl")
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(InputError, match=f"{name} is truncated or damaged"):
        list_source_files(path)


def test_a_folder_is_read_in_a_fixed_order_without_hidden_files(tmp_path: Path) -> None:
    for name in ("b.txt", "a/c.md", ".hidden/d.txt", ".e.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"Text of {name}.")
    assert [file.path.name for file in list_source_files(tmp_path)[0]] == ["c.md", "b.txt"]
    with pytest.raises(InputError, match="no such file or folder"):
        list_source_files(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file in it"):
        list_source_files(tmp_path / "empty")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(InputError, match=r"a\.jsonl is truncated or damaged \(no bytes\)"):
        read(tmp_path / "a.jsonl")


def test_a_file_of_unknown_ending_needs_a_format(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("Words.")
    with pytest.raises(InputError, match="name its format with --format"):
        read(tmp_path / "notes")
    assert documents(read(tmp_path / "notes", "text")) == [("notes", "Words.")]


def test_markdown_loses_its_marks_and_keeps_its_words(tmp_path: Path) -> None:
    page = "Intro.\n\n# The *Fjord*\n\nIt is [deep](https://example.org) and `cold`\nall year.\n\n"
    page += "- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    rows = read_text(tmp_path / "fjord.md", page)
    ((title, text),) = documents(rows)
    assert title == "The Fjord"
    assert text == "Intro.\n\nThe Fjord\n\nIt is deep and cold\nall year.\n\none\n\ntwo\n\na\n\nb\n\n1\n\n2"


@pytest.mark.parametrize("name", ["a.md", "a.txt"])
def test_a_page_that_is_no_utf8_is_malformed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"caf\xe9")
    assert problems(read(tmp_path / name)) == ["the file: not UTF-8 at byte 3"]


def test_html_is_reduced_to_its_main_text(tmp_path: Path) -> None:
    pytest.importorskip("trafilatura", reason="the extra documents is not installed")
    line = "<p>The harbour of Oslo was opened in {}, and ships from many towns came.</p>"
    body = f"<nav>Home | Log in</nav><article>{''.join(line.format(1900 + n) for n in range(9))}</article>"
    page = f"<html><head><title>Harbour</title></head><body>{body}</body></html>"
    ((title, text),) = documents(read_text(tmp_path / "a.html", page))
    assert title == "Harbour"
    assert "opened in 1908" in text
    assert "Log in" not in text
    assert problems(read_text(tmp_path / "b.html", "<html></html>")) == ["the file: no main text is found in this HTML"]


def test_pdf_gives_its_text_and_damaged_ones_are_malformed(tmp_path: Path) -> None:
    pytest.importorskip("pypdf", reason="the extra documents is not installed")
    path = tmp_path / "a.pdf"
    path.write_bytes(make_pdf("The bridge was opened in 1932."))
    assert documents(read(path)) == [("a", "The bridge was opened in 1932.")]
    path.write_bytes(b"%PDF-1.4\nnothing")
    assert problems(read(path))[0].startswith("the file: a damaged PDF")


def test_a_source_file_names_its_member() -> None:
    assert SourceFile(Path("a.zip"), "x/b.JSONL.gz").ending == ".jsonl"
    assert SourceFile(Path("a.zip"), "x/b.jsonl").name == "a.zip:x/b.jsonl"


def make_pdf(words: str) -> bytes:
    """A PDF of one page with one line."""
    stream = f"BT /F1 12 Tf 72 720 Td ({words}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    content, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, start=1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 5\n0000000000 65535 f \n%strailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
    return content + end % (table, len(content))


def test_nesting_long_lines_and_long_entries_cost_little(tmp_path: Path) -> None:
    """The array took memory that grew with the square of its depth: all there was, for 200 kB of brackets."""
    for name in ("a.json", "b.jsonl"):
        for deep in (b"[" * 200_000, b'{"a":' * 200_000, b'[{"text":' + b"[" * 200_000):
            path = tmp_path / name
            path.write_bytes(deep + b"\n")
            try:
                told = problems(read(path))
            except InputError as error:
                told = [str(error)]
            assert len(told) == 1 and ("nested more than 64 levels" in told[0] or "no JSON" in told[0])
    long = tmp_path / "long.jsonl"
    long.write_bytes(b'{"text": "' + b"a" * (17 << 20) + b'"}\n' + json.dumps(GOOD).encode() + b"\n")
    rows = read(long)
    assert problems(rows) == ["line 1: it is longer than 16 MiB"] and documents(rows)[0][0] == "Oslo"
    (tmp_path / "long.json").write_bytes(b'["' + b"a" * (40 << 20) + b'"]')
    with pytest.raises(InputError, match="an entry of more than 16,777,216 characters"):
        read(tmp_path / "long.json")


def test_a_bomb_is_one_malformed_document(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.txt.gz", "wb") as file:
        for _ in range(70):
            file.write(b"a " * (1 << 19))
    assert problems(read(tmp_path / "a.txt.gz")) == ["the file: it is longer than 64 MiB"]


def test_an_archive_that_is_locked_or_has_holes_is_one_line(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.txt", "words")
    data = bytearray((tmp_path / "a.zip").read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + place] |= 1  # says that it is encrypted
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(InputError, match=r"a\.zip:a\.txt is truncated or damaged \(.*encrypted.*\)"):
        read(tmp_path / "a.zip")
    entry = tarfile.TarInfo("holes.jsonl")
    entry.type = tarfile.GNUTYPE_SPARSE
    header = bytearray(entry.tobuf(tarfile.GNU_FORMAT))
    header[483:495] = b"77777777777\0"  # its length, holes included
    header[148:156] = b"%06o\0 " % (256 + sum(header[:148]) + sum(header[156:512]))
    (tmp_path / "b.tar").write_bytes(bytes(header) + bytes(1024))
    with pytest.raises(InputError, match=r"holes\.jsonl has holes, whose length nothing bounds"):
        read(tmp_path / "b.tar")


def test_a_header_of_an_archive_is_not_read_whatever_its_length(tmp_path: Path) -> None:
    entry = tarfile.TarInfo("././@PaxHeader")
    entry.type, entry.size = tarfile.XHDTYPE, 200 << 20
    with lzma.open(tmp_path / "a.tar.xz", "wb") as file:
        file.write(entry.tobuf(tarfile.GNU_FORMAT))
        for _ in range(200):
            file.write(bytes(1 << 20))
    with pytest.raises(InputError, match="a header of more than 16 MiB"):
        read(tmp_path / "a.tar.xz")


def test_a_page_of_a_tag_with_thousands_of_attributes_is_refused_at_once(tmp_path: Path) -> None:
    pytest.importorskip("trafilatura", reason="the extra documents is not installed")
    attributes = " ".join(f"a{number}=1" for number in range(40_000))
    (row,) = read_text(tmp_path / "a.html", f"<html><body><p {attributes}>Some words stand here.</p></body></html>")
    assert isinstance(row, MalformedRow) and "a tag of more than" in row.reason


def test_one_long_text_in_every_row_is_refused_though_the_rows_differ(tmp_path: Path) -> None:
    """A dictionary states the text once; kept for each row it would take gigabytes."""
    path, rows = tmp_path / "a.parquet", 5_000
    text = "".join(random.Random(1).choices("abcdefgh ", k=200_000))
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))
    table = pa.table({"title": [f"Title {number}" for number in range(rows)], "text": texts})
    pq.write_table(table, path, compression="zstd")
    taken = 0
    with pytest.raises(InputError, match="times its size"):
        for file in list_source_files(path)[0]:
            for _ in read_documents(file, "auto"):
                taken += 1
    assert taken < rows / 5


def change(data: bytes, place: int, value: bytes) -> bytes:
    """A zip of one member with other bytes in its directory."""
    place += data.rfind(b"PK\x01\x02")
    return data[:place] + value + data[place + len(value) :]


def pack(
    path: Path, name: str, data: bytes, method: int = zipfile.ZIP_STORED, headers: dict[str, str] | None = None
) -> bytes:
    """An archive of one file, with further headers in a tar."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", method) as packed:
            packed.writestr(name, data)
    else:
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
            entry = tarfile.TarInfo(name)
            entry.size, entry.pax_headers = len(data), headers or {}
            tar.addfile(entry, io.BytesIO(data))
    return path.read_bytes()


@pytest.mark.parametrize(
    "headers",
    [
        {"GNU.sparse.map": "a,b", "GNU.sparse.name": "x", "GNU.sparse.size": "9"},
        {"GNU.sparse.size": "abc", "GNU.sparse.name": "x"},
        {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "zz", "GNU.sparse.name": "x"},
    ],
)
def test_a_tar_with_damaged_headers_gets_one_line(tmp_path: Path, headers: dict[str, str]) -> None:
    pack(tmp_path / "a.tar", "a.txt", b"Oslo lies far.", headers=headers)
    with pytest.raises(InputError, match="is truncated or damaged"):
        list_source_files(tmp_path / "a.tar")


@pytest.mark.parametrize("changes", [((6, b"\x63"),), ((9, b"\x08"), (46, b"\xff"))], ids=["version", "name"])
def test_a_zip_with_damaged_headers_gets_one_line(tmp_path: Path, changes: tuple[tuple[int, bytes], ...]) -> None:
    data = pack(tmp_path / "a.zip", "a.txt", b"Oslo lies far.")
    for place, value in changes:
        data = change(data, place, value)
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(InputError, match="is truncated or damaged"):
        list_source_files(tmp_path / "a.zip")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packings_that_unpack_without_a_bound_are_refused(tmp_path: Path, method: int) -> None:
    pack(tmp_path / "a.zip", "a.jsonl", b" " * 999, method)
    with pytest.raises(InputError, match=r"a\.jsonl is packed by \w+; pack it by deflate$"):
        list_source_files(tmp_path / "a.zip")


@pytest.mark.parametrize("name", ["a.tar", "a.zip"])
def test_a_long_text_in_an_archive_is_read(tmp_path: Path, name: str) -> None:
    text = b"The quick brown fox jumps over it.\n\n" * 500_000
    pack(tmp_path / name, "a.txt", text)
    ((_, read_back),) = documents(read(tmp_path / name))
    assert len(read_back) == len(text) - 2


def test_runs_of_blanks_take_as_long_as_they_are() -> None:
    text = "One.   \n \t\n\n  Two.  \n  Three. \t \n   \nFour."
    assert _BLANK.sub("\n\n", text) == re.sub(r"[ \t]*\n[ \t]*\n\s*", "\n\n", text)
    for part in (" ", " \n", "\n \tx"):
        expect_linear(lambda size, part=part: "x" + part * size + "x", lambda text: _BLANK.sub("\n\n", text), 8_000)
