"""One target a reader: what it is fed, and what it may do with it."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import json
import lzma
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from annotation.export import build_task
from annotation.forms import load_interface, parse_interface
from annotation.schema import ReviewTaskKind, criteria_of
from annotation.validate import read_annotation
from annotation.webhook import ACTIONS, HEADER, PATH, Receiver
from flows.console.options import read_parameter_file
from hopwright.checks.overlap import OverlapFinder
from hopwright.difficulty.prompting import read_open_answer, read_reasoning
from hopwright.environments.fact_finder import FactFinder
from hopwright.errors import HopwrightError
from hopwright.evaluation.extraction import extract
from hopwright.evaluation.items import read_items
from hopwright.exports.read_chains.writing import read_titles
from hopwright.foreign import JsonError, find_control, load_json
from hopwright.knowledge.documents.corpus import read_corpus
from hopwright.knowledge.documents.format import hash_document
from hopwright.knowledge.documents.readers import RawDocument, list_source_files, read_documents
from hopwright.knowledge.external.bank import validate_bank
from hopwright.knowledge.wikidata.anchors import AnchorQuestion, read_anchor_questions
from hopwright.knowledge.wikidata.literals import read_literals
from hopwright.knowledge.wikidata.parsing import parse_names, parse_texts, parse_triplets
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.sources import find_corpus, read_blocks
from hopwright.knowledge.wikidata.sparql.client import Term
from hopwright.knowledge.wikidata.sparql.dialects import keep_best, read_object, read_statement, read_truthy
from hopwright.knowledge.wikidata.sparql.literals import read_literals as read_fetched_literals
from hopwright.llm.answers import WordedItem
from hopwright.llm.config import read_settings
from hopwright.llm.headers import read_headroom, read_retry_after
from hopwright.llm.judging import judge
from hopwright.llm.prices import read_prices
from hopwright.llm.providers import CallError, anthropic_wire, openai_wire
from hopwright.llm.providers.base import read_json, wrap_status
from hopwright.llm.redaction import Redactor
from hopwright.llm.types import Message, Request, Sampling
from hopwright.pictures.tasks import read_facts
from hopwright.records import Rejected
from hopwright.release.audit import audit
from hopwright.release.changes import compare_releases
from hopwright.release.format import to_release
from hopwright.settings import BuildParameters, load_parameters
from tests.annotation.reviews import annotate, choose, rate
from tests.annotation.reviews import write as write_answer
from tests.builders import all_items
from tests.fuzz.files import (
    LINES,
    PAGES,
    PASSAGE_ROWS,
    join_fields,
    pack_gzip,
    pack_tar,
    pack_zip,
    spoilt_tables,
    write_call,
)  # fmt: skip
from tests.fuzz.hostile import TEXTS, mangled, packed, spoilt, texts, write, written
from tests.release.test_format import bare
from tests.sample_claims import BANK
from tests.worlds import DictGraph, settle_all

ROWS = [to_release(item) for item in all_items()] + [bare(item) for item in all_items()]
_TABLE = settle_all(default_table())
_GRAPH = DictGraph()
_ANCHOR: dict[str, Any] = {
    "id": "2hop__1_2", "question": "Who wrote what Zorin Vale stars in?", "answer": "Mara Quill", "answerable": True,
    "answer_aliases": ["M. Quill"], "paragraphs": [{"idx": 0, "title": "Zorin Vale", "paragraph_text": "An actor."}],
    "question_decomposition": [
        {"id": 1, "question": "Zorin Vale >> cast member", "answer": "Night", "paragraph_support_idx": 0},
        {"id": 2, "question": "Who wrote #1?", "answer": "Mara Quill", "paragraph_support_idx": None},
    ],
}  # fmt: skip
_PASSAGES: list[Any] = [[{"title": "Zorin Vale", "text": "An actor."}], {"title": "Iria", "text": "A country."}]
_ENDPOINTS = b'prices = "p"\n[endpoints.local]\nbase_url = "http://x/v1"\nfree = true\nlimits.max_concurrency = 8\n'
_PRICES = b'dated = "2026-11-20"\nbatch_factor = 0.5\n[models."tiny"]\ninput = 1.5\noutput = 2\n'
_PARAMETERS = BuildParameters().model_dump(mode="json")
_WORDED: dict[str, Any] = {
    "sub_questions": [
        {"index": n, "question": "Who wrote Night?", "context": "Mara.", "distractors": ["a", "b", "c"]} for n in (1, 2)
    ],
    "question": "Who wrote the film that Zorin Vale stars in?",
}
_USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}}
_CHAT: dict[str, Any] = {
    "id": "r1", "model": "tiny", "usage": _USAGE,
    "choices": [{"finish_reason": "stop", "message": {"content": json.dumps(_WORDED), "refusal": None},
                 "logprobs": {"content": [{"top_logprobs": [{"token": "A", "logprob": -0.1}]}]}}],
}  # fmt: skip
_MESSAGE: dict[str, Any] = {
    "id": "r1",
    "model": "tiny",
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 2},
    "content": [{"type": "text", "text": json.dumps(_WORDED)}, {"type": "tool_use", "input": {"a": 1}}],
}
_ASKED = Request(
    messages=(Message("user", "?"),), provider="local", model="tiny", schema=WordedItem, sampling=Sampling()
)
_HEADERS = ("retry-after", "retry-after-ms", "x-ratelimit-limit-requests", "x-ratelimit-remaining-requests",
            "x-ratelimit-reset-requests")  # fmt: skip
_KIND = ReviewTaskKind.MULTI_HOP
FORM = parse_interface(load_interface(_KIND, blind=True))
TASK = build_task(all_items()[0], _KIND)["data"]
ANNOTATION = annotate(
    {**choose("own_answer", "B"), "to_name": "blind"},
    choose("verdict", "Retain"),
    *(rate(name, 4) for name in criteria_of(_KIND)),
    write_answer("comment", "Fine."),
)


@dataclass(frozen=True, slots=True)
class Target:
    """`check` gets one example and a folder of its own; it raises for anything but a clear line or a rejection."""

    name: str
    examples: st.SearchStrategy[Any]
    check: Callable[[Any, Path], None]


_PARQUET = b"PAR1"
"""How a Parquet file begins, which is refused as a whole."""


def expect_line(error: HopwrightError) -> None:
    """An error as the command line shows it: some words, and not the whole document."""
    assert 0 < len(str(error)) < 5_000, str(error)[:200]


def check_audit(data: bytes, folder: Path) -> None:
    path = folder / "data.jsonl"
    path.write_bytes(data)
    if data.startswith(_PARQUET):  # no line of it is looked at
        with only_lines():
            audit(path, _GRAPH, _TABLE)
        return
    report = audit(path, _GRAPH, _TABLE)
    said = report.text()
    report.model_dump_json()
    assert report.items or not report.clean
    assert not any(find_control(line) for line in said.split("\n"))


def check_anchors(case: tuple[str, bytes], folder: Path) -> None:
    packing, data = case
    path = folder / f"anchors.jsonl{packing}"
    path.write_bytes(data)
    with only_lines():
        for one in read_anchor_questions(path):
            assert isinstance(one, AnchorQuestion | Rejected)
            one.question.encode() if isinstance(one, AnchorQuestion) else one.model_dump_json()


def check_passages(case: tuple[str, bytes], folder: Path) -> None:
    packing, data = case
    path = folder / f"passages.json{packing}"
    path.write_bytes(data)
    with only_lines():
        assert read_corpus(path)
    with only_lines():
        OverlapFinder().compare(path)


def check_titles(data: bytes, folder: Path) -> None:
    path = folder / "titles.txt"
    path.write_bytes(data)
    with only_lines():
        assert all(title.strip() and "\n" not in title for title in read_titles(str(path)))


def check_corpus(case: tuple[str, bytes], folder: Path) -> None:
    packing, data = case
    place = folder / f"wikidata5m_all_triplet.txt{packing}"
    place.write_bytes(data)
    (folder / "wikidata5m_entity.txt").write_bytes(LINES)
    with only_lines():
        corpus = find_corpus(folder)
        for source in corpus.triplets:
            for block in read_blocks(source):
                found = [parse_triplets(block), parse_names(block), parse_names(block, "P"), parse_texts(block)]
                assert all(len(one.bad) <= one.lines for one in found)
            read_literals(source, lambda *_: None)
    place.unlink()


def check_documents(case: tuple[str, bytes], folder: Path) -> None:
    """A corpus of documents: every row is a document or malformed, or the file is refused."""
    ending, data = case
    place = folder / f"documents{ending}"
    place.write_bytes(data)
    with only_lines():
        for file in list_source_files(place)[0]:
            for row in read_documents(file):
                if isinstance(row, RawDocument):
                    (row.title + row.text + row.source + row.original + row.licence + row.revision).encode()
                    hash_document(row.title, row.text)
                else:
                    assert row.reason and len(row.reason) < 5_000
    place.unlink()


def check_rows(data: bytes, folder: Path) -> None:
    """A release that others evaluate, export, or compare the next one with."""
    path = folder / "data.jsonl"
    path.write_bytes(data)
    with only_lines():
        read_items(path)
    with only_lines():
        compare_releases(folder, folder, "x", "1.0.0", {})


def check_claims(data: bytes, folder: Path) -> None:
    path = folder / "claims.jsonl"
    path.write_bytes(data)
    with only_lines():
        found = validate_bank(path)
        assert all(one.reason for one in found.refused)
        assert not any(find_control(text) for one in found.claims for text in (one.phrase, one.source_url, *one.names))


def check_facts(data: bytes, folder: Path) -> None:
    (folder / "facts.jsonl").write_bytes(data)
    with only_lines():
        FactFinder(read_facts(folder / "facts.jsonl")).search("a query", 3)


def check_parameters(data: bytes, folder: Path) -> None:
    readers = (("parameters.json", _load_parameters), ("endpoints.toml", read_settings), ("prices.toml", read_prices))
    for name, read in readers:
        path = folder / name
        path.write_bytes(data)
        with only_lines():
            read(path)


def check_answers(case: tuple[int, bytes, dict[str, str], str], folder: Path) -> None:
    status, data, headers, text = case
    wrap_status(status, data, headers)
    read_headroom(headers)
    wait = read_retry_after(headers)
    assert wait is None or 0 <= wait < 1e13
    for wire, calling in itertools.product((openai_wire, anthropic_wire), (False, True)):
        try:
            reply = wire.read_reply(read_json(data), headers, calling=calling)
        except CallError as error:
            assert error.kind == "garbled" and len(Redactor([]).clean_error(str(error))) < 5_000
            continue
        reply.text.encode()
        assert min(reply.usage.input, reply.usage.output) >= 0
        judge(_ASKED, reply.text, reply.finish, reply.calls)
        for call in reply.calls:
            (call.id + call.name + call.arguments).encode()
            with contextlib.suppress(ValueError):
                call.read_arguments()
    for one in (text, data.decode("utf-8", "replace")):
        judge(_ASKED, one, "stop")
        read_reasoning(one)
        read_open_answer(one)
        for form in ("mcq", "open"):
            for prompting in ("direct", "cot"):
                extract(one, form, prompting, {"A": "one", "B": "two", "C": "three", "D": "four"})


def check_annotations(case: tuple[Any, Any], folder: Path) -> None:
    annotation, task = map(_receive, case)
    if not isinstance(annotation, dict) or not isinstance(task, dict):
        return
    with only_lines():
        review = read_annotation(annotation, task, FORM, project=1, task=2, who="r1")
        review.model_dump_json()


def check_sparql(rows: Any, folder: Path) -> None:
    rows = _receive(rows)
    if not isinstance(rows, list):
        return
    for row in rows:
        try:  # what the client lets through
            terms = {name: Term(one["type"], one["value"], one.get("datatype", "")) for name, one in row.items()}
        except (KeyError, TypeError, AttributeError):
            continue
        if not all(isinstance(field, str) for one in terms.values() for field in (one.kind, one.value, one.datatype)):
            continue
        found = [read_statement(terms), read_truthy(terms, {"P2046": "Q712226"}), read_object(terms)]
        for statement in keep_best(one for one in found if one is not None):
            for literal in read_fetched_literals(statement, None):
                literal.fact.model_dump_json()


def check_webhook(data: bytes, folder: Path) -> None:
    said = io.StringIO()
    with Receiver("secret") as receiver, contextlib.redirect_stderr(said):
        port = int(receiver.url.split(":")[2].split("/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection, contextlib.suppress(OSError):
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65_536):
                pass
        # It still listens, and hears what is really for it.
        body = json.dumps({"action": ACTIONS[0]}).encode()
        head = f"POST {PATH} HTTP/1.0\r\n{HEADER}: secret\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(head + body)
            assert b" 204 " in connection.recv(65_536)
    assert not said.getvalue(), "whatever a thread of the server ends with is printed"


def _receive(value: Any) -> Any:
    """What the clients of services let through of a value that a server sends."""
    try:
        return load_json(write(value))
    except JsonError:
        return None


def _load_parameters(path: Path) -> None:
    load_parameters(read_parameter_file(path), BuildParameters)


@contextlib.contextmanager
def only_lines() -> Any:
    try:
        yield
    except HopwrightError as error:
        expect_line(error)


def documents(*values: Any) -> st.SearchStrategy[bytes]:
    good = [write(value) for value in values]
    return st.one_of(mangled([*good, b"\n".join(good)]), spoilt(list(values)).map(write), written(list(values)))


def _packed(
    contents: st.SearchStrategy[bytes], packers: dict[str, Callable[[bytes], bytes]]
) -> st.SearchStrategy[tuple[str, bytes]]:
    """A file's packing and bytes; what is packed may be good or not, and how it is packed, too."""
    return st.one_of(
        st.tuples(st.just(""), contents),
        *(st.tuples(st.just(ending), packed(contents, pack)) for ending, pack in packers.items()),
    )


_CALL = f"POST {PATH} HTTP/1.1\r\nHost: x\r\n{HEADER}: secret\r\nContent-Length: 40\r\n\r\n".encode()
_CALLS = [
    _CALL.replace(b"Content-Length: 40", line) + body
    for line, body in (
        (b"Transfer-Encoding: chunked", b"5\r\n{}\r\n0\r\n\r\n"), (b"Content-Length: " + b"9" * 5_000, b"{}"),
        (b"Content-Length: -1", b"{}"), (b"Content-Length: 2\r\nContent-Length: 3", b"{}"),
        (b"Expect: 100-continue", b""),
    )
]  # fmt: skip
_CALL_PARTS = st.tuples(
    st.sampled_from(["POST", "GET", "PUT", "DELETE", "\x00", "p" * 70_000]),
    st.sampled_from([PATH, "/", "*", "//x", PATH * 9_000]),
    st.sampled_from(["HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/9" + "9" * 300, ""]),
    st.lists(st.tuples(st.sampled_from([HEADER, "Content-Length", "Transfer-Encoding", "X" * 300]), texts), max_size=4),
    documents({"action": ACTIONS[0], "annotation": {"id": 7}, "project": {"id": 2}}),
).map(lambda parts: write_call(*parts))  # fmt: skip
_FIELDS = st.lists(
    st.one_of(texts, st.sampled_from(["Q1", "P31", "P569", "1990-07-03T00:00:00Z", "+12.5", "xsd:dateTime"])),
    max_size=6,
)  # fmt: skip
_HEADER_VALUES = st.one_of(texts, st.sampled_from(["1", "0.5", "-1", "1e400", "9" * 400, "6m0s", "Wed, 99 Foo 2020 x"]))

_WIKI, _XSD = "http://www.wikidata.org/entity/", "http://www.w3.org/2001/XMLSchema#"
_ROW = {
    "s": {"type": "uri", "value": f"{_WIKI}Q903"}, "p": {"type": "uri", "value": f"{_WIKI}P571"},
    "rank": {"type": "uri", "value": "http://wikiba.se/ontology#NormalRank"},
    "statement": {"type": "uri", "value": f"{_WIKI}statement/Q903-1"},
}  # fmt: skip
_ROWS: list[Any] = [
    _ROW | {"time": {"type": "literal", "value": "1905-03-01T00:00:00Z", "datatype": f"{_XSD}dateTime"},
            "precision": {"type": "literal", "value": "11", "datatype": f"{_XSD}integer"},
            "calendar": {"type": "uri", "value": f"{_WIKI}Q1985727"}},
    _ROW | {"amount": {"type": "literal", "value": "+12.5"}, "unit": {"type": "uri", "value": f"{_WIKI}Q712226"}},
    _ROW | {"latitude": {"type": "literal", "value": "1.5"}, "longitude": {"type": "literal", "value": "-2e3"}},
    _ROW | {"value": {"type": "literal", "value": "1905", "datatype": f"{_XSD}gYear"}},
    _ROW | {"value": {"type": "literal", "value": "Point(1 2)",
                      "datatype": "http://www.opengis.net/ont/geosparql#wktLiteral"}},
    _ROW | {"o": {"type": "uri", "value": f"{_WIKI}Q64"}},
]  # fmt: skip

TARGETS = (
    Target("audit", documents(*ROWS), check_audit),
    Target("anchors", _packed(documents(_ANCHOR), {".gz": pack_gzip, ".xz": lzma.compress}), check_anchors),
    Target("passages", _packed(documents(*_PASSAGES, *ROWS[:1]), {".gz": pack_gzip}), check_passages),
    Target("titles", mangled([b"Oslo\nThe Amber Road\n", "\ufeffOsl\u00f8\r\n".encode()]), check_titles),
    Target(
        "corpus",
        _packed(
            st.one_of(mangled([LINES]), st.lists(_FIELDS, max_size=6).map(join_fields)),
            {
                ".gz": pack_gzip,
                ".xz": lzma.compress,
                ".tar.gz": functools.partial(pack_tar, "wikidata5m_all_triplet.txt"),
            },
        ),
        check_corpus,
    ),
    Target(
        "documents",
        st.one_of(
            *(st.tuples(st.just(ending), mangled(good) if isinstance(good, list) else good) for ending, good in PAGES),
            *(st.tuples(st.just(ending), documents(*PASSAGE_ROWS)) for ending in (".jsonl", ".json")),
            *(
                st.tuples(st.just(ending), packed(documents(*PASSAGE_ROWS), pack))
                for ending, pack in (
                    (".jsonl.gz", pack_gzip),
                    (".tar.gz", functools.partial(pack_tar, "a.jsonl")),
                    (".zip", functools.partial(pack_zip, "a.jsonl")),
                )
            ),
            st.tuples(st.just(".parquet"), packed(spoilt_tables, bytes)),
        ),
        check_documents,
    ),
    Target("rows", documents(*ROWS), check_rows),
    Target("claims", documents(*(json.loads(one.model_dump_json()) for one in BANK)), check_claims),
    Target("facts", documents({"id": "fact-1", "title": "Chad", "text": "Chad: capital: N'Djamena"}), check_facts),
    Target("parameters", st.one_of(documents(_PARAMETERS), mangled([_ENDPOINTS, _PRICES])), check_parameters),
    Target(
        "answers",
        st.tuples(
            st.sampled_from([200, 307, 400, 429, 500]),
            documents(_CHAT, _MESSAGE),
            st.dictionaries(st.sampled_from(_HEADERS), _HEADER_VALUES),
            st.one_of(texts, st.sampled_from(TEXTS), spoilt([_WORDED]).map(json.dumps)),
        ),
        check_answers,
    ),
    Target("annotations", st.tuples(spoilt([ANNOTATION]), spoilt([TASK]) | st.just(TASK)), check_annotations),
    Target("sparql", spoilt([_ROWS]), check_sparql),
    Target("webhook", st.one_of(mangled([_CALL + b"{}", _CALL + b"[" * 40, *_CALLS]), _CALL_PARTS), check_webhook),
)
