"""One client for every language model: cached, rate-limited, budgeted, and safe to kill at any moment.

Importing this package loads no provider's SDK; the first request to an endpoint does.
"""

from hopwright.llm.types import (
    Attempt,
    Failure,
    Message,
    ModelRef,
    Outcome,
    Request,
    Response,
    Sampling,
    Usage,
    key_of,
    parse_model,
)

__all__ = [
    "Attempt",
    "Failure",
    "Message",
    "ModelRef",
    "Outcome",
    "Request",
    "Response",
    "Sampling",
    "Usage",
    "key_of",
    "parse_model",
]
