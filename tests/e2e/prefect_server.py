"""`prefect server start` on a port of its own: to be waited for, killed and started again."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx


class PrefectServer:
    """A context manager; `folder` holds its log, and its database unless an address of one is given."""

    def __init__(self, folder: Path, database: str = "") -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.api = f"http://127.0.0.1:{self._port}/api"
        self._folder = folder
        self._log = folder / "log"
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")},
            "PREFECT_HOME": str(folder),
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_LOGGING_LEVEL": "WARNING",
            # Its pages ask this address; left alone they ask port 4200.
            "PREFECT_SERVER_UI_API_URL": self.api,
            # How long a run waits before it asks again for its deployment's turn.
            "PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS": "3",
        }
        if database:
            self._environment["PREFECT_API_DATABASE_CONNECTION_URL"] = database
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._child is not None
        self._child.terminate()
        self._child.wait(timeout=120)

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1"]
        with self._log.open("ab") as log:
            self._child = subprocess.Popen(
                [*command, "--port", str(self._port)], cwd=self._folder, env=self._environment, stdout=log, stderr=log
            )
        deadline = time.monotonic() + 240
        while not self._answers():
            if self._child.poll() is not None or time.monotonic() > deadline:
                self._child.kill()
                raise AssertionError(self._log.read_text())
            time.sleep(0.25)

    def kill(self) -> None:
        """SIGKILL."""
        assert self._child is not None
        self._child.kill()
        self._child.wait()

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.api}/health", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False
