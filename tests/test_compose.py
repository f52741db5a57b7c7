"""`docker-compose.yml` and the Dockerfile: what can be known of them without a Docker engine."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.deploy import read_deployments
from flows.label_studio import make_environment

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docker-compose.yml").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, Any] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
EXAMPLE = (ROOT / ".env.example").read_text("utf-8")

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_VALUES = {"type": "object", "additionalProperties": {"type": "string"}}
_DURATION = {"type": "string", "pattern": r"^(\d+h)?(\d+m)?(\d+s)?$", "minLength": 2}
_GPUS = {"driver": _TEXT, "count": {"enum": ["all"]}, "capabilities": _TEXTS}


def _only(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """An object of these properties and no others."""
    closed = {"type": "object", "additionalProperties": False}
    return {**closed, "properties": properties, "required": list(required)}


_SERVICE = _only(
    {
        "image": _TEXT, "build": _only({"context": _TEXT, "target": _TEXT}, "context"), "command": _TEXTS,
        "environment": _VALUES, "volumes": _TEXTS, "ports": _TEXTS, "user": _TEXT, "profiles": _TEXTS,
        "init": {"type": "boolean"}, "cap_drop": _TEXTS, "security_opt": _TEXTS, "stop_grace_period": _DURATION,
        "restart": {"enum": ["no", "always", "on-failure", "unless-stopped"]},
        "shm_size": {"type": "string", "pattern": r"^\d+[mg]b$"},
        "depends_on": {
            "type": "object",
            "additionalProperties": _only(
                {"condition": {"enum": ["service_healthy", "service_started", "service_completed_successfully"]}},
                "condition",
            ),
        },
        "healthcheck": _only(
            {"test": _TEXTS, "interval": _DURATION, "timeout": _DURATION, "start_period": _DURATION,
             "retries": {"type": "integer", "minimum": 1}},
            "test",
        ),
        "deploy": _only({"resources": _only({"reservations": _only({"devices": {"items": _only(_GPUS)}})})}),
    },
    "image",
)  # fmt: skip
SCHEMA = _only(
    {"name": _TEXT, "services": {"additionalProperties": _SERVICE},
     "volumes": {"additionalProperties": {"type": "null"}}},
    "services",
) | {"patternProperties": {"^x-": {}}}  # fmt: skip
"""The part of the Compose specification that the file uses."""


def test_the_services_are_those_of_the_profiles() -> None:
    profiles = {name: service.get("profiles", []) for name, service in SERVICES.items()}
    assert {name for name, of in profiles.items() if not of} == {
        "prefect-db", "prefect", "deploy", "worker", "label-studio-db", "label-studio",
    }  # fmt: skip
    assert {name for name, of in profiles.items() if "gpu" in of} == {"gpu-worker", "vllm"}
    assert {name for name, of in profiles.items() if "sparql" in of} == {"sparql"}


def test_images_are_pinned_nobody_is_root_and_everything_is_watched() -> None:
    for name, service in SERVICES.items():
        assert re.search(r":\d+\.\d+(\.\d+)?(-[a-z]+)?$", service["image"]), name
        assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"]), name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert name == "deploy" or service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL"), name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
    assert re.search(r"^ARG PYTHON=python:3\.11\.\d+-", DOCKERFILE, re.MULTILINE)
    for target in re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]:
        assert "CMD" not in target or "\nUSER hopwright\n" in target, target.splitlines()[0]


def test_what_is_waited_for_can_be_waited_for() -> None:
    for name, service in SERVICES.items():
        for other, how in service.get("depends_on", {}).items():
            assert other in SERVICES, name
            if how["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[other]
            elif how["condition"] == "service_completed_successfully":
                assert SERVICES[other]["restart"] == "no"


def test_volumes_and_build_targets_are_there() -> None:
    targets = set(re.findall(r"^FROM \S+ AS (\S+)$", DOCKERFILE, re.MULTILINE))
    for name, service in SERVICES.items():
        assert service.get("build", {}).get("target", "app") in targets, name
        assert {volume.split(":")[0] for volume in service.get("volumes", [])} <= set(COMPOSE["volumes"]), name


def test_every_secret_is_in_the_example_and_none_has_a_value() -> None:
    demanded = set(re.findall(r"\$\{([A-Z_]+):\?", TEXT))
    asked = set(re.findall(r"\$\{([A-Z_]+)", TEXT))
    empty = set(re.findall(r"^([A-Z_]+)=$", EXAMPLE, re.MULTILINE))
    assert demanded == {
        "PREFECT_DB_PASSWORD",
        "PREFECT_PASSWORD",
        "LABEL_STUDIO_DB_PASSWORD",
        "LABEL_STUDIO_PASSWORD",
        "LABEL_STUDIO_TOKEN",
    }
    assert demanded <= empty
    named = set(re.findall(r"^#?([A-Z_]+)=", EXAMPLE, re.MULTILINE))
    assert named <= asked
    assert not re.search(r"(PASSWORD|_TOKEN|KEY): (?!\$\{|\"true\")", TEXT)
    assert ".env" in (ROOT / ".gitignore").read_text("utf-8").split()
    assert ".env" in (ROOT / ".dockerignore").read_text("utf-8").split()


def test_workers_cover_the_pools_of_the_deployments() -> None:
    pools = {one["work_pool"]["name"] for one in read_deployments(ROOT)}
    commands = [service["command"] for name, service in SERVICES.items() if name.endswith("worker")]
    assert {command[command.index("--pool") + 1] for command in commands} == pools


@pytest.mark.parametrize("name", ["prefect", "worker", "gpu-worker"])
def test_prefect_knows_the_commands_and_their_options(name: str) -> None:
    command = SERVICES[name]["command"]
    options = [word for word in command if word.startswith("--")]
    verbs = command[1 : command.index(options[0])]
    help = subprocess.run(
        [sys.executable, "-m", "prefect", *verbs, "--help"], capture_output=True, text=True, check=True, timeout=300
    )
    for option in options:
        assert option in help.stdout, option


def test_the_other_commands_are_ours_or_those_that_make_serve_uses(tmp_path: Path) -> None:
    assert SERVICES["deploy"]["command"] == ["python", "-m", "flows.deploy"]
    source = (ROOT / "flows" / "label_studio.py").read_text("utf-8")
    for option in (word for word in SERVICES["label-studio"]["command"] if word.startswith("--")):
        assert f'"{option}"' in source, option
    from annotation.access import Access

    access = Access("http://127.0.0.1:8080", "user", "password", "token")
    ours = make_environment(access, tmp_path, {"LABEL_STUDIO_DATABASE": "postgresql://a:b@c:5432/d"})
    assert set(SERVICES["label-studio"]["environment"]) == set(ours)


@pytest.mark.skipif(shutil.which("oxigraph") is None and not Path(sys.executable).with_name("oxigraph").exists(),
                    reason="oxigraph is not installed")  # fmt: skip
def test_oxigraph_knows_the_command_of_the_sparql_service() -> None:
    program = shutil.which("oxigraph") or str(Path(sys.executable).with_name("oxigraph"))
    help = subprocess.run([program, "serve", "--help"], capture_output=True, text=True, check=True, timeout=300)
    for option in (word for word in SERVICES["sparql"]["command"] if word.startswith("--")):
        assert option in help.stdout, option
    pinned = re.search(r"oxigraph==(\S+)", DOCKERFILE)
    assert pinned
    assert f"oxigraph=={pinned[1]}" in (ROOT / "constraints.txt").read_text("utf-8").split()


def test_every_word_of_the_file_is_one_of_the_specification() -> None:
    from jsonschema import Draft202012Validator

    found = [f"{error.json_path}: {error.message}" for error in Draft202012Validator(SCHEMA).iter_errors(COMPOSE)]
    assert found == []
    for words, spoilt in (
        (["worker", "healthcheck", "interval"], "30"),
        (["worker", "depends_on", "deploy", "condition"], "service_complete"),
        (["prefect", "port"], ["127.0.0.1:1:1"]),
        (["vllm", "command"], 5),
    ):
        wrong = yaml.safe_load(TEXT)
        place = wrong["services"]
        for word in words[:-1]:
            place = place[word]
        place[words[-1]] = spoilt
        assert list(Draft202012Validator(SCHEMA).iter_errors(wrong)), words


def test_every_stage_of_the_dockerfile_rests_on_what_is_there() -> None:
    stages: list[str] = []
    shut_out = (ROOT / ".dockerignore").read_text("utf-8").split()
    for line in DOCKERFILE.replace("\\\n", " ").splitlines():
        word, *rest = line.split() or [""]
        if word == "FROM":
            assert rest[0] in ("${PYTHON}", *stages), line
            stages.append(rest[2])
        elif word == "COPY":
            options = dict(one[2:].split("=") for one in rest if one.startswith("--"))
            *sources, _ = (one for one in rest if not one.startswith("--"))
            if "from" in options:
                assert options["from"] in stages[:-1], line
                continue
            for source in sources:
                assert (ROOT / source).exists(), line
                assert source.split("/")[0] not in shut_out, line
    assert stages[0] == "base"
    # The environment is made before the code is there: these stand for it.
    packages = (ROOT / "pyproject.toml").read_text("utf-8")
    included = re.search(r"^include = \[(.*)\]$", packages, re.MULTILINE)
    assert included
    for name in re.findall(r'"(\w+)\*"', included[1]):
        assert f"/app/{name}/__init__.py" in DOCKERFILE, name


def test_prefect_asks_everybody_for_the_password_that_its_clients_send() -> None:
    asked = SERVICES["prefect"]["environment"]["PREFECT_SERVER_API_AUTH_STRING"]
    assert "${PREFECT_PASSWORD:?" in asked  # without one the composition does not start
    clients = {
        name: service["environment"]
        for name, service in SERVICES.items()
        if "PREFECT_API_URL" in service.get("environment", {})
    }
    assert clients
    assert {one.get("PREFECT_API_AUTH_STRING") for one in clients.values()} == {asked}
    assert "PREFECT_PASSWORD=" in EXAMPLE
