"""Keeps keys out of everything that is written: errors, transcripts, logs."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from hopwright.llm.config import Endpoint, key_variable
from hopwright.llm.providers.base import Reply

HIDDEN = "[key removed]"
_ALWAYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENROUTER_API_KEY", "HF_TOKEN")
_SHORTEST = 6
_SHORTEST_CODED = 12
"""Characters of a key that is also looked for in other spellings: a shorter one is as often a word."""
_LONGEST_CODED = 512
_PART = 12
"""Characters from which on the beginning of a key is taken for it; the first of many are the same in all keys."""
_SHOWN_OF_ERROR = 1_000


class Redactor:
    """Replaces the keys known when it was made, whole, cut off, or in the shortened forms that providers echo.

    Also in other case, reversed, spaced out, and as escapes of JSON or HTML, in percent encoding, hexadecimal, base64
    and base32, of UTF-8 or UTF-16: what repeats a request's headers seldom repeats them as they were. What is coded
    twice, or in a way of the server's own, is not found.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        found = sorted({key for key in keys if len(key) >= _SHORTEST}, key=len, reverse=True)
        parts = [re.escape(key) for key in found]
        # A provider's error shows a key as `sk-ab***wxyz`.
        parts += [re.escape(key[:3]) + r"[\w-]*\*{3,}[\w-]*" for key in found]
        parts += [_spell_beginning(key) for key in found if len(key) >= _SHORTEST_CODED]
        long = [key for key in found if _SHORTEST_CODED <= len(key) <= _LONGEST_CODED]
        parts += [part for number, key in enumerate(long) for part in _list_spellings(key, number)]
        self._pattern = re.compile("|".join(parts)) if parts else None
        self._codings = sorted({coded for key in long for coded in _list_codings(key)}, key=len, reverse=True)

    def clean(self, text: str) -> str:
        """The text without any key."""
        for coded in self._codings:
            text = text.replace(coded, HIDDEN)
        return self._pattern.sub(HIDDEN, text) if self._pattern else text

    def clean_error(self, text: str) -> str:
        """What an error says without any key, and then cut to what is shown of it."""
        clean = self.clean(text)
        return clean if len(clean) <= _SHOWN_OF_ERROR else f"{clean[: _SHOWN_OF_ERROR - 1]}…"


def make_redactor(endpoints: Iterable[Endpoint]) -> Redactor:
    """A redactor for the keys of these endpoints and the usual ones, as the environment has them now."""
    names = {key_variable(endpoint) for endpoint in endpoints} | set(_ALWAYS)
    return Redactor(os.environ.get(name, "") for name in names if name)


def clean_reply(reply: Reply, clean: Callable[[str], str]) -> Reply:
    """The reply without any key, wherever a server may have put one that it was told."""
    return replace(
        reply, text=clean(reply.text), model_version=clean(reply.model_version), request_id=clean(reply.request_id),
        logprobs=tuple(tuple((clean(token), value) for token, value in place) for place in reply.logprobs),
        calls=tuple(replace(one, name=clean(one.name), arguments=clean(one.arguments)) for one in reply.calls),
    )  # fmt: skip


def _list_spellings(key: str, number: int) -> Iterable[str]:
    """Patterns of a key's other spellings; `number` tells its groups from those of other keys."""
    for letters in (key, key[::-1]):
        yield "(?i:" + "".join(map(_spell, letters)) + ")"
    # In UTF-16, noughts lie between the bytes.
    yield r"(?i:" + r"(?:[\s:,-]|0x|\\x|00)*".join(f"{byte:02x}" for byte in key.encode()) + ")"
    # The same between all letters is no accident, whatever the key is.
    first, *others = map(re.escape, key)
    yield f"(?is:{first}(?P<s{number}>.{{1,6}}?){f'(?P=s{number})'.join(others)})"


def _list_codings(key: str) -> Iterable[str]:
    """What a key is in base64 and base32, at every position.

    Whatever goes before shifts the key by some bytes; the letters that it shares are left out.
    """
    for data in (key.encode(), key.encode("utf-16-le"), key.encode("utf-16-be")):
        for code in (base64.b64encode, base64.urlsafe_b64encode):
            for shift in range(3):
                coded = code(b"\0" * shift + data).decode().rstrip("=")
                yield coded[(8 * shift + 5) // 6 : (8 * (shift + len(data))) // 6]
        for shift in range(5):
            coded = base64.b32encode(b"\0" * shift + data).decode().rstrip("=")
            whole = coded[(8 * shift + 4) // 5 : (8 * (shift + len(data))) // 5]
            yield from (whole, whole.lower())


def _spell_beginning(key: str) -> str:
    """A pattern of any beginning of a key that tells something of it."""
    return re.escape(key[: min(_PART, len(key) // 2)]) + r"[\w./+=~-]*"


def _spell(letter: str) -> str:
    """A pattern of one character: itself, or as an escape of JSON, of a URL or of HTML."""
    number = ord(letter)
    spelt = [re.escape(letter), rf"\\+u{number:04x}", rf"\\+x{number:02x}", rf"&#(?:{number}|x0*{number:x});"]
    spelt.append("".join(f"%(?:25)?{byte:02x}" for byte in letter.encode()))
    if not letter.isalnum():
        spelt.append(rf"\\+{re.escape(letter)}")
    return f"(?:{'|'.join(spelt)})"
