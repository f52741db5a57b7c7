"""A planted key is looked for in everything that a run writes, says or logs."""

from __future__ import annotations

import base64
import json
import logging
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.errors import HopwrightError
from hopwright.llm.client import Client
from hopwright.llm.progress import render_progress
from hopwright.llm.providers.base import describe_cause, wrap_status
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


@pytest.mark.parametrize("place", range(0, 30, 3))
def test_no_part_of_a_key_that_an_error_cuts_is_kept(place: int) -> None:
    redactor = Redactor([KEY])
    for before, body in ((len("HTTP 500: "), b"%s"), (len("HTTP 400: "), b'{"error": {"message": "%s"}}')):
        for cut in (100, 200, 300, 1_000, 2_000):
            filling = "x " * ((cut - before) // 2) + "y" * place
            error = wrap_status(500, body % f"{filling[place:]}{KEY} end".encode(), {})
            assert KEY[:12] not in redactor.clean_error(str(error))
    for text in (KEY[:20], f"{KEY[:20]}…", f"'{KEY[:14]}", KEY + "x"):
        cleaned = redactor.clean(f"key {text} said")
        assert HIDDEN in cleaned and KEY[:12] not in cleaned and cleaned.endswith(" said")
    error = describe_cause(ValueError("." * (150 + place) + KEY + "." * 200))
    assert KEY[:12] not in redactor.clean_error(error)


def _spellings(key: str) -> dict[str, str]:
    coded = base64.b64encode(f"x-api-key: {key}".encode()).decode()
    return {
        "upper": key.upper(), "swapped": key.swapcase(), "reversed": key[::-1],
        "json": "".join(f"\\u{ord(letter):04x}" for letter in key),
        "mixed": key.replace("a", "\\u0061").replace("-", "%2D"),
        "percent": "".join(f"%{ord(letter):02X}" for letter in key), "twice": key.replace("-", "%252d"),
        "html": "".join(f"&#{ord(letter)};" for letter in key),
        "html hex": "".join(f"&#x{ord(letter):x};" for letter in key),
        "hex": key.encode().hex(), "spaced hex": key.encode().hex(" ").upper(),
        "dump": "".join(f"\\x{byte:02x}" for byte in key.encode()),
        "base64": base64.b64encode(key.encode()).decode(), "within base64": coded,
        "utf-16 hex": key.encode("utf-16-le").hex(), "utf-16 hex, big end first": key.encode("utf-16-be").hex().upper(),
        "utf-16 dump": key.encode("utf-16").hex(" "),
        "utf-16 base64": base64.b64encode(key.encode("utf-16-le")).decode(),
        "base32": base64.b32encode(key.encode()).decode(),
        "small base32": base64.b32encode(key.encode()).decode().lower().rstrip("="),
        "within base32": base64.b32encode(f"x-api-key: {key}".encode()).decode(),
        "blanks": " ".join(key), "large, between lines": "\n".join(key.upper()), "list": json.dumps(list(key))[2:-2],
        "utf-16 as letters": repr(key.encode("utf-16-be"))[2:-1], "hyphens": "-".join(key),
        "url base64": base64.urlsafe_b64encode(f"ab{key}~~~".encode()).decode(),
    }  # fmt: skip


@pytest.mark.parametrize("spelling", _spellings(KEY))
def test_a_key_in_another_spelling_is_removed(spelling: str) -> None:
    cleaned = Redactor([KEY]).clean(f"request: {_spellings(KEY)[spelling]} end")
    assert HIDDEN in cleaned and cleaned.startswith("request: ") and cleaned.endswith(" end")
    left = cleaned.replace(HIDDEN, "")
    # Of base64, up to three letters that the key shares with its neighbours stay at either end.
    assert len(left) <= len("request:  end") + (32 if "within" in spelling else 10)


@given(
    letters=st.text(st.characters(codec="ascii", exclude_categories=["Cc", "Zs"]), min_size=12),
    shift=st.integers(0, 9),
)
def test_no_position_in_base64_or_base32_hides_a_key(letters: str, shift: int) -> None:
    plain = b"#" * shift + letters.encode() + b"!" * shift
    redactor = Redactor([letters])
    assert HIDDEN in redactor.clean(base64.b64encode(plain).decode())
    assert HIDDEN in redactor.clean(base64.b32encode(plain).decode())
    assert HIDDEN in redactor.clean(base64.b64encode(plain.decode().encode("utf-16-le")).decode())


@pytest.mark.parametrize("key", ["no-key-required", "token-abc123", "aaaaaaaaaaaaaaaa", "------------"])
def test_words_of_a_weak_key_are_no_key(key: str) -> None:
    """Local servers take any key, such as one of plain words."""
    text = "There is no key required here, no - key - required; my local keys: 1, 2. aaaa aaa ---- -- a-a-a b-b 0x6e6f."
    assert Redactor([key]).clean(text) == text


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_in_the_names_of_model_and_request_is_removed(tmp_path: Path, kind: str) -> None:
    choice = '{"message": {"content": "fine"}, "finish_reason": "stop"}'
    openai = f'{{"choices": [{choice}], "model": "{KEY}", "id": "{KEY}"}}'
    anthropic = f'{{"content": [{{"type": "text", "text": "fine"}}], "model": "{KEY}", "id": "{KEY}"}}'

    async def work() -> None:
        async with WireServer(Faults(status=200, body=anthropic if kind == "anthropic" else openai)) as server:
            with Store(tmp_path / "llm.sqlite") as store:
                async with Client(settings(server, kind=kind), store) as client:
                    told = await client.complete(request("a", schema=None))
                    assert isinstance(told, Response)
                    assert told.model_version == HIDDEN and KEY not in repr(told)

    run(work())
    for path in tmp_path.rglob("*"):
        assert KEY.encode() not in path.read_bytes()


def test_the_store_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        loose = tmp_path / "loose.sqlite"
        loose.touch(mode=0o666)
        for path in (tmp_path / "new" / "llm.sqlite", loose):
            with Store(path) as store:
                store.write_now([("INSERT INTO cuts VALUES (?, ?, ?, ?)", ("lane", "me", 0.0, 0.0))])
                for file in path.parent.glob(f"{path.name}*"):
                    assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    finally:
        os.umask(before)
