"""What answers in Label Studio's place decides neither how much is read nor where tasks and the token go."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from annotation.server import open_server
from annotation.server_reading import list_tasks
from hopwright.errors import ServiceError
from hopwright.foreign import BODY_VARIABLE
from tests.hostile_servers import MANNERS, Manner, serve_hostile

MIB = 1 << 20
TOKEN = "a" * 40


@pytest.mark.parametrize("manner", MANNERS)
def test_an_answer_is_read_up_to_the_limit(manner: Manner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BODY_VARIABLE, "1")
    with (
        serve_hostile(manner) as server,
        pytest.raises(ServiceError, match=r"not asked for|longer than 1 MiB") as caught,
        open_server(server.url, TOKEN),
    ):
        pass
    assert "\n" not in str(caught.value)
    assert server.sent < 16 * MIB


def test_a_redirect_to_another_host_gets_nothing() -> None:
    with serve_hostile("endless") as other:
        place = other.url.replace("127.0.0.1", "localhost")
        with (
            serve_hostile("redirect", location=f"{place}/api/version") as server,
            pytest.raises(ServiceError, match="redirects to localhost, which gets neither token nor tasks"),
            open_server(server.url, TOKEN),
        ):
            pass
    assert len(server.paths) == 1 and not other.paths


@pytest.mark.parametrize("location", ["//localhost:1/api/version", "http://[x/", "http://xn--a/", "http://a\x1b[2J/"])
def test_a_redirect_that_names_its_host_oddly_gets_nothing(location: str) -> None:
    with (
        serve_hostile("redirect", location=location) as server,
        pytest.raises(ServiceError, match="redirects to") as caught,
        open_server(server.url, TOKEN),
    ):
        pass
    assert len(server.paths) == 1
    assert str(caught.value).isprintable()


def test_a_token_that_a_server_repeats_is_in_no_line() -> None:
    token = "planted0123456789qrstuvwx"
    for manner, fields in (("unknown packing", {"packing": token}), ("redirect", {"location": f"http://{token}/"})):
        with (
            serve_hostile(manner, **fields) as server,  # type: ignore[arg-type]
            pytest.raises(ServiceError, match=r"not asked for|redirects to") as caught,
            open_server(server.url, token),
        ):
            pass
        assert token[:12] not in str(caught.value)


PAGES: list[Any] = [
    None, [], 7, "tasks", {}, {"tasks": None, "total": 1}, {"tasks": [1], "total": 1}, {"tasks": [{}], "total": 1},
    {"tasks": [{"id": "1"}], "total": 1}, {"tasks": [{"id": 1}], "total": "many"}, {"tasks": [{"id": 1}], "total": -1},
    {"tasks": [{"id": 1}], "total": 10**30},
]  # fmt: skip


@pytest.mark.parametrize("page", [*map(json.dumps, PAGES), "[" * 100_000, "NaN", "9" * 10_000, "{", "\ufeff"])
def test_a_page_that_is_none_is_one_clear_line(page: str) -> None:
    with _serve(page) as url, pytest.raises(ServiceError) as caught, open_server(url, TOKEN) as server:
        list(list_tasks(server, 1, "id"))
    assert "http://127.0.0.1" in str(caught.value) and "check the address" in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600


@pytest.mark.parametrize("said", ["null", "[]", "7", '"x"', '{"release": {}}', "[" * 100_000, "{" * 1000])
def test_a_server_that_is_no_label_studio_is_one_clear_line(said: str) -> None:
    with _serve("{}", start=said) as url, pytest.raises(ServiceError), open_server(url, TOKEN) as server:
        list(list_tasks(server, 1, "id"))


@contextmanager
def _serve(page: str, start: str = "") -> Iterator[str]:
    answers = {"/api/version": '{"release": "1.23.2"}', "/api/current-user/whoami": '{"id": 1}', "/api/tasks/": page}
    if start:
        answers |= {"/api/version": start, "/api/current-user/whoami": start}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"answers": answers}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    answers: dict[str, str]

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        body = self.answers.get(path, self.answers.get(path.rstrip("/"), "{}")).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass
