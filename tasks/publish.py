"""The token that publishing needs: from the environment, a login of Hugging Face's own, or a Prefect Secret block."""

from __future__ import annotations

import os

from hopwright.errors import InputError
from tasks.models import read_secret

VARIABLE, BLOCK = "HF_TOKEN", "hopwright-huggingface"


def find_known_token() -> str:
    """The token of the environment or of an earlier login; empty for none."""
    from huggingface_hub import get_token

    return os.environ.get(VARIABLE, "").strip() or get_token() or ""


def read_token() -> str:
    """The token of the Secret block. Raises InputError where there is none; Prefect must be at hand."""
    token = read_secret(BLOCK)
    if not token:
        raise InputError(f"no token for the Hugging Face Hub: set {VARIABLE}, or make a Prefect Secret block {BLOCK}")
    return token
