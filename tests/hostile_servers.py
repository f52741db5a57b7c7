"""Servers on 127.0.0.1 that answer without end, with bombs, and with redirects."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

Manner = Literal["endless", "gzip bomb", "deflate bomb", "unknown packing", "redirect", "trickle", "trickling head"]
MANNERS: tuple[Manner, ...] = ("endless", "gzip bomb", "deflate bomb", "unknown packing")
BLOCK = b" " * 65_536
MOST_BLOCKS = 4_096
"""An answer without end ends here, so that a reader without a limit fails a test and not the machine."""

_MOST_DROPS = 100


@dataclass
class HostileServer:
    """What it does, and what it saw. `sent` counts bytes of bodies, `paths` the requests."""

    manner: Manner
    status: int = 200
    location: str = ""
    packing: str = "br"
    content_type: str = "application/json"
    sent: int = 0
    paths: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    url: str = ""


@contextlib.contextmanager
def serve_hostile(manner: Manner, **fields: object) -> Iterator[HostileServer]:
    """A server that answers every request so; it ends with the block."""
    state = HostileServer(manner, **fields)  # type: ignore[arg-type]
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"state": state}))
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    state: HostileServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.state.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
        self._answer()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _answer(self) -> None:
        state = self.state
        state.paths.append(self.path)
        if state.manner == "redirect":
            self.send_response(307)
            self.send_header("Location", state.location)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if state.manner.startswith("trickl"):
            self._trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n" + b"\r\n" * (state.manner == "trickle"))
            return
        self.send_response(state.status)
        self.send_header("Content-Type", state.content_type)
        self.send_header("Connection", "close")
        if state.manner != "endless":
            packing = {"gzip bomb": "gzip", "deflate bomb": "deflate", "unknown packing": state.packing}[state.manner]
            self.send_header("Content-Encoding", packing)
        self.end_headers()
        self.close_connection = True
        with contextlib.suppress(OSError):
            for block in _list_blocks(state.manner):
                self.wfile.write(block)
                state.sent += len(block)

    def _trickle(self, head: bytes) -> None:
        """A head, and then a byte now and again: blanks of a body, or another header without an end."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.wfile.write(head)
            for number in range(_MOST_DROPS):
                self.wfile.write(b" " if head.endswith(b"\r\n\r\n") else b"X:x"[min(number, 2) :][:1])
                time.sleep(0.05)


def _list_blocks(manner: Manner) -> Iterator[bytes]:
    if manner == "gzip bomb":
        yield from (_pack(zlib.MAX_WBITS | 16) for _ in range(4))
    elif manner == "deflate bomb":
        yield _pack(zlib.MAX_WBITS)
    else:
        yield from (BLOCK for _ in range(MOST_BLOCKS))


@functools.cache
def _pack(window: int) -> bytes:
    """256 MiB in 256 kB; made piece by piece, as tests measure the memory of this process."""
    packer = zlib.compressobj(wbits=window)
    return b"".join([packer.compress(BLOCK) for _ in range(MOST_BLOCKS)]) + packer.flush()
