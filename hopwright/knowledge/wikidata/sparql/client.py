"""A SPARQL endpoint asked with patience: one request at a time, told who asks, and never sooner than it allows.

All faults that cross this boundary become one `ServiceError`, whose line names the endpoint and what to do. There
is one layer of retries, here.
"""

from __future__ import annotations

import datetime as dt
import email.utils
import http.client
import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from SPARQLWrapper import GET, JSON, POST, SPARQLWrapper

from hopwright.errors import ServiceError
from hopwright.foreign import BodyError, JsonError, TooLargeError, load_json, read_answer, read_body_limit, show
from hopwright.knowledge.wikidata.sparql.cache import AnswerCache
from hopwright.knowledge.wikidata.sparql.settings import SparqlSettings

_RETRY = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
_SAID = 2000
"""Bytes that are read of what goes with an HTTP error."""


class Term(NamedTuple):
    """One value of an answer: `kind` is `uri`, `literal` or `bnode`."""

    kind: str
    value: str
    datatype: str = ""
    language: str = ""


SparqlRow = dict[str, Term]
"""One solution: variable → value, without the variables that are unbound."""


class _RequestError(Exception):
    """Why one try failed; `again` says whether another may succeed, `wait_s` how long the service asked to wait."""

    def __init__(self, text: str, *, again: bool, wait_s: float | None = None, advice: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.again = again
        self.wait_s = wait_s
        self.advice = advice


class SparqlClient:
    """Sends queries to one endpoint and remembers its answers.

    `requests` counts what was sent, tries included; `hits` what the cache answered.
    """

    def __init__(
        self,
        settings: SparqlSettings,
        cache: AnswerCache | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.settings = settings
        self.requests = 0
        self.hits = 0
        self._cache = cache
        self._sleep = sleep
        # Spreads the retries of many clients; decides nothing about the data.
        self._random = random.Random()
        self._has_statements: bool | None = None

    @property
    def endpoint(self) -> str:
        """The endpoint's address."""
        return self.settings.endpoint

    def select(self, query: str, *, max_age_s: float | None = None) -> list[SparqlRow]:
        """Run a SELECT query. A cached answer older than `max_age_s` seconds is asked for again.

        Raises ServiceError when the endpoint fails for good.
        """
        answer = self._fetch(query, max_age_s)
        return [_read_row(row) for row in answer["results"]["bindings"]]

    def ask(self, query: str, *, max_age_s: float | None = None) -> bool:
        """Run an ASK query. Raises ServiceError when the endpoint fails for good."""
        return bool(self._fetch(query, max_age_s)["boolean"])

    def is_cached(self, query: str) -> bool:
        """Whether the query can be answered without the endpoint."""
        return self._cache is not None and self._cache.get(self.endpoint, query) is not None

    def has_statements(self) -> bool:
        """Whether facts are to be read as Wikidata's statements: as set, or as the endpoint says."""
        if self.settings.dialect != "auto":
            return self.settings.dialect == "statements"
        if self._has_statements is None:
            self._has_statements = self.ask("ASK { ?statement <http://wikiba.se/ontology#rank> ?rank }")
        return self._has_statements

    def _fetch(self, query: str, max_age_s: float | None) -> dict[str, Any]:
        form = "boolean" if query.lstrip().startswith("ASK") else "results"
        if self._cache is not None:
            body = self._cache.get(self.endpoint, query, max_age_s)
            if body is not None:
                try:
                    answer = _parse_answer(body, form)
                except _RequestError:
                    pass  # an entry that was damaged on disk is asked for again
                else:
                    self.hits += 1
                    return answer
        answer = self._send_patiently(query, form)
        if self._cache is not None:
            self._cache.put(self.endpoint, query, json.dumps(answer, ensure_ascii=False).encode())
        return answer

    def _send_patiently(self, query: str, form: str) -> dict[str, Any]:
        for tries in range(1, self.settings.max_tries + 1):
            try:
                return _parse_answer(self._send(query), form)
            except _RequestError as fault:
                if not fault.again:
                    raise ServiceError(self._say(fault, "")) from None
                if tries == self.settings.max_tries:
                    raise ServiceError(self._say(fault, f" in {tries} tries" if tries > 1 else "")) from None
                if fault.wait_s is not None and fault.wait_s > self.settings.max_wait_s:
                    raise ServiceError(
                        f"{self.endpoint} asks to wait {fault.wait_s:.0f} s ({fault.text}), more than the "
                        f"{self.settings.max_wait_s:.0f} s allowed; run again later, what was fetched is kept"
                    ) from None
                self._sleep(self._wait(tries) if fault.wait_s is None else fault.wait_s)
        raise AssertionError("max_tries is at least 1")

    def _send(self, query: str) -> bytes:
        """One request. Raises _RequestError."""
        wrapper = SPARQLWrapper(self.endpoint, returnFormat=JSON, agent=self.settings.agent)
        wrapper.setOnlyConneg(True)
        wrapper.setQuery(query)
        wrapper.setMethod(POST if len(query) >= self.settings.post_from else GET)
        self.requests += 1
        end = time.monotonic() + self.settings.timeout_s
        try:
            # SPARQLWrapper makes the request. Sent by it, the whole page of an error would be read, however long.
            request = wrapper._createRequest()
            with urllib.request.urlopen(request, timeout=self.settings.timeout_s) as response:
                return _read_body(response, end)
        except urllib.error.HTTPError as error:
            raise _judge_code(error.code, error.headers, _read_some(error, end)) from None
        except TooLargeError as error:
            raise _RequestError(
                f"gives too long an answer ({error})", again=False, advice="use a smaller batch size"
            ) from None
        except TimeoutError:
            raise self._judge_timeout() from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._judge_timeout() from None
            raise _RequestError(
                f"cannot be reached ({_shorten(error.reason)})",
                again=True,
                advice="check the address and the network, or work offline with the store's own literals",
            ) from None
        except (http.client.HTTPException, ConnectionError, OSError) as error:
            raise _RequestError(
                f"cut the connection ({type(error).__name__})",
                again=True,
                advice="run again later; what was fetched is kept",
            ) from None

    def _judge_timeout(self) -> _RequestError:
        return _RequestError(
            f"did not answer within {self.settings.timeout_s:g} s",
            again=True,
            advice="use a smaller batch size or a longer time-out",
        )

    def _wait(self, tries: int) -> float:
        longest = min(self.settings.first_wait_s * 2.0 ** (tries - 1), self.settings.max_wait_s)
        return longest * self._random.uniform(0.5, 1.0)

    def _say(self, fault: _RequestError, tries: str) -> str:
        advice = f"; {fault.advice}" if fault.advice else ""
        return f"the SPARQL endpoint {self.endpoint} {fault.text}{tries}{advice}"


def read_retry_after(value: str | None, now: dt.datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks to wait (a number or an HTTP date); None when it says nothing usable."""
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit() and len(value) <= 12:
        return float(value)
    try:
        until = email.utils.parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=dt.UTC)
    return max(0.0, (until - (now or dt.datetime.now(dt.UTC))).total_seconds())


def _read_body(response: http.client.HTTPResponse, end: float) -> bytes:
    try:
        body = read_answer(response, read_body_limit(), end)
    except TooLargeError:
        raise
    except BodyError as error:
        raise _RequestError(f"gives an answer that cannot be unpacked ({error})", again=True) from None
    kind = response.headers.get("Content-Type", "").split(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml") or body.lstrip()[:1] == b"<":
        raise _RequestError(
            f"answers with a page ({kind or 'no type'}: {_shorten(body[:200])}), not with SPARQL results",
            again=True,
            advice="check that the address is that of a query service (Wikidata's is https://query.wikidata.org/sparql)",
        )
    return body


def _parse_answer(body: bytes, form: str) -> dict[str, Any]:
    """The answer reduced to what was asked for. Raises _RequestError when it is not the JSON of SPARQL results."""
    try:
        answer = load_json(body)
        if form == "boolean":
            if isinstance(answer["boolean"], bool):
                return {"boolean": answer["boolean"]}
        else:
            rows = answer["results"]["bindings"]
            if all(_is_term(term) for row in rows for term in row.values()):
                return {"results": {"bindings": rows}}
    except (JsonError, KeyError, TypeError, AttributeError):
        pass
    # Wikidata's service breaks off in the middle of the JSON when a query runs out of time.
    raise _RequestError(
        f"sends no whole SPARQL JSON ({len(body)} bytes, ending {_shorten(body[-60:])!r})",
        again=True,
        advice="use a smaller batch size; if it stays so, the address is not that of a query service",
    )


def _is_term(term: dict[str, Any]) -> bool:
    fields = (term["value"], term["type"], term.get("datatype", ""), term.get("xml:lang", ""))
    return bool(term["type"]) and all(isinstance(field, str) for field in fields)


def _read_row(row: dict[str, dict[str, str]]) -> SparqlRow:
    return {
        name: Term(
            "literal" if term["type"] == "typed-literal" else term["type"],
            term["value"],
            term.get("datatype", ""),
            term.get("xml:lang", ""),
        )
        for name, term in row.items()
    }


def _judge_code(code: int, headers: Any, body: str) -> _RequestError:
    said = _shorten(body)
    if code in _RETRY or code >= 500:
        what = "is asked too often" if code == 429 else "fails"
        return _RequestError(
            f"{what} (HTTP {code}{': ' + said if said and code != 429 else ''})",
            again=True,
            wait_s=read_retry_after(headers.get("Retry-After") if headers is not None else None),
            advice="run again later; what was fetched is kept",
        )
    advice = {
        400: "this is a fault of the query for this service; try the other dialect",
        401: "it wants a login, which Hopwright does not give",
        403: "name a contact in the User-Agent, as Wikimedia asks",
        404: "check the address (Wikidata's is https://query.wikidata.org/sparql)",
        413: "use a smaller batch size",
        414: "send shorter queries by POST: lower the limit from which POST is used",
    }.get(code, "check the address and the settings")
    return _RequestError(f"refuses the query (HTTP {code}{': ' + said if said else ''})", again=False, advice=advice)


def _read_some(error: urllib.error.HTTPError, end: float) -> str:
    """The beginning of what goes with an error, as far as it comes in time."""
    said = b""
    try:
        while len(said) < _SAID and time.monotonic() < end and (part := cast(Any, error).read1(_SAID - len(said))):
            said += part
    except (OSError, http.client.HTTPException):
        pass
    return said.decode("utf-8", "replace")


def _shorten(text: object, width: int = 120) -> str:
    plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    line = " ".join(plain.split())
    return show(line if len(line) <= width else line[: width - 2] + " …")
