"""Starting a server and ending it with the block that needed it."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from typing import IO

from flows.local import answers
from hopwright.errors import InputError, ServiceError
from hopwright.settings import home

_START_SECONDS = 120
_END_SECONDS = 60
_OWNERS_ONLY = 0o077
"""A server's database holds what others on the machine are not to read: parameters of runs, reviews, accounts."""
Process = subprocess.Popen[bytes]


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
        child = start(command, environment, output, umask=_OWNERS_ONLY)
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not answers(health):
            if child.poll() is not None or time.monotonic() > deadline:
                raise ServiceError(f"{name} does not answer at {health}; its output is in {log}")
            time.sleep(0.5)
        yield
    finally:
        end(child)


def start(
    command: list[str], environment: Mapping[str, str], output: IO[bytes] | None = None, *, umask: int = -1
) -> Process:
    """Start a child process in a session of its own: Ctrl-C is for the parent, which ends its children in order.

    Told by the terminal as well as by the parent, Prefect's processes would take the second signal as one to kill.
    With -1 the child keeps the parent's `umask`.
    """
    said = None if output is None else subprocess.STDOUT
    return subprocess.Popen(command, env=environment, stdout=output, stderr=said, start_new_session=True, umask=umask)


def end(*children: Process) -> None:
    """End child processes, if they have not ended: asked all at once, and waited for; one that stays is killed."""
    for child in children:
        child.terminate()
    deadline = time.monotonic() + _END_SECONDS
    for child in children:
        try:
            child.wait(timeout=max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def read_port(variable: str, usual: int) -> int:
    """The port that an environment variable names. Raises InputError for what is none."""
    text = os.environ.get(variable, "").strip() or str(usual)
    if not text.isascii() or not text.isdecimal() or not 0 < int(text) < 65_536:
        raise InputError(f"{variable}: {text!r} is no port; a port is a number from 1 to 65535")
    return int(text)
