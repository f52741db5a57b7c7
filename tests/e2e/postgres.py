"""A real PostgreSQL server for a test: its own folder, port and process, gone with the block that needed it."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_LIFE_SECONDS = 3600
"""After which the server ends by itself, though whoever started it was killed."""


@dataclass(frozen=True)
class Postgres:
    """A running server on this machine; its user owns everything in it."""

    port: int
    password: str = field(repr=False)
    programs: Path
    user: str = "hopwright"

    def make_database(self, name: str) -> str:
        """Make an empty database; returns its address, postgresql://user:password@host:port/name."""
        self._call("createdb", "--encoding=UTF8", "--template=template0", name)
        return f"postgresql://{self.user}:{self.password}@127.0.0.1:{self.port}/{name}"

    def ask(self, database: str, query: str) -> str:
        """The answer to a query: a line a row, `|` between columns."""
        return self._call("psql", "--no-psqlrc", "--no-align", "--tuples-only", "--command", query, database)

    def _call(self, program: str, *arguments: str) -> str:
        there = ["--host=127.0.0.1", f"--port={self.port}", f"--username={self.user}", "--no-password"]
        done = subprocess.run(
            [str(self.programs / program), *there, *arguments],
            env={**os.environ, "PGPASSWORD": self.password},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@contextlib.contextmanager
def run_postgres() -> Iterator[Postgres]:
    """Start a server on 127.0.0.1; the test is skipped where Debian's `postgresql` is not installed."""
    programs = find_programs()
    if programs is None:
        pytest.skip("no PostgreSQL on this machine")
    # Not under pytest's own folder: that one is for its user alone, and the server runs as nobody where that is root.
    folder = Path(tempfile.mkdtemp(prefix="hopwright-postgres-"))
    as_whom = _find_user()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Postgres(port, secrets.token_hex(16), programs)
    try:
        secret = folder / "password"
        secret.write_text(server.password)
        if as_whom:
            shutil.chown(folder, as_whom["user"], as_whom["group"])
            shutil.chown(secret, as_whom["user"], as_whom["group"])
        data = folder / "data"
        made = subprocess.run(
            [str(programs / "initdb"), f"--pgdata={data}", f"--username={server.user}", f"--pwfile={secret}",
             "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"],
            cwd=folder, capture_output=True, text=True, check=False, timeout=300, **as_whom,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        with _running(server, folder, data, as_whom):
            yield server
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find_programs() -> Path | None:
    """The folder of PostgreSQL's programs, the newest version first; Debian keeps them off the path."""
    folders = sorted(
        (found.parent for found in Path("/usr/lib/postgresql").glob("*/bin/initdb")),
        key=lambda path: int(path.parent.name) if path.parent.name.isdecimal() else 0,
    )
    on_path = shutil.which("initdb")
    return folders[-1] if folders else Path(on_path).parent if on_path else None


@contextlib.contextmanager
def _running(server: Postgres, folder: Path, data: Path, as_whom: dict[str, Any]) -> Iterator[None]:
    command = ["timeout", "--signal=INT", "--kill-after=10", str(_LIFE_SECONDS), str(server.programs / "postgres")]
    command += ["-D", str(data), "-h", "127.0.0.1", "-p", str(server.port), "-k", str(folder), "-c", "fsync=off"]
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            **as_whom,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + 180
        ready = [str(server.programs / "pg_isready"), "--quiet", "--host=127.0.0.1", f"--port={server.port}"]
        while subprocess.run(ready, check=False).returncode:
            assert process.poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.1)
        yield
    finally:
        process.send_signal(signal.SIGINT)  # handed on; PostgreSQL then ends without waiting for its clients
        try:
            process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _find_user() -> dict[str, Any]:
    """Who runs the server, as `subprocess` takes it: root may not, so then it is PostgreSQL's own user, or nobody."""
    if os.geteuid():
        return {}
    names = {user.pw_name: user for user in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
