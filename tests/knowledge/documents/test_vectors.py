from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
import numpy as np
import pytest

from hopwright.errors import InputError, ServiceError, StoreError
from hopwright.knowledge.documents.index import vectors
from hopwright.knowledge.documents.index.embedding import EndpointEmbedder, LocalEmbedder, Vectors, open_embedder
from hopwright.knowledge.documents.index.vectors import DenseIndex, build_vectors, quantise
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.text.embeddings import find_obstacle
from tests.hostile_servers import MANNERS, Manner, serve_hostile
from tests.knowledge.documents.builders import WORDS, add, make_passages, write_lines

DIMENSIONS = 40


class CountingEmbedder:
    """Embeds a text by the words in it; stops after so many texts."""

    batch = 16

    def __init__(self, name: str = "words", most: int = 10**9) -> None:
        self.name = name
        self.embedded: list[str] = []
        self._most = most
        draw = np.random.default_rng(3)
        self._words = {word: draw.normal(size=DIMENSIONS) for word in WORDS}

    def embed(self, texts: Sequence[str]) -> Vectors:
        if len(self.embedded) + len(texts) > self._most:
            raise ServiceError("the endpoint is gone")
        self.embedded += texts
        known = [[self._words[word] for word in text.split() if word in self._words] for text in texts]
        found = np.array([np.sum(words, axis=0, initial=0) + 1 for words in known], dtype=np.float32)
        unit: Vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
        return unit


@pytest.fixture
def store(tmp_path: Path) -> CorpusStore:
    add(write_lines(tmp_path / "a.jsonl", make_passages(150)), tmp_path / "c", near_duplicates=0)
    return CorpusStore.open(tmp_path / "c")


def open_dense(store: CorpusStore, embedder: CountingEmbedder) -> DenseIndex:
    return DenseIndex.open(store, lambda spec: embedder, verify=True)


def test_the_scan_finds_what_comparing_all_vectors_finds(store: CorpusStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_BLOCK", 64)
    embedder = CountingEmbedder()
    build_vectors(store, embedder, "x")
    dense = open_dense(store, embedder)
    texts = [one.contents for one in store.passages(range(len(store)))]
    for query in ("river castle", "violin orchard lantern"):
        cosines = embedder.embed(texts) @ embedder.embed([query])[0]
        found = dense.search(query, 10)
        assert [score for _, score in found] == pytest.approx(np.sort(cosines)[::-1][:10].tolist(), abs=0.01)
        assert all(score == pytest.approx(float(cosines[row]), abs=0.01) for row, score in found)


def test_the_scan_keeps_the_nearest_signs_and_those_equal_to_the_last(
    store: CorpusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_LEAST_CANDIDATES", 5)
    monkeypatch.setattr(vectors, "_CANDIDATES", 1)
    embedder = CountingEmbedder()
    build_vectors(store, embedder, "x")
    signs = embedder.embed([one.contents for one in store.passages(range(len(store)))]) > 0
    query = embedder.embed(["river castle"])[0]
    distances = (signs != (query > 0)).sum(axis=1)
    nearest = np.flatnonzero(distances <= np.sort(distances)[4])
    rows = {row for row, _ in open_dense(store, embedder).search("river castle", 5)}
    assert rows <= set(nearest.tolist())


def test_a_build_that_breaks_off_embeds_nothing_twice(store: CorpusStore) -> None:
    broken = CountingEmbedder(most=70)
    with pytest.raises(ServiceError):
        build_vectors(store, broken, "x")
    with pytest.raises(StoreError, match="not whole"):
        open_dense(store, broken)
    going_on = CountingEmbedder()
    assert build_vectors(store, going_on, "x").rows == len(store)
    assert len(broken.embedded) + len(going_on.embedded) == len(store)
    assert not set(broken.embedded) & set(going_on.embedded)
    build_vectors(store, going_on, "x")
    assert len(broken.embedded) + len(going_on.embedded) == len(store)


def test_vectors_of_another_model_or_another_corpus_are_not_used(store: CorpusStore, tmp_path: Path) -> None:
    build_vectors(store, CountingEmbedder(), "x")
    with pytest.raises(StoreError, match="made by words, which is not at hand"):
        open_dense(store, CountingEmbedder("others"))
    others = CountingEmbedder("others")
    build_vectors(store, others, "x")
    assert len(others.embedded) == len(store)
    add(write_lines(tmp_path / "b.jsonl", make_passages(5, seed=9)), store.folder)
    with pytest.raises(StoreError, match="the corpus has changed"):
        open_dense(CorpusStore.open(store.folder), others)


def test_a_corpus_that_has_grown_keeps_its_vectors(store: CorpusStore, tmp_path: Path) -> None:
    first, second = CountingEmbedder(), CountingEmbedder()
    build_vectors(store, first, "x")
    add(write_lines(tmp_path / "b.jsonl", make_passages(40, seed=9)), store.folder, near_duplicates=0)
    grown = CorpusStore.open(store.folder)
    assert build_vectors(grown, second, "x").rows == len(grown) == len(store) + len(second.embedded)
    assert second.embedded == [one.contents for one in grown.passages(range(len(store), len(grown)))]
    texts = [one.contents for one in grown.passages(range(len(grown)))]
    cosines = second.embed(texts) @ second.embed(["river castle"])[0]
    best = open_dense(grown, second).search("river castle", 5)
    assert [score for _, score in best] == pytest.approx(np.sort(cosines)[::-1][:5].tolist(), abs=0.01)


def test_vectors_that_a_kill_left_aside_are_taken_back(store: CorpusStore) -> None:
    build_vectors(store, CountingEmbedder(), "x")
    dense = store.folder / "index" / "dense"
    dense.replace(dense.with_name("dense-former"))
    again = CountingEmbedder()
    assert build_vectors(store, again, "x").rows == len(store)
    assert again.embedded == []


def test_damaged_vectors_are_noticed(store: CorpusStore) -> None:
    build_vectors(store, CountingEmbedder(), "x")
    path = store.folder / "index" / "dense" / "numbers.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"\x7f")
    with pytest.raises(StoreError, match=r"numbers\.npy is damaged"):
        open_dense(store, CountingEmbedder())


def test_quantised_vectors_are_close_to_the_vectors() -> None:
    made = np.random.default_rng(1).normal(size=(20, 37)).astype(np.float32)
    bits, numbers, scales = quantise(made)
    assert bits.shape == (20, 5)
    assert (np.unpackbits(bits, axis=1)[:, :37].astype(bool) == (made > 0)).all()
    assert np.abs(numbers * scales[:, None] - made).max() <= scales.max() / 2 + 1e-6


def answer_with(
    monkeypatch: pytest.MonkeyPatch, respond: Callable[[httpx.Request], httpx.Response]
) -> EndpointEmbedder:
    def stream(request: httpx.Request) -> httpx.Response:
        """The answer as a server sends it, not read yet."""
        made = respond(request)
        return httpx.Response(made.status_code, stream=httpx.ByteStream(made.content))

    monkeypatch.setattr(httpx, "AsyncHTTPTransport", lambda retries: httpx.MockTransport(stream))
    embedder = open_embedder("http://127.0.0.1:9/v1#tiny")
    assert isinstance(embedder, EndpointEmbedder)
    return embedder


def test_an_endpoint_is_asked_in_openais_format(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        rows = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4]}]
        return httpx.Response(200, json={"data": rows})

    monkeypatch.setenv("HOPWRIGHT_EMBEDDINGS_KEY", "k")
    embedder = answer_with(monkeypatch, respond)
    assert embedder.embed(["a", "b"]) == pytest.approx(np.array([[0.6, 0.8], [0, 1]]))
    assert str(asked[0].url) == "http://127.0.0.1:9/v1/embeddings"
    assert asked[0].headers["authorization"] == "Bearer k"
    assert asked[0].read() == b'{"model":"tiny","input":["a","b"]}'


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (httpx.Response(503), "answers 503"),
        (httpx.Response(200, text="no JSON"), "holds no embeddings"),
        (httpx.Response(200, json={"data": [{"index": 0, "embedding": [1]}]}), "2 texts were sent"),
        (httpx.Response(200, json={"data": [{"index": 0, "embedding": [0]}, {"index": 1, "embedding": [1]}]}), "zero"),
    ],
)
def test_an_endpoint_that_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, response: httpx.Response, message: str
) -> None:
    with pytest.raises(ServiceError, match=message):
        answer_with(monkeypatch, lambda request: response).embed(["a", "b"])


@pytest.mark.parametrize("manner", MANNERS)
def test_an_answer_without_end_is_not_read_to_it(manner: Manner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWRIGHT_MAX_ANSWER_MIB", "1")
    with serve_hostile(manner) as server:
        embedder = open_embedder(f"{server.url}/v1#tiny")
        assert embedder is not None
        with pytest.raises(ServiceError, match=r"longer than 1 MiB|not asked for") as refused:
            embedder.embed(["a"])
        assert "\n" not in str(refused.value)
        assert server.sent < 16 << 20


@pytest.mark.parametrize(
    "body", [b"[" * 200_000, b"NaN", b'{"data": [{"index": 0, "embedding": [' + b"9" * 400 + b"]}]}"]
)
def test_an_answer_that_breaks_parsers_is_one_line(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServiceError, match="holds no embeddings") as refused:
        answer_with(monkeypatch, lambda request: httpx.Response(200, content=body)).embed(["a"])
    assert len(str(refused.value)) < 500


def test_the_key_is_in_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-planted-0123456789qrstuvwx"
    monkeypatch.setenv("HOPWRIGHT_EMBEDDINGS_KEY", key)
    with serve_hostile("unknown packing", packing=key) as server:
        embedder = open_embedder(f"{server.url}/v1#tiny")
        assert embedder is not None
        with pytest.raises(ServiceError, match="not asked for") as refused:
            embedder.embed(["a"])
    assert key[:12] not in str(refused.value)
    bodies = [json.dumps({"data": [{"index": 0, "embedding": [text]}]}) for text in (key, key[:20], "." * 150 + key)]
    for body in bodies:
        made = httpx.Response(200, content=body)
        with pytest.raises(ServiceError, match="holds no embeddings") as refused:
            answer_with(monkeypatch, lambda request, made=made: made).embed(["a"])  # type: ignore[misc]
        assert key[:12] not in str(refused.value)

    def fail(request: httpx.Request) -> httpx.Response:
        raise httpx.LocalProtocolError(f"Illegal header value b'Bearer {key}'")

    with pytest.raises(ServiceError, match="cannot be reached") as refused:
        answer_with(monkeypatch, fail).embed(["a"])
    assert key[:12] not in str(refused.value)
    for wrong in ("sk-\npart", "sk-é"):
        monkeypatch.setenv("HOPWRIGHT_EMBEDDINGS_KEY", wrong)
        with pytest.raises(InputError, match="HOPWRIGHT_EMBEDDINGS_KEY holds characters that no key has"):
            open_embedder("http://127.0.0.1:9/v1#tiny")


def test_an_endpoint_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(ServiceError, match=r"cannot be reached \(refused\)"):
        answer_with(monkeypatch, respond).embed(["a"])


def test_embedding_locally_needs_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_embedder("off") is None
    if not find_obstacle():
        assert isinstance(open_embedder("local"), LocalEmbedder)
    monkeypatch.setattr("hopwright.text.embeddings.find_obstacle", lambda: "it is not installed")
    with pytest.raises(InputError, match="it is not installed, or name an endpoint"):
        open_embedder("local")
