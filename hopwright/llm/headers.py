"""Reads what a response's headers say about rate limits: both providers' names, and `Retry-After`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from hopwright.llm.limits import Headroom

# Meter name → header names (limit, remaining, reset) as each provider spells them.
_OPENAI = {
    name: tuple(f"x-ratelimit-{part}-{name}" for part in ("limit", "remaining", "reset"))
    for name in ("requests", "tokens")
}
_ANTHROPIC = {
    meter: tuple(f"anthropic-ratelimit-{name}-{part}" for part in ("limit", "remaining", "reset"))
    for meter, name in (
        ("requests", "requests"), ("tokens", "tokens"), ("input", "input-tokens"), ("output", "output-tokens"),
    )
}  # fmt: skip
_DURATION = re.compile(
    r"(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?", re.ASCII
)


def read_headroom(headers: Mapping[str, str]) -> dict[str, Headroom]:
    """What is left per meter (`requests`, `tokens`, `input`, `output`); empty where the server does not say."""
    if "x-ratelimit-limit-requests" in headers or "x-ratelimit-limit-tokens" in headers:
        names = _OPENAI
    elif "anthropic-ratelimit-requests-limit" in headers or "anthropic-ratelimit-tokens-limit" in headers:
        names = _ANTHROPIC
    else:
        return {}
    found = {}
    for meter, (limit, remaining, reset) in names.items():
        try:
            reset_s = _read_reset(headers.get(reset, ""))
            room = Headroom(_read_number(headers[limit]), _read_number(headers[remaining]), reset_s)
        except (KeyError, ValueError, OverflowError):
            continue
        found[meter] = room
    return found


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as the server demands, or None where it says nothing that can be read."""
    precise = headers.get("retry-after-ms", "")
    if _is_number(precise):
        return max(0.0, float(precise) / 1000)
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    if _is_number(value):
        return max(0.0, float(value))
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,12})?", text))


def _read_number(text: str) -> float:
    if not _is_number(text.strip()):
        raise ValueError(text)
    return float(text)


def _read_reset(text: str) -> float:
    """Seconds, from `6m0s`, `20ms`, `1.5`, or an RFC 3339 moment."""
    if _is_number(text):
        return float(text)
    match = _DURATION.fullmatch(text)
    if match and text:
        hours, minutes, seconds, millis = (float(part or 0) for part in match.groups())
        return hours * 3600 + minutes * 60 + seconds + millis / 1000
    moment = datetime.fromisoformat(text)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
