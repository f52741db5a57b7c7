"""Files of a corpus, small and whole, for the fuzz targets to spoil."""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from tests.fuzz.hostile import write

LINES = b"Q1\tP31\tQ2\nQ1\tNight\tThe Night\nQ1\tP569\tborn\t\t1990-07-03T00:00:00Z\txsd:dateTime\n"


def pack_gzip(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    return packer.compress(data) + packer.flush()


def pack_tar(name: str, data: bytes, **headers: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo(name)
        entry.size, entry.pax_headers = len(data), headers
        archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def pack_zip(name: str, data: bytes, *more: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for one, content in ((name, data), *more):
            archive.writestr(one, content)
    return buffer.getvalue()


def write_parquet(rows: list[Any]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


def write_call(method: str, path: str, version: str, headers: list[tuple[str, str]], body: bytes) -> bytes:
    """A request as it goes over the wire, with its true length where no other is stated."""
    if not any(name == "Content-Length" for name, _ in headers):
        headers = [*headers, ("Content-Length", str(len(body)))]
    head = "".join(f"{name}: {value}\r\n" for name, value in headers)
    return f"{method} {path} {version}\r\n{head}\r\n".encode("utf-8", "surrogatepass") + body


def join_fields(lines: list[list[str]]) -> bytes:
    """Lines of tab-separated fields."""
    return "".join("\t".join(line) + "\n" for line in lines).encode("utf-8", "surrogatepass")


_CELLS = st.one_of(
    st.none(), st.text(max_size=20), st.integers(-(2**63), 2**63 - 1), st.floats(), st.booleans(),
    st.binary(max_size=20), st.datetimes(), st.lists(st.text(max_size=5), max_size=3),
    st.sampled_from(["x" * 100_000, {"a": [1]}, [[None]]]),
)  # fmt: skip


@st.composite
def _draw_table(draw: st.DrawFn) -> bytes:
    """A Parquet file that is one, with columns of any type where texts are looked for."""
    rows = draw(st.integers(0, 5))
    columns = {}
    for name in draw(
        st.lists(st.sampled_from(["id", "title", "text", "contents", "paragraphs", "context"]), unique=True)
    ):
        cell = draw(_CELLS)
        columns[name] = pa.array([cell if draw(st.booleans()) else None for _ in range(rows)])
    buffer = io.BytesIO()
    table = pa.table(columns) if columns else pa.table({"text": pa.array([], pa.string())})
    packing = draw(st.sampled_from(["none", "snappy", "gzip", "zstd", "brotli"]))
    pq.write_table(table, buffer, compression=packing, use_dictionary=draw(st.booleans()))
    return buffer.getvalue()


spoilt_tables = _draw_table()


def write_pdf() -> bytes:
    """A page that says so, as small as a PDF is."""
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length 41 >>\nstream\nBT /F1 12 Tf 10 100 Td (Oslo lies far) Tj ET\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]  # fmt: skip
    data, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    tail = b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return data + tail % (table, len(data))


PASSAGE_ROWS: list[Any] = [
    {"id": "o", "title": "Oslo", "text": "Oslo lies far.", "licence": "CC0"},
    {"id": 7, "contents": "\"Oslo\"\nIt lies."},
    {"paragraphs": [{"title": "Oslo", "paragraph_text": "It lies."}]},
    {"context": [["Oslo", ["It lies.", " So it is."]]]}, {"context": {"title": ["Oslo"], "sentences": [["It lies."]]}},
]  # fmt: skip
_TABLE_ROWS = write(PASSAGE_ROWS[0]) + b"\n"
PAGES: list[tuple[str, Any]] = [
    (".json", [write(PASSAGE_ROWS)]), (".tsv", [b"id\ttext\ttitle\n1\tIt lies.\tOslo\n"]),
    (".txt", [b"Oslo lies far.\n"]),
    (".md", [b"# Oslo\n\nIt *lies*.\n\n| a | b |\n|---|---|\n| `c` | d |\n"]),
    (".html", [b"<html><head><title>Oslo</title></head><body><p>" + b"Oslo lies far. " * 20 + b"</p></body>"]),
    (".pdf", [write_pdf()]), (".parquet", [write_parquet([PASSAGE_ROWS[0]] * 3)]),
    (".jsonl.gz", [pack_gzip(_TABLE_ROWS)]),
    (".tar.gz", [pack_tar("a.jsonl", _TABLE_ROWS)]),
    (".zip", [pack_zip("a.jsonl", _TABLE_ROWS), pack_zip("a.txt", b"Oslo lies.")]),
]  # fmt: skip
