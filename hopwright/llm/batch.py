"""Batch mode at half price, safe to kill or suspend at any moment.

What keeps a batch from being submitted twice: the intent (a token and its rows) is committed before anything is sent;
a row belongs to at most one open batch; and an intent whose outcome is not known is looked for at the provider
before it is sent again. A lock on the file system keeps a second process from doing the same at the same time; the
kernel lifts it from a killed one.
"""

from __future__ import annotations

import asyncio
import fcntl
import random
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hopwright.errors import HopwrightError, InputError, ServiceError
from hopwright.llm.batch_apis import BatchApi, BatchRow, RowResult, make_batch_api
from hopwright.llm.batch_rows import BatchRowTracker, read_reply
from hopwright.llm.client import Client
from hopwright.llm.dispatcher import ModelDispatcher
from hopwright.llm.judging import measure_schema
from hopwright.llm.prices import bound_tokens
from hopwright.llm.providers.base import RETRYABLE, CallError
from hopwright.llm.redaction import clean_reply
from hopwright.llm.store import Statement
from hopwright.llm.types import (
    Failure,
    ModelRef,
    Outcome,
    Request,
    key_of,
)


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """A batch that is on its way. `remote` is empty while its submission is not confirmed."""

    token: str
    provider: str
    model: str
    state: str
    created: float
    remote: str
    round: int
    lease: int
    reserved: float
    rows: int


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """One look at the open batches."""

    open: int
    rows_waiting: int
    rows_done: int
    answered: int
    spent_usd: float


class BatchRunner:
    """Answers requests through the providers' batch interfaces, with the client's store, prices and budget.

    `poll_s` is the pause between looks; `rounds` how often a row that expired, failed or gave an invalid answer
    is handed in; `settle_s` how long a submission whose answer was lost may take to show up at the provider.
    """

    def __init__(
        self, client: Client, *, poll_s: float = 60.0, rounds: int = 3, settle_s: float = 60.0,
        report: Callable[[BatchProgress], None] | None = None,
    ) -> None:  # fmt: skip
        self._client = client
        self._store = client.store
        self._poll_s = poll_s
        self._book = BatchRowTracker(client, rounds)
        self._settle_s = settle_s
        self._report = report
        self._apis: dict[str, BatchApi] = {}
        self._trouble = 0

    async def complete_all(self, requests: Iterable[Request]) -> list[Outcome]:
        """The outcomes in the order of the requests, however long that takes.

        Stopped and started again, it finds its batches and goes on waiting. Raises BudgetError, InputError for an
        endpoint without batches, ServiceError where the provider refuses, RunError where the store cannot be written.
        """
        requests = list(requests)
        keys = [key_of(request) for request in requests]
        wanted = dict(zip(keys, requests, strict=True))
        done: dict[str, Outcome] = {}
        with _Lock(self._store.path):
            while True:
                await self._settle(wanted, done)
                missing = [key for key in wanted if key not in done]
                if not missing:
                    return [done[key] for key in keys]
                waiting = await self._submit_missing(missing, wanted)
                if waiting:
                    await self._look(wanted, done)
                    if len(done) < len(wanted):
                        await asyncio.sleep(self._poll_s)

    def list_open(self) -> list[OpenBatch]:
        """Every batch on its way, of any run."""
        rows = self._store.read(
            "SELECT token, provider, model, state, created, remote, round, lease, reserved, "
            "(SELECT count(*) FROM batch_rows WHERE batch_rows.token = batches.token) "
            "FROM batches WHERE state IN ('intent', 'submitted') ORDER BY created, token"
        )
        return [OpenBatch(*row) for row in rows]

    async def _settle(self, wanted: dict[str, Request], done: dict[str, Outcome]) -> None:
        """Take what the store has: cached answers, and replies that came before their request was known here."""
        for key, request in wanted.items():
            if key in done:
                continue
            response = self._client.find(request, key)
            if response is not None:
                done[key] = response
                self._client.progress.finish("cached")
                continue
            failure = self._book.remember(key, request)
            if failure is not None:
                done[key] = failure
                self._client.progress.fail(failure.kind)
                continue
            raw = self._store.read(
                "SELECT token, detail FROM batch_rows WHERE key = ? AND state = 'raw'", (bytes.fromhex(key),)
            )
            if raw:
                token, detail = raw[0]
                statements = self._book.judge(key, request, read_reply(detail), token, done, 0)
                await self._store.write(statements)

    async def _submit_missing(self, missing: Sequence[str], wanted: dict[str, Request]) -> bool:
        """Hand in what is neither answered nor on its way. True if anything is on its way then."""
        under_way = {row[0].hex() for row in self._store.read("SELECT key FROM batch_rows WHERE state = 'open'")}
        groups: dict[tuple[ModelRef, int], list[str]] = {}
        for key in missing:
            if key not in under_way:
                request = wanted[key]
                target = ModelRef(request.provider, request.model)
                groups.setdefault((target, self._book.history(key, request)[0]), []).append(key)
        submitted, refused = 0, 0.0
        for (target, round), keys in groups.items():
            api, dispatcher = self._api(target), self._client.dispatcher(target)
            for part in self._cut(api, dispatcher, keys, wanted):
                taken = await self._submit(api, dispatcher, part, wanted, round)
                submitted += taken
                if taken < len(part):
                    refused = self._bound(dispatcher, part[taken : taken + 1], wanted)
                    break
        if refused and not submitted and not under_way:
            raise self._client.budget.explain(refused)
        return bool(under_way or groups)

    async def _submit(
        self,
        api: BatchApi,
        dispatcher: ModelDispatcher,
        rows: list[tuple[str, BatchRow]],
        wanted: dict[str, Request],
        round: int,
    ) -> int:
        """Hand rows in, as many as the budget has room for now; returns how many. The rest waits for a bill."""
        worst = self._bound(dispatcher, rows, wanted)
        if not self._client.budget.try_reserve(worst):
            half = len(rows) // 2
            if not half:
                return 0
            first = await self._submit(api, dispatcher, rows[:half], wanted, round)
            return first + (await self._submit(api, dispatcher, rows[half:], wanted, round) if first == half else 0)
        token = secrets.token_hex(8)
        rows = [(key, BatchRow(f"{token}-{key}", row.call)) for key, row in rows]
        intent = _Intent(token, self._client.run, dispatcher.target, [key for key, _ in rows], round,
                         self._client.budget.lease, worst)  # fmt: skip
        self._store.transact(intent)
        await self._send_batch(api, token, [row for _, row in rows])
        return len(rows)

    def _bound(
        self, dispatcher: ModelDispatcher, rows: Iterable[tuple[str, BatchRow]], wanted: dict[str, Request]
    ) -> float:
        """The most that these rows can cost; 0 without a budget."""
        if self._client.budget.limit is None:
            return 0.0
        factor = self._client.prices.batch_factor
        return sum(
            dispatcher.price.worst(
                bound_tokens(row.call.messages, measure_schema(wanted[key])), row.call.sampling.max_tokens, factor
            )
            for key, row in rows
        )

    async def _send_batch(self, api: BatchApi, token: str, rows: Sequence[BatchRow]) -> None:
        """Send the rows. An answer that is lost leaves the intent for `_recover`."""
        try:
            remote = await api.submit(token, rows)
        except CallError as error:
            if error.kind in RETRYABLE and error.kind not in ("rate_limit", "overloaded"):
                # Whether it arrived is not known.
                return
            await self._withdraw(token)
            if error.kind in ("rate_limit", "overloaded"):
                await asyncio.sleep(error.retry_after_s or self._poll_s)
                return
            raise ServiceError(f"the batch was refused: {self._client.clean_error(str(error))}") from None
        await self._store.write([
            ("UPDATE batches SET state = 'submitted', remote = ? WHERE token = ?", (remote, token)),
        ])  # fmt: skip

    async def _look(self, wanted: dict[str, Request], done: dict[str, Outcome]) -> None:
        """Ask after every open batch once, and collect those that ended."""
        waiting = finished = 0
        for batch in self.list_open():
            api = self._api(ModelRef(batch.provider, batch.model))
            try:
                remote = batch.remote or await self._recover(api, batch, wanted)
                if not remote:
                    waiting += batch.rows
                    continue
                status = await api.poll(remote)
                if status.ended:
                    await self._collect(api, batch, remote, status.problem, wanted, done)
                    finished += batch.rows
                else:
                    waiting += status.total - status.done
                    finished += status.done
                self._trouble = 0
            except CallError as error:
                await self._handle_call_error(batch, error)
                waiting += batch.rows
        if self._report is not None:
            answered = sum(1 for outcome in done.values() if outcome.ok)
            spent = self._client.budget.spending().spent
            self._report(BatchProgress(len(self.list_open()), waiting, finished, answered, spent))

    async def _handle_call_error(self, batch: OpenBatch, error: CallError) -> None:
        reason = self._client.clean_error(str(error))
        if error.kind == "not_found" and batch.remote:
            # The provider forgot it (they keep results for some weeks): its rows are handed in again.
            await self._withdraw(batch.token)
            return
        if error.kind not in RETRYABLE:
            raise ServiceError(f"batch {batch.remote or batch.token} at {batch.provider}: {reason}")
        self._trouble += 1
        if self._trouble >= 20:
            raise ServiceError(
                f"{batch.provider} did not answer 20 looks at a batch in a row ({reason}); "
                f"the batch is safe: run the same command again later"
            )
        await asyncio.sleep(error.retry_after_s or random.uniform(0, min(self._poll_s, 2.0**self._trouble)))

    async def _recover(self, api: BatchApi, batch: OpenBatch, wanted: dict[str, Request]) -> str:
        """Find out what became of a submission whose answer was lost; hand it in again if it never arrived."""
        known = [row[0] for row in self._store.read("SELECT remote FROM batches WHERE remote != ''")]
        found = await api.find(batch.token, batch.created, batch.rows, known)
        if found.remote:
            await self._store.write([
                ("UPDATE batches SET state = 'submitted', remote = ? WHERE token = ?", (found.remote, batch.token)),
            ])  # fmt: skip
            return found.remote
        if found.unsure or time.time() - batch.created < self._settle_s:
            return ""
        rows = self._rows_of(batch)
        if not all(key in wanted for key in rows):
            # These rows are not asked for any more; nothing was handed in, so nothing is lost.
            await self._withdraw(batch.token)
            return ""
        dispatcher = self._client.dispatcher(ModelRef(batch.provider, batch.model))
        calls = {key: self._book.make_call(dispatcher, api.native_choices, wanted[key], key) for key in rows}
        again = [BatchRow(f"{batch.token}-{key}", call) for key, call in calls.items()]
        await self._send_batch(api, batch.token, again)
        return ""

    async def _collect(
        self, api: BatchApi, batch: OpenBatch, remote: str, problem: str, wanted: dict[str, Request],
        done: dict[str, Outcome],
    ) -> None:  # fmt: skip
        """Store every result of an ended batch, and its bill, in one commit."""
        dispatcher = self._client.dispatcher(ModelRef(batch.provider, batch.model))
        open_keys = set(self._rows_of(batch))
        statements: list[Statement] = []
        bill = 0.0
        fresh: dict[str, Outcome] = {}
        async for result in api.results(remote):
            key = result.custom_id.partition("-")[2]
            if key not in open_keys:
                continue
            open_keys.discard(key)
            if result.reply is not None:
                result = RowResult(key, clean_reply(result.reply, self._client.clean))
                assert result.reply is not None
                bill += dispatcher.price.cost(result.reply.usage, self._client.prices.batch_factor)
                self._client.progress.usage += result.reply.usage
            statements += self._book.take(key, wanted.get(key), result, batch.token, batch.round, fresh)
        for key in sorted(open_keys):
            missing = RowResult(key, error=problem or "the batch ended without a result for this request")
            statements += self._book.take(key, wanted.get(key), missing, batch.token, batch.round, fresh)
        statements.append(("UPDATE batches SET state = 'collected' WHERE token = ?", (batch.token,)))
        statements += self._bill(batch, bill)
        await self._store.write(statements)
        done.update(fresh)
        for outcome in fresh.values():
            if isinstance(outcome, Failure):
                self._client.progress.fail(outcome.kind)
            else:
                self._client.progress.finish("answered")

    def _bill(self, batch: OpenBatch, bill: float) -> list[Statement]:
        """Replace what was reserved for the batch by its bill, whichever process had reserved it."""
        budget = self._client.budget
        if batch.lease == budget.lease:
            budget.settle(batch.reserved, bill)
            return budget.settle_statement(bill)
        budget.book(bill)
        release: Statement = (
            "UPDATE leases SET possible = CASE open WHEN 0 THEN max(0, possible - ?1) ELSE possible END, "
            "granted = CASE open WHEN 1 THEN max(spent, granted - ?1) ELSE granted END WHERE id = ?2",
            (batch.reserved, batch.lease),
        )
        return [release, *budget.settle_statement(bill)]

    def _cut(
        self, api: BatchApi, dispatcher: ModelDispatcher, keys: Sequence[str], wanted: dict[str, Request]
    ) -> Iterable[list[tuple[str, BatchRow]]]:
        """The rows in parts that the provider takes in one batch."""
        part: list[tuple[str, BatchRow]] = []
        size = 0
        for key in keys:
            call = self._book.make_call(dispatcher, api.native_choices, wanted[key], key)
            row = BatchRow(f"{'0' * 16}-{key}", call)
            row_size = api.size(row)
            if part and (len(part) >= api.most_rows or size + row_size > api.most_bytes):
                yield part
                part, size = [], 0
            part.append((key, row))
            size += row_size
        if part:
            yield part

    def _rows_of(self, batch: OpenBatch) -> list[str]:
        rows = self._store.read("SELECT key FROM batch_rows WHERE token = ? AND state = 'open'", (batch.token,))
        return [row[0].hex() for row in rows]

    def _api(self, target: ModelRef) -> BatchApi:
        if target.provider not in self._apis:
            dispatcher = self._client.dispatcher(target)
            api = make_batch_api(dispatcher.endpoint, dispatcher.provider)
            if api is None:
                raise InputError(
                    f"the endpoint {target.provider!r} has no batch interface; leave batch mode off for it"
                )
            self._apis[target.provider] = api
        return self._apis[target.provider]

    async def _withdraw(self, token: str) -> None:
        """Forget a batch that was not taken: its rows are free again."""
        reserved = self._store.read("SELECT reserved, lease FROM batches WHERE token = ?", (token,))
        await self._store.write([
            ("UPDATE batches SET state = 'withdrawn' WHERE token = ?", (token,)),
            ("UPDATE batch_rows SET state = 'free' WHERE token = ? AND state = 'open'", (token,)),
        ])  # fmt: skip
        for amount, lease in reserved:
            if lease == self._client.budget.lease:
                self._client.budget.release(amount)


class _Intent:
    """Commits a batch before it is sent. Rows that meanwhile went into another open batch stop it."""

    def __init__(
        self, token: str, run: str, target: ModelRef, keys: Sequence[str], round: int, lease: int, reserved: float
    ) -> None:
        self._batch = (
            token,
            run,
            target.provider,
            target.model,
            "intent",
            time.time(),
            "",
            "",
            round,
            lease,
            reserved,
            "",
        )
        self._token, self._keys = token, keys

    def __call__(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"INSERT INTO batches VALUES ({', '.join('?' * len(self._batch))})", self._batch)
        connection.executemany(
            "INSERT INTO batch_rows (token, key, state) VALUES (?, ?, 'open')",
            [(self._token, bytes.fromhex(key)) for key in self._keys],
        )


class _Lock:
    """At most one process hands in and collects batches of a store; the kernel frees it when the process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + ".batch.lock")

    def __enter__(self) -> None:
        self._file = self._path.open("a")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise HopwrightError(
                f"another process is working on the batches of {self._path.parent}; wait for it or stop it"
            ) from None

    def __exit__(self, *_: object) -> None:
        self._file.close()
