"""The client: cache, fall-back chain, structured answers and their repair, and many requests at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sized
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from hopwright.errors import HopwrightError, ServiceError
from hopwright.llm.budget import Budget
from hopwright.llm.config import LlmSettings
from hopwright.llm.conversations import Conversation, conversation_statement, forget_statement, read_conversation
from hopwright.llm.dispatcher import ModelDispatcher, ModelUnavailable, PendingReply, RequestRefused, RunAbort
from hopwright.llm.health import RunHealth
from hopwright.llm.judging import ValidatedAnswer, continue_messages, judge, make_call, measure_schema, revalidate
from hopwright.llm.prices import PriceTable, bound_tokens, explain_price, guess_tokens, read_prices
from hopwright.llm.progress import Progress, Snapshot
from hopwright.llm.providers import Provider, make_provider
from hopwright.llm.rate_limiter import ExpectedTokens
from hopwright.llm.redaction import make_redactor
from hopwright.llm.store import Store, failure_statements, ignore_result, link_statements, response_statements
from hopwright.llm.types import (
    Attempt,
    Failure,
    FailureKind,
    Message,
    ModelRef,
    Outcome,
    Request,
    Response,
    TokenUsage,
    count_answers,
    key_of,
    read_response,
)


class ProviderFactory(Protocol):
    """Makes the provider of an endpoint."""

    def __call__(self, endpoint: Any, /) -> Provider:
        """The provider."""
        ...


@dataclass(slots=True)
class _RequestState:
    """What has come of a request so far: thrown-away tries, their tokens and their cost.

    `down` names the models that could not be asked; `stored` has the keys under which the store holds thrown-away
    answers; `remembered` says that the failure was met earlier in this run and nothing was asked now.
    """

    notes: list[Attempt] = field(default_factory=list)
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost_usd: float = 0.0
    down: list[str] = field(default_factory=list)
    stored: set[str] = field(default_factory=set)
    remembered: bool = False


class Client:
    """Answers requests, from the store where it can. One per run and process, on one event loop.

    `run` names the run whose budget and transcripts these requests belong to. Requests never raise for what
    a model does: they end as a Response or a Failure. What ends the whole run is raised: BudgetError before the
    budget would be exceeded, ServiceError when no model answers or too many rows fail, RunError when the store cannot
    be written. By then every answer that was paid for is stored.
    """

    def __init__(
        self, settings: LlmSettings, store: Store, *, run: str = "", budget_usd: float | None = None,
        prices: PriceTable | None = None, provider_factory: ProviderFactory = make_provider,
    ) -> None:  # fmt: skip
        self.settings = settings
        self.store = store
        self.run = run
        self.budget = Budget(budget_usd, store, run)
        self.progress = Progress()
        self.prices = prices or read_prices(settings.prices)
        self._provider_factory = provider_factory
        self._providers: dict[str, Provider] = {}
        self._lanes: dict[ModelRef, ModelDispatcher] = {}
        self._redactor = make_redactor(settings.endpoints)
        self._run_health = RunHealth(settings.breaker)
        self._stop = RunAbort()
        self._asked: dict[str, asyncio.Future[Outcome]] = {}

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Give back connections and what is left of the budget's lease. The store stays open."""
        try:
            for provider in self._providers.values():
                await provider.close()
        finally:
            self.budget.close()

    def clean(self, text: str) -> str:
        """The text without any key."""
        return self._redactor.clean(text)

    def clean_error(self, text: str) -> str:
        """What an error says without any key, and then cut to what is shown of it."""
        return self._redactor.clean_error(text)

    def snapshot(self) -> Snapshot:
        """How the run is doing."""
        money = self.budget.spending()
        in_flight = sum(dispatcher.gate.limit.in_flight for dispatcher in self._lanes.values())
        return self.progress.take(money.spent, money.possible, self.budget.spent, money.limit, in_flight)

    async def complete(self, request: Request) -> Outcome:
        """The answer to one request. The same request asked twice at once is sent once."""
        outcome = await self._complete(request)
        self.progress.answers += count_answers(outcome)
        self.progress.unanswered += not outcome.ok
        return outcome

    async def _complete(self, request: Request) -> Outcome:
        key = key_of(request)
        response = self.find(request, key)
        if response is not None:
            self.progress.finish("cached")
            # A run that goes on meets again only the rows that failed before: alone they would look hopeless.
            self._run_health.count("")
            if request.item:
                self.store.submit(link_statements(request, response.key, self.run), ignore_result)
            return response
        self._stop.check()
        asked = self._asked.get(key)
        if asked is not None:
            outcome = await asyncio.shield(asked)
            if outcome.ok:
                self.store.submit(link_statements(request, outcome.key, self.run), ignore_result)
            self.progress.finish("cached" if outcome.ok else "failed")
            return outcome
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._asked[key] = future
        try:
            outcome = await self._ask(request, key)
        except BaseException as error:
            if isinstance(error, HopwrightError):
                self._end(error)
            future.set_exception(error if isinstance(error, Exception) else ServiceError("the run was interrupted"))
            # Nobody else may have asked; the error is raised here in any case.
            future.exception()
            raise
        finally:
            del self._asked[key]
        future.set_result(outcome)
        return outcome

    async def stream(
        self, requests: Iterable[Request], workers: int | None = None
    ) -> AsyncIterator[tuple[int, Outcome]]:
        """The outcomes as they come, each with its request's position.

        Requests are drawn as there is room for them, so their number does not matter for memory. An error that
        ends the run is raised after the outcomes of what was in flight.
        """
        workers = workers or self._count_workers()
        if isinstance(requests, Sized):
            self.progress.total += len(requests)
        numbered = iter(enumerate(requests))
        queue: asyncio.Queue[tuple[int, Outcome] | None] = asyncio.Queue()
        tasks = [asyncio.create_task(self._work(numbered, queue)) for _ in range(workers)]
        running = len(tasks)
        try:
            while running:
                entry = await queue.get()
                if entry is None:
                    running -= 1
                else:
                    yield entry
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def complete_all(self, requests: Iterable[Request]) -> list[Outcome]:
        """The outcomes in the order of the requests."""
        requests = list(requests)
        outcomes = {position: outcome async for position, outcome in self.stream(requests)}
        return [outcomes[position] for position in range(len(requests))]

    def dispatcher(self, target: ModelRef) -> ModelDispatcher:
        """The lane of a model.

        Raises InputError for an unknown endpoint, a missing key, or an unpriced model under a budget.
        """
        dispatcher = self._lanes.get(target)
        if dispatcher is None:
            endpoint = self.settings.endpoint(target.provider)
            price = self.prices.find(target.model)
            if price is None and self.budget.limit is not None and not endpoint.free:
                raise explain_price(target)
            if endpoint.name not in self._providers:
                self._providers[endpoint.name] = self._provider_factory(endpoint)
            dispatcher = self._lanes[target] = ModelDispatcher(
                target, endpoint, self.settings, self._providers[endpoint.name], None if endpoint.free else price,
                self.budget, self.progress, self._redactor, self._stop,
            )  # fmt: skip
        return dispatcher

    def dispatchers(self) -> list[ModelDispatcher]:
        """Every lane in use."""
        return list(self._lanes.values())

    def _count_workers(self) -> int:
        most = max(
            (limits.max_concurrency for endpoint in self.settings.endpoints
             for limits in (endpoint.limits, *endpoint.models.values())),
            default=256,
        )  # fmt: skip
        # Some more than can be in flight, so that one is always ready when a slot comes free.
        return most + most // 4 + 8

    async def _work(
        self, numbered: Iterator[tuple[int, Request]], queue: asyncio.Queue[tuple[int, Outcome] | None]
    ) -> None:
        try:
            for count, (position, request) in enumerate(numbered):
                queue.put_nowait((position, await self.complete(request)))
                if count % 32 == 31:
                    # A run of cache hits never waits for anything; let the others in now and then.
                    await asyncio.sleep(0)
        finally:
            queue.put_nowait(None)

    def find(self, request: Request, key: str) -> Response | None:
        """The stored answer, if it still passes validation."""
        text = self.store.get(key)
        if text is None and (request.fallbacks or self.settings.fallbacks):
            text = self.store.get_detour(key)
        if text is None:
            return None
        response = read_response(text)
        return revalidate(request, response)

    async def _ask(self, request: Request, key: str) -> Outcome:
        draft = _RequestState()
        reason, hopeless = "", False
        chain = self.settings.chain(request)
        for target in chain:
            dispatcher = self.dispatcher(target)
            try:
                outcome = await self._converse(dispatcher, request, key, draft)
            except ModelUnavailable as down:
                reason, hopeless = down.reason, down.hopeless
                draft.down.append(str(target))
                self.progress.counts["fallbacks"] += len(draft.down) < len(chain)
                continue
            except RequestRefused as refused:
                outcome = self._fail(key, target, "rejected", str(refused), draft)
            if isinstance(outcome, Failure):
                return await self._finish_failure(request, outcome, remembered=draft.remembered)
            return outcome
        if hopeless:
            raise ServiceError(f"stopped: {reason}")
        return await self._finish_failure(request, self._fail(key, chain[-1], "unavailable", reason, draft))

    def recall(self, request: Request, key: str) -> Conversation:
        """What a model has said to the request without an answer: to go on with, or over for this run.

        `key` is that of the request and the model.
        """
        found = read_conversation(self.store, key)
        if found is None or (found.run != self.run and found.is_over(self.count_answers(request))):
            return Conversation()
        return found

    def count_answers(self, request: Request) -> int:
        """How many answers to a request are paid for at most: the first, and one for every repair."""
        repairs = self.settings.retry.repairs
        return 1 + (repairs if request.repairs is None else min(repairs, request.repairs))

    async def _converse(self, dispatcher: ModelDispatcher, request: Request, key: str, draft: _RequestState) -> Outcome:
        """Ask one model, sending an unusable answer back with what is wrong with it.

        Where earlier such answers are in the store, it goes on from the last.
        """
        own_key = key_of(request, dispatcher.target) if draft.down else key
        said = self.recall(request, own_key)
        before = len(draft.notes)
        draft.notes += said.attempts
        draft.usage += said.usage
        draft.cost_usd += said.cost_usd
        if said.attempts:
            draft.stored.add(own_key)
        most = self.count_answers(request)
        draft.remembered = said.is_over(most)
        while not said.is_over(most):
            self.progress.counts["repairs"] += said.answers > 0
            messages = continue_messages(request, said.last)
            call = make_call(request, dispatcher.target, messages, dispatcher.provider.native_choices)
            amounts, worst = self._measure(dispatcher, request, messages)
            delivery = await dispatcher.call(call, amounts, worst, draft.notes)
            reply = delivery.reply
            draft.usage += reply.usage
            draft.cost_usd += delivery.cost_usd
            try:
                judged = judge(request, reply.text, reply.finish, reply.calls)
                if isinstance(judged, ValidatedAnswer):
                    return await self._deliver(dispatcher, request, key, draft, delivery, judged)
                kind, problem = judged
                draft.notes.append(Attempt(str(dispatcher.target), kind, problem, reply.text))
                said = said.add(self.run, draft.notes[before:], reply.usage, delivery.cost_usd)
                # The answer is of no use, but it is paid for: whoever goes on after a stop goes on behind it.
                bill = self.budget.settle_statement(delivery.cost_usd)
                await self.store.write((*bill, conversation_statement(own_key, dispatcher.target, said)))
                draft.stored.add(own_key)
            finally:
                dispatcher.gate.leave(delivery.permit, reply.usage)
        last = said.last
        assert last is not None
        return self._fail(key, dispatcher.target, cast(FailureKind, last.kind), last.detail, draft)

    async def _deliver(
        self,
        dispatcher: ModelDispatcher,
        request: Request,
        key: str,
        draft: _RequestState,
        delivery: PendingReply,
        answer: ValidatedAnswer,
    ) -> Response:
        """Store the answer, then hand it out."""
        reply, target = delivery.reply, dispatcher.target
        response = Response(
            key=key if not draft.down else key_of(request, target), provider=target.provider, model=target.model,
            model_version=reply.model_version, text=answer.text, finish=reply.finish, usage=draft.usage,
            cost_usd=draft.cost_usd, request_id=reply.request_id, latency_s=delivery.latency_s,
            attempts=tuple(draft.notes), logprobs=reply.logprobs, fallback_for=tuple(draft.down), calls=reply.calls,
            parsed=answer.parsed,
        )  # fmt: skip
        statements = (
            *self.budget.settle_statement(delivery.cost_usd), *response_statements(request, response, self.run, key),
            *map(forget_statement, draft.stored),
        )  # fmt: skip
        await self.store.write(statements)
        self.progress.finish("answered")
        self._run_health.count("")
        return response

    def _fail(self, key: str, target: ModelRef, kind: FailureKind, reason: str, draft: _RequestState) -> Failure:
        return Failure(
            key=key, provider=target.provider, model=target.model, kind=kind, reason=reason,
            attempts=tuple(draft.notes), usage=draft.usage, cost_usd=draft.cost_usd,
        )  # fmt: skip

    async def _finish_failure(self, request: Request, failure: Failure, *, remembered: bool = False) -> Failure:
        await self.store.write(failure_statements(request, failure, self.run))
        self.progress.fail(failure.kind)
        if remembered:
            # It says nothing of how the model does now.
            return failure
        hopeless = self._run_health.count(failure.kind)
        if hopeless:
            advice = "put right what is wrong, then `hopwright cache prune --failed` has the same command ask again"
            self._end(ServiceError(f"stopped: {hopeless}; the last: {failure.reason}; {advice}"))
        return failure

    def _measure(
        self, dispatcher: ModelDispatcher, request: Request, messages: tuple[Message, ...]
    ) -> tuple[ExpectedTokens, float]:
        schema_bytes = measure_schema(request)
        output = request.sampling.max_tokens
        amounts = ExpectedTokens(guess_tokens(messages, schema_bytes), output)
        if self.budget.limit is None:
            return amounts, 0.0
        return amounts, dispatcher.price.worst(bound_tokens(messages, schema_bytes), output)

    def _end(self, error: Exception) -> None:
        """End the run: nothing more is sent, what is in flight is still stored."""
        self._stop.set(error)
        for dispatcher in self._lanes.values():
            dispatcher.gate.abort(error)
        self.budget.abort(error)
