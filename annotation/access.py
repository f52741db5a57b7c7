"""How to reach a Label Studio server: its address, and its token, which is kept for its owner only."""

from __future__ import annotations

import contextlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from hopwright.errors import InputError, RunError
from hopwright.settings import home

URL_VARIABLE, TOKEN_VARIABLE = "LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"
_USER_VARIABLE, _PASSWORD_VARIABLE = "LABEL_STUDIO_USERNAME", "LABEL_STUDIO_PASSWORD"
FIRST_USER = "hopwright@localhost.localdomain"


@dataclass(frozen=True, slots=True)
class Access:
    """The first user of a server that we started. Its `repr` names no secret."""

    url: str
    user: str
    password: str
    token: str

    def __repr__(self) -> str:
        return f"Access(url={self.url!r}, user={self.user!r})"


def check_address(url: str) -> str:
    """The server's base address without a trailing slash; an address with a password in it is refused."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise InputError("the Label Studio address must look like http://host:port, without a user name")
    return url.rstrip("/")


def find_token(url: str) -> str:
    """The token for a server: LABEL_STUDIO_API_KEY, else what `make serve` keeps for the server that it started.

    Raises InputError when there is none, or when others may read the file.
    """
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if token:
        return token
    access = read_access(access_file())
    if access is not None and access.url == url.rstrip("/"):
        return access.token
    raise InputError(f"no access token for {url}: set {TOKEN_VARIABLE}")


def access_file() -> Path:
    """Where `make serve` keeps address, first user and token: lines of NAME=value, which a shell can read."""
    return home() / "label-studio" / "access.env"


def find_server(url: str | None) -> str:
    """The address of Label Studio: as given, LABEL_STUDIO_URL, or the one that `make serve` started here.

    Raises InputError when none of them says.
    """
    found = url or os.environ.get(URL_VARIABLE, "")
    if found:
        return found
    access = read_access(access_file())
    if access is None:
        raise InputError(f"which Label Studio? give its address (--url http://…), or set {URL_VARIABLE}")
    return access.url


def invent_access(url: str) -> Access:
    """A first user with a password and a token that nobody has; LABEL_STUDIO_USERNAME and _PASSWORD choose others."""
    return Access(
        url=url,
        user=os.environ.get(_USER_VARIABLE) or FIRST_USER,
        password=os.environ.get(_PASSWORD_VARIABLE) or secrets.token_urlsafe(12),
        token=secrets.token_hex(20),
    )


def read_access(path: Path) -> Access | None:
    """What an access file holds, or None.

    Raises InputError when others may read it, or when it is damaged.
    """
    try:
        if path.stat().st_mode & 0o077:
            raise InputError(f"{path} holds a token and can be read by others: chmod 600 it")
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    held = dict(line.split("=", 1) for line in lines if "=" in line)
    try:
        return Access(held[URL_VARIABLE], held[_USER_VARIABLE], held[_PASSWORD_VARIABLE], held[TOKEN_VARIABLE])
    except KeyError as error:
        raise InputError(f"{path}: no line for {error.args[0]}; remove the file") from None


def write_access(path: Path, access: Access) -> None:
    """Write an access file that only its owner can read, from its first byte on. Raises RunError if it cannot be."""
    held = {
        URL_VARIABLE: access.url,
        _USER_VARIABLE: access.user,
        _PASSWORD_VARIABLE: access.password,
        TOKEN_VARIABLE: access.token,
    }
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.unlink(missing_ok=True)
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write("".join(f"{name}={value}\n" for name, value in held.items()))
            file.flush()
            os.fsync(handle)
        aside.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
        raise RunError(f"cannot write {path} ({error.strerror or error})") from None
