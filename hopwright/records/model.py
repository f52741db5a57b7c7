"""The data model: one frozen pydantic model per record, shared by every stage.

Text fields hold what a reader sees; the derivations hold what a machine can run again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from hopwright.records.base import Record
from hopwright.records.documents import DocumentId, Length, Offset, Pixels, Question
from hopwright.records.evidence import Evidence, LiteralFact, Triplet

AnswerType = Literal["entity", "number", "date", "string"]
Variant = Literal["factual", "counterfactual"]
Outcome = Literal["pass", "fail", "skip"]
Label = Literal["A", "B", "C", "D"]
LABELS: tuple[Label, ...] = ("A", "B", "C", "D")


class Domain(StrEnum):
    """The eight knowledge domains (Omanic, section 2, names the first two; the others are ours)."""

    HISTORY = "History and Literature"
    ART = "Art and Architecture"
    GEOGRAPHY = "Geography and Environment"
    POLITICS = "Politics and Law"
    SCIENCE = "Science and Technology"
    FILM = "Film, Music and Media"
    SPORTS = "Sports and Games"
    BUSINESS = "Business and Society"


class Lookup(Record):
    """`subject` has exactly one value of `property`; subject is `Q…` or `hopN`."""

    op: Literal["lookup"] = "lookup"
    subject: str
    property: str

    def references(self) -> tuple[str, ...]:
        """What the step rests on, in its own notation: ids, numbers, hops."""
        return (self.subject,)


class Constraint(Record):
    """One condition of a reverse look-up; `value` is `Q…`, `hopN`, or an expression giving a number or a year."""

    property: str
    value: str


class ReverseLookup(Record):
    """Exactly one entity has `value` for `property` and meets every constraint.

    For a literal property the value is compared after the property's normalisation (a date by its year).
    """

    op: Literal["reverse_lookup"] = "reverse_lookup"
    property: str
    value: str
    constraints: tuple[Constraint, ...] = ()

    def conditions(self) -> tuple[Constraint, ...]:
        """All conditions, the first of them included."""
        return (Constraint(property=self.property, value=self.value), *self.constraints)

    def asks_same_of_two(self) -> bool:
        """Whether both of two conditions are of one property: a country that borders two others."""
        return [one.property for one in self.constraints] == [self.property]

    def references(self) -> tuple[str, ...]:
        """What the step rests on, in its own notation: ids, numbers, hops."""
        return (self.value, *(constraint.value for constraint in self.constraints))


class Compute(Record):
    """The value of a whitelisted expression over `hopN`, ids, numbers and a few functions.

    `kind` is the computation's kind as the papers count them (Omanic, section 2).
    """

    op: Literal["compute"] = "compute"
    expression: str
    kind: Literal["comparison", "counting", "arithmetic", "temporal", "combinatorics"]

    def references(self) -> tuple[str, ...]:
        """What the step rests on, in its own notation: ids, numbers, hops."""
        return (self.expression,)


class _Reading(Record):
    """A step that reads a document, and so refers to nothing else."""

    document: DocumentId

    def references(self) -> tuple[str, ...]:
        """What the step rests on beside the document: nothing."""
        return ()


class ReadSpan(_Reading):
    """The answer is what the characters `start` up to `end` of a document's text say."""

    op: Literal["read_span"] = "read_span"
    start: Offset
    end: Offset


class ReadRegion(_Reading):
    """The answer is what a rectangle of a picture shows, in pixels from its upper left corner."""

    op: Literal["read_region"] = "read_region"
    left: Pixels
    top: Pixels
    width: Length
    height: Length


GraphDerivation = Lookup | ReverseLookup | Compute
"""The steps that can be run on a knowledge graph."""
Derivation = Annotated[Lookup | ReverseLookup | Compute | ReadSpan | ReadRegion, Field(discriminator="op")]


DistractorKind = Literal["sibling", "near_miss", "operand", "slip", "neighbour"]


class Distractor(Record):
    """A wrong option and why it is plausible.

    Kinds: `sibling` (same class, near by), `operand` (a number or entity that occurs on the way, or is compared),
    `near_miss` (what a wrong turn at an earlier step leads to, or what meets all conditions but the computed one),
    `slip` (a wrong operation or event, off by one, a property taken for another), `neighbour` (next to the answer in
    time, place or number, or the same fact of a similar thing).
    """

    text: str
    kind: DistractorKind
    id: str | None = None


class Hop(Question):
    """One single-hop sub-question. `index` counts from 1, as MuSiQue's `#1` does.

    `answer` is what a reader sees (numbers with thousands separators, dates as `3 July 1990`);
    `answer_id` is the id of an entity answer: Wikidata's, one of our own (`is_own_id`), or that of an entity that a
    twin invents. `domain` is empty where the source has none, as a novel has, `options`
    and `label` where the question is open-ended.
    """

    index: int = Field(ge=1, le=8)
    answer: str
    answer_type: AnswerType
    answer_id: str | None = None
    answer_aliases: tuple[str, ...] = ()
    unit: str = ""
    domain: Domain | None = None
    domain_reason: str = ""
    """What the domain follows from: `place of birth (P19) of painter`."""
    depends_on: tuple[int, ...]
    derivation: Derivation
    distractors: tuple[Distractor, ...] = ()
    options: dict[Label, str] = Field(default_factory=dict)
    label: Label | None = None
    evidence: Evidence = Evidence()
    verify: str = ""
    """What an expert has to look at, and why the graph alone does not settle it; empty where it does."""


class CheckResult(Record):
    """What one check said; a skip says in `reason` why it could not run."""

    name: str
    outcome: Outcome
    reason: str = ""


class Vote(Record):
    """One voter's choice; `probabilities` holds one per label, in the order A–D, or is empty."""

    model: str
    option: Label
    probabilities: tuple[float, ...] = ()
    right: bool


class AnchorHop(Record):
    """One of the anchor question's own single hops, kept in an item: the item's hop, and the hop's id in MuSiQue."""

    index: int = Field(ge=1, le=8)
    single_hop_id: str


class AnchorRef(Record):
    """The MuSiQue question whose answer an item was grown from, and which of its single hops the item keeps."""

    question_id: str
    answer: str
    entity: str
    hops: tuple[AnchorHop, ...] = ()


class Source(Record):
    """Where facts came from, and under which licence.

    `snapshot` is a hash of the content that was read. `pins_ids` says that the ids of plans cover it, as those of
    plans over documents have to: an offset means nothing in another revision. Wikidata's ids mean the same in every
    dump, so that plans over it keep their ids from one dump to the next.
    """

    name: str
    licence: str
    snapshot: str = ""
    pins_ids: bool = False


class Provenance(Record):
    """Who made an item, from what. Nothing here differs between two runs with the same inputs and answers."""

    generator: Literal["rules", "model"] = "rules"
    model: str = ""
    model_version: str = ""
    prompt: str = ""
    prompt_version: str = ""
    seed: int = 0
    request_keys: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    back_translation: str = ""
    sources: tuple[Source, ...] = ()
    anchor: AnchorRef | None = None
    """The MuSiQue question that the item was grown from."""


class Surrogate(Record):
    """One replaced entity or number of a counterfactual world."""

    original: str
    surrogate: str
    id: str = ""


class Item(Question):
    """A multi-hop question with its plan, wording, options, checks and votes; an open-ended one has no options.

    `marked` is the question with its words marked by hop (`hopwright/wording/marks.py`); empty where that is not known.
    """

    id: str
    topology: str
    hops: tuple[Hop, ...]
    answer: str
    answer_aliases: tuple[str, ...] = ()
    options: dict[Label, str] = Field(default_factory=dict)
    label: Label | None = None
    marked: str = ""
    variant: Variant = "factual"
    twin: str | None = None
    world: tuple[Surrogate, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    votes: tuple[Vote, ...] = ()
    provenance: Provenance = Provenance()

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The distinct domains of the hops, in order of appearance."""
        return tuple(dict.fromkeys(hop.domain for hop in self.hops if hop.domain is not None))

    @property
    def anchor(self) -> AnchorRef | None:
        """The MuSiQue question that the item was grown from."""
        return self.provenance.anchor

    @property
    def plan_id(self) -> str:
        """The id that the item's plan asks for."""
        derivations = tuple(hop.derivation for hop in self.hops)
        return plan_id(self.topology, derivations, self.variant, self.provenance.sources)


class Anchor(Record):
    """One answer of a MuSiQue 2-hop question, linked to the graph, with what the graph says about it."""

    question_id: str
    question: str
    answer: str
    sub_questions: tuple[str, ...] = ()
    sub_answers: tuple[str, ...] = ()
    sub_ids: tuple[str, ...] = ()
    entity: str
    entity_label: str
    triplets: tuple[Triplet, ...] = ()
    literals: tuple[LiteralFact, ...] = ()


class Rejected(Record):
    """A row that went no further: what it was, which check failed, why; `row` is the record as JSON or the raw line."""

    key: str
    check: str
    reason: str
    row: str = ""


def plan_id(
    topology: str, derivations: tuple[Derivation, ...], variant: Variant = "factual", sources: Sequence[Source] = ()
) -> str:
    """Content hash of a plan: the same plan gives the same id in every run.

    It covers the snapshots of those sources that pin ids; without any, as over Wikidata, the plan alone.
    """
    plan: dict[str, Any] = {
        "topology": topology,
        "variant": variant,
        "derivations": [derivation.model_dump(mode="json") for derivation in derivations],
    }
    if pinned := sorted({(source.name, source.snapshot) for source in sources if source.pins_ids}):
        plan["snapshots"] = pinned
    canonical = json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "hw-" + hashlib.blake2b(canonical.encode(), digest_size=8).hexdigest()
