"""A Label Studio server as push and pull see it: an address, a token that is never repeated, failures in one line."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from label_studio_sdk import LabelStudio
from label_studio_sdk.core.api_error import ApiError

from hopwright.errors import InputError, RunError, ServiceError
from hopwright.settings import home

TOKEN_VARIABLE = "LABEL_STUDIO_API_KEY"
_TIMEOUT_SECONDS = 120
_NO_LABEL_STUDIO = "{server} does not answer like Label Studio; check the address"


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answered and took the token."""

    url: str
    client: LabelStudio = field(repr=False)


@contextlib.contextmanager
def open_server(url: str, token: str) -> Iterator[Server]:
    """Connect, and turn whatever the client raises in the block into one ServiceError that says what to do.

    Raises InputError for an address or a token that cannot be one; the token is in no error and in no `repr`.
    """
    address = check_address(url)
    if not token.strip():
        raise InputError("the Label Studio token is empty; copy one from Account & Settings in Label Studio")
    with _explain_failures(address, token.strip()):
        client = LabelStudio(  # type: ignore[no-untyped-call]
            base_url=address, api_key=token.strip(), timeout=_TIMEOUT_SECONDS
        )
        if not getattr(client.versions.get(), "release", None):
            raise ServiceError(_NO_LABEL_STUDIO.format(server=address))
        yield Server(address, client)


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
    path = access_file()
    if path.exists():
        access = read_access(path)
        if access.get("LABEL_STUDIO_URL") == url.rstrip("/"):
            return access.get(TOKEN_VARIABLE, "")
    raise InputError(f"no access token for {url}: set {TOKEN_VARIABLE}")


def access_file() -> Path:
    """Where `make serve` keeps the address, the first user and the token: lines of NAME=value, for the owner only."""
    return home() / "label-studio" / "access.env"


def read_access(path: Path) -> dict[str, str]:
    """Name → value of an access file. Raises InputError when others may read it, or when it cannot be read."""
    try:
        if path.stat().st_mode & 0o077:
            raise InputError(f"{path} holds a token and can be read by others: chmod 600 it")
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def write_access(path: Path, access: dict[str, str]) -> None:
    """Write an access file that only its owner can read, from its first byte on. Raises RunError if it cannot be."""
    text = "".join(f"{name}={value}\n" for name, value in access.items())
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.unlink(missing_ok=True)
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(handle)
        aside.replace(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise RunError(f"cannot write {path} ({error.strerror or error})") from None


@contextlib.contextmanager
def _explain_failures(server: str, token: str) -> Iterator[None]:
    """Turn what the client raises into one line that says what to do; the token never appears in it."""
    try:
        yield
    except httpx.TimeoutException:
        raise ServiceError(
            f"Label Studio at {server} did not answer within {_TIMEOUT_SECONDS} s; try again, nothing is done twice"
        ) from None
    except httpx.HTTPError as error:
        raise ServiceError(
            f"cannot reach Label Studio at {server} ({type(error).__name__}); start it, or check the address"
        ) from None
    except ApiError as error:
        raise ServiceError(_explain_answer(server, error).replace(token, "***")) from None


def _explain_answer(server: str, error: ApiError) -> str:
    if error.status_code in (401, 403):
        return (
            f"Label Studio at {server} refuses the token ({error.status_code}); "
            "copy a valid one from Account & Settings in Label Studio"
        )
    if error.status_code in (200, 404):  # 200: an answer that the client could not read
        return _NO_LABEL_STUDIO.format(server=server)
    body = error.body
    detail = (body.get("validation_errors") or body.get("detail") or body) if isinstance(body, dict) else body
    text = " ".join(" ".join(_find_texts(detail)).split())
    return f"Label Studio at {server} answered {error.status_code}: {text[:300]}"


def _find_texts(detail: object) -> Iterator[str]:
    """Every text in an error's body, however nested."""
    if isinstance(detail, dict | list):
        for one in detail.values() if isinstance(detail, dict) else detail:
            yield from _find_texts(one)
    elif detail is not None:
        yield str(detail)
