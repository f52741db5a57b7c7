from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("tantivy", reason="the extra documents is not installed")
pytest.importorskip("starlette", reason="the extra documents is not installed")

import anyio
import httpx

from hopwright.knowledge.documents.index import Retriever, build_index
from hopwright.knowledge.documents.index.server import make_app
from hopwright.settings import CorpusIndexParameters
from tests.knowledge.documents.builders import add, make_passages, write_lines


@pytest.fixture(scope="module")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    folder = tmp_path_factory.mktemp("served")
    add(write_lines(folder / "a.jsonl", make_passages(60)), folder / "c", near_duplicates=0)
    build_index(folder / "c", CorpusIndexParameters(shards=2, workers=1))
    return Retriever.open(folder / "c")


def post(retriever: Retriever, body: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(make_app(retriever, topk=3))
        async with httpx.AsyncClient(transport=transport, base_url="http://corpus") as client:
            if isinstance(body, bytes):
                return await client.post("/retrieve", content=body)
            return await client.post("/retrieve", json=body)

    return anyio.run(send)


def test_scored_documents_are_answered_as_search_r1_reads_them(retriever: Retriever) -> None:
    queries = ["river", "nothing-of-this", "castle mayor"]
    answer = post(retriever, {"queries": queries, "topk": 2, "return_scores": True}).json()
    assert list(answer) == ["result"]
    assert [len(found) for found in answer["result"]] == [2, 0, 2]
    for query, found in zip(queries, answer["result"], strict=True):
        hits = retriever.search(query, 2)
        assert [one["score"] for one in found] == [hit.score for hit in hits]
        assert [one["document"] for one in found] == [
            {"id": hit.passage.id, "contents": f'"{hit.passage.title}"\n{hit.passage.text}'} for hit in hits
        ]


def test_documents_stand_alone_without_scores_and_topk_has_a_default(retriever: Retriever) -> None:
    (found,) = post(retriever, {"queries": ["river"], "topk": None, "of": "another client"}).json()["result"]
    assert len(found) == 3
    assert all(sorted(one) == ["contents", "id"] for one in found)


@pytest.mark.parametrize(
    "body",
    [b"no JSON", {}, {"queries": "river"}, {"queries": [5]}, {"queries": [], "topk": 0}, {"queries": ["a" * 100_001]}],
)
def test_what_is_no_request_gets_422_with_a_reason(retriever: Retriever, body: Any) -> None:
    answer = post(retriever, body)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["msg"]


def test_no_queries_have_no_results(retriever: Retriever) -> None:
    assert post(retriever, {"queries": []}).json() == {"result": []}


def test_what_would_take_all_memory_is_refused(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    flood = post(retriever, {"queries": ["river"] * 4_000, "topk": 1_000})
    assert (flood.status_code, flood.json()["detail"][:9]) == (422, "4,000,000")
    monkeypatch.setenv("HOPWRIGHT_MAX_ANSWER_MIB", "1")
    long = post(retriever, b'{"queries": ["' + b"a" * (2 << 20) + b'"]}')
    assert (long.status_code, long.json()["detail"]) == (413, "the request is longer than is read")
    assert post(retriever, b"[" * 200_000).status_code == 422
