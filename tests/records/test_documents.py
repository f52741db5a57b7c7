"""Documents, quotations, pictures in questions, and evidence of every kind."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from hopwright.checks import CheckContext
from hopwright.checks.case import CheckedItem
from hopwright.checks.proof import check_evidence
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.planning.execution import hops_used
from hopwright.planning.plan import named_entities, properties_of_step
from hopwright.records import (
    Document,
    Evidence,
    Hop,
    ImagePart,
    ImageRegion,
    Item,
    Provenance,
    ReadRegion,
    ReadSpan,
    Source,
    Span,
    TextPart,
    plan_id,
)
from hopwright.records.evidence import EVIDENCE_LISTS
from hopwright.release.format import from_release, to_release
from tests.builders import all_items, chain_item
from tests.records import strategies

NOVEL = Document(id="novel", title="A Novel", text="It was Ada who came.", licence="CC0-1.0", source="a shelf")
PICTURE = Document(id="map", title="A map", media="ab" * 32, licence="CC0-1.0", source="https://example.org/map")
WIDE = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@WIDE
@given(strategies.items(st.sampled_from(["chain", "converging", "bridge"]), hops=4))
def test_items_with_any_evidence_come_back_from_a_release_row(item: Item) -> None:
    row = to_release(item)
    assert from_release(json.loads(json.dumps(row))) == item
    assert row.keys() == to_release(chain_item()).keys()
    assert {tuple(hop["derivation"]) for hop in row["single_hop"]} == {
        tuple(hop["derivation"]) for hop in to_release(chain_item())["single_hop"]
    }


@given(strategies.EVIDENCE, st.lists(strategies.SPANS, max_size=2))
def test_evidence_is_ordered_by_kind_and_replaced_by_kind(evidence: Evidence, spans: list[Span]) -> None:
    lists = {name: getattr(evidence, name) for name in EVIDENCE_LISTS.values()}
    assert Evidence.of(**lists, wikipedia_url=evidence.wikipedia_url) == evidence
    other = evidence.replace(spans=spans)
    assert other.spans == tuple(spans)
    assert other.replace(spans=()) == evidence.replace(spans=())


def test_what_is_no_kind_of_evidence_is_refused() -> None:
    with pytest.raises(TypeError, match="no kind of evidence: pages"):
        Evidence.of(pages=())  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Evidence has no field triplets"):
        Evidence().model_copy(update={"triplets": ()})
    with pytest.raises(ValidationError, match="triplets"):
        Evidence(triplets=())  # type: ignore[call-arg]


def test_a_document_quotes_itself_and_no_further() -> None:
    span = NOVEL.cite(7, 10)
    assert (span.text, span.document) == ("Ada", "novel")
    for start, end in ((7, 7), (-1, 3), (0, 99)):
        with pytest.raises(ValueError, match="has no characters"):
            NOVEL.cite(start, end)
    with pytest.raises(ValidationError, match="text between"):
        Span(document="novel", start=7, end=11, text="Ada")


@pytest.mark.parametrize("content", [{}, {"text": "x", "media": "ab" * 32}, {"media": "xyz"}])
def test_a_document_is_a_text_or_a_picture(content: dict) -> None:
    with pytest.raises(ValidationError):
        Document(id="x", title="x", licence="x", source="x", **content)


def test_a_question_with_a_picture_reads_as_its_parts() -> None:
    parts = (TextPart(text="Who painted "), ImagePart(media="ab" * 32, description="a harbour"), TextPart(text="?"))
    fields = chain_item().hops[0].model_dump() | {"question_parts": parts}
    assert Hop.model_validate(fields | {"question": "Who painted [a harbour]?"}).question_parts == parts
    with pytest.raises(ValidationError, match="not what its parts read as"):
        Hop.model_validate(fields | {"question": "Who painted it?"})


@pytest.mark.parametrize(
    ("step", "held"),
    [
        (ReadSpan(document="novel", start=7, end=10), {"spans": [NOVEL.cite(7, 10)]}),
        (
            ReadRegion(document="map", left=1, top=2, width=3, height=4),
            {"regions": [ImageRegion(document="map", left=1, top=2, width=3, height=4, label="Ada")]},
        ),
    ],
)
def test_a_step_that_reads_a_document_needs_the_place_as_evidence(step: ReadSpan | ReadRegion, held: dict) -> None:
    assert (hops_used(step), named_entities(step), properties_of_step(step)) == ((), (), frozenset())

    def find(evidence: Evidence) -> list[str]:
        first = (
            chain_item()
            .hops[0]
            .model_copy(
                update={
                    "derivation": step,
                    "answer": "Ada",
                    "answer_id": None,
                    "answer_type": "string",
                    "evidence": evidence,
                }
            )
        )
        case = CheckedItem(chain_item().model_copy(update={"hops": (first, *chain_item().hops[1:])}))
        return [text for hop, text in check_evidence(case, CheckContext(default_table())) if hop == 1]

    assert find(Evidence.of(**held)) == []
    assert find(Evidence()) == [f"its evidence does not hold the place in {step.document} that it reads"]


def test_an_id_covers_the_snapshots_of_those_sources_that_pin_it() -> None:
    for item in all_items():
        steps = tuple(hop.derivation for hop in item.hops)
        loose = Source(name="Wikidata", licence="CC0-1.0", snapshot="1")
        pinned = [Source(name="novel", licence="CC0-1.0", snapshot=one, pins_ids=True) for one in ("1", "2")]
        assert item.id == item.plan_id == plan_id(item.topology, steps, sources=[loose])
        assert len({item.id, *(plan_id(item.topology, steps, sources=[one, loose]) for one in pinned)}) == 3
        held = item.model_copy(update={"provenance": Provenance(sources=(pinned[0],))})
        assert held.plan_id == plan_id(item.topology, steps, sources=pinned[:1])
