import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from annotation.export import build_task, write_tasks
from annotation.push import PushReport, Refusal, push
from hopwright.errors import HopwrightError, InputError, ServiceError
from tests.builders import all_items, chain_item

TOKEN = "5ec4e7-token-of-nobody"


class _Answer(BaseHTTPRequestHandler):
    """Answers every request alike: with the status and the body in its address."""

    status, body = 200, b""

    def _answer(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(self.body)

    do_GET = do_POST = do_PATCH = _answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def push_one(url: str) -> PushReport:
    return push([build_task(chain_item())], url=url, token=TOKEN, project_title="review")


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, {"detail": f"Invalid token {TOKEN}"}, "refuses the token"),
        (403, {"detail": "no"}, "refuses the token"),
        (404, {"detail": "Not found."}, "does not answer like Label Studio"),
        (400, {"validation_errors": {"label_config": ["bad\ninterface"]}}, "answered 400.*bad interface"),
        (500, f"{TOKEN}: a traceback", "answered 500"),
        (200, {"surprise": True}, "does not answer like Label Studio"),
        (200, "<html>a proxy</html>", "does not answer like Label Studio"),
    ],
)
def test_what_a_server_refuses_is_one_line_without_the_token(
    address: str, monkeypatch: pytest.MonkeyPatch, status: int, body: object, message: str
) -> None:
    monkeypatch.setattr(_Answer, "status", status)
    text = body if isinstance(body, str) else json.dumps(body)
    monkeypatch.setattr(_Answer, "body", text.encode())
    with pytest.raises(ServiceError, match=message) as caught:
        push_one(address)
    assert "\n" not in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert caught.value.__cause__ is None


def test_server_that_is_down_is_one_line() -> None:
    with pytest.raises(ServiceError, match=r"cannot reach Label Studio at http://127\.0\.0\.1:9 "):
        push_one("http://127.0.0.1:9")


@pytest.mark.parametrize("url", ["", "localhost:8080", "ftp://host", "http://name:secret@host"])
def test_address_that_is_none_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(InputError, match="must look like") as caught:
        push_one(url)
    assert "secret" not in str(caught.value)


def test_token_that_is_empty_is_refused() -> None:
    with pytest.raises(InputError, match="token"):
        push([], url="http://127.0.0.1:9", token=" ", project_title="review")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "run the review export first"),
        ("[{", "not JSON"),
        ("{}", "not a list of tasks"),
        ('[{"data": {"question": "?"}}]', "not a list of tasks"),
    ],
)
def test_folder_that_cannot_be_pushed(tmp_path: Path, content: str | None, message: str) -> None:
    write_tasks(all_items(), tmp_path)
    if content is None:
        (tmp_path / "tasks.json").unlink()
    else:
        (tmp_path / "tasks.json").write_text(content)
    with pytest.raises(HopwrightError, match=message) as caught:
        push(tmp_path, url="http://127.0.0.1:9", token=TOKEN, project_title="review")
    assert "\n" not in str(caught.value)


def test_summary_names_what_was_refused() -> None:
    report = PushReport(
        project=1, url="http://host/projects/1", created=False, new=2, refused=(Refusal("hw-1", "it has 1 annotation"),)
    )
    assert report.summary == "2 new, 0 updated, 0 unchanged, 1 refused (already under review): http://host/projects/1"
