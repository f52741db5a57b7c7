"""One model at one endpoint: its gate, its health, and the only layer at which calls are retried."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from hopwright.llm.budget import Budget
from hopwright.llm.config import Endpoint, LlmSettings, key_variable
from hopwright.llm.headers import read_headroom
from hopwright.llm.health import Latencies, ModelHealth
from hopwright.llm.limits import AdaptiveLimit
from hopwright.llm.prices import FREE, Price
from hopwright.llm.progress import Progress
from hopwright.llm.providers import FATAL, MAYBE_BILLED, Call, CallError, Provider, Reply
from hopwright.llm.rate_limiter import ExpectedTokens, Permit, RateLimiter
from hopwright.llm.redaction import Redactor, clean_reply
from hopwright.llm.types import Attempt, ModelRef


class ModelUnavailable(Exception):  # noqa: N818 - a state, caught by the fall-back chain, never shown
    """The model cannot be asked now. `hopeless` says that no further request would fare better."""

    def __init__(self, reason: str, hopeless: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hopeless = hopeless


class RequestRefused(Exception):  # noqa: N818
    """The provider will not take this one request."""


@dataclass(slots=True)
class PendingReply:
    """A reply, still holding its permit: that is given back once the answer is on the disk."""

    reply: Reply
    permit: Permit
    latency_s: float
    cost_usd: float


class RunAbort:
    """The one thing that ends a run early: set once, seen by everything that waits."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self._event = asyncio.Event()

    def set(self, error: Exception) -> None:
        """End the run with this error; the first one counts."""
        if self.error is None:
            self.error = error
            self._event.set()

    def check(self) -> None:
        """Raise the error that ended the run, if it has ended."""
        if self.error is not None:
            raise self.error

    async def sleep(self, seconds: float) -> None:
        """Wait, but not past the end of the run."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            return
        self.check()


class ModelDispatcher:
    """All requests of a run to one model go through one lane."""

    def __init__(
        self, target: ModelRef, endpoint: Endpoint, settings: LlmSettings, provider: Provider, price: Price | None,
        budget: Budget, progress: Progress, redactor: Redactor, stop: RunAbort,
    ) -> None:  # fmt: skip
        limits = endpoint.limits_of(target.model)
        start = limits.start_concurrency or max(1, limits.max_concurrency // 2)
        self.target = target
        self.endpoint = endpoint
        self.provider = provider
        self.price = price or FREE
        self.health = ModelHealth(settings.breaker)
        self.gate = RateLimiter(
            AdaptiveLimit(start, limits.max_concurrency),
            {
                "requests": limits.requests_per_minute, "tokens": limits.tokens_per_minute,
                "input": limits.input_tokens_per_minute, "output": limits.output_tokens_per_minute,
            },
        )  # fmt: skip
        self._retry = settings.retry
        self._latencies = Latencies(settings.retry)
        self._budget = budget
        self._progress = progress
        self._redactor = redactor
        self._stop = stop
        self._bursts = 0
        # Spreads retries over time; what is sent and answered does not depend on it.
        self._random = random.Random()

    async def call(self, call: Call, amounts: ExpectedTokens, worst_usd: float, notes: list[Attempt]) -> PendingReply:
        """The reply to one call, after as many tries as it takes and the settings allow.

        What went wrong on the way is appended to `notes`. Raises ModelUnavailable, Refused, or the run's error.
        """
        tried = refused = 0
        while True:
            self._stop.check()
            if self.health.is_down(time.monotonic()):
                raise ModelUnavailable(self._explain_down(self.health.last_error), hopeless=True)
            permit = await self.gate.enter(amounts, again=tried + refused > 0)
            try:
                self._stop.check()
                await self._budget.reserve(worst_usd)
            except BaseException:
                self.gate.leave(permit, None)
                raise
            started = time.monotonic()
            self._progress.counts["sent"] += 1
            try:
                reply = await self.provider.send(call, self._latencies.timeout(tried))
            except CallError as error:
                self._settle_error(error, worst_usd)
                reason = self._redactor.clean_error(str(error))
                notes.append(Attempt(str(self.target), error.kind, reason))
                if error.kind == "rate_limit":
                    refused += 1
                    self._handle_refusal(error, permit, refused, reason)
                    continue
                self.gate.leave(permit, None)
                tried += 1
                await self._handle_error(error, tried, reason)
                continue
            except BaseException:
                # Cancelled while in flight: the answer may be billed all the same.
                self._budget.doubt(worst_usd)
                self.gate.leave(permit, None)
                raise
            latency_s = time.monotonic() - started
            # A model may repeat a key that it was told; it goes no further than here.
            reply = clean_reply(reply, self._redactor.clean)
            self._bursts = 0
            self._latencies.add(latency_s)
            self.health.count(True, started)
            self.gate.succeed(permit)
            headroom = read_headroom(reply.headers)
            if headroom:
                self.gate.learn(headroom)
            cost = self.price.cost(reply.usage)
            self._budget.settle(worst_usd, cost)
            self._progress.usage += reply.usage
            return PendingReply(reply, permit, latency_s, cost)

    def _settle_error(self, error: CallError, worst_usd: float) -> None:
        if error.kind in MAYBE_BILLED:
            self._budget.doubt(worst_usd)
        else:
            self._budget.release(worst_usd)
        headroom = read_headroom(error.headers)
        if headroom:
            self.gate.learn(headroom)

    def _handle_refusal(self, error: CallError, permit: Permit, refused: int, reason: str) -> None:
        self._progress.counts["refusals"] += 1
        demanded = error.retry_after_s
        if demanded is not None:
            # A little longer than demanded, never shorter: the workers of many machines would come back as one.
            wait = demanded + self._random.uniform(0, min(1.0, 0.05 * demanded))
        else:
            wait = self._backoff(self._bursts)
        if self.gate.refuse(permit, wait):
            self._bursts += 1
        self.gate.leave(permit, None)
        if wait > self._retry.max_pause_s:
            self.health.put_down(time.monotonic(), reason, wait)
            raise ModelUnavailable(f"{self.target} wants a pause of {wait:.0f} s: {reason}", hopeless=True)
        if refused >= self._retry.max_refusals:
            raise ModelUnavailable(f"{self.target} refused the request {refused} times: {reason}", hopeless=False)

    async def _handle_error(self, error: CallError, tried: int, reason: str) -> None:
        if error.kind in FATAL:
            self.health.put_down(time.monotonic(), reason, float("inf"))
            raise ModelUnavailable(self._explain_fatal(error, reason), hopeless=True)
        if error.kind == "bad_request":
            raise RequestRefused(reason)
        last_try = tried >= self._retry.max_attempts
        self.health.count(False, time.monotonic(), reason, last_try=last_try)
        if last_try:
            if self.health.is_down(time.monotonic()):
                raise ModelUnavailable(self._explain_down(reason), hopeless=True)
            raise ModelUnavailable(f"{self.target} gave no answer in {tried} tries: {reason}", hopeless=False)
        wait = self._backoff(tried - 1)
        if error.retry_after_s is not None:
            wait = max(wait, error.retry_after_s)
            if wait > self._retry.max_pause_s:
                self.health.put_down(time.monotonic(), reason, wait)
                raise ModelUnavailable(f"{self.target} wants a pause of {wait:.0f} s: {reason}", hopeless=True)
            self.gate.pause(time.monotonic() + error.retry_after_s)
        self._progress.counts["retries"] += 1
        await self._stop.sleep(wait)

    def _backoff(self, step: int) -> float:
        longest = min(self._retry.cap_s, self._retry.base_s * 2**step)
        return self._random.uniform(longest / 2, longest)

    def _explain_down(self, reason: str) -> str:
        place = urlsplit(self.endpoint.base_url)
        where = f" at {place.scheme}://{place.netloc.rpartition('@')[2]}" if place.netloc else ""
        return (
            f"{self.target}{where} is down: {reason}; check that the server runs and that base_url is its address, "
            "then run the same command again, it continues"
        )

    def _explain_fatal(self, error: CallError, reason: str) -> str:
        variable = key_variable(self.endpoint) or "its key"
        advice = {
            "auth": f"check {variable}", "quota": "the account has no credit left; top it up",
            "not_found": "check the model's name and the base URL",
        }  # fmt: skip
        return f"{self.target} refuses every request ({reason}); {advice[error.kind]}"
