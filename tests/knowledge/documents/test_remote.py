from __future__ import annotations

import contextlib
import json
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")
pytest.importorskip("starlette", reason="the extra documents is not installed")

import httpx
import uvicorn

from hopwright.errors import InputError, ServiceError, StoreError
from hopwright.knowledge.documents.index import Retriever, build_index
from hopwright.knowledge.documents.index.embedding import EndpointEmbedder
from hopwright.knowledge.documents.index.format import ShardPart
from hopwright.knowledge.documents.index.remote import RemotePart, RemoteRetriever
from hopwright.knowledge.documents.index.server import make_app, make_part_app
from hopwright.settings import CorpusIndexParameters
from tests.hostile_servers import Manner, serve_hostile
from tests.knowledge.documents.builders import WORDS, add, make_passages, write_lines

QUERIES = ["river", "garden orchard", "the copper of the harbour", "violin violin mayor", " ".join(WORDS), "Place 17"]
_PARTS = 3


def index(corpus: Path, **parameters: Any) -> None:
    build_index(corpus, CorpusIndexParameters.model_validate({"workers": 1, **parameters}))


@contextlib.contextmanager
def serve(app: Any) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("whole")
    add(write_lines(folder / "a.jsonl", make_passages(400)), folder / "c", near_duplicates=0)
    index(folder / "c", shards=1)
    return Retriever.open(folder / "c")


@pytest.fixture(scope="module")
def machines(whole: Retriever, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The addresses of three servers, each over a copy of the corpus with a third of five shards."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(serve(make_part_app(cut(whole, tmp_path_factory, one)))) for one in range(1, 4)]


def cut(whole: Retriever, made: pytest.TempPathFactory, number: int) -> Retriever:
    folder = made.mktemp("machine") / "c"
    shutil.copytree(whole.store.folder, folder, ignore=shutil.ignore_patterns("index", ".lock"))
    index(folder, shards=5, part=f"{number}/{_PARTS}")
    return Retriever.open(folder, ShardPart(number, _PARTS), verify=True)


def find(searcher: Any, query: str, most: int) -> list[tuple[str, str, float]]:
    return [(hit.passage.id, hit.passage.contents, hit.score) for hit in searcher.search(query, most)]


@pytest.mark.parametrize("most", [1, 10, 400])
def test_machines_answer_exactly_as_one_index(whole: Retriever, machines: Sequence[str], most: int) -> None:
    together = RemoteRetriever([RemotePart(url) for url in reversed(machines)])
    assert together.passages == len(whole.store)
    for query in QUERIES:
        assert find(whole, query, most)
        assert find(together, query, most) == find(whole, query, most)
    assert together.search("the of xylophone", most) == []


def test_peers_are_served_as_one_corpus_and_a_lost_one_fails_the_search(
    whole: Retriever, machines: Sequence[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    body = {"queries": ["river", "Place 17"], "topk": 4, "return_scores": True}
    with contextlib.ExitStack() as stack:
        last = stack.enter_context(contextlib.ExitStack())
        lost = last.enter_context(serve(make_part_app(cut(whole, tmp_path_factory, 3))))
        app = make_app(RemoteRetriever([RemotePart(url) for url in (*machines[:2], lost)]), topk=3)
        together = stack.enter_context(serve(app))
        alone = stack.enter_context(serve(make_app(whole, topk=3)))
        answers = [httpx.post(f"{url}/retrieve", json=body) for url in (together, alone)]
        assert answers[0].json() == answers[1].json()
        last.close()
        answer = httpx.post(f"{together}/retrieve", json=body)
        assert answer.status_code == 503
        assert f"{lost} cannot be reached" in answer.json()["detail"]


def test_parts_that_make_no_whole_are_refused(machines: Sequence[str]) -> None:
    parts = [RemotePart(url) for url in machines]
    with pytest.raises(InputError, match="have the parts 1/3, 1/3, 2/3: name one for each from 1/3 to"):
        RemoteRetriever([parts[0], parts[1], parts[0]])
    with pytest.raises(ServiceError, match="cannot be reached"):
        RemotePart("http://127.0.0.1:9")


def test_what_is_no_part_of_an_index_is_refused(whole: Retriever, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="part 4/3"):
        index(whole.store.folder, part="4/3")
    with pytest.raises(InputError, match="1 shards are too few for 2 machines"):
        Retriever.open(whole.store.folder, ShardPart(1, 2))
    with serve(make_app(whole, topk=3)) as url, pytest.raises(ServiceError, match="/part answers 404"):
        RemotePart(url)
    shutil.copytree(whole.store.folder, tmp_path / "c", ignore=shutil.ignore_patterns("index", ".lock"))
    index(tmp_path / "c", shards=2, part="1/2")
    with pytest.raises(StoreError, match="only 1 of 2 shards are here; name the --part"):
        Retriever.open(tmp_path / "c")


class Peer:
    """The transport of a peer that answers as it is told."""

    def __init__(self, **changes: Any) -> None:
        state = {"corpus": "c", "language": "english", "shards": 2, "number": 1, "of": 1, "passages": 10, "terms": 300}
        hit = {"id": "a:0-5", "row": 0, "title": "t", "text": "x", "document": "a", "start": 0, "end": 5, "score": 1.5}
        self._answers = {"/part": state, "/part/count": [1], "/part/find": [hit]} | {
            path: change(state if path == "/part" else hit) for path, change in changes.items()
        }

    def open(self) -> RemoteRetriever:
        return RemoteRetriever([RemotePart("http://peer", httpx.MockTransport(self._answer))])

    def _answer(self, asked: httpx.Request) -> httpx.Response:
        made = self._answers[asked.url.path]
        body = made if isinstance(made, bytes) else json.dumps(made).encode()
        return httpx.Response(200, stream=httpx.ByteStream(body))


STATES = [
    {"of": 200_000_000}, {"of": 10**30}, {"language": "klingon"}, {"language": "x\x1b[2J\nINFO: forged"},
    {"passages": 10**400}, {"passages": -3}, {"passages": 0}, {"terms": -5}, {"number": 0}, {"corpus": "c" * 9_000},
]  # fmt: skip


@pytest.mark.parametrize("changes", STATES, ids=str)
def test_a_peer_with_an_impossible_state_is_one_line(changes: dict[str, Any]) -> None:
    with pytest.raises(ServiceError, match=r"^http://peer/part: no answer of a server of passages") as caught:
        Peer(**{"/part": lambda state: state | changes}).open()
    assert str(caught.value).isprintable() and len(str(caught.value)) < 400


ANSWERS = [
    ("/part/count", lambda _: [10**400]), ("/part/count", lambda _: [-50]), ("/part/count", lambda _: [11]),
    ("/part/count", lambda _: []), ("/part/find", lambda hit: [hit | {"score": float("nan")}]),
    ("/part/find", lambda hit: [hit | {"row": 10**400}]), ("/part/find", lambda hit: [hit] * 4),
    ("/part/find", lambda hit: [hit | {"text": "half \ud800"}]), ("/part/find", lambda _: b"[" * 100_000),
]  # fmt: skip


@pytest.mark.parametrize(("path", "change"), ANSWERS)
def test_a_peer_that_answers_oddly_fails_the_search_and_the_client_is_not_blamed(path: str, change: Any) -> None:
    assert [hit.passage.id for hit in Peer().open().search("river", 3)] == ["a:0-5"]
    with serve(make_app(Peer(**{path: change}).open(), topk=3)) as url:
        answer = httpx.post(f"{url}/retrieve", json={"queries": ["river"], "return_scores": True})
    assert answer.status_code == 503
    assert answer.json()["detail"].startswith("http://peer") and answer.json()["detail"].isprintable()


@pytest.mark.parametrize("manner", ["trickle", "trickling head"])
def test_an_answer_has_one_deadline(manner: Manner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopwright.knowledge.documents.index.remote._TIMEOUT_S", 0.3)
    monkeypatch.setattr("hopwright.knowledge.documents.index.embedding._TIMEOUT_S", 0.3)
    with serve_hostile(manner) as server:
        begun = time.monotonic()
        with pytest.raises(ServiceError, match=r"no whole answer within 0\.3 s"):
            RemotePart(server.url)
        with pytest.raises(ServiceError, match=r"no whole answer within 0\.3 s"):
            EndpointEmbedder(server.url, "tiny").embed(["a"])
        assert time.monotonic() - begun < 3
