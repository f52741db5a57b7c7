"""The data model: one frozen pydantic model per record, shared by every stage.

Text fields hold what a reader sees; the derivations hold what a machine can run again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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


def _is_empty(values: tuple[object, ...]) -> bool:
    return not values


class Record(BaseModel):
    """Base of all records: frozen, and nothing unknown gets in."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Lookup(Record):
    """`subject` has exactly one value of `property`; subject is `Q…` or `hopN`."""

    op: Literal["lookup"] = "lookup"
    subject: str
    property: str


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


class Compute(Record):
    """The value of a whitelisted expression over `hopN`, ids, numbers and a few functions.

    `kind` is the computation's kind as the papers count them (Omanic, section 2).
    """

    op: Literal["compute"] = "compute"
    expression: str
    kind: Literal["comparison", "counting", "arithmetic", "temporal", "combinatorics"]


Derivation = Annotated[Lookup | ReverseLookup | Compute, Field(discriminator="op")]


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


class Triplet(Record):
    """One fact of the graph, with the labels that a reader sees."""

    subject: str
    property: str
    object: str
    subject_label: str
    property_label: str
    object_label: str


class LiteralFact(Record):
    """One literal of the graph, as stored: `value` in the unit `unit` (a Q-id or empty), `datatype` in XSD's words."""

    subject: str
    property: str
    value: str
    unit: str = ""
    datatype: Literal["decimal", "dateTime", "double", "string"]
    subject_label: str
    property_label: str


class Passage(Record):
    """A text that a reader is given. `supporting`: it holds what the hop rests on; else it only looks as if."""

    title: str
    text: str
    supporting: bool = True


class Claim(Record):
    """A number that the graph does not hold, with the source that says so: for an expert to look up, proven by nothing.

    `id` is `claim_id` of the rest. `statement` says the fact in one sentence; `phrase` names its number so that a
    question can hold it (`the number of Apollo missions that landed people on the Moon`); `value` is that number,
    exact, written as answers are; `names` are the entities that it mentions. `model` and `request_key` say who made
    it, and are empty where a person did.
    """

    id: str = Field(pattern=r"^cl-[a-p]{16}$")
    statement: str = Field(min_length=12, max_length=300)
    phrase: str = Field(min_length=8, max_length=160)
    value: str = Field(pattern=r"^(0|[1-9]\d{0,2}(,\d{3}){0,3})(\.\d{0,5}[1-9])?$")
    unit: str = Field(default="", max_length=40)
    source_title: str = Field(min_length=2, max_length=200)
    source_url: str = Field(pattern=r"^https?://[^\s/?#]+\.[^\s]+$", max_length=500)
    names: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(default=(), max_length=8)
    author: Literal["model", "person"]
    model: str = Field(default="", max_length=200)
    model_version: str = Field(default="", max_length=200)
    request_key: str = Field(default="", max_length=64)

    @property
    def number(self) -> int | Decimal:
        """The value as a number."""
        number = Decimal(self.value.replace(",", ""))
        return int(number) if number == number.to_integral_value() else number

    @property
    def sealed(self) -> bool:
        """Whether the id is that of the content: nothing was changed since."""
        return self.id == claim_id(self.model_dump(mode="json"))


class Evidence(Record):
    """Everything a hop's answer rests on. `wikipedia_url` leads to the subject's article by its Wikidata id.

    `claims` is left out of JSON where it is empty, as it is but for the few hops that rest on one.
    """

    triplets: tuple[Triplet, ...] = ()
    literals: tuple[LiteralFact, ...] = ()
    passages: tuple[Passage, ...] = ()
    wikipedia_url: str = ""
    claims: tuple[Claim, ...] = Field(default=(), exclude_if=_is_empty)


class Hop(Record):
    """One single-hop sub-question. `index` counts from 1, as MuSiQue's `#1` does.

    `answer` is what a reader sees (numbers with thousands separators, dates as `3 July 1990`);
    `answer_id` is the Q-id of an entity answer.
    """

    index: int = Field(ge=1, le=8)
    question: str
    answer: str
    answer_type: AnswerType
    answer_id: str | None = None
    answer_aliases: tuple[str, ...] = ()
    unit: str = ""
    domain: Domain
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


class Source(Record):
    """Where facts came from, and under which licence."""

    name: str
    licence: str


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


class Surrogate(Record):
    """One replaced entity or number of a counterfactual world."""

    original: str
    surrogate: str
    id: str = ""


class Item(Record):
    """A multi-hop question with its plan, wording, options, checks and votes."""

    id: str
    topology: str
    hops: tuple[Hop, ...]
    question: str
    answer: str
    answer_aliases: tuple[str, ...] = ()
    options: dict[Label, str]
    label: Label
    variant: Variant = "factual"
    twin: str | None = None
    world: tuple[Surrogate, ...] = ()
    anchor: AnchorRef | None = None
    checks: tuple[CheckResult, ...] = ()
    votes: tuple[Vote, ...] = ()
    provenance: Provenance = Provenance()

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The distinct domains of the hops, in order of appearance."""
        return tuple(dict.fromkeys(hop.domain for hop in self.hops))


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


_CLAIMED = ("statement", "phrase", "value", "unit", "source_title", "source_url", "names")
_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")


def claim_id(content: Mapping[str, Any]) -> str:
    """Content hash of a claim: what it says, how it is worded, and its source; not who made it.

    Letters only, so that nobody who looks for numbers in an expression finds some in an id.
    """
    said = {name: list(content[name]) if name == "names" else content[name] for name in _CLAIMED}
    canonical = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.blake2b(canonical.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"cl-{digest.translate(_LETTERS)}"


def make_claim(**content: Any) -> Claim:
    """A claim with its id. Raises pydantic's ValidationError."""
    filled = {"unit": "", "names": (), **content}
    return Claim.model_validate({**filled, "id": claim_id({**dict.fromkeys(_CLAIMED, ""), **filled})})


def plan_id(topology: str, derivations: tuple[Derivation, ...], variant: Variant = "factual") -> str:
    """Content hash of a plan: the same plan gives the same id in every run."""
    plan: dict[str, Any] = {
        "topology": topology,
        "variant": variant,
        "derivations": [derivation.model_dump(mode="json") for derivation in derivations],
    }
    canonical = json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "hw-" + hashlib.blake2b(canonical.encode(), digest_size=8).hexdigest()
