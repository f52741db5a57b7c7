"""A Prefect server with every deployment of `prefect.yaml`, and workers started as the composition starts them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import yaml

from tests.e2e.conftest import ROOT, Home

FINAL = ("COMPLETED", "FAILED", "CRASHED", "PAUSED", "CANCELLED")
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]


@dataclass
class Place:
    """Where a maintainer works: the server's API, the home of the workers, and the workers' health by service."""

    api: str
    home: Home
    ports: dict[str, int]

    def get(self, path: str) -> Any:
        return self._ask("GET", path)

    def post(self, path: str, **body: Any) -> Any:
        return self._ask("POST", path, body)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        # On a busy machine SQLite keeps the server waiting until it says 503; nothing was done then.
        for _ in range(10):
            answer = httpx.request(method, f"{self.api}{path}", json=body, timeout=120)
            if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                break
            time.sleep(2)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def find_deployment(self, name: str) -> str:
        """The id of a deployment, named as flow/deployment."""
        return str(self.get(f"/deployments/name/{name}")["id"])

    def start(self, deployment: str, **parameters: Any) -> str:
        """Start a deployment; the id of its flow run."""
        id = self.find_deployment(deployment)
        body = {"parameters": {"parameters": parameters}, "state": {"type": "SCHEDULED"}}
        return str(self.post(f"/deployments/{id}/create_flow_run", **body)["id"])

    def pause(self, deployment: str) -> None:
        """Let no schedule start this deployment any more, nor what is planned already."""
        self._ask("PATCH", f"/deployments/{self.find_deployment(deployment)}", {"paused": True})

    def watch(self, id: str, *, seconds: float = 900) -> dict[str, Any]:
        """Wait until a flow run has ended, or was suspended."""
        deadline = time.monotonic() + seconds
        while True:
            found: dict[str, Any] = self.get(f"/flow_runs/{id}")
            if found["state_type"] in FINAL:
                return found
            assert time.monotonic() < deadline, f"{found['name']} is {found['state_name']}"
            time.sleep(0.3)

    def resume(self, id: str, budget_usd: float) -> dict[str, Any]:
        """Give a waiting run a larger budget, and wait for what becomes of it."""
        self.post(f"/flow_runs/{id}/resume", run_input={"budget_usd": budget_usd})
        deadline = time.monotonic() + 180
        while (done := self.watch(id))["state_name"] == "Suspended" and time.monotonic() < deadline:
            time.sleep(0.2)
        return done

    def find_runs(self, name: str) -> list[dict[str, Any]]:
        """Flow runs whose name holds this, the latest first."""
        rows: list[dict[str, Any]] = self.post(
            "/flow_runs/filter", sort="START_TIME_DESC", limit=100, flow_runs={"name": {"like_": name}}
        )
        return rows

    def list_runs_of(self, deployment: str) -> list[dict[str, Any]]:
        """The flow runs of a deployment, the earliest first."""
        rows: list[dict[str, Any]] = self.post(
            "/flow_runs/filter",
            sort="EXPECTED_START_TIME_ASC",
            limit=100,
            flow_runs={"deployment_id": {"any_": [self.find_deployment(deployment)]}},
        )
        return rows

    def list_artifacts(self, runs: list[str]) -> dict[str, Any]:
        """The latest artifact of every key that these flow runs left."""
        rows = self.post("/artifacts/filter", artifacts={"flow_run_id": {"any_": runs}}, limit=200)
        return {row["key"]: row for row in sorted(rows, key=lambda row: row["updated"])}

    def call_blocks(self, *arguments: str) -> None:
        """Do something as a client of the server: see `tests.e2e.blocks`."""
        environment = {**self.home.environment, "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-m", "tests.e2e.blocks", *arguments], cwd=ROOT, env=environment, check=True)


@contextmanager
def open_place(home: Home, *services: str, environment: Mapping[str, str] | None = None) -> Iterator[Place]:
    """Deploy everything on the home's server and start the workers of these services of the composition.

    `environment` is what the workers know besides, such as where Label Studio is.
    """
    known = {**home.environment, **(environment or {}), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "flows.deploy"], cwd=ROOT, env=known, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    place = Place(home.api, home, {})
    workers = []
    try:
        for service in services:
            place.ports[service] = find_port()
            watched = {"WEBSERVER_HOST": "127.0.0.1", "WEBSERVER_PORT": str(place.ports[service])}
            own = {f"PREFECT_WORKER_{name}": value for name, value in watched.items()}
            command = [sys.executable, "-m", *SERVICES[service]["command"]]
            with (home.path / f"{service}.log").open("wb") as log:
                workers.append(
                    subprocess.Popen(
                        command, cwd=home.path, env=known | own, stdout=log, stderr=log, start_new_session=True
                    )
                )
        yield place
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            try:
                worker.wait(timeout=20)
            except subprocess.TimeoutExpired:
                worker.kill()
            with contextlib.suppress(ProcessLookupError):  # a flow that was still at work
                os.killpg(worker.pid, signal.SIGKILL)


def find_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_well(port: int) -> bool:
    """Whether a worker says so, soon or within three minutes."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"http://127.0.0.1:{port}/health", timeout=5).status_code == 200:
                return True
        time.sleep(0.2)
    return False


def list_family(place: Place, id: str) -> list[str]:
    """A flow run and its stages."""
    stages = place.post("/flow_runs/filter", flow_runs={"parent_flow_run_id": {"any_": [id]}}, limit=50)
    return [id, *(row["id"] for row in stages)]


def read_facts(row: dict[str, Any]) -> str:
    """What can be said of a flow run that did not go as it should."""
    return f"{row['name']} is {row['state_name']}: {json.dumps(row['state'].get('message'))}"
