"""`make serve`: Prefect's server with the flows served from it, and Label Studio, until Ctrl-C."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flows.local import answers
from hopwright.errors import HopwrightError, ServiceError
from hopwright.settings import home

_START_SECONDS = 120
_LABEL_STUDIO = Path(".venvs/label-studio/bin/label-studio")


def main() -> None:
    """Start the servers, serve the flows, and end what was started."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a background job of a shell is started deaf to Ctrl-C
        signal.signal(number, _interrupt)
    try:
        with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as stack:
            api = stack.enter_context(prefect_server(int(os.environ.get("PREFECT_PORT", "4200"))))
            if _LABEL_STUDIO.exists():
                url = stack.enter_context(label_studio(int(os.environ.get("LABEL_STUDIO_PORT", "8080"))))
                os.environ.setdefault("LABEL_STUDIO_URL", url)
            os.environ["PREFECT_API_URL"] = api
            serve_flows()
    except HopwrightError as error:
        print(f"hopwright: {error}", file=sys.stderr)
        sys.exit(1)


def serve_flows() -> None:
    """Register a deployment of every flow and run what is asked of them."""
    from prefect import serve

    from flows.build_dataset import build_dataset
    from flows.filter import run_filter
    from flows.release import run_release
    from flows.retrieve import run_retrieve
    from flows.review import run_review
    from flows.rewrite import run_rewrite
    from flows.synthesize import run_synthesize

    stages = (run_retrieve, run_synthesize, run_filter, run_rewrite, run_review, run_release)
    # Typed as both kinds by Prefect; called from synchronous code it returns the deployment itself.
    deployments: list[Any] = [build_dataset.to_deployment("local", tags=["build"])]
    deployments += [stage.to_deployment("local", tags=["stage"]) for stage in stages]
    serve(*deployments, pause_on_shutdown=False)


@contextlib.contextmanager
def prefect_server(port: int) -> Iterator[str]:
    """Prefect's server on this port, or the one that answers there already; yields the address of its API."""
    api = f"http://127.0.0.1:{port}/api"
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("PREFECT_HOME", str(home() / "prefect"))
    (home() / "prefect").mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    # The page in the browser takes its API's address from here; left alone it asks port 4200 whatever the server's is.
    environment = {"PREFECT_SERVER_UI_API_URL": api, **os.environ}
    with running("Prefect", command, f"{api}/health", environment):
        print(f"Prefect       http://127.0.0.1:{port}")
        yield api


@contextlib.contextmanager
def label_studio(port: int) -> Iterator[str]:
    """Label Studio on this port, or the one that answers there already; yields its address."""
    url = f"http://127.0.0.1:{port}"
    data = home() / "label-studio"
    data.mkdir(parents=True, exist_ok=True)
    settings = {
        "LABEL_STUDIO_USERNAME": "annotator@localhost.localdomain",
        "LABEL_STUDIO_PASSWORD": "hopwright",
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
    }
    environment = {**settings, **os.environ}
    command = [str(_LABEL_STUDIO), "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)]
    with running("Label Studio", command, f"{url}/health", environment):
        print(f"Label Studio  {url}  ({environment['LABEL_STUDIO_USERNAME']})")
        yield url


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
        child.terminate()
        try:
            child.wait(timeout=15)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
