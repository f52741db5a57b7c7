"""Endpoints by name: the official SDKs, and the lean path for servers given by base URL."""

from __future__ import annotations

from hopwright.llm.config import Endpoint, read_key
from hopwright.llm.providers.base import FATAL, MAYBE_BILLED, Call, CallError, Provider, Reply

__all__ = ["FATAL", "MAYBE_BILLED", "Call", "CallError", "Provider", "Reply", "make_provider"]


def make_provider(endpoint: Endpoint) -> Provider:
    """The provider for an endpoint. Raises InputError where its key is missing.

    SDKs are imported only here: they take up to a second and a half.
    """
    key = read_key(endpoint)
    if endpoint.kind == "anthropic":
        from hopwright.llm.providers.sdk import AnthropicSdkProvider

        return AnthropicSdkProvider(endpoint, key)
    if endpoint.kind == "openai":
        from hopwright.llm.providers.sdk import OpenAISdkProvider

        return OpenAISdkProvider(endpoint, key)
    from hopwright.llm.providers.plain_http import PlainHttpProvider

    return PlainHttpProvider(endpoint, key)
