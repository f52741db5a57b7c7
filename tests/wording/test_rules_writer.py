import re

import pytest

from hopwright.errors import ExpressionError
from hopwright.knowledge.wikidata.names import GraphNames
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.plan import Plan, PlanStep, named_entities
from hopwright.planning.planner import NoPlanError, Planner
from hopwright.records import Compute, Lookup
from hopwright.records.values import EntityKind
from hopwright.topologies import TOPOLOGIES
from hopwright.wording.rules.rules_writer import RulesWriter

TABLE = default_table()
WRITER = RulesWriter(TABLE)


class Renamed:
    """Names of another world: every entity is called by its number."""

    def __init__(self, names: GraphNames) -> None:
        self._names = names

    def phrase(self, entity: str) -> str:
        return f"Zz{entity[1:]}"

    def noun(self, entity: str) -> str:
        return self._names.noun(entity)

    def kind(self, entity: str) -> EntityKind:
        return self._names.kind(entity)


@pytest.fixture(scope="module")
def names(sample: GraphStore) -> GraphNames:
    return GraphNames(KindIndex(sample))


@pytest.fixture(scope="module")
def plans(sample: GraphStore) -> list[Plan]:
    planner = Planner(WikidataSource(sample))
    drawn = []
    anchors = [e for e in list(sample.entities())[::41] if planner.traversals.lookups_from(e)]
    for number in range(60):
        for name in TOPOLOGIES:
            for anchor in (anchors[number], ""):
                tries = 30 if name == "tree-7" else 8  # few of so many hops fit together
                try:
                    drawn.append(planner.draw(TOPOLOGIES[name], anchor, f"words:{number}", tries=tries))
                except NoPlanError:
                    continue
    # Of seven hops the sample has so few plans that none may be among these.
    assert {plan.topology for plan in drawn} >= TOPOLOGIES.keys() - {"tree-7"}
    return drawn


def test_every_plan_has_words_and_nothing_unfilled(plans: list[Plan], names: GraphNames) -> None:
    for plan in plans:
        wording = WRITER.word(plan.steps, names, plan.id)
        assert len(wording.hop_questions) == len(plan.steps)
        for text in (*wording.hop_questions, wording.question):
            assert text.endswith("?") and text.count("?") == 1 + sum(
                name.count("?") for name in re.findall(r'"[^"]*"', text)
            )
            assert not re.search(r"[{}]|\bhop\d|#\d|\bQ\d{2,}|  |,\?", text), text


def test_the_same_key_gives_the_same_words(plans: list[Plan], names: GraphNames) -> None:
    for plan in plans[:80]:
        assert WRITER.word(plan.steps, names, plan.id) == WRITER.word(plan.steps, names, plan.id)
    shares = [len({WRITER.word(plan.steps, names, str(key)).question for key in range(20)}) > 1 for plan in plans[:80]]
    assert sum(shares) > 0.5 * len(shares)  # some plans can be worded in one way only


def test_the_question_names_what_the_plan_names_and_states_no_answer(plans: list[Plan], names: GraphNames) -> None:
    renamed = Renamed(names)
    for plan in plans:
        question = WRITER.word(plan.steps, renamed, plan.id).question
        mentioned = set(re.findall(r"Zz(\d+)", question))
        named = {entity[1:] for step in plan.steps for entity in named_entities(step.derivation)}
        answers = {
            str(step.value)[1:]
            for step in plan.steps
            if step.answer_type == "entity" and step.value not in named_entities(step.derivation)
        }
        assert mentioned == named, question
        chosen = {str(step.value)[1:] for step in plan.steps if step.value in named_entities(step.derivation)}
        assert not mentioned & (answers - chosen)


def test_sub_questions_name_the_answers_that_they_rest_on(plans: list[Plan], names: GraphNames) -> None:
    renamed = Renamed(names)
    for plan in plans:
        wording = WRITER.word(plan.steps, renamed, plan.id)
        for step, question in zip(plan.steps, wording.hop_questions, strict=True):
            if isinstance(step.derivation, Lookup) and step.derivation.subject.startswith("hop"):
                source = plan.steps[int(step.derivation.subject[3:]) - 1]
                assert f"Zz{str(source.value)[1:]}" in question


def test_a_computation_without_words_is_refused(names: GraphNames) -> None:
    step = PlanStep(Compute(expression="factorial(7) * 3", kind="combinatorics"), 15120, "number")
    with pytest.raises(ExpressionError, match="no words"):
        WRITER.word([step], names, "key")
