"""`hopwright review push`: which server."""

import os

from hopwright.errors import InputError


def find_server(url: str | None) -> str:
    """The server's address: the option, else LABEL_STUDIO_URL. Raises InputError when neither says."""
    found = url or os.environ.get("LABEL_STUDIO_URL", "")
    if not found:
        raise InputError("which Label Studio? give --url http://…, or set LABEL_STUDIO_URL")
    return found
