"""Starting a server and ending it with the block that needed it."""

import contextlib
import shutil
import subprocess
import time
from collections.abc import Iterator

from flows.local import answers
from hopwright.errors import ServiceError
from hopwright.settings import home

_START_SECONDS = 120
_END_SECONDS = 15


@contextlib.contextmanager
def running(name: str, command: list[str], health: str, environment: dict[str, str]) -> Iterator[None]:
    """Start a server and wait until it answers; end it with the block. One that answers already is left alone.

    Raises ServiceError when it ends at once or does not answer in time; its output is in the home's logs.
    """
    if answers(health):
        yield
        return
    log = home() / "logs" / f"{name.lower().replace(' ', '-')}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    if shutil.which(command[0]) is None:
        raise ServiceError(f"{name}: {command[0]} is not there")
    with log.open("ab") as output:
        child = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not answers(health):
            if child.poll() is not None or time.monotonic() > deadline:
                raise ServiceError(f"{name} does not answer at {health}; its output is in {log}")
            time.sleep(0.5)
        yield
    finally:
        end(child)


def end(child: subprocess.Popen[bytes]) -> None:
    """End a child process, if it has not ended; one that does not want to is killed."""
    child.terminate()
    try:
        child.wait(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
