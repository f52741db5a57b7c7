"""Adjectives and nouns that go with countries: "German", "Germans" in a text are mentions of Germany."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources

_NO_PLURAL = ("ese", "ish", "ch", "s", "men", "hman", "sman", "woman")


def list_demonyms(names: Sequence[str]) -> tuple[str, ...]:
    """The demonyms of the country that bears any of these names, the adjective first, plurals last; often none."""
    table = _load()
    words = next((table[name] for name in names if name in table), ())
    return (*words, *(f"{word}s" for word in words if not word.endswith(_NO_PLURAL)))


def find_country(word: str) -> str:
    """The label of the country that a demonym belongs to, or empty."""
    return _invert().get(word, "")


def rename_demonym(word: str, adjective: str) -> str:
    """What a demonym becomes, given the invented country's adjective; a plural stays one."""
    plural = word.endswith("s") and not word.endswith(_NO_PLURAL[:3]) and find_country(word[:-1])
    return f"{adjective}s" if plural or word.endswith("men") else adjective


@functools.cache
def _load() -> Mapping[str, tuple[str, ...]]:
    raw = tomllib.loads(resources.files(__package__).joinpath("demonyms.toml").read_text("utf-8"))
    return {name: tuple(word.replace("-", " ") for word in words.split()) for name, words in raw.items()}


@functools.cache
def _invert() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for name in _load():
        for word in list_demonyms((name,)):
            found.setdefault(word, name)
    return found
