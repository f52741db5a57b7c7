"""A server decides neither how much of an answer is read nor who else gets the prompt."""

from __future__ import annotations

import resource
from pathlib import Path

import anthropic  # noqa: F401 - imported before memory is measured
import openai  # noqa: F401
import pytest

from hopwright.errors import ServiceError
from hopwright.foreign import BODY_VARIABLE
from hopwright.llm.types import Failure
from tests.hostile_servers import MANNERS, Manner, serve_hostile
from tests.llm.builders import ask_all, request, run, settings
from tests.llm.wire_server import Faults, WireServer

KINDS = ["compatible", "openai", "anthropic"]
MIB = 1 << 20


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("manner", MANNERS)
def test_no_answer_is_read_past_the_limit(
    tmp_path: Path, kind: str, manner: Manner, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BODY_VARIABLE, "1")
    with serve_hostile(manner, status=status) as server:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        llm = settings(server.url, kind=kind, retry={"max_attempts": 2})
        (outcome,), _ = run(ask_all(tmp_path, llm, [request("a")]))
        grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert isinstance(outcome, Failure) and outcome.kind == "unavailable"
    assert [attempt.kind for attempt in outcome.attempts] == ["garbled", "garbled"]
    said = "not asked for" if manner == "unknown packing" else "longer than 1 MiB"
    assert said in outcome.reason and "\n" not in outcome.reason
    assert len(server.paths) == 2
    # What lies in the sockets' buffers was sent, and is not read.
    assert server.sent < 2 * 16 * MIB
    assert grown_kib < 48 * 1024


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_within_the_limit_is_read_also_when_it_is_packed(tmp_path: Path, kind: str) -> None:
    async def check() -> None:
        async with WireServer(Faults(pack=True)) as server:
            (outcome,), _ = await ask_all(tmp_path, settings(server, kind=kind), [request("a")])
            assert outcome.ok
            assert server.counts["packed"] == 1

    run(check())


@pytest.mark.parametrize("kind", KINDS)
def test_a_redirect_gets_no_prompt(tmp_path: Path, kind: str) -> None:
    with (
        serve_hostile("endless") as other,
        serve_hostile("redirect", location=f"{other.url}/v1/take") as server,
        pytest.raises(ServiceError, match=r"redirects to http.*which is not followed.*base URL"),
    ):
        run(ask_all(tmp_path, settings(server.url, kind=kind), [request("a secret question")]))
    assert len(server.paths) == 1 and not other.paths
