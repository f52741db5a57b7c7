"""`make serve`: Prefect's server with the flows served from it, and Label Studio, until Ctrl-C."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flows.label_studio import label_studio
from flows.servers import running
from hopwright.errors import HopwrightError
from hopwright.settings import home

_LABEL_STUDIO = Path(".venvs/label-studio/bin/label-studio")
_PULL_SECONDS = 900
"""How often reviews are pulled, once somebody resumes that schedule: until then there is nothing to pull."""


def main() -> None:
    """Start the servers, serve the flows, and end what was started."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a background job of a shell is started deaf to Ctrl-C
        signal.signal(number, _interrupt)
    try:
        with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as stack:
            api = stack.enter_context(prefect_server(int(os.environ.get("PREFECT_PORT", "4200"))))
            if _LABEL_STUDIO.exists():
                stack.enter_context(label_studio(_LABEL_STUDIO, int(os.environ.get("LABEL_STUDIO_PORT", "8080"))))
            os.environ["PREFECT_API_URL"] = api
            serve_flows()
    except HopwrightError as error:
        print(f"hopwright: {error}", file=sys.stderr)
        sys.exit(1)


def serve_flows() -> None:
    """Register a deployment of every flow and run what is asked of them."""
    from prefect import serve

    from flows.adjudicate import run_adjudicate
    from flows.build_dataset import build_dataset
    from flows.filter import run_filter
    from flows.release import run_release
    from flows.retrieve import run_retrieve
    from flows.review import run_review
    from flows.review_pull import run_review_pull
    from flows.rewrite import run_rewrite
    from flows.synthesize import run_synthesize

    pull: Any = run_review_pull.to_deployment("local", tags=["review"], interval=_PULL_SECONDS, paused=True)
    stages = (run_retrieve, run_synthesize, run_filter, run_rewrite, run_review, run_release)
    # Typed as both kinds by Prefect; called from synchronous code it returns the deployment itself.
    deployments: list[Any] = [build_dataset.to_deployment("local", tags=["build"])]
    deployments += [stage.to_deployment("local", tags=["stage"]) for stage in stages]
    deployments += [pull, run_adjudicate.to_deployment("local", tags=["review"])]
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


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
