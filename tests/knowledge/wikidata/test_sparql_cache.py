"""The cache of answers, and files of literals: whole or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from hopwright.errors import HopwrightError, InputError, RunError
from hopwright.knowledge.wikidata.sparql import AnswerCache, LiteralSource, SparqlClient, SparqlSettings, write_literals
from tests.worlds import DictGraph

URL = "http://example.org/sparql"


def test_answers_are_kept_by_endpoint_and_query(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "deep" / "cache.db")
    cache.put(URL, "ASK {}", b"yes")
    cache.put(URL, "ASK {}", b"no")
    assert cache.get(URL, "ASK {}") == b"no" and len(cache) == 1
    assert cache.get(URL, "ASK { }") is None and cache.get("http://other/", "ASK {}") is None
    assert AnswerCache(tmp_path / "deep" / "cache.db").get(URL, "ASK {}") == b"no"


def test_old_answers_are_asked_for_again(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "cache.db")
    cache.put(URL, "ASK {}", b"yes")
    assert cache.get(URL, "ASK {}", max_age_s=60) == b"yes"
    assert cache.get(URL, "ASK {}", max_age_s=-1) is None


@pytest.mark.parametrize("body", [b"not a database at all, but long enough to be taken for one" * 40, b"short"])
def test_a_file_that_is_no_cache_is_named(tmp_path: Path, body: bytes) -> None:
    (tmp_path / "cache.db").write_bytes(body)
    with pytest.raises(InputError, match=r"cache\.db is not a cache of answers .*delete it or name another file"):
        AnswerCache(tmp_path / "cache.db")
    assert (tmp_path / "cache.db").read_bytes() == body


def test_a_cache_of_another_version_is_refused(tmp_path: Path) -> None:
    AnswerCache(tmp_path / "cache.db").close()
    with sqlite3.connect(tmp_path / "cache.db") as base:
        base.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="of version 99"):
        AnswerCache(tmp_path / "cache.db")


def test_a_folder_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache.db").mkdir()
    with pytest.raises(RunError, match=r"cache\.db"):
        AnswerCache(tmp_path / "cache.db")
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be opened"):
        AnswerCache(tmp_path / "file" / "cache.db")


def test_a_damaged_entry_is_asked_for_again(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "cache.db")
    cache.put(URL, "ASK {}", b"yes")
    with sqlite3.connect(tmp_path / "cache.db") as base:
        base.execute("UPDATE answers SET body = x'00'")
    assert cache.get(URL, "ASK {}") is None


def test_waits_grow_and_stay_below_their_limit() -> None:
    waits: list[float] = []
    settings = SparqlSettings(endpoint="http://127.0.0.1:9/", max_tries=8, first_wait_s=1, max_wait_s=20)
    with pytest.raises(HopwrightError, match="in 8 tries"):
        SparqlClient(settings, sleep=waits.append).ask("ASK {}")
    assert len(waits) == 7
    for number, wait in enumerate(waits):
        longest = min(20.0, 2.0**number)
        assert longest / 2 <= wait <= longest


def test_offline_literals_are_the_stores_own_and_said_to_be(tmp_path: Path) -> None:
    graph = DictGraph()
    report = write_literals(None, ["Q903", "Q902", "Q999"], ["P571", "P569"], tmp_path / "out.tsv", store=graph)
    assert report.by_origin == {"store": 2} and "offline" in report.note
    assert (tmp_path / "out.tsv").read_text() == (
        "Q902\tP569\tdate of birth\t\t1951-04-12T00:00:00Z\tdateTime\n"
        "Q903\tP571\tinception\t\t1905-01-01T00:00:00Z\tdateTime\n"
    )
    with pytest.raises(ValueError, match="a client or a store"):
        LiteralSource(None, None)


def test_a_failed_fetch_leaves_no_file_and_no_trace(tmp_path: Path) -> None:
    out = tmp_path / "out.tsv.gz"
    out.write_bytes(b"old")
    client = SparqlClient(SparqlSettings(endpoint="http://127.0.0.1:9/", max_tries=1, dialect="truthy"))
    with pytest.raises(HopwrightError, match="cannot be reached"):
        write_literals(client, ["Q1"], ["P1"], out)
    assert [path.name for path in tmp_path.iterdir()] == ["out.tsv.gz"] and out.read_bytes() == b"old"


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"out\.tsv cannot be written"):
        write_literals(None, ["Q903"], ["P571"], tmp_path / "file" / "out.tsv", store=DictGraph())


def test_malformed_ids_are_named_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not an entity id"):
        write_literals(None, ["Q1 } #"], ["P1"], tmp_path / "out.tsv", store=DictGraph())
    assert not list(tmp_path.iterdir())
