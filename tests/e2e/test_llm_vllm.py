"""Both official SDKs and the lean path against a server that nobody here wrote: vLLM's, on the CPU.

Needs the environment that `make vllm-env` makes (or `HOPWRIGHT_VLLM_VENV`): too heavy for every change, so it runs
nightly. Starting the server takes about a minute.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from hopwright.llm.client import Client
from hopwright.llm.config import Endpoint, LlmSettings, RetrySettings
from hopwright.llm.store import Store
from hopwright.llm.types import Failure, Message, Outcome, Request, Response, Sampling
from tests.llm.builders import run

ROOT = Path(__file__).resolve().parents[2]
VENV = Path(os.environ.get("HOPWRIGHT_VLLM_VENV", ROOT / ".venvs" / "vllm"))
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not (VENV / "bin" / "python").exists(), reason=f"no vLLM in {VENV}: make vllm-env"),
]


class Verdict(BaseModel):
    """Small bounds: a random model otherwise writes until it is cut off."""

    answer: str = Field(max_length=12)
    kind: Literal["country", "city"]
    sure: bool


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("vllm")
    python = str(VENV / "bin" / "python")
    environment = {
        **os.environ, "HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind", "DO_NOT_TRACK": "1", "HOME": str(folder),
    }  # fmt: skip
    subprocess.run([python, str(ROOT / "tests/e2e/tiny_model.py"), str(folder / "model")], check=True, env=environment)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (folder / "log.txt").open("wb")
    process = subprocess.Popen(
        [python, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder / "model"), "--served-model-name",
         "tiny", "--host", "127.0.0.1", "--port", str(port), "--dtype", "float32", "--enforce-eager",
         "--max-model-len", "2048",
         # A random model writes blanks for ever where the grammar lets it.
         "--structured-outputs-config", '{"backend": "xgrammar", "disable_any_whitespace": true}'],
        env=environment, stdout=log, stderr=log, start_new_session=True,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 600
        while True:
            assert process.poll() is None, (folder / "log.txt").read_text()[-3000:]
            assert time.monotonic() < deadline, "vLLM did not start in ten minutes"
            try:
                urllib.request.urlopen(url + "/health", timeout=2).read()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(1)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
        log.close()
        shutil.rmtree(folder / "model", ignore_errors=True)


def ask(url: str, folder: Path, kind: str, requests: list[Request], dialect: str = "vllm") -> list[Outcome]:
    endpoint = Endpoint.model_validate({
        "name": "vllm", "kind": kind, "base_url": url if kind == "anthropic" else f"{url}/v1", "dialect": dialect,
        "free": True, "key_env": "HOPWRIGHT_TEST_KEY",
    })  # fmt: skip
    llm = LlmSettings(endpoints=(endpoint,), retry=RetrySettings(timeout_s=240, max_attempts=2))

    async def work() -> list[Outcome]:
        with Store(folder / "llm.sqlite") as store:
            async with Client(llm, store) as client:
                return await client.complete_all(requests)

    os.environ["HOPWRIGHT_TEST_KEY"] = "any"
    return run(work(), 600)


def make(prompt: str, schema: type[BaseModel] | None = None, choices: tuple[str, ...] = (), **sampling: int) -> Request:
    return Request(
        (Message("system", "Answer briefly.", stable=True), Message("user", prompt)), "vllm", "tiny", schema, choices,
        Sampling(temperature=0.0, **{"max_tokens": 120, **sampling}),  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize("dialect", ["vllm", "compatible"])
@pytest.mark.parametrize("kind", ["openai", "compatible"])
def test_chat_completions_give_objects_that_fit_the_schema(
    server: str, tmp_path: Path, kind: str, dialect: str
) -> None:
    asked = [make(f"Where was author {n} born?", Verdict) for n in range(16)]
    outcomes = ask(server, tmp_path, kind, asked, dialect=dialect)
    for outcome in outcomes:
        assert isinstance(outcome, Response), outcome
        assert isinstance(outcome.parsed, Verdict)
        assert outcome.attempts == ()
        assert outcome.model_version == "tiny"
        assert outcome.usage.input > 10
        assert outcome.usage.output > 5
    again = ask(server, tmp_path, kind, [asked[3]], dialect=dialect)
    assert isinstance(again[0], Response)
    first = outcomes[3]
    assert isinstance(first, Response)
    assert again[0].cached
    assert again[0].parsed == first.parsed


@pytest.mark.parametrize("kind", ["openai", "compatible"])
def test_choices_come_with_their_probabilities(server: str, tmp_path: Path, kind: str) -> None:
    letters = ("A", "B", "C", "D")
    outcomes = ask(server, tmp_path, kind, [make("Which? A, B, C or D", choices=letters, top_logprobs=20)])
    outcome = outcomes[0]
    assert isinstance(outcome, Response), outcome
    assert outcome.text in letters
    found = dict(outcome.logprobs[0])
    assert set(letters) <= set(found)
    assert max(letters, key=lambda letter: found[letter]) == outcome.text


def test_messages_answer_through_the_anthropic_sdk(server: str, tmp_path: Path) -> None:
    outcomes = ask(server, tmp_path, "anthropic", [make(f"Say anything about {n}.", max_tokens=16) for n in range(4)])
    for outcome in outcomes:
        # A random model seldom ends by itself: it is cut off, and that is told from an answer.
        if isinstance(outcome, Failure):
            assert outcome.kind in ("truncated", "empty")
            assert outcome.usage.output > 0
        else:
            assert outcome.text
            assert outcome.model_version == "tiny"


def test_messages_give_objects_through_the_anthropic_sdk(server: str, tmp_path: Path) -> None:
    outcomes = ask(server, tmp_path, "anthropic", [make(f"Where was author {n} born?", Verdict) for n in range(8)])
    for outcome in outcomes:
        assert isinstance(outcome, Response), outcome
        assert isinstance(outcome.parsed, Verdict)
        assert outcome.usage.input > 10


def test_what_vllm_refuses_is_a_rejected_row_with_its_reason(server: str, tmp_path: Path) -> None:
    outcomes = ask(server, tmp_path, "compatible", [make("long " * 4000)])
    assert isinstance(outcomes[0], Failure)
    assert outcomes[0].kind == "rejected"
    assert outcomes[0].reason
