"""What comes from outside: how much of it is taken, how it is read, and how it is shown.

Whoever wrote a file or answers a request decides what is in it. So every body has a longest length, before and after
decompression; JSON that another program could not have meant is refused in one line; and control characters, which a
terminal obeys and a page hides, are shown as what they are.
"""

from __future__ import annotations

import codecs
import errno
import http.client
import io
import json
import math
import os
import re
import stat
import struct
import time
import tomllib
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from hopwright.errors import InputError

BODY_VARIABLE = "HOPWRIGHT_MAX_ANSWER_MIB"
"""The environment variable with the longest body of one answer to a request, in MiB."""
_BODY_MIB = 16
LONGEST_LINE = 16 << 20
"""Bytes of one line of a file of records. A release's row takes some 20 kB."""
ENCODINGS = "gzip, deflate"
"""The compressions of bodies that are read, as a request names them."""
LONGEST_FILE = 1 << 30
"""Bytes of a file that is read at once."""
_BLOCK = 1 << 20
_CHUNK = 1 << 16
_DEPTH = 64
"""Levels of arrays and objects in one JSON value. A release's row has 8."""
_NO_FILES = {
    stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"
}  # fmt: skip
DAMAGED_HEADERS = (RuntimeError, ValueError, ArithmeticError, LookupError, struct.error)
"""What zipfile and tarfile raise beside their own errors for the headers of a damaged archive."""
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Packings of a zip's members that `zipfile` unpacks in pieces: of bz2 and LZMA it takes what comes, however much."""
_NAMED_PACKINGS = {9: "deflate64", zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "LZMA", 93: "zstandard"}
_SHOWN = 200
_SHOWN_OF_FILE = 300

# What a terminal obeys (C0, C1), what turns text round or hides it (bidirectional marks), and what is no character.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_CONTROL_BUT_LINES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class BodyError(ValueError):
    """A body that is not read: too long, packed in a way that is not known, or damaged."""


class TooLargeError(BodyError):
    """A body that is longer than is read of one."""


class PackingError(zipfile.BadZipFile):
    """A member of a zip that is packed in a way that is not unpacked."""


class JsonError(ValueError):
    """What is no JSON, or none that is read; its text is one line."""


def read_body_limit() -> int:
    """Bytes that are read of one answer, from HOPWRIGHT_MAX_ANSWER_MIB; 16 MiB without it.

    Raises InputError where the variable holds no whole number of MiB from 1 to 65,536.
    """
    text = os.environ.get(BODY_VARIABLE, "").strip()
    if not text:
        return _BODY_MIB << 20
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= 65_536):
        raise InputError(f"{BODY_VARIABLE} is {show(text)!r}; it takes a whole number of MiB from 1 to 65536")
    return int(text) << 20


class BodyReader:
    """Decompresses one body as it arrives, and stops once it is longer than `limit` bytes, packed or unpacked.

    `encoding` is the Content-Encoding. Raises TooLargeError, and BodyError for a compression that is not known
    or data that is damaged. Memory stays at what came, whatever it would unpack to.
    """

    def __init__(self, limit: int, encoding: str | None = "") -> None:
        self.limit = limit
        self._packed = self._unpacked = 0
        self._encoding = (encoding or "").strip().lower()
        self._wrapped = True
        if self._encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            # Which one is not said: what a request told the server, such as a key, may come back as the name of one.
            raise BodyError("the answer is packed in a way that was not asked for")
        self._unpack = self._start() if self._encoding not in ("", "identity") else None

    def feed(self, data: bytes) -> bytes:
        """What these bytes are, unpacked."""
        self._packed = self._check(self._packed + len(data))
        if self._unpack is None:
            return data
        parts: list[bytes] = []
        while data:
            try:
                part = self._unpack.decompress(data, self.limit - self._unpacked + 1)
            except zlib.error as error:
                if self._encoding == "deflate" and not self._unpacked and self._wrapped:
                    # Some servers send the bare stream.
                    self._unpack, self._wrapped = zlib.decompressobj(-zlib.MAX_WBITS), False
                    continue
                raise BodyError(f"the answer's compression is damaged ({error})") from None
            self._unpacked = self._check(self._unpacked + len(part))
            parts.append(part)
            data = self._unpack.unconsumed_tail
            if self._unpack.eof:
                # A file may hold several packed ones.
                data = self._unpack.unused_data
                self._unpack = self._start()
        return b"".join(parts)

    def _start(self) -> Any:
        self._wrapped = True
        return zlib.decompressobj(zlib.MAX_WBITS if self._encoding == "deflate" else zlib.MAX_WBITS | 16)

    def _check(self, size: int) -> int:
        if size > self.limit:
            raise TooLargeError(
                f"the answer is longer than {self.limit >> 20} MiB, and was not read on (the limit: {BODY_VARIABLE})"
            )
        return size


def read_answer(response: http.client.HTTPResponse, limit: int, end: float) -> bytes:
    """The whole body of an answer, unpacked.

    Raises BodyError; TimeoutError past `end`, a time of `time.monotonic`: a socket's own time-out starts anew with each
    byte, and a trickle would never end; IncompleteRead where fewer bytes come than were promised.
    """
    reader = BodyReader(limit, response.headers.get("Content-Encoding"))
    parts: list[bytes] = []
    received = 0
    while part := response.read1(_CHUNK):
        received += len(part)
        parts.append(reader.feed(part))
        if time.monotonic() > end:
            raise TimeoutError("the answer trickles")
    promised = response.headers.get("Content-Length", "")[:20]
    if promised.isascii() and promised.isdigit() and received < int(promised):
        raise http.client.IncompleteRead(b"", int(promised) - received)
    return b"".join(parts)


def load_json(data: bytes | str, *, strict: bool = True, halves: bool = False) -> Any:
    """The JSON value in a text, or in UTF-8. Raises JsonError. Not `strict`: strings may hold raw control characters.
    With `halves` of surrogate pairs, the caller mends them.

    Refused beside what is no JSON: NaN and infinities, numbers past a float's range or of more than 4,300 digits,
    halves of surrogate pairs, and more than 64 levels of nesting.
    """
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_read_float, strict=strict)
    except UnicodeDecodeError:
        raise JsonError("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg} at line {error.lineno}, character {error.colno}") from None
    except JsonError:
        raise
    except RecursionError:
        raise JsonError(f"nested more than {_DEPTH} levels deep") from None
    except ValueError:
        raise JsonError("a number of more digits than are read") from None
    _check_depth(value)
    if not halves and _SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise JsonError("half of a surrogate pair, which is no character") from None
    return value


def read_lines(
    file: IO[bytes], longest: int = LONGEST_LINE, *, ends: bool = False
) -> Iterator[tuple[int, bytes | None]]:
    """Every line with its number from 1, with its end or without it; None for one of more than `longest` bytes.

    Memory stays at one longest line.
    """
    number = 0
    while line := file.readline(longest + 1):
        number += 1
        if len(line) <= longest or line.endswith(b"\n"):
            yield number, line if ends else line.rstrip(b"\r\n")
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(_BLOCK)
        yield number, None


def read_array(file: IO[bytes], longest: int = LONGEST_LINE) -> Iterator[Any]:
    """The entries of one JSON array in UTF-8, one by one; to the end, where a packed file's check sum stands.

    Memory stays at two of the longest entries, of `longest` characters. Raises JsonError, for what `load_json` refuses
    too: halves of surrogate pairs are left to the caller.
    """
    text = _ArrayText(file, longest)
    if text.peek() != "[":
        raise JsonError("not a JSON array")
    text.place += 1
    first = True
    while (sign := text.peek()) != "]":
        if not first:
            if sign != ",":
                raise JsonError("not JSON: a comma or the end of the array is missing")
            text.place += 1
        yield text.read_value()
        first = False
    text.place += 1
    if text.peek():
        raise JsonError("not JSON: something stands behind the array")


class _ArrayText:
    """The text of a file as it is read on; what is before `place` was used."""

    def __init__(self, file: IO[bytes], longest: int) -> None:
        self._file = file
        self._longest = longest
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._ended = False
        self.text = ""
        self.place = 0

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            self.place = cast("re.Match[str]", _SPACE.match(self.text, self.place)).end()
            if self.place < len(self.text) or not self._read_on():
                return self.text[self.place : self.place + 1]

    def read_value(self) -> Any:
        """The value that begins next."""
        self.peek()
        while True:
            try:
                value, end = _ARRAY_DECODER.raw_decode(self.text, self.place)
            except json.JSONDecodeError as error:
                if self._read_on():
                    continue
                raise JsonError(f"not JSON: {error.msg}") from None
            except RecursionError:
                raise JsonError(f"nested more than {_DEPTH} levels deep") from None
            except JsonError:
                raise
            except ValueError:
                raise JsonError("a number of more digits than are read") from None
            # A number may go on behind what was read so far.
            if end == len(self.text) and self._read_on():
                continue
            self.place = end
            _check_depth(value)
            return value

    def _read_on(self) -> bool:
        """Read as much again as there is; whether there was more."""
        self.text, self.place = self.text[self.place :], 0
        if self._ended:
            return False
        if len(self.text) > self._longest:
            raise JsonError(f"no JSON, or an entry of more than {self._longest:,} characters")
        try:
            data = self._file.read(max(_BLOCK, len(self.text)))
            self._ended = not data
            self.text += self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError:
            raise JsonError("not UTF-8") from None
        return not self._ended


def open_file(path: Path) -> io.BufferedReader:
    """Open a file of others for reading its bytes. Raises OSError, as opening itself does, for what is no file."""
    check_file(path)
    return path.open("rb")


def check_file(path: Path) -> None:
    """Raises OSError where nothing is, or a folder, a pipe, a socket or a device, which may block or never end."""
    kind = stat.S_IFMT(path.stat().st_mode)
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if kind != stat.S_IFREG:
        raise OSError(errno.EINVAL, f"it is {_NO_FILES.get(kind, 'no regular file')}, not a file", str(path))


def read_bounded(file: IO[bytes], most: int, what: object) -> bytes:
    """The whole of a file that is read at once. Raises InputError, naming `what`, where it has more bytes than that."""
    data = file.read(most + 1)
    if len(data) > most:
        raise InputError(f"{what} is too large: more than {most >> 20:,} MiB are not read at once")
    return data


def open_member(archive: zipfile.ZipFile, name: str | zipfile.ZipInfo) -> IO[bytes]:
    """Open a member of a zip, whose bytes are to be read in pieces: the size that it states may not be its own.

    Raises PackingError for one that is packed in another way than by deflate, zipfile.BadZipFile for a locked one.
    """
    entry = name if isinstance(name, zipfile.ZipInfo) else archive.getinfo(name)
    check_packing(entry)
    try:
        return archive.open(entry)
    except (RuntimeError, ValueError, struct.error) as error:
        raise zipfile.BadZipFile(str(error)) from None


def check_packing(entry: zipfile.ZipInfo) -> None:
    """Raises PackingError for a member that cannot be unpacked in pieces."""
    if entry.compress_type not in _PACKINGS:
        packing = _NAMED_PACKINGS.get(entry.compress_type, f"method {entry.compress_type}")
        raise PackingError(f"{show(entry.filename)} is packed by {packing}; pack it by deflate")


def read_file(path: Path, most: int = LONGEST_LINE) -> bytes:
    """The whole of a small file. Raises OSError for what is no file, InputError for one of more than `most` bytes."""
    with open_file(path) as file:
        return read_bounded(file, most, path)


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file. Raises InputError, with the file, for one that cannot be read or is none."""
    try:
        return tomllib.loads(read_file(path).decode("utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8") from None
    except RecursionError:
        raise InputError(f"{path}: it is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{path}: {show(error, _SHOWN_OF_FILE)}") from None


def show(text: object, longest: int = _SHOWN) -> str:
    """A foreign text as part of a line: control characters are written as escapes, and a long text is cut."""
    plain = str(text)
    return escape_controls(plain if len(plain) <= longest else f"{plain[: longest - 1]}…")


def show_misfit(error: Exception) -> str:
    """Why a value that came from outside is not laid out as it is read, in words: not in those of Python's errors."""
    if isinstance(error, KeyError):
        return f"the field {show(error.args[0])} is missing"
    if isinstance(error, IndexError):
        return "a list has too few entries"
    if isinstance(error, JsonError | OverflowError):
        return show(error)
    return "a field holds another kind of value"


def show_invalid(error: ValidationError) -> str:
    """The first thing that a model refuses, and where it stands, as part of a line."""
    first = error.errors(include_url=False, include_input=False)[0]
    where, what = ".".join(map(str, first["loc"])), show(explain_invalid(first))
    return f"{show(where)}: {what}" if where else what


_WANTED = {
    "int_parsing": "a whole number is wanted", "int_type": "a whole number is wanted",
    "int_from_float": "a whole number is wanted", "int_parsing_size": "a smaller number is wanted",
    "float_parsing": "a number is wanted", "float_type": "a number is wanted", "finite_number": "a number is wanted",
    "bool_parsing": "true or false is wanted", "bool_type": "true or false is wanted",
    "string_type": "a text is wanted",
    "list_type": "a list is wanted", "tuple_type": "a list is wanted", "dict_type": "a table is wanted",
    "model_type": "a table is wanted",
    "missing": "the field is missing", "extra_forbidden": "there is no such field",
    "literal_error": "{expected} is wanted",
    "greater_than_equal": "at least {ge} is wanted", "greater_than": "more than {gt} is wanted",
    "less_than_equal": "at most {le} is wanted", "less_than": "less than {lt} is wanted",
}  # fmt: skip
"""Type of an error → what is wanted, where pydantic speaks of validation and of Python's types."""


def explain_invalid(error: ErrorDetails) -> str:
    """What a model refuses, in words for whoever wrote the value."""
    if error["type"] in _WANTED:
        return _WANTED[error["type"]].format_map(error.get("ctx", {}))
    return error["msg"].removeprefix("Value error, ")


def escape_controls(text: str) -> str:
    """The text in one line, with every control character as an escape: `\\x1b`, `\\n`, `\\u202e`."""
    return _CONTROL.sub(_escape, text)


def escape_page(text: str) -> str:
    """Text of several lines, with every control character but tabs and line feeds as an escape."""
    return _CONTROL_BUT_LINES.sub(_escape, text)


def escape_json(text: str) -> str:
    """JSON with the control characters that JSON itself lets through as its own escapes; it stays the same JSON."""
    return _CONTROL_BUT_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def drop_controls(text: str) -> str:
    """The text without control characters but tabs and line feeds, for pages: an escape would be read as text."""
    return _CONTROL_BUT_LINES.sub("", text)


def find_control(text: str) -> str:
    """The name of the first control character in a text that should be one line; empty where there is none."""
    found = _CONTROL.search(text)
    return (unicodedata.name(found[0], "") or f"U+{ord(found[0]):04X}") if found else ""


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def _refuse_constant(name: str) -> float:
    raise JsonError(f"not JSON: {name}")


def _read_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JsonError(f"a number past the range of numbers: {text[:20]}")
    return number


_ARRAY_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_read_float)


def _check_depth(value: Any) -> None:
    holders = [value] if isinstance(value, dict | list) else []
    for _ in range(_DEPTH):
        below = (inner for one in holders for inner in (one.values() if isinstance(one, dict) else one))
        holders = [inner for inner in below if isinstance(inner, dict | list)]
        if not holders:
            return
    raise JsonError(f"nested more than {_DEPTH} levels deep")
