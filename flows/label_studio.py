"""Label Studio for `make serve`: an environment and a database of its own, a first user, no telemetry."""

import contextlib
import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from annotation.access import (
    TOKEN_VARIABLE,
    URL_VARIABLE,
    Access,
    access_file,
    invent_access,
    read_access,
    write_access,
)
from flows.server_processes import running
from hopwright.errors import InputError
from hopwright.settings import home

DATABASE_VARIABLE = "LABEL_STUDIO_DATABASE"
_QUIET = {
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
    "COLLECT_ANALYTICS": "false",
    "LATEST_VERSION_CHECK": "false",
}


@contextlib.contextmanager
def label_studio(program: Path, port: int) -> Iterator[str]:
    """Label Studio on this port, or the one that answers there already; yields its address.

    The first start makes a user, a password and a token; they are printed once and kept in a file for the owner only.
    What runs in the block finds address and token in the environment.
    """
    url = f"http://127.0.0.1:{port}"
    data = home() / "label-studio"
    data.mkdir(parents=True, exist_ok=True)
    data.chmod(0o700)  # the database holds the token too
    held = read_access(access_file())
    access = invent_access(url) if held is None else Access(url, held.user, held.password, held.token)
    if access != held:  # before the server makes the user: nothing is lost should this process be killed in between
        write_access(access_file(), access)
    command = [str(program), "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port)]
    with running("Label Studio", command, f"{url}/health", make_environment(access, data, os.environ)):
        taken = takes_token(url, access.token)
        for line in register_first_user(access, new=held is None, taken=taken):
            print(line)
        if taken:
            os.environ.setdefault(TOKEN_VARIABLE, access.token)
        elif held is None:
            access_file().unlink(missing_ok=True)
        os.environ.setdefault(URL_VARIABLE, url)
        yield url


def make_environment(access: Access, data: Path, given: Mapping[str, str]) -> dict[str, str]:
    """The server's environment; what is `given` goes before our settings, but for the first user.

    LABEL_STUDIO_DATABASE=postgresql://user:password@host:port/name chooses PostgreSQL instead of a SQLite file.
    Raises InputError for an address of another form, without repeating it.
    """
    settings = {
        **_QUIET,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        # Who has no invitation link cannot make an account.
        "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        **given,
        "LABEL_STUDIO_USERNAME": access.user,
        "LABEL_STUDIO_PASSWORD": access.password,
        "LABEL_STUDIO_USER_TOKEN": access.token,
    }
    settings.pop(TOKEN_VARIABLE, None)
    database = settings.pop(DATABASE_VARIABLE, "")
    return settings | (_name_postgres(database) if database else {})


def register_first_user(access: Access, *, new: bool, taken: bool) -> list[str]:
    """What to print of a server that answers: the secrets on the first start, and never again."""
    lines = [f"Label Studio  {access.url}  ({access.user})"]
    if new and taken:
        lines += [
            f"  password    {access.password}",
            f"  token       {access.token}",
            f"  shown once; kept in {access_file()}, which only you can read",
        ]
    elif not taken:
        lines[0] = f"Label Studio  {access.url}"
        lines.append(f"  it has users of its own: log in as one, and set {TOKEN_VARIABLE} to that user's token")
    return lines


def takes_token(url: str, token: str) -> bool:
    """Whether the server knows the token."""
    request = urllib.request.Request(f"{url}/api/current-user/whoami", headers={"Authorization": f"Token {token}"})
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _name_postgres(database: str) -> dict[str, str]:
    """A PostgreSQL address as the variables that Label Studio reads."""
    parts = urlsplit(database)
    try:
        port = parts.port or 5432
    except ValueError:
        port = 0
    if parts.scheme not in ("postgresql", "postgres") or not parts.hostname or not parts.path.strip("/") or not port:
        raise InputError(f"{DATABASE_VARIABLE} must look like postgresql://user:password@host:5432/name")
    return {
        "DJANGO_DB": "default",
        "POSTGRE_USER": unquote(parts.username or ""),
        "POSTGRE_PASSWORD": unquote(parts.password or ""),
        "POSTGRE_HOST": parts.hostname,
        "POSTGRE_PORT": str(port),
        "POSTGRE_NAME": unquote(parts.path.strip("/")),
    }
