"""Settings from a file, mistakes in them, and what importing the client costs."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hopwright.errors import InputError
from hopwright.llm.config import Endpoint, LlmSettings, read_key, read_settings
from hopwright.llm.providers.anthropic_wire import build_body as build_anthropic
from hopwright.llm.providers.base import Call
from hopwright.llm.providers.openai_wire import build_body as build_openai
from hopwright.llm.types import Message, ModelRef, Sampling
from tests.llm.builders import request

ROOT = Path(__file__).resolve().parents[2]


def test_the_documented_settings_are_read(tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/models.md").read_text(), re.DOTALL)
    (block,) = [one for one in blocks if "[endpoints" in one]
    path = tmp_path / "models.toml"
    path.write_text(block)
    settings = read_settings(path)
    assert [endpoint.name for endpoint in settings.endpoints] == ["anthropic", "local", "openrouter", "openai"]
    assert settings.endpoint("local").dialect == "vllm"
    assert settings.endpoint("openai").limits_of("gpt-5-mini").requests_per_minute == 500
    assert settings.endpoint("openai").limits_of("other").requests_per_minute == 5000
    assert settings.retry.timeout_s == 300
    assert settings.breaker.rows_failing == 0.4


def test_without_a_file_both_providers_are_known() -> None:
    assert {endpoint.name for endpoint in read_settings(None).endpoints} == {"openai", "anthropic"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[endpoints.a]\nkind = 'compatible'\n", "needs a base_url"),
        ("[endpoints.a]\nbase_url = 'x'\nlimits = { max_concurrency = 0 }\n", "max_concurrency"),
        ("[endpoints.a]\nbase_url = 'x'\napi_key = 'sk-1'\n", "api_key"),
        ("[retry]\nattempts = 3\n", "attempts"),
        ("[endpoints\n", "models.toml"),
        ("[[endpoints]]\nname = 'a'\n", r"such as \[endpoints.local\]"),
        ("[endpoints]\na = 'http://127.0.0.1'\n", r"such as \[endpoints.local\]"),
    ],
)
def test_a_mistake_in_the_settings_is_named_with_the_file(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "models.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        read_settings(path)
    assert "models.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_settings_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.toml"):
        read_settings(tmp_path / "gone.toml")


def test_keys_come_from_the_named_variable_and_local_servers_need_none() -> None:
    openai = Endpoint(name="o", kind="openai")
    assert read_key(openai, {"OPENAI_API_KEY": "k"}) == "k"
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        read_key(openai, {"OPENAI_API_KEY": ""})
    assert read_key(Endpoint(name="l", base_url="http://x"), {}) == ""
    assert read_key(Endpoint(name="r", base_url="http://x", key_env="R"), {"R": "k"}) == "k"


def test_bodies_hold_what_each_provider_takes() -> None:
    schema = {
        "type": "object", "title": "T", "properties": {"title": {"type": "string", "maxLength": 5, "default": ""}},
    }  # fmt: skip
    sampling = Sampling(max_tokens=9, temperature=0.5, top_p=0.9, seed=4, stop=("x",), extra={"top_k": 3})
    call = Call("m", (Message("system", "s", stable=True), Message("user", "u")), sampling, schema)
    official = build_openai(call, "openai", ("temperature", "top_p"))
    assert official["max_completion_tokens"] == 9
    assert not {"temperature", "top_p", "max_tokens"} & official.keys()
    strict = official["response_format"]["json_schema"]["schema"]
    assert strict == {
        "type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"],
        "additionalProperties": False,
    }  # fmt: skip
    local = build_openai(call, "vllm")
    assert (local["max_tokens"], local["temperature"], local["seed"], local["top_k"]) == (9, 0.5, 4, 3)
    assert local["structured_outputs"]["json"]["properties"]["title"]["maxLength"] == 5
    other = build_openai(call, "compatible")
    assert other["response_format"]["json_schema"]["schema"] == local["structured_outputs"]["json"]
    claude = build_anthropic(call, "json_schema", ("temperature",))
    assert "temperature" not in claude
    assert claude["top_p"] == 0.9
    assert claude["stop_sequences"] == ["x"]
    assert claude["output_config"]["format"]["schema"]["additionalProperties"] is False
    assert claude["system"] == [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]
    assert "seed" not in claude
    assert schema["properties"]["title"]["maxLength"] == 5, "the schema itself is left as it was"  # type: ignore[index]


def test_the_client_is_imported_without_any_sdk() -> None:
    code = (
        "import sys, hopwright.llm.session, hopwright.llm.prompts, hopwright.llm.estimate; "
        "print([name for name in ('openai', 'anthropic', 'aiohttp') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout.strip() == "[]"


def test_every_endpoint_has_a_price_or_is_free_by_choice() -> None:
    assert all(not endpoint.free for endpoint in LlmSettings().endpoints)


def test_fallbacks_of_the_file_are_asked_where_a_request_names_none(tmp_path: Path) -> None:
    path = tmp_path / "endpoints.toml"
    path.write_text('[fallbacks]\n"openai/a" = ["anthropic/b/c"]\n', "utf-8")
    llm = read_settings(path)
    asked = request("x", provider="openai", model="a")
    assert [str(model) for model in llm.chain(asked)] == ["openai/a", "anthropic/b/c"]
    own = replace(asked, fallbacks=(ModelRef("openai", "d"),))
    assert [str(model) for model in llm.chain(own)] == ["openai/a", "openai/d"]
    assert [str(model) for model in llm.chain(request("x", provider="openai", model="z"))] == ["openai/z"]
    path.write_text('[fallbacks]\n"openai/a" = ["nowhere/b"]\n', "utf-8")
    with pytest.raises(InputError, match=r"endpoints\.toml: fallbacks: 'nowhere/b' is no endpoint/model of anthropic,"):
        read_settings(path)


def test_a_wrong_field_is_told_by_the_endpoints_own_name(tmp_path: Path) -> None:
    (tmp_path / "endpoints.toml").write_text('[endpoints.local]\nkindd = "compatible"\nurl = "http://localhost:1"\n')
    with pytest.raises(InputError, match=r"endpoints\.local\.kindd: there is no such field; is kind meant\?$"):
        read_settings(tmp_path / "endpoints.toml")
