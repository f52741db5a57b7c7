"""Packages of the npm registry as sources of pictures: fetched once by npm itself, checked, and kept in the cache.

The versions and their hashes are fixed here, so that a build gives the same pictures as long as the registry has them.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import io
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hopwright.errors import InputError, ServiceError
from hopwright.foreign import show
from hopwright.runs.files import write_file

_MOST_BYTES = 256 << 20
_LONGEST_FILE = 32 << 20
_PATIENCE_S = 300


@dataclass(frozen=True, slots=True)
class NpmPackage:
    """One version of a package; `integrity` is the registry's own SHA-512 in base64, `licence` what it declares."""

    name: str
    version: str
    integrity: str
    licence: str
    author: str

    @property
    def file_name(self) -> str:
        """What `npm pack` calls its archive."""
        return f"{self.name}-{self.version}.tgz"


FLAGS = NpmPackage(
    "flag-icons",
    "7.5.0",
    "kd+MNXviFIg5hijH766tt+3x76ele1AXlo4zDdCxIvqWZhKt4T83bOtxUOOMlTx/EcFdUMH5yvQgYlFh1EqqFg==",
    "MIT",
    "Panayiotis Lipiridis and contributors",
)
ATLAS = NpmPackage(
    "world-atlas",
    "2.0.2",
    "IXfV0qwlKXpckz1FhwXVwKRjiIhOnWttOskm5CtxMsjgE/MXAYRHWJqgXOpM8IkcPBoXnyTU5lFHcYa5ChG0LQ==",
    "ISC; data: Natural Earth, public domain",
    "Michael Bostock",
)
COUNTRIES = NpmPackage(
    "world-countries",
    "5.1.0",
    "CXR6EBvTbArDlDDIWU3gfKb7Qk0ck2WNZ234b/A0vuecPzIfzzxH+O6Ejnvg1sT8XuiZjVlzOH0h08ZtaO7g0w==",
    "ODbL-1.0",
    "Mohammed Le Doze and contributors",
)
MARKS = NpmPackage(
    "simple-icons",
    "16.37.0",
    "8mCJIhpMYOL9g13GW59EiL3sVXJnTEKGCTZFaekl9UQ3Qo0SwVjnLaJ82QiaH8BKBdouEDzrHMXIWh8cBIy48A==",
    "CC0-1.0",
    "Simple Icons contributors",
)
PACKAGES = (FLAGS, ATLAS, COUNTRIES, MARKS)
"""Everything that is fetched from npm. Of `world-countries` only codes and names are read, to link pictures."""


def fetch_package(package: NpmPackage, cache: Path) -> Path:
    """The package's archive in the cache, fetched where it is not there yet.

    Raises ServiceError where npm is missing or gets nothing, InputError where the archive is not the one that is meant.
    """
    path = cache / package.file_name
    if path.is_file():
        check_archive(path.read_bytes(), package, str(path))
        return path
    data = _pack(package)
    check_archive(data, package, f"npm's {package.file_name}")
    write_file(path, data)
    return path


def check_archive(data: bytes, package: NpmPackage, what: str) -> None:
    """Raise InputError where an archive has not the hash that its version has."""
    found = base64.b64encode(hashlib.sha512(data).digest()).decode()
    if found != package.integrity:
        raise InputError(
            f"{what}: not {package.name} {package.version} (its SHA-512 differs): remove it and fetch again"
        )


def read_archive(path: Path) -> dict[str, bytes]:
    """The files of a package by their paths in it. Raises InputError for an archive that is too large or damaged."""
    return dict(_read_members(path, path.stat().st_mtime_ns))


@functools.lru_cache(maxsize=4)
def _read_members(path: Path, changed: int) -> tuple[tuple[str, bytes], ...]:
    return tuple(_iter_members(path))


def _iter_members(path: Path) -> Iterator[tuple[str, bytes]]:
    total = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(path.read_bytes()), mode="r:gz") as archive:
            for member in archive:
                if not member.isfile():
                    continue
                total += member.size
                if member.size > _LONGEST_FILE or total > _MOST_BYTES:
                    raise InputError(f"{path}: holds more than is read of a package")
                file = archive.extractfile(member)
                assert file is not None
                yield member.name.removeprefix("package/"), file.read()
    except (tarfile.TarError, OSError, EOFError) as error:
        raise InputError(f"{path}: a damaged archive ({show(error)}): remove it and fetch again") from None


def _pack(package: NpmPackage) -> bytes:
    if shutil.which("npm") is None:
        raise ServiceError(
            "pictures are fetched by npm, which is not installed: install Node.js, or use a folder of yours"
        )
    with tempfile.TemporaryDirectory(prefix="hopwright-npm-") as folder:
        command = ["npm", "pack", f"{package.name}@{package.version}", "--silent", "--ignore-scripts"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, timeout=_PATIENCE_S, check=False)
        except subprocess.TimeoutExpired:
            raise ServiceError(f"npm did not get {package.name} in {_PATIENCE_S} seconds: try again later") from None
        archive = Path(folder) / package.file_name
        if done.returncode or not archive.is_file():
            said = show(done.stderr.decode("utf-8", "replace").strip())
            raise ServiceError(f"npm could not get {package.name} {package.version}: {said}")
        return archive.read_bytes()
