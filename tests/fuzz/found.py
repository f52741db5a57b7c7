"""What broke a reader once, by target."""

from __future__ import annotations

import json
import zipfile
from typing import Any

from tests.fuzz.files import pack_tar, pack_zip
from tests.fuzz.targets import ROWS

_STATE = {"corpus": "c", "language": "english", "shards": 2, "number": 1, "of": 1, "passages": 10, "terms": 300}
_FOUND = {
    "id": "a:0-5", "row": 0, "title": "Rain", "text": "river", "document": "a", "start": 0, "end": 5, "score": 1.5,
}  # fmt: skip


def _answer(counts: object = (7,), found: dict[str, Any] | None = None, **state: object) -> tuple[str, Any]:
    """What a peer answers, but for some fields."""
    parts = (_STATE | state, counts, [_FOUND | (found or {})])
    return "peers", tuple(json.dumps(one).encode() for one in parts)


_HALF = ROWS[0] | {"multi_hop_question": "half \ud800"}
_LONG = {"choices": [{"message": {"content": "A"}, "logprobs": {"content": [{"top_logprobs": [
    {"token": "A", "logprob": "( " * 5_000}]}]}}]}  # fmt: skip
_TAGGED = {"hops": [{"derivation": {"kind": "a" * 9_000}}]}
_PROSE = b"CHAPTER I\n\n" + b"The rain came down upon the road, and nobody looked out at it. " * 20 + b"\n\n"
_SPARSE = {"GNU.sparse.size": "abc", "GNU.sparse.name": "x"}
_LOCKED = pack_zip("a.txt", b"Oslo", method=zipfile.ZIP_STORED)
_DIRECTORY = _LOCKED.rfind(b"PK\x01\x02")
_PACKAGE = (
    b'<package><title>Rain</title><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
    b'<spine><itemref idref="a"/></spine></package>'
)


def _pack_epub(page: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    container = b'<c><rootfile full-path="o/p.opf"/></c>'
    files = (("o/p.opf", _PACKAGE), ("o/a.xhtml", page))
    return pack_zip("META-INF/container.xml", container, *files, method=method)


_PICTURES = b"file\tentity\tlicence\tauthor\tkind\n"
_ROW = _PICTURES + b"a.svg\tQ142\tCC0-1.0\tnobody\tflag\n"
_SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s">%s</svg>'
_NOISE = (
    b'<filter id="f" x="-50" y="-50" width="100" height="100"><feGaussianBlur stdDeviation="1000"/>'
    b'<feTurbulence numOctaves="1000000"/></filter><rect width="64" height="64" filter="url(#f)"/>'
)

FOUND: tuple[tuple[str, Any], ...] = (
    ("documents", (".json", b"[" * 200_000)),
    ("documents", (".json", b'[{"text": ' + b"[" * 200_000)),
    ("documents", (".json", b'{"a":' * 100_000)),
    ("documents", (".jsonl", b"[" * 200_000 + b"\n")),
    ("documents", (".json", b'[{"id": ' + b"9" * 6_000 + b', "text": "Oslo"}]')),
    ("documents", (".zip", pack_zip("a.txt", b"Oslo").replace(b"\x14\x00\x00\x00", b"\x14\x00\x01\x00"))),
    ("documents", (".zip", _LOCKED[: _DIRECTORY + 6] + b"\x63" + _LOCKED[_DIRECTORY + 7 :])),
    ("documents", (".zip", pack_zip("a.jsonl", b" " * (1 << 20), method=zipfile.ZIP_BZIP2))),
    ("documents", (".tar.gz", pack_tar("a.txt", b"Oslo", **_SPARSE))),
    ("corpus", (".tar.gz", pack_tar("wikidata5m_all_triplet.txt", b"Q1\tP31\tQ2\n", **_SPARSE))),
    ("books", ("a.epub", _pack_epub(b" " * (1 << 20), zipfile.ZIP_BZIP2))),
    ("books", ("a.epub", _pack_epub(b"<a " * 60_000))),
    ("books", ("a.epub", _pack_epub(b"<!--" * 50_000))),
    ("books", ("a.txt", _PROSE + b"Mr. " * 8_000)),
    ("books", ("a.txt", _PROSE + b"King of " * 8_000)),
    ("books", ("a.txt", _PROSE + b'"said Alder ' * 8_000)),
    ("books", ("a.txt", _PROSE + b"They lived at " + b"Alder " * 2_000 + b"Park, in " + b"Alder " * 2_000 + b"Park.")),
    ("books", ("a.txt", b"The Project Gutenberg EBook\n\nTitle: a" + b" " * 39_000 + b"b\n\n" + _PROSE)),
    ("documents", (".txt", b"Oslo" + b" " * 200_000 + b"lies")),
    ("books", ("a.txt", _PROSE + b"a\n\n" * 400_001)),
    ("turns", ([{"text": "<answer>" * 20_000}], True)),
    ("documents", (".jsonl", b'{"id": "half \\ud800", "contents": "Oslo"}')),
    ("parameters", b"a = " + b"[" * 100_000),
    ("parameters", b'dated = "x"\nmodels = 1\n'),
    ("parameters", b'dated = "x"\nbatch_factor = "x"\n'),
    ("parameters", b'dated = "x"\n[models.a]\ninput = inf\noutput = nan\n'),
    ("rows", json.dumps(_HALF).encode()),
    ("rows", json.dumps(ROWS[0] | {"id": []}).encode()),
    ("rows", json.dumps(ROWS[0] | {"single_hop": ["Who directed Night Harbour?"]}).encode()),
    ("audit", b"PAR1"),
    ("rows", json.dumps(ROWS[0] | {"motif_type": "( " * 5_000}).encode()),
    ("answers", (200, json.dumps(_LONG).encode(), {}, "")),
    ("novel sets", (json.dumps(_TAGGED).encode(), b"{}", b"[]")),
    ("tasks", json.dumps({"t" * 9_000: 1}).encode()),
    ("pictures", ("svg", b"[" * 200_000, b"<svg/>")),
    ("pictures", ("svg", _PICTURES + b"\x00a.svg\tQ142\tCC0-1.0\tnobody\tflag\n", b"<svg/>")),
    ("pictures", ("svg", _PICTURES + b"9" * 6_000 + b"a.svg\tQ142\tCC0-1.0\tnobody\tflag\n", b"<svg/>")),
    ("pictures", ("svg", _ROW, _SVG % (b"1 1000000", b'<rect width="1" height="1"/>'))),
    ("pictures", ("svg", _ROW, _SVG % (b"64 64", b"<g>" * 100_000 + b"</g>" * 100_000))),
    ("pictures", ("svg", _ROW, _SVG % (b"64 64", _NOISE))),
    _answer(of=200_000_000),
    _answer(of=10**30),
    _answer(language="klingon"),
    _answer(language="x\x1b[2J\nINFO: forged"),
    _answer(passages=10**400),
    _answer(passages=-3),
    _answer(passages=0),
    _answer(terms=-5),
    _answer(counts=[10**400]),
    _answer(counts=[-50]),
    _answer(counts=[10**6]),
    _answer(found={"score": float("nan")}),
    _answer(found={"row": 10**4000}),
    _answer(found={"text": "half \ud800"}),
    ("audit", json.dumps(_HALF).encode()),
)
