"""What a request costs: the dated price table, the bill of an answer, and the most that a request can come to."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hopwright.errors import InputError
from hopwright.llm.types import Message, ModelRef, TokenUsage

SHIPPED = Path(__file__).with_name("prices.toml")
_DATE = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
_OVERHEAD = 64
"""Tokens that a provider may add per message and for the schema's frame; none is known to add half as many."""


class Rates(BaseModel):
    """US dollars per million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    """Prices by model, the day they were read, and what a batch costs in relation."""

    models: dict[str, Price]
    dated: str
    batch_factor: float

    def find(self, model: str) -> Price | None:
        """The model's price, by its name, without a date at its end, or without an aggregator's prefix."""
        for name in (model, _DATE.sub("", model), _DATE.sub("", model.rsplit("/", 1)[-1])):
            if name in self.models:
                return self.models[name]
        return None


def read_prices(own: Path | None = None) -> PriceTable:
    """The shipped table, with the rows of `own` over it. Raises InputError naming the file and the row."""
    table = _read_table(SHIPPED)
    if own is None:
        return table
    extra = _read_table(own)
    return PriceTable({**table.models, **extra.models}, extra.dated, extra.batch_factor)


def explain_price(target: ModelRef) -> InputError:
    """What to do about a model without a price under a budget."""
    return InputError(
        f"no price is known for {target}, so no budget can be kept: add it to a price table (docs/models.md), or set "
        f"free = true on the endpoint if nothing is paid there"
    )


def bound_tokens(messages: Iterable[Message], schema_bytes: int = 0) -> int:
    """More tokens than any tokenizer makes of the prompt: a token stands for at least one byte."""
    return (
        schema_bytes
        + _OVERHEAD
        + sum(len(message.content.encode("utf-8", "replace")) + _OVERHEAD for message in messages)
    )


def guess_tokens(messages: Iterable[Message], schema_bytes: int = 0) -> int:
    """About as many tokens as the prompt has: four bytes each, as English has on the average."""
    return max(
        1, (schema_bytes + sum(len(message.content.encode("utf-8", "replace")) + 16 for message in messages)) // 4
    )


def _read_table(path: Path) -> PriceTable:
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"price table {path}: {error}") from error
    models = {}
    for name, row in content.get("models", {}).items():
        try:
            models[name] = Price.model_validate(row)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise InputError(f"price table {path}: {name}: {place}: {first['msg']}") from None
    dated = content.get("dated")
    if not dated:
        raise InputError(f'price table {path}: say when the prices were read: dated = "2026-11-20"')
    return PriceTable(models, str(dated), float(content.get("batch_factor", 0.5)))
