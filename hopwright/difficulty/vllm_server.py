"""A vLLM server that the stage starts, watches and ends, one per copy of a model.

It runs in an environment of its own (vLLM and Prefect cannot share one) and is spoken to over HTTP. Whatever happens to
the stage, the server and its processes end with it: see `process_supervisor`.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from hopwright.difficulty.machine import Gpu, VllmInstallation, check_main_memory, check_memory, find_engine, list_gpus
from hopwright.difficulty.weights import Weights
from hopwright.errors import InputError, ServiceError
from hopwright.runs.files import explain_os_errors

_KEEPER = Path(__file__).with_name("process_supervisor.py")
_GRACE_S = 10.0
_END_S = 20.0
# A proxy has no business between two processes of one machine.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_LOOKS = 3
_TAIL = 20_000
_ERROR_LINE = re.compile(r"\b\w*(?:Error|Exception)\b: .*")
_KNOWN = (
    (re.compile("out of memory|No available memory for the cache|less than desired GPU memory|KV cache is needed",
                re.IGNORECASE), "too little GPU memory"),
    (re.compile(r"Address already in use", re.IGNORECASE), "the port is in use"),
    (re.compile(r"not supported for now|does not recognize this architecture|No model architectures", re.IGNORECASE),
     "this vLLM does not know the model's architecture"),
    (re.compile(r"chat template", re.IGNORECASE), "the tokenizer has no chat template"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a model is served.

    port: 0 takes a free one. gpus: how many to use, 0 for all; what `tensor_parallel` leaves serves further copies.
    memory_share: of each GPU, 0–1. context: longest prompt and answer in tokens. dtype, quantization: as vLLM names
    them, empty for the model's own. start_s: how long loading may take.
    """

    python: Path
    port: int = 0
    gpus: int = 0
    tensor_parallel: int = 1
    memory_share: float = 0.9
    context: int = 4096
    dtype: str = "auto"
    quantization: str = ""
    start_s: float = 900.0


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the copies of a model go: the GPUs of each; one empty tuple on the CPU."""

    engine: VllmInstallation
    groups: tuple[tuple[Gpu, ...], ...]


def place(settings: ServerSettings) -> Placement:
    """Share out the GPUs. Raises InputError where vLLM, or a GPU that it needs, is missing, or a port is in use."""
    engine = find_engine(settings.python)
    gpus = [] if engine.on_cpu else list_gpus()
    if settings.port and not is_free(settings.port):
        raise InputError(f"port {settings.port} is in use: set vllm.port to another one, or to 0 for any that is free")
    if engine.on_cpu:
        return Placement(engine, ((),))
    if len(gpus) < settings.tensor_parallel:
        raise InputError(
            f"vLLM needs {settings.tensor_parallel} GPU(s) for one copy of a model, and this machine shows {len(gpus)} "
            "(nvidia-smi, CUDA_VISIBLE_DEVICES)"
        )
    used = gpus[: settings.gpus] if settings.gpus else gpus
    size = settings.tensor_parallel
    groups = tuple(tuple(used[start : start + size]) for start in range(0, len(used) - size + 1, size))
    if not groups:
        raise InputError(f"vllm.gpus is {settings.gpus}, less than vllm.tensor_parallel ({size})")
    return Placement(engine, groups if settings.port == 0 else groups[:1])


def check_fit(name: str, weights: Weights, placement: Placement, settings: ServerSettings) -> None:
    """Raises InputError when the model does not fit where it is to go."""
    if placement.engine.on_cpu:
        check_main_memory(name, weights.bytes)
        return
    size = int(weights.bytes * _shrink(settings.quantization))
    for group in placement.groups:
        check_memory(name, size, list(group), settings.memory_share)


class VllmServer:
    """One server: `with VllmServer(...) as server: server.url`. Ended with the block, and with this process."""

    def __init__(
        self,
        name: str,
        weights: Weights,
        engine: VllmInstallation,
        gpus: Sequence[Gpu],
        settings: ServerSettings,
        log: Path,
    ) -> None:
        self.name = name
        self.log = log
        self.url = ""
        self._weights = weights
        self._engine = engine
        self._gpus = gpus
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        try:
            self.wait()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def lost(self) -> bool:
        """Whether the server has ended by itself or stopped answering; a busy one gets some seconds to say so."""
        if not self.alive:
            return True
        for _ in range(_LOOKS):
            if _answers(f"{self.url}/health"):
                return False
            time.sleep(1)
        return True

    @property
    def alive(self) -> bool:
        """Whether the server, or what is left of it, still runs."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process; `wait` for it before it is asked. Raises InputError when the port is in use."""
        port = self._settings.port or find_port()
        if not is_free(port):
            raise InputError(f"port {port} is in use: set vllm.port to another one, or to 0 for any that is free")
        self.url = f"http://127.0.0.1:{port}"
        with explain_os_errors(self.log):
            self.log.parent.mkdir(parents=True, exist_ok=True)
            output = self.log.open("wb")
        with output:
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(_KEEPER), str(_GRACE_S), *self.list_command(port)],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self.list_environment(),
                # Ctrl-C is for the stage: it ends the server itself, after it has said so.
                start_new_session=True,
            )

    def wait(self, tell: Callable[[float], None] | None = None) -> None:
        """Wait until the server answers. Raises ServiceError: one line with what vLLM said, when it does not."""
        assert self._process is not None
        began = time.monotonic()
        while not _answers(f"{self.url}/health"):
            waited = time.monotonic() - began
            if self._process.poll() is not None:
                raise ServiceError(f"{self.name}: vLLM ended while loading it: {explain_log(self.log)} ({self.log})")
            if waited > self._settings.start_s:
                raise ServiceError(
                    f"{self.name}: vLLM did not answer within {self._settings.start_s:.0f} s: "
                    f"{explain_log(self.log)} ({self.log}); vllm.start_seconds allows more"
                )
            if tell is not None:
                tell(waited)
            time.sleep(0.1)

    def end(self) -> None:
        """End the server and every process it started."""
        self.ask_to_end()
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def ask_to_end(self) -> None:
        """Let the server begin to end, without waiting for it."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def list_command(self, port: int) -> list[str]:
        """The command line."""
        settings = self._settings
        command = [
            str(self._engine.python), "-m", "vllm.entrypoints.openai.api_server",
            "--model", str(self._weights.folder), "--served-model-name", self.name,
            "--host", "127.0.0.1", "--port", str(port),
            "--max-model-len", str(settings.context), "--seed", "0",
        ]  # fmt: skip
        dtype = "float32" if self._engine.on_cpu and settings.dtype == "auto" else settings.dtype
        command += ["--dtype", dtype]
        if self._engine.on_cpu:
            command += ["--enforce-eager"]
        else:
            command += [
                "--gpu-memory-utilization", str(settings.memory_share),
                "--tensor-parallel-size", str(settings.tensor_parallel),
            ]  # fmt: skip
        if settings.quantization:
            command += ["--quantization", settings.quantization]
        return command

    def list_environment(self) -> dict[str, str]:
        """The environment: no network, no telemetry, its own GPUs, none of the stage's keys."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.endswith(("_API_KEY", "_TOKEN")) and not name.startswith(("PREFECT_", "PYTHON"))
        }
        ours = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
        if self._engine.on_cpu:
            ours |= {"VLLM_CPU_OMP_THREADS_BIND": "nobind"}
            kept = {"VLLM_CPU_KVCACHE_SPACE": "1", **kept}
        else:
            ours |= {"CUDA_VISIBLE_DEVICES": ",".join(gpu.index for gpu in self._gpus)}
        return {**kept, **ours}


@contextlib.contextmanager
def serve(
    name: str,
    weights: Weights,
    placement: Placement,
    settings: ServerSettings,
    logs: Path,
    tell: Callable[[float], None] | None = None,
) -> Iterator[list[VllmServer]]:
    """Copies of a model, one on each group of GPUs, loading side by side; all ended with the block."""
    with contextlib.ExitStack() as stack:
        servers: list[VllmServer] = []
        for number, group in enumerate(placement.groups):
            log = logs / f"vllm-{_slug(name)}{f'-{number}' if number else ''}.log"
            server = VllmServer(name, weights, placement.engine, group, settings, log)
            server.start()
            servers.append(server)
            stack.callback(server.end)
        for server in servers:
            # Run first, so that all copies end at the same time.
            stack.callback(server.ask_to_end)
        for server in servers:
            server.wait(tell)
        yield servers


def is_free(port: int) -> bool:
    """Whether nothing listens on this port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def find_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def explain_log(log: Path) -> str:
    """What went wrong, from the end of a server's log: a known cause in our words, else its last error."""
    try:
        text = log.read_bytes()[-_TAIL:].decode("utf-8", "replace")
    except OSError:
        return "it left no log"
    errors = _ERROR_LINE.findall(text)
    said = " ".join(errors[-1].split())[:300] if errors else " ".join(text.strip().splitlines()[-1:])[:300]
    # The first error is the cause; those after it tell that something else failed for it.
    first = next((line for line in errors if "Engine core initialization failed" not in line), said)
    for pattern, meaning in _KNOWN:
        if pattern.search(text):
            return f"{meaning} ({' '.join(first.split())[:300]})"
    return " ".join(first.split())[:300] or "it said nothing"


def _answers(url: str) -> bool:
    try:
        with _OPENER.open(url, timeout=3) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError, ValueError):
        return False


def _shrink(quantization: str) -> float:
    """How much of the published weights a quantization at load time leaves; 1 where they are published quantized."""
    return 0.55 if quantization in ("fp8", "bitsandbytes") else 1.0


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")
