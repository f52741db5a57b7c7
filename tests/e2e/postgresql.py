"""Debian's PostgreSQL on loopback, with data of its own, for the length of a block."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

BINARIES = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)), Path("none")).parent
MISSING = "" if BINARIES.is_dir() else "Debian's postgresql is not installed"


@dataclass(frozen=True)
class Database:
    """A server's database `prefect`."""

    port: int

    @property
    def url(self) -> str:
        """As Prefect takes it."""
        return f"postgresql+asyncpg://prefect@127.0.0.1:{self.port}/prefect"

    def ask(self, query: str) -> list[str]:
        """The rows of one query, as psql prints them."""
        command = [str(BINARIES / "psql"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "prefect", "-tA"]
        done = subprocess.run([*command, "-d", "prefect", "-c", query], capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")[:-1]

    def cut_connections(self) -> int:
        """End every connection that a client holds; returns how many those were."""
        others = "datname = 'prefect' AND pid <> pg_backend_pid()"
        return len(self.ask(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"))


@contextmanager
def serve_postgresql() -> Iterator[Database]:
    """PostgreSQL refuses to be root, so for root it runs as the user that Debian's package made."""
    user = "postgres" if os.geteuid() == 0 else None
    # Not below pytest's folders: those are closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="hopwright-postgresql-"))
    if user is not None:
        shutil.chown(folder, user, pwd.getpwnam(user).pw_gid)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = str(folder / "data")
    try:
        subprocess.run(
            [str(BINARIES / "initdb"), "-D", data, "-U", "prefect", "-A", "trust", "--no-sync", "-E", "UTF8"],
            user=user, cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
        options = ("-h", "127.0.0.1", "-p", str(port), "-k", str(folder), "-c", "fsync=off")
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [str(BINARIES / "postgres"), "-D", data, *options], user=user, cwd=folder, stdout=log, stderr=log
            )
        try:
            _create_database(port, folder / "log", server)
            yield Database(port)
        finally:
            # "Fast": connections are ended, data is written.
            server.send_signal(signal.SIGINT)
            server.wait(timeout=30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _create_database(port: int, log: Path, server: subprocess.Popen[bytes]) -> None:
    command = [str(BINARIES / "createdb"), "-h", "127.0.0.1", "-p", str(port), "-U", "prefect", "prefect"]
    deadline = time.monotonic() + 60
    while subprocess.run(command, capture_output=True).returncode:
        assert server.poll() is None and time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
