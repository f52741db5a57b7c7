"""Endpoints by name: the official SDKs, and the lean path for servers given by base URL."""

from __future__ import annotations

from hopwright.llm.config import PROVIDERS, Endpoint, read_key
from hopwright.llm.providers.base import FATAL, MAYBE_BILLED, Call, CallError, Provider, Reply

__all__ = ["FATAL", "MAYBE_BILLED", "Call", "CallError", "Provider", "Reply", "make_provider"]


def make_provider(endpoint: Endpoint) -> Provider:
    """Return the provider for an endpoint. Raises InputError where its key is missing.

    SDKs are imported only here: they take up to a second and a half.
    """
    made: Provider = PROVIDERS.find(endpoint.kind)(endpoint, read_key(endpoint))
    return made
