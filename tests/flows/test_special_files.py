"""A pipe, a device, a socket or a wrong folder where a file of others is asked for: one line, and nothing hangs."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import all_items, write_jsonl

COMMANDS: dict[str, tuple[str, ...]] = {
    "audit": ("audit", "{}"),
    "against": ("audit", "data.jsonl", "--against", "{}"),
    "endpoints": ("audit", "data.jsonl", "--read", "a/b", "--endpoints", "{}"),
    "evaluate": ("evaluate", "{}", "--model", "a/b"),
    "export": ("export", "{}", "--out", "out"),
    "publish": ("publish", "{}", "--to", "a/b", "--dry-run"),
    "verify": ("graph", "verify", "{}"),
    "parameters": ("build", "--run", "new", "--parameters", "{}"),
    "claims": ("claims", "check", "{}"),
    "documents": ("corpus", "add", "{}", "--corpus", "c", "--format", "jsonl"),
    "novels": ("novels", "add", "{}"),
    "novel set": ("novels", "audit", "{}"),
    "picture set": ("images", "audit", "{}"),
    "ids": ("images", "fetch", "--source", "none", "--commons", "{}"),
    "tasks": ("environment", "serve", "{}"),
    "journal": ("environment", "report", "{}", "{}"),
}
"""A command for every option and argument that names a file of others; `{}` is that file."""


@pytest.fixture(params=["pipe", "device", "socket", "folder"])
def special(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Something that is no file, and no folder of ours."""
    path = tmp_path / "special"
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        match request.param:
            case "pipe":
                os.mkfifo(path)
            case "socket":
                listener.bind("special")
            case "folder":
                path.mkdir()
            case _:
                path = Path("/dev/zero")
        yield path


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_is_no_file_is_refused_in_one_line(
    command: tuple[str, ...],
    special: Path,
    call,  # type: ignore[no-untyped-def]
    tmp_path: Path,
) -> None:
    write_jsonl(all_items(), tmp_path / "data.jsonl")
    result = call(*(part.format(special) for part in command))
    assert (result.code, result.out) == (1, ""), result
    assert len(result.err.strip().splitlines()) == 1
    assert str(special) in result.err


@pytest.mark.parametrize("arguments", [
    ("audit", "a" * 5_000), ("audit", "data.jsonl", "--graph", "a" * 300),
    ("export", "data.jsonl", "--out", "/dev/full"),
    ("export", "data.jsonl", "--out", "/proc/none"),
    ("export", "data.jsonl", "--out", "data.jsonl"),
])  # fmt: skip
def test_a_path_that_the_system_refuses_is_one_line(
    arguments: tuple[str, ...],
    call,  # type: ignore[no-untyped-def]
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_jsonl(all_items(), tmp_path / "data.jsonl")
    result = call(*arguments)
    assert (result.code, result.out) == (1, ""), result
    assert len(result.err.strip().splitlines()) == 1
    assert len(result.err) < 1_000
