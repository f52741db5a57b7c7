"""`make deploy`: the work pools, and every deployment of `prefect.yaml`, on the server that PREFECT_API_URL names."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from flows.local import answers
from hopwright.errors import HopwrightError, InputError, ServiceError
from hopwright.settings import checkout

FILE = "prefect.yaml"
_LAST_LINES = 15


def main() -> None:
    """Deploy, and say what was deployed."""
    api = os.environ.get("PREFECT_API_URL", "")
    try:
        if not api:
            raise InputError("which server? set PREFECT_API_URL, such as http://127.0.0.1:4200/api")
        for name, pool in deploy_all(api, checkout()):
            print(f"{name:12} on the work pool {pool}")
    except HopwrightError as error:
        print(f"hopwright: {error}", file=sys.stderr)
        sys.exit(1)


def deploy_all(api: str, folder: Path) -> list[tuple[str, str]]:
    """Make the work pools that are missing, and deploy what the folder's `prefect.yaml` lists.

    Returns the deployments with their pools. Raises ServiceError when the server does not answer or refuses.
    """
    if not answers(f"{api}/health"):
        raise ServiceError(f"no Prefect server answers at {api}: start it (`make serve`), or mend PREFECT_API_URL")
    listed = read_deployments(folder)
    for pool in sorted({one["work_pool"]["name"] for one in listed}):
        make_pool(pool)
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all"]
    # Prefect reads the flows' files from the folder that it is started in; they import from there.
    paths = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PREFECT_API_URL": api, "PYTHONPATH": paths}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-_LAST_LINES:])
        raise ServiceError(f"prefect deploy failed:\n{said}")
    return [(str(one["name"]), str(one["work_pool"]["name"])) for one in listed]


def read_deployments(folder: Path) -> list[dict[str, Any]]:
    """What `prefect.yaml` lists. Raises InputError where it is missing or not such a file."""
    path = folder / FILE
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path} is not there: deploy from a whole checkout") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path} is no YAML: {' '.join(str(error).split())}") from None
    listed = content.get("deployments") if isinstance(content, dict) else None
    if not listed:
        raise InputError(f"{path} lists no deployments")
    for one in listed:
        if not (one.get("work_pool") or {}).get("name"):
            raise InputError(f"{path}: the deployment {one.get('name')!r} names no work pool")
    return list(listed)


def make_pool(name: str) -> None:
    """A work pool of processes, where it is not there yet."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectNotFound
    from prefect.workers.process import ProcessWorker

    with get_client(sync_client=True) as client:
        try:
            client.read_work_pool(name)
        except ObjectNotFound:
            template = ProcessWorker.get_default_base_job_template()
            client.create_work_pool(WorkPoolCreate(name=name, type="process", base_job_template=template))


if __name__ == "__main__":
    main()
