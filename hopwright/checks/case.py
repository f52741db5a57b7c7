"""What a check is, what it sees, and what it may ask."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.facts import EvidenceFacts, Facts, GraphFacts
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import Extreme, read_form
from hopwright.planning.execution import hops_used, stated_value
from hopwright.planning.expressions import read_hop
from hopwright.records import Compute, Hop, Item
from hopwright.records.values import Value
from hopwright.text.matching import find_numbers, fold, pad

_MARKS = re.compile(r"[^\w'’-]")

# Words that a name may begin with and that the rules of grammar look at: `The Bahamas`, `Which Way Home`.
_GRAMMAR_WORDS = frozenset(
    "the a an of in on at to by for from and or is was are were how who whom whose which what when where that its then "
    "first finally now today".split()
)

Finding = tuple[int | None, str]
"""The hop that is at fault (None: the item as a whole) and what is wrong."""

Severity = Literal["error", "warning"]
Need = Literal["plan", "factual", "graph"]


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What checks may consult. `facts` and `kinds` are by default the graph's; without a graph, checks that need it are
    skipped.
    """

    table: PropertyTable
    facts: Facts | None = None
    graph: GraphStore | None = None
    min_domains: int = 2
    kinds: KindIndex | None = None

    def __post_init__(self) -> None:
        if self.graph is None:
            return
        if self.facts is None:
            object.__setattr__(self, "facts", GraphFacts(self.graph, self.table))
        if self.kinds is None:
            object.__setattr__(self, "kinds", KindIndex(self.graph))

    def kind_of(self, id: str) -> str:
        """An entity's coarse kind (`person`, `country`, …); empty without a graph."""
        return self.kinds.kind(id) if self.kinds is not None else ""


@dataclass(frozen=True, slots=True)
class Check:
    """One rule. `needs`: without a plan (a bare published row has none), a factual item (the graph knows nothing of a
    counterfactual world) or a graph, it is skipped and says so.

    A failed error keeps an item out of a release; a warning is only reported.
    """

    name: str
    description: str
    run: Callable[[CheckedItem, CheckContext], Iterable[Finding]]
    severity: Severity = "error"
    needs: tuple[Need, ...] = ("plan",)
    concerns: Callable[[CheckedItem], bool] | None = None
    """Which items it has anything to say about, where that is but a few: of the others it says nothing at all."""


@dataclass(eq=False)
class CheckedItem:
    """An item under examination, with what several checks look at worked out once.

    `planned` is False for a row in the bare published format: its hops state no domain, derivation or evidence.
    """

    item: Item
    planned: bool = True
    last: Hop = field(init=False)
    _masked: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.last = self.item.hops[-1]

    @property
    def factual(self) -> bool:
        """Whether the item speaks about the world that the graph describes."""
        return self.item.variant == "factual"

    @functools.cached_property
    def padded(self) -> str:
        """The multi-hop question, folded, ready for whole-word searches."""
        return pad(self.item.question)

    @functools.cached_property
    def padded_hops(self) -> tuple[str, ...]:
        """The sub-questions, folded, in hop order."""
        return tuple(pad(hop.question) for hop in self.item.hops)

    @functools.cached_property
    def numbers(self) -> frozenset[tuple[Decimal, bool]]:
        """The numbers in the multi-hop question, and whether each stands alone."""
        return find_numbers(self.item.question)

    @functools.cached_property
    def labels(self) -> dict[str, str]:
        """Entity id → label, as the evidence, the answers and the distractors state it."""
        found: dict[str, str] = {}
        if not self.planned:
            return found
        for hop in self.item.hops:
            for triplet in hop.evidence.triplets:
                found.setdefault(triplet.subject, triplet.subject_label)
                found.setdefault(triplet.object, triplet.object_label)
            for literal in hop.evidence.literals:
                found.setdefault(literal.subject, literal.subject_label)
        return found

    @functools.cached_property
    def stated(self) -> dict[int, Value]:
        """Hop index → the value that its answer states; hops whose answer cannot be read are left out."""
        found: dict[int, Value] = {}
        for hop in self.item.hops:
            try:
                found[hop.index] = stated_value(hop)
            except InputError:
                continue
        return found

    def resolve(self, reference: str) -> str:
        """The Q-id behind `hopN` (empty where that hop has none); anything else as it is."""
        name = reference.strip()
        if not name.startswith("hop"):
            return name
        hop = read_hop(name)
        value = None if hop is None else self.stated.get(hop)
        return value if isinstance(value, str) else ""

    @functools.cached_property
    def used(self) -> dict[int, tuple[int, ...]]:
        """Hop index → the hops that its derivation refers to; empty where the derivation cannot be parsed."""
        found: dict[int, tuple[int, ...]] = {}
        for hop in self.item.hops:
            try:
                found[hop.index] = hops_used(hop.derivation)
            except ExpressionError:
                found[hop.index] = ()
        return found

    @functools.cached_property
    def _names(self) -> tuple[tuple[str, str], ...]:
        names = {
            *self.labels.values(),
            *(hop.answer for hop in self.item.hops if hop.answer_type == "entity"),
        }
        names |= {option for hop in self.item.hops for option in hop.options.values()} - {""}
        longest_first = sorted(names, key=lambda name: (-len(name), name))
        return tuple(
            (name, _shorten(name)) for name in longest_first if not name.isalnum() or name.lower() in _GRAMMAR_WORDS
        )

    def mask(self, text: str) -> str:
        """Shorten every known name to its first telling word: grammar rules are for our wording, not for titles."""
        masked = self._masked.get(text)
        if masked is None:
            masked = text
            for name, first in self._names:
                if name in masked:
                    masked = masked.replace(name, first)
            self._masked[text] = masked
        return masked

    def by_selection(self, hop: Hop) -> bool:
        """Whether a hop picks its answer among entities that it names (`which of the two is larger`).

        Without a plan: whether it repeats the answer of one of several inputs, or of one offered with an `or`.
        """
        if self.planned:
            return isinstance(hop.derivation, Compute) and hop.derivation.expression.startswith(("argmax(", "argmin("))
        inputs = [one for one in self.item.hops if one.index in hop.depends_on]
        answer = fold(hop.answer)
        repeated = any(fold(one.answer) == answer for one in inputs)
        return repeated and hop.answer_type != "number" and (len(inputs) > 1 or " or " in hop.question)

    def is_choice_of_named(self, hop: Hop) -> bool:
        """Whether a hop picks its answer among entities that the question names outright."""
        if not self.planned or not isinstance(hop.derivation, Compute) or hop.answer_id is None:
            return False
        form = read_form(hop.derivation.expression)
        return isinstance(form, Extreme) and hop.answer_id in form.entities

    def evidence(self, table: PropertyTable) -> EvidenceFacts:
        """The facts that the item itself carries."""
        return EvidenceFacts(self.item.hops, table)


def _shorten(name: str) -> str:
    """The first word of a name without its marks, so that quotes, brackets and question marks in it do not count."""
    first = next((word for word in _MARKS.sub(" ", name).split()), "Name")
    return "Name" if first.lower() in _GRAMMAR_WORDS else first
