"""Flow runs of workers that are about to end: cancelled in time, so that they end in order and their state is true."""

import os
import subprocess
import time
from collections.abc import Collection, Mapping
from typing import Any

import httpx

_LOOK_SECONDS = 0.3
_ANSWER_SECONDS = 30.0
_MESSAGE = "make serve ends; the same run continues when it is started again"
_FINAL = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


def cancel_runs(api: str, workers: Collection[int], patience_s: float) -> list[str]:
    """Cancel the flow runs of these worker processes and wait until they have ended; returns the names of the others.

    A worker that is ended kills its flow runs, and the server goes on calling them running. A run that was cancelled
    has let go of what it held; started again with the same parameters, it continues. Without its server nobody can
    cancel a run, and none is named.
    """
    # Prefect's own client would start a server of its own here: its settings were read before there was an address.
    name, _, word = os.environ.get("PREFECT_API_AUTH_STRING", "").partition(":")
    with httpx.Client(base_url=api, timeout=_ANSWER_SECONDS, auth=(name, word) if name else None) as client:
        try:
            left = {run["id"]: run["name"] for run in _list_runs(client) if _is_child_of(run, workers)}
            for id in left:
                state = {"type": "CANCELLING", "name": "Cancelling", "message": _MESSAGE}
                client.post(f"/flow_runs/{id}/set_state", json={"state": state}).raise_for_status()
            deadline = time.monotonic() + patience_s
            while left and time.monotonic() < deadline:
                time.sleep(_LOOK_SECONDS)
                left = {id: name for id, name in left.items() if _read_state(client, id) not in _FINAL}
            return sorted(left.values())
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            return []


def _list_runs(client: httpx.Client) -> list[dict[str, Any]]:
    """The runs under way, without their subflows, which end with them."""
    wanted = {"state": {"type": {"any_": ["PENDING", "RUNNING"]}}, "parent_task_run_id": {"is_null_": True}}
    answer = client.post("/flow_runs/filter", json={"flow_runs": wanted}).raise_for_status()
    found: list[dict[str, Any]] = answer.json()
    return found


def _read_state(client: httpx.Client, id: str) -> str:
    return str(client.get(f"/flow_runs/{id}").raise_for_status().json()["state"]["type"])


def _is_child_of(run: Mapping[str, Any], workers: Collection[int]) -> bool:
    """Whether a run's process was started by one of these: a server that was there before may have other workers."""
    pid = str(run.get("infrastructure_pid") or "").rpartition(":")[2]
    if not pid.isdecimal():
        return False
    shown = subprocess.run(["ps", "-o", "ppid=", "-p", pid], capture_output=True, text=True, check=False).stdout.strip()
    return shown.isdecimal() and int(shown) in workers
