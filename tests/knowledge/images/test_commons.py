"""Wikimedia Commons, played by a local server: statements, licences, odd rows and files, and the cache."""

from __future__ import annotations

import json
import threading
import time
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from hopwright.errors import ServiceError
from hopwright.knowledge.images.commons import CommonsPictures
from hopwright.knowledge.images.rendering import encode_png
from hopwright.knowledge.images.store import build_store
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.sparql import AnswerCache, SparqlClient, SparqlSettings
from hopwright.knowledge.wikidata.store import GraphStore
from tests.pictures.painted import paint

FILES = {
    "Flag of France.svg": ("Q142", "P41", "Public domain", "image/svg+xml", "<a href='x'>Somebody</a>"),
    "Paris Night.jpg": ("Q90", "P18", "CC BY-SA 4.0", "image/jpeg", "Photo &amp; Co"),
    "Secret logo.png": ("Q90", "P154", "All rights reserved", "image/png", "A firm"),
}


class Commons(ThreadingHTTPServer):
    """Both services on one port; `asked` counts what they were asked for.

    `changes` are those of the flag's description, `manner` is how its file is served, `bare` adds a row without a file.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: Counter[str] = Counter()
        self.changes: dict[str, Any] = {}
        self.manner = ""
        self.bare = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Commons

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        given = dict(urllib.parse.parse_qsl(query))
        self.server.asked[path.split("/")[1]] += 1
        if path == "/sparql":
            self._send(json.dumps(self._statements(given["query"])).encode(), "application/sparql-results+json")
        elif path == "/api":
            self._send(json.dumps(self._describe(given["titles"])).encode(), "application/json")
        elif path == "/file/0" and self.server.manner:
            self._misbehave(self.server.manner)
        else:
            self._send(encode_png(paint(path, "flag")), "image/png")

    def _statements(self, query: str) -> dict[str, Any]:
        rows = [
            {
                "entity": {"type": "uri", "value": f"http://www.wikidata.org/entity/{entity}"},
                "file": {
                    "type": "uri",
                    "value": f"http://commons.wikimedia.org/wiki/Special:FilePath/{urllib.parse.quote(name)}",
                },
            }
            for name, (entity, property, *_) in FILES.items()
            if f"wdt:{property} " in query and f"wd:{entity} " in query
        ]
        rows += [{name: one[name] for name in ("entity",)} for one in rows if self.server.bare]
        return {"head": {"vars": ["entity", "file"]}, "results": {"bindings": rows}}

    def _describe(self, titles: str) -> dict[str, Any]:
        pages = {}
        for number, title in enumerate(titles.split("|")):
            _, _, licence, mime, author = FILES[title.removeprefix("File:")]
            said = {"LicenseShortName": {"value": licence}, "Artist": {"value": author}}
            info = {"thumburl": f"{self.server.url}/file/{number}", "url": "x", "mime": mime, "extmetadata": said}
            info |= self.server.changes if title == "File:Flag of France.svg" else {}
            pages[str(number)] = {"title": title, "imageinfo": [info]}
        return {"query": {"pages": pages}}

    def _misbehave(self, manner: str) -> None:
        if manner.isdigit():
            self.send_error(int(manner))
        elif manner == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"x" * 60)
        elif manner == "chunk":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nabc")
        elif manner == "trickle":
            self.send_response(200)
            self.end_headers()
            for _ in range(100):
                self.wfile.write(b"x")
                time.sleep(0.05)
        elif manner in ("garbage", "long line"):
            self.wfile.write(b"\x1b[2J\r\n\r\n" if manner == "garbage" else b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70_000)
        else:
            self.send_response(302)
            self.send_header("Location", manner)
            self.end_headers()

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def commons() -> Iterator[Commons]:
    server = Commons()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def open_commons(server: Commons, folder: Path) -> CommonsPictures:
    client = SparqlClient(
        SparqlSettings(endpoint=f"{server.url}/sparql", dialect="truthy", max_tries=1),
        AnswerCache(folder / "sparql.sqlite"),
    )
    kinds = ("photo", "flag", "mark", "arms")
    return CommonsPictures(["Q142", "Q90"], kinds, client, folder / "files", api=f"{server.url}/api")


def test_free_files_come_with_licence_and_author(commons: Commons, tmp_path: Path) -> None:
    pictures = list(open_commons(commons, tmp_path).read_pictures())
    assert [(one.name.entity, one.kind, one.licence, one.author) for one in pictures] == [
        ("Q142", "flag", "Public domain", "Somebody"),
        ("Q90", "photo", "CC BY-SA 4.0", "Photo & Co"),
    ]
    assert pictures[0].origin == "Wikimedia Commons File:Flag of France.svg"


def test_a_second_reading_asks_nobody(commons: Commons, tmp_path: Path) -> None:
    first = list(open_commons(commons, tmp_path).read_pictures())
    asked = Counter(commons.asked)
    assert list(open_commons(commons, tmp_path).read_pictures()) == first
    assert commons.asked == asked


def test_a_server_that_is_gone_is_one_line(tmp_path: Path) -> None:
    server = Commons()
    server.server_close()
    with pytest.raises(ServiceError, match=r"127\.0\.0\.1"):
        list(open_commons(server, tmp_path).read_pictures())


def test_a_file_that_is_too_large_is_none_and_the_others_come(
    commons: Commons, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {one.name.entity: one.data for one in open_commons(commons, tmp_path / "whole").read_pictures()}
    small, large = sorted(whole, key=lambda entity: len(whole[entity]))
    monkeypatch.setattr("hopwright.knowledge.images.commons.MOST_BYTES", len(whole[small]))
    cut = {one.name.entity: one.data for one in open_commons(commons, tmp_path / "cut").read_pictures()}
    assert cut == {small: whole[small], large: b""}


ODD_ROWS: list[dict[str, Any]] = [
    {"thumburl": "{}/a b"}, {"thumburl": "{}/a\nb"}, {"thumburl": "http://[x/"}, {"thumburl": "{}/é"}, {"thumburl": 7},
    {"thumburl": None, "url": None}, {"thumburl": "http://127.0.0.1:99999/"}, {"thumburl": "file:///etc/passwd"},
    {"thumburl": "http:///x"}, {"mime": ["image/png"]}, {"mime": None}, {"extmetadata": "x"},
    {"extmetadata": {"LicenseShortName": "CC0"}}, {"extmetadata": {"LicenseShortName": []}},
]  # fmt: skip


@pytest.mark.parametrize("changes", ODD_ROWS, ids=repr)
def test_an_odd_row_is_a_picture_with_its_reason_and_the_others_come(
    changes: dict[str, Any], commons: Commons, tmp_path: Path
) -> None:
    commons.changes = {
        name: value.replace("{}", commons.url) if isinstance(value, str) else value for name, value in changes.items()
    }
    odd, sound = open_commons(commons, tmp_path).read_pictures()
    assert (odd.name.entity, odd.kind, odd.data) == ("Q142", "flag", b"")
    assert odd.failure and odd.failure.isprintable()
    assert sound.name.entity == "Q90" and sound.data and not sound.failure


def test_no_metadata_is_no_licence(commons: Commons, tmp_path: Path) -> None:
    """MediaWiki writes an empty mapping as a list."""
    commons.changes = {"extmetadata": []}
    assert [one.name.entity for one in open_commons(commons, tmp_path).read_pictures()] == ["Q90"]


def test_a_row_without_a_file_is_counted(commons: Commons, tmp_path: Path) -> None:
    commons.bare = True
    pictures = list(open_commons(commons, tmp_path).read_pictures())
    assert ["names no entity or no file" in one.failure for one in pictures] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("manner", "said"),
    [
        ("404", "HTTP 404"), ("500", "HTTP 500"), ("cut", "breaks off"), ("chunk", "breaks off"),
        ("garbage", "x1b"), ("long line", "header line"), ("trickle", "trickles"),
        ("http://localhost:1/x", "elsewhere"),
        ("//localhost/x", "elsewhere"), ("ftp://127.0.0.1/x", "elsewhere"), ("file:///etc/passwd", "HTTP 302"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_come_is_not_kept(
    manner: str, said: str, commons: Commons, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hopwright.knowledge.images.commons._PATIENCE_S", 0.2)
    commons.manner = manner
    odd, sound = open_commons(commons, tmp_path).read_pictures()
    assert said in odd.failure and odd.failure.isprintable() and not odd.data
    assert sound.data and not sound.failure
    commons.manner = ""
    mended, _ = open_commons(commons, tmp_path).read_pictures()
    assert mended.data and not mended.failure


def test_a_redirect_on_the_same_host_is_followed(commons: Commons, tmp_path: Path) -> None:
    commons.manner = f"{commons.url}/file/7"
    assert all(one.data for one in open_commons(commons, tmp_path).read_pictures())


def test_a_server_that_has_enough_or_fails_every_file_ends_the_reading(
    commons: Commons, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commons.manner = "429"
    with pytest.raises(ServiceError, match="asked too often"):
        list(open_commons(commons, tmp_path).read_pictures())
    monkeypatch.setattr("hopwright.knowledge.images.commons._MOST_TROUBLES", 1)
    commons.manner = "503"
    with pytest.raises(ServiceError, match="run again, what is here is kept"):
        list(open_commons(commons, tmp_path).read_pictures())


def test_an_answer_that_is_none_of_mediawiki_is_not_kept(
    commons: Commons, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, pytest.raises(ServiceError, match="does not answer as MediaWiki does"):
        patch.setattr(_Handler, "_describe", lambda *_: {"error": {"code": "maxlag"}})
        list(open_commons(commons, tmp_path).read_pictures())
    assert len(list(open_commons(commons, tmp_path).read_pictures())) == 2


def test_a_picture_that_a_source_could_not_get_is_a_row_with_its_reason(
    commons: Commons, tmp_path: Path, sample: GraphStore, sample_kinds: KindIndex
) -> None:
    commons.manner = "404"
    source = open_commons(commons, tmp_path)
    graph = WikidataSource(sample, kinds=sample_kinds)
    store = build_store(tmp_path / "store", [source], graph, 64, lambda _: None)
    assert len(store.pictures) == 1
    (reason,) = store.undrawn
    assert reason.startswith("Wikimedia Commons File:Flag of France.svg: ") and reason.endswith("(HTTP 404)")
