"""Who reviewed, without saying who: keyed hashes of annotators' ids, under a secret that stays beside the reviews."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from hopwright.errors import InputError
from hopwright.runs.files import explain_os_errors

SECRET = "secret"
_BYTES = 32


class Pseudonyms:
    """Names for annotators that the secret's holder alone can make: the same person, the same name.

    Raises InputError when the secret's file is damaged, RunError when it cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self._key = _load_secret(folder / SECRET)

    def name(self, server: str, annotator: int | str) -> str:
        """The pseudonym of an annotator, known to that server by this id."""
        return f"a-{self._derive('annotator', server, str(annotator))[:8]}"

    def webhook_secret(self, server: str) -> str:
        """What a webhook call must bring along."""
        return self._derive("webhook", server)

    def _derive(self, *parts: str) -> str:
        return hmac.new(self._key, "\x00".join(parts).encode(), hashlib.sha256).hexdigest()


def _load_secret(path: Path) -> bytes:
    """The secret, made on first use; readable by its owner only."""
    with explain_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
            handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                with os.fdopen(handle, "w") as file:
                    file.write(secrets.token_hex(_BYTES) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
                with contextlib.suppress(FileExistsError):
                    os.link(aside, path)  # unlike a rename, never over one that another process has just made
            finally:
                aside.unlink(missing_ok=True)
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
        text = path.read_text("ascii", errors="replace").strip()
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != _BYTES:
        raise InputError(
            f"{path}: not a secret of Hopwright; restore it from a backup, or remove it and the reviews beside it, "
            "whose names were made with it, and pull again"
        )
    return key
