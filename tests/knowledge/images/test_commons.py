"""Wikimedia Commons, played by a local server: statements, licences, files, and a cache that needs no server."""

from __future__ import annotations

import json
import threading
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
from hopwright.knowledge.wikidata.sparql import AnswerCache, SparqlClient, SparqlSettings
from tests.pictures.painted import paint

FILES = {
    "Flag of France.svg": ("Q142", "P41", "Public domain", "image/svg+xml", "<a href='x'>Somebody</a>"),
    "Paris Night.jpg": ("Q90", "P18", "CC BY-SA 4.0", "image/jpeg", "Photo &amp; Co"),
    "Secret logo.png": ("Q90", "P154", "All rights reserved", "image/png", "A firm"),
}


class Commons(ThreadingHTTPServer):
    """Both services on one port; `asked` counts what they were asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: Counter[str] = Counter()

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
        return {"head": {"vars": ["entity", "file"]}, "results": {"bindings": rows}}

    def _describe(self, titles: str) -> dict[str, Any]:
        pages = {}
        for number, title in enumerate(titles.split("|")):
            _, _, licence, mime, author = FILES[title.removeprefix("File:")]
            said = {"LicenseShortName": {"value": licence}, "Artist": {"value": author}}
            info = {"thumburl": f"{self.server.url}/file/{number}", "url": "x", "mime": mime, "extmetadata": said}
            pages[str(number)] = {"title": title, "imageinfo": [info]}
        return {"query": {"pages": pages}}

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
