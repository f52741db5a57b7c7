"""Every form of computation: worded by rules, told to a model plainly, and read rightly in the rules' words."""

from __future__ import annotations

import typing
from collections import Counter
from typing import Any

import pytest
from pydantic import TypeAdapter

from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.wikidata.names import GraphNames
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import (
    AgeAt,
    AgeInYear,
    ClaimComputation,
    Combinations,
    Difference,
    EndMember,
    EndOfMaker,
    Extreme,
    Form,
    GroupSize,
    NextOfList,
    Rate,
    ShiftedYear,
    YearDistance,
    read_form,
)
from hopwright.planning.execution import execute, hops_used
from hopwright.planning.plan import PlanStep
from hopwright.planning.planner import NoPlanError, Planner
from hopwright.planning.target_distribution import ComputeKind, SlotSpec
from hopwright.records import Compute, Derivation, Hop, Item
from hopwright.records.values import Value, render
from hopwright.topologies import TOPOLOGIES
from hopwright.wording.llm.computed import describe_computation, read_meaning
from hopwright.wording.llm.plan_brief import PlanBriefWriter
from hopwright.wording.llm.text_constraints import TextConstraintBuilder
from hopwright.wording.llm.timelines import find_timeline
from hopwright.wording.llm.vocabulary import Vocabulary
from hopwright.wording.llm.wording_checks import WordingChecker
from hopwright.wording.rules.rules_writer import RulesWriter
from tests.planning.plans import synthesizer

TABLE = default_table()
FILM, OTHER, THIRD = "Q211372", "Q1124332", "Q212129"
BEFORE: tuple[tuple[dict[str, str], str, str], ...] = (
    ({"op": "lookup", "subject": FILM, "property": "P57"}, "entity", ""),
    ({"op": "lookup", "subject": OTHER, "property": "P57"}, "entity", ""),
    ({"op": "lookup", "subject": "hop1", "property": "P570"}, "date", ""),
    ({"op": "lookup", "subject": FILM, "property": "P577"}, "number", "year"),
    ({"op": "lookup", "subject": "hop1", "property": "P569"}, "number", "year"),
    ({"op": "compute", "expression": f"size(among(P57, hop1, {FILM}, {OTHER}, {THIRD}))", "kind": "counting"},
     "number", ""),
)  # fmt: skip
"""Hops 1 to 6, on which the examples build."""
DIFFERENCE = next(name for name, entry in TABLE.literal.items() if entry.differ)
RATIO = next(name for name, entry in TABLE.literal.items() if entry.ratio)
RATE = next(name for name, entry in TABLE.literal.items() if entry.rate)
SET = f"among(P57, hop1, {FILM}, {OTHER}, {THIRD})"
EXAMPLES: dict[type, tuple[tuple[str, str], ...]] = {
    Extreme: (
        ("argmax(P569, hop1, hop2)", "date of birth"),
        (f"argmin(P577, {SET})", "earliest"),
        (f"argmax(P577, before(P577, hop4, {SET}))", "in a year before 1954"),
        (f"argmin(P577, after(P577, hop4, among(P57, Q51492, {FILM}, {OTHER}, {THIRD})))", "in a year after 1954"),
        (f"argmin(P569, listed(P161, {FILM}, Q34012, Q95008, Q103939))", "cast member"),
        ("argmax(P2046, all(P47, Q30))", "shares border with"),
    ),
    GroupSize: ((f"size({SET})", "how many"), ("size(all(P47, Q30))", "counts all that")),
    AgeAt: (("age(value(P569, hop2), hop3)", "full years on a day"),),
    AgeInYear: (("hop4 - year(value(P569, hop2))", "reaches in 1954"),),
    YearDistance: (
        ("abs(hop4 - hop5)", "reaches in 1954"),
        (f"abs(hop4 - year(value(P577, {OTHER})))", "years between"),
        ("abs(year(value(P569, hop1)) - year(value(P569, hop2)))", "years between"),
    ),
    ShiftedYear: (("hop4 + hop6", "plus"), ("hop5 + 40", "turned 40")),
    Combinations: (("comb(hop6, 2)", "ways 2 can be chosen out of"),),
    Difference: ((f"abs(value({DIFFERENCE}, hop1) - value({DIFFERENCE}, hop2))", "difference"),),
    Rate: (
        (f"round(value({RATIO}, hop1) / value({RATIO}, hop2), 1)", "divided by"),
        (f"round(value({RATE}, hop1) / value({TABLE.literal[RATE].per}, hop1), 2)", "divided by"),
    ),
}
"""Expressions of each form as hop 7, and what the brief says of them."""
ELSEWHERE = {ClaimComputation, NextOfList, EndOfMaker, EndMember}
_READ: TypeAdapter[Any] = TypeAdapter(Derivation)


def test_every_form_has_an_example() -> None:
    # For series see test_ends_of_series; for the rest, test_next_of_lists and test_ends_beside_works.
    assert set(typing.get_args(Form)) == EXAMPLES.keys() | ELSEWHERE
    for kind, examples in EXAMPLES.items():
        assert {type(read_form(expression)) for expression, _ in examples} == {kind}


@pytest.mark.parametrize(("expression", "told"), [one for examples in EXAMPLES.values() for one in examples])
def test_a_form_is_worded_by_rules_and_told_plainly(expression: str, told: str, sample: GraphStore) -> None:
    steps = lay_out(expression, sample)
    names = GraphNames(KindIndex(sample))
    for key in range(20):
        wording = RulesWriter(TABLE).word(steps, names, str(key))
        assert wording.question.count("?") == 1 and "\x01" not in wording.question
        assert "{" not in wording.question + "".join(wording.hop_questions)
    hops = describe(steps, sample)
    brief = describe_computation(hops[7], hops, sample.label, TABLE)
    assert told in brief
    meaning = read_meaning(hops[7], hops, TABLE)
    assert meaning is not None or isinstance(read_form(expression), ShiftedYear)
    form = read_form(expression)
    if isinstance(form, Extreme):
        for name in form.entities:
            assert (sample.label(name) if name.startswith("Q") else hops[int(name[3:])].answer) in brief


def test_every_plan_of_the_sample_can_be_worded_told_and_read(sample: GraphStore) -> None:
    made, seen = synthesizer(sample), Counter[str]()
    planner, vocabulary = Planner(WikidataSource(sample)), Vocabulary(TABLE)
    places = TextConstraintBuilder(vocabulary, sample)
    reader, briefs = WordingChecker(vocabulary, places), PlanBriefWriter(TABLE, made.kinds)
    kinds: tuple[ComputeKind, ...] = ("comparison", "temporal")  # of the others the sample has few
    items = 0
    for slot in range(240):
        topology = list(TOPOLOGIES)[slot % len(TOPOLOGIES)]
        try:
            plan = planner.draw(
                TOPOLOGIES[topology], "", f"form:{slot}", SlotSpec(topology, kinds[slot // 8 % 2]), tries=4
            )
        except NoPlanError:
            continue
        item = made.compose(plan)
        if not isinstance(item, Item):
            assert item.check != "no_words", item.reason
            continue
        items += 1
        read = reader.read(item, [hop.question for hop in item.hops], item.question)
        assert read == [], item.question
        laid = places.lay_out(item)
        brief = briefs.write(item, laid)
        for hop, said, place in zip(item.hops, brief["hops"], laid, strict=False):
            explained = isinstance(hop.derivation, Compute) or find_timeline(hop, TABLE) is not None
            assert bool(said["means"]) is explained
            assert all(name.label in said["task"] for name in place.required)
            if find_timeline(hop, TABLE) is not None:
                seen["timeline"] += 1
            if isinstance(hop.derivation, Compute):
                seen[type(read_form(hop.derivation.expression)).__name__] += 1
        assert not {name.label for name in laid[-1].chosen} & set(brief["never"])
    assert items >= 30
    assert {"Extreme", "AgeAt", "timeline"} <= seen.keys()


def lay_out(expression: str, graph: GraphStore) -> list[PlanStep]:
    """The steps before and, last, the expression, whose value is made up where nothing depends on it."""
    facts, answers = GraphFacts(graph, TABLE), dict[int, Value]()
    steps = []
    for index, (fields, kind, unit) in enumerate(BEFORE, start=1):
        derivation = _READ.validate_python(fields)
        answers[index] = execute(derivation, kind, answers, facts, TABLE)  # type: ignore[arg-type]
        steps.append(PlanStep(derivation, answers[index], kind, unit))  # type: ignore[arg-type]
    form = read_form(expression)
    entity = isinstance(form, Extreme)
    winner = answers[1] if isinstance(form, Extreme) and "hop1" in form.entities else FILM
    unit = "years" if isinstance(form, YearDistance | AgeAt | AgeInYear) else ""
    last = Compute(expression=expression, kind="comparison" if entity else "temporal")
    return [*steps, PlanStep(last, winner if entity else 7, "entity" if entity else "number", unit)]


def describe(steps: list[PlanStep], graph: GraphStore) -> dict[int, Hop]:
    """The steps as hops, as far as a description looks at them."""
    return {
        index: Hop.model_construct(
            index=index,
            answer=graph.label(str(step.value)) if step.answer_type == "entity" else render(step.value, year=True),
            answer_id=str(step.value) if step.answer_type == "entity" else None,
            answer_type=step.answer_type,
            unit=step.unit,
            depends_on=hops_used(step.derivation),
            derivation=step.derivation,
        )
        for index, step in enumerate(steps, start=1)
    }
