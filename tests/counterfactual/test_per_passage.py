"""One passage, three questions: by the planner where the graph's facts are stated, else by a model held to the same
checks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from hopwright.counterfactual.passage_questions import (
    ModelQuestionWriter,
    MultiHopPassageQuestion,
    PassageQuestionGenerator,
    PassageQuestionSet,
    SubQuestion,
    find_fault,
    summarise,
)
from hopwright.counterfactual.rewriting import TwinServices
from hopwright.knowledge.documents.passage_graph import PassageGraph
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.llm.prompts import read_prompts
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef
from tests.counterfactual.translating_server import TranslatingServer
from tests.e2e.serving import serving
from tests.llm.builders import KEY, settings

PROMPTS = read_prompts(Path(__file__).resolve().parents[2] / "prompts")
TITLE = "Zorin Vale"
TEXT = "Zorin Vale is a film by Mara Quist. Quist was born in Tolmin in 1951. Tolmin lies in Orvania."


@pytest.fixture(scope="module")
def services(sample: GraphStore) -> TwinServices:
    return TwinServices(sample, KindIndex(sample), default_table(), seed=0)


def make_asker(services: TwinServices, **fields: Any) -> PassageQuestionGenerator:
    return PassageQuestionGenerator(services.passages, services.source, services.names, 0, **fields)


def find_told_chain(services: TwinServices) -> tuple[str, str]:
    """A passage that states two facts of the graph that hang together: who is subject of one is object of the other."""
    graph, traversals = services.graph, services.traversals
    for subject in list(graph.entities())[::3]:
        for edge in traversals.lookups_from(subject):
            for further in traversals.lookups_from(edge.object):
                one, two, three = (graph.label(id) for id in (subject, edge.object, further.object))
                plain = all(" " in label and label.replace(" ", "").isalpha() for label in (one, two))
                told = edge.property in ("P57", "P50") and further.property == "P19"
                if plain and told and traversals.nameable(subject):
                    text = f"{one} was directed by {two}. {two} was born in {three}."
                    return one, text
    pytest.skip("the sample holds no such chain")


def test_facts_that_a_passage_states_are_asked_for(services: TwinServices) -> None:
    title, text = find_told_chain(services)
    ((factual, twin),) = make_asker(services).ask([(title, text)])
    (question,) = [one for one in factual.questions if one.hops == 2]
    assert question.by == "rules" and find_fault(question, title, text) == ""
    assert twin is not None and title not in twin.title
    (moved,) = [one for one in twin.questions if one.hops == 2]
    assert find_fault(moved, twin.title, twin.text) == ""
    assert not any(one.answer in twin.text for one in question.sub_questions)
    assert set(factual.missing) == {"3", "4"} and "no chain" in factual.missing["3"]


def test_two_names_in_one_sentence_are_no_fact_without_its_words(services: TwinServices) -> None:
    title, text = find_told_chain(services)
    silent = text.replace("was directed by", "is often seen beside").replace("was born in", "once passed through")
    mentions = services.passages.recogniser.find(f"{title}\n{silent}")
    graph = PassageGraph(services.graph, services.table, title, silent, mentions)
    told = {property for entity in graph.mentioned for property, _ in graph.out_edges(entity)}
    assert not told & {"P57", "P50", "P19"}


def question(
    *steps: tuple[str, str], whole: str = "Where was the director of the vale born?"
) -> MultiHopPassageQuestion:
    subs = tuple(SubQuestion(question=one, answer=other) for one, other in steps)
    return MultiHopPassageQuestion(hops=len(subs), question=whole, answer=subs[-1].answer, sub_questions=subs, by="m")


GOOD = (("Who made Zorin Vale?", "Mara Quist"), ("Where was Mara Quist born?", "Tolmin"))


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (question(*GOOD), ""),
        (question(*GOOD, whole="Where was Mara Quist born?"), "the question holds 'Mara Quist'"),
        (question(GOOD[0], ("Where was she born?", "Tolmin")), "uses no earlier answer"),
        (question(GOOD[0], ("Where was Mara Quist born?", "Paris")), "'Paris' is not in the passage"),
        (question(GOOD[0], ("Who is Mara Quist?", "Mara Quist")), "an answer repeats"),
        (question(GOOD[0], ("Is Mara Quist of Tolmin?", "Tolmin")), "step 2 holds its own answer"),
        (question(*GOOD, whole="Where was the director born"), "question mark"),
        (question(*GOOD, ("Which land is Mara Quist of?", "Orvania")).model_copy(update={"hops": 2}), "3 steps, not 2"),
        (question(*GOOD, ("Which land is Mara Quist of?", "Orvania")), "no later step uses 'Tolmin'"),
    ],
)
def test_each_fault_of_a_question_is_named(made: MultiHopPassageQuestion, says: str) -> None:
    fault = find_fault(made, TITLE, TEXT)
    assert says in fault if says else fault == ""


class Asking(TranslatingServer):
    """Writes questions as told: good ones, or such that fail a check at every try but the last."""

    def __init__(self, *, good_from: int = 0) -> None:
        super().__init__()
        self._good_from = good_from

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        content = str(body["messages"][-1]["content"])
        hops = int(content.split("one question of ")[1].split()[0])
        steps = [*GOOD, ("In which land does Tolmin lie?", "Orvania")]
        if (body.get("seed") or 0) < self._good_from:
            steps = [("Who made it?", "Somebody Else"), *steps[1:]]
        said = {
            "sub_questions": [{"question": one, "answer": other} for one, other in steps[:hops]],
            "question": "In which place or land was the one who made the film born?",
        }
        answer = reply(body, prompt, "")
        answer["choices"][0]["message"]["content"] = json.dumps(said)
        return web.json_response(answer)


@pytest.mark.parametrize(("good_from", "made"), [(0, {2, 3}), (2, {2, 3}), (9, set())])
def test_a_model_is_asked_for_the_rest_and_held_to_the_same_checks(
    services: TwinServices, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, good_from: int, made: set[int]
) -> None:
    monkeypatch.setenv("HOPWRIGHT_TEST_KEY", KEY)
    server = Asking(good_from=good_from)
    with serving(server), Session(settings(server), tmp_path / "llm.sqlite") as session:
        questioner = ModelQuestionWriter(session, PROMPTS["question-passage"], ModelRef("local", "tiny"))
        asker = make_asker(services, questioner=questioner)
        ((factual, twin),) = asker.ask([(TITLE, TEXT)])
    assert {one.hops for one in factual.questions} == made
    assert {one.by for one in factual.questions} <= {"local/tiny"}
    assert "steps, not 4" in factual.missing["4"]
    assert twin is not None and {one.hops for one in twin.questions} == made
    for one in twin.questions:
        assert find_fault(one, twin.title, twin.text) == ""
        assert not any(name in one.model_dump_json() for name in ("Quist", "Tolmin", "Orvania", "Zorin"))
    figures = summarise([(factual, twin)])
    assert figures["passages"] == figures["twins"] == 1
    assert asker.spent.keys and asker.spent.input_tokens > 0


class Upper:
    """A translator that only changes one word."""

    name = "upper"
    pivots = ("Spanish",)
    style = "words"
    whole = True
    tries = 1

    def find_obstacle(self) -> str:
        return ""

    def translate(self, texts: list[str], attempt: int = 0) -> list[Any]:
        from hopwright.counterfactual.translating import RoundTripResult

        return [RoundTripResult(text.replace(" lies in ", " is found in ")) for text in texts]


def test_the_passage_of_a_twin_is_reworded_and_its_answers_stay(services: TwinServices) -> None:
    ((_, twin),) = make_asker(services, translators=[Upper()]).ask([(TITLE, TEXT)])
    assert isinstance(twin, PassageQuestionSet)
    assert " is found in " in twin.text and twin.back_translation == "upper"
