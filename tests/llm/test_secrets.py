"""A planted key is looked for in everything that a run writes, says or logs."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from hopwright.errors import HopwrightError
from hopwright.llm.client import Client
from hopwright.llm.progress import render_progress
from hopwright.llm.redaction import HIDDEN, Redactor
from hopwright.llm.store import Store
from hopwright.llm.transcripts import find_exchanges, render_transcript
from hopwright.llm.types import Failure, Response
from tests.llm.builders import KEY, request, rows, run, settings
from tests.llm.wire_server import Faults, WireServer

KINDS = ["compatible", "openai", "anthropic"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "faults",
    [
        Faults(),
        Faults(key="another key"),
        Faults(
            status=400, body=f'{{"error": {{"message": "Authorization: Bearer {KEY} and {KEY[:5]}***{KEY[-4:]}"}}}}'
        ),
        Faults(status=500, body=f"proxy error, request headers: x-api-key: {KEY}"),
        Faults(malformed=0.3, status_500=0.2, cut=0.2, refusal=0.1),
    ],
)
def test_no_key_in_anything_that_a_run_writes(
    tmp_path: Path, kind: str, faults: Faults, caplog: Any, capfd: Any
) -> None:
    said: list[str] = []

    async def work() -> None:
        async with WireServer(faults) as server:
            llm = settings(server, kind=kind, retry={"max_attempts": 2})
            with Store(tmp_path / "llm.sqlite") as store:
                async with Client(llm, store) as client:
                    try:
                        for outcome in await client.complete_all(rows(12)):
                            said.append(repr(outcome))
                    except HopwrightError as error:
                        said.append(str(error))
                    said.append(render_progress(client.snapshot()))
                for number in range(12):
                    try:
                        said.append(render_transcript(find_exchanges(store, f"item-{number}")))
                    except HopwrightError as error:
                        said.append(str(error))
                assert KEY not in server.url
                assert any(KEY in str(headers) for headers in server.headers) or faults.key

    with caplog.at_level(logging.DEBUG):
        run(work())
    said += [record.getMessage() for record in caplog.records]
    said += [str(record.args) for record in caplog.records]
    captured = capfd.readouterr()
    said += [captured.out, captured.err]
    for path in tmp_path.rglob("*"):
        said.append(path.read_bytes().decode("latin-1"))
    assert len(said) > 14
    everything = "\n".join(said)
    assert KEY not in everything
    assert KEY[-4:] not in everything


def test_a_key_that_a_model_repeats_is_removed_from_what_is_thrown_away(tmp_path: Path) -> None:
    async def work() -> None:
        body = (
            f'{{"choices": [{{"message": {{"content": "my key is {KEY}"}}, "finish_reason": "stop"}}], "model": "x"}}'
        )
        async with WireServer(Faults(status=200, body=body)) as server:
            with Store(tmp_path / "llm.sqlite") as store:
                async with Client(settings(server), store) as client:
                    failed = await client.complete(request("a"))
                    assert isinstance(failed, Failure)
                    assert KEY not in repr(failed)
                    assert HIDDEN in repr(failed)
                    told = await client.complete(request("a", schema=None))
                    assert isinstance(told, Response)
                    assert KEY not in told.text

    run(work())
    for path in tmp_path.rglob("*"):
        assert KEY.encode() not in path.read_bytes()


def test_whole_and_shortened_keys_are_removed_and_short_words_are_not() -> None:
    redactor = Redactor(["sk-abcdefgh", "abc", ""])
    assert redactor.clean("use sk-abcdefgh now") == f"use {HIDDEN} now"
    assert redactor.clean("Incorrect API key provided: sk-ab****efgh.") == f"Incorrect API key provided: {HIDDEN}."
    assert redactor.clean("abc sk-learn **bold**") == "abc sk-learn **bold**"
    assert Redactor([]).clean("anything") == "anything"
