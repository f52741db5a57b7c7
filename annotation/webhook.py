"""Hears from Label Studio that something was reviewed: a small receiver on this machine, and its registration.

A call is only a hint: it is authenticated by a secret header, its body is not believed, and what changed is pulled
as always. So a forged, lost or repeated call can do no harm.
"""

from __future__ import annotations

import contextlib
import hmac
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from annotation.server import Server
from annotation.server_reading import read_json
from hopwright.errors import RunError
from hopwright.foreign import JsonError, load_json

HEADER = "X-Hopwright-Secret"
PATH = "/label-studio"
ACTIONS = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_CREATED", "ANNOTATIONS_DELETED")

_MOST_BYTES = 1_000_000
_HOST = "127.0.0.1"
_CALL_SECONDS = 10.0
"""A call that has not come as a whole by then never does."""
_SETTLE_SECONDS = 1.0
"""Calls come in bursts: this long after the last one, what changed is pulled."""
_WAIT_SECONDS = 10.0
"""…or this long after the first, when they do not stop."""


class Receiver:
    """Listens on 127.0.0.1 until the block ends. Raises RunError when the port is taken.

    `wait` says when something was heard; what is heard during a pull leads to another one after it.
    """

    def __init__(self, secret: str, port: int = 0) -> None:
        self._heard = threading.Condition()
        self._first = 0.0
        self._last = 0.0
        try:
            self._server = _Server((_HOST, port), _make_handler(secret, self._note_call))
        except OSError as error:
            raise RunError(f"cannot listen on {_HOST}:{port} ({error.strerror}); choose another --port") from None
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def url(self) -> str:
        """The address that Label Studio has to call."""
        return f"http://{_HOST}:{self._server.server_port}{PATH}"

    def __enter__(self) -> Receiver:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self, seconds: float) -> bool:
        """Wait until calls have come and ceased; False when none came within so many seconds."""
        deadline = time.monotonic() + seconds
        with self._heard:
            while not self._first:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._heard.wait(left)
            while True:
                now = time.monotonic()
                left = min(self._last + _SETTLE_SECONDS, self._first + _WAIT_SECONDS) - now
                if left <= 0:
                    self._first = 0.0
                    return True
                self._heard.wait(left)

    def _note_call(self) -> None:
        with self._heard:
            self._last = time.monotonic()
            self._first = self._first or self._last
            self._heard.notify_all()


def register(server: Server, projects: Iterable[int], url: str, secret: str) -> list[int]:
    """Have Label Studio call `url` when something is reviewed; returns the ids of the webhooks.

    A webhook to the same address is brought up to date instead of doubled. To be called inside `open_server`.
    """
    ids = []
    for project in projects:
        there = read_json(server, "api/webhooks/", f"project {project}", project=project).body
        wanted: dict[str, Any] = {
            "headers": {HEADER: secret},
            "send_payload": False,
            "send_for_all_actions": False,
            "actions": list(ACTIONS),
            "is_active": True,
        }
        old = [one for one in there if one.get("url") == url and one.get("project") == project]
        for one in old:
            server.client.webhooks.delete(one["id"])
        ids.append(int(server.client.webhooks.create(url=url, project=project, **wanted).id or 0))
    return ids


def unregister(server: Server, ids: Iterable[int]) -> None:
    """Have Label Studio call no more. To be called inside `open_server`."""
    for id in ids:
        server.client.webhooks.delete(id)


def _cut_off(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _make_handler(secret: str, heard: Callable[[], None]) -> type[BaseHTTPRequestHandler]:
    """A handler class for one secret; the standard library wants a class, not an object."""
    return type("Handler", (_Handler,), {"secret": secret, "heard": staticmethod(heard)})


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller who is gone before the answer is nobody's mistake here."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Answers 204 to a call that brings the secret; tells nobody anything else."""

    secret: str
    heard: Callable[[], None]
    server_version, sys_version = "hopwright", ""

    def setup(self) -> None:
        """Whoever sends a byte now and then is cut off, too."""
        super().setup()
        self._end = threading.Timer(_CALL_SECONDS, _cut_off, [self.connection])
        self._end.daemon = True
        self._end.start()

    def finish(self) -> None:
        """Every way in which a call ends."""
        self._end.cancel()
        super().finish()

    def do_POST(self) -> None:
        """A call from Label Studio."""
        self.send_response(self._judge())
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a log of calls would hold what they were called with."""

    def _judge(self) -> int:
        given = self.headers.get(HEADER, "").encode("latin-1", "replace")
        if not hmac.compare_digest(given, self.secret.encode()):
            return 403
        if self.path != PATH:
            return 404
        try:
            size = int(self.headers.get("Content-Length", "0"))
        except ValueError:
            return 400
        if not 0 <= size <= _MOST_BYTES:
            return 413
        try:
            body = load_json(self.rfile.read(size))
        except (JsonError, OSError):
            return 400
        if isinstance(body, dict) and body.get("action") in ACTIONS:
            self.heard()
        return 204
