"""A real Label Studio server for the tests of a session, shared by its worker processes, and people to work on it."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from label_studio_sdk import LabelStudio

from annotation.access import Access
from flows import label_studio
from tests.e2e.tools import make_environment
from tests.shared import locked

ROOT = Path(__file__).resolve().parents[2]
_ROOM = 1_000_000_000
_PORTS = range(20_000, 32_000)


@dataclass(frozen=True)
class Person:
    """Somebody with an account."""

    email: str
    password: str
    token: str
    id: int


@dataclass(frozen=True)
class LiveServer:
    """The server: its address, and its first user's token."""

    url: str
    token: str
    email: str
    password: str

    @property
    def client(self) -> LabelStudio:
        return self.client_of(self.token)

    def client_of(self, token: str) -> LabelStudio:
        return LabelStudio(base_url=self.url, api_key=token)

    def tasks(self, project: int) -> dict[str, Any]:
        """Task key → task; a duplicate fails here."""
        tasks = list(self.client.tasks.list(project=project, page_size=500))
        found = {task.data["item_id"] + (f"#{task.data['hop']}" if "hop" in task.data else ""): task for task in tasks}
        assert len(found) == len(tasks), "an item stands in two tasks"
        return found

    def add_person(self, name: str) -> Person:
        """Make an account through the invitation link, as an annotator does."""
        email, password = f"{name}-{secrets.token_hex(3)}@example.org", secrets.token_urlsafe(10)
        with httpx.Client(base_url=self.url, follow_redirects=True, timeout=60) as browser:
            invite = browser.get("/api/invite", headers={"Authorization": f"Token {self.token}"}).json()["invite_url"]
            page = browser.get(invite).text
            found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
            assert found, "no sign-up form"
            form = {"csrfmiddlewaretoken": found[1], "email": email, "password": password}
            browser.post(invite, data=form, headers={"Referer": self.url + invite}).raise_for_status()
            token = browser.get("/api/current-user/token").json()["token"]
            id = browser.get("/api/current-user/whoami").json()["id"]
        return Person(email, password, token, id)


def install() -> Path:
    """The server's program in an environment of its own, made on first use."""
    try:
        return make_environment("label-studio") / "label-studio"
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").splitlines()
        reason = next((line for line in reversed(said) if not line.startswith("make: ")), "no reason given")
        pytest.skip(f"Label Studio cannot be installed here: {reason}")


@contextlib.contextmanager
def share_server(shared: Path) -> Iterator[LiveServer]:
    """The session's server: whoever comes first starts it, whoever leaves last ends it by its process id."""
    program = install()
    place = shared / "label-studio"
    place.mkdir(exist_ok=True)
    with locked(place / "lock"):
        state = _read(place)
        if state is None:
            state = _start(program, place)
        _write(place, state | {"users": [*state["users"], os.getpid()]})
    try:
        _wait_until_up(state["url"], place / "server.log")
        yield LiveServer(state["url"], state["token"], state["email"], state["password"])
    finally:
        with locked(place / "lock"):
            state = _read(place)
            assert state is not None
            others = [pid for pid in state["users"] if pid != os.getpid() and _runs(pid)]
            if others:
                _write(place, state | {"users": others})
            else:
                (place / "state.json").unlink()
                _end(state["pid"])
                shutil.rmtree(state["data"], ignore_errors=True)


def _start(program: Path, place: Path) -> dict[str, Any]:
    port = _find_port()
    url = f"http://127.0.0.1:{port}"
    access = Access(url, "maintainer@example.org", secrets.token_urlsafe(12), secrets.token_hex(20))
    given = {name: value for name, value in os.environ.items() if not name.startswith("LABEL_STUDIO")}
    # Webhooks go to this machine, which the server otherwise refuses to call.
    given["SSRF_PROTECTION_ENABLED"] = "false"
    command = [str(program), "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)]
    command = ["timeout", "--kill-after=10", "1800", *command]  # it ends by itself though every worker were killed
    data = _find_place(place)
    with (place / "server.log").open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=place,
            env=label_studio.make_environment(access, data, given),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return {
        "url": url,
        "token": access.token,
        "email": access.user,
        "password": access.password,
        "pid": process.pid,
        "data": str(data),
        "users": [],
    }


def _find_port() -> int:
    """A free port below those that the system gives to connections, so that none of these takes it meanwhile."""
    for port in random.SystemRandom().sample(_PORTS, 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    pytest.fail(f"no free port among {_PORTS}")


def _find_place(usual: Path) -> Path:
    """A folder for the server's database: in memory where there is room, which makes every write twice as fast."""
    memory = Path("/dev/shm")
    if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > _ROOM:
        return Path(tempfile.mkdtemp(prefix="hopwright-label-studio-", dir=memory))
    (usual / "data").mkdir()
    return usual / "data"


def _end(pid: int) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        for _ in range(100):
            if not _runs(pid):
                return
            time.sleep(0.1)


def _runs(pid: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _wait_until_up(url: str, log: Path) -> None:
    end = time.monotonic() + 420
    while time.monotonic() < end:
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"{url}/health", timeout=5).status_code == 200:
                return
        time.sleep(0.5)
    pytest.fail(f"Label Studio did not come up:\n{log.read_text(errors='replace')[-2000:]}")


def _read(place: Path) -> dict[str, Any] | None:
    path = place / "state.json"
    return json.loads(path.read_text()) if path.exists() else None


def _write(place: Path, state: dict[str, Any]) -> None:
    (place / "state.json").write_text(json.dumps(state))
