"""What a run would come to, before anything is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from hopwright.llm.config import LlmSettings
from hopwright.llm.judging import measure_schema
from hopwright.llm.prices import FREE, PriceTable, bound_tokens, guess_tokens
from hopwright.llm.store import Store
from hopwright.llm.types import Request, key_of, read_response

_TYPICAL_LATENCY_S = 3.0
_TYPICAL_OUTPUT = 0.35
"""Share of `max_tokens` that an answer takes where the store has no answers of that model to go by."""


@dataclass(frozen=True, slots=True)
class ApproximateRequest:
    """A request that is not known to the letter before another one is answered; about as long as the real one."""

    request: Request


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """One model's part. `usd` is the expected cost, None without a price; `worst_usd` bounds it from above."""

    stage: str
    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    worst_usd: float | None
    minutes: float


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """A whole run. `cached` requests are answered from the store and cost nothing."""

    requests: int
    cached: int
    repeated: int
    models: tuple[ModelEstimate, ...]
    unpriced: tuple[str, ...]
    minutes: float
    usd: float
    worst_usd: float
    prices_dated: str

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


@dataclass(slots=True)
class _RequestTotals:
    requests: int = 0
    input: int = 0
    output: int = 0
    worst_usd: float = 0.0
    latency_s: float = 0.0

    def grow(self, factor: float) -> None:
        """Scale from a sample to the whole."""
        self.requests, self.input, self.output = (
            round(amount * factor) for amount in (self.requests, self.input, self.output)
        )
        self.worst_usd *= factor
        self.latency_s *= factor


def estimate_run(
    requests: Iterable[Request | ApproximateRequest], settings: LlmSettings, store: Store, prices: PriceTable,
    batch: bool = False, *, growth: float = 1.0, stage: str = "",
) -> CostEstimate:  # fmt: skip
    """Requests, tokens, dollars and minutes that these requests would take; `batch` at the batch price.

    Expected output tokens and latency are those of the model's answers in the store, where it has some. With `growth`
    these requests are a sample of as many times more; `stage` is a label.
    """
    tallies: dict[tuple[str, str], _RequestTotals] = {}
    seen: Counter[str] = Counter()
    cached = 0
    history: dict[tuple[str, str, str], tuple[float, float] | None] = {}
    factor = prices.batch_factor if batch else 1.0
    for listed in requests:
        if isinstance(listed, ApproximateRequest):
            # It stands for another one: that the store has it, or that it came before, says nothing.
            request = listed.request
            seen[f"likely {seen.total()}"] += 1
        else:
            request, key = listed, key_of(listed)
            seen[key] += 1
            if seen[key] > 1:
                continue
            if store.get(key) is not None or store.get_detour(key) is not None:
                cached += 1
                continue
        target = (request.provider, request.model)
        kind = (*target, request.prompt)
        if kind not in history:
            history[kind] = _read_history(store, *kind)
        tally = tallies.setdefault(target, _RequestTotals())
        schema_bytes = measure_schema(request)
        most = request.sampling.max_tokens
        known = history[kind]
        tally.requests += 1
        tally.latency_s += known[1] if known else _TYPICAL_LATENCY_S
        tally.input += guess_tokens(request.messages, schema_bytes)
        tally.output += min(most, round(known[0])) if known else max(1, round(most * _TYPICAL_OUTPUT))
        price = FREE if settings.endpoint(request.provider).free else prices.find(request.model)
        if price is not None:
            tally.worst_usd += price.worst(bound_tokens(request.messages, schema_bytes), most, factor)
    for tally in tallies.values():
        tally.grow(growth)
    parts = tuple(_estimate_model(stage, target, tally, settings, prices, factor) for target, tally in tallies.items())
    return CostEstimate(
        requests=round(seen.total() * growth), cached=round(cached * growth),
        repeated=round((seen.total() - len(seen)) * growth), models=parts,
        unpriced=tuple(part.model for part in parts if part.usd is None),
        # Models are asked side by side as far as the rows allow; the slowest decides.
        minutes=max((part.minutes for part in parts), default=0.0),
        usd=sum(part.usd or 0.0 for part in parts), worst_usd=sum(part.worst_usd or 0.0 for part in parts),
        prices_dated=prices.dated,
    )  # fmt: skip


def add_estimates(estimates: Iterable[CostEstimate]) -> CostEstimate:
    """The sum of stages that follow one another."""
    parts = [estimate for estimate in estimates if estimate.requests]
    return CostEstimate(
        requests=sum(part.requests for part in parts), cached=sum(part.cached for part in parts),
        repeated=sum(part.repeated for part in parts), models=tuple(model for part in parts for model in part.models),
        unpriced=tuple(dict.fromkeys(name for part in parts for name in part.unpriced)),
        minutes=sum(part.minutes for part in parts), usd=sum(part.usd for part in parts),
        worst_usd=sum(part.worst_usd for part in parts),
        prices_dated=max((part.prices_dated for part in parts), default=""),
    )  # fmt: skip


def render_estimate(estimate: CostEstimate) -> str:
    """Markdown for a terminal or an artifact."""
    lines = [
        f"{estimate.requests:,} requests: {estimate.cached:,} answered from the cache, {estimate.repeated:,} repeated, "
        f"{sum(part.requests for part in estimate.models):,} to send.",
        "",
        "| stage | model | requests | tokens in | tokens out | dollars | at most | minutes |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for part in estimate.models:
        usd = f"{part.usd:,.2f}" if part.usd is not None else "unknown"
        worst = f"{part.worst_usd:,.2f}" if part.worst_usd is not None else "unknown"
        lines.append(
            f"| {part.stage} | {part.model} | {part.requests:,} | {part.input_tokens:,} | {part.output_tokens:,} "
            f"| {usd} | {worst} | {part.minutes:,.1f} |"
        )
    minutes = f"about {estimate.minutes:,.1f} minutes."
    priced = (
        f"{estimate.usd:,.2f} dollars, at most {estimate.worst_usd:,.2f} unless answers must be repaired or retried"
    )
    unpriced = f"no price is known for {', '.join(estimate.unpriced)}"
    if len(estimate.unpriced) == len({part.model for part in estimate.models}) > 0:
        lines += ["", f"What it would cost is not known, for {unpriced}; {minutes}"]
    elif estimate.unpriced:
        lines += ["", f"At least {priced} (prices of {estimate.prices_dated}); {unpriced}; {minutes}"]
    else:
        lines += ["", f"About {priced} (prices of {estimate.prices_dated}); {minutes}"]
    return "\n".join(lines)


def _read_history(store: Store, provider: str, model: str, prompt: str) -> tuple[float, float] | None:
    """Mean output tokens and mean latency of the model's answers to this prompt, else of its last answers at all."""
    rows = store.read(
        "SELECT response FROM exchanges JOIN responses USING (key) WHERE prompt = ? AND provider = ? AND model = ? "
        "LIMIT 200",
        (prompt, provider, model),
    ) or store.read(
        "SELECT response FROM responses WHERE provider = ? AND model = ? ORDER BY rowid DESC LIMIT 200",
        (provider, model),
    )  # fmt: skip
    if not rows:
        return None
    answers = [read_response(str(row[0])) for row in rows]
    count = len(answers)
    return sum(answer.usage.output for answer in answers) / count, sum(answer.latency_s for answer in answers) / count


def _estimate_model(
    stage: str, target: tuple[str, str], tally: _RequestTotals, settings: LlmSettings, prices: PriceTable, factor: float
) -> ModelEstimate:
    endpoint = settings.endpoint(target[0])
    price = FREE if endpoint.free else prices.find(target[1])
    limits = endpoint.limits_of(target[1])
    seconds = max(tally.latency_s / max(1, tally.requests), tally.latency_s / limits.max_concurrency)
    for amount, limit in (
        (tally.requests, limits.requests_per_minute),
        (tally.input + tally.output, limits.tokens_per_minute),
        (tally.input, limits.input_tokens_per_minute),
        (tally.output, limits.output_tokens_per_minute),
    ):
        if limit is not None:
            # The first minute's worth goes at once.
            seconds = max(seconds, 60.0 * (amount - limit) / limit)
    usd = None
    if price is not None:
        usd = (tally.input * price.input + tally.output * price.output) / 1e6 * factor
    return ModelEstimate(
        stage=stage, model="/".join(target), requests=tally.requests, input_tokens=tally.input,
        output_tokens=tally.output, usd=usd, worst_usd=None if price is None else tally.worst_usd, minutes=seconds / 60,
    )  # fmt: skip
