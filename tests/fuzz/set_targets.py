"""Targets of what stands in folders: books, pictures, sets, prompts, tasks, journals, and what policies say."""

from __future__ import annotations

import contextlib
import functools
import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
from hypothesis import strategies as st
from PIL import Image
from pydantic import ValidationError

from hopwright.environments.fact_finder import FactFinder
from hopwright.environments.tags import read_tagged_answer
from hopwright.environments.task import Task, TaskHop
from hopwright.knowledge.books.mentions import build_graph
from hopwright.knowledge.books.reading import read_book
from hopwright.knowledge.documents.index.remote import RemotePart, RemoteRetriever
from hopwright.knowledge.images.folder import FolderPictures
from hopwright.knowledge.images.rendering import render
from hopwright.llm.prompts import prompts_folder, read_lock, read_prompt
from hopwright.novels.dataset import read_novel_set
from hopwright.pictures.dataset import read_picture_set
from hopwright.pictures.tasks import read_facts
from hopwright.training.journal import NAME, Journal, read_journal
from hopwright.training.playing import WireTurn, begin_episode, score_episode, take_turn
from hopwright.training.task_files import TASKS, TaskLine, read_tasks
from tests.builders import all_items
from tests.fuzz.files import pack_zip
from tests.fuzz.hostile import mangled, packed, spoilt, write, written
from tests.fuzz.targets import Target, documents, only_lines

_PROSE = "CHAPTER I\n\n" + (
    "Mr. Alder walked with Mrs. Alder to Brackwater and met Tobias Fenn on the bridge. He said: “Café.” " * 25
)
_BOOK = (
    "The Project Gutenberg EBook of Rain, by A. Nobody\n\nTitle: Rain\n\nAuthor: A. Nobody\n\n"
    f"*** START OF THIS PROJECT GUTENBERG EBOOK RAIN ***\n\n{_PROSE}\n\nEnd of the Project Gutenberg EBook of Rain\n"
).encode()
_TABLE = "file\tentity\tlicence\tauthor\tkind\na.{ending}\tQ142\tCC0-1.0\tnobody\tflag\n"
_SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 2"><rect width="3" height="2"/><text>x</text></svg>'
_STATE = {"corpus": "c", "language": "english", "shards": 2, "number": 1, "of": 1, "passages": 10, "terms": 300}
_FOUND = {
    "id": "a:0-5", "row": 0, "title": "Rain", "text": "river", "document": "a", "start": 0, "end": 5, "score": 1.5,
}  # fmt: skip
_BASIS = {"tasks": "t", "corpus": "c"}
_END = {
    "end": "a", "task": "t1", "turn": 1, "right": True, "steps": 1, "useless": 0, "rewards": {"hops": 1.5},
}  # fmt: skip
_ENTRIES: list[Any] = [
    {"basis": _BASIS}, {"begin": "a", "task": "t1", "form": "tools"}, _END, {"close": "a"},
    {"take": "a", "turn": 0, "text": "I look.", "calls": [{"id": "c", "name": "search", "arguments": "{}"}]},
]  # fmt: skip
_TASK: dict[str, Any] = {
    "id": "t1", "question": "Which is the capital of Chad?", "answers": ["N'Djamena"], "prompts": {"tools": [
        {"role": "user", "content": "?"}]}, "difficulty": 0.5, "ranks": [1, None],
    "hops": [{"index": 1, "question": "Which?", "answers": ["Chad"], "depends_on": [],
              "gold": [[{"document": "fact-1", "start": 0, "end": 4}]]}],
}  # fmt: skip
_TURNS: list[Any] = [
    {"text": "I look.", "calls": [{"id": "c", "name": "search", "arguments": '{"query": "Chad", "k": 2}'}]},
    {"text": "I read.", "calls": [{"id": "d", "name": "read", "arguments": '{"id": "fact-1"}'}]},
    {"text": "<think>x</think><search>Chad</search>"}, {"text": "<answer>N'Djamena</answer>"},
    {"text": "So it is.\nFINAL ANSWER: N'Djamena"},
]  # fmt: skip
_PROMPTS = {path.name: path.read_bytes() for path in sorted(prompts_folder().glob("vote*.md.j2"))}
_LOCK = json.loads((prompts_folder() / "versions.json").read_bytes())
_ITEMS = [item.model_dump(mode="json") | {"split": "train"} for item in all_items()]
_NAMES = {"id": "rain-1", "title": "Rain", "author": "A. Nobody"}


def check_book(case: tuple[str, bytes], folder: Path) -> None:
    name, data = case
    (folder / name).write_bytes(data)
    with only_lines():
        book = read_book(folder / name)
        book.text.encode("utf-8", "surrogatepass")
        build_graph(book)


def check_pictures(case: tuple[str, bytes, bytes], folder: Path) -> None:
    ending, table, data = case
    (folder / "pictures.tsv").write_bytes(table)
    (folder / f"a.{ending}").write_bytes(data)
    with only_lines():
        for found in FolderPictures(folder).read_pictures():
            render(found.data, found.media_type, 32, found.origin)
    (folder / f"a.{ending}").unlink()


def check_peer(case: tuple[bytes, bytes, bytes], folder: Path) -> None:
    """A peer's state, counts and passages: a search finds something, or says in one line why not."""
    state, counts, found = case
    answers = {"/part": state, "/part/count": counts, "/part/find": found}
    peer = httpx.MockTransport(lambda asked: httpx.Response(200, stream=httpx.ByteStream(answers[asked.url.path])))
    with only_lines():
        searcher = RemoteRetriever([RemotePart("http://peer", peer)])
        for hit in searcher.search("river", 3):
            json.dumps(asdict(hit), allow_nan=False)


def check_picture_set(data: bytes, folder: Path) -> None:
    _write_files(folder, {"items.jsonl": data, "pictures.parquet": data})
    with only_lines():
        read_picture_set(folder)


def check_novel_set(case: tuple[bytes, bytes, bytes], folder: Path) -> None:
    items, names, renames = case
    _write_files(folder, {"items.jsonl": items, "books/a.book.json": names, "books/a.renames.json": renames})
    with only_lines():
        read_novel_set(folder)


def check_tasks(data: bytes, folder: Path) -> None:
    (folder / TASKS).write_bytes(data)
    with only_lines():
        for line in read_tasks(folder):
            line.to_task()
            line.model_dump_json()


def check_journal(data: bytes, folder: Path) -> None:
    (folder / NAME).write_bytes(data)
    with only_lines():
        read_journal(folder)
    journal = Journal(folder, _BASIS)
    with only_lines(), contextlib.closing(journal):
        for entry in journal.open():
            assert isinstance(entry, dict)


def check_turns(case: tuple[list[Any], bool], folder: Path) -> None:
    """What a policy says, in calls or in tags: every episode can be scored."""
    turns, tags = case
    task = Task("t1", "?", ("N'Djamena",), "text", (TaskHop(1, "?", ("Chad",), (), ()),), 4, 0, 0)
    episode = begin_episode(task, "tags" if tags else "tools", _open_finder(folder))
    for turn in turns:
        try:
            said = WireTurn.model_validate_json(write(turn))
        except ValidationError:
            continue
        read_tagged_answer(said.text)
        if episode.transcript is None:
            for one in take_turn(episode, "tags" if tags else "tools", said):
                one["text"].encode("utf-8", "surrogatepass")
    if episode.transcript is not None:
        json.dumps(score_episode(episode))


def check_prompt(case: tuple[str, bytes, bytes], folder: Path) -> None:
    name, data, lock = case
    _write_files(folder, {name: data, "versions.json": lock})
    with only_lines():
        read_lock(folder)
    with only_lines():
        read_prompt(folder / name)


def _write_files(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)


def _open_finder(folder: Path) -> FactFinder:
    path = folder / "facts.jsonl"
    if not path.exists():
        path.write_bytes(write({"id": "fact-1", "title": "Chad", "text": "Chad: capital: N'Djamena"}))
    return FactFinder(read_facts(path))


def _draw(kind: str) -> bytes:
    held = io.BytesIO()
    Image.new("RGB", (6, 4), (200, 30, 30)).save(held, kind)
    return held.getvalue()


@functools.cache
def _pack_epub() -> bytes:
    pages = [
        ("META-INF/container.xml", b'<c><rootfile full-path="o/p.opf"/></c>'),
        ("o/p.opf", b'<package><title>Rain</title><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
                    b'<spine><itemref idref="a"/></spine></package>'),
        ("o/a.xhtml", f"<html><body><h1>CHAPTER I</h1><p>{_PROSE}</p></body></html>".encode()),
    ]  # fmt: skip
    return pack_zip(pages[0][0], pages[0][1], *pages[1:])


def _list_targets() -> Iterator[Target]:
    texts = mangled([_BOOK, _BOOK.decode().encode("utf-16"), _PROSE.encode("latin-1", "replace")])
    epubs = packed(st.just(_pack_epub()), bytes)
    files = [st.tuples(st.just(name), data) for name, data in (("a.txt", texts), ("a.epub", epubs))]
    yield Target("books", st.one_of(files), check_book)
    kinds = {"png": "PNG", "jpg": "JPEG", "gif": "GIF", "webp": "WEBP"}
    pictures = [("svg", _SVG), *((ending, _draw(kind)) for ending, kind in kinds.items())]
    yield Target(
        "pictures",
        st.sampled_from(pictures).flatmap(
            lambda one: st.tuples(
                st.just(one[0]),
                st.one_of(st.just(table := _TABLE.format(ending=one[0]).encode()), mangled([table])),
                st.one_of(st.just(one[1]), mangled([one[1]]), packed(st.just(one[1]), bytes)),
            )
        ),
        check_pictures,
    )
    parts = (_STATE, [7], [_FOUND])
    good = st.tuples(*(st.just(write(one)) for one in parts))
    yield Target(
        "peers",
        st.one_of(good, *(st.tuples(*(documents(one) if place == number else st.just(write(one))
                                      for number, one in enumerate(parts))) for place in range(3))),
        check_peer,
    )  # fmt: skip
    yield Target("picture sets", documents(*_ITEMS), check_picture_set)
    yield Target(
        "novel sets",
        st.tuples(documents(*_ITEMS), documents(_NAMES), spoilt([[[0, 3, "Mr. Vane"]]]).map(write)),
        check_novel_set,
    )
    yield Target("tasks", documents(_TASK), check_tasks)
    good = b"\n".join(write(entry) for entry in _ENTRIES) + b"\n"
    later = st.one_of(written(_ENTRIES), spoilt(_ENTRIES).map(write))
    yield Target("journal", st.one_of(mangled([good]), later.map(lambda data: good + data)), check_journal)
    turns = st.lists(st.one_of(spoilt(_TURNS), st.sampled_from(_TURNS)), min_size=1, max_size=5)
    yield Target("turns", st.tuples(turns, st.booleans()), check_turns)
    yield Target(
        "prompts",
        st.sampled_from(sorted(_PROMPTS)).flatmap(
            lambda name: st.tuples(st.just(name), mangled([_PROMPTS[name]]), documents(_LOCK))
        ),
        check_prompt,
    )


SET_TARGETS = tuple(_list_targets())
assert TaskLine.model_validate(_TASK).to_task().id == "t1", "a good task, which is spoilt"
