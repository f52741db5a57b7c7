"""The receiver: hears what is authenticated, and nothing else."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from annotation import webhook
from annotation.correction_requests import write_note
from annotation.webhook import HEADER, Receiver
from hopwright.errors import RunError

SECRET = "s" * 64
CALL = {"action": "ANNOTATION_CREATED"}


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setattr(webhook, "_SETTLE_SECONDS", 0.2)
    monkeypatch.setattr(webhook, "_WAIT_SECONDS", 1.0)
    with Receiver(SECRET) as receiver:
        yield receiver


def call(receiver: Receiver, body: object = CALL, secret: str | None = SECRET, path: str = "") -> int:
    headers = {} if secret is None else {HEADER: secret}
    return httpx.post(receiver.url + path, json=body, headers=headers).status_code


def test_an_authenticated_call_is_heard(receiver: Receiver):
    assert call(receiver) == 204
    assert receiver.wait(60)
    assert not receiver.wait(0.05)


@pytest.mark.parametrize("secret", [None, "", "wrong", SECRET[:-1], SECRET + "s", "é"])
def test_a_call_without_the_secret_is_not(receiver: Receiver, secret: str | None):
    given = None if secret is None else secret.encode("latin-1").decode("latin-1")
    headers = {} if given is None else {HEADER: given.encode("latin-1")}
    assert httpx.post(receiver.url, json=CALL, headers=headers).status_code == 403  # type: ignore[arg-type]
    assert not receiver.wait(0.1)


@pytest.mark.parametrize(
    ("body", "path", "status"),
    [({"action": "PROJECT_DELETED"}, "", 204), (["x"], "", 204), (CALL, "/else", 404), ("x" * 1_100_000, "", 413)],
)
def test_other_calls_are_answered_and_forgotten(receiver: Receiver, body: object, path: str, status: int):
    assert call(receiver, body, path=path) == status
    assert not receiver.wait(0.1)


def test_nonsense_is_refused(receiver: Receiver):
    for content in (b"{", b"\xff\xfe"):
        assert httpx.post(receiver.url, content=content, headers={HEADER: SECRET}).status_code == 400
    assert httpx.get(receiver.url, headers={HEADER: SECRET}).status_code == 501
    assert not receiver.wait(0.1)


def test_whatever_comes_no_thread_ends_with_a_traceback(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(webhook, "_CALL_SECONDS", 0.3)
    head = f"POST /label-studio HTTP/1.1\r\n{HEADER}: {SECRET}\r\n"
    calls = {
        "nested": head + "Content-Length: 500000\r\n\r\n" + "[" * 500_000,
        "no end": head + "Content-Length: 900000\r\n\r\n{",
        "chunks": head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{}",
        "half a head": head,
        "controls": head + 'Content-Length: 14\r\n\r\n{"action": "\x1b"}',
        "no numbers": head + "Content-Length: \u00b2\r\n\r\n",
        "nothing": "",
        "wrong secret": "POST /label-studio HTTP/1.1\r\nContent-Length: 900000\r\n\r\n{",
    }
    for content in calls.values():
        with socket.create_connection(("127.0.0.1", urlsplit(receiver.url).port)) as connection:
            with contextlib.suppress(OSError):
                connection.sendall(content.encode())
                while connection.recv(1024):  # the receiver ends it, also where the caller never does
                    pass
            # Reset instead of closed: the answer finds nobody.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert not receiver.wait(0.1)
    assert call(receiver) == 204
    assert receiver.wait(60)
    assert capfd.readouterr().err == ""


def test_a_burst_is_one_and_an_endless_one_is_cut(receiver: Receiver, monkeypatch: pytest.MonkeyPatch):
    # Longer than a call takes on a busy machine: otherwise a burst would end by itself.
    monkeypatch.setattr(webhook, "_SETTLE_SECONDS", 2.0)
    monkeypatch.setattr(webhook, "_WAIT_SECONDS", 3.0)
    for _ in range(5):
        call(receiver)
    assert receiver.wait(60)
    assert not receiver.wait(0.05)
    stop = threading.Event()
    thread = threading.Thread(target=_keep_calling, args=(receiver, stop))
    thread.start()
    heard = receiver.wait(60)
    calls_go_on = thread.is_alive()
    stop.set()
    thread.join()
    assert heard
    assert calls_go_on


def test_it_listens_on_this_machine_only(receiver: Receiver):
    assert urlsplit(receiver.url).hostname == "127.0.0.1"


def test_a_port_that_is_taken_is_one_line(receiver: Receiver):
    port = urlsplit(receiver.url).port
    assert port is not None
    with pytest.raises(RunError, match=f"cannot listen on 127.0.0.1:{port} .*; choose another --port"):
        Receiver(SECRET, port)


def test_a_note_is_escaped_replaced_and_taken_off():
    html = "<div>the item</div>"
    asked = write_note(html, ("hop 3: <script>alert(1)</script> & more",))
    assert "<script>" not in asked
    assert "&lt;script&gt;" in asked
    assert asked.endswith(html)
    assert write_note(asked, ("other",)).count("hw-returned") == 1
    assert "alert" not in write_note(asked, ("other",))
    assert write_note(write_note(html, ("</div><b>x",)), ()) == html


def _keep_calling(receiver: Receiver, stop: threading.Event) -> None:
    """Ends by itself after more calls than are waited for."""
    for _ in range(100):
        call(receiver)
        if stop.wait(0.05):
            break
