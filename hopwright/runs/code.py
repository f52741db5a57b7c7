"""The version of the code that a stage is made by: shards of one stage must all come from the same."""

import functools
import hashlib
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_BELOW = ("hopwright/records", "hopwright/text", "hopwright/llm", "hopwright/knowledge", "hopwright/stages", "prompts")
_QUESTIONS = ("hopwright/planning", "hopwright/wording", "hopwright/distractors", "hopwright/checks")
_PACKAGES = {
    "retrieve": (),
    "synthesize": _QUESTIONS,
    "filter": ("hopwright/difficulty", "hopwright/checks"),
    "rewrite": (*_QUESTIONS, "hopwright/counterfactual"),
    "review": (*_QUESTIONS, "annotation"),
    "release": (*_QUESTIONS, "hopwright/release", "hopwright/reporting"),
    "evaluate": ("hopwright/evaluation", "hopwright/release"),
}
"""Stage → the packages whose code and tables shape its output."""
_SUFFIXES = frozenset({".py", ".toml", ".tsv", ".j2", ".json", ".xml", ".md"})


@functools.cache
def digest_code(stage: str) -> str:
    """A short hash of the code and the tables that shape a stage's output; `stage` may name a part: rewrite/drafts."""
    head = stage.partition("/")[0]
    digest = hashlib.blake2b(digest_size=6)
    for folder in (*_BELOW, *_PACKAGES.get(head, ())):
        for piece in _read_package(folder):
            digest.update(piece)
    return digest.hexdigest()


@functools.cache
def _read_package(folder: str) -> tuple[bytes, ...]:
    """The names and the contents of a package's files, in order: some stages of a run have most packages in common."""
    pieces: list[bytes] = []
    for path in sorted((_ROOT / folder).rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file():
            pieces += (f"{path.relative_to(_ROOT)}\0".encode(), path.read_bytes())
    return tuple(pieces)
