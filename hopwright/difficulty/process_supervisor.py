"""Runs a server and ends it, with all that it started, when stdin closes.

Usage: `python -I process_supervisor.py GRACE COMMAND…`.

A stage that is killed, even by SIGKILL, closes its end of the pipe. The server runs in a process group of its own; what
is left of that group, or was orphaned by it, is ended with it: asked to at first, killed after GRACE seconds. Standard
library only: it starts in a blink, in any environment.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Run the command until it ends, stdin closes or a signal comes; exits with the command's own code."""
    grace, command = float(sys.argv[1]), sys.argv[2:]
    libc = ctypes.CDLL(None, use_errno=True)
    # Orphans of the server become children of this process, so that they are found and ended too.
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, _note)
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        # Should this process be killed itself, the server is told to end.
        preexec_fn=lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0),
    )
    while child.poll() is None:
        ready, _, _ = select.select([sys.stdin, woken], [], [])
        if sys.stdin in ready and not os.read(sys.stdin.fileno(), 1024):
            break
        if woken in ready and any(number != signal.SIGCHLD for number in os.read(woken, 1024)):
            break
    code = child.poll()
    end_group(child.pid, grace)
    sys.exit(0 if code is None else code if code >= 0 else 128 - code)


def end_group(group: int, grace_s: float) -> None:
    """End a process group and every orphan that this process inherited: politely, then not."""
    deadline = time.monotonic() + grace_s
    sent = signal.SIGTERM
    while True:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, sent)
        for pid in list_children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sent)
        if not _wait_for_none(time.monotonic() + 0.5 if sent == signal.SIGKILL else deadline):
            return
        sent = signal.SIGKILL


def list_children() -> list[int]:
    """The children of this process."""
    text = Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    return [int(pid) for pid in text.split()]


def _wait_for_none(deadline: float) -> bool:
    """Reap until no child is left; whether some are at the deadline."""
    while time.monotonic() < deadline:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            time.sleep(0.02)
    return True


def _note(*_: object) -> None:
    """The wake-up pipe tells the loop; there is nothing to do here."""


if __name__ == "__main__":
    main()
