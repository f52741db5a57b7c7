"""Where Hopwright keeps its things."""

import os
from pathlib import Path

from hopwright.errors import InputError

_CHECKOUT = Path(__file__).resolve().parents[2]


def checkout() -> Path:
    """The folder that holds the project: prompts, the sample, environments."""
    return _CHECKOUT


def home() -> Path:
    """The folder of runs and stores: `HOPWRIGHT_HOME`, else `.hopwright` in the checkout (or where one stands)."""
    named = os.environ.get("HOPWRIGHT_HOME", "").strip()
    if named:
        return Path(named).expanduser().absolute()
    root = _CHECKOUT if (_CHECKOUT / "pyproject.toml").is_file() else Path.cwd()
    return root / ".hopwright"


def storage() -> str:
    """The address of the shared or object storage that runs are copied to: `HOPWRIGHT_STORAGE`; empty for none.

    Raises InputError for a text that is no address.
    """
    named = os.environ.get("HOPWRIGHT_STORAGE", "").strip()
    if named and "://" not in named:
        raise InputError(f"HOPWRIGHT_STORAGE: {named!r} is no address, such as s3://bucket/folder or file:///folder")
    return named.rstrip("/")


def prompts_folder() -> Path:
    """The prompt files that ship with the project."""
    return _CHECKOUT / "prompts"


def sample_folder() -> Path:
    """The sample of Wikidata's facts that ships with the project."""
    return _CHECKOUT / "data" / "sample"


def articles_file() -> Path:
    """The corpus of articles, worded from the sample's facts, that ships with the project."""
    return _CHECKOUT / "data" / "articles" / "articles.jsonl.gz"
