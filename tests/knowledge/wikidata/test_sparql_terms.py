"""What may enter a query, and how units and answers are read: no server needed."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal

import pytest
import rdflib
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from hopwright.errors import InputError
from hopwright.knowledge.wikidata.sparql.client import Term, read_retry_after
from hopwright.knowledge.wikidata.sparql.dialects import (
    Statement,
    keep_best,
    read_truthy,
    write_object_query,
    write_statement_query,
    write_truthy_query,
)
from hopwright.knowledge.wikidata.sparql.settings import SparqlSettings
from hopwright.knowledge.wikidata.sparql.terms import check_entities, check_properties, quote
from hopwright.knowledge.wikidata.sparql.units import known_units, normalise, write_number

XSD = "http://www.w3.org/2001/XMLSchema#"
HOSTILE_IDS = ["Q1 } #", "q1", "Q", "Q01", "Q1\n", "Q１", "wd:Q1", "P31", "", "Q1;DROP", "Q٣"]


@pytest.mark.parametrize("id", HOSTILE_IDS)
def test_only_ids_get_into_a_query(id: str) -> None:
    with pytest.raises(InputError, match="not an entity id"):
        check_entities(["Q1", id])
    for write in (write_statement_query, write_truthy_query):
        with pytest.raises(InputError):
            write([id], ["P31"])
        with pytest.raises(InputError):
            write(["Q1"], [id.replace("P31", "Q31") or "Q"])
    with pytest.raises(InputError):
        write_object_query(["Q1"], [id.replace("P31", "Q31")], statements=True)


def test_ids_are_sorted_by_number_and_each_once() -> None:
    assert check_entities(["Q10", "Q9", "Q10", "Q100"]) == ["Q9", "Q10", "Q100"]
    assert check_properties(["P31", "P6"]) == ["P6", "P31"]
    assert write_truthy_query(["Q2", "Q1"], ["P2", "P1"]) == write_truthy_query(["Q1", "Q2", "Q1"], ["P1", "P2"])


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_quoting_is_undone_by_a_parser_of_either_kind(text: str) -> None:
    quoted = quote(text)
    assert _unescape(quoted) == text
    assert _unescape(_replace_points(quoted)) == text


@given(st.text('\\uU"0a2\n', max_size=12))
@example("\\u0022 } #")
@example("\\\\u0022")
@example("\\U00000022")
def test_quoting_withstands_escapes_in_the_text(text: str) -> None:
    assert _unescape(quote(text)) == text
    assert _unescape(_replace_points(quote(text))) == text


@given(st.text("\\uU\"'0a2\n\t?{}#<>@", max_size=12))
@example("\\u0022 } #")
@example("\\\\u0022")
@example("\\U00000022")
@settings(max_examples=40, deadline=None)
def test_another_parser_reads_what_was_quoted(text: str) -> None:
    answer = rdflib.Graph().query(f"SELECT ?x WHERE {{ VALUES ?x {{ {quote(text)} {quote(text, 'en')} }} }}")
    assert [str(row[0]) for row in answer] == [text, text]


@pytest.mark.parametrize(
    "query",
    [
        write_statement_query(["Q1", "Q2"], ["P569", "P2046"]),
        write_truthy_query(["Q1"], ["P569", "P2046"]),
        write_object_query(["Q1"], ["P36", "P17"], statements=True),
        write_object_query(["Q1"], ["P36", "P17"], statements=False),
    ],
)
def test_queries_are_sparql_to_another_parser(query: str) -> None:
    assert list(rdflib.Graph().query(query)) == []


@pytest.mark.parametrize("text", ["\ud800", "a\0b"])
def test_text_that_cannot_be_sent_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="cannot be looked up"):
        quote(text)


def test_language_tags_are_checked() -> None:
    assert quote("x", "zh-Hans") == '"x"@zh-Hans'
    with pytest.raises(InputError, match="not a language tag"):
        quote("x", 'en . "')


@pytest.mark.parametrize(
    ("amount", "unit", "value", "base"),
    [
        ("+267667", "Q712226", "267667000000", "Q25343"),
        ("1", "Q232291", "2589988.110336", "Q25343"),
        ("-40", "Q42289", "233.15", "Q11579"),
        ("-40", "Q25267", "233.15", "Q11579"),
        ("36", "Q180154", "10", "Q182429"),
        ("20", "Q11229", "0.2", "Q199"),
        ("61.193", "Q577", "1929782448", "Q11574"),
        ("6", "Q3710", "1.8288", "Q11573"),
        ("72", "Q218593", "1.8288", "Q11573"),
        ("0", "Q828224", "0", "Q11573"),
        ("1e3", "Q41803", "1", "Q11570"),
        ("100", "Q180154", "27.7777777777777778", "Q182429"),
    ],
)
def test_units_are_brought_to_their_base(amount: str, unit: str, value: str, base: str) -> None:
    found = normalise(amount, unit)
    assert found is not None and (write_number(found.value), found.unit) == (value, base)


@pytest.mark.parametrize(("amount", "unit"), [("5", "Q999999"), ("5", ""), ("five", "Q199"), ("NaN", "Q199"),
                                              ("Infinity", "Q199"), ("1e999", "Q199")])  # fmt: skip
def test_what_has_no_known_unit_or_is_no_number_has_no_value(amount: str, unit: str) -> None:
    assert normalise(amount, unit) is None


NUMBERS = st.decimals(-(10**9), 10**9, places=3)


@given(NUMBERS, NUMBERS, st.sampled_from(["Q828224", "Q3710", "Q253276", "Q25267", "Q42289", "Q577"]))
def test_normalising_keeps_the_order(one: Decimal, other: Decimal, unit: str) -> None:
    a, b = normalise(str(one), unit), normalise(str(other), unit)
    assert a is not None and b is not None
    assert (a.value < b.value) == (one < other) and (a.value == b.value) == (one == other)


def test_every_unit_has_a_base_that_is_its_own() -> None:
    units = known_units()
    assert len(units) >= 80
    for id, unit in units.items():
        base = units[unit.base]
        assert base.base == unit.base and base.factor == 1, id
        again = normalise("7", unit.base)
        assert again is not None and again.value == 7


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), (" 0 ", 0.0), ("Wed, 21 Oct 2026 07:28:30 GMT", 30.0), ("Wed, 21 Oct 2026 07:27:00 GMT", 0.0),
     ("soon", None), ("-3", None), ("1.5", None), ("", None), (None, None)],
)  # fmt: skip
def test_retry_after_is_read_as_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert read_retry_after(header, dt.datetime(2026, 10, 21, 7, 28, tzinfo=dt.UTC)) == seconds


@pytest.mark.parametrize(
    ("value", "datatype", "statement"),
    [
        ("1905", "gYear", ("time", "1905-01-01T00:00:00Z", 9)),
        ("1905-07", "gYearMonth", ("time", "1905-07-01T00:00:00Z", 10)),
        ("1905-07-03", "date", ("time", "1905-07-03T00:00:00Z", 11)),
        ("1905-07-03T00:00:00Z", "dateTime", ("time", "1905-07-03T00:00:00Z", None)),
        ("-0043-03-15", "date", ("time", "-0043-03-15T00:00:00Z", 11)),
        ("12", "integer", ("quantity", "12", None)),
        ("12.5", "double", ("quantity", "12.5", None)),
        ("twelve", "string", None),
    ],
)
def test_plain_literals_are_read_by_their_type(value: str, datatype: str, statement: tuple | None) -> None:
    found = read_truthy(_row(Term("literal", value, XSD + datatype)), {})
    assert (found and (found.kind, found.value, found.precision)) == statement


@pytest.mark.parametrize(
    ("text", "latitude", "longitude", "globe"),
    [
        ("Point(-0.125 51.5)", "51.5", "-0.125", "Q2"),
        ("POINT (1 2)", "2", "1", "Q2"),
        ("<http://www.wikidata.org/entity/Q405> Point(1 2)", "2", "1", "Q405"),
    ],
)
def test_points_are_longitude_first(text: str, latitude: str, longitude: str, globe: str) -> None:
    wkt = "http://www.opengis.net/ont/geosparql#wktLiteral"
    found = read_truthy(_row(Term("literal", text, wkt)), {})
    assert found is not None and (found.latitude, found.longitude, found.globe) == (latitude, longitude, globe)
    assert read_truthy(_row(Term("literal", "Point(1)", wkt)), {}) is None


def test_the_best_rank_stays_per_subject_and_property() -> None:
    one = Statement("Q1", "P1", "quantity", "normal", "1")
    two = Statement("Q1", "P1", "quantity", "preferred", "2")
    other = Statement("Q1", "P2", "quantity", "normal", "3")
    plain = [Statement("Q2", "P1", "quantity", None, "4"), Statement("Q2", "P1", "quantity", None, "5")]
    silent = [Statement("Q3", "P1", "quantity", "normal", "6"), Statement("Q3", "P1", "unknown", "preferred")]
    assert keep_best([one, two, two, other, *plain, *silent]) == [two, other, *plain, silent[1]]


@pytest.mark.parametrize(
    "fields",
    [
        {"endpoint": "ftp://x/"},
        {"endpoint": "http://x/ y"},
        {"endpoint": "nonsense"},
        {"endpoint": "http://x/#part"},
        {"contact": "me\r\nX-Injected: 1"},
        {"user_agent": "naïve"},
        {"batch_size": 0},
        {"timeout_s": 0},
        {"retries": 3},
    ],
)
def test_settings_are_checked(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SparqlSettings.model_validate(fields)


def _row(value: Term) -> dict[str, Term]:
    return {
        "s": Term("uri", "http://www.wikidata.org/entity/Q1"),
        "p": Term("uri", "http://www.wikidata.org/prop/direct/P1"),
        "value": value,
    }


def _replace_points(query: str) -> str:
    """What a service does that replaces `\\uXXXX` in the whole query before it parses."""
    return re.sub(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})", lambda match: chr(int(match[1] or match[2], 16)), query)


def _unescape(literal: str) -> str:
    """The text of a string literal by SPARQL's grammar; fails where the literal ends early or is malformed."""
    assert literal[0] == literal[-1] == '"'
    inside = literal[1:-1]
    assert re.fullmatch(r'(?:[^"\\\n\r]|\\[tbnrf\\"\']|\\U[0-9A-Fa-f]{8})*', inside), inside
    plain = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
    return re.sub(
        r"\\(?:U([0-9A-Fa-f]{8})|(.))",
        lambda match: chr(int(match[1], 16)) if match[1] else plain.get(match[2], match[2]),
        inside,
    )
