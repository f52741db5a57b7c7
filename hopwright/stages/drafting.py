"""From anchors to drafts: plan, word by rules, add distractors and options, check; and the shards that do so."""

from __future__ import annotations

import functools
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from hopwright.checks import CheckContext, run_checks
from hopwright.checks.guessing import overlap
from hopwright.distractors.hop_task import OptionShortage, Reader, find_reader
from hopwright.distractors.maker import DistractorMaker, Likeness
from hopwright.distractors.options import assign_options
from hopwright.errors import ExpressionError
from hopwright.knowledge.external.bank import parse_bank
from hopwright.knowledge.properties import PropertyTable
from hopwright.knowledge.wikidata.names import GraphNames
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.evidence import evidence_for, find_ties
from hopwright.planning.execution import render_answer
from hopwright.planning.expert_notes import write_expert_note
from hopwright.planning.plan import Plan, entities_of
from hopwright.planning.plan_sampler import PlanSampler, SampledPlan
from hopwright.planning.planner import NoPlanError, Planner
from hopwright.planning.target_counter import TargetCounter
from hopwright.planning.target_distribution import TargetDistribution
from hopwright.records import (
    Anchor,
    AnchorHop,
    AnchorRef,
    CheckResult,
    Claim,
    Compute,
    Domain,
    Hop,
    Item,
    Provenance,
    Rejected,
    Source,
)
from hopwright.records.arrow import items_to_table
from hopwright.records.values import Value
from hopwright.runs import ShardOutput
from hopwright.settings import DomainName, SynthesizeParameters
from hopwright.stages.resources import describe_source, load_anchors, open_graph
from hopwright.text.embeddings import SentenceLikeness
from hopwright.text.matching import mend_quotes
from hopwright.topologies import TOPOLOGIES
from hopwright.wording.rules.rules_writer import RulesWriter, Wording

MAX_ALIASES = 20

_REMEMBERED = 2_000
"""So many plans are kept with what was made of them: most are drawn in several shards."""

_MOST_FAILED = 3
"""After so many plans that choose the same and fail nothing else is asked of it."""
_MOST_WORDS = 45
"""Words of a question; readers lose the thread of longer ones."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """What was made of a plan, whatever its anchor: the item and its checks, or why there is none."""

    item: Item | Rejected
    checks: tuple[CheckResult, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether it is an item that no check refuses."""
        return isinstance(self.item, Item) and all(check.outcome != "fail" for check in self.checks)


class _HadPlans:
    """The plans of some slots. One that is drawn again adds nothing, nor does one that chooses what an item of its
    topology chooses, or what several failed with.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._spent: Counter[tuple[str, ...]] = Counter()

    def holds(self, plan: Plan) -> bool:
        """Whether a plan would add nothing."""
        return plan.id in self._ids or self._spent[_list_chosen(plan)] >= _MOST_FAILED

    def note(self, plan: Plan, *, passed: bool) -> None:
        """Keep a plan, and what came of what it chooses."""
        self._ids.add(plan.id)
        if len(chosen := _list_chosen(plan)) > 1:
            self._spent[chosen] += _MOST_FAILED if passed else 1


def _list_chosen(plan: Plan) -> tuple[str, ...]:
    """The topology of a plan, and the entities that its computations choose."""
    computed = (one for one in plan.steps if isinstance(one.derivation, Compute) and one.answer_type == "entity")
    return (plan.topology, *(str(one.value) for one in computed))


class Synthesizer:
    """Turns draft slots into items. Every slot gives one item or one rejection, and the same one in every run: what it
    gives depends on the slots before it in its shard, and on no other shard.
    """

    def __init__(
        self,
        graph: GraphStore,
        table: PropertyTable,
        *,
        seed: int,
        topologies: Sequence[str] = ("chain", "converging", "bridge"),
        min_domains: int = 2,
        distribution: TargetDistribution | None = None,
        sources: tuple[Source, ...] = (),
        likeness: Likeness = overlap,
        claims: Sequence[Claim] = (),
    ) -> None:
        kinds = self.kinds = KindIndex(graph)
        self.graph = graph
        self._table = table
        self._seed = seed
        wanted = distribution or TargetDistribution(dict.fromkeys(topologies, 1.0), min_domains=min_domains)
        self._source = WikidataSource(graph, table, kinds)
        self._planner = Planner(self._source, min_domains=wanted.min_domains, claims=claims)
        self._drawer = PlanSampler(self._planner, wanted, seed, graph)
        self.ledger = TargetCounter(self._drawer)
        self._writer = RulesWriter(table)
        self._names = GraphNames(kinds)
        self.distractors = DistractorMaker(graph, table, kinds, seed, likeness=likeness)
        self.context = CheckContext(
            table=table, facts=self._planner.traversals.facts, graph=graph, min_domains=wanted.min_domains, kinds=kinds
        )
        self._sources = sources
        self._drafts: OrderedDict[tuple[str, ...], _Draft] = OrderedDict()

    def draft(
        self, anchors: Sequence[Anchor], start: int, count: int, part: tuple[int, int] = (0, 1)
    ) -> tuple[list[Item], list[Rejected]]:
        """Fill the slots start … start + count - 1; items out + rejections = count. part: see `SamplingPreferences`."""
        items: list[Item] = []
        rejected: list[Rejected] = []
        had = _HadPlans()
        for slot in range(start, start + count):
            outcome = self._fill(anchors, slot, had, part)
            if isinstance(outcome, Item):
                items.append(outcome)
            else:
                rejected.append(outcome)
        return items, rejected

    def sketch(self, slot: int) -> Plan:
        """A plan of the graph alone, without the pilots that hold a run to its targets. Raises NoPlanError."""
        return self._drawer.sketch(slot)

    def _fill(self, anchors: Sequence[Anchor], slot: int, had: _HadPlans, part: tuple[int, int]) -> Item | Rejected:
        try:
            drawn = self._drawer.draw(anchors, slot, had.holds, part)
        except NoPlanError as error:
            self.ledger.note_failure(error)
            return Rejected(key=f"slot-{slot}", check="no_plan", reason=str(error))
        self.ledger.note(drawn)
        draft = self._find_draft(drawn.plan)
        had.note(drawn.plan, passed=draft.passes)
        if isinstance(draft.item, Rejected):
            return draft.item
        provenance = draft.item.provenance.model_copy(update={"anchor": _refer(drawn)})
        item = draft.item.model_copy(update={"provenance": provenance})
        failed = next((check for check in draft.checks if check.outcome == "fail"), None)
        if failed is not None:
            return Rejected(key=item.id, check=failed.name, reason=failed.reason, row=item.model_dump_json())
        return item.model_copy(update={"checks": draft.checks})

    def _find_draft(self, plan: Plan) -> _Draft:
        """What is made of a plan; what was made of the latest ones is kept."""
        key = (plan.id, *(claim.id for claim in plan.claims))
        if (draft := self._drafts.get(key)) is None:
            item = self.compose(plan)
            draft = _Draft(item) if isinstance(item, Rejected) else _Draft(item, self._check(item, plan))
            self._drafts[key] = draft
            if len(self._drafts) > _REMEMBERED:
                self._drafts.popitem(last=False)
        return draft

    def _check(self, item: Item, plan: Plan) -> tuple[CheckResult, ...]:
        checks = run_checks(item, self.context)
        if any(check.outcome == "fail" for check in checks):
            return checks
        coherence = CheckResult(name="coherence", outcome="pass", reason=str(self._drawer.coherence(plan)))
        return (*checks, coherence)

    def compose(self, plan: Plan, anchor: AnchorRef | None = None) -> Item | Rejected:
        """Put a proven plan into the rules' words and give it options; not checked yet."""
        try:
            wording = self._writer.word(plan.steps, self._names, plan.id)
        except ExpressionError as error:
            return Rejected(key=plan.id, check="no_words", reason=str(error))
        if (words := len(wording.question.split())) > _MOST_WORDS:
            return Rejected(key=plan.id, check="length", reason=f"a question of {words} words, not of {_MOST_WORDS}")
        hops = self._hops(plan, wording)
        if isinstance(hops, Rejected):
            return hops
        last = hops[-1]
        assert last.label is not None
        return Item(
            id=plan.id,
            topology=plan.topology,
            hops=hops,
            question=wording.question,
            marked=wording.marked,
            answer=last.answer,
            answer_aliases=last.answer_aliases,
            options=last.options,
            label=last.label,
            provenance=Provenance(seed=self._seed, sources=self._sources, anchor=anchor),
        )

    def _list_aliases(self, entity: str) -> tuple[str, ...]:
        """What else the answer is called, as a reader would write it."""
        return tuple(dict.fromkeys(map(mend_quotes, self.graph.aliases(entity)[:MAX_ALIASES])))

    def _hops(self, plan: Plan, wording: Wording) -> tuple[Hop, ...] | Rejected:
        answers: dict[int, Value] = {}
        hops: list[Hop] = []
        rulings = self._planner.domains.of_steps(plan.steps)
        values = {index: step.value for index, step in enumerate(plan.steps, start=1)}
        readers = [Reader(one.derivation, one.answer_type, one.value, one.claims, values) for one in plan.steps]
        for index, (step, question) in enumerate(zip(plan.steps, wording.hop_questions, strict=True), start=1):
            entity = step.value if step.answer_type == "entity" and isinstance(step.value, str) else None
            evidence = evidence_for(step, answers, self.graph, self._table)
            if ties := find_ties(step, entities_of(plan), self.graph, self._table):
                evidence = evidence.replace(triplets=(*evidence.triplets, *ties))
            hop = Hop(
                index=index,
                question=question,
                answer=self.graph.label(entity) if entity else render_answer(step.value, step.unit),
                answer_type=step.answer_type,
                answer_id=entity,
                answer_aliases=self._list_aliases(entity) if entity else (),
                unit=step.unit,
                domain=rulings[index - 1].domain,
                domain_reason=rulings[index - 1].reason,
                depends_on=TOPOLOGIES[plan.topology].depends_on[index - 1],
                derivation=step.derivation,
                evidence=evidence,
                verify=write_expert_note(step, hops, self._source),
            )
            asked = wording.question if index == len(plan.steps) else ""
            reader = find_reader(index, readers[index:])
            distractors = self.distractors.make(hop, answers, hops, asked, key=plan.id, reader=reader)
            if isinstance(distractors, OptionShortage):
                return Rejected(
                    key=plan.id,
                    check=f"distractors_{distractors.reason}",
                    reason=f"hop {index}, {hop.answer!r}: {distractors.detail}",
                )
            options, label = assign_options(hop.answer, distractors, f"{self._seed}:{plan.id}:{index}")
            hops.append(hop.model_copy(update={"distractors": distractors, "options": options, "label": label}))
            answers[index] = step.value
        return tuple(hops)


@dataclass(frozen=True, slots=True)
class DraftSlots:
    """Some draft slots, and all that filling them depends on."""

    store: Path
    anchors: tuple[Path, ...]
    seed: int
    distribution: str
    """What the set shall be like (`write_target_distribution`)."""
    start: int
    count: int
    embeddings: str = ""
    """The sentence-embedding model that ranks wrong options; empty for none."""
    claims: str = ""
    """The bank of claims (`format_bank`); empty for none."""
    part: tuple[int, int] = (0, 1)
    """Which of so many parts of all makers the plans begin with; every shard of a round has its own."""


def draft_slots(slots: DraftSlots) -> ShardOutput:
    """Fill one shard of draft slots."""
    synthesizer = open_synthesizer(slots.store, slots.seed, slots.distribution, slots.embeddings, slots.claims)
    items, rejected = synthesizer.draft(load_anchors(slots.anchors), slots.start, slots.count, slots.part)
    return ShardOutput(items_to_table(items), rejected, taken=slots.count, figures=synthesizer.ledger.take())


def write_target_distribution(wanted: SynthesizeParameters) -> str:
    """The parameters of a run that say what its items shall be like, as text."""
    return wanted.model_dump_json(include={"topologies", "min_domains", "coherence", "targets", "claim_share"})


def read_target_distribution(text: str) -> TargetDistribution:
    """What `write_target_distribution` wrote, as the planner takes it."""
    wanted = SynthesizeParameters.model_validate_json(text)
    targets = wanted.targets
    return TargetDistribution(
        topologies={name: targets.topologies.get(name, 1.0) for name in wanted.topologies},
        kinds={str(name): share for name, share in targets.kinds.items()},
        answers={str(name): share for name, share in targets.answers.items()},
        bands={str(name): share for name, share in targets.popularity.items()},
        anchoring={str(name): share for name, share in targets.anchoring.items()},
        difficulty={str(name): share for name, share in targets.difficulty.items()},
        domains={Domain[name.upper()].value: targets.domains.get(name, 1.0) for name in get_args(DomainName)},
        property_share=targets.property_share,
        theme_share=targets.theme_share,
        max_renown=targets.renown,
        min_domains=wanted.min_domains,
        min_coherence=wanted.coherence,
        claim_share=wanted.claim_share,
    )


@functools.lru_cache(maxsize=1)
def open_synthesizer(store: Path, seed: int, distribution: str, embeddings: str = "", claims: str = "") -> Synthesizer:
    """The synthesizer of a run in this process; `embeddings` names the sentence-embedding model, if any, `claims` is
    a bank as text.
    """
    graph = open_graph(store)
    return Synthesizer(
        graph,
        default_table(),
        seed=seed,
        distribution=read_target_distribution(distribution),
        sources=(describe_source(graph),),
        likeness=SentenceLikeness() if embeddings else overlap,
        claims=parse_bank(claims),
    )


def _refer(drawn: SampledPlan) -> AnchorRef | None:
    """The anchor of an item and which of its single hops it keeps; None for a chain of the graph alone."""
    if drawn.anchor is None:
        return None
    hops = tuple(AnchorHop(index=index, single_hop_id=id) for index, id in drawn.kept)
    anchor = drawn.anchor
    return AnchorRef(question_id=anchor.question_id, answer=anchor.answer, entity=anchor.entity, hops=hops)
