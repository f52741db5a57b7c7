"""From plans over pictures to items: drawn by the seed, proven, worded, with options (`choosing`)."""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hopwright.distractors.options import assign_options
from hopwright.errors import ExpressionError
from hopwright.knowledge.images.descriptors import measure_distances
from hopwright.knowledge.images.store import Picture, PictureStore
from hopwright.knowledge.wikidata.names import GraphNames
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.pictures.choosing import OptionChooser
from hopwright.pictures.drawing import (
    Draft,
    PictureCounts,
    Quotas,
    Tell,
    gather_classes,
    pool_bridging,
    pool_comparisons,
    take_in_turn,
)
from hopwright.planning.domains import DomainIndex
from hopwright.planning.evidence import evidence_for
from hopwright.planning.execution import render_answer, stated_value
from hopwright.planning.picture_plans import PicturePlan, PicturePlanner
from hopwright.planning.picture_proofs import (
    Refuted,
    are_distinct,
    list_choice,
    list_other_runs,
    refute_choice,
    refute_need,
    refute_plan,
)
from hopwright.planning.plan import PlanStep
from hopwright.planning.traversals import GraphTraversals
from hopwright.records import (
    CheckResult,
    Distractor,
    Domain,
    Evidence,
    Hop,
    ImagePart,
    ImageRegion,
    Item,
    Provenance,
    ReadRegion,
    Source,
    TextPart,
    plan_id,
)
from hopwright.records.documents import render_parts
from hopwright.records.values import Value
from hopwright.text.demonyms import list_demonyms
from hopwright.text.matching import contains_alias, pad
from hopwright.text.phrases import ORDINALS
from hopwright.topologies import PICTURE_TOPOLOGIES
from hopwright.wording.rules.picture_wording import PictureWriter

_MOST_ALIASES = 20
_CODE = re.compile(r"^[a-z]{1,3}$")
_NEAREST = 24
"""A twin shows other pictures of so many that look most alike."""
_TWIN_TRIES = 60
_DOMAINS: Mapping[str, Domain] = {
    "flag": Domain.POLITICS, "outline": Domain.GEOGRAPHY, "mark": Domain.BUSINESS, "arms": Domain.HISTORY,
    "photo": Domain.ART,
}  # fmt: skip
PROOFS = ("answer", "need", "choice", "ambiguity", "leakage")


class PictureDrafter:
    """Makes items over one store of pictures and one graph. The same stores and seed give the same items."""

    def __init__(self, source: WikidataSource, store: PictureStore, sources: Sequence[Source], seed: int) -> None:
        self.store = store
        self.planner = PicturePlanner(GraphTraversals(source))
        self._source = source
        self._seed = seed
        self._names = GraphNames(source.kinds)
        self._writer = PictureWriter(source.table, self._names, self._find_gender)
        self._domains = DomainIndex(source.table, source.kinds)
        licences = sorted({one.licence for one in store.usable})
        pictures = Source(name="pictures", licence="; ".join(licences), snapshot=store.snapshot())
        self._sources = (*sources, pictures)
        self.classes = gather_classes(store.usable)
        vectors = store.describe_pictures(store.usable)
        self._vectors = {one.media: vectors[row] for row, one in enumerate(store.usable)}
        self.list_like = functools.lru_cache(10_000)(self._list_like)
        self.chooser = OptionChooser(self.planner, self.list_like, self.list_names)

    # ------------------------------------------------------------ drawing

    def make(
        self, items: int, bridging: float, depths: Sequence[int], three: float, counts: PictureCounts, tell: Tell
    ) -> Iterator[Item]:
        """At most `items` proven items, the share `bridging` of them going on from one picture."""
        quotas = Quotas(items)
        for kind, number in (("bridging", round(items * bridging)), ("comparison", items - round(items * bridging))):
            tell(f"asking: {kind}")
            pools = (
                pool_bridging(self.planner, self.classes, depths)
                if kind == "bridging"
                else pool_comparisons(self.planner, self.classes, depths, three, items, self._seed)
            )
            taken, seen = 0, set[str]()
            for draft in take_in_turn(pools, f"{self._seed}:{kind}"):
                if taken == number:
                    break
                counts.tried[counts.name(draft)] += 1
                if excess := quotas.find_excess(draft):
                    counts.left_out[f"{kind}: enough of that {excess}"] += 1
                    continue
                made = self.draft(draft)
                if isinstance(made, Refuted):
                    counts.rejected[f"{made.proof}: {made.reason}"] += 1
                elif made.id in seen or made.question + made.answer in seen:
                    counts.left_out[f"{kind}: asked already"] += 1
                else:
                    seen |= {made.id}
                    taken += 1
                    quotas.count(draft)
                    counts.made[counts.name(draft)] += 1
                    yield made

    # ------------------------------------------------------------ one item

    def draft(self, draft: Draft, *, key: str = "", twin: str = "") -> Item | Refuted:
        """The item of a plan and its pictures, or which proof it fails.

        `key` decides between ways to word it; without one its own id does. `twin` is the id of the item that it is the
        twin of.
        """
        plan, shown = draft
        if refuted := self.refute(draft):
            return refuted
        runs = [
            list_other_runs(plan.recipe, plan.pictures, place, sorted(self.classes[picture.kind]), self.planner)
            for place, picture in enumerate(shown)
        ]
        choice = list_choice(plan, self.planner)
        if refuted := refute_need(plan, runs) or refute_choice(plan, choice):
            return refuted
        id = plan_id(plan.topology, tuple(map(self._derive, self._list_steps(draft))))
        try:
            wording = self._writer.word(plan, [one.kind for one in shown], key or id)
        except ExpressionError as error:
            return Refuted("wording", str(error))
        if leaked := self.find_leak(draft, wording.question):
            return Refuted("leakage", f"the question names {leaked}")
        others = self.chooser.choose(plan, shown, runs, choice, f"{self._seed}:{id}")
        hops = self._make_hops(draft, wording.hop_questions, others, id)
        last = hops[-1]
        parts: tuple[ImagePart | TextPart, ...] = (*_show(shown), TextPart(text=f" {wording.question}"))
        return Item(
            id=id,
            topology=plan.topology,
            hops=hops,
            question=render_parts(parts),
            question_parts=parts,
            twin=twin or None,
            answer=last.answer,
            answer_aliases=last.answer_aliases,
            options=last.options,
            label=last.label,
            checks=tuple(CheckResult(name=f"pictures-{name}", outcome="pass") for name in PROOFS),
            provenance=Provenance(seed=self._seed, sources=self._sources),
        )

    def make_twin(self, item: Item, taken: Container[str] = frozenset()) -> Item | Refuted:
        """The same question about other pictures, with another answer; the first that is proven, by the seed.

        `taken` are ids of what there is already: no twin is one of these.
        Nothing but the pictures tells the twin from its original, so nobody gets both right who does not look at them.
        """
        shown = [
            self.store.of_document(hop.derivation.document)
            for hop in item.hops
            if isinstance(hop.derivation, ReadRegion)
        ]
        pictures = [one for one in shown if one is not None]
        steps = tuple(hop.derivation for hop in item.hops[len(pictures) :])
        rng = random.Random(f"{self._seed}:{item.id}:twin")
        near = [self.list_like(one.media, one.kind)[:_NEAREST] for one in pictures]
        for _ in range(_TWIN_TRIES):
            group = [others[rng.randrange(len(others))] for others in near]
            if len(set(group)) != len(group):
                continue
            for plan in self._list_plans(item, group):
                if tuple(step.derivation for step in plan.steps) != steps:
                    continue
                if not are_distinct(plan.answers[plan.depth], stated_value(item.hops[-1]), plan.steps[-1].unit):
                    continue
                others = tuple(self.classes[one.kind][entity] for one, entity in zip(pictures, group, strict=True))
                made = self.draft(Draft(plan, others), key=item.id, twin=item.id)
                if not isinstance(made, Item) or made.id in taken:
                    continue
                if made.question == item.question and made.answer != item.answer:
                    return made
        return Refuted("twin", "no other pictures give the same question another answer")

    def _list_plans(self, item: Item, group: Sequence[str]) -> list[PicturePlan]:
        if len(group) == 1:
            return self.planner.list_bridging(group[0], len(item.hops))
        return self.planner.list_comparisons(group)

    def refute(self, draft: Draft) -> Refuted | None:
        """Why a plan or its pictures cannot be used, need aside."""
        for picture in draft.shown:
            if not picture.usable or picture.alike:
                return Refuted("ambiguity", picture.reason or "another picture looks the same")
        return refute_plan(draft.plan, self.planner)

    def find_leak(self, draft: Draft, question: str) -> str:
        """The first name that the question's own words give away: of a picture, of a step, or the answer."""
        padded = pad(question)
        for entity in (one for one in draft.plan.answers.values() if isinstance(one, str)):
            names = self.list_names(entity)
            for name in (*names, *list_demonyms(names)):
                if contains_alias(question, padded, name):
                    return name
        return ""

    def list_names(self, entity: str) -> tuple[str, ...]:
        """What an entity is called, its label first; codes in small letters and pictographs are no names."""
        aliases = [one for one in self._source.graph.aliases(entity) if one[:1].isalnum() and not _CODE.match(one)]
        return (self._source.graph.label(entity), *aliases[:_MOST_ALIASES])

    def _find_gender(self, person: str) -> str:
        roles = self._source.table.roles
        held = {roles.genders.get(one, "") for one in self.planner.traversals.facts.objects(person, roles.gender)}
        return held.pop() if len(held) == 1 else ""

    def _list_steps(self, draft: Draft) -> list[PlanStep | Picture]:
        return [*draft.shown, *draft.plan.steps]

    def _derive(self, step: PlanStep | Picture) -> Any:
        if isinstance(step, Picture):
            return ReadRegion(document=step.document, left=0, top=0, width=step.width, height=step.height)
        return step.derivation

    def _make_hops(
        self, draft: Draft, questions: Sequence[str], others: Sequence[Mapping[int, Value]], id: str
    ) -> tuple[Hop, ...]:
        plan, shown = draft
        graph, table = self._source.graph, self._source.table
        needs = PICTURE_TOPOLOGIES[plan.topology].depends_on
        stubs = [PlanStep(step.derivation, step.value, step.answer_type, step.unit) for step in plan.steps]
        padding = [PlanStep(plan.steps[0].derivation, one, "entity") for one in plan.pictures]
        rulings = [self._rule(step, [*padding, *stubs]) for step in plan.steps]
        hops: list[Hop] = []
        for index, (step, question) in enumerate(zip(self._list_steps(draft), questions, strict=True), start=1):
            value = plan.answers[index]
            entity = value if isinstance(value, str) else None
            if isinstance(step, Picture):
                unit, answer_type = "", "entity"
                domain, reason = _DOMAINS[step.kind], f"a {step.kind}"
                region = ImageRegion(
                    document=step.document, left=0, top=0, width=step.width, height=step.height,
                    label=f"{step.kind} of {step.label}",
                )  # fmt: skip
                evidence = Evidence.of(regions=(region,), wikipedia_url=graph.page_url(step.entity))
                parts: tuple[ImagePart | TextPart, ...] = (*_show([step]), TextPart(text=f" {question}"))
            else:
                unit, answer_type = step.unit, step.answer_type
                domain, reason = rulings[index - 1 - len(shown)]
                evidence = evidence_for(step, plan.answers, graph, table)
                parts = ()
            answer = graph.label(entity) if entity else render_answer(value, unit)
            if isinstance(step, Picture):
                like = self.chooser.choose_alike(step, f"{self._seed}:{id}")
                distractors = self._make_distractors(value, unit, like)
            else:
                near = index == plan.depth or self.chooser.are_near(plan, [run[index] for run in others])
                distractors = self._make_distractors(value, unit, [run[index] for run in others] if near else [], plan)
            options, label = (
                assign_options(answer, distractors, f"{self._seed}:{id}:{index}") if distractors else ({}, None)
            )
            hops.append(
                Hop(
                    index=index,
                    question=render_parts(parts) if parts else question,
                    question_parts=parts,
                    answer=answer,
                    answer_type=answer_type,
                    answer_id=entity,
                    answer_aliases=self.list_names(entity)[1:] if entity else (),
                    unit=unit,
                    domain=domain,
                    domain_reason=reason,
                    depends_on=needs[index - 1],
                    derivation=self._derive(step),
                    distractors=distractors,
                    options=options,
                    label=label,
                    evidence=evidence,
                )
            )
        return tuple(hops)

    def _rule(self, step: PlanStep, steps: Sequence[PlanStep]) -> tuple[Domain, str]:
        """A step's domain, the pictures counting as steps that give an entity."""
        try:
            ruling = self._domains.of_steps([*steps[: steps.index(step)], step])[-1]
        except (KeyError, IndexError):
            return Domain.GEOGRAPHY, "computes with what the pictures show"
        return ruling.domain, ruling.reason

    # ------------------------------------------------------------ options

    def _make_distractors(
        self, gold: Value, unit: str, values: Sequence[Value], plan: PicturePlan | None = None
    ) -> tuple[Distractor, ...]:
        """The wrong options of a hop: what it gives in the other runs of a plan, where all of these differ.

        Without a plan they are what pictures that look alike show.
        """
        if not values or any(not are_distinct(a, b, unit) for a, b in itertools.combinations([gold, *values], 2)):
            return ()
        if not all(self.chooser.is_apart(one, [gold, *(v for v in values if v is not one)]) for one in values):
            return ()
        graph = self._source.graph
        return tuple(
            Distractor(
                text=graph.label(one) if isinstance(one, str) else render_answer(one, unit),
                kind="sibling" if plan is None else "operand" if one in plan.pictures else "near_miss",
                id=one if isinstance(one, str) else None,
            )
            for one in values
        )

    def _list_like(self, media: str, kind: str) -> tuple[str, ...]:
        """The entities of a class, the one whose picture looks most like this one first."""
        pictures = self.classes[kind]
        entities = sorted(pictures)
        table = np.stack([self._vectors[pictures[one].media] for one in entities])
        order = np.argsort(measure_distances(self._vectors[media], table), kind="stable")
        return tuple(entities[place] for place in order if pictures[entities[place]].media != media)


def _show(pictures: Sequence[Picture]) -> tuple[ImagePart, ...]:
    """The pictures as parts of a question, told apart by their place only."""
    if len(pictures) == 1:
        return (ImagePart(media=pictures[0].media, description="image"),)
    return tuple(
        ImagePart(media=one.media, description=f"{ORDINALS[place]} image") for place, one in enumerate(pictures)
    )
