"""Runs of the command line in homes of their own, and a real Prefect server."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.e2e.label_studio import LiveServer, share_server
from tests.e2e.prefect_database import MISSING, Database, serve_postgresql
from tests.e2e.prefect_server import PrefectServer
from tests.shared import locked, share_folder

ROOT = Path(__file__).resolve().parents[2]
SMALL = ("--drafts", "150", "--shard-size", "50", "--review-items", "30")
"""A run with a few shards in every stage."""
QUICK = "tests.e2e.quick"
"""The command line with few pilot plans; a run, and those that are compared with it, are made with the same one."""


@dataclass(frozen=True)
class Home:
    """A home folder; `api` is the Prefect server that its runs report to, if any, and `module` the command line."""

    path: Path
    api: str = ""
    module: str = "flows.cli"
    shared: ClassVar[Path]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a user who has only this home."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "LABEL_STUDIO_"))}
        server = {"PREFECT_API_URL": self.api, "PREFECT_HOME": str(self.path / "client")} if self.api else {}
        return {**kept, "HOPWRIGHT_HOME": str(self.path), "COLUMNS": "200", **server}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the command line."""
        if not self.api and not (self.path / "prefect").exists():
            shutil.copytree(make_prefect_folder(self.shared / "first"), self.path / "prefect")
        return subprocess.Popen(
            [sys.executable, "-m", self.module, *arguments],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command line to its end."""
        child = self.start(*arguments)
        out, err = child.communicate(timeout=600)
        return subprocess.CompletedProcess(child.args, child.returncode, out, err)

    def json(self, *arguments: str) -> Any:
        """Run the command line with --json; it must succeed."""
        done = self.call(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def files(self, run: str = "sample") -> dict[str, str]:
        """All that must be the same in two equal runs: each file's size and SHA-256, but manifests', by its path."""
        root = self.path / "runs" / run
        return {
            str(path.relative_to(root)): f"{path.stat().st_size}: {hashlib.sha256(path.read_bytes()).hexdigest()}"
            for path in sorted(root.rglob("*"))
            if path.is_file()
            and (path.suffix in (".parquet", ".jsonl", ".png", ".md") or "review/tasks/" in path.as_posix())
        }


def make_prefect_folder(home: Path) -> Path:
    """Prefect's folder as its server leaves it when it was started for the first time; made once for all tests.

    The first start of a home takes twice as long as the next, and most tests have a home of their own.
    """
    home.mkdir(exist_ok=True)
    start = "from pathlib import Path; from flows.local import prefect_server\n"
    start += "with prefect_server(Path()) as wait: wait()"
    made = home / "made"
    with locked(home / "lock"):
        if not made.exists():
            environment = {**Home(home).environment, "PYTHONPATH": str(ROOT)}
            subprocess.run([sys.executable, "-c", start], cwd=home, env=environment, check=True, timeout=600)
            made.touch()
    return home / "prefect"


@pytest.fixture(scope="session", autouse=True)
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all test processes of the session."""
    Home.shared = share_folder(tmp_path_factory)
    return Home.shared


@pytest.fixture(scope="session")
def built(shared_folder: Path) -> tuple[Home, dict[str, Any]]:
    """A home with a small build, made once for all test processes, and its summary. Not to be changed."""
    shared = shared_folder / "built"
    shared.mkdir(exist_ok=True)
    home, told = Home(shared / "home", module=QUICK), shared / "summary.json"
    with locked(shared / "lock"):
        if not told.exists():
            told.write_text(json.dumps(home.json("build", *SMALL)), "utf-8")
    return home, json.loads(told.read_text("utf-8"))


@pytest.fixture(scope="session")
def prefect_database() -> Iterator[Database | None]:
    """PostgreSQL for Prefect's server; None, and thereby SQLite, where it is not installed."""
    if MISSING:
        yield None
        return
    with serve_postgresql() as database:
        yield database


@pytest.fixture(scope="session")
def prefect_api(tmp_path_factory: pytest.TempPathFactory, prefect_database: Database | None) -> Iterator[str]:
    """A real `prefect server start`; yields the address of its API."""
    url = prefect_database.url if prefect_database is not None else ""
    with PrefectServer(tmp_path_factory.mktemp("prefect"), url) as server:
        yield server.api


@pytest.fixture(scope="session")
def label_studio(shared_folder: Path) -> Iterator[LiveServer]:
    """A real Label Studio server, one for all worker processes of the session."""
    with share_server(shared_folder) as server:
        yield server
