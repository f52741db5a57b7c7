"""A Label Studio server as push and pull see it: an address, a token that is never repeated, failures in one line."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from label_studio_sdk import LabelStudio
from label_studio_sdk.core.api_error import ApiError
from pydantic import ValidationError

from annotation.access import check_address
from hopwright.errors import InputError, ServiceError
from hopwright.foreign import ENCODINGS, BodyError, BodyReader, read_body_limit, show
from hopwright.llm.redaction import Redactor

_TIMEOUT_SECONDS = 120
_NO_LABEL_STUDIO = "{server} does not answer like Label Studio; check the address"


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answered and took the token."""

    url: str
    client: LabelStudio = field(repr=False)


@contextlib.contextmanager
def open_server(url: str, token: str) -> Iterator[Server]:
    """Connect, and turn whatever the client raises in the block into one ServiceError that says what to do.

    Raises InputError for an address or a token that cannot be one; the token is in no error and in no `repr`.
    """
    address = check_address(url)
    if not token.strip():
        raise InputError("the Label Studio token is empty; copy one from Account & Settings in Label Studio")
    with _explain_failures(address, token.strip()):
        client = LabelStudio(  # type: ignore[no-untyped-call]
            base_url=address,
            api_key=token.strip(),
            timeout=_TIMEOUT_SECONDS,
            httpx_client=_make_http_client(address, token.strip()),
        )
        _check_server(client, address)
        yield Server(address, client)


def _check_server(client: LabelStudio, address: str) -> None:
    try:
        release = getattr(client.versions.get(), "release", None)
        client.users.whoami()  # its version a server tells everybody
    except (AttributeError, TypeError, RecursionError, ValidationError):
        # The client makes models of whatever comes.
        release = None
    if not release:
        raise ServiceError(_NO_LABEL_STUDIO.format(server=address))


class _BoundedStream(httpx.SyncByteStream):
    """An answer's body, unpacked here and no longer than allowed: the client's own decoders know no limit."""

    def __init__(self, stream: httpx.SyncByteStream, reader: BodyReader) -> None:
        self._stream = stream
        self._reader = reader

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            yield self._reader.feed(part)

    def close(self) -> None:
        """Give the connection back."""
        self._stream.close()


def _make_http_client(address: str, token: str) -> httpx.Client:
    """A client that reads bodies up to the limit, and follows redirects (as from http to https) on the same host."""
    hooks: dict[str, list[Callable[..., Any]]] = {
        "response": [functools.partial(_hold_response, httpx.URL(address).host, Redactor([token]))]
    }
    return httpx.Client(
        timeout=_TIMEOUT_SECONDS, follow_redirects=True, event_hooks=hooks, headers={"Accept-Encoding": ENCODINGS}
    )


def _hold_response(host: str, redactor: Redactor, response: httpx.Response) -> None:
    """Refuse a redirect to another host, and bound the body before anything of it is read."""
    if response.has_redirect_location:
        try:
            other = response.request.url.join(response.headers["location"]).host
        except (httpx.InvalidURL, ValueError):
            raise ServiceError(f"Label Studio at {host} redirects to what is no address; check its own") from None
        if other != host:
            raise ServiceError(
                f"Label Studio at {host} redirects to {show(redactor.clean(other))}, "
                "which gets neither token nor tasks; check the address"
            )
    assert isinstance(response.stream, httpx.SyncByteStream)
    reader = BodyReader(read_body_limit(), response.headers.pop("content-encoding", ""))
    response.stream = _BoundedStream(response.stream, reader)


@contextlib.contextmanager
def _explain_failures(server: str, token: str) -> Iterator[None]:
    """Turn what the client raises into one line that says what to do; the token never appears in it."""
    try:
        yield
    except httpx.TimeoutException:
        raise ServiceError(
            f"Label Studio at {server} did not answer within {_TIMEOUT_SECONDS} s; try again, nothing is done twice"
        ) from None
    except httpx.HTTPError as error:
        raise ServiceError(
            f"cannot reach Label Studio at {server} ({type(error).__name__}); start it, or check the address"
        ) from None
    except BodyError as error:
        raise ServiceError(f"Label Studio at {server}: {Redactor([token]).clean(str(error))}") from None
    except (RecursionError, ValidationError):
        # The client makes models of whatever comes.
        raise ServiceError(_NO_LABEL_STUDIO.format(server=server)) from None
    except ApiError as error:
        raise ServiceError(_explain_answer(server, error, Redactor([token]))) from None


def _explain_answer(server: str, error: ApiError, redactor: Redactor) -> str:
    if error.status_code in (401, 403):
        return (
            f"Label Studio at {server} refuses the token ({error.status_code}); "
            "copy a valid one from Account & Settings in Label Studio"
        )
    if error.status_code in (200, 404):  # 200: an answer that the client could not read
        return _NO_LABEL_STUDIO.format(server=server)
    body = error.body
    detail = (body.get("validation_errors") or body.get("detail") or body) if isinstance(body, dict) else body
    # What is cut first would keep the part of a token that the cut leaves.
    text = " ".join(redactor.clean(" ".join(_find_texts(detail))).split())
    return f"Label Studio at {server} answered {error.status_code}: {text[:300]}"


def _find_texts(detail: object) -> Iterator[str]:
    """Every text in an error's body, however nested."""
    if isinstance(detail, dict | list):
        for one in detail.values() if isinstance(detail, dict) else detail:
            yield from _find_texts(one)
    elif detail is not None:
        yield str(detail)
