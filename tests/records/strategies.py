"""Records of every kind, drawn at random: evidence, steps, questions with and without pictures, items."""

from __future__ import annotations

from hypothesis import strategies as st

from hopwright.records import (
    LABELS,
    Anchor,
    AnchorRef,
    Article,
    Document,
    Domain,
    Evidence,
    Hop,
    ImagePart,
    ImageRegion,
    Item,
    LiteralFact,
    Passage,
    Provenance,
    ReadRegion,
    ReadSpan,
    Source,
    Span,
    TextPart,
    Triplet,
    render_parts,
)
from hopwright.records.model import Compute, Lookup, ReverseLookup
from tests.sample_claims import any_claim

st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
st.register_type_strategy(int, st.integers(-(2**63), 2**63 - 1))

MEDIA = st.binary(min_size=32, max_size=32).map(bytes.hex)
_ID = st.text(min_size=1, max_size=8)
_PLACE = st.integers(0, 2**40)
_LENGTH = st.integers(1, 2**40)
_BOX = {"document": _ID, "left": _PLACE, "top": _PLACE, "width": _LENGTH, "height": _LENGTH}
_OPTIONS = st.dictionaries(st.sampled_from(LABELS), st.text(max_size=8))
_LABEL = st.none() | st.sampled_from(LABELS)


def _span(document: str, start: int, text: str) -> Span:
    return Span(document=document, start=start, end=start + len(text), text=text)


SPANS = st.builds(_span, _ID, _PLACE, st.text(min_size=1, max_size=20))
REGIONS = st.builds(ImageRegion, **_BOX, label=st.text(max_size=8))
ENTRIES = st.one_of(
    st.builds(Triplet), st.builds(LiteralFact, unit=st.text(max_size=4)), SPANS, REGIONS,
    st.builds(Passage, supporting=st.booleans()), any_claim(),
)  # fmt: skip
EVIDENCE = st.builds(
    lambda entries, article: Evidence(entries=(*article, *entries)),
    st.lists(ENTRIES, max_size=5),
    st.lists(st.builds(Article, url=_ID), max_size=1),
)
DERIVATIONS = st.one_of(
    st.builds(Lookup), st.builds(ReverseLookup), st.builds(Compute),
    st.builds(ReadSpan, document=_ID, start=_PLACE, end=_PLACE), st.builds(ReadRegion, **_BOX),
)  # fmt: skip
PARTS = st.lists(st.builds(TextPart) | st.builds(ImagePart, media=MEDIA), max_size=3).map(tuple)
PROVENANCE = st.builds(
    Provenance,
    seed=st.integers(0, 2**40),
    sources=st.lists(st.builds(Source, snapshot=st.text(max_size=4), pins_ids=st.booleans()), max_size=2).map(tuple),
    anchor=st.none() | st.builds(AnchorRef),
)


def _questions(question: str, parts: tuple) -> dict:
    return {"question": render_parts(parts) if parts else question, "question_parts": parts}


QUESTIONS = st.builds(_questions, st.text(), PARTS)
HOPS = st.builds(
    lambda asked, **fields: Hop(**asked, **fields),
    asked=QUESTIONS,
    index=st.integers(1, 8),
    answer=st.text(),
    answer_type=st.sampled_from(["entity", "number", "date", "string"]),
    answer_id=st.none() | _ID,
    domain=st.none() | st.sampled_from(Domain),
    depends_on=st.lists(st.integers(1, 8), max_size=3).map(tuple),
    derivation=DERIVATIONS,
    options=_OPTIONS,
    label=_LABEL,
    evidence=EVIDENCE,
)


_TOPOLOGIES = st.text()


def items(topology: st.SearchStrategy[str] = _TOPOLOGIES, hops: int | None = None) -> st.SearchStrategy[Item]:
    """Items with up to three hops, or with `hops`."""
    return st.builds(
        lambda asked, **fields: Item(**asked, **fields),
        asked=QUESTIONS,
        id=_ID,
        topology=topology,
        hops=st.lists(HOPS, min_size=hops or 0, max_size=3 if hops is None else hops).map(tuple),
        answer=st.text(),
        options=_OPTIONS,
        label=_LABEL,
        variant=st.sampled_from(["factual", "counterfactual"]),
        twin=st.none() | _ID,
        provenance=PROVENANCE,
    )


ANCHORS = st.from_type(Anchor)
DOCUMENTS = st.builds(Document, id=_ID, text=st.text(min_size=1), revision=st.text()) | st.builds(
    Document, id=_ID, media=MEDIA, media_type=st.text()
)
