"""What a request costs: the price of a model, the bill of an answer, and the most that a request can come to.

Prices come from `genai-prices`, whose list is part of its package, so that nothing is looked up on the network.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
import importlib.metadata
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hopwright.errors import InputError
from hopwright.foreign import read_toml, show, show_invalid
from hopwright.llm.types import Message, ModelRef, TokenUsage

_PROVIDERS = ("anthropic", "openai")
"""Whose prices are taken from the list: others sell the same models at other prices."""
_DATE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
_OVERHEAD = 64
"""Tokens that a provider may add per message and for the schema's frame; none is known to add half as many."""
_MOST_OF_IMAGE, _OF_IMAGE = 4_096, 600
"""Tokens of a picture of some hundred pixels: more than any provider counts, and about what they count."""


class Rates(BaseModel):
    """US dollars per million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(None, ge=0)
    cache_write: float | None = Field(None, ge=0)

    def bill(self, usage: TokenUsage) -> float:
        """Dollars for these tokens."""
        plain = max(0, usage.input - usage.cached - usage.cache_written)
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.cache_write is None else self.cache_write
        dollars = (
            plain * self.input + usage.cached * cached + usage.cache_written * written + usage.output * self.output
        )
        return dollars / 1e6


class LongPrompt(Rates):
    """The rates of a request whose prompt exceeds `over` tokens."""

    over: int = Field(gt=0)


class Price(Rates):
    """One model's price."""

    long_prompt: LongPrompt | None = None

    def cost(self, usage: TokenUsage, factor: float = 1.0) -> float:
        """Dollars for one answer; `factor` is the batch discount."""
        long = self.long_prompt
        rates: Rates = long if long is not None and usage.input > long.over else self
        return rates.bill(usage) * factor

    def worst(self, input_tokens: int, output_tokens: int, factor: float = 1.0) -> float:
        """The most that a request of at most so many tokens can cost, however it is billed."""
        tiers: list[Rates] = [self]
        if self.long_prompt is not None and input_tokens > self.long_prompt.over:
            tiers.append(self.long_prompt)
        dearest = max(
            input_tokens * max(rates.input, rates.cached or 0.0, rates.cache_write or 0.0)
            + output_tokens * rates.output
            for rates in tiers
        )
        return dearest / 1e6 * factor


FREE = Price(input=0, output=0)


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by model, the day they were read or the list they are of, and what a batch costs in relation.

    `listed`: a model that is not in `models` is looked for in the list.
    """

    models: dict[str, Price]
    dated: str
    batch_factor: float
    listed: bool = False

    def find(self, model: str) -> Price | None:
        """The model's price, by its name, without a date at its end, or without an aggregator's prefix."""
        for name in (model, _DATE.sub("", model), _DATE.sub("", model.rsplit("/", 1)[-1])):
            if name in self.models:
                return self.models[name]
            if self.listed and (price := _find_listed(name)) is not None:
                return price
        return None


def read_prices(own: Path | None = None) -> PriceTable:
    """The list of prices, with the rows of `own` over it. Raises InputError naming the file and the row."""
    if own is None:
        return PriceTable({}, f"genai-prices {importlib.metadata.version('genai-prices')}", 0.5, listed=True)
    return dataclasses.replace(_read_table(own), listed=True)


def explain_price(target: ModelRef) -> InputError:
    """What to do about a model without a price under a budget."""
    return InputError(
        f"no price is known for {target}, so no budget can be kept: add it to a price table (docs/models.md), or set "
        f"free = true on the endpoint if nothing is paid there"
    )


def bound_tokens(messages: Iterable[Message], schema_bytes: int = 0) -> int:
    """More tokens than any tokenizer makes of the prompt: a token stands for at least one byte."""
    messages = tuple(messages)
    return (
        schema_bytes
        + _OVERHEAD
        + sum(_count_bytes(message) + _OVERHEAD * (1 + len(message.calls)) for message in messages)
        + _MOST_OF_IMAGE * sum(len(message.images) for message in messages)
    )


def guess_tokens(messages: Iterable[Message], schema_bytes: int = 0) -> int:
    """About as many tokens as the prompt has: four bytes each, as English has on the average."""
    messages = tuple(messages)
    images = _OF_IMAGE * sum(len(message.images) for message in messages)
    return max(1, (schema_bytes + sum(_count_bytes(message) + 16 for message in messages)) // 4 + images)


def _count_bytes(message: Message) -> int:
    """The bytes of a turn, of the calls in it and of the id that it answers."""
    texts = [message.content, message.answers]
    texts += [part for call in message.calls for part in (call.id, call.name, call.arguments)]
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


@functools.cache
def _find_listed(model: str) -> Price | None:
    """The price of a model by its exact name, as it is today; None for one that is not listed."""
    from genai_prices.data_snapshot import get_snapshot  # takes half a second

    for provider in get_snapshot().providers:
        for one in provider.models if provider.id in _PROVIDERS else ():
            if one.id == model:
                return _convert(one.get_prices(dt.datetime.now(dt.UTC)))
    return None


def _convert(prices: Any) -> Price | None:
    """Their prices as ours; of several steps by the length of the prompt, the first is taken at the last price."""
    names = {"input": "input", "output": "output", "cached": "cache_read", "cache_write": "cache_write"}
    plain: dict[str, float] = {}
    long: dict[str, float] = {}
    over = 0
    for ours, theirs in names.items():
        value = getattr(prices, f"{theirs}_mtok")
        if value is None:
            continue
        steps = getattr(value, "tiers", [])
        plain[ours] = float(getattr(value, "base", value))
        long[ours] = float(steps[-1].price) if steps else plain[ours]
        over = steps[0].start if steps else over
    if not {"input", "output"} <= plain.keys():
        return None
    return Price(**plain, long_prompt=LongPrompt(**long, over=over) if over else None)


def _read_table(path: Path) -> PriceTable:
    content = read_toml(path)
    models = {}
    rows = content.get("models", {})
    if not isinstance(rows, dict):
        raise InputError(f'price table {path}: models: each is a table of its own, such as [models."NAME"]')
    for name, row in rows.items():
        try:
            models[name] = Price.model_validate(row)
        except ValidationError as error:
            raise InputError(f"price table {path}: {show(name)}: {show_invalid(error)}") from None
    dated = content.get("dated")
    if not dated:
        raise InputError(f'price table {path}: say when the prices were read: dated = "2026-11-20"')
    factor = content.get("batch_factor", 0.5)
    if type(factor) not in (int, float) or not 0 < factor <= 1:
        raise InputError(f"price table {path}: batch_factor is no number above 0 and up to 1")
    return PriceTable(models, str(dated), float(factor))
