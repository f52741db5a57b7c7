"""`make serve`: Prefect's server, every deployment of `prefect.yaml`, their workers, and Label Studio, until Ctrl-C."""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from flows.deploy import deploy_all
from flows.flow_runs import cancel_runs
from flows.label_studio import label_studio
from flows.server_processes import Process, end, read_port, running, start
from hopwright.errors import HopwrightError, RunError, ServiceError
from hopwright.runs.files import hold_lock, write_file
from hopwright.settings import checkout, home

_LABEL_STUDIO = Path(".venvs/label-studio/bin/label-studio")
_LOOK_SECONDS = 2.0
_CANCEL_SECONDS = 60.0


def main() -> None:
    """Start the servers, deploy, work on what is asked, and end what was started."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a background job of a shell is started deaf to Ctrl-C
        signal.signal(number, _interrupt)
    try:
        ports = read_port("PREFECT_PORT", 4200), read_port("LABEL_STUDIO_PORT", 8080)
        with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as stack:
            stack.enter_context(serve_alone(ports))
            api = stack.enter_context(prefect_server(ports[0]))
            if _LABEL_STUDIO.exists():
                stack.enter_context(label_studio(_LABEL_STUDIO, ports[1]))
            os.environ["PREFECT_API_URL"] = api
            listed = deploy_all(api, checkout())
            print(f"Deployments   {', '.join(name for name, _ in listed)}", flush=True)
            run_workers(api, {pool for _, pool in listed})
    except HopwrightError as error:
        print(f"hopwright: {error}", file=sys.stderr)
        sys.exit(1)


@contextlib.contextmanager
def serve_alone(ports: tuple[int, int]) -> Iterator[None]:
    """Be the only `make serve` of this home. Raises ServiceError, saying what runs already, where there is another."""
    note = home() / "serve.json"
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(home() / "locks" / "serve.lock", "make serve"))
        except RunError:
            raise ServiceError(f"`make serve` runs already: {_describe_other(note)}; Ctrl-C there ends it") from None
        places = {"Prefect": f"http://127.0.0.1:{ports[0]}", "Label Studio": f"http://127.0.0.1:{ports[1]}"}
        write_file(note, json.dumps({"process": os.getpid(), **places}).encode())
        try:
            yield
        finally:
            note.unlink(missing_ok=True)


def _describe_other(note: Path) -> str:
    try:
        found = json.loads(note.read_text("utf-8"))
        return ", ".join(f"{name} {place}" for name, place in found.items())
    except (OSError, ValueError, AttributeError):
        return f"for {home()}"


def run_workers(api: str, pools: set[str]) -> None:
    """Run a worker for each work pool until Ctrl-C. Raises ServiceError when one of them ends by itself."""
    started: dict[str, Process] = {}
    paths = os.pathsep.join(filter(None, [str(checkout()), os.environ.get("PYTHONPATH", "")]))
    try:
        for pool in sorted(pools):
            command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", pool, "--type", "process"]
            started[pool] = start(command, {**os.environ, "PYTHONPATH": paths})
        print(f"Workers       {', '.join(started)}; Ctrl-C ends everything", flush=True)
        while all(child.poll() is None for child in started.values()):
            time.sleep(_LOOK_SECONDS)
        ended = next(pool for pool, child in started.items() if child.poll() is not None)
        raise ServiceError(f"the worker of the pool {ended} has ended; what it said is above")
    finally:
        left = cancel_runs(api, {child.pid for child in started.values()}, _CANCEL_SECONDS)
        if left:
            print(f"These do not end and are killed; the same runs continue: {', '.join(left)}", file=sys.stderr)
        end(*started.values())


@contextlib.contextmanager
def prefect_server(port: int) -> Iterator[str]:
    """Prefect's server on this port, or the one that answers there already; yields the address of its API."""
    api = f"http://127.0.0.1:{port}/api"
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("PREFECT_HOME", str(home() / "prefect"))
    (home() / "prefect").mkdir(parents=True, exist_ok=True)
    # Its database holds parameters and results of every run.
    (home() / "prefect").chmod(0o700)
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    # The page in the browser takes its API's address from here; left alone it asks port 4200 whatever the server's is.
    environment = {"PREFECT_SERVER_UI_API_URL": api, **os.environ}
    with running("Prefect", command, f"{api}/health", environment):
        print(f"Prefect       http://127.0.0.1:{port}", flush=True)
        yield api


def _interrupt(*_: object) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # a second one would break off the ending
        signal.signal(number, signal.SIG_IGN)
    print(
        "Ending: flow runs are cancelled first (they continue when they are started again), then all else", flush=True
    )
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
