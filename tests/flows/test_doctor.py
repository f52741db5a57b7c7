"""What the doctor finds, of a machine and of servers that are well, old, half set up, or something else."""

from __future__ import annotations

import http.server
import importlib.metadata
import io
import json
import socket
import threading
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from flows.console.doctor import check_gpus, check_stores
from flows.console.services import (
    Finding,
    check_endpoints,
    check_label_studio_server,
    check_notifications,
    check_ports,
    check_prefect,
    check_sparql_endpoint,
)
from flows.deploy import read_deployments
from hopwright.errors import InputError
from hopwright.settings import checkout

OURS = importlib.metadata.version("prefect")


@contextmanager
def serving(answers: dict[str, Any]) -> Iterator[str]:
    """A server that answers these paths with JSON, and everything else with 404."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            self.send_response(200 if path in answers else 404)
            self.end_headers()
            self.wfile.write(json.dumps(answers.get(path)).encode())

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.do_GET()

        def log_message(self, *_: object) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def prefect(version: str = OURS, lacking: str = "", workers: str = "ONLINE") -> dict[str, Any]:
    names = [{"name": one["name"]} for one in read_deployments(checkout()) if one["name"] != lacking]
    pools = {f"/api/work_pools/{pool}/workers/filter": [{"status": workers}] for pool in ("default", "gpu")}
    return {"/api/health": True, "/api/admin/version": version, "/api/deployments/filter": names, **pools}


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    assert all(one.advice for one in findings if one.state == "bad"), "what is bad comes with what to do"
    return {one.what: one for one in findings}


def test_a_server_that_is_well() -> None:
    with serving(prefect()) as url:
        found = by_name(check_prefect(f"{url}/api"))
    assert {name: one.state for name, one in found.items()} == {
        "prefect": "ok", "deployments": "ok", "pool default": "ok", "pool gpu": "ok",
    }  # fmt: skip


def test_a_server_of_another_version_is_bad() -> None:
    with serving(prefect("3.1.0")) as url:
        (found,) = check_prefect(f"{url}/api")
    assert (found.state, f"version 3.1.0, here is {OURS}" in found.detail) == ("bad", True)


def test_what_is_not_deployed_and_who_does_not_work_is_named() -> None:
    with serving(prefect(lacking="nightly", workers="OFFLINE")) as url:
        found = by_name(check_prefect(f"{url}/api"))
    assert (found["deployments"].detail, found["deployments"].advice) == ("not on the server: nightly", "`make deploy`")
    assert found["pool gpu"].advice == "`prefect worker start --pool gpu`"


def test_a_server_that_is_down_is_bad_and_none_is_fine() -> None:
    assert by_name(check_prefect("http://127.0.0.1:9/api"))["prefect"].state == "bad"
    assert by_name(check_prefect(""))["prefect"].state == "ok"


def test_ports_are_free_or_taken_by_what_belongs_there_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({"/api/health": True}) as url, socket.socket() as stranger, socket.socket() as probe:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
        probe.close()
        monkeypatch.setenv("PREFECT_PORT", url.rpartition(":")[2])
        monkeypatch.setenv("LABEL_STUDIO_PORT", str(free))
        assert [one.state for one in check_ports()] == ["ok", "ok"]
        monkeypatch.setenv("PREFECT_PORT", str(free))
        assert [one.detail for one in check_ports()] == ["free", "free"]
        with serving({}) as other:
            monkeypatch.setenv("PREFECT_PORT", other.rpartition(":")[2])
            found = check_ports()[0]
    assert found.state == "missing"
    assert "make serve PREFECT_PORT=" in found.advice


def test_label_studio_is_asked_where_it_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del home
    monkeypatch.delenv("LABEL_STUDIO_API_KEY", raising=False)
    assert [one.state for one in check_label_studio_server()] == ["missing"]
    with serving({"/health": True, "/api/version": {"release": "1.23.2"}}) as url:
        monkeypatch.setenv("LABEL_STUDIO_URL", url)
        found = by_name(check_label_studio_server())
        assert (found["label studio"].detail, found["token"].state) == (f"{url}, 1.23.2", "bad")
        monkeypatch.setenv("LABEL_STUDIO_API_KEY", "secret")
        found = by_name(check_label_studio_server())
    assert found["token"].state == "ok"
    assert "secret" not in repr(found)


def test_endpoints_have_keys_and_listen_or_not(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with serving({}) as url:
        (home / "endpoints.toml").write_text(
            f'[endpoints.here]\nbase_url = "{url}/v1"\n[endpoints.gone]\nbase_url = "http://127.0.0.1:9/v1"\n', "utf-8"
        )
        found = by_name(check_endpoints())
    states = {name: found[f"model {name}"].state for name in ("openai", "anthropic", "here", "gone")}
    assert states == {"openai": "ok", "anthropic": "missing", "here": "ok", "gone": "missing"}
    assert "hopwright-anthropic" in found["model anthropic"].advice
    assert "sk-secret" not in repr(found)
    (home / "endpoints.toml").write_text("[endpoints.bad]\n", "utf-8")
    assert by_name(check_endpoints())["endpoints"].state == "bad"


def test_a_sparql_service_is_asked_only_where_it_is_named() -> None:
    assert "not asked" in check_sparql_endpoint(None).detail
    with serving({"/sparql": {"head": {}, "boolean": True}, "/page": {"hello": 1}}) as url:
        assert check_sparql_endpoint(f"{url}/sparql").state == "ok"
        assert "does not answer like SPARQL" in check_sparql_endpoint(f"{url}/page").detail
        assert check_sparql_endpoint(f"{url}/nothing").state == "bad"


def test_who_is_told_of_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOPWRIGHT_NOTIFY", raising=False)
    assert check_notifications().state == "missing"
    monkeypatch.setenv("HOPWRIGHT_NOTIFY", "slack-webhook/ops")
    assert check_notifications().state == "ok"


def test_a_store_of_another_kind_is_bad_and_none_is_no_fault(tmp_path: Path) -> None:
    assert [one.state for one in check_stores(tmp_path)] == ["missing"]
    (tmp_path / "stores" / "old").mkdir(parents=True)
    (tmp_path / "stores" / "old" / "graph.hwg").write_bytes(b"something else")
    (tmp_path / "llm.sqlite").write_bytes(b"no database at all, but long enough to look like one" * 100)
    found = by_name(check_stores(tmp_path))
    assert (found["graph store"].state, found["answers"].state) == ("bad", "bad")


def test_gpus_vllm_and_weights_may_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    found = by_name(check_gpus())
    assert (found["gpu"].state, found["weights"].state) == ("missing", "missing")
    assert "0 of the 4 models" in found["weights"].detail


def test_a_list_of_deployments_that_is_none_is_one_line(tmp_path: Path) -> None:
    for content, message in (
        (None, "is not there: deploy from a whole checkout"),
        ("deployments: [", "is no YAML"),
        ("name: x", "lists no deployments"),
        ("deployments: [{name: a}]", "the deployment 'a' names no work pool"),
    ):
        if content is not None:
            (tmp_path / "prefect.yaml").write_text(content, "utf-8")
        with pytest.raises(InputError, match=message):
            read_deployments(tmp_path)


@pytest.mark.parametrize(
    ("answer", "state"),
    [(OURS, "bad"), (401, "ok"), (403, "ok")],
)
def test_a_server_on_another_machine_has_to_ask_who_calls(
    answer: str | int, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, str]] = []

    def answer_it(request: Any, timeout: float) -> Any:
        asked.append(dict(request.headers))
        if isinstance(answer, int) and "Authorization" not in request.headers and "health" not in request.full_url:
            raise urllib.error.HTTPError(request.full_url, answer, "no", request.headers, None)  # type: ignore[arg-type]
        body = prefect().get("/api" + request.full_url.partition("/api")[2])
        return io.BytesIO(json.dumps(body).encode())

    monkeypatch.setattr("urllib.request.urlopen", answer_it)
    monkeypatch.setenv("PREFECT_API_AUTH_STRING", "hopwright:secret")
    found = by_name(check_prefect("http://prefect.example.org:4200/api"))
    assert found["prefect"].state == "ok" and found["prefect auth"].state == state
    assert any("Authorization" in headers for headers in asked)
    assert "prefect auth" not in by_name(check_prefect("http://127.0.0.1:4200/api"))
    monkeypatch.delenv("PREFECT_API_AUTH_STRING")
    if isinstance(answer, int):
        refused = by_name(check_prefect("http://127.0.0.1:4200/api"))["prefect"]
        assert refused.state == "bad" and "PREFECT_API_AUTH_STRING" in refused.advice
