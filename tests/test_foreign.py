"""Bodies, JSON, lines and texts of others: laws of the one module that reads and shows them."""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.errors import InputError
from hopwright.foreign import (
    BODY_VARIABLE,
    BodyError,
    BodyReader,
    JsonError,
    TooLargeError,
    drop_controls,
    escape_controls,
    escape_json,
    escape_page,
    find_control,
    load_json,
    open_file,
    read_body_limit,
    read_lines,
    show,
)
from tests.fuzz.hostile import DOCUMENTS, TEXTS


@given(
    data=st.binary(max_size=3000), cuts=st.lists(st.integers(1, 50), min_size=1), packing=st.sampled_from(["", "gzip"])
)
def test_a_body_in_any_pieces_is_the_body(data: bytes, cuts: list[int], packing: str) -> None:
    packed = gzip.compress(data) if packing else data
    reader, got, place, turn = BodyReader(5000, packing), b"", 0, 0
    while place < len(packed):
        step = cuts[turn % len(cuts)]
        got += reader.feed(packed[place : place + step])
        place, turn = place + step, turn + 1
    assert got == data


@given(size=st.integers(0, 4000), limit=st.integers(0, 4000), packing=st.sampled_from(["", "gzip", "deflate", "raw"]))
def test_a_body_past_the_limit_is_refused_and_no_other(size: int, limit: int, packing: str) -> None:
    data = bytes(range(256)) * (size // 256) + bytes(size % 256)
    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    packed = {
        "": data, "gzip": gzip.compress(data), "deflate": zlib.compress(data), "raw": raw.compress(data) + raw.flush()
    }[packing]  # fmt: skip
    reader = BodyReader(limit, "deflate" if packing == "raw" else packing)
    if max(len(data), len(packed)) > limit:
        with pytest.raises(TooLargeError):
            reader.feed(packed)
    else:
        assert reader.feed(packed) == data


def test_what_cannot_be_unpacked_is_one_line() -> None:
    for packing in ("br", "gzip, gzip", "\x1b[2J", "sk-planted"):
        with pytest.raises(BodyError, match="not asked for") as caught:
            BodyReader(10, packing)
        assert packing not in str(caught.value)
    for packing in ("gzip", "deflate"):
        with pytest.raises(BodyError, match="damaged"):
            BodyReader(100, packing).feed(b"\xff" * 20)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "abc", "99999", "²", "1" * 5000])
def test_a_limit_that_is_none_is_one_line(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BODY_VARIABLE, text)
    with pytest.raises(InputError, match=BODY_VARIABLE):
        read_body_limit()


plain = st.text(st.characters(exclude_categories=["Cs"]))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | plain,
    lambda inner: st.lists(inner) | st.dictionaries(plain, inner),
)


@given(value=json_values, escaped=st.booleans())
def test_json_is_read_as_the_standard_library_reads_it(value: object, escaped: bool) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    assert load_json(text) == load_json(text.encode()) == json.loads(text)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_document_does_more_than_be_refused(document: bytes) -> None:
    try:
        value = load_json(document)
    except JsonError as error:
        assert "\n" not in str(error) and len(str(error)) < 200
    else:
        json.dumps(value, ensure_ascii=False).encode()


@pytest.mark.parametrize("levels", [64, 65])
@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_nesting_has_a_limit(levels: int, pair: str) -> None:
    opening = '{"a":' if pair == "{}" else "["
    text = opening * (levels - 1) + pair + pair[1] * (levels - 1)
    if levels <= 64:
        assert load_json(text)
    else:
        with pytest.raises(JsonError, match="64 levels"):
            load_json(text)


@given(lines=st.lists(st.binary(max_size=30).map(lambda data: data.translate(None, b"\r\n")), max_size=20))
def test_long_lines_are_passed_over_and_the_rest_is_read(lines: list[bytes]) -> None:
    found = list(read_lines(io.BytesIO(b"".join(line + b"\n" for line in lines)), 10))
    assert found == [(at, line if len(line) <= 10 else None) for at, line in enumerate(lines, 1)]


@given(text=st.one_of(st.text(st.characters()), st.sampled_from(TEXTS)))
def test_what_is_shown_is_one_harmless_line(text: str) -> None:
    for shown in (escape_controls(text), show(text)):
        assert not find_control(shown)
        shown.encode()
    assert len(show(text)) <= 200 * 10
    page = escape_page(text)
    assert page.encode() and page.count("\n") == text.count("\n") if page else not text
    assert {sign for sign in page if not sign.isprintable()} & set("\x00\x07\x1b\r\x7f\x9b\u202e") == set()
    assert not set(drop_controls(text)) & set("\x00\x07\x1b\r\x7f\x9b\u202e")


@given(value=json_values)
def test_escaped_json_is_the_same_json(value: object) -> None:
    shown = escape_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(shown) == value
    assert not set(shown) & set("\x1b\x7f\x9b\u202e\r")


def test_only_files_are_opened(tmp_path: Path) -> None:
    """Opening a pipe that nobody writes to would wait for ever, and /dev/zero has no end."""
    (tmp_path / "file").write_bytes(b"read")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    for name in ("file", "link"):
        with open_file(tmp_path / name) as file:
            assert file.read() == b"read"
    for path, reason in (
        (tmp_path / "pipe", "it is a pipe"), (Path("/dev/zero"), "it is a device"), (tmp_path, "Is a directory"),
        (tmp_path / "none", "No such file"),
    ):  # fmt: skip
        with pytest.raises(OSError, match=reason):
            open_file(path)
