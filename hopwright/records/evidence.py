"""What an answer rests on: one tagged union of facts, quotations, pictures, passages and sources outside the graph."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, Self, TypedDict, TypeVar, Unpack, cast

from pydantic import Field, field_validator

from hopwright.records.base import Record
from hopwright.records.documents import ImageRegion, Span

_E = TypeVar("_E", bound=Record)


class Triplet(Record):
    """One fact of the graph, with the labels that a reader sees."""

    kind: Literal["triplet"] = "triplet"
    subject: str
    property: str
    object: str
    subject_label: str
    property_label: str
    object_label: str


class LiteralFact(Record):
    """One literal of the graph, as stored: `value` in the unit `unit` (a Q-id or empty), `datatype` in XSD's words."""

    kind: Literal["literal"] = "literal"
    subject: str
    property: str
    value: str
    unit: str = ""
    datatype: Literal["decimal", "dateTime", "double", "string"]
    subject_label: str
    property_label: str


class Passage(Record):
    """A text that a reader is given. `supporting`: it holds what the hop rests on; else it only looks as if."""

    kind: Literal["passage"] = "passage"
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

    kind: Literal["claim"] = "claim"
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


class Article(Record):
    """The subject's article in Wikipedia, where a reader can look the hop up; nothing is proven by it."""

    kind: Literal["article"] = "article"
    url: str


EvidenceEntry = Annotated[
    Triplet | LiteralFact | Span | ImageRegion | Passage | Claim | Article, Field(discriminator="kind")
]
EVIDENCE_LISTS: dict[type[Record], str] = {
    Triplet: "triplets",
    LiteralFact: "literals",
    Span: "spans",
    ImageRegion: "regions",
    Passage: "passages",
    Claim: "claims",
}
"""The kinds of evidence that a hop may have several of, each with the name of its list; in the order of a record."""
_ORDER = {kind: place for place, kind in enumerate((*EVIDENCE_LISTS, Article))}


class _Lists(TypedDict, total=False):
    triplets: Iterable[Triplet]
    literals: Iterable[LiteralFact]
    spans: Iterable[Span]
    regions: Iterable[ImageRegion]
    passages: Iterable[Passage]
    claims: Iterable[Claim]
    wikipedia_url: str


class Evidence(Record):
    """Everything that a hop's answer rests on, ordered by kind, and within a kind as it was given.

    Because of that order a release can state one list for each kind and lose nothing.
    """

    entries: tuple[EvidenceEntry, ...] = ()

    @field_validator("entries")
    @classmethod
    def _order(cls, entries: tuple[EvidenceEntry, ...]) -> tuple[EvidenceEntry, ...]:
        if sum(isinstance(entry, Article) for entry in entries) > 1:
            raise ValueError("more than one article")
        return tuple(sorted(entries, key=lambda entry: _ORDER[type(entry)]))

    @classmethod
    def of(cls, **lists: Unpack[_Lists]) -> Self:
        """Gather evidence of several kinds. Raises TypeError for an unknown kind.

        `wikipedia_url` is the address of the one article; an empty one is none.
        """
        if unknown := lists.keys() - _Lists.__annotations__.keys():
            raise TypeError(f"no kind of evidence: {', '.join(sorted(unknown))}")
        url = lists.pop("wikipedia_url", "")
        given = cast("dict[str, Iterable[EvidenceEntry]]", lists)
        entries = [entry for kind in given.values() for entry in kind]
        return cls(entries=(*entries, *([Article(url=url)] if url else ())))

    def replace(self, **lists: Unpack[_Lists]) -> Self:
        """Copy the evidence with all entries of some kinds replaced; takes the arguments of `of`."""
        kept = [entry for entry in self.entries if EVIDENCE_LISTS.get(type(entry), "wikipedia_url") not in lists]
        return type(self)(entries=(*kept, *self.of(**lists).entries))

    @property
    def triplets(self) -> tuple[Triplet, ...]:
        """Facts of the graph that link two entities."""
        return self._pick(Triplet)

    @property
    def literals(self) -> tuple[LiteralFact, ...]:
        """Facts of the graph with a number, a date or a text."""
        return self._pick(LiteralFact)

    @property
    def spans(self) -> tuple[Span, ...]:
        """Quotations from documents."""
        return self._pick(Span)

    @property
    def regions(self) -> tuple[ImageRegion, ...]:
        """Parts of pictures."""
        return self._pick(ImageRegion)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Texts that a reader is given."""
        return self._pick(Passage)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Numbers that the graph does not hold, with their sources."""
        return self._pick(Claim)

    @property
    def wikipedia_url(self) -> str:
        """Where the subject's article is, by its Wikidata id; empty where it has none (its id is then our own)."""
        return next((article.url for article in self._pick(Article)), "")

    def _pick(self, kind: type[_E]) -> tuple[_E, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, kind))


def tag_lists(lists: Mapping[str, Any]) -> dict[str, Any]:
    """Turn evidence stated as one list a kind into an unvalidated `Evidence`; what does not belong there is kept."""
    entries: list[Any] = []
    for kind, name in EVIDENCE_LISTS.items():
        tag = kind.model_fields["kind"].default
        held = lists.get(name)
        stated = held if isinstance(held, list) else [] if held is None else [held]
        entries += [{**entry, "kind": tag} if isinstance(entry, dict) else entry for entry in stated]
    if (url := lists.get("wikipedia_url")) not in ("", None):
        entries.append({"kind": "article", "url": url})
    others = {name: value for name, value in lists.items() if name not in _Lists.__annotations__}
    return {"entries": entries, **others}


def split_entries(evidence: Mapping[str, Any]) -> dict[str, Any]:
    """State evidence, as `model_dump` gives it, as one list a kind and the article's address: undoes `tag_lists`."""
    names = {kind.model_fields["kind"].default: name for kind, name in EVIDENCE_LISTS.items()}
    lists: dict[str, Any] = {name: [] for name in names.values()} | {"wikipedia_url": ""}
    for entry in evidence["entries"]:
        if name := names.get(entry["kind"]):
            lists[name].append({field: value for field, value in entry.items() if field != "kind"})
        else:
            lists["wikipedia_url"] = entry["url"]
    return lists


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
