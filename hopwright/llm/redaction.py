"""Keeps keys out of everything that is written: errors, transcripts, logs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from hopwright.llm.config import Endpoint, key_variable

HIDDEN = "[key removed]"
_ALWAYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENROUTER_API_KEY", "HF_TOKEN")
_SHORTEST = 6


class Redactor:
    """Replaces the keys known when it was made, whole or in the shortened forms that providers echo."""

    def __init__(self, keys: Iterable[str]) -> None:
        found = sorted({key for key in keys if len(key) >= _SHORTEST}, key=len, reverse=True)
        parts = [re.escape(key) for key in found]
        # A provider's error shows a key as `sk-ab***wxyz`.
        parts += [re.escape(key[:3]) + r"[\w-]*\*{3,}[\w-]*" for key in found]
        self._pattern = re.compile("|".join(parts)) if parts else None

    def clean(self, text: str) -> str:
        """The text without any key."""
        return self._pattern.sub(HIDDEN, text) if self._pattern else text


def make_redactor(endpoints: Iterable[Endpoint]) -> Redactor:
    """A redactor for the keys of these endpoints and the usual ones, as the environment has them now."""
    names = {key_variable(endpoint) for endpoint in endpoints} | set(_ALWAYS)
    return Redactor(os.environ.get(name, "") for name in names if name)
