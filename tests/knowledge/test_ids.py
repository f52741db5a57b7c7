"""Ids of Wikidata's properties and classes stand in Wikidata's folder only: elsewhere code asks for roles."""

import ast
import re
from pathlib import Path

from tests.conftest import ROOT

_ID = re.compile(r"\b[PQ][1-9]\d*\b")
_WIKIDATA = ROOT / "hopwright" / "knowledge" / "wikidata"
_ELSEWHERE = sorted(
    path
    for path in (ROOT / "hopwright").rglob("*")
    if path.suffix in (".py", ".toml") and not path.is_relative_to(_WIKIDATA)
)


def list_texts(path: Path) -> list[str]:
    """All texts of a file that mean something to a program: docstrings and comments are for readers."""
    if path.suffix == ".toml":
        return [line.partition("#")[0] for line in path.read_text("utf-8").splitlines()]
    tree = ast.parse(path.read_text("utf-8"))
    for_readers = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [str(text.value) for text in texts if id(text) not in for_readers]


def test_files_are_looked_at() -> None:
    assert len(_ELSEWHERE) > 200
    assert any(_ID.search(text) for text in list_texts(_WIKIDATA / "roles.py"))


def test_no_id_is_spelled_outside_wikidata() -> None:
    spelled = {
        str(path.relative_to(ROOT)): found
        for path in _ELSEWHERE
        if (found := [text for text in list_texts(path) if _ID.search(text)])
    }
    assert spelled == {}
