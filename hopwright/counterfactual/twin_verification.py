"""What every twin of a run must show, looked up again from its file: nothing here trusts how it was made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from hopwright.counterfactual.passage_context import find_unanswered
from hopwright.counterfactual.passages import list_conditions
from hopwright.counterfactual.real_names import find_real_wording
from hopwright.counterfactual.rewriting import find_real_names
from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.facts import EvidenceFacts
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.execution import run_plan, same, stated_value
from hopwright.records import Item
from hopwright.text.mentions import find_mentions

_KEPT = 5
_CANDIDATES = 3


@dataclass(slots=True)
class TwinVerification:
    """Counts over twins; those from `not_rederived` on should be 0. examples: the first few of what is not.

    open_conditions: conditions of reverse look-ups that name an entity; few_candidates: those for which a retriever
    that looks for that name alone finds fewer than three subjects to choose from. passage_words: of all passages.
    """

    twins: int = 0
    surrogates: int = 0
    passages: int = 0
    passage_words: int = 0
    open_conditions: int = 0
    candidates: int = 0
    not_rederived: int = 0
    known_surrogates: int = 0
    real_names_left: int = 0
    not_one_to_one: int = 0
    shared_surrogates: int = 0
    unanswered: int = 0
    few_candidates: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return not any(
            (self.not_rederived, self.known_surrogates, self.real_names_left, self.not_one_to_one,
             self.shared_surrogates, self.unanswered, self.few_candidates)
        )  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """The counts by name."""
        return asdict(self)


def verify_twins(twins: Iterable[Item], graph: GraphStore, table: PropertyTable) -> TwinVerification:
    """Check every twin by itself, and the names of all against each other.

    Re-derivation: the plan, run on the evidence that the twin carries, gives every stated answer. A surrogate is known
    when the graph has it as a label or alias. A real name is any label or alias of at least four letters of what was
    replaced, and any in the wordings of its properties.
    """
    proof = TwinVerification()
    owners: dict[str, str] = {}
    for twin in twins:
        proof.twins += 1
        proof.passages += sum(len(hop.evidence.passages) for hop in twin.hops)
        entities = [one for one in twin.world if "." not in one.id]
        proof.surrogates += len(entities)
        if problem := _find_underived(twin, table):
            proof.not_rederived += 1
            _note(proof, twin, problem)
        for one in entities:
            if graph.knows_name(one.surrogate):
                proof.known_surrogates += 1
                _note(proof, twin, f"{one.surrogate!r} is a name in the graph")
        if name := find_real_names(twin, graph) or find_real_wording(twin, table):
            proof.real_names_left += 1
            _note(proof, twin, f"{name!r} is still there")
        # What a wording names, such as `the United Kingdom`, may be one of the plan's entities.
        ids = {one.original: one.id for one in entities if one.id}
        keys = [one.id or ids.get(one.original.removeprefix("the "), one.original) for one in entities]
        pairs = {(key, one.surrogate.casefold()) for key, one in zip(keys, entities, strict=True)}
        if len({surrogate for _, surrogate in pairs}) != len({key for key, _ in pairs}):
            proof.not_one_to_one += 1
            _note(proof, twin, "two entities have one surrogate")
        # What stands for nothing in the original only fills passages, and may be called as something elsewhere.
        for name in {one.surrogate.casefold() for one in entities if one.original}:
            if owners.setdefault(name, twin.id) != twin.id:
                proof.shared_surrogates += 1
                _note(proof, twin, f"{name!r} is also in {owners[name]}")
        if problem := find_unanswered(twin):
            proof.unanswered += 1
            _note(proof, twin, problem)
        for hop in twin.hops:
            proof.passage_words += sum(len(passage.text.split()) for passage in hop.evidence.passages)
        for index, name, found in retrieve_candidates(twin):
            proof.open_conditions += 1
            proof.candidates += found
            if found < _CANDIDATES:
                proof.few_candidates += 1
                _note(proof, twin, f"hop {index}: {name!r} alone finds {found}")
    return proof


def retrieve_candidates(item: Item) -> Iterator[tuple[int, str, int]]:
    """What a retriever finds that looks for one open condition of a question and computes nothing.

    For each condition of a reverse look-up that names an entity: (hop, name, how many subjects the hop's passages tell
    of in which that name stands). Conditions that nothing else narrows down are left out, for they are the question.
    """
    for hop in item.hops:
        named, measured = list_conditions(item, hop)
        if not hop.evidence.passages or len(named) + len(measured) < 2:
            continue
        labels = {one.object: one.object_label for one in hop.evidence.triplets}
        labels.update({one.answer_id: one.answer for one in item.hops if one.answer_id})
        for _, entity in named:
            name = labels.get(entity, "")
            found = {
                passage.title
                for passage in hop.evidence.passages
                if name and passage.title != name and next(find_mentions(passage.text, name), None) is not None
            }
            if name:
                yield hop.index, name, len(found)


def _find_underived(twin: Item, table: PropertyTable) -> str:
    try:
        values = run_plan(twin.hops, EvidenceFacts(twin.hops, table), table)
        for hop in twin.hops:
            if not same(values[hop.index], stated_value(hop)):
                return f"hop {hop.index} states {hop.answer!r}, not {values[hop.index]}"
    except (ExpressionError, InputError) as error:
        return str(error)
    return ""


def _note(proof: TwinVerification, twin: Item, problem: str) -> None:
    if len(proof.examples) < _KEPT:
        proof.examples.append(f"{twin.id}: {problem}")
