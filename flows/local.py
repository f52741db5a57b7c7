"""Prefect without a server: one of our own for the length of a run, that ends with it however it ends."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from hopwright.errors import RunError, ServiceError
from hopwright.runs.files import explain_os_errors, hold_lock

_START_SECONDS = 120
_END_SECONDS = 10
_TAIL = 1 << 20
"""Bytes at the end of the server's log in which the reason is looked for."""
_FULL = (b"database or disk is full", b"No space left on device", b"Disk quota exceeded")
_LEAST_FREE = 1 << 20
_RECORDER = "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER"
_OWN_SERVER = {
    # By itself it stores every state of every task run in a transaction of its own, with statements that are compiled
    # anew each time: a quarter of what it takes of the processor while a build runs. Nobody looks at it meanwhile.
    f"{_RECORDER}_BATCH_SIZE": "100",
    f"{_RECORDER}_READ_BATCH_SIZE": "100",
    f"{_RECORDER}_FLUSH_INTERVAL": "2",
    # Automations, and blocks by form, are made on a server that lasts.
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
    "PREFECT_SERVER_REGISTER_BLOCKS_ON_START": "false",
    "PREFECT_SERVER_MEMOIZE_BLOCK_AUTO_REGISTRATION": "false",
}


@contextlib.contextmanager
def prefect_server(home: Path) -> Iterator[Callable[[], None]]:
    """A Prefect API for the block; enter before Prefect is imported, and call what is yielded before it is used.

    With PREFECT_API_URL set, flows report to that server. Without, one is started on a database in our own folder,
    while the caller imports what it needs. Prefect's own temporary server would outlive a SIGKILL of its parent.

    Raises RunError when the folder cannot be written, ServiceError when no server answers.
    """
    _set_environment()
    url = os.environ.get("PREFECT_API_URL")
    if url:
        if not answers(f"{url}/health"):
            raise ServiceError(f"no Prefect server answers at {url}: start it, or unset PREFECT_API_URL to do without")
        yield _do_nothing
        return
    folder = home / "prefect"
    log = folder / "server.log"
    with explain_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # Its database holds parameters and results of every run.
        folder.chmod(0o700)
    # Two servers that make one database at the same moment spoil it for each other.
    starting = contextlib.ExitStack()
    starting.enter_context(hold_lock(folder / "start.lock", f"Prefect's database in {folder}", 2 * _START_SECONDS))
    with explain_os_errors(folder):
        output = log.open("wb")
    environment = {**_OWN_SERVER, **os.environ, "PREFECT_HOME": str(folder)}
    with output:
        child = subprocess.Popen(
            [sys.executable, "-m", "flows.prefect_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            env=environment,
            text=True,
            # Ctrl-C is for the run: its server answers until the run has ended, and ends when its input is closed.
            start_new_session=True,
            umask=0o077,
        )
    try:
        assert child.stdout is not None
        port = child.stdout.readline().strip()
        os.environ.update(PREFECT_HOME=str(folder), PREFECT_API_URL=f"http://127.0.0.1:{port}/api")
        yield lambda: _wait(child, f"http://127.0.0.1:{port}/api/health", log, starting)
    finally:
        starting.close()
        os.environ.pop("PREFECT_API_URL", None)
        _end(child)


def answers(url: str) -> bool:
    """Whether something answers there with success."""
    try:
        with urllib.request.urlopen(url, timeout=3) as response:
            return bool(response.status < 400)
    except (urllib.error.URLError, OSError, ValueError):
        return False


def find_full_disk(home: Path) -> str:
    """What to say where the disk under the database of our own server is full; empty where it is not.

    A full disk is known by what is free now, or, where that is some again, by what the server said last.
    """
    folder = home / "prefect"
    try:
        free = shutil.disk_usage(folder).free
        with (folder / "server.log").open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL))
            said = log.read()
    except OSError:
        return ""
    if free >= _LEAST_FREE and not any(words in said for words in _FULL):
        return ""
    return (
        f"disk full: Prefect's server cannot write its database in {folder}: free some space and run the same "
        "command again, it continues"
    )


def _set_environment() -> None:
    quiet = ("PREFECT_LOGGING_LEVEL", "PREFECT_LOGGING_INTERNAL_LEVEL", "PREFECT_SERVER_LOGGING_LEVEL")
    for name, value in {
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        **dict.fromkeys(quiet, "CRITICAL"),
    }.items():
        os.environ.setdefault(name, value)


def _wait(child: subprocess.Popen[str], url: str, log: Path, starting: contextlib.ExitStack) -> None:
    """Wait until the server answers; then it has its database, and another one may start."""
    deadline = time.monotonic() + _START_SECONDS
    while not answers(url):
        if child.poll() is not None or time.monotonic() > deadline:
            if reason := find_full_disk(log.parent.parent):
                raise RunError(reason)
            raise ServiceError(f"Prefect's server does not start; what it said is in {log}")
        time.sleep(0.1)
    starting.close()


def _end(child: subprocess.Popen[str]) -> None:
    """Let the server write what it still holds, and end."""
    assert child.stdin is not None
    child.stdin.close()
    try:
        child.wait(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _do_nothing() -> None:
    return
