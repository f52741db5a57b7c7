"""Values and documents that break readers, and strategies that plant them in good ones."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

from hopwright.foreign import LONGEST_LINE

TEXTS: tuple[str, ...] = (
    "", " ", "\n", "\x00", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "line\nforged: 0 violations", "\r\rforged",
    "\u202egnp",
    "\u2028", "\u200b", "\ufeff", "\x9b2J", "half \ud800", "\udfff\ud800",
    "NaN", "nan", "sNaN", "Infinity", "-inf", "1e400", "1e999999999", "-1e-999999999", "9" * 20_000, "1" * 5_000,
    "0." + "0" * 5_000 + "1", "1_000", "١٢٣", "²", "1,2,3,4", "--5", "0x10", "31 February 2020", "1 January 0",
    "99 May 9999",
    "1 January 99999", "-" * 499 + "1", "~" * 498 + "1", "not " * 120 + "1", "abs(1e999)", "-1e999", "1e400 - 1e400",
    "abs(-1e308)*1e308", "factorial(1000)", "comb(1000, 500)", "perm(1000, 999)", "round(1e999, 6)",
    "round(1 / 0, 1)",
    "round(1e15 / 3, 6)", "9" * 400, "1e15 * 1e15", "min(1e999, 2)", "(" * 90 + "1" + ")" * 90, "[" * 200, "f'{1}'",
    "lambda: 1", "hop1", "hop9", "hop0", "hop²", "hop١", "hop" + "9" * 5_000, "Q", "Q0", "Q" + "9" * 5_000, "P31",
    "year(hop1)",
    "argmax(P1082, hop1, hop1)", "age(hop1, hop1)", "all(P47, Q1)", "size(among(P57, Q1, Q2, Q3))", "count()",
    "claim('x')",
    "value(hop1, hop1)", "value(P571)", "object(P57, hop1) == 1", "1 < 2 < 3", "hop1 if hop1 else 1", "x := 1", "\\",
    "'", '"',
    "{{ 7*7 }}", "{% for x in range(10**9) %}{% endfor %}", "[/red]", "[bold]", "<script>alert(1)</script>", "%s%n",
    "../../x",
    "http://[", "http://a b", "https://x\n.y", "data:text/html,x", "#1", "#" * 300, ">>", "a" * 100_000, "é" * 30_000,
    "\u0301" * 5_000, "ﷺ" * 3_000, "ß", "İ", "ŉ", "?" * 3_000, "( " * 3_000, "a " * 20_000, "1 " * 20_000,
    "Of the " * 5_000,
    '"' * 5_000, "'s " * 5_000, ", " * 5_000, "- " * 5_000, "and or " * 3_000,
)  # fmt: skip
NUMBERS: tuple[Any, ...] = (
    0, -1, 1, 2, 9, 2**31, 2**63, -(2**63) - 1, 2**64, 10**18, 10**400, -(10**4000), 0.0, -0.0, 1e-320, 1e308, -1e308,
    0.1, 1.5,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, [], {}, [[]], [None], [{}], {"": None}, {"A": 1}, [0] * 500, {"op": "compute"},
    {"kind": "triplet"},
    ["x"] * 300, {str(n): n for n in range(300)},
)  # fmt: skip
EVERYTHING: tuple[Any, ...] = (*TEXTS, *NUMBERS, *VALUES)

DOCUMENTS: tuple[bytes, ...] = (
    b"", b"\n", b"\xef\xbb\xbf", b"\xff\xfe\x00", b"\x00" * 100, b"null", b"true", b"0", b'""', b"[]", b"{}", b"[[]]",
    b"[null]",
    b"NaN", b"[NaN]", b"Infinity", b"-Infinity", b"1e999", b"[1e999]", b"9" * 6_000, b"[" + b"9" * 6_000 + b"]", b"-",
    b"[" * 200_000, b'{"a":' * 100_000, b"[" * 500 + b"]" * 500, b"{" * 10, b'{"a"', b'{"a":1,}', b'{"a":1}{"b":2}',
    b'"\\ud800"', b'["\\ud800"]', b'{"\\udc00":"\\ud800"}', b'"\xed\xa0\x80"', b'"\x01"', b"\x1f\x8b\x08\x00",
    b"\x1f\x8b", b"PK\x03\x04",
    b"{}\n" * 1_000, b"[]\n" * 1_000, b'{"data": [[{}]]}', b'{"data": 7}', b'{"data": null}',
    b'{"data": {"data": []}}',
    b'{"id": "\\u001b[2J\\nforged"}', b"a" * 100_000, b" " * 100_000, b"\t" * 1_000 + b"1", b"---\n", b"%YAML",
    b"!!python/object",
)  # fmt: skip

ENDS: tuple[str, ...] = ("\n", "\n", "\r\n", "\r", "\n\n", "\x00", ",\n", "\u2028", "", "\n\x1a\n")
RAW_NUMBERS: tuple[str, ...] = (
    "NaN", "-NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1E+999999999", "9" * 4_301, "-" + "9" * 400, "01", "+1",
    ".5", "1.", "0x1F", "1_000", "-0", "-0.0", "5e-324", "18446744073709551616", "1.0000000000000000000000001",
    "1" + "0" * 309,
)  # fmt: skip
RAW_VALUES: tuple[str, ...] = ("null", "1", '"x"', "[]", "{}", "NaN", "true", "[[[]]]", '"\\ud800"')
ESCAPES: tuple[str, ...] = (
    "\\ud800",
    "\\udc00\\ud800",
    "\\u0000",
    "\\u001b[2J",
    "\\x41",
    "\\",
    "\\u12",
    "\\ud83d\\ude00",
)
SIGNS: tuple[str, ...] = (
    "\x00", "\ufeff", "\r", "\n", "\t", "\x1b[2J", "\ud800", "\u2028", "\u202e", "}", "]", "{", "[", '"', ",", ":",
    "//x\n", "/**/", "'", "\\", "\x85", "NaN", " " * 5_000,
)  # fmt: skip
_NUMBER = re.compile(r"-?\b\d+(?:\.\d+)?\b")
_KEY = re.compile(r'"[a-z_]+":')
encodings = st.sampled_from(["utf-8"] * 8 + ["utf-16", "utf-8-sig", "utf-32", "utf-7"])
texts = st.one_of(st.sampled_from(TEXTS), st.text(st.characters(), max_size=40))
scalars = st.one_of(
    st.none(), st.booleans(), st.sampled_from(NUMBERS), st.integers(), st.floats(allow_nan=False), texts
)  # fmt: skip
values = st.one_of(
    st.sampled_from(EVERYTHING),
    st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)),
)  # fmt: skip


def list_places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value within a document, the document's own included."""
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from list_places(inner, (*path, key))


def plant(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of the document with another value at that place."""
    if not path:
        return value
    changed = copy.deepcopy(document)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return changed


@st.composite
def spoilt(draw: st.DrawFn, documents: list[Any]) -> Any:
    """A good document with up to three of its values replaced, or keys removed or added."""
    document = draw(st.sampled_from(documents))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(list_places(document))))
        manner = draw(st.sampled_from(["replace", "replace", "replace", "remove", "add"]))
        if manner == "replace" or not path:
            document = plant(document, path, draw(values))
            continue
        document = copy.deepcopy(document)
        holder = document
        for key in path[:-1]:
            holder = holder[key]
        if manner == "remove":
            del holder[path[-1]]
        elif isinstance(holder, dict):
            holder[draw(texts)] = draw(values)
        else:
            holder.append(draw(values))
    return document


def write(value: Any) -> bytes:
    """The value as JSON, lone surrogates as escapes."""
    return json.dumps(value).encode()


@st.composite
def written(draw: st.DrawFn, documents: list[Any]) -> bytes:
    """Some good or spoilt documents as JSON, one a line, that no JSON writer would write so."""
    some = st.one_of(st.sampled_from(documents), spoilt(documents))
    text = draw(st.sampled_from(ENDS)).join(
        draw(dirtied(json.dumps(one, ensure_ascii=draw(st.booleans()))))
        for one in draw(st.lists(some, min_size=1, max_size=3))
    )
    if draw(st.integers(0, 200)) == 0:
        text = text[:-1] + " " * (LONGEST_LINE + 1) + text[-1:]
    return (draw(st.sampled_from(["", "", "\ufeff"])) + text).encode(draw(encodings), "surrogatepass")


@st.composite
def dirtied(draw: st.DrawFn, text: str) -> str:
    """A JSON text with up to two places changed that JSON's grammar or its readers disagree about."""
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(text)))
        match draw(st.sampled_from(["number", "key", "sign", "nest", "cut", "escape"])):
            case "number" if found := _NUMBER.search(text, place):
                text = text[: found.start()] + draw(st.sampled_from(RAW_NUMBERS)) + text[found.end() :]
            case "key" if found := _KEY.search(text, place):
                text = f"{text[: found.start()]}{found[0]} {draw(st.sampled_from(RAW_VALUES))}, {text[found.start() :]}"
            case "nest" if found := _NUMBER.search(text, place):
                deep = draw(st.sampled_from([10, 63, 64, 65, 500, 100_000]))
                text = text[: found.start()] + "[" * deep + "]" * deep + text[found.end() :]
            case "cut":
                text = text[:place]
            case "escape" if found := _KEY.search(text, place):
                text = text[: found.end() - 2] + draw(st.sampled_from(ESCAPES)) + text[found.end() - 2 :]
            case _:
                text = text[:place] + draw(st.sampled_from(SIGNS)) + text[place:]
    return text


@st.composite
def packed(draw: st.DrawFn, contents: st.SearchStrategy[bytes], pack: Callable[[bytes], bytes]) -> bytes:
    """Contents packed as they should be, or then damaged: cut short, something behind, or a piece changed."""
    data = pack(draw(contents))
    match draw(st.sampled_from(["whole", "whole", "cut", "behind", "twice", "mangled"])):
        case "cut":
            return data[: draw(st.integers(0, len(data)))]
        case "behind":
            return data + draw(st.binary(min_size=1, max_size=20))
        case "twice":
            return data * 2
        case "mangled":
            return draw(mangled([data]))
    return data


@st.composite
def mangled(draw: st.DrawFn, documents: list[bytes]) -> bytes:
    """Bytes of a good document with a piece cut out, doubled, flipped or replaced, or a hostile document."""
    if draw(st.booleans()):
        return draw(st.one_of(st.sampled_from(DOCUMENTS), st.binary(max_size=200)))
    data = draw(st.sampled_from(documents))
    start = draw(st.integers(0, len(data)))
    end = draw(st.integers(start, min(len(data), start + 200)))
    middle = draw(
        st.one_of(st.just(b""), st.just(data[start:end] * 2), st.binary(max_size=20), st.sampled_from(DOCUMENTS))
    )  # fmt: skip
    return data[:start] + middle + data[end:]
