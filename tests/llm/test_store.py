"""What is paid for is kept: the cache, transcripts of failures, and a damaged or foreign file."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from hopwright.errors import RunError
from hopwright.llm.store import SPEND, Statement, Store, merge_statements, pack_request, unpack_request
from hopwright.llm.types import Message, Request, Response, key_of
from tests.llm.builders import ask_all, request, rows, run, settings
from tests.llm.wire_server import Faults, WireServer


def test_a_second_run_asks_nothing_and_one_edited_row_asks_once(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer() as server:
            first, _ = await ask_all(tmp_path, settings(server), rows(100))
            second, client = await ask_all(tmp_path, settings(server), rows(100))
            assert sum(server.seen.values()) == 100
            assert client.progress.counts["cached"] == 100
            for one, other in zip(first, second, strict=True):
                assert isinstance(one, Response)
                assert isinstance(other, Response)
                assert (one.parsed, one.text, one.usage, one.cost_usd, one.key) == (
                    other.parsed, other.text, other.usage, other.cost_usd, other.key,
                )  # fmt: skip
                assert other.cached
            edited = rows(100)
            edited[40] = request("row 40, edited", item="item-40")
            await ask_all(tmp_path, settings(server), edited)
            assert sum(server.seen.values()) == 101

    run(check())


def test_the_order_and_company_of_rows_do_not_matter(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer() as server:
            await ask_all(tmp_path, settings(server), rows(20))
            mixed = [*reversed(rows(30)), *rows(5)]
            outcomes, _ = await ask_all(tmp_path, settings(server), mixed)
            assert all(outcome.ok for outcome in outcomes)
            assert sum(server.seen.values()) == 30

    run(check())


def test_an_answer_is_on_the_disk_before_it_is_handed_out(tmp_path: Path) -> None:
    async def check() -> None:
        from hopwright.llm.client import Client

        async with WireServer(Faults(latency_s=0.01)) as server:
            with Store(tmp_path / "llm.sqlite") as store:
                other = sqlite3.connect(tmp_path / "llm.sqlite")
                async with Client(settings(server), store) as client:
                    async for _, outcome in client.stream(rows(50)):
                        key = bytes.fromhex(outcome.key)
                        found = other.execute("SELECT count(*) FROM responses WHERE key = ?", (key,)).fetchone()
                        assert found == (1,)
                other.close()

    run(check())


def test_a_stored_answer_that_no_longer_validates_is_asked_for_again(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer() as server:
            asked = request("a")
            await ask_all(tmp_path, settings(server), [asked])
            connection = sqlite3.connect(tmp_path / "llm.sqlite")
            connection.execute("UPDATE responses SET response = replace(response, 'answer', 'reply')")
            connection.commit()
            connection.close()
            outcomes, _ = await ask_all(tmp_path, settings(server), [asked])
            assert outcomes[0].ok
            assert server.seen["a"] == 2

    run(check())


def test_stats_and_prune_count_what_is_there(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer(Faults(refusal=1.0, repeat=True)) as refusing, WireServer() as server:
            await ask_all(tmp_path, settings(server), [*rows(8), *rows(4, model="other")])
            await ask_all(tmp_path, settings(refusing), [request("refused")])

    run(check())
    with Store(tmp_path / "llm.sqlite") as store:
        stats = store.stats()
        assert stats.answers == 12
        assert stats.failures == 1
        assert {row[:2] for row in stats.by_model} == {("local/tiny", 8), ("local/other", 4)}
        assert stats.oldest is not None
        assert stats.bytes > 0
        assert store.prune(older_than_days=1) == (0, 0)
        assert store.prune(model="other") == (4, 0)
        assert store.prune(failed=True) == (0, 1)
        assert store.prune() == (8, 0)
        assert store.stats().answers == 0


def test_pruned_answers_are_paid_for_again(tmp_path: Path) -> None:
    async def check() -> None:
        async with WireServer() as server:
            await ask_all(tmp_path, settings(server), rows(3))
            with Store(tmp_path / "llm.sqlite") as store:
                store.prune()
            await ask_all(tmp_path, settings(server), rows(3))
            assert sum(server.seen.values()) == 6

    run(check())


def test_many_writes_at_once_share_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        with Store(tmp_path / "llm.sqlite") as store:
            commit = MagicMock(wraps=store._commit)
            monkeypatch.setattr(store, "_commit", commit)
            await asyncio.gather(*(
                store.write([("INSERT INTO detours VALUES (?, ?)", (bytes([n % 256, n // 256]), b"x"))])
                for n in range(3000)
            ))  # fmt: skip
            assert commit.call_count < 300
            assert store.read("SELECT count(*) FROM detours") == [(3000,)]

    run(check())


def test_a_failing_write_is_told_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    async def check() -> None:
        with Store(tmp_path / "llm.sqlite") as store:
            with pytest.raises(RunError, match="cannot be written"):
                await store.write([
                    ("INSERT INTO detours VALUES (?, ?)", (b"a", b"b")), ("INSERT INTO nowhere VALUES (1)", ()),
                ])  # fmt: skip
            assert store.read("SELECT count(*) FROM detours") == [(0,)]
            await store.write([("INSERT INTO detours VALUES (?, ?)", (b"a", b"b"))])
            assert store.read("SELECT count(*) FROM detours") == [(1,)]

    run(check())


HOLD = "UPDATE leases SET possible = spent WHERE id = ?"


def test_merged_writes_leave_what_single_ones_would(tmp_path: Path) -> None:
    draw = random.Random(5)
    link = (
        "INSERT INTO exchanges VALUES (?, ?, 'r', 0, '', '', NULL, NULL) ON CONFLICT DO UPDATE SET run = run || 'x' "
        "WHERE failure IS NULL"
    )
    statements: list[Statement] = [
        ("INSERT INTO leases (id, run, granted) VALUES (?, ?, ?)", (n, "r", 1.0)) for n in (1, 2)
    ]
    for _ in range(1500):
        key = bytes([draw.randrange(200)])
        statements.append(
            draw.choice([
                ("INSERT OR REPLACE INTO detours VALUES (?, ?)", (key, bytes([draw.randrange(256)]))),
                (link, ("item", key)),
                (SPEND, (draw.choice([0.25, 0.5]), draw.choice([1, 2]))),
                (SPEND, (1.0, 2)) if draw.random() < 0.98 else (HOLD, (1,)),
            ])
        )  # fmt: skip
    merged = merge_statements(statements)
    assert len(merged) < len(statements) / 4
    tables = []
    for number, writes in enumerate((statements, merged)):
        Store(tmp_path / f"{number}.sqlite").close()
        connection = sqlite3.connect(tmp_path / f"{number}.sqlite")
        for sql, parameters in writes:
            connection.execute(sql, parameters)
        tables.append(
            [
                connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall()
                for name in ("detours", "exchanges", "leases")
            ]
        )
        connection.close()
    assert tables[0] == tables[1]


def test_a_file_that_is_no_store_is_refused_with_one_line(tmp_path: Path) -> None:
    bad = tmp_path / "llm.sqlite"
    bad.write_bytes(b"not a database at all, but long enough to look like a header" * 20)
    with pytest.raises(RunError, match="cannot be used") as caught:
        Store(bad)
    assert "\n" not in str(caught.value)


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "llm.sqlite"
    Store(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(RunError, match="format 99"):
        Store(path)


def test_requests_are_kept_whole_short_or_long() -> None:
    for text in ("short", "line\nbreak \x00 \ud800 é", "long " * 3000):
        packed = pack_request(Request((Message("user", text),), "p", "m"))
        assert unpack_request(packed)["messages"] == [["user", text]]


def test_text_that_no_database_can_hold_is_mended_and_kept(tmp_path: Path) -> None:
    async def check() -> None:
        body = '{"choices": [{"message": {"content": "half \\ud83d a pair"}, "finish_reason": "stop"}], "model": "x"}'
        async with WireServer(Faults(status=200, body=body)) as server:
            asked = request("a", schema=None)
            outcomes, _ = await ask_all(tmp_path, settings(server), [asked])
            assert isinstance(outcomes[0], Response)
            again, _ = await ask_all(tmp_path, settings(server), [asked])
            assert isinstance(again[0], Response)
            assert again[0].text == outcomes[0].text == "half \ufffd a pair"
            assert key_of(asked) == again[0].key

    run(check())
