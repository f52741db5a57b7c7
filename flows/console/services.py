"""What `hopwright doctor` finds of servers, endpoints and ports: whether they answer, and never the value of a key."""

import base64
import importlib.metadata
import ipaddress
import json
import os
import socket
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import Any, Literal

from annotation.access import access_file, read_access
from flows.deploy import read_deployments
from hopwright.errors import HopwrightError
from hopwright.foreign import JsonError, load_json
from hopwright.llm.config import Endpoint, block_name, key_variable, read_settings
from hopwright.settings import ModelParameters, checkout

_SECONDS = 5
_LONGEST = 1_000_000
"""Bytes of an answer that are read."""
_PORTS = (("PREFECT_PORT", 4200, "/api/health"), ("LABEL_STUDIO_PORT", 8080, "/health"))


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `missing` is something that Hopwright can do without; `bad` is not."""

    what: str
    state: Literal["ok", "missing", "bad"]
    detail: str
    advice: str = ""


def check_services(sparql: str | None = None) -> list[Finding]:
    """Prefect and what is deployed, ports, Label Studio, models' endpoints, notifications; SPARQL where it is named."""
    return [
        *check_prefect(os.environ.get("PREFECT_API_URL", "").rstrip("/")),
        *check_ports(),
        *check_label_studio_server(),
        *check_endpoints(),
        check_notifications(),
        check_sparql_endpoint(sparql),
    ]


def check_prefect(api: str) -> list[Finding]:
    """The server that is named: its version, whether everything is deployed there, whether somebody works on it."""
    if not api:
        return [Finding("prefect", "ok", "no server named: runs start their own, for their own length")]
    try:
        _read(f"{api}/health")
        server, ours = str(_read(f"{api}/admin/version", key=True)), importlib.metadata.version("prefect")
    except urllib.error.HTTPError as error:
        refused = error.code in (401, 403)
        advice = "set PREFECT_API_AUTH_STRING=name:password as the server has it" if refused else "start it again"
        return [_refuse("prefect", api, error, advice)]
    except (OSError, ValueError) as error:
        return [_refuse("prefect", api, error, "start it (`make serve`), or unset PREFECT_API_URL")]
    if server.split(".")[:2] != ours.split(".")[:2]:
        advice = "run the same version on both sides: the server makes its database's schema, flows speak its API"
        return [Finding("prefect", "bad", f"{api} is version {server}, here is {ours}", advice)]
    findings = [Finding("prefect", "ok", f"{api}, version {server}"), *_check_protection(api)]
    try:
        listed = read_deployments(checkout())
        there = {str(one["name"]) for one in _ask(f"{api}/deployments/filter", {"limit": 200})}
        lacking = [str(one["name"]) for one in listed if one["name"] not in there]
        findings.append(
            Finding("deployments", "missing", f"not on the server: {', '.join(lacking)}", "`make deploy`")
            if lacking
            else Finding("deployments", "ok", f"all {len(listed)} of prefect.yaml")
        )
        findings += [_check_pool(api, pool) for pool in sorted({one["work_pool"]["name"] for one in listed})]
    except (HopwrightError, OSError, ValueError) as error:
        findings.append(Finding("deployments", "bad", str(error), "mend prefect.yaml, then `make deploy`"))
    return findings


def check_ports() -> list[Finding]:
    """The ports of `make serve`: free, or taken by what belongs there."""
    findings = []
    for variable, usual, path in _PORTS:
        port = int(os.environ.get(variable) or usual)
        name = f"port {port}"
        if not _is_taken(port):
            findings.append(Finding(name, "ok", "free"))
            continue
        try:
            _read(f"http://127.0.0.1:{port}{path}")
            findings.append(Finding(name, "ok", f"what belongs there answers ({variable})"))
        except (OSError, ValueError):
            advice = f"end it, or choose another: `make serve {variable}={port + 100}`"
            findings.append(Finding(name, "missing", "taken by something else", advice))
    return findings


def check_label_studio_server() -> list[Finding]:
    """The server that is named, or that `make serve` made a user for; and its token."""
    url, held = os.environ.get("LABEL_STUDIO_URL", ""), None
    try:
        held = read_access(access_file())
    except HopwrightError as error:
        return [Finding("label studio", "bad", str(error), "mend or remove that file")]
    if not url:
        known = f"of `make serve`: {held.url}" if held else "no server named"
        return [Finding("label studio", "ok" if held else "missing", known, "" if held else "docs/review.md")]
    has_token = bool(os.environ.get("LABEL_STUDIO_API_KEY")) or (held is not None and held.url == url.rstrip("/"))
    token = (
        Finding("token", "ok", "there is one for Label Studio")
        if has_token
        else Finding("token", "bad", f"none for {url}", "set LABEL_STUDIO_API_KEY")
    )
    try:
        _read(f"{url.rstrip('/')}/health")
        version = _read(f"{url.rstrip('/')}/api/version")
        release = version.get("release", "of unknown version") if isinstance(version, dict) else "of unknown version"
    except (OSError, ValueError) as error:
        return [_refuse("label studio", url, error, "start it, or unset LABEL_STUDIO_URL"), token]
    return [Finding("label studio", "ok", f"{url}, {release}"), token]


def check_endpoints() -> list[Finding]:
    """Where language models answer: whether there is a key, and whether servers of our own answer."""
    try:
        file = ModelParameters().endpoints_file()
        settings = read_settings(file)
    except HopwrightError as error:
        return [Finding("endpoints", "bad", str(error), "mend that file (docs/models.md)")]
    findings = [_check_endpoint_reachable(endpoint) for endpoint in settings.endpoints]
    if file is not None:
        findings.insert(0, Finding("endpoints", "ok", str(file)))
    return findings


def check_notifications() -> Finding:
    """Whether somebody is told of failures."""
    slug = os.environ.get("HOPWRIGHT_NOTIFY", "")
    if slug:
        return Finding("notify", "ok", f"{slug} is told of failures and reached budgets")
    return Finding("notify", "missing", "nobody is told of failures", "HOPWRIGHT_NOTIFY (docs/nightly.md)")


def check_sparql_endpoint(url: str | None) -> Finding:
    """A SPARQL service; none is asked unless it is named, as it may be somebody else's."""
    if not url:
        return Finding(
            "sparql", "ok", "not asked: `hopwright doctor --sparql URL` does; only literals and verify need one"
        )
    query = urllib.parse.urlencode({"query": "ASK {}"})
    joint = "&" if "?" in url else "?"
    try:
        answer = _read(f"{url}{joint}{query}", accept="application/sparql-results+json")
    except (OSError, ValueError) as error:
        return _refuse("sparql", url, error, "check the address; docs/literals.md names services")
    if not isinstance(answer, dict) or not isinstance(answer.get("boolean"), bool):
        return Finding("sparql", "bad", f"{url} does not answer like SPARQL", "check the address")
    return Finding("sparql", "ok", url)


def _check_protection(api: str) -> list[Finding]:
    """Whether a server that other machines reach answers anybody: whoever reaches it has the workers run anything."""
    host = urllib.parse.urlsplit(api).hostname or ""
    try:
        near = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        near = False
    if near:
        return []
    try:
        _read(f"{api}/admin/version")
    except urllib.error.HTTPError as error:
        if error.code in (401, 403):
            return [Finding("prefect auth", "ok", f"{host} asks for a password")]
        raise
    advice = "set PREFECT_SERVER_API_AUTH_STRING for the server, PREFECT_API_AUTH_STRING here (docs/nightly.md)"
    return [Finding("prefect auth", "bad", f"{host} takes orders from anybody who reaches it", advice)]


def _authorize() -> dict[str, str]:
    """The header that Prefect's clients send where the server has basic authentication."""
    held = os.environ.get("PREFECT_API_AUTH_STRING", "")
    return {"Authorization": f"Basic {base64.b64encode(held.encode()).decode()}"} if held else {}


def _check_pool(api: str, pool: str) -> Finding:
    there = _ask(f"{api}/work_pools/{pool}/workers/filter", {"limit": 200})
    online = sum(one.get("status") == "ONLINE" for one in there)
    if online:
        return Finding(f"pool {pool}", "ok", f"{online} worker{'' if online == 1 else 's'} online")
    return Finding(f"pool {pool}", "missing", "no worker is online", f"`prefect worker start --pool {pool}`")


def _check_endpoint_reachable(endpoint: Endpoint) -> Finding:
    name, variable = f"model {endpoint.name}", key_variable(endpoint)
    if variable and not os.environ.get(variable):
        advice = f"set {variable}, or make the Prefect Secret block {block_name(endpoint)}"
        return Finding(name, "missing", f"no key in {variable}", advice)
    key = f"there is a key in {variable}" if variable else "needs no key"
    if endpoint.kind != "compatible":
        return Finding(name, "ok", key)
    parts = urllib.parse.urlsplit(endpoint.base_url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 443), timeout=_SECONDS):
            return Finding(name, "ok", f"{endpoint.base_url} listens; {key}")
    except (OSError, ValueError) as error:
        return Finding(name, "missing", f"{endpoint.base_url}: {error}", "start it, or mend its base_url")


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _read(url: str, accept: str = "application/json", *, key: bool = False) -> Any:
    """The JSON that a GET answers with, or its text. Raises OSError when nothing answers.

    `key`: with the password for Prefect's server.
    """
    headers = {"Accept": accept, "User-Agent": "hopwright-doctor", **(_authorize() if key else {})}
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=_SECONDS) as response:
        text = response.read(_LONGEST).decode("utf-8", "replace")
    try:
        return load_json(text)
    except JsonError:
        return text


def _ask(url: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json", **_authorize()})
    with urllib.request.urlopen(request, timeout=_SECONDS) as response:
        rows = load_json(response.read(_LONGEST))
    return [one for one in rows if isinstance(one, dict)] if isinstance(rows, list) else []


def _refuse(what: str, url: str, error: Exception, advice: str) -> Finding:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return Finding(what, "bad", f"{url}: {reason}", advice)
