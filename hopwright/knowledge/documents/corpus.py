"""A corpus of passages (`{title, text}`), looked up by the entities that its titles name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hopwright.errors import InputError
from hopwright.foreign import LONGEST_FILE, JsonError, load_json, open_file, read_bounded, show_invalid
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Passage


class CorpusPassage(BaseModel):
    """One passage as corpora give it; whatever else they say of it is passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    title: str = Field(min_length=1, max_length=1_000)
    text: str = Field(min_length=1, max_length=1_000_000)


class PassageCorpus:
    """The passages of a corpus by the entity that their title names."""

    def __init__(self, graph: GraphStore, passages: Iterable[CorpusPassage]) -> None:
        self._by_entity: dict[str, list[CorpusPassage]] = {}
        for passage in passages:
            found = graph.find(passage.title)
            # A title that several entities bear tells nothing but that one of them is meant.
            if len(found) == 1:
                self._by_entity.setdefault(found[0].id, []).append(passage)

    def about(self, entity: str) -> Iterator[Passage]:
        """The passages about an entity, in the corpus's order."""
        for passage in self._by_entity.get(entity, ()):
            yield Passage(title=passage.title, text=passage.text)

    def __len__(self) -> int:
        return len(self._by_entity)


def read_corpus(path: Path) -> list[CorpusPassage]:
    """Read a JSON array or JSON lines of `{title, text}`. Raises InputError naming the file and the first bad entry."""
    try:
        with open_file(path) as file:
            text = read_bounded(file, LONGEST_FILE, path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error.strerror if isinstance(error, OSError) else 'not UTF-8'}") from None
    rows = _read_array(path, text) if text.lstrip()[:1] == "[" else _read_lines(path, text)
    passages = []
    for place, row in rows:
        try:
            passages.append(CorpusPassage.model_validate(row))
        except ValidationError as error:
            raise InputError(f"{path}, {place}: {show_invalid(error)}") from None
    if not passages:
        raise InputError(f"{path}: no passages in it")
    return passages


def _read_array(path: Path, text: str) -> Iterator[tuple[str, object]]:
    try:
        rows = load_json(text)
    except JsonError as error:
        raise InputError(f"{path}: {error}") from None
    for number, row in enumerate(rows, start=1):
        yield f"entry {number}", row


def _read_lines(path: Path, text: str) -> Iterator[tuple[str, object]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield f"line {number}", load_json(line)
            except JsonError as error:
                raise InputError(f"{path}, line {number}: {error}") from None
