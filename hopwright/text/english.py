"""English words by what they name, and countries' adjectives, as data (`english.toml`)."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources


def words(section: str, name: str) -> tuple[str, ...]:
    """One list of words."""
    return tuple(_load()[section][name].split())


def demonyms() -> dict[str, str]:
    """Adjective → country, for those that look unlike."""
    return dict(_load()["demonyms"])


@functools.cache
def _load() -> dict[str, dict[str, str]]:
    return tomllib.loads(resources.files(__package__).joinpath("english.toml").read_text("utf-8"))
