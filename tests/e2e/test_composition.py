"""The services of `docker-compose.yml` started natively: their commands, their environment, and their health checks.

What differs from the composition: other ports, 127.0.0.1 in place of the services' names, folders of the test. The
databases, the workers and vLLM are started elsewhere (`postgres.py`, `deployed.py`, `test_voters_vllm.py`).
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.deployed import SERVICES, find_port
from tests.e2e.label_studio import install
from tests.e2e.postgres import run_postgres
from tests.sparql_servers import find_oxigraph

pytestmark = [pytest.mark.e2e, pytest.mark.servers, pytest.mark.nightly]
Replace = Callable[[str], str]
_VARIABLE = re.compile(r"\$\{(\w+)(?::[-?]([^}]*))?\}")


@pytest.fixture(scope="module")
def chosen() -> dict[str, str]:
    """What a user writes into `.env`."""
    names = ("PREFECT_DB_PASSWORD", "PREFECT_PASSWORD", "LABEL_STUDIO_DB_PASSWORD", "LABEL_STUDIO_PASSWORD",
             "LABEL_STUDIO_TOKEN")  # fmt: skip
    return {name: secrets.token_hex(20) for name in names}


def interpolate(text: str, chosen: Mapping[str, str]) -> str:
    """Variables as Docker Compose fills them in."""
    return _VARIABLE.sub(lambda found: chosen.get(found[1]) or (found[2] or ""), text)


@contextmanager
def serve(
    service: str, program: list[str], chosen: Mapping[str, str], folder: Path, replace: Replace
) -> Iterator[None]:
    """A service's own command, from when its own health check is content."""
    described = SERVICES[service]
    given = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "LABEL_STUDIO_"))}
    own = {name: replace(interpolate(value, chosen)) for name, value in described.get("environment", {}).items()}
    command = [*program, *(replace(word) for word in described["command"][1:])]
    kind, python, *check = described["healthcheck"]["test"]
    assert (kind, python) == ("CMD", "python")
    log = folder / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, cwd=folder, env=given | own, stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + 600
        while subprocess.run([sys.executable, *map(replace, check)], capture_output=True, check=False).returncode:
            assert server.poll() is None and time.monotonic() < deadline, log.read_text(errors="replace")[-3000:]
            time.sleep(0.5)
        yield
    finally:
        server.terminate()
        try:
            server.wait(timeout=120)
        except subprocess.TimeoutExpired:
            server.kill()


def replacing(pairs: Mapping[str, str]) -> Replace:
    def replace(text: str) -> str:
        for old, new in pairs.items():
            text = text.replace(old, new)
        return text

    return replace


def test_prefect_on_its_database(chosen: dict[str, str], tmp_path: Path) -> None:
    port = find_port()
    with run_postgres() as postgres:
        make_owner(postgres, SERVICES["prefect-db"]["environment"], chosen)
        replace = replacing(
            {"prefect-db:5432": f"127.0.0.1:{postgres.port}", "0.0.0.0": "127.0.0.1", "4200": str(port),
             "/tmp/prefect": str(tmp_path / "prefect")}
        )  # fmt: skip
        with serve("prefect", [sys.executable, "-m", "prefect"], chosen, tmp_path, replace):
            page = httpx.get(f"http://127.0.0.1:{port}/", timeout=120)
            assert "<html" in page.text.lower()
            settings = httpx.get(f"http://127.0.0.1:{port}/ui-settings", timeout=120).json()
            assert settings["api_url"] == f"http://127.0.0.1:{port}/api"
            version, login = f"http://127.0.0.1:{port}/api/admin/version", ("hopwright", chosen["PREFECT_PASSWORD"])
            assert httpx.get(version, timeout=120).status_code == 401
            assert httpx.get(version, auth=login, timeout=120).status_code == 200
            assert int(postgres.ask("prefect", "select count(*) from pg_tables where tablename = 'flow_run'")) == 1


def test_sparql_on_an_empty_volume(chosen: dict[str, str], tmp_path: Path) -> None:
    program = find_oxigraph()
    if program is None:
        pytest.skip("oxigraph is not installed")
    port = find_port()
    (tmp_path / "data").mkdir()
    replace = replacing({"0.0.0.0": "127.0.0.1", "7878": str(port), "/data": str(tmp_path / "data")})
    with serve("sparql", [program], chosen, tmp_path, replace):
        asked = {"query": "ASK { ?a ?b ?c }"}
        answer = httpx.get(f"http://127.0.0.1:{port}/query", params=asked, headers={"Accept": "application/json"})
        assert answer.json()["boolean"] is False


@pytest.mark.nightly
def test_label_studio_on_its_database(chosen: dict[str, str], tmp_path: Path) -> None:
    program, port = install(), find_port()
    with run_postgres() as postgres:
        make_owner(postgres, SERVICES["label-studio-db"]["environment"], chosen)
        replace = replacing(
            {"label-studio-db": "127.0.0.1", "5432": str(postgres.port), "0.0.0.0": "127.0.0.1", "8080": str(port),
             "/data": str(tmp_path)}
        )  # fmt: skip
        with serve("label-studio", [str(program)], chosen, tmp_path, replace):
            headers = {"Authorization": f"Token {chosen['LABEL_STUDIO_TOKEN']}"}
            whoami = httpx.get(f"http://127.0.0.1:{port}/api/current-user/whoami", headers=headers, timeout=60)
            assert whoami.json()["email"] == "hopwright@localhost.localdomain"
            assert int(postgres.ask("labelstudio", "select count(*) from htx_user")) == 1


def make_owner(postgres: Any, wanted: Mapping[str, str], chosen: Mapping[str, str]) -> None:
    """The database and its owner, as the image of PostgreSQL makes them from its environment."""
    password = interpolate(wanted["POSTGRES_PASSWORD"], chosen)
    postgres.ask("postgres", f"CREATE ROLE {wanted['POSTGRES_USER']} LOGIN PASSWORD '{password}'")
    postgres.ask("postgres", f"CREATE DATABASE {wanted['POSTGRES_DB']} OWNER {wanted['POSTGRES_USER']}")
